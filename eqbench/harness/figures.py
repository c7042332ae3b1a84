"""Figures of a method as JSON values."""

from __future__ import annotations

import math
from typing import Any


def plain_figures(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures with NumPy's types replaced; what JSON has no word for becomes text.

    Raises
    ------
    TypeError
        If they are no dictionary.
    """
    if not isinstance(figures, dict):
        raise TypeError(
            f"the statistics are {type(figures).__name__}; use monitor.record(name=value)"
        )
    return {_text(key): _plain(value) for key, value in figures.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_text(key): _plain(item) for key, item in value.items()}
    return _text(value)


def _text(value: object) -> str:
    """Text without lone surrogates, which no file could hold."""
    return str(value).encode(errors="backslashreplace").decode()
