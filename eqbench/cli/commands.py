"""The table of the commands, each imported when it is asked for."""

from __future__ import annotations

import importlib

import click

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
    "study": "eqbench.cli.own_studies:study",
    "reproduce": "eqbench.cli.reproduce:reproduce",
    "draw": "eqbench.cli.draw:draw",
    "export": "eqbench.cli.export:export",
    "list": "eqbench.cli.catalog:list_",
    "info": "eqbench.cli.catalog:info",
    "check": "eqbench.cli.check:check",
    "doctor": "eqbench.cli.doctor:doctor",
    "schema": "eqbench.cli.schema:schema",
}


class _Commands(click.Group):
    """Imports a command's module when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *(name for name in _installed() if name not in _COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return _installed_command(cmd_name)
        module, name = target.split(":")
        found = getattr(importlib.import_module(module), name)
        if isinstance(found, type):
            from eqbench.cli.study import study_command

            return study_command(found)
        command: click.Command = found
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from eqbench.errors import nearest

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


def _installed_command(name: str) -> click.Command | None:
    target = _installed().get(name)
    if target is None:
        return None
    from eqbench.cli.own_studies import installed_command

    return installed_command(name, target)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eqbench", prog_name="eqbench")
def app() -> None:
    """Which Nash equilibria does each method find, how good are they, what did they cost?

    The main job: eqbench run --game kuhn3 --solver all
    """
