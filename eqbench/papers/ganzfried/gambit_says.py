"""What pygambit itself says of its methods, without the guards of eqbench's solvers around them."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from eqbench.model.gambit_text import efg_text
from eqbench.registry import load_game

REDUCED = "kuhn3_reduced"
# small enough for every method that takes trees of three players to end at once
SMALL = "random_tree(players=3,depth=3,actions=2,seed=1)"
TWO_PLAYERS = ("enummixed", "lcp", "lp")
AGENTS = ("enumpure", "liap")


def gambit_says(_folder: Path, _jobs: Path, *, full: bool) -> dict[str, Any]:
    """How pygambit answers each method, empty text where it ran; the extent changes nothing.

    `refusals` are of methods for two players, called with the reduced game; `agents` of the
    methods for trees that look for agent equilibria, called with a small tree of three players.
    """
    del full
    try:
        import pygambit
    except ImportError:
        return {"unavailable": "pygambit is not installed; pip install 'eqbench[gambit]'"}
    reduced, small = (
        pygambit.read_efg(StringIO(efg_text(load_game(spec).tree))) for spec in (REDUCED, SMALL)
    )
    starts = {"enumpure": small, "liap": small.mixed_behavior_profile()}
    solve = pygambit.nash
    return {
        "version": pygambit.__version__,
        "refusals": {name: _answer(solve, f"{name}_solve", reduced) for name in TWO_PLAYERS},
        "agents": {name: _answer(solve, f"{name}_agent_solve", starts[name]) for name in AGENTS},
    }


def _answer(module: Any, function: str, start: Any) -> str:
    """What it said when it was called; empty if it came to its end."""
    if not hasattr(module, function):
        return f"pygambit has no {function}"
    try:
        getattr(module, function)(start)
    # whatever it raises is the answer
    except Exception as error:
        return str(error) or type(error).__name__
    return ""
