"""What the studies of flows have in common: solvers, games at values of a parameter, profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.registry import LoadedSolver
from eqbench.studies.requests import FlowRequest, GivenProfile


def solver_and_games(
    request: FlowRequest, method: str = "flow"
) -> tuple[LoadedSolver, tuple[Game, ...]]:
    """Load the solver, and the game at each value of the parameter, or once as it is.

    UsageError if the solver lacks the method, `flow` or `hand_by_hand`, or does not take the game,
    or this lacks the parameter or a value of it; SolverUnavailableError if it cannot run here.
    """
    registry = request.registry()
    game = registry.load_game(request.game, max_nodes=request.max_nodes)
    solver = registry.load_solver(request.solver)
    if not hasattr(solver.instance, method):
        by_hand = "" if method == "flow" else " that could be followed with --model hands"
        raise UsageError(
            f"the method of {solver.entry.name} is no flow{by_hand}; that of replicator is"
        )
    solver.check(game)
    known = game.tree.payoffs.parameter
    if request.parameter not in ("", known):
        has = f"its parameter is {known!r}" if known else "it has none"
        raise UsageError(f"{game.spec} has no parameter {request.parameter!r}; {has}")
    if not request.at:
        if request.parameter:
            raise UsageError(
                f"--parameter {request.parameter} needs the values that it shall take; give --at"
            )
        return solver, (game,)
    if known is None:
        raise UsageError(f"{game.spec} has no payoff parameter; leave out --at")
    games = tuple(game.at(**{known: value}) for value in dict.fromkeys(request.at))
    for each in games:
        registry.describe_game(each.spec)  # the game refuses values that it does not admit
    return solver, games


def value_of(game: Game) -> float | None:
    value = game.tree.payoffs.value
    return None if value is None else float(value)


def by_name(profiles: Sequence[GivenProfile]) -> dict[str, Any]:
    """Return given profiles by name: files without folders, if that tells them apart."""
    names = {given: "standard input" if given == "-" else Path(given).name for given, _ in profiles}
    times = Counter(names.values())
    return {names[given] if times[names[given]] == 1 else given: data for given, data in profiles}
