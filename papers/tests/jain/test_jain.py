"""The experiments of Jain et al. (2017): drawn as they say, counted as they say, kept, and shown."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

import halftruth as ht
from halftruth._errors import InputError, MissingDependency
from halftruth.prior.estimators import _auto as auto
from halftruth_papers import reproduce
from halftruth_papers.datasets import DatasetFile, datasets_in
from halftruth_papers.jain import PAPER
from halftruth_papers.jain import experiments as jain_experiments
from halftruth_papers.jain import page as jain_page
from halftruth_papers.jain import paper as jain_run
from halftruth_papers.jain import tables as jain_tables
from halftruth_papers.jain.experiments import PURITIES, Experiments, Recovery, Sizes, generator, split
from halftruth_papers.jain.tables import Experiment, Mean, reported, sign_test
from halftruth_papers.published import DATASETS, Dataset
from halftruth_papers.reproduction import run

Scores = tuple[np.ndarray, np.ndarray]
EIGHT = ("bank", "concrete", "housing", "mushroom", "pendigits", "pima", "shuttle", "wine")


def first_column(x: np.ndarray, labels: np.ndarray, rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
    return x[:, 0]


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models whose score is the first feature: nothing is trained, and shares have fewer draws."""
    monkeypatch.setattr(auto, "N_DRAWS", 400)
    for block in jain_experiments.MODELS:
        monkeypatch.setitem(jain_experiments.MODELS, block, first_column)


# --- Drawing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("purity", PURITIES)
def test_labeled_rows_have_the_purity_and_the_others_are_unlabeled(purity: float) -> None:
    y = np.arange(3000) % 3 == 0
    drawn = split(y, 200, purity, 10_000, np.random.default_rng(0))
    assert drawn.labeled.sum() == 200
    assert drawn.labeled[:200].all()
    assert y[drawn.rows[drawn.labeled]].sum() == round(200 * purity)
    assert sorted(drawn.rows) == list(range(3000))
    assert drawn.alpha == (1000 - round(200 * purity)) / 2800


def test_unlabeled_rows_are_limited_and_their_share_is_the_realised_one() -> None:
    y = np.arange(3000) % 3 == 0
    drawn = split(y, 200, 0.95, 500, np.random.default_rng(0))
    assert len(drawn.rows) == len(set(drawn.rows)) == 700
    assert drawn.alpha == y[drawn.rows[200:]].mean()


@pytest.mark.parametrize(("n_positive", "purity"), [(100, 1.0), (2950, 0.5)])
def test_too_few_rows_of_a_class(n_positive: int, purity: float) -> None:
    with pytest.raises(InputError, match="some of both must be left"):
        split(np.arange(3000) < n_positive, 100, purity, 10_000, np.random.default_rng(0))


def test_random_numbers_depend_on_the_names_alone() -> None:
    first = generator("a", 1).random(3)
    generator("b", 2).random(5)
    np.testing.assert_array_equal(generator("a", 1).random(3), first)
    others = [generator("a", 2), generator("b", 1), generator("a1"), generator("a", 1, "")]
    assert all((other.random(3) != first).all() for other in others)


# --- One experiment -----------------------------------------------------------------------------------


def rows_of(n: int, n_positive: int, seed: int, shift: float = 1.5) -> Scores:
    """One feature, normal in both classes."""
    y = np.arange(n) < n_positive
    x = np.random.default_rng(seed).normal(size=(n, 1)) + shift * y[:, None]
    return x, y


def test_supervised_areas_are_those_of_the_scores_and_precision_is_at_the_share_of_the_experiment(
    scored: None,
) -> None:
    x, y = rows_of(30, 12, 3)
    sets = Experiments("networks", "tiny", x, y, 4, Sizes(most_unlabeled=20))
    cell = sets.supervised(0)
    assert cell["auc"] == pytest.approx(roc_auc_score(y, x[:, 0]), abs=1e-12)
    for purity in PURITIES:
        drawn = sets.split(purity, 0)
        k, m = int(y[drawn.rows[4:]].sum()), 20
        # Every positive k n₀ times and every negative (m − k) n₁ times: the share of positives is k / m.
        times = np.where(y, k * 18, (m - k) * 12)
        again = ht.Labeled(np.repeat(y, times), np.repeat(x[:, 0], times))
        assert ht.prevalence(again) == pytest.approx(drawn.alpha)
        assert cell[f"auc_pr_{purity:g}"] == pytest.approx(ht.pr_auc(again), abs=1e-12)


