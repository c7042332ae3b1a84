"""The solvers: one equilibrium, or the best one in some respect, by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from eqbench.errors import SpecError

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Availability, Monitor, Termination

BackendName = Literal["auto", "gurobi", "scip"]


@dataclass(frozen=True)
class NCP:
    """Equilibria by a program with bilinear constraints (Ganzfried 2025).

    The complementarity conditions of the sequence form become constraints of a nonconvex
    quadratic program, which spatial branch and bound solves. Its point is good to the tolerance
    of constraints; Newton's method makes it good to rounding. With `sense` and `of` the program
    looks for the largest or smallest payoff or frequency over all equilibria, and proves a bound,
    to the tolerance of constraints.

    auto takes the constant-sum form where payoffs sum to a constant, else complementarity in
    the sum for one-shot games and with elimination for others, and for an optimum always
    elimination; Gurobi where it is installed and its license admits the program, else SCIP.

    An iteration is a node of branch and bound.

    Parameters
    ----------
    formulation : form of the program; paper is Ganzfried's word for word, auto depends on the game
    backend : what solves it; auto is Gurobi if its license admits the program, else SCIP
    bounds : on, off or auto: whether payoffs bound multipliers and slacks, which often helps Gurobi
    dominated : keep, or remove actions that are found to be dominated (other equilibria are lost)
    polish : whether to improve the result to machine precision
    exact : whether to look for an equilibrium in fractions near the result; the seed chooses which
    sense : whether to look for the smallest or largest of what `of` names, over all equilibria
    of : a payoff, such as "P1", or a frequency, such as "P3|3:KB|call"
    feasibility : how far constraints may be off, 1e-9 to 1e-3
    gap : relative gap between bound and best point at which an optimum counts as proved
    """

    formulation: Literal["auto", "paper", "elimination", "aggregated", "constant_sum"] = "auto"
    backend: BackendName = "auto"
    bounds: Literal["auto", "on", "off"] = "auto"
    dominated: Literal["keep", "remove"] = "keep"
    polish: bool = True
    exact: bool = False
    sense: Literal["none", "min", "max"] = "none"
    of: str = ""
    feasibility: float = 1e-6
    gap: float = 1e-4

    def __post_init__(self) -> None:
        check_feasibility(self.feasibility)
        if not 0 <= self.gap < 1:
            raise SpecError(f"gap={self.gap}; choose a number from 0 to 1, for example 1e-4")
        if (self.sense == "none") != (self.of == ""):
            raise SpecError(
                f'sense={self.sense} with of="{self.of}"; give both, for example sense=max with '
                'of="P1", or none'
            )
        if self.of and self.of.count("|") not in (0, 2):
            raise SpecError(
                f'of="{self.of}"; choose a player, such as "P1", or player, information set and '
                'action, such as "P3|3:KB|call"'
            )
        if self.of and self.dominated == "remove":
            raise SpecError(
                "dominated=remove loses equilibria, so it gives no statement about all of them; "
                "leave it out, or sense and of"
            )

    def availability(self) -> Availability:
        """Whether a backend can run here."""
        from .backends.choice import availability

        return availability(self.backend)

    def supports(self, game: Game) -> bool | str:
        """True, or the reason why the formulation or the objective does not fit the game."""
        from .setup import refusal

        return refusal(self, game) or True

    def availability_for(self, game: Game) -> Availability:
        """Whether the license that is here admits the program of this game."""
        from .setup import alternatives, set_up

        here = set_up(self, game).available
        if here.state != "licence_size":
            return here
        return replace(here, reason=here.reason + alternatives(self, game))

    def prepare(self, game: Game) -> None:
        """Import the backend and compile what polishes."""
        from .run import warm_up

        warm_up(self, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over what the backend found, and what became of it."""
        from .run import Search
        from .setup import set_up

        return Search(game, monitor, rng).run(set_up(self, game), self)


@dataclass(frozen=True)
class MIP:
    """Mixed-integer program for games in strategic form (after Ganzfried 2024).

    The baseline of Ganzfried 2025, Table 1: a binary variable for each pure strategy says
    whether it has no probability or no regret (Sandholm, Gilpin and Conitzer 2005, there for
    two players). Probabilities are multiplied as in `ncp`. An iteration is a node.

    Parameters
    ----------
    backend : what solves it; auto is Gurobi if its license admits the program, else SCIP
    polish : whether to improve the result to machine precision
    exact : whether to look for an equilibrium in fractions near the result
    feasibility : how far constraints may be off, 1e-9 to 1e-3; 1e-4 as in the paper
    """

    backend: BackendName = "auto"
    polish: bool = True
    exact: bool = False
    feasibility: float = 1e-4

    def __post_init__(self) -> None:
        check_feasibility(self.feasibility)

    def availability(self) -> Availability:
        """Whether a backend can run here."""
        from .backends.choice import availability

        return availability(self.backend)

    def supports(self, game: Game) -> bool | str:
        """True for one-shot games, otherwise the reason why not."""
        from .setup import refusal_of_mip

        return refusal_of_mip(self, game) or True

    def availability_for(self, game: Game) -> Availability:
        """Whether the license that is here admits the program of this game."""
        from .setup import scip_instead, set_up_mip

        here = set_up_mip(self, game).available
        if here.state != "licence_size":
            return here
        return replace(here, reason=here.reason + scip_instead())

    def prepare(self, game: Game) -> None:
        """Import the backend and compile what polishes."""
        from .run import warm_up

        warm_up(self, game)

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over what the backend found, and what became of it."""
        from .run import Search
        from .setup import set_up_mip

        return Search(game, monitor, rng).run(set_up_mip(self, game), self)


def check_feasibility(value: float) -> None:
    """Raise SpecError unless both backends take this tolerance."""
    if not 1e-9 <= value <= 1e-3:
        raise SpecError(f"feasibility={value}; choose a number from 1e-9 to 1e-3")
