"""Commands made of requests: the fields of a request are options and arguments of its command."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from eqbench.requests import FOLDER, Choice, Field, File, Flag, Integer, Kind, Spec, fields_of

R = TypeVar("R")
Function = Callable[[R], int | None]


def command(
    request: type[R], *others: type, name: str = "", about: str | None = None
) -> Callable[[Function[R]], click.Command]:
    """Decorator that makes a command of a function of a request, which returns the exit code.

    Parameters
    ----------
    others : requests that may change one that is stored, so that nothing is required of them;
        `given` returns what was typed of their options
    name : of the command; that of the function unless given
    about : help of the command; the docstring of the request unless given
    """

    def decorate(function: Function[R]) -> click.Command:
        own = fields_of(request)

        def carry_out(**values: Any) -> None:
            names = [field.attribute for field in own if field.attribute in values]
            code = function(request(**{name: values[name] for name in names}))
            click.get_current_context().exit(code or 0)

        return click.Command(
            name or function.__name__,
            callback=carry_out,
            params=[
                *(_parameter(field, stored=True) for other in others for field in fields_of(other)),
                *(_parameter(field) for field in own),
            ],
            help=inspect.cleandoc(about or request.__doc__ or ""),
        )

    return decorate


def given(request: type) -> dict[str, Any]:
    """Return what was typed of the options of a request, by its attributes."""
    ctx = click.get_current_context()
    return {
        field.attribute: ctx.params[field.attribute]
        for field in fields_of(request)
        if ctx.get_parameter_source(field.attribute) is ParameterSource.COMMANDLINE
    }


def require(request: type, hint: str = "") -> None:
    """Refuse a command line that lacks what a new request needs; `hint` says what to type."""
    ctx, typed = click.get_current_context(), given(request)
    needed = {field.attribute for field in fields_of(request) if field.required} - typed.keys()
    for parameter in ctx.command.params:
        if parameter.name in needed:
            raise click.MissingParameter(hint, ctx, param=parameter)


def _parameter(field: Field, *, stored: bool = False) -> click.Parameter:
    """Option or argument of a field; `stored` if a request that is stored may have it already."""
    option, kind = field.option, field.option.kind
    is_required = field.required and not stored
    if option.argument:
        metavar = kind.metavar if field.required or not kind.metavar else f"[{kind.metavar}]"
        count, dots = (-1, "...") if field.several else (1, "")
        return click.Argument(
            [field.attribute],
            nargs=count,
            required=is_required,
            type=type_of(kind),
            metavar=f"{metavar}{dots}" or None,
        )
    names = [*([f"-{option.short}"] if option.short else []), f"--{field.name}", field.attribute]
    help_text = field.help
    if option.default:
        help_text += f"  [default: {option.default}]"
    if isinstance(kind, Flag):
        return click.Option(names, is_flag=True, help=help_text)
    # to click a default of None is one, too, and what has one is not missing
    default = {} if field.required or field.several else {"default": field.write(field.default)}
    return click.Option(
        names,
        multiple=field.several,
        show_default=default.get("default") not in (None, "") and not option.default,
        metavar=kind.metavar or None,
        required=is_required,
        type=type_of(kind),
        help=help_text,
        **default,
    )


def type_of(kind: Kind) -> click.ParamType:
    """How click reads a kind of values."""
    match kind:
        case Choice(metavar="", words=words):
            return click.Choice(words)  # which has the words for a metavar
        case Integer():
            return IntegerType(kind)
    return KindType(kind)


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

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Names of games or solvers; where nothing fits, the shell completes paths."""
        match self.kind:
            case Spec(what=what):
                found = [name for name in _names(what) if name.startswith(incomplete)]
                if found or what != "game":
                    return [CompletionItem(name) for name in found]
                return [CompletionItem(incomplete, type="file")]
            case Choice(words=words):
                return [CompletionItem(word) for word in words if word.startswith(incomplete)]
            case File():
                return [CompletionItem(incomplete, type="dir" if self.kind == FOLDER else "file")]
        return []


class IntegerType(KindType, click.IntRange):
    """Integers, whose bounds click shows in the help."""

    def __init__(self, kind: Integer) -> None:
        click.IntRange.__init__(self, kind.least, kind.most)
        self.kind = kind


def _names(what: str) -> list[str]:
    """Names of the solvers, or of the games and the game files of the current folder."""
    from eqbench.registry import GROUPS, default_registry
    from eqbench.spec import GAME_FILES, OPENSPIEL

    registry = default_registry()
    if what == "solver":
        return [*(entry.name for entry in registry.solvers()), "all", *GROUPS]
    files = (name for name in sorted(os.listdir()) if name.lower().endswith(GAME_FILES))
    return [*(entry.name for entry in registry.games()), OPENSPIEL, *files]
