"""Say which equilibrium a profile is: a member of a published set, or of a cluster of its own.

Symbols in shapes: A actions, K parameters.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria.clusters import connected_components, most_compared, outcome_distribution
from eqbench.equilibria.descriptions import describe, text_of
from eqbench.equilibria.dimension import is_exact_enough, local_dimension
from eqbench.equilibria.expressions import alternatives, compile_expression, names_in
from eqbench.equilibria.known import known_sets, meanings, nearest_member
from eqbench.equilibria.reference import TOLERANCE, KnownSet, Layout
from eqbench.errors import UsageError, warn_former
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.tree import FloatArray
from eqbench.text import shortened
from eqbench.verification import DEFAULT_TOLERANCE, Verifier, certify

# Up to this difference of outcomes a profile counts as near a set; random profiles are ten
# times as far away.
NEAR = 1e-3
# Square root of the default target. What meets that target plays as a member that it is near, since
# a distance up to the root of its regret is left open; of others play agrees or is only near.
SAME_PLAY = 1e-5
# Where play leads less often, even a large difference of behavior hardly shows in the outcomes.
SELDOM = 1e-5
_MOST_REMEMBERED = 64  # identities of a game


@dataclass(frozen=True)
class Identity:
    """Which equilibrium a profile is; whether it is one is for the verifier to say.

    Attributes
    ----------
    name : of the set that it belongs to, or is nearest to; ``cluster:k`` if it is in none
    also : names of further sets that it belongs to
    parameters : figures of the nearest member by name
    leading : name of the figure that tells members of this set apart best, if there is one
    on_path : whether its outcome distribution agrees with a member's: within 1e-7, or where its max
        regret is at most 1e-10 of the payoff range within the square root of that share
    strict : whether every published constraint holds within 1e-7, off the path of play too
    distance : largest difference of an outcome's probability to the nearest member, or to the
        best member of its cluster; of an action's in products of more than 1,000,000 nodes
    off_path : difference to that member, as ``PLAYER|INFOSET|ACTION``, at information sets that
        are not reached; empty unless `on_path`
    dimension : of the set of equilibria around it, as :mod:`eqbench.equilibria.dimension` says;
        None where that was not computed
    same_as : game for which the set was published, if this is the same but for labels and orders
    title : what is played in the set or cluster, in a few words; empty where it has none
    family : name of the family of sets that it is one part of; empty if of none
    meaning : of the leading figure, in words
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
    same_as: str = ""
    title: str = ""
    family: str = ""
    meaning: str = ""

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Identity:
        """Identity from its plain JSON values."""
        return cls(**{**record, "also": tuple(record["also"])})

    def __getitem__(self, name: str) -> Any:
        warn_former(f"identity[{name!r}]", f"identity.{name}")
        return getattr(self, name)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; without `same_as` where the game is that of the set itself."""
        values = asdict(self) | {"also": list(self.also)}
        return values if self.same_as else {k: v for k, v in values.items() if k != "same_as"}


class Identifier:
    """Names profiles of one game by the published sets of its equilibria."""

    def __init__(self, game: Game) -> None:
        self.game = game
        # cells that are repeated hand over the same bits, and linear programs take long
        self._identify = functools.lru_cache(_MOST_REMEMBERED)(self._identified)

    @functools.cached_property
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
        return self._identify(profile.probabilities.tobytes(), max_regret)

    def _identified(self, probabilities: bytes, max_regret: float | None) -> Identity | None:
        behavior = np.frombuffer(probabilities)
        views = _views(self.game, self.known, behavior)
        matches: dict[str, _Match] = {}
        reaches = self._reaches(max_regret)
        for known in self.known:  # the pieces of one set share its name
            match = _match(known, views[known.layout], reaches)
            if match is not None and match.better_than(matches.get(known.name)):
                matches[known.name] = match
        if not matches:
            return None
        best = min(matches.values(), key=lambda match: match.rank)
        is_exact = max_regret is not None and is_exact_enough(self.game, max_regret)
        around = local_dimension(self.game, behavior) if is_exact else None
        return Identity(
            name=best.known.name,
            also=tuple(m.known.name for m in matches.values() if m is not best and m.also(best)),
            parameters=best.known.shown(best.parameters),
            leading=best.known.leading,
            on_path=best.on_path,
            strict=best.strict,
            distance=best.distance,
            off_path=_off_path(best, views[best.known.layout]) if best.on_path else {},
            dimension=None if around is None else around.total,
            same_as=best.known.same_as,
            title=best.known.title,
            family=best.known.family,
            meaning=meanings(best.known, self.game).get(best.known.leading or "", ""),
        )

    def distance(self, behavior: FloatArray) -> float:
        """Largest difference of an outcome's probability to the nearest member of any set."""
        views, found = _views(self.game, self.known, behavior), []
        reach = infoset_reach(self.game.tree, behavior)
        for known in self.known:
            seen = views[known.layout]
            nearest = nearest_member(known, seen.frequencies, reach[known.layout.infoset])
            found.append(seen.distance(known, nearest))
        return min(found)

    def _reaches(self, max_regret: float | None) -> tuple[float, float]:
        """Distances up to which a profile with such a regret plays as a member, and is near one.

        Away from an equilibrium regret grows in proportion to the distance, or with its square
        where two conditions meet.
        """
        if max_regret is None:
            return TOLERANCE, NEAR
        open_to = math.sqrt(max(max_regret, 0.0) / self.game.tree.payoff_scale)
        near = max(TOLERANCE, min(NEAR, open_to))
        meets_target = open_to <= SAME_PLAY * (1 + 1e-4)  # where it is met but for rounding
        return near if meets_target else TOLERANCE, near


