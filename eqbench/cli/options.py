"""Commands made of requests: the fields of a request are options and arguments of its command."""

from __future__ import annotations

import inspect
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from eqbench.cli.output import messages
from eqbench.documents import read_file
from eqbench.requests import Choice, Flag, Kind, RequestField, Words, fields_of
from eqbench.store.schema import Status

R = TypeVar("R")
_TYPED = f"{__name__}.typed"  # under which a context keeps the words of its command
Function = Callable[[R], int | None]


def command(
    request: type[R],
    *others: type,
    name: str = "",
    about: str | None = None,
    meant: Callable[[list[str]], str] = lambda words: "",
) -> Callable[[Function[R]], click.Command]:
    """Decorator that makes a command of a function of a request, which returns the exit code.

    Parameters
    ----------
    others : requests that may change one that is stored, so that nothing is required of them;
        `given` returns what was typed of their options
    name : of the command; that of the function unless given
    about : help of the command; the docstring of the request unless given
    meant : what to type instead of words that do not fit, or nothing
    """

    def decorate(function: Function[R]) -> click.Command:
        own = fields_of(request)

        def carry_out(**values: Any) -> None:
            messages.quiet = bool(values.get("quiet"))
            names = [field.attribute for field in own if field.attribute in values]
            code = function(request(**{name: values[name] for name in names}))
            click.get_current_context().exit(code or 0)

        stored = [field for other in others for field in fields_of(other)]
        params = [_parameter(field, stored=True) for field in stored] + [*map(_parameter, own)]
        return RequestCommand(
            name or function.__name__,
            callback=carry_out,
            params=params,
            help=inspect.cleandoc(about or request.__doc__ or ""),
            meant=meant,
        )

    return decorate


def examples(ctx: click.Context) -> list[str]:
    """Return command lines that work, if `examples.toml` has some for the command."""
    found: list[str] = _read("examples.toml").get(ctx.command_path.partition(" ")[2], [])
    return found


def refuse_moved(ctx: click.Context, word: str) -> None:
    """Refuse a word of an earlier version with what to type instead."""
    word = "--quiet" if word == "-q" else word
    old = f"{ctx.command_path} {word}".partition(" ")[2]
    if instead := _read("moved.toml").get(old):
        raise click.UsageError(f"there is no `eqbench {old}` any more; use: {instead}", ctx)


def _read(name: str) -> dict[str, Any]:
    """Content of a TOML file next to this module."""
    return tomllib.loads(read_file(Path(__file__).with_name(name)).decode())


