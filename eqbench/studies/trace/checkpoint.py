"""Progress of a trace, and a checkpoint on disk from which it resumes exactly."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint
from eqbench.documents import Count, Seconds, convert, decode, read_file
from eqbench.errors import DocumentError, UsageError
from eqbench.store.run_folder import reported, write_file
from eqbench.store.traces import read_arrays

# `arrived`: left the range of the parameter for good. The last three continue when resumed; the
# others cannot, since the branch has left the range, is closed, or was lost.
Outcome = Literal["arrived", "closed", "stalled", "points", "time", "interrupted"]
OVER = ("arrived", "closed", "stalled")

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
    """The fields of a point that are not arrays."""

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
    returns : how often the branch came back into the range of the parameter
    turns : row of the first point after each fold, and where the regularized branch turns; the
        fold of the equilibria lies a little to the side of it
    statistics : of the continuation; these and clocks are sums over all processes that traced
    behind : why it is not known whether the branch was in the range before its start, else empty
    reason : why the trace ended early, else empty
    """

    lost: list[Count] = field(default_factory=list)
    still_at: list[tuple[Count, Seconds]] = field(default_factory=list)
    arclength: Seconds = 0.0
    points: Count = 0
    size: Count = 0
    checksum: Count = 0
    returns: Count = 0
    folds: list[Fold] = field(default_factory=list)
    turns: list[tuple[Count, float]] = field(default_factory=list)
    branch_points: list[Crossed] = field(default_factory=list)
    corners: list[Corner] = field(default_factory=list)
    statistics: dict[str, int] = field(default_factory=dict)
    elapsed_s: Seconds = 0.0
    cpu_s: Seconds = 0.0
    behind: str = ""
    outcome: Outcome = "interrupted"
    reason: str = ""


@dataclass(eq=False, kw_only=True)
class Progress(Noted):
    """The findings of a trace so far; they change as it advances.

    Attributes
    ----------
    begin : where the branch begins
    last : the last point that is in the file of points
    crossings : by value that is looked at, in their order along the branch
    still : some of the points between which the parameter hardly changes
    outside : where the branch is, if it is outside the range
    """

    begin: BranchPoint
    last: BranchPoint
    crossings: list[list[BranchPoint]]
    still: list[BranchPoint] = field(default_factory=list)
    outside: BranchPoint | None = None

    def write(self, folder: Path) -> None:
        """Put a checkpoint in place of the last one; StoreError if that fails."""
        points = {"begin": self.begin, "last": self.last}
        points |= {} if self.outside is None else {"outside": self.outside}
        points |= {f"still.{i}": point for i, point in enumerate(self.still)}
        for k, found in enumerate(self.crossings):
            points |= {f"crossing.{k}.{i}": point for i, point in enumerate(found)}
        arrays = {name: _record(point) for name, point in points.items()}
        noted = {item.name: getattr(self, item.name) for item in fields(Noted)}
        text = json.dumps(noted, allow_nan=False).encode()
        buffer = io.BytesIO()
        np.savez(buffer, noted=np.frombuffer(text, dtype=np.uint8), **arrays)  # type: ignore[arg-type]
        with reported(folder / CHECKPOINT):
            write_file(folder / CHECKPOINT, buffer.getvalue())

    @classmethod
    def read(cls, folder: Path, values: int) -> Progress | None:
        """The checkpoint of a trace that looks at so many values, None if there is none yet.

        UsageError if it is damaged.
        """
        try:
            data = read_file(folder / CHECKPOINT, MOST_CHECKPOINT_BYTES)
            arrays = read_arrays(data, MOST_CHECKPOINT_BYTES)
            noted = decode(arrays.pop("noted").tobytes(), Noted, "its plain part")
            points = {name: _point(record) for name, record in arrays.items()}
            begin, last = points.pop("begin"), points.pop("last")
            outside, still = points.pop("outside", None), _named("still.", points)
            crossings = [_named(f"crossing.{k}.", points) for k in range(values)]
            if points or len(still) != len(noted.still_at) or len(noted.lost) != values:
                raise ValueError("it belongs to another request")
            found = {"crossings": crossings, "still": still, **vars(noted)}
            return cls(begin=begin, last=last, outside=outside, **found)
        except FileNotFoundError:
            return None
        except (OSError, KeyError, ValueError, DocumentError) as error:
            raise UsageError(
                f"the checkpoint {folder / CHECKPOINT} is damaged ({error}); restore it, or trace "
                "the branch again"
            ) from None


def _named(prefix: str, points: dict[str, BranchPoint]) -> list[BranchPoint]:
    """The points with such names in their order, which are taken out."""
    return [points.pop(name) for name in list(points) if name.startswith(prefix)]


def _record(point: BranchPoint) -> NDArray:
    """A point as one record of a structured array."""
    plain = {name: value for name, value in vars(point).items() if name != "state"}
    stored = plain | {_STATE + name: array for name, array in point.state.items()}
    arrays = {name: np.asarray(value) for name, value in stored.items()}
    kinds = [(name, array.dtype, array.shape) for name, array in arrays.items()]
    return np.array(tuple(arrays.values()), dtype=kinds)


def _point(record: NDArray) -> BranchPoint:
    """The point that `_record` was given; ValueError or DocumentError if there is none."""
    if record.ndim:
        raise ValueError("a point is not a single record")
    stored = {name: record[name] for name in record.dtype.names or ()}
    state = {name: stored.pop(name) for name in list(stored) if name.startswith(_STATE)}
    behavior, played = (np.asarray(stored.pop(name, None)) for name in ("behavior", "played"))
    kinds = behavior.dtype.kind, played.dtype.kind
    if kinds != ("f", "b") or behavior.ndim != 1 or behavior.shape != played.shape:
        raise ValueError("the frequencies of a point are not what they should be")
    if not np.isfinite(behavior).all():
        raise ValueError("the frequencies of a point are not finite numbers")
    plain = {name: value.item() for name, value in stored.items() if not value.ndim}
    scalars = convert(plain, _Scalars, "a point")
    named = {name.removeprefix(_STATE): array for name, array in state.items()}
    return BranchPoint(behavior=behavior, played=played, state=named, **scalars)
