"""Clusters of equilibria: connected components, and whether a list of them can be complete.

A list is refuted where the indices of all components do not sum to 1; none is confirmed, since
the indices of what is missing may sum to 0. The theorem is that of
:mod:`eqbench.equilibria.regularity`.

Symbols in shapes: A actions, S sequences, n profiles.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.dimension import EXACT_ENOUGH, Dimension, is_exact_enough, local_dimension
from eqbench.equilibria.regularity import exact_play, index_of, plan_weights, rounded_index
from eqbench.errors import counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan, shares
from eqbench.model.size_limit import PRODUCTS_FROM
from eqbench.model.tree import FloatArray
from eqbench.verification import Allowance, certify, verify

if TYPE_CHECKING:
    from eqbench.model.products import ProductForm

ListVerdict = Literal["proved incomplete", "consistent", "not decided"]

SAME_PLAN = 1e-9  # difference of weights up to which two are repetitions
SAME_OUTCOME = 1e-6  # difference of probabilities up to which two play alike
ROUNDING = 1e-9  # regret between two exact equilibria, as a share of the payoff range
NOISE = 10.0  # and how much more than theirs it may be if they are inexact
_EXPONENT = -6  # of ten, of the least margin with which floats prove anything
_UNIT = 1e-15  # regret as a share of the payoff scale that floats always leave open
_BETWEEN = (0.5, 0.25, 0.75)
_MOST_CHECKS = 20_000  # of what lies between two; more would take seconds
_MOST_CHECKED = 20_000_000  # frequencies of these, where the tree is not built
_MOST_PLACES = 2_000  # whose distances are compared
_MOST_DIMENSIONS = 15  # a component of so many has one dimension or another most often
# Outcome distributions are compared pair by pair, so all are in memory at once.
_MOST_NUMBERS = 50_000_000
LOSS = 1e-6  # share of the payoff scale; an unplayed action with less counts as a best one
# What leaves an equilibrium open by some distance makes entries of its matrix uncertain by a few
# times as much.
MARGIN = 10.0


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
    else, however near that is, as far as proofs take about a second in all. Where the tree is not
    built there are no such proofs.

    Parameters
    ----------
    regrets : measured max regret of each, in payoff units
    """
    found, isolation = [], Isolation(game, profiles, regrets)
    for members in isolation.parts():
        exact = [i for i in members if is_exact_enough(game, regrets[i])][:_MOST_DIMENSIONS]
        around = (local_dimension(game, profiles[i].probabilities) for i in exact)
        counts = Counter(dimension for dimension in around if dimension is not None)
        # the one that most members have, the larger one in a draw
        usual = max(counts, key=lambda d: (counts[d], d.total, d.on_path), default=None)
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
        self._shares = np.maximum(np.array(regrets) / (game.tree.payoff_scale or 1.0), _UNIT)
        self.index, self.exact_plan = functools.cache(self._index), functools.cache(self._weights)
        self._rounded = functools.cache(self._regular)

    @functools.cached_property
    def _plans(self) -> FloatArray:
        """Realization weights, float64 (n, S)."""
        plans = (RealizationPlan.of(self.game.plan_form, p.probabilities) for p in self.profiles)
        return np.array([plan.weights for plan in plans])

    def parts(self) -> list[tuple[int, ...]]:
        """Members of each component, in the order of the first ones."""
        if len(self.profiles) < 2:
            return [(i,) for i in range(len(self.profiles))]
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
        if self.game.product is not None:
            return [tuple(members)]
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
        if self.game.product is not None:
            return None
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
    form, model, checks, most = game.plan_form, game.payoff_model(), 0, _MOST_CHECKS
    if game.product is not None:
        most = min(most, len(plans) + _MOST_CHECKED // form.n_sequences)
    rounding = ROUNDING * game.tree.payoff_scale
    for i, j in _nearest_first(plans[:_MOST_PLACES]):
        if group[i] == group[j]:
            continue
        if checks == most:
            break
        checks += 1
        allowed = max(rounding, NOISE * max(regrets[i], regrets[j]))
        mixtures = ((1 - share) * plans[i] + share * plans[j] for share in _BETWEEN)
        regrets_between = (model.regrets(shares(form, mixture)) for mixture in mixtures)
        if all(own.max() <= allowed for own in regrets_between):
            group[group == group[j]] = group[i]


def _nearest_first(plans: FloatArray) -> Iterator[tuple[int, int]]:
    """Pairs of realization plans (n, S), those with the least distance first."""
    n = len(plans)
    squares = (plans**2).sum(axis=1)
    distances = squares[:, None] + squares - 2 * plans @ plans.T
    first, second = np.triu_indices(n, 1)
    for k in np.argsort(distances[first, second], kind="stable"):
        yield int(first[k]), int(second[k])


def most_compared(game: Game) -> int:
    """How many equilibria of a game can be compared within memory; at least 1."""
    large = _large_product(game)
    size = 2 * large.n_sequences if large else len(game.plan_form.outcomes[1])
    return max(1, _MOST_NUMBERS // size)


def outcome_distribution(game: Game, behavior: FloatArray) -> FloatArray:
    """Probability of each outcome of play, float64 (Z,), owned by the caller.

    Terminals that all players reach by the same sequences count as one outcome. In a product of
    more than 1,000,000 nodes it is the probability of each action, float64 (A,): the same for the
    same outcomes and only for them, while those of single deals are smaller than any tolerance.
    """
    if large := _large_product(game):
        return large.played(behavior)
    form = game.plan_form
    columns, chance = form.outcomes
    return chance * RealizationPlan.of(form, behavior).weights[columns].prod(axis=1)


def _large_product(game: Game) -> ProductForm | None:
    """The form of a game in which actions are compared, since it has too many outcomes."""
    return game.product_form if game.tree.n_nodes > PRODUCTS_FROM else None


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
        None where they are too many to be compared, or the tree is not built. An empty list is
        incomplete.

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
    if game.product is not None or len(profiles) > most_compared(game):
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
            known = [i for i in ranked if is_exact_enough(game, regrets[i])]
            spread = max((isolation.distance(best, i) for i in known[1:]), default=0.0)
            if known and spread <= SAME_OUTCOME:  # else a continuum
                # There may be an equilibrium as far away as the root of the regret, or none, and
                # several where members differ; neither leaves larger pivots and losses than that.
                root = math.sqrt(max(regrets[best] / (tree.payoff_scale or 1.0), 0.0))
                margin, pivot = max(LOSS, MARGIN * spread, root), MARGIN * max(spread, root)
                index = rounded_index(tree, profiles[best], margin, pivot, allowance)
        indices.append(index or None)
    return Completeness(tuple(indices), exact)
