"""In which order jobs are run, and how many at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from eqbench.papers.jobs import Job, JobRecord, Workshop

_SLICE_S = 0.2

Task = tuple[Workshop, Job]


def wanted_jobs(jobs: Sequence[Job], *, full: bool, only: Sequence[str] = ()) -> list[Job]:
    """The jobs to run for this extent, each after those that it needs.

    Parameters
    ----------
    only : names to which it is restricted, with what these need; all if empty

    Raises
    ------
    KeyError
        If a job needs one that there is not, or needs itself: a mistake of the source's author.
    """
    by_name = {job.name: job for job in jobs}
    ordered: dict[str, Job] = {}

    def add(name: str, above: frozenset[str]) -> None:
        if name in above:
            raise KeyError(f"{name} needs itself")
        job = by_name[name]
        for other in sorted(job.required(full=full)):
            add(other, above | {name})
        ordered.setdefault(name, job)

    for job in jobs:
        if job.name in only or (not only and (full or not job.full)):
            add(job.name, frozenset())
    return list(ordered.values())


def run_jobs(
    tasks: Sequence[Task],
    at_once: int,
    stop: threading.Event,
    ended: Callable[[Task, JobRecord | None], None],
) -> None:
    """Run tasks, each when what it needs has ended; those that want to be alone come last.

    Parameters
    ----------
    at_once : how many at the same time
    stop : once set, running jobs are ended and no other is begun
    ended : called in this thread with each task and its record, None if it was broken off
    """
    open_tasks = []
    for workshop, job in tasks:  # each after what it needs
        if not workshop.done(job):
            # neither a failure of last time nor an older result may look like the end of this one
            workshop.forget(job)
            open_tasks.append((workshop, job))
    shared = [task for task in open_tasks if not task[1].alone]
    _run_group(shared, at_once, stop, ended)
    # those that want to be alone, and what needs them
    left = [task for task in open_tasks if task[0].record(task[1].name) is None]
    if not stop.is_set():
        _run_group(left, 1, stop, ended)


def _run_group(
    left: list[Task],
    at_once: int,
    stop: threading.Event,
    ended: Callable[[Task, JobRecord | None], None],
) -> None:
    """Run the tasks as far as what the tasks need allows."""
    left, running = list(left), dict[Future[JobRecord | None], Task]()
    with ThreadPoolExecutor(at_once) as pool:
        try:
            while left or running:
                for task in [task for task in left if _ready(task)][: at_once - len(running)]:
                    left.remove(task)
                    running[pool.submit(task[0].run, task[1], stop)] = task
                if not running:
                    return
                done, _ = wait(running, timeout=_SLICE_S, return_when=FIRST_COMPLETED)
                for future in done:
                    ended(running.pop(future), future.result())
                if stop.is_set():
                    left.clear()
        finally:
            # an interrupted wait must not leave jobs behind
            if running:
                stop.set()


def _ready(task: Task) -> bool:
    """Whether all that a job needs has ended with a result; what needs a failed job is not run."""
    workshop, job = task
    records = [workshop.record(name) for name in job.required(full=workshop.full)]
    return all(record is not None and record.accepted for record in records)