def test_a_supervised_model_of_fewer_rows(scored: None) -> None:
    x, y = rows_of(400, 150, 4)
    few, all_rows = (
        Experiments("networks", "tiny", x, y, 40, Sizes(most_rows=most)).supervised(0)["auc"]
        for most in (100, None)
    )
    assert all_rows == pytest.approx(roc_auc_score(y, x[:, 0]))
    assert few != all_rows


@pytest.mark.parametrize("purity", PURITIES)
def test_what_a_repeat_holds(scored: None, purity: float) -> None:
    x, y = rows_of(600, 210, 5)
    sets = Experiments("forest", "tiny", x, y, 90, Sizes())
    cell = sets.unlabeled(purity, 7)
    drawn = sets.split(purity, 7)
    score, hidden = x[drawn.rows, 0], y[drawn.rows][90:]
    auc_pu = roc_auc_score(drawn.labeled, score)
    assert (cell["alpha"], cell["rho"]) == (drawn.alpha, purity)
    assert cell["auc_pu"] == pytest.approx(auc_pu, abs=1e-12)
    assert cell["hidden_auc"] == pytest.approx(roc_auc_score(hidden, score[90:]), abs=1e-12)
    assert cell["hidden_auc_pr"] == pytest.approx(ht.pr_auc(ht.Labeled(hidden, score[90:])), abs=1e-12)
    assert cell["real_direct"] == pytest.approx(0.5 + (auc_pu - 0.5) / (purity - drawn.alpha), abs=1e-12)
    for shares in ("alphamax", "auto"):
        gap = cell[f"{shares}_rho"] - cell[f"{shares}_alpha"]
        assert cell[f"{shares}_direct"] == pytest.approx(np.clip(0.5 + (auc_pu - 0.5) / gap, 0, 1), abs=1e-12)
        assert (f"{shares}_clean_alpha" in cell) == (purity == 1)
    areas = {name: value for name, value in cell.items() if name not in ("alpha", "rho")}
    assert all(0 <= value <= 1 for value in areas.values())
    json.dumps(cell)


def test_perfect_scores_are_recovered_as_perfect(scored: None) -> None:
    _, y = rows_of(2000, 700, 6)
    x = y[:, None] + np.random.default_rng(0).random((2000, 1)) / 2
    cell = Experiments("forest", "tiny", x, y, 300, Sizes()).unlabeled(1.0, 0)
    # Negatives lie below all positives. What is left is the noise of 300 labeled among 400 hidden positives.
    alpha = cell["alpha"]
    noise = alpha / (1 - alpha) * math.sqrt((300 + 400 + 1) / (12 * 300 * 400))
    for way in ("direct", "indirect", "concave"):
        assert 1 - 3 * noise <= cell[f"real_{way}"] <= 1
    assert cell["hidden_auc"] == cell["hidden_auc_pr"] == 1


def test_areas_of_shares_that_cannot_be() -> None:
    rng = np.random.default_rng(0)
    found_there = Recovery.of(rng.normal(1, 1, 50), rng.normal(0, 1, 400))
    for shares in ((0.0, 1.0), (1.0, 1.0), (0.4, 0.4), (0.6, 0.3), (0.0, 0.0)):
        alpha, rho = found_there.possible(*shares)
        assert 0.5 / 400 <= alpha < rho <= 1
        assert rho - alpha >= jain_experiments.LEAST_GAP * (1 - 1e-9)
        assert all(0 <= area <= 1 for area in found_there.areas(*shares).values())
    assert found_there.possible(0.3, 0.9) == (0.3, 0.9)


def test_a_curve_without_a_possible_point_is_set_to_1() -> None:
    rng = np.random.default_rng(0)
    areas = Recovery.of(rng.normal(4, 1, 50), rng.normal(0, 1, 400)).areas(0.9, 0.901)
    assert areas["direct"] == areas["indirect"] == areas["pr_indirect"] == 1


# --- Tables -------------------------------------------------------------------------------------------


