"""What the commands print, and that what a run stores can be used again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import accepted
from helpers.command import eqbench_here as eqbench

from eqbench import verify

CELL_FIELDS = {
    *("game", "solver", "game_spec", "solver_spec", "seed", "status", "reason"),
    *("elapsed_s", "cpu_s", "setup_s", "overhead_s", "peak_memory_bytes", "iterations"),
    *("statistics", "payoffs", "regrets", "nash_conv", "max_regret", "exploitability"),
    "equilibria",
}
CANDIDATE_FIELDS = {"claim", "payoffs", "regrets", "nash_conv", "max_regret", "profile", "identity"}


def test_run_prints_and_stores_the_same_cells(tmp_path: Path) -> None:
    done = accepted(
        *("run", "--game", "kuhn2", "--solver", "cfr_plus,mccfr", "--seeds", "2"),
        *("--iterations", "500", "--json"),
        cwd=tmp_path,
    )
    document = done.json
    assert document["schema"] == "eqbench.run/1"
    cells = document["cells"]
    assert [(cell["solver"], cell["seed"]) for cell in cells] == [
        ("cfr_plus", None),
        ("mccfr", 0),
        ("mccfr", 1),
    ]
    for cell in cells:
        assert set(cell) >= CELL_FIELDS
        assert all(set(item) >= CANDIDATE_FIELDS for item in cell["equilibria"])
        assert cell["iterations"] == 500
        regrets = [item["max_regret"] for item in cell["equilibria"]]
        assert regrets == sorted(regrets)
        assert cell["max_regret"] == regrets[0]
    folder = tmp_path / document["run"]
    stored = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    assert stored == cells
    assert json.loads((folder / "manifest.json").read_text())["schema"] == "eqbench.run/1"


def test_stored_profile_verifies_to_the_reported_figures(tmp_path: Path) -> None:
    done = eqbench(
        *("run", "--game", "kuhn3", "--solver", "cfr_plus", "--iterations", "100", "--json"),
        cwd=tmp_path,
    )
    (cell,) = done.json["cells"]
    for item in cell["equilibria"]:
        profile = tmp_path / done.json["run"] / item["profile"]
        again = eqbench("verify", "--profile", profile, "--json", cwd=tmp_path).json
        assert again["schema"] == "eqbench.verify/1"
        for name in ("payoffs", "regrets", "nash_conv", "max_regret"):
            assert again[name] == pytest.approx(item[name], abs=1e-15)


def test_all_runs_every_default_solver_and_its_profiles_can_be_verified_exactly(
    tmp_path: Path,
) -> None:
    listed = eqbench("info", "solvers", "--json", cwd=tmp_path).json["solvers"]
    done = eqbench(
        *("run", "--game", "kuhn2", "--solver", "all", "--json"),
        *("--iterations", "77", "--target", "0"),
        cwd=tmp_path,
    )
    cells = done.json["cells"]
    assert [cell["solver"] for cell in cells] == [
        entry["name"] for entry in listed if entry["default_row"]
    ]
    assert all(cell["equilibria"] for cell in cells)
    for cell in cells:
        for item in cell["equilibria"]:
            profile = tmp_path / done.json["run"] / item["profile"]
            again = verify(cell["game_spec"], profile, exact=True)
            assert float(again.max_regret) == pytest.approx(item["max_regret"], abs=1e-15)


def test_two_names_of_one_game_are_one_game(tmp_path: Path) -> None:
    done = eqbench(
        *("run", "--game", "kuhn2", "--game", "kuhn(players=2)", "--solver", "mccfr", "--json"),
        *("--iterations", "5"),
        cwd=tmp_path,
    )
    assert [cell["game"] for cell in done.json["cells"]] == ["kuhn2"]


def test_closed_pipe_is_not_reported_as_a_crash(tmp_path: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m eqbench info games | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 141)
    assert done.stderr.count("Traceback") == 0


def test_completion_knows_games_and_solvers(tmp_path: Path) -> None:
    variables = {"_EQBENCH_COMPLETE": "bash_complete", "COMP_WORDS": "eqbench run --game sk"}
    done = subprocess.run(
        [sys.executable, "-c", "from eqbench.cli import app; app(prog_name='eqbench')"],
        env=os.environ | variables | {"COMP_CWORD": "3"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["plain,skp"]


@pytest.mark.parametrize("solver", ["cfr(start=random)", "replicator(start=random)"])
@pytest.mark.parametrize("game", ["shapley", "jordan"])
def test_a_method_that_does_not_converge_is_never_called_ok(
    tmp_path: Path, game: str, solver: str
) -> None:
    """In Shapley's (1964) and Jordan's (1993) games learning from other starts can cycle."""
    done = eqbench(
        *("run", "--game", game, "--solver", solver, "--json", "--iterations", "2000"), cwd=tmp_path
    )
    (cell,) = done.json["cells"]
    last = [item for item in cell["equilibria"] if item["claim"] == "iterate"]
    assert last[0]["max_regret"] > 0.01
    assert cell["status"] == "limit"
    assert cell["reason"].startswith("stopped after 2,000 iterations")


@pytest.mark.parametrize("what", ["games", "solvers", "experiments"])
def test_listing_imports_no_heavy_package(tmp_path: Path, what: str) -> None:
    code = (
        "import sys; from eqbench.cli import app;"
        f"app.main(['info', '{what}', '--json'], standalone_mode=False);"
        "heavy = {'numpy', 'numba', 'scipy', 'pandas', 'matplotlib', 'pyspiel', 'pygambit'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"
    assert json.loads(done.stdout)[what]
