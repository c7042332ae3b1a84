"""Ranges over all equilibria: what is asked for, and what made-up records say about it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_runs import cell, without_figures

import eqbench
from eqbench.equilibria import known_sets
from eqbench.equilibria.corners import corner_parameters
from eqbench.equilibria.extremes import extremes
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.registry import default_registry
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import SCHEMA, CellRecord
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.studies.range_figures import ranges_summary
from eqbench.studies.range_plan import RangeSelection, quantities, solver_for_ranges
from eqbench.studies.range_table import ranges_csv, ranges_report, write_ranges

ALPHA = "P1|1:|bet"
NOTHING = {"payoffs": False, "first": False, "every": False}


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return eqbench.load_game("kuhn2")


def alpha_member(game: Game, alpha: float) -> BehaviorProfile:
    """Member of the family of Kuhn (1950), laid on the game by hand."""
    behavior = {
        "P1": {"1:": alpha, "2:": 0, "3:": 3 * alpha, "1:KB": 0, "2:KB": alpha + 1 / 3, "3:KB": 1},
        "P2": {"1:K": 1 / 3, "2:K": 0, "3:K": 1, "1:B": 0, "2:B": 1 / 3, "3:B": 1},
    }
    tree = game.tree
    probabilities = np.zeros(tree.n_actions)
    for player, sets in behavior.items():
        for label, last in sets.items():
            start = tree.action_start[tree.infoset_of(tree.players.index(player), label)]
            probabilities[start : start + 2] = 1 - last, last
    return BehaviorProfile.of(tree, probabilities)


def optimum(solver: str, value: float, bound: float, **fields: Any) -> CellRecord:
    """A cell with what the solver says; its profile has no regret unless `fields` say so."""
    regret = fields.pop("max_regret", 0.0)
    statistics = {"objective": value, "bound": bound, "backend": "gurobi", "nodes": 7}
    record = cell(solver, solver=solver, elapsed_s=0.5, statistics=statistics, **fields)
    item = record.equilibria[0]
    found = replace(item, claim="equilibrium", max_regret=regret, profile="profiles/one.json")
    return replace(record, max_regret=regret, equilibria=[found])


def stored(path: Path, names: tuple[str, ...], *records: CellRecord) -> StoredRun:
    """A run of ranges on kuhn2 with these records and without profiles."""
    solvers = RangeSelection("kuhn2", "ncp", names).solvers
    request = {"games": ["kuhn2"], "solvers": solvers, "timeout_s": 60.0, "threads": 1}
    folder = RunFolder.create(path, {"schema": SCHEMA, "cells": solvers, "request": request})
    for record in records:
        folder.append(record)
    return read_run(path)


def of_alpha(path: Path, game: Game, low: CellRecord, high: CellRecord, at: float) -> Any:
    """Row of the frequency alpha, where the profile of both ends bets that often."""
    run = stored(path, (ALPHA,), low, high)
    (path / "profiles").mkdir(exist_ok=True)
    text = profile_text(game.tree, alpha_member(game, at))
    (path / "profiles" / "one.json").write_text(text)
    (row,) = ranges_summary(game, run)["quantities"]
    return row


LOW, HIGH = RangeSelection("kuhn2", "ncp", (ALPHA,)).solvers


def test_selectors_combine_and_each_quantity_is_asked_for_once(kuhn2: Game) -> None:
    tree = kuhn2.tree
    assert quantities(tree, [], **NOTHING) == ("P1", "P2")
    assert quantities(tree, [ALPHA], **NOTHING) == (ALPHA,)
    first = quantities(tree, [], payoffs=False, first=True, every=False)
    histories = {"P1": [":|bet"], "P2": [":K|bet", ":B|call"]}
    assert set(first) == {
        f"{player}|{card}{history}"
        for player, those in histories.items()
        for history in those
        for card in "123"
    }
    every = quantities(tree, ["P2", ALPHA], payoffs=True, first=True, every=True)
    assert every[:3] == ("P2", ALPHA, "P1")
    assert len(every) == len(set(every)) == 2 + 12
    assert set(first) < set(every)


def test_all_actions_are_asked_for_where_there_are_more_than_two() -> None:
    tree = eqbench.load_game("rock_paper_scissors").tree
    names = quantities(tree, [], payoffs=False, first=True, every=False)
    assert len(names) == 6


@pytest.mark.parametrize(
    ("game", "name", "words"),
    [
        ("kuhn2", "P7", "no such player or action"),
        ("kuhn2", "P1|1:|raise", r"did you mean .*P1\|1:\|bet"),
        ("kuhn3_reduced", "P1|1:KKB|fold", "the only action there, so its frequency is 1"),
    ],
)
def test_names_of_nothing_are_refused(game: str, name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        quantities(eqbench.load_game(game).tree, [name], **NOTHING)


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        ("cfr_plus", "cfr_plus has no option of and sense, .*use --solver ncp"),
        ("ncp(sense=max,of=P1)", "leave sense and of out"),
        ("ncp,mip", "give one solver"),
        ("all", "give one solver"),
        ("npc", "did you mean ncp"),
    ],
)
def test_solvers_without_an_objective_to_set_are_refused(solver: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        solver_for_ranges(solver, None, default_registry())


def test_request_of_a_run_is_read_back_as_the_selection() -> None:
    solver = solver_for_ranges("ncp(gap=1e-3)", "scip", default_registry())
    selection = RangeSelection("kuhn2", solver, ("P1", ALPHA))
    assert len(selection.solvers) == 4
    for spec, sense in zip(selection.solvers, ["min", "max"] * 2, strict=True):
        loaded = default_registry().load_solver(spec).spec
        assert f"sense={sense}" in loaded
        assert "backend=scip" in loaded
    request = {"games": ["kuhn2"], "solvers": selection.solvers}
    assert RangeSelection.of_request(request) == selection


@pytest.mark.parametrize(
    "request_",
    [
        {"games": ["kuhn2"], "solvers": ["cfr_plus"]},
        {"games": ["kuhn2"], "solvers": ["ncp(sense=min,of=P1)"]},
        {"games": ["kuhn2"], "solvers": ["ncp(sense=max,of=P1)", "ncp(sense=min,of=P1)"]},
        {"games": ["kuhn2", "kuhn3"], "solvers": ["ncp(sense=min,of=P1)", "ncp(sense=max,of=P1)"]},
        {"games": ["kuhn2"], "solvers": []},
        {"games": ["kuhn2"]},
    ],
)
def test_requests_of_other_runs_are_refused(request_: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="no run of ranges"):
        RangeSelection.of_request(request_)


def test_extremes_of_the_published_three_player_family() -> None:
    # Szafron, Gibson and Sturtevant 2013, Tables 2 and 3 with Section 4: beta is at most 1/4, so
    # that player 1 gets -(1/2 + beta)/24
    game = eqbench.load_game("kuhn3")
    for known in known_sets(game):
        low, high = extremes(known, lambda at, of=known: float(of.payoffs_near(at)[0]))
        assert (low, high) == pytest.approx((-1 / 32, -1 / 48), abs=1e-9)
    bluff = {
        known.name: extremes(known, lambda at, of=known: of.shown(at)["c11"])
        for known in known_sets(game)
    }
    assert bluff["szafron:c11=0"] == (0, 0)
    assert bluff["szafron:c11=1/2"] == (0.5, 0.5)
    assert bluff["szafron:0<c11<1/2"] == pytest.approx((0, 0.5), abs=1e-6)


def test_extremes_of_linear_sets_are_at_their_corners() -> None:
    for known in known_sets(eqbench.load_game("kuhn3")):
        corners = corner_parameters(known)
        if known.name == "szafron:0<c11<1/2":
            assert not corners, "its constraints are not linear"
            continue
        for name in ("b11", "b32", "b33", "c33"):
            at = known.layout.variables.index(name)
            values = [known.frequencies(np.array(point, dtype=float))[at] for point in corners]
            found = extremes(known, lambda point, of=known, v=at: float(of.frequencies(point)[v]))
            assert found == pytest.approx((min(values), max(values)), abs=1e-9)


def test_ends_that_are_closed_at_the_published_ones_are_equal(kuhn2: Game, tmp_path: Path) -> None:
    run = stored(
        tmp_path,
        ("P1",),
        optimum("ncp(sense=min,of=P1)", -1 / 18, -1 / 18 - 1e-6),
        optimum("ncp(sense=max,of=P1)", -1 / 18 + 3e-6, -1 / 18 + 4e-6),
    )
    (row,) = ranges_summary(kuhn2, run)["quantities"]
    assert row["verdict"] == "equal"
    assert row["max"]["found"] == -1 / 18
    assert row["max"]["difference"] == pytest.approx(-3e-6)
    assert row["published"]["sets"] == {"kuhn2": pytest.approx([-1 / 18, -1 / 18])}


def test_what_was_found_is_read_off_the_stored_profile(kuhn2: Game, tmp_path: Path) -> None:
    low, high = optimum(LOW, 0.0, 0.0), optimum(HIGH, 0.9, 0.9)
    row = of_alpha(tmp_path, kuhn2, low, high, at=1 / 5)
    assert row["max"]["found"] == pytest.approx(0.2)
    assert row["max"]["difference"] == pytest.approx(-0.7)
    assert row["max"]["reach"] == pytest.approx(1 / 3)
    assert row["verdict"] == "open", "what is proved is beyond the published end by 0.9 - 1/3"


def test_only_a_verified_profile_makes_a_range_wider(kuhn2: Game, tmp_path: Path) -> None:
    places = (tmp_path / name for name in "abc")
    payoffs = [-1 / 18 + 1e-3, 1 / 18 - 1e-3]
    for regret, expected in ((0.0, "wider"), (1e-7, "open"), (1e-3, "open")):
        high = optimum("ncp(sense=max,of=P1)", payoffs[0], payoffs[0], max_regret=regret)
        item = replace(high.equilibria[0], payoffs=payoffs)
        high = replace(high, equilibria=[item])
        smallest = optimum("ncp(sense=min,of=P1)", -1 / 18, -1 / 18)
        (row,) = ranges_summary(kuhn2, stored(next(places), ("P1",), smallest, high))["quantities"]
        assert row["verdict"] == expected
        assert (row["max"]["found"] is None) == (regret == 1e-3)


@pytest.mark.parametrize(("proved", "expected"), [(1e-4, "equal"), (0.1, "open")])
def test_profile_at_the_published_end_excuses_a_proof_that_is_hardly_beyond(
    kuhn2: Game, tmp_path: Path, proved: float, expected: str
) -> None:
    low, high = optimum(LOW, 0.0, 0.0), optimum(HIGH, 1 / 3 + proved, 1 / 3 + proved)
    assert of_alpha(tmp_path, kuhn2, low, high, at=1 / 3)["verdict"] == expected


def test_refuted_profile_is_not_what_was_found(kuhn2: Game, tmp_path: Path) -> None:
    high = optimum("ncp(sense=max,of=P1)", 0.5, 0.5, status="refuted", reason="it is none")
    high = replace(high, equilibria=[replace(high.equilibria[0], refuted="regret 1e-9")])
    document = ranges_summary(kuhn2, stored(tmp_path, ("P1",), high))
    (row,) = document["quantities"]
    assert row["max"]["found"] is None
    assert not row["max"]["closed"]
    assert row["verdict"] == "open"
    assert row["min"]["status"] == "missing"
    assert any("refuted: max P1 – it is none" in note for note in notes(document))


def test_bound_that_excludes_a_published_equilibrium_is_a_contradiction(
    kuhn2: Game, tmp_path: Path
) -> None:
    low, high = optimum(LOW, 0.0, 0.0), optimum(HIGH, 0.3, 0.3)
    assert of_alpha(tmp_path, kuhn2, low, high, at=0.3)["verdict"] == "contradiction"


def test_profile_that_polishing_moved_inside_does_not_hide_that_ends_are_equal(
    kuhn2: Game, tmp_path: Path
) -> None:
    low, high = optimum(LOW, 0.0, 0.0), optimum(HIGH, 1 / 3 + 5e-6, 1 / 3 + 6e-6)
    row = of_alpha(tmp_path, kuhn2, low, high, at=0.0)
    assert (row["max"]["found"], row["verdict"]) == (0, "equal")


def test_any_frequency_counts_where_the_own_plan_never_leads(kuhn2: Game, tmp_path: Path) -> None:
    # with alpha 1/3 player 1 always bets the king, so what follows a check is never played
    names = ("P1|3:KB|call",)
    low, high = RangeSelection("kuhn2", "ncp", names).solvers
    run = stored(tmp_path, names, optimum(low, 0.0, 0.0), optimum(high, 1.0, 1.0))
    (tmp_path / "profiles").mkdir(exist_ok=True)
    text = profile_text(kuhn2.tree, alpha_member(kuhn2, 1 / 3))
    (tmp_path / "profiles" / "one.json").write_text(text)
    document = ranges_summary(kuhn2, run)
    (row,) = document["quantities"]
    assert (row["min"]["found"], row["max"]["found"]) == (0, 1)
    assert row["min"]["any_share"]
    assert row["verdict"] == "wider", "the publication has player 1 call"
    assert any(note.startswith("wider off the path of play only") for note in notes(document))


def test_optimum_at_its_limit_keeps_what_was_found_and_its_bound(
    kuhn2: Game, tmp_path: Path
) -> None:
    low = optimum("ncp(sense=min,of=P1)", -1 / 18, -0.5, status="limit", reason="stopped")
    document = ranges_summary(kuhn2, stored(tmp_path, ("P1",), low))
    (row,) = document["quantities"]
    assert row["verdict"] == "open"
    assert row["min"]["gap"] == pytest.approx(0.5 - 1 / 18)
    (shown,) = ranges_report(document).tables[0].rows
    assert shown.values["at least"] == "-0.500000"
    assert shown.values["closed below"] == "no (4.4e-01)"
    assert shown.values["closed above"] == "missing"
    assert any(note.startswith("limit: min P1 – what was found") for note in notes(document))


def test_unavailable_solver_is_shown_with_its_reason(kuhn2: Game, tmp_path: Path) -> None:
    fields = {"status": "unavailable", "reason": "missing: no backend"}
    solver = "ncp(sense=min,of=P1)"
    run = stored(tmp_path, ("P1",), without_figures(solver, solver=solver, **fields))
    document = ranges_summary(kuhn2, run)
    assert any("unavailable: min P1 – missing: no backend" in note for note in notes(document))
    assert ranges_report(document).tables[0].rows[0].values["closed below"] == "unavailable"


def notes(document: dict[str, Any]) -> tuple[str, ...]:
    return ranges_report(document).tables[0].notes


def test_games_without_published_sets_have_no_verdict(tmp_path: Path) -> None:
    game = eqbench.load_game("random_tree(seed=1)")
    document = ranges_summary(game, stored(tmp_path, ("P1",)))
    assert document["quantities"][0]["verdict"] is None
    titles = [column.title for column in ranges_report(document).tables[0].columns]
    assert "verdict" not in titles
    assert "largest" in titles


def test_files_hold_what_the_summary_says(kuhn2: Game, tmp_path: Path) -> None:
    solver_spec = default_registry().load_solver("ncp(sense=min,of=P1)").spec
    low = optimum("ncp(sense=min,of=P1)", -1 / 18, -1 / 18, solver_spec=solver_spec)
    document = ranges_summary(kuhn2, stored(tmp_path, ("P1",), low))
    files = write_ranges(document, tmp_path)
    names = ["summary.json", "ranges.md", "ranges.csv", "ranges.tex"]
    assert [file.name for file in files] == names
    assert json.loads((tmp_path / "summary.json").read_text()) == document
    assert document["schema"] == "eqbench.ranges/1"
    assert ranges_csv(document) == (tmp_path / "ranges.csv").read_bytes().decode()
    (row,) = csv.DictReader(io.StringIO(ranges_csv(document)))
    assert float(row["min_found"]) == -1 / 18
    assert (row["max_found"], row["min_closed"], row["verdict"]) == ("", "True", "open")
    for name in ("ranges.md", "ranges.tex"):
        text = (tmp_path / name).read_text()
        assert "(feasibility 1e-6, gap 1e-4), not a theorem" in text
        assert "0.055556" in text
