"""Hand-over of equilibria: each once, with play off its path as the option `offpath` says."""

from __future__ import annotations

from typing import Literal

import numpy as np

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray
from eqbench.solver import Candidate, Monitor

from .search import CLAIMED

# The harness takes 1,024 candidates.
MOST_CANDIDATES = 1000

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

    made, reason = made_credible(game, profile, monitor)
    if reason not in ("", ALL_PLAYED):
        monitor.record(offpath=reason)
    return Candidate(made, "equilibrium")


class DistinctEquilibria:
    """Different equilibria, each handed over once; the first one also as a snapshot.

    Parameters
    ----------
    claimed : regret in payoff units up to which a profile is claimed
    same : profiles that differ by less in every frequency are the same one
    in_plans : whether to compare realization plans, which forget what they do not lead to
    shown : whether the first one is a snapshot, too
    offpath : the option of the solver
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
        offpath: PairOffPath = "keep",
    ) -> None:
        self._game, self._monitor, self._same = game, monitor, same
        self._in_plans, self._shown, self._offpath = in_plans, shown, offpath
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
        profile = BehaviorProfile.of(self._game.tree, behavior)
        candidate = handed_over(self._offpath, self._game, self._monitor, profile)
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
