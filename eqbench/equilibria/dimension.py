"""How many dimensions the set of equilibria has around one of them.

Symbols in shapes: A actions, I information sets, D free directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from eqbench.model.choices import directions, exchanges
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.realization import jacobian
from eqbench.model.tree import FloatArray, GameTree

IN_SUPPORT = 1e-6  # smallest frequency of an action that counts as played
EXACT_ENOUGH = 1e-9  # regret as a share of the payoff range; with more, ranks are noise
RANK_TOLERANCE = 1e-5  # of singular values, with payoffs in units of their range
NO_CONDITION = 1e-9  # length of a row, with payoffs in units of their range
_ROUNDS = 8
_CUT = 1e-9  # of singular values; smaller ones belong to directions in which nothing changes
LARGEST_GAME = 1_000  # actions; the Jacobian is a dense square matrix of this size


@dataclass(frozen=True)
class Dimension:
    """Dimension of the set of equilibria with the same actions in use.

    Attributes
    ----------
    total : frequencies that can move independently without anybody beginning to gain
    on_path : dimension of their outcome distributions
    """

    total: int
    on_path: int


def local_dimension(game: Game, behavior: FloatArray) -> Dimension | None:
    """Dimension of the set of equilibria around the equilibrium `behavior`, float64 (A,).

    The actions that are in use where play leads must stay equally good. The Jacobian of these
    conditions by all frequencies in use has a null space, and that is the tangent space of the
    set. Off the path of play those directions do not count that change no other player's value of
    anything, such as what a player does at information sets that their own moves avoid.
    At the border of the set this is only an estimate: there fewer actions may be in use, and
    conditions that just hold for actions out of use are not looked at.

    Frequencies up to 1e-6 count as 0. None if the game is too large for the dense Jacobian.
    """
    tree = game.tree
    if tree.n_actions > LARGEST_GAME:
        return None
    supports = _supports(tree, behavior)
    if not any(len(support) > 1 for support in supports):
        return Dimension(0, 0)
    behavior = _without_traces(tree, behavior)
    taking, giving = exchanges(supports)
    moves = directions(taking, giving, tree.n_actions)
    slopes = _slopes(game, behavior, moves) / (tree.payoff_range or 1.0)
    reached = infoset_reach(tree, behavior) > 0
    others, first = exchanges(compress(supports, reached))
    conditions = slopes[others] - slopes[first]
    lengths = np.linalg.norm(conditions, axis=1, keepdims=True)  # rows count by their directions
    rows = (conditions / np.maximum(lengths, NO_CONDITION))[lengths[:, 0] > NO_CONDITION]
    _, singular, right = np.linalg.svd(rows, full_matrices=True)
    tangent = right[int((singular > RANK_TOLERANCE).sum()) :].T
    at, owner = tree.action_infoset, tree.infoset_player[tree.action_infoset]
    idle = 0  # directions at a set off the path that change no other player's value of any action
    for i in np.flatnonzero(~reached).tolist():
        own = slopes[owner != tree.infoset_player[i]][:, at[taking] == i]
        idle += own.shape[1] - _rank(own)
    moved = (moves @ tangent)[np.repeat(reached, np.diff(tree.action_start))]
    return Dimension(tangent.shape[1] - idle, _rank(moved))


def equalized(game: Game, behavior: FloatArray, in_support: float) -> FloatArray | None:
    """Frequencies near `behavior`, float64 (A,), with which actions in use are equally good.

    Newton steps of least length lead there; None if one leaves the simplices. Frequencies up to
    `in_support` count as 0. Whether nothing else is better is for a verifier to say.
    """
    tree, model = game.tree, game.payoff_model()
    supports = _supports(tree, behavior, in_support)
    moves = directions(*exchanges(supports), tree.n_actions)
    current = _without_traces(tree, behavior, in_support)
    others, first = exchanges(compress(supports, infoset_reach(tree, current) > 0))
    for _ in range(_ROUNDS):
        values, slopes = model.counterfactual_values(current), model.jacobian(current)
        slopes = (slopes[others] - slopes[first]) @ moves
        gaps = values[others] - values[first]
        current = current + moves @ np.linalg.lstsq(slopes, -gaps, rcond=_CUT)[0]
        if current.min() < -in_support:
            return None
    return _without_traces(tree, current, 0.0)


def is_exact_enough(game: Game, max_regret: float) -> bool:
    """Whether a dimension says something about an equilibrium with such a measured regret."""
    return max_regret <= EXACT_ENOUGH * game.tree.payoff_scale


def _without_traces(
    tree: GameTree, behavior: FloatArray, in_support: float = IN_SUPPORT
) -> FloatArray:
    """The behavior without actions that are hardly used, so that they lead nowhere."""
    kept = np.where(behavior > in_support, behavior, 0.0)
    total = np.add.reduceat(kept, tree.action_start[:-1])
    return kept / np.repeat(total, np.diff(tree.action_start))


def _supports(
    tree: GameTree, behavior: FloatArray, in_support: float = IN_SUPPORT
) -> list[NDArray[np.int64]]:
    """Actions in use at each information set."""
    blocks = np.split(behavior, tree.action_start[1:-1])
    return [
        first + np.flatnonzero(block > in_support)
        for first, block in zip(tree.action_start, blocks, strict=False)
    ]


def _slopes(game: Game, behavior: FloatArray, moves: FloatArray) -> FloatArray:
    """Derivatives of counterfactual values in directions (A, D) at one information set each."""
    if game.product is None:
        return jacobian(game.sequence_form, behavior) @ moves
    values = game.payoff_model().counterfactual_values  # linear in the play at each set
    return np.array([values(behavior + move) for move in moves.T]).T - values(behavior)[:, None]


def _rank(matrix: FloatArray) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=RANK_TOLERANCE)) if matrix.size else 0
