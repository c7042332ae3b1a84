"""Records as the rows of tables: which belong together, what a row is called, notes on it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from eqbench.spec import is_foreign
from eqbench.store.schema import CellRecord
from eqbench.text import printable, shortened

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Entry:
    """A record and the name of its run, which is empty where there is one run only."""

    run: str
    record: CellRecord


def by_game(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each game, the games in the order in which they first occur.

    Foreign games are told apart by their contents too, since a path may stand for several files.
    """

    def game(entry: Entry) -> Hashable:
        spec, content = entry.record.game_spec, entry.record.game_content
        return spec, content if is_foreign(spec) else ""

    return list(_grouped(entries, game).values())


def by_solver(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each solver of each run, in the order in which they first occur."""
    return list(_grouped(entries, lambda entry: (entry.run, entry.record.solver)).values())


def _grouped(entries: Iterable[Entry], key: Callable[[Entry], Key]) -> dict[Key, list[Entry]]:
    groups: dict[Key, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return groups


NEGLIGIBLE = 1e-13  # of a regret: what rounding leaves says nothing about the order
STATUSES = (  # from the best to those of which nothing is known
    *("ok", "stopped", "limit", "timeout", "memory", "not_found", "failed", "crashed"),
    *("refuted", "interrupted", "unavailable", "unsupported"),
)


def arranged(entries: Sequence[Entry], order: str = "status") -> list[Entry]:
    """Entries in the order of the solvers, whose cells stay together; equals as they were given.

    Parameters
    ----------
    order : ``status`` (and then max regret), ``regret``, ``time``, ``solver``, or ``given``
    """
    places: dict[str, Callable[[list[Entry]], Any]] = {
        "status": lambda group: (
            max(STATUSES.index(entry.record.status) for entry in group),
            _median(group, "max_regret"),
        ),
        "regret": lambda group: _median(group, "max_regret"),
        "time": lambda group: _median(group, "elapsed_s"),
        "solver": lambda group: group[0].record.solver,
        "given": lambda group: 0,
    }
    return [entry for group in sorted(by_solver(entries), key=places[order]) for entry in group]


def _median(group: Sequence[Entry], figure: str) -> float:
    known = [value for e in group if (value := getattr(e.record, figure)) is not None]
    return statistics.median(max(value, NEGLIGIBLE) for value in known) if known else math.inf


TRIAL = ("seed", "repeat")  # what tells cells of a game and solver apart


def several(name: str, entries: Sequence[Entry]) -> bool:
    """Return whether cells differ in one of `TRIAL`."""
    return len({getattr(entry.record, name) for entry in entries} - {None}) > 1


def several_runs(entries: Sequence[Entry]) -> bool:
    """Whether the entries are of more than one run."""
    return len({entry.run for entry in entries}) > 1


def game_title(typed: str, spec: str) -> str:
    """A game as typed and in canonical form; of a foreign game the latter only."""
    return spec if typed == spec or is_foreign(spec) else f"{typed} = {spec}"


def titled(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """Entries of each game with the title of its table; equal ones say to which runs it belongs."""
    groups = by_game(entries)
    games = [group[0].record for group in groups]
    names = [game_title(game.game, game.game_spec) for game in games]
    return [
        (f"{name} (in {', '.join(dict.fromkeys(entry.run for entry in group))})", group)
        if names.count(name) > 1
        else (name, group)
        for name, group in zip(names, groups, strict=True)
    ]


def is_proved(entry: Entry) -> bool:
    """Whether the profile that the row shows is an equilibrium by exact computation."""
    return bool(entry.record.equilibria) and entry.record.equilibria[0].is_proved


def row_label(entry: Entry, entries: Sequence[Entry]) -> str:
    """Solver of a row, with its seed, repeat and run where they tell rows apart."""
    numbers = {name: getattr(entry.record, name) for name in TRIAL if several(name, entries)}
    more = [f"{name} {number}" for name, number in numbers.items() if number is not None]
    more += [entry.run] if several_runs(entries) else []
    return entry.record.solver + (f" ({', '.join(more)})" if more else "")


def solver_label(entry: Entry) -> str:
    """Solver of a row, with its run where there are several."""
    return entry.record.solver + (f" ({entry.run})" if entry.run else "")


def labels(sharing: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    """Labels of some rows; those of a solver share one, which says how many there are."""
    return [
        row_label(first, entries) if not others else f"{solver_label(first)} ×{1 + len(others)}"
        for first, *others in by_solver(sharing)
    ]


ABSENT = {"unsupported": "do not take this game", "unavailable": "not available here"}
_BUDGETS = ("limit", "timeout", "memory")
ALARMING = frozenset({"failed", "crashed", "refuted", "interrupted"})
MOST_OF_A_REFUSAL = 100  # characters
PROVED = "proved to solver tolerance"
_SIGNS = {"max": "<=", "min": ">="}


def reached_target(record: CellRecord) -> bool:
    """Whether the measured regret of a cell is within its target; without one, whether it is ok."""
    if record.status in ("crashed", "refuted", "interrupted"):
        return False
    if not record.target:
        return record.status == "ok"
    return record.max_regret is not None and record.max_regret <= record.target


def cell_notes(entries: Sequence[Entry]) -> list[str]:
    """Target, reasons of what did not reach it, bounds, what is proved, who takes no part.

    Rows of which the same is to be said share a note.
    """
    notes = []
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    if targets:
        notes.append(f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}")
    reasons = list(_shared(entries, _reason))
    often = Counter(status for (status, _, _), _ in reasons)
    for (status, reason, see), names in reasons:
        # the table has these statuses, and there is one reason for all that have it
        said = [] if reason and status in _BUDGETS and often[status] == 1 else [names]
        notes.append(f"{status}: {' – '.join([*said, *([reason] if reason else [])])}{see}")
    notes += [f"{names}: {text}" for text, names in _shared(entries, _optimum)]
    notes += [f"exact: {names} – {text}" for text, names in _shared(entries, _without_proof)]
    if proved := [entry for entry in entries if is_proved(entry)]:
        names = ", ".join(labels(proved, entries))
        notes.append(f"max regret exactly 0, in rational arithmetic: {names}")
    for status, what in ABSENT.items():
        group = [entry for entry in entries if entry.record.status == status]
        absent = [f"{names} ({why})" if why else names for why, names in _shared(group, _refusal)]
        notes += [f"{what}: {'; '.join(absent)}"] * bool(absent)
    return [printable(note) for note in notes]


def _refusal(entry: Entry) -> str:
    """Why a solver does not take part: the first clause of its reason, without its own name."""
    clause = entry.record.reason.partition(";")[0].strip()
    name = entry.record.solver.partition("(")[0]
    return shortened(printable(clause.removeprefix(f"{name} ")), MOST_OF_A_REFUSAL)


def _shared(
    entries: Sequence[Entry], about: Callable[[Entry], Key | None]
) -> Iterator[tuple[Key, str]]:
    """What there is to say, each once with the labels of all rows of which it is said."""
    for said, group in _grouped(entries, about).items():
        if said is not None:
            yield said, ", ".join(labels(group, entries))


def _reason(entry: Entry) -> tuple[str, str, str] | None:
    record = entry.record
    if record.status in ABSENT or (record.status == "ok" and reached_target(record)):
        return None
    log = record.log if record.status in ALARMING else None
    see = f" (see {entry.run}/{log})" if entry.run else f" (see {log})"
    above = "ok above the target" if record.status == "ok" else record.status
    reason = record.reason if log else record.reason.partition(";")[0]
    return above, shortened(printable(reason)), see if log else ""


def _optimum(entry: Entry) -> str | None:
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
        return None if best is None or bound is None else f"objective {best}, bound {bound}"
    proved = "no bound is proved" if bound is None else f"{PROVED}: all are {sign} {bound}"
    return f"best {best or 'none'}, {proved}"


def _without_proof(entry: Entry) -> str | None:
    """Why there is no equilibrium in fractions, where the statistic `exact` says so."""
    text = entry.record.statistics.get("exact")
    if entry.record.status in ALARMING or not isinstance(text, str) or text == "found":
        return None
    return shortened(printable(text))
