"""Credibility of what solvers find."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from measuring import cpu_s


def of_solvers(
    solvers: Mapping[str, Sequence[str]], seeds: int, time_s: float, searched: Sequence[str]
) -> dict[str, Any]:
    """Verdicts on what solvers find last, by game, solver and seed.

    Parameters
    ----------
    solvers : specs of solvers by that of the game
    seeds : number of solves; one of deterministic solvers
    time_s : limit of a solve
    searched : games on which trembles are sought for what is credible
    """
    from eqbench.registry import load_solver

    rows = []
    for game, specs in solvers.items():
        for solver in specs:
            deterministic = getattr(load_solver(solver), "deterministic", False)
            for seed in range(1 if deterministic else seeds):
                rows += _row(game, solver, seed, time_s, search=game in searched)
    return {"rows": rows}


def _row(game: str, solver: str, seed: int, time_s: float, *, search: bool) -> list[dict[str, Any]]:
    """Verdict on one profile; none if the solver found none."""
    import eqbench
    from eqbench.verification import Play, Reached, credibility

    record = eqbench.solve(game, solver, seed=seed, time_s=time_s)
    if record.profile is None:
        return []
    tree = eqbench.load_game(game).tree
    profile = record.profile
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
        "verdict_s": cpu_s(lambda: credibility(Play.of(tree, profile))),
    }
    if profile.exact is not None:
        exactly = credibility(Play.exactly(tree, profile))
        row |= {"exact": str(exactly), "exact_worst": str(exactly.loss.max())}
        row["exact_s"] = cpu_s(lambda: credibility(Play.exactly(tree, profile)))
    if search and not refuted:
        row |= _sequential(tree, profile)
    return [row]


def _sequential(tree: Any, profile: Any) -> dict[str, Any]:
    """Verdict on trembles that were sought for a profile."""
    from eqbench.equilibria.tremble_search import find_trembles
    from eqbench.verification import Play, sequential

    play = Play.of(tree, profile)
    begin = time.process_time()
    trembles = find_trembles(play)
    search_s = time.process_time() - begin
    return {"sequential": sequential(play, trembles).proof.value, "search_s": search_s}
