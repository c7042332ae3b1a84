"""What requests name: solvers with a method for studies, games at values, given profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.errors import UsageError
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.game import Game
from eqbench.registry import LoadedSolver
from eqbench.requests import GivenProfile
from eqbench.spec import Spec
from eqbench.studies.requests import FlowRequest, StudyRequest, TraceRequest

_OFFERED_BY = {"branch": "logit", "continuation": "arclength", "flow": "replicator"}
_OFFERED_BY["hand_by_hand"] = _OFFERED_BY["flow"]


def solver_for(request: StudyRequest, game: Game, spec: str | Spec, method: str) -> LoadedSolver:
    """Load a solver that has a method for studies.

    UsageError if it lacks that, or does not take the game; SolverUnavailableError if it cannot run
    here.
    """
    solver = request.registry().load_solver(spec)
    if not hasattr(solver.instance, method):
        raise UsageError(
            f"{solver.entry.name} offers no `{method}`, which this needs; "
            f"{_OFFERED_BY[method]} does"
        )
    solver.check(game)
    return solver


def games_at(request: FlowRequest | TraceRequest, values: Iterable[Fraction]) -> tuple[Game, ...]:
    """Load a game as it is, then at each value of its payoff parameter.

    UsageError if it has none, or another one than requested, or does not admit a value.
    """
    registry, wanted = request.registry(), tuple(dict.fromkeys(values))
    game = registry.load_game(request.game, max_nodes=request.max_nodes)
    known = game.tree.payoffs.parameter
    if request.parameter not in ("", known):
        has = f"its parameter is {known!r}" if known else "it has none"
        raise UsageError(f"{game.spec} has no parameter {request.parameter!r}; {has}")
    if known is None and wanted:
        raise UsageError(
            f"{game.spec} has no payoff parameter; choose a game with one, for example skp or "
            "kuhn3 with their pot"
        )
    games = tuple(game.at(**{str(known): value}) for value in wanted)
    for each in games:
        registry.describe_game(each.spec)  # the game refuses values that it does not admit
    return game, *games


def games_of_flow(request: FlowRequest) -> tuple[Game, ...]:
    """Load the game at each value of the parameter, or once as it is.

    UsageError as `games_at`, and for games whose tree may not be built.
    """
    game, *games = games_at(request, request.at)
    if isinstance(tree := game.tree, UnbuiltTree) and tree.n_nodes > tree.most:
        raise UsageError(
            f"regimes and rest points need Jacobians, and these the tree, whose {tree.n_nodes:,} "
            f"nodes are more than the {tree.most:,} allowed; allow more with --max-nodes, or "
            "follow trajectories in Python (docs/explanation/replicator.md)"
        )
    if request.parameter and not games:
        raise UsageError(
            f"--parameter {request.parameter} needs the values that it shall take; give --at"
        )
    return tuple(games) or (game,)


def value_of(game: Game) -> float | None:
    value = game.tree.payoffs.value
    return None if value is None else float(value)


def by_name(profiles: Sequence[GivenProfile]) -> dict[str, Any]:
    """Return given profiles by name: files without folders, if that tells them apart."""
    names = {given: "standard input" if given == "-" else Path(given).name for given, _ in profiles}
    times = Counter(names.values())
    return {names[given] if times[names[given]] == 1 else given: data for given, data in profiles}
