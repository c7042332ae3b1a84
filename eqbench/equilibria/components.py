"""Equilibria that belong together: connected pieces of the set of equilibria.

Symbols in shapes: A actions, S sequences, Z columns of the sequence form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eqbench.equilibria.dimension import Dimension, local_dimension
from eqbench.equilibria.identity import outcome_distribution
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray

if TYPE_CHECKING:
    from eqbench.model.payoff_model import PayoffModel

SAME_OUTCOME = 1e-6  # difference of probabilities up to which two play alike
ROUNDING = 1e-9  # regret between two exact equilibria, as a share of the payoff range
NOISE = 10.0  # and how much more than theirs it may be if they are inexact
_BETWEEN = (0.5, 0.25, 0.75)
_MOST_PAIRS = 20_000


@dataclass(frozen=True)
class Component:
    """Equilibria that are one up to behavior off the path of play, or lie in one continuum.

    Attributes
    ----------
    members : their positions in the sequence that was given, ascending
    dimension : of the set of equilibria around most of them, None in games that are too large
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
    bent and its members are too few to show that. Of very many the nearest 20,000 pairs are
    looked at.

    Parameters
    ----------
    profiles : behavior of each, float64 (A,)
    regrets : measured max regret of each, in payoff units
    """
    form, model = game.sequence_form, game.payoff_model()
    plans = [RealizationPlan.of(form, behavior).weights for behavior in profiles]
    outcomes = np.array([outcome_distribution(game, behavior) for behavior in profiles])
    rounding = ROUNDING * game.tree.payoff_range
    group = np.arange(len(profiles))
    for distance, i, j in _pairs(outcomes):
        if group[i] == group[j]:
            continue
        allowed = max(rounding, NOISE * max(regrets[i], regrets[j]))
        if distance <= SAME_OUTCOME or _equilibria_between(model, plans[i], plans[j], allowed):
            group[group == group[j]] = group[i]
    found = []
    for label in dict.fromkeys(group.tolist()):
        members = np.flatnonzero(group == label).tolist()
        dimensions = [local_dimension(game, profiles[index]) for index in members]
        found.append(Component(tuple(members), _usual(dimensions)))
    return found


def _pairs(outcomes: FloatArray) -> list[tuple[float, int, int]]:
    """Pairs with the largest difference between their outcomes (Z,), the nearest first."""
    pairs = [
        (float(np.abs(outcomes[i] - outcomes[j]).max()), i, j)
        for i in range(len(outcomes))
        for j in range(i + 1, len(outcomes))
    ]
    return sorted(pairs)[:_MOST_PAIRS]


def _equilibria_between(
    model: PayoffModel, first: FloatArray, second: FloatArray, allowed: float
) -> bool:
    """Whether mixtures of two realization plans (S,) have no regret above what is allowed."""
    for share in _BETWEEN:
        mixture = RealizationPlan((1 - share) * first + share * second)
        if model.regrets(mixture.to_behavior(model.form)).max() > allowed:
            return False
    return True


def _usual(dimensions: Sequence[Dimension | None]) -> Dimension | None:
    """The dimension that most members have; the larger one in a draw."""
    counts = Counter(dimension for dimension in dimensions if dimension is not None)
    if not counts:
        return None
    return max(counts, key=lambda d: (counts[d], d.total, d.on_path))
