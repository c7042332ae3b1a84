"""What commands say about a run with a damaged line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.pages import FIRST, LAST, run_with_line

from eqbench.cli import app

NOTE = "1 line of"


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(run_with_line(tmp_path / "run", b'{"key": 5}'))


@pytest.mark.parametrize("form", ["terminal", "md", "tex", "html"])
def test_report_has_the_note_once_and_nothing_on_standard_error(run: str, form: str) -> None:
    page = ("--out", "-") if form == "html" else ()
    done = CliRunner().invoke(app, ["report", run, "--format", form, *page])
    assert done.exit_code == 0
    assert done.stdout.count(NOTE) == 1
    assert NOTE not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("report", "--format", "csv"),
        ("report", "--format", "csv", "--summary"),
        ("compare", "", "--json"),
        ("show", FIRST, "--json"),
    ],
)
def test_data_for_programs_leaves_the_note_to_standard_error(
    run: str, command: tuple[str, ...]
) -> None:
    name, *arguments = command
    done = CliRunner().invoke(app, [name, run, *(word or run for word in arguments)])
    assert done.stderr.count(NOTE) == 1
    assert not done.stdout.startswith("note")
    if name == "compare":
        json.loads(done.stdout)


def test_compare_has_the_note_among_its_warnings(run: str) -> None:
    done = CliRunner().invoke(app, ["compare", run, run])
    assert done.exit_code == 0
    assert done.stdout.count(NOTE) == 1


def test_resuming_takes_a_cell_whose_line_is_damaged_for_missing(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    asked = ["run", "--game", "kuhn2", "--solver", "sequence_lp", "--dry-run", "--json"]
    (cell,) = json.loads(CliRunner().invoke(app, asked).stdout)["cells"]
    manifest = {
        "schema": "eqbench.run/1",
        "cells": [cell["key"]],
        "request": {"games": ["kuhn2"], "solvers": ["sequence_lp"], "timeout_s": 10.0},
    }
    path = run_with_line(tmp_path / "run", json.dumps({"key": cell["key"]}).encode())
    (path / "manifest.json").write_text(json.dumps(manifest))
    done = CliRunner().invoke(app, ["run", "--resume", folder, "--dry-run"])
    assert done.exit_code == 0
    assert done.stderr.count(NOTE) == 1
    assert "1" in done.stdout
    assert LAST not in done.stdout.replace(cell["key"], "")  # a key may hold it by chance
