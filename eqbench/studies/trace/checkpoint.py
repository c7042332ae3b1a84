"""Progress of a trace, and a checkpoint on disk from which it resumes exactly."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint
from eqbench.documents import Count, Seconds, read_file
from eqbench.errors import UsageError
from eqbench.store.run_folder import reported, write_file

# `arrived`: left the range of the parameter for good. The last three continue when resumed; the
# others cannot, since the branch has left the range, is closed, or was lost.
Outcome = Literal["arrived", "closed", "stalled", "points", "time", "interrupted"]
OVER = ("arrived", "closed", "stalled")

CHECKPOINT = "checkpoint.msgpack"
# a thousand crossings of a game with ten thousand actions take some hundred MiB
MOST_CHECKPOINT_BYTES = 2**30


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


@dataclass(eq=False, kw_only=True)
class Progress:
    """The findings of a trace so far; they change as it advances.

    Attributes
    ----------
    begin : where the branch begins
    last : the last point that is in the file of points
    outside : where the branch is, if it is outside the range
    crossings : by value that is looked at, in their order along the branch
    lost : by value that is looked at, how many crossings could not be computed
    still : some of the points between which the parameter hardly changes
    still_at : their rows in the file of points, and the arclength up to them
    arclength : up to the last point
    points, size, checksum : of the file of points: their number, its bytes and its CRC-32
    returns : how often the branch came back into the range of the parameter
    turns : row of the first point after each fold, and where the regularized branch turns; the
        fold of the equilibria lies a little to the side of it
    statistics : of the continuation; these and clocks are sums over all processes that traced
    behind : why it is not known whether the branch was in the range before its start, else empty
    reason : why the trace ended early, else empty
    """

    begin: BranchPoint
    last: BranchPoint
    outside: BranchPoint | None = None
    crossings: list[list[BranchPoint]]
    lost: list[Count] = field(default_factory=list)
    still: list[BranchPoint] = field(default_factory=list)
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

    def write(self, folder: Path) -> None:
        """Put a checkpoint in place of the last one; StoreError if that fails."""
        data = msgspec.msgpack.encode(self, enc_hook=_packed)
        with reported(folder / CHECKPOINT):
            write_file(folder / CHECKPOINT, zlib.crc32(data).to_bytes(4, "big") + data)

    @classmethod
    def read(cls, folder: Path, values: int) -> Progress | None:
        """The checkpoint of a trace that looks at so many values, None if there is none yet.

        UsageError if it is damaged.
        """
        try:
            stored = read_file(folder / CHECKPOINT, MOST_CHECKPOINT_BYTES)
            if zlib.crc32(stored[4:]).to_bytes(4, "big") != stored[:4]:
                raise ValueError("it is not as it was written")
            found = msgspec.msgpack.decode(stored[4:], type=cls, dec_hook=_unpacked)
            found._check(values)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            raise UsageError(
                f"the checkpoint {folder / CHECKPOINT} is damaged ({error}); restore it, or trace "
                "the branch again"
            ) from None
        return found

    def _check(self, values: int) -> None:
        if len(self.still) != len(self.still_at) or {len(self.lost), len(self.crossings)} != {
            values
        }:
            raise ValueError("it belongs to another request")
        ends = [self.begin, self.last, *([self.outside] if self.outside else [])]
        for point in chain(ends, self.still, *self.crossings):
            shapes = point.behavior.shape, point.played.shape
            if (
                shapes[0] != shapes[1]
                or len(shapes[0]) != 1
                or not np.isfinite(point.behavior).all()
            ):
                raise ValueError("the frequencies of a point are not what they should be")


def _packed(array: NDArray) -> tuple[str, tuple[int, ...], bytes]:
    """An array as msgpack has it: type, shape and bytes."""
    return array.dtype.str, array.shape, array.tobytes()


def _unpacked(kind: Any, packed: Any) -> NDArray:
    """The array that `_packed` was given; ValueError if it is not of its type."""
    dtype, shape, data = msgspec.convert(packed, tuple[str, tuple[int, ...], bytes])
    array = np.frombuffer(data, dtype).reshape(shape).copy()
    (wanted,) = get_args(get_args(kind)[1])
    if isinstance(wanted, type) and array.dtype != wanted:
        raise ValueError(f"an array of {array.dtype} is not one of {wanted.__name__}")
    return array
