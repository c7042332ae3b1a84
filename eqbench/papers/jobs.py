"""Jobs: commands whose results a source is held against, run once and kept."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError
from eqbench.papers.sources import source_digest

# what goes on in its own folder after a break; the others are begun again
_RESUMABLE = frozenset({"run", "ranges", "trace"})
_SLICE_S = 0.2


@dataclass(frozen=True)
class Job:
    """A command of eqbench, or a computation that only a reproduction needs.

    Attributes
    ----------
    name : of its folder, lower-case words joined by ``_``
    command : what follows ``eqbench``, without ``--out``, as tuple of words. ``{other}`` in a word
        stands for the folder of the job ``other``, which is then run before
    compute : instead, ``module:function`` of the paper, called as ``function(folder, jobs,
        full=…)`` in a process of its own with its folder and that of all jobs; what it returns,
        JSON values, becomes ``summary.json``
    needs : jobs that have to be there before, beside those in the command
    full : whether it belongs to ``--full`` only
    full_command : takes the place of `command` with ``--full``
    out : whether the command takes ``--out``; if not, what it prints is all that there is
    alone : whether nothing else may run meanwhile, since times are what is asked for
    accept : exit codes that are results
    folder : of the paper
    """

    name: str
    command: tuple[str, ...] = ()
    compute: str = ""
    needs: tuple[str, ...] = ()
    full: bool = False
    full_command: tuple[str, ...] = ()
    out: bool = True
    alone: bool = False
    accept: tuple[int, ...] = (0,)
    folder: Path = Path()

    def words(self, *, full: bool) -> tuple[str, ...]:
        """Command for this extent, empty if it is a computation."""
        return self.full_command if full and self.full_command else self.command

    def required(self, *, full: bool) -> frozenset[str]:
        """Names of the jobs that have to be done before."""
        named = re.findall(r"\{(\w+)\}", " ".join(self.words(full=full)))
        return frozenset({*self.needs, *named})


@dataclass(frozen=True)
class JobRecord:
    """How a job went; the file ``NAME.json`` beside its folder.

    Attributes
    ----------
    command : for people, to be typed as it is
    words : what was run, by which a stored job is known again
    exit_code : of the process; negative for a signal
    elapsed_s : wall time, with start-up
    version : of eqbench
    ended : when it ended, in UTC
    inputs : when the jobs that it needs had ended, by name
    """

    name: str
    command: str
    words: list[str]
    full: bool
    exit_code: int
    accepted: bool
    elapsed_s: float
    version: str
    ended: str
    inputs: dict[str, str | None]


class Workshop:
    """The folder in which the jobs of one source lie, and how they get there.

    Parameters
    ----------
    source : name of the source, for the commands of computations
    folder : holds one folder for each job
    full : whether jobs are run in full
    """

    def __init__(self, source: str, folder: Path, *, full: bool) -> None:
        self.source, self.folder, self.full = source, folder, full

    def record(self, name: str) -> JobRecord | None:
        """How a job went, None if it was not run to its end."""
        try:
            return decode(read_file(self.folder / f"{name}.json"), JobRecord)
        except (OSError, DocumentError):
            return None

    def is_current(self, job: Job, record: JobRecord) -> bool:
        """Whether a record is of this very job, its program and what it needs as they are now."""
        return (
            record.words == self._identity(job)
            and record.version == version("eqbench")
            and record.inputs == self._inputs(job)
        )

    def done(self, job: Job) -> bool:
        """Whether this very job was run to its end before, with a result."""
        record = self.record(job.name)
        return record is not None and record.accepted and self.is_current(job, record)

    def forget(self, job: Job) -> None:
        """Take back that a job was run; what it left stays."""
        (self.folder / f"{job.name}.json").unlink(missing_ok=True)

    def run(self, job: Job, stop: threading.Event) -> JobRecord | None:
        """Run a job to its end; None if `stop` was set meanwhile: its folder keeps what it has."""
        self.forget(job)
        place = self.folder / job.name
        goes_on = self._goes_on(job, place)
        if place.exists() and not goes_on:
            shutil.rmtree(place)
        self.folder.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        code = self._wait(self._process(job, place, goes_on=goes_on), stop)
        if code is None:
            return None
        record = self.new_record(job, code, time.monotonic() - begin)
        self.keep(record)
        return record

    def new_record(self, job: Job, exit_code: int, elapsed_s: float) -> JobRecord:
        """The record of a job that ends now."""
        return JobRecord(
            job.name,
            self.command(job),
            self._identity(job),
            self.full,
            exit_code,
            exit_code in job.accept,
            round(elapsed_s, 2),
            version("eqbench"),
            datetime.now(UTC).isoformat(),
            self._inputs(job),
        )

    def keep(self, record: JobRecord) -> None:
        """Put a record in place."""
        _write(self.folder / f"{record.name}.json", asdict(record))

    def command(self, job: Job) -> str:
        """What to type for this job, from the folder of the reproduction."""
        if job.compute:
            extent = " --full" if self.full else ""
            return f"eqbench reproduce {self.source} --job {job.name}{extent}"
        words = [*self._filled(job, Path("jobs") / self.source)]
        out = ["--out", f"jobs/{self.source}/{job.name}"] if job.out else []
        return shlex.join(["eqbench", *words, *out])

    def _identity(self, job: Job) -> list[str]:
        if not job.compute:
            return list(job.words(full=self.full))
        extent = ["--full"] if self.full else []
        return [job.compute, *extent, source_digest(job.compute.partition(":")[0])]

    def _inputs(self, job: Job) -> dict[str, str | None]:
        needed = sorted(job.required(full=self.full))
        records = {name: self.record(name) for name in needed}
        return {name: record.ended if record else None for name, record in records.items()}

    def _filled(self, job: Job, folder: Path) -> list[str]:
        def path(match: re.Match[str]) -> str:
            return str(folder / match[1])

        return [re.sub(r"\{(\w+)\}", path, word) for word in job.words(full=self.full)]

    def _goes_on(self, job: Job, place: Path) -> bool:
        """Whether a job that was broken off can go on in its folder, and it is the same job."""
        words = job.words(full=self.full)
        begun = self.folder / f"{job.name}.begun"
        try:
            same = read_file(begun) == shlex.join(self._identity(job)).encode()
        except OSError:
            same = False
        return bool(words) and words[0] in _RESUMABLE and same and place.exists()

    def _process(self, job: Job, place: Path, *, goes_on: bool) -> subprocess.Popen[bytes]:
        (self.folder / f"{job.name}.begun").write_text(shlex.join(self._identity(job)), "utf-8")
        if job.compute:
            place.mkdir(parents=True, exist_ok=True)
            module = "eqbench.papers.compute"
            words = [module, job.compute, str(place), str(self.folder)]
            words += ["full"] if self.full else []
        elif goes_on:
            words = ["eqbench", job.words(full=self.full)[0], "--resume", str(place)]
        else:
            out = ["--out", str(place)] if job.out else []
            words = ["eqbench", *self._filled(job, self.folder), *out]
        with (
            (self.folder / f"{job.name}.out").open("wb") as out_file,
            (self.folder / f"{job.name}.err").open("wb") as err_file,
        ):
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                stdin=subprocess.DEVNULL,
                stdout=out_file,
                stderr=err_file,
                # two threads of linear algebra on small matrices stand in each other's way
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )

    def _wait(self, process: subprocess.Popen[bytes], stop: threading.Event) -> int | None:
        while True:
            try:
                return process.wait(_SLICE_S)
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    _end(process)
                    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a job to stop as Ctrl-C would, and insist after a while."""
    import signal

    for sign, patience_s in ((signal.SIGINT, 10.0), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience_s)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
        return


def _write(file: Path, document: dict[str, Any]) -> None:
    """Put a JSON file in place by renaming, so that it is there whole or not at all."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    fresh.replace(file)
