"""What the library learns stays what it was: see make.py for where the golden values come from."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from golden import online, stored

WEIGHTS, REFUSALS = stored.weights(), stored.refusals()


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_stay(name):
    expected = WEIGHTS[name]
    for dtype in (np.float64, np.float32):  # the core computes in double, and the data is exact in both
        found = online.run(name, dtype)
        assert not isinstance(found, str), found
        assert_array_equal(found == 0, expected == 0)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_stay(name):
    assert online.run(name) == REFUSALS[name]
