"""Trace a branch of regularized equilibria along a payoff parameter, and say what is on it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from eqbench.continuation import BranchPoint
from eqbench.harness.versions import solver_version
from eqbench.solver import warm_up
from eqbench.studies.branch_points import read_points
from eqbench.studies.trace_census import Census, crossings_again
from eqbench.studies.trace_checkpoint import Progress
from eqbench.studies.trace_counts import NARROWEST, Counts, in_the_middle_of_most
from eqbench.studies.trace_folder import TraceFolder
from eqbench.studies.trace_follow import FREELY, Control, begin, follow
from eqbench.studies.trace_request import Setting
from eqbench.studies.trace_vertical import vertical_pieces

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


def conclude(setting: Setting, folder: TraceFolder, progress: Progress) -> dict[str, Any]:
    """Polish the crossings, measure them, and write the summary of a trace, which is returned.

    Counts are of this branch, for this regularization and this strength of it; other equilibria
    may exist beside it.

    Raises
    ------
    UsageError
        If the file of points was damaged.
    StoreError
        If a file cannot be written.
    """
    request, solver = setting.request, setting.solver.instance
    branch = None if progress.points < 2 else read_points(setting.game, folder.points)
    counts = coarse = None
    if branch is not None:
        counts = Counts.of(branch.values, progress.turns)
        coarse = Counts.of(branch.values, progress.turns, NARROWEST)
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
        "vertical": [] if branch is None else vertical_pieces(branch),
        "coexisting": _coexisting(coarse),
    }
    document["at"] = _census(setting, folder, progress, counts, coarse)
    folder.write_summary(document)
    return document


def _coexisting(counts: Counts | None) -> dict[str, Any]:
    if counts is None:
        return {"most": 1, "intervals": []}
    return {
        "most": counts.most,
        "intervals": [list(ends) for ends in counts.intervals(counts.most)],
    }


def _census(
    setting: Setting,
    folder: TraceFolder,
    progress: Progress,
    counts: Counts | None,
    coarse: Counts | None,
) -> list[dict[str, Any]]:
    """What is found at each value that was asked for."""
    request = setting.request
    looked_at: list[tuple[Fraction, Sequence[BranchPoint]]] = list(
        zip(request.at, progress.crossings, strict=True)
    )
    if request.at_most and coarse is not None and coarse.most:
        value = in_the_middle_of_most(coarse)
        looked_at.append((value, crossings_again(setting, value, progress.points)))
    entries = []
    for number, (value, crossings) in enumerate(looked_at, start=1):
        entry = Census(setting, value).entry(crossings, folder, f"at{number}")
        around = (float(value), float(value))
        if counts is not None:
            around = counts.window(float(value), len(crossings))
        entries.append(entry | {"window": list(around)})
    return entries
