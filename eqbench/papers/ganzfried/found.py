"""What readings share: cells by game and solver, and the rule for times of another machine."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from eqbench.papers.claims import Claim, Reading, differs, holds, reproduced
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.store.schema import CellRecord

TIME_RULE = (
    "Times are of another machine (theirs: eight threads at 1.3 to 3.9 GHz under Windows; ours: "
    "one thread): a time counts as reproduced where the same was achieved and it is within a "
    "factor of 10 of theirs, either way."
)
FACTOR = 10.0


def is_near(ratio: float) -> bool:
    """Whether a ratio of times is within what another machine explains, by `TIME_RULE`."""
    return 1 / FACTOR <= ratio <= FACTOR


def cells_of(stored: Stored, job: str, game: str, solver: str) -> list[CellRecord]:
    """Cells of a game and a solver as typed, one for each seed.

    Raises
    ------
    NotStoredError
        If there are none, or the solver is not available here.
    """
    found = [c for c in stored[job].cells if (c.game, c.solver) == (game, solver)]
    if not found:
        raise NotStoredError(f"the job {job} has no cell of {solver} on {game}")
    if found[0].status == "unavailable":
        raise NotStoredError(found[0].reason)
    return found


def cell_of(stored: Stored, job: str, game: str, solver: str) -> CellRecord:
    """The cell of the first seed."""
    return cells_of(stored, job, game, solver)[0]


def regret_of(cell: CellRecord) -> float:
    """Max regret of a cell; infinite without a profile."""
    return float("inf") if cell.max_regret is None else cell.max_regret


def median_time(cells: list[CellRecord]) -> float:
    """Median of the solving times in seconds."""
    times = [cell.elapsed_s for cell in cells if cell.elapsed_s is not None]
    if not times:
        raise NotStoredError(f"{cells[0].solver} was not run on {cells[0].game}")
    return float(median(times))


def timed(theirs_s: float, cells: list[CellRecord], within: float, because: str = "") -> Reading:
    """Reading of a solving time, by `TIME_RULE`; achieved is a max regret `within` in all cells."""
    solved, ours, time_s = _solved_in(cells, within)
    ratio = time_s / theirs_s
    by = f"{ratio:.2g} times theirs" + (f"; {because}" if because else "")
    return holds(solved and is_near(ratio), ours, by, by)


def bounded(under_s: float, cells: list[CellRecord], within: float) -> Reading:
    """Reading of a time that is printed as ``under`` so many seconds."""
    solved, ours, time_s = _solved_in(cells, within)
    by = f"{time_s - under_s:+.3g} s" if solved else "not solved in each run"
    return holds(solved and time_s < under_s, ours, by)


def exceeding(over_s: float, cells: list[CellRecord], within: float, because: str) -> Reading:
    """Reading of a time that is printed as ``over`` so many seconds."""
    solved, ours, time_s = _solved_in(cells, within)
    by = f"{time_s - over_s:+.3g} s; {because}"
    return holds(solved and time_s > over_s, ours, by, because)


def _solved_in(cells: list[CellRecord], within: float) -> tuple[bool, str, float]:
    """Whether all cells are solved, in words, and their median time in seconds."""
    good = sum(regret_of(cell) <= within for cell in cells)
    time_s = median_time(cells)
    text = f"{seconds(time_s)}, {good} of {len(cells)} runs solved"
    return good == len(cells), text, time_s


def seconds(value: float) -> str:
    """Time with three digits."""
    return f"{value:.3g} s"


def integer(theirs: int, ours: int, because: str = "") -> Reading:
    """Reading of a count, which is right or wrong."""
    if ours == theirs:
        return reproduced(f"{ours:,}", because)
    return differs(f"{ours:,}", f"{ours - theirs:+,}" + (f"; {because}" if because else ""))


def count(
    row: str, theirs: int, ours: Callable[[Stored], int], because: str = "", column: str = ""
) -> Claim:
    """Claim of a printed count."""
    return Claim(row, column, f"{theirs:,}", lambda stored: integer(theirs, ours(stored), because))


def statement(row: str, theirs: str, read: Callable[[Stored], Reading]) -> Claim:
    """Claim in a part without columns."""
    return Claim(row, "", theirs, read)


def statistic(cell: CellRecord, name: str) -> Any:
    """A figure of the solver's own.

    Raises
    ------
    NotStoredError
        If the cell ended without it.
    """
    if name not in cell.statistics:
        raise NotStoredError(f"{cell.solver} on {cell.game} ended {cell.status}: {cell.reason}")
    return cell.statistics[name]


def payoffs_of(cell: CellRecord) -> list[float]:
    """Payoffs of the best profile of a cell.

    Raises
    ------
    NotStoredError
        If it has none.
    """
    if cell.payoffs is None:
        raise NotStoredError(f"{cell.solver} on {cell.game} ended {cell.status}: {cell.reason}")
    return cell.payoffs
