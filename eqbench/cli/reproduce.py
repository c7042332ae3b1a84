"""``eqbench reproduce``: published tables, figures and claims, held against our own results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eqbench.cli.options import command
from eqbench.cli.output import print_formatted, put, put_json, say
from eqbench.errors import INTERRUPTED
from eqbench.papers.catalog import MODULES, load_source
from eqbench.papers.request import ReproduceRequest

if TYPE_CHECKING:
    from eqbench.papers.claims import Source
    from eqbench.papers.jobs import JobRecord
    from eqbench.papers.schedule import Task

JOB_FAILED = 1


@command(ReproduceRequest)
def reproduce(request: ReproduceRequest) -> int:
    import signal

    from eqbench.papers.folder import check_jobs, place_of, tasks_of
    from eqbench.studies.study_files import held

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    wanted = [load_source(name) for name in request.sources or MODULES]
    if request.as_list:
        _list(wanted, full=request.full)
        return 0
    check_jobs(wanted, request.only)
    folder, names, full = place_of(request)
    present = [source for source in wanted if source.name in names]
    with held(folder, "reproduce"):
        tasks = tasks_of(folder, present, full=full, only=request.only)
        if not _run(tasks, at_once=request.jobs, quiet=request.quiet):
            say(f"interrupted; go on with\n  eqbench reproduce --resume {folder}")
            return INTERRUPTED
        return JOB_FAILED if _conclude(folder, names, full, request) else 0


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
