"""Follow a branch through a range of its parameter, and write down what is found."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from eqbench.continuation import BranchPoint, Continuation, ContinuationError, Turn
from eqbench.errors import EqbenchError
from eqbench.model.choices import Choices
from eqbench.model.payoff_model import PayoffModel
from eqbench.model.tree import FloatArray
from eqbench.studies.branch_points import action_labels
from eqbench.studies.trace_checkpoint import Crossed, Outcome, Progress
from eqbench.studies.trace_folder import PointsWriter, TraceFolder
from eqbench.studies.trace_pieces import Piece, crossings_of, pieces, start_of
from eqbench.studies.trace_request import Setting
from eqbench.studies.trace_stretches import SPACING, stands_still

CHECKPOINT_S, FLUSH_S, REPORT_S = 5.0, 1.0, 0.1


class Control(NamedTuple):
    """When to stop early, and who is told.

    Attributes
    ----------
    most_points : points in the file at which to stop, or None
    time_s : seconds of tracing after which to stop, or None
    stop : asked after every point whether to stop, and between the equilibria that are polished
    report : given the parameter and the number of points from time to time
    tell : given in words what is done after that
    """

    most_points: int | None = None
    time_s: float | None = None
    stop: Callable[[], bool] = lambda: False
    report: Callable[[float, int], None] = lambda value, points: None
    tell: Callable[[str], None] = lambda words: None

    def go_on(self, words: str = "") -> None:
        """Raise KeyboardInterrupt if `stop` says so, else tell what is done next."""
        if self.stop():
            raise KeyboardInterrupt
        if words:
            self.tell(words)


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
    progress = Progress(point, crossings, lost=[0] * len(crossings))
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
        self.labels = action_labels(setting.game.tree)
        self.at = [float(value) for value in setting.request.at]

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
