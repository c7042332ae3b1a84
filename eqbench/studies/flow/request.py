"""What a simulation is asked for: games, a solver whose method is a flow, and starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from eqbench.dynamics import Flow
from eqbench.errors import ProfileError, SolverUnavailableError, UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import LoadedSolver, Registry
from eqbench.solver import obstacle_of
from eqbench.spec import parse_spec
from eqbench.studies.branch import action_labels
from eqbench.studies.flow.regimes import HORIZON, SPACING

Model = Literal["ode", "hands"]
UNIFORM = "uniform"
HORIZON_BY_HAND = 1000.0  # instead of HORIZON; it takes seconds for each start
MOST_TIMES = 1_000_000  # of a trajectory; states of a hundred frequencies are then 0.8 GB


@dataclass(frozen=True)
class SimulationRequest:
    """Which trajectories are followed, and how far.

    Attributes
    ----------
    game, solver : specs
    model : `ode` for the flow itself, `hands` for repeated play that it imitates
    memory : hands that players remember, with `hands`
    random : how many starts are drawn at random: log-odds are normal
    seed : of the first of them; the others follow
    spread : standard deviation of their log-odds
    profiles : other starts, by name: the interchange form of a profile, or None for uniform
    parameter : payoff parameter of the game; empty for the one that it has
    at : its values, each with all starts; empty for that of the game
    time : how far
    every : distance of the times at which states are kept
    """

    game: str
    solver: str
    model: Model = "ode"
    memory: int = 20
    random: int = 3
    seed: int = 0
    spread: float = 1.0
    profiles: Mapping[str, Any] = field(default_factory=dict)
    parameter: str = ""
    at: tuple[Fraction, ...] = ()
    time: float = HORIZON
    every: float = SPACING

    @property
    def times(self) -> FloatArray:
        """Times at which states are kept, float64 (K,), equally far apart.

        Raises
        ------
        UsageError
            If there are fewer than two intervals, or more than a million.
        """
        intervals = round(self.time / self.every) if self.every > 0 else math.inf
        if not 2 <= intervals <= MOST_TIMES:
            raise UsageError(
                f"--time {self.time:g} with --every {self.every:g} makes {intervals:,} intervals; "
                f"choose 2 to {MOST_TIMES:,} of them"
            )
        return np.linspace(0.0, self.time, int(intervals) + 1)


@dataclass(frozen=True, eq=False)
class Start:
    """Where a trajectory begins: at a profile (A,), or at log-odds drawn at random.

    Attributes
    ----------
    seeds : of all that is random about it; a single one if it is drawn
    """

    name: str
    seeds: tuple[int, ...]
    behavior: FloatArray | None = None

    def state(self, flow: Flow, spread: float) -> FloatArray:
        """The state (F,) of this start."""
        if self.behavior is not None:
            return flow.state_of(self.behavior)
        return np.random.default_rng(*self.seeds).normal(0.0, spread, flow.choices.size)

    def generator(self, purpose: int) -> np.random.Generator:
        """A generator for a purpose, counted from 1, that is independent of all others."""
        return np.random.default_rng([*self.seeds, purpose])


@dataclass(frozen=True, eq=False)
class SimulationSetting:
    """A request with what it names.

    Attributes
    ----------
    games : the game at each value of the parameter, or once as it is
    parameter : its payoff parameter, if it has one
    starts : the same at each value
    """

    request: SimulationRequest
    games: tuple[Game, ...]
    parameter: str | None
    solver: LoadedSolver
    starts: tuple[Start, ...]

    @classmethod
    def of(
        cls, registry: Registry, request: SimulationRequest, *, max_nodes: int = DEFAULT_MAX_NODES
    ) -> SimulationSetting:
        """The games, the solver and the starts that a request names.

        Raises
        ------
        UsageError
            If the method of the solver is no flow, or it does not take the game; if a start
            lies on the boundary, or there is none; if the game lacks the parameter, or does not
            admit one of its values.
        SolverUnavailableError
            If the solver cannot run here.
        """
        _ = request.times  # refuses what would be too many
        game = registry.load_game(request.game, max_nodes=max_nodes)
        solver = registry.load_solver(parse_spec(request.solver))
        wanted = "flow" if request.model == "ode" else "hand_by_hand"
        if not hasattr(solver.instance, wanted):
            raise UsageError(
                f"the method of {solver.entry.name} is no flow that could be followed with "
                f"--model {request.model}; that of replicator is"
            )
        obstacle = obstacle_of(solver.instance, game)
        if obstacle is not None:
            status, reason = obstacle
            raise (SolverUnavailableError if status == "unavailable" else UsageError)(reason)
        if not Choices.of(game.tree).size:
            raise UsageError(
                f"nobody has a choice in {game.spec}, so nothing moves; choose another game"
            )
        starts = _starts(game.tree, request)
        if not starts:
            raise UsageError("no start was given; choose --starts 3, or --start uniform")
        # refuse options of the solver that do not fit the game before anything is written
        if request.model == "hands":
            solver.instance.hand_by_hand(game, request.memory)
        else:
            solver.instance.flow(game)
        games = _games(registry, game, request)
        return cls(request, games, game.tree.payoffs.parameter, solver, starts)


def _games(registry: Registry, game: Game, request: SimulationRequest) -> tuple[Game, ...]:
    """The game at each value of the parameter, or as it is."""
    known = game.tree.payoffs.parameter
    if request.parameter not in ("", known):
        has = f"its parameter is {known!r}" if known else "it has none"
        raise UsageError(f"{game.spec} has no parameter {request.parameter!r}; {has}")
    if not request.at:
        if request.parameter:
            raise UsageError(
                f"--parameter {request.parameter} needs the values that it shall take; give --at"
            )
        return (game,)
    if known is None:
        raise UsageError(f"{game.spec} has no payoff parameter; leave out --at")
    games = tuple(game.at(**{known: value}) for value in request.at)
    for each in games:
        registry.describe_game(each.spec)  # the game refuses values that it does not admit
    return games


def _starts(tree: GameTree, request: SimulationRequest) -> tuple[Start, ...]:
    named = []
    for position, (name, data) in enumerate(request.profiles.items(), start=1):
        try:
            profile = (
                BehaviorProfile.uniform(tree) if data is None else profile_from_json(tree, data)
            )
        except ProfileError as error:
            raise ProfileError(f"the start {name}: {error}") from None
        _check_inside(tree, profile.probabilities, name)
        named.append(Start(name, (request.seed, position), profile.probabilities))
    seeds = range(request.seed, request.seed + request.random)
    return (*named, *(Start(f"seed {seed}", (seed,)) for seed in seeds))


def _check_inside(tree: GameTree, behavior: FloatArray, name: str) -> None:
    """Refuse a profile with a frequency of 0 or 1 where there is a choice."""
    choices = np.repeat(np.diff(tree.action_start), np.diff(tree.action_start)) > 1
    outside = np.flatnonzero(choices & ((behavior <= 0) | (behavior >= 1)))
    if len(outside):
        labels = action_labels(tree)
        shown = ", ".join(f"{labels[action]} is {behavior[action]:g}" for action in outside[:5])
        more = f" and {len(outside) - 5} more" if len(outside) > 5 else ""
        raise UsageError(
            f"the start {name} lies on the boundary, where log-odds are infinite: {shown}{more}; "
            "give frequencies between 0 and 1, for example 1e-6 instead of 0"
        )
