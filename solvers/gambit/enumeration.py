"""Methods that look for many equilibria. None of their lists is claimed to be complete.

Poker games mostly have infinitely many equilibria, of which only some can be listed, and Gambit
does not say whether a game has.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .logit import check_positive
from .run import GambitMethod, Run, solve_with
from .sizes import decisions_in_turn, strategic_refusal
from .two_players import check_stop_after, two_player_refusal

if TYPE_CHECKING:
    import numpy as np

    from eqbench.model.game import Game
    from eqbench.solver import Monitor, Termination


@dataclass(frozen=True)
class EnumPure(GambitMethod):
    """Gambit's search through all combinations of pure strategies.

    `pygambit.nash.enumpure_solve`: all equilibria in pure strategies of the reduced strategic
    form, exactly. Those in mixed strategies are not looked for.
    """

    def supports(self, game: Game) -> bool | str:
        """True, or how large the strategic form is."""
        return strategic_refusal(game) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over each equilibrium as it is found; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import enumpure_solve

            return enumpure_solve(run.gambit.game, nash_callback=run.guarded(run.take))

        return solve_with(game, monitor, method, promised=0)


@dataclass(frozen=True)
class EnumMixed(GambitMethod):
    """Gambit's extreme equilibria of two-player games (Mangasarian 1964; Avis et al. 2010).

    `pygambit.nash.enummixed_solve`: those of which all others are mixtures, exactly by default.

    Parameters
    ----------
    rational : whether to compute with rationals, otherwise with floats
    """

    rational: bool = True

    def supports(self, game: Game) -> bool | str:
        """True for two players and a strategic form that fits, otherwise the reason why not."""
        return two_player_refusal("gambit_enummixed", game) or strategic_refusal(game) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over each equilibrium as it is found; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import enummixed_solve

            return enummixed_solve(
                run.gambit.game,
                rational=self.rational,
                nash_callback=run.guarded(run.take),
            )

        return solve_with(game, monitor, method, promised=0 if self.rational else None)


@dataclass(frozen=True)
class EnumPoly(GambitMethod):
    """Gambit's search through supports, with a polynomial system for each.

    `pygambit.nash.enumpoly_solve`, on the tree unless told otherwise. Supports whose systems
    are singular are passed over, as are those on which it spends too many rectangles; how many
    is recorded.

    An iteration is a support.

    Parameters
    ----------
    maxregret : regret up to which a point is accepted, as a share of the range of payoffs
    stop_after : most equilibria to look for, 0 for all
    use_strategic : whether to go through supports of the strategic form
    """

    maxregret: float = 1e-8
    stop_after: int = 0
    use_strategic: bool = False

    def __post_init__(self) -> None:
        check_positive(maxregret=self.maxregret)
        check_stop_after(self.stop_after)

    def supports(self, game: Game) -> bool | str:
        """True, or how large the strategic form is if that is to be used."""
        return (self.use_strategic and strategic_refusal(game)) or True

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        """Hand over each equilibrium as it is found; `rng` is not used."""

        def method(run: Run) -> Any:
            from pygambit.nash import enumpoly_solve

            passed_over = {"singular_supports": 0, "abandoned_supports": 0}
            monitor.record(**passed_over)
            return enumpoly_solve(
                run.gambit.game,
                use_strategic=self.use_strategic,
                stop_after=self.stop_after or None,
                maxregret=self.maxregret,
                nash_callback=run.guarded(run.take),
                event_callback=run.guarded(partial(count_support, run, passed_over)),
            )

        agents = 1 if self.use_strategic else decisions_in_turn(game.sequence_form)
        return solve_with(game, monitor, method, promised=self.maxregret * agents)


def count_support(run: Run, passed_over: dict[str, int], event: Any) -> None:
    """Count a support by what became of it; one that is examined is a step."""
    from pygambit.gambit import EnumPolyCandidateSupportEvent, EnumPolySingularSupportEvent

    if isinstance(event, EnumPolyCandidateSupportEvent):
        run.step()
        return
    singular = isinstance(event, EnumPolySingularSupportEvent)
    passed_over["singular_supports" if singular else "abandoned_supports"] += 1
    run.monitor.record(**passed_over)
