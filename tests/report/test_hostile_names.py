"""Whatever a name holds, nothing but what can be read gets onto a screen or into a table."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from helpers.runs import cell, write_run
from rich.table import Table
from rich.text import Text

import eqbench
from eqbench.cli import app
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import load_game
from eqbench.report.cells import report_on, results_csv, summary_csv
from eqbench.report.formats import latex, markdown
from eqbench.report.html.page import report_page
from eqbench.report.terminal import Screen, plain_text, print_report
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.text import MOST_CHARACTERS, cell_text, printable_lines

NAMES = {
    "escape": "red \x1b[31m\x1b]0;title\x07",
    "c1": "c1 \x9b31m \x9d0;title\x9c",
    "nul": "nul \x00 back \x08\x08",
    "bidirectional": "left \u202e right \u2066",
    "markup": "[bold]x[/nothing] [link=file:///]y[/link]",
    "emoji": ":smile: :warning:",
    "lines": "one\rtwo\x0bthree\u2028four\x85five",
    "surrogate": "half \ud800 pair",
}


PRINTING = ("Console", "click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write")


def is_harmless(text: str) -> bool:
    return all(char.isprintable() or char in "\n\u00a0" for char in text.replace("\r\n", "\n"))


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    path = tmp_path / "run"
    cells = [
        cell(f"{k:02}", solver=name, solver_spec=name, game=name, status="failed", reason=name)
        for k, (kind, name) in enumerate(NAMES.items())
        if kind != "surrogate"  # no record can hold it
    ]
    return read_run(write_run(path, *cells))


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_console_lets_nothing_through_that_moves_the_cursor(name: str) -> None:
    screen = Screen(file=io.StringIO(), force_terminal=True, width=120)
    table = Table(name, title=name)
    table.add_row(name)
    table.add_row(Text(name, style="red"))
    with screen.capture() as capture:
        screen.print(name, table)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capture.get())  # colors
    assert is_harmless(shown)
    assert name.split(maxsplit=1)[0] in shown


def test_console_leaves_room_for_what_it_escapes() -> None:
    screen = Screen(file=io.StringIO(), width=60, color_system=None)
    table = Table(box=None)
    table.add_row("\x1b\x1b\x1b", "next")
    with screen.capture() as capture:
        screen.print(table)
    assert capture.get().split() == [r"\x1b\x1b\x1b", "next"]


def test_tables_in_all_formats_hold_readable_text_only(run: StoredRun) -> None:
    report = report_on([run])
    texts = {
        "terminal": plain_text(lambda console: print_report(report, console)),
        "markdown": markdown(report),
        "latex": latex(report),
        "csv": results_csv([run]),
        "summary": summary_csv([run]),
        "html": report_page([run], {}),
    }
    for form, text in texts.items():
        assert is_harmless(text.replace("\t", " ")), form
        text.encode()  # no half of a surrogate pair
    assert "[bold]x[/nothing]" in texts["terminal"]


def test_long_reasons_are_cut_where_they_are_shown(tmp_path: Path) -> None:
    long = "why " * 16_000
    stored = read_run(write_run(tmp_path / "run", cell("01", status="crashed", reason=long)))
    report = report_on([stored])
    for text in (markdown(report), plain_text(lambda console: print_report(report, console))):
        assert "why" in text
        assert len(text) < 10 * MOST_CHARACTERS


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])
def test_name_like_a_formula_is_text_in_csv(tmp_path: Path, name: str) -> None:
    stored = read_run(write_run(tmp_path / "run", cell("01", game=name, game_spec=name)))
    for text in (results_csv([stored]), summary_csv([stored])):
        (row,) = csv.DictReader(io.StringIO(text))
        assert row["game"] == row["game_spec"] == cell_text(name)
        assert row["game"].startswith("'")
    assert float(next(csv.DictReader(io.StringIO(results_csv([stored]))))["payoff_P1"]) < 0


def test_line_ends_stay_and_nothing_else_does() -> None:
    assert printable_lines("a\r\nb\nc\rd\x1be\tf") == "a\r\nb\nc d\\x1be f"


def test_nothing_is_printed_past_the_mechanism() -> None:
    root = Path(eqbench.__file__).parent
    for file in root.rglob("*.py"):
        if file.name in ("screen.py", "output.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in PRINTING, f"{file}:{node.lineno}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", [n for n in NAMES.values() if n != NAMES["surrogate"]])
def test_game_file_with_such_names_is_verified_and_drawn(folder: Path, name: str) -> None:
    quoted = name.replace("\\", "").replace('"', "")
    Path("game.nfg").write_text(
        f'NFG 1 R "{quoted}" {{ "{quoted}" "P2" }}\n{{ {{ "{quoted}" "b" }} {{ "c" "d" }} }}\n""\n'
        '{ { "" 1, 2 } { "" 3, 4 } { "" 5, 6 } { "" 7, 8 } }\n1 2 3 4\n',
        encoding="utf-8",
        newline="",
    )
    runner = CliRunner()
    info = runner.invoke(app, ["info", "game.nfg", "--json"], catch_exceptions=False)
    tree = json.loads(info.stdout)
    assert tree["sizes"]["players"] == 2
    game = load_game("game.nfg")
    profile = BehaviorProfile.uniform(game.tree).to_json()
    Path("profile.json").write_text(json.dumps(profile))
    for words in (
        ["verify", "--game", "game.nfg", "--profile", "profile.json"],
        ["export", "game.nfg", ".svg", "--profile", "profile.json"],
    ):
        done = runner.invoke(app, words, catch_exceptions=False)
        assert done.exit_code == 0
        assert is_harmless(done.stdout)
        assert is_harmless(done.stderr)