def test_the_sign_test_of_the_papers_own_table() -> None:
    table = reported("jain_auc").values()
    real = sign_test([row["dr"] for row in table], [row["ir"] for row in table])
    assert (real.direct, real.indirect, real.ties, real.k, real.n) == (1, 28, 7, 31, 36)
    assert f"{real.p_value:.1e}" == "6.5e-06"
    estimated = sign_test([row["de"] for row in table], [row["ie"] for row in table])
    # Their text has 9 wins and 2 ties: one of the pairs differs beyond the printed decimals.
    assert (estimated.direct, estimated.indirect, estimated.ties) == (8, 25, 3)
    assert (estimated.k, estimated.n) == (26, 36)
    assert f"{estimated.p_value:.1e}" == "5.7e-03"


@pytest.mark.parametrize(
    ("n_direct", "n_indirect", "n_ties"), [(0, 0, 0), (3, 4, 0), (2, 5, 1), (2, 5, 4), (0, 9, 3)]
)
def test_ties_are_shared_out_the_first_to_the_direct(n_direct: int, n_indirect: int, n_ties: int) -> None:
    direct = [0.1] * n_direct + [0.2] * n_indirect + [0.1] * n_ties
    indirect = [0.2] * n_direct + [0.1] * (n_indirect + n_ties)
    test = sign_test(direct, indirect)
    wins, turn = n_indirect, "direct"
    for _ in range(n_ties):
        wins += turn == "indirect"
        turn = "indirect" if turn == "direct" else "direct"
    assert (test.direct, test.indirect, test.ties, test.k) == (n_direct, n_indirect, n_ties, wins)
    if test.n:
        expected = binomtest(wins, test.n, alternative="greater").pvalue
        assert test.p_value == pytest.approx(expected, rel=1e-12)


def test_a_mean_and_its_standard_error() -> None:
    mean = Mean.of(np.array([1.0, 2.0, 4.0]))
    assert mean.value == pytest.approx(7 / 3)
    assert mean.error == pytest.approx(math.sqrt(((4 / 3) ** 2 + (1 / 3) ** 2 + (5 / 3) ** 2) / 2 / 3))
    assert str(mean) == "2.333 ± 0.882"
    assert str(Mean.of(np.array([0.5]))) == "0.500"
    assert str(Mean.of(np.array([]))) == str(Mean.over([])) == "–"
    both = Mean.over([Mean(value=0.1, error=0.03), Mean(value=0.3, error=0.04)])
    assert (both.value, both.error) == (pytest.approx(0.2), pytest.approx(0.025))


def experiment(
    data: str, purity: float, *, off: float = 0.0, block: str = "networks", n: int = 2
) -> Experiment:
    """All estimates above the supervised area by ``off``, the hidden one below it by .1."""
    repeats = []
    for k in range(n):
        cell = {
            "alpha": 0.3,
            "rho": purity,
            "auc": 0.8,
            "auc_pr": 0.7,
            "hidden_auc": 0.7,
            "hidden_auc_pr": 0.6,
        }
        for area, base in (("auc", 0.8), ("auc_pr", 0.7)):
            for name in jain_tables.ESTIMATES[area].values():
                if purity == 1 or "clean" not in name:
                    cell[name] = base + off * (1 if k % 2 == 0 else -1)
        for shares in ("alphamax", "auto"):
            cell |= {f"{shares}_alpha": 0.3 + 0.1 * k, f"{shares}_rho": purity}
        repeats.append(cell)
    return Experiment(
        block=block, data=data, purity=purity, complete=True, d=3, n_positive=10, n=40, repeats=tuple(repeats)
    )


def test_errors_of_an_experiment() -> None:
    one = experiment("wine", 0.95, off=0.05)
    np.testing.assert_allclose(one.errors("auc", "IR"), [0.05, -0.05])
    assert one.error("auc", "IR").value == pytest.approx(0.05)
    np.testing.assert_allclose(one.errors("auc", "CA", "b"), [0.15, 0.05])
    np.testing.assert_allclose(one.errors("auc_pr", "PU", "b"), [0.15, 0.05])
    np.testing.assert_allclose(one.gap_errors(), [0, 0.1])
    assert len(one.errors("auc", "IA₁")) == 0
    assert math.isnan(one.error("auc", "IA₁").value)


