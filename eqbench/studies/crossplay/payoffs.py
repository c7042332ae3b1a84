"""Payoffs where every player takes a strategy from another profile, in floats or in integers.

Symbols in shapes: N players, n profiles, S sequences, Z terminals, C columns (terminals with
the same last sequences of all players), D_p different realization plans of player p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.game import Game
from eqbench.model.joint_player import joint_player
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import INT64_SAFE, GameTree

SAME_PLAN = 1e-6  # solvers that end in one equilibrium round it differently by about 1e-8


@dataclass(frozen=True, eq=False)
class Combinations:
    """What each player may bring, and the game in the same arithmetic.

    Players often have fewer plans than there are profiles, and payoffs depend on plans only.
    So everything is computed by plan; :meth:`by_profile` spreads it out.

    Attributes
    ----------
    tree : GameTree
    plan : int64 (N, n)
        Which of their plans a player takes from each profile.
    strategy : int64 (N, n)
        The same, where plans that agree within `SAME_PLAN` count as one; with integers, `plan`.
    weights : tuple of N arrays (D_p, Z)
        Weight that each plan of player p gives to each terminal.
    terminals : (Z, N)
        Payoffs times chance.
    last : int64 (Z, N)
        Last sequence of every player at each terminal.
    units : tuple of N + 1 int, or None
        With integers, what the weights of each player and the payoffs are multiples of, as
        denominators; None with floats.
    """

    tree: GameTree
    plan: NDArray[np.int64]
    strategy: NDArray[np.int64]
    weights: tuple[NDArray, ...]
    terminals: NDArray
    last: NDArray[np.int64]
    units: tuple[int, ...] | None

    @classmethod
    def of(cls, game: Game, profiles: Sequence[BehaviorProfile]) -> Combinations:
        """In floating point."""
        form, tree = game.sequence_form, game.tree
        plans = np.stack([RealizationPlan.of(form, p.probabilities).weights for p in profiles])
        chance = tree.chance_probability.copy()
        for level in tree.levels[1:]:
            chance[level] *= chance[tree.parent[level]]
        last = _last_sequences(tree)
        which, weights = _different_plans(form, plans, last)
        terminals = chance[tree.terminals, None] * tree.payoffs.table
        owner = _owners(form)
        strategy = [same_plans(plans[:, owner == p]) for p in range(tree.n_players)]
        return cls(tree, which, np.array(strategy), weights, terminals, last, None)

    @classmethod
    def exactly(cls, game: Game, profiles: Sequence[Sequence[Fraction]]) -> Combinations:
        """In integers, for an exact game; each profile is A rationals."""
        form, tree = game.sequence_form, game.tree
        plans = np.array([exact_plan(form, profile) for profile in profiles], dtype=object)
        terminals, payoff_unit = _exact_terminals(tree)
        owner = _owners(form)
        units = [
            math.lcm(*(value.denominator for value in plans[:, owner == p].flat))
            for p in range(tree.n_players)
        ]
        scale = np.array(units, dtype=object)[owner]
        # the product is an integer, but Fraction keeps its own type
        integers = np.frompyfunc(int, 1, 1)(plans * scale)
        largest = math.prod(units) * int(abs(terminals).max()) * tree.n_terminals
        if largest < INT64_SAFE:
            integers, terminals = integers.astype(np.int64), terminals.astype(np.int64)
        last = _last_sequences(tree)
        which, weights = _different_plans(form, integers, last)
        return cls(tree, which, which, weights, terminals, last, (*units, payoff_unit))

    def payoffs(self) -> NDArray:
        """Expected payoffs (N, D_1, …, D_N): float64, or Fractions as objects.

        Entry [i, d_1, …, d_N] is the payoff of player i where each player p follows plan d_p.
        """
        columns, first, group = np.unique(self.last, axis=0, return_index=True, return_inverse=True)
        table = np.zeros((len(columns), self.tree.n_players), dtype=self.terminals.dtype)
        np.add.at(table, group, self.terminals)
        values = _expected([weights[:, first] for weights in self.weights], table)
        return values if self.units is None else _fractions(values, math.prod(self.units))

    def guaranteed(self) -> list[NDArray]:
        """Least payoff of each plan if all others act as one: per player (D_p,).

        The others share what they know, as :class:`eqbench.model.joint_player.JointPlayer`
        says, and answer the plan so that its player gets as little as possible.
        """
        result = []
        for p, weights in enumerate(self.weights):
            others = joint_player(self.tree, [q for q in range(self.tree.n_players) if q != p])
            values = np.array([others.least_value(row * self.terminals[:, p]) for row in weights])
            if self.units is not None:
                values = _fractions(values, self.units[p] * self.units[-1])
            result.append(values)
        return result

    def by_profile(self, values: NDArray) -> NDArray:
        """Spread (…, D_1, …, D_N) out to (…, n, …, n): one axis of profiles per player."""
        index: tuple[Any, ...] = (..., *np.ix_(*self.plan))
        return values[index]


def same_plans(plans: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers 0, 1, … of n plans (n, S), int64 (n,): the first one is 0.

    A plan has the number of the first numbered one from which no weight differs by more than
    `SAME_PLAN`, and a new number if there is none.
    """
    numbers = np.empty(len(plans), dtype=np.int64)
    first: list[int] = []
    for k, plan in enumerate(plans):
        distances = np.abs(plans[first] - plan).max(axis=1, initial=0.0)
        near = np.flatnonzero(distances <= SAME_PLAN)
        numbers[k] = near[0] if len(near) else len(first)
        if not len(near):
            first.append(k)
    return numbers


