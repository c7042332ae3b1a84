"""Tables in Markdown, and what their cells have in common."""

from __future__ import annotations

import re
import statistics
from collections.abc import Collection, Iterable, Sequence
from typing import Any


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], texts: Collection[int] = (0,)
) -> str:
    """Markdown table whose columns are numbers but for those that are named as texts."""
    rule = ["---" if column in texts else "---:" for column in range(len(header))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [header, rule, *rows])


def seconds(repetitions: list[float] | None) -> str:
    """Median in seconds, or a dash where nothing was measured."""
    return "–" if not repetitions else f"{statistics.median(repetitions):.3g}"


def milliseconds(repetitions: list[float]) -> str:
    """Median in milliseconds of times in seconds."""
    return f"{1e3 * statistics.median(repetitions):.2f}"


def where(data: dict[str, Any]) -> str:
    """The environment in a few words."""
    environment = data["environment"]
    packages = environment["packages"]
    return (
        f"{environment['processor']}, {environment['platform']}, Python {environment['python']}, "
        f"Numba {packages['numba']}, NumPy {packages['numpy']}"
    )


def rounded(value: float, digits: int = 2) -> str:
    """A number with so many significant digits, without an exponent."""
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def power(value: float) -> str:
    """A tiny number with one digit, such as 4e-16."""
    return re.sub(r"e-0?", "e-", f"{value:.0e}")
