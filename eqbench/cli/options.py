"""Commands made of requests: the fields of a request are options and arguments of its command."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from eqbench.cli.output import messages
from eqbench.documents import read_file
from eqbench.errors import nearest
from eqbench.requests import (
    FOLDER,
    Cell,
    Choice,
    Field,
    File,
    Flag,
    Kind,
    Spec,
    StoredProfile,
    StoredRun,
    fields_of,
)

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
        params = [_parameters(field, stored=True) for field in stored] + [*map(_parameters, own)]
        return RequestCommand(
            name or function.__name__,
            callback=carry_out,
            params=list(chain.from_iterable(params)),
            help=inspect.cleandoc(about or request.__doc__ or ""),
            fields=(*own, *stored),
            meant=meant,
        )

    return decorate


def examples(ctx: click.Context) -> list[str]:
    """Return command lines that work, if `examples.toml` has some for the command."""
    text = read_file(Path(__file__).with_name("examples.toml")).decode()
    found: list[str] = tomllib.loads(text).get(ctx.command_path.partition(" ")[2], [])
    return found


class WithExamples(click.Command):
    """A command whose help ends with examples."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if lines := examples(ctx):
            with formatter.section("Examples"):
                formatter.write("".join(f"{' ' * formatter.current_indent}{x}\n" for x in lines))


class Group(WithExamples, click.Group):
    """Commands, of each of which the help has the whole first sentence."""

    def meant(self, word: str) -> str:
        """What to type instead of a word that is not a command, or nothing."""
        return ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            words = self.meant(args[0])
            hint = f"did you mean: {words}" if words else nearest(args[0], self.list_commands(ctx))
            raise click.UsageError(f"unknown command {args[0]!r}: {hint}") from None

    def sections(self, ctx: click.Context) -> dict[str, list[str]]:
        """Names of the commands by the titles above them."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = self.sections(ctx)
        width = max((len(name) for names in sections.values() for name in names), default=0)
        for title, names in sections.items():
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


class RequestCommand(WithExamples):
    """A command of requests, which says what was probably meant where its words do not fit."""

    def __init__(
        self, name: str, fields: Sequence[Field], meant: Callable[[list[str]], str], **rest: Any
    ) -> None:
        super().__init__(name, **rest)
        self.fields, self.meant = fields, meant

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        typed = ctx.meta[_TYPED] = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            for field in self.fields:
                if name == f"--{field.option.formerly}":
                    words = f"no such option {name}: it is now --{field.name}"
                    raise click.UsageError(words, ctx) from None
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
    """An argument that may also be typed with its name, by an option beside it."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Take a word unless the option is typed: then all words are those of other arguments."""
        (option,) = (each for each in ctx.command.params if each.name == _beside(self.name))
        typed = {word.partition("=")[0] for word in ctx.meta.get(_TYPED, ())}
        if not typed.intersection(option.opts):
            super().add_to_parser(parser, ctx)

    def consume_value(self, ctx: click.Context, opts: Any) -> Any:
        named = opts.get(_beside(self.name))
        return super().consume_value(ctx, {**opts, self.name: named} if named else opts)


def _beside(name: str | None) -> str:
    """Name under which click keeps the option beside an argument."""
    return f"{name}_by_name"


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


def _parameters(field: Field, *, stored: bool = False) -> list[click.Parameter]:
    """Option or argument of a field; `stored` if a request that is stored may have it already."""
    if not field.option.argument:
        return [_option(field, stored=stored)]
    argument = _argument(field, stored=stored)
    if not field.option.named:
        return [argument]
    beside = [f"--{field.name}", _beside(field.attribute)]
    kind, text = field.option.kind, f"{field.help} The word --{field.name} itself may be omitted."
    option = click.Option(
        beside, expose_value=False, metavar=kind.metavar, type=KindType(kind), help=text
    )
    return [argument, option]


def _argument(field: Field, *, stored: bool) -> click.Argument:
    metavar = _metavar(field.option.kind)
    metavar = metavar if field.required else f"[{metavar}]"
    kind = NamedArgument if field.option.named else click.Argument
    return kind(
        [field.attribute],
        nargs=-1 if field.several else 1,
        required=field.required and not stored,
        type=KindType(field.option.kind),
        metavar=f"{metavar}..." if field.several else metavar,
    )


def _metavar(kind: Kind) -> str:
    """What stands for a value in help: of a choice without a name its words."""
    words = "|".join(getattr(kind, "words", ()))
    return kind.metavar or (f"{{{words}}}" if words else "")


def _option(field: Field, *, stored: bool) -> click.Option:
    option, kind = field.option, field.option.kind
    is_required = field.required and not stored
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
        metavar=_metavar(kind) or None,
        required=is_required,
        type=KindType(kind),
        help=help_text,
        **default,
    )


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
        """What the kind may mean here; where nothing fits, the shell completes paths."""
        from eqbench.cli.completion import cells, paths, profiles, runs, specs

        match self.kind:
            case Spec(what=what):
                return specs(what, incomplete)
            case StoredRun():
                return runs(incomplete)
            case StoredProfile():
                return profiles(incomplete)
            case Cell():
                return cells(ctx.params.get("run"), incomplete)
            case Choice(words=words):
                return [CompletionItem(word) for word in words if word.startswith(incomplete)]
            case File():
                return paths(incomplete, folders=self.kind == FOLDER)
        return []
