"""Whether a list of equilibria can be complete: the indices of all components sum to 1.

This refutes lists and confirms none, since the indices of what is missing may sum to 0. The
theorem is that of :mod:`eqbench.equilibria.regularity`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eqbench.equilibria.dimension import is_exact_enough
from eqbench.equilibria.identity import SAME_OUTCOME, Isolation, most_compared
from eqbench.equilibria.regularity import rounded_index
from eqbench.errors import counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import Allowance, certify, verify

ListVerdict = Literal["proved incomplete", "consistent", "not decided"]

LOSS = 1e-6  # share of the payoff scale; an unplayed action with less counts as a best one
# What leaves an equilibrium open by some distance makes entries of its matrix uncertain by a few
# times as much.
MARGIN = 10.0


@dataclass(frozen=True)
class Completeness:
    """What the indices of the equilibria of a list say about it.

    Attributes
    ----------
    indices : tuple of (1, -1 or None)
        Of each component of equilibria, in the order of their first members. None of what is not
        known to be one isolated regular equilibrium: of continua, of degenerate points, of what
        is only known roughly, and where the index would take too long.
    exact : whether all indices were computed in Fractions; otherwise they hold up to rounding
    """

    indices: tuple[int | None, ...]
    exact: bool

    @property
    def regular(self) -> int:
        """Number of isolated regular equilibria."""
        return len(self.indices) - self.undecided

    @property
    def undecided(self) -> int:
        """Number of components without an index."""
        return self.indices.count(None)

    @property
    def total(self) -> int:
        """Sum of the indices."""
        return sum(index or 0 for index in self.indices)

    @property
    def verdict(self) -> ListVerdict:
        """What follows; that a list is consistent does not prove it complete."""
        if self.undecided:
            return "not decided"
        return "consistent" if self.total == 1 else "proved incomplete"

    def __str__(self) -> str:
        if self.undecided:
            of = counted(len(self.indices), "component")
            return f"not decided: {self.undecided:,} of {of} not known to be isolated and regular"
        each = counted(self.regular, "equilibrium", "equilibria")
        end = ", not 1" if self.total != 1 else ", as those of a complete list do"
        floats = "" if self.exact else ", computed in floats,"
        verdict = self.verdict if self.exact else self.verdict.removeprefix("proved ")
        return f"{verdict}: the indices of its {each}{floats} sum to {self.total}{end}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"verdict": self.verdict, "indices": list(self.indices), "exact": self.exact}


def completeness(
    game: Game,
    profiles: Sequence[BehaviorProfile],
    regrets: Sequence[float] | None = None,
    allowance: Allowance | None = None,
) -> Completeness | None:
    """Say whether a list of equilibria of a game can be complete.

    They are counted as clusters of a run are: what plays alike, or is connected by equilibria,
    counts once, and so does what differs only where the players' own moves do not lead.

    Parameters
    ----------
    profiles : equilibria of this game; of anything else the answer says nothing
    regrets : max regret of each in payoff units, as the verifier measured it; measured unless given
        An index needs at most 1e-9 of the payoff range, and one in Fractions exactly 0.
    allowance : what the indices may cost together; about a second unless given

    Returns
    -------
    Completeness or None
        None where they are too many to be compared. An empty list is incomplete.

    Raises
    ------
    ProfileError
        If one is not a profile of this game.

    Examples
    --------
    >>> import eqbench
    >>> from eqbench.equilibria import completeness
    >>> game = eqbench.load_game("matching_pennies")
    >>> print(completeness(game, [eqbench.BehaviorProfile.uniform(game.tree)]))
    consistent: the indices of its 1 equilibrium sum to 1, as those of a complete list do
    """
    if len(profiles) > most_compared(game):
        return None
    tree = game.tree
    if regrets is None:
        measured = (certify(tree, profile) or verify(tree, profile) for profile in profiles)
        regrets = [float(each.max_regret) for each in measured]
    allowance = Allowance() if allowance is None else allowance
    for profile in profiles:
        BehaviorProfile.of(tree, profile.probabilities)
    indices: list[int | None] = []
    exact, isolation = True, Isolation(game, profiles, regrets, allowance)
    for members in isolation.parts():
        ranked = sorted(members, key=lambda i: regrets[i])
        best, index = ranked[0], None
        if regrets[ranked[-1]] == 0 and all(profiles[i].exact is not None for i in members):
            if len(set(map(isolation.exact_plan, members))) > 1:  # several, however near they are
                indices.append(None)
                continue
            index = isolation.index(best)
        if index is None:
            exact = False
            known = [i for i in members if is_exact_enough(game, regrets[i])]
            spread = max((isolation.distance(best, i) for i in known), default=math.inf)
            if spread <= SAME_OUTCOME:  # else a continuum
                # There may be an equilibrium as far away as the root of the regret, or none, and
                # several where members differ; neither leaves larger pivots and losses than that.
                root = math.sqrt(max(regrets[best] / (tree.payoff_scale or 1.0), 0.0))
                margin, pivot = max(LOSS, MARGIN * spread, root), MARGIN * max(spread, root)
                index = rounded_index(tree, profiles[best], margin, pivot, allowance)
        indices.append(index or None)
    return Completeness(tuple(indices), exact)
