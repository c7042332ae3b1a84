"""Polished profiles as the verifier sees them."""

from __future__ import annotations

from dataclasses import dataclass

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray, GameTree
from eqbench.verification import Verification, verify

# A polished profile is an equilibrium up to this regret, as a share of the payoff range: some
# hundred times the rounding of the sums that the verifier forms. In three-player Kuhn poker with
# a pot of 3 it is 6e-13.
POLISHED = 1e-13
# Payoffs that differ by no more are the same.
SAME_PAYOFFS = 1e-8


@dataclass(frozen=True, eq=False)
class Measured:
    """A profile with its payoffs and regrets.

    Attributes
    ----------
    profile : BehaviorProfile
    figures : Verification
    limit : float
        Largest regret of an equilibrium, in payoff units.
    """

    profile: BehaviorProfile
    figures: Verification
    limit: float

    @property
    def payoffs(self) -> list[float]:
        """Of all players."""
        return [float(payoff) for payoff in self.figures.payoffs]

    @property
    def max_regret(self) -> float:
        """The largest one of any player, in payoff units."""
        return float(self.figures.max_regret)

    @property
    def is_equilibrium(self) -> bool:
        """Whether the regret is no more than rounding."""
        return self.max_regret <= self.limit


def measured(tree: GameTree, behavior: FloatArray) -> Measured:
    """A profile, given as float64 (A,), as the verifier sees it."""
    profile = BehaviorProfile.of(tree, behavior)
    return Measured(profile, verify(tree, profile), POLISHED * tree.payoff_range)
