"""The folder of a run: what is written, and when."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast

from eqbench.documents import decode, decode_closed, read_file, size_text
from eqbench.errors import DocumentError, StoreError, UsageError, counted, first_of, nearest
from eqbench.spec import GAME_FILES, is_foreign, split_specs
from eqbench.store.json_lines import MOST_LINE_BYTES, LineReader, append_line
from eqbench.store.locks import NO_LOCKS, lock_byte, unlock_byte
from eqbench.store.schema import (
    CellRecord,
    Clusters,
    CompletenessRecords,
    HostRecord,
    Key,
    read_host,
    read_manifest,
)

CLAIMS, RUNNER = "claims", "runner.json"
LARGEST_OFFSET = 2**62
_PRESENT = LARGEST_OFFSET  # the byte behind those of all cells


class Claims:
    """Locks on the cells of a run, one byte of a file each.

    They are held by this process until released, and the system releases them when it ends,
    however it ends. Threads of one process are not kept apart. On a file system without locks
    the first runner leaves a file with its name instead, and others are refused.
    """

    def __init__(self, path: Path) -> None:
        """Raise a UsageError if another runner is at work and there are no locks to share by."""
        # opened once: closing any descriptor of the file would release all locks on it
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._runner: Path | None = None
        try:
            # fails where the file system has no locks
            lock_byte(self._descriptor, _PRESENT, shared=True)
        except OSError as error:
            try:
                if error.errno not in NO_LOCKS:
                    raise
                _become_only_runner(path.with_name(RUNNER))
            except BaseException:
                os.close(self._descriptor)
                raise
            self._runner = path.with_name(RUNNER)

    def take(self, key: str) -> bool:
        """Whether the cell is ours now; False if another process is at work on it."""
        if self._runner is not None:
            return True
        try:
            lock_byte(self._descriptor, _offset(key))
        except BlockingIOError:
            return False
        return True

    def release(self, key: str) -> None:
        """Give a cell up."""
        with contextlib.suppress(OSError):
            unlock_byte(self._descriptor, _offset(key))

    def close(self) -> None:
        """Give all cells up."""
        os.close(self._descriptor)
        if self._runner is not None:
            self._runner.unlink(missing_ok=True)


def refuse_second_runner(run: Path) -> None:
    """Raise a UsageError if a runner that cannot share it works on the run in a folder."""
    file = run / RUNNER
    if not file.exists():
        return
    try:
        runner = decode(read_file(file), dict[str, Any], str(file))
    except (OSError, DocumentError):  # it may be gone just now, or be written
        runner = {}
    host, process = runner.get("host", "unknown"), runner.get("process", "unknown")
    gone = host == socket.gethostname() and isinstance(process, int) and not _lives(process)
    raise UsageError(
        f"process {process} on {host} works on {run} since {runner.get('since', 'some time')}, and "
        "this file system has no locks, so only one runner may; "
        + ("it has ended, so " if gone else "wait until it has ended, or, if it has died, ")
        + f"remove {file} and try again; eqbench doctor --locks {run} checks the locks"
    )


def _become_only_runner(file: Path) -> None:
    """Leave a file that names this process, unless another one has."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    own = {"host": socket.gethostname(), "process": os.getpid(), "since": since}
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(json.dumps(own))
    except FileExistsError:
        refuse_second_runner(file.parent)
        raise UsageError(f"{file.parent} was just used by another runner; try again") from None


def _lives(process: int) -> bool:
    import psutil  # os.kill(process, 0) is Ctrl-C on Windows

    return 0 <= process < 2**31 and psutil.pid_exists(process)


def _offset(key: str) -> int:
    return int(key, 16) % LARGEST_OFFSET


T = TypeVar("T")

MANIFEST, LINES, INTERRUPTED = "manifest.json", "runs.jsonl", "interrupted.jsonl"
RESUMED, CLUSTERS = "resumed.jsonl", "clusters.json"
COMPLETENESS = "completeness.json"
EXPERIMENT, HOSTS = "manifest.toml", "hosts.jsonl"
FILES = (LINES, INTERRUPTED, MANIFEST, RESUMED, CLUSTERS, COMPLETENESS, EXPERIMENT, HOSTS)
PARTS = ("profiles", "traces", "logs")  # folders of the files that records name
FILE_OF_CELL = re.compile(r"\w+/.*-([0-9a-f]+)-[0-9a-f]{4}(-\d+)?\.(json|npz|txt)")  # by its key

