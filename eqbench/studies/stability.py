"""Stability of equilibria under a flow: which game, which profiles, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.dynamics import Dynamics
from eqbench.equilibria import Identifier
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.registry import LoadedSolver, Registry
from eqbench.solver import obstacle_of
from eqbench.studies.branch_points import action_labels
from eqbench.studies.stability_points import POINTS, Point, points_text
from eqbench.studies.stability_rest_points import entries, rest_points
from eqbench.studies.stability_sets import SAMPLES, Examiner, Looked, verdicts
from eqbench.studies.stability_spectrum import TOLERANCE
from eqbench.studies.study_files import write_texts

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
