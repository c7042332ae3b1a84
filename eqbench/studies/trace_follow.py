"""Follow a branch through a range of its parameter, and write down what is found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eqbench.continuation import BranchPoint, Continuation, ContinuationError, Turn
from eqbench.errors import EqbenchError
from eqbench.model.choices import Choices
from eqbench.model.payoff_model import PayoffModel
from eqbench.model.tree import FloatArray
from eqbench.studies.trace_checkpoint import Outcome, Progress
from eqbench.studies.trace_folder import PointsWriter, TraceFolder
from eqbench.studies.trace_request import Setting

CHECKPOINT_S, FLUSH_S, REPORT_S = 5.0, 1.0, 0.1
# Distance from a fold within which the parameter may turn beyond both of its neighbors.
NEAR_FOLD = 1e-2
# Frequencies that differ by less are those of the same point.
SAME = 1e-9


class Piece(NamedTuple):
    """The branch between two neighboring points; the last piece ends where it leaves the range."""

    before: BranchPoint
    after: BranchPoint
    fold: Turn | None
    leaves: bool


class Control(NamedTuple):
    """When to stop early, and who is told.

    Attributes
    ----------
    most_points : points in the file at which to stop, or None
    time_s : seconds of tracing after which to stop, or None
    stop : asked after every point whether to stop
    report : given the parameter and the number of points from time to time
    """

    most_points: int | None = None
    time_s: float | None = None
    stop: Callable[[], bool] = lambda: False
    report: Callable[[float, int], None] = lambda value, points: None


FREELY = Control()


def begin(setting: Setting) -> Progress:
    """A trace that has its first point only, and has not written it.

    Raises
    ------
    EqbenchError
        If the continuation finds no start.
    """
    request = setting.request
    clock = _Clock(setting.continuation, None)
    try:
        point = start_of(setting)
    except ContinuationError as error:
        raise EqbenchError(
            f"no branch begins at {request.parameter}={request.first}: {error}"
        ) from None
    crossings = [[point] if value == request.first else [] for value in request.at]
    progress = Progress(point, crossings)
    clock.read(progress)
    return progress


def follow(
    setting: Setting, folder: TraceFolder, progress: Progress, control: Control = FREELY
) -> None:
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
    with PointsWriter(folder.points, setting.game.tree, progress) as file:
        collector = _Collector(setting, progress, file)
        clock = _Clock(setting.continuation, progress)
        if not progress.points:
            collector.write(progress.last)
        progress.outcome, progress.reason = "interrupted", ""

        def save() -> None:
            clock.read(progress)
            file.flush(to_disk=True)
            folder.write_checkpoint(progress)

        regularly = (
            _Every(REPORT_S, lambda: control.report(progress.last.value, progress.points)),
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
                stopped = _stopped(control, progress, now - clock.begin)
                if stopped:
                    progress.outcome, progress.reason = stopped
                    break
        except ContinuationError as error:
            name, value = setting.request.parameter, progress.last.value
            progress.outcome = "stalled"
            progress.reason = f"stalled at {name}={value:.9g}: {error}"
        save()


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
        If the branch cannot be followed so far.
    """
    request, continuation = setting.request, setting.continuation
    first, last = float(request.first), float(request.last)
    for after in continuation.follow(point, increasing=first < last):
        fold = continuation.fold(point, after)
        border = _border(continuation, point, after, fold, (min(first, last), max(first, last)))
        if border is None:
            yield Piece(point, after, fold, leaves=False)
            point = after
        else:
            yield Piece(point, border, continuation.fold(point, border), leaves=True)
            return


def crossings_of(continuation: Continuation, piece: Piece, value: float) -> list[BranchPoint]:
    """Points after the first one of a piece at which the parameter has a value."""
    ends = (piece.before.value, piece.after.value)
    turns = piece.fold is not None and abs(piece.fold.value - value) < NEAR_FOLD
    found = []
    if turns or min(ends) < value < max(ends):
        found = _inside(continuation, piece.before, piece.after, value)
    return found + [piece.after] * (piece.after.value == value)


def _border(
    continuation: Continuation,
    before: BranchPoint,
    after: BranchPoint,
    fold: Turn | None,
    bounds: tuple[float, float],
) -> BranchPoint | None:
    """Where the branch leaves its range between two points, None if it does not."""
    turn = after.value if fold is None else fold.value
    least, most = min(after.value, turn), max(after.value, turn)
    for border, leaves in zip(bounds, (least < bounds[0], most > bounds[1]), strict=True):
        if leaves:
            found = _inside(continuation, before, after, border)
            if found:
                return found[0]
            if not bounds[0] <= after.value <= bounds[1]:
                raise ContinuationError(f"the point where it passes {border:g} was not found")
    return None


def _inside(
    continuation: Continuation, before: BranchPoint, after: BranchPoint, value: float
) -> list[BranchPoint]:
    """Points strictly between two neighbors at which the parameter has exactly a value."""
    ends = [end.behavior for end in (before, after) if end.value == value]
    return [
        replace(point, value=value)  # it may be off by rounding
        for point in continuation.crossings(before, after, value)
        if not any(np.abs(point.behavior - end).max() < SAME for end in ends)
    ]


def _stopped(control: Control, progress: Progress, elapsed_s: float) -> tuple[Outcome, str] | None:
    """Outcome and reason if the trace is to stop here."""
    if control.stop():
        return "interrupted", "interrupted"
    if control.most_points is not None and progress.points >= control.most_points:
        return "points", f"stopped after {progress.points:,} points"
    if control.time_s is not None and elapsed_s >= control.time_s:
        return "time", f"stopped after {control.time_s:g} s"
    return None


class _Collector:
    """Writes points down and notes folds and crossings on the way."""

    def __init__(self, setting: Setting, progress: Progress, file: PointsWriter) -> None:
        self.setting, self.progress, self.file = setting, progress, file
        self.model: PayoffModel = setting.game.payoff_model()
        self.actions = Choices.of(setting.game.tree).action
        self.at = [float(value) for value in setting.request.at]

    def take(self, piece: Piece) -> None:
        progress = self.progress
        if piece.fold is not None:
            self._note_fold(piece, piece.fold)
        for value, found in zip(self.at, progress.crossings, strict=True):
            found += crossings_of(self.setting.continuation, piece, value)
        moved = self._free(piece.after) - self._free(piece.before)
        along = piece.after.value - piece.before.value
        progress.arclength += float(np.sqrt(moved @ moved + along * along))
        self.write(piece.after)

    def write(self, point: BranchPoint) -> None:
        payoffs = self._payoffs(point.value, point.behavior)
        free = self._free(point).tolist()
        self.file.append([float(point.value), self.progress.arclength, *payoffs, *free])
        if point.event:
            crossed = {"parameter": float(point.value), "payoffs": payoffs}
            self.progress.branch_points.append(crossed)
        self.progress.last = point

    def _note_fold(self, piece: Piece, fold: Turn) -> None:
        # an exact fold is not where the regularized branch turns; its points come close to that
        passed = [piece.before.value, piece.after.value] + [fold.value] * (not fold.exact)
        turn = max(passed) if piece.before.direction > 0 else min(passed)
        self.progress.turns.append((self.progress.points, float(turn)))
        self.progress.folds.append(
            {
                "parameter": float(fold.value),
                "payoffs": self._payoffs(fold.value, fold.behavior),
                "exact": bool(fold.exact),
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
