"""`halftruth reproduce PAPER`: a group that each paper joins with a command of its own."""

from __future__ import annotations

import typer

from halftruth.cli import status

reproduce = typer.Typer(name="reproduce", subcommand_metavar="PAPER [ARGS]...", rich_markup_mode=None)


@reproduce.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Reproduce the figures and tables of a paper. None is built in yet."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(status.USAGE)
