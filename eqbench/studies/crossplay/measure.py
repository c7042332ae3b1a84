"""Measure all combinations of equilibria that players prepare for.

Symbols in shapes: N players, n entries, A actions.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.studies.crossplay.payoffs import Combinations, first_of_each, rationals
from eqbench.verification import DEFAULT_TOLERANCE, Verification, Verifier, verify_exactly

# The verifier takes 0.1 ms for three-player Kuhn poker, and five times as long in fractions.
MOST_VERIFIED = 20_000


@dataclass(eq=False)
class Measure:
    """The verifier on combinations; equal plans are measured once.

    `frequencies` is (n, A); `verify` takes one row of such values.
    """

    combinations: Combinations
    frequencies: NDArray
    verify: Callable[[NDArray], Verification]
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        tree = self.combinations.tree
        self._owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
        self._known: dict[tuple[int, ...], Verification] = {}

    def of(self, entries: Sequence[int]) -> Verification:
        """Figures of the combination in which player p follows entry `entries[p]`."""
        plans = tuple(self.combinations.plan[range(len(entries)), entries].tolist())
        if plans not in self._known:
            rows = np.asarray(entries)[self._owner]
            mixed = self.frequencies[rows, np.arange(len(rows))]
            self._known[plans] = self.verify(mixed)
        return self._known[plans]

    def regrets(self, choices: Sequence[Sequence[int]]) -> NDArray | None:
        """Regrets (c_1, …, c_N, N) of all combinations of the entries that players choose from.

        None if they are too many to verify.
        """
        sizes = tuple(map(len, choices))
        if math.prod(sizes) > MOST_VERIFIED:
            return None
        regrets = np.empty((*sizes, len(sizes)), dtype=self.dtype)
        for place in np.ndindex(*sizes):
            entries = [own[k] for own, k in zip(choices, place, strict=True)]
            regrets[place] = self.of(entries).regrets
        return regrets

    def all_regrets(self) -> NDArray | None:
        """Regrets of all combinations of entries (n, …, n, N), None if they are too many."""
        regrets = self.regrets(first_of_each(self.combinations.plan))
        return None if regrets is None else regrets[np.ix_(*self.combinations.plan)]


Entry = tuple[str, BehaviorProfile]

DEFAULT_LIMIT = 1_000_000


@dataclass(frozen=True, eq=False)
class WorstCases:
    """What the entries are worth to each player under one assumption about the others.

    Attributes
    ----------
    payoffs : (N, n)
        Least payoff of player i with the strategy of an entry.
    entries : int64 (N, n, N), or None
        Which entry every player plays then, player i included; None where the others follow
        no entries.
    slack : float or int
        Payoffs that differ by no more count as equal.
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
    """What comes of it when players follow different entries.

    Numbers are in payoff units: float64, or Fractions (dtype object) from exact arithmetic.
    The arrays are read-only.

    Attributes
    ----------
    game : Game
    labels : tuple of n str
    payoffs : (N, n, …, n)
        Entry [i, s_1, …, s_N] is the payoff of player i if each player p follows entry s_p.
    swap_payoffs, swap_regrets : (N, n, n, N)
        Entry [i, A, B] holds the payoffs and the regrets of all players, as the verifier
        measures them, where player i follows A and all others follow B.
    regrets : (n, …, n, N), or None
        Regrets of all players in every combination; None if there are too many to verify.
    strategies : int64 (N, n)
        Which of the different strategies of a player each entry holds. In floating point,
        strategies whose realization plans agree within 1e-6 count as one.
    strategy_regrets : (D_1, …, D_N, N), or None
        Regrets in every combination of different strategies, of which player p has D_p.
    guaranteed : WorstCases
        Against others who act as one and may do anything, also what is in no entry.
    tolerance : float, or 0 in exact arithmetic
        A combination is an equilibrium if no player gains more by deviating, in payoff units.
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
        measured = (self.payoffs, self.swap_payoffs, self.swap_regrets, self.regrets)
        for array in (*measured, self.strategies, self.strategy_regrets):
            if array is not None:
                array.setflags(write=False)

    @property
    def exact(self) -> bool:
        """Whether the numbers are Fractions."""
        return bool(self.payoffs.dtype == object)

    @cached_property
    def n_strategies(self) -> tuple[int, ...]:
        """Number of different strategies of each player in the entries."""
        return tuple((self.strategies.max(axis=1) + 1).tolist())

    @property
    def n_combinations(self) -> int:
        """Number of combinations of different strategies."""
        return math.prod(self.n_strategies)

    @cached_property
    def own_payoffs(self) -> NDArray:
        """Payoffs (N, n) where all follow the same entry."""
        together = [np.arange(len(self.labels))] * self.game.tree.n_players
        index: tuple[Any, ...] = (slice(None), *together)
        return self.payoffs[index]

    @cached_property
    def interchangeable(self) -> NDArray[np.bool_]:
        """Whether it is an equilibrium if player i follows A and the others B, (N, n, n)."""
        return self._is_equilibrium(self.swap_regrets)

    @cached_property
    def n_equilibria(self) -> int | None:
        """How many of these combinations are equilibria, None if not all were verified."""
        if self.strategy_regrets is None:
            return None
        return int(self._is_equilibrium(self.strategy_regrets).sum())

    @cached_property
    def others_agree(self) -> WorstCases:
        """Worst cases where all others follow one and the same entry."""
        rivals = self.game.tree.n_players - 1
        followed = np.arange(len(self.labels) if rivals else 1)
        others = np.repeat(followed[:, None], rivals, axis=1)
        return self._worst(others)

    @cached_property
    def others_differ(self) -> WorstCases:
        """Worst cases where each of the others may follow another entry."""
        n, rivals = len(self.labels), self.game.tree.n_players - 1
        return self._worst(np.indices((n,) * rivals).reshape(rivals, n**rivals).T)

    def _is_equilibrium(self, regrets: NDArray) -> NDArray[np.bool_]:
        return np.asarray(regrets.max(axis=-1) <= self.tolerance, dtype=np.bool_)

    def _worst(self, others: NDArray[np.int64]) -> WorstCases:
        """Worst cases over the entries of the others, int64 (cases, N-1), in player order."""
        n_players, n = self.game.tree.n_players, len(self.labels)
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
    tolerance: float = DEFAULT_TOLERANCE,
    limit: int = DEFAULT_LIMIT,
) -> Crossplay:
    """Cross-play of equilibria in floating point.

    Parameters
    ----------
    game : what they are equilibria of
    entries : label and profile of each
    tolerance : share of the payoff range that players may gain in an equilibrium
    limit : most combinations n^N that may be computed

    Raises
    ------
    UsageError
        If there is no entry, a label comes twice, or there are too many combinations.
    ProfileError
        If a profile does not fit the game.
    """
    check_entries(game, entries, limit)
    tree = game.tree
    frequencies = np.stack(
        [BehaviorProfile.of(tree, profile.probabilities).probabilities for _, profile in entries]
    )
    combinations = Combinations.of(game, [profile for _, profile in entries])
    verifier = Verifier(tree)
    measure = Measure(
        combinations,
        frequencies,
        lambda values: verifier.verify(BehaviorProfile.of(tree, values)),
        np.dtype(np.float64),
    )
    return _study(game, entries, measure, tolerance * tree.payoff_scale)


def crossplay_exactly(
    game: Game, entries: Sequence[Entry], *, limit: int = DEFAULT_LIMIT
) -> Crossplay:
    """Cross-play in Fractions; equilibria are then combinations with regrets of exactly 0.

    Floating-point frequencies count as the rationals that they are. Parameters and errors as
    in :func:`crossplay`; a UsageError also if the game itself is not known exactly, and a
    ProfileError if frequencies do not sum to exactly 1.
    """
    check_entries(game, entries, limit, exact=True)
    tree = game.tree
    frequencies = [rationals(profile) for _, profile in entries]
    measure = Measure(
        Combinations.exactly(game, frequencies),
        np.array(frequencies, dtype=object).reshape(len(entries), tree.n_actions),
        lambda values: verify_exactly(tree, BehaviorProfile.of_exact(tree, values.tolist())),
        np.dtype(object),
    )
    return _study(game, entries, measure, 0)


def _study(game: Game, entries: Sequence[Entry], measure: Measure, tolerance: float) -> Crossplay:
    n_players, n = game.tree.n_players, len(entries)
    swaps = np.empty((2, n_players, n, n, n_players), dtype=measure.dtype)
    for i, a, b in np.ndindex(n_players, n, n):
        measured = measure.of([a if p == i else b for p in range(n_players)])
        swaps[:, i, a, b] = measured.payoffs, measured.regrets
    combinations = measure.combinations
    guaranteed = np.stack(
        [own[plan] for own, plan in zip(combinations.guaranteed(), combinations.plan, strict=True)]
    )
    return Crossplay(
        game=game,
        labels=tuple(label for label, _ in entries),
        payoffs=combinations.by_profile(combinations.payoffs()),
        swap_payoffs=swaps[0],
        swap_regrets=swaps[1],
        regrets=measure.all_regrets(),
        strategies=combinations.strategy,
        strategy_regrets=measure.regrets(first_of_each(combinations.strategy)),
        guaranteed=WorstCases(guaranteed, None, tolerance),
        tolerance=tolerance,
    )


def check_entries(game: Game, entries: Sequence[Entry], limit: int, *, exact: bool = False) -> None:
    """Refuse entries that cannot be mixed, as :func:`crossplay` says."""
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
    if exact:
        for _, profile in entries:
            verify_exactly(game.tree, profile)  # refuses what is not exact


def combinations_csv(result: Crossplay) -> str:
    """All combinations of entries as CSV, one row each: entries, payoffs, and regrets if measured.

    Numbers are decimals, or fractions ``p/q`` from exact arithmetic.
    """
    n_players, regrets = result.game.tree.n_players, result.regrets
    suffixes = [f"P{p + 1}" for p in range(n_players)]
    header = [f"{what}_{p}" for what in ("entry", "payoff") for p in suffixes]
    if regrets is not None:
        header += [*(f"regret_{p}" for p in suffixes), "max_regret", "equilibrium"]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for entries in np.ndindex(result.payoffs.shape[1:]):
        row = [result.labels[e] for e in entries]
        row += map(str, result.payoffs[(slice(None), *entries)])
        if regrets is not None:
            here = regrets[entries]
            row += [*map(str, here), str(here.max()), str(bool(here.max() <= result.tolerance))]
        writer.writerow(row)
    return buffer.getvalue()
