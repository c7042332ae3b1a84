"""`eqbench study FILE`: studies that others write, in a file or as an installed distribution."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

from eqbench.errors import UsageError

if TYPE_CHECKING:
    from eqbench.studies.frame import Study


class _StudyFiles(click.Group):
    """A file is a command: that of the study which it defines."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        from eqbench.cli.study import study_command

        kind = study_of_file(cmd_name)
        return study_command(kind.request_type, kind)


@click.group(cls=_StudyFiles, subcommand_metavar="FILE [OPTIONS]...")
def study() -> None:
    """Carry out a study of your own, which a Python file defines.

    FILE has one class derived from eqbench.studies.frame.Study. `eqbench study FILE --help` shows
    its options; it writes its folder, is resumed and prints JSON like every other study.
    """


def study_of_file(path: str) -> type[Study[Any]]:
    """Return the study that a file defines.

    Raises
    ------
    UsageError
        If the file cannot be read or run, or does not define exactly one study.
    """
    from eqbench.plugins import import_plugin
    from eqbench.studies.frame import Study

    module = import_plugin(path, what="study")
    found = [
        item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Study) and item.__module__ == module.__name__
    ]
    if len(found) != 1:
        names = ", ".join(item.__name__ for item in found)
        raise UsageError(
            f"{path} defines {f'several studies ({names}); keep one' if found else 'no study'}; "
            "a study is a class derived from eqbench.studies.frame.Study"
        )
    check_request(getattr(found[0], "request_type", None), f"request_type of {found[0].__name__}")
    return found[0]


def check_request(request: Any, what: str) -> None:
    """Refuse what is no request of a study; `what` says where it stands."""
    from eqbench.studies.requests import StudyRequest

    if not (isinstance(request, type) and issubclass(request, StudyRequest)):
        raise UsageError(f"{what} is no class derived from eqbench.studies.requests.StudyRequest")
    if "__dataclass_params__" not in vars(request) or not getattr(request, "command", ""):
        raise UsageError(
            f"{what} must be a dataclass, frozen and with keywords only, whose `command` is the "
            "name of the study"
        )


def installed_command(name: str, target: str) -> click.Command:
    """Return the command of a study of a distribution, or one that says why there is none."""
    from eqbench.cli.study import study_command
    from eqbench.plugins import describe
    from eqbench.text import printable

    module, _, attribute = target.partition(":")
    try:
        request = getattr(importlib.import_module(module), attribute)
        check_request(request, target)
        command = study_command(request)
    except Exception as error:  # whatever others wrote must not take the other commands along
        reason = printable(f"the study {name} cannot be loaded from {target}: {describe(error)}")

        def refuse(**_: Any) -> None:
            raise UsageError(reason)

        return click.Command(name, callback=refuse, help=f"({reason})", context_settings=_ANYTHING)
    command.name = name
    return command


_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}
