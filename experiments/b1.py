"""Boosting on RCV1: ℓ1 that stops by itself, smooth ℓ1 that does not, and ℓ2 on words chosen by mutual information.

All strengths are chosen by 5-fold cross-validation: that of ℓ1 with the batch estimator, which minimises the same
objective; that of smooth ℓ1 by the least loss of any round, with 30 features a round for time. With the strength chosen
smooth ℓ1 adds one feature a round, as in the paper; a weaker one is shown beside it.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import KFold

import gossamer as gs
from experiments import data, frame

ID = "B1"
PAPER = "Duchi & Singer 2009 (boosting), Figure 4"
STATEMENT = (
    "On the topics of RCV1 the ℓ1 booster stops adding features by itself, while the smooth-ℓ1 booster keeps adding "
    "them and starts to overfit."
)
PAPER_NUMBER = "ℓ1 stops at about round 30 with about 700 features; smooth ℓ1 overfits from 200 features on"

WHY = (
    "At the strength that cross-validation chooses for smooth ℓ1 (3e-5 on all three topics; CCAT: .191 there, .205 "
    "with 1e-5) its loss is the least with 690 to 700 of 700 features, and rises by "
    ".00008 or less, where .0001 is asked for. Whether it overfits is a matter of the strength: at a tenth of it (see "
    "the table) it does, on all three topics, from 630, 300 and 270 features on, by .03 to .06."
)

TOPICS = ("CCAT", "ECAT", "GCAT")


def run(size):
    """Boost every topic in both ways, following the loss on the test rows."""
    curves, checks, ends = {}, [], []
    for topic in size.pick(TOPICS, TOPICS[:1]):
        reuters = data.load("rcv1", size, topic)
        rows = slice(size.pick(None, 800))
        X, y = reuters.X[rows], reuters.y[rows]
        test = reuters.X_test, reuters.y_test
        curves[topic] = _topic(X, y, test, size)
        c = curves[topic]
        best = min(c["smooth ℓ1"]["loss"])
        ours, smooth = c["ℓ1"]["loss"][-1], c["smooth ℓ1"]
        rise = smooth["loss"][-1] - best
        checks += [
            frame.at_least(f"{topic}: the ℓ1 booster stopped by itself (1 is yes)", c["stopped by itself"], 1),
            frame.at_most(f"{topic}: test loss of ℓ1 − best of smooth ℓ1", ours - best, 0.01, quick=False),
            frame.at_least(f"{topic}: rise of smooth ℓ1 from its best to its last round", rise, 1e-4),
        ]
        at_best = smooth["features"][int(np.argmin(smooth["loss"]))]
        ends.append(
            f"{topic}: ℓ1 {ours:.4f} with {c['ℓ1']['features'][-1]} features, round {c['ℓ1']['round'][-1]}; "
            f"smooth ℓ1 {best:.4f} with {at_best}, then {smooth['loss'][-1]:.4f} with {smooth['features'][-1]}; "
            f"ℓ2 {min(c['ℓ2']['loss']):.4f}"
        )
        size.log(ends[-1])
    table = ["| topic | α | best loss | features there | last loss | features there |", "|---" * 6 + "|"]
    for topic, found in curves.items():
        for name, alpha in (("smooth ℓ1", found["strengths"][1]), ("smooth ℓ1, weaker", found["strengths"][1] / 10)):
            features, loss = found[name]["features"], found[name]["loss"]
            best = int(np.argmin(loss))
            table.append(
                f"| {topic} | {alpha:.1g} | {loss[best]:.4f} | {features[best]} | {loss[-1]:.4f} | {features[-1]} |"
            )
    notes = [*reuters.notes, "MCAT is not in our subset."]
    tables = ["Smooth ℓ1 at the strength chosen and at a tenth of it.\n\n" + "\n".join(table)]
    return frame.Outcome({"curves": curves}, checks, notes, "; ".join(ends), tables)


def _topic(X, y, test, size):
    """Return the curves of one topic: features and test loss by round, or by number of words for ℓ2."""
    strengths = size.pick(np.geomspace(3e-4, 1e-5, 8), np.geomspace(3e-2, 3e-3, 4))
    chosen = gs.BatchClassifierCV(alphas=strengths, cv=5, select="best", tol=1e-3).fit(X, y)
    ours = gs.BoostingClassifier("l1", chosen.alpha_, batch=30).fit(X, y, validation=test)
    alpha = _smooth_strength(X, y, size)
    smooth = gs.BoostingClassifier("smooth_l1", alpha, batch=1, max_rounds=size.pick(700, 100))
    weaker = gs.BoostingClassifier("smooth_l1", alpha / 10, batch=size.pick(30, 10), max_rounds=size.pick(50, 10))
    return {
        "ℓ1": _history(ours),
        "smooth ℓ1": _history(smooth.fit(X, y, validation=test)),
        "smooth ℓ1, weaker": _history(weaker.fit(X, y, validation=test)),
        "ℓ2": _by_information(X, y, test, size),
        "stopped by itself": int(ours.stopped_by_ == "no candidate"),
        "strengths": [chosen.alpha_, alpha],
    }


def _smooth_strength(X, y, size):
    """Return the strength of smooth ℓ1 with the least loss of any round in 5-fold cross-validation."""
    strengths = size.pick((1e-6, 3e-6, 1e-5, 3e-5), (1e-5, 1e-4))
    losses = dict.fromkeys(strengths, 0.0)
    for train, rest in KFold(5, shuffle=True, random_state=0).split(X):
        for alpha in strengths:
            model = gs.BoostingClassifier("smooth_l1", alpha, batch=size.pick(30, 10), max_rounds=size.pick(20, 5))
            model.fit(X[train], y[train], validation=(X[rest], y[rest]))
            losses[alpha] += min(r.validation_loss for r in model.history_) / 5
    size.log(", ".join(f"α {alpha:.0e}: {loss:.4f}" for alpha, loss in losses.items()))
    return min(losses, key=losses.get)


def _history(model):
    rounds = model.history_[1:]
    return {
        "round": [r.round for r in rounds],
        "features": [r.nonzeros for r in rounds],
        "loss": [r.validation_loss for r in rounds],
    }


def _by_information(X, y, test, size):
    """Return the test loss of ℓ2-logistic regression on the words with most mutual information with the topic."""
    order = np.argsort(-_information(X, y))
    counts = size.pick((50, 200, 700), (20, 50))
    losses = []
    for count in counts:
        words = np.sort(order[:count])
        model = gs.BatchClassifierCV(penalty="l2_squared", alphas=(1e-3, 1e-4, 1e-5, 1e-6), select="best", tol=1e-3)
        margins = model.fit(X[:, words], y).decision_function(test[0][:, words])
        losses.append(float(np.mean(gs.Logistic().value(margins, test[1]))))
    return {"features": counts, "loss": losses}


def _information(X, y):
    """Return the mutual information of each word's presence with the label."""
    there = np.stack([np.asarray((X[y == side] != 0).sum(axis=0)).ravel() for side in (1, -1)])
    sides = np.array([[np.sum(y == 1)], [np.sum(y == -1)]])
    joint = np.stack([there, sides - there]) / len(y)  # presence, label, word
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return np.sum(joint * np.log(np.maximum(joint, 1e-300) / np.maximum(product, 1e-300)), axis=(0, 1))


def draw(figure, numbers):
    """Draw the test loss over the features in use, one panel a topic."""
    curves = numbers["curves"]
    figure.set_size_inches(11, 4)
    for (topic, found), axes in zip(curves.items(), figure.subplots(1, len(curves), squeeze=False)[0], strict=True):
        for name in ("ℓ1", "smooth ℓ1", "smooth ℓ1, weaker", "ℓ2"):
            axes.plot(found[name]["features"], found[name]["loss"], label=name)
        axes.plot(found["ℓ1"]["features"][-1], found["ℓ1"]["loss"][-1], "k*", ms=10)
        axes.set(title=topic, xlabel="features", ylabel="test loss", ylim=(0, 0.5))
        axes.legend()
