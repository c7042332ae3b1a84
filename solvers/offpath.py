"""The option `offpath`: what solvers do about play off the path of the equilibria they find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from eqbench.solver import Candidate

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.solver import Monitor

OffPath = Literal["keep", "logit"]
# Of solvers for two players.
PairOffPath = Literal["keep", "logit", "perturbed"]


def warm_up(offpath: PairOffPath, game: Game) -> None:
    """Compile what a solver with this option runs."""
    if offpath == "logit":
        from .logit.offpath import warm_up

        warm_up(game)
    elif offpath == "perturbed":
        from .quasi_perfect import warm_up as warm_up_pivots

        warm_up_pivots()


def handed_over(
    offpath: PairOffPath, game: Game, monitor: Monitor, profile: BehaviorProfile
) -> Candidate:
    """What to hand over for an equilibrium, by the option of a solver."""
    if offpath == "keep":
        return Candidate(profile, "equilibrium")
    if offpath == "perturbed":
        from .quasi_perfect import perturbed

        return perturbed(game, profile, monitor)
    from .logit.offpath import ALL_PLAYED, made_credible

    made, reason = made_credible(
        game,
        profile,
        memory_bytes=monitor.budget.memory_bytes,
        goes_on=lambda: monitor.remaining_s > 0,
    )
    if reason not in ("", ALL_PLAYED):
        monitor.record(offpath=reason)
    return Candidate(made, "equilibrium")
