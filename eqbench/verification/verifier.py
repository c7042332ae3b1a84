"""Measure a profile in floating point, or in integers where floats do not tell."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.rational import rational
from eqbench.model.tree import GameTree
from eqbench.verification.certificate import Allowance
from eqbench.verification.exact import ExactRules, Verification, measure_exactly
from eqbench.verification.sweep import Numbers, TreeSweep


class Verifier:
    """Measures many profiles of one game."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self._sweep = TreeSweep(tree)

    @cached_property
    def _rules(self) -> ExactRules:
        return ExactRules.of(self.tree)

    def verify(self, profile: BehaviorProfile, allowance: Allowance | None = None) -> Verification:
        """Measured payoffs and regrets of a profile of this tree, in floats.

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
        payoffs, best = self._sweep.evaluate(
            Numbers(checked.probabilities, tree.chance_probability, tree.payoffs.table)
        )
        gains = 2 * np.abs(tree.payoffs.table).max(axis=0) if tree.is_wide else best - payoffs
        return Verification(
            tuple(payoffs.tolist()), tuple(gains.tolist()), resolved=not tree.is_wide
        )


def verify(tree: GameTree, profile: BehaviorProfile) -> Verification:
    """Measured payoffs and regrets of one profile."""
    return Verifier(tree).verify(profile)
