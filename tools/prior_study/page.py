"""The page, from what the parts found."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tools.prior_study import example, page_real, page_simulators
from tools.prior_study.markdown import NOT_RUN, assumed, interval, named, names, number, table, wrapped
from tools.prior_study.settings import SLOW
from tools.prior_study.timing import ALPHA, UPPER

import halftruth as ht
from halftruth.prior._inputs import MAX_ATOMS
from halftruth.prior._methods import METHODS, SCAR
from halftruth.prior.estimators._kernel_mean import MAX_ROWS

Found = Mapping[str, Any]

HEAD = """# Prior estimators compared

How well the share α of positives among unlabeled cases can be told from scores, by every method of
`ht.estimate_prior`. Written by `make prior-study`, with {versions}. `make prior-study STUDY_ARGS=--help`
lists its settings. Errors are absolute, as shares: 0.05 is five points of a hundred.
"""

IDENTIFIED = """## What the scores say, and what they cannot

1. The unlabeled are a mixture: a share α of them has the law of the positives, the rest that of the
   negatives, and nobody has seen the negatives.
2. So every α from 0 up to a largest one fits the scores equally well: a smaller α only means that more of
   the cases that look positive are negative.
3. What is larger the scores refute: `ht.prior_upper_bound(p, u)` is the largest α that they do not, and every
   estimate carries it as `.upper`.
4. A point within [0, upper] needs an assumption, and every estimate names its own as `.assumption`.
5. Irreducibility, the most usual one, says that the negatives hold no part of the law of the positives: α is
   then the largest value that fits, and where it fails the estimate is too high, however many rows there are.
6. An anchor set, scores that only positives reach, makes irreducibility true and α easy to find: among such
   scores the unlabeled are α times as dense as the positives.
7. `"auto"` relies on neither: it averages over many usual shapes of two classes, with and without an anchor,
   and its interval is as wide as these leave it.
8. A few random unlabeled cases, labeled, narrow it: `labeled_sample=(k, m)` weighs them with the scores, and
   with `method="sample"` they count alone, and nothing is assumed of scores or known positives. Where they
   contradict the scores, a note says so: the known positives are then no random sample of the positives.
9. What is known of α beforehand narrows it: `within=(low, high)`.
10. Known negatives identify α if they are a random sample of the negatives: `negative=n`.

Which call? Label some random cases if you can (8): it is the only evidence that needs no assumption on
the known positives. Else `"auto"`, and read its interval as far as it is low: it is promised where an
anchor set exists, and too high where part of the negatives looks like positives, which no score can show.
`.upper` holds in any case, if the known positives are a random sample of the positives; `ht.scar_test`
can refute that.

An example with α = {alpha}: {n_p:,} known positives `p` and {n_u:,} unlabeled `u` of the simulated population
"{population}", in which a fifth of the negatives score like positives. No number of rows could refute an α
below {limit}; with these, the upper bound is {upper}.

{calls}

Where an anchor set exists (population "{anchored}", in which a fifth of the positives score above all
negatives) and α = {alpha} too, `ht.estimate_prior(p, u)` gives {anchored_value} ({anchored_interval}).
"""

METHODS_TEXT = """## The methods

All but `mixture` take known positives and unlabeled cases alone, and all assume that {scar}; the table
says what else. A consistent method converges to α wherever an anchor set exists, however abruptly the
negatives end there. The two forms of Elkan and Noto agree wherever P(labeled | score) is calibrated on
the same rows, as it is here. Besides these, `method="sample"` takes a labeled random sample alone.

{table}

What is assumed, in full:

{assumptions}
"""

TIME = """## Time

From arrays to the point estimate, one measurement each, against `np.sort` of the same scores, known positives
and unlabeled together (the least of three). Normal classes, α = {alpha}. `auto` includes its interval and the
upper bound; the intervals of the others come from a bootstrap on at most {atoms:,} joined scores, so that its
cost does not grow with the rows. {slow} look at no more than {rows} rows of each sample.

{table}
"""

RECORD = """## How auto came about

<!-- auto-record -->

{record}
"""


def render(found: Mapping[str, Found | None], record: str | None) -> str:
    """The whole page."""
    versions = f"halftruth {ht.__version__}, NumPy {np.__version__} and Python {platform.python_version()}"
    sections = [
        HEAD.format(versions=versions),
        _section("What the scores say, and what they cannot", _identified, found["example"]),
        _methods(),
        _section("Simulated populations", page_simulators.render, found["simulators"]),
        _section("Real data, clean labels", page_real.render, found["real"]),
        _section("Real data, some labels wrong", page_real.render_noisy, found["noisy"]),
        _section("Time", _time, found["time"]),
    ]
    told = RECORD.format(record=record.strip() if record else NOT_RUN)
    return "\n\n".join([*(wrapped(section.strip()) for section in sections), told])


def _section(title: str, render: Callable[[Found], str], found: Found | None) -> str:
    return render(found) if found else f"## {title}\n\n{NOT_RUN}"


def _identified(found: Found) -> str:
    rows = [
        [f"`{each['call']}`", each["adds"], number(each["value"]), interval(each)] for each in found["calls"]
    ]
    return IDENTIFIED.format(
        alpha=example.ALPHA,
        n_p=example.SIZES[0],
        n_u=example.SIZES[1],
        population=example.OVERLAPPING,
        anchored=example.ANCHORED,
        limit=number(found["limit"], 2),
        upper=number(found["upper"]),
        calls=table(["call", "rests on", "estimate", "95% interval"], rows),
        anchored_value=number(found["anchored"]["value"]),
        anchored_interval=interval(found["anchored"]),
    )


def _methods() -> str:
    rows = [
        [
            named(name),
            method.paper,
            assumed(method),
            "yes" if method.consistent else "no",
            "yes" if method.fit_features is not None else "",
        ]
        for name, method in METHODS.items()
    ]
    head = ["name", "paper", "assumes", "consistent", "takes features itself"]
    full = {assumed(method): method.assumption for method in METHODS.values()}
    return METHODS_TEXT.format(
        scar=SCAR,
        table=table(head, rows),
        assumptions="\n".join(
            f"- *{short}*: {text.removeprefix(SCAR).removeprefix(', and ')}." for short, text in full.items()
        ),
    )


def _time(found: Found) -> str:
    head, rows = ["method"], [["`np.sort`"], [UPPER], *([named(name)] for name in METHODS)]
    for each in found["sizes"]:
        head += [f"{each['size'][0]:,} + {each['size'][1]:,} scores", "times the sort"]
        taken = [each["sort"], each["seconds"][UPPER], *(each["seconds"].get(name) for name in METHODS)]
        for row, seconds in zip(rows, taken, strict=True):
            told = seconds is not None
            row += [f"{1e3 * seconds:.1f} ms", f"{seconds / each['sort']:.1f}"] if told else ["–", "–"]
    slow = names([named(name) for name in SLOW])
    return TIME.format(alpha=ALPHA, atoms=MAX_ATOMS, slow=slow, rows=MAX_ROWS, table=table(head, rows))
