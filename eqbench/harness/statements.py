"""Is a profile an equilibrium, and in this set of them: if not, who gains, and what fails."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.documents import checked
from eqbench.equilibria import KnownSet, connected_components, known_sets
from eqbench.equilibria.expressions import alternatives, compile_expression
from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.identity import SeenProfile, outcome_distribution
from eqbench.equilibria.nearest import nearest_member
from eqbench.errors import UsageError, first_of, nearest
from eqbench.harness.inprocess import load_profile, verify
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.rational import short_figure
from eqbench.model.tree import FloatArray, GameTree, sum_by
from eqbench.registry import default_registry
from eqbench.store.stored_profiles import identified_as, in_run, named_profile, profile_of_cell
from eqbench.verification import DEFAULT_TOLERANCE, Verification, certify
from eqbench.verification.sweep import TreeSweep


class Deviation(NamedTuple):
    """A better action at an information set, and the share of its player's regret from there."""

    player: str
    infoset: str
    action: str
    gain: Any


def deviations(play: Play) -> list[Deviation]:
    """All gains above the tolerance, the largest first; those of a player sum to their regret.

    At sets that their own play admits with probability r, the gain is r times the counterfactual
    value of the best action less that of what is played, both followed by a best response.
    """
    tree, found, last_own = play.tree, [], TreeSweep(play.tree).last_own
    for player, name in enumerate(tree.players):
        reach = play.reach(play.mover == player)[tree.terminals]
        value = sum_by(last_own[player], reach * play.payoffs[:, player], tree.n_actions + 1)[1:]
        for i in reversed(tree.infosets_of(player)):  # later decisions stand behind earlier ones
            here = slice(tree.action_start[i], tree.action_start[i + 1])
            best = int(np.argmax(value[here]))
            gain = play.own[i] * (value[here][best] - play.frequency[here] @ value[here])
            if gain > play.tolerance:
                labels = tree.infoset_labels[i], tree.infoset_actions[i][best]
                found.append(Deviation(name, *labels, gain))
            if (above := tree.infoset_parent[i]) >= 0:
                value[above] += value[here][best]
    return sorted(found, key=lambda each: -each.gain)


class NotAnEquilibriumError(AssertionError):
    """Somebody gains by deviating: `verdict` is the measurement, `deviations` say who and where."""

    def __init__(self, verdict: Verification, deviations: Sequence[Deviation]) -> None:
        self.verdict, self.deviations = verdict, deviations
        gains = [f"{who} {short_figure(g)} at {at!r} by {how}" for who, at, how, g in deviations]
        most = short_figure(verdict.max_regret)
        super().__init__(f"no equilibrium: max regret {most}; there gains {first_of(gains, 6)}")


@checked
def assert_equilibrium(
    game: Game | GameTree | str, profile: Any, tolerance: float = DEFAULT_TOLERANCE
) -> Verification:
    """Measure a profile, and raise an AssertionError that says who gains where, if anybody does.

    What is known exactly, as are profiles in dictionaries and files, is measured in Fractions.

    Parameters
    ----------
    game, profile : as of :func:`eqbench.verify`, with its errors
    tolerance : share of the payoff scale that a player may gain; 0 asks for a proof

    Raises
    ------
    NotAnEquilibriumError
        Also under ``python -O``.
    UsageError
        If the tolerance is no number >= 0.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.assert_equilibrium("kuhn2", eqbench.solve("kuhn2", "sequence_lp")).max_regret < 1e-9
    True
    """
    _check(tolerance)
    game = default_registry().load_game(game) if isinstance(game, str) else game
    tree, profile = game.tree if isinstance(game, Game) else game, load_profile(game, profile)
    exact = tree.exact and (profile.exact is not None or tree.is_wide)
    verdict = verify(tree, profile, exact=exact)
    if verdict.max_regret <= (tolerance and tolerance * tree.payoff_scale):  # may be infinite
        return verdict
    play = Play.exactly(tree, profile) if exact else Play.of(tree, profile, tolerance=0, unplayed=0)
    raise NotAnEquilibriumError(verdict, deviations(play))


def _check(tolerance: float) -> None:
    if not tolerance >= 0:  # nan neither
        raise UsageError(f"tolerance={tolerance}; choose a number >= 0, where 0 is exact")


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


@checked
def contains(
    name: str, profile: Any, game: Game | str | None = None, tolerance: float = TOLERANCE
) -> Membership:
    """Decide whether a profile is in a published set of equilibria, or in a computed component.

    Of a published set all frequencies count, off the path of play too.

    Parameters
    ----------
    name : of a set, such as ``szafron:c11=0``, or what several begin with; or ``RUN/cluster:2`` or
        ``RUN/CELL``, for what is connected with equilibria of a run
    profile : as in :func:`load_profile`, with its errors
    game : Game or spec; that which the profile names unless given
    tolerance : how far conditions of a published set may be missed; 0 decides in Fractions

    Raises
    ------
    UsageError
        If there is no such set, the cell holds no equilibrium, the game is not known, the tolerance
        is no number >= 0, or Fractions cannot decide.

    Examples
    --------
    >>> import eqbench
    >>> uniform = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    >>> found = eqbench.contains("kuhn2", uniform)
    >>> bool(found), found.broken[0].condition, found.broken[0].left
    (False, 'Q_bets == 0', 0.5)
    """
    _check(tolerance)
    given = getattr(profile, "profile", profile)
    given = named_profile(str(given))[0] if isinstance(given, str | Path) else given
    known_as = given.get("game") if isinstance(given, dict) else getattr(given, "spec", None)
    game = known_as if game is None else game
    if not isinstance(game, Game | str) or game == "":
        raise UsageError("which game? give its spec, or a profile that names it")
    game = default_registry().load_game(game) if isinstance(game, str) else game
    own = load_profile(game, given)
    if parts := in_run(name):
        files = identified_as(*parts, game)
        if not files and parts[1].startswith("cluster:"):
            hint = f"eqbench report {parts[0]} lists its equilibria"
            raise UsageError(f"{parts[0]} has no {parts[1]} of {game.spec}; {hint}")
        files = files or [profile_of_cell(*parts)[0]]
        return _in_component(game, name, [own, *(load_profile(game, file) for file in files)])
    known = known_sets(game)
    sets = [each for each in known if f"{each.name}:".startswith(f"{name}:")]
    if not sets:
        hint = nearest(name, {each.name for each in known}, "of a run it is RUN/cluster:1")
        raise UsageError(f"{game.spec} has no published set {name!r}: {hint}")
    try:
        return _in_published(game, sets, own, tolerance)
    except ArithmeticError:
        raise UsageError(f"{name} is not rational; give a tolerance above 0") from None


def _in_component(game: Game, name: str, profiles: Sequence[BehaviorProfile]) -> Membership:
    """Membership of the first of some profiles in the component of the others, as in clusters."""
    behavior = [profile.probabilities for profile in profiles]
    measured = (certify(game.tree, own) or verify(game, own) for own in profiles)
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


def _in_published(
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
    figures = float(verify(game, profile).max_regret), seen.distance(own, parameters), gaps
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
