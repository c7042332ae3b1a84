"""How stored figures become readings, in several parts of this source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eqbench.papers.claims import Claim, Picture, Reading, holds
from eqbench.papers.stored import Stored

Read = Callable[[Stored], Reading]


def same(job: str, theirs: Any, *keys: str, unit: str = "") -> Read:
    """Reading of a figure that a job's summary has under some keys, compared as it is."""

    def read(stored: Stored) -> Reading:
        ours = at(stored[job].summary, *keys)
        return equal(theirs, ours, unit=unit)

    return read


def at(document: Any, *keys: str) -> Any:
    """What a document holds under nested keys."""
    for key in keys:
        document = document[key]
    return document


def equal(theirs: Any, ours: Any, *, unit: str = "") -> Reading:
    """Reproduced if two values are the same; else ours is shown instead of theirs."""
    text = f"{shown(ours)}{unit}"
    return holds(ours == theirs, text, f"{text} instead of {shown(theirs)}{unit}")


def shown(value: Any) -> str:
    """A value as text for a cell."""
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def statement(row: str, theirs: str, read: Read, column: str = "") -> Claim:
    """A claim of a list of statements."""
    return Claim(row, column, theirs, read)


def file_picture(title: str, caption: str, job: str, file: str) -> Picture:
    """A drawing that a job left in its folder."""
    return Picture(title, caption, lambda stored: stored[job].text(file))


def rows(found: Mapping[str, list[str]], who: str) -> str:
    """Payoffs or regrets of three players in one cell."""
    return ", ".join(found[who])
