"""The commands, what stands before them, and the door to the papers, a package of their own."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from halftruth._errors import MissingDependency
from halftruth._version import __version__
from halftruth.cli import (
    _bayes_error_command,
    _calibrate_command,
    _evaluation_commands,
    _prior_command,
    _review_command,
)
from halftruth.cli._options import spread
from halftruth.cli._terminal import Status

__all__ = ["app"]

DEMO_EXAMPLES = """\b
Examples:
  halftruth demo
  halftruth demo --save scores.csv --html demo.html
"""
GROUP = "halftruth.reproductions"
"""Entry points by which an installed package offers papers: each names a Typer application of commands."""


class PaperGroup(TyperGroup):
    """The commands that installed packages offer, looked for when one is asked for: others start faster."""

    _papers: MutableMapping[str, Any] | None = None

    # Commands and contexts are click's, or those of the copy of it that newer versions of Typer bring.
    @property
    def commands(self) -> MutableMapping[str, Any]:
        """The command of each paper, by name."""
        if not self._papers:
            from importlib.metadata import entry_points

            groups: list[Any] = [typer.main.get_command(entry.load()) for entry in entry_points(group=GROUP)]
            self._papers = {name: command for group in groups for name, command in group.commands.items()}
        return self._papers

    @commands.setter
    def commands(self, declared: MutableMapping[str, Any]) -> None:
        """Click sets what was declared here, and that is nothing."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a paper; an error where no package offers any, unless a shell completes a line."""
        if not ctx.resilient_parsing:
            self.check_installed()
        return super().get_command(ctx, cmd_name)

    def check_installed(self) -> None:
        """Raise unless some package offers papers."""
        if not self.commands:
            raise MissingDependency(
                "The papers come with a package of their own, which is not installed. "
                "In a clone of the repository, run: pip install ./papers"
            )


reproduce = typer.Typer(
    name="reproduce", cls=PaperGroup, subcommand_metavar="PAPER [ARGS]...", rich_markup_mode=None
)


@reproduce.callback(invoke_without_command=True)
def papers(context: typer.Context) -> None:
    """Reproduce the tables and figures of a paper, its figures beside ours on one HTML page."""
    if context.invoked_subcommand is None:
        assert isinstance(context.command, PaperGroup)
        context.command.check_installed()
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(Status.USAGE)


# Plain help: rich's takes as long to import as all the rest.
app = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, context_settings={"max_content_width": 110}
)
app.command(epilog=_evaluation_commands.EVALUATE_EXAMPLES)(spread(_evaluation_commands.evaluate))
app.command(epilog=_evaluation_commands.COMPARE_EXAMPLES)(spread(_evaluation_commands.compare))
app.command(epilog=_prior_command.EXAMPLES)(spread(_prior_command.prior))
app.command(epilog=_calibrate_command.EXAMPLES)(spread(_calibrate_command.calibrate))
app.command(epilog=_bayes_error_command.EXAMPLES)(spread(_bayes_error_command.bayes_error))
app.command(epilog=_review_command.EXAMPLES)(spread(_review_command.plan_review))
app.add_typer(reproduce)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"halftruth {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """How good is a classifier, really, when the labels tell only half the truth?

    Results go to stdout, notes to stderr. Exit status: 0 fine, 1 a failed --require or --until, 2 bad usage
    or input, 3 not identifiable or undecided, 70 unexpected, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(Status.USAGE)


@app.command(epilog=DEMO_EXAMPLES)
def demo(
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write its scores and labels to a CSV file.")
    ] = None,
    html: Annotated[str, typer.Option(metavar="FILE", help="Where its report goes.")] = "halftruth-demo.html",
) -> None:
    """Hide most labels of a real data set, evaluate, reveal the truth."""
    from halftruth import demo
    from halftruth._errors import InputError
    from halftruth.cli._outputs import check_page
    from halftruth.files._write_column import check_target

    if save is not None and not save.endswith(".csv"):
        raise InputError(f"--save writes CSV, so its FILE must end in .csv; got {save!r}.")
    check_page(html)
    if save is not None:
        check_target(save)
    demo.main(html, save)
    if save is not None:
        typer.echo(f"The scores and labels are in {save}.", err=True)
