"""Jobs of a reproduction laid down as if they had been run."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from eqbench.papers.claims import Source
from eqbench.papers.jobs import Workshop
from eqbench.papers.schedule import wanted_jobs


def mark_run(source: Source, folder: Path, names: Collection[str]) -> Workshop:
    """Give these jobs, and those that have one, records of a success, each after what it needs."""
    workshop = Workshop(source.name, folder, full=False)
    for job in wanted_jobs(source.jobs, full=True):
        if job.name in names or workshop.record(job.name) is not None:
            workshop.keep(workshop.new_record(job, 0, 1.0))
    return workshop
