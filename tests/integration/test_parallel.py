"""`-j N`: cells run at the same time, and the results are those of one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command import PLUGINS, accepted, eqbench_here

PARTNERS = str(PLUGINS / "partners.py")


def partners(folder: Path) -> str:
    return ",".join(
        f'waits_for_partner(folder="{folder}",me={me},partner={partner})'
        for me, partner in ("ab", "ba")
    )


@pytest.mark.parametrize(("jobs", "reason"), [("2", "met"), ("1", "alone")])
def test_as_many_cells_run_at_once_as_jobs_are_allowed(
    tmp_path: Path, jobs: str, reason: str
) -> None:
    ended = accepted(
        *("run", "--game", "kuhn2", "--solver", partners(tmp_path), "--plugin", PARTNERS),
        *("-j", jobs, "--timeout", "300" if jobs == "2" else "2", "--out", "run", "--json"),
        cwd=tmp_path,
    )
    assert ended.json["cells"][0]["reason"] == reason


def test_table_is_in_the_order_of_the_plan_and_results_do_not_depend_on_jobs(
    tmp_path: Path,
) -> None:
    request = ("--game", "kuhn2", "--game", "jordan", "--solver", "mccfr", "--seeds", "2")
    results = [
        eqbench_here(
            *("run", *request, "--iterations", "40", "--target", "0", "-j", jobs),
            *("--out", f"run{jobs}", "--json"),
            cwd=tmp_path,
        ).json["cells"]
        for jobs in ("1", "3")
    ]
    names = ("key", "game", "solver", "seed", "status", "regrets", "payoffs", "iterations")
    one, three = ([[cell[name] for name in names] for cell in cells] for cells in results)
    assert one == three
    plan = [["kuhn2", 0], ["kuhn2", 1], ["jordan", 0], ["jordan", 1]]
    assert [[cell[1], cell[3]] for cell in one] == plan
