"""Is a profile in a set of equilibria; if not, which conditions it breaks and who is nearest."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria.expressions import Relation, alternatives, compile_expression
from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.identity import SeenProfile, connected_components, outcome_distribution
from eqbench.equilibria.nearest import nearest_member
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.tree import FloatArray


class Broken(NamedTuple):
    """A condition of a published set that a profile breaks, such as ``K_bets == 3*alpha``.

    With the places of the frequencies in it, ``PLAYER|INFOSET|ACTION``, the values of its sides,
    and by how much they miss: 0 at an end that is excluded.
    """

    condition: str
    places: tuple[str, ...]
    left: Any
    right: Any
    by: Any


@dataclass(frozen=True)
class Membership:
    """Whether a profile is in a set; as a truth value that is what it says.

    Attributes
    ----------
    name : of the set
    broken : conditions that fail; empty for a component that was computed, which has none
    exact : whether these were decided in Fractions
    parameters : figures of the nearest member, if the set was published
    distance : largest difference of an outcome's probability to that member
    differences : of frequencies to it, as ``PLAYER|INFOSET|ACTION``, the largest first
    dimension : of the equilibria around it, if they were computed
    max_regret : of the profile, in payoff units; None if it was not measured
    """

    name: str
    contains: bool
    distance: float
    differences: dict[str, float]
    broken: tuple[Broken, ...] = ()
    exact: bool = False
    parameters: dict[str, float] = field(default_factory=dict)
    dimension: int | None = None
    max_regret: float | None = None

    def __bool__(self) -> bool:
        return self.contains

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; sides of conditions and by how much they miss are texts."""
        sides = Broken._fields[2:]
        broken = [
            own._asdict() | {side: str(getattr(own, side)) for side in sides} for own in self.broken
        ]
        return asdict(self) | {"broken": broken}


def in_published(
    game: Game, sets: Sequence[KnownSet], profile: BehaviorProfile, tolerance: float = TOLERANCE
) -> Membership:
    """Membership in that of some published sets which has a profile, or else is nearest.

    Every frequency counts, off the path of play too. With a tolerance of 0 a profile that is known
    exactly is decided in Fractions; IrrationalError if the set is not rational.
    """
    behavior, exact = profile.probabilities, None if tolerance else profile.exact
    seen, values = SeenProfile(game, sets[0].layout, behavior), exact or behavior.tolist()
    failed = {own.name: _broken(own, values, tolerance, exact=bool(exact)) for own in sets}
    candidates = [own for own in sets if not failed[own.name]] or sets
    near = [(own, nearest_member(own, seen.frequencies, seen.reach)) for own in candidates]
    own, parameters = min(near, key=lambda each: seen.distance(*each))
    gaps = behavior - own.layout.behavior(own.frequencies(parameters))
    figures = (seen.distance(own, parameters), _differences(game, gaps), failed[own.name])
    shown = own.shown(parameters)
    return Membership(own.name, not failed[own.name], *figures, bool(exact), shown)


def in_computed(
    game: Game,
    name: str,
    members: Sequence[FloatArray],
    profile: FloatArray,
    regrets: Sequence[float],
) -> Membership:
    """Membership in the component of equilibria that were computed, as clusters are made.

    Parameters
    ----------
    members, profile : behavior, float64 (A,)
    regrets : measured max regret of the members and, if it is an equilibrium, of the profile
    """
    gaps = outcome_distribution(game, profile) - [outcome_distribution(game, m) for m in members]
    distances = np.abs(gaps).max(axis=1)
    best, together = int(np.argmin(distances)), [*members, profile][: len(regrets)]
    parts = connected_components(game, together, regrets)
    part = next(each for each in parts if best in each.members)
    differences = _differences(game, profile - members[best])
    dimension = None if part.dimension is None else part.dimension.total
    is_member, distance = len(members) in part.members, float(distances[best])
    return Membership(name, is_member, distance, differences, dimension=dimension)


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
        sides = [_sides(each, names, exact=exact) for each in alternatives(text)]
        by, is_open, left, right = min(sides, key=lambda side: side[0])
        if not (by < -tolerance if is_open else by <= tolerance):
            used = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
            where = dict.fromkeys(places[name] for name in used if name in places)
            found.append(Broken(text, tuple(where), left, right, by))
    return tuple(found)


def _sides(relation: Relation, names: Mapping[str, Any], *, exact: bool) -> tuple[Any, ...]:
    """By how much a relation is missed, whether it excludes its end, and its sides."""
    sides = (compile_expression(side, exact=exact) for side in (relation.left, relation.right))
    left, right = (side(names) for side in sides)
    miss = {"<": left - right, ">": right - left, "=": abs(left - right)}[relation.sign[0]]
    return miss, len(relation.sign) == 1, left, right
