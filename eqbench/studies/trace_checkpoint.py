"""How far a trace has come, as a file from which it goes on exactly as if never interrupted."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import count
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint
from eqbench.documents import Count, Seconds, convert, decode
from eqbench.errors import DocumentError, UsageError
from eqbench.store.array_archive import read_arrays
from eqbench.studies.trace_request import TraceRequest

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
