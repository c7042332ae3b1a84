"""What a cross-play takes of runs and of published sets, and what it says about the rest."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from crossplay_cases import kuhn2_member, nothing_left_out

import eqbench
from eqbench.errors import UsageError
from eqbench.store.schema import CellRecord, EquilibriumRecord
from eqbench.store.stored_run import StoredRun
from eqbench.studies.crossplay.study import (
    LeftOut,
    corners,
    equilibria_of_runs,
    left_out_notes,
)

TOLERANCE = 1e-6


def run_of(folder: Path, cells: dict[str, list[tuple[str, float]]]) -> StoredRun:
    """A run of kuhn2: per solver the claims and regrets of the candidates of its only cell."""
    game = eqbench.load_game("kuhn2")
    profile = kuhn2_member(Fraction(1, 4)).on(game.tree).to_json()
    (folder / "equilibrium.json").write_text(json.dumps(profile))
    records = [
        CellRecord(
            key=solver,
            **{"game": "kuhn2", "game_spec": game.spec, "solver": solver, "solver_spec": solver},
            seed=None,
            status="ok",
            equilibria=[
                EquilibriumRecord(claim, [], [], regret, regret, profile="equilibrium.json")
                for claim, regret in candidates
            ],
        )
        for solver, candidates in cells.items()
    ]
    return StoredRun(folder, {}, tuple(records), outdated=0, notes=())


def taken(folder: Path, cells: dict[str, list[tuple[str, float]]]) -> tuple[list[str], LeftOut]:
    game = eqbench.load_game("kuhn2")
    found, above, same_run = equilibria_of_runs([run_of(folder, cells)], game, TOLERANCE)
    left_out = nothing_left_out()
    left_out["above_tolerance"], left_out["same_run"] = above, same_run
    return [item.source for item in found], left_out


def test_of_the_last_iterate_and_the_average_of_a_cell_the_better_one_is_taken(
    tmp_path: Path,
) -> None:
    cells = {
        "first": [("iterate", 1e-9), ("average", 1e-8)],
        "second": [("iterate", 1e-8), ("average", 1e-9)],
        "lists": [("equilibrium", 0.0), ("equilibrium", 0.0), ("complete list", 0.0)],
    }
    sources, left_out = taken(tmp_path, cells)
    assert sources == ["first", "second #1", "lists", "lists #1", "lists #2"]
    assert left_out == nothing_left_out() | {"same_run": 2}
    (note,) = left_out_notes(left_out)
    assert "2 candidates" in note


def test_candidates_above_the_tolerance_are_counted_with_their_solvers(tmp_path: Path) -> None:
    """The worse one of a cell is no news, whatever its regret."""
    cells = {
        "good": [("iterate", 1e-9), ("average", 1e-2)],
        "bad": [("average", 3e-5), ("iterate", 2e-5)],
        "mixed": [("equilibrium", TOLERANCE), ("equilibrium", 4e-5), ("equilibrium", 5e-5)],
    }
    sources, left_out = taken(tmp_path, cells)
    assert sources == ["good", "mixed"]
    assert left_out["same_run"] == 2
    assert left_out["above_tolerance"] == {
        "candidates": 3,
        "cells": 2,
        "solvers": ["bad", "mixed"],
        "smallest_max_regret": 2e-5,
        "allowed": TOLERANCE,
    }
    assert "2.0e-05 (allowed: 1.0e-06)" in left_out_notes(left_out)[0]


def test_run_without_equilibria_is_refused_with_its_smallest_regret(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="2 candidates in 1 cells; the smallest max regret is 2e-"):
        taken(tmp_path, {"solver": [("iterate", 2e-5), ("average", 3e-5)]})


@pytest.mark.parametrize(
    ("game", "missing"),
    [("kuhn2", ()), ("kuhn3", ("szafron:0<c11<1/2",)), ("skp(pot=3.35)", ("skp:3",))],
)
def test_published_sets_without_corners_are_named(game: str, missing: tuple[str, ...]) -> None:
    """Szafron et al. 2013, Table 3: c11 (3 + 4 b11) <= 2 - b11; skp:3 is irrational."""
    found, without_corners = corners(eqbench.load_game(game))
    assert found
    assert [item["name"] for item in without_corners] == list(missing)
    notes = left_out_notes(nothing_left_out() | {"without_corners": without_corners})
    assert all(name in note for name, note in zip(missing, notes, strict=True))


def test_game_whose_sets_have_no_corners_is_not_called_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(game: Any) -> list[Any]:
        return []

    monkeypatch.setattr("eqbench.studies.crossplay.study.known_corners", nothing)
    with pytest.raises(UsageError, match=r"have no corners \(kuhn2\); leave out --known"):
        corners(eqbench.load_game("kuhn2"))
    with pytest.raises(UsageError, match=r"no equilibria of goofspiel.* are known"):
        corners(eqbench.load_game("goofspiel"))
