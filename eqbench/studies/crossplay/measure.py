"""Measure all combinations of equilibria that players prepare for, in floats or in fractions.

Symbols in shapes: N players, n entries, A actions, S sequences, Z terminals, C columns (terminals
with the same last sequences of all players), D_p different realization plans of player p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.joint_player import joint_player
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import realization
from eqbench.model.sequence_form import last_sequences
from eqbench.model.tree import INT64_SAFE, GameTree
from eqbench.studies.branch import alike
from eqbench.text import csv_text
from eqbench.verification import DEFAULT_TOLERANCE, Verification, Verifier, verify_exactly

SAME_PLAN = 1e-6  # solvers that end in one equilibrium round it differently by about 1e-8
# The verifier takes 0.1 ms for three-player Kuhn poker, and five times as long in fractions.
MOST_VERIFIED = 20_000
DEFAULT_LIMIT = 1_000_000

Entry = tuple[str, BehaviorProfile]
GoOn = Callable[[], None]  # raises an exception if nothing more shall be done


@dataclass(frozen=True, eq=False)
class WorstCases:
    """The worth of the entries to each player under one assumption about the others.

    Attributes
    ----------
    payoffs : (N, n), least payoff of player i with the strategy of an entry
    entries : int64 (N, n, N), which entry every player plays then, player i included; None where
        the others follow no entries
    slack : payoffs that differ by no more count as equal
    """

    payoffs: NDArray
    entries: NDArray[np.int64] | None
    slack: float

    @cached_property
    def best(self) -> NDArray[np.bool_]:
        """Entries whose worst case is the best for the player, (N, n)."""
        most = self.payoffs.max(axis=1, keepdims=True)
        return np.asarray(self.payoffs >= most - self.slack, dtype=np.bool_)


class Crossplay:
    """Payoffs and regrets of players who follow different entries, equilibria of a game.

    Numbers are in payoff units: float64, or Fractions (dtype object) from exact arithmetic.
    The arrays are read-only.

    Players often have fewer plans than there are entries, and payoffs and regrets depend on plans
    only. So everything is computed once for each combination of plans.

    Attributes
    ----------
    payoffs : (N, n, …, n), of player i at [i, s_1, …, s_N] if each player p follows entry s_p
    swap_payoffs, swap_regrets : (N, n, n, N), of all players, as the verifier measures them, at
        [i, A, B] where player i follows A and all others follow B
    regrets : (n, …, n, N), of all players in every combination; None if too many to verify
    strategies : int64 (N, n), which of the different strategies of a player each entry holds; in
        floating point those whose realization plans agree within 1e-6 count as one
    strategy_regrets : (D_1, …, D_N, N), of all combinations of different strategies, of which
        player p has D_p; None if too many to verify
    guaranteed : against others who act as one and may do anything, also what is in no entry
    tolerance : what players may gain in an equilibrium; 0 in exact arithmetic
    """

    def __init__(
        self,
        game: Game,
        entries: Sequence[Entry],
        *,
        exact: bool = False,
        tolerance: float = DEFAULT_TOLERANCE,
        limit: int = DEFAULT_LIMIT,
        go_on: GoOn = lambda: None,
    ) -> None:
        """Measure all combinations, at most `limit`; errors are those of :func:`check_entries`.

        With `exact` in Fractions: equilibria are then combinations with regrets of exactly 0, and
        floating-point frequencies count as the rationals that they are. `tolerance` is a share of
        the payoff range.
        """
        check_entries(game, entries, limit, exact=exact)
        self.game, self._tree, self._go_on = game, game.tree, go_on
        self.labels = tuple(label for label, _ in entries)
        self.tolerance = 0 if exact else tolerance * game.tree.payoff_scale
        self._verifier = Verifier(game.tree)
        self._known: dict[tuple[int, ...], Verification] = {}
        self._frequencies = frequencies([profile for _, profile in entries], exact=exact)
        self._take_plans(exact=exact)
        n_players, n = game.tree.n_players, len(entries)
        swaps = np.empty((2, n_players, n, n, n_players), dtype=self._frequencies.dtype)
        for i, a, b in np.ndindex(n_players, n, n):
            seen = self._measured([a if p == i else b for p in range(n_players)])
            swaps[:, i, a, b] = seen.payoffs, seen.regrets
        self.swap_payoffs, self.swap_regrets = swaps
        by_entry, regrets = np.ix_(*self._plan), self._regrets(self._plan)
        self.payoffs = self._payoffs()[(slice(None), *by_entry)]
        self.regrets = None if regrets is None else regrets[by_entry]
        self.strategy_regrets = self._regrets(self.strategies)
        self.guaranteed = WorstCases(self._guaranteed(), None, self.tolerance)
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def _take_plans(self, *, exact: bool) -> None:
        """Number the plans of each player, and note what each gives to each terminal.

        Weights N times (D_p, Z) and payoffs times chance (Z, N) are integers in exact arithmetic;
        their N + 1 denominators are the units then.
        """
        tree, self._units = self._tree, None
        plans = realization(self.game.sequence_form, self._frequencies.T).T
        self._owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))  # of each action
        owner = np.concatenate((np.arange(tree.n_players), self._owner))  # of each sequence
        own_columns = [owner == p for p in range(tree.n_players)]
        self._terminals, payoff_unit = _terminals(tree, exact=exact)
        if exact:
            scales = [math.lcm(*(w.denominator for w in plans[:, own].flat)) for own in own_columns]
            plans = _integers(plans * np.array(scales, dtype=object)[owner])
            largest = math.prod(scales) * int(abs(self._terminals).max()) * tree.n_terminals
            if largest < INT64_SAFE:
                plans, self._terminals = plans.astype(np.int64), self._terminals.astype(np.int64)
            self._units = (*scales, payoff_unit)
        self._plan = np.array([_numbered(map(tuple, plans[:, own])) for own in own_columns])
        near = [_numbered(alike(plans[:, own], 0 if exact else SAME_PLAN)) for own in own_columns]
        self.strategies = np.array(near)
        self._last = last_sequences(tree)  # of every player at each terminal, (Z, N)
        firsts = (np.unique(own, return_index=True)[1] for own in self._plan)
        self._weights = [plans[first][:, self._last[:, p]] for p, first in enumerate(firsts)]

    def _payoffs(self) -> NDArray:
        """Expected payoffs (N, D_1, …, D_N): float64, or Fractions as objects.

        Entry [i, d_1, …, d_N] is the payoff of player i where each player p follows plan d_p.
        """
        columns, first, group = np.unique(
            self._last, axis=0, return_index=True, return_inverse=True
        )
        table = np.zeros((len(columns), self._tree.n_players), dtype=self._terminals.dtype)
        np.add.at(table, group, self._terminals)
        values = self._expected([weights[:, first] for weights in self._weights], table)
        return values if self._units is None else _fractions(values, math.prod(self._units))

    def _expected(self, weights: Sequence[NDArray], table: NDArray) -> NDArray:
        """Sums over columns (N, D_1, …, D_N), player by player, so that memory stays small."""
        self._go_on()
        first, *rest = weights
        if not rest:
            return table.T @ first.T
        return np.stack([self._expected(rest, table * row[:, None]) for row in first], axis=1)

    def _guaranteed(self) -> NDArray:
        """Least payoff (N, n) of the player with each entry if all others act as one.

        They share what they know, as :class:`eqbench.model.joint_player.JointPlayer` says.
        """
        result = []
        for p, weights in enumerate(self._weights):
            others = joint_player(self._tree, [q for q in range(self._tree.n_players) if q != p])
            values = []
            for row in weights:
                self._go_on()
                values.append(others.least_value(row * self._terminals[:, p]))
            least = np.array(values)
            if self._units is not None:
                least = _fractions(least, self._units[p] * self._units[-1])
            result.append(least[self._plan[p]])
        return np.stack(result)

    def _measured(self, entries: Sequence[int]) -> Verification:
        """Payoffs and regrets of the combination in which player p follows entry `entries[p]`."""
        plans = tuple(self._plan[range(len(entries)), entries].tolist())
        if plans not in self._known:
            self._go_on()
            rows = np.asarray(entries)[self._owner]
            mixed = self._frequencies[rows, np.arange(len(rows))]
            self._known[plans] = (
                verify_exactly(self._tree, BehaviorProfile.of_exact(self._tree, mixed.tolist()))
                if self._units
                else self._verifier.verify(BehaviorProfile.of(self._tree, mixed))
            )
        return self._known[plans]

    def _regrets(self, numbers: NDArray[np.int64]) -> NDArray | None:
        """Regrets (D_1, …, D_N, N) of all combinations of what entries are numbered for, (N, n).

        None if they are too many to verify.
        """
        first = [np.unique(own, return_index=True)[1].tolist() for own in numbers]
        sizes = tuple(map(len, first))
        if math.prod(sizes) > MOST_VERIFIED:
            return None
        regrets = np.empty((*sizes, len(sizes)), dtype=self._frequencies.dtype)
        for place in np.ndindex(*sizes):
            entries = [own[k] for own, k in zip(first, place, strict=True)]
            regrets[place] = self._measured(entries).regrets
        return regrets

    @cached_property
    def n_strategies(self) -> tuple[int, ...]:
        """Number of different strategies of each player in the entries."""
        return tuple((self.strategies.max(axis=1) + 1).tolist())

    @cached_property
    def own_payoffs(self) -> NDArray:
        """Payoffs (N, n) where all follow the same entry."""
        index: tuple[Any, ...] = (..., *[np.arange(len(self.labels))] * len(self.payoffs))
        return self.payoffs[index]

    @cached_property
    def interchangeable(self) -> NDArray[np.bool_]:
        """True where player i may follow A and the others B in equilibrium, bool (N, n, n)."""
        return self._is_equilibrium(self.swap_regrets)

    @cached_property
    def n_equilibria(self) -> int | None:
        """Number of equilibria among combinations of strategies, None if not all were verified."""
        if self.strategy_regrets is None:
            return None
        return int(self._is_equilibrium(self.strategy_regrets).sum())

    @cached_property
    def others_agree(self) -> WorstCases:
        """Worst cases where all others follow one and the same entry."""
        rivals = len(self.payoffs) - 1
        followed = np.arange(len(self.labels) if rivals else 1)
        return self._worst(np.repeat(followed[:, None], rivals, axis=1))

    @cached_property
    def others_differ(self) -> WorstCases:
        """Worst cases where each of the others may follow another entry."""
        n, rivals = len(self.labels), len(self.payoffs) - 1
        return self._worst(np.indices((n,) * rivals).reshape(rivals, n**rivals).T)

    def _is_equilibrium(self, regrets: NDArray) -> NDArray[np.bool_]:
        return np.asarray(regrets.max(axis=-1) <= self.tolerance, dtype=np.bool_)

    def _worst(self, others: NDArray[np.int64]) -> WorstCases:
        """Worst cases over the entries of the others, int64 (cases, N-1), in player order."""
        n_players, n = len(self.payoffs), len(self.labels)
        worst = np.empty((n_players, n), dtype=self.payoffs.dtype)
        entries = np.empty((n_players, n, n_players), dtype=np.int64)
        for p in range(n_players):
            own_first = np.moveaxis(self.payoffs[p], p, 0)
            cases = own_first[(slice(None), *others.T)].reshape(n, len(others))
            least = cases.argmin(axis=1)
            worst[p] = cases[np.arange(n), least]
            entries[p] = np.insert(others[least], p, np.arange(n), axis=1)
        return WorstCases(worst, entries, self.tolerance)


def _numbered(values: Iterable[Hashable]) -> list[int]:
    """Number different values 0, 1, … in the order in which they come."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def frequencies(profiles: Sequence[BehaviorProfile], *, exact: bool) -> NDArray:
    """Frequencies (n, A): float64, or Fractions; floats count as the rationals that they are."""
    if not exact:
        return np.array([profile.probabilities for profile in profiles])
    rows = [p.exact or tuple(map(Fraction, p.probabilities.tolist())) for p in profiles]
    return np.array(rows, dtype=object)


