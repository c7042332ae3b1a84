"""Records as the rows of tables: which belong together, what a row is called, notes on it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from eqbench.report import read_data
from eqbench.spec import is_foreign
from eqbench.store.schema import CellRecord
from eqbench.text import printable, shortened

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")

STATUSES = read_data("statuses")
ABSENT = {status: facts["absent"] for status, facts in STATUSES.items() if "absent" in facts}
ALARMING = frozenset(status for status, facts in STATUSES.items() if facts["tone"] == "bad")
_BUDGETS = ("limit", "timeout", "memory")
NEGLIGIBLE = 1e-13  # of a regret: what rounding leaves says nothing about the order
MOST_OF_A_REFUSAL = 100  # characters
PROVED = "proved to solver tolerance"
_SIGNS = {"max": "<=", "min": ">="}
TRIAL = ("seed", "repeat")  # what tells cells of a game and solver apart


@dataclass(frozen=True)
class Entry:
    """A record and the name of its run, which is empty where there is one run only."""

    run: str
    record: CellRecord

    @property
    def solver(self) -> str:
        """Solver of the row, with its run where there are several."""
        return self.record.solver + (f" ({self.run})" if self.run else "")

    @property
    def is_proved(self) -> bool:
        """Whether the profile that the row shows is an equilibrium by exact computation."""
        return bool(self.record.equilibria) and self.record.equilibria[0].is_proved


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


def by_solver(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each solver of each run, in the order in which they first occur."""
    return list(grouped(entries, lambda entry: (entry.run, entry.record.solver)).values())


def arranged(entries: Iterable[Entry], order: str = "status") -> list[Entry]:
    """Entries in the order of the solvers, whose cells stay together; equals as they were given.

    Parameters
    ----------
    order : ``status`` (and then max regret), ``regret``, ``time``, ``solver``, or ``given``
    """
    ranks = {status: rank for rank, status in enumerate(STATUSES)}

    def median(group: Sequence[Entry], figure: str) -> float:
        known = [value for e in group if (value := getattr(e.record, figure)) is not None]
        return statistics.median(max(value, NEGLIGIBLE) for value in known) if known else math.inf

    places: dict[str, Callable[[list[Entry]], Any]] = {
        "status": lambda group: (
            max(ranks[entry.record.status] for entry in group),
            median(group, "max_regret"),
        ),
        "regret": lambda group: median(group, "max_regret"),
        "time": lambda group: median(group, "elapsed_s"),
        "solver": lambda group: group[0].record.solver,
        "given": lambda group: 0,
    }
    return [entry for group in sorted(by_solver(entries), key=places[order]) for entry in group]


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
        for first, *others in by_solver(sharing)
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
