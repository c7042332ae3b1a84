"""A trace on disk: its request, its points, and a checkpoint from which it goes on exactly."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint
from eqbench.documents import Count, Seconds, convert, decode, decode_closed, open_file, read_file
from eqbench.errors import DocumentError, StoreError, UsageError
from eqbench.model.tree import GameTree
from eqbench.store.array_archive import read_arrays
from eqbench.studies.branch import columns
from eqbench.studies.trace.request import StoredRequest, TraceRequest

# `arrived`: left the range of the parameter. The last three go on when they are resumed.
Outcome = Literal["arrived", "stalled", "points", "time", "interrupted"]

# a thousand crossings of a game with ten thousand actions take some hundred MiB
MOST_CHECKPOINT_BYTES = 2**30
_STATE = "state."
# Fields that hold points; all others are plain JSON.
_POINTS = frozenset({"last", "crossings", "still"})


class Crossed(TypedDict):
    """A point just before which another curve crosses."""

    parameter: float
    payoffs: list[float]


class Fold(Crossed):
    """A point where the parameter turns around; `exact` if without regularization."""

    exact: bool


class Corner(TypedDict):
    """Labels of the actions whose role changes somewhere."""

    parameter: float
    enter: list[str]
    leave: list[str]


class _Plain(TypedDict):
    """The fields of a progress that are plain JSON."""

    lost: list[Count]
    still_at: list[tuple[Count, Seconds]]
    arclength: Seconds
    points: Count
    size: Count
    checksum: Count
    folds: list[Fold]
    turns: list[tuple[Count, float]]
    branch_points: list[Crossed]
    corners: list[Corner]
    statistics: dict[str, int]
    elapsed_s: Seconds
    cpu_s: Seconds
    outcome: Outcome
    reason: str


class _Scalars(TypedDict):
    """The fields of a point that are no arrays."""

    value: float
    direction: float
    event: Literal["", "branch point"]


@dataclass(eq=False)
class Progress:
    """What a trace has found so far; changes as it goes on.

    Attributes
    ----------
    last : BranchPoint
        The last point that is in the file of points.
    crossings : list of lists of BranchPoint
        By value of `TraceRequest.at`, in their order along the branch.
    still : list of BranchPoint
        Some of those between which the parameter hardly changes.
    lost : list of int
        By value of `TraceRequest.at`, how many crossings could not be computed.
    still_at : list of [int, float]
        Rows of the points in `still`, and the arclength up to them.
    arclength : float
        Up to the last point.
    points : int
        Number of points in the file.
    size, checksum : int
        Of the file of points, in bytes and as CRC-32.
    folds : list of Fold
    turns : list of [int, float]
        Row of the first point after each fold, and where the regularized branch turns; the fold
        of the equilibria lies a little to the side of it.
    branch_points : list of Crossed
    corners : list of Corner
    statistics : dict
        Of the continuation, summed over all processes that traced.
    elapsed_s, cpu_s : float
    outcome : Outcome
    reason : str
        Why the trace ended early, else empty.
    """

    last: BranchPoint
    crossings: list[list[BranchPoint]]
    still: list[BranchPoint] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    still_at: list[tuple[int, float]] = field(default_factory=list)
    arclength: float = 0.0
    points: int = 0
    size: int = 0
    checksum: int = 0
    folds: list[Fold] = field(default_factory=list)
    turns: list[tuple[int, float]] = field(default_factory=list)
    branch_points: list[Crossed] = field(default_factory=list)
    corners: list[Corner] = field(default_factory=list)
    statistics: dict[str, int] = field(default_factory=dict)
    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    outcome: Outcome = "interrupted"
    reason: str = ""

    @property
    def over(self) -> bool:
        """Whether the branch cannot go on: it has left the range, or was lost."""
        return self.outcome in ("arrived", "stalled")

    def to_bytes(self) -> bytes:
        """An archive of NumPy arrays."""
        arrays = {"last": _record(self.last)}
        for k, found in enumerate(self.crossings):
            arrays |= {f"crossing.{k}.{i}": _record(point) for i, point in enumerate(found)}
        arrays |= {f"still.{i}": _record(point) for i, point in enumerate(self.still)}
        plain = {k: v for k, v in self.__dict__.items() if k not in _POINTS}
        text = json.dumps(plain, allow_nan=False).encode()
        buffer = io.BytesIO()
        np.savez(buffer, progress=np.frombuffer(text, dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, request: TraceRequest) -> Progress:
        """What `to_bytes` wrote.

        Raises
        ------
        UsageError
            If the data are damaged.
        """
        try:
            arrays = read_arrays(data, MOST_CHECKPOINT_BYTES)
            plain = decode(arrays.pop("progress").tobytes(), _Plain, "its plain part")
            last = _point(arrays.pop("last"))
            still = [_point(arrays.pop(f"still.{i}")) for i in range(len(plain["still_at"]))]
            crossings = [list(_crossings(arrays, k)) for k in range(len(request.at))]
            if arrays or len(plain["lost"]) != len(request.at):
                raise ValueError("it belongs to another request")
            return cls(last, crossings, still, **plain)
        except (KeyError, ValueError, DocumentError) as error:
            raise UsageError(
                f"the checkpoint of this trace is damaged ({error}); trace the branch again"
            ) from None


def _record(point: BranchPoint) -> NDArray:
    """A point as one record of a structured array."""
    plain = {f.name: getattr(point, f.name) for f in fields(point) if f.name != "state"}
    stored = plain | {_STATE + name: array for name, array in point.state.items()}
    arrays = {name: np.asarray(value) for name, value in stored.items()}
    record = np.zeros((), [(name, array.dtype, array.shape) for name, array in arrays.items()])
    for name, array in arrays.items():
        record[name] = array
    return record


def _crossings(arrays: dict[str, NDArray], k: int) -> Iterator[BranchPoint]:
    """The crossings of one value, which are taken out."""
    for i in count():
        record = arrays.pop(f"crossing.{k}.{i}", None)
        if record is None:
            return
        yield _point(record)


def _point(record: NDArray) -> BranchPoint:
    """The point that `_record` was given; ValueError or DocumentError if there is none."""
    if record.ndim:
        raise ValueError("a point is no single record")
    stored = {name: record[name] for name in record.dtype.names or ()}
    state = {
        name.removeprefix(_STATE): stored.pop(name)
        for name in list(stored)
        if name.startswith(_STATE)
    }
    behavior, played = (np.asarray(stored.pop(name, None)) for name in ("behavior", "played"))
    if (behavior.dtype.kind, played.dtype.kind) != ("f", "b") or behavior.shape != played.shape:
        raise ValueError("the frequencies of a point are not what they should be")
    if behavior.ndim != 1 or not np.isfinite(behavior).all():
        raise ValueError("the frequencies of a point are not finite numbers in a row")
    plain = {name: value.item() for name, value in stored.items() if not value.ndim}
    scalars = convert(plain, _Scalars, "a point")
    return BranchPoint(behavior=behavior, played=played, state=state, **scalars)


SCHEMA = "eqbench.trace/1"
REQUEST, POINTS, CHECKPOINT, SUMMARY = "trace.json", "points.csv", "checkpoint.npz", "summary.json"
PROFILES, FIGURES = "profiles", "figures"


class _Schema(TypedDict):
    schema: str


class _About(_Schema):
    solver_version: str
    request: StoredRequest


class TraceFolder:
    """A trace on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def points(self) -> Path:
        """The file of points."""
        return self.path / POINTS

    @classmethod
    def create(cls, path: Path, request: TraceRequest, version: str) -> TraceFolder:
        """New folder with a request and the version of the solver.

        Raises
        ------
        UsageError
            If the folder holds a trace or anything else already, or cannot be written.
        """
        if (path / REQUEST).exists():
            raise UsageError(
                f"{path} already holds a trace; choose another folder with --out, or go on with "
                f"that trace by --resume {path}"
            )
        folder = cls(path)
        about = {"schema": SCHEMA, "solver_version": version, "request": request.to_json()}
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise UsageError(
                    f"{path} holds other files and no trace; choose a new or an empty folder "
                    "with --out"
                )
            folder._put(REQUEST, json.dumps(about, indent=2).encode())
        except (OSError, StoreError) as error:
            raise UsageError(
                f"cannot write to {path}: {error}; choose another folder with --out"
            ) from None
        return folder

    @classmethod
    def open(cls, path: Path) -> TraceFolder:
        """The folder of a trace that was begun.

        Raises
        ------
        UsageError
            If there is no trace in it.
        """
        if not (path / REQUEST).is_file():
            raise UsageError(
                f"{path} holds no trace: there is no {REQUEST} in it; name a folder that "
                "`eqbench trace` wrote, for example one below results/"
            )
        return cls(path)

    def discard(self) -> None:
        """Remove the request of a trace that could not begin, and the folder if it is empty."""
        (self.path / REQUEST).unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def request(self) -> tuple[TraceRequest, str]:
        """The request, and the version of the solver with which the trace began.

        Raises
        ------
        UsageError
            If the file is damaged, or of another version.
        """
        file = self.path / REQUEST
        try:
            data = read_file(file)
            schema = decode(data, _Schema)["schema"]
            if schema == SCHEMA:
                about = decode_closed(data, _About)
                return TraceRequest.from_json(about["request"]), about["solver_version"]
        except (ValueError, OSError, DocumentError) as error:
            raise UsageError(f"{file}: {error}; trace the branch again") from None
        raise UsageError(f"{file} has the format {schema!r}; this version reads {SCHEMA!r}")

    def progress(self, request: TraceRequest) -> Progress | None:
        """How far the trace has come, None if it did not come to its first checkpoint.

        Raises
        ------
        UsageError
            If the checkpoint is damaged.
        """
        file = self.path / CHECKPOINT
        try:
            return Progress.from_bytes(read_file(file, MOST_CHECKPOINT_BYTES), request)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(
                f"cannot read {file}: {error.strerror}; restore it, or trace the branch again"
            ) from None

    def write_checkpoint(self, progress: Progress) -> None:
        """Put a checkpoint in place of the last one; StoreError if that fails."""
        self._put(CHECKPOINT, progress.to_bytes())

    def write_profile(self, name: str, text: str) -> str:
        """Write the JSON text of a profile and return its path relative to the folder."""
        relative = f"{PROFILES}/{name}.json"
        with _reported(self.path / relative):
            (self.path / PROFILES).mkdir(exist_ok=True)
        self._put(relative, text.encode())
        return relative

    def write_summary(self, document: dict[str, Any]) -> None:
        """Write the summary; StoreError if that fails."""
        self._put(SUMMARY, f"{json.dumps(document, indent=2, allow_nan=False)}\n".encode())

    def summary(self) -> dict[str, Any] | None:
        """The summary, None if there is none yet.

        Raises
        ------
        UsageError
            If it is damaged.
        """
        file = self.path / SUMMARY
        try:
            return decode(read_file(file), dict[str, Any], "the summary")
        except FileNotFoundError:
            return None
        except (DocumentError, OSError) as error:
            raise UsageError(
                f"cannot read {file}: {error}; delete it, and --resume writes it again"
            ) from None

    def drop_summary(self) -> None:
        """Remove the summary, if there is one."""
        (self.path / SUMMARY).unlink(missing_ok=True)

    def _put(self, name: str, data: bytes) -> None:
        """Put a whole file in place, or nothing."""
        path = self.path / name
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with _reported(path):
            try:
                with draft.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)


