"""Optional packages: the extra of eqbench that brings each, and messages where one is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eqbench.errors import MissingPackageError

# By extra, as pyproject.toml declares them: distributions by the names that are imported.
EXTRAS: dict[str, dict[str, str]] = {
    "fast": {"numba": "numba"},
    "plots": {"matplotlib": "matplotlib", "PIL": "pillow", "vl_convert": "vl-convert-python"},
    "frames": {"pandas": "pandas"},
    "gambit": {"pygambit": "pygambit"},
    "gurobi": {"gurobipy": "gurobipy"},
    "scip": {"pyscipopt": "PySCIPOpt"},
    "peers": {"pyspiel": "open_spiel", "open_spiel": "open_spiel"},
    "liteefg": {"LiteEFG": "LiteEFG"},
    "ode": {"heyoka": "heyoka"},
    "exact": {"flint": "python-flint"},
    "prove": {"highspy": "highspy"},
    "cluster": {"distributed": "distributed"},
}
_PLACES = {name: (extra, own[name]) for extra, own in EXTRAS.items() for name in own}


def installation_of(need: str) -> str:
    """Command that installs a package, by the name that is imported; of ``a or b`` either."""
    places = ((name, _PLACES.get(name)) for name in need.split(" or "))
    return "pip install " + " or ".join(f"'eqbench[{at[0]}]'" if at else n for n, at in places)


def reason_of(module: str, error: BaseException, purpose: str = "", remedy: str = "") -> str:
    """Why a package cannot be imported, what needs it if that is given, and what installs it."""
    root = module.partition(".")[0]
    distribution = _PLACES.get(root, ("", root))[1]
    is_absent = isinstance(error, ModuleNotFoundError) and error.name in (root, module)
    state = "is not installed" if is_absent else f"cannot be imported ({error})"
    subject = f"{purpose} needs {distribution}, which" if purpose else distribution
    return f"{subject} {state}: {remedy or installation_of(root)}"


@contextmanager
def needed_for(purpose: str) -> Iterator[None]:
    """Raise MissingPackageError, with what is not possible, where an optional package is missing.

    Other errors of imports are left as they are.
    """
    try:
        yield
    except ImportError as error:
        root = (error.name or "").partition(".")[0]
        if root not in _PLACES:
            raise
        raise MissingPackageError(reason_of(root, error, purpose)) from None
