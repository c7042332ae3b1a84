"""Measure profiles of a game whose tree is not built: sums over hands at the endings in public.

At every ending it is summed with what probability the others' hands let a player lose, win alone or
share with how many. For two players all pairs of hands are looked at; for more, opponents are put
on cards one after another in order of strength, the state being which of them have one. No sum has
a term that is subtracted, so rounding stays in proportion to what is summed. Arrays hold floats, or
Python integers in exact mode.

Nothing is shared with the model of payoffs that solvers use; the sweep over the tree is the oracle.

Symbols: N players, H hands, T endings, E of these at a time, R rows: a player's moves in public
and, in row 0, none yet.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.dealt_form import DealtForm
from eqbench.model.tree import FloatArray
from eqbench.verification.sweep import UNIT, entry_units

_BLOCK = 2**23  # numbers in the largest arrays, of which there are about ten at a time


class _Moves:
    """The decisions of one player in public, by the number of own ones before.

    Attributes
    ----------
    cell : int64 (R-1, H)
        Action that each move is with each hand; the number of actions where no deal has the hand.
    depth : int64 (R,)
        Own moves up to and including each.
    ending : int64 (T,)
        Row of the last move before each ending.
    steps : list of (rows, where nodes begin among them, row above each node), the first ones first
    """

    def __init__(self, form: DealtForm, player: int) -> None:
        last = form.last[:, player].astype(np.int64)
        own, earlier = np.flatnonzero(form.player == player), form.earlier
        own = own[np.argsort(earlier[own], kind="stable")]
        sizes = np.array([len(form.moves[v]) for v in own.tolist()], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes + 1
        first = np.zeros(len(form.player), dtype=np.int64)
        first[own] = starts
        above = np.where(last[:, 0] >= 0, first[last[:, 0]] + last[:, 1], 0)
        self.ending = above[form.terminal]
        nodes, moves = np.repeat(own, sizes), np.arange(sizes.sum()) + 1 - np.repeat(starts, sizes)
        place = form.place[form.board[nodes], player]
        cell = form.action_start[form.first_infoset[nodes, None] + place] + moves[:, None]
        self.cell = np.where(place >= 0, cell, form.n_actions)
        self.depth = np.concatenate(([0], earlier[nodes] + 1))
        self.steps = []
        for depth in range(int(self.depth.max())):
            here = np.flatnonzero(earlier[own] == depth)
            begin, stop = starts[here[0]], starts[here[-1]] + sizes[here[-1]]
            self.steps.append((slice(begin, stop), starts[here] - begin, above[own[here]]))

    def plan(self, action: NDArray) -> NDArray:
        """Product of the frequencies (A,) of the moves up to each, (R, H)."""
        padded = np.append(action, np.zeros(1, dtype=action.dtype))
        plan = np.vstack((np.ones((1, self.cell.shape[1]), dtype=action.dtype), padded[self.cell]))
        for rows, starts, above in self.steps:
            sizes = np.diff(starts, append=rows.stop - rows.start)
            plan[rows] *= plan[np.repeat(above, sizes)]
        return plan

    def best(self, value: NDArray) -> NDArray:
        """What a best response earns with each hand (H,), of what follows each move, (R, H)."""
        for rows, starts, above in reversed(self.steps):
            np.add.at(value, above, np.maximum.reduceat(value[rows], starts, axis=0))
        return value[0]


class ProductSweep:
    """Measures many profiles of one game by sums over hands."""

    def __init__(self, form: DealtForm) -> None:
        self.form = form
        self._moves = [_Moves(form, p) for p in range(form.n_players)]
        # to be divided by any number of winners
        self._shares = math.lcm(*range(1, form.n_players + 1))
        self._rounds = math.lcm(*np.unique(form.chance[form.terminal]).tolist())

    @cached_property
    def _payoffs(self) -> tuple[NDArray, int]:
        """Payoffs by the number of winners, 0 if lost, as integers (N, T, N+1), and denominator."""
        paid, denominator = self.form.stakes()
        paid = paid.astype(object) * self._shares
        pots = paid.sum(axis=1)
        won = [pots * 0, *(pots // k for k in range(1, self.form.n_players + 1))]
        payoffs = np.stack(won, axis=1)[None] - paid.T[:, :, None]
        return payoffs, denominator * self._shares

    @cached_property
    def _expected(self) -> FloatArray:
        """Payoffs in floats times the probability that public cards and a deal of weight 1 have."""
        payoffs, denominator = self._payoffs
        chance = self.form.chance[self.form.terminal].astype(object) * self.form.deal_weight
        return (payoffs / denominator).astype(float) * (1 / chance).astype(float)[:, None]

    def evaluate(self, action: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Expected payoffs and best-response values of all players in floats, two (N,).

        Parameters
        ----------
        action : float64 (A,)
            Frequencies of all actions.
        """
        plans = [own.plan(action)[own.ending] for own in self._moves]
        means, best = self._evaluate(plans, self._expected)
        return np.array([math.fsum(own) for own in means]), np.array([own.sum() for own in best])

    def errors(self, action: FloatArray) -> FloatArray:
        """Bounds (N,) on what rounding does to the difference of both values of :meth:`evaluate`.

        A term is a payoff times its reach. Nothing is subtracted, so every product and every sum
        that a term goes through puts it off by at most one unit of itself, and the whole is off
        by at most the number of these times what the absolute values of all terms sum to. Whatever
        a player does, the probabilities of the endings sum to 1, so that is at most the largest
        payoff. What the best response computed in floats is worth is the largest of what all pure
        strategies come to, so its error is at most that of one of them.
        """
        units = np.max(entry_units(action, self.form.action_start), initial=0)
        moves = sum(int(own.depth.max()) for own in self._moves)
        payoffs, denominator = self._payoffs
        largest = [float(Fraction(int(np.abs(own).max()), denominator)) for own in payoffs]
        return 2 * UNIT * (units * moves + self._roundings) * np.array(largest)

    @cached_property
    def _roundings(self) -> int:
        """Most roundings of a term on its way to the value, but for those of frequencies."""
        form = self.form
        cards, others = len(form.hands.labels), form.n_players - 1
        # on its way through cards a set grows by one opponent, and is a sum over those that grew
        # last; then ways to split the others by strength are summed
        deals = cards if others == 1 else others * (cards + 2) + 4**others + 3
        added = max(
            int(np.bincount(own.ending).max())
            + sum(int(np.bincount(above).max()) for _, _, above in own.steps)
            for own in self._moves
        )
        # weights, payoffs, probability of cards and deal, numbers of winners, own hands
        return deals + 3 * form.n_players + 6 + form.n_players + added + cards

    def evaluate_exactly(self, exact: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
        """The same in Fractions, computed in integers.

        The frequencies of player p are integers over one denominator d_p; at endings after fewer
        moves than the most, they are multiplied by what the others have more.
        """
        form, plans, powers = self.form, [], []
        for own in self._moves:
            used = np.unique(own.cell[own.cell < form.n_actions]).tolist()
            common = math.lcm(*(exact[a].denominator for a in used))
            action = np.zeros(form.n_actions, dtype=object)
            for a in used:
                action[a] = exact[a].numerator * (common // exact[a].denominator)
            most = int(own.depth.max())
            lifts = np.array([common ** (most - m) for m in range(most + 1)], dtype=object)
            plans.append(own.plan(action)[own.ending] * lifts[own.depth[own.ending], None])
            powers.append(common**most)
        payoffs, denominator = self._payoffs
        rounds = self._rounds // form.chance[form.terminal].astype(object)
        means, best = self._evaluate(plans, payoffs * rounds[:, None])
        denominator *= self._rounds * form.deal_weight
        everyone = denominator * math.prod(powers)
        return (
            [Fraction(int(sum(own)), everyone) for own in means],
            [
                Fraction(int(sum(own)), everyone // power)
                for own, power in zip(best, powers, strict=True)
            ],
        )

    def _evaluate(self, plans: list[NDArray], payoffs: NDArray) -> tuple[list[list], list[NDArray]]:
        """Terms of expected payoffs, and what a best response earns with each hand (H,).

        Parameters
        ----------
        plans : by player, product of the frequencies of own moves before each ending, (T, H)
        payoffs : (N, T, N+1)
        """
        form = self.form
        means = [list[Any]() for _ in plans]
        values = [
            np.zeros((len(own.depth), len(form.hands.labels)), dtype=payoffs.dtype)
            for own in self._moves
        ]
        boards = form.board[form.terminal]
        for strength, contending, ends in self._blocks:
            open_to = form.hands.weights[:, None] * form.possible[boards[ends]]
            weights = open_to.astype(payoffs.dtype)
            reach = [plan[ends] * own for plan, own in zip(plans, weights, strict=True)]
            for p, own in enumerate(self._moves):
                masses = self._masses(p, strength, contending, [each.T for each in reach])
                earned = weights[p] * sum(
                    payoffs[p, ends, k, None] * mass.T for k, mass in masses.items()
                )
                np.add.at(values[p], own.ending[ends], earned)
                means[p] += (plans[p][ends] * earned).sum(axis=1).tolist()
        return means, [own.best(value) for own, value in zip(self._moves, values, strict=True)]

    @cached_property
    def _blocks(self) -> list[tuple[NDArray, tuple[bool, ...], NDArray]]:
        """Endings that are summed at a time, with the strength of hands and who is in the end."""
        form, groups = self.form, dict[tuple, list[int]]()
        any_order = np.arange(len(form.hands.labels))  # will do if there is no showdown
        kinds = [row.tobytes() for row in form.strength]
        first = {kind: form.strength[b] for b, kind in enumerate(kinds)}
        ends = zip(form.board[form.terminal].tolist(), form.contending.tolist(), strict=True)
        for t, (board, who) in enumerate(ends):
            kind = kinds[board] if sum(who) > 1 else None
            groups.setdefault((kind, tuple(who)), []).append(t)
        states = 1 if form.n_players == 2 else 2 ** (form.n_players - 1)
        size = max(1, _BLOCK // (len(form.hands.labels) * states))
        return [
            (any_order if kind is None else first[kind], who, np.array(ends[k : k + size]))
            for (kind, who), ends in groups.items()
            for k in range(0, len(ends), size)
        ]

    def _masses(
        self, player: int, strength: NDArray, contending: tuple[bool, ...], reach: list[NDArray]
    ) -> dict[int, NDArray]:
        """Weights of the others' hands by the number of winners, 0 if the player is none.

        Parameters
        ----------
        reach : by player, weight of each hand times the frequencies of own moves, (H, E)

        Returns
        -------
        dict
            (H, E) by number of winners, for each hand of the player.
        """
        if self.form.n_players > 2:
            return self._by_cards(player, strength, contending, reach)
        other, conflicts = reach[1 - player], self.form.hands.conflicts
        rows = max(1, _BLOCK // len(strength))
        found: dict[int, NDArray] = {}
        for first in range(0, len(strength), rows):
            here = slice(first, first + rows)
            own, together = strength[here, None], ~conflicts[here]
            if sum(contending) == 1:
                parts = {int(contending[player]): together}
            else:
                parts = {
                    0: together & (own < strength),
                    1: together & (own > strength),
                    2: together & (own == strength),
                }
            for k, part in parts.items():
                mass = found.setdefault(k, np.zeros_like(other))
                mass[here] = np.einsum("hg,ge->he", part.astype(other.dtype), other)
        return found

    def _by_cards(
        self,
        player: int,
        strength: NDArray,
        contending: tuple[bool, ...],
        reach: list[NDArray],
    ) -> dict[int, NDArray]:
        """:meth:`_masses` for hands of one card, or of none."""
        others = [q for q in range(len(reach)) if q != player]
        fighting = sum(1 << i for i, q in enumerate(others) if contending[q])
        everyone = (1 << len(others)) - 1
        order = np.argsort(strength, kind="stable")
        breaks = strength[order][1:] != strength[order][:-1]
        seats = np.stack([reach[q][order] for q in others], axis=1)
        shared = self.form.hands.cards.shape[1] == 0
        below, before = _seated(seats, np.append(True, breaks), shared=shared, own=False)
        backward = _seated(seats[::-1], np.append(True, breaks[::-1]), shared=shared, own=shared)
        above, after = (part[::-1] for part in backward)
        found: dict[int, NDArray] = {}
        for tied in range(everyone + 1):
            # opponents with cards as strong as the own one, which stand before or after it
            ties = sum(before[:, part] * after[:, tied ^ part] for part in _subsets(tied))
            for weaker in _subsets(everyone ^ tied):
                stronger = everyone ^ tied ^ weaker
                wins = contending[player] and not stronger & fighting
                k = 1 + (tied & fighting).bit_count() if wins else 0
                mass = found.setdefault(k, np.zeros_like(reach[0]))
                mass[order] += below[:, weaker] * ties * above[:, stronger]
        return found


def count_terms(form: DealtForm) -> int:
    """Number of integers that exact mode handles, about."""
    players, hands = form.n_players, len(form.hands.labels)
    of_others = hands if players == 2 else 4 ** (players - 1) + (players << players)
    return players * len(form.terminal) * hands * of_others


def integer_parts(form: DealtForm) -> tuple[list[set[int]], int]:
    """Who moves at each depth in public, and bits in exact mode of what is not a frequency."""
    movers = [set(form.player[level].tolist()) for level in form.levels]
    paid, denominator = form.stakes()
    chances = math.lcm(*np.unique(form.chance).tolist()) * form.deal_weight
    parts = [form.n_players * int(np.abs(paid).max()), denominator, chances, chances]
    return movers, sum(part.bit_length() for part in parts) + 8 * form.n_players


def _subsets(of: int) -> Iterator[int]:
    """Sets of bits, the empty one last."""
    part = of
    while part:
        yield part
        part = (part - 1) & of
    yield 0


def _seated(seats: NDArray, fresh: NDArray, *, shared: bool, own: bool) -> tuple[NDArray, NDArray]:
    """Sums over all ways to put each opponent of a set on a card, two (H, 2^(N-1), E).

    At card i, the first takes cards before the group of i, the second those of its group before i.

    Parameters
    ----------
    seats : weight of each opponent on each card, in order, (H, N-1, E)
    fresh : where a group of equally strong cards begins, bool (H,)
    shared : whether a card can be taken more than once
    own : whether card i itself belongs to the second
    """
    cards, opponents, ends = seats.shape
    first, second = (np.zeros((cards, 1 << opponents, ends), dtype=seats.dtype) for _ in "12")
    every = np.zeros((1 << opponents, ends), dtype=seats.dtype)
    every[0] = 1
    nothing = every.copy()
    bits = [
        (having, i) for i in range(opponents) for having in range(1 << opponents) if having >> i & 1
    ]
    if not shared:  # larger sets first, so that none has this card twice
        bits.sort(key=lambda pair: -pair[0])
    lower = group = nothing
    for card, row in enumerate(seats):
        if fresh[card]:
            lower, group = every.copy(), nothing.copy()
        first[card], second[card] = lower, group
        for having, i in bits:
            every[having] += every[having ^ (1 << i)] * row[i]
            group[having] += group[having ^ (1 << i)] * row[i]
        if own:
            second[card] = group
    return first, second
