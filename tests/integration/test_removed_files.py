"""Solvers that remove or overwrite files of the run hurt no other cell and cost no result."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import PLUGINS
from command import eqbench_here as eqbench

from eqbench.store.stored_run import read_run


def test_cells_after_one_that_removes_or_overwrites_their_game_are_run_as_usual(
    tmp_path: Path,
) -> None:
    done = eqbench(
        *("run", "--game", "kuhn2", "--json", "--iterations", "50", "--out", "run"),
        *("--solver", "removes_the_scratch_folder,overwrites_the_game,cfr_plus"),
        *("--plugin", PLUGINS / "escapes.py"),
        cwd=tmp_path,
    )
    assert done.cell("overwrites_the_game")["status"] == "refuted"
    innocent = done.cell("cfr_plus")
    assert (innocent["status"], innocent["iterations"]) == ("limit", 50)
    assert innocent["payoffs"] == pytest.approx([-1 / 18, 1 / 18], abs=0.1)


def test_results_are_kept_when_solvers_remove_their_folder_and_what_is_in_it(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    files = ("", "profiles", "runs.jsonl", "manifest.json")
    solvers = ["cfr", *(f'removes(path="{run / file}")' for file in files), "cfr_plus"]
    done = eqbench(
        *("run", "--game", "kuhn2", "--json", "--iterations", "20", "--out", run),
        *(part for solver in solvers for part in ("--solver", solver)),
        *("--plugin", PLUGINS / "escapes.py"),
        cwd=tmp_path,
    )
    assert [cell["status"] for cell in done.json["cells"]] == ["limit"] * 6
    stored = read_run(run)
    assert (stored.missing, stored.notes) == (0, ())
    assert [cell.max_regret for cell in stored.cells] == [
        cell["max_regret"] for cell in done.json["cells"]
    ]
