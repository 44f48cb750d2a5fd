"""The catalogue at work: what a few penalties, sets and losses do to the same numbers."""

import numpy as np

import gossamer as gs


def show(name: str, w: np.ndarray) -> None:
    rows = np.atleast_2d(w)
    print(f"{name:<34}", "  ".join("[" + " ".join(f"{x:6.2f}" for x in row) + "]" for row in rows))


def main() -> None:
    v = np.array([3.0, -1.5, 0.8, -0.4, 0.1])
    print("One vector, shrunk by each penalty (step 1)")
    show("v", v)
    for penalty in (gs.L1(), gs.L2(), gs.L2Squared(), gs.LInf(), gs.Berhu(), gs.ElasticNet(), gs.NonNegativeL1()):
        show(type(penalty).__name__, penalty.prox(v, step=1.0))

    print("\nThe same vector, projected")
    show("simplex, sum 1", gs.project_simplex(v))
    show("l1 ball, radius 2", gs.project_l1_ball(v, radius=2.0))
    show("l2 ball, radius 2", gs.project_l2_ball(v, radius=2.0))

    print("\nA matrix, two outputs a feature: whole rows leave together")
    W = np.array([[3.0, -2.0], [0.5, 0.4], [-1.0, 0.1]])
    show("W", W)
    show("l1, step 0.6", gs.L1().prox(W, step=0.6))
    show("l1/l2 rows, step 0.8", gs.GroupL2().prox(W, step=0.8))
    show("l1/linf rows, step 1", gs.GroupLInf().prox(W, step=1.0))

    print("\nA million features, three changed at a time, always inside the l1 ball")
    ball = gs.SparseL1Ball(n_features=1_000_000, radius=1.0)
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        ball.update(rng.integers(1_000_000, size=3), rng.normal(size=3) * 0.01)
    print(f"after 10,000 steps: {ball.nnz} non-zeros, l1 norm {ball.norm1:.6f}")

    print("\nLosses at margin z = 0.5 for y = +1")
    for loss in (gs.Logistic(), gs.Hinge(), gs.SquaredHinge(), gs.Exponential()):
        print(f"{type(loss).__name__:<16} value {loss.value(0.5, 1):.4f}  slope {loss.slope(0.5, 1):+.4f}")


if __name__ == "__main__":
    main()
