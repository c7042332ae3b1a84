"""One call of Gambit: its callbacks serve the monitor, which is the only way to stop it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import TYPE_CHECKING, Any

from eqbench.errors import ProfileError
from eqbench.model.facts import strategy_counts
from eqbench.solver import Termination

from ..search import BudgetSpentError, bounded, check_time
from .conversion import converted

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Monitor

# Events that tell of a step, most of them with where it led to.
STEPS = (
    *("EnumPolyCandidateSupportEvent", "LogitPathEvent", "SimpdivRefinementEvent"),
    *("IPAStepEvent", "HPStepEvent", "GNMStepEvent"),
)
PASSED_OVER = {
    "EnumPolySingularSupportEvent": "singular_supports",
    "EnumPolyBudgetExceededSupportEvent": "abandoned_supports",
}


class Run:
    """One run of a method on one game.

    Attributes
    ----------
    gambit : GambitGame
    many : whether the method looks for more than one equilibrium
    found : number of equilibria that were handed over
    last_event : what Gambit told of last, or None
    """

    def __init__(self, game: Game, monitor: Monitor, promised: float | None, *, many: bool) -> None:
        self.game, self.gambit = game, converted(game)
        self.monitor, self.many = monitor, many
        self._promised = None if promised is None else promised * game.tree.payoff_range
        self.found = 0
        self.last_event: Any = None
        self._place: Any = None
        self._raised: BaseException | None = None
        self._chunks = monitor.chunks()
        self._end, self._due = 0, False
        monitor.record(pygambit=metadata.version("pygambit"))
        counts = strategy_counts(game.sequence_form)
        if max(counts) < 2**53:  # beyond it, readers of JSON may lose digits
            monitor.record(strategies=counts)

    def call(self, method: Callable[[Run], Any]) -> Any:
        """Result of a method of Gambit, or the Termination if it did not come to one."""
        try:
            self._next_chunk()
            return method(self)
        except (BudgetSpentError, RuntimeError, ValueError, ProfileError) as error:
            # Gambit makes a RuntimeError of whatever a callback raises
            cause = self._raised
            if isinstance(cause or error, BudgetSpentError):
                if not self.found:
                    self.leave_latest()
                return self.monitor.termination()
            if cause is None or isinstance(cause, ProfileError):
                return Termination("failed", f"Gambit: {error}")
            raise cause from error
        finally:
            if self.monitor.work:  # many methods tell of no steps
                self.monitor.record(steps=self.monitor.work)

    def guarded(self, work: Callable[[Any], None]) -> Callable[[Any], None]:
        """Callback for Gambit that keeps what `work` raises, of which Gambit keeps the text."""

        def callback(given: Any) -> None:
            try:
                work(given)
            except BaseException as error:
                self._raised = error
                raise

        return callback

    def follow(self, event: Any) -> None:
        """Count a step, or a support that is passed over; of others only the last is kept.

        Where a step led to becomes a snapshot if one is due, and may end the run at the target.
        BudgetSpentError ends it after the last step allowed.
        """
        self.last_event = event
        kind, statistics = type(event).__name__, self.monitor.statistics
        if kind in PASSED_OVER:
            statistics[PASSED_OVER[kind]] += 1
        if kind not in STEPS:
            return
        self._place = getattr(event, "qre", getattr(event, "profile", None))
        if kind == "LogitPathEvent":
            statistics["lambda"] = self._place.lam
        self.monitor.work += 1
        if self.monitor.work >= self._end:
            # global Newton has further equilibria ahead, so that the target must not end it
            if self._due and self._place is not None and kind != "GNMStepEvent":
                self.monitor.snapshot(self._frequencies)
            self._next_chunk()

    def _frequencies(self) -> FloatArray:
        """Frequencies (A,) where the last step led to."""
        return self.gambit.behavior(self._place).probabilities

    def _next_chunk(self) -> None:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise BudgetSpentError
        start, count, self._due = chunk
        self._end = start + count

    def take(self, profile: Any) -> None:
        """Hand over a pygambit profile that Gambit calls an equilibrium, as far as it is one.

        The regret claimed is the one that Gambit promises. If the method looks for many and
        time is up, BudgetSpentError ends it.
        """
        self.monitor.candidate(bounded(self.game, self.gambit.behavior(profile), self._promised))
        self.found += 1
        if self.many:
            check_time(self.monitor)

    def leave(self, profile: Any) -> float:
        """Hand over where a method ended without an equilibrium; returns the max regret.

        That is as Gambit measures it, of players and on the very behavior that is handed over.
        """
        behavior = self.gambit.behavior(profile)
        regret = max(float(self.gambit.profile(behavior).max_regret()), 0.0)
        self.monitor.candidate(behavior, "iterate", regret)
        return regret

    def leave_latest(self) -> None:
        """Hand over where the method stands, if it has told."""
        if self._place is not None:
            self.monitor.candidate(self._frequencies(), "iterate")
