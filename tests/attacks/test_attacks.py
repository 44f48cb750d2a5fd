"""Every row of the attack suite, in a process of its own; and proof that the runner can fail."""

import sys

import pytest

from attacks import planted
from attacks.pending import PENDING
from attacks.runner import SANITIZED, Runner
from attacks.tables import ROWS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rows run in forked processes with Linux's limits")


@pytest.fixture(scope="module")
def runner():
    made = Runner()
    yield made
    made.close()


def as_param(row):
    marks = []
    if row.name in PENDING:
        reason = PENDING[row.name]
        marks.append(pytest.mark.xfail(reason=reason, strict=not reason.startswith("sometimes")))
    if row.needs_limit and SANITIZED:
        marks.append(pytest.mark.skip(reason="a sanitizer maps more memory than a limit allows"))
    return pytest.param(row, id=row.name, marks=marks)


@pytest.mark.parametrize("row", [as_param(row) for row in ROWS])
def test_row(runner, row):
    outcome = runner.run(row)
    assert row.must.holds(outcome), f"\nmust: {row.must}\ngot:  {outcome}"


@pytest.mark.parametrize("row", [as_param(row) for row in planted.ROWS])
def test_the_runner_notices(runner, row):
    outcome = runner.run(row)
    assert not row.must.holds(outcome)
    assert planted.FAILS_BY[row.name] in str(outcome)


def test_there_are_at_least_300_rows_with_names_of_their_own():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names) >= 300
    assert set(PENDING) <= set(names)
    assert planted.FAILS_BY.keys() == {row.name for row in planted.ROWS}
