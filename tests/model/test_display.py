"""The picture of a path."""

import pytest
from numpy.testing import assert_array_equal

import gossamer as gs
from online.paths import X
from online.problems import LOGISTIC, MULTINOMIAL


@pytest.mark.parametrize("y", [LOGISTIC.y, MULTINOMIAL.y], ids=["one output", "three outputs"])
def test_the_picture(y):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    path = gs.OnlineClassifierCV([0.1, 0.01, 0.0], method=gs.Fobos(0.5)).fit(X, y)
    display = gs.PathDisplay.from_estimator(path, top=3)
    assert len(display.axes_) == 3
    assert display.weights.shape == (3, 3)
    assert_array_equal(display.alphas, path.alphas_)
    display.figure_.canvas.draw()
    lines = display.axes_[1].lines
    assert_array_equal(lines[0].get_ydata(), path.path_nonzeros_)
    again = gs.PathDisplay.from_estimator(path, axes=display.axes_)
    assert again.figure_ is display.figure_
    matplotlib.pyplot.close(display.figure_)


def test_a_picture_needs_a_path():
    with pytest.raises(ValueError, match="needs a fitted estimator with a path"):
        gs.PathDisplay.from_estimator(gs.OnlineClassifier().fit(X, LOGISTIC.y))
    with pytest.raises(ValueError, match="needs a fitted estimator with a path"):
        gs.PathDisplay.from_estimator(gs.OnlineClassifierCV())
