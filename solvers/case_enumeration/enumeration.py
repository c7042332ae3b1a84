"""All Nash equilibria of small games, by branch and prune over the cases of information sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import place_of
from eqbench.solver import Availability, Monitor, Termination
from eqbench.text import short_number

from ..handover import OffPath, warm_up
from ..search import importable


@dataclass(frozen=True)
class CaseEnumeration:
    """Complete list of equilibria of a game with at most two actions at every information set.

    Each such set has a frequency, that of its second action, and a value gap: how much more the
    second action is worth than the first, in counterfactual values. A profile whose player
    plays best at every set is in exactly one of three cases there: frequency 0 and a negative
    gap, frequency 1 and a positive gap, or any frequency and a gap of zero. Billingham 2017, §3,
    goes through all combinations for one family of games; here they are branched on, and pruned
    by exact bounds of the gaps, which are multilinear polynomials. The equations that are left
    are solved exactly. No decision depends on a floating-point number.

    Equilibria are found as polytopes ("pieces"), with coordinates in the rationals or in a field
    with one algebraic number; faces of others are left out. Vertices of each and a point
    inside are handed over: exactly where they are rational, otherwise rounded once. If all
    cases are closed, the claim is `complete list`. Where the equilibria of a case are curved,
    or in no such field, the case stays open, and the claim is `equilibrium`.

    Where a player's own moves avoid an information set, their best play there is requested too.
    That loses no equilibrium but in this: each equilibrium is listed up to behavior at sets
    which their owner's own moves avoid.

    An iteration is a node of the search, that is, a combination of cases decided so far.

    Parameters
    ----------
    limit : most information sets with two actions that a game may have; each triples the cases
    offpath : whether to keep the play off the path of play, or to make it credible by logit
        Different equilibria may become the same then, so the claim is `equilibrium`.
    """

    limit: int = 16
    offpath: OffPath = "keep"

    deterministic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise UsageError(f"limit={self.limit}; give a number of information sets >= 0")

    def availability(self) -> Availability:
        """Whether python-flint is installed."""
        return importable("flint")

    def supports(self, game: Game) -> bool | str:
        """True for small exact games with two actions everywhere, otherwise the reason why not."""
        tree = game.tree
        sizes = [len(actions) for actions in tree.infoset_actions]
        most = max(sizes, default=0)
        if most > 2:
            return (
                "case_enumeration solves games with at most two actions at every information "
                f"set; there are {most} at {place_of(tree, sizes.index(most))}"
            )
        if not tree.exact:
            return (
                "case_enumeration works in exact arithmetic; payoffs or chance of this game are "
                "floating-point numbers"
            )
        count = sizes.count(2)
        if count > self.limit:
            return (
                f"case_enumeration would have to go through 3^{count} = {short_number(3**count)} "
                f"cases; limit={self.limit} allows {self.limit} information sets with two actions"
            )
        return True

    def prepare(self, game: Game) -> None:
        """Import what `solve` uses."""
        from . import run  # noqa: F401

        warm_up(self.offpath, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Go through the cases within the budget; `rng` is not used."""
        from .run import CaseRun

        return CaseRun(game, monitor, self.offpath).finish()