def test_means_over_data_sets_stand_beside_the_papers_over_the_same() -> None:
    experiments = [experiment(name, purity, off=0.02) for name in EIGHT for purity in PURITIES]
    lines = jain_tables.summary("auc", experiments, reported("jain_auc"))
    assert [(line.purity, line.who) for line in lines[:3]] == [(1, "paper"), (1, "ours (a)"), (1, "ours (b)")]
    assert len(lines) == 9
    # Bank .088, concrete .068, housing .038, mushroom .013, pendigits .004, pima .070, shuttle .015, wine .099.
    assert lines[0].means["IE"].value == pytest.approx(0.395 / 8)
    assert math.isnan(lines[0].means["CR"].value)
    assert lines[1].means["IE"].value == pytest.approx(0.02)
    assert lines[2].means["IE"].value == pytest.approx(0.1)


def test_wins_are_counted_on_three_decimals() -> None:
    one = experiment("wine", 1.0, off=0.02)
    near, far = (
        Experiment(
            **{
                **vars(one),
                "repeats": tuple({**each, "real_indirect": each["auc"] + error} for each in one.repeats),
            }
        )
        for error in (0.0204, 0.0206)
    )
    assert jain_tables.compared([near], "R").ties == 1
    assert jain_tables.compared([far], "R").direct == 1


# --- The page -----------------------------------------------------------------------------------------


def written(folder: Path, experiments: list[Experiment]) -> str:
    return jain_page.page(experiments, ["A note & more."]).write(folder, "jain").read_text(encoding="utf-8")


def test_the_page_says_where_ours_is_worse(tmp_path: Path) -> None:
    experiments = [experiment(name, purity, off=0.03) for name in ("bank", "wine") for purity in PURITIES]
    text = written(tmp_path, experiments)
    start = text.index("Where our mean error is larger")
    table = text[start : text.index("</table>", start)]
    # The paper's IR of the AUC: (.007 + .027) / 2 with ρ = 1, worse there; (.010 + .095) / 2 with ρ = .75, not.
    assert (
        "<td>AUC</td><td>1</td><td>IR</td><td>0.017</td><td>0.030 ± 0.000</td><td>bank (+0.023)</td>" in table
    )
    assert "<td>AUC</td><td>0.75</td><td>IR</td>" not in table
    assert "A note &amp; more." in text


@pytest.mark.usefixtures("without_figures")
def test_the_page_says_that_ours_is_nowhere_worse(tmp_path: Path) -> None:
    text = written(tmp_path, [experiment("wine", purity) for purity in PURITIES])
    assert "In no column of the paper is our mean error (a) larger" in text
    assert "Where our mean error is larger" not in text


def test_a_partial_set_is_shown_and_in_no_mean(tmp_path: Path) -> None:
    partial = Experiment(**{**vars(experiment("gas", 1.0, off=0.2)), "complete": False})
    text = written(tmp_path, [experiment("wine", 1.0, off=0.01), partial])
    assert "means over 1 data sets" in text
    assert "gas (part)" in text
    with (tmp_path / "means_1.csv").open() as file:
        ours = next(row for row in csv.DictReader(file) if row["who"] == "ours (a)")
    assert float(ours["ir"]) == pytest.approx(0.01)


@pytest.mark.usefixtures("without_figures")
def test_columns_that_are_compared_stand_first(tmp_path: Path) -> None:
    text = written(tmp_path, [experiment("wine", 1.0)])
    start = text.index("Errors (a).</caption>")
    head = text[start : text.index("</thead>", start)]
    columns = head.replace("</th>", "").split('<th scope="col">')[1:]
    errors = [f"{name} {who}" for name in ("PU", "IR", "DR", "IE", "DE") for who in ("paper", "ours")]
    assert columns[:12] == ["data", "ρ", *errors]
    assert [name.removesuffix("</tr>") for name in columns[-3:]] == ["d", "n₁", "n"]
    row = text[text.index("<td>wine</td>", start) :]
    # The paper's PU, IR, DR of wine with ρ = 1; the last are d, n₁ and n.
    assert row.startswith("<td>wine</td><td>1</td><td>0.188</td><td>0.000 ± 0.000</td><td>0.027</td>")
    assert row[: row.index("</tr>")].endswith("<td>3</td><td>10</td><td>40</td>")


