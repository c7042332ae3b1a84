"""Jobs: commands and computations whose results a paper is held against, run once and kept."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import version
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.isolation.processes import kill_with_descendants
from eqbench.model.cache import source_hash
from eqbench.papers.records import storable
from eqbench.papers.stored import NotStoredError, Stored, StoredJob

# jobs that resume in their own folder after a break; the others are begun again
_RESUMABLE = (["run"], ["ranges"], ["trace"])
_SLICE_S = 0.2
_IMPORT = re.compile(r"^ *(?:from|import) [^(\n]*(?:\([^)]*\))?", re.MULTILINE)


class Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of ``paper.toml``, which has no other keys than its fields."""


class Job(Closed, frozen=True):
    """A command or computation with its entries of ``paper.toml``; `folder` is the paper's."""

    name: str
    command: str = ""
    compute: str = ""
    needs: tuple[str, ...] = ()
    full: bool = False
    full_command: str = ""
    each: dict[str, list[str]] = {}
    out: bool = True
    alone: bool = False
    accept: tuple[int, ...] = (0,)
    folder: Path = Path()

    def words(self, *, full: bool) -> list[str]:
        """Words of the command for this extent, none if it is a computation."""
        return shlex.split((self.full_command if full else "") or self.command)

    def required(self, *, full: bool) -> frozenset[str]:
        """Names of the jobs that have to be done before."""
        named = re.findall(r"\{(\w+)\}", " ".join(self.words(full=full)))
        return frozenset({*self.needs, *named})


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How a job went; the exit code is negative for a signal.

    `words` is what was run, by which a stored job is known again, `command` the same for people,
    `inputs` when the jobs that it needs had ended; `needs` is one that failed, so it was not run.
    """

    command: str = ""
    words: list[str] = []
    exit_code: int = 0
    accepted: bool = False
    elapsed_s: float = 0.0
    version: str = ""
    ended: str = ""
    inputs: dict[str, str] = {}
    needs: str = ""
    interrupted: bool = False


def wanted_jobs(jobs: Sequence[Job], *, full: bool, only: Sequence[str] = ()) -> list[Job]:
    """The jobs to run for this extent (of `only`, if it names some), each after those it needs.

    UsageError if a job needs one that there is not, or needs itself.
    """
    by_name, needs = {job.name: job for job in jobs}, dict[str, list[str]]()
    left = list(only) or [job.name for job in jobs if full or not job.full]
    while left:
        if (name := left.pop(0)) not in needs:
            needs[name] = sorted(by_name[name].required(full=full))
            left += needs[name]
            if unknown := set(needs[name]) - by_name.keys():
                raise UsageError(f"the job {name} needs {min(unknown)}, which is not a job")
    try:
        return [by_name[name] for name in TopologicalSorter(needs).static_order()]
    except CycleError as error:
        raise UsageError(f"a job needs itself: {' → '.join(reversed(error.args[1]))}") from None


class PaperJobs(Stored):
    """The jobs of a paper in the folder of a reproduction; `used` are the names that were read.

    They are read only if they are as they would be run now; `records` say how those went that
    were run.
    """

    def __init__(
        self,
        paper: str,
        jobs: Sequence[Job],
        path: Path,
        records: Mapping[str, JobRecord],
        *,
        full: bool,
    ) -> None:
        super().__init__(path, full=full)
        self.paper, self.jobs, self.records = paper, {job.name: job for job in jobs}, records
        self.used: list[str] = []

    def __getitem__(self, name: str) -> StoredJob:
        """The job of this name; NotStoredError if it failed or was not run as it is now."""
        job = self.jobs[name]
        if name not in self.used:
            self.used.append(name)
        if name not in self._open and (why := self._why_not(job)):
            raise NotStoredError(why)
        return super().__getitem__(name)

    def _why_not(self, job: Job) -> str:
        """Return why what a job has stored does not count, or nothing."""
        record = self.records.get(job.name)
        needed = ((name, self.records.get(name)) for name in job.required(full=self.full))
        failed = sorted(name for name, ran in needed if ran and not ran.accepted)
        if record is None and job.full and not self.full:
            return f"the job {job.name} belongs to --full"
        if record is None and failed:
            return f"the job {job.name} needs the job {failed[0]}, which failed"
        if record is None:
            return f"the job {job.name} was not run to its end; continue with --resume"
        if not record.accepted:
            errors = StoredJob(job.name, self.path).text(f"../{job.name}.err").strip()
            last = (errors.splitlines() or ["it printed nothing"])[-1]
            return f"the job {job.name} failed with exit code {record.exit_code}: {last}"
        if not self.is_current(job, record):
            return (
                f"what the job {job.name} stored is of another version of it, of eqbench or of "
                "what it needs; continue with --resume"
            )
        return ""

    def is_current(self, job: Job, record: JobRecord) -> bool:
        """Whether a record is of this very job, its program and what it needs as they are now."""
        now = self._identity(job), version("eqbench"), self._inputs(job)
        return (record.words, record.version, record.inputs) == now

    def run(self, job: Job, interrupted: Callable[[], bool]) -> JobRecord:
        """Run a job to its end; if it is interrupted its folder keeps what it has."""
        begin = time.monotonic()
        code = _wait(self._process(job, self.path / job.name), interrupted)
        if code is None:
            return JobRecord(interrupted=True)
        return JobRecord(
            command=self.command(job),
            words=self._identity(job),
            exit_code=code,
            accepted=code in job.accept,
            elapsed_s=round(time.monotonic() - begin, 2),
            version=version("eqbench"),
            ended=datetime.now(UTC).isoformat(),
            inputs=self._inputs(job),
        )

    def command(self, job: Job) -> str:
        """What to type for this job, from the folder of the reproduction."""
        if job.compute:
            extent = " --full" if self.full else ""
            return f"eqbench reproduce {self.paper} --job {job.name}{extent}"
        return shlex.join(["eqbench", *self._words(job, Path("jobs") / self.paper)])

    def _words(self, job: Job, folder: Path) -> list[str]:
        """The command of a job whose folder, and those of other jobs, are in `folder`."""
        words = [
            re.sub(r"\{(\w+)\}", lambda match: str(folder / match[1]), word)
            for word in job.words(full=self.full)
        ]
        return [*words, *(["--out", str(folder / job.name)] if job.out else [])]

    def _identity(self, job: Job) -> list[str]:
        if not job.compute:
            return job.words(full=self.full)
        extent = ["--full"] if self.full else []
        return [job.compute, *extent, source_digest(job.folder, job.compute.partition(":")[0])]

    def _inputs(self, job: Job) -> dict[str, str]:
        needed = job.required(full=self.full) & self.records.keys()
        return {name: self.records[name].ended for name in sorted(needed)}

    def _process(self, job: Job, place: Path) -> subprocess.Popen[bytes]:
        """Begin a job, or resume one that was broken off if it is the same and can be resumed."""
        begun, identity = place.with_name(f"{job.name}.begun"), shlex.join(self._identity(job))
        same = begun.is_file() and read_file(begun).decode() == identity
        words = ["eqbench", *self._words(job, self.path)]
        if same and place.exists() and job.words(full=self.full)[:1] in _RESUMABLE:
            words = [*words[:2], "--resume", str(place)]
        elif place.exists():  # set aside, since it may hold files of the user
            names = (place.with_name(f"{job.name}.before-{number}") for number in count(1))
            place.rename(next(each for each in names if not each.exists()))
        self.path.mkdir(parents=True, exist_ok=True)
        begun.write_text(identity, encoding="utf-8")
        if job.compute:
            place.mkdir()
            words = [__name__, str(job.folder), job.compute, str(place), str(self.path)]
            words += ["full"] if self.full else []
        with (
            place.with_name(f"{job.name}.out").open("wb") as out_file,
            place.with_name(f"{job.name}.err").open("wb") as err_file,
        ):
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                stdin=subprocess.DEVNULL,
                stdout=out_file,
                stderr=err_file,
                # one BLAS thread: two on small matrices wait for each other
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )


def _wait(process: subprocess.Popen[bytes], interrupted: Callable[[], bool]) -> int | None:
    """Exit code of a process; None after it was ended because of an interrupt."""
    # SIGINT as by Ctrl-C, and SIGKILL after ten seconds
    signs = iter((signal.SIGINT, *(None,) * 50, getattr(signal, "SIGKILL", signal.SIGTERM)))
    stopped = False
    while True:
        try:
            code = process.wait(_SLICE_S)
            return None if stopped else code
        except subprocess.TimeoutExpired:
            stopped = stopped or interrupted()
            if stopped and (sign := next(signs, None)) is not None:
                if sys.platform == "win32":  # where no signal lets it end in order
                    kill_with_descendants(process.pid)
                else:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, sign)


def source_digest(folder: Path, module: str) -> str:
    """Hash of the sources of a paper's module and of all modules of the paper that it imports.

    Tables of data (``.toml``) whose names stand in these sources belong to them. What it uses of
    eqbench beyond that changes with the version.
    """
    sources: set[Path] = set()
    left = {folder / f"{module}.py"} & {*folder.glob("*.py")}
    while left:
        sources.add(file := left.pop())
        source = read_file(file).decode()
        imported = set(re.findall(r"\w+", " ".join(_IMPORT.findall(source))))
        left |= {each for each in folder.glob("*.py") if each.stem in imported} - sources
        left |= {each for each in folder.glob("*.toml") if each.name in source} - sources
    return source_hash(sorted(sources))


def function_of(folder: Path, target: str) -> Callable[..., Any]:
    """The function ``module:name`` of a paper; that of its facts unless a module is named.

    Its modules may import their neighbors relatively. UsageError if there is no such function.
    """
    module, _, name = target.rpartition(":")
    file = folder / f"{module or 'facts'}.py"
    if not file.is_file():
        raise UsageError(f"the paper {folder} has no job {name!r}, and no file {file.name}")
    package, place = f"eqbench.papers.{folder.name}", folder.resolve()
    if place.parent != Path(__file__).resolve().parent:
        package = f"eqbench_paper_{source_hash((), str(place))}"
        sys.modules.setdefault(package, ModuleType(package)).__path__ = [str(place)]
    found = getattr(importlib.import_module(f"{package}.{file.stem}"), name, None)
    if name.startswith("_") or not callable(found):
        raise UsageError(f"{file} has no function {name!r}")
    return found


def _compute(paper: str, target: str, folder: str, jobs: str, extent: str = "") -> None:
    """Call a function of a paper and keep what it returns; this is the process of a job."""
    document = function_of(Path(paper), target)(Path(folder), Path(jobs), full=extent == "full")
    text = json.dumps(document, indent=1, allow_nan=False, default=storable) + "\n"
    (Path(folder) / "summary.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _compute(*sys.argv[1:])
