"""Values of games of hands and showdowns from sums over hands at public nodes, without the tree.

Vectors over sequences are those of the sequence form of the tree. Where a player has folded and
what he pays is settled, all endings that follow are one: the others' plans sum to 1 below it. So
values are right for plans, or multiples of them, and not for any weights.

Symbols in shapes: N players, V public nodes, B boards, H hands, T terminals, and of a player E
endings in G groups; for what the kernels read see :mod:`eqbench.model.product_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.model.dealt_form import DealtForm
from eqbench.model.payoff_model import FormModel, Linearization, PayoffModel
from eqbench.model.product_kernels import (
    Indices,
    ProductArrays,
    best_responses,
    payoffs_and_values,
)
from eqbench.model.sequence_form import SequenceStructure, merge_rows
from eqbench.model.tree import FloatArray, IntArray, frozen

# Work of a row of a group with a showdown, where one without has 1.
SHOWDOWN_WORK = 3


@dataclass(frozen=True, eq=False)
class ProductForm(SequenceStructure):
    """The sequences of a game of hands and showdowns, and what values are computed from.

    Attributes
    ----------
    dealt : DealtForm
    """

    dealt: DealtForm

    @classmethod
    def of(cls, dealt: DealtForm) -> ProductForm:
        """Sequences of all players, numbered as in the tree."""
        n, above = dealt.n_players, dealt.infoset_parent
        owner = dealt.player[dealt.infosets[0]].astype(np.int32)
        return cls(
            n,
            frozen((dealt.action_start + n).astype(np.int32)),
            frozen(np.where(above < 0, owner, above + n).astype(np.int32)),
            frozen(np.searchsorted(owner, np.arange(n + 1)).astype(np.int32)),
            frozen(owner),
            dealt,
        )

    @cached_property
    def arrays(self) -> ProductArrays:
        """The bundle that the kernels take."""
        return self.parted(1)

    def parted(self, parts: int) -> ProductArrays:
        """The same for so many threads."""
        return _compile(self, self._groups, parts)

    @cached_property
    def outcomes(self) -> tuple[IntArray, FloatArray]:
        """Those of the tree; there is one for every ending and deal, so there may be very many."""
        dealt, players = self.dealt, np.arange(self.n_players)
        references, pairs = _references(dealt)
        cards, weights = dealt.hands.deals()
        last, chance = [], []
        for board, possible in enumerate(dealt.possible):
            ends = dealt.terminal[dealt.board[dealt.terminal] == board]
            base, stride, table = np.moveaxis(references[ends, None], 3, 0)
            there = possible[cards - 1].all(axis=1)
            place = dealt.place[pairs[table, 0], players, cards[there] - 1]
            last.append((base + stride * place).reshape(-1, self.n_players))
            chance.append((weights[there] / dealt.chance[ends, None]).ravel())
        columns, group = merge_rows(np.concatenate(last).astype(np.int32))
        weight = np.concatenate(chance) / float(dealt.deal_weight)
        return frozen(columns), frozen(np.bincount(group, weight, len(columns)))

    def played(self, behavior: FloatArray) -> FloatArray:
        """Probability with which each action is played, float64 (A,)."""
        n, (reach, values) = self.n_players, np.empty((2, self.n_sequences))
        extended = np.concatenate((np.ones(n), behavior))
        # where every ending pays 1, whatever a player does is worth how often the others admit it
        best_responses(self.chances, extended, reach, values, *np.empty((2, n)))
        return (reach * values)[n:]

    @cached_property
    def _groups(self) -> list[_Groups]:
        return [_Groups.of(self.dealt, p) for p in range(self.n_players)]

    def at(self, value: float) -> ProductArrays:
        """The bundle at another value of the payoff parameter; ValueError if there is none."""
        dealt = self.dealt
        if dealt.slope is None:
            raise ValueError("this game has no payoff parameter")
        paid = (dealt.paid + value * dealt.slope) / dealt.denominator
        return self._worth([groups.worth(paid) for groups in self._groups])

    @cached_property
    def chances(self) -> ProductArrays:
        """The bundle in which every player gets 1 at every ending."""
        return self._worth([np.outer(groups.chance, [1.0, 0.0]) for groups in self._groups])

    def _worth(self, worth: list[FloatArray]) -> ProductArrays:
        return self.arrays._replace(worth=frozen(np.concatenate(worth)))


def _references(dealt: DealtForm) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the sequences of hands are.

    Returns
    -------
    references : int64 (V, N, 3)
        To the last sequence of each player on the way to each node.
    pairs : int64 (.., 2)
        The rows of `slot` to which they lead: boards where a sequence begins, and later ones.
    """
    node, board = dealt.last[..., 0], dealt.board[:, None].astype(np.int64)
    moves = np.array([len(each) for each in dealt.moves])
    begin = dealt.action_start[dealt.first_infoset[node]] + dealt.last[..., 1] + dealt.n_players
    earlier = np.where(node < 0, board, board[node, 0])
    pairs, table = np.unique(earlier * len(dealt.place) + board, return_inverse=True)
    base = np.where(node < 0, np.arange(dealt.n_players), begin)
    parts = base, np.where(node < 0, 0, moves[node]), table.reshape(node.shape)
    return np.stack(parts, axis=2), np.stack(np.divmod(pairs, len(dealt.place)), axis=1)