class WithExamples(click.Command):
    """A command whose help ends with examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if lines := examples(ctx):
            with formatter.section("Examples"):
                formatter.write("".join(f"{' ' * formatter.current_indent}{x}\n" for x in lines))


STATUSES = Words(  # that a cell may end with
    "STATUS,…", "status", tuple(status for status in get_args(Status) if status != "interrupted")
)


class RequestCommand(WithExamples):
    """A command of requests, which says what was probably meant where its words do not fit."""

    def __init__(self, name: str, meant: Callable[[list[str]], str], **rest: Any) -> None:
        super().__init__(name, **rest)
        self.meant = meant

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed = ctx.meta[_TYPED] = [*args]
        if args and not args[0].startswith("-") and not os.path.exists(args[0]):
            refuse_moved(ctx, args[0])
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            refuse_moved(ctx, name)
            # who mistypes a word mostly begins it right; others would be far from what is meant
            near = [each for each in error.possibilities or () if each[:3] == name[:3]]
            raise click.NoSuchOption(name, possibilities=near, ctx=ctx) from None
        except click.MissingParameter as error:
            raise click.MissingParameter(self.hint(ctx, typed), ctx, error.param) from None
        except click.UsageError as error:
            if type(error) is not click.UsageError:
                raise
            words = f"{error.message.rstrip('.')}. {self.hint(ctx, typed)}"
            raise click.UsageError(words, ctx) from None

    def hint(self, ctx: click.Context, typed: list[str]) -> str:
        """What to type instead of words that do not fit."""
        if words := self.meant(typed):
            return f"Did you mean: {words}"
        return "".join(f"For example: {line}" for line in examples(ctx)[:1])


class NamedArgument(click.Argument):
    """An argument that may also be typed with the name of its field, as an option."""

    def __init__(self, names: list[str], about: RequestField, **settings: Any) -> None:
        super().__init__(names, **settings)
        self.about, self.word = about, f"--{about.name}"

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Take a word unless the option is typed: then all words are those of other arguments."""
        if any(typed.partition("=")[0] == self.word for typed in ctx.meta.get(_TYPED, ())):
            click.Option([self.word, str(self.name)]).add_to_parser(parser, ctx)
        else:
            super().add_to_parser(parser, ctx)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Describe it among the options: help has no other place for an argument."""
        words = f"{self.about.help} The word {self.word} itself may be omitted."
        return f"{self.word} {self.about.option.kind.metavar}", words


def given(request: type) -> dict[str, Any]:
    """Return what was typed of the options of a request, by its attributes."""
    ctx = click.get_current_context()
    return {
        field.attribute: ctx.params[field.attribute]
        for field in fields_of(request)
        if ctx.get_parameter_source(field.attribute) is ParameterSource.COMMANDLINE
    }


def require(request: type) -> None:
    """Refuse a command line that lacks what a new request needs."""
    ctx, typed = click.get_current_context(), given(request)
    assert isinstance(ctx.command, RequestCommand)
    needed = {field.attribute for field in fields_of(request) if field.required} - typed.keys()
    for parameter in ctx.command.params:
        if parameter.name in needed:
            raise click.MissingParameter(ctx.command.hint(ctx, []), ctx, parameter)


def _parameter(field: RequestField, *, stored: bool = False) -> click.Parameter:
    """Option or argument of a field; `stored` if a request that is stored may have it already."""
    option, kind = field.option, field.option.kind
    words = "|".join(getattr(kind, "words", ()))  # stand in help for a choice without a name
    metavar = kind.metavar or (f"{{{words}}}" if words else "")
    # to click a default of None is one, too, and what has one is not missing
    is_optional = not field.required and not field.several
    settings: dict[str, Any] = {"default": field.write(field.default)} if is_optional else {}
    settings |= {"type": KindType(kind), "required": field.required and not stored}
    if option.argument:
        metavar = metavar if field.required else f"[{metavar}]"
        settings["metavar"] = f"{metavar}..." if field.several else metavar
        settings["nargs"] = -1 if field.several else 1
        if option.named:
            return NamedArgument([field.attribute], about=field, **settings)
        return click.Argument([field.attribute], **settings)
    names = [*([f"-{option.short}"] if option.short else []), f"--{field.name}", field.attribute]
    help_text = f"{field.help}  [default: {option.default}]" if option.default else field.help
    if isinstance(kind, Flag):
        return click.Option(names, is_flag=True, help=help_text)
    return click.Option(
        names,
        multiple=field.several,
        show_default=settings.get("default") not in (None, "") and not option.default,
        metavar=metavar or None,
        help=help_text,
        **settings,
    )


class KindType(click.ParamType):
    """A kind of values as click reads them."""

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
        """Names of games and solvers, also after a comma, and words; else paths."""
        completed = self.kind.completed
        if isinstance(self.kind, Choice):
            return [CompletionItem(w) for w in self.kind.words if w.startswith(incomplete)]
        if completed in ("file", "dir"):
            return [CompletionItem(incomplete, type=completed)]
        before, comma, begun = incomplete.rpartition(",")
        if not completed or before.count("(") > before.count(")"):  # between options of a spec
            return []
        from eqbench.registry import GROUPS, default_registry
        from eqbench.spec import GAME_FILES, PREFIXES

        registry, names = default_registry(), list[str]()
        if completed != "solver":
            files = (name for name in sorted(os.listdir()) if name.lower().endswith(GAME_FILES))
            names += [*registry.entries("game"), *PREFIXES, *files]
        if completed != "game":
            names += [*registry.entries("solver"), "all", *GROUPS]
        known = [before + comma + name for name in names if name.startswith(begun)]
        if not known and completed != "solver":
            return [CompletionItem(incomplete, type="file")]
        return [*map(CompletionItem, known)]
