"""How values and texts from outside show: on a screen, in CSV, in groups, in notebooks."""

from __future__ import annotations

import csv
import io
import math
import pkgutil
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")

MOST_CHARACTERS = 300  # of a message in a table or a line; the rest is for the log
_KEPT = "\u00a0"  # not printable to Python, and harmless
_FORMULA = ("=", "+", "-", "@", "\u2212")
_FIRST = re.compile(r'[\s"\uff02\u201c]*(\S?)')
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(/\d+)?|-inf", re.ASCII)
_LINE = re.compile(r"[^\r\n]+|\r(?!\n)")


def printable(text: str) -> str:
    """Text that can only be read: what would move a cursor, turn or hide letters is escaped.

    White space becomes a space, every other character that is not printable (controls, directions,
    lone surrogates) its escape, for example ``\\x1b``.
    """
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable() or char in _KEPT
        else " "
        if char.isspace()
        else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def printable_lines(text: str) -> str:
    """Text of several lines, each made printable; the ends of lines stay as they are."""
    return _LINE.sub(lambda match: printable(match[0]), text)


def cell_text(text: str) -> str:
    """Printable text for a cell of a CSV file, where a spreadsheet shall compute nothing.

    What begins like a formula, with signs of any width and also after white space or quotes, gets
    an apostrophe in front; a number does not.
    """
    first = unicodedata.normalize("NFKC", _FIRST.match(text)[1])  # type: ignore[index]
    is_formula = first in _FORMULA and not _NUMBER.fullmatch(text)
    return f"'{printable(text)}" if is_formula else printable(text)


def csv_text(rows: Iterable[Sequence[Any]], end: str = "\n") -> str:
    """Return rows as lines of CSV; floats have all their digits, texts are as by `cell_text`."""
    text = io.StringIO(newline="")
    lines = ([cell_text(each) if isinstance(each, str) else each for each in row] for row in rows)
    csv.writer(text, lineterminator=end).writerows(lines)
    return text.getvalue()


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """Text cut to `most` characters, and how many more there were."""
    if len(text) <= most:
        return text
    more = f"… ({len(text):,} characters)"
    return text[: most - len(more)] + more


def short_number(number: int) -> str:
    """A whole number in digits, or its order of magnitude where these would fill a line."""
    return f"{number:,}" if number < 10**15 else f"about 10^{math.floor(math.log10(number))}"


def small(value: float) -> str:
    """A regret, from rounding errors to whole pots; what rounds below 0 is 0."""
    return "0" if -1e-9 < value <= 0 else f"{value:.1e}"


def seconds(value: float | None) -> str:
    """A duration with its unit."""
    if value is None:
        return "–"
    if value < 0.99995:
        return f"{value * 1e6:.0f} µs" if value < 999.5e-6 else f"{value * 1e3:.1f} ms"
    return f"{value:.1f} s" if value < 99.95 else f"{value:.0f} s"


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items that have a key in common, the keys in the order in which they first occur."""
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


class Displayed:
    """Base of what a notebook shows as HTML: by name, since that takes what stands above it."""

    def _repr_html_(self) -> str:
        return str(pkgutil.resolve_name("eqbench.api.html:html_of")(self))
