"""Tables of what is played: the frequencies of stored profiles, and where play never gets."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

import eqbench
from eqbench.report.cells import report_on
from eqbench.report.known import small_game
from eqbench.report.rows import Table
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.text import printable

GAME = """EFG 2 R "A choice" { "A" "B" } ""
p "" 1 1 "door" { "in" "out \x1b[31m" } 0
p "" 2 1 "guard" { "fight" "yield" } 0
t "" 1 "" { -1 -1 }
t "" 2 "" { 1 1 }
t "" 3 "" { 0 2 }
"""
STORED = Path(__file__).parents[1] / "golden" / "runs"


def tables(run: StoredRun) -> list[Table]:
    return [table for table in report_on([run]).tables if table.topic == "what is played"]


@pytest.fixture(scope="module")
def entered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StoredRun]:
    """A run on a game file with an equilibrium in which B is never met."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "choice.efg").write_text(GAME, encoding="utf-8")
    run = eqbench.run(str(folder / "choice.efg"), "case_enumeration", out=folder / "run")
    return folder / "choice.efg", run.stored


def test_equilibria_stand_next_to_each_other_with_what_is_never_reached(
    entered: tuple[Path, StoredRun],
) -> None:
    (table,) = tables(entered[1])
    cells = {row.values["situation"]: row.values for row in table.rows}
    shown = {row["≠"] for row in cells.values()}
    entries = {text.strip() for title, text in cells["guard"].items() if "cluster" in title}
    assert shown == {"≠"}
    assert "yield" in entries
    assert any(text.startswith("(fight") for text in entries), "a threat that is not tested"
    assert not any("\x1b" in printable(text) for row in cells.values() for text in row.values())
    assert report_on([entered[1]]).tables[0].lines == ("A choice",)


def test_a_game_file_that_has_changed_is_not_read_for_a_run_of_another_one(
    entered: tuple[Path, StoredRun],
) -> None:
    file, run = entered
    record = run.cells[0]
    assert small_game(record.game_spec, record.game_content) is not None
    file.write_text(GAME.replace("{ 0 2 }", "{ 0 3 }"), encoding="utf-8")
    try:
        assert small_game(record.game_spec, record.game_content) is None
        assert tables(run) == []
    finally:
        file.write_text(GAME, encoding="utf-8")


def test_each_card_has_the_frequency_of_the_stored_profile() -> None:
    run = read_run(STORED / "verified")
    table = next(each for each in tables(run) if each.title == "kuhn2")
    best = min(
        (item for cell in run.cells if cell.game == "kuhn2" for item in cell.equilibria),
        key=lambda item: item.max_regret,
    )
    stored = json.loads((run.path / str(best.profile)).read_text(encoding="utf-8"))
    profile = eqbench.BehaviorProfile.from_json(eqbench.load_game("kuhn2"), stored)
    (row,) = [row for row in table.rows if row.label == "at the start: bet"]
    shown = row.values[table.columns[2].title].split()
    for text, card in zip(shown, (1, 2, 3), strict=True):
        assert float(text) == pytest.approx(profile["P1", f"{card}:", "bet"], abs=0.00501)


def test_files_that_are_missing_leave_the_table_out(tmp_path: Path) -> None:
    assert tables(read_run(STORED / "hostile")) == []
    assert small_game("nothing(cards=3)", "") is None
    assert small_game(str(tmp_path / "absent.efg"), "") is None


@pytest.mark.parametrize("share", ['"1e99999999"', "1e99999999", "-7", '"1/0"', "[" * 100_000])
def test_profiles_that_are_damaged_leave_the_table_out(
    share: str, entered: tuple[Path, StoredRun], tmp_path: Path
) -> None:
    copytree(entered[1].path, tmp_path / "run")
    assert tables(read_run(tmp_path / "run"))
    for file in (tmp_path / "run" / "profiles").iterdir():
        file.write_text(f'{{"behavior": {{"A": {{"door": {{"in": {share}}}}}}}}}')
    assert tables(read_run(tmp_path / "run")) == []
