"""``eqbench reproduce``: published tables, figures and claims, held against our own results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from eqbench.cli import INTERRUPTED
from eqbench.cli.options import command
from eqbench.cli.output import print_formatted, put, put_json, say
from eqbench.errors import UsageError
from eqbench.papers.catalog import MODULES, load_source
from eqbench.requests import FLAG, FOLDER, JOBS, Choice, Json, Kind, Option, Quiet

if TYPE_CHECKING:
    from eqbench.papers.claims import Source
    from eqbench.papers.jobs import JobRecord
    from eqbench.papers.schedule import Task

JOB_FAILED = 1


@dataclass(frozen=True)
class ReproduceRequest:
    """Hold published results against our own, cell by cell.

    SOURCE is encyclopedia, szafron, ganzfried, billingham_2017 or billingham_2018; all of them if
    none is given. Each claim gets a verdict: reproduced, differs (by how much), source_error (with
    evidence), not_attempted (with the reason). What is ours is read from the folders of the jobs,
    which are ordinary commands; the page names them. It is index.html in the folder; beside it
    stand report.md, claims.csv, summary.json and points.csv, with the verified profiles of runs.
    Exit code: 0 whatever the verdicts, 1 a job failed, 2 usage, 130 interrupted.

    \b
      eqbench reproduce                                  what takes minutes
      eqbench reproduce szafron --full
      eqbench reproduce szafron --list
    """

    sources: Annotated[
        tuple[str, ...],
        Option("Sources; all unless given.", Choice("SOURCE", tuple(MODULES)), argument=True),
    ] = ()
    full: Annotated[
        bool,
        Option("Run everything, not only what takes minutes; see --list for the jobs.", FLAG),
    ] = False
    only: Annotated[
        tuple[str, ...],
        Option(
            "Run only this job and what it needs; may be given several times.", Kind("NAME"), "job"
        ),
    ] = ()
    as_list: Annotated[bool, Option("List the jobs and run nothing.", FLAG, "list")] = False
    jobs: Annotated[
        int,
        Option(
            "Jobs that run at the same time; those that measure times run alone.", JOBS, short="j"
        ),
    ] = 2
    out: Annotated[
        str | None,
        Option("Folder for the results.", FOLDER, default="results/<UTC time>-reproduce"),
    ] = None
    resume: Annotated[
        str | None,
        Option(
            "Go on in this folder: run what is missing or failed, and write the pages anew.",
            FOLDER,
        ),
    ] = None
    as_json: Json = False
    quiet: Quiet = False


@command(ReproduceRequest)
def reproduce(request: ReproduceRequest) -> int:
    import signal

    from eqbench.papers.folder import begin, check_jobs, held, tasks_of

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    wanted = [load_source(name) for name in request.sources or MODULES]
    if request.as_list:
        _list(wanted, full=request.full)
        return 0
    check_jobs(wanted, request.only)
    folder, names, full = _place(request)
    if request.resume is None:
        begin(folder, names, full=full)
    present = [source for source in wanted if source.name in names]
    with held(folder):
        tasks = tasks_of(folder, present, full=full, only=request.only)
        if not _run(tasks, at_once=request.jobs, quiet=request.quiet):
            say(f"interrupted; go on with\n  eqbench reproduce --resume {folder}")
            return INTERRUPTED
        return JOB_FAILED if _conclude(folder, names, full, request) else 0


def _place(request: ReproduceRequest) -> tuple[Path, list[str], bool]:
    """Folder, names of all its sources, and extent."""
    from eqbench.papers.folder import resumed
    from eqbench.store.run_folder import new_run_path

    names = list(dict.fromkeys(request.sources))
    if request.resume is None:
        path = request.out or new_run_path(Path("results"), "-".join(["reproduce", *names]))
        return Path(path), names or list(MODULES), request.full
    if request.out is not None:
        raise UsageError("give either --resume or --out: what is resumed stays in its folder")
    before = resumed(Path(request.resume), names, full=request.full)
    return Path(request.resume), before["sources"], before["full"]


def _run(tasks: Sequence[Task], *, at_once: int, quiet: bool) -> bool:
    """Run the jobs; False if Ctrl-C broke them off."""
    import threading

    from eqbench.papers.schedule import run_jobs

    total, count = len(tasks), sum(workshop.done(job) for workshop, job in tasks)

    def ended(task: Task, record: JobRecord | None) -> None:
        nonlocal count
        count += 1
        if quiet or record is None:
            return
        name = f"{task[0].source}/{record.name}"
        failed = "" if record.accepted else f"  FAILED with exit code {record.exit_code}"
        say(f"{count:3}/{total}  {name}  {record.elapsed_s:.1f} s{failed}")

    try:
        run_jobs(tasks, at_once, threading.Event(), ended)
    except KeyboardInterrupt:
        return False
    return True


def _conclude(folder: Path, names: Sequence[str], full: bool, request: ReproduceRequest) -> bool:
    """Judge every claim, write the pages, and say what came of it; True if a job failed."""
    from eqbench.papers.folder import document, verdicts, workshop
    from eqbench.papers.pages import write_pages
    from eqbench.papers.terminal import print_verdicts

    places = [workshop(folder, name, full=full) for name in names]
    judged = verdicts(folder, places)
    files = write_pages(judged, places, folder, full=full)
    if request.as_json:
        put_json(document(judged, full=full))
    else:
        print_formatted(lambda console: print_verdicts(judged, console))
    if not request.quiet:
        say(f"wrote {', '.join(file.name for file in files)} in {folder}")
    return any(job["failed"] for source in judged for job in source["jobs"])


def _list(sources: Sequence[Source], *, full: bool) -> None:
    """Print the jobs of the sources."""
    for source in sources:
        put(f"{source.name}: {source.citation}")
        for job in source.jobs:
            extent = "  (--full)" if job.full else ""
            words = " ".join(job.words(full=full)) or "computed"
            put(f"  {job.name}: {words}{extent}")
