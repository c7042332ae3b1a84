"""``eqbench reproduce``: published tables, figures and claims, held against our own results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from eqbench.cli.options import (
    json_option,
    quiet_option,
    type_of,
)
from eqbench.cli.output import put, put_json, say
from eqbench.requests import JOBS

JOB_FAILED = 1
INTERRUPTED = 130


def _complete(ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
    from eqbench.papers.catalog import MODULES

    return [CompletionItem(name) for name in MODULES if name.startswith(incomplete)]


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", shell_complete=_complete)
@click.option(
    "--full",
    is_flag=True,
    help="Run everything, not only what takes minutes; see --list for the jobs.",
)
@click.option(
    "--job",
    "only",
    multiple=True,
    metavar="NAME",
    help="Run only this job and what it needs; may be given several times.",
)
@click.option("--list", "as_list", is_flag=True, help="List the jobs and run nothing.")
@click.option(
    "-j",
    "--jobs",
    "at_once",
    default=2,
    type=type_of(JOBS),
    show_default=True,
    help="Jobs that run at the same time; those that measure times run alone.",
)
@click.option(
    "--out",
    default=None,
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder for the results.  [default: results/<UTC time>-reproduce]",
)
@click.option(
    "--resume",
    default=None,
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Go on in this folder: run what is missing or failed, and write the pages anew.",
)
@json_option
@quiet_option
@click.pass_context
def reproduce(ctx: click.Context, /, **options: Any) -> None:
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
    import signal

    from eqbench.papers.catalog import MODULES, load_source
    from eqbench.papers.folder import begin
    from eqbench.studies.study_files import held

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    wanted = [load_source(name) for name in options["sources"] or MODULES]
    if options["as_list"]:
        _list(wanted, options)
        return
    _check_jobs(wanted, options["only"])
    folder, names, full = _place(options)
    if options["resume"] is None:
        begin(folder, names, full=full)
    with held(folder, "reproduce"):
        tasks = _tasks(folder, [one for one in wanted if one.name in names], full, options["only"])
        if not _run(tasks, options):
            say(f"interrupted; go on with\n  eqbench reproduce --resume {folder}")
            ctx.exit(INTERRUPTED)
        if _conclude(folder, names, full, options):
            ctx.exit(JOB_FAILED)


def _place(options: dict[str, Any]) -> tuple[Path, list[str], bool]:
    """Folder, names of all its sources, and extent."""
    from eqbench.errors import UsageError
    from eqbench.papers.catalog import MODULES
    from eqbench.papers.folder import read_request
    from eqbench.store.run_folder import new_run_path

    names = list(dict.fromkeys(options["sources"] or MODULES))
    if options["resume"] is None:
        slug = "-".join(["reproduce", *options["sources"]])
        path = options["out"] or new_run_path(Path("results"), slug)
        return Path(path), names, options["full"]
    if options["out"] is not None:
        raise UsageError("give either --resume or --out: what is resumed stays in its folder")
    folder = Path(options["resume"])
    request = read_request(folder)
    if options["full"] and not request["full"]:
        raise UsageError(f"{folder} was begun without --full; begin a new one with --full")
    if strangers := [name for name in options["sources"] if name not in request["sources"]]:
        raise UsageError(
            f"{folder} was begun for {', '.join(request['sources'])}; begin a new one for "
            f"{', '.join(strangers)}"
        )
    return folder, request["sources"], request["full"]


def _check_jobs(sources: list[Any], only: tuple[str, ...]) -> None:
    """Refuse jobs that no source has."""
    from eqbench.errors import UsageError, nearest

    known = [job.name for source in sources for job in source.jobs]
    for name in only:
        if name not in known:
            raise UsageError(f"unknown job {name!r}: {nearest(name, known)}")


def _tasks(folder: Path, sources: list[Any], full: bool, only: tuple[str, ...]) -> list[Any]:
    """The jobs to run, each with where."""
    from eqbench.papers.folder import workshop
    from eqbench.papers.schedule import wanted_jobs

    tasks = []
    for source in sources:
        mine = [job.name for job in source.jobs if job.name in only]
        if only and not mine:
            continue
        place = workshop(folder, source.name, full=full)
        tasks += [(place, job) for job in wanted_jobs(source.jobs, full=full, only=mine)]
    return tasks


def _run(tasks: list[Any], options: dict[str, Any]) -> bool:
    """Run the jobs; False if Ctrl-C broke them off."""
    import threading

    from eqbench.papers.schedule import run_jobs

    total, count = len(tasks), 0

    def ended(task: Any, record: Any) -> None:
        nonlocal count
        count += 1
        if options["quiet"] or record is None:
            return
        name = f"{task[0].source}/{record.name}"
        failed = "" if record.accepted else f"  FAILED with exit code {record.exit_code}"
        say(f"{count:3}/{total}  {name}  {record.elapsed_s:.1f} s{failed}")

    stop = threading.Event()
    done = [task for task in tasks if task[0].done(task[1])]
    count = len(done)
    try:
        run_jobs(tasks, options["at_once"], stop, ended)
    except KeyboardInterrupt:
        return False
    return True


def _conclude(folder: Path, names: list[str], full: bool, options: dict[str, Any]) -> bool:
    """Judge every claim, write the pages, and say what came of it; True if a job failed."""
    from eqbench.cli.output import print_formatted
    from eqbench.papers.catalog import load_source
    from eqbench.papers.folder import document, workshop
    from eqbench.papers.judge import judge
    from eqbench.papers.pages import write_pages
    from eqbench.papers.terminal import print_verdicts

    places = [workshop(folder, name, full=full) for name in names]
    try:
        judged = [judge(load_source(place.source), place) for place in places]
    except Exception as error:
        raise _mistake(folder, error) from error
    files = write_pages(judged, places, folder, full=full)
    if options["as_json"]:
        put_json(document(judged, full=full))
    else:
        print_formatted(lambda console: print_verdicts(judged, console))
    if not options["quiet"]:
        say(f"wrote {', '.join(file.name for file in files)} in {folder}")
    return any(job["failed"] for source in judged for job in source["jobs"])


def _mistake(folder: Path, error: Exception) -> Exception:
    """What a user is told of an exception in a page; its traceback goes into the folder."""
    import traceback

    from eqbench.errors import EqbenchError

    log = folder / "error.log"
    log.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    return EqbenchError(
        f"the verdicts cannot be read off, which is a mistake in eqbench ({type(error).__name__}: "
        f"{error}); please report {log}. What was computed is kept: with a mended version go on "
        f"with --resume {folder}"
    )


def _list(sources: list[Any], options: dict[str, Any]) -> None:
    """Print the jobs of the sources."""
    for source in sources:
        put(f"{source.name}: {source.citation}")
        for job in source.jobs:
            extent = "  (--full)" if job.full else ""
            command = " ".join(job.words(full=options["full"])) or "computed"
            put(f"  {job.name}: {command}{extent}")
