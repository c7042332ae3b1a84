"""Follow a branch point by point: its setting, stretches that stand still, pieces, limits."""

from __future__ import annotations

import itertools
import math
import os
import time
import zlib
from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.continuation import BranchPoint, Continuation, ContinuationError, Turn
from eqbench.documents import open_file
from eqbench.errors import EqbenchError, UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.rational import rational
from eqbench.model.tree import FloatArray
from eqbench.registry import LoadedSolver
from eqbench.spec import Spec, parse_spec
from eqbench.store.run_folder import reported
from eqbench.studies.branch import POINTS, Branch, columns
from eqbench.studies.frame import Session
from eqbench.studies.requests import MOST, TraceRequest
from eqbench.studies.resolve import games_at, solver_for
from eqbench.studies.trace.checkpoint import OVER, Crossed, Outcome, Progress
from eqbench.text import csv_text

# Options of solvers that a trace has too; its summary names them as far as the solver does.
METHOD = ("epsilon", "regularization", "derivative")


@dataclass(frozen=True, eq=False)
class Setting:
    """A request with what it names."""

    request: TraceRequest
    game: Game
    parameter: str  # of the game
    solver: LoadedSolver
    continuation: Continuation  # of the game, made by the solver
    at: tuple[Fraction, ...]  # values at which the crossings of the branch become equilibria

    @classmethod
    def of(cls, request: TraceRequest) -> Setting:
        """The game and the continuation that a request asks for.

        UsageError if the range or a value is not possible; otherwise as `games_at` and
        `solver_for`.
        """
        at = tuple(dict.fromkeys(Fraction(value) for value in request.at if value != MOST))
        low, high = sorted((request.first, request.last))
        if low == high:
            raise UsageError(f"the range from {low} to {high} is empty; give two values")
        for value in at:
            if not low <= value <= high:
                raise UsageError(f"--at {value} lies outside the range from {low} to {high}")
        game = games_at(request, (request.first, request.last))[0]
        solver = solver_for(request, game, _solver_spec(request), "continuation")
        name = str(game.tree.payoffs.parameter)
        return cls(request, game, name, solver, solver.instance.continuation(game), at)

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper end of the range."""
        first, last = float(self.request.first), float(self.request.last)
        return min(first, last), max(first, last)

    @property
    def beyond(self) -> float:
        """How far outside the range the branch is followed."""
        low, high = self.bounds
        return high - low if self.request.beyond is None else self.request.beyond

    def game_at(self, value: Fraction) -> Game:
        """The game at an exact value of the parameter."""
        return self.game.at(**{self.parameter: value})


def _solver_spec(request: TraceRequest) -> Spec:
    """Spec of the solver with the options that stand for some of its own."""
    spec = parse_spec(request.solver)
    chosen = {name: value for name in METHOD if (value := getattr(request, name)) is not None}
    for name in chosen.keys() & dict(spec.options).keys():
        raise UsageError(f"{name} is given by --{name} and in --solver {spec}; give it once")
    if request.epsilon is not None:
        chosen["epsilon"] = rational(request.epsilon)
    return spec.replace(**chosen)


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
        change = np.ptp(branch.payoffs[i : j + 1], axis=0).max()
        moves = length[i] > LEAST_LENGTH or change > LEAST_SHARE * branch.game.tree.payoff_range
        if moves and inner.max() >= KEPT * length[i]:
            found.append((i, j))
    return sorted(found)


def _last_within(values: FloatArray, width: float) -> NDArray[np.int64]:
    """For each point the last one up to which values (K,) stay within a relative width."""
    numbers, last, end = values.tolist(), [], 0
    window: list[float] = []  # from the present point to the end, sorted
    for value in numbers:
        allowed = width * max(abs(value), 1.0)
        while end < len(numbers):
            extremes = (*window[:1], numbers[end], *window[-1:])
            if max(extremes) - min(extremes) > allowed:
                break
            insort(window, numbers[end])
            end += 1
        last.append(end - 1)
        del window[bisect_left(window, value)]
    return np.array(last)


# Frequencies that differ by less are those of the same point, and those of the start.
SAME, CLOSED = 1e-9, 1e-6


class Piece(NamedTuple):
    """The branch between neighboring points, inside or outside its range; `ends` if for good.

    Where it passes an end of the range, one piece ends and another begins.
    """

    before: BranchPoint
    after: BranchPoint
    fold: Turn | None
    inside: bool = True
    ends: bool = False

    def passes(self, value: float) -> list[float]:
        """Where the regularized branch takes a value strictly between the two points.

        Places are between 0 and 1 before it turns around, and between 1 and 2 after that.
        """
        turns = [] if self.fold is None else [self.fold.regularized]
        pairs = enumerate(itertools.pairwise((self.before.value, *turns, self.after.value)))
        return [k + (value - a) / (b - a) for k, (a, b) in pairs if min(a, b) < value < max(a, b)]


# Points with one value of the parameter, and how many could not be computed.
Crossings = tuple[list[BranchPoint], int]


def start_of(setting: Setting, session: Session) -> tuple[BranchPoint, str]:
    """The point at which a branch begins; ContinuationError if there is none.

    That is its start at the first value, heading for the other end; or one outside the range, if
    the branch was within the range before it came to the start. Also what is not known of that.
    """
    request, continuation, (low, high) = setting.request, setting.continuation, setting.bounds
    value, ahead = float(request.first), float(request.last - request.first)
    start = continuation.start(value)
    # a fresh start may head either way, and the first piece shall not seem to turn around
    start = replace(start, value=value, direction=math.copysign(start.direction, ahead))
    if not setting.beyond:
        return start, ""
    farthest, came, lost, begun = start, False, "", time.perf_counter()
    try:
        for piece in pieces(setting, continuation.turned(start)):
            farthest, came = piece.after, came or piece.inside
            session.go_on(f"looking behind the start, {setting.parameter} {farthest.value:.6f}")
            if same_point(farthest, start):
                return start, ""  # the curve is closed
            if request.timeout_s is not None and time.perf_counter() - begun >= request.timeout_s:
                return start, f"behind its start it was followed for {request.timeout_s:g} s only"
    except ContinuationError as error:
        lost = f"behind its start lost at {setting.parameter}={farthest.value:.9g}: {error}"
        came = came and not low <= farthest.value <= high
    return continuation.turned(farthest) if came else start, lost


def same_point(one: BranchPoint, other: BranchPoint) -> bool:
    """Return whether two points of a curve are one, which it comes back to."""
    apart = float(np.abs(one.behavior - other.behavior).max())
    return one.value == other.value and apart < CLOSED


def pieces(setting: Setting, point: BranchPoint) -> Iterator[Piece]:
    """Pieces of the branch after `point`, until it is further outside than the request says.

    ContinuationError if it cannot be followed so far, or that point cannot be computed.
    """
    request, continuation, (low, high) = setting.request, setting.continuation, setting.bounds
    while True:
        for after in continuation.follow(point, increasing=request.first < request.last):
            piece = Piece(point, after, continuation.fold(point, after))
            # from an end of the range the branch may lead either way
            ahead = after.value if piece.fold is None else piece.fold.regularized
            inside = all(
                low <= v <= high for v in (point.value, math.nextafter(point.value, ahead))
            )
            border = _border(continuation, piece, setting.bounds)
            if border is not None:
                piece = Piece(point, border, continuation.fold(point, border))
            elif inside != (low <= after.value <= high):
                raise ContinuationError("the point where it leaves the range was not found")
            # a branch may begin further outside, and comes nearer then
            far, farther = (abs(end.value - (low + high) / 2) for end in piece[:2])
            ends = farther > max(far, (high - low) / 2 + setting.beyond)
            ends = ends or (inside and border is not None and not setting.beyond)
            yield piece._replace(inside=inside, ends=ends)
            if ends:
                return
            point = piece.after
            if border is not None:
                break  # the branch is followed from there on


def crossings_of(continuation: Continuation, piece: Piece, value: float) -> Crossings:
    """Points after the first one of a piece at which the parameter has a value."""
    expected = len(piece.passes(value))
    try:
        found = _inside(continuation, piece, value) if expected else []
    except ContinuationError:
        found = []
    lost = max(expected - len(found), 0)
    return found + [piece.after] * bool(piece.after.value == value), lost


def _border(
    continuation: Continuation, piece: Piece, bounds: tuple[float, float]
) -> BranchPoint | None:
    """The first point at which a piece passes an end of the range, None if it does not."""
    for _, border in sorted((place, end) for end in bounds for place in piece.passes(end)):
        try:
            found = _inside(continuation, piece, border)
        except ContinuationError as error:
            raise ContinuationError(f"it passes {border:g} next, but {error}") from None
        if found:
            return found[0]
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


def follow(setting: Setting, progress: Progress | None, session: Session) -> Progress:
    """Follow the branch from its start or where it was left, until it ends or must stop.

    Points are appended to the file of points while it is followed, and every few seconds a
    checkpoint is written; so is one in the end. The progress says how it ended.

    EqbenchError if the branch has no start, UsageError if the file of points does not fit the
    progress, StoreError if a file cannot be written.
    """
    trace = _Trace(setting, progress, session)
    progress = trace.progress
    progress.outcome, progress.reason = "interrupted", ""

    def report() -> None:
        at = (progress.outside or progress.last).value
        session.tell(f"{setting.parameter} {at:.6f}, {progress.points:,} points")
        if progress.outside is None:  # no more than a hint, since a branch may turn
            first, last = float(setting.request.first), float(setting.request.last)
            session.done((at - first) / (last - first))

    begun = time.perf_counter()
    periods = {report: REPORT_S, trace.flush: FLUSH_S, trace.save: CHECKPOINT_S}
    done = dict.fromkeys(periods, begun)
    try:
        for piece in pieces(setting, progress.outside or progress.last):
            trace.take(piece)
            if progress.outcome in OVER:
                break
            now = time.perf_counter()
            for task, period_s in periods.items():
                if now - done[task] > period_s:
                    task()
                    done[task] = now
            stopped = _stopped(setting, progress, now - begun, session)
            if stopped:
                progress.outcome, progress.reason = stopped
                break
    except ContinuationError as error:
        # outside, all that lies within the range is there, as far as the branch is known
        at, (low, high) = progress.outside or progress.last, setting.bounds
        inside = low <= math.nextafter(at.value, at.value + at.direction) <= high
        progress.outcome, words = (
            ("stalled",) * 2
            if inside or not progress.points
            else ("arrived", "lost outside the range")
        )
        progress.reason = f"{words} at {setting.parameter}={at.value:.9g}: {error}"
    trace.save()
    return progress


def _stopped(
    setting: Setting, progress: Progress, elapsed_s: float, session: Session
) -> tuple[Outcome, str] | None:
    most_points, time_s = setting.request.most_points, setting.request.timeout_s
    if session.interrupted():
        return "interrupted", "interrupted"
    if most_points is not None and progress.points >= most_points:
        return "points", f"stopped after {progress.points:,} points"
    if time_s is not None and elapsed_s >= time_s:
        return "time", f"stopped after {time_s:g} s"
    return None


class _Trace:
    """A branch that is followed: the file of its points, what is noted, what was spent."""

    def __init__(self, setting: Setting, progress: Progress | None, session: Session) -> None:
        """Begin the branch and the file of its points, or cut that to what a checkpoint says."""
        self.setting, self.folder = setting, session.folder
        self.file = self.folder / POINTS
        self.model = setting.game.payoff_model()
        self.actions = Choices.of(setting.game.tree).action
        self.labels = np.array(action_labels(setting.game.tree))
        self.rows: list[list[Any]] = []
        self.clocks = self._look()
        if progress is not None:
            self.progress = progress
            _cut(self.file, progress)
            return
        first = setting.request.first
        try:
            point, behind = start_of(setting, session)
        except ContinuationError as error:
            place = f"{setting.parameter}={first}"
            raise EqbenchError(f"no branch begins at {place}: {error}") from None
        inside = point.value == float(first)
        crossings = [[point] if inside and value == first else [] for value in setting.at]
        self.progress = Progress(
            begin=point,
            last=point,
            outside=None if inside else point,
            crossings=crossings,
            lost=[0] * len(crossings),
            behind=behind,
        )
        with reported(self.file):
            self.file.unlink(missing_ok=True)  # opening a pipe would wait for a reader
        self.rows.append(columns(setting.game.tree))
        if inside:
            self.write(point)

    def take(self, piece: Piece) -> None:
        """Note a piece of the branch, and whether it has ended."""
        progress = self.progress
        if piece.inside:
            if progress.outside is not None:  # it comes back
                progress.returns += progress.points > 0
                self.write(piece.before)  # its arclength is that of the point before it
                for value, found in zip(self.setting.at, progress.crossings, strict=True):
                    found += [piece.before] * bool(piece.before.value == float(value))
            self._note(piece)
        progress.outside = None if piece.inside else piece.after
        if piece.ends:
            progress.outcome = "arrived"
        elif not piece.inside and same_point(piece.after, progress.begin):
            progress.outcome = "closed"

    def _note(self, piece: Piece) -> None:
        progress, before, after = self.progress, piece.before, piece.after
        if (fold := piece.fold) is not None:
            progress.turns.append((progress.points, float(fold.regularized)))
            place = self._crossed(fold.value, fold.behavior)
            progress.folds.append({**place, "exact": bool(fold.exact)})
        if (before.played != after.played).any():
            progress.corners.append(
                {
                    "parameter": float(before.value + after.value) / 2,
                    "enter": self.labels[after.played & ~before.played].tolist(),
                    "leave": self.labels[before.played & ~after.played].tolist(),
                }
            )
        for k, value in enumerate(self.setting.at):
            found, lost = crossings_of(self.setting.continuation, piece, float(value))
            progress.crossings[k] += found
            progress.lost[k] += lost
        moved = (after.behavior - before.behavior)[self.actions]
        along = after.value - before.value
        length = float(np.sqrt(moved @ moved + along * along))
        progress.arclength += length
        self.write(after)
        kept = progress.still_at
        far = not kept or progress.arclength - kept[-1][1] >= SPACING
        if far and abs(along) <= SLOPE * max(abs(after.value), 1.0) * length:
            kept.append((progress.points - 1, progress.arclength))
            progress.still.append(after)

    def write(self, point: BranchPoint) -> None:
        """Add a point; it is in the file after the next `flush`."""
        progress, crossed = self.progress, self._crossed(point.value, point.behavior)
        free = point.behavior[self.actions].tolist()
        self.rows.append([crossed["parameter"], progress.arclength, *crossed["payoffs"], *free])
        progress.points += 1
        if point.event:
            progress.branch_points.append(crossed)
        progress.last = point

    def _crossed(self, value: float, behavior: FloatArray) -> Crossed:
        payoffs = self.model.at(value).expected_payoffs(behavior).tolist()
        return {"parameter": float(value), "payoffs": payoffs}

    def flush(self) -> None:
        """Append the new points to their file and wait until the disk has them, or StoreError."""
        data = csv_text(self.rows).encode()
        self.rows.clear()
        with reported(self.file), self.file.open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self.progress.size += len(data)
        self.progress.checksum = zlib.crc32(data, self.progress.checksum)

    def save(self) -> None:
        """Write a checkpoint, with what was spent since the last one."""
        progress, (wall, cpu, counts) = self.progress, self.clocks
        self.clocks = self._look()
        progress.elapsed_s += self.clocks[0] - wall
        progress.cpu_s += self.clocks[1] - cpu
        progress.statistics = {
            name: progress.statistics.get(name, 0) + count - counts.get(name, 0)
            for name, count in self.clocks[2].items()
        }
        self.flush()
        progress.write(self.folder)

    def _look(self) -> tuple[float, float, dict[str, int]]:
        statistics = dict(self.setting.continuation.statistics)
        return time.perf_counter(), time.process_time(), statistics


def _cut(path: Path, progress: Progress) -> None:
    try:
        with open_file(path) as file:
            data = file.read(progress.size)
        if len(data) < progress.size or zlib.crc32(data) != progress.checksum:
            raise UsageError(
                f"{path} is not as it was at the last checkpoint, when it had "
                f"{progress.size:,} bytes; restore it, or trace the branch again"
            )
        os.truncate(path, progress.size)
    except OSError as error:
        raise UsageError(
            f"cannot append to {path}: {error.strerror}; restore it, or trace the branch again"
        ) from None
