"""Membership of a profile in a published set of equilibria, or in a computed component."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria.expressions import alternatives, compile_expression
from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.identity import SeenProfile, connected_components, outcome_distribution
from eqbench.equilibria.nearest import nearest_member
from eqbench.equilibria.reference import KnownSet
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.tree import FloatArray
from eqbench.verification import DEFAULT_TOLERANCE, Verifier, certify


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
    seen, values = SeenProfile(game, sets[0].layout, behavior), exact or behavior.tolist()
    failed = {own.name: _broken(own, values, tolerance, exact=bool(exact)) for own in sets}
    candidates = [own for own in sets if not failed[own.name]] or sets
    near = [(own, nearest_member(own, seen.frequencies, seen.reach)) for own in candidates]
    own, parameters = min(near, key=lambda each: seen.distance(*each))
    gaps = _differences(game, behavior - own.layout.behavior(own.frequencies(parameters)))
    max_regret = float(Verifier(game.tree).verify(profile).max_regret)
    figures = max_regret, seen.distance(own, parameters), gaps
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
        by, is_open, left, right = _least_missed(text, names, exact=exact)
        if not (by < -tolerance if is_open else by <= tolerance):  # also if it is not a number
            used = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
            where = dict.fromkeys(places[name] for name in used if name in places)
            found.append(Broken(text, tuple(where), left, right, by))
    return tuple(found)


def _least_missed(text: str, names: Mapping[str, Any], *, exact: bool) -> tuple[Any, ...]:
    """By how much a condition is missed, whether it excludes its end, and its two sides."""
    found = []
    for each in alternatives(text):
        left, right = (compile_expression(own, exact=exact)(names) for own in (each[0], each[2]))
        miss = {"<": left - right, ">": right - left, "=": abs(left - right)}[each.sign[0]]
        found.append((miss, len(each.sign) == 1, left, right))
    return min(found, key=lambda each: each[0])
