"""The laws: each takes an entry of the catalogue and data, and fails where the entry breaks it."""

import math

import numpy as np

import reference

TOLERANCE = 1e-10
SMALLEST = 1e-320  # a few steps of the denormal numbers


def assert_near(actual, expected, unit, tolerance=TOLERANCE):
    """Assert that no entry differs by more than `tolerance` units."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.abs(actual - expected) <= tolerance * unit + SMALLEST
    assert np.all(near | (actual == expected)), f"{actual} is not {expected}"


def dot(a, b):
    return float(np.sum(a * b, dtype=np.float64))


# Penalties and sets


def check_value_twin(entry, v, step):
    for w in (v, entry.penalty.prox(v, step)):
        ours, twin = entry.penalty.value(w), reference.value(entry.penalty, w)
        assert ours == twin or math.isclose(ours, twin, rel_tol=1e-10, abs_tol=1e-10 * entry.size + SMALLEST)


def check_prox_twin(entry, v, step):
    assert_near(entry.penalty.prox(v, step), reference.prox(entry.penalty, v, step), entry.unit(v))


def check_dual_norm_twin(entry, v):
    ours, twin = entry.penalty.dual_norm(v), reference.dual_norm(entry.penalty, v)
    assert ours == twin or math.isclose(ours, twin, rel_tol=1e-10, abs_tol=SMALLEST)


def check_value_of_prox_is_finite(entry, v, step):
    p = entry.penalty.prox(v, step)
    assert np.all(np.isfinite(p))
    assert math.isfinite(entry.penalty.value(p))


def check_optimal(entry, v, step):
    """Fenchel-Young with equality: u = (v − p)/s is a subgradient at p iff s Ω(p) + s Ω*(u) = <p, v − p>."""
    p = entry.penalty.prox(v, step)
    rest = v - p
    largest = np.abs(v).max(initial=0.0)
    unit = max(entry.size, largest)
    conjugate = reference.conjugate(entry.penalty, rest / step, TOLERANCE * unit / step)
    gap = step * entry.penalty.value(p) + step * conjugate - dot(p, rest)
    assert abs(gap) <= TOLERANCE * v.size * unit * (unit + step * (entry.size > 0)) + SMALLEST


def check_minimiser(entry, v, step, other):
    """The objective is 1-strongly convex: at any q it is at least its value at p plus ½‖q − p‖²."""
    penalty, p = entry.penalty, entry.penalty.prox(v, step)

    def objective(w):
        return dot(w - v, w - v) / 2 + step * penalty.value(w)

    unit = max(entry.size, np.abs(v).max(initial=0.0), np.abs(other).max(initial=0.0))
    # a point that counts as inside a set may be outside by a hair, and so nearer
    for q in (penalty.prox(other, step), *([] if penalty.is_set else [other])):
        with np.errstate(over="ignore"):
            here, there = objective(p) + dot(q - p, q - p) / 2, objective(q)
        assert there == math.inf or there >= here - TOLERANCE * (v.size * unit * unit + abs(here)) - SMALLEST


def check_firmly_non_expansive(entry, v, other, step):
    """‖p − q‖² ≤ <p − q, v − w>, so no two points move apart."""
    moved = entry.penalty.prox(v, step) - entry.penalty.prox(other, step)
    unit = max(entry.size, np.abs(v).max(initial=0.0), np.abs(other).max(initial=0.0))
    assert dot(moved, moved) <= dot(moved, v - other) + TOLERANCE * v.size * unit * unit + SMALLEST


def check_step_zero(entry, v):
    """No step, no penalty: what is left is the domain."""
    p = entry.penalty.prox(v, 0)
    if not entry.penalty.is_set and math.isfinite(entry.penalty.value(v)):
        np.testing.assert_array_equal(p, v)
    assert_near(p, reference.prox(entry.penalty, v, 0.0), entry.unit(v))


def two_steps_against_one(entry, v, first, second):
    prox = entry.penalty.prox
    return prox(prox(v, first), second), prox(v, first + second)


def check_steps_add_up(entry, v, first, second):
    two, one = two_steps_against_one(entry, v, first, second)
    assert_near(two, one, entry.unit(v))


def check_dual_ball_holds_the_rest(entry, v, step):
    """Moreau: v − prox(v, s) is the projection of v on the dual ball of radius s, on its sphere unless v is inside."""
    p = entry.penalty.prox(v, step)
    rest, all_of_it = entry.penalty.dual_norm(v - p), entry.penalty.dual_norm(v)
    slack = TOLERANCE * max(step, dual_unit(entry, v))
    assert rest <= step + slack
    if all_of_it < math.inf:  # a weight of 0 has nothing to take
        assert rest >= min(step, all_of_it) - slack


def dual_unit(entry, v):
    """Return the dual norm that a rounding error of the size of v may have."""
    weights = getattr(entry.penalty, "weights", None)
    lightest = 1.0 if weights is None else min(a for a in weights if a)
    lightest *= 1 - getattr(entry.penalty, "l1_ratio", 0.0) or 1.0
    return v.size * np.abs(v).max(initial=0.0) / lightest


def check_holder(entry, u, v):
    """<u, v> ≤ Ω(u) Ω*(v)."""
    bound = entry.penalty.value(u) * entry.penalty.dual_norm(v)
    if not math.isnan(bound):
        assert dot(u, v) <= bound * (1 + TOLERANCE) + TOLERANCE * v.size * dot(np.abs(u), np.abs(v)) + SMALLEST


def check_dual_norm_is_reached(entry, v):
    """p = prox(v, s) has <p, v> = s Ω(p) + ‖p‖² ≥ s Ω(p): just under the dual norm it shows Hölder's bound is met."""
    dual = entry.penalty.dual_norm(v)
    if 0 < dual < math.inf:
        p = entry.penalty.prox(v, dual * (1 - 1e-6))
        assert np.any(p)
        assert dot(p, v) >= entry.penalty.value(p) * dual * (1 - 1e-5)