@pytest.mark.usefixtures("without_figures")
def test_repeats_whose_curve_may_have_no_possible_point_are_counted(tmp_path: Path) -> None:
    one = experiment("wine", 1.0, n=3)
    first, second, third = one.repeats
    repeats = (
        {**first, "real_indirect": 1.0, "real_pr_indirect": 1.0},
        {**second, "real_indirect": 1.0, "auto_indirect": 1.0, "auto_pr_indirect": 1.0},
        {**third, "auto_indirect": 1.0, "auto_pr_indirect": 1.0},
    )
    text = written(tmp_path, [Experiment(**{**vars(one), "repeats": repeats})])
    assert "of the 3 repeats" in text
    assert "1 with real α, ρ, 0 with AlphaMax, 2 with auto" in text
    assert "nearer to each other than 0.001" in text


@pytest.mark.usefixtures("without_figures")
def test_the_papers_figures_beside_another_family_say_whose_they_are(tmp_path: Path) -> None:
    for block, said in (("networks", "paper"), ("forest", "paper (networks)")):
        one = experiment("wine", 1.0, block=block)
        assert jain_tables.summary("auc", [one], reported("jain_auc"))[0].who == said
        text = written(tmp_path, [one])
        assert f"<td>{said}</td>" in text
        assert f"<td>{said}, its 12 data sets</td>" in text


def test_remarks_name_what_is_missing_and_what_is_partial() -> None:
    sets = [
        DatasetFile(DATASETS["wine"], Path("wine.npz"), True),
        DatasetFile(DATASETS["gas"], Path("gas_partial.npz"), False),
    ]
    said = " ".join(jain_page.remarks(sets, quick=True, repeats=1))
    assert "quick run" in said
    assert "depend on the size of the unlabeled sample" in said
    assert "Of gas only a part" in said
    missing = said[said.index("not found: ") :].partition(".")[0]
    assert "wine" not in missing
    assert "gas" not in missing
    assert missing.count(",") == 9  # ten of twelve
    assert "quick" not in " ".join(jain_page.remarks(sets, quick=False, repeats=10))


# --- A run --------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scored: None) -> Path:
    """A folder with one small set and a part of another; shares are not estimated, which takes longest."""

    def guessed(recovery: Recovery, *, known_clean: bool) -> dict[str, tuple[float, float]]:
        clean = ("alphamax_clean", "auto_clean") if known_clean else ()
        return dict.fromkeys(("alphamax", "auto", *clean), (0.3, 0.9))

    monkeypatch.setattr(Recovery, "estimates", guessed)
    small = Dataset(name="pima", definition="x > 0", n=600, n_positive=250, n_labeled=60)
    monkeypatch.setitem(DATASETS, "pima", small)
    gas = Dataset(name="gas", definition="", n=900, n_positive=400, n_labeled=60, partial="gas_partial.npz")
    monkeypatch.setitem(DATASETS, "gas", gas)
    place = tmp_path / "data"
    place.mkdir()
    for name, n, n_positive in (("pima", 600, 250), ("gas_partial", 500, 200)):
        x, y = rows_of(n, n_positive, n)
        np.savez(place / f"{name}.npz", X=x, y=y.astype(int))
    return place


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jain_page, "_figures", lambda *rest: None)


def cells_of(out: Path) -> dict[str, Any]:
    return {path.name: json.loads(path.read_text()) for path in (out / "cells").iterdir()}


