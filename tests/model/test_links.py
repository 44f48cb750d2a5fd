"""Links: a closed set. What a loss says it predicts is what it predicts, and every export knows every link."""

import numpy as np
import pytest

import gossamer as gs
from catalogue import LOSSES, over
from gossamer.losses import Link, as_loss
from gossamer.model import exports

FORMULAS = {
    Link.IDENTITY: lambda z: z,
    Link.EXP: np.exp,
    Link.SIGMOID: lambda z: 1 / (1 + np.exp(-z)),
    Link.SIGMOID_OF_TWICE: lambda z: 1 / (1 + np.exp(-2 * z)),
    Link.SOFTMAX: lambda z: np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True),
}
WRITERS = {"c": exports.to_c, "sql": exports.to_sql, "onnx": exports.to_onnx}
writers = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def test_every_link_has_a_formula():
    assert {*FORMULAS, Link.OWN} == set(Link)


@over(LOSSES)
def test_a_loss_predicts_what_it_says(entry):
    z = np.linspace(-3, 3, 12).reshape(4, 3)
    np.testing.assert_allclose(entry.loss.link(z), FORMULAS[entry.loss.predicts](z), rtol=1e-13)


def model(link):
    loss = type("Mine", (gs.Squared,), {"predicts": link})()
    one, none = np.ones(1), np.zeros(1, np.int64)
    return gs.Model("regression", loss, None, 1, none, np.array([0, 1]), none.astype(np.int32), one, one)


@writers
def test_no_two_links_are_written_alike(write):
    links = [link for link in Link if link is not Link.OWN]
    assert len({write(model(link)) for link in links}) == len(links)


@writers
def test_a_link_of_ones_own_is_not_written_as_another(write):
    with pytest.raises(ValueError, match="Mine cannot be written to a file: it is code"):
        write(model(Link.OWN))


@writers
def test_a_new_link_is_not_written_as_another(write):
    class Later:
        value, is_probability = "later", False

    with pytest.raises(AssertionError, match="Later"):
        write(model(Later()))


class Own:
    def value(self, z, y):
        return (z - y) ** 2 / 2

    def slope(self, z, y):
        return z - y


class OwnLink(Own):
    def link(self, z):
        return z**3


def test_a_loss_of_ones_own_says_what_it_can():
    assert as_loss(Own()).predicts is Link.IDENTITY
    assert as_loss(OwnLink()).predicts is Link.OWN
    made = gs.Model.of(gs.BatchRegressor(OwnLink(), alpha=0.1).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0]))
    for write in (exports.to_c, exports.to_sql, exports.to_onnx, exports.to_json):
        with pytest.raises(ValueError, match="OwnLink cannot be written to a file"):
            write(made)
