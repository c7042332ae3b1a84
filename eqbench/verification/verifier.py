"""Measure the regret of every player on the tree, and judge a claim by it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.rational import rational
from eqbench.model.tree import FloatArray, GameTree
from eqbench.verification.certificate import Allowance
from eqbench.verification.exact import ExactRules, Verification, measure_exactly
from eqbench.verification.sweep import Numbers, TreeSweep

if TYPE_CHECKING:
    from eqbench.verification.compiled_sweep import CompiledSweep

DEFAULT_TOLERANCE = 1e-6
CLAIMED_REGRET_SLACK = 1e-9
ROUNDING = 1e-12  # of the largest payoff; regrets below zero by less are 0
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
        self._rounding = ROUNDING * tree.largest_payoff

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

    def _evaluate(self, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Expected payoffs and best-response values in floats, two (N,)."""
        tree = self.tree
        if tree.n_nodes >= COMPILED_FROM:
            return self._compiled.evaluate(frequencies)
        return self._sweep.evaluate(
            Numbers(frequencies, tree.chance_probability, tree.payoffs.table)
        )

    def verify(self, profile: BehaviorProfile, allowance: Allowance | None = None) -> Verification:
        """Measured payoffs and regrets of a profile of this tree, in floats.

        A regret that rounding has brought below zero is 0.

        In a wide game (`GameTree.is_wide`) they are measured in integers and then rounded, with
        frequencies as :func:`verify_exactly` reads them; where that is too much work, they are
        not `resolved`, and each regret is the most that it can be.

        Parameters
        ----------
        allowance : for measurements in integers; one for this profile alone unless given

        Raises
        ------
        ProfileError
            If the profile is not a distribution at every information set.
        """
        checked = BehaviorProfile.of(self.tree, profile.probabilities)
        tree = self.tree
        if tree.is_wide:
            if profile.exact is not None:
                checked = BehaviorProfile.of_exact(tree, profile.exact)
            allowance = Allowance() if allowance is None else allowance
            if allowance.covers(tree):
                # completed rows have no larger common denominators
                read = checked.exact or tuple(map(rational, checked.probabilities.tolist()))
                if allowance.take(tree, lambda: self._rules, read):
                    exact = completed_rows(tree, checked)
                    return measure_exactly(self._sweep, self._rules, exact).rounded()
        payoffs, best = self._evaluate(checked.probabilities)
        if tree.is_wide:
            most = 2 * np.abs(tree.payoffs.table).max(axis=0)
            return Verification(tuple(payoffs.tolist()), tuple(most.tolist()), resolved=False)
        # nobody's best response earns less; what is farther below zero would be a mistake of ours
        gains = best - payoffs
        gains[(gains < 0) & (gains > -self._rounding)] = 0.0
        return Verification(tuple(payoffs.tolist()), tuple(gains.tolist()))


def verify(tree: GameTree, profile: BehaviorProfile) -> Verification:
    """Measured payoffs and regrets of one profile."""
    return Verifier(tree).verify(profile)
