"""Which solver takes which game: every solver is asked itself, by `supports`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from eqbench.errors import EqbenchError, SolverUnavailableError
from eqbench.plugins import Entry, describe
from eqbench.registry import Registry
from eqbench.solver import obstacle_of, refusal_of

if TYPE_CHECKING:
    from eqbench.model.game import Game

Share = Literal["yes", "some", "no"]

# Small games of each kind, and one whose matrices are large, that solvers are asked about. Those
# of OpenSpiel are what OpenSpiel's own solvers take of a kind; without it they are left out.
KINDS = {
    "two players, zero sum": ("matching_pennies", "rock_paper_scissors", "kuhn2"),
    "two players, general sum": (
        *("battle_of_sexes", "shapley", "random_tree(players=2,depth=4,seed=1)"),
        "openspiel:matrix_pd",
    ),
    "three or more players": ("jordan", "kuhn3", "random_tree(players=3,depth=4,seed=1)"),
    "strategic form": ("battle_of_sexes", "rock_paper_scissors", "random(players=3)", "jordan"),
    "perfect information": (
        *("random_tree(depth=3,information=1)", "random_tree(players=3,depth=3,information=1)"),
        "openspiel:nim(pile_sizes=1;2)",
    ),
    "large": ("liars_dice(sides=5)",),
}


def obstacles(game: Game, registry: Registry) -> dict[str, tuple[str, str] | None]:
    """Status and reason of each solver that cannot take a game, None of those that can."""
    return {entry.name: _obstacle(entry, game, registry) for entry in registry.solvers()}


def scopes(registry: Registry, *names: str) -> dict[str, dict[str, Share]]:
    """Share of the games of each kind that built-in solvers take, by solver and kind.

    What is installed does not matter, as far as a solver can tell without it.
    """
    games = {kind: _games(registry, specs) for kind, specs in KINDS.items()}
    solvers = {
        entry.name: registry.load_solver(entry.name).instance
        for entry in registry.solvers()
        if entry.builtin and (entry.name in names or not names)
    }
    return {
        name: {
            kind: _share([refusal_of(solver, game) is None for game in asked])
            for kind, asked in games.items()
        }
        for name, solver in solvers.items()
    }


def _obstacle(entry: Entry, game: Game, registry: Registry) -> tuple[str, str] | None:
    """Why a solver cannot take a game; one that cannot be asked is unavailable."""
    try:
        return obstacle_of(registry.load_solver(entry.name).instance, game)
    except SolverUnavailableError as error:
        return "unavailable", str(error)
    except Exception as error:  # of a plugin
        if entry.builtin:
            raise
        return "unavailable", f"it cannot be asked: {describe(error)}"


def _games(registry: Registry, specs: tuple[str, ...]) -> list[Game]:
    """Games of a kind, without those of OpenSpiel where it is not installed."""
    games = []
    for spec in specs:
        try:
            games.append(registry.load_game(spec))
        except EqbenchError:
            if not spec.startswith("openspiel:"):
                raise
    return games


def _share(answers: list[bool]) -> Share:
    return "yes" if all(answers) else "some" if any(answers) else "no"
