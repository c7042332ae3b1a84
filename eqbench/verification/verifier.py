"""Measure a profile: payoffs, best-response gains and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.profile import BehaviorProfile, check_exact_rows
from eqbench.model.tree import CHANCE, INT64_SAFE, GameTree
from eqbench.verification.sweep import Numbers, TreeSweep


@dataclass(frozen=True)
class Verification:
    """What a profile is worth, in payoff units; floats, or Fractions from exact mode.

    Attributes
    ----------
    payoffs : tuple of length N
        Expected payoff of each player.
    regrets : tuple of length N
        Best-response gain of each player. Rounding below zero is not clipped.
    """

    payoffs: tuple[float, ...] | tuple[Fraction, ...]
    regrets: tuple[float, ...] | tuple[Fraction, ...]

    @property
    def nash_conv(self) -> float | Fraction:
        """Sum of the regrets."""
        return sum(self.regrets)

    @property
    def max_regret(self) -> float | Fraction:
        """Largest regret."""
        return max(self.regrets)

    @property
    def exploitability(self) -> float | Fraction:
        """NashConv divided by the number of players."""
        return self.nash_conv / len(self.regrets)


class Verifier:
    """Measures many profiles of one game in floating point."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._sweep = TreeSweep(tree)

    def verify(self, profile: BehaviorProfile) -> Verification:
        """Measured payoffs and regrets of a profile of this tree.

        Raises
        ------
        ProfileError
            If the profile is not a distribution at every information set.
        """
        checked = BehaviorProfile.of(self.tree, profile.probabilities)
        tree = self.tree
        payoffs, best = self._sweep.evaluate(
            Numbers(checked.probabilities, tree.chance_probability, tree.payoffs.table)
        )
        return Verification(tuple(payoffs.tolist()), tuple((best - payoffs).tolist()))


def verify(tree: GameTree, profile: BehaviorProfile) -> Verification:
    """Measured payoffs and regrets of one profile, in floating point."""
    return Verifier(tree).verify(profile)


def verify_exactly(tree: GameTree, profile: BehaviorProfile) -> Verification:
    """Payoffs and regrets as Fractions, computed in integers.

    Floating-point frequencies count as the rationals that they are.

    Raises
    ------
    ProfileError
        If an entry is outside [0, 1] or a row does not sum to exactly 1.
    UsageError
        If the game itself is not known exactly.
    """
    if not tree.exact:
        raise UsageError(
            "this game has floating-point payoffs or chances, so nothing about it is exact; "
            "verify without exact mode"
        )
    exact = profile.exact
    if exact is None:
        checked = BehaviorProfile.of(tree, profile.probabilities)
        exact = tuple(map(Fraction, checked.probabilities.tolist()))
    BehaviorProfile.of_exact(tree, exact)
    check_exact_rows(tree, exact)
    sweep = TreeSweep(tree)
    numbers, denominators = _integers(sweep, exact)
    payoffs, best = sweep.evaluate(numbers)
    everyone = math.prod(denominators)
    means = [Fraction(int(value), everyone) for value in payoffs]
    gains = [
        Fraction(int(value), everyone // denominators[p]) - means[p] for p, value in enumerate(best)
    ]
    return Verification(tuple(means), tuple(gains))


def _integers(sweep: TreeSweep, exact: Sequence[Fraction]) -> tuple[Numbers, list[int]]:
    """A profile in integers, and the denominators that were taken out of the results.

    The frequencies of player p are integers over one denominator d_p. A path with m of their
    moves carries d_p^m; it is lifted to d_p^(most moves on any path). The list has one such
    power per player, then that of chance, then the denominator of the payoffs.
    """
    tree = sweep.tree
    owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
    common = [
        math.lcm(*(exact[int(a)].denominator for a in np.flatnonzero(owner == p)))
        for p in range(tree.n_players)
    ]
    action = [
        value.numerator * (common[p] // value.denominator)
        for value, p in zip(exact, owner, strict=True)
    ]
    payoffs, payoff_denominator = tree.payoffs.rational()
    chance_moves = _chance_moves(tree)
    most_chance = int(chance_moves.max())
    moves = _own_moves(sweep)
    most = [int(moves[last].max()) for last in sweep.last_own]
    powers = [common[p] ** most[p] for p in range(tree.n_players)]
    lifted_chance = tree.chance_denominator**most_chance
    largest = int(abs(payoffs).max()) * tree.n_terminals
    dtype: type = np.int64
    if math.prod(powers) * lifted_chance * max(largest, 1) >= INT64_SAFE:
        dtype = object
    chance: NDArray = tree.chance.astype(dtype)
    chance[tree.incoming >= 0] = 1
    chance[0] = 1
    scale: list[NDArray] = [
        np.array([common[p] ** max(most[p] - m, 0) for m in moves.tolist()], dtype=dtype)
        for p in range(tree.n_players)
    ]
    by_chance: NDArray = np.array(
        [tree.chance_denominator ** (most_chance - m) for m in range(most_chance + 1)],
        dtype=dtype,
    )
    numbers = Numbers(
        action=np.array(action, dtype=dtype),
        chance=chance,
        payoffs=payoffs.astype(dtype),
        scale=[*scale, by_chance[chance_moves]],
    )
    return numbers, [*powers, lifted_chance, payoff_denominator]


def _own_moves(sweep: TreeSweep) -> NDArray[np.int64]:
    """Own moves of an action's owner up to and including it (A+1,); 0 before the first."""
    depth = np.repeat(sweep.own_depth, np.diff(sweep.tree.action_start))
    return np.concatenate(([0], depth + 1))


def _chance_moves(tree: GameTree) -> NDArray[np.int64]:
    """Number of chance moves before each terminal, (Z,)."""
    count = np.zeros(tree.n_nodes, dtype=np.int64)
    for level in tree.levels[1:]:
        above = tree.parent[level]
        count[level] = count[above] + (tree.player[above] == CHANCE)
    return count[tree.terminals]
