"""Trace a branch of equilibria along a payoff parameter, and say what is on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.errors import UsageError
from eqbench.harness.environment import solver_version
from eqbench.report.rows import Report
from eqbench.solver import warm_up
from eqbench.studies.branch import POINTS, read_points
from eqbench.studies.frame import INTERRUPTED, Session, Study, call
from eqbench.studies.requests import MOST, TraceRequest
from eqbench.studies.trace.checkpoint import Progress
from eqbench.studies.trace.follow import Crossings, Setting, begin, follow
from eqbench.studies.trace.on_branch import (
    NARROWEST,
    Counts,
    EquilibriaAt,
    crossings_again,
    in_the_middle_of_most,
    same_value,
    vertical_pieces,
)
from eqbench.studies.trace.tables import trace_report

SCHEMA = "eqbench.branch/1"
_STOPPED = {"outcome": "interrupted", "reason": "interrupted"}


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
            counts = Counts.of(branch.values, progress.turns)
            coarse = Counts.of(branch.values, progress.turns, NARROWEST)
        record: dict[str, Any] = {
            "outcome": progress.outcome,
            "reason": progress.reason,
            "points": progress.points,
            "last": progress.last.value,
            "elapsed_s": progress.elapsed_s,
            "cpu_s": progress.cpu_s,
            "factorizations": progress.statistics.get("factorizations"),
            "steps": progress.statistics.get("steps"),
            "refused_steps": progress.statistics.get("refused_steps"),
            "folds": progress.folds,
            "branch_points": progress.branch_points,
            "corners": progress.corners,
            "vertical": [],
            "coexisting": {
                "most": coarse.most if coarse else 1,
                "intervals": list(map(list, coarse.intervals(coarse.most))) if coarse else [],
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
                equilibria = EquilibriaAt(self.setting, value, session)
                entry = equilibria.entry(crossings.found, name, vertical=vertical)
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
