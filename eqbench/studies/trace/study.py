"""Trace a branch and conclude: the summary of what is on it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from eqbench.harness.environment import solver_version
from eqbench.solver import warm_up
from eqbench.studies.branch import read_points
from eqbench.studies.trace.census import (
    NARROWEST,
    Census,
    Counts,
    crossings_again,
    in_the_middle_of_most,
    same_value,
    vertical_pieces,
)
from eqbench.studies.trace.folder import Progress, TraceFolder
from eqbench.studies.trace.follow import FREELY, Control, Crossings, begin, follow
from eqbench.studies.trace.request import Setting

SCHEMA = "eqbench.branch/1"


def trace(setting: Setting, folder: TraceFolder, control: Control = FREELY) -> Progress:
    """Follow the branch of a request, from its start or from where it was left.

    Raises
    ------
    EqbenchError
        If the branch has no start.
    UsageError
        If the files of the folder are damaged.
    StoreError
        If they cannot be written.
    """
    progress = folder.progress(setting.request)
    if progress is not None and progress.over:
        return progress
    prepare = getattr(setting.solver.instance, "prepare", None)
    if prepare is not None:
        prepare(setting.game)
    warm_up(setting.game)
    if progress is None:
        progress = begin(setting)
    folder.drop_summary()  # it would speak of an earlier state
    follow(setting, folder, progress, control)
    return progress


def version_of_method(setting: Setting) -> str:
    """Version and sources of the solver, on which the points of a trace depend."""
    return solver_version(setting.solver.entry)


def conclude(
    setting: Setting, folder: TraceFolder, progress: Progress, control: Control = FREELY
) -> dict[str, Any]:
    """Polish the crossings, measure them, and write the summary of a trace, which is returned.

    Counts are of this branch, for this regularization and this strength of it; other equilibria
    may exist beside it.

    Raises
    ------
    UsageError
        If the file of points was damaged.
    StoreError
        If a file cannot be written.
    KeyboardInterrupt
        If the control says that it shall stop; then there is no summary.
    """
    request, solver = setting.request, setting.solver.instance
    branch = None if progress.points < 2 else read_points(setting.game, folder.points)
    counts = coarse = None
    vertical: list[dict[str, Any]] = []
    if branch is not None:
        counts = Counts.of(branch.values, progress.turns)
        coarse = Counts.of(branch.values, progress.turns, NARROWEST)
        rows = [row for row, _ in progress.still_at]
        still = list(zip(rows, progress.still, strict=True))
        vertical = vertical_pieces(setting.continuation, branch, still, control)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "game": setting.game.spec,
        "solver": setting.solver.spec,
        "players": list(setting.game.tree.players),
        "parameter": request.parameter,
        "from": float(request.first),
        "to": float(request.last),
        "epsilon": getattr(solver, "epsilon", None),
        "regularization": getattr(solver, "regularization", None),
        "derivative": getattr(solver, "derivative", None),
        "finished": progress.outcome == "arrived",
        "outcome": progress.outcome,
        "reason": progress.reason,
        "points": progress.points,
        "last": progress.last.value,
        "elapsed_s": progress.elapsed_s,
        "cpu_s": progress.cpu_s,
        **{
            name: progress.statistics.get(name)
            for name in ("factorizations", "steps", "refused_steps")
        },
        "folds": progress.folds,
        "branch_points": progress.branch_points,
        "corners": progress.corners,
        "vertical": vertical,
        "coexisting": _coexisting(coarse),
    }
    document["at"] = []
    for number, (value, crossings) in enumerate(
        _looked_at(setting, progress, coarse, control), start=1
    ):
        stands = any(same_value(piece["parameter"], float(value)) for piece in vertical)
        census = Census(setting, value, control)
        entry = census.entry(crossings.found, folder, f"at{number}", vertical=stands)
        around = (float(value), float(value))
        if counts is not None:
            around = counts.window(float(value), len(crossings.found) + crossings.lost)
        document["at"].append(entry | {"lost": crossings.lost, "window": list(around)})
    folder.write_summary(document)
    return document


def _coexisting(counts: Counts | None) -> dict[str, Any]:
    if counts is None:
        return {"most": 1, "intervals": []}
    return {
        "most": counts.most,
        "intervals": [list(ends) for ends in counts.intervals(counts.most)],
    }


def _looked_at(
    setting: Setting, progress: Progress, counts: Counts | None, control: Control
) -> list[tuple[Fraction, Crossings]]:
    """The values that were asked for, and where the branch has them."""
    request = setting.request
    found = list(map(Crossings, progress.crossings, progress.lost))
    looked_at = list(zip(request.at, found, strict=True))
    if request.at_most and counts is not None and counts.most:
        value = in_the_middle_of_most(counts)
        looked_at.append((value, crossings_again(setting, value, progress.points, control)))
    return looked_at
