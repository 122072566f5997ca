"""`halftruth reproduce PAPER`: the door to the papers, which come with a package of their own."""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib.metadata import entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from halftruth._errors import MissingDependency
from halftruth.cli import status

GROUP = "halftruth.reproductions"
"""Entry points by which an installed package offers papers: each names a Typer application of commands."""


class PaperGroup(TyperGroup):
    """The commands that installed packages offer, looked for when one is asked for: others start faster."""

    _papers: MutableMapping[str, Any] | None = None

    # Commands and contexts are click's, or those of the copy of it that newer versions of Typer bring.
    @property
    def commands(self) -> MutableMapping[str, Any]:
        """The command of each paper, by name."""
        if self._papers is None:
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
                "Run: pip install halftruth-papers"
            )


reproduce = typer.Typer(
    name="reproduce", cls=PaperGroup, subcommand_metavar="PAPER [ARGS]...", rich_markup_mode=None
)


@reproduce.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """Reproduce the tables and figures of a paper, its figures beside ours on one HTML page."""
    if context.invoked_subcommand is None:
        assert isinstance(context.command, PaperGroup)
        context.command.check_installed()
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(status.USAGE)
