"""Ranges over all equilibria: what made-up records say about them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.runs import cell, without_figures, write_lines
from msgspec import structs

import eqbench
from eqbench.equilibria import known_sets
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.report.rows import csv_of
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import SCHEMA, CellRecord
from eqbench.store.stored_run import read_run
from eqbench.studies.ranges import (
    SENSES,
    End,
    Published,
    QuantityRange,
    RangesDocument,
    RangesStudy,
    quantities,
)
from eqbench.studies.requests import RangesRequest

ALPHA = "P1|1:|bet"
CALL = "P1|3:KB|call"
VALUE = -1 / 18


def optimum(
    solver: str, value: float, bound: float, regret: float = 0.0, **more: Any
) -> CellRecord:
    """A cell with what the solver says, and the stored profile that has so much regret."""
    refuted, payoffs = more.pop("refuted", None), more.pop("payoffs", [VALUE, -VALUE])
    statistics = {"objective": value, "bound": bound, "backend": "gurobi", "nodes": 7}
    record = cell(solver, solver=solver, elapsed_s=0.5, statistics=statistics, **more)
    item = replace(record.equilibria[0], claim="equilibrium", max_regret=regret, payoffs=payoffs)
    item = replace(item, profile="profiles/one.json", refuted=refuted)
    return replace(record, max_regret=regret, equilibria=[item])


def document_of(
    path: Path,
    name: str,
    *ends: Callable[[str], CellRecord],
    game: str = "kuhn2",
    alpha: float = 0.0,
    scaled: Game | None = None,
) -> RangesDocument:
    """The document of a run with these ends; the profile of both is a member of Kuhn's family."""
    study = RangesStudy(RangesRequest(game=game, of=(name,)))
    study.game = scaled or study.game
    solvers = [study.optimum(name, sense) for sense in SENSES]
    request = {"games": [game], "solvers": solvers, "timeout_s": 60.0, "threads": 1}
    RunFolder.create(path / "run", {"schema": SCHEMA, "cells": solvers, "request": request})
    write_lines(path / "run", [end(solver) for end, solver in zip(ends, solvers, strict=False)])
    if game == "kuhn2":
        text = profile_text(study.game.tree, member(study.game, alpha))
        (path / "run" / "profiles" / "one.json").write_text(text)
    return study.ranges_of(read_run(path / "run"), path)


def member(game: Game, alpha: float) -> BehaviorProfile:
    """Member of the family of Kuhn (1950)."""
    (family,) = known_sets(game)
    return family.member([Fraction(alpha).limit_denominator(10**9)])


def end(value: float, bound: float | None = None, regret: float = 0.0, **more: Any) -> Any:
    """An end that the solver found at a value and proved up to a bound."""
    return lambda solver: optimum(solver, value, value if bound is None else bound, regret, **more)


def not_run(status: str) -> Callable[[str], CellRecord]:
    return lambda solver: without_figures(solver, solver=solver, status=status, reason="none")


class Case(NamedTuple):
    """Ends of a quantity, and what is expected of it: attributes by names with dots."""

    name: str
    ends: tuple[Callable[[str], CellRecord], ...]
    expected: dict[str, Any]
    note: str = ""
    alpha: float = 0.0
    game: str = "kuhn2"


