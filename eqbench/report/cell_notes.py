"""What has to be said below a table about single cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

from eqbench.report.entries import Entry, is_proved, labels
from eqbench.store.schema import CellRecord
from eqbench.text import printable, shortened

ALARMING = frozenset({"failed", "crashed", "refuted", "interrupted"})
PROVED = "proved to solver tolerance"
_SIGNS = {"max": "<=", "min": ">="}

Said = TypeVar("Said", bound=Hashable)


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
    entries: Sequence[Entry], about: Callable[[Entry], Said | None]
) -> Iterator[tuple[Said, str]]:
    """What there is to say, each once with the labels of all rows of which it is said."""
    sharing: dict[Said, list[Entry]] = {}
    for entry in entries:
        if (said := about(entry)) is not None:
            sharing.setdefault(said, []).append(entry)
    for said, group in sharing.items():
        yield said, ", ".join(labels(group, entries))


def _reason(entry: Entry) -> tuple[str, str, str] | None:
    record = entry.record
    if record.status == "ok":
        return None
    return record.status, shortened(printable(record.reason)), _see(entry)


def _see(entry: Entry) -> str:
    log = entry.record.log
    if log is None or entry.record.status not in ALARMING:
        return ""
    return f" (see {entry.run}/{log})" if entry.run else f" (see {log})"


def _optimum(entry: Entry) -> str | None:
    """What an objective came to, from the statistics `objective`, `bound` and `sense`.

    Nothing where a reason that is printed says it, or where the cell is not to be trusted.
    """
    record = entry.record
    if record.status in ALARMING or (record.status != "ok" and PROVED in record.reason):
        return None
    best, bound = (_number(record, name) for name in ("objective", "bound"))
    sign = _SIGNS.get(str(record.statistics.get("sense")))
    if sign is None:  # whether others are above or below is not known then
        return None if best is None or bound is None else f"objective {best}, bound {bound}"
    proved = "no bound is proved" if bound is None else f"{PROVED}: all are {sign} {bound}"
    return f"best {best or 'none'}, {proved}"


def _number(record: CellRecord, name: str) -> str | None:
    """A statistic with six digits; None unless it is a number, since infinity is a text."""
    value = record.statistics.get(name)
    return f"{value:z.6g}" if isinstance(value, int | float) else None


def _without_proof(entry: Entry) -> str | None:
    """Why there is no equilibrium in fractions, where the statistic `exact` says so."""
    text = entry.record.statistics.get("exact")
    if entry.record.status in ALARMING or not isinstance(text, str) or text == "found":
        return None
    return shortened(printable(text))
