"""`eqbench check`: does a game or a solver keep its contract?"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import click

from eqbench.cli.options import Group, command
from eqbench.cli.output import put, put_json
from eqbench.registry import GameOptions, NameOptions, default_registry
from eqbench.requests import GAME, SOLVER, Json, Option

if TYPE_CHECKING:
    from eqbench.testing.bench import Result


class _Checks(Group):
    def meant(self, word: str) -> str:
        kind = default_registry().kind_of(word)
        return f"eqbench check {kind} {shlex.quote(word)}" if kind else ""


@click.group(cls=_Checks)
def check() -> None:
    """Run the contract suite on a game or a solver, for example on one of your own.

    Exit code: 0 all promises kept, 1 some broken, 2 usage.
    """


@dataclass(frozen=True)
class CheckSolverRequest(NameOptions):
    """Check a solver: reproducible, within its budget, no false claims, and so on.

    Every attempt runs in a process of its own, so that a solver that crashes or hangs only
    breaks a promise. It takes about ten seconds.
    """

    spec: Annotated[str, Option("Solver to check.", SOLVER, argument=True)]
    games: Annotated[
        tuple[str, ...], Option("Try it on this game instead of the usual five.", GAME, "game")
    ] = ()
    as_json: Json = False


@command(CheckSolverRequest, name="solver")
def check_solver(request: CheckSolverRequest) -> int:
    from eqbench.testing import solver_suite

    registry = request.registry()
    registry.solver_entry(request.spec)
    for game in request.games:
        registry.game_entry(game)
    results = solver_suite.check_solver(
        request.spec,
        games=request.games or solver_suite.GAMES,
        plugins=request.plugins,
        isolated=True,
    )
    return _report("solver", request.spec, results, as_json=request.as_json)


@dataclass(frozen=True)
class CheckGameRequest(GameOptions):
    """Check a game: reproducible, tree and arrays agree, profiles survive, and so on.

    Choose small options: some checks take long on large games.
    """

    spec: Annotated[str, Option("Game to check.", GAME, "game", argument=True, named=True)]
    as_json: Json = False


@command(CheckGameRequest, name="game")
def check_game(request: CheckGameRequest) -> int:
    from eqbench.testing import game_suite

    request.registry().game_entry(request.spec)
    results = game_suite.check_game(
        request.spec, plugins=request.plugins, isolated=True, max_nodes=request.max_nodes
    )
    return _report("game", request.spec, results, as_json=request.as_json)


check.add_command(check_solver)
check.add_command(check_game)


def _report(kind: str, spec: str, results: Iterable[Result], *, as_json: bool) -> int:
    """Print results as they come; return 1 if a promise is broken."""
    from eqbench.errors import counted

    done = []
    for result in results:
        done.append(result)
        if not as_json:
            put(str(result))
    broken = sum(result.passed is False for result in done)
    if as_json:
        head = {"schema": "eqbench.check/1", "kind": kind, "spec": spec, "passed": not broken}
        put_json(head | {"promises": [asdict(result) for result in done]})
    else:
        kept = sum(result.passed is True for result in done)
        rest = len(done) - kept - broken
        more = f", {rest} not applicable" if rest else ""
        put(f"\n{spec}: {counted(kept, 'promise')} kept, {broken} broken{more}")
    return int(broken > 0)
