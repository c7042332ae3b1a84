"""Games in which chance deals hands and all that follows is public; their trees, built in bulk.

The rules are compiled once, to a public tree. A game tree is a product of that and of the list of
deals; it is laid out level by level with NumPy, so that 3.3 million nodes take about a second.

Symbols in shapes: N players, H hands, m cards of a hand, D deals, V public nodes, B boards.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError, GameTooLargeError
from eqbench.model.assemble import LevelLayout
from eqbench.model.size_limit import max_nodes, too_large
from eqbench.model.tree import (
    CHANCE,
    TERMINAL,
    GameTree,
    IntArray,
    Payoffs,
    breadth_first_levels,
    frozen,
)

MAX_DEALS, MOST_HANDS = 2_000_000, 10_000
MOST_LABELED = 200  # deals; labels are for drawings, which are smaller
_JOINED = 2**22  # pairs of a deal and a hand that are compared at a time
Turn = tuple[int, tuple[str, ...]]  # who moves, and the moves that the rules allow


@dataclass(frozen=True, eq=False)
class Hands:
    """What may be dealt to the players; a deal is one hand each, no two with a card in common.

    Its probability is proportional to the product of the weights.

    Attributes
    ----------
    labels : names of the H hands in labels of information sets
    cards : int64 (H, m)
        Cards that each hand holds, as numbers; with m = 0 all hands go together.
    weights : int64 (N, H)
        Weight of each hand for each player, 0 if the player never has it.
    one_by_one : bool
        Whether the tree has a chance node for the hand of every player, instead of one for all.
    """

    labels: tuple[str, ...]
    cards: NDArray[np.int64]
    weights: NDArray[np.int64]
    one_by_one: bool = False

    def __post_init__(self) -> None:
        sums = [sum(map(int, row)) for row in self.weights]
        if np.any(self.weights < 0) or max(sums, default=0) >= 2**62:
            raise GameFormatError(
                "weights of hands must be integers >= 0 that sum to less than 2**62 for each player"
            )

    @property
    def n_players(self) -> int:
        return len(self.weights)

    @cached_property
    def conflicts(self) -> NDArray[np.bool_]:
        """Which hands have a card in common, bool (H, H); a hand has with itself if it has any."""
        found = np.zeros((len(self.labels),) * 2, dtype=bool)
        for one, other in itertools.product(self.cards.T, repeat=2):
            found |= one[:, None] == other
        return frozen(found)

    def total(self, allowed: NDArray[np.bool_] | None = None, *, count: bool = False) -> int:
        """Sum of the weights of all deals of hands that are allowed, bool (N, H) or (H,).

        Parameters
        ----------
        count : give the number of the deals instead

        Raises
        ------
        GameFormatError
            If more than two players have hands of several cards.
        """
        weights = np.minimum(self.weights, 1) if count else self.weights
        if allowed is not None:
            weights = weights * allowed
        if self.cards.shape[1] == 0:
            return math.prod(sum(row.tolist()) for row in weights)
        if self.n_players == 2:
            first, second = weights
            own = np.flatnonzero(first)
            others = np.einsum("hg,g->h", ~self.conflicts[own], second)
            return int(first[own].astype(object) @ others.astype(object))
        if self.cards.shape[1] > 1:
            raise GameFormatError("of hands with several cards there can be two players only")

        def deals(first: int, *others: int) -> int:
            """Sum over deals to some players, by inclusion and exclusion of equal cards."""
            found = 0
            for size in range(len(others) + 1):
                for same in itertools.combinations(others, size):
                    rest = [p for p in others if p not in same]
                    shared = int(np.prod(numbers[[first, *same]], axis=0).sum())
                    found += (
                        (-1) ** size * math.factorial(size) * shared * (deals(*rest) if rest else 1)
                    )
            return found

        names, card = np.unique(self.cards[:, 0], return_inverse=True)
        numbers = np.zeros((self.n_players, len(names)), dtype=object)
        np.add.at(numbers.T, card, weights.T.astype(object))
        return deals(*range(self.n_players))

    def deals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All deals in lexicographic order, hands numbered from 1, (D, N), and their weights, (D,).

        Raises
        ------
        GameFormatError
            If there are more than two million, or their weights are beyond 64 bits; this is known
            before any is listed.
        """
        count = self.total(count=True)
        if count > MAX_DEALS:
            raise GameFormatError(
                f"{len(self.labels)} hands for {self.n_players} players are {count:,} deals; at "
                f"most {MAX_DEALS:,} can be built, so choose fewer cards or players"
            )
        if self.total() >= 2**63:
            raise GameFormatError(
                "the weights of all deals sum to 2**63 or more; choose weights of fewer digits"
            )
        dealt = np.zeros((1, 0), dtype=np.int64)
        for weights in self.weights:
            own, joined = np.flatnonzero(weights), [dealt[:0, :1]]
            rows = max(1, _JOINED // max(1, len(own) * max(1, dealt.shape[1])))
            for part in (dealt[k : k + rows] for k in range(0, len(dealt), rows)):
                clash = np.zeros((len(part), len(own)), dtype=bool)
                for held in part.T:
                    clash |= self.conflicts[held[:, None], own]
                where, which = np.nonzero(~clash)
                joined.append(np.column_stack([part[where], own[which]]))
            dealt = np.concatenate(joined[1:]) if len(joined) > 1 else dealt[:0]
        weights = np.prod([w[h] for w, h in zip(self.weights, dealt.T, strict=True)], axis=0)
        return dealt + 1, weights


def single_cards(cards: int, players: int, labels: Callable[[int], str] = str) -> Hands:
    """Hands of one of the cards 1..C each, all deals equally likely.

    Raises
    ------
    GameTooLargeError
        If there are more than 10,000.
    """
    if cards > MOST_HANDS:
        raise GameTooLargeError(
            f"{cards:,} hands are too many; choose at most {MOST_HANDS:,} cards"
        )
    return Hands(
        tuple(map(labels, range(1, cards + 1))),
        np.arange(cards)[:, None],
        np.ones((players, cards), dtype=np.int64),
    )


# -- what follows in public ------------------------------------------------------------------------


@dataclass(frozen=True)
class PublicCards:
    """Cards that chance turns up for all to see.

    Attributes
    ----------
    outcomes : how many of them are possible in every deal; all of these are equally likely
    excluded : name of the card -> bool (H,), the hands with which it cannot come up
    """

    outcomes: int
    excluded: Callable[[str], NDArray[np.bool_]]


@dataclass(frozen=True)
class DealtRules:
    """The rules of a dealt game. A history is a text that tells all public moves so far.

    Attributes
    ----------
    hands : what is dealt
    turn : history -> (player or CHANCE, moves), or None when the play is over
    after : (history, move) -> the history with that move; the first history is empty
    public : None if chance only deals
    allowed : (history, number of the hand from 1) -> moves that remain with it, in their order
        None if no hand takes any away.
    """

    hands: Hands
    turn: Callable[[str], Turn | None]
    after: Callable[[str, str], str]
    public: PublicCards | None = field(default=None, kw_only=True)
    allowed: Callable[[str, int], tuple[str, ...]] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class PublicTree:
    """All that can be seen of a dealt game; arrays are read-only.

    Nodes stand breadth-first. Where player p decides at node v after board b, there is an
    information set for every hand that p can have: the one of hand h is
    ``first_infoset[v] + place[b, p, h]``, as in the tree unless hands take moves away.

    Attributes
    ----------
    hands : Hands
    parent, move : int32 (V,)
        Public node above, and position of the move among its moves; -1 at the root.
    player : int8 (V,)
        Who moves: 0..N-1, CHANCE or TERMINAL.
    board : int32 (V,)
        Which public cards are there; 0 are those at the root.
    histories, moves : tuples of length V
    possible : bool (B, H)
        Hands that the public cards admit.
    outcomes : number of public cards that are possible where chance moves, all equally likely
    drawn : the last card of each board
    allowed : bool (V, H) or None
        Hands with which the move to a node remains; None if no hand takes a move away.
    """

    hands: Hands
    parent: IntArray
    move: IntArray
    player: NDArray[np.int8]
    board: IntArray
    histories: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    possible: NDArray[np.bool_]
    outcomes: int
    drawn: tuple[str, ...]
    allowed: NDArray[np.bool_] | None

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """The nodes of each depth, from the root down."""
        return breadth_first_levels(self.parent)

    @cached_property
    def terminal(self) -> IntArray:
        """The endings among the nodes, ascending, int32 (T,)."""
        return frozen(np.flatnonzero(self.player == TERMINAL).astype(np.int32))

    @cached_property
    def chance(self) -> NDArray[np.int64]:
        """Inverse probability of the public cards on the way, in deals that admit them, (V,)."""
        chance = np.ones(len(self.parent), dtype=np.int64)
        for level in self.levels[1:]:
            up = self.parent[level]
            chance[level] = chance[up] * np.where(self.player[up] == CHANCE, self.outcomes, 1)
        return frozen(chance)

    @cached_property
    def last(self) -> IntArray:
        """Node and move of the last decision of each player on the way, -1 if none, (V, N, 2)."""
        last = np.full((len(self.parent), self.n_players, 2), -1, dtype=np.int32)
        for level in self.levels[1:]:
            up = self.parent[level]
            last[level] = last[up]
            by = np.flatnonzero(self.player[up] >= 0)
            moved = np.stack([up[by], self.move[level][by]], axis=1)
            last[level.start + by, self.player[up[by]]] = moved
        return frozen(last)

    @cached_property
    def earlier(self) -> NDArray[np.int64]:
        """Number of own decisions before, where a player decides, (V,)."""
        earlier = np.zeros(len(self.parent), dtype=np.int64)
        before = self.last[np.arange(len(self.parent)), np.maximum(self.player, 0), 0]
        before = np.where(self.player >= 0, before, -1)
        for level in self.levels:
            above = before[level]
            earlier[level] = np.where(above >= 0, earlier[above] + 1, 0)
        return earlier

    @cached_property
    def place(self) -> IntArray:
        """Number of each hand among those that a player can have after a board, int32 (B, N, H).

        -1 if no deal has it; GameFormatError if no deal is possible with one of the boards.
        """
        return frozen(np.stack([_places(self.hands, each) for each in self.possible]))

    @cached_property
    def _numbered(self) -> tuple[IntArray, NDArray, NDArray, IntArray]:
        nodes = np.flatnonzero(self.player >= 0)
        order = nodes[np.lexsort((nodes, self.earlier[nodes], self.player[nodes]))]
        which, hand = np.nonzero(self.place[self.board[order], self.player[order]] >= 0)
        first = np.full(len(self.player), -1, dtype=np.int32)
        first[order] = np.searchsorted(which, np.arange(len(order)))
        sizes = np.array([len(names) for names in self.moves], dtype=np.int64)
        start = np.concatenate(([0], np.cumsum(sizes[order[which]]))).astype(np.int32)
        return frozen(first), order[which], hand, frozen(start)

    @cached_property
    def first_infoset(self) -> IntArray:
        """First information set of each node, int32 (V,); -1 where no player decides."""
        return self._numbered[0]

    @property
    def infosets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Public node and hand of each information set, two int64 (I,)."""
        return self._numbered[1:3]

    @cached_property
    def action_start(self) -> IntArray:
        """First action of each information set, as in the tree, int32 (I+1,)."""
        return self._numbered[3]

    @cached_property
    def infoset_parent(self) -> IntArray:
        """Last own action before each information set, -1 if none, int32 (I,)."""
        (node, hand), last = self.infosets, self.last
        player = self.player[node]
        above, move = last[node, player].T
        there = self.first_infoset[above] + self.place[self.board[above], player, hand]
        return frozen(np.where(above < 0, -1, self.action_start[there] + move).astype(np.int32))

    @property
    def n_players(self) -> int:
        return self.hands.n_players

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(f"P{p + 1}" for p in range(self.n_players))

    @property
    def n_actions(self) -> int:
        return int(self.action_start[-1])

    @property
    def n_infosets(self) -> int:
        return len(self.action_start) - 1

    @cached_property
    def deal_weight(self) -> int:
        """Sum of the weights of all deals: a deal has the probability of its weight over this."""
        return self.hands.total()

    @cached_property
    def n_deals(self) -> NDArray[np.object_]:
        """Number of deals that lead to each public node, integers (V,)."""
        if self.allowed is None:
            deals = [self.hands.total(each, count=True) for each in self.possible]
            return np.array(deals, dtype=object)[self.board]
        there = self.possible[self.board][:, None].repeat(self.n_players, axis=1)
        for v, u in enumerate(self.parent.tolist()):
            if v:
                there[v] &= there[u]
                there[v, self.player[u]] &= self.allowed[v]  # all True after a move of chance
        kinds, kind = np.unique(there.reshape(len(there), -1), axis=0, return_inverse=True)
        deals = [self.hands.total(each.reshape(there[0].shape), count=True) for each in kinds]
        return np.array(deals, dtype=object)[kind.reshape(-1)]

    @cached_property
    def n_nodes(self) -> int:
        """Number of nodes of the tree."""
        return int(self.n_deals.sum()) + self._dealing

    @property
    def _dealing(self) -> int:
        """Number of chance nodes that deal hands."""
        if not self.hands.one_by_one:
            return 1
        if self.n_players == 2:  # some first hands may leave none for the second player
            return 1 + int(np.count_nonzero(_places(self.hands, self.possible[0])[0] >= 0))
        if not self.hands.weights.all():  # some first hands of several players may leave none
            cards = self.hands.deals()[0]
            return 1 + sum(len(np.unique(cards[:, :k], axis=0)) for k in range(1, self.n_players))
        firsts = (
            replace(self.hands, weights=self.hands.weights[:k], one_by_one=False)
            for k in range(1, self.n_players)
        )
        return 1 + sum(each.total(count=True) for each in firsts)

    @cached_property
    def n_terminals(self) -> int:
        """Number of terminal nodes of the tree."""
        return int(self.n_deals[self.terminal].sum())


def public_tree(rules: DealtRules, most: float = math.inf) -> PublicTree:
    """Compile rules; GameTooLargeError if there are more than `most` nodes.

    GameFormatError if chance moves where there are no public cards.
    """
    hands = len(rules.hands.labels)
    histories, parent, move, player, board = [""], [-1], [-1], list[int](), [0]
    moves, boards = list[tuple[str, ...]](), dict[tuple[int, str], int]()
    drawn, possible, allowed = [""], [np.ones(hands, dtype=bool)], [[True] * hands]
    for v, history in enumerate(histories):  # which grows
        mover, names = rules.turn(history) or (TERMINAL, ())
        player.append(mover)
        moves.append(tuple(names))
        if mover == CHANCE and rules.public is None:
            raise GameFormatError(
                f"chance moves after {history!r}, but the rules have no public cards; declare them "
                "as `public`"
            )
        if len(histories) + len(names) > most:
            raise too_large()
        histories += [rules.after(history, name) for name in names]
        parent += [v] * len(names)
        move += range(len(names))
        if mover != CHANCE or rules.public is None:
            board += [board[v]] * len(names)
        else:
            for name in names:
                if (board[v], name) not in boards:
                    boards[board[v], name] = len(possible)
                    drawn.append(name)
                    possible.append(possible[board[v]] & ~rules.public.excluded(name))
                board.append(boards[board[v], name])
        if rules.allowed is not None:
            kept = [names if mover < 0 else rules.allowed(history, h + 1) for h in range(hands)]
            allowed += [[name in some for some in kept] for name in names]
    return PublicTree(
        rules.hands,
        frozen(np.array(parent, dtype=np.int32)),
        frozen(np.array(move, dtype=np.int32)),
        frozen(np.array(player, dtype=np.int8)),
        frozen(np.array(board, dtype=np.int32)),
        tuple(histories),
        tuple(moves),
        frozen(np.stack(possible)),
        1 if rules.public is None else rules.public.outcomes,
        tuple(drawn),
        None if rules.allowed is None else frozen(np.array(allowed)),
    )


def _places(hands: Hands, possible: NDArray[np.bool_]) -> IntArray:
    """Number of each hand among those that some deal gives to a player, int32 (N, H), or -1."""
    open_to = (hands.weights > 0) & possible
    if hands.n_players == 2 and hands.cards.shape[1]:
        together = ~hands.conflicts
        there = open_to & np.stack([together @ open_to[1], together @ open_to[0]])
    elif hands.cards.shape[1]:
        there = open_to & (np.count_nonzero(possible) >= hands.n_players)
    else:
        there = open_to & open_to.any(axis=1).all()
    if not there.any():
        raise no_deal()
    return np.where(there, np.cumsum(there, axis=1) - 1, -1).astype(np.int32)


def no_deal() -> GameFormatError:
    """Error of a game without a deal."""
    return GameFormatError(
        "no deal is possible: every hand of one player has a card of all hands of another, or of "
        "the board"
    )


# -- the game tree ---------------------------------------------------------------------------------


class DealtLayout(LevelLayout):
    """Game tree of a dealt game, information sets labeled ``"<hand>:<history>"``.

    Public node j of a level in deal d is the tree node at [d, j], if alive. Nodes of one level
    stand deal by deal, which makes the whole order breadth-first.

    Parameters
    ----------
    paid : (public nodes, cards of the deals) -> one or two int64 (D, nodes, N)
        Payoff numerators at terminals: base, and slope if there is a parameter.

    Raises
    ------
    GameFormatError
        If there are too many deals, or none.
    """

    def __init__(
        self,
        public: PublicTree,
        paid: Callable[[NDArray[np.int64], NDArray[np.int64]], tuple[NDArray, ...]],
    ) -> None:
        super().__init__()
        self.public, self.paid, self.max_nodes = public, paid, max_nodes()
        self.cards, self.weights = public.hands.deals()
        if not len(self.cards):
            raise no_deal()
        self.is_labeled = len(self.cards) <= MOST_LABELED

    def build(self, payoffs: Callable[..., Payoffs]) -> GameTree:
        """The tree; `payoffs` makes them from all that is paid, (Z, N) each.

        GameFormatError if chances need large denominators; GameTooLargeError.
        """
        public, hands, above = self.public, self.public.hands, 0
        dealt, whole = self._dealing()
        for count, (parent, move, chance) in enumerate(dealt[:-1]):
            start = self.placed
            self.add(parent + above, move, CHANCE, -1, chance)
            if count:
                self._label(start, np.unique(self.cards[:, :count], axis=0)[:, -1:])
            above = start
        parent, move, chance = (column[:, None] for column in dealt[-1])
        self._label(self.placed, self.cards[:, -1:] if hands.one_by_one else self.cards)
        alive = np.ones(parent.shape, dtype=bool)
        number = self._place(public.levels[0], alive, parent + above, move, chance)
        for upper, level in itertools.pairwise(public.levels):
            up, place = public.parent[level] - upper.start, public.move[level]
            alive, drawn = alive[:, up], public.player[upper][up] == CHANCE
            share = np.where(drawn, whole // public.outcomes, 0)
            if public.allowed is not None or drawn.any():
                alive &= np.stack([self._is_there(v) for v in range(level.start, level.stop)], 1)
                # siblings stand side by side
                living = np.cumsum(alive, axis=1, dtype=np.int32)
                place = living - 1 - (living - alive)[:, np.arange(len(up)) - place]
            number = self._place(level, alive, number[:, up], place, share)
        return self.tree(hands.n_players, payoffs, whole)

    def _label(self, start: int, cards: NDArray[np.int64]) -> None:
        """Label nodes from `start` on by the hands that are dealt there, in few deals."""
        if self.is_labeled:
            for node, row in enumerate(cards.tolist(), start=start):
                self.chance_labels[node] = " ".join(self.public.hands.labels[h - 1] for h in row)

    def _is_there(self, v: int) -> NDArray[np.bool_]:
        """In which deals the move to a node is possible, if the node above is there, (D,)."""
        public, mover = self.public, int(self.public.player[self.public.parent[v]])
        if mover == CHANCE:
            return public.possible[public.board[v]][self.cards - 1].all(axis=1)
        if public.allowed is None:
            return np.ones(len(self.cards), dtype=bool)
        return public.allowed[v][self.cards[:, mover] - 1]

    def _place(
        self, level: slice, alive: NDArray, above: NDArray, move: NDArray, chance: NDArray
    ) -> IntArray:
        """Number the living nodes of a level and store their columns and payoffs."""
        public, nodes = self.public, range(level.start, level.stop)
        player = public.player[level]
        if self.placed + int(np.count_nonzero(alive)) > self.max_nodes:
            raise too_large()
        number = (np.cumsum(alive, dtype=np.int32) + (self.placed - 1)).reshape(alive.shape)
        infoset = np.full(alive.shape, -1, dtype=np.int32)
        for j in np.flatnonzero(player >= 0).tolist():
            cards = self.cards[:, player[j]]
            infoset[:, j] = self._infosets(nodes[j], int(player[j]), cards[alive[:, j]])[cards]
        columns = (above, move, player, infoset, chance)
        self.add(*(np.broadcast_to(each, alive.shape)[alive] for each in columns))
        drawn = np.flatnonzero(public.player[public.parent[level]] == CHANCE)
        for j in drawn.tolist() if self.is_labeled else ():
            name = public.drawn[public.board[nodes[j]]]
            self.chance_labels |= dict.fromkeys(number[alive[:, j], j].tolist(), name)
        over = np.flatnonzero(player == TERMINAL)
        if len(over):
            paid = self.paid(over + level.start, self.cards)
            self.pay(*(part[alive[:, over]] for part in paid))
        return number.astype(np.int32, copy=False)

    def _infosets(self, v: int, player: int, cards: NDArray) -> IntArray:
        """Information set by hand, int32 (H+1,); -1 for hands that cannot be here."""
        public, table = self.public, self.table
        ids = np.full(len(public.hands.labels) + 1, -1, dtype=np.int32)
        history, moves = public.histories[v], public.moves[v]
        here = np.flatnonzero(np.bincount(cards)).tolist()
        ids[here] = range(len(table.label), len(table.label) + len(here))
        table.player.extend([player] * len(here))
        table.label.extend([f"{public.hands.labels[h - 1]}:{history}" for h in here])
        if public.allowed is None:
            table.actions.extend([moves] * len(here))
        else:
            first = int(np.searchsorted(public.parent, v))
            kept = public.allowed[first : first + len(moves), np.array(here, dtype=int) - 1].T
            table.actions.extend([tuple(itertools.compress(moves, row)) for row in kept.tolist()])
        return ids

    def _dealing(self) -> tuple[list[tuple[NDArray[np.int64], ...]], int]:
        """Levels from the root down to one node per deal, and the denominator of chance.

        Of each level three int64 (K,): positions of the parents in the level above, positions of
        the nodes among their siblings, both -1 at the root, and numerators of the probability of
        the move.
        """
        cards, players = self.cards, self.public.n_players
        above, whole = np.zeros(len(cards), dtype=np.int64), self.weights.sum(keepdims=True)
        found: list[tuple[NDArray, NDArray, NDArray]] = []
        for dealt in range(1, players + 1) if self.public.hands.one_by_one else [players]:
            begins = np.ones(len(cards), dtype=bool)
            begins[1:] = np.any(np.diff(cards[:, :dealt], axis=0), axis=1)
            first = np.flatnonzero(begins)
            weight, parent = np.add.reduceat(self.weights, first), above[first]
            common = np.gcd(weight, whole[parent])
            found.append((parent, weight // common, whole[parent] // common))
            above, whole = np.cumsum(begins) - 1, weight
        totals = {total for _, _, totals in found for total in totals.tolist()}
        denominator = math.lcm(*totals, self.public.outcomes)
        if denominator >= 2**63:
            raise GameFormatError(
                f"the common denominator of the chances has {denominator.bit_length()} bits; at "
                "most 63 are allowed, so choose other weights, or deal all hands at once"
            )
        levels: list[tuple[NDArray[np.int64], ...]] = [tuple(np.array([k]) for k in (-1, -1, 0))]
        for parent, share, total in found:
            move = np.arange(len(parent)) - np.searchsorted(parent, parent)
            levels.append((parent, move, share * (denominator // total)))
        return levels, denominator
