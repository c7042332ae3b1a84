"""The table of the reference run, as `eqbench run` prints it, and who finds which equilibria."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_tables import table

if TYPE_CHECKING:
    from eqbench.store.stored_run import StoredRun

RUN = Path(__file__).resolve().parents[1] / "results" / "reference" / "kuhn3"


def stored_run() -> StoredRun:
    """The reference run."""
    from eqbench.store.stored_run import read_run

    return read_run(RUN)


def reference(data: dict[str, Any]) -> str:
    """The table in a block of code; `data` only says what the run took."""
    from eqbench.report.exports import report_on
    from eqbench.report.terminal import plain_text, print_report

    report = report_on([stored_run()])
    text = plain_text(lambda console: print_report(report, console))
    return f"```\n{text}```\n"


def who_finds_what(data: dict[str, Any]) -> str:
    """One row per solver: the largest regret, which equilibria, and the range of beta."""
    names = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")
    rows = []
    for row in data["rows"]:
        known = [start["identity"] for start in row["starts"] if start["identity"]]
        found = [identity["name"] for identity in known if identity["on_path"]]
        betas = [identity["parameters"]["beta"] for identity in known]
        rows.append(
            [
                f"`{row['solver']}`",
                f"{max(start['max_regret'] for start in row['starts']):.1e}",
                *(f"{found.count(name)}" for name in names),
                f"{len(known) - len(found)}",
                f"{min(betas):.3f} to {max(betas):.3f}",
            ]
        )
    header = ["solver", "largest regret", *(f"`{name}`" for name in names), "near", "β"]
    return table(header, rows)
