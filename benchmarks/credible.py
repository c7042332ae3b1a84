"""Credibility of what solvers find, and whether it is sequential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from measuring import cpu_s

import eqbench
from eqbench.model.play import Play
from eqbench.registry import load_solver
from eqbench.verdicts import Reached, credibility
from eqbench.verdicts.search import decide


def of_solvers(solvers: Mapping[str, Sequence[str]], seeds: int, time_s: float) -> dict[str, Any]:
    """Verdicts on what solvers find last, by game, solver and seed.

    Parameters
    ----------
    solvers : specs of solvers by that of the game
    seeds : number of solves; one of deterministic solvers
    time_s : limit of a solve
    """
    rows = []
    for game, specs in solvers.items():
        for solver in specs:
            deterministic = getattr(load_solver(solver), "deterministic", False)
            for seed in range(1 if deterministic else seeds):
                rows += _verdict(game, solver, seed, time_s)
    return {"rows": rows}


def _verdict(game: str, solver: str, seed: int, time_s: float) -> list[dict[str, Any]]:
    """Verdict on one profile; none if the solver found none."""
    record = eqbench.solve(game, solver, seed=seed, timeout_s=time_s)
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
        row["exact_worst"] = str(exactly.loss.max())
        row["exact_s"] = cpu_s(lambda: credibility(Play.exactly(tree, profile)))
    return [row]
