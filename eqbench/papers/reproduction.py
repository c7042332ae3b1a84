"""The study behind ``eqbench reproduce``: a job for each part, verdicts when all are there."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqbench.errors import EqbenchError, UsageError, nearest
from eqbench.papers.jobs import JobRecord, PaperJobs, wanted_jobs
from eqbench.papers.pages import claim_report, part_report, points_csv, short_report, texts
from eqbench.papers.paper import SHIPPED, Paper, load_paper
from eqbench.papers.request import ReproduceRequest
from eqbench.papers.verdicts import SCHEMA, judge
from eqbench.report.rows import Report, Table
from eqbench.store.run_folder import write_texts
from eqbench.studies.frame import Session, Study

Document = dict[str, Any]  # counts, or papers with their verdicts


class Reproduction(Study[ReproduceRequest, JobRecord, Document]):
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
        self._judged: list[Document] = []
        self.jobs = request.jobs

    def preview(self) -> Report | None:
        """Return the list of the jobs, if that is all that is wanted."""
        return Report(tuple(map(self._list, self.papers))) if self.request.listed else None

    def _list(self, paper: Paper) -> Table:
        lines = []
        for job in paper.jobs:
            command = " ".join(job.words(full=self.request.full)) or "computed"
            lines.append(f"  {job.name}: {command}{'  (--full)' if job.full else ''}")
        claims = [claim for part in paper.parts for claim in part.claims]
        unplaced = [claim.row for claim in claims if not claim.place]
        lines.append(f"{len(claims)} claims, {len(unplaced)} without a place {unplaced or ''}")
        return Table(f"{paper.name}: {paper.citation}", lines=tuple(lines))

    def parts(self) -> Sequence[str]:
        """Return the jobs, long chains of needs first; those that run alone come last."""
        left = dict.fromkeys(self._jobs, 0)  # how many jobs wait for it, one for another
        for part in reversed(self._jobs):
            for needed in self.needs(part):
                left[needed] = max(left[needed], left[part] + 1)
        return sorted(self._jobs, key=lambda part: (self._jobs[part][1].alone, -left[part]))

    def is_done(self, part: str, found: JobRecord, session: Session) -> bool:
        """Return whether a job that was run before has a result that still counts."""
        paper, job = self._jobs[part]
        again = not found.accepted or job.name in self.request.again
        return not again and self.jobs_of(paper, session).is_current(job, found)

    def is_alone(self, part: str) -> bool:
        """Return whether a job measures times."""
        return self._jobs[part][1].alone

    def do(self, part: str, session: Session) -> JobRecord:
        """Run a job; what needs a failed one is not run."""
        paper, job = self._jobs[part]
        failed = [n for n in sorted(self.needs(part)) if not session.found[n].accepted]
        if failed:
            found, how = JobRecord(needs=failed[0]), f"not run, since {failed[0]} failed"
        else:
            found = self.jobs_of(paper, session).run(job, session.interrupted)
            how = f"{found.elapsed_s:.1f} s"
            how += "" if found.accepted else f"  FAILED with exit code {found.exit_code}"
        done = f"{len(session.found) + 1:3}/{len(self._jobs)}  {part}"
        session.say(f"{part}  interrupted" if found.interrupted else f"{done}  {how}")
        return found

    def needs(self, part: str) -> set[str]:
        """Return the jobs that a job reads from."""
        paper, job = self._jobs[part]
        return {f"{paper.name}/{name}" for name in job.required(full=self.request.full)}

    def conclude(self, parts: Sequence[JobRecord], session: Session) -> Document:
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

    def report(self, document: Document) -> Report:
        """Return the counts of verdicts, and what is not as printed."""
        if "sources" not in document:
            line = f"{document['jobs_done']} of {document['jobs']} jobs are done"
            return Report((Table("", lines=(line,)),))
        if self.request.claim:
            return claim_report(document["sources"], self.request.claim)
        if self.request.part:
            return part_report(document["sources"], self.request.part)
        return short_report(document["sources"])

    def draw(self, folder: Path, document: Document) -> Iterable[Path | str]:
        """Write the pages."""
        if self._judged:
            points = points_csv([paper.name for paper in self.papers], folder)
            yield from write_texts(folder, texts(self._judged) | {"points.csv": points})

    def ending(self, document: Document) -> tuple[int, str]:
        """Return 1 if a job failed."""
        jobs = [job for paper in document.get("sources", ()) for job in paper["jobs"]]
        return (1, "") if any(job["failed"] for job in jobs) else super().ending(document)

    def slug(self) -> str:
        """Return the end of the name of a new folder."""
        return "-".join(["reproduce", *self.request.sources])

    def jobs_of(self, paper: Paper, session: Session) -> PaperJobs:
        """The jobs of a paper in the folder of a reproduction."""
        found = {job.name: session.found.get(f"{paper.name}/{job.name}") for job in paper.jobs}
        records = {name: record for name, record in found.items() if record and record.words}
        place = session.folder / "jobs" / paper.name
        return PaperJobs(paper.name, paper.jobs, place, records, full=self.request.full)


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


def _without_pictures(paper: Mapping[str, Any]) -> Document:
    """A paper with its verdicts, without the text of its pictures."""

    def bare(picture: Mapping[str, Any]) -> Document:
        return {key: value for key, value in picture.items() if key != "svg"}

    parts = [{**part, "pictures": [*map(bare, part["pictures"])]} for part in paper["parts"]]
    return {**paper, "parts": parts}
