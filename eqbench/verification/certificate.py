"""Exact certificates: what a profile known in rationals is worth, where that is affordable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, GameTree
from eqbench.verification.verifier import Verification, verify_exactly

# Exact mode handles an integer of so many digits at every terminal. Up to here that takes about
# a second (20 to 60 ns per terminal and digit once the integers are long); the number of digits
# has a bound of its own, since the time grows with its square and Python prints at most 4,300.
MOST_TERMINAL_DIGITS = 2 * 10**7
MOST_DIGITS = 4000


def certify(tree: GameTree, profile: BehaviorProfile) -> Verification | None:
    """Payoffs and regrets as Fractions; None if they are not known exactly, or cost too much.

    Parameters
    ----------
    profile : a profile of this tree

    Raises
    ------
    ProfileError
        If a row of the exact frequencies does not sum to exactly 1.
    """
    if profile.exact is None or not tree.exact or not _is_affordable(tree, profile.exact):
        return None
    return verify_exactly(tree, profile)


def _is_affordable(tree: GameTree, exact: Sequence[Fraction]) -> bool:
    """Whether the integers of exact mode stay short, by a bound on their bits from above.

    A path is a product of at most as many factors of one player, or of chance, as there are
    levels on which they move.
    """
    digits = min(MOST_DIGITS, MOST_TERMINAL_DIGITS // tree.n_terminals)
    allowed = digits / math.log10(2)
    movers = [set(np.unique(tree.player[level]).tolist()) for level in tree.levels]
    payoffs, denominator = tree.payoffs.rational()
    bits = int(abs(payoffs).max()).bit_length() + denominator.bit_length()
    bits += sum(CHANCE in here for here in movers) * tree.chance_denominator.bit_length()
    for player in range(tree.n_players):
        moves = sum(player in here for here in movers)
        own = tree.infosets_of(player)
        common = 1
        for value in exact[tree.action_start[own.start] : tree.action_start[own.stop]]:
            common = math.lcm(common, value.denominator)
            if bits + moves * common.bit_length() > allowed:
                return False
        bits += moves * common.bit_length()
    return bits <= allowed