class SeenProfile:
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

    def nearest(self, known: KnownSet) -> tuple[float, FloatArray]:
        """Distance to the nearest member of a set of this layout, and its parameters (K,)."""
        parameters = nearest_member(known, self.frequencies, self.reach)
        return self.distance(known, parameters), parameters


def _views(game: Game, sets: Sequence[KnownSet], behavior: FloatArray) -> dict[Layout, SeenProfile]:
    """What is compared of a profile for each layout of some sets."""
    layouts = dict.fromkeys(known.layout for known in sets)
    return {layout: SeenProfile(game, layout, behavior) for layout in layouts}


@dataclass(frozen=True, eq=False)
class _Match:
    """A set and its member that is nearest to a profile."""

    known: KnownSet
    parameters: FloatArray
    strict: bool
    distance: float
    on_path: bool

    @property
    def rank(self) -> tuple[int, float]:
        """Smaller is better; among those that agree within 1e-7 distances are rounding."""
        if self.strict or self.distance <= TOLERANCE:
            return (0 if self.strict else 1), 0.0
        return (2 if self.on_path else 3), self.distance

    def also(self, best: _Match) -> bool:
        """Whether the profile is in this set as well: no worse, and not at the end of an open one.

        What agrees with one set within 1e-7 is not counted as in another that it agrees with less.
        """
        at_end = not self.strict and self.known.is_at_open_end(self.parameters)
        return self.on_path and self.rank[0] <= max(best.rank[0], 1) and not at_end

    def better_than(self, other: _Match | None) -> bool:
        return other is None or self.rank < other.rank


def _match(known: KnownSet, seen: SeenProfile, reaches: tuple[float, float]) -> _Match | None:
    """How a profile matches a set; None if it does not agree and is not near either."""
    parameters = known.read(seen.frequencies)
    if np.isfinite(parameters).all():
        differences = np.abs(known.frequencies(parameters) - seen.frequencies)
        excess = known.violations(parameters)
        if max(differences.max(), excess.max(initial=0.0)) <= TOLERANCE:
            return _Match(known, parameters, True, seen.distance(known, parameters), on_path=True)
    parameters = nearest_member(known, seen.frequencies, seen.reach)
    distance = seen.distance(known, parameters)
    same, near = reaches
    if distance > near:
        return None
    return _Match(known, parameters, False, distance, on_path=distance <= same)


