"""Games of hands and showdowns as a product: a public tree times the hands of the players.

A deal gives every player one hand; all that follows is public, and the play ends when all but one
have folded, or with a showdown. Such a game has as many tree nodes as public nodes times deals, but
what it is worth can be computed on vectors over hands at public nodes.

Symbols in shapes: N players, H hands, m cards of a hand, V public nodes, T endings, B boards,
I information sets, A actions.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError, GameTooLargeError
from eqbench.model.dealt import (
    Deals,
    DealtRules,
    PublicChance,
    Turn,
    build_dealt,
    check_deals,
)
from eqbench.model.size_limit import check_expected_nodes, node_limit
from eqbench.model.tree import (
    CHANCE,
    LARGEST_TO_STAKES,
    TERMINAL,
    FloatArray,
    GameTree,
    IntArray,
    Payoffs,
    frozen,
)

MOST_HANDS = 10_000
_JOINED = 2**22  # pairs of a deal and a hand that are compared at a time


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
            others = [int(second[~row].sum()) for row in self.conflicts[own]]
            return sum(map(operator.mul, first[own].tolist(), others))
        if self.cards.shape[1] > 1:
            raise GameFormatError("of hands with several cards there can be two players only")
        # by cards in turn: sums over deals of the players in a set, bit p for player p
        sums = [1] + [0] * (2**self.n_players - 1)
        for column in weights.T.tolist():
            for having in range(len(sums) - 1, 0, -1):
                sums[having] += sum(
                    weight * sums[having & ~(1 << p)]
                    for p, weight in enumerate(column)
                    if weight and having >> p & 1
                )
        return sums[-1]

    def deals(self) -> Deals:
        """All deals, hands numbered from 1.

        Raises
        ------
        GameFormatError
            If there are more than two million, or their weights are beyond 64 bits; this is known
            before any is listed.
        """
        check_deals(
            self.total(count=True), f"{len(self.labels)} hands for {self.n_players} players"
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
        return Deals(dealt + 1, weights, self.one_by_one)


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


@dataclass(frozen=True)
class Settlement:
    """How a play ends, as integers over the denominator of the rules.

    Attributes
    ----------
    paid : what each player has put in
    contending : players who have not folded; the best hand wins all, equal ones share it
    slope : what each player puts in for every unit of the parameter, None if there is none
    """

    paid: tuple[int, ...]
    contending: tuple[int, ...]
    slope: tuple[int, ...] | None = None


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
class ShowdownRules:
    """The rules of a game of hands and showdowns; histories are texts as in `DealtRules`.

    Attributes
    ----------
    hands : what is dealt
    turn, after : as in :class:`eqbench.model.dealt.DealtRules`
    settle : history -> how the play ends there
    strength : history -> int64 (H,), what hands are worth in a showdown, more is better
        It must be the same in all endings after the same public cards.
    denominator : of all payoffs; what can be won must be divisible by all numbers of winners
    parameter, value : name and value of the payoff parameter, if there is one
    public : None if chance only deals
    allowed : (history, number of the hand from 1) -> moves that remain with it, if any takes some
    """

    hands: Hands
    turn: Callable[[str], Turn | None]
    after: Callable[[str, str], str]
    settle: Callable[[str], Settlement]
    strength: Callable[[str], NDArray[np.int64]]
    denominator: int = 1
    parameter: str | None = None
    value: Fraction | None = None
    public: PublicCards | None = None
    allowed: Callable[[str, int], tuple[str, ...]] | None = None

    def tree(self) -> GameTree:
        """The game tree.

        Raises
        ------
        GameFormatError, GameTooLargeError
            If there are too many deals, or nodes.
        """
        chance = None
        if self.public is not None:
            excluded = self.public.excluded
            chance = PublicChance(
                self.public.outcomes,
                lambda name, cards: np.all(~excluded(name)[cards - 1], axis=1),
            )
        rules = DealtRules(
            self.hands.deals(),
            self.turn,
            self.after,
            self.payoffs,
            self.allowed,
            lambda hand: self.hands.labels[hand - 1],
            chance,
        )
        return build_dealt(
            rules,
            lambda base, slope=None: Payoffs(
                base, self.denominator, slope, self.parameter, self.value
            ),
        )

    def payoffs(self, history: str, dealt: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Net profits in every deal, base and slope if there is a parameter, int64 (D, N)."""
        end = self.settle(history)
        best = np.zeros(dealt.shape, dtype=bool)
        contending = list(end.contending)
        if len(contending) == 1:
            best[:, contending] = True
        else:
            strength = self.strength(history)[dealt[:, contending] - 1]
            best[:, contending] = strength == strength.max(axis=1, keepdims=True)
        winners = best.sum(axis=1, keepdims=True)
        parts = (end.paid,) if end.slope is None else (end.paid, end.slope)
        return tuple(best * _share(sum(paid), winners) - np.array(paid) for paid in parts)

    def product(self) -> DealtForm | None:
        """The same as a product; None for games that only a tree can have.

        These are games of one player, those in which a hand takes moves away, those with hands of
        three or more cards, and those of three or more players whose hands are of several cards,
        not open to all, or share a card.
        """
        hands, (count, holds) = self.hands, self.hands.cards.shape
        own = holds == 0 or (holds == 1 and len(np.unique(hands.cards)) == count)
        few = holds <= 2 if hands.n_players == 2 else own and hands.weights.all()
        is_one = hands.n_players > 1 and few and self.allowed is None
        return compile_dealt(self) if is_one else None


