"""Follow a branch point by point: stretches that stand still, pieces that stand upright, limits."""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint, Continuation, ContinuationError, Turn
from eqbench.errors import EqbenchError
from eqbench.model.choices import Choices
from eqbench.model.payoff_model import PayoffModel
from eqbench.model.tree import FloatArray
from eqbench.studies.branch import POINTS, Branch, action_labels
from eqbench.studies.frame import Session
from eqbench.studies.trace.checkpoint import Crossed, Outcome, PointsWriter, Progress
from eqbench.studies.trace.setting import Setting

# Half the width, as a share of the parameter, of what counts as standing still.
TOLERANCE = 1e-3
# At a smooth fold, or where the branch is only steep, little of what lies within the width also
# lies within a fraction of it. At epsilon = 1e-7 vertical pieces of Kuhn poker for three keep
# 69% or more, and everything else 53% or less.
NARROWER, KEPT = 0.025, 0.6
LEAST_LENGTH = 0.05
LEAST_SHARE = 1e-3
# Slope of the parameter on a stretch of the least length that keeps just enough.
SLOPE = 2 * TOLERANCE * NARROWER / (KEPT * LEAST_LENGTH)
# Length of the branch between two points that are kept to be polished.
SPACING = LEAST_LENGTH / 10


def stands_still(change: float, length: float, value: float) -> bool:
    """Whether the parameter hardly changes over a length of the branch."""
    return abs(change) <= SLOPE * max(abs(value), 1.0) * length


def stretches(branch: Branch) -> list[tuple[int, int]]:
    """First and last points of maximal stretches on which the parameter stands still, in order.

    There the parameter stays within 1e-3 of its size to both sides of a value, and most of the
    stretch within a fortieth of that, while frequencies move by more than 0.05 or the payoff of
    some player changes by more than 1e-3 of the payoff range. Where the regularization is strong
    it bends vertical pieces, and then none are found.
    """
    values, arclength = branch.values, branch.arclength
    ends = _last_within(values, 2 * TOLERANCE)
    length = arclength[ends] - arclength
    narrow = _last_within(values, 2 * TOLERANCE * NARROWER)
    found: list[tuple[int, int]] = []
    # the longest first; what overlaps one of them is part of it
    for i in np.argsort(-length, kind="stable").tolist():
        j = int(ends[i])
        if length[i] <= 0 or any(i <= b and a <= j for a, b in found):
            continue
        inner = arclength[np.minimum(narrow[i : j + 1], j)] - arclength[i : j + 1]
        if inner.max() >= KEPT * length[i] and _moves(branch, i, j):
            found.append((i, j))
    return sorted(found)


def _moves(branch: Branch, i: int, j: int) -> bool:
    """Whether enough changes between two points."""
    changes = np.ptp(branch.payoffs[i : j + 1], axis=0)
    return bool(
        branch.arclength[j] - branch.arclength[i] > LEAST_LENGTH
        or changes.max() > LEAST_SHARE * branch.game.tree.payoff_range
    )


def _last_within(values: FloatArray, width: float) -> NDArray[np.int64]:
    """For each point the last one up to which values (K,) stay within a relative width."""
    last = np.empty(len(values), dtype=np.int64)
    # candidates for the least and the largest value from i to j, the present one in front
    least: deque[int] = deque()
    most: deque[int] = deque()
    j = 0
    numbers = values.tolist()
    for i, value in enumerate(numbers):
        allowed = width * max(abs(value), 1.0)
        while j < len(numbers):
            low = min(numbers[j], numbers[least[0]]) if least else numbers[j]
            high = max(numbers[j], numbers[most[0]]) if most else numbers[j]
            if high - low > allowed:
                break
            while least and numbers[least[-1]] >= numbers[j]:
                least.pop()
            while most and numbers[most[-1]] <= numbers[j]:
                most.pop()
            least.append(j)
            most.append(j)
            j += 1
        last[i] = j - 1
        for ends in (least, most):
            if ends[0] == i:
                ends.popleft()
    return last


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


CHECKPOINT_S, FLUSH_S, REPORT_S = 5.0, 1.0, 0.1


def begin(setting: Setting) -> Progress:
    """A trace that has its first point only, and has not written it.

    Raises
    ------
    EqbenchError
        If the continuation finds no start.
    """
    first = setting.request.first
    clock = _Clock(setting.continuation, None)
    try:
        point = start_of(setting)
    except ContinuationError as error:
        raise EqbenchError(f"no branch begins at {setting.parameter}={first}: {error}") from None
    crossings = [[point] if value == first else [] for value in setting.at]
    progress = Progress(last=point, crossings=crossings, lost=[0] * len(crossings))
    clock.read(progress)
    return progress


