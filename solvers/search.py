"""What solvers share: where they start, their bounds, and different equilibria handed over."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.solver import Availability, Candidate, Monitor, Termination

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.tree import FloatArray, GameTree
    from eqbench.solver import Monitor

MEBIBYTE = 2**20
# Regret, as a share of the payoff range, up to which a polished profile is claimed.
CLAIMED = 1e-9
# The same of the payoff scale, up to which claims of equilibrium stand, whatever bound is named.
TOLERANCE = 1e-6
# The harness takes 1,024 candidates.
MOST_CANDIDATES = 1000


def importable(module: str, remedy: str) -> Availability:
    """Whether a package can be imported; otherwise why it cannot, and how to install it."""
    try:
        import_module(module)
    except Exception as error:  # whatever a broken installation raises
        return Availability("missing", f"{error}; {remedy}")
    return Availability()


class BudgetSpentError(Exception):
    """Time or iterations are used up."""


def check_time(monitor: Monitor) -> None:
    """Raise BudgetSpentError if no time is left."""
    if monitor.remaining_s <= 0:
        raise BudgetSpentError(f"stopped after {monitor.budget.time_s:g} s")


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
    return any(len(actions) > 1 for actions in game.tree.infoset_actions)


def without_choice(game: Game, monitor: Monitor) -> Termination | None:
    """Hand over the only profile of a game in which no player has a choice; None for others."""
    if has_choice(game):
        return None
    monitor.candidate(BehaviorProfile.uniform(game.tree), claim="equilibrium")
    return Termination("converged", "no information set has a choice")


def as_equilibrium(profile: BehaviorProfile) -> Candidate:
    """A profile with the claim to be an equilibrium."""
    return Candidate(profile, "equilibrium")


def bounded(game: Game, profile: BehaviorProfile, bound: float | None) -> Candidate:
    """Candidate for a profile that a method calls an equilibrium up to a bound on the regret.

    It is an approximation where neither the bound nor the regret is within the usual tolerance.
    """
    is_equilibrium, stands = True, TOLERANCE * game.tree.payoff_scale
    if bound is not None and bound > stands:
        is_equilibrium = game.payoff_model().regrets(profile.probabilities).max() <= stands
    return Candidate(profile, "equilibrium" if is_equilibrium else "iterate", bound)


class DistinctEquilibria:
    """Different equilibria, each handed over once; the first one also as a snapshot.

    Parameters
    ----------
    claimed : regret in payoff units up to which a profile is claimed
    same : profiles that differ by less in every frequency are the same one
    in_plans : whether to compare realization plans, which forget what they do not lead to
    shown : whether the first one is a snapshot, too
    handed_over : makes what is handed over of a profile that is new
    """

    def __init__(
        self,
        game: Game,
        monitor: Monitor,
        *,
        claimed: float | None = None,
        same: float = 1e-9,
        in_plans: bool = False,
        shown: bool = True,
        handed_over: Callable[[BehaviorProfile], Candidate] = as_equilibrium,
    ) -> None:
        self._game, self._monitor, self._same = game, monitor, same
        self._in_plans, self._shown, self._handed_over = in_plans, shown, handed_over
        self.claimed = CLAIMED * (game.tree.payoff_range or 1.0) if claimed is None else claimed
        self._seen: list[FloatArray] = []
        self._given: list[FloatArray] = []

    def __len__(self) -> int:
        return len(self._given)

    def add(self, behavior: FloatArray, regret: float) -> bool:
        """Hand over frequencies, float64 (A,), if they are new; whether they are an equilibrium."""
        if regret > self.claimed:
            return False
        if not self._is_new(behavior, self._seen):
            return True
        candidate = self._handed_over(BehaviorProfile.of(self._game.tree, behavior))
        # several may become the same one
        if not self._is_new(candidate.profile.probabilities, self._given):
            return True
        if len(self) <= MOST_CANDIDATES:
            if len(self) == 1 and self._shown:
                self._monitor.snapshot(candidate)
            self._monitor.candidate(candidate)
        return True

    def _is_new(self, behavior: FloatArray, known: list[FloatArray]) -> bool:
        """Whether frequencies differ from all that are known; now they are."""
        form = self._game.sequence_form
        compared = RealizationPlan.of(form, behavior).weights if self._in_plans else behavior
        if any(np.abs(each - compared).max() <= self._same for each in known):
            return False
        known.append(compared)
        return True


# -- play off the path of equilibria: the option `offpath` -----------------------------------------

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
