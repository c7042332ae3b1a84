"""Trace a branch of equilibria along a payoff parameter, and say what is on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from eqbench.continuation import BranchPoint, ContinuationError
from eqbench.equilibria import Identifier
from eqbench.errors import INTERRUPTED, EqbenchError, UsageError, counted
from eqbench.harness.environment import solver_version
from eqbench.report.naming import identity_text, marks
from eqbench.report.rows import Column, Report, Row, Table
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
    Drawn,
    Session,
    Study,
    call,
    legend,
)
from eqbench.studies.requests import MOST, TraceRequest
from eqbench.studies.trace.checkpoint import OVER, Progress
from eqbench.studies.trace.follow import METHOD, Crossings, Setting, follow, stretches
from eqbench.text import seconds, small

SCHEMA = "eqbench.branch/1"
COUNTS_OF_WORK = ("factorizations", "steps", "refused_steps")
_STOPPED = {"outcome": "interrupted", "reason": "interrupted"}
# Where points of a piece are polished, as shares of its length.
SHARES = (0.15, 0.325, 0.5, 0.675, 0.85)
# Values of the parameter, relative to their size, that differ by no more than this are the same.
same_value = partial(math.isclose, rel_tol=1e-8, abs_tol=1e-8)
# Where a regularized branch is nearly vertical it may wind; narrower intervals are not looked at.
NARROWEST = 1e-6
MOST_ROWS = 20


def profile_columns(players: Sequence[str]) -> tuple[Column, ...]:
    """Columns for profiles as the verifier sees them: payoffs, max regret, identity."""
    payoffs = (Column(f"u:{player}", "payoff", layout="+z.6f") for player in players)
    return (*payoffs, Column("max regret", "number"), Column("identity"))


def profile_values(profile: Mapping[str, Any], players: Sequence[str]) -> dict[str, Any]:
    """Values for these columns; ! marks a regret that no equilibrium has."""
    mark = "" if profile.get("is_equilibrium", True) else " !"
    return {
        **{f"u:{p}": value for p, value in zip(players, profile["payoffs"], strict=True)},
        "max regret": small(profile["max_regret"]) + mark,
        "identity": identity_text(profile.get("identity")) or None,
    }


class TraceStudy(Study[TraceRequest, dict[str, Any], dict[str, Any]]):
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

    def do(self, part: str, session: Session) -> dict[str, Any]:
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
        record: dict[str, Any] = {
            "outcome": progress.outcome,
            "reason": "; ".join(filter(None, (progress.behind, progress.reason))),
            "points": progress.points,
            "last": progress.last.value,
            "turned_back": progress.outcome == "arrived" and progress.last.value == begun,
            "returns": progress.returns,
            **{name: getattr(progress, name) for name in ("elapsed_s", "cpu_s")},
            **{name: progress.statistics.get(name) for name in COUNTS_OF_WORK},
            **{name: getattr(progress, name) for name in ("folds", "branch_points", "corners")},
            "vertical": [],
            "coexisting": {"most": most, "intervals": list(map(list, coarse.intervals(most)))},
            "at": [],
        }
        try:
            if branch is not None:
                record["vertical"] = _vertical_pieces(setting, branch, progress, session)
            for value, (found, lost) in self._looked_at(progress, coarse, session):
                places = [piece["parameter"] for piece in record["vertical"]]
                vertical = any(same_value(place, float(value)) for place in places)
                name = f"at{len(record['at']) + 1}"
                entry = equilibria_at(setting, value, found, name, session, vertical=vertical)
                window = counts.window(float(value), len(found) + lost)
                record["at"].append(entry | {"lost": lost, "window": list(window)})
        except KeyboardInterrupt:
            record |= _STOPPED
        return record | {"interrupted": record["outcome"] not in OVER}

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

    def conclude(self, parts: Sequence[dict[str, Any]], session: Session) -> dict[str, Any]:
        records, finished = parts, session.finished
        setting, solver = self.setting, self.setting.solver.instance
        found = dict(records[0]) if records else _STOPPED | {"points": 0}
        found.pop("interrupted", None)
        return {
            "schema": SCHEMA,
            "game": setting.game.spec,
            "solver": setting.solver.spec,
            "players": list(setting.game.tree.players),
            "parameter": setting.parameter,
            "from": float(self.request.first),
            "to": float(self.request.last),
            "beyond": setting.beyond,
            **{name: getattr(solver, name, None) for name in METHOD},
            "finished": finished and found["outcome"] != "stalled",
            **found,
        }

    @staticmethod
    def report(document: Mapping[str, Any]) -> Report:
        game = parse_spec(document["game"]).without(document["parameter"])
        title, name, players = f"Branch of {game}", document["parameter"], document["players"]
        if not document["points"]:
            return Report((Table(title, lines=("no point of it yet",)),))
        payoffs = profile_columns(players)[: len(players)]
        place = Column(name, "number", identifies=True, layout=".9f")
        tables = [Table(title, lines=tuple(_course(document)))]
        exact = {True: "yes", False: "no"}
        folds = [[f["parameter"], *f["payoffs"], exact[f["exact"]]] for f in document["folds"]]
        pieces = [[v["parameter"], *map(_range, *v["payoffs"])] for v in document["vertical"]]
        for what, found in {"Folds": folds, "Vertical pieces": pieces}.items():
            columns = (place, *payoffs, *([Column("exact")] if found is folds else []))
            rows = tuple(Row.of(columns, item, f"{item[0]:.9f}") for item in found[:MOST_ROWS])
            more = [f"{len(found) - MOST_ROWS:,} more in summary.json"] * (len(found) > MOST_ROWS)
            remarks = (*more, legend(f"trace.{what.rpartition(' ')[2].lower()}"))
            tables += [Table(f"{what}: {len(found):,}", columns, rows, remarks)] * bool(found)
        tables += [_equilibria(entry, document) for entry in document["at"]]
        notes = [legend("trace.counts", polished=POLISHED, same=SAME_PAYOFFS)]
        return Report(tuple(tables), notes=tuple(notes if document["at"] else []))

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Drawn]:
        if document["points"] < 2:
            yield "nothing is drawn: the branch has no two points yet"
            return
        if self.figures:
            yield from call("eqbench.plots.branches:draw_trace", self.setting, folder, document)
        if self.always_draws:
            yield call("eqbench.plots.branches:animate_trace", self.setting, folder)

    def ending(self, document: Mapping[str, Any]) -> tuple[int, str]:
        """Return 1 if the branch was lost; where a limit ended it, it can be resumed."""
        outcome, reason = document["outcome"], document["reason"]
        if outcome in OVER:
            return int(outcome == "stalled"), ""
        return INTERRUPTED if outcome == "interrupted" else 0, reason


def _vertical_pieces(
    setting: Setting, branch: Branch, progress: Progress, session: Session
) -> list[dict[str, Any]]:
    """The :func:`stretches` that are vertical without regularization too, for JSON.

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
            found.append({"parameter": float(np.median(values)), "payoffs": ends})
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
) -> dict[str, Any]:
    """Polish, measure and name the equilibria at one value of the parameter, for JSON.

    Profiles are written as `name`-1, …. A vertical branch has more equilibria than crossings.
    """
    game, continuation = setting.game_at(value), setting.continuation
    place = f"{setting.parameter}={float(value):.9g}"
    identifier, described = Identifier(game), []
    for number, point in enumerate(crossings, start=1):
        session.go_on(f"polishing {number} of {len(crossings)} at {place}")
        item = measured(game.tree, continuation.polish(point, float(value))[0])
        identity = identifier.identify(item.profile, item.max_regret)
        stored = item.write(game, session.folder, f"{name}-{number}")
        described.append(
            {
                "payoffs": item.payoffs,
                "max_regret": item.max_regret,
                "polished": item.is_equilibrium,
                "profile": stored["profile"],
                "identity": identity and identity.to_json(),
            }
        )
    equilibria = [entry["payoffs"] for entry in described if entry["polished"]]
    distinct = distinct_payoffs(equilibria)
    entry: dict[str, Any] = {
        "parameter": float(value),
        "vertical": vertical,
        "crossings": len(described),
        "polished": len(equilibria),
        "distinct_payoffs": len(distinct),
        "equilibria": described,
    }
    if setting.request.starts:
        on_branch = None if vertical else distinct
        entry["beside"] = _off_branch(setting, value, on_branch, session)
    return entry


