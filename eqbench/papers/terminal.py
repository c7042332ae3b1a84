"""The verdicts of a reproduction for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eqbench.papers.claims import VERDICTS
from eqbench.papers.html import WORDS

if TYPE_CHECKING:
    from rich.console import Console


def print_verdicts(judged: list[dict[str, Any]], console: Console) -> None:
    """Print how many claims have which verdict, then what was not reproduced and why."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("source")
    for verdict in VERDICTS:
        table.add_column(WORDS[verdict], justify="right")
    for source in judged:
        table.add_row(source["name"], *(str(source["counts"][verdict]) for verdict in VERDICTS))
    console.print(table)
    for source in judged:
        for part in source["parts"]:
            for claim in part["claims"]:
                if claim["verdict"] in ("differs", "source_error"):
                    place = " ".join(filter(None, (claim["row"], claim["column"])))
                    console.print(
                        f"{WORDS[claim['verdict']]}: {source['name']}, {part['title']}, "
                        f"{place}: {claim['ours']} instead of {claim['theirs']}; "
                        f"{claim['detail']}"
                    )
    for why, count in _reasons(judged).items():
        console.print(f"not attempted, {count}: {why}")


def _reasons(judged: list[dict[str, Any]]) -> dict[str, int]:
    """Why claims were not attempted, with how many."""
    reasons: dict[str, int] = {}
    for source in judged:
        for part in source["parts"]:
            for claim in part["claims"]:
                if claim["verdict"] == "not_attempted":
                    reasons[claim["detail"]] = reasons.get(claim["detail"], 0) + 1
    return reasons
