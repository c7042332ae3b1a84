"""The frame of a study: a request, its parts one after another, a folder, a summary.

A study is a class with a request, and methods that say into which parts its work falls, what a
part finds, and how the summary, its tables and its figures come from that. The frame keeps what
each part found as a line of a file as soon as it is there, so an interrupted study resumes
with what is missing.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pkgutil
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Generic, Literal, NotRequired, TypedDict, TypeVar

from eqbench.documents import decode, read_file, remove_files
from eqbench.errors import INTERRUPTED, DocumentError, StoreError, UsageError
from eqbench.plugins import absolute_files, import_plugin
from eqbench.report.naming import identity_text
from eqbench.report.rows import Column, Report
from eqbench.requests import fields_of, from_data, to_data
from eqbench.store.json_lines import NO_LOCKS, LineReader, append_line
from eqbench.store.run_folder import game_slug, new_run_path, write_texts
from eqbench.studies.requests import StudyCommand
from eqbench.text import small

MANIFEST, RECORDS, SUMMARY, FIGURES = "manifest.json", "records.jsonl", "summary.json", "figures"
SCHEMA: Literal["eqbench.study/1"] = "eqbench.study/1"
R = TypeVar("R", bound=StudyCommand)
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
    tell : say in a few words how far the work has come
    done : say which share of the part is done, where that is known
    say : say a sentence that stays
    again : whether the study is resumed, so that a part may have left something here before
    keeps : whether the folder stays when the work is done
    """

    folder: Path
    interrupted: Callable[[], bool] = lambda: False
    tell: Callable[[str], None] = lambda words: None
    done: Callable[[float], None] = lambda share: None
    say: Callable[[str], None] = lambda words: None
    keeps: bool = True
    again: bool = False

    def part_of(self, number: int, total: int) -> Session:
        """The session of one of several parts, of which `number` are done."""
        if total > 1:
            self.done(number / total)
        return replace(self, done=lambda share: self.done((number + share) / total))

    def go_on(self, words: str = "") -> None:
        """Say what is done next; KeyboardInterrupt if nothing more shall be done."""
        if self.interrupted():
            raise KeyboardInterrupt
        if words:
            self.tell(words)