# by which reports and drawings are known again: how they begin or end, or a line of a page
_BEGIN = [b"run,key,game,", b"run,game,solver,", b"eqbench matrix"]
_BEGIN += [b"% Needs \\usepackage", b"% \\input this file"]
_BEGIN += [b'<svg xmlns="http://www.w3.org/2000/svg" role="img" font-family="Helvetica']
MARKDOWN_END, TEXT_END = "<!-- written by eqbench -->\n", "(written by eqbench)\n"
PDF_END, PNG_MARK = f"\n% {TEXT_END}".encode(), b"tEXtSoftware\0eqbench"
_MOST_NEAR = 1000  # folders of runs whose names are compared
MOST_REPORT_BYTES = 2**30
PAGE_MARK = b'<meta name="generator" content="eqbench">'


def placed_spec(spec: str, runs: Iterable[Path]) -> str:
    """Spec of a game; one in a file that is not here by where these runs had it, or have it near.

    They name files from the folder in which they began, which may be another one now.
    """
    if not spec.lower().endswith(GAME_FILES) or Path(spec).is_file():
        return spec
    for folder in (run.absolute() for run in runs):
        files = [parent / spec for parent in folder.parents]
        with suppress(UsageError, OSError, ValueError, TypeError, AttributeError):
            plan = tomllib.loads(read_file(folder / EXPERIMENT).decode())
            texts = [
                text for part in (plan, *plan.get("part", ())) for text in part.get("game", ())
            ]
            own = (Path(each.strip('"')) for text in texts for each in split_specs(text))
            files += [file for file in own if file.name == Path(spec).name]
        if known := [str(file) for file in files if file.is_file()]:
            return f'"{known[0]}"' if "," in known[0] else known[0]
    return spec


def missing_game(spec: str, runs: Iterable[Path]) -> str:
    """Name of the file of a game that is not where `placed_spec` looks; empty of any other game."""
    placed = placed_spec(spec, runs)
    is_file = placed.lower().endswith(GAME_FILES)
    return Path(spec).name if is_file and not Path(placed).is_file() else ""


class _Keyed(TypedDict):
    key: Key


