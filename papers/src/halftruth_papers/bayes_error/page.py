"""The page on the Bayes error: what the paper reports beside what comes out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from halftruth_papers.bayes_error import figures, lines, tables
from halftruth_papers.bayes_error.lines import percent
from halftruth_papers.bayes_error.models import BATCH, HIDDEN, MOMENTUM, STEP
from halftruth_papers.bayes_error.settings import (
    BATCH_SIZE,
    CODE_NOISY,
    DIRECT,
    DRAWINGS,
    FIGURES_PRINTED,
    LEARNED,
    MODELS,
    NOISE,
    NOISY,
    PAPER_FIGURES,
    PRIOR,
    SETUPS,
    TASKS,
    YEARS,
    Plan,
)
from halftruth_papers.bayes_error.sources import REVIEWS, VOTES, Data
from halftruth_papers.known_files import VARIABLE
from halftruth_papers.logits import SOURCES
from halftruth_papers.page import Page
from halftruth_papers.reproduction import Results

ARTICLES = {"mlp": "an", "linear": "a"}


def remarks(have: Data, *, quick: bool) -> list[str]:
    """What the reader must know of this run."""
    notes = []
    if quick:
        notes.append("This is a quick run: few trials and sizes. Its figures are rough.")
    missing = {
        f"{VOTES}.npz": ("Table 1 and Figure 4 are left out", have.votes is None),
        f"{REVIEWS}.npz": ("the review scores are left out", have.reviews is None),
    }
    for file, (left_out, gone) in missing.items():
        if gone:
            notes.append(f"Not found: {file}; {left_out}. Name the folder, or let {VARIABLE} name it.")
    absent = [f"{name}.npz" for name in SOURCES if name not in (*have.predicted, *have.other_rows)]
    if absent and have.votes is not None:
        notes.append(f"Not found: {', '.join(absent)}; these networks are left out of Figure 4.")
    if have.other_rows:
        notes.append(
            f"Left out of Figure 4: {', '.join(have.other_rows)}, whose labels are not those of the votes."
        )
    return notes


def page(results: Results, plan: Plan, notes: Sequence[str] = ()) -> Page:
    """The whole page, from the results of a run."""
    out = Page("Is the performance of my deep network too good to be true?")
    out.text(
        "Ishida, Yamane, Charoenphakdee, Niu and Sugiyama (2023), done again. The Bayes error is the least "
        "error that any classifier can have, E min(c, 1 − c), where c is the probability of the positive "
        "class given all that a classifier sees. The paper estimates it by the mean of min(c, 1 − c) over "
        "soft labels (PN), or from positives alone with their confidences (Pconf). All errors are in percent."
    )
    for note in notes:
        out.text(note)
    if "classes" in results:
        _table_1(out, results)
        _votes(out, results)
    if tables.judged(results):
        _networks(out, results)
    for model in MODELS:
        _classifiers(out, results, model, plan)
    _noise(out, results, plan)
    _confidences(out, results, plan)
    if f"reviews-{YEARS[0]}" in results:
        _reviews(out, results)
    return out


def _table_1(out: Page, results: Results) -> None:
    out.heading("Table 1: CIFAR-10H")
    n = results[f"table-{next(iter(TASKS))}"]["n"]
    equal = tables.equal_figures(results)
    out.text(
        f"{n:,} images of the CIFAR-10 test set, each judged by some fifty people. c is the share of votes "
        f"for the positive classes. PN is the mean of min(c, 1 − c) with a t-interval. Pconf takes the "
        f"images whose published label is positive, r = c, and the prior {PRIOR:g} in all four tasks; r = 0 "
        f"counts as 1. Of the {FIGURES_PRINTED} printed figures {equal} are equal to ours at the printed "
        f"precision."
    )
    out.table(*tables.table_1(results), "Bayes error in %, with 95% intervals.", csv="table-1")
    shares = [results[f"table-{name}"]["prior"] for name in TASKS]
    out.text(
        f"The printed Pconf intervals are those of the mean before it is multiplied by the prior: the point "
        f"is scaled by {PRIOR:g}, the interval around it is not, so that it is {1 / PRIOR:g} times as wide "
        f"as need be. Below, both are scaled. The published labels are positive in {min(shares):.0%} to "
        f"{max(shares):.0%} of the images; the last columns take that share as the prior."
    )
    caption = "Bayes error in %: PN; Pconf with the paper's prior; Pconf with the share of positive labels."
    out.table(*tables.priors(results), caption, csv="table-1-priors")
    out.text(
        f"Also with that prior Pconf is below PN, beyond both intervals in {_apart(results)} of {len(TASKS)} "
        f"tasks. They would agree exactly if each image counted as positive as often as its votes say. Here "
        f"the positives are those of the published labels, which are surer than the votes: an image that "
        f"people hardly tell apart still has one label."
    )


def _apart(results: Results) -> int:
    """In how many tasks the interval of Pconf, with the share of labels as the prior, is below that of PN."""
    cells = [results[f"table-{name}"] for name in TASKS]
    return sum(cell["own"][2] < cell["pn"][1] for cell in cells)


def _votes(out: Page, results: Results) -> None:
    cells = [results[f"votes-{name}"] for name in TASKS]
    fewest, most = min(cell["ballots"][0] for cell in cells), max(cell["ballots"][1] for cell in cells)
    added = percent([cell["value"][0] - cell["plug_in"] for cell in cells])
    below = percent([cell["value"][0] - cell["value"][1] for cell in cells])
    width = max(percent(np.diff(cell["identified"]))[0] for cell in cells)
    out.heading("Votes as votes")
    out.text(
        f"c is unknown: k of m votes are. min(c, 1 − c) is concave, so that the share of votes in place of c "
        f"makes the Bayes error too small on average, and however many the images, few votes on each leave "
        f"open by how much: identified is that range. By votes: of the laws of c that explain the counts the "
        f"one nearest to a Beta, with an interval for all laws that they do not refute. With {fewest} to "
        f"{most} votes an image the range is at most {width:.2g} percent points wide, and the estimates are "
        f"{added.min():.3f} to {added.max():.3f} above the plug-in; the intervals reach {below.min():.2f} to "
        f"{below.max():.2f} below the estimates."
    )
    caption = "Bayes error in %: share of votes taken for c, the range left open, and the estimate by votes."
    out.table(*tables.from_votes(results), caption, csv="votes")
    caption = "All classes at once: one less the mean of the largest share of votes, in %."
    out.table(*tables.all_classes(results), caption, csv="classes")


def _networks(out: Page, results: Results) -> None:
    by_network = tables.judged(results)
    out.heading("Figure 4: networks at hand against the Bayes error")
    titles = ", ".join(tables.NETWORKS[name] for name in by_network if name != "labels")
    out.text(
        f"The paper's four networks and its other test sets are not at hand; these are: {titles or 'none'}. "
        f"Classes are merged as in the paper: the most likely of ten, then positive or negative. p is the "
        f"chance of a test error this low if the true error were the Bayes error. Drawn: test labels drawn "
        f"from the votes, {DRAWINGS} times (the paper's pink bars), and what that error is on average over "
        f"all drawings, exactly."
    )
    if len(by_network) > 1:
        caption = "Test errors, errors by labels drawn from the votes, and the Bayes error; logarithmic."
        out.figure(figures.networks(results), "figure-4", caption)
    out.table(*tables.figure_4(results), "Errors in %.", csv="figure-4")
    cells = [(name, cell) for name, by_task in by_network.items() for cell in by_task.values()]
    too_good = sum(cell["too_good"] for name, cell in cells if name != "labels")
    labels = by_network["labels"]
    gaps = [100 * (cell["expected"][0] - cell["bayes"][0]) for cell in labels.values()]
    out.text(
        f"Of the networks {too_good} of {len(cells) - len(labels)} test errors are too good to be true. The "
        f"last rows judge the published labels as if they were predictions, the extreme case that the paper "
        f"imagines: no test error at all, which the votes call too good in "
        f"{sum(cell['too_good'] for cell in labels.values())} of {len(labels)} tasks. By labels drawn from "
        f"the votes the same predictions err {min(gaps):.2f} to {max(gaps):.2f} more than the Bayes error. "
        f"So a test error below the Bayes error need not be overfitting: the published labels and the votes "
        f"come from different processes."
    )


def _classifiers(out: Page, results: Results, model: str, plan: Plan) -> None:
    figure, model_name = PAPER_FIGURES[model], MODELS[model]
    out.heading(f"{figure}: the proposed estimate against {ARTICLES[model]} {model_name}")
    if model == "mlp":
        out.text(
            f"Two normal classes, equal shares, c known exactly; {plan.trials} trials. An MLP of {HIDDEN} "
            f"hidden units (ReLU) learns from the same rows, from their hard labels or from c itself: "
            f"gradient descent, {plan.epochs} epochs, step {STEP:g}, momentum {MOMENTUM:g}. "
            f"The paper does not say how many rows are in a batch; here {BATCH}, or all if there are fewer. "
            f"Nor does it say how weights begin; here uniform within 1/√inputs."
        )
        out.text(
            f"Test errors are expected ones: on {plan.test_rows:,} fresh rows, by how much a classifier errs "
            f"more than the best, plus the Bayes error. That spares them the noise of test labels, and these "
            f"rows come on top of those that the proposed estimate has: by RMSE the comparison favours the "
            f"classifiers. Classifier-BER is the mean of min(p, 1 − p) of the classifier's own probabilities "
            f"on these rows. The dotted Bayes error is exact; the paper takes "
            f"10,000 rows for it. The paper prints no numbers for its figures."
        )
    else:
        out.text(
            "The same with a linear model, which cannot be right in setups C and D: the paper's appendix."
        )
    caption = f"Means over {plan.trials} trials and their standard errors."
    out.figure(figures.classifiers(results, model), figure.lower().replace(" ", "-"), caption)
    name = f"{figure.lower().replace(' ', '-')}-words"
    caption = (
        "In words, with our numbers. Nearer to the exact Bayes error: by the mean over the trials, or by the "
        "root mean square distance of all trials."
    )
    out.table(*lines.classifier_words(results, model), caption, csv=name)
    if model == "mlp":
        out.text(
            "Paper: the estimate is relatively accurate even with few rows; the MLP needs many more rows; "
            "soft labels help it slightly, but not as much; hard classifier-BER tends to be too small, but "
            "in one setup, soft does not. How much of that hangs on the rows of one step:"
        )
        caption = f"Means over the trials with {BATCH_SIZE} rows of each class, in %."
        out.table(*lines.batches(results), caption, csv="figure-1-batches")
    caption = "Means, standard errors and root mean square distances from the truth, in %."
    out.table(
        *lines.by_size(results, model, LEARNED), caption, csv=f"{figure.lower().replace(' ', '-')}-numbers"
    )


def _noise(out: Page, results: Results, plan: Plan) -> None:
    out.heading("Figure 2: noisy soft labels")
    out.text(
        f"The labels of Figure 1 with normal noise of standard deviation {NOISE:g}, cut off at equal "
        f"distances so that labels stay within 0 and 1 and are right on average. The paper cuts it at the "
        f"nearer of 0 and 1; its released code cuts at {NOISE:g} of that distance, which is shown beside, as "
        f"“code”."
    )
    out.figure(
        figures.noise(results), "figure-2", f"Means over {plan.trials} trials and their standard errors."
    )
    caption = (
        f"Means at {max(plan.sizes):,} rows of each class, less the exact Bayes error, in percent points."
    )
    out.table(*lines.noise_words(results), caption, csv="figure-2-words")
    lost = {
        name: [100 * (1 - lines.limit(results, s, name) / lines.truth(results, s)) for s in SETUPS]
        for name in (NOISY, CODE_NOISY)
    }
    out.text(
        f"Paper: without signs a small bias remains, with signs it vanishes. Without signs the mean tends to "
        f"a value below the Bayes error, by {min(lost[NOISY]):.0f}% to {max(lost[NOISY]):.0f}% of it with "
        f"the noise as written and by {min(lost[CODE_NOISY]):.0f}% to {max(lost[CODE_NOISY]):.0f}% with that "
        f"of the code. {_said_of_signs(results)}"
    )
    caption = "Means, standard errors and root mean square distances from the truth, in %."
    out.table(*lines.by_size(results, "direct", DIRECT), caption, csv="figures-1-to-3-numbers")


def _said_of_signs(results: Results) -> str:
    away = []
    for setup in SETUPS:
        by_size = lines.values(results, "direct", setup)["signed"]
        most = by_size[max(by_size)]
        away.append(abs(float(most.mean()) - lines.truth(results, setup)) / lines.error_of_mean(most))
    return (
        f"With signs the mean at the largest size is {min(away):.1f} to {max(away):.1f} standard errors from "
        f"the Bayes error."
    )


def _confidences(out: Page, results: Results, plan: Plan) -> None:
    out.heading("Figure 3: positives alone")
    out.text(f"Confidences of positive rows alone, with the prior {PRIOR:g}, against labels of all rows.")
    out.figure(
        figures.confidences(results),
        "figure-3",
        f"Means over {plan.trials} trials and their standard errors.",
    )
    caption = "Root mean square distances from the exact Bayes error, in %."
    columns, rows = lines.confidence_words(results)
    out.table(columns, rows, caption, csv="figure-3-words")
    first, last = (np.array(row[1:], dtype=float).reshape(-1, 2) for row in (rows[0], rows[-1]))
    out.text(
        f"Paper: positive confidences are less accurate with few rows, and the difference disappears with "
        f"more. Here their distance is {np.mean(first[:, 1] / first[:, 0]):.2f} times that of PN at "
        f"{rows[0][0]} rows of each class and {np.mean(last[:, 1] / last[:, 0]):.2f} times at "
        f"{rows[-1][0]:,}, mean over the setups: both shrink, from {np.mean(first[:, 1]):.2f} to "
        f"{np.mean(last[:, 1]):.2f} percent points for Pconf, and their ratio need not."
    )


def _reviews(out: Page, results: Results) -> None:
    out.heading("Review scores: how hard is acceptance to tell from the mean score?")
    cells = [results[f"reviews-{year}"] for year in YEARS]
    inside, held_out = (percent([cell[key][0] for cell in cells]) for key in ("inside", "held_out"))
    out.text(
        "ICLR 2017 to 2023, by year: papers, their weighted mean review score, and whether they were "
        "accepted. The later version of the paper fits a logistic curve of acceptance by the score and "
        "averages min(p, 1 − p) over the same papers, with a t-interval. Its printed figures are not in the "
        "text at hand: the column “paper” is empty."
    )
    out.figure(figures.reviews(results), "reviews", "By year, with 95% intervals.")
    out.table(*tables.reviews(results), "In %.", csv="reviews")
    out.text(
        f"In-sample, the mean is what the fitted curve believes: {inside.min():.1f} to {inside.max():.1f}. "
        f"Errors on other rows are counted: the curve is fitted to four fifths of the papers and decides on "
        f"the rest; {held_out.min():.1f} to {held_out.max():.1f}. Neither is the Bayes error of acceptance. "
        f"The counted errors bound it from above: another threshold may do a little better, "
        f"and who reads the reviews or the paper sees more and may. The in-sample mean is such a bound "
        f"only as far as the curve is right. Its t-interval takes the curve as given; that of the counted "
        f"errors has in it that the decisions could have come out otherwise."
    )
