"""Records as the rows of tables: which belong together, what a row is called, notes on it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from eqbench.errors import UsageError
from eqbench.report import read_data
from eqbench.spec import is_foreign
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.store.traces import Snapshot, read_trace
from eqbench.text import printable, shortened

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")

STATUSES = read_data("statuses")
ABSENT = {status: facts["absent"] for status, facts in STATUSES.items() if "absent" in facts}
ALARMING = frozenset(status for status, facts in STATUSES.items() if facts["style"] == "red")
_BUDGETS = ("limit", "timeout", "memory")
NEGLIGIBLE = 1e-13  # of a regret: what rounding leaves says nothing about the order
MOST_OF_A_REFUSAL = 100  # characters
PROVED = "proved to solver tolerance"
_SIGNS = {"max": "<=", "min": ">="}
TRIAL = ("seed", "repeat")  # what tells cells of a game and solver apart


@dataclass(frozen=True)
class Entry:
    """A record, the name of its run, which is empty where there is one only, and the run itself."""

    run: str
    record: CellRecord
    source: StoredRun | None = None

    @property
    def solver(self) -> str:
        """Solver of the row, with its run where there are several."""
        return self.record.solver + (f" ({self.run})" if self.run else "")

    @property
    def is_proved(self) -> bool:
        """Whether the profile that the row shows is an equilibrium by exact computation."""
        return bool(self.record.equilibria) and self.record.equilibria[0].is_proved

    @cached_property
    def snapshots(self) -> Sequence[Snapshot] | None:
        """Measured snapshots in order of time; None if they cannot be read."""
        if self.source is None or self.record.trace is None:
            return ()
        try:
            stored = read_trace(self.source.path / self.record.trace)
        except UsageError:  # reports can do without
            return None
        return sorted(stored, key=lambda point: point.elapsed_s)

    @cached_property
    def curve(self) -> Sequence[Snapshot]:
        """Measured snapshots, as far as they can be read, and what the cell ended with."""
        record = self.record
        end = (record.iterations or 0, record.elapsed_s, "", record.nash_conv, record.max_regret)
        ended = [] if None in end else [Snapshot(*end)]  # type: ignore[arg-type]
        return [*(self.snapshots or ()), *ended]

    def time_to(self, regret: float) -> float:
        """Seconds of solving until a max regret was measured; infinite if it never was."""
        return min((p.elapsed_s for p in self.curve if p.max_regret <= regret), default=math.inf)

    @property
    def time(self) -> float:
        """Seconds until the target was met, or to the end without one; infinite if it is not ok."""
        if self.record.status != "ok" or self.record.elapsed_s is None:
            return math.inf
        # rounding may leave more than the target
        return min(self.time_to(self.record.target or 0.0), self.record.elapsed_s)


@dataclass(frozen=True)
class Trials:
    """Cells of one solver of a run that belong together."""

    entries: Sequence[Entry]

    @property
    def solver(self) -> str:
        return self.entries[0].solver

    @property
    def ok(self) -> int:
        """Number of cells that reached the target, or ended ok without one."""
        return sum(entry.record.status == "ok" for entry in self.entries)

    def figures(self, name: str) -> list[float]:
        """Known values of a field of the records."""
        values = (getattr(entry.record, name) for entry in self.entries)
        return [value for value in values if value is not None]

    def time_to(self, regret: float | None = None) -> float | None:
        """Median time to a max regret, or else to the target, of the cells that reached it."""
        times = (e.time if regret is None else e.time_to(regret) for e in self.entries)
        reached = [time for time in times if time < math.inf]
        return statistics.median(reached) if reached else None

    @property
    def best(self) -> float | None:
        """Smallest max regret of any cell."""
        return min(self.figures("max_regret"), default=None)


def trials(entries: Iterable[Entry], order: str = "given") -> list[Trials]:
    """Entries by solver and run.

    Parameters
    ----------
    order : ``status`` (and then max regret), ``regret``, ``time``, ``solver``, or ``given``
    """
    ranks = list(STATUSES)

    def median(own: Trials, figure: str) -> float:
        known = [max(value, NEGLIGIBLE) for value in own.figures(figure)]
        return statistics.median(known) if known else math.inf

    places: dict[str, Callable[[Trials], Any]] = {
        "status": lambda own: (
            max(ranks.index(entry.record.status) for entry in own.entries),
            median(own, "max_regret"),
        ),
        "regret": lambda own: median(own, "max_regret"),
        "time": lambda own: median(own, "elapsed_s"),
        "solver": lambda own: own.entries[0].record.solver,
        "given": lambda own: 0,
    }
    groups = grouped(entries, lambda entry: (entry.run, entry.record.solver)).values()
    return sorted(map(Trials, groups), key=places[order])


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items that have a key in common, the keys in the order in which they first occur."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_game(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each game, the games in the order in which they first occur.

    Foreign games are told apart by their contents too, since a path may stand for several files.
    """

    def game(record: CellRecord) -> tuple[str, str | None]:
        return record.game_spec, record.game_content if is_foreign(record.game_spec) else None

    return list(grouped(entries, lambda entry: game(entry.record)).values())


def arranged(entries: Iterable[Entry], order: str = "status") -> list[Entry]:
    """Entries in the order of the solvers, whose cells stay together; equals as they were given."""
    return [entry for own in trials(entries, order) for entry in own.entries]


