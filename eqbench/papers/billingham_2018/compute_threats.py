"""Spurious solutions with noncredible threats, section 3.

A threat is noncredible here where a player's own moves never lead to an information set to which
the moves of the others do lead, and what is played there loses a fixed amount.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eqbench.continuation import ContinuationError
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute_skp import continuation
from eqbench.papers.billingham_2018.jobs import kuhn
from eqbench.registry import load_game
from eqbench.studies.branch import POLISHED, measured

_FULL, _DOMINATED = "kuhn(players=3,cards=4)", "kuhn(players=3,cards=4,reduce=dominated25)"
_POTS, _LARGE_POT = (3, 5, 8), 20
_STARTS, _EPSILON = 12, 1e-8
_NEVER, _LOSS = 1e-6, 1e-3


def threats(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """How many of several solutions have such threats, by game, pot and derivative."""
    cases = [
        (game, pot, derivative)
        for pot in _POTS
        for game in (_FULL, kuhn(4))
        for derivative in ("raw", "counterfactual")
    ]
    cases += [(kuhn(4), _LARGE_POT, "raw"), (_DOMINATED, _LARGE_POT, "raw")]
    return {"cases": [_case(*case) for case in cases], "epsilon": _EPSILON}


def _case(spec: str, pot: int, derivative: str) -> dict[str, Any]:
    """Counts over random weights of the regularization."""
    game = load_game(spec).at(pot=pot)
    method = continuation(game, "log", _EPSILON, derivative)
    found, threatening, payoffs = 0, 0, []
    for seed in range(_STARTS):
        try:
            point = method.start(float(pot), np.random.default_rng(seed))
        except ContinuationError:
            continue
        found += 1
        threatening += _threatens(game, point.behavior)
        item = measured(game.tree, method.polish(point, float(pot))[0])
        if item.max_regret <= POLISHED * game.tree.payoff_range:
            payoffs.append(item.payoffs)
    return {
        "game": spec,
        "pot": pot,
        "derivative": derivative,
        "starts": _STARTS,
        "found": found,
        "with_threats": threatening,
        "equilibria": len(payoffs),
        "payoffs": payoffs,
    }


def _threatens(game: Game, behavior: FloatArray) -> bool:
    """Whether a profile has a noncredible threat."""
    tree, values = game.tree, game.payoff_model().counterfactual_values(behavior)
    infoset_of = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    own_reach = np.ones(tree.n_infosets)
    for i, before in enumerate(tree.infoset_parent.tolist()):
        if before >= 0:
            own_reach[i] = own_reach[infoset_of[before]] * behavior[before]
        row = slice(tree.action_start[i], tree.action_start[i + 1])
        loss = float(behavior[row] @ (values[row].max() - values[row]))
        if own_reach[i] <= _NEVER and loss > _LOSS:
            return True
    return False
