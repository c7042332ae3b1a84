"""The command of every study, made from its request: begin, go on, print, draw."""

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

from eqbench.cli.options import given_options, json_option, options_of, quiet_option
from eqbench.cli.output import put_json, say
from eqbench.errors import EqbenchError, UsageError
from eqbench.requests import fields_of, from_data

if TYPE_CHECKING:
    from eqbench.studies.frame import Study, StudyFolder
    from eqbench.studies.requests import StudyRequest

INTERRUPTED = 130
_SHOW_CURSOR = "\x1b[?25h"


def study_command(
    request: type[StudyRequest], study: type[Study[Any]] | None = None
) -> click.Command:
    """The command of a study; where its class is says the request, unless it is given.

    Raises
    ------
    UsageError
        If fields of the request cannot be options.
    """
    from eqbench.studies.requests import check_fields

    check_fields(request)
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
    begun = folder.finished or folder.records  # otherwise there is nothing to draw yet
    if begun and (typed.get("figures") or study.always_draws):
        for drawn in study.draw(folder.path, document):
            if isinstance(drawn, str):
                say(drawn)
            elif not quiet:
                say(f"wrote {drawn}")
    code, stopped = folder.ending(study, document)
    if stopped and kind.request_type.writes_always:
        figures = ["--figures"] if typed.get("figures") else []
        again = [*_words(ctx), "--resume", str(folder.path), *figures]
        say(f"{stopped}; go on with:\n  {shlex.join(again)}")
    elif stopped:
        say(stopped)
        if not folder.records:
            folder.discard()
    elif not quiet:
        say(f"results in {folder.path}")
    return code


def _words(ctx: click.Context) -> list[str]:
    """The command as it was typed, without its options."""
    return [*(_words(ctx.parent) if ctx.parent else []), ctx.info_name or ""]


def _answered(
    ctx: click.Context, kind: type[Study[Any]]
) -> tuple[Study[Any], StudyFolder | None, dict[str, Any]]:
    """The study, its folder if it has one, and its document, after what was missing is done."""
    from eqbench.studies.frame import Session, answer
    from eqbench.studies.study_files import held

    typed, quiet = ctx.params, ctx.params["quiet"]
    study, folder = _study(ctx, kind)
    for note in study.notes:
        say(f"note: {note}")
    if folder is None and (typed["out"] or typed.get("figures") or kind.request_type.writes_always):
        folder = study.folder_type().create(study, Path(typed["out"]) if typed["out"] else None)
        click.get_current_context().with_resource(held(folder.path, study.request.command))
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
            if folder.was_begun and given_options(ctx, kind.request_type):
                folder.note_request(study)
            said = (lambda words: None) if quiet else say
            session = Session(folder.path, interrupted, tell, said)
            return study, folder, folder.carry_out(study, session)
    except EqbenchError:
        if typed.get("resume") is None:
            folder.discard()
        raise


def _study(ctx: click.Context, kind: type[Study[Any]]) -> tuple[Study[Any], Any]:
    """The study that the options ask for, and the folder that it goes on in, if it does."""
    from eqbench.studies.frame import with_changes
    from eqbench.studies.study_files import held

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
    path = Path(typed["resume"])
    if path.is_dir():  # before it is read, since another process may be writing
        click.get_current_context().with_resource(held(path, kind.request_type.command))
    folder, request = kind.folder_type().open(kind, path)
    if folder.note:
        say(f"note: {folder.note}")
    return kind(with_changes(request, given), figures=figures), folder


@contextmanager
def two_interrupts(farewell: str, *, quiet: bool) -> Iterator[Callable[[], bool]]:
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