BEYOND = {"payoffs": [VALUE + 1e-3, -VALUE - 1e-3]}
CASES = {
    "read off the stored profile": Case(
        ALPHA,
        (end(0.0), end(0.9)),
        {
            "max.found": 0.2,
            "max.difference": -0.7,
            "max.reach": 1 / 3,
            "max.distance": 0.7,
            "max.closed": False,
            "verdict": "open",  # what is proved is beyond the published end
        },
        alpha=1 / 5,
    ),
    "verified beyond what was published": Case(
        "P1", (end(VALUE), end(VALUE, **BEYOND)), {"verdict": "wider"}
    ),
    "regret is no rounding": Case(
        "P1", (end(VALUE), end(VALUE, regret=1e-7, **BEYOND)), {"verdict": "open"}
    ),
    "regret above the tolerance": Case(
        "P1", (end(VALUE), end(VALUE, regret=1e-3, **BEYOND)), {"max.found": None}
    ),
    "gap that the solver takes for proved": Case(
        "P1",
        (end(VALUE, -0.1), end(VALUE, -0.03)),
        {"min.status": "ok", "min.closed": False, "max.closed": False, "verdict": "open"},
    ),
    "stopped where the bound meets what was found": Case(
        "P1", (end(VALUE, status="limit", reason="stopped"),), {"min.closed": True}
    ),
    "refuted": Case(
        "P1",
        (end(VALUE, status="refuted", reason="it is none", refuted="regret 1e-9"),),
        {"min.found": None, "min.closed": False, "max.status": "missing", "verdict": "open"},
        "refuted: min P1 – it is none",
    ),
    # with alpha 1/3 player 1 always bets the king, so what follows a check is never played
    "own plan never leads there": Case(
        CALL,
        (end(0.0), end(1.0)),
        {"min.found": 0, "max.found": 1, "min.any_share": True, "verdict": "wider"},
        "never reaches",
        1 / 3,
    ),
    "bound excludes a published equilibrium": Case(
        ALPHA, (end(0.0), end(0.3)), {"max.closed": True, "verdict": "contradiction"}, alpha=0.3
    ),
    "polished far away": Case(
        ALPHA, (end(0.0), end(1 / 3 + 5e-6)), {"max.closed": False, "verdict": "open"}
    ),
    "one end yet to be run": Case("P1", (not_run("unavailable"),), {"verdict": "open"}),
    **{
        status: Case(
            "P1", (not_run(status),) * 2, {"verdict": status}, f"{status}: min P1, max P1 – none"
        )
        for status in ("unavailable", "unsupported")
    },
    # the family bets its lowest card between never, the smallest value, and a third of the time
    **{
        f"frequency off by {off}": Case(
            ALPHA, (end(0.0, -off), end(1 / 3)), {"min.closed": off < 1e-3}
        )
        for off in (1e-4, 9e-4, 1.1e-3, 0.1)
    },
    "not linear": Case("P1", (), {"published.linear": False}, "not linear", game="kuhn3"),
    "linear": Case("P1", (), {"published.linear": True}),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_ends_and_verdicts_of_records(tmp_path: Path, case: Case) -> None:
    document = document_of(tmp_path, case.name, *case.ends, alpha=case.alpha, game=case.game)
    (row,) = document.quantities
    for name, expected in case.expected.items():
        value: Any = row
        for part in name.split("."):
            value = getattr(value, part)
        close = pytest.approx(expected, abs=1e-8) if isinstance(expected, float) else expected
        assert value == close, name
    table = document.tables().tables[0]
    assert any(case.note in note for note in table.notes) or not case.note
    closed = sum(row.end(sense).closed for sense in SENSES)
    assert f"closed: {closed} of 2 optima" in document.tables().notes
    assert document.interrupted == (len(case.ends) < 2)


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e6])
@pytest.mark.parametrize(
    ("moved", "closed", "expected"),
    [(9e-6, True, "equal"), (9e-6, False, "open"), (-2e-5, True, "open"), (2e-5, True, "wider")],
)
def test_verdicts_do_not_depend_on_the_unit_of_payoffs(
    unit: float, moved: float, closed: bool, expected: str
) -> None:
    low = End(
        status="ok", reason="", exact_enough=True, closed=True, found=-unit / 2, bound=-unit / 2
    )
    high = structs.replace(low, found=(0.25 + moved) * unit, bound=0.251 * unit, closed=closed)
    published = Published(low=-unit / 2, high=unit / 4, linear=True, sets={})
    row = QuantityRange(
        quantity="P1", kind="payoff", unit=unit, min=low, max=high, published=published
    )
    assert row.judged().verdict == expected
    wrong = structs.replace(high, found=None, bound=(0.25 - 2e-5) * unit)
    assert structs.replace(row, max=wrong).judged().verdict == "contradiction"


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e6])
def test_payoffs_close_and_are_shown_in_shares_of_their_range(tmp_path: Path, unit: float) -> None:
    game = eqbench.load_game("matching_pennies")
    payoffs = replace(game.tree.payoffs, base=game.tree.payoffs.table * unit, denominator=1)
    scaled = replace(game, tree=replace(game.tree, payoffs=payoffs))
    paid, share = 0.25 * unit, scaled.tree.payoff_range
    assert share == 2 * unit
    ends = [
        end(paid, paid + off * share, payoffs=[paid, -paid], game="matching_pennies")
        for off in (-9e-6, 1.1e-5)
    ]
    document = document_of(tmp_path, "P1", *ends, game="matching_pennies", scaled=scaled)
    (row,) = document.quantities
    assert (row.min.closed, row.max.closed) == (True, False)
    assert document.tables().tables[0].rows[0].values["smallest"] == f"{paid:.6g}"


def test_games_without_published_sets_have_no_verdict(tmp_path: Path) -> None:
    document = document_of(tmp_path, "P1", game="random_tree(seed=1)")
    assert document.quantities[0].verdict is None
    titles = [column.title for column in document.tables().tables[0].columns]
    assert "verdict" not in titles
    assert "largest" in titles


def test_csv_has_both_ends_of_each_quantity(tmp_path: Path) -> None:
    document = document_of(tmp_path, "P1", end(VALUE))
    (row,) = csv.DictReader(io.StringIO(csv_of(document.rows())))
    assert float(row["min_found"]) == VALUE
    assert (row["max_found"], row["min_closed"], row["verdict"]) == ("", "True", "open")
    assert row["min_profile"] == "run/profiles/one.json"


# -- what is selected


def selected(game: str, **chosen: Any) -> tuple[str, ...]:
    """Quantities that a request selects."""
    return quantities(eqbench.load_game(game).tree, RangesRequest(game=game, **chosen))


def test_selectors_combine_and_each_quantity_counts_once() -> None:
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
