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


# A command and its words after the run, and whether people or programs read what it prints.
COMMANDS = [
    *(("report", ("--format", form), True) for form in ("terminal", "md", "tex")),
    ("report", ("--format", "html", "--out", "-"), True),
    ("compare", ("RUN",), True),
    ("report", ("--format", "csv"), False),
    ("report", ("--format", "csv", "--summary"), False),
    ("compare", ("RUN", "--json"), False),
    ("show", (FIRST, "--json"), False),
]


@pytest.mark.parametrize(("name", "words", "is_read"), COMMANDS)
def test_note_stands_once_where_people_read_and_never_in_data_for_programs(
    run: str, name: str, words: tuple[str, ...], *, is_read: bool
) -> None:
    arguments = [run if word == "RUN" else word for word in words]
    done = CliRunner().invoke(app, [name, run, *arguments])
    assert done.stderr.count(NOTE) == (0 if is_read else 1)
    if is_read:
        assert (done.exit_code, done.stdout.count(NOTE)) == (0, 1)
    assert not done.stdout.startswith("note") or is_read
    if name == "compare" and not is_read:
        json.loads(done.stdout)


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