class PointsWriter:
    """Appends rows to a file of points and keeps its size and checksum; use it in a ``with``."""

    def __init__(self, path: Path, tree: GameTree, progress: Progress) -> None:
        """Open a file, new or cut to what a checkpoint says.

        Raises
        ------
        UsageError
            If the file is not the one that the checkpoint speaks of.
        """
        self._path, self._progress = path, progress
        if progress.points:
            _cut(path, progress)
        with _reported(path):
            if not progress.points:
                path.unlink(missing_ok=True)  # opening a pipe would wait for a reader
            self._file = path.open("ab" if progress.points else "xb")
        if not progress.points:
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(columns(tree))
            self._write(header.getvalue())

    def __enter__(self) -> PointsWriter:
        return self

    def __exit__(self, *error: object) -> None:
        with _reported(self._path):
            self._file.close()

    def append(self, row: list[float]) -> None:
        """Add a point; it is in the file after the next `flush`."""
        self._write(",".join(map(repr, row)) + "\n")
        self._progress.points += 1

    def flush(self, *, to_disk: bool = False) -> None:
        """Hand all rows to the system, or wait until the disk has them; StoreError if it fails."""
        with _reported(self._path):
            self._file.flush()
            if to_disk:
                os.fsync(self._file.fileno())

    def _write(self, line: str) -> None:
        data = line.encode()
        with _reported(self._path):
            self._file.write(data)
        self._progress.size += len(data)
        self._progress.checksum = zlib.crc32(data, self._progress.checksum)


def _cut(path: Path, progress: Progress) -> None:
    """Cut a file of points to those of a checkpoint."""
    try:
        checksum, rest = 0, progress.size
        with open_file(path) as file:
            while rest and (block := file.read(min(rest, 2**20))):
                checksum, rest = zlib.crc32(block, checksum), rest - len(block)
            if rest or checksum != progress.checksum:
                raise UsageError(
                    f"{path} is not as it was at the last checkpoint, when it had "
                    f"{progress.size:,} bytes; restore it, or trace the branch again"
                )
        os.truncate(path, progress.size)
    except OSError as error:
        raise UsageError(
            f"cannot go on writing {path}: {error.strerror}; restore it, or trace the branch again"
        ) from None


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}; free some space and go on with --resume"
        ) from None
