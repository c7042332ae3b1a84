"""How far a run has come, while it goes on: cells done, time left, regrets of what runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from eqbench.errors import ProfileError
from eqbench.harness.estimate import Estimate
from eqbench.harness.pipeline import PlannedRun, Running
from eqbench.harness.plan import Cell
from eqbench.harness.standing import Standing, clock
from eqbench.isolation.messages import ProfileFrame
from eqbench.model.profile import BehaviorProfile
from eqbench.report.rows import seconds, small
from eqbench.store.schema import CellRecord

ESTIMATE_S = 0.5  # between estimates
MEASURE_S = 1.0  # after which a cell is measured; shorter ones are left alone
MOST_COST_S = 0.05  # of one measurement; after a longer one a game is not measured any more
MOST_NODES = 100_000  # of a game whose first measurement is not much longer
COST_SHARE = 0.02  # of the time that may go into measurements


class Watch:
    """Observer of a run that knows how far it is.

    Attributes
    ----------
    regrets : of the cells that run
    tell : is told in a line what each cell did as it ends
    note : is told what the user should know
    """

    def __init__(self, job: PlannedRun) -> None:
        self.regrets = Regrets(job)
        self.tell: Callable[[str], None] = lambda line: None
        self.note: Callable[[str], None] = lambda line: None
        self._job = job
        self._estimate = Estimate(job.experiment.jobs or 1)
        self._total = 0
        self._interrupted: set[str] = set()
        self._begun = self._end = self._estimate_at = time.monotonic()

    def planned(self, cells: Sequence[Cell], finished: int) -> None:
        self._total = len(cells)

    def started(self, cell: Cell) -> None:
        """It is among the running ones."""

    def finished(self, record: CellRecord) -> None:
        if record.status == "interrupted":
            self._interrupted.add(record.key)
        since = self._job.running[record.key].since
        self._estimate.learn(record, time.monotonic() - since)
        regret = "" if record.max_regret is None else f", max regret {small(record.max_regret)}"
        seed = "" if record.seed is None else f", seed {record.seed}"
        self.tell(
            f"{record.solver} on {record.game}{seed}: {record.status}{regret}, "
            f"set-up {seconds(record.setup_s)}, solving {seconds(record.elapsed_s)}"
        )

    def noted(self, words: str) -> None:
        self.note(words)

    def standing(self) -> Standing:
        """How far the run is now."""
        if not self._total:
            return Standing("planning")
        now, running = time.monotonic(), list(self._job.running.values())
        left_s, spent_s = self._left_s(now, running), now - self._begun
        undone = len(self._job.waiting) + len(running) + len(self._interrupted)
        return Standing(
            f"{self._total - undone} of {self._total} cells done",
            share=spent_s / (spent_s + left_s) if left_s else 1.0,
            left=f"{self._estimate.word} {clock(left_s)} left",
            now=tuple(self._at_work(each, now) for each in running),
        )

    def _left_s(self, now: float, running: Sequence[Running]) -> float:
        """Seconds that are left; estimated anew now and then, since there may be many cells."""
        if now >= self._estimate_at:
            spent_s = {each.cell.key: now - each.since for each in running}
            left = [*self._job.waiting.values(), *(each.cell for each in running)]
            self._end = now + self._estimate.left_s(left, spent_s)
            cost_s = time.monotonic() - now
            self._estimate_at = now + max(ESTIMATE_S, cost_s / COST_SHARE)
        return max(self._end - now, 0.0)

    def _at_work(self, running: Running, now: float) -> str:
        cell = running.cell
        seed = "" if cell.seed is None else f", seed {cell.seed}"
        best = self.regrets.best.get(cell.key)
        regret = "" if best is None else f", max regret {small(best)}"
        return (
            f"{cell.solver.typed} on {cell.game.typed}{seed}: {now - running.since:.0f} s{regret}"
        )


class Regrets:
    """The best max regret so far of what runs, measured now and then and only where it is cheap.

    Attributes
    ----------
    best : by the keys of cells
    """

    def __init__(self, job: PlannedRun) -> None:
        self.best: dict[str, float] = {}
        self._job = job
        self._seen: dict[str, ProfileFrame] = {}
        self._measured_at: dict[str, float] = {}
        self._slow: set[str] = set()
        self._not_before = 0.0

    def measure(self) -> None:
        """Measure the newest profile of each cell that has run for a second, if it is a new one.

        Those that were not measured for the longest time come first.
        """
        running = list(self._job.running.values())
        for each in sorted(running, key=lambda one: self._measured_at.get(one.cell.key, 0.0)):
            now, key, newest = time.monotonic(), each.cell.key, each.received.newest
            if now < self._not_before or now - each.since < MEASURE_S or newest is None:
                continue
            if newest is not self._seen.get(key) and self._is_cheap(each.cell):
                self._seen[key], self._measured_at[key] = newest, now
                self._measure(each.cell, newest)
                cost_s = time.monotonic() - now
                self._not_before = now + cost_s / COST_SHARE
                if cost_s > MOST_COST_S:
                    self._slow.add(each.cell.game.content)

    def _is_cheap(self, cell: Cell) -> bool:
        tree = cell.game.game.tree
        known = cell.game.content not in self._slow
        return known and tree.n_nodes <= MOST_NODES and not tree.is_wide

    def _measure(self, cell: Cell, frame: ProfileFrame) -> None:
        try:
            measured = self._job.verifier_of(cell).verify(BehaviorProfile(frame.frequencies))
        except ProfileError:  # what it is worth is said when the cell has ended
            return
        before = self.best.get(cell.key, float("inf"))
        self.best[cell.key] = min(before, float(measured.max_regret))
