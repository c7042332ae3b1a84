"""Members of published sets of equilibria that stand for all of them.

What holds inside a set may fail at its corners, where inequalities become equations, and the
other way round. So a member inside, the corners, and members drawn at random are looked at.

Symbols in shapes: V named frequencies, K parameters, C constraints, n points.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from eqbench.equilibria.known import linear_constraints, nearest_member
from eqbench.equilibria.reference import KnownSet
from eqbench.model.polytope import vertices
from eqbench.model.tree import FloatArray

Place = Literal["inside", "corner", "sample"]

_FEASIBLE = 1e-10
_LINEAR = 1e-9  # what rounding may make of zero slopes
_DIRECTIONS = 24  # in which a set with curved borders is searched for its ends
_TRIES = 20  # per sample, of mixtures that may leave a set with curved borders


class Member(NamedTuple):
    """Parameters float64 (K,) of a member, and where in its set it lies."""

    place: Place
    parameters: FloatArray


def members(known: KnownSet, samples: int, rng: np.random.Generator) -> list[Member]:
    """One member inside a set, then its corners, then so many at random.

    A set that is a point has one, and a piece of a set that is empty has none. The corners are
    those of the parameters. In place of the corners, a set with curved borders has members that
    are nearest to random profiles; its member inside is as far from the borders as a mixture got.
    """
    count = len(known.parameters)
    if not count:
        return [Member("inside", np.zeros(0))]
    ends = corners(known)
    if ends is None:
        ends = _ends(known, rng)
    if not len(ends):
        return []
    mixtures = list(islice(_mixtures(known, ends, rng), max(samples, 1)))
    middle = ends.mean(axis=0)
    if not _is_member(known, middle):
        middle = max(mixtures or ends, key=lambda point: _room(known, ends, point))
    found = [Member("inside", middle)]
    if len(ends) > 1:
        found += [Member("corner", end) for end in ends]
        found += [Member("sample", mixture) for mixture in mixtures[:samples]]
    return found


def corners(known: KnownSet) -> FloatArray | None:
    """Parameters (n, K) of the corners of a set; None if its constraints are not linear.

    Constraints may be irrational, as they are at most values of a payoff parameter.
    """
    count = len(known.parameters)
    constraints = linear_constraints(known, known.formulas, 0.25, _LINEAR)
    if constraints is None:
        return None
    points = vertices(constraints, count, 1.0, tolerance=_FEASIBLE)
    return _distinct(known, np.array(points).reshape(-1, count)) + 0.0  # no negative zeros


def _ends(known: KnownSet, rng: np.random.Generator) -> FloatArray:
    """Members nearest to profiles drawn at random, float64 (n, K)."""
    size = len(known.layout.variables)
    draws = rng.integers(0, 2, (_DIRECTIONS, size)).astype(float)
    points = [nearest_member(known, draw, rng.random(size)) for draw in draws]
    return _distinct(known, np.array(points))


def _distinct(known: KnownSet, points: FloatArray) -> FloatArray:
    """Those of some points (n, K) that belong to the set, each once."""
    points = points[[_is_member(known, point) for point in points]]
    _, first = np.unique(np.round(points, 9), axis=0, return_index=True)
    return points[first]


def _is_member(known: KnownSet, point: FloatArray) -> bool:
    return bool(known.violations(point).max(initial=0.0) <= _FEASIBLE)


def _mixtures(known: KnownSet, ends: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Yield members that are mixtures (K,) of others (n, K), at random."""
    misses = 0
    while len(ends) > 1 and misses < _TRIES:
        mixture = rng.dirichlet(np.full(len(ends), 0.5)) @ ends
        if _is_member(known, mixture):
            misses = 0
            yield mixture
        else:
            misses += 1


def _room(known: KnownSet, ends: FloatArray, point: FloatArray) -> float:
    """Least distance of a point (K,) to a constraint that not all ends (n, K) just fulfill."""
    slack = np.array([-known.violations(end) for end in ends])
    loose = slack.max(axis=0) > _LINEAR
    return float(-known.violations(point)[loose].max(initial=-np.inf))
