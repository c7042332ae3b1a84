"""Trace a branch of equilibria along a payoff parameter, and say what is on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.errors import UsageError, counted
from eqbench.harness.environment import solver_version
from eqbench.report.naming import identity_text, marks
from eqbench.report.rows import Column, Report, Row, Table, profile_columns, profile_values
from eqbench.report.terminal import seconds
from eqbench.solver import warm_up
from eqbench.spec import parse_spec
from eqbench.studies.branch import POINTS, POLISHED, SAME_PAYOFFS, Counts, read_points
from eqbench.studies.frame import INTERRUPTED, Session, Study, call
from eqbench.studies.requests import MOST, TraceRequest
from eqbench.studies.trace.checkpoint import Progress
from eqbench.studies.trace.follow import Crossings, Setting, begin, follow
from eqbench.studies.trace.on_branch import (
    NARROWEST,
    counts_of,
    crossings_again,
    equilibria_at,
    in_the_middle_of_most,
    same_value,
    vertical_pieces,
)

SCHEMA = "eqbench.branch/1"
COUNTS_OF_WORK = ("factorizations", "steps", "refused_steps")
_STOPPED = {"outcome": "interrupted", "reason": "interrupted"}
MOST_ROWS = 20

_FOLDS = (
    "exact: determined by the support; otherwise the fold is that of the regularized branch and "
    "depends on epsilon"
)
_INSIDE = "payoffs: range over a few polished points inside; the piece goes further"
_VERTICAL = (
    "Equilibria form a continuum at this value. The crossing is the one of them that epsilon and "
    "the regularization select."
)
_COUNTS = (
    "Counts are of this branch and depend on epsilon and the regularization; other equilibria may "
    f"exist beside it. Payoffs count as distinct if they differ by more than {SAME_PAYOFFS:g}, and "
    f"a crossing as polished if the verifier measures a max regret of at most {POLISHED:g} of the "
    "payoff range."
)


class TraceStudy(Study[TraceRequest]):
    """Follow the branch of a request, then polish and verify equilibria on it.

    Counts are of this branch, for this regularization and this strength of it; other equilibria
    may exist beside it.
    """

    request_type = TraceRequest

    def __init__(self, request: TraceRequest, *, figures: bool = False) -> None:
        """Resolve the request; raises as :meth:`Setting.of`."""
        if request.starts and not request.at:
            raise UsageError("--starts looks beside the branch at the values of --at; give one")
        self.request, self.figures, self.setting = request, figures, Setting.of(request)
        self.version = solver_version(self.setting.solver.entry)
        self.always_draws = request.animate is not None
        if request.close_ups and not figures:
            raise UsageError("--close-up is about figures; add --figures")
        if figures:
            call("eqbench.plots.branches:check_figures", self.setting)
        if self.always_draws:
            call("eqbench.plots.branches:check_animation", self.setting)

    def parts(self) -> list[str]:
        return ["branch"]

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Follow the branch on from where it was left, and look at what there is of it."""
        progress = self.followed(session)
        branch = counts = coarse = None
        if progress.points > 1:
            branch = read_points(self.setting.game, session.folder / POINTS)
            counts = counts_of(branch.values, progress.turns)
            coarse = counts_of(branch.values, progress.turns, NARROWEST)
        most = coarse.most if coarse else 1
        record: dict[str, Any] = {
            "outcome": progress.outcome,
            "reason": progress.reason,
            "points": progress.points,
            "last": progress.last.value,
            "elapsed_s": progress.elapsed_s,
            "cpu_s": progress.cpu_s,
            **{name: progress.statistics.get(name) for name in COUNTS_OF_WORK},
            "folds": progress.folds,
            "branch_points": progress.branch_points,
            "corners": progress.corners,
            "vertical": [],
            "coexisting": {
                "most": most,
                "intervals": list(map(list, coarse.intervals(most))) if coarse else [],
            },
            "at": [],
        }
        try:
            if branch is not None:
                rows = [row for row, _ in progress.still_at]
                still = list(zip(rows, progress.still, strict=True))
                continuation = self.setting.continuation
                record["vertical"] = vertical_pieces(continuation, branch, still, session)
            for value, crossings in self._looked_at(progress, coarse, session):
                places = [piece["parameter"] for piece in record["vertical"]]
                vertical = any(same_value(place, float(value)) for place in places)
                name = f"at{len(record['at']) + 1}"
                entry = equilibria_at(
                    self.setting, value, crossings.found, name, session, vertical=vertical
                )
                window = (float(value), float(value))
                if counts:
                    window = counts.window(window[0], len(crossings.found) + crossings.lost)
                record["at"].append(entry | {"lost": crossings.lost, "window": list(window)})
        except KeyboardInterrupt:
            record |= _STOPPED
        return record | {"interrupted": record["outcome"] not in ("arrived", "stalled")}

    def followed(self, session: Session) -> Progress:
        """Follow the branch from its start, or from where it was left, until it must stop.

        Raises
        ------
        EqbenchError
            If the branch has no start.
        UsageError
            If the files of the folder are damaged.
        StoreError
            If they cannot be written.
        """
        setting = self.setting
        progress = Progress.read(session.folder, len(setting.at))
        if progress is None or not progress.over:
            prepare = getattr(setting.solver.instance, "prepare", None)
            if prepare is not None:
                prepare(setting.game)
            warm_up(setting.game)
            session.tell("looking for a start")
            progress = progress or begin(setting)
            follow(setting, progress, session)
        return progress

    def _looked_at(
        self, progress: Progress, counts: Counts | None, session: Session
    ) -> Iterator[tuple[Fraction, Crossings]]:
        """The values that were asked for, and where the branch has them."""
        found = map(Crossings, progress.crossings, progress.lost)
        yield from zip(self.setting.at, found, strict=True)
        if MOST in self.request.at and counts is not None and counts.most:
            value = in_the_middle_of_most(counts)
            yield value, crossings_again(self.setting, value, progress.points, session)

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
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
            "epsilon": getattr(solver, "epsilon", None),
            "regularization": getattr(solver, "regularization", None),
            "derivative": getattr(solver, "derivative", None),
            "finished": finished and found["outcome"] == "arrived",
            **found,
        }

    def report(self, document: Mapping[str, Any]) -> Report:
        return trace_report(document)

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Path | str]:
        if document["points"] < 2:
            yield "nothing is drawn: the branch has no two points yet"
            return
        if self.figures:
            yield from call("eqbench.plots.branches:draw_trace", self.setting, folder, document)
        if self.always_draws:
            yield call("eqbench.plots.branches:animate_trace", self.setting, folder)

    def ending(self, document: Mapping[str, Any]) -> tuple[int, str]:
        """Return 1 if the branch was lost; where a limit ended it, it can go on."""
        outcome, reason = document["outcome"], document["reason"]
        if outcome in ("arrived", "stalled"):
            return int(outcome == "stalled"), ""
        return INTERRUPTED if outcome == "interrupted" else 0, reason


