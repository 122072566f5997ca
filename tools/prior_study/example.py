"""One simulated example: what the scores say of α, and what each further piece of evidence adds."""

from __future__ import annotations

from typing import Any

from tools.prior_study.estimates import summary
from tools.prior_study.families import prior_families
from tools.prior_study.settings import Settings

import halftruth as ht

ALPHA = 0.2
SIZES = (1_000, 10_000)
N_NEGATIVE = 500
N_LABELED = 50
OVERLAPPING, ANCHORED = "normal d=2 shared=0.2", "uniform anchor=0.2"
IRREDUCIBLE = 'ht.estimate_prior(p, u, method="bbe")'


def run(settings: Settings) -> dict[str, Any]:
    """The calls of the page and what they give."""
    families = prior_families()
    members = {member.name: member for family in families.values() for member in family}
    rng = settings.rng("example")
    drawn = members[OVERLAPPING].draw(*SIZES, ALPHA, rng, n_negative=N_NEGATIVE, fixed=True)
    k, m = int(rng.choice(drawn.y, N_LABELED, replace=False).sum()), N_LABELED
    anchored = members[ANCHORED].draw(*SIZES, ALPHA, rng, fixed=True)
    calls = {
        IRREDUCIBLE: "irreducibility, which fails here",
        "ht.estimate_prior(p, u)": "the usual shapes of two classes",
        "ht.estimate_prior(p, u, within=(0.1, 0.3))": "the same, and a range known beforehand",
        f"ht.estimate_prior(p, u, labeled_sample=({k}, {m}))": (
            f"the same shapes, and {m} random unlabeled cases, labeled: {k} were positive"
        ),
        f'ht.estimate_prior(p, u, labeled_sample=({k}, {m}), method="sample")': (f"these {m} cases alone"),
        "ht.estimate_prior(p, u, negative=n)": f"{N_NEGATIVE} known negatives, a random sample of them",
    }
    return {
        "upper": ht.prior_upper_bound(drawn.positive, drawn.unlabeled),
        "limit": members[OVERLAPPING].upper(ALPHA),
        "calls": [{"call": call, "adds": adds, **_called(call, drawn)} for call, adds in calls.items()],
        "anchored": _called(IRREDUCIBLE, anchored),
    }


def _called(call: str, drawn: Any) -> dict[str, Any]:
    """What the page prints is what is run."""
    names = {"ht": ht, "p": drawn.positive, "u": drawn.unlabeled, "n": drawn.negative}
    return summary(eval(call, names))