class RunFolder:
    """A run on disk: manifest, lines, and the folders ``profiles``, ``traces``, ``logs``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._notes: dict[str, str] = {}
        self._hosts: dict[str, HostRecord] = {}

    @classmethod
    def create(cls, path: Path, manifest: dict[str, Any], *, begun: bool = False) -> RunFolder:
        """New folder with its manifest; `begun` says that :meth:`begin` was called before.

        Raises
        ------
        UsageError
            If the folder holds a run already or cannot be written, or the plan is too large.
        """
        text = json.dumps(manifest, indent=2).encode()
        if len(text) > MOST_LINE_BYTES:
            raise UsageError(
                f"a plan of {counted(len(manifest['cells']), 'cell')} takes more than "
                f"{size_text(MOST_LINE_BYTES)}; ask for fewer games, solvers or seeds"
            )
        folder = cls(path) if begun else cls.begin(path)
        try:
            with reported(path / MANIFEST):
                write_file(path / MANIFEST, text, new=True)
        except FileExistsError:
            raise _occupied(path) from None
        except StoreError as error:
            raise UsageError(str(error)) from None
        return folder

    @classmethod
    def begin(cls, path: Path) -> RunFolder:
        """New folder without its manifest, so that it is no run yet; otherwise as `create`."""
        try:
            _make_folders(path)
        except FileExistsError:
            raise _occupied(path) from None
        except StoreError as error:
            raise UsageError(str(error)) from None
        if (path / MANIFEST).exists():
            raise _occupied(path)
        there = [name for name in FILES if os.path.lexists(path / name)]
        if there:
            raise UsageError(
                f"{path} holds {first_of(there)} and no run; move that away, or choose another "
                "folder with --out"
            )
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Existing folder; nothing in it is changed or read.

        Raises
        ------
        UsageError
            If there is no run in the folder.
        """
        if not (path / MANIFEST).is_file():
            near = islice(path.absolute().parent.glob(f"*/{MANIFEST}"), _MOST_NEAR)
            known = [file.parent.name for file in near]
            hint = "name a folder that `eqbench run` wrote, for example one below results/"
            raise UsageError(
                f"{path} holds no run: there is no {MANIFEST} in it; "
                f"{nearest(path.name, known, hint) if known else hint}"
            )
        return cls(path)

    # -- plan and machines ---------------------------------------------------------------------

    @property
    def manifest(self) -> dict[str, Any]:
        """The plan with which the run began.

        Raises
        ------
        UsageError
            If it cannot be read, or is of another version.
        """
        file = self.path / MANIFEST
        try:
            return read_manifest(read_file(file, MOST_LINE_BYTES), str(file))
        except DocumentError as error:
            raise UsageError(f"{error}; restore the file, or name another run") from None
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}") from None

    @property
    def plan(self) -> dict[str, Any]:
        """The plan of now: the manifest, or that of the last resumption."""
        manifest = self.manifest
        plans = self.lines(LineReader(self.path / RESUMED, read_manifest))
        return plans[-1] if plans else manifest

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, when it was last read, because it is damaged; in sentences."""
        return tuple(self._notes.values())

    def resumed(self, manifest: dict[str, Any]) -> None:
        """Note that the run is resumed, with the requests and in the environment of `manifest`.

        Raises
        ------
        UsageError
            If another runner is at work and the file system has no locks to share the run by.
        """
        refuse_second_runner(self.path)
        with reported(self.path / RESUMED):
            append_line(self.path / RESUMED, json.dumps(manifest).encode())

    def note_host(self, facts: Mapping[str, Any]) -> None:
        """Note what machine cells ran on, once for each; `host` is its name in their records."""
        if facts["host"] not in self._hosts and facts["host"] not in self.hosts():
            with reported(self.path / HOSTS):
                append_line(self.path / HOSTS, json.dumps(facts).encode())
            self._hosts[facts["host"]] = cast("HostRecord", facts)

    def hosts(self, needed: Iterable[str] | None = None) -> dict[str, HostRecord]:
        """Machines on which cells ran, by their names in records, as last noted.

        The file is not read if all that are `needed` are known.
        """
        if needed is None or not self._hosts.keys() >= {*needed}:
            self._hosts |= {
                facts["host"]: facts
                for facts in self.lines(LineReader(self.path / HOSTS, read_host))
            }
        return self._hosts

    def claims(self) -> Claims:
        """Locks on cells, for runners that share this folder; it is made ready for them.

        Raises
        ------
        StoreError
            If the folder cannot be written.
        UsageError
            If another runner is at work and the file system has no locks to share the run by.
        """
        try:
            _make_folders(self.path)
        except FileExistsError:
            raise StoreError(
                f"cannot write results to {self.path}: there is a file where its folders were; "
                "move it away and use --resume, or choose another folder with --out"
            ) from None
        with reported(self.path / CLAIMS):
            return Claims(self.path / CLAIMS)

    # -- cells and their files -----------------------------------------------------------------

    def write(self, name: str, data: str | bytes) -> str:
        """Write a file whole and return its path relative to the run.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        with reported(self.path / name):
            write_file(self.path / name, data if isinstance(data, bytes) else data.encode())
        return name

    def append(self, record: CellRecord, reader: LineReader[CellRecord] | None = None) -> None:
        """Append a cell, as one line in one write; an interrupted one to a file of its own.

        A `reader` of new cells does not read this line again.

        Raises
        ------
        StoreError
            If the folder cannot be written.
        DocumentError, ValueError
            If the record is too long, or holds a number that is NaN or infinite; then nothing is
            written.
        """
        line, is_finished = record.to_line(), record.status != "interrupted"
        path = self.path / (LINES if is_finished else INTERRUPTED)
        with reported(path):
            written = append_line(path, line)
        if reader is not None and is_finished:
            reader.skip(*written)

    def cells(self) -> list[CellRecord]:
        """Finished cells in the order in which they ended; of a repeated one the last try."""
        return self._records(LINES)

    def finished_keys(self) -> set[str]:
        """Keys of the finished cells, which takes much less time than the cells."""
        keys = LineReader(self.path / LINES, lambda line: decode(line, _Keyed, "the record")["key"])
        return set(self.lines(keys))

    def all_cells(self, *, derived: bool = True) -> list[CellRecord]:
        """Finished cells, after those that were interrupted and have not finished.

        `derived` says whether they have the names that were found by comparing cells.
        """
        # in this order: a cell may finish just now
        interrupted, finished = (
            self._records(name, derived=derived) for name in (INTERRUPTED, LINES)
        )
        keys = {record.key for record in finished}
        return [*(record for record in interrupted if record.key not in keys), *finished]

    def _records(self, name: str, *, derived: bool = True) -> list[CellRecord]:
        records: dict[str, CellRecord] = {}
        clusters = self.clusters() if derived else {}
        for record in self.lines(LineReader(self.path / name, CellRecord.of_line)):
            records.pop(record.key, None)
            records[record.key] = record.with_clusters(clusters) if clusters else record
        return list(records.values())

    # -- what follows from the cells -----------------------------------------------------------

    def clusters(self) -> Clusters:
        """Identities that were found by comparing cells, by the paths of profiles."""
        return self._derived(CLUSTERS, Clusters)

    def completeness(self) -> CompletenessRecords:
        """What indices say about the equilibria of each game, by its content."""
        return self._derived(COMPLETENESS, CompletenessRecords)

    def write_derived(self, clusters: Clusters, verdicts: CompletenessRecords) -> None:
        """Write what follows from the cells, in place of what was written before."""
        for name, document in ((CLUSTERS, clusters), (COMPLETENESS, verdicts)):
            self.write(name, json.dumps(document, indent=1, allow_nan=False))

    def lines(self, reader: LineReader[T]) -> list[T]:
        """Lines that are new to a reader of this folder; there is a note on what is damaged."""
        try:
            values, note = list(reader.new()), reader.note()
        except OSError as error:
            values, note = [], f"cannot read {reader.path}: {error.strerror}"
        self._note(reader.path.name, note)
        return values

    def _derived(self, name: str, kind: type[T]) -> T:
        """A document, a dictionary, that was derived from the cells; empty if it cannot be read."""
        file, note = self.path / name, None
        try:
            found = decode_closed(read_file(file), kind, str(file))
        except FileNotFoundError:
            found = kind()
        except OSError as error:
            found, note = kind(), f"cannot read {file}: {error.strerror}"
        except DocumentError as error:
            found, note = kind(), str(error)
        self._note(name, note and f"{note}; eqbench run --resume {self.path} writes it again")
        return found

    def _note(self, name: str, note: str | None) -> None:
        """Keep what is wrong with a file."""
        self._notes.pop(name, None)
        if note is not None:
            self._notes[name] = note


