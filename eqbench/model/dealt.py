"""Build dealt games in bulk: chance deals private cards, then play is public.

Such a tree is a product of a small public tree and the list of deals. It is laid out level by
level with NumPy, so that 3.3 million nodes take about a second.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError
from eqbench.model.assemble import LevelLayout
from eqbench.model.size_limit import max_nodes, too_large
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, IntArray, Payoffs

MAX_DEALS = 2_000_000
MOST_LABELED = 200  # deals; labels are for drawings, which are smaller
Turn = tuple[int, tuple[str, ...]]  # who moves, and the moves that the rules allow


@dataclass(frozen=True, eq=False)
class Deals:
    """All ways in which the play can begin.

    Attributes
    ----------
    cards : int64 (D, N)
        The card of each player in every deal, rows in lexicographic order. Cards are 1..C.
    weights : int64 (D,)
        Positive and proportional to the probabilities of the deals.
    one_by_one : bool
        Whether there is a chance node for the card of every player, instead of one for all.
    """

    cards: NDArray[np.int64]
    weights: NDArray[np.int64]
    one_by_one: bool = False


def all_deals(cards: int, players: int, *, one_by_one: bool = False) -> Deals:
    """All ways to deal one of the cards 1..C to each player, equally likely.

    Raises
    ------
    GameFormatError
        If there are more than two million; this is known before any is listed.
    """
    count = math.perm(cards, players)
    check_deals(count, f"{cards} cards for {players} players")
    deals = itertools.chain.from_iterable(itertools.permutations(range(1, cards + 1), players))
    flat = np.fromiter(deals, dtype=np.int64, count=count * players)
    return Deals(flat.reshape(count, players), np.ones(count, dtype=np.int64), one_by_one)


def independent_deals(weights: Sequence[int], players: int) -> Deals:
    """All ways in which each player draws one of the cards 1..C, independently of the others.

    Parameters
    ----------
    weights : sequence of C ints
        Positive and proportional to the probabilities of the cards.

    Raises
    ------
    GameFormatError
        If there are more than two million.
    """
    check_deals(len(weights) ** players, f"{len(weights)} cards for each of {players} players")
    cards = np.indices((len(weights),) * players).reshape(players, -1).T
    return Deals(cards + 1, np.asarray(weights, dtype=np.int64)[cards].prod(axis=1))


def dealing(deals: Deals) -> tuple[list[tuple[NDArray[np.int64], ...]], int]:
    """Levels from the root down to one node per deal, and the denominator of chance.

    Of each level three int64 (K,): positions of the parents in the level above, positions of the
    nodes among their siblings, both -1 at the root, and numerators of the probability of the move.
    """
    cards, players = deals.cards, deals.cards.shape[1]
    above, whole = np.zeros(len(cards), dtype=np.int64), deals.weights.sum(keepdims=True)
    found: list[tuple[NDArray, NDArray, NDArray]] = []
    for dealt in range(1, players + 1) if deals.one_by_one else [players]:
        begins = np.ones(len(cards), dtype=bool)
        begins[1:] = np.any(np.diff(cards[:, :dealt], axis=0), axis=1)
        first = np.flatnonzero(begins)
        weight, parent = np.add.reduceat(deals.weights, first), above[first]
        common = np.gcd(weight, whole[parent])
        found.append((parent, weight // common, whole[parent] // common))
        above, whole = np.cumsum(begins) - 1, weight
    denominator = math.lcm(*(total for _, _, totals in found for total in set(totals.tolist())))
    _check_denominator(denominator)
    levels: list[tuple[NDArray[np.int64], ...]] = [tuple(np.array([k]) for k in (-1, -1, 0))]
    for parent, share, total in found:
        move = np.arange(len(parent)) - np.searchsorted(parent, parent)
        levels.append((parent, move, share * (denominator // total)))
    return levels, denominator


def _check_denominator(denominator: int) -> None:
    if denominator >= 2**63:
        raise GameFormatError(
            f"the common denominator of the chances has {denominator.bit_length()} bits; at most "
            "63 are allowed, so choose other weights, or deal all hands at once"
        )


def check_deals(count: int, what: str) -> None:
    """Refuse more deals than can be listed; GameFormatError."""
    if count > MAX_DEALS:
        raise GameFormatError(
            f"{what} are {count:,} deals; at most {MAX_DEALS:,} can be built, so choose fewer "
            "cards or players"
        )


@dataclass(frozen=True)
class PublicChance:
    """Cards that chance turns up for all to see, such as the board in poker.

    Attributes
    ----------
    outcomes : int
        How many cards are possible at each of these moves, whatever was dealt; all of them
        are equally likely.
    possible : (card, cards of the deals) -> bool (D,)
        In which deals the card can still come up.
    """

    outcomes: int
    possible: Callable[[str, NDArray[np.int64]], NDArray[np.bool_]]


@dataclass(frozen=True)
class DealtRules:
    """The rules of a dealt game. A history is a text that tells all public moves so far.

    Attributes
    ----------
    deals : what chance hands out at first
    turn : history -> (player or CHANCE, moves), or None when the play is over
    after : (history, move) -> the history with that move; the first history is empty
    payoffs : (history, cards of the deals) -> one or two int64 (D, N)
        Payoff numerators at a terminal: base, and slope if there is a parameter.
    allowed : (history, card) -> the moves that remain with that card, in their order
        None if no card takes any away.
    card_name : card -> its name in labels
    public_chance : None if chance only deals
    """

    deals: Deals
    turn: Callable[[str], Turn | None]
    after: Callable[[str, str], str]
    payoffs: Callable[[str, NDArray[np.int64]], tuple[NDArray, ...]]
    allowed: Callable[[str, int], tuple[str, ...]] | None = None
    card_name: Callable[[int], str] = str
    public_chance: PublicChance | None = None


@dataclass(frozen=True)
class _PublicNode:
    history: str
    turn: Turn | None
    drawn: str = ""  # what chance turned up to get there


@dataclass(frozen=True)
class _Level:
    """The nodes at one depth: public node j in deal d is the tree node at [d, j], if alive."""

    public: list[_PublicNode]
    alive: NDArray[np.bool_]
    above: IntArray  # node number of the parent
    move: IntArray
    chance: NDArray[np.int64]


def build_dealt(
    rules: DealtRules,
    payoffs: Callable[..., Payoffs],
) -> GameTree:
    """Game tree of a dealt game, information sets labeled ``"<card>:<history>"``.

    Parameters
    ----------
    payoffs : callable
        Makes the :class:`Payoffs` from the stacked numerators that the rules give, (Z, N) each.

    Raises
    ------
    GameTooLargeError
        If the game would have more nodes than are allowed.
    """
    return _DealtLayout(rules).build(payoffs)


class _DealtLayout(LevelLayout):
    """Nodes of one level stand deal by deal, which makes the whole order breadth-first."""

    def __init__(self, rules: DealtRules) -> None:
        super().__init__()
        self.rules, self.max_nodes = rules, max_nodes()
        self.cards = rules.deals.cards
        self.n_cards = int(self.cards.max())
        self.dealt, denominator = dealing(rules.deals)
        outcomes = rules.public_chance.outcomes if rules.public_chance else 1
        self.chance_denominator = math.lcm(denominator, outcomes)
        _check_denominator(self.chance_denominator)
        self.dealt_factor = self.chance_denominator // denominator
        self.outcome_numerator = self.chance_denominator // outcomes  # of public chance

    def build(self, payoffs: Callable[..., Payoffs]) -> GameTree:
        above = 0
        for dealt, (parent, move, chance) in enumerate(self.dealt[:-1]):
            start = self.placed
            self.add(parent + above, move, CHANCE, -1, chance * self.dealt_factor)
            if dealt:
                self._label(start, np.unique(self.cards[:, :dealt], axis=0)[:, -1:])
            above = start
        parent, move, chance = (column[:, None] for column in self.dealt[-1])
        public, alive = [_PublicNode("", self.rules.turn(""))], np.ones(parent.shape, dtype=bool)
        chance, number = chance * self.dealt_factor, (parent + above).astype(np.int32)
        level: _Level | None = _Level(public, alive, number, move.astype(np.int32), chance)
        self._label(self.placed, self.cards[:, -1:] if self.rules.deals.one_by_one else self.cards)
        while level is not None:
            level = self._descend(level, self._place(level))

        return self.tree(self.cards.shape[1], payoffs, self.chance_denominator)

    def _label(self, start: int, cards: NDArray[np.int64]) -> None:
        """Label nodes from `start` on by the cards that are dealt there, in few deals."""
        if len(self.cards) <= MOST_LABELED:
            for node, row in enumerate(cards.tolist(), start=start):
                self.chance_labels[node] = " ".join(map(self.rules.card_name, row))

    def _place(self, level: _Level) -> IntArray:
        """Number the living nodes of a level and store their columns and payoffs."""
        alive, over = level.alive, [j for j, node in enumerate(level.public) if node.turn is None]
        count = int(np.count_nonzero(alive))
        if self.placed + count > self.max_nodes:
            raise too_large()
        number = (np.cumsum(alive, dtype=np.int32) + (self.placed - 1)).reshape(alive.shape)
        player = np.full(len(level.public), TERMINAL, dtype=np.int8)
        infoset = np.full(alive.shape, -1, dtype=np.int32)
        for j, node in enumerate(level.public):
            if node.turn is not None:
                player[j] = node.turn[0]
                if node.turn[0] != CHANCE:
                    cards = self.cards[:, node.turn[0]]
                    infoset[:, j] = self._infosets(node, node.turn, cards[alive[:, j]])[cards]
        self.add(
            level.above[alive],
            level.move[alive],
            np.broadcast_to(player, alive.shape)[alive],
            infoset[alive],
            level.chance[alive],
        )
        for j, node in enumerate(level.public if len(self.cards) <= MOST_LABELED else ()):
            if node.drawn:
                self.chance_labels |= dict.fromkeys(number[alive[:, j], j].tolist(), node.drawn)
        if over:
            paid = [self.rules.payoffs(level.public[j].history, self.cards) for j in over]
            parts = zip(*paid, strict=True)
            self.pay(*(np.stack(part, axis=1)[alive[:, over]] for part in parts))
        return number.astype(np.int32, copy=False)

    def _infosets(self, node: _PublicNode, turn: Turn, cards: NDArray) -> IntArray:
        """Information set by card, int32 (C+1,); -1 for cards that cannot be here."""
        ids, allowed = np.full(self.n_cards + 1, -1, dtype=np.int32), self.rules.allowed
        for card in np.flatnonzero(np.bincount(cards)).tolist():
            ids[card] = len(self.table.label)
            self.table.player.append(turn[0])
            self.table.label.append(f"{self.rules.card_name(card)}:{node.history}")
            actions = turn[1] if allowed is None else allowed(node.history, card)
            self.table.actions.append(actions)
        return ids

    def _descend(self, level: _Level, number: IntArray) -> _Level | None:
        """Return the level below, None if the play is over everywhere."""
        public: list[_PublicNode] = []
        columns: list[tuple[NDArray, ...]] = []
        for j, node in enumerate(level.public):
            if node.turn is None:
                continue
            numerator = self.outcome_numerator if node.turn[0] == CHANCE else 0
            chance = np.full(len(self.cards), numerator, dtype=np.int64)
            places = self._positions(node.history, node.turn)
            for move, place in zip(node.turn[1], places, strict=True):
                history = self.rules.after(node.history, move)
                drawn = move if node.turn[0] == CHANCE else ""
                public.append(_PublicNode(history, self.rules.turn(history), drawn))
                columns.append((level.alive[:, j] & (place >= 0), number[:, j], place, chance))
        if not public:
            return None
        return _Level(public, *(np.stack(part, axis=1) for part in zip(*columns, strict=True)))

    def _positions(self, history: str, turn: Turn) -> IntArray:
        """Position of every move among those of each deal, int32 (moves, D); -1 for none."""
        player, moves = turn
        if player == CHANCE:
            assert self.rules.public_chance is not None
            possible = self.rules.public_chance.possible
            there = np.stack([possible(move, self.cards) for move in moves])
        elif self.rules.allowed is None:
            there = np.ones((len(moves), len(self.cards)), dtype=bool)
        else:
            every = range(1, self.n_cards + 1)
            kept = [self.rules.allowed(history, card) for card in every]
            there = np.array([[False, *(move in some for some in kept)] for move in moves])
            there = there[:, self.cards[:, player]]
        return np.where(there, np.cumsum(there, axis=0, dtype=np.int32) - 1, -1)
