"""Every claim of a paper with a verdict, from what its jobs have stored; nothing is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict

from eqbench.errors import UsageError
from eqbench.papers.checks import Missing, difference, entries_of, read_check, shown
from eqbench.papers.jobs import PaperJobs, function_of
from eqbench.papers.paper import NOT_COMPARABLE, Attachment, Claim, Figure, Paper, Part
from eqbench.papers.stored import NotStoredError

SCHEMA = "eqbench.reproduce/1"
VERDICTS = ("reproduced", "differs", "not_comparable", "source_error", "not_attempted")
Read = tuple[Any, list[str]]  # a value, and the jobs that it was read off


class Facts:
    """What a paper's functions read off its jobs, each called once."""

    def __init__(self, paper: Paper, stored: PaperJobs) -> None:
        self._paper, self._stored = paper, stored
        self._known: dict[str, Read] = {}

    def at(self, path: str) -> Read:
        """The value at ``function/key/key`` or ``job/key/key``, and the jobs that were read."""
        name, *keys = path.split("/")
        value, jobs = self.of(name)
        for key in keys:
            if isinstance(value, Missing):
                break
            entries = entries_of(value)
            if key not in entries:
                raise KeyError(f"the fact {path}: there is no {key!r}, only {', '.join(entries)}")
            value = entries[key]
        return value, jobs

    def of(self, target: str) -> Read:
        """What a function, or a job, has found, and the jobs read; what it raises is a bug."""
        if target not in self._known:
            try:
                self._known[target] = self.read(function_of(self._paper.folder, target))
            except UsageError:
                if target not in (job.name for job in self._paper.jobs):
                    raise
                self._known[target] = self.read(lambda stored: stored[target].found)
        return self._known[target]

    def read(self, function: Callable[[PaperJobs], Any]) -> Read:
        """What is read off jobs, `Missing` if one of them was not run, and their names."""
        self._stored.used = []
        try:
            value = function(self._stored)
        except NotStoredError as error:
            value = Missing(str(error))
        return value, self._stored.used


def judge(paper: Paper, stored: PaperJobs) -> dict[str, Any]:
    """A paper with a verdict on each claim, as JSON values."""
    facts = Facts(paper, stored)
    parts = [_part(part, facts) for part in paper.parts]
    claims = [claim for part in parts for claim in part["claims"]]
    for number, claim in enumerate(claims, start=1):
        claim["id"] = f"{paper.name}-{number}"
    counts = Counter(claim["verdict"] for claim in claims)
    return {
        "name": paper.name,
        "citation": paper.citation,
        "full": stored.full,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS},
        "checks": sum(part["checks"] for part in parts),
        "parts": parts,
        "jobs": [
            {
                "name": job.name,
                "command": record.command,
                "run": f"jobs/{stored.paper}/{job.name}{'' if job.out else '.out'}",
                "exit_code": record.exit_code,
                "failed": not record.accepted,
                "elapsed_s": record.elapsed_s,
            }
            for job in paper.jobs
            if (record := stored.records.get(job.name)) is not None
        ],
    }


def _part(part: Part, facts: Facts) -> dict[str, Any]:
    functions = {claim.fact.partition("/")[0] for claim in part.claims if claim.fact}
    return {
        "title": part.title,
        "note": " ".join(part.note.split()),
        "checks": len(functions),
        "claims": [_claim(claim, facts) for claim in part.claims],
        "pictures": [_figure(figure, facts) for figure in part.figures],
        "files": [asdict(file) for file in part.files if _is_there(file, facts)],
    }


def _claim(claim: Claim, facts: Facts) -> dict[str, Any]:
    value, jobs = facts.at(claim.fact) if claim.fact else (Missing(claim.note), [])
    try:
        verdict, ours, detail = verdict_of(claim, value, facts)
    except UsageError as error:
        raise UsageError(f"the claim {claim.row} {claim.column}: {error}") from None
    return {
        "place": claim.place,
        "row": claim.row,
        "column": claim.column,
        "theirs": claim.printed,
        "ours": ours,
        "verdict": verdict,
        "cause": claim.cause if verdict in ("differs", "not_comparable") else "",
        "detail": detail,
        "fact": claim.fact,
        "check": claim.check,
        "jobs": jobs,
    }


def verdict_of(claim: Claim, value: Any, facts: Facts) -> tuple[str, str, str]:
    """Verdict, our value as text, and what there is to say."""
    if isinstance(value, Missing):
        return "not_attempted", "not attempted", value.why
    ours, holds = shown(value), read_check(claim.check)(value)
    if holds:
        return "reproduced", ours, claim.note
    if holds is None:
        return "not_attempted", ours, "; ".join(filter(None, ("a bound only", claim.note)))
    if claim.evidence and _is_wrong(claim, facts):
        return "source_error", ours, claim.note or f"{claim.evidence} was checked"
    by = filter(None, (difference(value, claim.printed), claim.note))
    verdict = "not_comparable" if claim.cause in NOT_COMPARABLE else "differs"
    return verdict, ours, "; ".join(by) or f"not {claim.check}"


def _is_wrong(claim: Claim, facts: Facts) -> bool:
    """Whether the evidence against a claim, a fact or a fact with a check of its own, is true."""
    path, _, check = claim.evidence.partition(": ")
    evidence, _ = facts.at(path)
    if isinstance(evidence, Missing):
        return False
    return evidence is True or bool(check and read_check(check)(evidence))


def _figure(figure: Figure, facts: Facts) -> dict[str, Any]:
    """A figure with its picture as SVG, or why it is missing."""
    job, _, file = figure.file.partition("/")
    if figure.draw:
        svg, jobs = facts.of(figure.draw)
    else:
        svg, jobs = facts.read(lambda stored: stored[job].text(file or f"../{job}.out"))
    missing = svg.why if isinstance(svg, Missing) else ""
    return {
        "title": figure.title,
        "caption": " ".join(figure.caption.split()),
        "svg": "" if missing else svg,
        "missing": missing,
        "jobs": jobs,
    }


def _is_there(file: Attachment, facts: Facts) -> bool:
    found, _ = facts.read(lambda stored: (stored[file.job].path / file.file).exists())
    return found is True