def began(entries: Iterable[Entry]) -> list[Entry]:
    """Entries of solvers that take the game and are available."""
    return [entry for entry in entries if entry.record.status not in ABSENT]


def several(name: str, entries: Iterable[Entry]) -> bool:
    """Return whether cells differ in their ``run`` or in one of `TRIAL`."""
    holders = (entry if name == "run" else entry.record for entry in entries)
    return len({getattr(holder, name) for holder in holders} - {None}) > 1


def game_title(typed: str, spec: str) -> str:
    """A game as typed and in canonical form; of a foreign game the latter only."""
    return spec if typed == spec or is_foreign(spec) else f"{typed} = {spec}"


def titled(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """Entries of each game with the title of its table; equal ones say to which runs it belongs."""
    groups = by_game(entries)
    names = [game_title(group[0].record.game, group[0].record.game_spec) for group in groups]
    runs = [f" (in {', '.join(dict.fromkeys(entry.run for entry in group))})" for group in groups]
    return [
        (name + run * (names.count(name) > 1), group)
        for name, run, group in zip(names, runs, groups, strict=True)
    ]


def row_label(entry: Entry, entries: Sequence[Entry]) -> str:
    """Solver of a row, with its seed, repeat and run where they tell rows apart."""
    numbers = {name: getattr(entry.record, name) for name in TRIAL if several(name, entries)}
    more = [f"{name} {number}" for name, number in numbers.items() if number is not None]
    more += [entry.run] if several("run", entries) else []
    return entry.record.solver + (f" ({', '.join(more)})" if more else "")


def labels(sharing: Iterable[Entry], entries: Sequence[Entry]) -> str:
    """Labels of some rows; those of a solver share one, which says how many there are."""
    return ", ".join(
        row_label(first, entries) if not others else f"{first.solver} ×{1 + len(others)}"
        for first, *others in (own.entries for own in trials(sharing))
    )


def cell_notes(entries: Sequence[Entry]) -> list[str]:
    """Target, reasons of what is not ok, bounds, what is proved, who takes no part.

    Rows of which the same is to be said share a note.
    """

    def shared(about: Callable[[Entry], Key | None]) -> list[tuple[Key, str]]:
        groups = grouped(entries, about).items()
        return [(said, labels(group, entries)) for said, group in groups if said is not None]

    notes = []
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    if targets:
        notes.append(f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}")
    reasons = shared(_reason)
    often = Counter(status for (status, _, _), _ in reasons)
    for (status, reason, see), names in reasons:
        # the table has these statuses, and there is one reason for all that have it
        is_of_all = reason and status in _BUDGETS and often[status] == 1
        said = filter(None, ("" if is_of_all else names, reason))
        notes.append(f"{status}: {' – '.join(said)}{see}")
    for remark in (_optimum, _without_proof, _proof):  # what stands before the names and after
        notes += [f"{before}{names}{after}" for (before, after), names in shared(remark)]
    refusals = shared(_refusal)
    for status, what in ABSENT.items():
        absent = [
            f"{names} ({why})" if why else names for (s, why), names in refusals if s == status
        ]
        notes += [f"{what}: {'; '.join(absent)}"] * bool(absent)
    return [printable(note) for note in notes]


def _refusal(entry: Entry) -> tuple[str, str] | None:
    """Why a solver does not take part: the first clause of its reason, without its own name."""
    if entry.record.status not in ABSENT:
        return None
    clause = entry.record.reason.partition(";")[0].strip()
    clause = clause.removeprefix(f"{entry.record.solver.partition('(')[0]} ")
    return entry.record.status, shortened(printable(clause), MOST_OF_A_REFUSAL)


def _reason(entry: Entry) -> tuple[str, str, str] | None:
    record = entry.record
    if record.status in ABSENT or record.status == "ok":
        return None
    log = record.log if record.status in ALARMING else None
    see = f" (see {entry.run}/{log})" if entry.run else f" (see {log})"
    reason = record.reason if log else record.reason.partition(";")[0]
    return record.status, shortened(printable(reason)), see if log else ""


def _optimum(entry: Entry) -> tuple[str, str] | None:
    """What an objective came to, from the statistics `objective`, `bound` and `sense`.

    Nothing where a reason that is printed says it, or where the cell is not to be trusted.
    """
    record = entry.record
    if record.status in ALARMING or (record.status != "ok" and PROVED in record.reason):
        return None
    # infinity is a text
    numbers = (record.statistics.get(name) for name in ("objective", "bound"))
    best, bound = (f"{n:z.6g}" if isinstance(n, int | float) else None for n in numbers)
    sign = _SIGNS.get(str(record.statistics.get("sense")))
    if sign is None:  # whether others are above or below is not known then
        return None if None in (best, bound) else ("", f": objective {best}, bound {bound}")
    proved = "no bound is proved" if bound is None else f"{PROVED}: all are {sign} {bound}"
    return "", f": best {best or 'none'}, {proved}"


def _without_proof(entry: Entry) -> tuple[str, str] | None:
    """Why there is no equilibrium in fractions, where the statistic `exact` says so."""
    text = entry.record.statistics.get("exact")
    if entry.record.status in ALARMING or not isinstance(text, str) or text == "found":
        return None
    return "exact: ", f" – {shortened(printable(text))}"


def _proof(entry: Entry) -> tuple[str, str] | None:
    said = ("max regret exactly 0, in rational arithmetic: ", "")
    return said if entry.is_proved else None
