"""The anytime curve of a cell, read back from its file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eqbench.errors import UsageError


@dataclass(frozen=True)
class Snapshot:
    """A measured snapshot.

    `work` counts iterations, 0 where a method counts none; `elapsed_s` is seconds of solving.
    """

    work: int
    elapsed_s: float
    claim: str
    nash_conv: float
    max_regret: float


def read_trace(file: Path) -> tuple[Snapshot, ...]:
    """Snapshots in the order in which they were stored.

    Raises
    ------
    UsageError
        If the file is missing or damaged.
    """
    try:
        return tuple(_snapshots(file))
    except (OSError, EOFError, ValueError, TypeError, KeyError, zipfile.BadZipFile) as error:
        raise UsageError(
            f"cannot read the anytime curve {file}: {error!r}; restore the file, or run its cell "
            "again into another folder"
        ) from None


def _snapshots(file: Path) -> Iterator[Snapshot]:
    # a file that is no archive would be read as a single array, which has no context
    with zipfile.ZipFile(file), np.load(file, allow_pickle=False) as arrays:
        regrets = arrays["regrets"]
        columns = (
            *(arrays[name] for name in ("work", "elapsed_s", "claim")),
            *(regrets.sum(axis=1), regrets.max(axis=1)),
        )
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield Snapshot(*row)
