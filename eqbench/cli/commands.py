"""The table of the commands, each imported when it is asked for."""

from __future__ import annotations

import pkgutil
from typing import Any

import click

from eqbench.errors import UsageError, nearest

_COMMANDS = {
    "run": "eqbench.cli.run:run",
    "report": "eqbench.cli.report:report",
    "compare": "eqbench.cli.compare:compare",
    "show": "eqbench.cli.show:show",
    "verify": "eqbench.cli.verify:verify",
    "crossplay": "eqbench.studies.requests:CrossplayRequest",
    "trace": "eqbench.studies.requests:TraceRequest",
    "qre": "eqbench.studies.requests:QuantalRequest",
    "stability": "eqbench.studies.requests:StabilityRequest",
    "simulate": "eqbench.studies.requests:SimulationRequest",
    "ranges": "eqbench.studies.requests:RangesRequest",
    "study": "eqbench.cli.commands:study",
    "reproduce": "eqbench.papers.request:ReproduceRequest",
    "draw": "eqbench.cli.draw:draw",
    "export": "eqbench.cli.export:export",
    "list": "eqbench.cli.catalog:list_",
    "info": "eqbench.cli.catalog:info",
    "check": "eqbench.cli.check:check",
    "doctor": "eqbench.cli.doctor:doctor",
    "schema": "eqbench.cli.catalog:schema",
}


_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


class _Commands(click.Group):
    """Imports a command's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *(name for name in _installed() if name not in _COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            installed = _installed().get(cmd_name)
            return None if installed is None else _installed_command(cmd_name, installed)
        found = pkgutil.resolve_name(target)
        if isinstance(found, type):
            from eqbench.cli.study import study_command

            return study_command(found)
        command: click.Command = found
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and args[0] not in (installed := _installed()):
            known = [*_COMMANDS, *installed]
            raise click.UsageError(f"unknown command {args[0]!r}: {nearest(args[0], known)}")
        return super().resolve_command(ctx, args)


def _installed() -> dict[str, str]:
    """Studies of installed distributions, ``module:request`` by the name of the command.

    Looking them up takes some 30 ms, hence only where the table of the commands does not suffice.
    """
    from importlib import metadata

    points = metadata.entry_points(group="eqbench.studies")
    return {point.name: point.value for point in sorted(points, key=lambda point: point.name)}


def _installed_command(name: str, target: str) -> click.Command:
    """Return the command of a study of a distribution, or one that says why there is none."""
    from eqbench.cli.study import study_command
    from eqbench.plugins import describe
    from eqbench.text import printable

    try:
        request = pkgutil.resolve_name(target)
        command = study_command(request, where=target)
    except Exception as error:  # whatever others wrote must not take the other commands along
        reason = printable(f"the study {name} cannot be loaded from {target}: {describe(error)}")

        def refuse(**_: Any) -> None:
            raise UsageError(reason)

        return click.Command(name, callback=refuse, help=f"({reason})", context_settings=_ANYTHING)
    command.name = name
    return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eqbench", prog_name="eqbench")
def app() -> None:
    """Which Nash equilibria does each method find, how good are they, what did they cost?

    The main job: eqbench run --game kuhn3 --solver all
    """


class _StudyFiles(click.Group):
    """A file is a command: that of the study which it defines."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        from eqbench.cli.study import study_command
        from eqbench.studies.frame import study_of_file

        kind = study_of_file(cmd_name)
        where = f"request_type of {kind.__name__}"
        return study_command(getattr(kind, "request_type", None), kind, where)


@click.group(cls=_StudyFiles, subcommand_metavar="FILE [OPTIONS]...")
def study() -> None:
    """Carry out a study of your own, which a Python file defines.

    FILE has one class derived from eqbench.studies.frame.Study. `eqbench study FILE --help` shows
    its options; it writes its folder, is resumed and prints JSON like every other study.
    """
