"""A trace on disk: its points, and a checkpoint from which it goes on exactly."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint
from eqbench.documents import Count, Seconds, convert, decode, open_file, read_file
from eqbench.errors import DocumentError, UsageError
from eqbench.model.tree import GameTree
from eqbench.store.array_archive import read_arrays
from eqbench.store.run_folder import reported, write_file
from eqbench.studies.branch import columns

# `arrived`: left the range of the parameter. The last three go on when they are resumed.
Outcome = Literal["arrived", "stalled", "points", "time", "interrupted"]

CHECKPOINT = "checkpoint.npz"
# a thousand crossings of a game with ten thousand actions take some hundred MiB
MOST_CHECKPOINT_BYTES = 2**30
_STATE = "state."


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


class _Scalars(TypedDict):
    """The fields of a point that are no arrays."""

    value: float
    direction: float
    event: Literal["", "branch point"]


@dataclass(eq=False, kw_only=True)
class Noted:
    """Notes along a branch in plain numbers, for JSON.

    Attributes
    ----------
    lost : by value that is looked at, how many crossings could not be computed
    still_at : rows of the points in `Progress.still`, and the arclength up to them
    arclength : up to the last point
    points, size, checksum : of the file of points: their number, its bytes and its CRC-32
    turns : row of the first point after each fold, and where the regularized branch turns; the
        fold of the equilibria lies a little to the side of it
    statistics : of the continuation; these and clocks are sums over all processes that traced
    reason : why the trace ended early, else empty
    """

    lost: list[Count] = field(default_factory=list)
    still_at: list[tuple[Count, Seconds]] = field(default_factory=list)
    arclength: Seconds = 0.0
    points: Count = 0
    size: Count = 0
    checksum: Count = 0
    folds: list[Fold] = field(default_factory=list)
    turns: list[tuple[Count, float]] = field(default_factory=list)
    branch_points: list[Crossed] = field(default_factory=list)
    corners: list[Corner] = field(default_factory=list)
    statistics: dict[str, int] = field(default_factory=dict)
    elapsed_s: Seconds = 0.0
    cpu_s: Seconds = 0.0
    outcome: Outcome = "interrupted"
    reason: str = ""

    @property
    def over(self) -> bool:
        """True if the branch cannot go on: it has left the range, or was lost."""
        return self.outcome in ("arrived", "stalled")


@dataclass(eq=False, kw_only=True)
class Progress(Noted):
    """The findings of a trace so far; they change as it goes on.

    Attributes
    ----------
    last : the last point that is in the file of points
    crossings : by value that is looked at, in their order along the branch
    still : some of the points between which the parameter hardly changes
    """

    last: BranchPoint
    crossings: list[list[BranchPoint]]
    still: list[BranchPoint] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Put a checkpoint in place of the last one; StoreError if that fails."""
        with reported(folder / CHECKPOINT):
            write_file(folder / CHECKPOINT, self.to_bytes())

    @classmethod
    def read(cls, folder: Path, values: int) -> Progress | None:
        """The checkpoint of a trace that looks at so many values, None if there is none yet.

        Raises
        ------
        UsageError
            If it is damaged.
        """
        file = folder / CHECKPOINT
        try:
            return cls.from_bytes(read_file(file, MOST_CHECKPOINT_BYTES), values)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(
                f"cannot read {file}: {error.strerror}; restore it, or trace the branch again"
            ) from None

    def to_bytes(self) -> bytes:
        """An archive of NumPy arrays."""
        points = {"last": self.last}
        points |= {f"still.{i}": point for i, point in enumerate(self.still)}
        for k, found in enumerate(self.crossings):
            points |= {f"crossing.{k}.{i}": point for i, point in enumerate(found)}
        arrays = {name: _record(point) for name, point in points.items()}
        noted = {item.name: getattr(self, item.name) for item in fields(Noted)}
        text = json.dumps(noted, allow_nan=False).encode()
        buffer = io.BytesIO()
        np.savez(buffer, noted=np.frombuffer(text, dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, values: int) -> Progress:
        """Read what `to_bytes` wrote, of a trace that looks at so many values.

        Raises
        ------
        UsageError
            If the data are damaged.
        """
        try:
            arrays = read_arrays(data, MOST_CHECKPOINT_BYTES)
            noted = decode(arrays.pop("noted").tobytes(), Noted, "its plain part")
            points = {name: _point(record) for name, record in arrays.items()}
            last, still = points.pop("last"), _named("still.", points)
            crossings = [_named(f"crossing.{k}.", points) for k in range(values)]
            if points or len(still) != len(noted.still_at) or len(noted.lost) != values:
                raise ValueError("it belongs to another request")
            return cls(last=last, crossings=crossings, still=still, **vars(noted))
        except (KeyError, ValueError, DocumentError) as error:
            raise UsageError(
                f"the checkpoint of this trace is damaged ({error}); trace the branch again"
            ) from None


def _named(prefix: str, points: dict[str, BranchPoint]) -> list[BranchPoint]:
    """The points with such names in their order, which are taken out."""
    return [points.pop(name) for name in list(points) if name.startswith(prefix)]


def _record(point: BranchPoint) -> NDArray:
    """A point as one record of a structured array."""
    plain = {f.name: getattr(point, f.name) for f in fields(point) if f.name != "state"}
    stored = plain | {_STATE + name: array for name, array in point.state.items()}
    arrays = {name: np.asarray(value) for name, value in stored.items()}
    record = np.zeros((), [(name, array.dtype, array.shape) for name, array in arrays.items()])
    for name, array in arrays.items():
        record[name] = array
    return record


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


class PointsWriter:
    """Appends rows to a file of points, new or cut to what a checkpoint says."""

    def __init__(self, path: Path, tree: GameTree, progress: Progress) -> None:
        """Begin the file, or cut it.

        Raises
        ------
        UsageError
            If the file is not the one that the checkpoint speaks of.
        """
        self._path, self._progress = path, progress
        self._lines: list[str] = []
        if progress.points:
            _cut(path, progress)
            return
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(columns(tree))
        self._lines.append(header.getvalue())
        with reported(path):
            path.unlink(missing_ok=True)  # opening a pipe would wait for a reader

    def append(self, row: list[float]) -> None:
        """Add a point; it is in the file after the next `flush`."""
        self._lines.append(",".join(map(repr, row)) + "\n")
        self._progress.points += 1

    def flush(self, *, to_disk: bool = False) -> None:
        """Hand all rows to the system, or wait until the disk has them; StoreError if it fails."""
        data = "".join(self._lines).encode()
        self._lines.clear()
        with reported(self._path), self._path.open("ab") as file:
            file.write(data)
            if to_disk:
                file.flush()
                os.fsync(file.fileno())
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
