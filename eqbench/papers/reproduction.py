"""The study behind ``eqbench reproduce``: a job for each part, verdicts when all are there."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from eqbench.documents import convert
from eqbench.errors import EqbenchError, UsageError, nearest
from eqbench.papers.jobs import JobFolder, JobRecord, wanted_jobs
from eqbench.papers.pages import claim_report, part_report, points_csv, short_report, texts
from eqbench.papers.paper import SHIPPED, Paper, load_paper
from eqbench.papers.request import ReproduceRequest
from eqbench.papers.verdicts import SCHEMA, judge
from eqbench.report.rows import Report, Table
from eqbench.store.run_folder import write_texts
from eqbench.studies.frame import Session, Study


class Reproduction(Study[ReproduceRequest, dict[str, Any], dict[str, Any]]):
    """Papers held against what their jobs store; a part is ``paper/job``."""

    always_draws = True

    def __init__(self, request: ReproduceRequest, *, figures: bool = False) -> None:
        super().__init__(request, figures=figures)
        names = request.sources or (() if request.paper else tuple(SHIPPED))
        _check_known("paper", names, SHIPPED)
        folders = [*(SHIPPED[name] for name in dict.fromkeys(names)), *map(Path, request.paper)]
        self.papers = [load_paper(folder) for folder in folders]
        known = [job.name for paper in self.papers for job in paper.jobs]
        _check_known("job", (*request.only, *request.again), known)
        self._jobs = {
            f"{paper.name}/{job.name}": (paper, job)
            for paper in self.papers
            for job in wanted_jobs(paper.jobs, full=request.full, only=request.only)
        }
        self._judged: list[dict[str, Any]] = []
        self.jobs = request.jobs

    def preview(self) -> Report | None:
        """Return the list of the jobs, if that is all that is wanted."""
        return Report(tuple(map(self._list, self.papers))) if self.request.listed else None

    def _list(self, paper: Paper) -> Table:
        lines = []
        for job in paper.jobs:
            command = " ".join(job.words(full=self.request.full)) or "computed"
            lines.append(f"  {job.name}: {command}{'  (--full)' if job.full else ''}")
        return Table(f"{paper.name}: {paper.citation}", lines=tuple(lines))

    def parts(self) -> Sequence[str]:
        """Return the jobs, long chains of needs first; those that run alone come last."""
        left = dict.fromkeys(self._jobs, 0)  # how many jobs wait for it, one for another
        for part in reversed(self._jobs):
            for needed in self.needs(part):
                left[needed] = max(left[needed], left[part] + 1)
        return sorted(self._jobs, key=lambda part: (self._jobs[part][1].alone, -left[part]))

    def is_done(self, part: str, found: Mapping[str, Any], session: Session) -> bool:
        """Return whether a job that was run before has a result that still counts."""
        paper, job = self._jobs[part]
        if not found.get("accepted") or job.name in self.request.again:
            return False
        record = convert(found, JobRecord, "the record")
        return self.jobs_of(paper, session).is_current(job, record)

    def is_alone(self, part: str) -> bool:
        """Return whether a job measures times."""
        return self._jobs[part][1].alone

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Run a job; what needs a failed one is not run."""
        paper, job = self._jobs[part]
        failed = [n for n in sorted(self.needs(part)) if not session.found[n]["accepted"]]
        found: dict[str, Any] = {"part": part}
        if failed:
            found |= {"accepted": False, "needs": failed[0]}
        else:
            record = self.jobs_of(paper, session).run(job, session.interrupted)
            found |= {"interrupted": True} if record is None else record
        session.say(_said(part, found, len(session.found) + 1, len(self._jobs)))
        return found

    def needs(self, part: str) -> set[str]:
        """Return the jobs that a job reads from."""
        paper, job = self._jobs[part]
        return {f"{paper.name}/{name}" for name in job.required(full=self.request.full)}

    def conclude(self, parts: Sequence[dict[str, Any]], session: Session) -> dict[str, Any]:
        """Return the verdicts when all jobs are there, before that how many are."""
        bare = {"schema": SCHEMA, "full": self.request.full, "finished": session.finished}
        if not session.finished:
            return bare | {"jobs_done": len(parts), "jobs": len(self._jobs)}
        try:
            self._judged = [judge(paper, self.jobs_of(paper, session)) for paper in self.papers]
        except (EqbenchError, OSError):
            raise
        except Exception as error:
            raise _mistake(session.folder, error) from error
        return bare | {"sources": [_without_pictures(paper) for paper in self._judged]}

    def report(self, document: Mapping[str, Any]) -> Report:
        """Return the counts of verdicts, and what is not as printed."""
        if "sources" not in document:
            line = f"{document['jobs_done']} of {document['jobs']} jobs are done"
            return Report((Table("", lines=(line,)),))
        if self.request.claim:
            return claim_report(document["sources"], self.request.claim)
        if self.request.part:
            return part_report(document["sources"], self.request.part)
        return short_report(document["sources"])

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Path | str]:
        """Write the pages."""
        if self._judged:
            points = points_csv([paper.name for paper in self.papers], folder)
            yield from write_texts(folder, texts(self._judged) | {"points.csv": points})

    def ending(self, document: Mapping[str, Any]) -> tuple[int, str]:
        """Return 1 if a job failed."""
        jobs = [job for paper in document.get("sources", ()) for job in paper["jobs"]]
        return (1, "") if any(job["failed"] for job in jobs) else super().ending(document)

    def slug(self) -> str:
        """Return the end of the name of a new folder."""
        return "-".join(["reproduce", *self.request.sources])

    def jobs_of(self, paper: Paper, session: Session) -> JobFolder:
        """The jobs of a paper in the folder of a reproduction."""

        def record(name: str) -> JobRecord | None:
            found = session.found.get(f"{paper.name}/{name}", {})
            return convert(found, JobRecord, "the record") if "words" in found else None

        place = session.folder / "jobs" / paper.name
        return JobFolder(paper.name, place, record, full=self.request.full)


def _check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {what} {name!r}: {nearest(name, known)}")


def _mistake(folder: Path, error: Exception) -> EqbenchError:
    """Message to the user on a mistake in a paper; its traceback goes into the folder."""
    log = folder / "error.log"
    log.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    return EqbenchError(
        f"the verdicts cannot be read off, which is a mistake in a paper ({type(error).__name__}: "
        f"{error}); its traceback is in {log}. What was computed is kept: once it is mended "
        f"continue with --resume {folder}"
    )


def _said(part: str, record: Mapping[str, Any], done: int, total: int) -> str:
    """A line on a job that has ended."""
    if record.get("interrupted"):
        return f"{part}  interrupted"
    if "needs" in record:
        return f"{done:3}/{total}  {part}  not run, since {record['needs']} failed"
    failed = "" if record["accepted"] else f"  FAILED with exit code {record['exit_code']}"
    return f"{done:3}/{total}  {part}  {record['elapsed_s']:.1f} s{failed}"


def _without_pictures(paper: Mapping[str, Any]) -> dict[str, Any]:
    """A paper with its verdicts, without the text of its pictures."""
    bare = deepcopy(dict(paper))
    for picture in (picture for part in bare["parts"] for picture in part["pictures"]):
        del picture["svg"]
    return bare
