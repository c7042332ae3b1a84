"""How far a trace has come, as a file from which it goes on exactly as if never interrupted."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint
from eqbench.errors import UsageError
from eqbench.studies.trace_request import TraceRequest

# `arrived`: left the range of the parameter. The last three go on when they are resumed.
Outcome = Literal["arrived", "stalled", "points", "time", "interrupted"]

_STATE = "state."
# Fields that hold points; all others are plain JSON.
_POINTS = frozenset({"last", "crossings", "still"})


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
    folds : list of dict
        `parameter`, `payoffs` and `exact` of each.
    turns : list of [int, float]
        Row of the first point after each fold, and where the regularized branch turns; the fold
        of the equilibria lies a little to the side of it.
    branch_points : list of dict
        `parameter` and `payoffs` of points just before which another curve crosses.
    corners : list of dict
        `parameter`, `enter` and `leave` of each: labels of the actions whose role changes.
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
    folds: list[dict[str, Any]] = field(default_factory=list)
    turns: list[tuple[int, float]] = field(default_factory=list)
    branch_points: list[dict[str, Any]] = field(default_factory=list)
    corners: list[dict[str, Any]] = field(default_factory=list)
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
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                arrays = dict(archive)
            plain = json.loads(arrays.pop("progress").tobytes())
            for name in ("turns", "still_at"):
                plain[name] = [tuple(pair) for pair in plain[name]]
            last = _point(arrays.pop("last"))
            still = [_point(arrays.pop(f"still.{i}")) for i in range(len(plain["still_at"]))]
            crossings: list[list[BranchPoint]] = [[] for _ in request.at]
            for name, record in arrays.items():
                crossings[int(name.split(".")[1])].append(_point(record))
            return cls(last, crossings, still, **plain)
        except (ValueError, KeyError, IndexError, TypeError, EOFError, zipfile.BadZipFile) as error:
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


def _point(record: NDArray) -> BranchPoint:
    """The point that `_record` was given."""
    plain: dict[str, Any] = {}
    state: dict[str, NDArray] = {}
    for name in record.dtype.names or ():
        value = record[name]
        if name.startswith(_STATE):
            state[name.removeprefix(_STATE)] = value
        else:
            plain[name] = value if value.ndim else value.item()
    return BranchPoint(**plain, state=state)
