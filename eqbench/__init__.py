"""eqbench: which equilibria does each method find, how good are they, what did they cost?

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; importing typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from eqbench.harness.experiment import Experiment, read_experiment
    from eqbench.harness.inprocess import identify, solve, verify
    from eqbench.harness.request import Request
    from eqbench.harness.start import run
    from eqbench.model.builder import TreeBuilder
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.tree import GameTree
    from eqbench.registry import load_game, load_solver, register_game, register_solver
    from eqbench.solver import Availability, Budget, Candidate, Termination
    from eqbench.store.results import load_equilibria, load_results, load_traces

    __version__: str

__all__ = [
    "Availability",
    "BehaviorProfile",
    "Budget",
    "Candidate",
    "Experiment",
    "Game",
    "GameTree",
    "Request",
    "Termination",
    "TreeBuilder",
    "__version__",
    "identify",
    "load_equilibria",
    "load_game",
    "load_results",
    "load_solver",
    "load_traces",
    "read_experiment",
    "register_game",
    "register_solver",
    "run",
    "solve",
    "verify",
]

_MODULES = {
    "Availability": "eqbench.solver",
    "BehaviorProfile": "eqbench.model.profile",
    "Budget": "eqbench.solver",
    "Candidate": "eqbench.solver",
    "Experiment": "eqbench.harness.experiment",
    "Game": "eqbench.model.game",
    "GameTree": "eqbench.model.tree",
    "Request": "eqbench.harness.request",
    "Termination": "eqbench.solver",
    "TreeBuilder": "eqbench.model.builder",
    "identify": "eqbench.harness.inprocess",
    "load_equilibria": "eqbench.store.results",
    "load_game": "eqbench.registry",
    "load_results": "eqbench.store.results",
    "load_solver": "eqbench.registry",
    "load_traces": "eqbench.store.results",
    "read_experiment": "eqbench.harness.experiment",
    "register_game": "eqbench.registry",
    "register_solver": "eqbench.registry",
    "run": "eqbench.harness.start",
    "solve": "eqbench.harness.inprocess",
    "verify": "eqbench.harness.inprocess",
}


def __getattr__(name: str) -> Any:
    """Public name, imported now and kept."""
    import importlib
    import importlib.metadata

    if name == "__version__":
        value: Any = importlib.metadata.version("eqbench")
    elif name in _MODULES:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'eqbench' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
