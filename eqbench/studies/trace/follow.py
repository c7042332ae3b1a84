"""Follow a branch point by point: its setting, stretches that stand still, pieces, limits."""

from __future__ import annotations

import itertools
import math
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import itemgetter
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
from eqbench.model.tree import FloatArray
from eqbench.registry import LoadedSolver
from eqbench.spec import Spec, parse_spec
from eqbench.store.run_folder import reported
from eqbench.studies.branch import POINTS, Branch, columns, csv_text
from eqbench.studies.frame import Session
from eqbench.studies.requests import MOST, TraceRequest
from eqbench.studies.resolve import games_at, solver_for
from eqbench.studies.trace.checkpoint import Crossed, Outcome, Progress


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
    spec, epsilon = parse_spec(request.solver), request.epsilon
    options = {
        "epsilon": None if epsilon is None else Fraction(repr(epsilon)),
        "regularization": request.regularization,
        "derivative": request.derivative,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    for name in chosen.keys() & dict(spec.options).keys():
        raise UsageError(f"{name} is given by --{name} and in --solver {spec}; give it once")
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
    allowed = width * np.maximum(np.abs(values), 1.0)
    last = np.empty(len(values), dtype=np.int64)
    for i, most in enumerate(allowed):
        far = 16  # most points are followed by few that are as near
        while True:
            ahead = values[i : i + far]
            extent = np.maximum.accumulate(ahead) - np.minimum.accumulate(ahead)
            if extent[-1] > most or len(ahead) < far:
                break
            far *= 4
        last[i] = i + np.searchsorted(extent, most, side="right") - 1
    return last


# Frequencies that differ by less are those of the same point, and those of the start.
SAME, CLOSED = 1e-9, 1e-6


class Piece(NamedTuple):
    """The branch within its range, between two neighboring points or from or to an end of it.

    `returns` if the branch comes back into the range at the first point.
    """

    before: BranchPoint
    after: BranchPoint
    fold: Turn | None
    returns: bool = False

    @property
    def course(self) -> tuple[float, ...]:
        """Values between which the parameter of the regularized branch only rises or falls."""
        turns = () if self.fold is None else (self.fold.regularized,)
        return (self.before.value, *turns, self.after.value)

    def passes(self, value: float) -> list[float]:
        """Where the regularized branch takes a value strictly between the two points.

        Places are between 0 and 1 before it turns around, and between 1 and 2 after that.
        """
        pairs = enumerate(itertools.pairwise(self.course))
        return [k + (value - a) / (b - a) for k, (a, b) in pairs if min(a, b) < value < max(a, b)]


# Points with one value of the parameter, and how many could not be computed.
Crossings = tuple[list[BranchPoint], int]


def start_of(setting: Setting, session: Session) -> BranchPoint:
    """The point at which a branch begins; ContinuationError if there is none.

    That is its start at the first value, heading for the other end; or one outside the range, if
    the branch was within the range before it came to the start.
    """
    request, continuation = setting.request, setting.continuation
    value, ahead = float(request.first), float(request.last - request.first)
    start = continuation.start(value)
    # a fresh start may head either way, and the first piece shall not seem to turn around
    start = replace(start, value=value, direction=math.copysign(start.direction, ahead))
    if not setting.beyond:
        return start
    farthest, came = start, False
    with suppress(ContinuationError):
        for step in steps(setting, continuation.turned(start)):
            session.go_on(f"looking behind the start, {setting.parameter} {step.to.value:.6f}")
            if any(same_point(piece.after, start) for piece in step.pieces):
                return start  # the curve is closed
            farthest, came = step.to, came or bool(step.pieces)
    return continuation.turned(farthest) if came else start


def same_point(one: BranchPoint, other: BranchPoint) -> bool:
    """Return whether two points of a curve are one, which it comes back to."""
    apart = float(np.abs(one.behavior - other.behavior).max())
    return one.value == other.value and apart < CLOSED


class Step(NamedTuple):
    """The pieces of a step of the branch that lie within its range, where it leads, and if it ends.

    It ends where it is further outside than the request says.
    """

    pieces: list[Piece]
    to: BranchPoint
    ends: bool


def steps(setting: Setting, point: BranchPoint) -> Iterator[Step]:
    """Steps of the branch after `point`, up to its end.

    ContinuationError if it cannot be followed so far, or a point at an end cannot be computed.
    """
    continuation, (low, high), beyond = setting.continuation, setting.bounds, setting.beyond
    for after in continuation.follow(
        point, increasing=setting.request.first < setting.request.last
    ):
        whole, kept = Piece(point, after, continuation.fold(point, after)), []
        for piece in _within(continuation, whole, (low, high)):
            kept.append(piece)
            if piece.after is not after and not beyond:
                yield Step(kept, piece.after, ends=True)
                return
        # a branch may begin further outside, and comes nearer then
        far, farther = (abs(each.value - (low + high) / 2) for each in (point, after))
        ends = farther > max(far, (high - low) / 2 + beyond)
        yield Step(kept, after, ends)
        if ends:
            return
        point = after


def crossings_of(continuation: Continuation, piece: Piece, value: float) -> Crossings:
    """Points of a piece at which the parameter has a value, the first if the branch returns there.

    Otherwise the first point is one of the piece before.
    """
    expected = len(piece.passes(value))
    try:
        found = _inside(continuation, piece, value) if expected else []
    except ContinuationError:
        found = []
    lost = max(expected - len(found), 0)
    if piece.returns and piece.before.value == value:
        found.insert(0, piece.before)
    return found + [piece.after] * bool(piece.after.value == value), lost


def _within(
    continuation: Continuation, whole: Piece, bounds: tuple[float, float]
) -> Iterator[Piece]:
    """Pieces of one that lie within the range; ContinuationError if an end cannot be computed."""
    (low, high), before, after = bounds, whole.before, whole.after
    # from an end of the range the branch may lead either way
    inside, ends_inside = (
        low <= value <= high and low <= math.nextafter(value, near) <= high
        for value, near in (whole.course[:2], whole.course[:-3:-1])
    )
    first, returns = before, False
    for end in _ends(continuation, whole, bounds):
        if inside:
            yield Piece(first, end, continuation.fold(first, end), returns)
        first, returns, inside = end, True, not inside
    if inside != ends_inside:
        raise ContinuationError("the point where it leaves or enters the range was not found")
    if inside:
        yield (
            whole if first is before else Piece(first, after, continuation.fold(first, after), True)
        )


def _ends(
    continuation: Continuation, piece: Piece, bounds: tuple[float, float]
) -> list[BranchPoint]:
    """Points at which a piece passes the ends of the range, in their order along the branch."""
    found: list[tuple[float, BranchPoint]] = []
    for border in bounds:
        places = piece.passes(border)
        try:
            points = _inside(continuation, piece, border) if places else []
        except ContinuationError as error:
            raise ContinuationError(f"it passes {border:g} next, but {error}") from None
        found += zip(places, points, strict=False)
    return [point for _, point in sorted(found, key=itemgetter(0))]


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

    begun = time.perf_counter()
    periods = {report: REPORT_S, trace.flush: FLUSH_S, trace.save: CHECKPOINT_S}
    done = dict.fromkeys(periods, begun)
    try:
        for step in steps(setting, progress.outside or progress.last):
            trace.take(step)
            if progress.over:
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
        outside, place = progress.outside, f"{setting.parameter}="
        if outside is None:
            progress.outcome = "stalled"
            progress.reason = f"stalled at {place}{progress.last.value:.9g}: {error}"
        else:  # all that is within the range, as far as the branch is known
            progress.outcome = "arrived"
            progress.reason = f"lost outside the range at {place}{outside.value:.9g}: {error}"
    trace.save()
    return progress


def _stopped(
    setting: Setting, progress: Progress, elapsed_s: float, session: Session
) -> tuple[Outcome, str] | None:
    most_points, time_s = setting.request.most_points, setting.request.time_s
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
            point = start_of(setting, session)
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
        )
        with reported(self.file):
            self.file.unlink(missing_ok=True)  # opening a pipe would wait for a reader
        self.rows.append(columns(setting.game.tree))
        if inside:
            self.write(point)

    def take(self, step: Step) -> None:
        """Note the pieces of a step, or that the branch has ended."""
        progress, (pieces, point, ends) = self.progress, step
        for piece in pieces:
            if piece.returns:
                if same_point(piece.before, progress.begin):
                    progress.outcome = "closed"
                    return
                progress.returns += progress.points > 0
                self.write(piece.before)  # its arclength is that of the point before it
            self._note(piece)
        progress.outside = None if pieces and pieces[-1].after is point else point
        if ends:
            progress.outcome = "arrived"

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

    def flush(self, *, to_disk: bool = False) -> None:
        """Hand all rows to the system, or wait until the disk has them; StoreError if it fails."""
        data = csv_text(self.rows).encode()
        self.rows.clear()
        with reported(self.file), self.file.open("ab") as file:
            file.write(data)
            if to_disk:
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
        self.flush(to_disk=True)
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
            f"cannot go on writing {path}: {error.strerror}; restore it, or trace the branch again"
        ) from None
