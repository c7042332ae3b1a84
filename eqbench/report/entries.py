"""Records as the rows of tables: which belong together, what a row is called, notes on it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

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


def labels(sharing: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    """Labels of some rows; those that differ in seed or repeat only share one."""
    found = []
    for group in by_solver(sharing):
        label, first = row_label(group[0], entries), group[0].record
        for name in TRIAL:
            numbers = dict.fromkeys(str(getattr(entry.record, name)) for entry in group)
            if len(numbers) > 1:
                every = f"{name}s {', '.join(numbers)}"
                label = label.replace(f"{name} {getattr(first, name)}", every, 1)
        found.append(label)
    return found


ABSENT = ("unsupported", "unavailable")  # of solvers that never began
ALARMING = frozenset({"failed", "crashed", "refuted", "interrupted"})
PROVED = "proved to solver tolerance"
_SIGNS = {"max": "<=", "min": ">="}


def cell_notes(entries: Sequence[Entry]) -> list[str]:
    """Reasons of what is not ok, bounds, what is proved or is not, and the target.

    Rows of which the same is to be said share a note.
    """
    notes = [
        f"{status}: {names}" + (f" – {reason}" if reason else "") + see
        for (status, reason, see), names in _shared(entries, _reason)
    ]
    notes += [f"{names}: {text}" for text, names in _shared(entries, _optimum)]
    notes += [f"exact: {names} – {text}" for text, names in _shared(entries, _without_proof)]
    if proved := [entry for entry in entries if is_proved(entry)]:
        names = ", ".join(labels(proved, entries))
        notes.append(f"max regret exactly 0, in rational arithmetic: {names}")
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    if targets:
        notes.append(f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}")
    return [printable(note) for note in notes]


def _shared(
    entries: Sequence[Entry], about: Callable[[Entry], Key | None]
) -> Iterator[tuple[Key, str]]:
    """What there is to say, each once with the labels of all rows of which it is said."""
    for said, group in _grouped(entries, about).items():
        if said is not None:
            yield said, ", ".join(labels(group, entries))


def _reason(entry: Entry) -> tuple[str, str, str] | None:
    record = entry.record
    if record.status == "ok":
        return None
    log = record.log if record.status in ALARMING else None
    see = f" (see {entry.run}/{log})" if entry.run else f" (see {log})"
    return record.status, shortened(printable(record.reason)), see if log else ""


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
