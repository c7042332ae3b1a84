"""`eqbench report` and `eqbench show` on a real run."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from command import Ended, eqbench

import eqbench as package


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run stands in results/run."""
    path = tmp_path_factory.mktemp("work")
    ended = eqbench(
        *("run", "--game", "kuhn3", "--game", "kuhn2", "--solver", "pcfr_plus,mccfr,sequence_lp"),
        *("--seeds", "2", "--iterations", "500", "--out", "results/run", "-j", "2"),
        cwd=path,
    )
    assert ended.code == 0, ended.err
    return path


def report(folder: Path, *arguments: str) -> Ended:
    return eqbench("report", *arguments, cwd=folder)


def test_report_prints_the_table_that_the_run_printed(folder: Path) -> None:
    again = eqbench("run", "--resume", "results/run", cwd=folder)
    assert report(folder, "results/run").out == again.out
    assert report(folder, "latest").out == again.out


def test_formats_go_to_standard_output_or_to_files(folder: Path, tmp_path: Path) -> None:
    text = report(folder, "results/run", "--format", "csv").out
    assert len(list(csv.DictReader(io.StringIO(text)))) == 8
    out = tmp_path / "tables"
    written = report(folder, "results/run", "--format", "terminal,md,csv,tex", "--out", str(out))
    assert written.code == 0
    assert written.out == ""
    names = {"report.txt", "report.md", "report.csv", "report.tex"}
    assert {file.name for file in out.iterdir()} == names
    assert all(name in written.err for name in names)
    assert (out / "report.csv").read_bytes().count(b"\r\n") == 9
    assert r"\toprule" in (out / "report.tex").read_text()


def test_summary_has_one_row_for_all_seeds(folder: Path) -> None:
    out = report(folder, "results/run", "--summary").out
    assert [line.split()[1:3] for line in out.splitlines() if line.startswith("mccfr")] == [
        ["2", "0"],
        ["2", "0"],
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere"], "holds no run"),
        (["results/run", "--format", "markdown"], "known: csv, md"),
        (["results/run", "--format", "md,csv"], "--out"),
        (["results/run", "--format", ","], "no format"),
        ([], "Missing argument"),
    ],
)
def test_report_refuses(folder: Path, arguments: list[str], complaint: str) -> None:
    ended = report(folder, *arguments)
    assert ended.code == 2
    assert complaint in ended.err
    assert "Traceback" not in ended.err


def test_show_prints_every_information_set_and_the_grid_of_three_player_kuhn(
    folder: Path,
) -> None:
    ended = eqbench("show", "results/run", "kuhn3/pcfr_plus", cwd=folder)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    sets = {line.split()[0] for line in lines if ":" in line.split(" ")[0]}
    assert {"1:", "4:KKB", "2:KKBF", "3:BC"} <= sets
    assert len([label for label in sets if label[0].isdigit()]) == 48
    assert "unreached" in ended.out
    for letter, situation in (("a_jk", "KKB"), ("b_jk", "KKBF"), ("c_jk", "BC")):
        (head,) = [line for line in lines if line.startswith(letter)]
        assert situation in head
        rows = lines[lines.index(head) + 1 :][:4]
        assert [row.split()[:2] for row in rows] == [["card", str(j)] for j in (1, 2, 3, 4)]
        assert all(len(row.split()) == 6 for row in rows)


def test_show_in_json_agrees_with_the_stored_profile(folder: Path) -> None:
    facts = eqbench("show", "results/run", "kuhn3/pcfr_plus", "--json", cwd=folder).json
    assert facts["schema"] == "eqbench.show/1"
    file = folder / "results/run" / facts["candidate"]["profile"]
    behavior = json.loads(file.read_text())["behavior"]
    for item in facts["information_sets"]:
        for action in item["actions"]:
            stored = behavior[item["player"]][item["label"]].get(action["action"], 0)
            assert action["frequency"] == pytest.approx(float(stored), abs=1e-15)
    bets = facts["szafron"]["c"][3]
    assert bets[1] == behavior["P3"]["4:KB"].get("call", 0)
    regrets = package.verify("kuhn3", str(file)).regrets
    assert facts["candidate"]["regrets"] == pytest.approx(regrets, abs=1e-15)


def test_show_of_a_cell_without_a_profile_says_why(folder: Path) -> None:
    ended = eqbench("show", "results/run", "kuhn3/sequence_lp", cwd=folder)
    assert ended.code == 0
    assert "unsupported" in ended.out
    assert "3 players" in " ".join(ended.out.split())
    assert "no profile" in ended.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["mccfr"], "fits several cells"),
        (["kuhn3/dcfr"], "has no cell"),
        (["kuhn3/mccfr/1", "--rank", "9"], "--rank is 0"),
    ],
)
def test_show_refuses_what_names_no_single_profile(
    folder: Path, arguments: list[str], complaint: str
) -> None:
    ended = eqbench("show", "results/run", *arguments, cwd=folder)
    assert ended.code == 2
    assert complaint in ended.err
    assert "kuhn3/mccfr/1" in ended.err or "--rank" in ended.err
