"""What the jobs of a source have stored, for reading only."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from eqbench.documents import read_file
from eqbench.errors import EqbenchError
from eqbench.papers.jobs import Job, JobRecord, Workshop

if TYPE_CHECKING:
    import pandas as pd

    from eqbench.store.schema import CellRecord


T = TypeVar("T")

MOST_STORED_BYTES = 2**30  # points of a long branch take some hundred MiB


class NotStoredError(Exception):
    """A job was not run, or failed, or what it left is damaged; the text says which."""


class StoredJob:
    """The folder of a job that was run.

    Attributes
    ----------
    record : how it went
    path : its folder
    """

    def __init__(self, record: JobRecord, folder: Path) -> None:
        self.record, self.path = record, folder / record.name
        self._printed = folder / f"{record.name}.out"

    @cached_property
    def summary(self) -> Any:
        """Its ``summary.json``."""
        return self.json("summary.json")

    @cached_property
    def printed(self) -> str:
        """What it printed on standard output."""
        return self._text(self._printed)

    @cached_property
    def printed_json(self) -> Any:
        """What it printed with ``--json``."""
        return self._parsed(self.printed, self._printed.name)

    @cached_property
    def cells(self) -> tuple[CellRecord, ...]:
        """Cells of a run."""
        from eqbench.store.stored_run import read_run

        return self._read(lambda: read_run(self.path).cells)

    @cached_property
    def results(self) -> pd.DataFrame:
        """As :func:`eqbench.load_results` gives it."""
        from eqbench.store.results import load_results

        return self._read(lambda: load_results(self.path))

    @cached_property
    def equilibria(self) -> pd.DataFrame:
        """As :func:`eqbench.load_equilibria` gives it."""
        from eqbench.store.results import load_equilibria

        return self._read(lambda: load_equilibria(self.path))

    def json(self, file: str) -> Any:
        """A JSON file of the job."""
        return self._parsed(self.text(file), file)

    def text(self, file: str) -> str:
        """A text file of the job.

        Raises
        ------
        NotStoredError
            If the job has no such file, or none that can be read.
        """
        return self._text(self.path / file)

    def _read(self, read: Callable[[], T]) -> T:
        """What is read of its run, whose readers say themselves what is damaged."""
        try:
            return read()
        except (EqbenchError, OSError) as error:
            raise self._damaged("the run", error) from None

    def _text(self, file: Path) -> str:
        try:
            return read_file(file, MOST_STORED_BYTES).decode()
        except FileNotFoundError:
            raise NotStoredError(f"the job {self.record.name} left no {file.name}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise self._damaged(file.name, error) from None

    def _parsed(self, text: str, file: str) -> Any:
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._damaged(file, error) from None

    def _damaged(self, file: str, error: Exception) -> NotStoredError:
        name = self.record.name
        return NotStoredError(
            f"{file} of the job {name} cannot be read ({type(error).__name__}: {error}); delete "
            f"{name}.json and go on with --resume"
        )

    def rows(self, file: str = "points.csv") -> list[dict[str, str]]:
        """The rows of a table in CSV, by column."""
        return list(csv.DictReader(self.text(file).splitlines()))


class Stored:
    """The jobs of a source; it notes which of them are asked for.

    Attributes
    ----------
    used : names of the jobs that were read since :meth:`listen`, in that order
    """

    def __init__(self, workshop: Workshop, jobs: Sequence[Job]) -> None:
        self._workshop, self._jobs = workshop, {job.name: job for job in jobs}
        self._open: dict[str, StoredJob] = {}
        self.used: list[str] = []

    @property
    def full(self) -> bool:
        """Whether the jobs were run in full."""
        return self._workshop.full

    def listen(self) -> None:
        """Begin to note which jobs are read."""
        self.used = []

    def __getitem__(self, name: str) -> StoredJob:
        """The job of this name.

        Raises
        ------
        KeyError
            If the source has no such job: a mistake of its author.
        NotStoredError
            If it was not run as it is now, or failed.
        """
        job = self._jobs[name]
        if name not in self.used:
            self.used.append(name)
        if name not in self._open:
            record = self._workshop.record(name)
            if record is None:
                raise NotStoredError(self._why_missing(job))
            if not record.accepted:
                raise NotStoredError(
                    f"the job {name} failed with exit code {record.exit_code}: {self._last(name)}"
                )
            if not self._workshop.is_current(job, record):
                raise NotStoredError(
                    f"what the job {name} stored is of another version of it, of eqbench or of "
                    "what it needs; go on with --resume"
                )
            self._open[name] = StoredJob(record, self._workshop.folder)
        return self._open[name]

    def _why_missing(self, job: Job) -> str:
        if job.full and not self.full:
            return f"the job {job.name} belongs to --full"
        for name in sorted(job.required(full=self.full)):
            record = self._workshop.record(name)
            if record is not None and not record.accepted:
                return f"the job {job.name} needs the job {name}, which failed"
        return f"the job {job.name} was not run to its end; go on with --resume"

    def _last(self, name: str) -> str:
        """Last line that a job said."""
        file = self._workshop.folder / f"{name}.err"
        try:
            said = read_file(file, MOST_STORED_BYTES).decode(errors="replace")
        except OSError as error:
            raise NotStoredError(
                f"the job {name} failed, and {file.name} cannot be read: {error.strerror}"
            ) from None
        return (said.strip().splitlines() or ["it said nothing"])[-1]
