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
from eqbench.model.reference import realization
from eqbench.model.sequence_form import last_sequences
from eqbench.model.tree import INT64_SAFE, GameTree
from eqbench.studies.branch import alike
from eqbench.verification import DEFAULT_TOLERANCE, Verification, Verifier, verify_exactly

SAME_PLAN = 1e-6  # solvers that end in one equilibrium round it differently by about 1e-8
# The verifier takes 0.1 ms for three-player Kuhn poker, and five times as long in fractions.
MOST_VERIFIED = 20_000
DEFAULT_LIMIT = 1_000_000

Entry = tuple[str, BehaviorProfile]
GoOn = Callable[[], None]  # raises an exception if nothing more shall be done


class Combinations:
    """The plans that each player may bring, the game in the same arithmetic, and the verifier.

    Players often have fewer plans than there are entries, and payoffs and regrets depend on plans
    only. So everything is computed once for each combination of plans.

    Attributes
    ----------
    plan : int64 (N, n), which of their plans a player takes from each entry
    strategy : int64 (N, n), the same, where in floats plans within `SAME_PLAN` count as one
    weights : N arrays (D_p, Z), what each plan of player p gives to each terminal
    terminals : (Z, N), payoffs times chance
    last : int64 (Z, N), last sequence of every player at each terminal
    units : in exact arithmetic, where weights and terminals are integers, the N + 1 denominators
        of the weights of each player and of the payoffs; otherwise None
    """

    def __init__(
        self, game: Game, profiles: Sequence[BehaviorProfile], go_on: GoOn, *, exact: bool
    ) -> None:
        """In integers for an exact game, or in floating point."""
        self.tree, self.exact, self.go_on = game.tree, exact, go_on
        tree, self.units = game.tree, None
        self.frequencies = frequencies(profiles, exact=exact)
        plans = realization(game.sequence_form, self.frequencies.T).T
        self.owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))  # of each action
        owner = np.concatenate((np.arange(tree.n_players), self.owner))  # of each sequence
        own_columns = [owner == p for p in range(tree.n_players)]
        self.terminals, payoff_unit = _terminals(tree, exact=exact)
        if exact:
            scales = [math.lcm(*(w.denominator for w in plans[:, own].flat)) for own in own_columns]
            plans = _integers(plans * np.array(scales, dtype=object)[owner])
            largest = math.prod(scales) * int(abs(self.terminals).max()) * tree.n_terminals
            if largest < INT64_SAFE:
                plans, self.terminals = plans.astype(np.int64), self.terminals.astype(np.int64)
            self.units = (*scales, payoff_unit)
        self.last = last_sequences(tree)
        self.plan = np.array([_numbered(map(tuple, plans[:, own])) for own in own_columns])
        self.strategy = self.plan
        if not exact:
            self.strategy = np.array(
                [_numbered(alike(plans[:, own], SAME_PLAN)) for own in own_columns]
            )
        self.weights = [
            plans[np.unique(own, return_index=True)[1]][:, self.last[:, p]]
            for p, own in enumerate(self.plan)
        ]
        self.verifier = Verifier(tree)
        self.known: dict[tuple[int, ...], Verification] = {}

    def payoffs(self) -> NDArray:
        """Expected payoffs (N, D_1, …, D_N): float64, or Fractions as objects.

        Entry [i, d_1, …, d_N] is the payoff of player i where each player p follows plan d_p.
        """
        columns, first, group = np.unique(self.last, axis=0, return_index=True, return_inverse=True)
        table = np.zeros((len(columns), self.tree.n_players), dtype=self.terminals.dtype)
        np.add.at(table, group, self.terminals)
        values = self._expected([weights[:, first] for weights in self.weights], table)
        return values if self.units is None else _fractions(values, math.prod(self.units))

    def _expected(self, weights: Sequence[NDArray], table: NDArray) -> NDArray:
        """Sums over columns (N, D_1, …, D_N), player by player, so that memory stays small."""
        self.go_on()
        first, *rest = weights
        if not rest:
            return table.T @ first.T
        return np.stack([self._expected(rest, table * row[:, None]) for row in first], axis=1)

    def guaranteed(self) -> NDArray:
        """Least payoff (N, n) of the player with each entry if all others act as one.

        They share what they know, as :class:`eqbench.model.joint_player.JointPlayer` says.
        """
        result = []
        for p, weights in enumerate(self.weights):
            others = joint_player(self.tree, [q for q in range(self.tree.n_players) if q != p])
            values = []
            for row in weights:
                self.go_on()
                values.append(others.least_value(row * self.terminals[:, p]))
            least = np.array(values)
            if self.units is not None:
                least = _fractions(least, self.units[p] * self.units[-1])
            result.append(least[self.plan[p]])
        return np.stack(result)

    def measured(self, entries: Sequence[int]) -> Verification:
        """Payoffs and regrets of the combination in which player p follows entry `entries[p]`."""
        plans = tuple(self.plan[range(len(entries)), entries].tolist())
        if plans not in self.known:
            self.go_on()
            rows = np.asarray(entries)[self.owner]
            mixed = self.frequencies[rows, np.arange(len(rows))]
            self.known[plans] = (
                verify_exactly(self.tree, BehaviorProfile.of_exact(self.tree, mixed.tolist()))
                if self.exact
                else self.verifier.verify(BehaviorProfile.of(self.tree, mixed))
            )
        return self.known[plans]

    def regrets(self, numbers: NDArray[np.int64]) -> NDArray | None:
        """Regrets (D_1, …, D_N, N) of all combinations of what entries are numbered for, (N, n).

        None if they are too many to verify.
        """
        first = [np.unique(own, return_index=True)[1].tolist() for own in numbers]
        sizes = tuple(map(len, first))
        if math.prod(sizes) > MOST_VERIFIED:
            return None
        regrets = np.empty((*sizes, len(sizes)), dtype=self.frequencies.dtype)
        for place in np.ndindex(*sizes):
            entries = [own[k] for own, k in zip(first, place, strict=True)]
            regrets[place] = self.measured(entries).regrets
        return regrets


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


