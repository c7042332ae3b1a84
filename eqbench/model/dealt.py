"""Build dealt games in bulk: chance deals private cards, then play is public.

Such a tree is a product of a small public tree and the list of deals. It is laid out level by
level with NumPy, so that 3.3 million nodes take about a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.assemble import InfosetTable, assemble
from eqbench.model.deals import Deals, dealing
from eqbench.model.size_limit import max_nodes, too_large
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, IntArray, Payoffs

Turn = tuple[int, tuple[str, ...]]  # who moves, and the moves that the rules allow


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
    players : labels of the players
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

    players: Sequence[str]
    deals: Deals
    turn: Callable[[str], Turn | None]
    after: Callable[[str, str], str]
    payoffs: Callable[[str, NDArray[np.int64]], tuple[NDArray, ...]]
    allowed: Callable[[str, int], tuple[str, ...]] | None = None
    card_name: Callable[[int], str] = str
    public_chance: PublicChance | None = None


_COLUMNS = {
    "parent": np.int32,
    "move": np.int32,
    "player": np.int8,
    "infoset": np.int32,
    "chance": np.int64,
}


@dataclass(frozen=True)
class _PublicNode:
    history: str
    turn: Turn | None


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
    return _Layout(rules).build(payoffs)


class _Layout:
    """Nodes of one level stand deal by deal, which makes the whole order breadth-first."""

    def __init__(self, rules: DealtRules) -> None:
        self.rules, self.max_nodes = rules, max_nodes()
        self.cards = rules.deals.cards
        self.n_cards = int(self.cards.max())
        self.table = InfosetTable([], [], [])
        self.columns: dict[str, list[NDArray]] = {name: [] for name in _COLUMNS}
        self.numerators: list[list[NDArray]] = []
        self.placed = 0
        self.dealt, denominator = dealing(rules.deals)
        outcomes = rules.public_chance.outcomes if rules.public_chance else 1
        self.chance_denominator = math.lcm(denominator, outcomes)
        self.dealt_factor = self.chance_denominator // denominator
        self.outcome_numerator = self.chance_denominator // outcomes  # of public chance

    def build(self, payoffs: Callable[..., Payoffs]) -> GameTree:
        level: _Level | None = self._deal()
        while level is not None:
            level = self._descend(level, self._place(level))
        # all of it twice would be what takes most memory, so the parts go as soon as they can
        nodes = {name: np.concatenate(self.columns.pop(name)) for name in _COLUMNS}
        numerators = [np.concatenate(parts) for parts in zip(*self.numerators, strict=True)]
        self.numerators.clear()
        return assemble(
            self.rules.players,
            nodes,
            self.table,
            payoffs(*numerators),
            chance_denominator=self.chance_denominator,
        )

    def _deal(self) -> _Level:
        """Store the chance nodes of the dealing, and return the level below them."""
        above = 0
        for level in self.dealt[:-1]:
            self._store(
                parent=level.parent + above,
                move=level.move,
                player=np.full(len(level.parent), CHANCE),
                infoset=np.full(len(level.parent), -1),
                chance=level.chance * self.dealt_factor,
            )
            above, self.placed = self.placed, self.placed + len(level.parent)
        last = self.dealt[-1]
        return _Level(
            public=[_PublicNode("", self.rules.turn(""))],
            alive=np.ones((len(self.cards), 1), dtype=bool),
            above=(last.parent + above).astype(np.int32)[:, None],
            move=last.move.astype(np.int32)[:, None],
            chance=(last.chance * self.dealt_factor)[:, None],
        )

    def _place(self, level: _Level) -> IntArray:
        """Number the living nodes of a level and store their columns."""
        alive = level.alive
        count = int(np.count_nonzero(alive))
        if self.placed + count > self.max_nodes:
            raise too_large()
        number = (np.cumsum(alive, dtype=np.int32) + (self.placed - 1)).reshape(alive.shape)
        self.placed += count
        player = np.full(len(level.public), TERMINAL, dtype=np.int8)
        infoset = np.full(alive.shape, -1, dtype=np.int32)
        for j, node in enumerate(level.public):
            if node.turn is not None:
                player[j] = node.turn[0]
                if node.turn[0] != CHANCE:
                    cards = self.cards[:, node.turn[0]]
                    infoset[:, j] = self._infosets(node, node.turn, cards[alive[:, j]])[cards]
        self._store(
            parent=level.above[alive],
            move=level.move[alive],
            player=np.broadcast_to(player, alive.shape)[alive],
            infoset=infoset[alive],
            chance=level.chance[alive],
        )
        self._pay(level)
        return number.astype(np.int32, copy=False)

    def _store(self, **columns: NDArray) -> None:
        for name, dtype in _COLUMNS.items():
            self.columns[name].append(columns[name].astype(dtype, copy=False))

    def _infosets(self, node: _PublicNode, turn: Turn, cards: NDArray) -> IntArray:
        """Information set by card, int32 (C+1,); -1 for cards that cannot be here."""
        ids = np.full(self.n_cards + 1, -1, dtype=np.int32)
        for card in np.flatnonzero(np.bincount(cards)).tolist():
            ids[card] = len(self.table.label)
            self.table.player.append(turn[0])
            self.table.label.append(f"{self.rules.card_name(card)}:{node.history}")
            self.table.actions.append(self._allowed(node.history, turn, card))
        return ids

    def _allowed(self, history: str, turn: Turn, card: int) -> tuple[str, ...]:
        return self.rules.allowed(history, card) if self.rules.allowed else turn[1]

    def _pay(self, level: _Level) -> None:
        """Store the payoff numerators of the terminals of a level."""
        over = [j for j, node in enumerate(level.public) if node.turn is None]
        if over:
            alive = level.alive[:, over]
            paid = [self.rules.payoffs(level.public[j].history, self.cards) for j in over]
            parts = zip(*paid, strict=True)
            self.numerators.append([np.stack(part, axis=1)[alive] for part in parts])

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
                public.append(_PublicNode(history, self.rules.turn(history)))
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
