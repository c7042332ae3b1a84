"""Build dealt games in bulk: chance deals private cards once, then play is public.

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
from eqbench.model.assemble import InfosetTable, assemble
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, IntArray, Payoffs

Turn = tuple[int, tuple[str, ...]]  # who moves, and the actions that the rules allow


MAX_DEALS = 2_000_000


def all_deals(cards: int, players: int) -> NDArray[np.int64]:
    """All ways to deal one of the cards 1..C to each player, int64 (D, N), in order.

    Raises
    ------
    GameFormatError
        If there are more than two million; this is known before any is listed.
    """
    count = math.perm(cards, players)
    if count > MAX_DEALS:
        raise GameFormatError(
            f"{cards} cards for {players} players are {count:,} deals; at most {MAX_DEALS:,} "
            "can be built, so choose fewer cards or players"
        )
    deals = itertools.chain.from_iterable(itertools.permutations(range(1, cards + 1), players))
    return np.fromiter(deals, dtype=np.int64, count=count * players).reshape(count, players)


@dataclass(frozen=True)
class DealtRules:
    """The rules of a dealt game. A history is the string of public action letters so far.

    Attributes
    ----------
    players : labels of the players
    deals : int (D, N)
        The card of each player in every deal; all deals are equally likely. Cards are 1..C.
    turn : history -> (player, actions), or None when the play is over
    letter : action -> its letter in histories
    allowed : (history, card) -> the actions that remain for that card, in order
    payoffs : (history, deals) -> (base, slope), two int64 (D, N)
        Payoff numerators at a terminal: ``(base + slope * parameter) / denominator``.
    """

    players: Sequence[str]
    deals: NDArray[np.int64]
    turn: Callable[[str], Turn | None]
    letter: Callable[[str], str]
    allowed: Callable[[str, int], tuple[str, ...]]
    payoffs: Callable[[str, NDArray[np.int64]], tuple[NDArray, NDArray]]


@dataclass(frozen=True)
class _PublicNode:
    history: str
    parent: int  # position in the level above
    action: str  # that led here


def build_dealt(
    rules: DealtRules,
    payoffs: Callable[[NDArray, NDArray], Payoffs],
    *,
    max_nodes: int = 50_000_000,
) -> GameTree:
    """Game tree of a dealt game, information sets labeled ``"<card>:<history>"``.

    Parameters
    ----------
    payoffs : callable
        Makes the :class:`Payoffs` from the stacked base and slope numerators (Z, N).

    Raises
    ------
    GameFormatError
        If the game would have more than `max_nodes` nodes.
    """
    return _Layout(rules, max_nodes).build(payoffs)


class _Layout:
    """Nodes of one level stand deal by deal, which makes the whole order breadth-first."""

    def __init__(self, rules: DealtRules, max_nodes: int) -> None:
        self.rules, self.max_nodes = rules, max_nodes
        self.n_cards = int(rules.deals.max())
        self.table = InfosetTable([], [], [])
        self.columns: dict[str, list[NDArray]] = {
            name: [] for name in ("parent", "move", "player", "infoset", "chance")
        }
        self.base: list[NDArray] = []
        self.slope: list[NDArray] = []
        self.placed = 1

    def build(self, payoffs: Callable[[NDArray, NDArray], Payoffs]) -> GameTree:
        n_deals = len(self.rules.deals)
        level = [_PublicNode("", 0, "")]
        alive = np.ones((n_deals, 1), dtype=bool)
        above = np.zeros((n_deals, 1), dtype=np.int32)  # node number of the parent
        move = np.arange(n_deals, dtype=np.int32)[:, None]
        chance = 1
        while level:
            number = self._place(level, alive, above, move, chance)
            level, alive, above, move = self._descend(level, alive, number)
            chance = 0
        root = {"parent": -1, "move": -1, "player": CHANCE, "infoset": -1, "chance": 0}
        nodes = {
            name: np.concatenate([np.array([root[name]], dtype=parts[0].dtype), *parts])
            for name, parts in self.columns.items()
        }
        return assemble(
            self.rules.players,
            nodes,
            self.table,
            payoffs(np.concatenate(self.base), np.concatenate(self.slope)),
            chance_denominator=n_deals,
        )

    def _place(
        self, level: list[_PublicNode], alive: NDArray, above: NDArray, move: NDArray, chance: int
    ) -> IntArray:
        """Number the living nodes of a level and store their columns."""
        count = int(np.count_nonzero(alive))
        if self.placed + count > self.max_nodes:
            raise GameFormatError(
                f"the game has more than {self.max_nodes:,} nodes; choose fewer cards or players"
            )
        number = (np.cumsum(alive, dtype=np.int32) + (self.placed - 1)).reshape(alive.shape)
        number = number.astype(np.int32, copy=False)
        self.placed += count
        player = np.empty(len(level), dtype=np.int8)
        infoset = np.full(alive.shape, -1, dtype=np.int32)
        over: list[int] = []
        for j, node in enumerate(level):
            turn = self.rules.turn(node.history)
            if turn is None:
                player[j] = TERMINAL
                over.append(j)
            else:
                player[j] = turn[0]
                cards = self.rules.deals[:, turn[0]]
                infoset[:, j] = self._infosets(node.history, turn[0], cards[alive[:, j]])[cards]
        shape = alive.shape
        values = {
            "parent": above,
            "move": move,
            "player": np.broadcast_to(player, shape),
            "infoset": infoset,
            "chance": np.full(shape, chance, dtype=np.int64),
        }
        for name, array in values.items():
            self.columns[name].append(array[alive])
        self._payoffs([level[j].history for j in over], alive[:, over])
        return number

    def _infosets(self, history: str, player: int, cards: NDArray) -> IntArray:
        """Information set by card, int32 (C+1,); -1 for cards that cannot be here."""
        ids = np.full(self.n_cards + 1, -1, dtype=np.int32)
        for card in np.unique(cards).tolist():
            ids[card] = len(self.table.label)
            self.table.player.append(player)
            self.table.label.append(f"{card}:{history}")
            self.table.actions.append(self.rules.allowed(history, card))
        return ids

    def _payoffs(self, histories: list[str], alive: NDArray) -> None:
        if not histories:
            return
        pairs = [self.rules.payoffs(history, self.rules.deals) for history in histories]
        self.base.append(np.stack([base for base, _ in pairs], axis=1)[alive])
        self.slope.append(np.stack([slope for _, slope in pairs], axis=1)[alive])

    def _descend(
        self, level: list[_PublicNode], alive: NDArray, number: IntArray
    ) -> tuple[list[_PublicNode], NDArray, NDArray, NDArray]:
        """Children of a level: public nodes, which deals reach them, parents and moves."""
        children: list[_PublicNode] = []
        columns: list[tuple[NDArray, NDArray, NDArray]] = []
        for j, node in enumerate(level):
            turn = self.rules.turn(node.history)
            if turn is None:
                continue
            cards = self.rules.deals[:, turn[0]]
            for action in turn[1]:
                place = self._positions(node.history, action)[cards]
                children.append(_PublicNode(node.history + self.rules.letter(action), j, action))
                columns.append((alive[:, j] & (place >= 0), number[:, j], place))
        if not children:
            return [], alive, number, number
        alive, above, move = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        return children, alive, above, move

    def _positions(self, history: str, action: str) -> IntArray:
        """Position of an action among those allowed with each card, -1 where it is deleted."""
        places = np.full(self.n_cards + 1, -1, dtype=np.int32)
        for card in range(1, self.n_cards + 1):
            allowed = self.rules.allowed(history, card)
            if action in allowed:
                places[card] = allowed.index(action)
        return places