def _off_branch(
    setting: Setting, value: Fraction, on_branch: Sequence[Payoffs] | None, session: Session
) -> dict[str, Any]:
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
    return {
        "starts": starts,
        "polished": len(found),
        "distinct_payoffs": len(distinct),
        "payoff_ranges": [[min(own), max(own)] for own in zip(*found, strict=True)],
        "not_on_branch": others,
    }


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


def _course(document: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about the whole branch."""
    name, work = document["parameter"], document["factorizations"]
    first, end, last = (f"{name}={document[key]:.9g}" for key in ("from", "to", "last"))
    yield f"from {first} towards {end}, {_method(document)}"
    worked = "" if work is None else f", {counted(work, 'factorization')}"
    took = seconds(document["elapsed_s"])
    yield f"{counted(document['points'], 'point')} up to {last}{worked}, {took}"
    if document["returns"]:
        yield f"It left the range and came back {counted(document['returns'], 'time')}."
    if document["reason"]:
        yield document["reason"]
    if document["outcome"] == "closed":
        yield legend("trace.closed", start=first)
    if document["turned_back"]:
        yield legend("trace.back", end=last, beyond=f"{document['beyond']:g}")
    if not document["folds"]:
        yield "No folds."
    if document["corners"]:
        corners = counted(len(document["corners"]), "corner")
        yield f"{corners}, where actions enter or leave the support"
    most, intervals = document["coexisting"]["most"], document["coexisting"]["intervals"]
    if most > 1:
        shown = ", ".join(f"{low:.6f} to {high:.6f}" for low, high in intervals[:MOST_ROWS])
        more = "" if len(intervals) <= MOST_ROWS else f" and {len(intervals) - MOST_ROWS:,} more"
        yield f"Up to {most} points of this branch at one value of {name}: {shown}{more}"


def _method(document: Mapping[str, Any]) -> str:
    words = [f"{name} {document[name]}" for name in METHOD if document[name] is not None]
    return ", ".join(words) or document["solver"]


def _equilibria(entry: Mapping[str, Any], document: Mapping[str, Any]) -> Table:
    """The equilibria at one value, below sentences on them and on those off the branch."""
    players, rows, names = document["players"], [], []
    for number, item in enumerate(entry["equilibria"], start=1):
        names.append(identity_text(item["identity"]))
        values = profile_values({**item, "is_equilibrium": item["polished"]}, players)
        rows.append(Row(str(number), {"#": number, "profile": item["profile"], **values}))
    low, high = entry["window"]
    sentences = [
        f"{counted(entry['crossings'], 'crossing')}, "
        f"{counted(entry['polished'], 'polished equilibrium', 'polished equilibria')} with "
        f"{counted(entry['distinct_payoffs'], 'distinct payoff vector')}"
        + (f"; as many crossings from {low:.6f} to {high:.6f}" if low < high else "")
    ]
    if entry["lost"]:
        sentences.append(f"{counted(entry['lost'], 'more crossing')} could not be computed")
    if off := entry.get("beside"):
        others, payoffs = off["not_on_branch"], off["payoff_ranges"]
        ranges = [f"u:{p} {_range(*ends)}" for p, ends in zip(players, payoffs, strict=False)]
        sentences.append(
            f"Found off it from {counted(off['starts'], 'random start')}: "
            f"{counted(off['polished'], 'equilibrium', 'equilibria')} with "
            f"{counted(off['distinct_payoffs'], 'distinct payoff vector')}"
            + ("" if others is None else f", of which {others} not on this branch")
            + (f"; {', '.join(ranges)}" if ranges else "")
        )
    notes = [
        *marks(names),
        *(["! not polished to an equilibrium"] if entry["polished"] < len(rows) else []),
        *([legend("trace.vertical")] if entry["vertical"] else []),
        f"{_method(document)}.",
    ]
    title = f"Equilibria on this branch at {document['parameter']}={entry['parameter']:.9g}"
    first, last = Column("#", "count", identifies=True), Column("profile", dispensable=1)
    columns = (first, *profile_columns(players), last)
    return Table(title, columns, tuple(rows), tuple(notes), lines=tuple(sentences))


def _range(low: float, high: float) -> str:
    return f"{low:+z.6f} … {high:+z.6f}"
