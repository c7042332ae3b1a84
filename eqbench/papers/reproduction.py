"""The study behind ``eqbench reproduce``: a job for each part, verdicts when all are there."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from copy import deepcopy
from pathlib import Path
from typing import Any

from eqbench.documents import convert
from eqbench.errors import EqbenchError, UsageError, nearest
from eqbench.papers.jobs import JobRecord, PaperJobs, wanted_jobs
from eqbench.papers.pages import claim_report, part_report, points_csv, short_report, texts
from eqbench.papers.paper import SHIPPED, Paper, load_paper
from eqbench.papers.request import ReproduceRequest
from eqbench.papers.verdicts import SCHEMA, judge
from eqbench.report.rows import Report, Table
from eqbench.store.run_folder import write_texts
from eqbench.studies.frame import Session, Study, StudyFolder

_SLICE_S = 0.2


class Reproduction(Study[ReproduceRequest]):
    """Papers held against what their jobs store; a part is ``paper/job``."""

    request_type = ReproduceRequest
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
        self.place, self.records = Path(), dict[str, dict[str, Any]]()

    @classmethod
    def folder_type(cls) -> type[StudyFolder]:
        """Return how its folder is written and read."""
        return ReproductionFolder

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

    def needs_first(self) -> Sequence[str]:
        """Return the jobs, each after those that it needs."""
        return list(self._jobs)

    def parts(self) -> Sequence[str]:
        """Return the jobs, long chains of needs first; those that run alone come last."""
        left = dict.fromkeys(self._jobs, 0)  # how many jobs wait for it, one for another
        for part in reversed(self._jobs):
            for needed in self._needs(part):
                left[needed] = max(left[needed], left[part] + 1)
        return sorted(self._jobs, key=lambda part: (self._jobs[part][1].alone, -left[part]))

    def is_done(self, part: str, record: Mapping[str, Any], folder: Path) -> bool:
        """Return whether a job that was run before has a result that still counts."""
        paper, job = self._jobs[part]
        if not record.get("accepted") or job.name in self.request.again:
            return False
        return self.jobs_of(paper, folder).is_current(job, convert(record, JobRecord, "the record"))

    def may_begin(self, part: str, running: Collection[str]) -> bool:
        """Return whether a job's needs are there and nothing that wants to be alone runs."""
        alone = [self._jobs[other][1].alone for other in (part, *running)]
        return self._needs(part) <= set(self.records) and not (any(alone) and running)

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Run a job; what needs a failed one is not run."""
        paper, job = self._jobs[part]
        failed = [n for n in sorted(self._needs(part)) if not self.records[n]["accepted"]]
        if failed:
            return {"part": part, "accepted": False, "needs": failed[0]}
        record = self.jobs_of(paper, session.folder).run(job, session.interrupted)
        return {"part": part, "interrupted": True} if record is None else {"part": part, **record}

    def _needs(self, part: str) -> set[str]:
        paper, job = self._jobs[part]
        return {f"{paper.name}/{name}" for name in job.required(full=self.request.full)}

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
        """Return the verdicts when all jobs are there, before that how many are."""
        bare = {"schema": SCHEMA, "full": self.request.full, "finished": finished}
        if not finished:
            return bare | {"jobs_done": len(records), "jobs": len(self._jobs)}
        self._judged = [judge(paper, self.jobs_of(paper, self.place)) for paper in self.papers]
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

    def jobs_of(self, paper: Paper, root: Path) -> PaperJobs:
        """The jobs of a paper in the folder of a reproduction."""

        def record(name: str) -> JobRecord | None:
            found = self.records.get(f"{paper.name}/{name}", {})
            return convert(found, JobRecord, "the record") if "words" in found else None

        place = root / "jobs" / paper.name
        return PaperJobs(paper.name, paper.jobs, place, record, full=self.request.full)


class ReproductionFolder(StudyFolder):
    """The folder of a reproduction, in which several jobs run at the same time."""

    def carry_out(self, study: Study[Any], session: Session) -> dict[str, Any]:
        """Run what is missing, each job when what it needs is there; then judge all claims."""
        assert isinstance(study, Reproduction)
        study.place, study.records = self.path, self.records
        for part in study.needs_first():  # what it needs may be stale, and then it is so too
            record = self.records.get(part)
            if record is not None and not study.is_done(part, record, self.path):
                del self.records[part]
        waiting = [part for part in study.parts() if part not in self.records]
        total, running = len(study.parts()), dict[Future[dict[str, Any]], str]()
        with ThreadPoolExecutor(study.request.jobs) as pool:
            while (waiting or running) and not (session.interrupted() and not running):
                free = 0 if session.interrupted() else study.request.jobs - len(running)
                for part in [p for p in waiting if study.may_begin(p, running.values())][:free]:
                    if study.may_begin(part, running.values()):  # after those just begun
                        waiting.remove(part)
                        running[pool.submit(study.do, part, session)] = part
                session.tell(", ".join(running.values()))
                session.done(len(self.records) / total)
                for future in wait(running, _SLICE_S, return_when=FIRST_COMPLETED).done:
                    part, record = running.pop(future), future.result()
                    self.keep(part, record)
                    session.say(_said(part, record, len(self.records), total))
        try:
            return self.summarize(study)
        except (EqbenchError, OSError):
            raise
        except Exception as error:
            raise _mistake(self.path, error) from error


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
