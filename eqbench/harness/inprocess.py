"""Solve one game in this very process: no isolation, no kill, the same verified record."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from eqbench.harness.evidence import ending, first_refutation, measure, metrics
from eqbench.model.game import Game
from eqbench.registry import default_registry
from eqbench.solver import (
    Budget,
    Monitor,
    Report,
    Termination,
    availability_of,
    is_deterministic,
    refusal_of,
    warm_up,
)
from eqbench.store.schema import CellRecord
from eqbench.verification import DEFAULT_TOLERANCE, Verifier


def solve(game: Game | str, solver: Any, budget: Budget | None = None, seed: int = 0) -> CellRecord:
    """Verified result of one solver on one game.

    Parameters
    ----------
    game : Game or spec
    solver : an object with `solve(game, monitor, rng)`, or a spec
    budget : ten seconds and a target of 1e-10 of the payoff range unless given
    seed : of the generator that the solver gets

    Returns
    -------
    CellRecord
        The fields of a cell of `eqbench run`; the `profile` of each of its `equilibria` is
        the BehaviorProfile itself.

    Raises
    ------
    SpecError
        If a spec is wrong. What the solver raises passes through.
    """
    started = time.perf_counter()
    loaded_game = default_registry().load_game(game) if isinstance(game, str) else game
    instance, spec = _load_solver(solver)
    if budget is None:
        budget = Budget(target=1e-10 * loaded_game.tree.payoff_range)
    record = CellRecord(
        key="",
        game=game if isinstance(game, str) else game.spec,
        solver=solver if isinstance(solver, str) else spec,
        game_spec=loaded_game.spec,
        solver_spec=spec,
        seed=None if is_deterministic(instance) else seed,
        status="crashed",
    )
    available = availability_of(instance)
    if available.state != "available":
        reason = f"{available.state}: {available.reason}"
        return replace(record, status="unavailable", reason=reason)
    refusal = refusal_of(instance, loaded_game)
    if refusal is not None:
        return replace(record, status="unsupported", reason=refusal)
    if hasattr(instance, "prepare"):
        instance.prepare(loaded_game)
    warm_up(loaded_game)
    reports: list[Report] = []
    rng = np.random.default_rng(seed)
    setup_s = time.perf_counter() - started
    monitor = Monitor(loaded_game, budget, reports.append)
    termination = instance.solve(loaded_game, monitor, rng)
    record = replace(
        record,
        setup_s=setup_s,
        elapsed_s=monitor.elapsed_s,
        cpu_s=monitor.cpu_s,
        overhead_s=monitor.overhead_s,
        iterations=monitor.work,
        statistics=monitor.statistics,
    )
    return _judged(record, loaded_game, reports, termination, budget.target)


def _load_solver(solver: Any) -> tuple[Any, str]:
    if isinstance(solver, str):
        loaded = default_registry().load_solver(solver)
        return loaded.instance, loaded.spec
    return solver, type(solver).__name__


def _judged(
    record: CellRecord, game: Game, reports: list[Report], termination: Termination, target: float
) -> CellRecord:
    verifier = Verifier(game.tree)
    handed = [report for report in reports if report.kind == "candidate"] or reports[-1:]
    findings = [
        measure(
            report.candidate,
            verifier,
            tolerance=DEFAULT_TOLERANCE,
            work=report.work,
            elapsed_s=report.elapsed_s,
        )
        for report in handed
    ]
    status, reason = ending(termination.reason, termination.detail, findings, target)
    if refuted := first_refutation(findings):
        status, reason = "refuted", refuted
    return replace(
        record,
        status=status,
        reason=reason,
        **metrics(findings, lambda rank, finding: finding.candidate.profile),
    )
