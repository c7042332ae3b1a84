"""Studies that go on: nothing found before is lost, and what was extended stays."""

from __future__ import annotations

import json
from pathlib import Path

from helpers.command import eqbench_here, refused

QRE = ("qre", "--game", "matching_pennies", "--to", "10", "-q", "--json")


def test_extension_of_a_study_is_kept_by_the_next_resume(tmp_path: Path) -> None:
    assert eqbench_here(*QRE, "--out", "q", cwd=tmp_path).code == 0
    longer = eqbench_here("qre", "--resume", "q", "--branches", "2", "-q", "--json", cwd=tmp_path)
    assert [entry["seed"] for entry in longer.json["branches"]] == [None, 0, 1]
    again = eqbench_here("qre", "--resume", "q", "-q", "--json", cwd=tmp_path)
    assert again.json == longer.json
    refused("qre", "--resume", "q", "--to", "20", words="--to 10", cwd=tmp_path)


def test_report_of_an_experiment_is_written_when_its_run_goes_on(tmp_path: Path) -> None:
    text = 'game = "kuhn2"\nsolver = "lcp"\nreport = ["csv"]\n'
    (tmp_path / "mine.toml").write_text(text)
    assert eqbench_here("run", "mine.toml", "--out", "r", "-q", cwd=tmp_path).code == 0
    (tmp_path / "r" / "report.csv").unlink()
    assert eqbench_here("run", "--resume", "r", "-q", cwd=tmp_path).code == 0
    assert (tmp_path / "r" / "report.csv").exists()
    assert 'report = [\n    "csv",\n]' in (tmp_path / "r" / "manifest.toml").read_text()
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["name"] == "mine"


def test_folder_of_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    options = ("run", "--game", "kuhn2", "--solver", "lcp", "-q", "--out", "other")
    assert eqbench_here(*options, cwd=tmp_path).code == 0
    (tmp_path / "mine.toml").write_text('game = "kuhn2"\nsolver = "sequence_lp"\n')
    words = "another folder with --out"
    refused("run", "mine.toml", "--out", "other", words=words, cwd=tmp_path)
    assert len((tmp_path / "other" / "runs.jsonl").read_text().splitlines()) == 1
