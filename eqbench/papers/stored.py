"""What the jobs of a source have stored, for reading only."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import cached_property
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqbench.documents import read_file
from eqbench.errors import EqbenchError

if TYPE_CHECKING:
    from eqbench.store.schema import CellRecord

MOST_STORED_BYTES = 2**30  # points of a long branch take some hundred MiB


class NotStoredError(Exception):
    """A job was not run, or failed, or what it left is damaged; the text says which."""


class StoredJob:
    """The folder of a job that was run."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.path = name, folder / name

    @property
    def found(self) -> Any:
        """Its summary, or what it printed as JSON; of a run, each field of its cells as a list."""
        if (self.path / "runs.jsonl").exists():
            cells = [cell.to_json() for cell in self.cells]
            names = dict.fromkeys(name for cell in cells for name in cell)
            return {name: [cell.get(name) for cell in cells] for name in names}
        return self.summary if self.path.exists() else self.printed_json

    @cached_property
    def summary(self) -> Any:
        """Its ``summary.json``."""
        return self.json("summary.json")

    @cached_property
    def printed(self) -> str:
        """What it printed on standard output."""
        return self.text(f"../{self.name}.out")

    @cached_property
    def printed_json(self) -> Any:
        """What it printed with ``--json``."""
        return self.json(f"../{self.name}.out")

    @cached_property
    def cells(self) -> tuple[CellRecord, ...]:
        """Cells of a run."""
        from eqbench.store.stored_run import read_run

        try:
            return read_run(self.path).cells
        except (EqbenchError, OSError) as error:  # which say themselves what is damaged
            raise self._damaged("the run", error) from None

    def json(self, file: str) -> Any:
        """A JSON file of the job."""
        text = self.text(file)
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._damaged(file, error) from None

    def text(self, file: str) -> str:
        """A text file of the job; NotStoredError if there is none that can be read."""
        try:
            # normalized, since a command that only prints leaves no folder
            return read_file(normpath(self.path / file), MOST_STORED_BYTES).decode()
        except FileNotFoundError:
            raise NotStoredError(f"the job {self.name} left no {Path(file).name}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise self._damaged(file, error) from None

    def rows(self, file: str = "points.csv") -> list[dict[str, str]]:
        """The rows of a table in CSV, by column."""
        return list(csv.DictReader(self.text(file).splitlines()))

    def _damaged(self, file: str, error: Exception) -> NotStoredError:
        return NotStoredError(
            f"{Path(file).name} of the job {self.name} cannot be read ({type(error).__name__}: "
            f"{error}); run it again with --resume DIR --again {self.name}"
        )


class Stored:
    """The jobs that were run for a paper, in full or not, for reading: a folder for each."""

    def __init__(self, path: Path, *, full: bool) -> None:
        self.path, self.full = path, full
        self._open: dict[str, StoredJob] = {}

    def __getitem__(self, name: str) -> StoredJob:
        """The job of this name."""
        return self._open.setdefault(name, StoredJob(name, self.path))


def summary_of(job: str) -> Callable[[Stored], Any]:
    """Return the fact that is all that a job has found."""
    return lambda stored: stored[job].summary