def test_a_run_and_its_files(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    path = reproduce("jain", folder, out, quick=True, blocks=["networks"], jobs=1)
    assert path == out / "jain.html"
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == 4
    assert "This is a quick run" in text
    assert "Of gas only a part" in text
    assert len(cells_of(out)) == 2 * 4
    with (out / "repeats.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["data"], row["complete"], row["purity"]) for row in rows] == [
        (name, complete, f"{purity:.4g}" if purity < 1 else "1.0")
        for name, complete in (("gas", "False"), ("pima", "True"))
        for purity in PURITIES
    ]
    with (out / "table_1.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    pima = next(row for row in table if row["data"] == "pima" and row["rho"] == "1.0")
    assert (pima["paper_ir"], pima["n"], pima["d"]) == ("0.026", "600", "1")
    repeat = next(row for row in rows if row["data"] == "pima" and row["purity"] == "1.0")
    error = abs(float(repeat["real_indirect"]) - float(repeat["auc"]))
    assert float(pima["ours_ir_a"]) == pytest.approx(error, rel=1e-12)


@pytest.mark.usefixtures("without_figures")
def test_a_run_goes_on_where_it_was(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    done: list[str] = []
    make = jain_run.Task.make

    def stopped_after_three(task: jain_run.Task) -> jain_experiments.Cell:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(task.key)
        return make(task)

    with monkeypatch.context() as patch:
        patch.setattr(jain_run.Task, "make", stopped_after_three)
        with pytest.raises(KeyboardInterrupt):
            reproduce("jain", folder, out, quick=True, blocks=["networks"], jobs=1)
    kept = cells_of(out)
    assert len(kept) == 3
    assert not (out / "jain.html").exists()

    made: list[str] = []

    def counted(task: jain_run.Task) -> jain_experiments.Cell:
        made.append(task.key)
        return make(task)

    monkeypatch.setattr(jain_run.Task, "make", counted)
    reproduce("jain", folder, out, quick=True, blocks="networks", jobs=1)
    assert len(made) == 5
    assert set(made).isdisjoint(done)
    stopped = cells_of(out)
    assert {name: stopped[name] for name in kept} == kept

    # A run in one go gives the same, and a damaged result alone is made again.
    reproduce("jain", folder, tmp_path / "again", quick=True, blocks=["networks"], jobs=1)
    assert cells_of(tmp_path / "again") == stopped
    (out / "cells" / f"{made[0]}.json").write_text('{"auc"')
    made.clear()
    reproduce("jain", folder, out, quick=True, blocks=["networks"], jobs=1)
    assert len(made) == 1
    assert cells_of(out) == stopped

    # More repeats only add.
    made.clear()
    reproduce("jain", folder, out, quick=True, repeats=2, blocks=["networks"], jobs=1)
    assert len(made) == 8
    with pytest.raises(InputError, match="holds a quick run of jain, and this is a full one"):
        reproduce("jain", folder, out, blocks=["networks"], jobs=1)


@pytest.mark.usefixtures("without_figures")
def test_a_run_tells_how_much_is_done(folder: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    for repeats in (1, 2, 2):
        settings: dict[str, Any] = {"repeats": repeats, "blocks": ["forest"], "jobs": 1, "progress": True}
        run(PAPER, folder, tmp_path / "out", quick=True, **settings, say=lines.append)
    assert lines == [
        "Jain et al., quick run: 0 of 8 parts done; the rest takes a while.",
        "Jain et al., quick run: 8 of 16 parts done; the rest takes a while.",
        "Jain et al., quick run: 16 of 16 parts done; the page is written.",
    ]


@pytest.mark.usefixtures("without_figures")
def test_another_file_is_another_experiment(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (folder / "gas_partial.npz").unlink()
    reproduce("jain", folder, out, quick=True, blocks=["networks"], jobs=1)
    x, y = rows_of(600, 250, 77)
    np.savez(folder / "pima.npz", X=x, y=y.astype(int))
    jain_run._digest.cache_clear()
    jain_run._loaded.cache_clear()
    reproduce("jain", folder, out, quick=True, blocks=["networks"], jobs=1)
    assert len(cells_of(out)) == 8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"blocks": ["trees"]}, "`blocks` must be 'networks' or 'forest', got 'trees'"),
        ({"blocks": []}, "`blocks` is empty"),
        ({"repeats": 0}, "`repeats` must be a whole number of at least 1"),
        ({"jobs": 0}, "`jobs` must be a whole number of at least 1"),
    ],
)
def test_bad_settings(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        reproduce("jain", tmp_path, tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()


def test_without_data_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HALFTRUTH_DATA", raising=False)
    with pytest.raises(InputError, match="HALFTRUTH_DATA"):
        reproduce("jain", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_matplotlib_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"halftruth\[plot\]"):
        reproduce("jain", folder, tmp_path / "out", quick=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path, data_dir: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    (place / "pima.npz").write_bytes((data_dir / "pima.npz").read_bytes())
    for jobs in (1, 2):
        reproduce("jain", place, tmp_path / str(jobs), quick=True, blocks=["forest", "networks"], jobs=jobs)
    assert len(cells_of(tmp_path / "1")) == 8
    assert cells_of(tmp_path / "1") == cells_of(tmp_path / "2")
    names = ("jain.html", "repeats.csv", "table_1.csv", "table_2.csv", "means_1.csv", "means_2.csv")
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


# Supervised models see 11,000 rows here at most, so that shuttle does not take all the time.
@pytest.mark.first
@pytest.mark.slow
def test_networks_recover_no_worse_than_in_the_paper(
    data_dir: Path, draws: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    n = draws(3)
    experiments = []
    for each in datasets_in(data_dir):
        if not each.complete:
            continue
        sets = Experiments(
            "networks", each.dataset.name, each.x, each.y, each.dataset.n_labeled, Sizes(most_rows=11_000)
        )
        supervised = [sets.supervised(repeat) for repeat in range(n)]
        for purity in PURITIES:
            repeats = [
                {"auc": truth["auc"], "auc_pr": truth[f"auc_pr_{purity:g}"], **sets.unlabeled(purity, repeat)}
                for repeat, truth in enumerate(supervised)
            ]
            shape = {"d": each.x.shape[1], "n_positive": int(each.y.sum()), "n": len(each.y)}
            experiments.append(
                Experiment(
                    block="networks",
                    data=each.dataset.name,
                    purity=purity,
                    complete=True,
                    repeats=tuple(repeats),
                    **shape,
                )
            )
    auc = jain_tables.summary("auc", experiments, reported("jain_auc"))
    precision = jain_tables.summary("auc_pr", experiments, reported("jain_auc_pr"))
    with capsys.disabled():
        for line in (*auc, *precision):
            shown = ", ".join(f"{name} {mean}" for name, mean in line.means.items() if str(mean) != "–")
            sys.stdout.write(f"\nρ = {line.purity:g}, {line.who}: {shown}\n")
    for theirs, ours in zip(auc[::3], auc[1::3], strict=True):
        for name in ("IR", "CR"):
            assert ours.means[name].value <= theirs.means["IR"].value
    # Estimated shares, clean labels.
    assert auc[1].means["IA"].value <= 0.03
    assert precision[1].means["IA"].value <= 0.11


def test_every_way_takes_both_shares() -> None:
    """Noisy labels: each area is the one that the package's own functions give with these α and ρ."""
    rng = np.random.default_rng(4)
    positive = np.append(rng.normal(2, 1, 80), rng.normal(0, 1, 20))
    unlabeled = np.append(rng.normal(2, 1, 90), rng.normal(0, 1, 210))
    found = Recovery.of(positive, unlabeled).areas(0.3, 0.8)
    evidence = ht.PositiveUnlabeled(positive, unlabeled, prior=0.3, purity=0.8)
    possible = ht.recover.project(evidence)
    assert found["direct"] == pytest.approx(min(ht.roc_auc(evidence), 1.0), abs=1e-12)
    assert found["concave"] == pytest.approx(ht.roc_auc(possible), abs=1e-12)
    assert found["pr_concave"] == pytest.approx(ht.pr_auc(possible), abs=1e-12)
    assert found["indirect"] == pytest.approx(
        ht.recover.performance(evidence, n_resamples=1)["roc_auc_indirect"].value
    )


def test_how_much_nearer_a_column_is() -> None:
    """Errors without their signs: 0.1 below the truth is as far as 0.1 above."""
    repeats = tuple(
        {"hidden_auc": 0.8, "real_concave": 0.8 + one, "real_indirect": 0.8 + other}
        for one, other in ((-0.1, 0.3), (0.2, -0.2))
    )
    blank = {"block": "networks", "purity": 1.0, "complete": True, "d": 1, "n_positive": 1, "n": 2}
    each = [
        Experiment(data="a", repeats=repeats, **blank),
        Experiment(data="b", repeats=repeats[1:], **blank),
    ]
    gap, better = jain_tables.nearer(each, "auc", "CR", "IR")
    assert gap.value == pytest.approx((-0.1 + 0.0) / 2)
    assert better == 1
