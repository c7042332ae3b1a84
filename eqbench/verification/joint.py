"""Measure joint play: what players gain if they leave a mixture of profiles before it is drawn.

Joint play draws one of K profiles for all players together. It is a coarse correlated equilibrium
if no player gains by a strategy of his own instead, with all others following what is drawn
(Moulin and Vial 1978).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.model.correlation import correlation
from eqbench.model.profile import ROW_SUM_TOLERANCE, BehaviorProfile, completed, exact_frequencies
from eqbench.model.rational import rational, short_figure
from eqbench.model.tree import GameTree, sum_by
from eqbench.text import Displayed
from eqbench.verification.sweep import SMALLEST, UNIT, Numbers, TreeSweep
from eqbench.verification.verifier import ExactRules

PlanKind = Literal["nfcce", "efcce", "efce"]
ROUNDING = 1e-7  # by which sums of a plan in floats may differ


@dataclass(frozen=True, repr=False)
class JointVerification(Displayed):
    """What joint play is worth, in payoff units; floats or Fractions.

    Attributes
    ----------
    payoffs : tuple of length N
        Expected payoff of each player.
    gains : tuple of length N
        Of a best response to the others' joint play over these; below zero where every
        strategy of the player's own is worse than to follow.
    error : float
        No gain is farther from the exact one; 0 for Fractions.
    """

    payoffs: tuple[float, ...] | tuple[Fraction, ...]
    gains: tuple[float, ...] | tuple[Fraction, ...]
    error: float = 0.0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: gap {short_figure(self.gap)}>"

    @property
    def gap(self) -> float | Fraction:
        """Sum of the gains above zero: 0 for an equilibrium of this kind, and for no other play."""
        return sum(max(gain, 0 * gain) for gain in self.gains)


def verify_joint(
    tree: GameTree,
    profiles: Sequence[BehaviorProfile],
    weights: Sequence[Any] | NDArray,
    *,
    exact: bool = False,
) -> JointVerification:
    """Measure a mixture of profiles on the tree by one best response of each player.

    The others' moves are correlated, so that what is averaged is the product of their reach at
    every terminal, not their plans.

    Parameters
    ----------
    profiles, weights : K profiles of this tree, and their probabilities
    exact : whether everything counts as in exact mode, see `eqbench.verify`

    Raises
    ------
    ProfileError
        If the weights are no distribution, or a profile is none of this tree.
    """
    shares = _distribution(weights, len(profiles), exact=exact)
    sweep, players = TreeSweep(tree), [None, *range(tree.n_players)]
    if exact:
        rules = ExactRules.of(tree)
        chance: NDArray = np.array([Fraction(1)] * tree.n_nodes, dtype=object)
        drawn = np.flatnonzero(sweep.mover == -1)
        chance[drawn] = [Fraction(int(c), rules.chance_denominator) for c in rules.chance[drawn]]
        chance[0] = Fraction(1)
        payoffs: NDArray = rules.payoffs.astype(object) * Fraction(1, rules.payoff_denominator)
    else:
        chance, payoffs = tree.chance_probability, tree.payoffs.table
    reaches: dict[int | None, NDArray] = {}
    errors = np.zeros(tree.n_players)
    for share, profile in zip(shares, profiles, strict=True):
        if exact:
            action: NDArray = np.array(exact_frequencies(tree, profile), dtype=object)
        else:
            action = BehaviorProfile.of(tree, profile.probabilities).probabilities
        numbers = Numbers(action, chance, payoffs)
        sweep.evaluate(numbers)  # computes all reaches
        for p in players:
            reaches[p] = reaches.get(p, 0) + share * numbers.reaches[p]
        if not exact:
            errors += share * sweep.errors(numbers)
    means, best = sweep.evaluate(Numbers(np.empty(0), chance, payoffs, reaches=reaches))
    gains = tuple((best - means).tolist())
    if exact:
        return JointVerification(tuple(map(Fraction, means)), tuple(map(Fraction, gains)))
    # to weigh and to add K terms rounds each of them at most K + 2 times more
    errors += 2 * (len(profiles) + 2) * UNIT * np.abs(payoffs).max(axis=0)
    error = float(errors.max()) + tree.n_nodes * SMALLEST * tree.largest_payoff
    return JointVerification(tuple(means.tolist()), gains, error)


def _distribution(weights: Sequence[Any] | NDArray, count: int, *, exact: bool) -> list[Any]:
    """Weights that sum to 1; in exact mode floats count as the decimals that they print as."""
    given: list[Any] = [rational(weight) if exact else float(weight) for weight in weights]
    total = sum(given)
    # comparisons with NaN are false
    is_distribution = all(x >= 0 for x in given) and abs(total - 1) <= ROW_SUM_TOLERANCE
    if len(given) != count or not is_distribution:
        raise ProfileError(
            f"{len(given)} weights of {count} profiles sum to {float(total):.12g}; give one >= 0 "
            "for each, with the sum 1"
        )
    return completed(given) if exact else [weight / total for weight in given]


def verify_plan(
    tree: GameTree, kind: PlanKind, plan: Mapping[tuple[int, ...], Any]
) -> JointVerification:
    """Measure a correlation plan on the tree, by a best response to every recommendation.

    A player gains by a deviation whatever is expected, on what was known when the player left the
    plan: nothing (`nfcce`), an information set (`efcce`), or what was recommended there (`efce`).
    Of several the largest gain counts. With Fractions everything is exact.

    Parameters
    ----------
    plan : probabilities by tuples of :func:`~eqbench.model.correlation.correlation`; 0 unless given

    Raises
    ------
    ProfileError
        If it is no plan: an entry is negative, or sums differ (by more than 1e-7 of floats).
    """
    n, sweep = tree.n_players, TreeSweep(tree)
    tuples, flows = correlation(tree)
    exact = all(isinstance(x, Fraction) for x in plan.values())
    allowed, number = (0, Fraction) if exact else (ROUNDING, float)
    sums = [(plan.get(key, 0), sum(plan.get(part, 0) for part in parts)) for key, parts in flows]
    sums.append((plan.get(tuple(range(n)), 0), 1))
    is_legal = set(plan) <= set(tuples) and all(x >= -allowed for x in plan.values())
    if not (is_legal and all(abs(a - b) <= allowed for a, b in sums)):
        raise ProfileError("this is no correlation plan: an entry is negative, or sums differ")
    table: NDArray = tree.payoffs.table
    if exact:
        rules = ExactRules.of(tree)
        table = rules.payoffs.astype(object) * Fraction(1, rules.payoff_denominator)
    last = np.array(sweep.last_own)  # 0 before the first own action
    ends = [[a - 1 + n if a else p for p, a in enumerate(own)] for own in last.T.tolist()]
    means, gains = list[Any](), list[Any]()
    for p, own in enumerate(last):
        first = (tree.action_start + 1).tolist()
        sets = {i: list(range(*first[i : i + 2])) for i in tree.infosets_of(p)}
        above = {i: int(tree.infoset_parent[i]) + 1 for i in sets}
        passes = np.zeros((tree.n_actions + 1, len(own)), dtype=bool)  # terminals after an action
        passes[own, np.arange(len(own))] = True
        for i in reversed(sets):
            passes[above[i]] |= passes[sets[i]].any(axis=0)
        # what was recommended last, where it decides, and the terminals where it is followed
        triggers = [(0, [0], [0])]
        if kind != "nfcce":
            triggers = [(above[i], sets[i], sets[i]) for i in sets]
        if kind == "efce":
            triggers = [(a, rows, [a]) for _, rows, _ in triggers for a in rows]
        followed, worst = np.array([plan.get(tuple(end), 0) for end in ends]) * table[:, p], []
        for known, rows, kept in triggers:
            inside, sequence = passes[rows].any(axis=0), known - 1 + n if known else p
            keys = ((*end[:p], sequence, *end[p + 1 :]) for end in ends)
            left = np.array([plan.get(key, 0) for key in keys]) * table[:, p]
            value = sum_by(own, np.where(inside, left, 0), tree.n_actions + 1)
            for i in reversed(sets):
                value[above[i]] += value[sets[i]].max()
            worst.append(value[rows].max() - followed[passes[kept].any(axis=0)].sum())
        means.append(number(followed.sum()))
        gains.append(number(max(worst, default=0)))
    # of a difference of two sums with so many additions
    rounding = 4 * (len(ends) + tree.n_actions + 2) * UNIT * tree.largest_payoff
    return JointVerification(tuple(means), tuple(gains), 0.0 if exact else rounding)
