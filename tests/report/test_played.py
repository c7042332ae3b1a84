"""Tables of what is played: the frequencies of stored profiles, and where play never gets."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from helpers.command import accepted, refused
from helpers.pages import check_latex
from helpers.runs import cell, identified, identity

import eqbench
from eqbench.errors import UsageError
from eqbench.model.tree_files import content_hash
from eqbench.report.cells import report_on
from eqbench.report.formats import latex
from eqbench.report.known import small_game
from eqbench.report.naming import equilibria
from eqbench.report.played import played_table
from eqbench.report.rows import Report, Table
from eqbench.report.trials import RunCell
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
    *plays, paid_to_a, paid_to_b = table.rows
    cells = {row.values["situation"]: row.values for row in plays}
    shown = {row["≠"] for row in cells.values()}
    entries = {text.strip() for title, text in cells["guard"].items() if "cluster" in title}
    assert all("≠" in mark for mark in shown)
    assert "yield" in entries
    assert any(text.startswith("(fight") for text in entries), "a threat that is not tested"
    assert not any("\x1b" in printable(text) for row in cells.values() for text in row.values())
    payoffs = entered[1].cells[0].equilibria[0].payoffs
    for row, payoff in zip((paid_to_a, paid_to_b), payoffs, strict=True):
        assert f"{payoff:+.5f}" in {str(text).strip() for text in row.values.values()}
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


def test_each_card_has_the_frequency_of_the_stored_profile_that_the_heading_names() -> None:
    run = read_run(STORED / "verified")
    table = next(each for each in tables(run) if each.title == "kuhn2")
    title = table.columns[2].title
    (best,) = [
        item
        for cell in run.cells
        for item in cell.equilibria
        if item.identity
        and title == f"kuhn2, α={item.identity['parameters'].get('alpha', -1):.3f}"
        and item.max_regret == 0
    ]
    assert best.credible
    assert best.credible["credible"] == best.credible["sets"]
    stored = json.loads((run.path / str(best.profile)).read_text(encoding="utf-8"))
    profile = eqbench.BehaviorProfile.from_json(eqbench.load_game("kuhn2"), stored)
    (row,) = [row for row in table.rows if row.label == "P1 at the start: bet"]
    for text, card in zip(row.values[title].split(), (1, 2, 3), strict=True):
        assert float(text) == pytest.approx(profile["P1", f"{card}:", "bet"], abs=0.00501)


def kuhn(folder: Path, *members: tuple[str, dict[tuple[str, str, str], float], Any]) -> Table:
    """Table of members of equilibria of kuhn2: names, frequencies unless 1/2, credible sets."""
    game, record = eqbench.load_game("kuhn2"), cell("01")
    record = identified(record, *(identity(name) for name, *_ in members))
    items = []
    for k, (item, (_, shares, credible)) in enumerate(zip(record.equilibria, members, strict=True)):
        profile = eqbench.BehaviorProfile.uniform(game).to_json()
        for (player, label, action), share in shares.items():
            own = profile["behavior"][player][label]
            own.update({each: share if each == action else 1 - share for each in own})
        (folder / f"{k}.json").write_text(json.dumps(profile), encoding="utf-8")
        judged = {"sets": 12, "worst": 0.0, "worst_set": None, "exact": None, "credible": credible}
        items.append(replace(item, profile=f"{k}.json", credible=judged if credible else None))
    record = replace(record, game_spec=game.spec, game_content=content_hash(game.tree))
    run = StoredRun(folder, {}, (), 0, ())
    table = played_table(equilibria([RunCell("", replace(record, equilibria=items), run)]))
    assert table
    return table


BET, CALL, BLUFF = ("P1", "3:", "bet"), ("P1", "3:KB", "call"), ("P1", "1:", "bet")


def test_equilibria_differ_only_where_all_of_their_members_lie_apart(tmp_path: Path) -> None:
    one = [("cluster:1", {BET: 0.9, BLUFF: share}, None) for share in (0.1, 0.4)]
    two = [("cluster:2", {BET: 0.6, BLUFF: share}, None) for share in (0.3, 0.9)]
    game = kuhn(tmp_path, *one, *two)
    (row,) = [row for row in game.rows if row.label == "P1 at the start: bet"]
    assert row.values["≠"] == "≠~", "with K in all members, with J among those of one"
    alike = kuhn(tmp_path, *one, *(("cluster:2", {**own, BET: 0.9}, None) for _, own, _ in two))
    marks = {row.values["≠"] for row in alike.rows}
    assert marks == {"", "~"}, "bluffs of some members agree"


def test_the_most_credible_member_is_shown_and_what_is_never_reached_in_brackets(
    tmp_path: Path,
) -> None:
    bets = {BET: 1.0, CALL: 0.5}  # who always bets with K never calls with it
    table = kuhn(
        tmp_path,
        ("cluster:1", bets, 11),
        ("cluster:1", bets | {CALL: 1.0}, 12),
        ("cluster:1", bets, None),
    )
    rows = {row.label: row.values["cluster:1"] for row in table.rows}
    assert rows["P1 after check–bet: call"].split() == [".50", ".50(", "1)"]
    assert rows["P1 at the start: bet"].split() == [".50", ".50", "1"]


def test_who_has_no_choice_is_marked_in_the_row_of_those_who_have(tmp_path: Path) -> None:
    run = eqbench.run("skp", "logit", out=tmp_path / "run").stored
    (table,) = tables(run)
    title = table.columns[2].title
    rows = {row.label: row.values[title].split() for row in table.rows if ":" in row.label}
    assert [text.endswith("!") for text in rows["P1 after check–bet–fold: call"]] == [
        True,
        True,
        False,
        True,
    ]
    assert len({label.rpartition(":")[0] for label in rows}) == len(rows), "one row each"


def test_games_without_cards_have_their_tables_in_a_bounded_number_of_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = ["battle_of_sexes", "matching_pennies", "shapley", "kuhn2"]
    run = eqbench.run(games, "lcp", out=tmp_path / "run").stored
    assert [table.title for table in tables(run)] == games
    monkeypatch.setattr("eqbench.report.cells.PLAYED_LINES", 4)
    bounded = tables(run)
    about = [[row.values["situation"] for row in own.rows] for own in bounded]
    assert all(len({*own} - {"with", "payoff"}) == 1 for own in about)
    assert all(any("more rows" in note for note in own.notes) for own in bounded)
    monkeypatch.setattr("eqbench.report.cells.MOST_PLAYED", 3)
    assert tables(run) == []


def test_latex_keeps_four_equilibria_and_what_differs_within_the_width_of_the_text(
    tmp_path: Path,
) -> None:
    members = [(f"cluster:{k}", {BET: 0.2 * k}, None) for k in range(1, 5)]
    text = latex(Report((kuhn(tmp_path, *members),)))
    ((_, head, *rows),) = check_latex(text)
    assert head == ["player", "situation", "1", "2", "3", "4", r"$\ne$"]
    assert any(row[-1] == r"$\ne$" for row in rows)
    assert r"\linewidth\else\width" in text


def test_a_cell_of_a_copied_run_is_shown_without_the_file_of_its_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sets() -> list[dict[str, Any]]:
        done = accepted("show", "run", "case_enumeration", "--json", cwd=here)
        found: list[dict[str, Any]] = json.loads(done.out)["information_sets"]
        return found

    def shares(known: list[dict[str, Any]]) -> list[Any]:
        return [[own["frequency"] for own in item["actions"]] for item in known]

    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    (there / "choice.efg").write_text(GAME, encoding="utf-8")
    monkeypatch.chdir(there)
    copytree(eqbench.run("choice.efg", "case_enumeration", out="run").path, here / "run")
    monkeypatch.chdir(tmp_path)
    known = sets()
    there.rename(tmp_path / "gone")
    assert "guard" in accepted("show", "run", "case_enumeration", cwd=here).out
    assert all(item["reach"] is None for item in sets())
    assert shares(sets()) == shares(known)
    refused("show", "run", "case_enumeration:99", words="rank", cwd=here)
    refused("show", "run", "case_enumeration", "--figure", "a.svg", words="choice", cwd=here)
    shutil.copy(tmp_path / "gone" / "choice.efg", here)
    assert sets() == known


def test_files_of_games_are_found_where_a_copied_run_had_them_or_near_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, file = tmp_path / "there", tmp_path / "copied" / "choice.efg"
    there.mkdir()
    (there / "choice.efg").write_text(GAME, encoding="utf-8")
    monkeypatch.chdir(there)
    path = eqbench.run("choice.efg", "case_enumeration", out="run").path
    copytree(path, tmp_path / "copied" / "run")
    monkeypatch.chdir(tmp_path)
    copied = eqbench.load_run("copied/run")
    assert tables(copied.stored)
    there.rename(tmp_path / "gone")
    for held, is_same in ((None, False), (GAME.replace("1 1 }", "1 3 }"), False), (GAME, True)):
        if held:
            file.write_text(held, encoding="utf-8")
        assert bool(tables(copied.stored)) == is_same
        if is_same:
            assert copied.profile("case_enumeration")["A", "door", "in"] in (0, 1)
        else:
            with pytest.raises(UsageError, match=r"choice\.efg"):
                copied.profile("case_enumeration")


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
