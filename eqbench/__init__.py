"""eqbench: which equilibria does each method find, how good are they, what did they cost?

The public names stand in ``__init__.pyi``. They are imported when they are first used, so that
importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than all else here
if TYPE_CHECKING:
    from typing import Any

with open(f"{__file__}i", encoding="utf-8") as _stub:  # lines `from MODULE import NAME as NAME`
    _MODULES = {line.split()[3]: line.split()[1] for line in _stub if line.startswith("from ")}

__all__ = list(_MODULES)
__all__ += ["__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name, and keep it."""
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
