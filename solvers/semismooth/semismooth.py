"""The solver: options, and which games are too large for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eqbench.errors import SpecError

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination

MEBIBYTE = 2**20
# A step on dense matrices of this size takes about a minute.
MOST_BYTES = 4 * 2**30


@dataclass(frozen=True)
class Semismooth:
    """Equilibria by a semismooth Newton method on the complementarity system in sequence form.

    A sequence is played with weight 0 or is as good as the best one, for any number of players
    (Ganzfried 2025). Fischer-Burmeister functions make equations of that, and regularized
    Newton steps with a line search solve them (De Luca, Facchinei and Kanzow 1996), from
    behavior at random until an equilibrium is found. Where a start ends without one it is
    given up. It does not tell whether there are more equilibria.

    Differences from De Luca et al.: the steps are those of Levenberg and Marquardt, since
    equilibria that form a continuum make Newton's matrix singular; the line search is
    nonmonotone; at a kink the derivative is one of the C-subdifferential.

    An iteration is a Newton step.

    Parameters
    ----------
    starts : most starts from behavior at random
    steps : most Newton steps from one start
    all : whether to make all starts and hand over all different equilibria
    """

    starts: int = 1000
    steps: int = 200
    all: bool = False

    def __post_init__(self) -> None:
        for name, value in (("starts", self.starts), ("steps", self.steps)):
            if value < 1:
                raise SpecError(f"{name}={value}; choose a number >= 1")

    def supports(self, game: Game) -> bool | str:
        """True, or how large the matrices of the game are."""
        return self._fits(game, MOST_BYTES, "a smaller game, or a method without matrices")

    def prepare(self, game: Game) -> None:
        """Compile what `solve` runs; keeps nothing but the machine code."""
        from .runs import warm_up

        warm_up(game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over the first equilibrium that is found, or all of them."""
        from eqbench.solver import Termination

        from .runs import Search

        refusal = self._fits(game, monitor.budget.memory_bytes, "the solver more memory")
        if isinstance(refusal, str):
            return Termination("failed", refusal)
        return Search(self, game, monitor, rng).run()

    def _fits(self, game: Game, limit: int, remedy: str) -> bool | str:
        """True, or by how much the matrices exceed a limit in bytes and what to do."""
        from .system import bytes_needed

        needed = bytes_needed(game)
        if needed <= limit:
            return True
        return (
            f"the dense matrices of {game.tree.n_actions:,} actions need "
            f"{needed / MEBIBYTE:,.0f} MiB, more than {limit / MEBIBYTE:,.0f} MiB; give {remedy}"
        )