def _terminals(tree: GameTree, *, exact: bool) -> tuple[NDArray, int]:
    """Payoffs times chance (Z, N): floats, or integers and their common denominator."""
    reach, payoffs, unit = tree.chance_probability.copy(), tree.payoffs.table, 1
    if exact:
        reach = _fractions(tree.chance, tree.chance_denominator)
        reach[tree.incoming >= 0] = reach[0] = Fraction(1)
        payoffs, unit = tree.payoffs.rational()
    for level in tree.levels[1:]:
        reach[level] *= reach[tree.parent[level]]
    reach = reach[tree.terminals]
    if exact:
        scale = math.lcm(*(share.denominator for share in reach))
        reach, payoffs, unit = _integers(reach * scale), payoffs.astype(object), scale * unit
    return reach[:, None] * payoffs, unit


def _integers(values: NDArray) -> NDArray:
    """Fractions that are integers, but keep their own type when they are multiplied, as int."""
    return np.frompyfunc(int, 1, 1)(values)


def _fractions(values: NDArray, denominator: int) -> NDArray:
    return np.frompyfunc(lambda value: Fraction(int(value), denominator), 1, 1)(values)


def check_entries(game: Game, entries: Sequence[Entry], limit: int, *, exact: bool = False) -> None:
    """Refuse entries that cannot be mixed.

    UsageError if there is none, a label comes twice, there are too many combinations, or the game
    is not known exactly and must be; ProfileError if a profile does not fit it, or is not exact.
    """
    labels = [label for label, _ in entries]
    if not labels:
        raise UsageError("cross-play needs equilibria; got none")
    if len(set(labels)) < len(labels):
        raise UsageError(f"the labels of the entries must differ; got {', '.join(labels)}")
    n_players = game.tree.n_players
    if len(labels) ** n_players > limit:
        raise UsageError(
            f"{len(labels)} entries of {n_players} players have {len(labels) ** n_players:,} "
            f"combinations, above the limit of {limit:,}; keep fewer with --most, or raise --limit"
        )
    for _, profile in entries:  # refuses what does not fit, or is not exact
        if exact:
            verify_exactly(game.tree, profile)
        else:
            BehaviorProfile.of(game.tree, profile.probabilities)


def combinations_csv(result: Crossplay) -> str:
    """All combinations of entries as CSV, one row each: entries, payoffs, and regrets if measured.

    Numbers are decimals, or fractions ``p/q`` from exact arithmetic.
    """
    n_players = len(result.payoffs)
    columns: dict[str, list[Any]] = {}
    entries = np.indices(result.payoffs.shape[1:]).reshape(n_players, -1)
    for what, values in (
        ("entry", np.array(result.labels, dtype=object)[entries]),
        ("payoff", result.payoffs.reshape(n_players, -1)),
        ("regret", None if result.regrets is None else result.regrets.reshape(-1, n_players).T),
    ):
        if values is not None:
            columns |= {f"{what}_P{p}": own for p, own in enumerate(values.tolist(), start=1)}
    if result.regrets is not None:
        columns["max_regret"] = result.regrets.max(axis=-1).ravel().tolist()
        columns["equilibrium"] = [each <= result.tolerance for each in columns["max_regret"]]
    return csv_text([[*columns], *zip(*columns.values(), strict=True)])
