"""Solve one game in this very process: no isolation, no kill, the same verified record."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from eqbench.harness.evidence import ending, first_refutation, measure, metrics
from eqbench.model.game import Game
from eqbench.registry import default_registry
from eqbench.solver import Budget, Monitor, Report, availability_of, is_deterministic, refusal_of
from eqbench.store.schema import CellRecord
from eqbench.verification import Verifier


def solve(
    game: Game | str, solver: Any, budget: Budget | None = None, seed: int = 0
) -> CellRecord:
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
    typed_game, typed_solver = game, solver
    started = time.perf_counter()
    if isinstance(game, str):
        game = default_registry().load_game(game)
    solver_spec = type(solver).__name__
    if isinstance(solver, str):
        loaded = default_registry().load_solver(solver)
        solver, solver_spec = loaded.instance, loaded.spec
    if budget is None:
        budget = Budget(target=1e-10 * game.tree.payoff_range)
    names = {
        "key": "",
        "game": typed_game if isinstance(typed_game, str) else game.spec,
        "solver": typed_solver if isinstance(typed_solver, str) else solver_spec,
        "game_spec": game.spec,
        "solver_spec": solver_spec,
        "seed": None if is_deterministic(solver) else seed,
    }
    available = availability_of(solver)
    if available.state != "available":
        reason = f"{available.state}: {available.reason}"
        return CellRecord(**names, status="unavailable", reason=reason)
    refusal = refusal_of(solver, game)
    if refusal is not None:
        return CellRecord(**names, status="unsupported", reason=refusal)
    if hasattr(solver, "prepare"):
        solver.prepare(game)
    game.sequence_form.arrays  # noqa: B018 - compiled before the clock starts
    reports: list[Report] = []
    rng = np.random.default_rng(seed)
    setup_s = time.perf_counter() - started
    monitor = Monitor(game, budget, reports.append)
    termination = solver.solve(game, monitor, rng)
    clocks = {
        "setup_s": setup_s,
        "elapsed_s": monitor.elapsed_s,
        "cpu_s": monitor.cpu_s,
        "overhead_s": monitor.overhead_s,
        "iterations": monitor.work,
        "statistics": monitor.statistics,
    }
    verifier = Verifier(game.tree)
    handed = [report for report in reports if report.kind == "candidate"] or reports[-1:]
    findings = [
        measure(
            report.candidate, verifier, tolerance=1e-6, work=report.work, elapsed_s=report.elapsed_s
        )
        for report in handed
    ]
    outcome = asdict(termination)
    status, reason = ending(outcome["reason"], outcome["detail"], findings, budget.target)
    if refuted := first_refutation(findings):
        status, reason = "refuted", refuted
    return CellRecord(
        **names,
        status=status,
        reason=reason,
        **clocks,
        **metrics(findings, lambda rank, finding: finding.candidate.profile),
    )
