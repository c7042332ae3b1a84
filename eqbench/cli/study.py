"""The command of every study, made from its request: begin, go on, print, draw."""

from __future__ import annotations

import dataclasses
import os
import pkgutil
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import to_builtins

from eqbench.cli.options import command, given, require
from eqbench.cli.output import messages, print_report, put_result, say, say_always, say_note
from eqbench.cli.progress import Progress
from eqbench.errors import INTERRUPTED, EqbenchError, UsageError
from eqbench.requests import FLAG, FOLDER, Json, Option, Quiet, fields_of, from_data

if TYPE_CHECKING:
    from eqbench.studies.frame import Study, StudyFolder

_SHOW_CURSOR = "\x1b[?25h"


@dataclass(frozen=True)
class StudyOptions:
    """How a study is carried out; its request says which it is."""

    out: Annotated[
        str | None, Option("Folder for the results, which are only printed without it.", FOLDER)
    ] = None
    resume: Annotated[
        str | None,
        Option("Go on with the study in this folder: only what it does not have is done.", FOLDER),
    ] = None
    figures: Annotated[bool, Option("Draw figures, as SVG and PNG.", FLAG)] = False
    quiet: Quiet = False
    as_json: Json = False


def study_command(
    request: Any, study: type[Study[Any, Any, Any]] | None = None, where: str = "the request"
) -> click.Command:
    """The command of a study; where its class is says the request, unless it is given.

    UsageError if what stands `where` is not a request, or fields of it cannot be options.
    """
    _check(request, where)
    name = request.command

    def carry_out(options: StudyOptions) -> int:
        return run_study(options, study or pkgutil.resolve_name(request.study))

    made = command(StudyOptions, request, name=name, about=request.__doc__)(carry_out)
    missing = {"resume": not request.writes_always, "figures": not request.draws}
    made.params = [each for each in made.params if not missing.get(each.name or "")]
    for each in made.params:
        if isinstance(each, click.Option) and each.name == "figures":
            each.help = f"Draw {request.draws}, as SVG and PNG."
        if isinstance(each, click.Option) and each.name == "out" and request.writes_always:
            each.help = f"Folder for the results.  [default: results/<UTC time>-{name}-<game>]"
    return made


def _check(request: Any, where: str) -> None:
    """Refuse fields that cannot be given, and those that hide others or options of the frame."""
    from eqbench.studies.requests import StudyCommand

    if not (isinstance(request, type) and issubclass(request, StudyCommand)):
        raise UsageError(f"{where} is not derived from eqbench.studies.requests.StudyRequest")
    if "__dataclass_params__" not in vars(request) or not getattr(request, "command", ""):
        raise UsageError(
            f"{where} must be a dataclass, frozen and with keywords only, whose `command` is the "
            "name of the study"
        )
    try:
        declared = fields_of(request)
    except (NameError, TypeError) as error:
        raise UsageError(f"the fields of {request.__name__} cannot be read: {error}") from None
    names = {"--help"}
    for field in (*fields_of(StudyOptions), *declared):
        short = {f"-{field.option.short}"} if field.option.short else set()
        own = {field.attribute, f"--{field.name}"} | short
        if taken := sorted(own & names):
            raise UsageError(
                f"the field {field.attribute} of {request.__name__} cannot be called {taken[0]}: "
                "another option has this name; choose another one"
            )
        names |= own
    known = {field.attribute for field in declared}
    for item in dataclasses.fields(request):
        missing = item.default is item.default_factory is dataclasses.MISSING
        if missing and item.name not in known:
            raise UsageError(
                f"the field {item.name} of {request.__name__} has neither a default nor an Option "
                "by which it can be given; annotate it as Annotated[type, Option(...)]"
            )


