"""A branch piece by piece, up to where it leaves the range of its parameter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eqbench.continuation import BranchPoint, Continuation, ContinuationError, Turn
from eqbench.studies.trace_request import Setting

# Frequencies that differ by less are those of the same point.
SAME = 1e-9


class Piece(NamedTuple):
    """The branch between two neighboring points; the last piece ends where it leaves the range."""

    before: BranchPoint
    after: BranchPoint
    fold: Turn | None
    leaves: bool

    def passes(self, value: float) -> int:
        """How often the regularized branch takes a value strictly between the two points."""
        turns = [] if self.fold is None else [self.fold.regularized]
        course = (self.before.value, *turns, self.after.value)
        return sum(min(ends) < value < max(ends) for ends in itertools.pairwise(course))


class Crossings(NamedTuple):
    """Points of a piece with one value of the parameter, and how many could not be computed."""

    found: list[BranchPoint]
    lost: int


def start_of(setting: Setting) -> BranchPoint:
    """The point at which a branch begins, heading for the other end of its range.

    Raises
    ------
    ContinuationError
        If there is none.
    """
    request = setting.request
    value, ahead = float(request.first), float(request.last - request.first)
    point = setting.continuation.start(value)
    # a fresh start may head either way, and the first piece shall not seem to turn around
    return replace(point, value=value, direction=math.copysign(point.direction, ahead))


def pieces(setting: Setting, point: BranchPoint) -> Iterator[Piece]:
    """Pieces of the branch after `point`, up to where it leaves the range of the request.

    Raises
    ------
    ContinuationError
        If the branch cannot be followed so far, or the point where it leaves cannot be computed.
    """
    request, continuation = setting.request, setting.continuation
    first, last = float(request.first), float(request.last)
    bounds = (min(first, last), max(first, last))
    for after in continuation.follow(point, increasing=first < last):
        piece = Piece(point, after, continuation.fold(point, after), leaves=False)
        border = _border(continuation, piece, bounds)
        if border is not None:
            yield Piece(point, border, continuation.fold(point, border), leaves=True)
            return
        yield piece
        point = after


def crossings_of(continuation: Continuation, piece: Piece, value: float) -> Crossings:
    """Points after the first one of a piece at which the parameter has a value."""
    value = float(value)
    expected = piece.passes(value)
    try:
        found = _inside(continuation, piece, value) if expected else []
    except ContinuationError:
        found = []
    lost = max(expected - len(found), 0)
    return Crossings(found + [piece.after] * bool(piece.after.value == value), lost)


def _border(
    continuation: Continuation, piece: Piece, bounds: tuple[float, float]
) -> BranchPoint | None:
    """Where the branch leaves its range within a piece, None if it does not."""
    for border in bounds:
        if piece.passes(border):
            try:
                found = _inside(continuation, piece, border)
            except ContinuationError as error:
                raise ContinuationError(f"it passes {border:g} next, but {error}") from None
            if found:
                return found[0]
    if not bounds[0] <= piece.after.value <= bounds[1]:
        raise ContinuationError("the point where it leaves the range was not found")
    return None


def _inside(continuation: Continuation, piece: Piece, value: float) -> list[BranchPoint]:
    """Points strictly between two neighbors at which the parameter has exactly a value."""
    before, after = piece.before, piece.after
    ends = [end.behavior for end in (before, after) if end.value == value]
    return [
        replace(point, value=value)  # it may be off by rounding
        for point in continuation.crossings(before, after, value)
        if not any(np.abs(point.behavior - end).max() < SAME for end in ends)
    ]
