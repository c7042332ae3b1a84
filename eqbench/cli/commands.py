"""The table of the commands, each imported when it is requested, and the command of any study."""

from __future__ import annotations

import dataclasses
import os
import pkgutil
import re
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import to_builtins

from eqbench.cli.options import WithExamples, command, given, refuse_moved, require
from eqbench.cli.output import messages, print_report, put_result, say, say_always, say_note
from eqbench.cli.progress import LiveProgress
from eqbench.errors import INTERRUPTED, EqbenchError, UsageError, nearest
from eqbench.plugins import describe, installed
from eqbench.requests import FLAG, FOLDER, Json, Option, Quiet, fields_of, from_data
from eqbench.text import printable

if TYPE_CHECKING:
    from eqbench.studies.frame import Study, StudyFolder

_STUDIES = "eqbench.studies.requests"
# The commands in the order of the help: first those that are the tool, then the laboratory.
_GROUPS = {
    "Commands": {
        "run": "eqbench.cli.run:run",
        "report": "eqbench.cli.report:report",
        "show": "eqbench.cli.show:show",
        "compare": "eqbench.cli.compare:compare",
        "info": "eqbench.cli.info:info",
        "verify": "eqbench.cli.verify:verify",
    },
    "More: runs": {
        "reproduce": "eqbench.papers.request:ReproduceRequest",
        "challenge": f"{_STUDIES}:ChallengeRequest",
        "publish": "eqbench.cli.results:publish",
        "merge": "eqbench.cli.merge:merge",
        "results": "eqbench.cli.results:results",
    },
    "More: study a game": {
        "trace": f"{_STUDIES}:TraceRequest",
        "qre": f"{_STUDIES}:QuantalRequest",
        "ranges": f"{_STUDIES}:RangesRequest",
        "prove": f"{_STUDIES}:ProveRequest",
        "correlated": "eqbench.cli.correlated:correlated",
        "simulate": f"{_STUDIES}:SimulationRequest",
        "stability": f"{_STUDIES}:StabilityRequest",
        "crossplay": f"{_STUDIES}:CrossplayRequest",
        "study": "eqbench.cli.commands:study",
    },
    "More: files and maintenance": {
        "export": "eqbench.cli.export:export",
        "check": "eqbench.cli.check:check",
        "doctor": "eqbench.cli.doctor:doctor",
        "warm-up": "eqbench.cli.run:warm_up",
    },
}
_COMMANDS = {name: target for group in _GROUPS.values() for name, target in group.items()}


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}
_ANYTHING = {"ignore_unknown_options": True, "allow_extra_args": True}


class _Commands(WithExamples, click.Group):
    """Imports a command's module on its first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *(name for name in installed("studies") if name not in _COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = _COMMANDS.get(cmd_name)
        if target is None:
            # looking these up takes some 30 ms, hence only where the table does not suffice
            own = installed("studies").get(cmd_name)
            return None if own is None else _installed_command(cmd_name, own)
        found = pkgutil.resolve_name(target)
        made: click.Command = study_command(found) if isinstance(found, type) else found
        return made

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
        """Names of the commands, the six that most need first, the others by what they are for."""
        others = [name for name in installed("studies") if name not in _COMMANDS]
        known = {title: [*names] for title, names in _GROUPS.items()}
        return known | {"More: installed studies": others}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by what they are for, each with its whole first sentence."""
        width = max(map(len, self.list_commands(ctx)))
        for title, names in self.sections().items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            texts = [
                (name, " ".join((each.help or "").partition("\n\n")[0].split()))
                for name, each in found
                if each
            ]
            rows = [
                (f"{name:<{width}}", re.split(r"(?<=[a-z)])\. ", text)[0].rstrip("."))
                for name, text in texts
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _installed_command(name: str, target: str) -> click.Command:
    """Return the command of a study of a distribution, or one that says why there is none."""
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
        return study.ending(document)[0]
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
        ctx: click.Context | None = click.get_current_context()
        words: list[str] = []
        while ctx is not None:  # the command as it was typed, without its options
            words.insert(0, ctx.info_name or "")
            ctx = ctx.parent
        again = shlex.join([*words, "--resume", str(folder.path), *figures])
        say_always(f"{stopped}; go on with:\n  {again}")
    elif stopped:
        say_always(stopped)
        if not folder.records:
            folder.discard()
    else:
        say(f"results in {folder.path}")
    return code


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
        with LiveProgress() as work:
            return None, answer(study, tell=work.describe, done=work.done)
    try:
        with (
            two_interrupts(f"interrupted; results in {folder.path}") as interrupted,
            LiveProgress() as work,
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