class ShowdownGame:
    """A game class that declares its rules; `build` makes the tree, large ones go by products."""

    def rules(self) -> ShowdownRules:
        """The rules of the game."""
        raise NotImplementedError

    def build(self) -> GameTree:
        """The game tree."""
        return self.rules().tree()


def _share(pot: int, winners: NDArray[np.int64]) -> NDArray[np.int64]:
    if any(pot % int(count) for count in np.unique(winners)):
        raise GameFormatError(
            f"{pot} units cannot be shared by {int(winners.max())} players; choose a denominator "
            "with which they can"
        )
    return pot // winners


@dataclass(frozen=True, eq=False)
class DealtForm:
    """A game of hands and showdowns, compiled to arrays that are read-only.

    Public nodes stand breadth-first. Where player p decides at node v after board b, there is an
    information set for every hand that p can have, in the order of the hands: the one of hand h is
    ``first_infoset[v] + place[b, p, h]``. Information sets are numbered as in the tree.

    Attributes
    ----------
    players : labels of the N players
    hands : Hands
    parent, move : int32 (V,)
        Public node above, and position of the move among its moves; -1 at the root.
    player : int8 (V,)
        Who moves: 0..N-1, CHANCE or TERMINAL.
    board : int32 (V,)
        Which public cards are there; 0 are those at the root.
    chance : int64 (V,)
        Inverse of the probability of the public cards on the way, in a deal that admits them.
    histories, moves : tuples of length V
    terminal : int32 (T,)
        The endings among the nodes, ascending.
    paid : int64 (T, N)
        What players have put in, over `denominator`.
    slope : int64 (T, N) or None
        The same for every unit of the payoff parameter.
    contending : bool (T, N)
    strength : int64 (B, H)
        What hands are worth in a showdown.
    possible : bool (B, H)
        Hands that the public cards admit.
    place : int32 (B, N, H)
        Number of each hand among those that a player can have there; -1 if no deal has it.
    first_infoset : int32 (V,)
        First information set of each node, -1 where no player decides.
    action_start : int32 (I+1,)
        First action of each information set, as in the tree.
    last : int32 (V, N, 2)
        Node and move of the last decision of each player on the way to a node; -1 if none.
    """

    players: tuple[str, ...]
    hands: Hands
    parent: IntArray
    move: IntArray
    player: NDArray[np.int8]
    board: IntArray
    chance: NDArray[np.int64]
    histories: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    terminal: IntArray
    paid: NDArray[np.int64]
    slope: NDArray[np.int64] | None
    contending: NDArray[np.bool_]
    strength: NDArray[np.int64]
    possible: NDArray[np.bool_]
    place: IntArray
    first_infoset: IntArray
    action_start: IntArray
    last: IntArray
    denominator: int = 1
    parameter: str | None = None
    value: Fraction | None = None
    outcomes: int = 1
    drawn: tuple[str, ...] = field(default=("",), repr=False)

    @property
    def n_players(self) -> int:
        return len(self.players)

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
    def n_deals(self) -> tuple[int, ...]:
        """Number of deals that each board admits, of length B."""
        return tuple(self.hands.total(each, count=True) for each in self.possible)

    @cached_property
    def n_nodes(self) -> int:
        """Number of nodes of the tree."""
        per_board = np.bincount(self.board, minlength=len(self.possible)).tolist()
        public = sum(n * deals for n, deals in zip(per_board, self.n_deals, strict=True))
        return public + self._dealing

    @property
    def _dealing(self) -> int:
        """Number of chance nodes that deal hands."""
        if not self.hands.one_by_one:
            return 1
        players = self.n_players
        if players == 2:  # some first hands may leave none for the second player
            return 1 + int(np.count_nonzero(self.place[0, 0] >= 0))
        firsts = (
            replace(self.hands, weights=self.hands.weights[:k], one_by_one=False)
            for k in range(1, players)
        )
        return 1 + sum(each.total(count=True) for each in firsts)

    @cached_property
    def n_terminals(self) -> int:
        """Number of terminal nodes of the tree."""
        return sum(self.n_deals[board] for board in self.board[self.terminal].tolist())

    def at(self, value: Fraction) -> DealtForm:
        """The same at another value of the payoff parameter."""
        if self.parameter is None:
            raise ValueError("this game has no payoff parameter")
        return replace(self, value=value)

    def stakes(self) -> tuple[NDArray, int]:
        """What players have put in at each ending: integers (T, N), maybe objects, over the second.

        The parameter has its present value.
        """
        if self.slope is None or self.value is None:
            return self.paid, self.denominator
        p, q = self.value.numerator, self.value.denominator
        largest = max(int(np.abs(part).max(initial=0)) for part in (self.paid, self.slope))
        kind = np.int64 if largest * self.n_players * (q + abs(p)) < 2**60 else object
        numerators = self.paid.astype(kind) * q + self.slope.astype(kind) * p
        return numerators, self.denominator * q

    def of_player(self, player: int) -> NDArray[np.int64]:
        """The public nodes at which a player decides, ascending."""
        return np.flatnonzero(self.player == player)

    def rules(self) -> ShowdownRules:
        """Rules of which this is the compiled form, for building the tree."""
        node = {history: v for v, history in enumerate(self.histories)}
        after = {
            (self.histories[u], self.moves[u][k]): self.histories[v]
            for v, (u, k) in enumerate(zip(self.parent.tolist(), self.move.tolist(), strict=True))
            if v
        }
        ending = {v: t for t, v in enumerate(self.terminal.tolist())}
        excluded: dict[str, NDArray[np.bool_]] = {}
        for name, possible in zip(self.drawn[1:], self.possible[1:], strict=True):
            excluded[name] = excluded.get(name, True) & ~possible

        def turn(history: str) -> Turn | None:
            v = node[history]
            return None if v in ending else (int(self.player[v]), self.moves[v])

        def settle(history: str) -> Settlement:
            t = ending[node[history]]
            slope = None if self.slope is None else tuple(self.slope[t].tolist())
            contending = tuple(np.flatnonzero(self.contending[t]).tolist())
            return Settlement(tuple(self.paid[t].tolist()), contending, slope)

        return ShowdownRules(
            self.hands,
            turn,
            lambda history, move: after[history, move],
            settle,
            lambda history: self.strength[self.board[node[history]]],
            self.denominator,
            self.parameter,
            self.value,
            PublicCards(self.outcomes, excluded.__getitem__) if excluded else None,
        )


