"""The command of every study, made from its request: begin, go on, print, draw."""

from __future__ import annotations

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

from eqbench.cli import INTERRUPTED
from eqbench.cli.options import command, given, require
from eqbench.cli.output import put_result, say
from eqbench.requests import FLAG, FOLDER, Json, Option, Quiet, fields_of, from_data

if TYPE_CHECKING:
    from eqbench.studies.frame import Study, StudyFolder
    from eqbench.studies.requests import StudyRequest

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
    request: type[StudyRequest], study: type[Study[Any]] | None = None
) -> click.Command:
    """The command of a study; where its class is says the request, unless it is given."""
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


def run_study(options: StudyOptions, kind: type[Study[Any]]) -> int:
    """Begin or go on with a study, print what it found; return the exit code."""
    # for matrices of this size more threads wait for each other: ten times slower where another
    # process uses the cores
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    study, folder, document = _answered(options, kind)
    put_result(document, lambda: study.report(document), as_json=options.as_json)
    if folder is None:
        return 0
    if options.figures or study.always_draws:
        for drawn in study.draw(folder.path, document):
            if isinstance(drawn, str):
                say(drawn)
            elif not options.quiet:
                say(f"wrote {drawn}")
    code, stopped = study.ending(document)
    if stopped and not kind.request_type.writes_always:
        say(stopped)
    elif stopped:
        path = click.get_current_context().command_path
        figures = " --figures" if options.figures else ""
        again = f"{path} --resume {shlex.quote(str(folder.path))}{figures}"
        say(f"{stopped}; go on with:\n  {again}")
    elif not options.quiet:
        say(f"results in {folder.path}")
    return code


def _answered(
    options: StudyOptions, kind: type[Study[Any]]
) -> tuple[Study[Any], StudyFolder | None, dict[str, Any]]:
    """The study, its folder if it has one, and its document, after what was missing is done."""
    from eqbench.errors import EqbenchError
    from eqbench.studies.frame import Session, StudyFolder, answer, carry_out

    quiet = options.quiet
    study, folder = _study(options, kind)
    for note in study.notes:
        say(f"note: {note}")
    if folder is None and (options.out or options.figures or kind.request_type.writes_always):
        folder = StudyFolder.create(study, Path(options.out) if options.out else None)
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
            if folder.was_begun and given(kind.request_type):
                folder.note_request(study)
            session = Session(folder.path, interrupted, tell)
            return study, folder, carry_out(study, folder, session)
    except EqbenchError:
        if options.resume is None:
            folder.discard()
        raise


def _study(options: StudyOptions, kind: type[Study[Any]]) -> tuple[Study[Any], StudyFolder | None]:
    """The study that the options ask for, and the folder that it goes on in, if it does."""
    from eqbench.errors import UsageError
    from eqbench.studies.frame import StudyFolder, with_changes

    fields, typed = fields_of(kind.request_type), given(kind.request_type)
    changes = {
        each.name: each.write(typed[each.attribute]) for each in fields if each.attribute in typed
    }
    if changes.get("plugin"):
        changes["plugin"] = [str(Path(file).absolute()) for file in changes["plugin"]]
    if options.resume is None:
        require(kind.request_type)
        return kind(from_data(kind.request_type, changes), figures=options.figures), None
    if options.out is not None:
        raise UsageError("give either --resume or --out: a resumed study stays in its folder")
    folder, request = StudyFolder.open(kind, Path(options.resume))
    if folder.note:
        say(f"note: {folder.note}")
    return kind(with_changes(request, changes), figures=options.figures), folder


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
