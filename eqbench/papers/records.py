"""Between the computations of papers, what is stored of them, and the claims that read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

Table = dict[Any, Any]  # what claims read by keys, in entries of several types


class Record(Mapping[str, Any]):
    """Base of dataclasses that claims read as tables: `of_all` is their entry ``of all``."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __getitem__(self, key: str) -> Any:
        if key not in list(self):
            raise KeyError(key)
        return getattr(self, key.replace(" ", "_"))

    def __iter__(self) -> Iterator[str]:
        return (name.replace("_", " ") for name in self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)


def storable(value: Any) -> Any:
    """JSON for values that have none of their own; `restored` brings fractions back."""
    match value:
        case Fraction():
            return str(value)
        case Mapping():
            return dict(value)
        case set() | frozenset():
            return sorted(value)
        case np.ndarray() | np.generic():
            return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")


def restored(stored: Any) -> Any:
    """Return stored values with numbers for their texts."""
    match stored:
        case Mapping():
            return {key: restored(value) for key, value in stored.items()}
        case list():
            return [restored(value) for value in stored]
        case str():
            try:
                return float(stored) if "." in stored else Fraction(stored)
            except ValueError:
                return stored
    return stored
