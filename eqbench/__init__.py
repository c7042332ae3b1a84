"""eqbench: which equilibria does each method find, how good are they, what did they cost?

The public names stand in ``__init__.pyi``. They are imported when they are first used, so that
importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

# Lines `from MODULE import NAME as NAME`, and `def NAME(  # MODULE` where keywords are written out.
_MODULES = {}
with open(f"{__file__}i", encoding="utf-8") as _stub:
    for _line in _stub:
        match _line.split():
            case ["from", _module, "import", _name, "as", _]:
                _MODULES[_name] = _module
            case ["def", _name, "#", _module]:
                _MODULES[_name.rstrip("(")] = _module

__all__ = list(_MODULES)
__all__ += ["__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name, and keep it."""
    import importlib
    import importlib.metadata

    if name == "__version__":
        value: Any = importlib.metadata.version("eqbench")
    elif name not in _MODULES:
        raise AttributeError(f"module 'eqbench' has no attribute {name!r}")
    elif _MODULES[name] == "eqbench":
        value = importlib.import_module(f"eqbench.{name}")
    else:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
