"""Formulas of the paper as they are printed, from ``printed.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

PRINTED: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("printed.toml").read_text(encoding="utf-8")
)


def replaced(title: str) -> dict[str, str]:
    """What is replaced in a derivative before it is compared, by name."""
    where: dict[str, str] = {}
    for word in PRINTED["derivatives"][title].split():
        if word == "case":
            where |= next(names for case, names in PRINTED["case"].items() if case in title)
        else:
            name, _, text = word.partition("=")
            where[name] = text or PRINTED["where"][name]
    return where