def new_run_path(root: Path, slug: str) -> Path:
    """``<root>/<UTC time>-<slug>``, created; a number is added if another run took the name.

    Raises
    ------
    UsageError
        If it cannot be created.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    places = (root / name for name in numbered(f"{stamp}-{file_name(slug)[:60]}"))
    while True:
        path = next(places)
        try:
            root.mkdir(parents=True, exist_ok=True)  # a file of this name is no run of the name
            with suppress(FileExistsError):
                path.mkdir()
                return path
        except OSError as error:
            raise UsageError(
                f"cannot write results to {root}: {error.strerror}; choose a writable folder with "
                "--out"
            ) from None


def numbered(name: str) -> Iterator[str]:
    """Yield a name, and then the same with numbers from 2 on."""
    return chain([name], (f"{name}-{number}" for number in count(2)))


def game_slug(game: str) -> str:
    """A game as part of a folder's name: of the path of a game file only the last part."""
    text = game.strip("'\" ")
    return Path(text).name if is_foreign(text) else game


def _occupied(path: Path) -> UsageError:
    return UsageError(
        f"{path} already holds a run, or a file of that name; choose another folder with --out, or "
        f"go on with that run by --resume {path}"
    )


def file_name(text: str) -> str:
    """Letters, digits, dots and dashes of a text, fit for a file name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "run"


def _make_folders(path: Path) -> None:
    for part in PARTS:
        with reported(path):
            (path / part).mkdir(parents=True, exist_ok=True)


def is_report(file: Path) -> bool:
    """Return whether a file, no link, is empty or a report or drawing as eqbench wrote it."""
    if file.is_symlink():
        return False
    data, ends = read_file(file, MOST_REPORT_BYTES), (MARKDOWN_END.encode(), TEXT_END.encode())
    return (
        not data
        or data.startswith((*_BEGIN,))
        or data.endswith(ends)
        or PAGE_MARK in data
        or PNG_MARK in data[:99]
    )


def check_replaceable(file: Path) -> None:
    """Raise a UsageError if a file is there that is not empty and no report or drawing of ours."""
    if file.is_file() and not is_report(file):
        raise UsageError(
            f"{file} is there and no report of eqbench; move it away, or choose another place"
        )


def write_file(path: Path, data: bytes | Iterable[bytes], *, new: bool = False) -> None:
    """Put a whole file in place, or nothing; FileExistsError if it must be new and is not."""
    # several runners may write the same file, and one of them may be killed at any moment
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with open(draft, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(draft, path)
        else:
            os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except FileExistsError:
        raise
    except FileNotFoundError:
        raise StoreError(
            f"cannot write results to {path}: its folder was removed; go on with --resume, or, "
            "if nothing of it is left, run the command again or choose another folder with --out"
        ) from None
    except OSError as error:
        raise StoreError(
            f"cannot write results to {path}: {error.strerror}; free some space or make the folder "
            "writable and go on with --resume, or choose another folder with --out"
        ) from None


def write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write texts into a folder by names of files, which are returned; StoreError if one cannot."""
    files = [folder / name for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        with reported(file):
            file.parent.mkdir(exist_ok=True)
            write_file(file, text.encode())  # whole, however the process ends
    return files
