"""``python -m attack.run``: run the trials and say how many held, by kind."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from . import answers, commands, folders, kills, losses, names
from .sandbox import Job, Result

MODULES = (names, commands, folders, answers, losses)


def all_jobs(*, quick: bool = False) -> Iterator[Job]:
    """All jobs, or the cheap ones that the tests run."""
    for module in MODULES:
        yield from module.jobs(quick=quick)


def carried_out(jobs: Sequence[Job], at_once: int) -> Iterator[tuple[Job, list[Result], float]]:
    """Jobs with their results and seconds, as they end."""
    with ThreadPoolExecutor(at_once) as pool:
        running = {pool.submit(_timed, job): job for job in jobs}
        for future in as_completed(running):
            results, seconds = future.result()
            yield running[future], results, seconds


def summary(results: Sequence[Result]) -> str:
    """Table of trials tried and held by kind, then every one that did not hold."""
    kinds = dict.fromkeys(result.kind for result in results)
    lines = [f"{'':32}{'tried':>8}{'held':>8}"]
    for kind in (*kinds, "all"):
        some = [result for result in results if kind in (result.kind, "all")]
        lines.append(f"{kind:32}{len(some):8}{sum(result.held for result in some):8}")
    return "\n".join(lines) + _broken(results)


def _broken(results: Sequence[Result]) -> str:
    """A line for each trial that did not hold."""
    return "".join(
        f"\n  {result.kind}, {result.name}: {'; '.join(result.complaints)}"
        for result in results
        if not result.held
    )


def _timed(job: Job) -> tuple[list[Result], float]:
    start = time.monotonic()
    try:
        results = job.run()
    except Exception as error:  # the other trials are worth their results
        results = [Result(job.kind, job.name, (f"the trial itself failed: {error!r}",))]
    return results, time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m attack.run", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    parser.add_argument("--quick", action="store_true", help="only what the tests run")
    parser.add_argument("--only", default="", help="jobs whose kind or name contains this")
    parser.add_argument("--kill", type=int, nargs="?", const=50, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of --kill")
    options = parser.parse_args()
    if options.kill:
        jobs = list(kills.jobs(options.kill, options.seed))
    else:
        jobs = list(all_jobs(quick=options.quick))
    jobs = [job for job in jobs if options.only in f"{job.kind}, {job.name}"]
    results: list[Result] = []
    start = time.monotonic()
    for number, (job, some, seconds) in enumerate(carried_out(jobs, options.jobs), 1):
        results += some
        held = sum(result.held for result in some)
        line = f"[{number}/{len(jobs)}] {job.kind}, {job.name}: {held} of {len(some)} held"
        print(f"{line}, {seconds:.0f} s{_broken(some)}", file=sys.stderr, flush=True)
    print(summary(results))
    print(f"{len(results)} trials in {time.monotonic() - start:.0f} s")
    return 0 if results and all(result.held for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
