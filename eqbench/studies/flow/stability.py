"""Say which equilibria and other rest points of a game are stable under a flow."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.dynamics import Dynamics, Flow
from eqbench.equilibria import Identifier
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import LoadedSolver, Registry
from eqbench.solver import obstacle_of
from eqbench.studies.branch import action_labels
from eqbench.studies.flow.sets import SAMPLES, Examiner, Looked, verdicts
from eqbench.studies.flow.spectrum import TOLERANCE, blocks, spread
from eqbench.studies.study_files import write_texts
from eqbench.text import cell_text

POINTS = "points.csv"
LEADING = ("parameter", "name")


class Point(NamedTuple):
    """A profile that was looked at.

    Attributes
    ----------
    value : float or None
        Of the payoff parameter; None if the game has none.
    name : str
        Of its entry in the summary.
    payoffs : float64 (N,)
        As the verifier finds them.
    behavior : float64 (A,)
    """

    value: float | None
    name: str
    payoffs: Sequence[float]
    behavior: FloatArray


def columns(tree: GameTree) -> list[str]:
    """Names of all columns: parameter, name, ``u:P1``…, and frequencies ``P1|4:|bet``…"""
    labels = action_labels(tree)
    frequencies = [labels[action] for action in Choices.of(tree).action.tolist()]
    names = [*LEADING, *(f"u:{player}" for player in tree.players), *frequencies]
    return list(map(cell_text, names))


def points_text(game: Game, points: Sequence[Point]) -> str:
    """The table, one row per profile, with all digits; the parameter is empty without one."""
    free = Choices.of(game.tree).action
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns(game.tree))
    for point in points:
        value = "" if point.value is None else repr(point.value)
        numbers = (*point.payoffs, *point.behavior[free].tolist())
        writer.writerow((value, cell_text(point.name), *map(repr, numbers)))
    return file.getvalue()


_STEPS = 40
_SINGULAR = 1e-12
_HOPELESS = 0.9  # share of the differences in growth that no step removes
_MOST_OF_THE_WAY = 0.9  # to the border of a face that a step may go
_CONVERGED = 1e-13  # of gains on the face, as a share of the largest derivative of one
_INSIDE = 1e-6  # least frequency of a rest point inside its face
_SAME = 1e-7


def rest_points(
    game: Game,
    flow: Flow,
    draws: int,
    seed: int,
    interrupted: Callable[[], bool] = lambda: False,
) -> tuple[list[Looked], dict[str, Any]]:
    """Distinct rest points that are no equilibria, and figures of the search as JSON values.

    Each draw takes a share at random; so many information sets are mixed, on a random set of their
    actions, and the others pure. From a point inside that face Newton's method looks for one
    where played actions do equally well.

    Parameters
    ----------
    draws : how many faces
    interrupted : asked before each draw whether to stop
    """
    rng, examiner = np.random.default_rng(seed), Examiner(game, flow)
    found: list[Looked] = []
    arrived = equilibria = drawn = 0
    while drawn < draws and not interrupted():
        drawn += 1
        behavior = _rest_point(flow, _random_point(flow.choices, rng))
        if behavior is None:
            continue
        looked = examiner.look(behavior)
        arrived += looked.spectrum.is_rest_point
        equilibria += looked.spectrum.is_rest_point and looked.is_equilibrium
        if looked.spectrum.is_rest_point and not looked.is_equilibrium and _is_new(looked, found):
            found.append(looked)
    growth = [float(each.spectrum.eigenvalues.real.max()) for each in found]
    figures = {
        "draws": drawn,
        "arrived": int(arrived),
        "equilibria": int(equilibria),
        "distinct": len(found),
        "faces": len({tuple(each.behavior > 0) for each in found}),
        "unstable": sum(each.spectrum.counts["unstable"] > 0 for each in found),
        "unstable_across": sum(each.spectrum.across > 0 for each in found),
        "least_growth": min(growth, default=None),
    }
    return found, figures


def entries(game: Game, found: list[Looked]) -> list[dict[str, Any]]:
    """Rest points as JSON values, with the frequencies of actions that are played."""
    labels = action_labels(game.tree)
    free = np.concatenate([np.zeros(0, dtype=np.int64), *blocks(Choices.of(game.tree))])
    return [
        each.to_json()
        | {"frequencies": {labels[a]: float(each.behavior[a]) for a in free if each.behavior[a]}}
        for each in found
    ]


def _random_point(choices: Choices, rng: np.random.Generator) -> FloatArray:
    """A point (A,) inside a face, both at random."""
    behavior, mixed = np.ones(choices.n_actions), rng.random()
    for block in blocks(choices):
        played = rng.integers(2, len(block) + 1) if rng.random() < mixed else 1
        behavior[block] = 0.0
        behavior[rng.permutation(block)[:played]] = rng.dirichlet(np.ones(played))
    return behavior


def _rest_point(flow: Flow, behavior: FloatArray) -> FloatArray | None:
    """The rest point (A,) that Newton's method finds inside a face; None if it finds none."""
    choices = flow.choices
    first, action = _pairs(choices, behavior)
    everywhere = spread(choices.action, choices.first, choices.n_actions)
    directions = spread(action, first, choices.n_actions)
    played = np.append(action, first)
    for _ in range(_STEPS):
        gains, slopes = _gains(flow, behavior, everywhere)
        gap = gains[action] - gains[first]
        limit = _CONVERGED * max(np.abs(slopes).max(initial=0.0), np.finfo(float).tiny)
        if np.abs(gap).max(initial=0.0) <= limit:
            return behavior
        matrix = (slopes[action] - slopes[first]) @ directions[choices.action]
        change = np.linalg.lstsq(matrix, -gap, rcond=_SINGULAR)[0]
        if np.linalg.norm(matrix @ change + gap) > _HOPELESS * np.linalg.norm(gap):
            return None  # for example where a gain is the same all over the face
        step = directions @ change
        falling = step < 0
        way = (behavior[falling] / -step[falling]).min(initial=np.inf)
        behavior = np.maximum(behavior + min(1.0, _MOST_OF_THE_WAY * way) * step, 0.0)
        if behavior[played].min(initial=1.0) < _INSIDE:
            return None
    return None


