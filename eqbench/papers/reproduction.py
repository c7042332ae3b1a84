"""The study behind ``eqbench reproduce``: a job for each part, verdicts when all are there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqbench.documents import convert
from eqbench.errors import DocumentError, UsageError, nearest
from eqbench.papers.jobs import Job, JobFolder, JobRecord, wanted_jobs
from eqbench.papers.pages import points_csv, short_report, texts
from eqbench.papers.paper import Paper, find_paper, load_paper, shipped
from eqbench.papers.request import ReproduceRequest
from eqbench.papers.verdicts import SCHEMA, judge
from eqbench.report.rows import Report, Table
from eqbench.studies.frame import Session, Study
from eqbench.studies.study_files import write_texts


class Reproduction(Study[ReproduceRequest]):
    """Papers held against what their jobs store; a part is ``paper/job``."""

    request_type = ReproduceRequest
    always_draws = True

    def __init__(self, request: ReproduceRequest, *, figures: bool = False) -> None:
        super().__init__(request, figures=figures)
        names = request.sources or (() if request.paper else tuple(shipped()))
        folders = [*map(find_paper, dict.fromkeys(names)), *map(Path, request.paper)]
        self.papers = [load_paper(folder) for folder in folders]
        self.at_once = request.jobs
        known = [job.name for paper in self.papers for job in paper.jobs]
        for name in (*request.only, *request.again):
            if name not in known:
                raise UsageError(f"unknown job {name!r}: {nearest(name, known)}")
        self._jobs = {
            f"{paper.name}/{job.name}": (paper, job)
            for paper in self.papers
            for job in self._wanted(paper)
        }
        self._judged: list[dict[str, Any]] = []

    def _wanted(self, paper: Paper) -> list[Job]:
        only = [job.name for job in paper.jobs if job.name in self.request.only]
        if self.request.only and not only:
            return []
        return wanted_jobs(paper.jobs, full=self.request.full, only=only)

    def parts(self) -> Sequence[str]:
        """Return the jobs, each after those that it needs; those that run alone come last."""
        return sorted(self._jobs, key=lambda part: self._jobs[part][1].alone)

    def is_current(self, part: str, records: Mapping[str, Mapping[str, Any]]) -> bool:
        """Return whether a job that was run before has a result that still counts."""
        paper, job = self._jobs[part]
        record = _job_record(records[part])
        done = record["accepted"] and self._folder(paper, Path(), records).is_current(job, record)
        return done and job.name not in self.request.again

    def may_begin(self, part: str, records: Mapping[str, Any], running: Collection[str]) -> bool:
        """Return whether a job's needs are there and nothing that wants to be alone runs."""
        paper, job = self._jobs[part]
        needed = {f"{paper.name}/{name}" for name in job.required(full=self.request.full)}
        alone = job.alone or any(self._jobs[other][1].alone for other in running)
        return needed <= set(records) and not (alone and running)

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Run a job; what needs a failed one is not run."""
        paper, job = self._jobs[part]
        needed = sorted(job.required(full=self.request.full))
        failed = [n for n in needed if not session.records[f"{paper.name}/{n}"]["accepted"]]
        if failed:
            return {"part": part, "accepted": False, "needs": failed[0]}
        record = self._folder(paper, session.folder, session.records).run(job, session.interrupted)
        return {"part": part, "interrupted": True} if record is None else {"part": part, **record}

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
        """Return the verdicts when all jobs are there, before that how many are."""
        bare = {"schema": SCHEMA, "full": self.request.full, "finished": finished}
        if not finished:
            return bare | {"jobs_done": len(records), "jobs": len(self._jobs)}
        by_part = {record["part"]: record for record in records}
        self._judged = [
            judge(paper, self._folder(paper, self.folder, by_part)) for paper in self.papers
        ]
        return bare | {"sources": [_without_pictures(paper) for paper in self._judged]}

    def report(self, document: Mapping[str, Any]) -> Report:
        """Return the counts of verdicts, and what is not as printed."""
        if "sources" not in document:
            line = f"{document['jobs_done']} of {document['jobs']} jobs are done"
            return Report((Table("", lines=(line,)),))
        return short_report(document["sources"])

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Path | str]:
        """Write the pages."""
        if not self._judged:
            return
        places = {paper.name: folder / "jobs" / paper.name for paper in self.papers}
        yield from write_texts(
            folder, texts(self._judged) | {"points.csv": points_csv(places, folder)}
        )

    def ending(self, document: Mapping[str, Any]) -> tuple[int, str]:
        """Return 1 if a job failed."""
        failed = any(
            job["failed"] for paper in document.get("sources", ()) for job in paper["jobs"]
        )
        return (1, "") if failed else super().ending(document)

    def slug(self) -> str:
        """Return the end of the name of a new folder."""
        return "-".join(["reproduce", *self.request.sources])

    def _folder(
        self, paper: Paper, root: Path, records: Mapping[str, Mapping[str, Any]]
    ) -> JobFolder:
        def record(name: str) -> JobRecord | None:
            found = records.get(f"{paper.name}/{name}")
            return None if found is None or "words" not in found else _job_record(found)

        full = self.request.full
        return JobFolder(paper.name, root / "jobs" / paper.name, record, full=full)


def _job_record(record: Mapping[str, Any]) -> JobRecord:
    """The record of a job in that of its part.

    Raises
    ------
    UsageError
        If it is none.
    """
    try:
        return convert({k: v for k, v in record.items() if k != "part"}, JobRecord, "the record")
    except DocumentError as error:
        raise UsageError(f"{error}; begin the reproduction again") from None


def _without_pictures(paper: Mapping[str, Any]) -> dict[str, Any]:
    """A paper with its verdicts, without the text of its pictures."""
    parts = [
        part | {"pictures": [{k: v for k, v in p.items() if k != "svg"} for p in part["pictures"]]}
        for part in paper["parts"]
    ]
    return {**paper, "parts": parts}
