"""eqbench: which equilibria does each method find, how good are they, what did they cost?

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; importing typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

    from eqbench.api.catalog import list_games, list_solvers
    from eqbench.api.peers import from_gambit, from_openspiel, gambit_line, to_gambit, to_openspiel
    from eqbench.api.profiles import (
        NotAnEquilibriumError,
        assert_equilibrium,
        contains,
        identify,
        kind,
        load_profile,
        verify,
    )
    from eqbench.api.runs import Run, load_summary, run
    from eqbench.api.studies import crossplay, qre, ranges, simulate, stability, trace
    from eqbench.errors import (
        DocumentError,
        EqbenchError,
        GameFormatError,
        GameTooLargeError,
        ImperfectRecallError,
        ProfileError,
        SolverUnavailableError,
        SpecError,
        StoreError,
        UsageError,
    )
    from eqbench.harness.experiment import Experiment, read_experiment
    from eqbench.harness.inprocess import solve
    from eqbench.harness.request import Request
    from eqbench.model.builder import TreeBuilder
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.tree import GameTree
    from eqbench.registry import load_game, load_solver, register_game, register_solver
    from eqbench.solver import Availability, Budget, Candidate, Limits, Termination
    from eqbench.store.results import load_equilibria, load_results, load_traces

    __version__: str

_NAMES = {
    "eqbench.api.catalog": "list_games list_solvers",
    "eqbench.api.peers": "from_gambit from_openspiel gambit_line to_gambit to_openspiel",
    "eqbench.api.profiles": "NotAnEquilibriumError assert_equilibrium contains identify kind "
    "load_profile verify",
    "eqbench.api.runs": "Run load_summary run",
    "eqbench.api.studies": "crossplay qre ranges simulate stability trace",
    "eqbench.errors": "DocumentError EqbenchError GameFormatError GameTooLargeError "
    "ImperfectRecallError ProfileError SolverUnavailableError SpecError StoreError UsageError",
    "eqbench.harness.experiment": "Experiment read_experiment",
    "eqbench.harness.inprocess": "solve",
    "eqbench.harness.request": "Request",
    "eqbench.model.builder": "TreeBuilder",
    "eqbench.model.game": "Game",
    "eqbench.model.profile": "BehaviorProfile",
    "eqbench.model.tree": "GameTree",
    "eqbench.registry": "load_game load_solver register_game register_solver",
    "eqbench.solver": "Availability Budget Candidate Limits Termination",
    "eqbench.store.results": "load_equilibria load_results load_traces",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [  # type checkers and linters read names one by one
    "Availability",
    "BehaviorProfile",
    "Budget",
    "Candidate",
    "DocumentError",
    "EqbenchError",
    "Experiment",
    "Game",
    "GameFormatError",
    "GameTooLargeError",
    "GameTree",
    "ImperfectRecallError",
    "Limits",
    "NotAnEquilibriumError",
    "ProfileError",
    "Request",
    "Run",
    "SolverUnavailableError",
    "SpecError",
    "StoreError",
    "Termination",
    "TreeBuilder",
    "UsageError",
    "__version__",
    "assert_equilibrium",
    "contains",
    "crossplay",
    "from_gambit",
    "from_openspiel",
    "gambit_line",
    "identify",
    "kind",
    "list_games",
    "list_solvers",
    "load_equilibria",
    "load_game",
    "load_profile",
    "load_results",
    "load_solver",
    "load_summary",
    "load_traces",
    "qre",
    "ranges",
    "read_experiment",
    "register_game",
    "register_solver",
    "run",
    "simulate",
    "solve",
    "stability",
    "to_gambit",
    "to_openspiel",
    "trace",
    "verify",
]


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
    return __all__
