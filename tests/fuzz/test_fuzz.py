"""A short run of tests/fuzz; `make fuzz` runs a long one under the sanitizers."""

import random

import pytest

from fuzz.inputs import SEEDS, mutated, one_input, one_text, seeds


def test_right_inputs_are_read(tmp_path):
    assert [one_text(kind, data, 12, False, tmp_path) for kind, data in SEEDS.items()] == [2, 3, 3]


@pytest.mark.parametrize("seed", range(4))
def test_hostile_inputs_do_no_harm(seed):
    rng, pool = random.Random(seed), seeds()
    for _ in range(100):
        data = mutated(rng, rng.choice(pool))
        one_input(data)
        pool += [data] if rng.random() < 0.1 else []
