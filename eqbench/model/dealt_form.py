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
from copy import copy
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError
from eqbench.model.dealt import DealtLayout, DealtRules, PublicTree, public_tree
from eqbench.model.size_limit import MOST_PUBLIC, check_expected_nodes, max_nodes, node_limit
from eqbench.model.tree import (
    LARGEST_TO_STAKES,
    GameTree,
    Payoffs,
    frozen,
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
class ShowdownRules(DealtRules):
    """The rules of a game of hands and showdowns.

    Attributes
    ----------
    settle : history -> how the play ends there
    strength : history -> int64 (H,), what hands are worth in a showdown, more is better
        It must be the same in all endings after the same public cards.
    denominator : of all payoffs; what can be won must be divisible by all numbers of winners
    parameter, value : name and value of the payoff parameter, if there is one
    """

    settle: Callable[[str], Settlement]
    strength: Callable[[str], NDArray[np.int64]]
    denominator: int = 1
    parameter: str | None = None
    value: Fraction | None = None

    def tree(self) -> GameTree:
        """The game tree; errors as of :func:`compile_dealt` and :class:`DealtLayout`."""
        return compile_dealt(self, max_nodes()).tree()

    def product(self) -> DealtForm | None:
        """The same as a product; None for games that only a tree can have.

        These are games of one player, those in which a hand takes moves away, those with hands of
        three or more cards, and those of three or more players whose hands are of several cards,
        not open to all, or share a card.
        """
        hands, (count, holds) = self.hands, self.hands.cards.shape
        own = holds == 0 or (holds == 1 and len(np.unique(hands.cards)) == count)
        few = holds <= 2 if hands.n_players == 2 else own and hands.weights.all()
        if hands.n_players == 1 or not few or self.allowed is not None:
            return None
        form = compile_dealt(self)
        _ = form.place  # refuses games without a deal
        return form


class ShowdownGame:
    """A game class that declares its rules; `build` makes the tree, large ones go by products."""

    def rules(self) -> ShowdownRules:
        """The rules of the game."""
        raise NotImplementedError

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return public_tree(self.rules(), max(max_nodes(), MOST_PUBLIC)).n_nodes

    def build(self) -> GameTree:
        """The game tree."""
        return self.rules().tree()


@dataclass(frozen=True, eq=False)
class DealtForm(PublicTree):
    """A game of hands and showdowns, compiled to arrays that are read-only.

    Attributes
    ----------
    paid : int64 (T, N)
        What players have put in, over `denominator`.
    slope : int64 (T, N) or None
        The same for every unit of the payoff parameter.
    contending : bool (T, N)
    strength : int64 (B, H)
        What hands are worth in a showdown.
    """

    paid: NDArray[np.int64]
    slope: NDArray[np.int64] | None
    contending: NDArray[np.bool_]
    strength: NDArray[np.int64]
    denominator: int = 1
    parameter: str | None = None
    value: Fraction | None = None

    def at(self, value: Fraction) -> DealtForm:
        """The same at another value of the payoff parameter."""
        if self.parameter is None:
            raise ValueError("this game has no payoff parameter")
        form = copy(self)  # with all that is known of the rest
        form.__dict__["value"] = value
        return form

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

    def tree(self) -> GameTree:
        """The game tree; errors as of :class:`DealtLayout`."""
        return DealtLayout(self, self.profits).build(
            lambda base, slope=None: Payoffs(
                base, self.denominator, slope, self.parameter, self.value
            )
        )

    def profits(self, nodes: NDArray, dealt: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """Net profits at endings, base and slope if there is a parameter, int64 (D, nodes, N)."""
        ends = np.searchsorted(self.terminal, nodes)
        paid = [part[ends] for part in (self.paid, self.slope) if part is not None]
        found = tuple(np.empty((len(dealt), *part.shape), dtype=np.int64) for part in paid)
        for (board, there), here in self.kinds(ends).items():
            own = np.flatnonzero(there)
            strength, best = self.strength[board][dealt[:, own] - 1], np.zeros(dealt.shape, bool)
            best[:, own] = strength == strength.max(axis=1, keepdims=True)
            winners = best.sum(axis=1)[:, None]
            for part, profits in zip(paid, found, strict=True):
                pots = part[here].sum(axis=1)
                share, rest = np.divmod(pots, winners)
                if rest.any():
                    raise GameFormatError(
                        f"{pots[rest.any(axis=0)][0]} units cannot be shared by "
                        f"{int(winners.max())} players; choose a denominator with which they can"
                    )
                profits[:, here] = best[:, None] * share[:, :, None] - part[here]
        return found

    def kinds(self, ends: NDArray) -> dict[tuple[int, tuple[bool, ...]], list[int]]:
        """Positions in `ends` by board and by who is contending."""
        found = dict[tuple[int, tuple[bool, ...]], list[int]]()
        boards, contending = self.board[self.terminal[ends]], self.contending[ends]
        for j, (board, who) in enumerate(zip(boards.tolist(), contending.tolist(), strict=True)):
            found.setdefault((board, tuple(who)), []).append(j)
        return found


def compile_dealt(rules: ShowdownRules, most: float = math.inf) -> DealtForm:
    """Compile the rules of a game to a public tree of at most so many nodes, and its endings.

    Raises
    ------
    GameFormatError, GameTooLargeError
        As of :func:`public_tree`; also if an ending is none, or the same public cards make hands
        worth something else after other moves.
    """
    public, players = public_tree(rules, most), rules.hands.n_players
    ends, strength = list[Settlement](), np.zeros(public.possible.shape, dtype=np.int64)
    known = set[int]()
    for v in public.terminal.tolist():
        history, board = public.histories[v], int(public.board[v])
        end = rules.settle(history)
        ends.append(end)
        if not 0 < len(set(end.contending)) == len(end.contending) <= len(end.paid) == players:
            raise GameFormatError(f"after {history!r} play cannot end as {end}")
        if len(end.contending) > 1:
            worth = rules.strength(history)
            if board not in known:
                known.add(board)
                strength[board] = worth
            elif not np.array_equal(strength[board], worth):
                raise GameFormatError(
                    f"after {history!r} hands are worth something else than after other moves "
                    "and the same public cards; make strength a function of these cards"
                )
    slopes, contending = [end.slope for end in ends], [end.contending for end in ends]
    return DealtForm(
        **{each.name: getattr(public, each.name) for each in fields(public)},
        paid=frozen(np.array([end.paid for end in ends], dtype=np.int64)),
        slope=None if None in slopes else frozen(np.array(slopes, dtype=np.int64)),
        contending=frozen(np.array([[p in who for p in range(players)] for who in contending])),
        strength=frozen(strength),
        denominator=rules.denominator,
        parameter=rules.parameter,
        value=rules.value,
    )


def _read(path: str) -> Any:
    """Property that is an attribute of an attribute."""
    return property(operator.attrgetter(path))


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
    source: Callable[[], Any] | None
    n_nodes, n_terminals = _read("form.n_nodes"), _read("form.n_terminals")
    action_start, payoff_scale = _read("form.action_start"), _read("payoff_range")
    exact, is_wide = True, False  # :func:`promised` makes no wide tree

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        """Return a plain tree: what is made by replacing fields of this one has its nodes."""
        return GameTree(*fields, **named)

    @classmethod
    def of(cls, form: DealtForm, most: int, source: Callable[[], Any] | None = None) -> UnbuiltTree:
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
    def game(self) -> Any:
        """The :class:`eqbench.model.game.Game` with its nodes from `source`, None if there is none.

        GameTooLargeError if it has more than `most` nodes.
        """
        with node_limit(self.most):
            check_expected_nodes("the tree of this game", self.form.n_nodes)
            return self.source and self.source()

    @cached_property
    def built(self) -> GameTree:
        """The tree with its nodes; GameTooLargeError as for `game`."""
        if self.game is None:
            with node_limit(self.most):
                return self.form.tree()
        tree, value = self.game.tree, self.form.value
        return tree if value is None or tree.payoffs.value == value else tree.at(value)

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
    base, slope, table = (
        _read(f"_tree.built.payoffs.{name}") for name in ("base", "slope", "table")
    )
    exact = True

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


_LABEL_FIELDS = ("infoset_labels", "infoset_actions", "infoset_player", "infoset_parent")
_NODE_FIELDS = (
    "parent", "move", "player", "infoset", "chance", "chance_denominator", "chance_labels"
)  # fmt: skip


def promised(
    form: DealtForm, most: int, source: Callable[[], Any] | None = None
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
    (node, hand), names, histories = form.infosets, form.hands.labels, form.histories
    each = node.tolist()
    labels = (f"{names[h]}:{histories[v]}" for v, h in zip(each, hand.tolist(), strict=True))
    actions = tuple(form.moves[v] for v in each)
    player = frozen(form.player[node].astype(np.int32))
    parts = (tuple(labels), actions, player, form.infoset_parent)
    return dict(zip(_LABEL_FIELDS, parts, strict=True))


def _payoff_bounds(form: DealtForm) -> tuple[Fraction, Fraction]:
    """Smallest and largest payoff of any player at any ending."""
    paid, denominator = form.stakes()
    found = []
    for (board, there), ends in form.kinds(np.arange(len(paid))).items():
        shares, pots = _winner_counts(form, board, np.flatnonzero(there)), paid[ends].sum(axis=1)
        for p in range(form.n_players):
            for count in shares.get(p, {0}):  # 0 means nothing is won
                profits = (pots // count if count else 0) - paid[ends, p]
                found += [profits.min(), profits.max()]
    return Fraction(int(min(found)), denominator), Fraction(int(max(found)), denominator)


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
