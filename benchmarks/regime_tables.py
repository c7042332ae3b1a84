"""The table of regimes of SKP, from raw results."""

from __future__ import annotations

from typing import Any

from markdown_tables import table, where


def skp_regimes(data: dict[str, Any]) -> str:
    """Words, limits, exponents and transients at each pot, beside what the paper says."""
    header = ["pot", "starts", "time", "words", "to 0", "to 1", "paper", "Lyapunov exponent"]
    header += ["near 0 or 1", "transients over", "their lengths"]
    rows = [
        [
            f"{row['pot']:g}",
            f"{row['starts']}",
            f"{row['horizon']:,.0f}",
            ", ".join(f"{word} {count}" for word, count in row["word"].items()),
            _limits(row, "zero", "0"),
            _limits(row, "one", "1"),
            _paper(row["paper"]),
            _spread(row["lyapunov"], ".2g"),
            _spread(row["near_face_fraction"], ".0%"),
            f"{row['transients_over']}",
            _spread(row["transient"], ",.0f"),
        ]
        for row in data["rows"]
    ]
    return table(header, rows, texts=range(3, 7)) + f"\n{where(data)}.\n"


def _limits(row: dict[str, Any], face: str, value: str) -> str:
    """Frequencies that go to a face, then those that are at it and may return."""
    to, at = (_counted(row[f"{fate}_{face}_each"], row["starts"]) for fate in ("to", "at"))
    return "; ".join(part for part in (to, at and f"at {value}: {at}") if part)


def _counted(counts: dict[str, int], starts: int) -> str:
    """Frequencies, with the number of starts unless it is all of them."""
    return " ".join(
        name if count == starts else f"{name} ({count})" for name, count in counts.items()
    )


def _paper(said: list[str] | None) -> str:
    if not said:
        return "–"
    zero, one, behavior = said
    limits = [f"{names} → {limit}" for names, limit in ((zero, 0), (one, 1)) if names]
    return "; ".join([*limits, behavior])


def _spread(values: list[float] | None, form: str) -> str:
    """Smallest, median and largest."""
    return "–" if not values else " … ".join(format(value, form) for value in values)
