"""The commands, and what stands before them."""

from __future__ import annotations

from typing import Annotated

import typer

from halftruth._version import __version__
from halftruth.cli import bayes, calibrate, compare, evaluate, prior, status
from halftruth.cli.reproduce import reproduce

DEMO_EXAMPLES = """\b
Examples:
  halftruth demo
  halftruth demo --save scores.csv --html demo.html
"""

# Plain help: rich's takes as long to import as all the rest.
app = typer.Typer(
    rich_markup_mode=None, pretty_exceptions_enable=False, context_settings={"max_content_width": 110}
)
app.command(epilog=evaluate.EXAMPLES)(evaluate.evaluate)
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=prior.EXAMPLES)(prior.prior)
app.command(epilog=calibrate.EXAMPLES)(calibrate.calibrate)
app.command(epilog=bayes.EXAMPLES)(bayes.bayes_error)
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

    Results go to stdout, notes to stderr. Exit status: 0 fine, 1 a failed --require, 2 bad usage or input,
    3 not identifiable, 70 unexpected, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(status.USAGE)


@app.command(epilog=DEMO_EXAMPLES)
def demo(
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write its scores and labels to a CSV file."),
    ] = None,
    html: Annotated[str, typer.Option(metavar="FILE", help="Where its report goes.")] = "halftruth-demo.html",
) -> None:
    """Hide most labels of a real data set, evaluate, reveal the truth."""
    from halftruth._errors import InputError
    from halftruth.cli import _demo, pages
    from halftruth.files.writing import check_target

    if save is not None and not save.endswith(".csv"):
        raise InputError(f"--save writes CSV, so its FILE must end in .csv; got {save!r}.")
    pages.check(html)
    if save is not None:
        check_target(save)
    _demo.main(html, save)
    if save is not None:
        typer.echo(f"The scores and labels are in {save}.", err=True)
