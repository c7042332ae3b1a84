"""One call of Gambit: its callbacks serve the monitor, its result becomes a termination."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from eqbench.errors import GameFormatError, ProfileError
from eqbench.solver import Availability, Termination, warm_up

from .conversion import converted
from .sizes import strategy_counts

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.tree import FloatArray
    from eqbench.solver import Monitor

# Beyond it, readers of JSON may lose digits.
LARGEST_NUMBER = 2**53

Ending = Literal["failed", "limit", "not_found"]


class GambitMethod:
    """What the solvers of this package share."""

    deterministic: ClassVar[bool] = True

    def availability(self) -> Availability:
        """Whether pygambit can be imported."""
        try:
            import pygambit  # noqa: F401
        except ImportError as error:
            remedy = "pip install 'eqbench[gambit]' (pygambit is GPL)"
            return Availability("missing", f"{error}; {remedy}")
        return Availability()

    def prepare(self, game: Game) -> None:
        """Convert the game to Gambit and compile what measures snapshots."""
        with suppress(GameFormatError):  # `solve` ends with the reason
            converted(game)
        warm_up(game)


class BudgetSpentError(Exception):
    """Raised in a callback, which is the only place where Gambit can be stopped."""


class Run:
    """One run of a method on one game.

    Attributes
    ----------
    gambit : GambitGame
    latest : a maker of frequencies (A,), or None
        Where the method stands, as far as it tells.
    """

    def __init__(self, game: Game, monitor: Monitor, promised: float | None) -> None:
        self.gambit = converted(game)
        self.monitor = monitor
        self._promised = None if promised is None else promised * game.tree.payoff_range
        self.found = 0
        self.latest: Callable[[], FloatArray] | None = None
        self._raised: BaseException | None = None
        self._chunks = monitor.chunks()
        self._steps = self._end = 0
        self._due = False
        monitor.record(pygambit=metadata.version("pygambit"))
        counts = strategy_counts(game.sequence_form)
        if max(counts) < LARGEST_NUMBER:
            monitor.record(strategies=counts)

    def call(self, method: Callable[[Run], Any]) -> Any:
        """Result of a method of Gambit, or the Termination if it did not come to one."""
        try:
            self._next_chunk()
            return method(self)
        except BudgetSpentError:
            return self._stopped()
        except (RuntimeError, ValueError, ProfileError) as error:
            # Gambit makes a RuntimeError of whatever a callback raises
            if isinstance(self._raised, BudgetSpentError):
                return self._stopped()
            if self._raised is not None and not isinstance(self._raised, ProfileError):
                raise self._raised from error
            return Termination("failed", f"Gambit: {error}")
        finally:
            self.monitor.work = self._steps
            if self._steps:  # many methods tell of none
                self.monitor.record(steps=self._steps)

    def guarded(self, work: Callable[[Any], object]) -> Callable[[Any], None]:
        """A callback for Gambit that keeps what `work` raises."""

        def callback(given: Any) -> None:
            try:
                work(given)
            except BaseException as error:
                self._raised = error
                raise

        return callback

    def step(self, latest: Callable[[], FloatArray] | None = None, *, shown: bool = True) -> None:
        """Count a step of the method; BudgetSpentError if it was the last one allowed.

        Parameters
        ----------
        latest : maker of the frequencies that it led to
        shown : whether they become a snapshot when one is due, and may end the run at the target
        """
        self._steps += 1
        self.latest = latest
        if self._steps < self._end:
            return
        if self._due and shown and latest is not None:
            self.monitor.snapshot(latest, work=self._steps)
        self._next_chunk()

    def take(self, profile: Any, *, more: bool = True) -> None:
        """Hand over a pygambit profile that Gambit calls an equilibrium.

        The regret claimed is the one that Gambit promises. If the method looks for `more` and
        time is up, BudgetSpentError ends it.
        """
        self.monitor.work = self._steps
        self.monitor.candidate(self.gambit.behavior(profile), "equilibrium", self._promised)
        self.found += 1
        if more and self.monitor.remaining_s <= 0:
            raise BudgetSpentError

    def leave(self, profile: Any) -> float:
        """Hand over where a method ended without an equilibrium; returns the max regret.

        That is as Gambit measures it, of players and on the very behavior that is handed over.
        """
        behavior = self.gambit.behavior(profile)
        regret = float(self.gambit.profile(behavior).max_regret())
        self.monitor.work = self._steps
        self.monitor.candidate(behavior, "iterate", regret)
        return regret

    def _next_chunk(self) -> None:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise BudgetSpentError
        start, count, self._due = chunk
        self._end = start + count

    def _stopped(self) -> Termination:
        if self.latest is not None and not self.found:
            self.monitor.candidate(self.latest(), "iterate")
        return self.monitor.termination()


def solve_with(
    game: Game,
    monitor: Monitor,
    method: Callable[[Run], Any],
    *,
    promised: float | None = None,
    without: Ending = "failed",
) -> Termination:
    """How a method of Gambit ends that hands over equilibria as it finds them.

    Parameters
    ----------
    method : calls Gambit and returns its result, or a Termination
    promised : max regret of what Gambit calls an equilibrium, as a share of the payoff range
        0 for exact methods, None where nothing is promised.
    without : how a run ends that Gambit itself calls no success
    """
    try:
        run = Run(game, monitor, promised)
    except GameFormatError as error:
        return Termination("failed", str(error))
    result = run.call(method)
    if isinstance(result, Termination):
        return result
    words = str(getattr(getattr(result, "reason", None), "name", "")).lower().replace("_", " ")
    said = f" (Gambit: {words})" if words else ""
    if not result.success:
        return Termination(without, f"Gambit reports no success{said}")
    if not run.found:
        return Termination("not_found", f"Gambit reports success without an equilibrium{said}")
    return Termination("converged", f"{run.found} equilibri{'um' if run.found == 1 else 'a'}{said}")
