"""What a trace's request names: the game, the range of its parameter, and who follows branches."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from eqbench.continuation import Continuation
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.game import Game
from eqbench.registry import LoadedSolver
from eqbench.solver import obstacle_of
from eqbench.spec import Spec, parse_spec
from eqbench.studies.requests import MOST, TraceRequest


@dataclass(frozen=True, eq=False)
class Setting:
    """A request with what it names.

    Attributes
    ----------
    request : TraceRequest
    game : Game
    parameter : str
        Name of the parameter of the game.
    solver : LoadedSolver
    continuation : Continuation
        Of the game, made by the solver.
    at : tuple of Fraction
        Values at which the crossings of the branch become equilibria.
    """

    request: TraceRequest
    game: Game
    parameter: str
    solver: LoadedSolver
    continuation: Continuation
    at: tuple[Fraction, ...]

    @classmethod
    def of(cls, request: TraceRequest) -> Setting:
        """The game and the continuation that a request asks for.

        Raises
        ------
        UsageError
            If the range is empty, a value lies outside it or is refused by the game, the game
            has no such parameter, or the solver follows no branches or does not take the game.
        SolverUnavailableError
            If the solver cannot run here.
        """
        at = tuple(dict.fromkeys(Fraction(value) for value in request.at if value != MOST))
        _check_range(request.first, request.last, at)
        registry = request.registry()
        game = registry.load_game(request.game, max_nodes=request.max_nodes)
        name = _parameter(game, request.parameter)
        for value in (request.first, request.last):
            registry.describe_game(game.at(**{name: value}).spec)  # the game checks its options
        solver = registry.load_solver(_solver_spec(request))
        return cls(request, game, name, solver, _continuation(solver, game), at)

    def game_at(self, value: Fraction) -> Game:
        """The game at an exact value of the parameter."""
        return self.game.at(**{self.parameter: value})


def _check_range(first: Fraction, last: Fraction, at: tuple[Fraction, ...]) -> None:
    low, high = sorted((first, last))
    if low == high:
        raise UsageError(f"the range from {first} to {last} is empty; give two values")
    for value in at:
        if not low <= value <= high:
            raise UsageError(f"--at {value} lies outside the range from {low} to {high}")


def _parameter(game: Game, asked: str) -> str:
    """Name of the game's parameter, if it is the one that is asked for."""
    name = game.tree.payoffs.parameter
    if name is None:
        raise UsageError(
            f"{game.spec} has no payoff parameter to follow a branch along; choose a game with "
            "one, for example skp or kuhn3 with their pot"
        )
    if asked and asked != name:
        raise UsageError(f"{game.spec} has no parameter {asked!r}; its parameter is {name!r}")
    return name


def _solver_spec(request: TraceRequest) -> Spec:
    """Spec of the solver with the options that stand for some of its own."""
    spec, epsilon = parse_spec(request.solver), request.epsilon
    options = {
        "epsilon": None if epsilon is None else Fraction(repr(epsilon)),
        "regularization": request.regularization,
        "derivative": request.derivative,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    for name in chosen.keys() & dict(spec.options).keys():
        raise UsageError(f"{name} is given by --{name} and in --solver {spec}; give it once")
    return spec.replace(**chosen)


def _continuation(solver: LoadedSolver, game: Game) -> Continuation:
    offer = getattr(solver.instance, "continuation", None)
    if offer is None:
        raise UsageError(
            f"{solver.entry.name} does not follow branches: it offers no `continuation`; "
            "arclength does"
        )
    obstacle = obstacle_of(solver.instance, game)
    if obstacle is not None:
        status, reason = obstacle
        raise (SolverUnavailableError if status == "unavailable" else UsageError)(reason)
    return offer(game)