def _off_path(match: _Match, seen: SeenProfile) -> dict[str, float]:
    """Differences to the member where play does not or hardly lead, the largest first."""
    known = match.known
    differences = seen.frequencies - known.frequencies(match.parameters)
    elsewhere = (seen.reach <= SELDOM) & (np.abs(differences) > TOLERANCE)
    order = sorted(np.flatnonzero(elsewhere).tolist(), key=lambda v: -abs(differences[v]))
    return {known.layout.places[v]: float(differences[v]) for v in order}


def cluster_identities(
    game: Game, profiles: Sequence[BehaviorProfile], regrets: Sequence[float]
) -> list[Identity | None]:
    """Identity ``cluster:k`` of each of several equilibria of a game.

    Parameters
    ----------
    regrets : measured max regret of each, in payoff units

    Returns
    -------
    list
        One identity per profile. In very large games only as many as fit into memory get one,
        those with the smallest regrets.
    """
    kept = most_compared(game)
    chosen = sorted(np.argsort(regrets, kind="stable")[:kept].tolist())
    found: list[Identity | None] = [None] * len(profiles)
    parts = connected_components(game, [profiles[i] for i in chosen], [regrets[i] for i in chosen])
    clusters = [[chosen[m] for m in part.members] for part in parts]
    described = describe(game, [[profiles[i] for i in members] for members in clusters])
    for number, (part, members) in enumerate(zip(parts, clusters, strict=True), start=1):
        outcomes = {i: outcome_distribution(game, profiles[i].probabilities) for i in members}
        best = outcomes[min(members, key=lambda i: regrets[i])]
        for i in members:
            difference = outcomes[i] - best
            found[i] = Identity(
                name=f"cluster:{number}",
                distance=float(np.abs(difference).max()),
                dimension=None if part.dimension is None else part.dimension.total,
                title=shortened(text_of(described[number - 1])),
            )
    return found


# -- membership in a published set, or in a computed component -------------------------------------


class Broken(NamedTuple):
    """A condition such as ``K_bets == 3*alpha`` that a profile breaks, and by how much."""

    condition: str
    places: tuple[str, ...]  #: of the frequencies in it, ``PLAYER|INFOSET|ACTION``
    left: Any
    right: Any
    by: Any  #: 0 at an end that is excluded


