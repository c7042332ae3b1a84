"""Equilibria that belong together: connected pieces of the set of equilibria.

Symbols in shapes: A actions, S sequences, n profiles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.dimension import Dimension, is_exact_enough, local_dimension
from eqbench.equilibria.identity import outcome_distribution
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan, shares
from eqbench.model.tree import FloatArray

if TYPE_CHECKING:
    from eqbench.model.payoff_model import PayoffModel

SAME_PLAN = 1e-9  # difference of weights up to which two are repetitions
SAME_OUTCOME = 1e-6  # difference of probabilities up to which two play alike
ROUNDING = 1e-9  # regret between two exact equilibria, as a share of the payoff range
NOISE = 10.0  # and how much more than theirs it may be if they are inexact
_BETWEEN = (0.5, 0.25, 0.75)
_MOST_CHECKS = 20_000  # of what lies between two; more would take seconds
_MOST_PLACES = 2_000  # whose distances are compared
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
    game: Game, profiles: Sequence[FloatArray], regrets: Sequence[float]
) -> list[Component]:
    """Connected pieces that equilibria of a game belong to, in the order of their first members.

    Two are connected if their outcome distributions agree within 1e-6, or if what lies between
    them is an equilibrium too: mixtures of their realization plans, in three places, with a
    regret that is rounding or at most ten times theirs. So a continuum counts once, unless it is
    bent and its members are too few to show that. Of very many isolated ones the nearest 20,000
    pairs are looked at.

    Parameters
    ----------
    profiles : behavior of each, float64 (A,)
    regrets : measured max regret of each, in payoff units
    """
    if not profiles:
        return []
    form = game.sequence_form
    plans = np.array([RealizationPlan.of(form, behavior).weights for behavior in profiles])
    order = np.argsort(regrets, kind="stable")
    places, where = _different(plans, order, SAME_PLAN)
    outcomes = np.array([outcome_distribution(game, profiles[i]) for i in places])
    _, group = _different(outcomes, np.arange(len(places)), SAME_OUTCOME)
    _join(game, plans[places], [regrets[i] for i in places], group)
    label = group[where]
    found = []
    for each in dict.fromkeys(label.tolist()):
        members = np.flatnonzero(label == each).tolist()
        exact = [i for i in members if is_exact_enough(game, regrets[i])][:_MOST_DIMENSIONS]
        dimensions = [local_dimension(game, profiles[i]) for i in exact]
        found.append(Component(tuple(members), _usual(dimensions)))
    return found


def _different(
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
