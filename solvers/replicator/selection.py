"""Which integrator a game gets, and how integrations of it are begun."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .dop853 import Dop853
from .integrators import Integration
from .lsoda import Lsoda
from .taylor import Expressions, obstacle, pays

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray

    from .kernels import Field


def integrator_for(game: Game, wanted: str) -> str:
    """Name of the integrator that is used: `wanted`, or what `auto` comes to."""
    if wanted != "auto":
        return wanted
    return "heyoka" if pays(game) and obstacle() is None else "dop853"


def beginner(
    name: str, field: Field, tolerance: float
) -> Callable[[FloatArray, float], Integration]:
    """What begins integrations, from a vector (M,) and a time.

    The vector is log-odds, profits and, if one is followed, a tangent.
    """
    if name == "heyoka":
        return Expressions(field, tolerance).begin
    compiled: dict[str, Callable[..., Integration]] = {"lsoda": Lsoda, "dop853": Dop853}
    return partial(compiled[name], field, tolerance)
