"""What the authors' program computes, by our solvers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eqbench.harness.inprocess import solve
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry, load_game
from eqbench.requests import Limits
from eqbench.spec import parse_spec
from eqbench.verification import verify

# our solvers by their names of the methods
METHODS = {
    "CFR+": "cfr_plus",
    "DCFR": "dcfr",
    "PCFR+": "pcfr_plus_alternating",
    "DCFR+": "dcfr_plus(shift=3/2)",
    "PDCFR+": "pdcfr_plus",
}
ITERATIONS = {"kuhn2": 200, "leduc": 30}
_EXPONENTS = {"linear": "1", "quadratic": "2"}


def program(folder: Path, jobs: Mapping[str, Path], *, full: bool) -> dict[str, Any]:
    """Exploitability of averages by game and method, and the exponents of the methods."""
    return {
        "exploitability": {
            game: {name: _exploitability(game, spec) for name, spec in METHODS.items()}
            for game in ITERATIONS
        },
        "exponents": {name: _exponents(spec) for name, spec in METHODS.items()},
    }


def _exploitability(game: str, solver: str) -> float:
    limits, loaded = Limits(iterations=ITERATIONS[game], target=0.0), load_game(game)
    found = solve(loaded, solver, limits).equilibria
    profiles: list[BehaviorProfile] = [each.profile for each in found if each.claim == "average"]
    return float(verify(loaded.tree, profiles[0]).nash_conv) / loaded.tree.n_players


def _exponents(solver: str) -> dict[str, str]:
    """Of the discount of positive regrets, if there is any, and of the weights of the average."""
    options = dict(parse_spec(default_registry().load_solver(solver).spec).options)
    averaging = str(options["averaging"])
    found = {"gamma": _EXPONENTS.get(averaging, averaging)}
    if str(options["alpha"]) != "none":  # what discounts nothing has none
        found["alpha"] = str(options["alpha"])
    return found
