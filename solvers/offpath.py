"""The option `offpath`: what solvers do about play off the path of the equilibria they find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.solver import Monitor

OffPath = Literal["keep", "logit"]


def warm_up(offpath: OffPath, game: Game) -> None:
    """Compile what a solver with this option runs."""
    if offpath == "logit":
        from .logit.offpath import warm_up

        warm_up(game)


def handed_over(
    offpath: OffPath, game: Game, monitor: Monitor, profile: BehaviorProfile
) -> BehaviorProfile:
    """The profile to hand over for an equilibrium, by the option of a solver."""
    if offpath == "keep":
        return profile
    from .logit.offpath import ALL_PLAYED, made_credible

    made, reason = made_credible(
        game,
        profile,
        memory_bytes=monitor.budget.memory_bytes,
        goes_on=lambda: monitor.remaining_s > 0,
    )
    if reason not in ("", ALL_PLAYED):
        monitor.record(offpath=reason)
    return made
