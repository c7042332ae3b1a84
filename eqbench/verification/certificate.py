"""Exact measurements where they are affordable: certificates, and games beyond floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, GameTree, largest_integer
from eqbench.verification.exact import ExactRules, Verification, verify_exactly

# Exact mode handles an integer of so many digits at every terminal. Up to here that takes about
# a second (20 to 60 ns per terminal and digit once the integers are long); the number of digits
# has a bound of its own, since the time grows with its square and Python prints at most 4,300.
MOST_TERMINAL_DIGITS = 2 * 10**7
MOST_DIGITS = 4000
# However short the integers are, a terminal costs 2 to 3 microseconds: as much as so many digits.
CHARGED_DIGITS = 50
# A pass over the tree takes 2 to 3 microseconds for a node in floats, and about 20 in Fractions.
NODE_DIGITS = 50
EXACT_NODE_DIGITS = 400


@dataclass
class Allowance:
    """What the exact measurements of one cell may cost together: about a second, by an estimate.

    It is an estimate and not the clock, so that the same candidates are certified everywhere.
    They are served in the order in which they come; one that costs more than what is left goes
    without, and a later one that costs less does not.

    Attributes
    ----------
    left : digits at terminals that are not used up
    """

    left: int = field(default_factory=lambda: MOST_TERMINAL_DIGITS)

    def covers(self, tree: GameTree) -> bool:
        """Whether it is worth it to read the game and a profile as integers at all."""
        # floats take as long to read as a terminal takes to be measured
        least = 1 if tree.exact else CHARGED_DIGITS
        return self.left >= least * tree.n_terminals

    def spend(self, digits: int) -> bool:
        """Whether so much is left; if so, it is taken off."""
        is_enough = self.left >= digits
        self.left -= digits * is_enough
        return is_enough

    def take(
        self, tree: GameTree, rules: Callable[[], ExactRules], exact: Sequence[Fraction]
    ) -> bool:
        """Whether frequencies (A,) can be measured exactly; if so, the cost is taken off.

        To look at the frequencies costs their length, also if they are too long.
        """
        if not self.covers(tree):
            return False
        self.left -= length(exact)
        most = min(MOST_DIGITS, self.left // tree.n_terminals)
        if most < 1:
            return False
        digits = _digits(tree, rules(), exact, most)
        if digits is None:
            return False
        self.left -= tree.n_terminals * max(digits, CHARGED_DIGITS)
        return True


def certify(
    tree: GameTree, profile: BehaviorProfile, allowance: Allowance | None = None
) -> Verification | None:
    """Payoffs and regrets as Fractions; None if they are not known exactly, or cost too much.

    Parameters
    ----------
    profile : a profile of this tree
    allowance : what this may cost, and from which it is taken off; a new one unless given

    Raises
    ------
    ProfileError
        If a row of the exact frequencies does not sum to exactly 1.
    """
    if profile.exact is None or not tree.exact:
        return None
    allowance = Allowance() if allowance is None else allowance
    if not allowance.take(tree, lambda: ExactRules.of(tree), profile.exact):
        return None
    return verify_exactly(tree, profile)


def length(exact: Sequence[Fraction]) -> int:
    """Number of digits of fractions, by the bits that they have."""
    bits = sum(each.numerator.bit_length() + each.denominator.bit_length() for each in exact)
    return math.ceil(bits * math.log10(2))


def _digits(tree: GameTree, rules: ExactRules, exact: Sequence[Fraction], most: int) -> int | None:
    """Bound from above on the digits of an integer of exact mode; None if it exceeds `most`.

    A path is a product of at most as many factors of one player, or of chance, as there are
    levels on which they move.
    """
    allowed = most / math.log10(2)
    movers = [set(np.unique(tree.player[level]).tolist()) for level in tree.levels]
    bits = largest_integer(rules.payoffs).bit_length() + rules.payoff_denominator.bit_length()
    bits += sum(CHANCE in here for here in movers) * rules.chance_denominator.bit_length()
    for player in range(tree.n_players):
        moves = sum(player in here for here in movers)
        own = tree.infosets_of(player)
        common = 1
        for value in exact[tree.action_start[own.start] : tree.action_start[own.stop]]:
            common = math.lcm(common, value.denominator)
            if bits + moves * common.bit_length() > allowed:
                return None
        bits += moves * common.bit_length()
    return math.ceil(bits * math.log10(2)) if bits <= allowed else None
