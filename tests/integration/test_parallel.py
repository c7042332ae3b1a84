"""`-j N`: cells run at the same time, and the results are those of one after the other."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from helpers.command import PATIENCE_S, PLUGINS, accepted, eqbench_here, started, wait_for

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


def test_interrupt_keeps_what_all_running_cells_had_reported(tmp_path: Path) -> None:
    """Partners who miss each other run until the interrupt."""
    solvers = ",".join(
        f'waits_for_partner(folder="{tmp_path}",me={me},partner=nobody)' for me in "ab"
    )
    limits = ("--plugin", PARTNERS, "-j", "2", "--timeout", "600", "--out", "run")
    run = started("run", "--game", "kuhn2", "--solver", solvers, *limits, cwd=tmp_path)
    assert wait_for(lambda: (tmp_path / "a").exists() and (tmp_path / "b").exists())
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 130
    assert out.count("interrupted") >= 2
    assert "interrupted after 0 of 2 cells" in err
    assert "eqbench run --resume run" in err
