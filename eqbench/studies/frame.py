"""The frame of a study: a request, its parts one after another, a folder, a summary.

A study is a class with a request and three methods: into which parts its work falls, what a part
finds, and which document comes of it, which has tables and figures. What parts find and documents
are structs, whose fields are keys of JSON, columns and what is checked on resume. The frame keeps
what each part found as a line of a file as soon as it is there, so an interrupted study resumes
with what is missing; parts may need others, be done side by side, and be runs.
"""

from __future__ import annotations

import errno
import json
import os
import pkgutil
import tomllib
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NotRequired,
    TypedDict,
    TypeVar,
    get_args,
    get_origin,
)

import msgspec
from msgspec import Raw, Struct, to_builtins

from eqbench.documents import OPEN_FLAGS, decode, read_file, remove_files
from eqbench.errors import (
    INTERRUPTED,
    DocumentError,
    MissingPackageError,
    StoreError,
    UsageError,
    counted,
)
from eqbench.extras import needed_for
from eqbench.harness.experiment import Request
from eqbench.harness.run import ActiveRun, solving_s
from eqbench.plugins import absolute_files, import_plugin
from eqbench.report.naming import identity_text
from eqbench.report.rows import Column, Report, csv_of, table_of
from eqbench.requests import fields_of, from_data, to_data
from eqbench.store.json_lines import LineReader, append_line
from eqbench.store.locks import LOCKS_FOLDERS, NO_LOCKS, lock_file
from eqbench.store.run_folder import RunFolder, game_slug, new_run_path, write_texts
from eqbench.store.schema import IdentityRecord, Status
from eqbench.store.stored_run import StoredRun
from eqbench.studies.requests import StudyCommand
from eqbench.text import seconds, small

MANIFEST, RECORDS, SUMMARY, FIGURES = "manifest.json", "records.jsonl", "summary.json", "figures"
SCHEMA: Literal["eqbench.study/1"] = "eqbench.study/1"
R = TypeVar("R", bound=StudyCommand)
P = TypeVar("P")
D = TypeVar("D")
_SLICE_S = 0.2
# Callback for messages that must precede a study, such as whose code is about to run.
announce: ContextVar[Callable[[str], None]] = ContextVar("announce", default=lambda words: None)
Drawn = tuple[str, Any] | Path | str  # a figure by its name, a file, a remark


@dataclass(frozen=True)
class Session:
    """The means of a part while it works.

    Attributes
    ----------
    folder : where files of its own may be written
    interrupted : whether to stop soon; polled
    tell : report in a few words how far the work has come
    done : report which share of the part is done, where that is known
    say : print a sentence that stays
    again : whether the study is resumed, so that a part may have left something here before
    keeps : whether the folder stays when the work is done
    found : results of the parts that are there, by their names
    finished : whether all parts are there, and none was interrupted
    """

    folder: Path
    interrupted: Callable[[], bool] = lambda: False
    tell: Callable[[str], None] = lambda words: None
    done: Callable[[float], None] = lambda share: None
    say: Callable[[str], None] = lambda words: None
    keeps: bool = True
    again: bool = False
    found: Mapping[str, Any] = field(default_factory=dict)
    finished: bool = False

    def part_of(self, number: int, total: int) -> Session:
        """The session of one of several parts, of which `number` are done."""
        if total > 1:
            self.done(number / total)
        return replace(self, done=lambda share: self.done((number + share) / total))

    def go_on(self, words: str = "") -> None:
        """Report what is done next; KeyboardInterrupt if nothing more shall be done."""
        if self.interrupted():
            raise KeyboardInterrupt
        if words:
            self.tell(words)

    def run(
        self, request: Request, *, problem: tuple[Status, str] | None = None, verbose: bool = False
    ) -> StoredRun:
        """Carry out a run in the folder ``run``, or what is missing of it, until an interrupt.

        Parameters
        ----------
        problem : status and reason of all cells, of which none is started then
        verbose : whether to print how each cell ended
        """
        place = self.folder / "run"
        folder = RunFolder.open(place) if (place / MANIFEST).exists() else None
        self.tell(f"planning {counted(len(request.solvers), 'cell')}")
        with ActiveRun(request) as run:
            for words in run.begin(place, folder=folder):
                self.say(words)
            total, missing = len(run.cells), run.missing()
            if problem is not None:
                run.cells = [
                    replace(cell, solver=replace(cell.solver, problem=problem))
                    for cell in run.cells
                ]
            elif missing:
                most_s = solving_s(missing, request.jobs or 1)
                self.say(f"{counted(len(missing), 'cell')}: up to {seconds(most_s)} of solving")
            done = total - len(missing)
            self.tell(f"{done} of {total} cells done")
            with (
                suppress(KeyboardInterrupt),  # what there is makes a table
                closing(run.execute(interrupted=self.interrupted)) as records,
            ):
                for record in records:
                    done += record.status != "interrupted"
                    self.tell(f"{done} of {total} cells done")
                    self.done(done / total)
                    if verbose:
                        self.say(f"{record.solver} on {record.game}: {record.ending}")
            return run.stored