def trace_report(document: Mapping[str, Any]) -> Report:
    """Return the tables of a summary."""
    game = parse_spec(document["game"]).without(document["parameter"])
    title, name = f"Branch of {game}", document["parameter"]
    if not document["points"]:
        return Report((Table(title, lines=("no point of it yet",)),))
    payoffs = tuple(
        Column(f"u:{player}", "payoff", layout="+z.6f") for player in document["players"]
    )
    titles = [column.title for column in payoffs]
    place = Column(name, "number", identifies=True, layout=".9f")
    tables = [Table(title, lines=tuple(_course(document)))]
    if document["folds"]:
        folds = [
            {name: fold["parameter"], "exact": "yes" if fold["exact"] else "no"}
            | dict(zip(titles, fold["payoffs"], strict=True))
            for fold in document["folds"]
        ]
        columns = (place, *payoffs, Column("exact"))
        tables.append(_listed(f"Folds: {len(folds):,}", columns, folds, _FOLDS))
    if document["vertical"]:
        pieces = [
            {name: piece["parameter"]}
            | dict(zip(titles, map(_range, *piece["payoffs"]), strict=True))
            for piece in document["vertical"]
        ]
        title = f"Vertical pieces: {len(pieces):,}"
        tables.append(_listed(title, (place, *payoffs), pieces, _INSIDE))
    tables += [_equilibria(entry, document) for entry in document["at"]]
    return Report(tuple(tables), notes=(_COUNTS,) if document["at"] else ())


