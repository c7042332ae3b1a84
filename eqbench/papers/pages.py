"""The files of a reproduction, made from judged sources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eqbench.papers.claims import VERDICTS
from eqbench.papers.folder import claims_csv, document
from eqbench.papers.html import WORDS, index_page, source_page
from eqbench.papers.jobs import Workshop
from eqbench.papers.points import points_csv
from eqbench.studies.study_files import write_texts


def write_pages(
    judged: list[dict[str, Any]], workshops: Sequence[Workshop], folder: Path, *, full: bool
) -> list[Path]:
    """The files, written into the folder of a reproduction.

    Parameters
    ----------
    judged : the sources with their verdicts
    workshops : where the jobs of these lie

    Raises
    ------
    StoreError
        If one cannot be written.
    """
    summary = json.dumps(document(judged, full=full), indent=1, allow_nan=False) + "\n"
    pages = {f"{source['name']}.html": source_page(source) for source in judged}
    texts = {
        "index.html": index_page(judged, full=full),
        **pages,
        "report.md": markdown(judged),
        "claims.csv": claims_csv(judged),
        "points.csv": points_csv(workshops, folder),
        "summary.json": summary,
    }
    return write_texts(folder, texts)


def markdown(judged: list[dict[str, Any]]) -> str:
    """The page as Markdown."""
    lines = ["# Published results, reproduced", "", *counts_table(judged)]
    for source in judged:
        lines += ["", f"## {source['citation']}"]
        for part in source["parts"]:
            lines += ["", f"### {part['title']}", ""]
            lines += [part["note"], ""] if part["note"] else []
            lines += _claims_table(part["claims"])
        lines += ["", f"### Jobs of {source['name']}", "", *_jobs_table(source["jobs"])]
    return "\n".join(lines) + "\n"


def counts_table(judged: list[dict[str, Any]]) -> list[str]:
    """Lines of a table in Markdown: how many claims of each source have which verdict."""
    head = ["source", *(WORDS[verdict] for verdict in VERDICTS), "claims"]
    rows = [
        [source["name"], *(counts[verdict] for verdict in VERDICTS), sum(counts.values())]
        for source in judged
        for counts in (source["counts"],)
    ]
    return _table(head, rows, numbers=True)


def _claims_table(claims: list[dict[str, Any]]) -> list[str]:
    grid = any(claim["column"] for claim in claims)
    head = ["", *(["column"] if grid else []), "theirs", "ours", "verdict", "jobs"]
    rows = [
        [
            claim["row"],
            *([claim["column"]] if grid else []),
            claim["theirs"],
            claim["ours"],
            ": ".join(filter(None, (WORDS[claim["verdict"]], claim["detail"]))),
            ", ".join(claim["jobs"]) or "–",
        ]
        for claim in claims
    ]
    return _table(head, rows)


def _jobs_table(jobs: list[dict[str, Any]]) -> list[str]:
    rows = [
        [job["name"], f"`{job['command']}`", job["run"], f"{job['elapsed_s']:.1f} s"]
        for job in jobs
    ]
    return _table(["job", "command", "run", "time"], rows)


def _table(head: list[str], rows: list[list[Any]], *, numbers: bool = False) -> list[str]:
    rule = ["---", *(["---:" if numbers else "---"] * (len(head) - 1))]
    return [
        "| " + " | ".join(_escaped(str(value)) for value in row) + " |"
        for row in (head, rule, *rows)
    ]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
