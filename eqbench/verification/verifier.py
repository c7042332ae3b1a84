"""Measure the regret of every player on the tree, and judge a claim by it."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.rational import rational
from eqbench.model.tree import FloatArray, GameTree
from eqbench.verification.exact import Allowance, ExactRules, Verification, measure_exactly
from eqbench.verification.sweep import SMALLEST, UNIT, Numbers, TreeSweep

if TYPE_CHECKING:
    from eqbench.verification.compiled_sweep import CompiledSweep

DEFAULT_TOLERANCE = 1e-6
CLAIMED_REGRET_SLACK = 1e-9
UNRESOLVED = "it cannot be measured: floats do not resolve its regrets, integers take too long"
# Nodes; loading machine code takes as long as thirty profiles of so many without it.
COMPILED_FROM = 250_000
LONGEST_FRACTION = 40  # characters that a person still reads


def refutation(
    max_regret: float,
    *,
    claim: str,
    claimed_regret: float | None,
    scale: float,
    tolerance: float = DEFAULT_TOLERANCE,
) -> str | None:
    """Reason why a measured candidate is refuted, or None if it stands.

    A claim of equilibrium stands or falls by the tolerance, whatever bound the solver names.

    Parameters
    ----------
    max_regret : measured by the verifier, in payoff units
    claim : `iterate`, `average`, `equilibrium` or `complete list`
    claimed_regret : the solver's own bound, in payoff units, or None
    scale : what regrets of the game are measured against, `GameTree.payoff_scale`
    tolerance : share of the scale up to which an equilibrium claim stands
    """
    if claim in ("equilibrium", "complete list"):
        allowed = tolerance * scale
        if not max_regret <= allowed:
            return (
                f"claimed {'an equilibrium' if claim == 'equilibrium' else 'a complete list'}, "
                f"but a player gains {max_regret:.3g} by deviating (allowed: {allowed:.3g})"
            )
    if claimed_regret is not None and claimed_regret < max_regret - (CLAIMED_REGRET_SLACK * scale):
        return f"claimed max regret {claimed_regret:.3g}, measured {max_regret:.3g}"
    return None


def beyond_floats(tree: GameTree) -> str:
    """Continuation of a reason for a wide game: the arithmetic of the solver; otherwise empty."""
    if not tree.is_wide:
        return ""
    times = min(tree.largest_payoff / tree.stakes, 1e300)
    return (
        f"; the largest payoff of this game is {times:.0e} times what some decision is about, "
        "which a solver's floating-point arithmetic cannot resolve"
    )


def exact_refutation(max_regret: Fraction, *, claimed_regret: float | None) -> str | None:
    """Reason why a claim of no regret at all is refuted, or None if it stands or is not made.

    Other claims are floats, which are rounded themselves; they are for :func:`refutation`.

    Parameters
    ----------
    max_regret : computed exactly, in payoff units
    claimed_regret : the solver's own bound, in payoff units, or None
    """
    if claimed_regret != 0 or max_regret <= 0:
        return None
    shown = str(max_regret)
    if len(shown) > LONGEST_FRACTION:  # as a float it could be 0
        shown = f"{Decimal(max_regret.numerator) / Decimal(max_regret.denominator):.3g}"
    return f"claimed a max regret of exactly 0, computed exactly it is {shown}"


class Verifier:
    """Measures many profiles of one game."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._smallest = tree.n_nodes * (SMALLEST * tree.largest_payoff + 2.0**-1070)

    @cached_property
    def _rules(self) -> ExactRules:
        return ExactRules.of(self.tree)

    @cached_property
    def _sweep(self) -> TreeSweep:
        return TreeSweep(self.tree)

    @cached_property
    def _compiled(self) -> CompiledSweep:
        # loading Numba takes longer than measuring most games
        from eqbench.verification.compiled_sweep import CompiledSweep

        return CompiledSweep(self.tree)

    def _in_floats(self, frequencies: FloatArray) -> Verification:
        """What floats measure, and the bound on their errors."""
        tree = self.tree
        if tree.n_nodes >= COMPILED_FROM:
            payoffs, best = self._compiled.evaluate(frequencies)
            errors = self._compiled.errors(frequencies)
        else:
            numbers = Numbers(frequencies, tree.chance_probability, tree.payoffs.table)
            payoffs, best = self._sweep.evaluate(numbers)
            errors = self._sweep.errors(numbers)
        gains = best - payoffs
        error = float((errors + UNIT * np.abs(gains)).max()) + self._smallest
        # no best response earns less; what is farther below zero would be a mistake of ours
        gains[(gains < 0) & (gains >= -error)] = 0.0
        return Verification(tuple(payoffs.tolist()), tuple(gains.tolist()), error=error)

    def _in_integers(
        self, profile: BehaviorProfile, allowance: Allowance | None
    ) -> Verification | None:
        """The exact figures of a checked profile, rounded; None if they cost too much."""
        tree, allowance = self.tree, Allowance() if allowance is None else allowance
        if not allowance.covers(tree):
            return None
        if profile.exact is not None:
            profile = BehaviorProfile.of_exact(tree, profile.exact)
        # completed rows have no larger common denominators
        read = profile.exact or tuple(map(rational, profile.probabilities.tolist()))
        if not allowance.take(tree, lambda: self._rules, read):
            return None
        return measure_exactly(self._sweep, self._rules, completed_rows(tree, profile)).rounded()

    def verify(
        self,
        profile: BehaviorProfile,
        allowance: Allowance | None = None,
        target: float | None = None,
    ) -> Verification:
        """Measured payoffs and regrets of a profile of this tree, in floats.

        What is measured is the profile as it is stored: floats count as the decimals that they
        print as, and the largest of an information set as what the others leave of 1. `error`
        bounds what rounding does to the regrets. A regret that it has brought below zero is 0.

        In a wide game (`GameTree.is_wide`), and where the error leaves open whether the largest is
        within a target, they are measured in integers and then rounded; where that is too much
        work, those of a wide game are not `resolved`, and each is the most that it can be.

        Parameters
        ----------
        allowance : for measurements in integers; one for this profile alone unless given
        target : in payoff units

        Raises
        ------
        ProfileError
            If the profile is not a distribution at every information set.
        """
        tree = self.tree
        checked = BehaviorProfile.of(tree, profile.probabilities)
        known = checked if profile.exact is None else profile
        if tree.is_wide and (measured := self._in_integers(known, allowance)) is not None:
            return measured
        found = self._in_floats(checked.probabilities)
        if tree.is_wide:
            most = tuple((2 * np.abs(tree.payoffs.table).max(axis=0)).tolist())
            return replace(found, regrets=most, resolved=False, error=max(most))
        if target is None or not found.max_regret <= target < found.max_regret + found.error:
            return found
        return self._in_integers(known, allowance) or found


def verify(tree: GameTree, profile: BehaviorProfile, target: float | None = None) -> Verification:
    """Measured payoffs and regrets of one profile, as :meth:`Verifier.verify` measures them."""
    return Verifier(tree).verify(profile, target=target)
