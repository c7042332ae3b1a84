"""Ranges over all equilibria: what made-up records say about them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from helpers.runs import cell, without_figures, write_lines

import eqbench
from eqbench.equilibria import known_sets
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.registry import default_registry
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import SCHEMA, CellRecord
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.studies.ranges import (
    RangesStudy,
    optima,
    quantities,
    ranges_csv,
    ranges_summary,
    request_of,
    solver_for_ranges,
    verdict,
    write_ranges,
)
from eqbench.studies.requests import RangesRequest

ALPHA = "P1|1:|bet"


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return eqbench.load_game("kuhn2")


def alpha_member(game: Game, alpha: float) -> BehaviorProfile:
    """Member of the family of Kuhn (1950)."""
    (family,) = known_sets(game)
    return family.member([Fraction(alpha).limit_denominator(10**9)])


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
    solvers = optima(RangesRequest(game="kuhn2", solver="ncp", of=names))
    request = {"games": ["kuhn2"], "solvers": solvers, "timeout_s": 60.0, "threads": 1}
    RunFolder.create(path, {"schema": SCHEMA, "cells": solvers, "request": request})
    write_lines(path, records)
    return read_run(path)


def of_alpha(path: Path, game: Game, low: CellRecord, high: CellRecord, at: float) -> Any:
    """Row of the frequency alpha, where the profile of both ends bets that often."""
    run = stored(path, (ALPHA,), low, high)
    write_member(path, game, at)
    (row,) = ranges_summary(game, run)["quantities"]
    return row


def write_member(path: Path, game: Game, alpha: float) -> None:
    """Store the profile of both ends."""
    (path / "profiles").mkdir(exist_ok=True)
    text = profile_text(game.tree, alpha_member(game, alpha))
    (path / "profiles" / "one.json").write_text(text)


LOW, HIGH = optima(RangesRequest(game="kuhn2", solver="ncp", of=(ALPHA,)))


def test_ranges_of_curved_sets_are_said_to_be_what_was_found(tmp_path: Path) -> None:
    for name, expected in (("kuhn2", False), ("kuhn3", True)):
        run = stored(tmp_path / name, ("P1",))
        document = ranges_summary(eqbench.load_game(name), run)
        assert any("not linear" in note for note in notes(document)) == expected
        assert document["quantities"][0]["published"]["linear"] != expected


def test_what_was_found_is_read_off_the_stored_profile(kuhn2: Game, tmp_path: Path) -> None:
    low, high = optimum(LOW, 0.0, 0.0), optimum(HIGH, 0.9, 0.9)
    row = of_alpha(tmp_path, kuhn2, low, high, at=1 / 5)
    assert row["max"]["found"] == pytest.approx(0.2)
    assert row["max"]["difference"] == pytest.approx(-0.7)
    assert row["max"]["reach"] == pytest.approx(1 / 3)
    assert row["verdict"] == "open", "what is proved is beyond the published end by 0.9 - 1/3"
    assert not row["max"]["closed"], "the solver's own point is not what counts"
    assert row["max"]["distance"] == pytest.approx(0.7)


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


@pytest.mark.parametrize(
    ("beyond", "closed"), [(1e-4, True), (9e-4, True), (1.1e-3, False), (0.1, False)]
)
def test_bound_of_a_frequency_closes_within_a_thousandth_of_the_verified_profile(
    kuhn2: Game, tmp_path: Path, beyond: float, closed: bool
) -> None:
    # the family bets its lowest card between never, the smallest value, and a third of the time
    low, high = optimum(LOW, 0.0, -beyond), optimum(HIGH, 1 / 3, 1 / 3 + beyond)
    assert of_alpha(tmp_path / "low", kuhn2, low, high, at=0.0)["min"]["closed"] == closed
    assert of_alpha(tmp_path / "high", kuhn2, low, high, at=1 / 3)["max"]["closed"] == closed


def test_gap_that_the_solver_takes_for_proved_closes_nothing(kuhn2: Game, tmp_path: Path) -> None:
    # as with gap=0.9: the status is ok, while the bounds are far from what was found
    low = optimum("ncp(sense=min,of=P1)", -1 / 18, -0.1)
    high = optimum("ncp(sense=max,of=P1)", -1 / 18, -0.03)
    document = ranges_summary(kuhn2, stored(tmp_path, ("P1",), low, high))
    (row,) = document["quantities"]
    assert row["min"]["status"] == "ok"
    assert not row["min"]["closed"]
    assert not row["max"]["closed"]
    assert row["verdict"] == "open"
    assert "closed: 0 of 2 optima" in RangesStudy.report(document).notes


def test_bound_of_a_stopped_solver_closes_if_it_meets_what_was_found(
    kuhn2: Game, tmp_path: Path
) -> None:
    closed = {}
    for status in ("limit", "refuted"):
        low = optimum("ncp(sense=min,of=P1)", -1 / 18, -1 / 18, status=status, reason="stopped")
        (row,) = ranges_summary(kuhn2, stored(tmp_path / status, ("P1",), low))["quantities"]
        closed[status] = row["min"]["closed"]
    assert closed == {"limit": True, "refuted": False}


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e6])
@pytest.mark.parametrize(
    ("moved", "closed", "expected"),
    [(9e-6, True, "equal"), (9e-6, False, "open"), (-2e-5, True, "open"), (2e-5, True, "wider")],
)
def test_verdicts_do_not_depend_on_the_unit_of_payoffs(
    unit: float, moved: float, closed: bool, expected: str
) -> None:
    end = {"status": "ok", "exact_enough": True, "closed": True}
    low = end | {"found": -0.5 * unit, "bound": -0.5 * unit}
    high = end | {"found": (0.25 + moved) * unit, "bound": 0.251 * unit, "closed": closed}
    published = {"low": -0.5 * unit, "high": 0.25 * unit}
    row = {"unit": unit, "min": low, "max": high, "published": published}
    assert verdict(row) == expected
    wrong = high | {"found": None, "bound": (0.25 - 2e-5) * unit}
    assert verdict(row | {"max": wrong}) == "contradiction"


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e6])
def test_payoffs_close_and_are_shown_in_shares_of_their_range(tmp_path: Path, unit: float) -> None:
    game = eqbench.load_game("matching_pennies")
    payoffs = replace(game.tree.payoffs, base=game.tree.payoffs.table * unit, denominator=1)
    tree = replace(game.tree, payoffs=payoffs)
    scaled = replace(game, tree=tree)
    share = tree.payoff_range
    assert share == 2 * unit
    low, high = (
        replace(
            optimum(solver, 0.25 * unit, 0.25 * unit + off * share),
            equilibria=[
                replace(optimum(solver, 0, 0).equilibria[0], payoffs=[0.25 * unit, -0.25 * unit])
            ],
        )
        for solver, off in (("ncp(sense=min,of=P1)", -9e-6), ("ncp(sense=max,of=P1)", 1.1e-5))
    )
    document = ranges_summary(scaled, stored(tmp_path, ("P1",), low, high))
    (row,) = document["quantities"]
    assert (row["min"]["closed"], row["max"]["closed"]) == (True, False)
    (shown,) = RangesStudy.report(document).tables[0].rows
    assert shown.values["smallest"] == f"{0.25 * unit:.6g}"


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


def test_any_frequency_counts_where_the_own_plan_never_leads(kuhn2: Game, tmp_path: Path) -> None:
    # with alpha 1/3 player 1 always bets the king, so what follows a check is never played
    names = ("P1|3:KB|call",)
    low, high = optima(RangesRequest(game="kuhn2", solver="ncp", of=names))
    run = stored(tmp_path, names, optimum(low, 0.0, 0.0), optimum(high, 1.0, 1.0))
    write_member(tmp_path, kuhn2, 1 / 3)
    document = ranges_summary(kuhn2, run)
    (row,) = document["quantities"]
    assert (row["min"]["found"], row["max"]["found"]) == (0, 1)
    assert row["min"]["any_share"]
    assert row["verdict"] == "wider", "the publication has player 1 call"
    (shown,) = RangesStudy.report(document).tables[0].rows
    assert (shown.values["smallest"], shown.values["largest"]) == ("0 (any)", "1 (any)")
    assert any("never reaches" in note for note in notes(document))


@pytest.mark.parametrize(
    ("high", "at", "closed", "expected"),
    [
        pytest.param((0.3, 0.3), 0.3, True, "contradiction", id="excludes a published equilibrium"),
        pytest.param((1 / 3 + 5e-6, 1 / 3 + 6e-6), 0.0, False, "open", id="polished far away"),
    ],
)
def test_bound_is_held_against_the_verified_profile_and_the_published_end(
    kuhn2: Game, tmp_path: Path, high: tuple[float, float], at: float, closed: bool, expected: str
) -> None:
    row = of_alpha(tmp_path, kuhn2, optimum(LOW, 0.0, 0.0), optimum(HIGH, *high), at=at)
    assert row["max"]["found"] == pytest.approx(at)
    assert (row["max"]["closed"], row["verdict"]) == (closed, expected)


@pytest.mark.parametrize("status", ["unavailable", "unsupported"])
def test_range_that_no_solver_could_look_for_is_not_open(
    kuhn2: Game, tmp_path: Path, status: str
) -> None:
    both = optima(RangesRequest(game="kuhn2", solver="ncp", of=("P1",)))
    for count, expected in ((1, "open"), (2, status)):  # the other end is yet to be run
        records = [without_figures(s, solver=s, status=status, reason="none") for s in both[:count]]
        run = stored(tmp_path / str(count), ("P1",), *records)
        document = ranges_summary(kuhn2, run)
        assert document["quantities"][0]["verdict"] == expected
        (row,) = RangesStudy.report(document).tables[0].rows
        assert (row.values["closed below"], row.values["verdict"]) == (status, expected)
        assert any(note.startswith(f"{status}: min P1") for note in notes(document))


def notes(document: dict[str, Any]) -> tuple[str, ...]:
    return RangesStudy.report(document).tables[0].notes


def test_games_without_published_sets_have_no_verdict(tmp_path: Path) -> None:
    game = eqbench.load_game("random_tree(seed=1)")
    document = ranges_summary(game, stored(tmp_path, ("P1",)))
    assert document["quantities"][0]["verdict"] is None
    titles = [column.title for column in RangesStudy.report(document).tables[0].columns]
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
        assert "0.0555556" in (tmp_path / name).read_text()


# -- what is asked for


def selected(game: str, **asked: Any) -> tuple[str, ...]:
    """Quantities that a request selects."""
    return quantities(eqbench.load_game(game).tree, RangesRequest(game=game, **asked))


def test_selectors_combine_and_each_quantity_is_asked_for_once() -> None:
    assert selected("kuhn2") == ("P1", "P2")
    assert selected("kuhn2", of=(ALPHA,)) == (ALPHA,)
    first = selected("kuhn2", first_actions=True)
    assert len(selected("rock_paper_scissors", first_actions=True)) == 6
    histories = {"P1": [":|bet"], "P2": [":K|bet", ":B|call"]}
    assert set(first) == {
        f"{player}|{card}{history}"
        for player, those in histories.items()
        for history in those
        for card in "123"
    }
    every = selected("kuhn2", of=("P2", ALPHA), payoffs=True, first_actions=True, all_actions=True)
    assert every[:3] == ("P2", ALPHA, "P1")
    assert len(every) == len(set(every)) == 2 + 12
    assert set(first) < set(every)


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
        selected(game, of=(name,))


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
        solver_for_ranges(solver, default_registry())


def test_request_of_a_run_is_read_back_as_the_selection() -> None:
    solver = solver_for_ranges("ncp(gap=1e-3,backend=scip)", default_registry())
    selection = RangesRequest(game="kuhn2", solver=solver, of=("P1", ALPHA))
    assert len(optima(selection)) == 4
    for spec, sense in zip(optima(selection), ["min", "max"] * 2, strict=True):
        loaded = default_registry().load_solver(spec).spec
        assert f"sense={sense}" in loaded
        assert "backend=scip" in loaded
    request = {"games": ["kuhn2"], "solvers": optima(selection)}
    assert request_of(request) == selection


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
    with pytest.raises(UsageError, match="ranges"):
        request_of(request_)
