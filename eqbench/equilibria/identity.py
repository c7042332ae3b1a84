"""Which published equilibrium is this? The answer, and how it is found.

Symbols in shapes: A actions of the game, V named frequencies, Z columns of the sequence form.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from eqbench.equilibria.dimension import Dimension, is_exact_enough, local_dimension
from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.layout import Layout
from eqbench.equilibria.nearest import nearest_member
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray

# Up to this difference of outcomes a profile is said to be near a set; random profiles are ten
# times as far away.
NEAR = 1e-3
# Where play leads less often, even a large difference of behavior hardly shows in the outcomes.
SELDOM = 1e-5


@dataclass(frozen=True)
class Identity:
    """Which equilibrium a profile is; whether it is one is for the verifier to say.

    Attributes
    ----------
    name : of the set that it belongs to, or is nearest to; ``cluster:k`` if it is in none
    also : names of further sets that it belongs to
    parameters : figures of the nearest member by name
    leading : name of the figure that tells members of this set apart best, if there is one
    on_path : whether its outcome distribution agrees with a member's within 1e-7
    strict : whether every published constraint holds within 1e-7, off the path of play too
    distance : largest difference of an outcome's probability to the nearest member, or to the
        best member of its cluster
    off_path : difference to that member, as ``PLAYER|INFOSET|ACTION``, at information sets that
        are not reached; empty unless `on_path`
    dimension : of the set of equilibria around it, as :mod:`eqbench.equilibria.dimension` says;
        None where that was not computed
    """

    name: str
    also: tuple[str, ...] = ()
    parameters: dict[str, float] = field(default_factory=dict)
    leading: str | None = None
    on_path: bool = True
    strict: bool = False
    distance: float = 0.0
    off_path: dict[str, float] = field(default_factory=dict)
    dimension: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self) | {"also": list(self.also)}


def outcome_distribution(game: Game, behavior: FloatArray) -> FloatArray:
    """Probability of each outcome of play, float64 (Z,), owned by the caller.

    Terminals that all players reach by the same sequences count as one outcome.
    """
    form = game.sequence_form
    weights = RealizationPlan.of(form, behavior).weights
    return form.chance * weights[form.columns].prod(axis=1)


class Identifier:
    """Names profiles of one game by the published sets of its equilibria."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @cached_property
    def known(self) -> tuple[KnownSet, ...]:
        """The published sets of the game."""
        return known_sets(self.game)

    def identify(
        self, profile: BehaviorProfile, max_regret: float | None = None
    ) -> Identity | None:
        """Identity of a profile; None if nothing known is near.

        The first set that has it as a member in the strict sense counts, else the first with
        which it agrees on the path of play, else the nearest.

        Parameters
        ----------
        max_regret : as measured by the verifier, in payoff units; None if it is not known
            What has so little regret that its distance must be real is not near: it is another
            equilibrium. The dimension is given where it is at most 1e-9 of the payoff range.
        """
        if not self.known:
            return None
        seen = _Profile(self.game, self.known[0].layout, profile.probabilities)
        matches: dict[str, _Match] = {}
        near = self._near(max_regret)
        for known in self.known:  # the pieces of one set share its name
            match = _match(known, seen, near)
            if match is not None and match.better_than(matches.get(known.name)):
                matches[known.name] = match
        if not matches:
            return None
        best = min(matches.values(), key=lambda match: match.rank)
        around = self._dimension(profile, max_regret)
        return Identity(
            name=best.known.name,
            also=tuple(m.known.name for m in matches.values() if m is not best and m.is_member),
            parameters=best.known.shown(best.parameters),
            leading=best.known.leading,
            on_path=best.on_path,
            strict=best.strict,
            distance=best.distance,
            off_path=_off_path(best, seen) if best.on_path else {},
            dimension=None if around is None else around.total,
        )

    def _dimension(self, profile: BehaviorProfile, max_regret: float | None) -> Dimension | None:
        if max_regret is None or not is_exact_enough(self.game, max_regret):
            return None
        return local_dimension(self.game, profile.probabilities)

    def _near(self, max_regret: float | None) -> float:
        """Distance that a profile with such a regret may have from the equilibrium it is near.

        Away from an equilibrium regret grows in proportion to the distance, or with its square
        where two conditions meet.
        """
        if max_regret is None:
            return NEAR
        return min(NEAR, math.sqrt(max(max_regret, 0.0) / self.game.tree.payoff_scale))


class _Profile:
    """What is compared of a profile: its named frequencies, their reach, its outcomes."""

    def __init__(self, game: Game, layout: Layout, behavior: FloatArray) -> None:
        self.game = game
        self.frequencies = layout.frequencies(behavior)
        reach = infoset_reach(game.tree, behavior)[layout.infoset]
        self.reach = np.where(reach > TOLERANCE, reach, 0.0)  # less than that changes no outcome
        self.outcomes = outcome_distribution(game, behavior)

    def distance(self, known: KnownSet, parameters: FloatArray) -> float:
        """Largest difference of an outcome's probability to a member."""
        behavior = known.layout.behavior(known.frequencies(parameters))
        return float(np.abs(outcome_distribution(self.game, behavior) - self.outcomes).max())


@dataclass(frozen=True, eq=False)
class _Match:
    """A set and its member that is nearest to a profile."""

    known: KnownSet
    parameters: FloatArray
    strict: bool
    distance: float

    @property
    def on_path(self) -> bool:
        return self.strict or self.distance <= TOLERANCE

    @property
    def is_member(self) -> bool:
        """Whether the profile agrees with a member, not only with the end of an open set."""
        at_end = not self.strict and self.known.is_at_open_end(self.parameters)
        return self.on_path and not at_end

    @property
    def rank(self) -> tuple[int, float]:
        """Smaller is better; among those that agree on the path distances are rounding."""
        if self.on_path:
            return (0 if self.strict else 1), 0.0
        return 2, self.distance

    def better_than(self, other: _Match | None) -> bool:
        return other is None or self.rank < other.rank


def _match(known: KnownSet, seen: _Profile, near: float) -> _Match | None:
    """How a profile matches a set; None if it does not agree and is not near either."""
    parameters = known.read(seen.frequencies)
    if np.isfinite(parameters).all():
        differences = np.abs(known.frequencies(parameters) - seen.frequencies)
        excess = known.violations(parameters)
        if max(differences.max(), excess.max(initial=0.0)) <= TOLERANCE:
            return _Match(known, parameters, True, seen.distance(known, parameters))
    parameters = nearest_member(known, seen.frequencies, seen.reach)
    distance = seen.distance(known, parameters)
    if distance > max(near, TOLERANCE):
        return None
    return _Match(known, parameters, False, distance)


def _off_path(match: _Match, seen: _Profile) -> dict[str, float]:
    """Differences to the member where play does not or hardly lead, the largest first."""
    known = match.known
    differences = seen.frequencies - known.frequencies(match.parameters)
    elsewhere = (seen.reach <= SELDOM) & (np.abs(differences) > TOLERANCE)
    order = sorted(np.flatnonzero(elsewhere).tolist(), key=lambda v: -abs(differences[v]))
    return {known.layout.places[v]: float(differences[v]) for v in order}