def compile_dealt(rules: ShowdownRules) -> DealtForm:
    """Compile the rules of a game in which all hands have the same moves.

    Raises
    ------
    GameFormatError
        If no deal is possible, an ending is none, or the same public cards make hands worth
        something else after other moves.
    """
    hands, players = rules.hands, rules.hands.n_players
    histories, parent, move, board, chance = [""], [-1], [-1], [0], [1]
    last: list[tuple[tuple[int, int], ...]] = [((-1, -1),) * players]
    drawn, possible = [""], [np.ones(len(hands.labels), dtype=bool)]
    player, moves, boards = [], [], dict[tuple[int, str], int]()
    endings: list[tuple[int, Settlement]] = []
    strength: dict[int, NDArray[np.int64]] = {}
    for v, history in enumerate(histories):  # which grows
        turn = rules.turn(history)
        player.append(TERMINAL if turn is None else turn[0])
        moves.append(() if turn is None else tuple(turn[1]))
        if turn is None:
            end = rules.settle(history)
            endings.append((v, end))
            if not 0 < len(set(end.contending)) == len(end.contending) <= len(end.paid) == players:
                raise GameFormatError(f"after {history!r} play cannot end as {end}")
            if len(end.contending) > 1:
                worth = np.asarray(rules.strength(history), dtype=np.int64)
                known = strength.setdefault(board[v], worth)
                if known is not worth and not np.array_equal(known, worth):
                    raise GameFormatError(
                        f"after {history!r} hands are worth something else than after other moves "
                        "and the same public cards; make strength a function of these cards"
                    )
            continue
        for k, name in enumerate(moves[v]):
            histories.append(rules.after(history, name))
            parent.append(v)
            move.append(k)
            own = list(last[v])
            if turn[0] == CHANCE:
                if rules.public is None:
                    raise GameFormatError(
                        f"chance moves after {history!r}, but the rules have no public cards; "
                        "declare them as `public`"
                    )
                key = board[v], name
                if key not in boards:
                    boards[key] = len(possible)
                    drawn.append(name)
                    possible.append(possible[board[v]] & ~rules.public.excluded(name))
                board.append(boards[key])
                chance.append(chance[v] * rules.public.outcomes)
            else:
                board.append(board[v])
                chance.append(chance[v])
                own[turn[0]] = v, k
            last.append(tuple(own))
    place = np.stack([_places(hands, each) for each in possible])
    nothing = np.zeros(len(hands.labels), dtype=np.int64)
    first, start = _numbered(np.array(player), np.array(board), moves, np.array(last), place)
    slopes = [end.slope for _, end in endings]
    contending = np.zeros((len(endings), players), dtype=bool)
    for row, (_, end) in zip(contending, endings, strict=True):
        row[list(end.contending)] = True
    return DealtForm(
        tuple(f"P{p + 1}" for p in range(players)),
        hands,
        frozen(np.array(parent, dtype=np.int32)),
        frozen(np.array(move, dtype=np.int32)),
        frozen(np.array(player, dtype=np.int8)),
        frozen(np.array(board, dtype=np.int32)),
        frozen(np.array(chance, dtype=np.int64)),
        tuple(histories),
        tuple(moves),
        frozen(np.array([v for v, _ in endings], dtype=np.int32)),
        frozen(np.array([end.paid for _, end in endings], dtype=np.int64)),
        None if None in slopes else frozen(np.array(slopes, dtype=np.int64)),
        frozen(contending),
        frozen(np.stack([strength.get(b, nothing) for b in range(len(possible))])),
        frozen(np.stack(possible)),
        frozen(place),
        frozen(first),
        frozen(start),
        frozen(np.array(last, dtype=np.int32)),
        rules.denominator,
        rules.parameter,
        rules.value,
        1 if rules.public is None else rules.public.outcomes,
        tuple(drawn),
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
        raise GameFormatError(
            "no deal is possible: every hand of one player has a card of all hands of another, or "
            "of the board"
        )
    return np.where(there, np.cumsum(there, axis=1) - 1, -1).astype(np.int32)


def _numbered(
    player: NDArray,
    board: NDArray,
    moves: list[tuple[str, ...]],
    last: NDArray,
    place: IntArray,
) -> tuple[IntArray, IntArray]:
    """First information set of each node, int32 (V,), and first action of each set, (I+1,)."""
    first = np.full(len(player), -1, dtype=np.int32)
    earlier = np.zeros(len(player), dtype=np.int64)  # own decisions before, where a player decides
    nodes = np.flatnonzero(player >= 0)
    for v in nodes.tolist():
        before = last[v, player[v], 0]
        earlier[v] = earlier[before] + 1 if before >= 0 else 0
    order = nodes[np.lexsort((nodes, earlier[nodes], player[nodes]))]
    sets = place[board[order], player[order]].max(axis=1) + 1
    first[order] = np.cumsum(sets) - sets
    sizes = np.repeat([len(moves[v]) for v in order.tolist()], sets)
    return first, np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)


