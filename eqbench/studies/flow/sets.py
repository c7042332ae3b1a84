"""Members of published sets of equilibria that stand for all of them when a flow is linearized.

What holds inside a set may fail at its corners, where inequalities become equations, and the
other way round. So a member inside, the corners, and members drawn at random are looked at.

Symbols in shapes: V named frequencies, K parameters, C constraints, n points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from eqbench.dynamics import Flow
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.corners import vertices
from eqbench.equilibria.nearest import nearest_member
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.studies.flow.spectrum import COUNTS, Spectrum, on_face, spectrum
from eqbench.studies.requests import SAMPLES
from eqbench.verification import Verifier

Place = Literal["inside", "corner", "sample"]

_FEASIBLE = 1e-10
_STEP = 0.25
_GOLDEN = (5**0.5 - 1) / 2
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

    At a corner as many independent constraints just hold as there are parameters. Constraints may
    be irrational, as they are at most values of a payoff parameter.
    """
    count = len(known.parameters)
    base = np.full(count, 0.25)
    other = 0.1 + 0.4 * (_GOLDEN * np.arange(1, count + 1) % 1)  # no entry is that of the base
    steps = _STEP * np.eye(count)  # long ones: where there are corners, quotients are exact
    ahead, behind = (
        np.array([known.violations(base + sign * step) for step in steps]).T for sign in (1, -1)
    )
    start, rows = known.violations(base), (ahead - behind) / (2 * _STEP)
    if np.abs(start + rows @ (other - base) - known.violations(other)).max() > _LINEAR:
        return None
    moving = np.abs(rows).max(axis=1) > _LINEAR
    rows, limit = rows[moving], (rows @ base - start)[moving]
    points = [point for _, point in vertices(rows, limit, _FEASIBLE)]
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


# Regret of an equilibrium as a share of the payoff range: what formulas in floats may miss.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Looked:
    """A profile that was looked at.

    Attributes
    ----------
    behavior : float64 (A,)
    payoffs, max_regret : by the verifier, in payoff units
    is_equilibrium : whether that regret is rounding
    spectrum : what the flow does near it
    place : where in its set it lies; None if it is of no set
    figures : by which people name it
    """

    behavior: FloatArray
    payoffs: list[float]
    max_regret: float
    is_equilibrium: bool
    spectrum: Spectrum
    place: Place | None = None
    figures: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, all but the behavior."""
        return self.spectrum.to_json() | {
            "across": float(self.spectrum.across) if np.isfinite(self.spectrum.across) else None,
            "payoffs": self.payoffs,
            "max_regret": self.max_regret,
            "is_equilibrium": self.is_equilibrium,
            "place": self.place,
            "parameters": self.figures,
        }


def look(verifier: Verifier, flow: Flow, behavior: FloatArray) -> Looked:
    """Measure a profile (A,), and what the flow does near it."""
    behavior = on_face(flow.choices, np.clip(behavior, 0.0, 1.0))
    measured = verifier.verify(BehaviorProfile.of(verifier.tree, behavior))
    payoffs, regret = list(map(float, measured.payoffs)), float(measured.max_regret)
    is_equilibrium = regret <= ROUNDING * verifier.tree.payoff_range
    return Looked(behavior, payoffs, regret, is_equilibrium, spectrum(flow, behavior))


@dataclass(frozen=True, eq=False)
class SetVerdict:
    """The stability of a published set under a flow.

    Attributes
    ----------
    name : such as ``skp:4``
    value : of the payoff parameter; None if the game has none
    looked : members that were looked at, equilibria and rest points all of them, at least one;
        the first speaks for the set and lies inside it, unless that one was refuted
    refuted : how many members are no equilibria or no rest points by measurement
    """

    name: str
    value: Fraction | None
    looked: tuple[Looked, ...]
    refuted: int

    @property
    def representative(self) -> Looked:
        """The member inside the set."""
        return self.looked[0]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values: the representative, and what the others have in common with it."""
        counts = [each.spectrum.counts for each in self.looked]
        verdicts = Counter(each.spectrum.verdict for each in self.looked)
        inside = self.representative.spectrum.verdict
        deviating = [
            {"place": each.place, "parameters": each.figures, **count, "verdict": verdict}
            for each, count in zip(self.looked, counts, strict=True)
            if (verdict := each.spectrum.verdict) != inside
        ]
        return {
            "name": self.name,
            "value": None if self.value is None else float(self.value),
            **self.representative.to_json(),
            "members": {
                "examined": len(self.looked),
                "refuted": self.refuted,
                "places": dict(Counter(str(each.place) for each in self.looked)),
                **{k: [min(c[k] for c in counts), max(c[k] for c in counts)] for k in COUNTS},
                "verdicts": dict(verdicts),
                "same_everywhere": not deviating,
                "deviating": deviating,
            },
        }


def verdicts(game: Game, flow: Flow, *, samples: int = SAMPLES, seed: int = 0) -> list[SetVerdict]:
    """Say how stable each published set of equilibria of a game is under a flow, in their order.

    Members that are no equilibria or no rest points by measurement are left out and counted.

    Parameters
    ----------
    samples : members drawn at random from each set, beside one inside and the corners
    seed : of these

    Raises
    ------
    UsageError
        If none is left of a set: such a flow is no model of how the game is played.
    """
    verifier = Verifier(game.tree)
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):  # the pieces of one set share its name, the first speaks for it
        pieces.setdefault(known.name, []).append(known)
    found = []
    for name, sets in pieces.items():
        rng = np.random.default_rng(seed)
        looked = [
            replace(
                look(verifier, flow, known.layout.behavior(known.frequencies(parameters))),
                place=place,
                figures=known.shown(parameters),
            )
            for known in sets
            for place, parameters in members(known, samples, rng)
        ]
        held = [each for each in looked if each.is_equilibrium and each.spectrum.is_rest_point]
        if not held:
            raise UsageError(
                f"the flow does not rest at any member of {name} that was looked at "
                f"({len(looked)}); choose a solver whose flow rests at equilibria, such as "
                "replicator"
            )
        refuted = len(looked) - len(held)
        found.append(SetVerdict(name, game.tree.payoffs.value, tuple(held), refuted))
    return found
