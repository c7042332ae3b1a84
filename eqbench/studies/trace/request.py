"""What a trace is asked for, and the game and the method that this names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, NotRequired, TypedDict

import msgspec

from eqbench.continuation import Continuation
from eqbench.documents import Count
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.game import Game
from eqbench.registry import LoadedSolver, Registry
from eqbench.solver import Availability, availability_for, availability_of, refusal_of

# as Fraction writes it
_Exact = Annotated[str, msgspec.Meta(pattern="^-?[0-9]+(/[1-9][0-9]*)?$")]


class StoredRequest(TypedDict):
    """A request in plain JSON values; numbers of the range are texts, and so stay exact."""

    game: str
    solver: str
    first: _Exact
    last: _Exact
    at: list[_Exact]
    plugins: list[str]
    parameter: NotRequired[str]
    at_most: NotRequired[bool]
    starts: NotRequired[Count]
    seed: NotRequired[int]


@dataclass(frozen=True)
class TraceRequest:
    """What is traced, and where equilibria are looked at.

    Attributes
    ----------
    game, solver : specs
    first, last : values of the parameter at which the branch begins and towards which it is
        followed; the smaller one may be the last
    parameter : name of the parameter; that of the game if empty
    at : values at which the crossings of the branch become equilibria
    at_most : whether to do so too where the branch has most points at one value
    starts : random starts at each of these values, to look beside the branch
    seed : of the random starts
    plugins : files that the specs may refer to
    """

    game: str
    solver: str
    first: Fraction
    last: Fraction
    parameter: str = ""
    at: tuple[Fraction, ...] = ()
    at_most: bool = False
    starts: int = 0
    seed: int = 0
    plugins: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What is stored; a :class:`StoredRequest`."""
        return self.__dict__ | {
            "first": str(self.first),
            "last": str(self.last),
            "at": [str(value) for value in self.at],
            "plugins": list(self.plugins),
        }

    @classmethod
    def from_json(cls, data: StoredRequest) -> TraceRequest:
        """The request that `to_json` wrote; ValueError if a number is of absurd size."""
        plain: dict[str, Any] = {
            **data,
            "first": Fraction(data["first"]),
            "last": Fraction(data["last"]),
            "at": tuple(map(Fraction, data["at"])),
            "plugins": tuple(data["plugins"]),
        }
        return cls(**plain)


@dataclass(frozen=True, eq=False)
class Setting:
    """A request with what it names.

    Attributes
    ----------
    request : TraceRequest
        With canonical specs and the name of the parameter.
    game : Game
    solver : LoadedSolver
    continuation : Continuation
        Of the game, made by the solver.
    """

    request: TraceRequest
    game: Game
    solver: LoadedSolver
    continuation: Continuation

    @classmethod
    def of(cls, registry: Registry, request: TraceRequest) -> Setting:
        """The game and the continuation that a request asks for.

        Raises
        ------
        UsageError
            If the range is empty, a value lies outside it or is refused by the game, the game
            has no such parameter, or the solver follows no branches or does not take the game.
        SolverUnavailableError
            If the solver cannot run here.
        """
        _check_range(request)
        game = registry.load_game(request.game)
        name = _parameter(game, request.parameter)
        for value in (request.first, request.last):
            registry.describe_game(game.at(**{name: value}).spec)  # the game checks its options
        solver = registry.load_solver(request.solver)
        continuation = _continuation(solver, game)
        complete = replace(request, game=game.spec, solver=solver.spec, parameter=name)
        return cls(complete, game, solver, continuation)

    def game_at(self, value: Fraction) -> Game:
        """The game at an exact value of the parameter."""
        return self.game.at(**{self.request.parameter: value})


def _check_range(request: TraceRequest) -> None:
    low, high = sorted((request.first, request.last))
    if low == high:
        raise UsageError(
            f"the range from {request.first} to {request.last} is empty; give two values"
        )
    for value in request.at:
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


def _continuation(solver: LoadedSolver, game: Game) -> Continuation:
    _check_available(solver, availability_of(solver.instance))
    offer = getattr(solver.instance, "continuation", None)
    if offer is None:
        raise UsageError(
            f"{solver.entry.name} does not follow branches: it offers no `continuation`; "
            "arclength does"
        )
    refusal = refusal_of(solver.instance, game)
    if refusal is not None:
        raise UsageError(refusal)
    _check_available(solver, availability_for(solver.instance, game))
    return offer(game)


def _check_available(solver: LoadedSolver, available: Availability) -> None:
    if available.state != "available":
        raise SolverUnavailableError(f"{solver.spec} cannot run here: {available.reason}")
