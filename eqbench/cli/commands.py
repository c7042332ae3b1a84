"""The table of the commands, each imported when it is requested."""

from __future__ import annotations

import pkgutil
import re
import shlex
from typing import Any

import click

from eqbench.cli.options import WithExamples, refuse_moved
from eqbench.errors import UsageError, nearest

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
        "merge": "eqbench.cli.merge:merge",
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
        "info": "eqbench.cli.info:info",
        "export": "eqbench.cli.export:export",
        "verify": "eqbench.cli.verify:verify",
    },
    "Maintenance": {
        "check": "eqbench.cli.check:check",
        "doctor": "eqbench.cli.doctor:doctor",
    },
}
_COMMANDS = {name: target for group in _GROUPS.values() for name, target in group.items()}


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


class _Commands(WithExamples, click.Group):
    """Imports a command's module on its first use."""

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
        from eqbench.registry import default_registry

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            word = args[0]
            refuse_moved(ctx, word)
            known = default_registry().kind_of(word)
            meant = f"did you mean: eqbench info {shlex.quote(word)}" if known else ""
            hint = meant or nearest(word, self.list_commands(ctx))
            raise click.UsageError(f"unknown command {word!r}: {hint}") from None

    def sections(self) -> dict[str, list[str]]:
        """Names of the commands by what they are for."""
        others = [name for name in _installed() if name not in _COMMANDS]
        return {title: [*names] for title, names in _GROUPS.items()} | {"Installed studies": others}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, each with its whole first sentence."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections().items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            rows = [
                (f"{name:<{width}}", _first_sentence(each.help)) for name, each in found if each
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _first_sentence(text: str | None) -> str:
    paragraph = " ".join((text or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[a-z)])\. ", paragraph)[0].rstrip(".")


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


class _StudyFiles(WithExamples, click.Group):
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
