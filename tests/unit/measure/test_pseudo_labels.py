"""Pseudo-labels of reviewed rows, against the formula row by row."""

import numpy as np
import pytest

from halftruth.measure._fitted_guess import LineGuess
from halftruth.measure._pseudo_labels import Fill, PseudoLabels

SCORE = np.asarray([0.1, 0.4, 0.8])
GUESS = LineGuess(np.asarray([0.0, 1.0]), np.asarray([0.2, 0.6]))


def row_by_row(label, times):
    """Σ v and Σ v² of rows with these 1/e, by score."""
    expected = 0.2 + 0.4 * SCORE
    value = [sum(p + u * (label - p) for u in of) for p, of in zip(expected, times, strict=True)]
    square = [sum((p + u * (label - p)) ** 2 for u in of) for p, of in zip(expected, times, strict=True)]
    return value, square


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.9, 0.8)])
def test_sums_are_those_of_the_formula_for_each_row(a, b):
    times = {"positive": [[1.0, 4.0], [], [2.5]], "negative": [[10.0], [1.0, 1.0, 3.0], []]}
    sums = {}
    for name, of in times.items():
        sums[name, "weight"] = np.asarray([float(len(x)) for x in of])
        sums[name, "value"] = np.asarray([sum(x) for x in of])
        sums[name, "square"] = np.asarray([sum(u * u for u in x) for x in of])
    out = PseudoLabels(guess=GUESS, sensitivity=a, specificity=b).of(SCORE, sums)
    for name, said in (("positive", 1.0), ("negative", 0.0)):
        value, square = row_by_row((said - 1 + b) / (a + b - 1), times[name])
        np.testing.assert_allclose(out[name, "value"], value, atol=1e-12)
        np.testing.assert_allclose(out[name, "square"], square, atol=1e-12)


def test_a_certain_review_is_its_label_whatever_is_guessed():
    weight = np.asarray([1.0, 2.0, 3.0])
    out = PseudoLabels(guess=GUESS).of(
        SCORE, {("positive", "weight"): weight, ("negative", "weight"): weight}
    )
    np.testing.assert_allclose(out["positive", "value"], weight)
    np.testing.assert_allclose(out["negative", "value"], 0.0, atol=1e-15)


def test_rows_that_nobody_could_look_at_are_what_they_are_taken_for():
    weight, never = np.asarray([2.0, 2.0, 2.0]), np.asarray([2.0, 1.0, 1.0])
    sums = {("unlabeled", "weight"): weight, ("unlabeled", "value"): never}
    guessed = (weight - never) * (0.2 + 0.4 * SCORE)
    for fill, share in (
        (Fill(0.4), [0.0, 1.0, 1.0]),
        (Fill(0.4, upward=False), [1.0, 0.0, 0.0]),
    ):
        out = PseudoLabels(guess=GUESS, fill=fill).of(SCORE, sums)
        np.testing.assert_allclose(out["unlabeled", "value"], guessed + never * np.asarray(share))
    assert np.isnan(PseudoLabels(guess=GUESS).of(SCORE, sums)["unlabeled", "value"]).all()


def test_rows_that_nobody_could_look_at_make_up_for_the_others_where_they_can():
    # Of the two rows at .8, 1.6 are positive if the score is right, and all the others are known to be.
    sums = {
        ("positive", "weight"): np.asarray([1.0, 0.0, 0.0]),
        ("unlabeled", "weight"): np.asarray([2.0, 2.0, 2.0]),
        ("unlabeled", "value"): np.asarray([1.0, 1.0, 1.0]),
    }
    out = PseudoLabels(guess=GUESS, fill=Fill(0.0, calibrates=True)).of(SCORE, sums)
    mass = sums["positive", "weight"] + sums["unlabeled", "weight"]
    known = sums["positive", "weight"] + (0.2 + 0.4 * SCORE)
    expected = np.clip(SCORE * mass - known, 0, 1)
    np.testing.assert_allclose(out["unlabeled", "value"], 0.2 + 0.4 * SCORE + expected)
    np.testing.assert_allclose(expected, [0.0, 0.44, 1.0])  # full where too few are, and none where too many