class Document(Struct, frozen=True, kw_only=True):
    """The result of a study, a struct: its fields are the keys of ``summary.json``."""

    def tables(self) -> Report:
        """Return its tables: that of its rows, whose columns are declared, unless overridden."""
        title, players = getattr(self, "game", ""), getattr(self, "players", ())
        return Report((table_of(self.rows(), title, players=players),))

    def rows(self) -> Sequence[Struct]:
        """Return rows that are written as CSV, with the name of the command."""
        return ()

    def series(self) -> Mapping[str, Sequence[Any]]:
        """Return by name of the figure its panels, as :class:`eqbench.plots.style.Panel`."""
        return {}


class Study(Generic[R, P, D]):
    """A question that is answered part by part; the base of all studies.

    Its arguments are the types of its request, of what a part finds and of its document. The last
    two are structs or anything else that msgspec reads; what is stored is checked against them.

    Attributes
    ----------
    request_type : its request; it has the name of the command
    part_type, document_type : of what a part finds, and of the document
    always_draws : whether there is something to draw without ``--figures`` too
    version : of the method, if another version may find something else
    jobs : how many parts may be done at the same time, in threads
    """

    request_type: ClassVar[type[Any]]
    part_type: ClassVar[Any] = dict
    document_type: ClassVar[Any] = dict
    always_draws: bool = False
    version: str = ""
    jobs: int = 1

    def __init__(self, request: R, *, figures: bool = False) -> None:
        """Resolve what the request names; UsageError if it, or `figures`, cannot be done."""
        self.request = request

    def __init_subclass__(cls) -> None:
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is Study:
                cls.request_type, cls.part_type, cls.document_type = get_args(base)

    def preview(self) -> Report | None:
        """Return what is printed instead of carrying the study out, None if it is carried out."""
        return None

    def parts(self) -> Sequence[str]:
        """Names of the parts, in the order in which they are done."""
        raise NotImplementedError

    def needs(self, part: str) -> Collection[str]:
        """Names of the parts that must be there before this one."""
        return ()

    def is_alone(self, part: str) -> bool:
        """Return whether nothing may be done at the same time."""
        return False

    def do(self, part: str, session: Session) -> P:
        """Return what a part finds.

        If it has an attribute `interrupted` that is true it counts in the document, and is done
        again when the study is resumed. If :meth:`Session.go_on` ends the part, nothing of it is
        kept.
        """
        raise NotImplementedError

    def is_done(self, part: str, found: P, session: Session) -> bool:
        """Return whether what is stored answers the request; if not, the part is done again."""
        return True

    def conclude(self, parts: list[P], session: Session) -> D:
        """Return the document from what the parts found so far, at first none."""
        raise NotImplementedError

    def report(self, document: D) -> Report:
        """Return the tables of a document."""
        assert isinstance(document, Document)
        return document.tables()

    def draw(self, folder: Path, document: D) -> Iterable[Drawn]:
        """Yield figures by names of their files, what to say of missing ones, and own files."""
        assert isinstance(document, Document)
        for name, panels in document.series().items():
            yield name, call("eqbench.plots.style:draw_figure", panels, 6, 3.5 * len(panels))

    def ending(self, document: D) -> tuple[int, str]:
        """Return the exit code, and why the study has stopped if it can be resumed."""
        return 0, ""

    def slug(self) -> str:
        """End of the name of a new folder."""
        game = getattr(self.request, "game", "")
        return f"{self.request.command}-{game_slug(game)}" if game else self.request.command