class Study(Generic[R]):
    """A question that is answered part by part; the base of all studies.

    Attributes
    ----------
    request_type : its request; it has the name of the command
    always_draws : whether there is something to draw without ``--figures`` too
    version : of the method, if another version may find something else
    """

    request_type: ClassVar[type[Any]]
    always_draws: bool = False
    version: str = ""

    def __init__(self, request: R, *, figures: bool = False) -> None:
        """Resolve what the request names; UsageError if it, or `figures`, cannot be done."""
        self.request = request

    @classmethod
    def folder_type(cls) -> type[StudyFolder]:
        """Return how its folder is written and read."""
        return StudyFolder

    def preview(self) -> Report | None:
        """Return what is printed instead of carrying the study out, None if it is carried out."""
        return None

    def parts(self) -> Sequence[str]:
        """Names of the parts, in the order in which they are done."""
        raise NotImplementedError

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Return what a part finds, as JSON values.

        A record with ``"interrupted": true`` counts in the summary, and is done again when the
        study is resumed. If :meth:`Session.go_on` ends the part, nothing of it is kept.
        """
        raise NotImplementedError

    def is_done(self, part: str, record: Mapping[str, Any], folder: Path) -> bool:
        """Return whether a stored record answers the request; if not, the part is done again."""
        return not record.get("interrupted")

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
        """Return the document of the study from the records of its parts."""
        raise NotImplementedError

    def report(self, document: Mapping[str, Any]) -> Report:
        """Return the tables of such a document."""
        raise NotImplementedError

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Drawn]:
        """Yield figures by names of their files, what to say of missing ones, and own files."""
        raise NotImplementedError

    def ending(self, document: Mapping[str, Any]) -> tuple[int, str]:
        """Return the exit code, and why the study has stopped if it can be resumed."""
        return (0, "") if document.get("finished", True) else (INTERRUPTED, "interrupted")

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


class _Line(TypedDict):
    part: str
    record: dict[str, Any]
    checksum: int


@dataclass
class StudyFolder:
    """The folder of a study: its request, what its parts found, its summary.

    Attributes
    ----------
    note : what is damaged and left out, if anything is
    finished : whether all parts are there, and none was interrupted
    """

    path: Path
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    version: str = ""
    created: str = ""
    note: str | None = None
    finished: bool = True

    @classmethod
    def create(cls, study: Study[Any], path: Path | None) -> StudyFolder:
        """New folder, named after time and study unless `path` is given, or UsageError."""
        folder = cls(path or new_run_path(Path("results"), study.slug()), version=study.version)
        new_folder(folder.path)
        folder.note_request(study)
        return folder

    @property
    def was_begun(self) -> bool:
        """True if it is there from before, so that the study resumes."""
        return bool(self.created or self.records)

    def note_request(self, study: Study[Any]) -> None:
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

    def carry_out(self, study: Study[Any], session: Session) -> dict[str, Any]:
        """Do the parts that are missing, and return the summary.

        Each is kept and the summary rewritten as soon as it is there, so a break loses one at
        most. UsageError if a part finds what is not JSON, StoreError if the folder can no longer
        be written; and what the parts raise.
        """
        session = replace(session, again=self.was_begun)
        document = self.summarize(study)
        missing = [
            part
            for part in study.parts()
            if (record := self.records.get(part)) is None
            or not study.is_done(part, record, self.path)
        ]
        for number, part in enumerate(missing):
            try:
                session.go_on(part)
                found = study.do(part, session.part_of(number, len(missing)))
            except KeyboardInterrupt:
                if not session.interrupted():
                    raise
                self.finished = False
                break
            self.keep(part, found)
            document = self.summarize(study)
        return document

    @classmethod
    def open(cls, kind: type[Study[R]], path: Path) -> tuple[StudyFolder, R]:
        """The folder of a study that was begun, with its request; UsageError if it is none."""
        file, command = path / MANIFEST, kind.request_type.command
        try:
            manifest = decode(read_file(file), _Manifest, "the manifest")
            if manifest["study"] != command:
                raise UsageError(f"{path} holds a study of `eqbench {manifest['study']}`")
            request: R = from_data(kind.request_type, manifest["request"], str(file))
            reader = LineReader(path / RECORDS, _record)
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

    def ending(self, study: Study[Any], document: Mapping[str, Any]) -> tuple[int, str]:
        """Return the exit code, and why the study has stopped: also if it does not say so."""
        code, stopped = study.ending(document)
        return (code, stopped) if self.finished or stopped else (INTERRUPTED, "interrupted")

    def draw(self, study: Study[Any], document: Mapping[str, Any]) -> Iterator[Path | str]:
        """Write the figures of a study; yield the files, and what to say of missing ones."""
        for drawn in study.draw(self.path, document):
            save = "eqbench.plots.style:save_both", self.path / FIGURES
            yield from call(*save, *drawn) if isinstance(drawn, tuple) else [drawn]

    def discard(self) -> None:
        """Remove the folder if nothing was found yet, so that it can be used again."""
        files = list(self.path.iterdir())
        if all(file.name in (MANIFEST, SUMMARY) for file in files):
            remove_files(self.path, (MANIFEST, SUMMARY))

    def keep(self, part: str, record: dict[str, Any]) -> None:
        """Append the record of a part; UsageError if it is no JSON object, or StoreError."""
        what = f"what the part {part!r} found"
        text = _json(record, what)
        if not isinstance(record, dict):
            raise UsageError(f"{what} is {type(record).__name__}; it must be a dictionary")
        line = json.dumps({"part": part, "record": record, "checksum": _checksum(part, text)})
        try:
            append_line(self.path / RECORDS, line.encode())
        except (OSError, DocumentError) as error:
            raise StoreError(
                f"cannot write to {self.path}: {error}; make room and continue with --resume"
            ) from None
        self.records[part] = json.loads(text)  # as it is read on resume

    def summarize(self, study: Study[Any]) -> dict[str, Any]:
        """Write the summary of what is there so far, and return it."""
        parts = study.parts()
        found = [self.records[part] for part in parts if part in self.records]
        whole = not any(record.get("interrupted") for record in found)
        self.finished = len(found) == len(parts) and whole
        document = study.summary(found, finished=self.finished)
        write_texts(self.path, {SUMMARY: f"{_json(document, 'the summary', indent=2)}\n"})
        return document


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

    UsageError if one is at work in it, or it cannot be opened.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"cannot open {folder}: {error.strerror}; give another folder") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
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


def answer(study: Study[Any], **watch: Any) -> dict[str, Any]:
    """Summary of a study of which nothing is kept; `watch` are `tell` and `done` of a session."""
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


def profile_columns(players: Sequence[str]) -> tuple[Column, ...]:
    """Columns for profiles as the verifier sees them: payoffs, max regret, identity."""
    payoffs = (Column(f"u:{player}", "payoff", layout="+z.6f") for player in players)
    return (*payoffs, Column("max regret", "number"), Column("identity"))


def profile_values(profile: Mapping[str, Any], players: Sequence[str]) -> dict[str, Any]:
    """Values for these columns; ! marks a regret that no equilibrium has."""
    mark = "" if profile.get("is_equilibrium", True) else " !"
    return {
        **{f"u:{p}": value for p, value in zip(players, profile["payoffs"], strict=True)},
        "max regret": small(profile["max_regret"]) + mark,
        "identity": identity_text(profile.get("identity")) or None,
    }


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
        return json.dumps(value, indent=indent, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{what} is not JSON: {error}; a study returns texts, finite numbers, lists and "
            "dictionaries of them"
        ) from None


def _checksum(part: str, text: str) -> int:
    return zlib.crc32(f"{part}\n{text}".encode())


def _record(line: bytes) -> tuple[str, dict[str, Any]]:
    """Part and record of a line; DocumentError if it is not as it was written."""
    found = decode(line, _Line, "the record")
    if found["checksum"] != _checksum(found["part"], json.dumps(found["record"])):
        raise DocumentError("the record is not as it was written")
    return found["part"], found["record"]


def study_of_file(path: str) -> type[Study[Any]]:
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