@dataclass(frozen=True, eq=False)
class Crossplay:
    """Payoffs and regrets of players who follow different entries.

    Numbers are in payoff units: float64, or Fractions (dtype object) from exact arithmetic.
    The arrays are read-only.

    Attributes
    ----------
    labels : n of them
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

    game: Game
    labels: tuple[str, ...]
    payoffs: NDArray
    swap_payoffs: NDArray
    swap_regrets: NDArray
    regrets: NDArray | None
    strategies: NDArray[np.int64]
    strategy_regrets: NDArray | None
    guaranteed: WorstCases
    tolerance: float

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

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


def crossplay(
    game: Game,
    entries: Sequence[Entry],
    *,
    exact: bool = False,
    tolerance: float = DEFAULT_TOLERANCE,
    limit: int = DEFAULT_LIMIT,
    go_on: GoOn = lambda: None,
) -> Crossplay:
    """Let players follow different equilibria of a game.

    Parameters
    ----------
    entries : label and profile of each
    exact : whether to compute in Fractions; equilibria are then combinations with regrets of
        exactly 0, and floating-point frequencies count as the rationals that they are
    tolerance : share of the payoff range that players may gain in an equilibrium, unless `exact`
    limit : most combinations n^N that may be computed
    go_on : called again and again; an exception that it raises ends the computation

    Errors are those of :func:`check_entries`.
    """
    check_entries(game, entries, limit, exact=exact)
    n_players, n = game.tree.n_players, len(entries)
    profiles = [profile for _, profile in entries]
    found = Combinations(game, profiles, go_on, exact=exact)
    swaps = np.empty((2, n_players, n, n, n_players), dtype=found.frequencies.dtype)
    for i, a, b in np.ndindex(n_players, n, n):
        seen = found.measured([a if p == i else b for p in range(n_players)])
        swaps[:, i, a, b] = seen.payoffs, seen.regrets
    by_entry = np.ix_(*found.plan)
    payoffs, regrets = found.payoffs(), found.regrets(found.plan)
    allowed = 0 if exact else tolerance * game.tree.payoff_scale
    return Crossplay(
        game=game,
        labels=tuple(label for label, _ in entries),
        payoffs=payoffs[(slice(None), *by_entry)],
        swap_payoffs=swaps[0],
        swap_regrets=swaps[1],
        regrets=None if regrets is None else regrets[by_entry],
        strategies=found.strategy,
        strategy_regrets=found.regrets(found.strategy),
        guaranteed=WorstCases(found.guaranteed(), None, allowed),
        tolerance=allowed,
    )


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
    import pandas as pd

    n_players = len(result.payoffs)
    columns: dict[str, Any] = {}
    entries = np.indices(result.payoffs.shape[1:]).reshape(n_players, -1)
    for what, values in (
        ("entry", np.array(result.labels, dtype=object)[entries]),
        ("payoff", result.payoffs.reshape(n_players, -1)),
        ("regret", None if result.regrets is None else result.regrets.reshape(-1, n_players).T),
    ):
        if values is not None:
            columns |= {f"{what}_P{p}": own for p, own in enumerate(values, start=1)}
    if result.regrets is not None:
        columns["max_regret"] = result.regrets.max(axis=-1).ravel()
        columns["equilibrium"] = columns["max_regret"] <= result.tolerance
    text: str = pd.DataFrame(columns).to_csv(index=False, lineterminator="\n")
    return text
