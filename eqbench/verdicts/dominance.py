"""Weak dominance: played actions that others dominate, and plans of two players.

An action is dominated given its information set if another one is at every node at least as good,
and at some node better, whatever everybody does later: its worst is compared with the other's
best. That is enough for dominance, not necessary. Where own moves lead to the set, the plan is then
dominated by one with the other action, for any number of players: every node that chance admits is
reached by some plans of the others. Where own moves exclude the set, nothing follows for the plan.

With two players a plan is undominated if and only if it is a best response to a plan of the other
player that leaves nothing out (van Damme 1991, section 3.2). So either such
a plan or a dominating one is a certificate. With more players the others' plans would have to be
correlated; there only actions are judged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.play import ROUNDING, Play
from eqbench.model.tree import CHANCE, GameTree
from eqbench.verdicts.subgames import best_responses

WHOLE_GAME = np.zeros(1, dtype=np.int64)


def dominated_actions(play: Play) -> dict[int, int]:
    """Actions that are played though another one of the set, given with each, dominates them."""
    tree, found = play.tree, {}
    starts = tree.action_start.tolist()
    for player in range(tree.n_players):
        payoffs = play.by_chance[:, player]
        worst, best = -_highest(tree, -payoffs), _highest(tree, payoffs)
        rounding = (0 if play.exact else ROUNDING) * _highest(tree, abs(payoffs))
        for i in tree.infosets_of(player):
            size = starts[i + 1] - starts[i]
            nodes = play.nodes_of(i)
            children, noise = play.first_child[nodes, None] + np.arange(size), rounding[nodes]
            # [other, action]: how much better than an action another one is at least and at most
            least = worst[children].T[:, None] - best[children].T
            for action in range(size):
                covers = (least[:, action] >= -noise).all(axis=1)
                better = (least[:, action] > noise).any(axis=1)
                others = np.flatnonzero((covers & better).astype(bool))
                if len(others) and play.played[starts[i] + action] > 0:
                    found[starts[i] + action] = starts[i] + int(others[0])
    return found


def _highest(tree: GameTree, payoffs: NDArray) -> NDArray:
    """Highest payoffs (M,), weighted with chance, when everybody else moves for them."""
    highest = np.zeros(tree.n_nodes, dtype=payoffs.dtype)
    highest[tree.terminals] = payoffs
    for level in reversed(tree.levels[1:]):
        above = tree.parent[level]
        first = np.flatnonzero(np.diff(above, prepend=-1))
        decided = np.maximum.reduceat(highest[level], first)
        drawn = np.add.reduceat(highest[level], first)
        parents = above[first]
        highest[parents] = np.where(tree.player[parents] == CHANCE, drawn, decided)
    return highest


def proves_undominated(play: Play, player: int, answer: NDArray) -> bool:
    """True if a plan of one of two players is a best response to one that leaves nothing out.

    Parameters
    ----------
    answer : (A,)
        Frequencies of the other player; entries of `player` do not count.
    """
    check_two_players(play)
    mine = np.repeat(play.tree.infoset_player == player, np.diff(play.tree.action_start))
    against = play.like(np.where(mine, play.frequency, answer))
    best = best_responses(against, WHOLE_GAME, player)[0]
    gain = best - against.worth(player)[0]
    return bool((answer[~mine] > 0).all() and gain <= play.tolerance)


def advantage(play: Play, player: int, plan: NDArray) -> tuple[Any, Any]:
    """Least and largest gain of a player from frequencies (A,), over all plans of the other.

    The plan dominates the prescribed one if the first is not below and the second above 0.
    """
    check_two_players(play)
    tree = play.tree
    weights = [
        play.like(frequency).reach(play.mover != player)[tree.terminals]
        for frequency in (plan, play.frequency)
    ]
    gains = (weights[0] - weights[1]) * play.payoffs[:, player]
    certain = np.full_like(play.frequency, play.one)
    most = [
        best_responses(
            play.like(certain, np.column_stack([sign * gains] * 2)), WHOLE_GAME, 1 - player
        )[0]
        for sign in (-1, 1)
    ]
    return -most[0], most[1]


def check_two_players(play: Play) -> None:
    """Raise UsageError in games of more or fewer players."""
    if play.tree.n_players != 2:
        raise UsageError("plans are compared in games of two players only")