def _course(document: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about the whole branch."""
    name, work = document["parameter"], document["factorizations"]
    first, end, last = (f"{name}={document[key]:.9g}" for key in ("from", "to", "last"))
    yield f"from {first} towards {end}, {_method(document)}"
    yield (
        f"{counted(document['points'], 'point')} up to {last}"
        + (f", {counted(work, 'factorization')}" if work is not None else "")
        + f", {seconds(document['elapsed_s'])}"
    )
    if not document["finished"]:
        yield document["reason"]
    elif last == first:
        yield f"The branch came back to {first}."
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
    """The regularization, as far as the solver says."""
    words = [
        f"{name} {document[name]}"
        for name in ("epsilon", "regularization", "derivative")
        if document[name] is not None
    ]
    return ", ".join(words) or document["solver"]


def _listed(
    title: str, columns: tuple[Column, ...], values: list[dict[str, Any]], note: str
) -> Table:
    """A table of the first values, with how many more there are."""
    rows = tuple(Row(f"{item[columns[0].title]:.9f}", item) for item in values[:MOST_ROWS])
    more = len(values) - MOST_ROWS
    notes = (f"{more:,} more in summary.json", note) if more > 0 else (note,)
    return Table(title, columns, rows, notes=notes)


def _equilibria(entry: Mapping[str, Any], document: Mapping[str, Any]) -> Table:
    players, found = document["players"], entry["equilibria"]
    rows = tuple(
        Row(
            str(number),
            {"#": number, "profile": item["profile"]}
            | profile_values({**item, "is_equilibrium": item["polished"]}, players),
        )
        for number, item in enumerate(found, start=1)
    )
    names = [(identity_text(item["identity"]),) for item in found]
    notes = [
        *marks(names),
        *(["! not polished to an equilibrium"] if entry["polished"] < len(found) else []),
        *([_VERTICAL] if entry["vertical"] else []),
        f"{_method(document)}.",
    ]
    return Table(
        f"Equilibria on this branch at {document['parameter']}={entry['parameter']:.9g}",
        (
            Column("#", "count", identifies=True),
            *profile_columns(players),
            Column("profile", dispensable=1),
        ),
        rows,
        notes=tuple(notes),
        lines=tuple(_counted(entry, players)),
    )


def _counted(entry: Mapping[str, Any], players: list[str]) -> Iterator[str]:
    """Sentences about the equilibria at one value, on the branch and beside it."""
    low, high = entry["window"]
    yield (
        f"{counted(entry['crossings'], 'crossing')}, "
        f"{counted(entry['polished'], 'polished equilibrium', 'polished equilibria')} with "
        f"{counted(entry['distinct_payoffs'], 'distinct payoff vector')}"
        + (f"; as many crossings from {low:.6f} to {high:.6f}" if low < high else "")
    )
    if entry["lost"]:
        yield f"{counted(entry['lost'], 'more crossing')} could not be computed"
    if "beside" not in entry:
        return
    beside = entry["beside"]
    words = [
        f"Found beside it from {counted(beside['starts'], 'random start')}: "
        f"{counted(beside['polished'], 'equilibrium', 'equilibria')} with "
        f"{counted(beside['distinct_payoffs'], 'distinct payoff vector')}"
    ]
    if beside["not_on_branch"] is not None:
        words.append(f", of which {beside['not_on_branch']} not on this branch")
    ranges = [
        f"u:{player} {_range(*ends)}"
        for player, ends in zip(players, beside["payoff_ranges"], strict=False)
    ]
    yield "".join(words) + (f"; {', '.join(ranges)}" if ranges else "")


def _range(low: float, high: float) -> str:
    return f"{low:+z.6f} … {high:+z.6f}"
