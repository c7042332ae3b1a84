"""Regular equilibria and their index, by which lists can be proved incomplete.

An equilibrium is taken as a point in the product of the players' plans. It is quasi-strict if
all best responses use played actions only, and regular if, besides, the second derivatives along
the played actions form a regular matrix J; then it is isolated, and its index is the sign of
det(-J). The indices of all components of equilibria sum to 1 (Shapley 1974, Ritzberger 1994; for
plans Govindan and Wilson 2002).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verification.certificate import EXACT_NODE_DIGITS, NODE_DIGITS, Allowance, length
from eqbench.verification.play import Play
from eqbench.verification.subgames import best_values

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


def proved_incomplete(indices: Iterable[int | None]) -> bool:
    """True if equilibria are missing from a list whose indices these are."""
    known = list(indices)
    return None not in known and sum(each or 0 for each in known) != 1


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
