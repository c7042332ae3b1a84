"""Which integrator a game gets, and how one is begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .dop853 import Dop853
from .integrators import Integration
from .lsoda import Lsoda
from .taylor import Taylor, is_installed, refusal

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray

    from .kernels import Field


def integrator_for(game: Game, wanted: str) -> str:
    """Name of the integrator that is used: `wanted`, or what `auto` comes to."""
    if wanted != "auto":
        return wanted
    return "heyoka" if is_installed() and refusal(game) is None else "dop853"


def integration(
    name: str, field: Field, state: FloatArray, start: float, *, tolerance: float
) -> Integration:
    """An integration of log-odds, profits and, if there is one, tangent (M,)."""
    known: dict[str, type[Integration]] = {"heyoka": Taylor, "lsoda": Lsoda, "dop853": Dop853}
    return known[name](field, state, start, tolerance)