def follow(setting: Setting, progress: Progress, session: Session) -> None:
    """Follow the branch from where `progress` stands until it leaves the range or must stop.

    Points are appended to the file of points while it is followed, and every few seconds a
    checkpoint is written; so is one in the end. `progress` says how it ended.

    Raises
    ------
    UsageError
        If the file of points does not fit the progress.
    StoreError
        If a file cannot be written.
    """
    with PointsWriter(session.folder / POINTS, setting.game.tree, progress) as file:
        collector = _Collector(setting, progress, file)
        clock = _Clock(setting.continuation, progress)
        if not progress.points:
            collector.write(progress.last)
        progress.outcome, progress.reason = "interrupted", ""

        def save() -> None:
            clock.read(progress)
            file.flush(to_disk=True)
            progress.write(session.folder)

        def report() -> None:
            place = f"{setting.parameter} {progress.last.value:.6f}"
            session.tell(f"{place}, {progress.points:,} points")

        regularly = (
            _Every(REPORT_S, report),
            _Every(FLUSH_S, file.flush),
            _Every(CHECKPOINT_S, save),
        )
        try:
            for piece in pieces(setting, progress.last):
                collector.take(piece)
                if piece.leaves:
                    progress.outcome = "arrived"
                    break
                now = time.perf_counter()
                for task in regularly:
                    task.do_if_due(now)
                stopped = _stopped(setting, progress, now - clock.begin, session)
                if stopped:
                    progress.outcome, progress.reason = stopped
                    break
        except ContinuationError as error:
            name, value = setting.parameter, progress.last.value
            progress.outcome = "stalled"
            progress.reason = f"stalled at {name}={value:.9g}: {error}"
        save()


def _stopped(
    setting: Setting, progress: Progress, elapsed_s: float, session: Session
) -> tuple[Outcome, str] | None:
    """Outcome and reason if the trace is to stop here."""
    most_points, time_s = setting.request.most_points, setting.request.time_s
    if session.interrupted():
        return "interrupted", "interrupted"
    if most_points is not None and progress.points >= most_points:
        return "points", f"stopped after {progress.points:,} points"
    if time_s is not None and elapsed_s >= time_s:
        return "time", f"stopped after {time_s:g} s"
    return None


class _Collector:
    """Writes points down and notes folds and crossings on the way."""

    def __init__(self, setting: Setting, progress: Progress, file: PointsWriter) -> None:
        self.setting, self.progress, self.file = setting, progress, file
        self.model: PayoffModel = setting.game.payoff_model()
        self.actions = Choices.of(setting.game.tree).action
        self.labels = action_labels(setting.game.tree)
        self.at = [float(value) for value in setting.at]

    def take(self, piece: Piece) -> None:
        progress = self.progress
        if piece.fold is not None:
            self._note_fold(piece.fold)
        self._note_corner(piece)
        for k, value in enumerate(self.at):
            crossings = crossings_of(self.setting.continuation, piece, value)
            progress.crossings[k] += crossings.found
            progress.lost[k] += crossings.lost
        moved = self._free(piece.after) - self._free(piece.before)
        along = piece.after.value - piece.before.value
        length = float(np.sqrt(moved @ moved + along * along))
        progress.arclength += length
        self.write(piece.after)
        if stands_still(along, length, piece.after.value):
            self._keep(piece.after)

    def write(self, point: BranchPoint) -> None:
        payoffs = self._payoffs(point.value, point.behavior)
        free = self._free(point).tolist()
        self.file.append([float(point.value), self.progress.arclength, *payoffs, *free])
        if point.event:
            crossed: Crossed = {"parameter": float(point.value), "payoffs": payoffs}
            self.progress.branch_points.append(crossed)
        self.progress.last = point

    def _keep(self, point: BranchPoint) -> None:
        """Keep a point of what may be a vertical piece, if the last one is far enough."""
        kept, length = self.progress.still_at, self.progress.arclength
        if not kept or length - kept[-1][1] >= SPACING:
            kept.append((self.progress.points - 1, length))
            self.progress.still.append(point)

    def _note_fold(self, fold: Turn) -> None:
        self.progress.turns.append((self.progress.points, float(fold.regularized)))
        self.progress.folds.append(
            {
                "parameter": float(fold.value),
                "payoffs": self._payoffs(fold.value, fold.behavior),
                "exact": bool(fold.exact),
            }
        )

    def _note_corner(self, piece: Piece) -> None:
        before, after = piece.before.played, piece.after.played
        if (before != after).any():
            self.progress.corners.append(
                {
                    "parameter": float(piece.before.value + piece.after.value) / 2,
                    "enter": [self.labels[a] for a in np.flatnonzero(after & ~before)],
                    "leave": [self.labels[a] for a in np.flatnonzero(before & ~after)],
                }
            )

    def _payoffs(self, value: float, behavior: FloatArray) -> list[float]:
        return self.model.at(value).expected_payoffs(behavior).tolist()

    def _free(self, point: BranchPoint) -> FloatArray:
        return point.behavior[self.actions]


class _Every:
    """Does something again and again, with so many seconds between."""

    def __init__(self, period_s: float, task: Callable[[], None]) -> None:
        self.period_s, self.task, self.last = period_s, task, time.perf_counter()

    def do_if_due(self, now: float) -> None:
        if now - self.last > self.period_s:
            self.task()
            self.last = now


class _Clock:
    """Adds the time and the work since it was made to those of earlier processes."""

    def __init__(self, continuation: Continuation, progress: Progress | None) -> None:
        self.continuation = continuation
        self.before = (progress.elapsed_s, progress.cpu_s) if progress else (0.0, 0.0)
        self.counts = dict(progress.statistics) if progress else {}
        self.at_first = dict(continuation.statistics)
        self.begin, self.begin_cpu = time.perf_counter(), time.process_time()

    def read(self, progress: Progress) -> None:
        """Write the sums into a progress."""
        progress.elapsed_s = self.before[0] + time.perf_counter() - self.begin
        progress.cpu_s = self.before[1] + time.process_time() - self.begin_cpu
        progress.statistics = {
            name: self.counts.get(name, 0) + count - self.at_first.get(name, 0)
            for name, count in self.continuation.statistics.items()
        }