@dataclass(frozen=True)
class Membership:
    """Whether a profile is in a set, which it is true or false as, and what is nearest to it there.

    Attributes
    ----------
    broken : published conditions that fail
    distance : largest difference of an outcome's probability to the nearest member
    differences : of frequencies to it, by ``PLAYER|INFOSET|ACTION``, the largest first
    parameters : its figures, if the set was published
    dimension : of the equilibria around it, if it was computed
    """

    name: str
    contains: bool
    max_regret: float
    distance: float
    differences: dict[str, float]
    broken: tuple[Broken, ...] = ()
    exact: bool = False  #: whether it was decided in Fractions
    parameters: dict[str, float] = field(default_factory=dict)
    dimension: int | None = None

    def __bool__(self) -> bool:
        return self.contains

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; sides of conditions, and by how much they fail, are texts."""
        texts = [Broken(*own[:2], *map(str, own[2:]))._asdict() for own in self.broken]
        return asdict(self) | {"broken": texts}


def in_component(game: Game, name: str, profiles: Sequence[BehaviorProfile]) -> Membership:
    """Membership of the first of some profiles in the component of the others, as in clusters."""
    behavior = [profile.probabilities for profile in profiles]
    verifier = Verifier(game.tree)
    measured = (certify(game.tree, own) or verifier.verify(own) for own in profiles)
    regrets = [float(each.max_regret) for each in measured]
    allowed = DEFAULT_TOLERANCE * game.tree.payoff_scale
    if min(regrets[1:]) > allowed:
        raise UsageError(f"{name} is no equilibrium, its max regret is {min(regrets[1:]):.2g}")
    first, *others = (outcome_distribution(game, each) for each in behavior)
    distances = [float(np.abs(other - first).max()) for other in others]
    best = int(np.argmin(distances)) + 1
    begin = int(regrets[0] > allowed)  # is no equilibrium
    parts = connected_components(game, profiles[begin:], regrets[begin:])
    part = next(each for each in parts if best - begin in each.members)
    gaps = _differences(game, behavior[0] - behavior[best])
    dimension = None if part.dimension is None else part.dimension.total
    figures = regrets[0], distances[best - 1], gaps
    return Membership(name, not begin and 0 in part.members, *figures, dimension=dimension)


def in_published(
    game: Game, sets: Sequence[KnownSet], profile: BehaviorProfile, tolerance: float
) -> Membership:
    """Membership in that of some sets which has a profile, or else is nearest."""
    behavior, exact = profile.probabilities, None if tolerance else profile.exact
    values = exact or behavior.tolist()
    failed = {own.name: _broken(own, values, tolerance, exact=bool(exact)) for own in sets}
    candidates = [own for own in sets if not failed[own.name]] or sets
    views = _views(game, candidates, behavior)
    near = [(*views[own.layout].nearest(own), own) for own in candidates]
    distance, parameters, own = min(near, key=lambda each: each[0])
    gaps = _differences(game, behavior - own.layout.behavior(own.frequencies(parameters)))
    max_regret = float(Verifier(game.tree).verify(profile).max_regret)
    figures = max_regret, distance, gaps
    broken, shown = failed[own.name], own.shown(parameters)
    return Membership(own.name, not broken, *figures, broken, bool(exact), shown)


def _differences(game: Game, gaps: FloatArray) -> dict[str, float]:
    labels, order = action_labels(game.tree), np.argsort(-np.abs(gaps), kind="stable")
    return {labels[a]: float(gaps[a]) for a in order.tolist() if abs(gaps[a]) > TOLERANCE}


def _broken(
    known: KnownSet, values: Sequence[Any], tolerance: float, *, exact: bool
) -> tuple[Broken, ...]:
    """Conditions that fail, with the parameters of which the frequencies (A,) themselves speak."""
    layout, texts, formulas = known.layout, known.texts, known.exact if exact else known.formulas
    played = [values[a] if a >= 0 else 0 for a in layout.action.tolist()]
    given = dict(zip(layout.variables, played, strict=True))
    read = dict(zip(known.parameters, (own(given) for own in formulas.readings), strict=True))
    names = formulas.names(read) | given
    places = dict(zip(layout.variables, layout.places, strict=True))
    places |= {name: places[text] for name, text in texts.readings.items() if text in places}
    conditions = [f"{name} == {text}" for name, text in texts.values.items() if text != name]
    conditions += [*texts.constraints, *(part for p in read for part in (f"0 <= {p}", f"{p} <= 1"))]
    found = []
    for text in conditions:
        misses = []
        for each in alternatives(text):
            left, right = (compile_expression(s, exact=exact)(names) for s in (each[0], each[2]))
            by = {"<": left - right, ">": right - left, "=": abs(left - right)}[each.sign[0]]
            misses.append((by, each.sign in "<>", left, right))
        by, is_open, left, right = min(misses, key=lambda each: each[0])
        if not (by < -tolerance if is_open else by <= tolerance):  # also if it is not a number
            where = dict.fromkeys(places[name] for name in names_in(text) if name in places)
            found.append(Broken(text, tuple(where), left, right, by))
    return tuple(found)
