"""`eqbench check`: does a game or a solver keep its contract?"""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import json_option, plugin_option, spec_completion
from eqbench.cli.output import put, put_json


@click.group()
def check() -> None:
    """Run the contract suite on a game or a solver, for example on one of your own.

    Exit code: 0 all promises kept, 1 some broken, 2 usage.
    """


@check.command("solver")
@click.argument("spec", shell_complete=spec_completion("solver"))
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="SPEC",
    shell_complete=spec_completion("game"),
    help="Try it on this game instead of the usual five; may be given several times.",
)
@plugin_option
@json_option
@click.pass_context
def check_solver(
    ctx: click.Context,
    /,
    spec: str,
    games: tuple[str, ...],
    plugins: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check a solver: reproducible, within its budget, no false claims, and so on.

    Every attempt runs in a process of its own, so that a solver that crashes or hangs only
    breaks a promise. It takes about ten seconds.
    """
    from eqbench.registry import default_registry
    from eqbench.testing import solver_suite

    registry = default_registry().with_plugins(plugins)
    registry.solver_entry(spec)
    for game in games:
        registry.game_entry(game)
    chosen = games or solver_suite.GAMES
    results = solver_suite.check_solver(spec, games=chosen, plugins=plugins, isolated=True)
    _report(ctx, "solver", spec, results, as_json=as_json)


@check.command("game")
@click.argument("spec", shell_complete=spec_completion("game"))
@plugin_option
@json_option
@click.pass_context
def check_game(ctx: click.Context, /, spec: str, plugins: tuple[str, ...], as_json: bool) -> None:
    """Check a game: reproducible, tree and arrays agree, profiles survive, and so on.

    Choose small options: some checks take long on large games.
    """
    from eqbench.registry import default_registry
    from eqbench.testing import game_suite

    default_registry().with_plugins(plugins).game_entry(spec)
    results = game_suite.check_game(spec, plugins=plugins, isolated=True)
    _report(ctx, "game", spec, results, as_json=as_json)


def _report(ctx: click.Context, kind: str, spec: str, results: Any, *, as_json: bool) -> None:
    """Print results as they come; exit with 1 if a promise is broken."""
    from dataclasses import asdict

    from eqbench.errors import counted

    done = []
    for result in results:
        done.append(result)
        if not as_json:
            put(str(result))
    broken = sum(result.passed is False for result in done)
    if as_json:
        document = {
            "schema": "eqbench.check/1",
            "kind": kind,
            "spec": spec,
            "passed": not broken,
            "promises": [asdict(result) for result in done],
        }
        put_json(document)
    else:
        kept = sum(result.passed is True for result in done)
        rest = len(done) - kept - broken
        more = f", {rest} not applicable" if rest else ""
        put(f"\n{spec}: {counted(kept, 'promise')} kept, {broken} broken{more}")
    ctx.exit(1 if broken else 0)
