"""Credibility of what solvers find, and whether it is sequential."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from measuring import cpu_s


def of_solvers(solvers: Mapping[str, Sequence[str]], seeds: int, time_s: float) -> dict[str, Any]:
    """Verdicts on what solvers find last, by game, solver and seed.

    Parameters
    ----------
    solvers : specs of solvers by that of the game
    seeds : number of solves; one of deterministic solvers
    time_s : limit of a solve
    """
    return {"rows": _rows(_verdict, solvers, seeds, time_s)}


def proofs_of_solvers(
    solvers: Mapping[str, Sequence[str]], seeds: int, time_s: float
) -> dict[str, Any]:
    """Whether what solvers find is sequential, and what proves it; parameters as above."""
    return {"rows": _rows(_proof, solvers, seeds, time_s)}


def _rows(
    measure: Callable[[str, str, int, float], list[dict[str, Any]]],
    solvers: Mapping[str, Sequence[str]],
    seeds: int,
    time_s: float,
) -> list[dict[str, Any]]:
    """What is measured of every game, solver and seed."""
    from eqbench.registry import load_solver

    rows = []
    for game, specs in solvers.items():
        for solver in specs:
            deterministic = getattr(load_solver(solver), "deterministic", False)
            for seed in range(1 if deterministic else seeds):
                rows += measure(game, solver, seed, time_s)
    return rows


def _verdict(game: str, solver: str, seed: int, time_s: float) -> list[dict[str, Any]]:
    """Verdict on one profile; none if the solver found none."""
    import eqbench
    from eqbench.model.play import Play
    from eqbench.verdicts import Reached, credibility, decide

    record = eqbench.solve(game, solver, seed=seed, time_s=time_s)
    if record.profile is None:
        return []
    tree = eqbench.load_game(game).tree
    profile = record.profile
    play = Play.of(tree, profile) if profile.exact is None else Play.exactly(tree, profile)
    found = credibility(Play.of(tree, profile))
    refuted = [kind for kind, bad in zip(found.reached, found.refuted, strict=True) if bad]
    row = {
        "game": game,
        "solver": solver,
        "seed": seed,
        "max_regret": record.max_regret,
        "infosets": tree.n_infosets,
        "refuted": {kind.value: refuted.count(kind) for kind in Reached},
        "reached": {kind.value: found.reached.count(kind) for kind in Reached},
        "worst": float(found.loss.max()),
        "verdict": str(found),
        "proof": decide(play).proof.value,
        "verdict_s": cpu_s(lambda: credibility(Play.of(tree, profile))),
    }
    if profile.exact is not None:
        exactly = credibility(Play.exactly(tree, profile))
        row |= {"exact": str(exactly), "exact_worst": str(exactly.loss.max())}
        row["exact_s"] = cpu_s(lambda: credibility(Play.exactly(tree, profile)))
    return [row]


def _proof(game: str, solver: str, seed: int, time_s: float) -> list[dict[str, Any]]:
    """Proof about the best profile of a solver; none if it found none."""
    import eqbench
    from eqbench.harness.judge import Received, measure_all
    from eqbench.harness.solve import solve_once
    from eqbench.model.play import Play
    from eqbench.registry import load_solver
    from eqbench.solver import Budget
    from eqbench.verdicts import decide, sequential
    from eqbench.verification import DEFAULT_TOLERANCE, Verifier

    loaded = eqbench.load_game(game)
    tree = loaded.tree
    received = Received(tree.n_actions)
    solve_once(load_solver(solver), loaded, Budget(time_s=time_s), seed, received.add)
    frames = received.candidates or received.snapshots[-1:]
    findings = measure_all(frames, Verifier(tree), DEFAULT_TOLERANCE)
    if not findings:
        return []
    best = min(findings, key=lambda finding: finding.rank)
    profile, trembles = best.candidate.profile, best.candidate.trembles
    play = Play.of(tree, profile) if profile.exact is None else Play.exactly(tree, profile)
    begin = time.process_time()
    found = decide(play)
    row = {
        "game": game,
        "solver": solver,
        "seed": seed,
        "max_regret": best.max_regret,
        "infosets": tree.n_infosets,
        "credible": found.credibility.n_credible,
        "proof": found.proof.value,
        "together": found.against is not None,
        "decided_s": time.process_time() - begin,
    }
    if trembles is not None:
        row["handed_over"] = sequential(play, trembles).proof.value
        row["checked_s"] = cpu_s(lambda: sequential(play, trembles))
    return [row]
