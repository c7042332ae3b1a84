"""What solvers share: where they start, their bounds, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from eqbench.extras import reason_of
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import FloatArray, GameTree
from eqbench.solver import Availability, Candidate, Monitor, Termination

MEBIBYTE = 2**20
# Regret, as a share of the payoff range, up to which a polished profile is claimed.
CLAIMED = 1e-9
# The same of the payoff scale, up to which claims of equilibrium stand, whatever bound is named.
TOLERANCE = 1e-6


def importable(module: str, instead: str = "", remedy: str = "") -> Availability:
    """Whether a package can be imported; otherwise why it cannot, and how to install it.

    Parameters
    ----------
    instead : what else would do
    remedy : how to install it, unless its extra says so
    """
    try:
        import_module(module)
    except Exception as error:  # whatever a broken installation raises
        reason = reason_of(module, error, remedy=remedy)
        return Availability("missing", f"{reason}{instead and f', or {instead}'}")
    return Availability()


class BudgetSpentError(Exception):
    """Time or iterations are used up."""


def check_time(monitor: Monitor) -> None:
    """Raise BudgetSpentError if no time is left."""
    if monitor.remaining_s <= 0:
        raise BudgetSpentError(f"stopped after {monitor.budget.timeout_s:g} s")


def check_budget(monitor: Monitor) -> None:
    """Raise BudgetSpentError if no time or no iteration is left."""
    check_time(monitor)
    last = monitor.budget.iterations
    if last is not None and monitor.work >= last:
        raise BudgetSpentError(f"stopped after {last:,} iterations")


def memory_refusal(
    parts: str, needed: int, limit: int, remedy: str = "the solver more memory or a smaller game"
) -> str | None:
    """Why `parts` do not fit into the memory limit (bytes) and what to give, None if they do."""
    if needed <= limit:
        return None
    return (
        f"{parts} need {needed / MEBIBYTE:,.0f} MiB, more than the limit of "
        f"{limit / MEBIBYTE:,.0f} MiB; give {remedy}"
    )


def first_profile(tree: GameTree, start: str, rng: np.random.Generator) -> FloatArray:
    """Frequencies float64 (A,): equal ones, or drawn from all simplices if `start` is random."""
    if start == "random":
        return random_profile(tree, rng)
    sizes = np.diff(tree.action_start)
    return np.repeat(1.0 / sizes, sizes)


def chance_reach(tree: GameTree) -> FloatArray:
    """How much of chance leads to each information set, float64 (I,); 1 where nothing does.

    Its probability where, as in poker, public moves are known to all.
    """
    reach = infoset_reach(tree, np.ones(tree.n_actions))
    # nodes that only other players' actions tell apart were counted several times
    return np.where(reach > 0, np.minimum(reach, 1.0), 1.0)


def repeat(
    monitor: Monitor, advance: Callable[[int, int], object], place: Callable[[], Any]
) -> None:
    """Call ``advance(start, count)`` until the budget or the target ends; snapshots are `place`."""
    for start, count, due in monitor.chunks():
        advance(start, count)
        if due:
            monitor.snapshot(place, work=start + count)


def has_choice(game: Game) -> bool:
    """Whether any information set has more than one action."""
    return bool(np.any(np.diff(game.tree.action_start) > 1))


def without_choice(game: Game, monitor: Monitor) -> Termination | None:
    """Hand over the only profile of a game in which no player has a choice; None for others."""
    if has_choice(game):
        return None
    monitor.candidate(BehaviorProfile.uniform(game.tree), claim="equilibrium")
    return Termination("converged", "no information set has a choice")


def bounded(game: Game, profile: BehaviorProfile, bound: float | None) -> Candidate:
    """Candidate for a profile that a method calls an equilibrium up to a bound on the regret.

    It is an approximation where neither the bound nor the regret is within the usual tolerance.
    """
    is_equilibrium, stands = True, TOLERANCE * game.tree.payoff_scale
    if bound is not None and bound > stands:
        is_equilibrium = game.payoff_model().regrets(profile.probabilities).max() <= stands
    return Candidate(profile, "equilibrium" if is_equilibrium else "iterate", bound)
