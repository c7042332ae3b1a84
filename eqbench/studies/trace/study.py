"""Trace a branch of equilibria along a payoff parameter, and say what is on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
from msgspec import Struct, field, structs, to_builtins

from eqbench.continuation import BranchPoint, ContinuationError
from eqbench.equilibria import Identifier
from eqbench.errors import INTERRUPTED, EqbenchError, UsageError, counted
from eqbench.harness.environment import solver_version
from eqbench.report.naming import identity_text, marks
from eqbench.report.rows import INLINE, Column, Report, Row, Table, table_of
from eqbench.solver import warm_up
from eqbench.spec import parse_spec
from eqbench.studies.branch import (
    POINTS,
    POLISHED,
    SAME_PAYOFFS,
    Branch,
    Counts,
    Payoffs,
    crossing_counts,
    distinct_payoffs,
    measured,
    read_points,
)
from eqbench.studies.frame import (
    Document,
    Drawn,
    Identified,
    ProfileRow,
    Session,
    Study,
    call,
    legend,
)
from eqbench.studies.requests import MOST, TraceRequest
from eqbench.studies.trace.checkpoint import OVER, Corner, Crossed, Fold, Outcome, Progress
from eqbench.studies.trace.follow import METHOD, Crossings, Setting, follow, stretches
from eqbench.text import seconds

SCHEMA = "eqbench.branch/1"
# Where points of a piece are polished, as shares of its length.
SHARES = (0.15, 0.325, 0.5, 0.675, 0.85)
# Values of the parameter, relative to their size, that differ by no more than this are the same.
same_value = partial(math.isclose, rel_tol=1e-8, abs_tol=1e-8)
# Where a regularized branch is nearly vertical it may wind; narrower intervals are not looked at.
NARROWEST = 1e-6
MOST_ROWS = 20


class VerticalPiece(Struct, frozen=True, kw_only=True):
    """A stretch that is vertical without regularization too, with the ends of its payoffs."""

    parameter: float
    payoffs: list[list[float]]


class Crossing(ProfileRow, frozen=True, kw_only=True):
    """An equilibrium on the branch, if it was `polished` to one."""

    polished: bool
    identity: Identified
    profile: Annotated[str, Column(dispensable=1)]

    @property
    def is_equilibrium(self) -> bool:
        return self.polished


class OffBranch(Struct, frozen=True, kw_only=True):
    """Equilibria from random starts; `not_on_branch` of them if the branch is not vertical."""

    starts: int
    polished: int
    distinct_payoffs: int
    payoff_ranges: list[list[float]]
    not_on_branch: int | None


class AtValue(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The equilibria at one value of the parameter; as many crossings within its window."""

    parameter: float
    vertical: bool
    crossings: int
    polished: int
    distinct_payoffs: int
    equilibria: list[Crossing]
    lost: int
    window: list[float]
    beside: OffBranch | None = None


class Coexisting(Struct, frozen=True, kw_only=True):
    """The most points of the branch at one value, and the intervals where it has so many."""

    most: int
    intervals: list[list[float]]


class Followed(Document, frozen=True, kw_only=True):
    """What there is of a branch: how far it was followed, and what is on it."""

    outcome: Outcome = "interrupted"
    reason: str = "interrupted"
    points: int = 0
    last: float | None = None
    turned_back: bool = False
    returns: int = 0
    elapsed_s: float = 0.0
    cpu_s: float = 0.0
    factorizations: int | None = None
    steps: int | None = None
    refused_steps: int | None = None
    folds: Sequence[Fold] = ()
    branch_points: Sequence[Crossed] = ()
    corners: Sequence[Corner] = ()
    vertical: Sequence[VerticalPiece] = ()
    coexisting: Coexisting | None = None
    at: Sequence[AtValue] = ()

    @property
    def interrupted(self) -> bool:
        return self.outcome not in OVER


class _Numbered(Struct):
    """An equilibrium in the table of those at one value."""

    number: Annotated[int, Column("#", "count", identifies=True)]
    found: Annotated[Crossing, INLINE]


