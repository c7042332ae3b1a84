"""Figures of a method as JSON values."""

from __future__ import annotations

import math
from typing import Any


def plain_figures(figures: dict[str, Any]) -> dict[str, Any]:
    """Figures with NumPy's types replaced; what JSON has no word for becomes text."""
    return {str(key): _plain(value) for key, value in figures.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return str(value)
