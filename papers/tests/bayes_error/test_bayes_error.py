"""The Bayes error paper done again: Table 1, networks, classifiers, tables, and the run that makes the page."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from halftruth._errors import InputError
from halftruth.cli import main
from halftruth_papers import drawing as reproduction
from halftruth_papers import reproduce
from halftruth_papers.bayes_error import PAPER, experiments, lines, models, tables
from halftruth_papers.bayes_error import page as bayes_page
from halftruth_papers.bayes_error import paper as bayes_run
from halftruth_papers.bayes_error import settings as bayes_settings
from halftruth_papers.bayes_error import sources as bayes_sources
from halftruth_papers.bayes_error.gaussian_pair import bayes_setups
from halftruth_papers.bayes_error.paper import BayesError
from halftruth_papers.bayes_error.settings import BER, CLEAN, HARD, NOISY, PCONF, SETUPS, SIGNED, SOFT, TASKS
from halftruth_papers.logits import SOURCES
from halftruth_papers.page import Page
from halftruth_papers.reproduction import run
from halftruth_papers.store import Store

TABLE_1 = {
    "Animals vs. artifacts": ("0.50 (0.45, 0.55)", "0.22 (0.13, 0.31)"),
    "Land vs. other": ("1.55 (1.46, 1.64)", "0.76 (0.59, 0.94)"),
    "Odd vs. even": ("2.03 (1.93, 2.14)", "1.85 (1.53, 2.17)"),
    "First 5 vs. last 5": ("3.26 (3.12, 3.40)", "2.76 (2.37, 3.14)"),
}
"""Of the paper, without its percent signs."""


def made_up(n: int = 300, seed: int = 0) -> bayes_sources.Data:
    """Votes of ten people on ten classes, a network that is mostly right, and review scores of all years."""
    rng = np.random.default_rng(seed)
    label = rng.integers(10, size=n)
    chance = np.full((n, 10), 0.02)
    chance[np.arange(n), label] = 0.82
    predicted = np.where(rng.random(n) < 0.9, label, rng.integers(10, size=n))
    votes = bayes_sources.Votes(rng.multinomial(10, chance).astype(float), label)
    score = rng.normal(5, 1.5, size=7 * 60)
    accepted = rng.random(len(score)) < 1 / (1 + np.exp(-2 * (score - 5.5)))
    year = np.repeat(bayes_settings.YEARS, 60)
    reviews = bayes_sources.Reviews(score, year, accepted)
    return bayes_sources.Data(votes, reviews, {"resnet110_c10_logits": predicted})


def votes_of(data: bayes_sources.Data) -> bayes_sources.Votes:
    assert data.votes is not None
    return data.votes


# --- Table 1 and Figure 4 -----------------------------------------------------------------------------


def test_every_figure_of_table_1_comes_out_as_printed(data_dir: Path) -> None:
    votes = votes_of(bayes_sources.read(data_dir))
    results = {f"table-{name}": experiments.table(votes, task) for name, task in TASKS.items()}
    _, rows = tables.table_1(results)
    assert {row[0]: (row[2], row[4]) for row in rows} == TABLE_1
    assert {row[0]: (row[1], row[3]) for row in rows} == TABLE_1
    assert tables.equal_figures(results) == 24


def test_the_networks_rows_are_those_of_the_votes(data_dir: Path) -> None:
    data = bayes_sources.read(data_dir)
    assert data.other_rows == ()
    right = {name: float(np.mean(own == votes_of(data).label)) for name, own in data.predicted.items()}
    assert {name: round(share, 4) for name, share in right.items()} == {
        "resnet110_c10_logits": 0.9356,
        "netcal_lenet-5-cifar-10": 0.5308,
        "verified_calibration_cifar10_probs": 0.9359,
    }


def test_a_figure_off_by_one_in_the_last_place_is_not_equal() -> None:
    results = {
        f"table-{name}": {key: np.array(cell) / 100 for key, cell in task.printed.items()}
        for name, task in TASKS.items()
    }
    assert tables.equal_figures(results) == 24
    results["table-odd"]["pconf"][1] += 1e-4
    assert tables.equal_figures(results) == 23


def test_a_row_of_the_table_by_hand() -> None:
    counts = np.zeros((6, 10))
    counts[:, 2] = [10, 9, 5, 0, 2, 0]  # birds, of ten votes; the others for ships
    counts[:, 8] = 10 - counts[:, 2]
    votes = bayes_sources.Votes(counts, np.array([2, 2, 2, 2, 8, 8]))
    own = experiments.table(votes, TASKS["animals"])
    assert own["pn"][0] == pytest.approx(np.mean([0, 0.1, 0.5, 0, 0.2, 0]), abs=1e-15)
    losses = np.array([0, 1 / 9, 1, 1])
    side = 3.182446305284263 * losses.std(ddof=1) / 2  # Student's t with 3 degrees of freedom
    assert own["pconf"][0] == pytest.approx(losses.mean() / 2, abs=1e-15)
    # The relative estimate ends at 1, the most that is possible.
    assert own["pconf"][2] - own["pconf"][0] == pytest.approx(min(side, 1 - losses.mean()), abs=1e-12)
    assert own["own"][0] == pytest.approx(losses.mean() * 4 / 6, abs=1e-15)
    assert (own["prior"], own["zeros"]) == (4 / 6, 1)


def test_shares_of_votes_fall_short_of_what_the_votes_say() -> None:
    votes = votes_of(made_up(2000))
    own = experiments.from_votes(votes, TASKS["odd"])
    share = votes.share(TASKS["odd"].positive)
    assert own["plug_in"] == pytest.approx(np.minimum(share, 1 - share).mean(), abs=1e-12)
    assert own["plug_in"] < own["identified"][0] <= own["value"][0] <= own["identified"][1]
    assert own["value"][1] <= own["identified"][0]
    assert own["identified"][1] <= own["value"][2]
    assert own["ballots"] == [10, 10]


def test_ten_classes_at_once() -> None:
    votes = votes_of(made_up())
    expected = 1 - (votes.counts / 10).max(axis=1).mean()
    assert experiments.all_classes(votes)["value"][0] == pytest.approx(expected, abs=1e-12)


def test_labels_drawn_from_the_votes() -> None:
    data = made_up(3000)
    votes, guess = votes_of(data), data.predicted["resnet110_c10_logits"]
    own = experiments.judged(votes, guess, TASKS["first"], "a network", [3])
    share = votes.share(TASKS["first"].positive)
    right = np.where(guess < 5, share, 1 - share)
    assert own["expected"][0] == pytest.approx(1 - right.mean(), abs=1e-12)
    assert own["error"] == pytest.approx(np.mean((guess < 5) != (votes.label < 5)), abs=1e-15)
    spread = math.sqrt(float(np.sum(right * (1 - right)))) / len(right)
    assert len(own["drawn"]) == 20
    assert np.mean(own["drawn"]) == pytest.approx(own["expected"][0], abs=4 * spread / math.sqrt(20))
    low, high = chi2.ppf((1e-5, 1 - 1e-5), 19)
    assert low < 19 * np.var(own["drawn"], ddof=1) / spread**2 < high


def test_the_labels_themselves_are_too_good() -> None:
    votes = votes_of(made_up(3000))
    own = experiments.judged(votes, votes.label, TASKS["first"], "the labels", [3])
    assert own["error"] == 0
    assert own["too_good"]
    assert own["expected"][0] >= own["bayes"][0]


# --- files --------------------------------------------------------------------------------------------


def write(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, **arrays: Any) -> Path:
    """A file that has the checksum asked for."""
    path = folder / f"{name}.npz"
    np.savez(path, **arrays)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    if name in bayes_sources.SHA256:
        monkeypatch.setitem(bayes_sources.SHA256, name, sha256)
    else:
        monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], sha256=sha256))
    return path


def test_what_a_folder_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    for nothing in (bayes_sources.read(None), bayes_sources.read(tmp_path)):
        assert (nothing.votes, nothing.reviews, nothing.predicted) == (None, None, {})
    with pytest.raises(InputError, match="must be a folder that exists"):
        bayes_sources.read(tmp_path / "none")
    lenet, resnet = "netcal_lenet-5-cifar-10", "resnet110_c10_logits"
    probs = np.eye(10)[[3, 1]]
    write(tmp_path, lenet, monkeypatch, probs=probs, labels=np.array([3, 1]))
    assert bayes_sources.read(tmp_path).predicted == {}  # nothing to judge it by
    write(tmp_path, "cifar10h", monkeypatch, counts=np.eye(10, dtype=np.uint8)[:2], label=np.array([3, 2]))
    none, y = np.zeros((1, 10)), np.array([3, 2])
    write(tmp_path, resnet, monkeypatch, val_logits=none, val_labels=[0], test_logits=probs, test_labels=y)
    write(tmp_path, "iclr_scores", monkeypatch, X=[[5.5, 2017]], y=[1])
    monkeypatch.setenv("HALFTRUTH_DATA", str(tmp_path))
    data = bayes_sources.read(None)
    assert {name: own.tolist() for name, own in data.predicted.items()} == {resnet: [3, 1]}
    assert data.other_rows == (lenet,)
    assert data.reviews is not None
    assert (data.reviews.score[0], data.reviews.year[0], data.reviews.accepted[0]) == (5.5, 2017, True)
    said = bayes_page.remarks(data, quick=False)
    assert any("Left out of Figure 4: netcal_lenet-5-cifar-10" in note for note in said)
    assert any("Not found: verified_calibration_cifar10_probs.npz" in note for note in said)


def test_files_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "cifar10h", monkeypatch, counts=np.ones((1, 10)))
    with pytest.raises(InputError, match="with the arrays counts, label"):
        bayes_sources.read(tmp_path)
    path.write_bytes(path.read_bytes() + b"!")
    with pytest.raises(InputError, match=r"cifar10h\.npz must have the SHA-256 checksum"):
        bayes_sources.read(tmp_path)


# --- classifiers --------------------------------------------------------------------------------------


def in_doubles(of: models.Models) -> models.Models:
    hidden = None if of.hidden is None else of.hidden.astype(np.float64)
    return models.Models(hidden, of.output.astype(np.float64))  # type: ignore[arg-type]


@pytest.mark.parametrize("hidden", [None, 6])
def test_the_gradient_is_the_slope_of_the_mean_log_loss(hidden: int | None) -> None:
    rng = np.random.default_rng(0)
    own = in_doubles(models.first_models((2, 2), 3, hidden, rng))
    x = np.concatenate([rng.normal(size=(2, 1, 7, 3)), np.ones((2, 1, 7, 1))], axis=-1)
    labels = rng.random((2, 2, 7))

    def loss(of: models.Models) -> Any:
        z = of.logits(of.units(x))
        return (np.log1p(np.exp(z)) - labels * z).mean(axis=-1)

    slopes = models.gradient(x, labels, own)  # type: ignore[arg-type]
    assert len(slopes) == len(own.layers)
    for layer, slope in zip(own.layers, slopes, strict=True):
        assert layer.shape == slope.shape
        for place in np.ndindex(layer.shape[2:]):
            at = (slice(None), slice(None), *place)
            step, ends = 1e-6, []
            for sign in (1, -1):
                layer[at] += sign * step
                ends.append(loss(own))
                layer[at] -= sign * step
            np.testing.assert_allclose(slope[at], (ends[0] - ends[1]) / (2 * step), atol=1e-8)


def test_one_logit_learns_what_two_softmax_outputs_learn() -> None:
    rng = np.random.default_rng(1)
    n, d, units, epochs, batch = 11, 2, 5, 4, 4
    x = rng.normal(size=(1, n, d)).astype(np.float32)
    y = rng.random((1, 1, n)).astype(np.float32)
    first = rng.normal(size=(d + 1, units))
    last = rng.normal(size=(units + 1, 2))  # of the negative class and of the positive
    start = models.Models(
        first[None, None].astype(np.float32),
        (last[:, 1] - last[:, 0])[None, None, :, None].astype(np.float32),
    )
    found = models.train(x, y, start, np.random.default_rng(5), epochs=epochs, batch=batch)
    order = np.random.default_rng(5)
    ends = np.column_stack([x[0], np.ones(n)]).astype(np.float64)
    speeds = [np.zeros_like(first), np.zeros_like(last)]
    for _ in range(epochs):
        rows = order.permuted(np.tile(np.arange(n), (1, 1)), axis=1)[0]
        for begin in range(0, n, batch):
            at = rows[begin : begin + batch]
            unit = np.maximum(ends[at] @ first, 0)
            wide = np.column_stack([unit, np.ones(len(at))])
            z = wide @ last
            p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
            error = (p - np.column_stack([1 - y[0, 0, at], y[0, 0, at]])) / len(at)
            slopes = [ends[at].T @ ((error @ last[:-1].T) * (unit > 0)), wide.T @ error]
            for weight, speed, slope in zip((first, last), speeds, slopes, strict=True):
                speed *= models.MOMENTUM
                speed += slope
                weight -= models.STEP * speed
    assert found.hidden is not None
    np.testing.assert_allclose(found.hidden[0, 0], first, atol=1e-5)
    np.testing.assert_allclose(found.output[0, 0, :, 0], last[:, 1] - last[:, 0], atol=1e-5)


def test_training_leaves_its_start_alone_and_hangs_on_the_seed() -> None:
    x = np.random.default_rng(0).normal(size=(2, 9, 2)).astype(np.float32)
    y = (x[:, None, :, 0] > 0).astype(np.float32)
    start = models.first_models((2, 1), 2, 4, np.random.default_rng(1))
    before = start.output.copy()
    runs = [
        models.train(x, y, start, np.random.default_rng(seed), epochs=3, batch=4).output for seed in (2, 2, 3)
    ]
    assert start.output.tolist() == before.tolist()
    assert runs[0].tolist() == runs[1].tolist()
    assert runs[0].tolist() != runs[2].tolist()


def test_probabilities_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    own = models.first_models((3, 2), 4, 8, rng)
    x = rng.normal(size=(1, 25, 4)).astype(np.float32)
    whole = models.probabilities(own, x)
    assert whole.shape == (3, 2, 25)
    monkeypatch.setattr(models, "BLOCK", 10)
    np.testing.assert_allclose(models.probabilities(own, x), whole, rtol=1e-6)
    z = own.logits(own.units(models.with_ones(x)[:, None])).astype(float)
    np.testing.assert_allclose(whole, 1 / (1 + np.exp(-z)), rtol=1e-6)


def test_nobody_errs_less_than_the_best_rule() -> None:
    posterior = np.random.default_rng(0).random(1000)
    assert models.excess_error(posterior, posterior) == 0
    other = np.random.default_rng(1).random((2, 3, 1000))
    cost = np.where(other > 0.5, 1 - posterior, posterior) - np.minimum(posterior, 1 - posterior)
    np.testing.assert_allclose(models.excess_error(other, posterior), cost.mean(axis=-1), atol=1e-15)


TINY = bayes_settings.Plan(sizes=(2, 16), trials=2, test_rows=200, epochs=2, many=500)


def test_classifiers_learn_from_the_rows_of_the_estimate() -> None:
    pair = bayes_setups()["C"]
    plan = replace(TINY, trials=3, epochs=150, test_rows=2000)
    own = experiments.learned(pair, "mlp", 64, plan, ([1], [2], [3]))["values"]
    assert {name: len(each) for name, each in own.items()} == dict.fromkeys(own, 3)
    assert list(own) == [HARD, HARD + BER, SOFT, SOFT + BER]
    assert min(own[HARD] + own[SOFT]) >= pair.bayes_error
    # Chance errs by .5; whoever learned something is nearer to the best than to that.
    assert max(own[HARD] + own[SOFT]) < (pair.bayes_error + 0.5) / 2
    few = experiments.learned(pair, "mlp", 64, replace(plan, epochs=1), ([1], [2], [3]))["values"]
    assert np.mean(few[SOFT]) > np.mean(own[SOFT])
    assert experiments.learned(pair, "linear", 64, plan, ([1], [2], [3]))["values"][SOFT] != own[SOFT]


# --- estimates without classifiers --------------------------------------------------------------------


def test_estimates_from_labels_by_hand() -> None:
    pair = bayes_setups()["D"]
    own = experiments.direct(pair, 40, 3, [7])["values"]
    for i, draw in enumerate(experiments.drawn(pair, 40, 3, [7])):
        assert draw.y.tolist() == [1] * 40 + [0] * 40
        c = draw.posterior
        assert own[CLEAN][i] == pytest.approx(np.minimum(c, 1 - c).mean(), abs=1e-14)
        r = c[:40]
        assert own[PCONF][i] == pytest.approx(0.5 * np.minimum(1, (1 - r) / r).mean(), abs=1e-14)
        assert own[NOISY][i] < own[SIGNED][i]


def test_noisy_labels_tend_to_where_theory_says() -> None:
    pair, n, trials = bayes_setups()["D"], 5000, 4
    about = experiments.about(pair, 200_000, [1])
    own = experiments.direct(pair, n, trials, [2])["values"]
    # Losses lie in [0, .5] without signs and in [0, 1] with them: their sd is at most half of that.
    error = 0.25 / math.sqrt(2 * n * trials)
    for name, limit in about["limits"].items():
        within = 4 * math.hypot(error, about["errors"][name])
        assert np.mean(own[name]) == pytest.approx(limit, abs=within)
        assert limit < pair.bayes_error - 4 * about["errors"][name]
    for name in (SIGNED, bayes_settings.CODE_SIGNED):
        assert np.mean(own[name]) == pytest.approx(pair.bayes_error, abs=8 * error)


def test_a_logistic_fit_of_acceptance() -> None:
    from sklearn.linear_model import LogisticRegression

    data = made_up()
    assert data.reviews is not None
    own = experiments.acceptance(data.reviews, 2019)
    rows = data.reviews.year == 2019
    x, y = data.reviews.score[rows][:, None], data.reviews.accepted[rows]
    chance = LogisticRegression(C=1e10, tol=1e-10).fit(x, y).predict_proba(x)[:, 1]
    assert own["inside"][0] == pytest.approx(np.minimum(chance, 1 - chance).mean(), abs=1e-5)
    assert own["counted"] == np.mean((chance >= 0.5) != y)
    assert own["inside"][1] < own["inside"][0] < own["inside"][2]
    assert own["held_out"][1] <= own["held_out"][0] <= own["held_out"][2]
    assert "upper bound" in own["notes"][0]


# --- tables -------------------------------------------------------------------------------------------


def test_distances_from_the_truth() -> None:
    one = {2: np.array([1.0, 3.0]), 4: np.array([1.0, 1.5])}
    other = {2: np.array([2.5, 2.5]), 4: np.array([2.0, 2.0])}
    assert lines.nearer(one, other, 2.0, "by the mean") == [True, False]
    assert lines.nearer(one, other, 2.0, "by RMSE") == [False, False]
    assert lines.rmse(one[2], 2.0) == 1
    assert lines.up_to([True, False, True], [2, 4, 8]) == 2
    assert lines.error_of_mean(one[2]) == 1
    sizes, mean, error = lines.means(one)
    assert (sizes.tolist(), mean.tolist()) == ([2, 4], [2.0, 1.25])
    assert error.tolist() == [1.0, 0.25]


def test_words_on_classifiers_are_computed() -> None:
    results: dict[str, Any] = {}
    for setup in SETUPS:
        results[f"about-{setup}"] = {"truth": 0.1}
        for n, hard in ((2, 0.2), (4, 0.1)):
            direct = {CLEAN: [0.1, 0.102]}
            own = {HARD: [hard] * 2, SOFT: [0.15] * 2, HARD + BER: [0.05] * 2, SOFT + BER: [0.2] * 2}
            results[f"direct-{setup}-{n}"] = {"n": n, "values": direct}
            results[f"mlp-{setup}-{n}"] = {"n": n, "values": own}
    columns, rows = lines.classifier_words(results, "mlp")
    found = {row[0]: row[1] for row in rows}
    assert columns == ["", *SETUPS]
    assert found["proposed nearer than MLP, hard, by the mean: at sizes"] == "1 of 2"
    assert found["proposed nearer than MLP, hard, by the mean: at every size up to"] == 2
    assert found["proposed nearer than MLP, soft, by RMSE: at sizes"] == "2 of 2"
    assert found["proposed nearer than MLP, soft, by RMSE: at every size up to"] == 4
    assert found["MLP, soft nearer than hard, by RMSE: at sizes"] == "1 of 2"
    assert found["classifier-BER, hard, below the truth: at sizes"] == "2 of 2"
    assert found["classifier-BER, soft, below the truth: at sizes"] == "0 of 2"


# --- the run ------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    monkeypatch.setattr(bayes_settings, "QUICK", TINY)
    monkeypatch.setattr(models, "HIDDEN", 8)
    for module in (bayes_run, lines, bayes_page):
        monkeypatch.setattr(module, "BATCH_SIZE", 4)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("tiny")
def test_a_run_writes_a_page_and_its_tables_and_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Figures are made, but drawing them is what takes long.
    monkeypatch.setattr(reproduction, "svg", lambda figure, name: f"<svg id='{name}'></svg>")
    data = made_up()
    monkeypatch.setattr(bayes_sources, "read", lambda *_: data)
    page = reproduce("bayes-error", out=tmp_path, quick=True)
    text = page.read_text(encoding="utf-8")
    assert page == tmp_path / "bayes-error.html"
    for said in ("Table 1", "Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 6", "Review scores"):
        assert f"<h2>{said}" in text
    assert "Not found: netcal_lenet-5-cifar-10.npz" in text
    assert text.count("<svg") == 6
    rows = {path.stem: read(path) for path in tmp_path.glob("*.csv")}
    by_size = len(SETUPS) * len(TINY.sizes)
    assert {name: len(each) for name, each in rows.items()} == {
        "table-1": 4,
        "table-1-priors": 4,
        "votes": 4,
        "classes": 1,
        "figure-4": 2 * 4,
        "figure-1-words": 16,
        "figure-6-words": 16,
        "figure-1-numbers": by_size,
        "figure-6-numbers": by_size,
        "figure-1-batches": len(SETUPS) * len(bayes_settings.BATCHES),
        "figure-2-words": 12,
        "figures-1-to-3-numbers": by_size,
        "figure-3-words": len(TINY.sizes),
        "reviews": 7,
    }
    assert float(rows["figure-1-numbers"][0]["Bayes error"]) == pytest.approx(5.6923149, abs=1e-6)
    assert rows["reviews"][0]["paper"] == ""

    kept = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "cells").iterdir()}
    (tmp_path / "cells" / "direct-B-16.json").write_text("{", encoding="utf-8")
    for name in ("table", "judged", "learned", "acceptance"):
        monkeypatch.setattr(experiments, name, lambda *_: pytest.fail("a result that was kept is made again"))
    monkeypatch.setattr(bayes_page, "page", lambda *_: Page("again"))
    outcome = run(PAPER, None, tmp_path, quick=True, rng=0, progress=False)
    assert {key: json.dumps(cell) for key, cell in outcome.results.items()} == kept
    for table in outcome.summary:
        assert {len(row) for row in table.numbers} == {len(table.header) - 2}
        assert len(set(table.header)) == len(table.header)
        assert len(table.labels) == len(table.numbers)
    with pytest.raises(InputError, match="holds a run of bayes-error with rng 0, and this one has 1"):
        reproduce("bayes-error", out=tmp_path, quick=True, rng=1)


@pytest.mark.usefixtures("tiny")
def test_the_command_without_data_leaves_out_what_needs_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduction, "svg", lambda figure, name: f"<svg id='{name}'></svg>")
    command = ["reproduce", "bayes-error", "--quick", "--out", str(tmp_path / "out"), "--format", "json"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert {row["table"] for row in found["results"]} == {"Figures 1 to 3"}
    assert {row["of"] for row in found["results"]} == set(SETUPS)
    truth = {row["of"]: row["value"] for row in found["results"] if row["column"] == "Bayes error"}
    assert truth == {name: 100 * pair.bayes_error for name, pair in bayes_setups().items()}
    assert "Not found: cifar10h.npz; Table 1 and Figure 4 are left out." in err
    assert "Not found: iclr_scores.npz; the review scores are left out." in err
    text = Path(found["page"]).read_text(encoding="utf-8")
    assert "<h2>Table 1" not in text
    assert text.count("<svg") == 4


def test_figures_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from halftruth_papers.bayes_error import figures as bayes_figures

    data = made_up()
    monkeypatch.setattr(bayes_sources, "read", lambda *_: data)
    steps = BayesError(None, quick=True).on_votes()
    results = {key: step() for key, step in steps.items()}
    figure = bayes_figures.networks(results)
    assert [ax.get_title() for ax in figure.axes] == [task.title for task in TASKS.values()]
    assert reproduction.svg(figure, "networks").startswith("<svg")


def test_parts_have_seeds_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayes_sources, "read", lambda *_: made_up())
    steps = BayesError(None, quick=True, rng=7).steps(Store(tmp_path, {}))
    seeds = []
    for key, step in steps.items():
        assert isinstance(step, partial)
        seeds += [tuple(arg) for arg in step.args if isinstance(arg, list)]
        for rows, own, judge in (arg for arg in step.args if isinstance(arg, tuple)):
            # Classifiers see the rows that the estimate sees, and all of a setup are judged alike.
            _, setup, n = key.split("-")
            assert rows == [7, 3, SETUPS.index(setup), int(n)]
            assert judge == [7, 5, SETUPS.index(setup)]
            seeds.append(tuple(own))
    assert len(seeds) == len(set(seeds)) > 2 * len(SETUPS) * len(bayes_settings.QUICK.sizes)
    assert {seed[0] for seed in seeds} == {7}