class HasForm(Protocol):
    """A :class:`eqbench.model.game.Game` with its nodes."""

    @property
    def tree(self) -> GameTree: ...
    @property
    def sequence_form(self) -> Any: ...


class UnbuiltTree(GameTree):
    """The tree of a dealt game, whose nodes are not built before one of their arrays is read.

    What concerns information sets, and sizes, is known without. Anything else builds the tree, or
    raises GameTooLargeError where it would have more nodes than `most`.

    Attributes
    ----------
    form : DealtForm
    most : int
        Number of nodes that may be built.
    """

    form: DealtForm
    most: int
    source: Callable[[], HasForm] | None

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        """Return a plain tree: what is made by replacing fields of this one has its nodes."""
        return GameTree(*fields, **named)

    @classmethod
    def of(
        cls, form: DealtForm, most: int, source: Callable[[], HasForm] | None = None
    ) -> UnbuiltTree:
        """The tree of a compiled game; `source` gives the game with its nodes, if not `form`."""
        tree = object.__new__(cls)
        tree.__dict__.update(players=form.players, form=form, most=most, source=source)
        return tree

    def __getattr__(self, name: str) -> Any:
        if name in _LABEL_FIELDS:
            self.__dict__.update(_label_fields(self.form))
        elif name in GameTree.__dataclass_fields__:
            built = self.built
            self.__dict__.update({each: getattr(built, each) for each in _NODE_FIELDS})
        else:
            raise AttributeError(name)
        return self.__dict__[name]

    @cached_property
    def game(self) -> HasForm | None:
        """The game with its nodes from `source`; None if there is none.

        Raises
        ------
        GameTooLargeError
            If it has more than `most` nodes.
        """
        with node_limit(self.most):
            check_expected_nodes("the tree of this game", self.form.n_nodes)
            return self.source and self.source()

    @cached_property
    def built(self) -> GameTree:
        """The tree with its nodes; GameTooLargeError as for `game`."""
        if self.game is None:
            with node_limit(self.most):
                return self.form.rules().tree()
        tree, value = self.game.tree, self.form.value
        return tree if value is None or tree.payoffs.value == value else tree.at(value)

    @property
    def n_nodes(self) -> int:
        return self.form.n_nodes

    @property
    def n_terminals(self) -> int:
        return self.form.n_terminals

    @property
    def exact(self) -> bool:
        return True

    @cached_property
    def action_start(self) -> IntArray:
        return self.form.action_start

    @cached_property
    def payoffs(self) -> Payoffs:
        """Payoffs, whose arrays are those of the built tree."""
        return _UnbuiltPayoffs.of(self)

    @cached_property
    def payoff_bounds(self) -> tuple[Fraction, Fraction]:
        """Smallest and largest payoff over all endings and players."""
        return _payoff_bounds(self.form)

    @property
    def payoff_range(self) -> float:
        lowest, highest = self.payoff_bounds
        return float(highest) - float(lowest)  # as of the table

    @property
    def largest_payoff(self) -> float:
        return float(max(map(abs, self.payoff_bounds)))

    @property
    def payoff_scale(self) -> float:
        return self.payoff_range

    @property
    def is_wide(self) -> bool:
        """False: :func:`promised` makes no such tree."""
        return False

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, maybe in another process, is built from its form."""
        return UnbuiltTree.of, (self.form, self.most)

    def at(self, value: Fraction) -> GameTree:
        """The same at another value of the parameter; built where payoffs get too far apart."""
        tree = promised(self.form.at(value), self.most, self.source)
        if tree is None:
            return self.built.at(value)
        shared = {k: v for k, v in self.__dict__.items() if k in _LABEL_FIELDS}
        tree.__dict__.update(shared)
        return tree


class _UnbuiltPayoffs(Payoffs):
    """Denominator and parameter of payoffs; their arrays are built with the tree."""

    _tree: UnbuiltTree

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        """Return plain payoffs: what is made by replacing fields of these has its arrays."""
        return Payoffs(*fields, **named)

    @classmethod
    def of(cls, tree: UnbuiltTree) -> _UnbuiltPayoffs:
        payoffs, form = object.__new__(cls), tree.form
        payoffs.__dict__.update(
            denominator=form.denominator, parameter=form.parameter, value=form.value, _tree=tree
        )
        return payoffs

    @property
    def base(self) -> NDArray:
        return self._tree.built.payoffs.base

    @property
    def slope(self) -> NDArray | None:
        return self._tree.built.payoffs.slope

    @property
    def table(self) -> FloatArray:
        return self._tree.built.payoffs.table

    @property
    def exact(self) -> bool:
        return True


_LABEL_FIELDS = ("infoset_labels", "infoset_actions", "infoset_player", "infoset_parent")
_NODE_FIELDS = (
    "parent", "move", "player", "infoset", "chance", "chance_denominator", "chance_labels"
)  # fmt: skip


def promised(
    form: DealtForm, most: int, source: Callable[[], HasForm] | None = None
) -> UnbuiltTree | None:
    """Tree that is not built yet; None where payoffs are so far apart that floats lose some.

    Parameters
    ----------
    most : number of nodes that may be built
    source : gives the game with its nodes; they are built from `form` unless given
    """
    tree = UnbuiltTree.of(form, most, source)
    paid, denominator = form.stakes()
    amounts = np.unique(np.concatenate([paid.ravel(), paid.sum(axis=1)]))
    least = min((b - a for a, b in itertools.pairwise(amounts.tolist()) if b > a), default=0)
    largest = max(map(abs, tree.payoff_bounds))  # may be beyond floats
    wide = largest > LARGEST_TO_STAKES * Fraction(int(least), denominator) > 0
    return None if wide else tree


def _label_fields(form: DealtForm) -> dict[str, Any]:
    """Fields of a tree on its information sets."""
    sizes = form.n_infosets
    labels = [""] * sizes
    actions: list[tuple[str, ...]] = [()] * sizes
    player, above = np.zeros(sizes, dtype=np.int32), np.full(sizes, -1, dtype=np.int32)
    for v in np.flatnonzero(form.player >= 0).tolist():
        mover, start = int(form.player[v]), int(form.first_infoset[v])
        places = form.place[form.board[v], mover]
        own = np.flatnonzero(places >= 0)
        here = slice(start, start + len(own))
        labels[here] = [f"{form.hands.labels[h]}:{form.histories[v]}" for h in own.tolist()]
        actions[here] = [form.moves[v]] * len(own)
        player[here] = mover
        u, k = form.last[v, mover].tolist()
        if u >= 0:
            there = form.first_infoset[u] + form.place[form.board[u], mover, own]
            above[here] = form.action_start[there] + k
    parts = (tuple(labels), tuple(actions), frozen(player), frozen(above))
    return dict(zip(_LABEL_FIELDS, parts, strict=True))


def _payoff_bounds(form: DealtForm) -> tuple[Fraction, Fraction]:
    """Smallest and largest payoff of any player at any ending."""
    paid, denominator = form.stakes()
    pots, lowest, highest = paid.sum(axis=1), [], []
    boards = form.board[form.terminal]
    kinds = np.unique(np.column_stack([boards, form.contending]), axis=0).astype(np.int64)
    for board, *contending in kinds.tolist():
        here = (boards == board) & np.all(
            form.contending == np.array(contending, dtype=bool), axis=1
        )
        shares = _winner_counts(form, board, np.flatnonzero(contending))
        for p in range(form.n_players):
            own = paid[here, p]
            for count in shares.get(p, {0}):  # 0 means nothing is won
                won = pots[here] // count if count else 0
                lowest.append((won - own).min())
                highest.append((won - own).max())
    return Fraction(int(min(lowest)), denominator), Fraction(int(max(highest)), denominator)


def _winner_counts(form: DealtForm, board: int, contending: NDArray) -> dict[int, set[int]]:
    """For each contending player, how many can share the pot with the player; 0 if it is lost."""
    if len(contending) == 1:
        return {int(contending[0]): {1}}
    strength, there = form.strength[board], form.place[board] >= 0
    if form.n_players == 2:
        first, second = np.nonzero(there[0][:, None] & there[1] & ~form.hands.conflicts)
        signs = set(np.sign(strength[first] - strength[second]).tolist())
        counts = {1: 1, 0: 2, -1: 0}
        return {0: {counts[s] for s in signs}, 1: {counts[-s] for s in signs}}
    values, sizes = np.unique(strength[there[0]], return_counts=True)
    below = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    single = form.hands.cards.shape[1] > 0  # a hand that one player has no other has
    found = {0} if len(values) > 1 else set()
    for lower, size in zip(below.tolist(), sizes.tolist(), strict=True):
        for tied in range(1, len(contending) + 1):
            others = len(contending) - tied
            enough = (size >= tied and lower >= others) if single else (lower > 0 or not others)
            found |= {tied} if enough else set()
    return {int(p): found for p in contending}
