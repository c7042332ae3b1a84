"""`eqbench suite` on a few small games with solvers that are fast on them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import PATIENCE_S, PLUGINS, Ended, eqbench, wait_for

NAME = "ganzfried_2025_table_1"
SIZES = ("--size", "5x2", "--size", "3x3")
# They end at once: one as if at its limit, the other without having found anything.
LIMITED, EMPTY = "well_behaved", "hands_over_nothing"
PLUGIN = ("--plugin", str(PLUGINS / "faults.py"))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """One game of each of two sizes, in the folder ``run``."""
    return eqbench(
        *("suite", NAME, *SIZES, "--games", "1", "--timeout", "7", "-j", "2"),
        *(*PLUGIN, "--solver", LIMITED, "--solver", EMPTY, "--out", "run"),
        cwd=tmp_path_factory.mktemp("place"),
    )


def keys(run: Path) -> list[str]:
    return [json.loads(line)["key"] for line in (run / "runs.jsonl").read_text().splitlines()]


def test_suite_prints_the_table_beside_the_published_one_and_writes_it(first: Ended) -> None:
    assert first.code == 0, first.err
    run = first.folder / "run"
    printed = " ".join(first.out.split())
    for word in ("3x3", "5x2", LIMITED, EMPTY, "1.62", "is a lower bound"):
        assert word in printed
    assert "planning 4 cells" in first.err
    assert "4 cells to run: about 2 s for starting processes" in first.err
    assert "wrote summary.json, table.md, table.csv, table.tex in run" in first.err
    document = json.loads((run / "summary.json").read_text())
    for size in document["sizes"]:
        limited, empty = size["solvers"]
        assert (limited["timeouts"], limited["mean_with_timeouts_s"]) == (1, 7)
        assert (empty["failed"], empty["statuses"]) == (1, {"not_found": 1})
    assert document["environment"]["cores"] >= 1


def test_solvers_alternate_game_by_game(first: Ended) -> None:
    plan = json.loads((first.folder / "run" / "manifest.json").read_text())
    lines = (first.folder / "run" / "runs.jsonl").read_text().splitlines()
    by_key = {record["key"]: record for record in map(json.loads, lines)}
    cells = [(by_key[key]["game"], by_key[key]["solver"]) for key in plan["cells"]]
    assert cells == [
        (f"random(players={size},seed=0)", solver)
        for size in ("3,actions=3", "5,actions=2")
        for solver in (LIMITED, EMPTY)
    ]


def test_resumed_suite_runs_further_games_only_and_report_reads_it(first: Ended) -> None:
    run = first.folder / "run"
    before = keys(run)
    done = eqbench(
        *("suite", NAME, "--resume", "run", "--games", "2", "--json", "-q"), cwd=first.folder
    )
    assert done.code == 0, done.err
    assert done.err == ""
    assert keys(run)[: len(before)] == before
    assert len(keys(run)) == 8
    assert done.json == json.loads((run / "summary.json").read_text())
    assert [column["solver"] for column in done.json["columns"]] == [LIMITED, EMPTY]
    assert [size["size"] for size in done.json["sizes"]] == ["3x3", "5x2"]
    assert {own["games"] for size in done.json["sizes"] for own in size["solvers"]} == {2}
    assert done.json["timeout_s"] == 7
    again = eqbench("suite", NAME, "--resume", "run", cwd=first.folder)
    assert "all 8 cells are there already" in again.err
    assert len(keys(run)) == 8
    report = eqbench("report", "run", "--format", "csv", cwd=first.folder)
    assert report.code == 0
    assert report.out.count("random(") >= 8


def test_interrupted_suite_keeps_what_it_has_and_says_how_to_go_on(tmp_path: Path) -> None:
    runner = subprocess.Popen(
        [
            *(sys.executable, "-m", "eqbench", "suite", NAME, "--size", "5x2", "--games", "1"),
            *(*PLUGIN, "--solver", "lcp,loops_in_native_code", "--out", "run"),
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = tmp_path / "run" / "runs.jsonl"
    assert wait_for(lambda: runner.poll() is not None or (lines.exists() and lines.read_text()))
    runner.send_signal(signal.SIGINT)
    out, err = runner.communicate(timeout=PATIENCE_S)
    assert runner.returncode == 130, err
    assert f"go on with:\n  eqbench suite {NAME} --resume run" in err
    assert "unsupported" in out
    assert (tmp_path / "run" / "table.md").exists()


def test_solver_that_is_unavailable_leaves_the_other_one_measured(tmp_path: Path) -> None:
    done = eqbench(
        *("suite", NAME, "--size", "5x2", "--games", "1", "--timeout", "60", "--out", "run"),
        *(*PLUGIN, "--solver", "arclength,needs_a_licence", "--json"),
        cwd=tmp_path,
    )
    assert done.code == 0, done.err
    measured, missing = done.json["sizes"][0]["solvers"]
    assert (measured["solved"], measured["precise"]) == (1, 1)
    assert missing["statuses"] == {"unavailable": 1}
    assert missing["reasons"]["unavailable"].startswith("licence")
    table = (tmp_path / "run" / "table.md").read_text()
    assert "| unavailable |" in table
    assert "licence" in table


def test_list_names_suites_with_their_sizes_and_columns(tmp_path: Path) -> None:
    done = eqbench("suite", "--list", cwd=tmp_path)
    assert done.code == 0
    for word in (NAME, "3x3, 3x4, 3x5, 3x6, 4x3, 5x2", "NCP = ncp(", "MIP = mip("):
        assert word in done.out
    (suite,) = eqbench("suite", "--list", "--json", cwd=tmp_path).json["suites"]
    assert suite["sizes"][0]["published"] == [0.0619, 0.1002]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ganzfried_2025_tabel_1",), ("unknown suite", f"did you mean {NAME}")),
        ((NAME, "--size", "3x9"), ("no size '3x9'", "3x3, 3x4")),
        ((NAME, "--solver", "lcp"), ("--solver names lcp", "give --solver twice")),
        ((NAME, "--solver", "lcp,arclenght"), ("'arclenght'", "did you mean arclength")),
        ((NAME, "--solver", "lcp,cfr(strat=random)"), ("strat", "did you mean start")),
        ((NAME, "--solver", "cfr,cfr(start=uniform)"), ("are the same",)),
        ((NAME, "--solver", "lcp,cfr", "--backend", "scip"), ("backend=scip",)),
        ((NAME, "--resume", "nowhere"), ("nowhere holds no run",)),
        ((NAME, "--resume", "here", "--out", "there"), ("either --resume or --out",)),
    ],
)
def test_suite_refuses_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = eqbench("suite", *arguments, "--games", "1", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1, done.err
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == [], "nothing may be left behind"