class TraceDocument(Followed, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """A branch along a payoff parameter."""

    game: str
    solver: str
    players: list[str]
    parameter: str
    from_: float = field(name="from")
    to: float
    beyond: float
    epsilon: float | None
    regularization: str | None
    derivative: str | None
    finished: bool

    def tables(self) -> Report:
        game = parse_spec(self.game).without(self.parameter)
        title, name, players = f"Branch of {game}", self.parameter, self.players
        if not self.points:
            return Report((Table(title, lines=("no point of it yet",)),))
        payoffs = [Column(f"u:{player}", "payoff", layout="+z.6f") for player in players]
        place = Column(name, "number", identifies=True, layout=".9f")
        tables = [Table(title, lines=tuple(self._course()))]
        exact = {True: "yes", False: "no"}
        folds = [[f["parameter"], *f["payoffs"], exact[f["exact"]]] for f in self.folds]
        pieces = [[v.parameter, *map(_range, *v.payoffs)] for v in self.vertical]
        for what, found in {"Folds": folds, "Vertical pieces": pieces}.items():
            columns = (place, *payoffs, *([Column("exact")] if found is folds else []))
            rows = tuple(Row.of(columns, item, f"{item[0]:.9f}") for item in found[:MOST_ROWS])
            more = [f"{len(found) - MOST_ROWS:,} more in summary.json"] * (len(found) > MOST_ROWS)
            remarks = (*more, legend(f"trace.{what.rpartition(' ')[2].lower()}"))
            tables += [Table(f"{what}: {len(found):,}", columns, rows, remarks)] * bool(found)
        tables += [self._equilibria(entry) for entry in self.at]
        notes = [legend("trace.counts", polished=POLISHED, same=SAME_PAYOFFS)]
        return Report(tuple(tables), notes=tuple(notes if self.at else []))

    def _course(self) -> Iterator[str]:
        """Sentences about the whole branch."""
        name, work = self.parameter, self.factorizations
        first, end, last = (f"{name}={at:.9g}" for at in (self.from_, self.to, self.last))
        yield f"from {first} towards {end}, {self._method()}"
        worked = "" if work is None else f", {counted(work, 'factorization')}"
        took = seconds(self.elapsed_s)
        yield f"{counted(self.points, 'point')} up to {last}{worked}, {took}"
        if self.returns:
            yield f"It left the range and came back {counted(self.returns, 'time')}."
        if self.reason:
            yield self.reason
        if self.outcome == "closed":
            yield legend("trace.closed", start=first)
        if self.turned_back:
            yield legend("trace.back", end=last, beyond=f"{self.beyond:g}")
        if not self.folds:
            yield "No folds."
        if self.corners:
            corners = counted(len(self.corners), "corner")
            yield f"{corners}, where actions enter or leave the support"
        if self.coexisting is not None and (most := self.coexisting.most) > 1:
            intervals = self.coexisting.intervals
            shown = ", ".join(f"{low:.6f} to {high:.6f}" for low, high in intervals[:MOST_ROWS])
            more = (
                "" if len(intervals) <= MOST_ROWS else f" and {len(intervals) - MOST_ROWS:,} more"
            )
            yield f"Up to {most} points of this branch at one value of {name}: {shown}{more}"

    def _method(self) -> str:
        words = [f"{name} {value}" for name in METHOD if (value := getattr(self, name)) is not None]
        return ", ".join(words) or self.solver

    def _equilibria(self, entry: AtValue) -> Table:
        """The equilibria at one value, below sentences on them and on those off the branch."""
        players, names = self.players, [identity_text(item.identity) for item in entry.equilibria]
        rows = [_Numbered(number, item) for number, item in enumerate(entry.equilibria, start=1)]
        low, high = entry.window
        sentences = [
            f"{counted(entry.crossings, 'crossing')}, "
            f"{counted(entry.polished, 'polished equilibrium', 'polished equilibria')} with "
            f"{counted(entry.distinct_payoffs, 'distinct payoff vector')}"
            + (f"; as many crossings from {low:.6f} to {high:.6f}" if low < high else "")
        ]
        if entry.lost:
            sentences.append(f"{counted(entry.lost, 'more crossing')} could not be computed")
        if off := entry.beside:
            others, payoffs = off.not_on_branch, off.payoff_ranges
            ranges = [f"u:{p} {_range(*ends)}" for p, ends in zip(players, payoffs, strict=False)]
            sentences.append(
                f"Found off it from {counted(off.starts, 'random start')}: "
                f"{counted(off.polished, 'equilibrium', 'equilibria')} with "
                f"{counted(off.distinct_payoffs, 'distinct payoff vector')}"
                + ("" if others is None else f", of which {others} not on this branch")
                + (f"; {', '.join(ranges)}" if ranges else "")
            )
        notes = [
            *marks(names),
            *(["! not polished to an equilibrium"] if entry.polished < len(rows) else []),
            *([legend("trace.vertical")] if entry.vertical else []),
            f"{self._method()}.",
        ]
        title = f"Equilibria on this branch at {self.parameter}={entry.parameter:.9g}"
        return table_of(rows, title, notes, lines=sentences, players=players)


class TraceStudy(Study[TraceRequest, Followed, TraceDocument]):
    """Follow the branch of a request, then polish and verify equilibria on it."""

    def __init__(self, request: TraceRequest, *, figures: bool = False) -> None:
        """Resolve the request; raises as :meth:`Setting.of`."""
        if request.starts and not request.at:
            raise UsageError("--starts looks off the branch at the values of --at; give one")
        self.request, self.figures, self.setting = request, figures, Setting.of(request)
        self.version = solver_version(self.setting.solver.entry)
        self.always_draws = request.animate is not None
        if request.close_ups and not figures:
            raise UsageError("--close-up is about figures; add --figures")
        if figures:
            call("eqbench.plots.branches:check_figures", self.setting)
        if self.always_draws:
            call("eqbench.studies.kuhn_ranges:KuhnNodes.of", self.setting.game.tree)

    def parts(self) -> list[str]:
        return ["branch"]

    def do(self, part: str, session: Session) -> Followed:
        """Follow the branch on from where it was left, and look at what there is of it."""
        progress, setting = self.followed(session), self.setting
        values, branch, most = np.array([progress.last.value]), None, 1
        if progress.points > 1:
            branch = read_points(setting.game, session.folder / POINTS)
            values = branch.values
        low, high = setting.bounds
        begun = low if progress.begin.value <= low else high
        counts, coarse = (
            crossing_counts(values, width, progress.turns) for width in (0.0, NARROWEST)
        )
        if branch is not None:
            most = coarse.most
        found = Followed(
            outcome=progress.outcome,
            reason="; ".join(filter(None, (progress.behind, progress.reason))),
            points=progress.points,
            last=progress.last.value,
            turned_back=progress.outcome == "arrived" and progress.last.value == begun,
            returns=progress.returns,
            elapsed_s=progress.elapsed_s,
            cpu_s=progress.cpu_s,
            factorizations=progress.statistics.get("factorizations"),
            steps=progress.statistics.get("steps"),
            refused_steps=progress.statistics.get("refused_steps"),
            folds=progress.folds,
            branch_points=progress.branch_points,
            corners=progress.corners,
            coexisting=Coexisting(most=most, intervals=list(map(list, coarse.intervals(most)))),
        )
        vertical: list[VerticalPiece] = []
        at: list[AtValue] = []
        try:
            if branch is not None:
                vertical += _vertical_pieces(setting, branch, progress, session)
            for value, (crossed, lost) in self._looked_at(progress, coarse, session):
                stands = any(same_value(piece.parameter, float(value)) for piece in vertical)
                name = f"at{len(at) + 1}"
                entry = equilibria_at(setting, value, crossed, name, session, vertical=stands)
                window = counts.window(float(value), len(crossed) + lost)
                at.append(structs.replace(entry, lost=lost, window=list(window)))
        except KeyboardInterrupt:
            found = structs.replace(found, outcome="interrupted", reason="interrupted")
        return structs.replace(found, vertical=vertical, at=at)

    def followed(self, session: Session) -> Progress:
        """Follow the branch from its start, or from where it was left, until it must stop.

        EqbenchError if it has no start; UsageError if files of the folder are damaged, StoreError
        if they cannot be written.
        """
        setting = self.setting
        progress = Progress.read(session.folder, len(setting.at))
        if progress is None or progress.outcome not in OVER:
            if hasattr(setting.solver.instance, "prepare"):
                setting.solver.instance.prepare(setting.game)
            warm_up(setting.game)
            session.tell("looking for a start")
            progress = follow(setting, progress, session)
        return progress

    def _looked_at(
        self, progress: Progress, counts: Counts, session: Session
    ) -> Iterator[tuple[Fraction, Crossings]]:
        """The requested values, and where the branch has them."""
        found = zip(progress.crossings, progress.lost, strict=True)
        yield from zip(self.setting.at, found, strict=True)
        if MOST in self.request.at and counts.most:
            value = in_the_middle_of_most(counts)
            yield value, _crossings_again(self.setting, value, progress, session)

    def conclude(self, parts: Sequence[Followed], session: Session) -> TraceDocument:
        setting, solver = self.setting, self.setting.solver.instance
        found = parts[0] if parts else Followed()
        return TraceDocument(
            game=setting.game.spec,
            solver=setting.solver.spec,
            players=list(setting.game.tree.players),
            parameter=setting.parameter,
            from_=float(self.request.first),
            to=float(self.request.last),
            beyond=setting.beyond,
            epsilon=getattr(solver, "epsilon", None),
            regularization=getattr(solver, "regularization", None),
            derivative=getattr(solver, "derivative", None),
            finished=session.finished and found.outcome != "stalled",
            **structs.asdict(found),
        )

    def draw(self, folder: Path, document: TraceDocument) -> Iterable[Drawn]:
        if document.points < 2:
            yield "nothing is drawn: the branch has no two points yet"
            return
        if self.figures:
            draw = "eqbench.plots.branches:draw_trace"
            yield from call(draw, self.setting, folder, to_builtins(document))
        if self.always_draws:
            yield call("eqbench.plots.branches:animate_trace", self.setting, folder)

    def ending(self, document: TraceDocument) -> tuple[int, str]:
        """Return 1 if the branch was lost; where a limit ended it, it can be resumed."""
        outcome, reason = document.outcome, document.reason
        if outcome in OVER:
            return int(outcome == "stalled"), ""
        return INTERRUPTED if outcome == "interrupted" else 0, reason


def _vertical_pieces(
    setting: Setting, branch: Branch, progress: Progress, session: Session
) -> list[VerticalPiece]:
    """The :func:`stretches` that are vertical without regularization too.

    Up to five points of each are polished while the parameter is free, and all of them must
    come out as equilibria at one value. That is the `parameter` of the piece; its `payoffs` are
    the smallest and the largest ones that the polished points have.
    """
    continuation, rows = setting.continuation, np.array([row for row, _ in progress.still_at])
    found = []
    for i, j in stretches(branch):
        session.go_on("polishing vertical pieces")
        values, seen = [], []
        among = np.flatnonzero((rows > i) & (rows < j))
        if not len(among):
            continue
        first, last = branch.arclength[[i, j]]
        places = branch.arclength[rows[among]] - first
        nearest = [int(np.abs(places - share * (last - first)).argmin()) for share in SHARES]
        for k in dict.fromkeys(nearest):
            behavior, value = continuation.polish(progress.still[among[k]])
            values.append(value)
            seen.append(measured(continuation.game_at(value).tree, behavior))
        equilibria = all(item.is_equilibrium for item in seen)
        if len(seen) > 1 and equilibria and same_value(max(values), min(values)):
            payoffs = np.array([item.payoffs for item in seen])
            ends = [payoffs.min(axis=0).tolist(), payoffs.max(axis=0).tolist()]
            found.append(VerticalPiece(parameter=float(np.median(values)), payoffs=ends))
    return found


def in_the_middle_of_most(counts: Counts) -> Fraction:
    """A value in the middle of the widest interval with most points, with few decimals."""
    low, high = max(counts.intervals(counts.most), key=lambda ends: ends[1] - ends[0])
    middle, digits = (low + high) / 2, 0
    while abs(round(middle, digits) - middle) > 0.1 * (high - low):
        digits += 1
    return Fraction(repr(round(middle, digits)))


def equilibria_at(
    setting: Setting,
    value: Fraction,
    crossings: Sequence[BranchPoint],
    name: str,
    session: Session,
    *,
    vertical: bool = False,
) -> AtValue:
    """Polish, measure and name the equilibria at one value of the parameter.

    Profiles are written as `name`-1, …. A vertical branch has more equilibria than crossings.
    """
    game, continuation = setting.game_at(value), setting.continuation
    place, identifier = f"{setting.parameter}={float(value):.9g}", Identifier(game)
    found: list[Crossing] = []
    for number, point in enumerate(crossings, start=1):
        session.go_on(f"polishing {number} of {len(crossings)} at {place}")
        item = measured(game.tree, continuation.polish(point, float(value))[0])
        stored = item.write(game, session.folder, f"{name}-{number}")
        found.append(
            Crossing(
                payoffs=item.payoffs,
                max_regret=item.max_regret,
                polished=item.is_equilibrium,
                profile=stored["profile"],
                identity=item.identity(identifier),
            )
        )
    equilibria = [each.payoffs for each in found if each.polished]
    distinct, beside = distinct_payoffs(equilibria), None
    if setting.request.starts:
        beside = _off_branch(setting, value, None if vertical else distinct, session)
    return AtValue(
        parameter=float(value),
        vertical=vertical,
        crossings=len(found),
        polished=len(equilibria),
        distinct_payoffs=len(distinct),
        equilibria=found,
        lost=0,
        window=[float(value), float(value)],
        beside=beside,
    )


def _off_branch(
    setting: Setting, value: Fraction, on_branch: Sequence[Payoffs] | None, session: Session
) -> OffBranch:
    """Equilibria from random starts, compared with the payoffs on the branch if these are known."""
    starts, rng = setting.request.starts, np.random.default_rng(setting.request.seed)
    tree, continuation = setting.game_at(value).tree, setting.continuation
    place, found = f"{setting.parameter}={float(value):.9g}", []
    for number in range(1, starts + 1):
        session.go_on(f"random start {number} of {starts} at {place}")
        try:
            start = continuation.start(float(value), rng)
            item = measured(tree, continuation.polish(start, float(value))[0])
        except ContinuationError:
            continue
        if item.is_equilibrium:
            found.append(item.payoffs)
    distinct, others = distinct_payoffs(found), None
    if on_branch is not None:
        others = len(distinct_payoffs([*on_branch, *distinct])) - len(on_branch)
    return OffBranch(
        starts=starts,
        polished=len(found),
        distinct_payoffs=len(distinct),
        payoff_ranges=[[min(own), max(own)] for own in zip(*found, strict=True)],
        not_on_branch=others,
    )


def _crossings_again(
    setting: Setting, value: Fraction, progress: Progress, session: Session
) -> Crossings:
    """Crossings of one value, by following the branch once more as far as it was followed.

    EqbenchError if that fails, which another version of the solver may cause.
    """
    request = replace(setting.request, most_points=progress.points, timeout_s=None)
    with TemporaryDirectory(prefix="eqbench-") as scratch:
        session = replace(session, folder=Path(scratch))
        again = follow(replace(setting, request=request, at=(value,)), None, session)
    if again.outcome == "interrupted":
        raise KeyboardInterrupt
    if again.points < progress.points:
        raise EqbenchError(f"the branch cannot be followed again: {again.reason}; trace it again")
    return again.crossings[0], again.lost[0]


def _range(low: float, high: float) -> str:
    return f"{low:+z.6f} … {high:+z.6f}"
