"""Regular equilibria and their index, by which lists can be proved incomplete.

An equilibrium is taken as a point in the product of the players' plans. It is quasi-strict if
all best responses use played actions only, and regular if, besides, the second derivatives along
the played actions form a regular matrix J; then it is isolated, and its index is the sign of
det(-J). The indices of all components of equilibria sum to 1 (Shapley 1974, Ritzberger 1994; for
plans Govindan and Wilson 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree, sum_by
from eqbench.verification.verifier import EXACT_NODE_DIGITS, NODE_DIGITS, Allowance, length

LEAST_PIVOT = 1e-9  # of the largest entry; what is smaller may be rounding


def index_of(play: Play, least: float = 0.0) -> int | None:
    """Index of an equilibrium, 1 or -1; None if it is not regular, so that it has none.

    Parameters
    ----------
    least : in payoff units, up to which a pivot of J counts as 0; for floats alone
    """
    if not quasi_strict(play):
        return None
    sign = _sign_of_determinant(-_second_derivatives(play), least)
    return sign or None


def rounded_index(
    tree: GameTree, profile: BehaviorProfile, margin: float, pivot: float, allowance: Allowance
) -> int | None:
    """Index in floats; None if it does not stand clear of a margin, or costs too much.

    Parameters
    ----------
    margin : that frequencies exceed, and losses as shares of the payoff scale
    pivot : that pivots exceed as shares of the payoff scale
    """
    sweeps = _sweeps(tree, free_frequencies(tree, profile))
    if tree.is_wide or not allowance.spend(NODE_DIGITS * sweeps):
        return None  # floats do not resolve losses in a wide game
    play = Play.of(tree, profile, tolerance=margin, unplayed=margin)
    return index_of(play, pivot * tree.payoff_scale)


def quasi_strict(play: Play) -> bool:
    """True if at sets that a player's own moves admit, every unplayed action costs something.

    Played actions must be best; after unplayed ones their player may go on as well as can be.
    """
    tree = play.tree
    admitted = np.repeat(play.own > 0, np.diff(tree.action_start)).astype(bool)
    for player in range(tree.n_players):
        own = np.repeat(tree.infoset_player == player, np.diff(tree.action_start)) & admitted
        values = best_values(play, np.zeros(1, dtype=np.int64), player)[:-1]
        best = np.maximum.reduceat(values, tree.action_start[:-1])
        lost = np.repeat(best, np.diff(tree.action_start)) - values
        played = (play.played > 0).astype(bool)
        if (lost[own & played] > play.tolerance).any() or (
            lost[own & ~played] <= play.tolerance
        ).any():
            return False
    return True


def best_values(play: Play, roots: NDArray, player: int) -> NDArray:
    """Values of a player's actions, (A,) and 0 for others, then of subgames, (R,), played best.

    Those of actions are weighted with how the others reach them in their innermost subgame.

    A smaller subgame counts in a larger one like a terminal with its value: whoever plays best
    there needs to know nothing of the rest. So every information set is solved once, with reaches
    from the innermost subgame on. Values are gathered by the last own action in this subgame, or
    by its root where there is none yet.
    """
    tree, n_actions = play.tree, play.tree.n_actions
    own = play.mover == player
    reach, key = play.edge.copy(), tree.incoming.astype(np.int64)
    reach[own] = play.one
    depth = own.astype(np.int64)
    outer_reach, outer_key = reach[roots], key[roots]
    begins = np.full(tree.n_nodes, -1)
    begins[roots] = np.arange(len(roots))
    reach[0], key[0] = play.one, n_actions
    for level in tree.levels[1:]:
        above = tree.parent[level]
        depth[level] += depth[above]
        reach[level] *= reach[above]
        key[level] = np.where(own[level], key[level], key[above])
        here = np.flatnonzero(begins[level] >= 0)
        nodes, subgames = here + level.start, begins[level][here]
        outer_reach[subgames], outer_key[subgames] = reach[nodes], key[nodes]
        reach[nodes], key[nodes] = play.one, n_actions + subgames
    value = sum_by(
        key[tree.terminals], reach[tree.terminals] * play.payoffs[:, player], n_actions + len(roots)
    )
    sets = np.array(tree.infosets_of(player), dtype=np.int64)
    first_nodes = play.deciding[play.first_node[sets]]
    for now in range(int(depth.max()), -1, -1):
        here = depth[first_nodes] == now
        if here.any():
            starts = tree.action_start[sets[here]]
            stop = tree.action_start[sets[here][-1] + 1]
            best = np.maximum.reduceat(value[starts[0] : stop], starts - starts[0])
            np.add.at(value, key[first_nodes[here]], best)
        for r in reversed(np.flatnonzero(depth[roots] == now).tolist()):
            if r:
                value[outer_key[r]] += outer_reach[r] * value[n_actions + r]
    return value


def _second_derivatives(play: Play) -> NDArray:
    """Matrix of derivatives of own gains along each played action by each of other players.

    Its rows and columns are played actions, but for the first one of each information set, against
    which they are measured. Payoffs are linear in the player's own plan.
    """
    tree = play.tree
    first, others = [], []
    for i in np.flatnonzero(play.own > 0).tolist():
        start, stop = tree.action_start[i : i + 2].tolist()
        played = start + np.flatnonzero(play.played[start:stop] > 0)
        first += [played[0]] * (len(played) - 1)
        others += played[1:].tolist()
    against, action = np.array(first, dtype=np.int64), np.array(others, dtype=np.int64)
    infoset = np.searchsorted(tree.action_start, action, side="right") - 1
    matrix = np.full((len(action), len(action)), play.one * 0)
    now = play.mean_gains(play.others)
    for column, (a, b) in enumerate(zip(action.tolist(), against.tolist(), strict=True)):
        shifted = play.frequency.copy()
        shifted[a] += play.one
        shifted[b] -= play.one
        there = play.like(shifted)
        change = there.mean_gains(there.others) - now
        foreign = tree.infoset_player[infoset] != tree.infoset_player[infoset[column]]
        matrix[:, column] = np.where(foreign, change[action] - change[against], play.one * 0)
    return matrix


def _sign_of_determinant(matrix: NDArray, floor: float) -> int:
    """Sign by elimination with the largest pivots; 0 if the matrix is not known to be regular."""
    left, sign = matrix.copy(), 1
    least = 0.0
    if matrix.dtype != object and matrix.size:
        least = max(floor, LEAST_PIVOT * float(abs(matrix).max()))
    while len(left):
        row = int(np.argmax(abs(left[:, 0])))
        pivot = left[row]
        if abs(pivot[0]) <= least:
            return 0
        sign *= (1 if pivot[0] > 0 else -1) * (-1) ** row
        rest = np.delete(left, row, axis=0)
        left = rest[:, 1:] - np.outer(rest[:, 0] / pivot[0], pivot[1:])
    return sign


def exact_play(tree: GameTree, member: BehaviorProfile, allowance: Allowance) -> Play | None:
    """The play of an exact equilibrium in Fractions, if that is not too much."""
    if member.exact is None or not tree.exact:
        return None
    digits = max(EXACT_NODE_DIGITS, length(member.exact))
    columns = free_frequencies(tree, member)
    if not allowance.spend(digits * (_sweeps(tree, columns) + columns**3)):
        return None
    return Play.exactly(tree, member)


def free_frequencies(tree: GameTree, profile: BehaviorProfile) -> int:
    """Bound on the number of rows and columns of the matrix that an index is the sign of."""
    return int(np.count_nonzero(profile.probabilities)) - tree.n_infosets


def _sweeps(tree: GameTree, columns: int) -> int:
    """Nodes that are visited for an index."""
    return tree.n_nodes * (columns + tree.n_players + 1)


def plan_weights(tree: GameTree, frequencies: Sequence[Any]) -> list[Any]:
    """Realization weights (A,) of frequencies (A,), in the same arithmetic."""
    weights = list(frequencies)
    starts = tree.action_start.tolist()
    for i, above in enumerate(tree.infoset_parent.tolist()):  # parents come first
        if above >= 0:
            for action in range(starts[i], starts[i + 1]):
                weights[action] *= weights[above]
    return weights
