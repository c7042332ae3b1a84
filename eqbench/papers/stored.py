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
from eqbench.papers.jobs import Job, JobFolder

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
    name : of the job
    path : its folder
    elapsed_s : wall time that it took
    """

    def __init__(self, name: str, folder: Path, elapsed_s: float) -> None:
        self.name, self.path, self.elapsed_s = name, folder / name, elapsed_s
        self._printed = folder / f"{name}.out"

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
            raise NotStoredError(f"the job {self.name} left no {file.name}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise self._damaged(file.name, error) from None

    def _parsed(self, text: str, file: str) -> Any:
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._damaged(file, error) from None

    def _damaged(self, file: str, error: Exception) -> NotStoredError:
        return NotStoredError(
            f"{file} of the job {self.name} cannot be read ({type(error).__name__}: {error}); run "
            f"it again with --resume DIR --again {self.name}"
        )

    def rows(self, file: str = "points.csv") -> list[dict[str, str]]:
        """The rows of a table in CSV, by column."""
        return list(csv.DictReader(self.text(file).splitlines()))


class Stored:
    """The jobs that were run for a paper, for reading.

    Parameters
    ----------
    path : folder that holds one folder for each job
    full : whether they were run in full
    """

    def __init__(self, path: Path, *, full: bool) -> None:
        self.path, self.full = path, full
        self._open: dict[str, StoredJob] = {}

    def __getitem__(self, name: str) -> StoredJob:
        """The job of this name."""
        return self._open.setdefault(name, StoredJob(name, self.path, self._elapsed_s(name)))

    def _elapsed_s(self, name: str) -> float:
        return 0.0  # a computation asks for what the jobs found before it, not for their times


class CheckedJobs(Stored):
    """The jobs of a paper, which are read only if they are as they would be run now.

    Attributes
    ----------
    used : names of the jobs that were read since :meth:`listen`, in that order
    """

    def __init__(self, folder: JobFolder, jobs: Sequence[Job]) -> None:
        super().__init__(folder.path, full=folder.full)
        self._folder, self._jobs = folder, {job.name: job for job in jobs}
        self.used: list[str] = []

    def listen(self) -> None:
        """Begin to note which jobs are read."""
        self.used = []

    def __getitem__(self, name: str) -> StoredJob:
        """The job of this name.

        Raises
        ------
        KeyError
            If the paper has no such job: a mistake of its author.
        NotStoredError
            If it was not run as it is now, or failed.
        """
        job = self._jobs[name]
        if name not in self.used:
            self.used.append(name)
        if name not in self._open:
            self._check(job)
        return super().__getitem__(name)

    def _check(self, job: Job) -> None:
        record = self._folder.record(job.name)
        if record is None:
            raise NotStoredError(self._why_missing(job))
        if not record["accepted"]:
            raise NotStoredError(
                f"the job {job.name} failed with exit code {record['exit_code']}: "
                f"{self._last(job.name)}"
            )
        if not self._folder.is_current(job, record):
            raise NotStoredError(
                f"what the job {job.name} stored is of another version of it, of eqbench or of "
                "what it needs; go on with --resume"
            )

    def _elapsed_s(self, name: str) -> float:
        record = self._folder.record(name)
        return 0.0 if record is None else record["elapsed_s"]

    def _why_missing(self, job: Job) -> str:
        if job.full and not self.full:
            return f"the job {job.name} belongs to --full"
        for name in sorted(job.required(full=self.full)):
            record = self._folder.record(name)
            if record is not None and not record["accepted"]:
                return f"the job {job.name} needs the job {name}, which failed"
        return f"the job {job.name} was not run to its end; go on with --resume"

    def _last(self, name: str) -> str:
        """Last line that a job said."""
        try:
            said = read_file(self.path / f"{name}.err", MOST_STORED_BYTES).decode(errors="replace")
        except OSError as error:
            raise NotStoredError(
                f"the job {name} failed, and {name}.err cannot be read: {error.strerror}"
            ) from None
        return (said.strip().splitlines() or ["it said nothing"])[-1]
