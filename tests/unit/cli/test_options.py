"""Every option is documented and has an example; the examples are commands that there are."""

from __future__ import annotations

import inspect
import re
import shlex
from itertools import pairwise
from typing import Any

import pytest
import typer

import halftruth as ht
from halftruth.cli._app import app

PYTHON = {
    "evaluate": (ht.evaluate, ht.PositiveUnlabeled.from_table),
    "compare": (ht.compare, ht.PositiveUnlabeled.from_table),
    "prior": (ht.estimate_prior, ht.estimate_prior_and_purity),
    "calibrate": (ht.Calibrator, ht.PositiveUnlabeled.from_table),
    "bayes-error": (ht.bayes_error, ht.too_good_to_be_true),
}
"""What a command stands for; its options are their keywords."""
ARRAYS = {"evidence", "models", "table", "positive", "negative"}
"""What a file holds."""
SHARED = {
    "score",
    "label",
    "weight",
    "zeros",
    "unlabeled",
    "format",
    "strict",
    "prior",
    "purity",
    "population",
}
EXTRA = {
    "evaluate": {"by", "require", "within", "labeled-sample", "html"},
    "compare": {"by", "require", "within", "labeled-sample", "html", "id"},
    "prior": {"by", "all-methods"},
    "calibrate": {"within", "labeled-sample", "output", "scores", "n-folds", "rng"},
    "bayes-error": {"within", "labeled-sample", "best"},
}


def commands() -> dict[str, Any]:
    """All commands by the words that call them."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        inner = getattr(command, "commands", {})
        for name, each in inner.items():
            walk(each, (*words, name))
        if not inner:
            found[" ".join(words)] = command

    walk(typer.main.get_command(app), ())
    return found


COMMANDS = commands()
NAMES = sorted(COMMANDS)


def options_of(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "option" and each.name != "help"]


def examples_of(command: Any) -> list[list[str]]:
    """The words of each example after the name of the program, without variables, pipes and redirections."""
    lines = [line.strip() for line in (command.epilog or "").splitlines() if "halftruth " in line]
    return [shlex.split(re.sub(r"\s>\s.*", "", line).partition("halftruth ")[2]) for line in lines]


def test_the_commands() -> None:
    papers = {"jain", "claesen", "pu-ece", "bpm", "bayes-error"}
    top = {"evaluate", "compare", "prior", "calibrate", "bayes-error", "plan-review", "demo"}
    assert set(NAMES) == top | {f"reproduce {paper}" for paper in papers}


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_help_and_an_example(name: str) -> None:
    command = COMMANDS[name]
    words = {word.partition("=")[0] for example in examples_of(command) for word in example}
    for option in options_of(command):
        assert option.help, option.name
        names = {*option.opts, *option.secondary_opts}
        assert names & words or "e.g." in option.help, f"{name}: no example of {option.opts[0]}"


@pytest.mark.parametrize("name", NAMES)
def test_every_example_parses(name: str) -> None:
    command = COMMANDS[name]
    examples = examples_of(command)
    assert examples
    for words in examples:
        own = name.split()
        assert words[: len(own)] == own
        command.make_context(name, words[len(own) :])  # an unknown option, or a bad value, raises


@pytest.mark.parametrize("name", list(PYTHON))
def test_every_keyword_is_an_option(name: str) -> None:
    given = {option.opts[0].removeprefix("--") for option in options_of(COMMANDS[name])}
    keywords = {word for call in PYTHON[name] for word in inspect.signature(call).parameters}
    keywords = {word for word in keywords if word not in ARRAYS and not word.endswith("_weight")}
    assert given >= {word.replace("_", "-") for word in keywords} | EXTRA[name]
    assert given >= SHARED - ({"prior"} if name == "prior" else set())


def test_the_examples_of_metrics_and_gates_are_right() -> None:
    from halftruth.cli._gates import Gate
    from halftruth.cli._option_values import parse_metrics

    read = {"--metrics": lambda text: parse_metrics([text]), "--require": Gate.read}
    tried = set()
    for command in COMMANDS.values():
        for words in examples_of(command):
            for word, value in pairwise(words):
                if word in read:
                    assert read[word](value) is not None
                    tried.add(word)
    assert tried == set(read)