def first_of_each(numbers: NDArray[np.int64]) -> list[list[int]]:
    """Per player the first profile with each of the player's numbers, for numbers (N, n)."""
    return [np.unique(own, return_index=True)[1].tolist() for own in numbers]


def _last_sequences(tree: GameTree) -> NDArray[np.int64]:
    """Last sequence of every player at each terminal (Z, N), as the sequence form numbers them."""
    columns = []
    for p in range(tree.n_players):
        own = joint_player(tree, [p])
        columns.append(np.where(own.action < 0, p, own.action + tree.n_players)[own.last])
    return np.stack(columns, axis=1)


def _different_plans(
    form: SequenceForm, plans: NDArray, last: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[NDArray, ...]]:
    """Number of each profile's plan per player (N, n), and the plans' weights at terminals."""
    owner = _owners(form)
    which, weights = [], []
    for p in range(form.n_players):
        numbers: dict[tuple, int] = {}
        own = [numbers.setdefault(tuple(row), len(numbers)) for row in plans[:, owner == p]]
        first = [own.index(number) for number in range(len(numbers))]
        which.append(own)
        weights.append(plans[first][:, last[:, p]])
    return np.array(which), tuple(weights)


def _owners(form: SequenceForm) -> NDArray[np.int64]:
    """Player of each sequence, int64 (S,)."""
    inside = form.infoset_player[form.sequence_infoset[form.n_players :]]
    return np.concatenate((np.arange(form.n_players), inside))


def rationals(profile: BehaviorProfile) -> tuple[Fraction, ...]:
    """Frequencies (A,) of a profile; those in floating point as the rationals that they are."""
    return profile.exact or tuple(map(Fraction, profile.probabilities.tolist()))


def exact_plan(form: SequenceForm, frequencies: Sequence[Fraction]) -> list[Fraction]:
    """Realization plans of all players as S rationals."""
    weights = [Fraction(1)] * form.n_players
    parents = form.parent[form.sequence_infoset[form.n_players :]]
    # a parent is an earlier sequence, so its weight is there already
    for parent, frequency in zip(parents.tolist(), frequencies, strict=True):
        weights.append(weights[parent] * frequency)
    return weights


def _exact_terminals(tree: GameTree) -> tuple[NDArray, int]:
    """Payoffs times chance as integers (Z, N), and their common denominator."""
    by_chance = tree.incoming < 0
    by_chance[0] = False
    chance = np.where(by_chance, tree.chance, 1).astype(object)
    moves = by_chance.astype(np.int64)
    for level in tree.levels[1:]:
        chance[level] *= chance[tree.parent[level]]
        moves[level] += moves[tree.parent[level]]
    most = int(moves.max())
    missing = [tree.chance_denominator ** (most - m) for m in moves[tree.terminals].tolist()]
    payoffs, denominator = tree.payoffs.rational()
    reach = chance[tree.terminals] * np.array(missing, dtype=object)
    return reach[:, None] * payoffs.astype(object), tree.chance_denominator**most * denominator


def _expected(weights: Sequence[NDArray], table: NDArray) -> NDArray:
    """Sums over columns (N, D_1, …, D_N), player by player, so that memory stays small."""
    first, *rest = weights
    if not rest:
        return table.T @ first.T
    return np.stack([_expected(rest, table * row[:, None]) for row in first], axis=1)


def _fractions(values: NDArray, denominator: int) -> NDArray:
    return np.frompyfunc(lambda value: Fraction(int(value), denominator), 1, 1)(values)
