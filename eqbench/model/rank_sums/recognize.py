"""Whether a game tree is three-player Kuhn poker by ranks, checked node by node.

Payoffs are read from the tree. A player's may depend on how the play ended and on which of the
other two have a higher card, and on nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.rank_sums.play import ENDINGS, LEADS_TO, PLAYERS, SITUATIONS
from eqbench.model.tree import CHANCE, FloatArray, GameTree


class RankGame(NamedTuple):
    """A tree in terms of moves and cards; arrays are read-only.

    Attributes
    ----------
    n_cards : int
    place : int64 (A,)
        ``move * n_cards + card`` of every action, cards from 0.
    base, slope : float64 (13, 3, 4), slope None without a payoff parameter
        Payoff by ending, player and rank (see :mod:`.kernels`) times the probability of a
        deal; 0 where the tree has no such terminal.
    """

    n_cards: int
    place: NDArray[np.int64]
    base: FloatArray
    slope: FloatArray | None


def recognize(tree: GameTree) -> RankGame | None:
    """The tree in terms of moves and cards, None if it is another game.

    Also None if its actions are not ordered by situation, card and move.
    """
    if tree.n_players != PLAYERS or tree.n_infosets == 0:
        return None
    sets = _infosets(tree)
    if sets is None:
        return None
    situation, card = sets
    n = int(card.max()) + 1
    infoset = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    active = [a in ("bet", "call") for actions in tree.infoset_actions for a in actions]
    move = 2 * situation[infoset] + active
    if np.any(np.diff(2 * (situation * n + card)[infoset] + active) <= 0):
        return None
    deal = _deals(tree, n)
    if deal is None or not _follows_the_play(tree, situation, move):
        return None
    cards = _cards(tree, card, deal)
    if cards is None:
        return None
    ending = LEADS_TO[move[tree.incoming[tree.terminals]]] - len(SITUATIONS)
    rank = _ranks(cards)[deal[tree.terminals]]
    scale = 1 / (tree.payoffs.denominator * len(cards))
    base, slope = _by_rank(tree.payoffs.base, ending, rank, scale), None
    if tree.payoffs.slope is not None:
        slope = _by_rank(tree.payoffs.slope, ending, rank, scale)
    if base is None or (slope is None) != (tree.payoffs.slope is None):
        return None
    return RankGame(n, _frozen(move * n + card[infoset]), base, slope)


def _infosets(tree: GameTree) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Situation and card (from 0) of every information set, read from its label."""
    # every card has an information set, so there are no more cards than these
    cards = {str(number + 1): number for number in range(tree.n_infosets)}
    situation, card = [], []
    for label in tree.infoset_labels:
        name, _, history = label.partition(":")
        if name not in cards or history not in SITUATIONS:
            return None
        situation.append(SITUATIONS.index(history))
        card.append(cards[name])
    return np.array(situation), np.array(card)


def _deals(tree: GameTree, n: int) -> NDArray[np.int32] | None:
    """Deal of every node, int32 (M,), -1 at the root; None if they are not equally likely."""
    first = tree.levels[1]
    count = first.stop - first.start
    even = tree.chance[first] * count == tree.chance_denominator
    chance_nodes = np.flatnonzero(tree.player == CHANCE)
    if count != n * (n - 1) * (n - 2) or chance_nodes.tolist() != [0] or not even.all():
        return None
    deal = np.full(tree.n_nodes, -1, dtype=np.int32)
    deal[first] = np.arange(count)
    for level in tree.levels[2:]:
        deal[level] = deal[tree.parent[level]]
    return deal


def _follows_the_play(tree: GameTree, situation: NDArray, move: NDArray) -> bool:
    """Whether every move leads to the situation that it should lead to, or ends the play."""
    over = len(SITUATIONS)
    here = np.append(situation, over)[tree.infoset]  # the last one where nobody decides
    expected = np.minimum(LEADS_TO, over)[move[tree.incoming]]
    expected[tree.levels[1]] = 0
    return np.array_equal(here[1:], expected[1:])


def _cards(tree: GameTree, card: NDArray, deal: NDArray[np.int32]) -> NDArray[np.int64] | None:
    """Cards of the players in every deal, int64 (D, 3), None unless each deal occurs once.

    Situations then belong to the players to whom they should: information sets stand in order
    of the players, and one who decides in situations of two players would hold two cards.
    """
    n = int(card.max()) + 1
    cards = np.full((tree.levels[1].stop - 1, PLAYERS), -1)
    for player in range(PLAYERS):
        nodes = np.flatnonzero(tree.player == player)
        held, deals = card[tree.infoset[nodes]], deal[nodes]
        cards[deals, player] = held
        if not np.array_equal(cards[deals, player], held):
            return None
    repeated = np.any(cards == np.roll(cards, 1, axis=1))
    if repeated or len(np.unique(cards @ [n * n, n, 1])) < len(cards):
        return None
    return cards


def _ranks(cards: NDArray[np.int64]) -> NDArray[np.int64]:
    """By deal and player: 1 if the first other player is above, plus 2 if the second is."""
    ranks = [
        (cards[:, others] > cards[:, [player]]) @ [1, 2]
        for player, others in enumerate(([1, 2], [0, 2], [0, 1]))
    ]
    return np.stack(ranks, axis=1)


def _by_rank(table: NDArray, ending: NDArray, rank: NDArray, scale: float) -> FloatArray | None:
    """Scaled payoffs by ending, player and rank, None if anything else matters."""
    payoffs = np.zeros((len(ENDINGS), PLAYERS, 4))
    for player in range(PLAYERS):
        payoffs[ending, player, rank[:, player]] = table[:, player]
        if not np.array_equal(payoffs[ending, player, rank[:, player]], table[:, player]):
            return None
    return _frozen(payoffs * scale)


def _frozen(array: NDArray) -> NDArray:
    array.setflags(write=False)
    return array
