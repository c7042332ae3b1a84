"""Which moves survive dominance with two players, and the rules with three, checked on the trees.

Symbols in shapes: S pure strategies, V nodes.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import GameTree

_BETS, _STAYS = "bet", ("bet", "call")


def live_edges(tree: GameTree) -> NDArray[np.bool_]:
    """Nodes of a two-player tree, bool (V,), that strategies left by iterated dominance reach.

    In each round all pure strategies go to which another one is never inferior and somewhere
    superior, of both players at once, until none is left to go.
    """
    follows = [_follows(tree, player) for player in (0, 1)]
    payoffs, _ = tree.payoffs.rational()
    left = [np.arange(len(rows)) for rows in follows]
    while True:
        rows = [follows[player][left[player]][:, tree.terminals].astype(int) for player in (0, 1)]
        # deals are equally likely, so that sums over terminals order strategies
        first = (rows[0] * payoffs[:, 0].astype(int)) @ rows[1].T
        second = (rows[1] * payoffs[:, 1].astype(int)) @ rows[0].T
        kept = [left[0][~_dominated(first)], left[1][~_dominated(second)]]
        if all(len(new) == len(old) for new, old in zip(kept, left, strict=True)):
            break
        left = kept
    first_live, second_live = (np.any(follows[p][left[p]], axis=0) for p in (0, 1))
    return np.asarray(first_live & second_live)


def _follows(tree: GameTree, player: int) -> NDArray[np.bool_]:
    """Nodes that each pure strategy of a player does not rule out, bool (S, V)."""
    own = tree.infosets_of(player)
    choices = list(product(*(range(len(tree.infoset_actions[i])) for i in own)))
    picked = np.full((len(choices), tree.n_infosets), -1)
    picked[:, own] = choices
    follows = np.ones((len(choices), tree.n_nodes), dtype=bool)
    for node in range(1, tree.n_nodes):
        parent = int(tree.parent[node])
        follows[:, node] = follows[:, parent]
        if tree.player[parent] == player:
            follows[:, node] &= picked[:, tree.infoset[parent]] == tree.move[node]
    return follows


def _dominated(payoffs: NDArray[np.int_]) -> NDArray[np.bool_]:
    """Whether a strategy (rows) is weakly dominated by another pure strategy, bool (S,)."""
    apart = payoffs[None, :, :] - payoffs[:, None, :]
    better = (apart.min(axis=2) >= 0) & (apart.max(axis=2) > 0)
    return np.asarray(better.any(axis=1))


def follows_rules(history: tuple[str, ...], players: int) -> bool:
    """Whether the betting of a whole hand goes by the rules: an end, and moves that are allowed."""
    if _BETS not in history:
        return history == ("check",) * players
    before = history.index(_BETS)
    answers = history[before + 1 :]
    allowed = all(move in ("call", "fold") for move in answers)
    return history[:before] == ("check",) * before and allowed and len(answers) == players - 1


def due_payoffs(history: tuple[str, ...], cards: list[int]) -> list[int]:
    """What each player wins by the rules: the pot less one's own chips, or minus one's chips."""
    players = len(cards)
    last = {place % players: move for place, move in enumerate(history)}
    chips = [1 + (last[player] in _STAYS) for player in range(players)]
    without_bet = _BETS not in history
    stays = [p for p in range(players) if without_bet or last[p] in _STAYS]
    winner = max(stays, key=lambda player: cards[player])
    return [(sum(chips) if player == winner else 0) - chips[player] for player in range(players)]
