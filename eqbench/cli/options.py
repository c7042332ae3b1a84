"""Options of commands: made from the fields of requests, and those that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from eqbench.requests import NODES, Choice, Field, Flag, Integer, Kind, Spec, fields_of


class KindType(click.ParamType):
    """A kind of values as click asks for them."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.name = self.kind.metavar.lower() or "flag"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if ctx is not None and ctx.resilient_parsing:  # a shell that completes it reads no files
            return value
        try:
            return self.kind.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def options_of(request: type) -> list[click.Parameter]:
    """Options and arguments of the command line for the fields of a request."""
    return [_option(field) for field in fields_of(request)]


def _option(field: Field) -> click.Parameter:
    option, kind = field.option, field.option.kind
    if option.argument:
        count, metavar = (-1, f"[{kind.metavar}]...") if field.several else (1, kind.metavar)
        return click.Argument(
            [field.attribute],
            nargs=count,
            metavar=metavar,
            required=False,  # a study that goes on has it already
            type=KindType(kind),
        )
    names = [*([f"-{option.short}"] if option.short else []), f"--{field.name}", field.attribute]
    help_text = option.help
    if option.default:
        help_text += f"  [default: {option.default}]"
    if isinstance(kind, Flag):
        return click.Option(names, is_flag=True, help=help_text)
    shows = field.default is not None and not field.several and not option.default
    return click.Option(
        names,
        multiple=field.several,
        # a study that goes on has them already, so the command asks for those that are missing
        default=None if field.required or field.several else field.write(field.default),
        show_default=shows and field.default != "",
        type=type_of(kind),
        metavar=None if isinstance(kind, Choice) else kind.metavar,
        help=help_text,
        shell_complete=spec_completion(kind.what) if isinstance(kind, Spec) else None,
    )


def type_of(kind: Kind) -> click.ParamType:
    """How click reads a kind of values."""
    match kind:
        case Choice(words=words):
            return click.Choice(words)
        case Integer(least=least, most=most):
            return click.IntRange(least, most)  # its help shows the bounds
    return KindType(kind)


def with_options_of(request: type) -> Callable[[Any], Any]:
    """Decorator that gives a command the options of a request."""

    def decorate(command: Any) -> Any:
        # click reads this list from its end, as decorators are applied
        command.__click_params__ = getattr(command, "__click_params__", [])
        command.__click_params__ += reversed(options_of(request))
        return command

    return decorate


def given_options(ctx: click.Context, request: type) -> list[Field]:
    """Fields whose options were typed on the command line."""
    return [
        field
        for field in fields_of(request)
        if ctx.get_parameter_source(field.attribute) is ParameterSource.COMMANDLINE
    ]


class Statuses(click.ParamType):
    """Statuses of cells, separated by commas."""

    name = "statuses"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        from typing import get_args

        from eqbench.errors import nearest
        from eqbench.store.schema import Status

        known = [status for status in get_args(Status) if status != "interrupted"]
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        for name in names:
            if name not in known:
                self.fail(f"{name!r} is no status: {nearest(name, known)}", param, ctx)
        return names


def spec_completion(kind: str) -> Callable[[Any, Any, str], list[CompletionItem]]:
    """Shell completion with the names of the games or the solvers.

    Game files of the current folder are among them; where nothing fits, the shell completes paths.
    """

    def complete(ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        from eqbench.registry import GROUPS, default_registry
        from eqbench.spec import GAME_FILES, OPENSPIEL

        registry = default_registry()
        if kind == "solver":
            names = [*(entry.name for entry in registry.solvers()), "all", *GROUPS]
        else:
            files = (name for name in sorted(os.listdir()) if name.lower().endswith(GAME_FILES))
            names = [*(entry.name for entry in registry.games()), OPENSPIEL, *files]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        if kind == "game" and not found:
            return [CompletionItem(incomplete, type="file")]
        return found

    return complete


plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Python file that registers games or solvers; may be given several times.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
max_nodes_option = click.option(
    "--max-nodes",
    # the default of eqbench.model.size_limit, which is not imported for a help text
    default=10_000_000,
    type=type_of(NODES),
    show_default=True,
    metavar="N",
    help="Refuse games with more nodes than this.",
)
quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Nothing but errors on standard error."
)


def game_option(text: str) -> Callable[[Any], Any]:
    """The game that a command needs; `text` is its help."""
    return click.option(
        "--game",
        required=True,
        metavar="SPEC",
        shell_complete=spec_completion("game"),
        help=text,
    )
