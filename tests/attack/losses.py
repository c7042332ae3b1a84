"""Files of the user that a command might remove, replace or carry out of their folder."""

from __future__ import annotations

from collections.abc import Iterator

from .answers import marked
from .sandbox import Job

KIND = "files of the user"


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each way to lose something."""
    return marked(KIND, quick=quick)
