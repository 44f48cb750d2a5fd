"""What hypothesis draws: zeros, ties, huge, denormal, all-equal and mixed arrays, and steps in their scale."""

from functools import cache

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

EVERY_SCALE = (1.0, 1.0, 1.0, 1e-3, 1e4, 1e8, 1e16, 1e150, 1e-150, 1e-300, 1e-320)
EVERYDAY = (1.0, 1.0, 1e-3, 1e3)

ties = st.sampled_from([0.0, -0.0, 0.25, -0.25, 0.5, 1.0, 1.0, -1.0, 2.0, -3.0])
plain = st.integers(-10_000, 10_000).map(lambda i: i / 1000)  # cheap, and never a rounding error beside another
wild = st.floats(-1e150, 1e150)


@cache  # hypothesis spends more on a new strategy than on a drawing
def values(shape, scales=EVERY_SCALE):
    """Arrays of plain numbers or ties at one scale, of one number, or of numbers of every size."""
    scale = st.sampled_from(scales)
    scaled = st.builds(np.multiply, arrays(np.float64, shape, elements=st.one_of(plain, ties)), scale)
    tied = st.builds(np.multiply, arrays(np.float64, shape, elements=ties), scale)
    equal = st.builds(lambda x, c: np.full(shape, x * c), st.one_of(plain, ties), scale)
    every = [scaled, scaled, tied, equal]
    return st.one_of(*every, arrays(np.float64, shape, elements=wild)) if scales is EVERY_SCALE else st.one_of(*every)


def tame(shape):
    """Values of everyday size, for laws whose two sides must not overflow or drown in rounding."""
    return values(shape, EVERYDAY)


shares = st.one_of(st.sampled_from([1e-6, 0.1, 0.5, 1.0, 2.0, 10.0]), st.integers(1, 3000).map(lambda i: i / 1000))


def with_step(v, share):
    size = float(np.abs(v).max(initial=0.0))
    return v, share * size if share is not None and size > 1e-290 else 1.0


@cache
def cases(entry, draw_values=values):
    """An array of a shape that the entry takes, and a step: a share of the largest entry, or plain 1."""
    arrays_of_any_shape = st.one_of([draw_values(shape) for shape in entry.shapes])
    return st.builds(with_step, arrays_of_any_shape, st.one_of(st.none(), shares))
