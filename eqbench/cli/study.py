"""Commands made from requests: options from fields, and how every study is carried out."""

from __future__ import annotations

import importlib
import inspect
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from eqbench.cli.options import json_option, quiet_option, spec_completion
from eqbench.cli.output import put_json, say
from eqbench.requests import Choice, Field, Flag, Integer, Spec, fields_of, from_data

if TYPE_CHECKING:
    from eqbench.studies.frame import Study, StudyFolder
    from eqbench.studies.requests import StudyRequest

INTERRUPTED = 130
_SHOW_CURSOR = "\x1b[?25h"


class KindType(click.ParamType):
    """A kind of values as click asks for them."""

    def __init__(self, field: Field) -> None:
        self.kind = field.option.kind
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
            type=KindType(field),
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
        type=_type(field),
        metavar=None if isinstance(kind, Choice) else kind.metavar,
        help=help_text,
        shell_complete=spec_completion(kind.what) if isinstance(kind, Spec) else None,
    )


def _type(field: Field) -> click.ParamType:
    match field.option.kind:
        case Choice(words=words):
            return click.Choice(words)
        case Integer(least=least, most=most):
            return click.IntRange(least, most)  # its help shows the bounds
    return KindType(field)


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


def study_command(
    request: type[StudyRequest], study: type[Study[Any]] | None = None
) -> click.Command:
    """The command of a study; where its class is says the request, unless it is given."""
    name = request.command

    @click.pass_context
    def carry_out(ctx: click.Context, /, **_: Any) -> None:
        ctx.exit(run_study(ctx, study or _class_of(request)))

    command = click.Command(
        name, callback=carry_out, params=[], help=inspect.cleandoc(request.__doc__ or "")
    )
    command.params += options_of(request)
    command.params += [
        click.Option(
            ["--out"],
            type=click.Path(file_okay=False),
            metavar="DIR",
            help=f"Folder for the results.  [default: results/<UTC time>-{name}-<game>]"
            if request.writes_always
            else "Folder for the results, which are only printed without it.",
        ),
    ]
    if request.writes_always:
        text = "Go on with the study in this folder: only what it does not have is done."
        command.params.append(
            click.Option(["--resume"], type=click.Path(), metavar="DIR", help=text)
        )
    if request.draws:
        text = f"Draw {request.draws}, as SVG and PNG."
        command.params.append(click.Option(["--figures"], is_flag=True, help=text))
    return json_option(quiet_option(command))


def _class_of(request: type[StudyRequest]) -> type[Study[Any]]:
    module, _, name = request.study.partition(":")
    found: type[Study[Any]] = getattr(importlib.import_module(module), name)
    return found


def run_study(ctx: click.Context, kind: type[Study[Any]]) -> int:
    """Begin or go on with a study, print what it found; return the exit code."""
    # for matrices of this size more threads wait for each other: ten times slower where another
    # process uses the cores
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eqbench.cli.output import print_formatted
    from eqbench.report.terminal import print_report

    typed, quiet = ctx.params, ctx.params["quiet"]
    study, folder, document = _answered(ctx, kind)
    if typed["as_json"]:
        put_json(document)
    else:
        report = study.report(document)
        print_formatted(lambda console: print_report(report, console))
    if folder is None:
        return 0
    if typed.get("figures") or study.always_draws:
        for drawn in study.draw(folder.path, document):
            if isinstance(drawn, str):
                say(drawn)
            elif not quiet:
                say(f"wrote {drawn}")
    code, stopped = study.ending(document)
    if stopped:
        again = f"{ctx.command_path} --resume {shlex.quote(str(folder.path))}"
        figures = " --figures" if typed.get("figures") else ""
        say(f"{stopped}; go on with:\n  {again}{figures}")
    elif not quiet:
        say(f"results in {folder.path}")
    return code


def _answered(
    ctx: click.Context, kind: type[Study[Any]]
) -> tuple[Study[Any], StudyFolder | None, dict[str, Any]]:
    """The study, its folder if it has one, and its document, after what was missing is done."""
    from eqbench.errors import EqbenchError
    from eqbench.studies.frame import Session, StudyFolder, answer, carry_out

    typed, quiet = ctx.params, ctx.params["quiet"]
    study, folder = _study(ctx, kind)
    for note in study.notes:
        say(f"note: {note}")
    if folder is None and (typed["out"] or typed.get("figures") or kind.request_type.writes_always):
        folder = StudyFolder.create(study, Path(typed["out"]) if typed["out"] else None)
    elif folder is not None and folder.version != study.version:
        say("the solver is another version than the one that began this study")
    if folder is None:
        with status_line(quiet=quiet) as tell:
            return study, None, answer(study, tell)
    try:
        with (
            two_interrupts(f"interrupted; results in {folder.path}", quiet=quiet) as interrupted,
            status_line(quiet=quiet) as tell,
        ):
            session = Session(folder.path, interrupted, tell)
            return study, folder, carry_out(study, folder, session)
    except EqbenchError:
        if typed.get("resume") is None:
            folder.discard()
        raise


def _study(ctx: click.Context, kind: type[Study[Any]]) -> tuple[Study[Any], Any]:
    """The study that the options ask for, and the folder that it goes on in, if it does."""
    from eqbench.errors import UsageError
    from eqbench.studies.frame import StudyFolder, with_changes

    typed = ctx.params
    fields = given_options(ctx, kind.request_type)
    given = {field.name: field.write(typed[field.attribute]) for field in fields}
    figures = bool(typed.get("figures"))
    if given.get("plugin"):
        given["plugin"] = [str(Path(file).absolute()) for file in given["plugin"]]
    if typed.get("resume") is None:
        for field in fields_of(kind.request_type):
            if field.required and field.name not in given:
                option = field.option
                name = option.kind.metavar if option.argument else f"--{field.name}"
                what = "argument" if option.argument else "option"
                raise click.UsageError(f"Missing {what} '{name}'.")
        return kind(from_data(kind.request_type, given), figures=figures), None
    if typed["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed study stays in its folder")
    folder, request = StudyFolder.open(kind, Path(typed["resume"]))
    return kind(with_changes(request, given), figures=figures), folder


@contextmanager
def two_interrupts(farewell: str, *, quiet: bool) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed once more, it ends the process with these last words.

    No exception is raised, since compiled code may be running, which turns it into another one.
    """
    pressed: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}
    above = f"{_SHOW_CURSOR}\n" if os.isatty(2) else ""  # a live line hides the cursor there

    def note(number: int, frame: Any) -> None:
        again = bool(pressed)
        pressed.append(number)
        words = farewell if again else "ending this part; Ctrl-C again discards it"
        with suppress(OSError):  # nobody may read them
            os.write(2, f"{above}{'' if quiet else words + chr(10)}".encode())
        if again:
            os._exit(INTERRUPTED)

    for number in signals:
        signal.signal(number, note)
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def status_line(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A live line on standard error if that is a terminal."""
    from rich.text import Text

    from eqbench.report.screen import Screen

    console = Screen(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda words: None
        return
    with console.status("starting") as status:
        yield lambda words: status.update(Text(words))
