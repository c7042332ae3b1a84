"""Linear programs and complementarity for two players."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from eqbench.errors import SpecError
from eqbench.model.gambit_text import exact_payoffs

from .run import GambitMethod, Run, solve_with
from .sizes import strategic_refusal

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination


@dataclass(frozen=True)
class LP(GambitMethod):
    """Gambit's linear program for two players with constant sum (Koller et al. 1996).

    `pygambit.nash.lp_solve`, by default on the sequence form and in rationals: one equilibrium,
    exactly. It cannot be stopped but by killing it.

    Parameters
    ----------
    rational : whether to compute with rationals, otherwise with floats
    use_strategic : whether to use the strategic form
    """

    rational: bool = True
    use_strategic: bool = False

    def supports(self, game: Game) -> bool | str:
        """True for two players and constant sum, otherwise the reason why not."""
        refusal = two_player_refusal("gambit_lp", game)
        if refusal:
            return refusal
        sums = {sum(row) for row in exact_payoffs(game.tree)}
        if len(sums) > 1:
            return (
                "gambit_lp solves two-player constant-sum games; here the payoffs sum to "
                f"{float(min(sums)):.6g} up to {float(max(sums)):.6g} "
                "(gambit_lcp solves such games)"
            )
        return (self.use_strategic and strategic_refusal(game)) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over the equilibrium; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import lp_solve

            return lp_solve(
                run.gambit.game,
                rational=self.rational,
                use_strategic=self.use_strategic,
                nash_callback=run.guarded(partial(run.take, more=False)),
            )

        return solve_with(game, monitor, method, promised=0 if self.rational else None)


@dataclass(frozen=True)
class LCP(GambitMethod):
    """Gambit's complementary pivoting for two players (Lemke and Howson 1964; Lemke 1965).

    `pygambit.nash.lcp_solve`, in rationals by default. On the sequence form it finds one
    equilibrium, as Koller, Megiddo and von Stengel (1996) describe; on the strategic form all
    that paths of Lemke and Howson lead to, which need not be all that there are.

    Parameters
    ----------
    rational : whether to compute with rationals, otherwise with floats
    use_strategic : whether to use the strategic form
    stop_after : most equilibria to look for in the strategic form, 0 for all accessible ones
    """

    rational: bool = True
    use_strategic: bool = False
    stop_after: int = 0

    def __post_init__(self) -> None:
        check_stop_after(self.stop_after)
        if self.stop_after and not self.use_strategic:
            raise SpecError(
                f"stop_after={self.stop_after} without use_strategic: on the sequence form there "
                "is one equilibrium to find; leave stop_after out or add use_strategic=true"
            )

    def supports(self, game: Game) -> bool | str:
        """True for two players, otherwise the reason why not."""
        refusal = two_player_refusal("gambit_lcp", game)
        return refusal or (self.use_strategic and strategic_refusal(game)) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over what is found; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import lcp_solve

            return lcp_solve(
                run.gambit.game,
                rational=self.rational,
                use_strategic=self.use_strategic,
                stop_after=self.stop_after or None,
                nash_callback=run.guarded(partial(run.take, more=self.use_strategic)),
            )

        return solve_with(game, monitor, method, promised=0 if self.rational else None)


def two_player_refusal(name: str, game: Game) -> str | None:
    """Reason why a method for two players does not fit, or None."""
    players = game.tree.n_players
    return None if players == 2 else f"{name} solves two-player games; this game has {players}"


def check_stop_after(count: int) -> None:
    """Raise SpecError unless it is a number of equilibria."""
    if count < 0:
        raise SpecError(f"stop_after={count}; choose a number >= 1, or 0 for no limit")
