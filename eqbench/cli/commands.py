"""The table of the commands, each imported when it is asked for."""

from __future__ import annotations

import pkgutil
import shlex
from typing import Any

import click

from eqbench.cli.options import Group
from eqbench.errors import UsageError

_STUDIES = "eqbench.studies.requests"
# The commands by what they are for, in the order of the help.
_GROUPS = {
    "Run": {
        "run": "eqbench.cli.run:run",
        "reproduce": "eqbench.papers.request:ReproduceRequest",
    },
    "Read": {
        "report": "eqbench.cli.report:report",
        "publish": "eqbench.cli.results:publish",
        "show": "eqbench.cli.show:show",
        "compare": "eqbench.cli.compare:compare",
        "merge": "eqbench.cli.results:merge",
        "results": "eqbench.cli.results:results",
    },
    "Study a game": {
        "trace": f"{_STUDIES}:TraceRequest",
        "qre": f"{_STUDIES}:QuantalRequest",
        "ranges": f"{_STUDIES}:RangesRequest",
        "simulate": f"{_STUDIES}:SimulationRequest",
        "stability": f"{_STUDIES}:StabilityRequest",
        "crossplay": f"{_STUDIES}:CrossplayRequest",
        "study": "eqbench.cli.commands:study",
    },
    "Games and profiles": {
        "list": "eqbench.cli.catalog:list_",
        "info": "eqbench.cli.catalog:info",
        "draw": "eqbench.cli.game:draw",
        "export": "eqbench.cli.game:export",
        "profile": "eqbench.cli.game:profile",
        "verify": "eqbench.cli.verify:verify",
        "contains": "eqbench.cli.verify:contains",
        "refine": "eqbench.cli.refine:refine",
    },
    "Maintenance": {
        "check": "eqbench.cli.check:check",
        "doctor": "eqbench.cli.doctor:doctor",
        "schema": "eqbench.cli.catalog:schema",
    },
}
_COMMANDS = {name: target for group in _GROUPS.values() for name, target in group.items()}


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


class _Commands(Group):
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

    def meant(self, word: str) -> str:
        from eqbench.registry import default_registry

        return f"eqbench info {shlex.quote(word)}" if default_registry().kind_of(word) else ""

    def sections(self, ctx: click.Context) -> dict[str, list[str]]:
        others = [name for name in _installed() if name not in _COMMANDS]
        return {title: [*names] for title, names in _GROUPS.items()} | {"Installed studies": others}


def _installed() -> dict[str, str]:
    """Studies of installed distributions, ``module:request`` by the name of the command.

    Looking them up takes some 30 ms, hence only where the table of the commands does not suffice.
    """
    from eqbench.plugins import installed

    return installed("studies")


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


@click.group(cls=_Commands, context_settings=_SETTINGS)
@click.version_option(package_name="eqbench", prog_name="eqbench")
def app() -> None:
    """Which Nash equilibria does each method find, how good are they, what did they cost?

    The main job: eqbench run --game kuhn3 --solver all
    """


class _StudyFiles(Group):
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
