"""What the library learns stays what it was: see make.py for where the golden values come from."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from golden import batch, online, stored
from gossamer.methods import METHODS
from gossamer.penalties import PENALTIES

WEIGHTS, REFUSALS, OBJECTIVES = stored.weights(), stored.refusals(), stored.objectives()


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_stay(name):
    expected = WEIGHTS[name]
    for dtype in (np.float64, np.float32):  # the core computes in double, and the data is exact in both
        found = online.run(name, dtype)
        assert not isinstance(found, str), found
        assert_array_equal(found == 0, expected == 0)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def without_new_names(words, expected):
    """Return a sentence without the parts that were added since to a list of names in it."""
    for name in (*PENALTIES, *METHODS):
        if f"'{name}'" not in expected:
            words = words.replace(f", '{name}'", "").replace(f"'{name}', ", "")
    return words


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_stay(name):
    assert without_new_names(online.run(name), REFUSALS[name]) == REFUSALS[name]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_objectives_stay(name):
    expected, (_, rtol) = OBJECTIVES[name], batch.CASES[name]
    for design in (sp.csr_matrix, np.asarray):
        found = batch.run(name, design)
        if isinstance(expected, str):
            assert found == expected
        else:
            assert not isinstance(found, str), found
            assert_allclose(np.atleast_1d(found), expected, rtol=rtol)
