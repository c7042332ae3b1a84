"""What came of the published claims: counts, and everything that is not as printed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from markdown_tables import table

VERDICTS = ("reproduced", "differs", "source_error", "not_attempted")
HEADER = ["source", "reproduced", "differs", "error in the source", "not attempted", "claims"]


def reproduction(data: dict[str, Any]) -> str:
    """Verdicts by source, of the full extent, then of what takes minutes."""
    return "\n".join(
        f"{title}, {data[extent]['wall_s'] / 60:.0f} minutes on two cores:\n\n"
        + table(HEADER, _counts(data[extent]["sources"]))
        for extent, title in (("full", "`eqbench reproduce --full`"), ("quick", "Without `--full`"))
    )


def _counts(sources: list[dict[str, Any]]) -> list[list[str]]:
    rows = [[source["name"], *_row(source["counts"])] for source in sources]
    total: Counter[str] = Counter()
    for source in sources:
        total.update(source["counts"])
    return [*rows, ["all", *_row(total)]]


def _row(counts: dict[str, int]) -> list[str]:
    return [str(number) for number in (*(counts[v] for v in VERDICTS), sum(counts.values()))]


def reproduction_errors(data: dict[str, Any]) -> str:
    """Errors in the sources, with the evidence."""
    return _listed(data, "source_error", "evidence")


def reproduction_differences(data: dict[str, Any]) -> str:
    """What we do not get, and by how much."""
    return _listed(data, "differs", "by")


def _listed(data: dict[str, Any], verdict: str, detail: str) -> str:
    rows = [
        [
            source["name"],
            _text(part["title"]),
            _text(" · ".join(filter(None, (claim["row"], claim["column"])))),
            *(_text(claim[name]) for name in ("theirs", "ours", "detail")),
        ]
        for source in data["full"]["sources"]
        for part in source["parts"]
        for claim in part["claims"]
        if claim["verdict"] == verdict
    ]
    header = ["source", "part", "claim", "theirs", "ours", detail]
    return table(header, rows, texts=range(len(header)))


def _text(text: str) -> str:
    """A text that Markdown shows as it is."""
    for char in "\\|*_<>$[]`":
        text = text.replace(char, f"\\{char}")
    return text.replace("\n", " ")


def reproduction_open(data: dict[str, Any]) -> str:
    """Equilibria of three-player Kuhn poker by method, and all together."""
    (source,) = [one for one in data["full"]["sources"] if one["name"] == "szafron"]
    rows = [
        [_text(claim["row"]), _text(claim["ours"]), _text(claim["detail"] or "–")]
        for part in source["parts"]
        if "open question" in part["title"]
        for claim in part["claims"]
        if claim["verdict"] != "not_attempted"
    ]
    return table(["method or question", "found", "and"], rows, texts=range(3))


def reproduction_trajectories(data: dict[str, Any]) -> str:
    """What trajectories of Billingham's equations do at his pots."""
    (source,) = [one for one in data["full"]["sources"] if one["name"] == "billingham_2017"]
    rows = [
        [_text(claim[name]) for name in ("row", "column", "theirs", "ours", "verdict")]
        for part in source["parts"]
        for claim in part["claims"]
        if claim["row"].startswith("P =")
        and claim["column"]
        and any(job.startswith("regimes") for job in claim["jobs"])
    ]
    return table(["pot", "of", "the paper", "here", "verdict"], rows, texts=range(5))
