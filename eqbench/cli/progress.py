"""How far a run or a study has come: a live bar, or a line a minute where there is no terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from eqbench.cli.output import error_stream, say

if TYPE_CHECKING:
    from rich.console import Console

    from eqbench.harness.frames import ProfileFrame
    from eqbench.harness.pipeline import PlannedRun, Running
    from eqbench.harness.plan import Cell
    from eqbench.store.schema import CellRecord

LINE_S = 60.0  # between lines where there is no terminal
ESTIMATE_S = 0.5  # between estimates
MEASURE_S = 1.0  # between measurements of what runs; shorter cells are left alone
MOST_COST_S = 0.05  # of one measurement; after a longer one a game is not measured any more
MOST_NODES = 100_000  # of a game whose first measurement is not much longer
COST_SHARE = 0.02  # of the time that may go into measurements
BAR_WIDTH, LEAST_BAR = 30, 5
TIME_TO_TELL_S = 2.0  # from when on a share says something about the time that is left


@dataclass(frozen=True)
class Standing:
    """How far work has come at one moment.

    Attributes
    ----------
    words : what is done now, or how much is done
    share : which share is done, None if that is not known
    left : in words how long the rest takes, empty if that is not known
    now : what runs at the moment
    """

    words: str
    share: float | None = None
    left: str = ""
    now: tuple[str, ...] = ()


class Work(Protocol):
    """Work that can be asked how far it has come, many times a second."""

    def standing(self) -> Standing: ...


@contextmanager
def shown(work: Work, *, quiet: bool) -> Iterator[Console | None]:
    """Show on standard error how far work has come; the console of the live bar if there is one."""
    from eqbench.report.terminal import Screen

    if quiet:
        yield None
        return
    with error_stream() as stream:
        console = Screen(file=stream)
        if console.is_terminal:
            with _live(work, console):
                yield console
        else:
            with _every(LINE_S, lambda: say(_line(work.standing()), stream)):
                yield None


@contextmanager
def _live(work: Work, console: Console) -> Iterator[None]:
    from rich.live import Live

    started = time.monotonic()

    def picture() -> Any:
        return _picture(work.standing(), time.monotonic() - started, console.width)

    live = Live(get_renderable=picture, console=console, transient=True, refresh_per_second=5)
    with live:
        live.refresh()  # native code that comes now may hold up the thread that does it else
        yield


@contextmanager
def _every(period_s: float, do: Callable[[], None]) -> Iterator[None]:
    """Do something again and again in another thread until the block ends."""
    ended = threading.Event()

    def loop() -> None:
        while not ended.wait(period_s):
            do()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _line(standing: Standing) -> str:
    share = "" if standing.share is None else f"{standing.share:.0%}"
    parts = [part for part in (standing.words, share, standing.left) if part]
    return "; ".join([", ".join(parts), *standing.now])


def _picture(standing: Standing, elapsed_s: float, width: int) -> Any:
    """The bar with what is said beside it, and a line for each thing that runs."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    share = standing.share
    times = ", ".join(part for part in (clock(elapsed_s), standing.left) if part)
    words = [*([] if share is None else [f"{share:4.0%}"]), times, standing.words]
    beside, *lines = (
        Text(line, no_wrap=True, overflow="ellipsis")
        for line in ("  ".join(words), *(f"  {line}" for line in standing.now))
    )
    room = min(BAR_WIDTH, width - len(beside) - 2)
    bar = ProgressBar(1.0, share or 0.0, width=room, pulse=share is None)
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_row(*([bar] if room >= LEAST_BAR else []), beside)
    return Group(row, *lines)


def clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


# -- runs -----------------------------------------------------------------------------------------


class Progress:
    """Observer of a run that shows how far it is; use it in a ``with``."""

    def __init__(self, job: PlannedRun, *, quiet: bool, verbose: bool) -> None:
        from eqbench.harness.estimate import Estimate

        self._job, self._quiet = job, quiet
        self._verbose = verbose and not quiet
        self._estimate = Estimate(job.experiment.jobs)
        self._regrets = _Regrets(job)
        self._total = 0
        self._begun = self._end = self._estimate_at = time.monotonic()
        self._console: Console | None = None
        self._open = ExitStack()

    def __enter__(self) -> Progress:
        self._console = self._open.enter_context(shown(self, quiet=self._quiet))
        if self._console is not None:
            self._open.enter_context(_every(MEASURE_S, self._regrets.measure))
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def planned(self, cells: Sequence[Cell], finished: int) -> None:
        self._total = len(cells)

    def started(self, cell: Cell) -> None:
        """It is among the running ones."""

    def finished(self, record: CellRecord) -> None:
        since = self._job.running[record.key].since
        self._estimate.learn(record, time.monotonic() - since)
        if self._verbose:
            say_or_print(self._console, _told(record))

    def standing(self) -> Standing:
        if not self._total:
            return Standing("planning")
        if self._console is None:
            self._regrets.measure()
        now, running = time.monotonic(), list(self._job.running.values())
        left_s, spent_s = self._left_s(now, running), now - self._begun
        done = self._total - len(self._job.waiting) - len(running)
        return Standing(
            f"{done} of {self._total} cells done",
            share=spent_s / (spent_s + left_s) if left_s else 1.0,
            left=f"up to {clock(left_s)} left",
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
        from eqbench.report.terminal import small

        cell = running.cell
        seed = "" if cell.seed is None else f", seed {cell.seed}"
        best = self._regrets.best.get(cell.key)
        regret = "" if best is None else f", max regret {small(best)}"
        return (
            f"{cell.solver.typed} on {cell.game.typed}{seed}: {now - running.since:.0f} s{regret}"
        )


def _told(record: CellRecord) -> str:
    """What is said of a finished cell."""
    from eqbench.report.terminal import seconds, small

    regret = "" if record.max_regret is None else f", max regret {small(record.max_regret)}"
    return (
        f"{record.solver} on {record.game}: {record.status}{regret}, "
        f"set-up {seconds(record.setup_s)}, solving {seconds(record.elapsed_s)}"
    )


def say_or_print(console: Console | None, line: str) -> None:
    """Say a line, above a live bar if there is one."""
    if console is None:
        say(line)
    else:
        console.print(line)


class _Regrets:
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
            now, key, newest = time.monotonic(), each.cell.key, each.newest
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
        from eqbench.errors import ProfileError
        from eqbench.model.profile import BehaviorProfile

        try:
            measured = self._job.verifier_of(cell).verify(BehaviorProfile(frame.frequencies))
        except ProfileError:  # what it is worth is said when the cell has ended
            return
        before = self.best.get(cell.key, float("inf"))
        self.best[cell.key] = min(before, float(measured.max_regret))


# -- studies and other work ------------------------------------------------------------------------


class Told:
    """Work that tells how far it has come."""

    def __init__(self, words: str) -> None:
        self._words, self._share = words, 0.0
        self._begun = time.monotonic()

    def tell(self, words: str) -> None:
        """Take note of what is done now."""
        self._words = words

    def done(self, share: float) -> None:
        """Take note of the share that is done."""
        self._share = min(max(share, self._share), 1.0)

    def standing(self) -> Standing:
        share, spent_s = self._share, time.monotonic() - self._begun
        left = ""
        if share and spent_s > TIME_TO_TELL_S:
            left = f"about {clock(spent_s * (1 - share) / share)} left"
        return Standing(self._words, share or None, left)


@contextmanager
def told(words: str = "starting", *, quiet: bool = False) -> Iterator[Told]:
    """Show on standard error how far work has come that tells it."""
    work = Told(words)
    with shown(work, quiet=quiet):
        yield work
