"""What the jobs of a source have stored, for reading only."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqbench.documents import read_file
from eqbench.errors import EqbenchError
from eqbench.papers.jobs import Job, JobFolder

if TYPE_CHECKING:
    from eqbench.store.schema import CellRecord

MOST_STORED_BYTES = 2**30  # points of a long branch take some hundred MiB


class NotStoredError(Exception):
    """A job was not run, or failed, or what it left is damaged; the text says which."""


class StoredJob:
    """The folder of a job that was run."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.path = name, folder / name

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

    @property
    def found(self) -> Any:
        """Its summary, or what it printed as JSON; of a run, each field of its cells as a list."""
        if (self.path / "runs.jsonl").exists():
            names = self.cells[0].__struct_fields__ if self.cells else ()
            return {name: [getattr(cell, name) for cell in self.cells] for name in names}
        return self.summary if self.path.exists() else self.printed_json

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
    return lambda stored: stored[job].found


class CheckedJobs(Stored):
    """The jobs of a paper, read only if they are as they would be run now; `used` were read."""

    def __init__(self, folder: JobFolder, jobs: Sequence[Job]) -> None:
        super().__init__(folder.path, full=folder.full)
        self._folder, self._jobs = folder, {job.name: job for job in jobs}
        self.names = frozenset(self._jobs)
        self.used: list[str] = []

    def __getitem__(self, name: str) -> StoredJob:
        """The job of this name; NotStoredError if it failed or was not run as it is now."""
        job = self._jobs[name]
        if name not in self.used:
            self.used.append(name)
        if name not in self._open and (why := self._why_not(job)):
            raise NotStoredError(why)
        return super().__getitem__(name)

    def _why_not(self, job: Job) -> str:
        """Return why what a job has stored does not count, or nothing."""
        record = self._folder.record(job.name)
        needed = ((name, self._folder.record(name)) for name in job.required(full=self.full))
        failed = sorted(name for name, ran in needed if ran and not ran["accepted"])
        if record is None and job.full and not self.full:
            return f"the job {job.name} belongs to --full"
        if record is None and failed:
            return f"the job {job.name} needs the job {failed[0]}, which failed"
        if record is None:
            return f"the job {job.name} was not run to its end; continue with --resume"
        if not record["accepted"]:
            errors = StoredJob(job.name, self.path).text(f"../{job.name}.err").strip()
            last = (errors.splitlines() or ["it printed nothing"])[-1]
            return f"the job {job.name} failed with exit code {record['exit_code']}: {last}"
        if not self._folder.is_current(job, record):
            return (
                f"what the job {job.name} stored is of another version of it, of eqbench or of "
                "what it needs; continue with --resume"
            )
        return ""