def check_zero_iff_under_dual_norm(entry, v):
    dual = entry.penalty.dual_norm(v)
    if math.isfinite(dual):
        assert not np.any(entry.penalty.prox(v, dual * (1 + 1e-9)))
    if dual > 0:
        assert np.any(entry.penalty.prox(v, min(dual * (1 - 1e-9), 1e3)))


def check_exact_zeros(entry, v, step):
    """What ends under the threshold is 0.0: not a rounding error, and not −0.0."""
    p, twin = entry.penalty.prox(v, step), reference.prox(entry.penalty, v, step)
    # Lifting what ends at zero by a hair and seeing it stay there leaves out ties, which rounding may decide.
    hair = 1e-9 * max(entry.size, np.abs(v).max(initial=0.0))
    lifted = np.where(twin == 0, v + np.copysign(hair, v), v)
    under = (twin == 0) & (reference.prox(entry.penalty, lifted, step) == 0)
    assert not np.any(p[under])
    assert not np.any(np.signbit(p[p == 0]))


def check_scaling(entry, v, step, power):
    """Norms are homogeneous: scaling v and the step by a power of two scales the result, to the last bit."""
    factor = 2.0**power
    scaled = entry.penalty.prox(v * factor, step * factor)
    assert_near(scaled / factor, entry.penalty.prox(v, step), np.abs(v).max(initial=0.0), 1e-13)


def check_feasible(entry, v):
    p = entry.penalty.prox(v)
    assert entry.penalty.value(p) == 0
    assert reference.value(entry.penalty, p) == 0


def check_idempotent(entry, v):
    p = entry.penalty.prox(v)
    assert_near(entry.penalty.prox(p), p, entry.unit(p), 1e-13)


def check_projection_is_nearest(entry, v, other):
    """<v − p, q − p> ≤ 0 for every q of the set."""
    p, q = entry.penalty.prox(v), entry.penalty.prox(other)
    far = max(np.abs(v).max(initial=0.0), entry.size) * max(entry.unit(v), entry.unit(other), entry.size)
    assert dot(v - p, q - p) <= TOLERANCE * v.size * far + SMALLEST


def check_inside_is_unchanged(entry, v):
    """Halfway to a point well inside lies inside, and stays exactly where it is."""
    inside = entry.penalty.prox(v) * (1 - 1e-6)
    if reference.value(entry.penalty, inside) == 0:
        np.testing.assert_array_equal(entry.penalty.prox(inside), inside)


# Losses


def check_loss_twin(entry, z, y):
    for ours, twin in ((entry.loss.value, reference.loss_value), (entry.loss.slope, reference.loss_slope)):
        np.testing.assert_allclose(ours(z, y), twin(entry.loss, z, y), rtol=1e-11, atol=1e-14 * (1 + np.abs(z).max()))
    np.testing.assert_allclose(entry.loss.link(z), reference.loss_link(entry.loss, z), rtol=1e-12, atol=1e-300)


def check_slope_against_differences(entry, z, y):
    """Central differences along every output, for one example away from kinks."""
    h = 1e-5
    if entry.kink(*((z[0], y[0]))) < 2 * h:
        return
    slope = np.reshape(entry.loss.slope(z, y), -1)
    for r in range(z.size):
        ahead, behind = z.copy(), z.copy()
        ahead.flat[r] += h
        behind.flat[r] -= h
        high, low = entry.loss.value(ahead, y)[0], entry.loss.value(behind, y)[0]
        # rounding of the values over h, and the error of the difference itself
        noise = 1e-15 * (abs(high) + abs(low)) / h + 10 * h * (1 + abs(slope[r]))
        assert abs((high - low) / (2 * h) - slope[r]) <= noise


def check_subgradient(entry, z, other, y):
    """ℓ(z') ≥ ℓ(z) + <slope, z' − z>: the loss is convex and the slope is one of its subgradients, at kinks too."""
    here, there, slope = entry.loss.value(z, y), entry.loss.value(other, y), entry.loss.slope(z, y)
    rise = slope * (other - z)
    size = np.abs(slope) * (np.abs(other) + np.abs(z))
    if entry.outputs:
        rise, size = rise.sum(axis=1), size.sum(axis=1)
    assert np.all(there >= here + rise - 1e-12 * (np.abs(here) + np.abs(there) + size + 1))


def change(entry, a, b, y):
    """Return ‖slope(a)‖, ‖slope(a) − slope(b)‖ and ‖a − b‖ of every example, for scalar losses without the norm."""
    slope, other = entry.loss.slope(a, y), entry.loss.slope(b, y)
    size = (lambda x: np.linalg.norm(x, axis=1)) if entry.loss.kind == "multiclass" else np.abs
    return size(slope), size(slope - other), size(a - b)


def check_constants(entry, z, other, y):
    slope, bend, apart = change(entry, z, other, y)
    if entry.loss.lipschitz is not None:
        assert np.all(slope <= entry.loss.lipschitz * (1 + 1e-12))
    if entry.loss.smoothness is not None:
        assert np.all(
            bend <= entry.loss.smoothness * apart * (1 + 1e-9) + 1e-14 * (1 + np.abs(z) + np.abs(other)).max()
        )
