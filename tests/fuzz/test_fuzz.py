"""A short run of tests/fuzz; `make fuzz` runs a long one under the sanitizers."""

import random

import pytest

from fuzz import loaders
from fuzz.inputs import SEEDS, mutated, one_input, one_text, seeds
from gossamer.model import file_format


def test_right_inputs_are_read(tmp_path):
    assert [one_text(kind, data, 12, False, tmp_path) for kind, data in SEEDS.items()] == [2, 3, 2, 3]


@pytest.mark.parametrize("seed", range(4))
def test_hostile_inputs_do_no_harm(seed):
    rng, pool = random.Random(seed), seeds()
    for _ in range(100):
        data = mutated(rng, rng.choice(pool))
        one_input(data)
        pool += [data] if rng.random() < 0.1 else []


def test_right_models_and_checkpoints_load(tmp_path):
    made = loaders.seeds(tmp_path)  # which loads each of them
    assert len(made) == 4 + len(loaders.PROBLEMS)


def test_changed_files_have_a_right_checksum_nearly_always(tmp_path):
    made, right = loaders.seeds(tmp_path), 0
    for number in range(100):
        _, data = loaders.one_file(made, 0, number)
        size, checksum = file_format.SUMS.get(data[:8], (0, None))
        right += checksum is not None and checksum([data[:-size]]) == data[-size:]
    assert right > 85