class _Manifest(TypedDict):
    schema: Literal["eqbench.study/1"]
    study: str
    created: str
    version: NotRequired[str]
    request: dict[str, Any]


class _Line(Struct, frozen=True):
    part: str
    record: Raw
    checksum: int


class _Here(Executor):
    """Does what is submitted at once, in this thread, which signals and compiled code may need."""

    def submit(self, do: Callable[..., Any], /, *given: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(do(*given, **options))
        except BaseException as error:
            future.set_exception(error)
        return future


@dataclass
class StudyFolder:
    """The folder of a study: its request, what its parts found, its document.

    Attributes
    ----------
    note : what is damaged and left out, if anything is
    finished : whether all parts are there, and none was interrupted
    """

    path: Path
    records: dict[str, Any] = field(default_factory=dict)
    version: str = ""
    created: str = ""
    note: str | None = None
    finished: bool = True

    @classmethod
    def create(cls, study: Study[Any, Any, Any], path: Path | None) -> StudyFolder:
        """New folder, named after time and study unless `path` is given, or UsageError."""
        folder = cls(path or new_run_path(Path("results"), study.slug()), version=study.version)
        new_folder(folder.path)
        folder.note_request(study)
        return folder

    @property
    def was_begun(self) -> bool:
        """True if it is there from before, so that the study resumes."""
        return bool(self.created or self.records)

    def note_request(self, study: Study[Any, Any, Any]) -> None:
        """Write the present request, with which the study is resumed."""
        request = to_data(study.request, kept=True)
        if "plugin" in request:
            request["plugin"] = absolute_files(request["plugin"])
        manifest = _Manifest(
            schema=SCHEMA,
            study=study.request.command,
            created=self.created or datetime.now(UTC).isoformat(timespec="seconds"),
            version=self.version,
            request=request,
        )
        write_texts(self.path, {MANIFEST: f"{json.dumps(manifest, indent=2)}\n"})

    def carry_out(self, study: Study[R, P, D], session: Session) -> D:
        """Do the parts that are missing, and return the document.

        Each is kept and the summary rewritten as soon as it is there, so a break loses one at
        most. UsageError if a part finds what is not of its type, StoreError if the folder can no
        longer be written; and what the parts raise.
        """
        session = replace(session, again=self.was_begun, found=self.records)
        missing = self._missing(study, session)
        document = self.summarize(study, session, len(missing))
        total, running = len(missing), dict[Future[P], str]()

        def do(part: str, session: Session) -> P:
            session.go_on(part)
            return study.do(part, session)

        with _Here() if study.jobs == 1 else ThreadPoolExecutor(study.jobs) as pool:
            while missing or running:
                for part in list(missing):
                    alone = any(map(study.is_alone, (part, *running.values())))
                    waits = {*study.needs(part)} & {*missing, *running.values()}
                    if len(running) == study.jobs or waits or (alone and running):
                        continue
                    if session.interrupted():
                        self.finished = False
                        missing.clear()
                        break
                    missing.remove(part)
                    number = total - len(missing) - len(running) - 1
                    running[pool.submit(do, part, session.part_of(number, total))] = part
                for future in wait(running, _SLICE_S, return_when=FIRST_COMPLETED).done:
                    part = running.pop(future)
                    try:
                        self.keep(part, future.result(), study.part_type)
                    except KeyboardInterrupt:
                        if not session.interrupted():
                            raise
                        self.finished = False
                        missing.clear()
                        continue
                    document = self.summarize(study, session, len(missing) + len(running))
        return document

    def _missing(self, study: Study[R, P, D], session: Session) -> list[str]:
        """Return the parts that are to be done, also those that need one that is."""
        needs, missing = {part: study.needs(part) for part in study.parts()}, set[str]()
        for part in TopologicalSorter(needs).static_order():
            found = self.records.get(part)
            whole = found is not None and _is_whole(found) and not missing & {*needs[part]}
            if not whole or not study.is_done(part, self.records[part], session):
                missing.add(part)
        return [part for part in needs if part in missing]

    @classmethod
    def open(cls, kind: type[Study[R, P, D]], path: Path) -> tuple[StudyFolder, R]:
        """The folder of a study that was begun, with its request; UsageError if it is none."""
        file, command = path / MANIFEST, kind.request_type.command
        try:
            manifest = decode(read_file(file), _Manifest, "the manifest")
            if manifest["study"] != command:
                raise UsageError(f"{path} holds a study of `eqbench {manifest['study']}`")
            request: R = from_data(kind.request_type, manifest["request"], str(file))
            reader = LineReader(path / RECORDS, partial(_record, kind.part_type))
            records = dict(reader.new())
        except FileNotFoundError:
            raise UsageError(
                f"{path} holds no study: there is no {MANIFEST} in it; name a folder that "
                f"`eqbench {command}` wrote, for example one below results/"
            ) from None
        except (OSError, DocumentError) as error:
            raise UsageError(f"cannot read {path}: {error}; begin the study again") from None
        created, version = manifest["created"], manifest.get("version", "")
        return cls(path, records, version, created, reader.note()), request

    def ending(self, study: Study[Any, Any, D], document: D) -> tuple[int, str]:
        """Return the exit code, and why the study has stopped: also if it does not say so."""
        code, stopped = study.ending(document)
        return (code, stopped) if self.finished or stopped else (INTERRUPTED, "interrupted")

    def draw(self, study: Study[Any, Any, D], document: D) -> Iterator[Path | str]:
        """Write the figures of a study; yield the files, and what to say of missing ones."""
        save = "eqbench.plots.style:save_both", self.path / FIGURES
        try:
            with needed_for("a figure"):
                for drawn in study.draw(self.path, document):
                    yield from call(*save, *drawn) if isinstance(drawn, tuple) else [drawn]
        except MissingPackageError as error:
            yield f"figures are left out: {error}"

    def discard(self) -> None:
        """Remove the folder if nothing was found yet, so that it can be used again."""
        files = list(self.path.iterdir())
        if all(file.name in (MANIFEST, SUMMARY) for file in files):
            remove_files(self.path, (MANIFEST, SUMMARY))

    def keep(self, part: str, found: Any, kind: Any) -> None:
        """Append what a part found; UsageError if it is not of its type, or StoreError."""
        what = f"what the part {part!r} found"
        record = Raw(_json(found, what).encode())
        try:
            self.records[part] = decode(bytes(record), kind, what)  # as it is read on resume
            line = _Line(part, record, _checksum(part, record))
            append_line(self.path / RECORDS, msgspec.json.encode(line))
        except DocumentError as error:
            raise UsageError(f"{error}; `do` must return what the study declares") from None
        except OSError as error:
            raise StoreError(
                f"cannot write to {self.path}: {error}; make room and continue with --resume"
            ) from None

    def summarize(self, study: Study[R, P, D], session: Session, left: int) -> D:
        """Write the document of what is there so far, with so many parts left; return it."""
        parts = study.parts()
        found = [self.records[part] for part in parts if part in self.records]
        self.finished = not left and all(map(_is_whole, found))
        document = study.conclude(found, replace(session, finished=self.finished))
        texts = {SUMMARY: f"{_json(document, 'the document', indent=2)}\n"}
        if isinstance(document, Document) and (rows := document.rows()):
            texts[f"{study.request.command}.csv"] = csv_of(rows, getattr(document, "players", ()))
        write_texts(self.path, texts)
        return document


def _is_whole(found: Any) -> bool:
    interrupted = found.get if isinstance(found, dict) else partial(getattr, found)
    return not interrupted("interrupted", False)


def new_folder(path: Path) -> None:
    """Make the folder of a study; UsageError if it holds anything, or cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(f"{path} is not empty; choose a new or an empty folder with --out")
    except OSError as error:
        raise UsageError(
            f"cannot write to {path}: {error.strerror}; choose another folder with --out"
        ) from None


@contextmanager
def held(folder: Path, command: str) -> Iterator[None]:
    """Keep other processes out of a folder while the block runs.

    UsageError if one is at work in it, or it cannot be opened. Windows locks no folder.
    """
    if not LOCKS_FOLDERS:
        yield
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | OPEN_FLAGS)
    except OSError as error:
        raise UsageError(f"cannot open {folder}: {error.strerror}; give another folder") from None
    try:
        lock_file(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(
            f"another eqbench {command} runs in {folder}; wait for it, or end it first"
        ) from None
    except OSError as error:
        if error.errno not in (*NO_LOCKS, errno.EBADF):  # NFS locks no folder
            os.close(descriptor)
            raise
    try:
        yield
    finally:
        os.close(descriptor)  # the system does so too, however the process ends


def answer(study: Study[R, P, D], **watch: Any) -> D:
    """Document of a study of which nothing is kept; `watch` are `tell` and `done` of a session."""
    with TemporaryDirectory(prefix="eqbench-") as scratch:
        folder = Path(scratch)
        return StudyFolder(folder).carry_out(study, Session(folder, keeps=False, **watch))


def with_changes(request: R, changes: Mapping[str, Any]) -> R:
    """The request of a resumed study with what was given again, by names of options.

    UsageError if something differs that must stay as it was begun.
    """
    before, together = to_data(request), set(request.together)
    if together & changes.keys():
        before = {name: value for name, value in before.items() if name not in together}
    for each in fields_of(type(request)):
        name, kept = each.name, before.get(each.name)
        fixed = not (each.option.extends or each.option.once)
        if fixed and name in changes and changes[name] != kept:
            raise UsageError(
                f"this study was begun with --{name} {shown(kept)}, now it is "
                f"{shown(changes[name])}; leave the option out, or begin a new study"
            )
    return from_data(type(request), before | dict(changes))


def legend(name: str, **figures: Any) -> str:
    """The note below a table, as ``legends.toml`` has it under `name`, with these figures."""
    texts = tomllib.loads(read_file(Path(__file__).with_name("legends.toml")).decode())
    study, _, key = name.partition(".")
    return str(texts[study][key]).format(**figures)


def _marked(row: ProfileRow) -> str:
    return small(row.max_regret) + ("" if getattr(row, "is_equilibrium", True) else " !")


def _name(row: Any) -> str | None:
    return identity_text(getattr(row, "identity", None)) or None


class ProfileRow(Struct, frozen=True, kw_only=True):
    """A profile as the verifier sees it; ! marks one whose `is_equilibrium` is false."""

    payoffs: Annotated[list[float], Column("u:{}", "payoff", layout="+z.6f")]
    max_regret: Annotated[float, Column(kind="number", of=_marked)]


# type of a field `identity`, shown as a name
Identified = Annotated[IdentityRecord | None, Column("identity", of=_name)]


def call(target: str, *arguments: Any) -> Any:
    """Call what is named ``module:function``, imported now; so studies reach their figures."""
    return pkgutil.resolve_name(target)(*arguments)


def shown(value: Any) -> str:
    """A value of an option as it is typed."""
    if isinstance(value, list | dict):  # of what was read from a file its name
        return " ".join(map(shown, value)) or "none"
    return "none" if value is None else str(value)


def _json(value: Any, what: str, indent: int | None = None) -> str:
    """JSON text of what a study has made; UsageError if there is none."""
    try:
        return json.dumps(to_builtins(value), indent=indent, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{what} is not JSON: {error}; a study returns texts, finite numbers, lists, "
            "dictionaries and structs of them"
        ) from None


def _checksum(part: str, record: Raw) -> int:
    return zlib.crc32(part.encode() + b"\n" + bytes(record))


def _record(kind: Any, line: bytes) -> tuple[str, Any]:
    """Part and what it found, of a line; DocumentError if it is not as it was written."""
    found = decode(line, _Line, "the record")
    if found.checksum != _checksum(found.part, found.record):
        raise DocumentError("the record is not as it was written")
    return found.part, decode(bytes(found.record), kind, "the record")


def study_of_file(path: str) -> type[Study[Any, Any, Any]]:
    """Return the study that a file defines; UsageError unless it can be run and defines one."""
    module = import_plugin(path, what="study")
    classes = [item for item in vars(module).values() if isinstance(item, type)]
    found = [c for c in classes if issubclass(c, Study) and c.__module__ == module.__name__]
    if len(found) != 1:
        names = ", ".join(item.__name__ for item in found)
        raise UsageError(
            f"{path} defines {f'several studies ({names}); keep one' if found else 'no study'}; "
            "a study is a class derived from eqbench.studies.frame.Study"
        )
    return found[0]