def _gains(
    flow: Flow, behavior: FloatArray, everywhere: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Growth rates of the frequencies (A,), and derivatives (A, F); zero where nothing is played.

    A frequency f that changes by v grows at the rate v / f.
    """
    inverse = np.divide(1.0, behavior, out=np.zeros_like(behavior), where=behavior > 0)
    rates = everywhere @ flow.frequency_velocity(behavior) * inverse
    slopes = (everywhere @ flow.frequency_jacobian(behavior)) * inverse[:, None]
    slopes -= (rates * inverse)[:, None] * everywhere
    return rates, slopes


def _pairs(choices: Choices, behavior: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First played action of each information set, and the others, for each of the others."""
    first, action = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for block in blocks(choices):
        played = block[behavior[block] > 0]
        action.append(played[1:])
        first.append(np.full(len(played) - 1, played[0]))
    return np.concatenate(first), np.concatenate(action)


def _is_new(looked: Looked, found: list[Looked]) -> bool:
    return all(np.abs(looked.behavior - each.behavior).max() > _SAME for each in found)


SCHEMA = "eqbench.stability/1"
SUMMARY = "summary.json"


class GivenProfile(NamedTuple):
    """A profile in its interchange form, and the name under which it is shown."""

    name: str
    data: Any


@dataclass(frozen=True)
class StabilityRequest:
    """What is looked at.

    Attributes
    ----------
    game, solver : specs
    profiles : beside the published equilibria
    rest_points : how many faces are searched for rest points that are no equilibria
    samples : members drawn at random from each published set
    seed : of these and of the faces
    parameter : name of the payoff parameter; empty if it is that of the game
    at : values of the parameter; empty if the game is taken as it is
    """

    game: str
    solver: str
    profiles: tuple[GivenProfile, ...] = ()
    rest_points: int = 0
    samples: int = SAMPLES
    seed: int = 0
    parameter: str = ""
    at: tuple[Fraction, ...] = ()


@dataclass(frozen=True, eq=False)
class StabilitySetting:
    """A request with the games and the solver that it names."""

    request: StabilityRequest
    games: tuple[Game, ...]
    solver: LoadedSolver

    @classmethod
    def of(
        cls,
        registry: Registry,
        request: StabilityRequest,
        *,
        max_nodes: int = DEFAULT_MAX_NODES,
    ) -> StabilitySetting:
        """The games, one per value of the parameter, and the solver, whose method is a flow.

        Raises
        ------
        UsageError
            If the game has no such parameter or refuses a value, the solver has no flow or does
            not take the game, or profiles are given together with values.
        SolverUnavailableError
            If the solver cannot run here.
        """
        game = registry.load_game(request.game, max_nodes=max_nodes)
        solver = registry.load_solver(request.solver)
        if not hasattr(solver.instance, "flow"):
            raise UsageError(f"the method of {solver.entry.name} is no flow; replicator's is")
        obstacle = obstacle_of(solver.instance, game)
        if obstacle is not None:
            status, reason = obstacle
            raise (SolverUnavailableError if status == "unavailable" else UsageError)(reason)
        return cls(request, tuple(_games(registry, request, game)), solver)


def _games(registry: Registry, request: StabilityRequest, game: Game) -> list[Game]:
    name = game.tree.payoffs.parameter
    if request.parameter and not request.at:
        raise UsageError(
            f"--parameter {request.parameter} needs the values that it shall take; give --at"
        )
    if request.parameter and request.parameter != name:
        has = f"its parameter is {name!r}" if name else "it has none"
        raise UsageError(f"{game.spec} has no parameter {request.parameter!r}; {has}")
    if not request.at:
        return [game]
    if name is None:
        raise UsageError(f"{game.spec} has no payoff parameter; leave out --at")
    if request.profiles:
        raise UsageError(
            "a profile belongs to one value of the parameter; give that value in --game and leave "
            "out --at"
        )
    games = [game.at(**{name: value}) for value in request.at]
    for each in games:
        registry.describe_game(each.spec)  # the game checks its options
    return games


@dataclass(frozen=True, eq=False)
class Stability:
    """What a study found.

    Attributes
    ----------
    document : the summary as JSON values
    game : the first one that was looked at
    points : profile of each entry of the summary, the member that speaks for a published set
    """

    document: dict[str, Any]
    game: Game
    points: tuple[Point, ...]

    def write(self, folder: Path) -> None:
        """Write the summary and the points into the folder of a study.

        Raises
        ------
        StoreError
            If they cannot be written.
        """
        summary = json.dumps(self.document, indent=2, allow_nan=False)
        texts = {SUMMARY: f"{summary}\n", POINTS: points_text(self.game, self.points)}
        write_texts(folder, texts)


def examine(
    setting: StabilitySetting, interrupted: Callable[[], bool] = lambda: False
) -> Stability:
    """What all that a request names is under the flow, at each value of the parameter.

    Parameters
    ----------
    interrupted : asked again and again whether to stop; what there is until then is kept

    Raises
    ------
    UsageError
        If a profile does not fit the game or is no rest point, or there is nothing to look at.
    """
    request, solver = setting.request, setting.solver
    dynamics: Dynamics = solver.instance
    found: list[dict[str, Any]] = []
    resting: list[dict[str, Any]] = []
    points: list[Point] = []
    for game in setting.games:
        if interrupted():
            break
        flow, value = dynamics.flow(game), _value(game)
        for each in verdicts(game, flow, samples=request.samples, seed=request.seed):
            found.append(each.to_json())
            points.append(_point(value, each.name, each.representative))
        for given in request.profiles:
            entry, looked = _given(game, Examiner(game, flow), given)
            found.append(entry)
            points.append(_point(value, given.name, looked))
        if request.rest_points:
            others, figures = rest_points(
                game, flow, request.rest_points, request.seed, interrupted
            )
            resting.append({"value": value} | figures | {"points": entries(game, others)})
            points += [
                _point(value, f"rest point {number}", looked)
                for number, looked in enumerate(others, start=1)
            ]
    if not (found or resting or interrupted()):
        raise UsageError(
            f"no equilibria of {setting.games[0].spec} were published; give some with --profile, "
            "or look for rest points with --rest-points"
        )
    document = _settled(setting) | {
        "finished": not interrupted(),
        "equilibria": found,
        "rest_points": resting,
    }
    return Stability(document, setting.games[0], tuple(points))


def _settled(setting: StabilitySetting) -> dict[str, Any]:
    """What was looked at and how, as JSON values."""
    request, game = setting.request, setting.games[0]
    return {
        "schema": SCHEMA,
        "game": game.spec if not request.at else request.game,
        "solver": setting.solver.spec,
        "players": list(game.tree.players),
        "parameter": game.tree.payoffs.parameter,
        "at": [float(value) for value in request.at],
        "tolerance": TOLERANCE,
        "samples": request.samples,
        "seed": request.seed,
    }


def _point(value: float | None, name: str, looked: Looked) -> Point:
    return Point(value, name, looked.payoffs, looked.behavior)


def _value(game: Game) -> float | None:
    value = game.tree.payoffs.value
    return None if value is None else float(value)


def _given(game: Game, examiner: Examiner, given: GivenProfile) -> tuple[dict[str, Any], Looked]:
    """What a given profile is, as JSON values, and as it was looked at."""
    profile = profile_from_json(game.tree, given.data)
    looked = examiner.look(profile.probabilities)
    if not looked.spectrum.is_rest_point:
        raise UsageError(_moves(game, examiner, given.name, looked))
    behavior = BehaviorProfile.of(game.tree, looked.behavior)
    identity = Identifier(game).identify(behavior, looked.max_regret)
    entry = {
        "name": given.name,
        "value": _value(game),
        **looked.to_json(),
        "identity": identity and identity.to_json(),
    }
    return entry, looked


def _moves(game: Game, examiner: Examiner, name: str, looked: Looked) -> str:
    """Why a profile is refused."""
    flow, labels = examiner.flow, action_labels(game.tree)
    velocity = flow.frequency_velocity(looked.behavior)
    fastest = int(np.argmax(np.abs(velocity)))
    advice = "give all its digits, for example as ncp, logit or arclength have polished them"
    if looked.is_equilibrium:
        advice = (
            "so it is an equilibrium, but actions that are played where its own play never leads "
            "differ in value, or digits are missing; logit gives equilibria that rest"
        )
    return (
        f"the profile {name} is no rest point: the frequency of "
        f"{labels[flow.choices.action[fastest]]} changes at {velocity[fastest]:.3g} per unit of "
        f"time, and {TOLERANCE * looked.spectrum.scale:.3g} is rounding; its max regret is "
        f"{looked.max_regret:.3g}: {advice}"
    )