def _boards(dealt: DealtForm, pairs: NDArray[np.int64]) -> tuple:
    """Hands in order of strength: the fields of :class:`ProductArrays` from `size` on."""
    hands, n = dealt.hands, dealt.n_players
    count, holds = hands.cards.shape
    single = holds == 0 or (holds == 1 and len(np.unique(hands.cards)) == count)
    boards, limit = len(dealt.place), min(n - 1, count if holds == 0 else count - 1)
    order = np.zeros((boards, count), dtype=np.int64)
    start = np.zeros((boards, count + 1), dtype=np.int64)
    size, levels, ties = np.zeros((3, boards), dtype=np.int64)
    for b, (places, strength) in enumerate(zip(dealt.place, dealt.strength, strict=True)):
        there = np.flatnonzero((places >= 0).any(axis=0))
        size[b] = len(there)
        order[b, : size[b]] = there[np.argsort(strength[there], kind="stable")]
        equal = np.unique(strength[there], return_counts=True)[1]
        levels[b] = len(equal)
        start[b, 1 : levels[b] + 1] = np.cumsum(equal)
        ties[b] = min(limit, n - 1 if holds == 0 else equal.max() - 1)
    held, of_player = order[:, None], np.arange(n)[:, None]
    each = np.arange(boards)[:, None, None]
    weight = np.where(dealt.place[each, of_player, held] >= 0, hands.weights[of_player, held], 0)
    weight = np.where(np.arange(count) < size[:, None, None], weight, 0)
    slot = dealt.place[pairs[:, 0, None, None], of_player, held[pairs[:, 1]]]
    cards, twin = np.zeros((0, 0, 0), dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    names, numbers = np.unique(hands.cards, return_inverse=True)
    if not single:
        numbers = numbers.reshape(hands.cards.shape)
        cards = numbers[order]
        same = np.unique(np.sort(numbers, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        first = np.full((boards, len(same)), count)
        np.minimum.at(first, (np.arange(boards)[:, None], same[order]), np.arange(count))
        twin = np.take_along_axis(first, same[order], axis=1)
    return (
        _indices(size),
        _indices(levels),
        _indices(ties),
        _indices(start),
        frozen(weight.astype(np.float64)),
        _indices(np.maximum(slot, 0)),
        _indices(cards),
        _indices(twin),
        len(names),
        float(single and holds > 0),
    )


@dataclass(frozen=True)
class _Groups:
    """The endings of a player by groups; E endings, G groups.

    Attributes
    ----------
    player : int
    node, ending : int64 (E,)
        Public node, and which of the terminals has what players have put in; sorted by group.
    rivals : int64 (E,)
        Who shows down against the player.
    alone : bool (E,)
        Whether the player wins without a showdown.
    start : int64 (G+1,)
    chance : float64 (E,)
        Probability of a deal of weight 1 and the public cards.
    """

    player: int
    node: NDArray[np.int64]
    ending: NDArray[np.int64]
    rivals: NDArray[np.int64]
    alone: NDArray[np.bool_]
    start: NDArray[np.int64]
    chance: FloatArray

    @classmethod
    def of(cls, dealt: DealtForm, player: int) -> _Groups:
        node, ending = _settled(dealt, player)
        others = np.delete(np.arange(dealt.n_players), player)
        there = dealt.contending[ending]
        rivals = there[:, others] @ (1 << np.arange(len(others))) * there[:, player]
        last = dealt.last[node]
        # what must be the same, the own last node first
        key = np.column_stack(
            [last[:, player, 0], dealt.board[node], last[:, others].reshape(len(node), -1)]
        )
        order = np.lexsort((rivals, *key.T[::-1]))
        node, ending, key, rivals = node[order], ending[order], key[order], rivals[order]
        new = np.ones(len(node) + 1, dtype=bool)
        new[1:-1] = np.any(key[1:] != key[:-1], axis=1)
        new[1:-1] |= (rivals[1:] != rivals[:-1]) & (rivals[:-1] > 0)
        alone = there[order, player] & (rivals == 0)
        chance = 1.0 / (dealt.chance[node].astype(float) * float(dealt.deal_weight))
        return cls(player, node, ending, rivals, alone, np.flatnonzero(new), chance)

    def worth(self, paid: FloatArray) -> FloatArray:
        """What sums count, (E, 2), where players have put in `paid`, float64 (T, N)."""
        pot = paid.sum(axis=1)[self.ending]
        by_all = np.where(self.alone, pot, 0.0) - paid[self.ending, self.player]
        by_won = np.where(self.rivals > 0, pot, 0.0)
        return np.column_stack([by_all, by_won]) * self.chance[:, None]


def _settled(dealt: DealtForm, player: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes where it is settled what a player gets, (E,), and an ending below each of them."""
    terminal, own = dealt.terminal, dealt.contending[:, player]
    slope = np.zeros_like(dealt.paid) if dealt.slope is None else dealt.slope
    amounts = np.column_stack([dealt.paid[:, player], slope[:, player], own])
    _, example, kind = np.unique(amounts, axis=0, return_index=True, return_inverse=True)
    # the smallest and the largest kind of folding below each node, -1 for none
    low = np.full(len(dealt.parent), len(example), dtype=np.int64)
    high = np.full(len(dealt.parent), -1, dtype=np.int64)
    low[terminal] = high[terminal] = np.where(own, -1, kind.reshape(-1))
    for level in reversed(dealt.levels[1:]):
        deciding = dealt.player[level] == player
        low[level][deciding] = -1
        np.minimum.at(low, dealt.parent[level], low[level])
        np.maximum.at(high, dealt.parent[level], high[level])
    folded = (low == high) & (low >= 0) & (dealt.player != player)
    top = folded & ~np.concatenate(([False], folded[dealt.parent[1:]]))
    showing = terminal[own]
    node = np.concatenate([np.flatnonzero(top), showing])
    ending = np.concatenate([example[low[top]], np.flatnonzero(own)])
    return node.astype(np.int64), ending.astype(np.int64)


def _compile(form: ProductForm, all_groups: list[_Groups], parts: int) -> ProductArrays:
    """Bundle of the groups of all players, whose own nodes are dealt out to the parts."""
    dealt, n = form.dealt, form.n_players
    references, pairs = _references(dealt)
    boards = _boards(dealt, pairs)
    paid, denominator = dealt.stakes()
    amounts = (paid / denominator).astype(np.float64)
    unit_span, spans, span_group, group_row = [0], [], [0], [0]
    heads, rivals, sources = [], [], []
    for groups in all_groups:
        p, head = groups.player, groups.node[groups.start[:-1]]
        showing = groups.rivals[groups.start[1:] - 1]
        own = dealt.last[head, p, 0]  # ascending
        nodes = np.flatnonzero(dealt.player == p)
        stop = np.searchsorted(own, np.concatenate(([-1], nodes)), side="right")
        size = boards[0][dealt.board[head]].astype(np.int64)
        done = np.concatenate(([0], np.cumsum(size * (1 + SHOWDOWN_WORK * (showing > 0)))))
        middle = (done[np.concatenate(([0], stop[:-1]))] + done[stop]) / 2
        part = np.minimum((middle * parts / max(done[-1], 1)).astype(np.int64), parts - 1)
        first = dealt.first_infoset[nodes]
        sets = dealt.place[dealt.board[nodes], p].max(axis=1) + 1
        spans += [[[p, p + 1]], form.block_start[np.stack([first, first + sets], axis=1)]]
        unit_span += (unit_span[-1] + np.cumsum(np.bincount(part, minlength=parts))).tolist()
        span_group += (span_group[-1] + stop).tolist()
        group_row += (group_row[-1] + groups.start[1:]).tolist()
        heads.append(head)
        rivals.append(showing)
        sources.append(np.delete(references[head], p, axis=1))
    share = dealt.infosets[1] * parts // len(dealt.hands.labels)
    unit = form.infoset_player.astype(np.int64) * parts + share
    return ProductArrays(
        _indices(form.block_start),
        _indices(form.parent),
        _indices(form.infoset_start),
        (0,) * (n - 1),
        parts,
        _indices(np.concatenate(([0], np.cumsum(np.bincount(unit, minlength=n * parts))))),
        _indices(np.argsort(unit, kind="stable")),
        _indices(unit_span),
        _indices(np.concatenate(spans)),
        _indices(span_group),
        _indices(dealt.board[np.concatenate(heads)]),
        _indices(np.concatenate(rivals)),
        _indices(np.concatenate(sources)),
        _indices(group_row),
        _indices(np.concatenate([references[each.node, each.player] for each in all_groups])),
        frozen(np.concatenate([groups.worth(amounts) for groups in all_groups])),
        *boards,
    )


def _indices(array: object) -> Indices:
    return frozen(np.ascontiguousarray(array, dtype=np.uint32))


# -- the payoff model ------------------------------------------------------------------------------


class ProductModel(FormModel[ProductForm]):
    """Values and best responses by products; derivatives are those of the tree.

    Parameters
    ----------
    by_tree : gives a model of the same game by its tree, or raises
    """

    values_of, responses_of = staticmethod(payoffs_and_values), staticmethod(best_responses)

    def __init__(self, form: ProductForm, by_tree: Callable[[], PayoffModel]) -> None:
        super().__init__(form)
        self._by_tree = cache(by_tree)

    def at(self, value: float) -> ProductModel:
        model, by_tree = copy(self), self._by_tree
        model._arrays = self.form.at(value)
        model._by_tree = cache(lambda: by_tree().at(value))
        return model

    def jacobian(self, behavior: NDArray) -> FloatArray:
        return self._by_tree().jacobian(behavior)

    def linearize(self, behavior: NDArray) -> Linearization:
        return self._by_tree().linearize(behavior)
