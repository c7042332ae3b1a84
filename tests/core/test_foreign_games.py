"""Games of files and of OpenSpiel in lists, completions and reports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from helpers.runs import cell, identified, identity, write_run

import eqbench
from eqbench.cli import app
from eqbench.cli.options import KindType
from eqbench.errors import UsageError
from eqbench.harness.experiment import read_experiment, shipped
from eqbench.report.cells import report_on
from eqbench.report.rows import Report
from eqbench.requests import GAME, Kind
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

EFG = 'EFG 2 R "t" { "A" "B" }\np "" 1 1 "x" { "l" "r" } 0\nt "" 1 "" { 1 2 }\nt "" 2 "" { 3 4 }\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with game files and others."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("kuhn3.efg", "own.NFG", "own.txt", "sub/other.efg"):
        (tmp_path / name).write_text(EFG)
    return tmp_path


def output_of(*arguments: str) -> str:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


# -- lists and facts ----------------------------------------------------------------------


def test_list_of_solvers_says_which_are_not_in_all() -> None:
    rows = json.loads(output_of("info", "solvers", "--json"))["solvers"]
    others = {row["name"] for row in rows if not row["default_row"]}
    assert {"openspiel_cfr", "gambit_lp"} < others


def test_a_foreign_game_has_no_options() -> None:
    facts = json.loads(output_of("info", "kuhn3.efg", "--json"))
    assert (facts["sizes"]["nodes"], facts["options"]) == (3, [])
    assert "options" not in output_of("info", "kuhn3.efg").splitlines()


def test_games_of_gambits_catalog_are_read_by_their_names() -> None:
    pytest.importorskip("pygambit", reason="Gambit is not installed")
    for part in read_experiment(shipped()["gambit_catalog"]).parts:
        trees = {spec: eqbench.load_game(spec).tree for spec in part.games}
    assert trees["gambit:journals/ijgt/selten1975/fig1"].n_players == 3
    for name, reason in {"geb/gilboa1997/fig1": "imperfect recall", "ijgt/nau": "unknown"}.items():
        with pytest.raises(UsageError, match=reason):
            eqbench.load_game(f"gambit:journals/{name}")


# -- completion ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "begun", "found"),
    [
        ("game", "openspi", ["openspiel:"]),
        ("game", "gambi", ["gambit:"]),
        ("game", "kuhn3", ["kuhn3", "kuhn3_reduced", "kuhn3.efg"]),
        ("game", "own", ["own.NFG"]),
        ("solver", "gambit_a", ["gambit_all"]),
        ("solver", "openspiel_al", ["openspiel_all"]),
        ("solver", "sub/", []),
    ],
)
def test_completion(kind: str, begun: str, found: list[str]) -> None:
    items = KindType(Kind(completed=kind)).shell_complete(None, None, begun)
    assert [(item.value, item.type) for item in items] == [(name, "plain") for name in found]


def test_other_paths_are_left_to_the_shell() -> None:
    (item,) = KindType(GAME).shell_complete(None, None, "sub/")
    assert (item.value, item.type) == ("sub/", "file")


# -- reports ------------------------------------------------------------------------------


def of_file(key: str, content: str, typed: str = "g.efg") -> CellRecord:
    record = cell(key, game=typed, game_spec="g.efg", game_content=content)
    return identified(record, identity("kuhn2", parameters={"alpha": 0.1}))


def report(*paths: Path, summarize: bool = False) -> Report:
    return report_on([read_run(path) for path in paths], summarize=summarize)


@pytest.mark.parametrize("summarize", [False, True])
def test_two_files_of_one_name_have_a_table_each(folder: Path, *, summarize: bool) -> None:
    first = write_run(folder / "A1", of_file("01", "aa"), of_file("02", "aa"))
    second = write_run(folder / "A2", of_file("03", "bb"))
    tables = report(first, second, summarize=summarize).tables
    assert [table.title for table in tables if not table.topic] == [
        "g.efg (in A1)",
        "g.efg (in A2)",
    ]
    matrices = [table.title for table in tables if table.topic]
    assert matrices == ["g.efg (in A1)", "g.efg (in A2)"] * summarize
    frame = pd.concat([eqbench.load_run(each).frame("cells") for each in (first, second)])
    assert frame["game_content"].tolist() == ["aa", "aa", "bb"]
    assert frame.dtypes["game_content"] == "string"


def test_one_file_in_two_runs_has_one_table(folder: Path) -> None:
    paths = [write_run(folder / name, of_file(name, "aa")) for name in ("01", "02")]
    (table,) = report(*paths).tables
    assert (table.title, len(table.rows)) == ("g.efg", 2)


def test_versions_of_a_game_with_a_name_of_its_own_have_a_table_each(folder: Path) -> None:
    records = [cell(f"0{c}", game_content=c) for c in ("a", "b")]
    paths = [write_run(folder / record.game_content, record) for record in records]
    for tables in (report(*paths).tables, report(write_run(folder / "ab", *records)).tables):
        assert [len(table.rows) for table in tables] == [1, 1]
        assert len({table.title for table in tables}) == 2


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("'../a b/k.efg'", "../a b/k.efg"),
        ("openspiel:kuhn_poker", "openspiel:kuhn_poker(players=2)"),
    ],
)
def test_foreign_games_are_named_once(folder: Path, typed: str, spec: str) -> None:
    path = write_run(folder / "run", replace(of_file("01", "aa", typed), game_spec=spec))
    assert {table.title for table in report(path, summarize=True).tables} == {spec}


def test_iterations_that_nobody_counted_are_not_shown_as_none_made(folder: Path) -> None:
    path = write_run(folder / "run", replace(of_file("01", "aa"), iterations=0))
    (table,) = report(path).tables
    assert table.rows[0].values["iterations"] is None
