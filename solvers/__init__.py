"""Built-in solvers, installed as `eqbench.solvers`.

Their classes can be imported from here, and are loaded when they are first used.
"""

from __future__ import annotations

from eqbench.builtin import built_in_class, class_modules


def __getattr__(name: str) -> type:
    return built_in_class("solver", name)


def __dir__() -> list[str]:
    return list(class_modules("solver"))
