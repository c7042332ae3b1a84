"""Say which equilibrium a profile is: a member of a published set, or of a cluster of its own.

Symbols in shapes: A actions, S sequences, n profiles.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.dimension import EXACT_ENOUGH, Dimension, is_exact_enough, local_dimension
from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.layout import Layout
from eqbench.equilibria.nearest import nearest_member
from eqbench.equilibria.reference import KnownSet
from eqbench.equilibria.regularity import exact_play, index_of, plan_weights, rounded_index
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan, shares
from eqbench.model.tree import FloatArray
from eqbench.verification import Allowance, certify

if TYPE_CHECKING:
    from eqbench.model.payoff_model import PayoffModel


SAME_PLAN = 1e-9  # difference of weights up to which two are repetitions
SAME_OUTCOME = 1e-6  # difference of probabilities up to which two play alike
ROUNDING = 1e-9  # regret between two exact equilibria, as a share of the payoff range
NOISE = 10.0  # and how much more than theirs it may be if they are inexact
_EXPONENT = -6  # of ten, of the least margin with which floats prove anything
_UNIT = 1e-15  # regret as a share of the payoff scale that floats always leave open
_BETWEEN = (0.5, 0.25, 0.75)
_MOST_CHECKS = 20_000  # of what lies between two; more would take seconds
_MOST_PLACES = 2_000  # whose distances are compared
_MOST_REMEMBERED = 64  # identities of a game
_MOST_DIMENSIONS = 15  # a component of so many has one dimension or another most often


@dataclass(frozen=True)
class Component:
    """Equilibria that are one up to behavior off the path of play, or lie in one continuum.

    Attributes
    ----------
    members : their positions in the sequence that was given, ascending
    dimension : of the set of equilibria around most of them; None in games that are too large,
        and where no member is exact enough
    """

    members: tuple[int, ...]
    dimension: Dimension | None


def connected_components(
    game: Game, profiles: Sequence[BehaviorProfile], regrets: Sequence[float]
) -> list[Component]:
    """Connected pieces that equilibria of a game belong to, in the order of their first members.

    Two are connected if their outcome distributions agree within 1e-6, or if what lies between
    them is an equilibrium too: mixtures of their realization plans, in three places, with a
    regret that is rounding or at most ten times theirs. So a continuum counts once, unless it is
    bent and its members are too few to show that. Of very many isolated ones the nearest 20,000
    pairs are looked at.

    What is proved to be isolated, exactly or in floats with a margin, is connected with nothing
    else, however near that is, as far as proofs take about a second in all.

    Parameters
    ----------
    regrets : measured max regret of each, in payoff units
    """
    found, isolation = [], Isolation(game, profiles, regrets)
    for members in isolation.parts():
        exact = [i for i in members if is_exact_enough(game, regrets[i])][:_MOST_DIMENSIONS]
        usual = _usual([local_dimension(game, profiles[i].probabilities) for i in exact])
        if usual is not None and usual.total and any(map(isolation.index, exact)):
            usual = Dimension(0, 0)  # the conditions on it are shorter than floats resolve
        found.append(Component(members, usual))
    return found


class Isolation:
    """Equilibria as in :func:`connected_components`, and which are proved to be isolated."""

    def __init__(
        self,
        game: Game,
        profiles: Sequence[BehaviorProfile],
        regrets: Sequence[float],
        allowance: Allowance | None = None,
    ) -> None:
        self.game, self.profiles, self.regrets = game, profiles, regrets
        self._allowance = allowance or Allowance()
        plans = (RealizationPlan.of(game.sequence_form, each.probabilities) for each in profiles)
        self._plans = np.array([plan.weights for plan in plans])
        self._shares = np.maximum(np.array(regrets) / (game.tree.payoff_scale or 1.0), _UNIT)
        self.index, self.exact_plan = functools.cache(self._index), functools.cache(self._weights)
        self._rounded = functools.cache(self._regular)

    def parts(self) -> list[tuple[int, ...]]:
        """Members of each component, in the order of the first ones."""
        if not self.profiles:
            return []
        order = np.argsort(self.regrets, kind="stable")
        places, where = different(self._plans, order, SAME_PLAN)
        behavior = [self.profiles[i].probabilities for i in places]
        outcomes = np.array([outcome_distribution(self.game, each) for each in behavior])
        _, group = different(outcomes, np.arange(len(places)), SAME_OUTCOME)
        _join(self.game, self._plans[places], [self.regrets[i] for i in places], group)
        label = group[where]
        joined = [np.flatnonzero(label == k).tolist() for k in dict.fromkeys(label.tolist())]
        return sorted(part for members in joined for part in self._split(members))

    def _split(self, members: Sequence[int]) -> list[tuple[int, ...]]:
        """Connected equilibria, but those that are isolated each with what may be the same one."""
        exact = [i for i in members if self.profiles[i].exact is not None]
        spread = np.ptp(self._plans[members], axis=0).max()
        if spread <= SAME_OUTCOME and len(set(map(self.exact_plan, exact))) < 2:
            return [tuple(members)]
        ranked = sorted(members, key=lambda i: (self.profiles[i].exact is None, self.regrets[i]))
        centers: list[int] = []
        for i in ranked[: max(len(exact), _MOST_DIMENSIONS)]:
            is_regular = self.index(i) or self._rounded(i, _EXPONENT)
            is_new = is_regular and all(self._is_apart(center, i) for center in centers)
            if is_new and any(self._is_apart(i, other) for other in members):
                centers.append(i)
        rest = [i for i in exact if i not in centers and self.index(i) == 0]
        parts: dict[int, list[int]] = {}
        for i in members:
            near = [c for c in (*centers, *rest) if not self._is_apart(c, i)]
            nearest = min(near, key=lambda c: self.distance(c, i), default=-1)
            parts.setdefault(nearest if nearest in centers else -1, []).append(i)
        return [*map(tuple, parts.values())]

    def _is_apart(self, center: int, other: int) -> bool:
        """Whether an equilibrium is proved to be isolated, and another not to be the same one.

        A regret s leaves an equilibrium open by s/m², as shares of the payoff scale, where
        frequencies, losses and pivots are at least m.
        """
        if self.index(center) and self.index(other) is not None:
            return self.exact_plan(center) != self.exact_plan(other)
        distance, worse = self.distance(center, other), max(self._shares[[center, other]])
        if distance <= SAME_OUTCOME:
            return False
        exponent = math.ceil(math.log10(NOISE * worse / distance) / 2)  # few, since each is tried
        return exponent < 0 and self._rounded(center, max(_EXPONENT, exponent)) is not None

    def distance(self, one: int, other: int) -> float:
        """Largest difference of the realization weights of two."""
        return float(np.abs(self._plans[one] - self._plans[other]).max())

    def _index(self, i: int) -> int | None:
        """Index in Fractions: 0 of an equilibrium without; None of what is not proved to be one."""
        tree, profile = self.game.tree, self.profiles[i]
        play = None if self.regrets[i] > 0 else exact_play(tree, profile, self._allowance)
        if play is not None and (index := index_of(play)):
            return index
        proved = play and certify(tree, profile, self._allowance)
        return 0 if proved and proved.max_regret == 0 else None

    def _regular(self, i: int, exponent: int) -> int | None:
        """Index in floats with a power of ten as the margin."""
        if self._shares[i] > EXACT_ENOUGH:
            return None
        margin = 10.0**exponent
        return rounded_index(self.game.tree, self.profiles[i], margin, margin, self._allowance)

    def _weights(self, i: int) -> tuple[Any, ...]:
        """Realization weights in Fractions."""
        return tuple(plan_weights(self.game.tree, self.profiles[i].exact or ()))


def different(
    rows: FloatArray, order: NDArray[np.int64], tolerance: float
) -> tuple[list[int], NDArray[np.int64]]:
    """Rows that differ from all before them in an order, and which of these each row is like."""
    first: list[int] = []
    like = np.empty(len(rows), dtype=np.int64)
    kept = np.empty_like(rows)
    for i in order.tolist():
        distance = np.abs(kept[: len(first)] - rows[i]).max(axis=1, initial=0.0)
        same = np.flatnonzero(distance <= tolerance)
        like[i] = same[0] if len(same) else len(first)
        if not len(same):
            kept[len(first)] = rows[i]
            first.append(i)
    return first, like


def _join(
    game: Game, plans: FloatArray, regrets: Sequence[float], group: NDArray[np.int64]
) -> None:
    """Give plans (n, S) that are connected the same number in `group` (n,)."""
    model, checks = game.payoff_model(), 0
    rounding = ROUNDING * game.tree.payoff_scale
    for i, j in _nearest_first(plans[:_MOST_PLACES]):
        if group[i] == group[j]:
            continue
        if checks == _MOST_CHECKS:
            break
        checks += 1
        allowed = max(rounding, NOISE * max(regrets[i], regrets[j]))
        if _equilibria_between(game, model, (plans[i], plans[j]), allowed):
            group[group == group[j]] = group[i]


def _nearest_first(plans: FloatArray) -> Iterator[tuple[int, int]]:
    """Pairs of realization plans (n, S), those with the least distance first."""
    n = len(plans)
    squares = (plans**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * plans @ plans.T
    first, second = np.triu_indices(n, 1)
    for k in np.argsort(distances[first, second], kind="stable"):
        yield int(first[k]), int(second[k])


def _equilibria_between(
    game: Game, model: PayoffModel, ends: tuple[FloatArray, FloatArray], allowed: float
) -> bool:
    """Whether mixtures of two realization plans (S,) have no regret above what is allowed."""
    for share in _BETWEEN:
        mixture = (1 - share) * ends[0] + share * ends[1]
        if model.regrets(shares(game.sequence_form, mixture)).max() > allowed:
            return False
    return True


def _usual(dimensions: Sequence[Dimension | None]) -> Dimension | None:
    """The dimension that most members have; the larger one in a draw."""
    counts = Counter(dimension for dimension in dimensions if dimension is not None)
    if not counts:
        return None
    return max(counts, key=lambda d: (counts[d], d.total, d.on_path))


# Outcome distributions are compared pair by pair, so all are in memory at once.
_MOST_NUMBERS = 50_000_000


def most_compared(game: Game) -> int:
    """How many equilibria of a game can be compared within memory; at least 1."""
    return max(1, _MOST_NUMBERS // len(game.sequence_form.columns))


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
    for number, part in enumerate(parts, start=1):
        members = [chosen[m] for m in part.members]
        outcomes = {i: outcome_distribution(game, profiles[i].probabilities) for i in members}
        best = outcomes[min(members, key=lambda i: regrets[i])]
        for i in members:
            difference = outcomes[i] - best
            found[i] = Identity(
                name=f"cluster:{number}",
                distance=float(np.abs(difference).max()),
                dimension=None if part.dimension is None else part.dimension.total,
            )
    return found


# Up to this difference of outcomes a profile counts as near a set; random profiles are ten
# times as far away.
NEAR = 1e-3
# Square root of the default target. What meets that target plays as a member that it is near, since
# a distance up to the root of its regret is left open; of others play agrees or is only near.
SAME_PLAY = 1e-5
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
    on_path : whether its outcome distribution agrees with a member's: within 1e-7, or where its max
        regret is at most 1e-10 of the payoff range within the square root of that share
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
        seen = SeenProfile(self.game, self.known[0].layout, behavior)
        matches: dict[str, _Match] = {}
        reaches = self._reaches(max_regret)
        for known in self.known:  # the pieces of one set share its name
            match = _match(known, seen, reaches)
            if match is not None and match.better_than(matches.get(known.name)):
                matches[known.name] = match
        if not matches:
            return None
        best = min(matches.values(), key=lambda match: match.rank)
        around = self._dimension(behavior, max_regret)
        return Identity(
            name=best.known.name,
            also=tuple(m.known.name for m in matches.values() if m is not best and m.also(best)),
            parameters=best.known.shown(best.parameters),
            leading=best.known.leading,
            on_path=best.on_path,
            strict=best.strict,
            distance=best.distance,
            off_path=_off_path(best, seen) if best.on_path else {},
            dimension=None if around is None else around.total,
        )

    def distance(self, behavior: FloatArray) -> float:
        """Largest difference of an outcome's probability to the nearest member of any set."""
        layout = self.known[0].layout
        seen = SeenProfile(self.game, layout, behavior)
        reach = infoset_reach(self.game.tree, behavior)[layout.infoset]
        nearest = [nearest_member(own, seen.frequencies, reach) for own in self.known]
        return min(map(seen.distance, self.known, nearest))

    def _dimension(self, behavior: FloatArray, max_regret: float | None) -> Dimension | None:
        if max_regret is None or not is_exact_enough(self.game, max_regret):
            return None
        return local_dimension(self.game, behavior)

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
