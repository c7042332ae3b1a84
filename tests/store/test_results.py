"""Runs read back as stored, and their data frames have fixed columns and types."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from helpers.runs import cell, identity, with_candidate, without_figures, write_run

import eqbench
from eqbench.errors import DocumentError, SpecError, UsageError
from eqbench.registry import default_registry
from eqbench.store.named import registry_of_runs
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord, EquilibriumRecord, Status
from eqbench.store.stored_run import latest_run, named, read_run, remember
from eqbench.store.traces import packed


def three_players(key: str) -> CellRecord:
    """A cell with two candidates, the second of them refuted."""
    good = EquilibriumRecord(
        "equilibrium",
        [0.1, 0.2, -0.3],
        [0.0, 1e-12, 0.0],
        1e-12,
        1e-12,
        claimed_regret=1e-9,
        profile="profiles/a-0.json",
        identity=identity(
            "szafron:c11=0",
            also=["szafron:c11=1/2"],
            parameters={"beta": 0.25, "b11": 0.125},
            strict=False,
        ),
    )
    bad = replace(good, nash_conv=0.5, max_regret=0.5, regrets=[0.5, 0.0, 0.0])
    bad = replace(bad, refuted="claimed too much", profile="profiles/a-1.json", identity=None)
    return CellRecord(
        key=key,
        game="kuhn3",
        solver="ncp",
        game_spec="kuhn(players=3)",
        solver_spec="ncp",
        seed=7,
        status="refuted",
        payoffs=good.payoffs,
        regrets=good.regrets,
        nash_conv=1e-12,
        max_regret=1e-12,
        exploitability=1e-12 / 3,
        equilibria=[good, bad],
        log="logs/a.txt",
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(
        tmp_path / "run",
        three_players("0a"),
        cell("0b"),
        without_figures("0c", status="unsupported", reason="two players only"),
        planned=["0c", "0b", "0a"],
    )


# -- data frames --------------------------------------------------------------------------------


def test_results_are_one_row_per_cell_in_the_order_of_the_plan(run: Path) -> None:
    frame = eqbench.load_run(run).frame("cells")
    assert frame["key"].tolist() == ["0c", "0b", "0a"]
    assert frame["status"].tolist() == ["unsupported", "ok", "refuted"]
    assert frame["candidates"].tolist() == [0, 1, 2]
    assert frame["payoff_P3"].isna().tolist() == [True, True, False]
    assert frame["regret_P1"][1:].tolist() == [1.2e-11, 0.0]
    assert frame["elapsed_s"][1] == 0.0123456789
    assert frame["statistics"][1] == {"pivots": 3}
    assert frame["log"][2] == str(run / "logs/a.txt")
    assert frame["equilibrium"].isna().tolist() == [True, True, False]
    assert frame["equilibrium"][2] == "szafron:c11=0"


def test_types_of_columns_do_not_depend_on_the_rows(run: Path, tmp_path: Path) -> None:
    empty = write_run(tmp_path / "empty", planned=["0d"])
    for what in ("cells", "equilibria", "traces"):
        full, none = (eqbench.load_run(each).frame(what).dtypes for each in (run, empty))
        assert len(eqbench.load_run(empty).frame(what)) == 0
        assert full[none.index].to_dict() == none.to_dict()
        assert (none["seed"], none["max_regret"], none["run"]) == ("Int64", "float64", "string")
    results = eqbench.load_run(empty).frame("cells").dtypes
    assert (results["iterations"], results["equilibrium"]) == ("Int64", "string")
    candidates = eqbench.load_run(empty).frame("equilibria").dtypes
    assert (candidates["on_path"], candidates["strict"]) == ("boolean", "boolean")
    assert (candidates["identity"], candidates["distance"]) == ("string", "float64")
    assert (candidates["also"], candidates["parameters"]) == ("object", "object")
    assert list(results["status"].categories) == list(get_args(Status))
    assert results["status"].ordered


def test_equilibria_are_one_row_per_candidate_best_first(run: Path) -> None:
    frame = eqbench.load_run(run).frame("equilibria")
    assert frame[["key", "rank"]].to_numpy().tolist() == [["0b", 0], ["0a", 0], ["0a", 1]]
    assert frame["refuted"].tolist() == [False, False, True]
    assert frame["refutation"][2] == "claimed too much"
    assert frame["identity"].isna().tolist() == [True, False, True]
    assert frame["identity"][1] == "szafron:c11=0"
    assert frame["parameter"].tolist()[1] == frame["parameters"][1][frame["leading"][1]]
    assert frame["also"].tolist() == [[], ["szafron:c11=1/2"], []]
    assert frame["parameters"].tolist() == [{}, {"beta": 0.25, "b11": 0.125}, {}]
    assert frame["on_path"].isna().tolist() == [True, False, True]
    assert (bool(frame["on_path"][1]), bool(frame["strict"][1])) == (True, False)
    assert frame["distance"].isna().tolist() == [True, False, True]
    assert frame["distance"][1] == 1e-9
    assert frame["claimed_regret"][1] == 1e-9
    assert frame["regret_P1"][2] == 0.5
    assert frame["exploitability"][2] == pytest.approx(0.5 / 3)
    assert frame["profile"][2] == str(run / "profiles/a-1.json")


def test_exact_max_regret_is_the_largest_fraction(tmp_path: Path) -> None:
    proof = {"payoffs": ["1/3", "0", "-1/3"], "regrets": ["2/3", "10/3", "0"]}
    whole = three_players("0a")
    items = [replace(whole.equilibria[0], exact=proof), whole.equilibria[1]]
    path = write_run(tmp_path / "run", replace(whole, equilibria=items))
    largest = eqbench.load_run(path).frame("equilibria")["exact_max_regret"]
    assert largest[0] == "10/3"
    assert largest.isna().tolist() == [False, True]


def test_traces_are_one_row_per_snapshot(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("0b"), replace(cell("0a"), trace="traces/a.npz"))
    RunFolder(path).write(
        "traces/a.npz",
        packed(
            {
                "work": np.array([1, 2]),
                "elapsed_s": np.array([0.1, 0.2]),
                "claim": np.array(["average", "iterate"]),
                "regrets": np.array([[0.5, 0.25], [0.125, 0.5]]),
                "payoffs": np.zeros((2, 2)),
            }
        ),
    )
    frame = eqbench.load_run(path).frame("traces")
    assert frame["key"].tolist() == ["0a", "0a"]
    assert frame["work"].tolist() == [1, 2]
    assert frame["claim"].tolist() == ["average", "iterate"]
    assert frame["nash_conv"].tolist() == [0.75, 0.625]
    assert frame["max_regret"].tolist() == [0.5, 0.5]
    (path / "traces/a.npz").write_bytes(b"PK")
    with pytest.warns(UserWarning, match=r"a\.npz"):
        assert eqbench.load_run(path).frame("traces").empty


def test_frames_of_several_runs_can_be_joined(run: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", cell("0b"))
    joined = pd.concat([eqbench.load_run(each).frame("cells") for each in (other, run)])
    assert joined["run"].tolist() == [str(other)] + [str(run)] * 3
    assert joined.dtypes["status"] == eqbench.load_run(run).frame("cells").dtypes["status"]


@pytest.mark.parametrize(
    ("former", "what"),
    [
        ("load_results", "cells"),
        ("load_equilibria", "equilibria"),
        ("load_traces", "traces"),
        ("load_summary", "summary"),
    ],
)
def test_former_loaders_warn_and_give_the_frame(run: Path, former: str, what: str) -> None:
    with pytest.deprecated_call(match=f'frame."{what}"'):
        frame = getattr(eqbench, former)([run])
    assert frame.equals(eqbench.load_run(run).frame(what))


def test_profiles_of_a_real_run_verify_to_their_row(tmp_path: Path) -> None:
    solved = eqbench.solve("kuhn2", "cfr_plus", eqbench.Limits(iterations=50))
    game = eqbench.load_game("kuhn2")
    from eqbench.model.profile_json import profile_text

    document = solved.to_json() | {"key": "0a"}
    document["equilibria"] = [document["equilibria"][0] | {"profile": "p.json"}]
    path = write_run(tmp_path / "run", CellRecord.of_line(json.dumps(document).encode()))
    profile = solved.equilibria[0].profile
    (path / "p.json").write_text(profile_text(game.tree, profile, game.spec))
    row = eqbench.load_run(path).frame("equilibria").iloc[0]
    measured = eqbench.verify(row["game_spec"], row["profile"])
    assert float(measured.max_regret) == pytest.approx(row["max_regret"], abs=1e-15)


# -- reading ------------------------------------------------------------------------------------


def test_finished_try_of_a_cell_replaces_an_interrupted_one(tmp_path: Path) -> None:
    path = write_run(
        tmp_path / "run", cell("0a", status="interrupted"), cell("0b", status="interrupted")
    )
    RunFolder(path).append(cell("0a", status="limit"))
    run = read_run(path)
    assert [record.status for record in run.cells] == ["limit", "interrupted"]
    assert [record.key for record in run.finished] == ["0a"]
    assert (run.planned, run.missing) == (2, 1)


def test_cells_that_a_resumed_run_no_longer_has_are_only_counted(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("0a"), cell("0b"))
    folder = RunFolder(path)
    folder.resumed(folder.manifest | {"cells": ["0b", "0c"], "request": {"timeout_s": 3}})
    run = read_run(path)
    assert [record.key for record in run.cells] == ["0b"]
    assert (run.missing, run.outdated, run.timeout_s) == (1, 1, 3.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "holds no run"),
        ("{", "damaged"),
        ("[1]", "damaged"),
        ('{"schema": "eqbench.run/9"}', r"eqbench\.run/9.*this version reads"),
        ('{"schema": "eqbench.run/1"}', "is damaged"),
        ('{"schema": "eqbench.run/1", "cells": 3, "request": {}}', "is damaged"),
        ('{"schema": "eqbench.run/1", "cells": [], "request": {}}', "is damaged"),
    ],
)
def test_what_is_no_run_of_this_version_is_refused(tmp_path: Path, text: str | None, message: str):
    if text is not None:
        (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UsageError, match=message):
        eqbench.load_run(tmp_path).frame("cells")


def test_record_with_fields_of_another_version_is_left_out(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("0a"))
    line = cell("0b").to_json() | {"mood": "good"}
    with (path / "runs.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    run = read_run(path)
    assert [found.key for found in run.cells] == ["0a"]
    assert "'mood'" in run.notes[0]
    with pytest.warns(UserWarning, match="left out: 2"):
        assert len(eqbench.load_run(path).frame("cells")) == 1


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which no run began, of a user who has none."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_latest_is_the_run_that_began_last_wherever_it_is(alone: Path) -> None:
    with pytest.raises(UsageError, match="run"):
        latest_run()
    first = write_run(Path("results") / "20260101T000000Z-b", cell("0a"))
    study = write_run(Path("results") / "20260102T000000Z-a", cell("0a")) / "manifest.json"
    study.write_text('{\n  "schema": "eqbench.study/1"}')
    assert latest_run() == first
    for place in (alone / "there", Path("second")):
        remember(write_run(place, cell("0a")))
        assert latest_run() == place
    shutil.rmtree("second")
    assert latest_run() == alone / "there"
    assert len(eqbench.load_run("latest").frame("cells")) == 1


def test_latest_run_of_another_folder_is_taken_where_there_is_none(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(write_run(alone / "there", cell("0a")))
    (alone / "elsewhere").mkdir()
    monkeypatch.chdir(alone / "elsewhere")
    assert latest_run() == alone / "there"


def test_runs_begin_where_nothing_can_be_remembered(alone: Path) -> None:
    (alone / "state").write_text("no folder")
    remember(write_run(Path("results") / "one", cell("0a")))
    assert latest_run() == Path("results/one")


# -- finding a cell -----------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return write_run(
        tmp_path / "mixed",
        cell("c0ffee01", solver="cfr_plus"),
        cell("c0ffee02", solver="cfr(alpha=1/2, start=random)", seed=0),
        cell("beef0003", solver="cfr(alpha=1/2, start=random)", seed=1),
        with_candidate(cell("beef0004", solver="mccfr", game="kuhn3", game_spec="kuhn(players=3)")),
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("cfr_plus", "c0ffee01"),
        ("kuhn2/cfr_plus", "c0ffee01"),
        ("kuhn2/cfr_plus/0", "c0ffee01"),
        ("cfr(alpha=1/2,start=random)/1", "beef0003"),
        ("kuhn2/cfr(alpha=1/2, start=random)/0", "c0ffee02"),
        ("cfr/1", "beef0003"),
        ("kuhn2/cfr/0", "c0ffee02"),
        ("kuhn3", "beef0004"),
        ("kuhn(players=3)/mccfr", "beef0004"),
        ("c0ffee02", "c0ffee02"),
        ("beef0003", "beef0003"),
    ],
)
def test_cell_is_found_by_words_or_by_its_key(mixed: Path, text: str, key: str) -> None:
    assert read_run(mixed).cell(text).key == key


def test_cell_that_is_ambiguous_or_unknown_lists_what_there_is(mixed: Path) -> None:
    run = read_run(mixed)
    with pytest.raises(UsageError, match="cells") as several:
        run.cell("c0ff")
    assert [line.split()[0] for line in str(several.value).splitlines()[1:]] == [
        "c0ffee01",
        "c0ffee02",
    ]
    with pytest.raises(UsageError, match="'gurobi'") as unknown:
        run.cell("gurobi")
    assert "alpha=1/2" in str(unknown.value)
    for nothing in ("", " "):
        with pytest.raises(UsageError, match=r"has no cell|has these cells"):
            run.cell(nothing)


def test_cell_is_found_by_the_solver_without_its_options(tmp_path: Path) -> None:
    records = cell("0a", solver="dcfr(alpha=1)"), cell("0b", solver="cfr(start=random)", seed=0)
    run = read_run(write_run(tmp_path / "run", *records))
    assert (run.cell("dcfr").key, run.cell(" cfr ").key) == ("0a", "0b")


@pytest.mark.parametrize(
    ("texts", "keys"),
    [
        ([], {"a", "b"}),
        (["cfr"], {"a"}),
        (["cfr( start=random )"], {"a"}),
        (["cfr_plus(start=uniform)"], {"b"}),
        (["cfr,cfr_plus"], {"a", "b"}),
        (["lcp"], None),
    ],
)
def test_cells_are_chosen_by_names_with_or_without_options(
    texts: list[str], keys: set[str] | None
) -> None:
    cells = [cell("a", solver="cfr(start=random)", solver_spec="cfr(start=random)"), cell("b")]
    with nullcontext() if keys is not None else pytest.raises(UsageError, match="cfr_plus"):
        assert named(texts, cells, "solver") == keys


@pytest.mark.parametrize(
    ("game", "named_plugin", "plugins_used"),
    [("kuhn2", True, 0), ("meeting", True, 1), ("meeting", False, None), ("other", True, None)],
)
def test_plugins_of_a_run_are_used_only_for_games_that_they_bring(
    game: str, named_plugin: bool, plugins_used: int | None, tmp_path: Path
) -> None:
    plugin = Path(__file__).parents[1] / "plugins" / "meeting.py"
    run = read_run(write_run(tmp_path / "run", cell("01")))
    run.plan["request"]["plugins"] = [str(plugin)] * named_plugin
    notes: list[str] = []
    with pytest.raises(SpecError) if plugins_used is None else nullcontext():
        assert registry_of_runs([run], game, default_registry(), notes.append).game_entry(game)
    assert len(notes) == (plugins_used or 0)


def test_ending_of_a_cell_has_its_status_regret_and_times() -> None:
    figures = ("ok", "1.2e-11", "1.5 s", "12.3 ms")
    assert all(figure in cell("a").ending for figure in figures)


def test_run_without_cells_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'cfr'"):
        read_run(write_run(tmp_path / "run", planned=["0a"])).cell("cfr")


def test_only_regrets_of_exactly_0_are_a_proof() -> None:
    item = three_players("0a").equilibria[0]
    for regrets, proved in ((["0", "0", "0"], True), (["0", "1/9", "0"], False)):
        exact = {"payoffs": ["0"] * 3, "regrets": regrets}
        assert replace(item, exact=exact).is_proved is proved
    assert item.is_proved is False


def with_fractions_of(digits: int) -> CellRecord:
    first, second = three_players("0a").equilibria
    exact = {"payoffs": [f"-{'9' * digits}/{'9' * digits}"] * 3, "regrets": ["0"] * 3}
    return replace(three_players("0a"), equilibria=[replace(first, exact=exact), second])


@pytest.mark.parametrize(
    ("record", "refused"),
    [
        *((replace(cell("0a"), key="a" * n), n in (0, 101)) for n in (0, 1, 100, 101)),
        *((replace(three_players("0a"), trace="x" * n), n > 1024) for n in (1024, 1025)),
        *((with_fractions_of(n), n > 4300) for n in (4300, 4301)),  # what Python prints
    ],
    ids=["key 0", "key 1", "key 100", "key 101", "path 1024", "path 1025", "digits 4300", "4301"],
)
def test_texts_of_a_record_are_as_long_as_allowed(record: CellRecord, *, refused: bool) -> None:
    with pytest.raises(DocumentError) if refused else nullcontext():
        assert CellRecord.of_line(record.to_line()) == record


def test_leading_parameter_is_one_of_the_parameters() -> None:
    whole = three_players("0a")
    data = whole.to_json()
    assert CellRecord.of_line(json.dumps(data).encode()) == whole
    data["equilibria"][0]["identity"]["leading"] = "unheard of"
    with pytest.raises(DocumentError, match="parameters"):
        CellRecord.of_line(json.dumps(data).encode())


def test_record_without_files_keeps_everything_else(run: Path) -> None:
    whole = replace(three_players("0a"), trace="traces/a.npz")
    bare = whole.without_files()
    assert (bare.trace, bare.log) == (None, None)
    assert [item.profile for item in bare.equilibria] == [None, None]
    kept = [replace(item, profile="x") for item in bare.equilibria]
    assert kept == [replace(item, profile="x") for item in whole.equilibria]
    assert replace(bare, log="x", equilibria=[]) == replace(
        whole, trace=None, log="x", equilibria=[]
    )


def test_list_of_cells_ends_where_nobody_reads_on(mixed: Path, monkeypatch: pytest.MonkeyPatch):
    for most, lines in ((4, 4), (3, 4), (2, 3)):
        monkeypatch.setattr("eqbench.store.stored_run.MOST_CELLS", most)
        with pytest.raises(UsageError) as unknown:
            read_run(mixed).cell("")
        listed = str(unknown.value).splitlines()[1:]
        assert len(listed) == lines
        assert (listed[-1] == f"  and {4 - most} more") == (most < 4)


def judged(**fields: object) -> dict[str, object]:
    known = {"sets": 48, "credible": 43, "worst": 2.5, "worst_set": ["P1", "4:KBC"], "exact": "5/2"}
    return known | fields


KIND = {
    "undominated": "actions only",
    "subgame_perfect": {"proper": 3, "perfect": 2},
    "sequential": "refuted",
    "quasi_strict": True,
    "index": -1,
}


def test_verdicts_on_play_stand_in_the_frame_of_equilibria(tmp_path: Path) -> None:
    whole = three_players("0a")
    items = [replace(whole.equilibria[0], credible=judged(), kind=KIND), whole.equilibria[1]]
    frame = eqbench.load_run(write_run(tmp_path / "run", replace(whole, equilibria=items))).frame(
        "equilibria"
    )
    expected = {
        **{"sets": (48, "Int64"), "credible": (43, "Int64"), "worst": (2.5, "float64")},
        **{"undominated": ("actions only", "string"), "subgames": (3, "Int64")},
        **{"subgame_perfect": (2, "Int64"), "sequential": ("refuted", "string")},
        **{"quasi_strict": (True, "boolean"), "index": (-1, "Int64")},
    }
    found = {name: (frame.loc[0, name], str(frame[name].dtype)) for name in expected}
    assert found == expected
    assert frame.loc[1, [*expected]].isna().all()


@pytest.mark.parametrize(
    "damage",
    [
        {"undominated": "perhaps"},
        {"subgame_perfect": {"proper": 2, "perfect": 3}},
        {"subgame_perfect": {"proper": 2}},
        {"subgame_perfect": None},
        {"sequential": "actions only"},
        {"sequential": None},
        {"quasi_strict": "yes"},
        {"index": 0},
        {"quasi_strict": False},  # with an index
        {"more": 1},
        *({"credible": judged(**it)} for it in ({"credible": 49}, {"sets": -1}, {"exact": "1/0"})),
        *({"credible": judged(**it)} for it in ({"worst_set": [1]}, {"more": 1})),
    ],
)
def test_damaged_verdicts_on_play_are_refused(damage: dict[str, object]) -> None:
    document = json.loads(cell("0a").to_line())
    (item,) = document["equilibria"]
    for kind in (KIND, KIND | {"quasi_strict": None, "index": None}):
        item |= {"kind": kind, "credible": judged()}
        record = CellRecord.of_line(json.dumps(document).encode())
        assert (record.equilibria[0].kind, record.equilibria[0].credible) == (kind, judged())
        assert CellRecord.of_line(record.to_line()) == record
    item |= damage if "credible" in damage else {"kind": KIND | damage}
    with pytest.raises(DocumentError):
        CellRecord.of_line(json.dumps(document).encode())


def test_record_without_verdicts_on_its_play_has_none() -> None:
    record = cell("0a")
    document = json.loads(record.to_line())
    del document["equilibria"][0]["credible"], document["equilibria"][0]["kind"]
    (item,) = CellRecord.of_line(json.dumps(document).encode()).equilibria
    assert item.credible is None
    assert item.kind is None
    assert item == record.equilibria[0]
