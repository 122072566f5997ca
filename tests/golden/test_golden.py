"""Each of 200 evaluations gives the JSON it gave before: to the byte on one machine, to 1e-9 on another."""

import pytest

from halftruth._registry import REGISTRY

from .evaluations import CASES, METRICS, SEARCHED, answer
from .stored import differences, load, machine


def test_the_cases_are_200_and_ask_for_metrics_that_exist() -> None:
    assert len(CASES) == 200
    assert list(load()[1]) == list(CASES)
    assert set(REGISTRY) >= METRICS


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_the_stored_one(case: str) -> None:
    made_on, answers = load()
    old, new = answers[case], answer(case)
    if made_on == machine():
        changes = differences(old, new)
        assert new == old, f"{len(changes)} differences:\n" + "\n".join(changes[:20])
    else:
        changes = differences(old, new, close=1e-6 if case in SEARCHED else 1e-9)
        assert not changes, f"{len(changes)} differences:\n" + "\n".join(changes[:20])