def run_study(options: StudyOptions, kind: type[Study[Any, Any, Any]]) -> int:
    """Begin or go on with a study, print what it found; return the exit code."""
    from eqbench.studies.frame import announce

    # for matrices of this size more threads wait for each other: ten times slower where another
    # process uses the cores
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    announce.set(say_note)
    study, folder = _study(options, kind)
    if (preview := study.preview()) is not None:
        print_report(preview)
        return 0
    folder, document = _answered(options, study, folder)
    put_result(to_builtins(document), lambda: study.report(document), as_json=options.as_json)
    if folder is None:
        return 0
    begun = folder.finished or folder.records  # otherwise there is nothing to draw yet
    if begun and (options.figures or study.always_draws):
        for drawn in folder.draw(study, document):
            if isinstance(drawn, str):
                say_always(drawn)
            else:
                say(f"wrote {drawn}")
    code, stopped = folder.ending(study, document)
    if stopped and kind.request_type.writes_always:
        figures = ["--figures"] if options.figures else []
        words = _words(click.get_current_context())
        again = shlex.join([*words, "--resume", str(folder.path), *figures])
        say_always(f"{stopped}; go on with:\n  {again}")
    elif stopped:
        say_always(stopped)
        if not folder.records:
            folder.discard()
    else:
        say(f"results in {folder.path}")
    return code


def _words(ctx: click.Context) -> list[str]:
    """The command as it was typed, without its options."""
    return [*(_words(ctx.parent) if ctx.parent else []), ctx.info_name or ""]


def _answered(
    options: StudyOptions, study: Study[Any, Any, Any], folder: StudyFolder | None
) -> tuple[StudyFolder | None, Any]:
    """The folder of a study if it has one, and its document, after what was missing is done."""
    from eqbench.studies.frame import Session, StudyFolder, answer, held

    kind = type(study)
    if folder is None and (options.out or options.figures or kind.request_type.writes_always):
        folder = StudyFolder.create(study, Path(options.out) if options.out else None)
        click.get_current_context().with_resource(held(folder.path, kind.request_type.command))
    elif folder is not None and folder.version != study.version:
        say("the solver is another version than the one that began this study")
    if folder is None:
        with Progress() as work:
            return None, answer(study, tell=work.describe, done=work.done)
    try:
        with (
            two_interrupts(f"interrupted; results in {folder.path}") as interrupted,
            Progress() as work,
        ):
            if folder.was_begun and given(kind.request_type):
                folder.note_request(study)
            session = Session(folder.path, interrupted, work.describe, work.done, say)
            return folder, folder.carry_out(study, session)
    except EqbenchError:
        if options.resume is None:
            folder.discard()
        raise


def _study(
    options: StudyOptions, kind: type[Study[Any, Any, Any]]
) -> tuple[Study[Any, Any, Any], StudyFolder | None]:
    """The study that the options ask for, and the folder that it continues in, if it does."""
    from eqbench.studies.frame import StudyFolder, held, with_changes

    request_type, typed = kind.request_type, given(kind.request_type)
    changes = {
        field.name: field.write(typed[field.attribute])
        for field in fields_of(request_type)
        if field.attribute in typed
    }
    for name in {"plugin", "paper"} & set(changes):  # found again from another folder
        changes[name] = [str(Path(file).absolute()) for file in changes[name]]
    if options.resume is None:
        require(request_type)
        return kind(from_data(request_type, changes), figures=options.figures), None
    if options.out is not None:
        raise UsageError("give either --resume or --out: a resumed study stays in its folder")
    path = Path(options.resume)
    if path.is_dir():  # before it is read, since another process may be writing
        click.get_current_context().with_resource(held(path, request_type.command))
    folder, request = StudyFolder.open(kind, path)
    if folder.note:
        say_always(f"note: {folder.note}")  # parts of it will be done again
    return kind(with_changes(request, changes), figures=options.figures), folder


@contextmanager
def two_interrupts(farewell: str) -> Iterator[Callable[[], bool]]:
    """Tell whether Ctrl-C was pressed; a second one ends the process with these last words.

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
        with suppress(OSError):  # they may be unreadable
            os.write(2, f"{above}{'' if messages.quiet else words + chr(10)}".encode())
        if again:
            os._exit(INTERRUPTED)

    for number in signals:
        signal.signal(number, note)
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
