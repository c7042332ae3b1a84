"""Whether the conditions of Ganzfried 2025, section 2, say what an equilibrium is.

For fixed plans the conditions are linear in multipliers and slacks. Over all multipliers lambda
with slacks r = E' lambda - V >= 0, the smallest x r is a linear program, which is dual to the best
response: it is the regret of the player. So it is 0 in equilibria and in no other profile.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from eqbench.documents import read_file
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.registry import load_game
from eqbench.store.stored_run import read_run
from eqbench.verification import verify

TREE, STRATEGIC, TWO_PLAYERS = "kuhn3", "random(players=3,actions=3,seed=0)", "random_tree"
RANDOM = 20


def conditions(_folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Least complementarity beside regrets, slacks in strategic form, and the last line of the LCP.

    Random profiles stand beside the equilibria of the job `checked`; the extent changes nothing.
    """
    del full
    found = _equilibria(jobs / "two_players") | _equilibria(jobs / "checked")
    rng = np.random.default_rng(0)
    profiles = []
    for spec in (TREE, STRATEGIC):
        game = load_game(spec)
        for behavior in [found[spec], *(_random(game, rng) for _ in range(RANDOM))]:
            profiles.append({"game": spec} | _least_gaps(game, behavior))
    return {
        "profiles": profiles,
        "matrix": list(constraint_matrix(load_game(TREE).sequence_form, 0).shape),
        "slacks": _slacks(load_game(STRATEGIC), found[STRATEGIC]),
        "two_players": _two_players(found),
    }


def constraint_matrix(form: SequenceForm, player: int) -> FloatArray:
    """E of a player, float64 (information sets + 1, sequences); its first row is the root's."""
    own = np.flatnonzero(form.infoset_player == player)
    sequences = _sequences(form, player)
    matrix = np.zeros((len(own) + 1, len(sequences)))
    matrix[0, 0] = 1
    for row, infoset in enumerate(own, start=1):
        matrix[row, sequences == form.parent[infoset]] = -1
        ends = range(form.block_start[infoset], form.block_start[infoset + 1])
        matrix[row, np.isin(sequences, ends)] = 1
    return matrix


def sequence_values(form: SequenceForm, plans: FloatArray, player: int) -> FloatArray:
    """V of each sequence of a player: payoff times the others' weights, by its columns."""
    weights = np.delete(plans[form.columns], player, axis=1).prod(axis=1)
    total = np.zeros(form.n_sequences)
    np.add.at(total, form.columns[:, player], form.payoffs[:, player] * weights)
    return total[_sequences(form, player)]


def least_gap(form: SequenceForm, plans: FloatArray, player: int) -> float:
    """Smallest sum of x_s r_s that any multipliers leave."""
    matrix = constraint_matrix(form, player)
    values = sequence_values(form, plans, player)
    goal = np.eye(len(matrix))[0]  # x E' lambda is the root's multiplier
    free = (None, None)
    answer = linprog(goal, A_ub=-matrix.T, b_ub=-values, bounds=free, method="highs")
    return float(answer.fun - plans[_sequences(form, player)] @ values)


def _least_gaps(game: Game, behavior: FloatArray) -> dict[str, Any]:
    form = game.sequence_form
    plans = RealizationPlan.of(form, behavior).weights
    measured = verify(game.tree, BehaviorProfile.of(game.tree, behavior))
    return {
        "gaps": [least_gap(form, plans, player) for player in range(form.n_players)],
        "regrets": [float(regret) for regret in measured.regrets],
    }


def _slacks(game: Game, behavior: FloatArray) -> list[list[float]]:
    """Slacks of all pure strategies of each player in an equilibrium of a strategic form."""
    form = game.sequence_form
    plans = RealizationPlan.of(form, behavior).weights
    return [
        (sequence_values(form, plans, player)[1:].max() - sequence_values(form, plans, player)[1:])
        .round(9)
        .tolist()
        for player in range(form.n_players)
    ]


def _two_players(found: dict[str, FloatArray]) -> dict[str, Any]:
    """Shape of B, and the last line of the LCP with its transpose, at an equilibrium."""
    spec = next(name for name in found if name.startswith(TWO_PLAYERS))
    form = load_game(spec).sequence_form
    plans = RealizationPlan.of(form, found[spec]).weights
    shape = [len(_sequences(form, player)) for player in range(2)]
    return {
        "game": spec,
        "shape": shape,
        "with_transpose": least_gap(form, plans, 1),
    }


def _equilibria(folder: Path) -> dict[str, FloatArray]:
    """Frequencies (A,) of the best profile of each game of a run, by the game's spec."""
    found = {}
    for cell in read_run(folder).cells:
        if cell.equilibria and cell.equilibria[0].profile:
            tree = load_game(cell.game).tree
            text = read_file(folder / cell.equilibria[0].profile, MOST_PROFILE_BYTES)
            found[cell.game] = profile_from_json(tree, parse_profile(text)).probabilities
    return found


def _random(game: Game, rng: np.random.Generator) -> FloatArray:
    """Frequencies (A,) drawn from the simplex of each information set."""
    sizes = [len(actions) for actions in game.tree.infoset_actions]
    return np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])


def _sequences(form: SequenceForm, player: int) -> FloatArray:
    """Ids of a player's sequences, the empty one first."""
    own = [
        np.arange(form.block_start[i], form.block_start[i + 1])
        for i in np.flatnonzero(form.infoset_player == player)
    ]
    return np.concatenate([[player], *own])
