"""What a study of stability leaves: its table, its points and its figures."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from stability_cases import study

import eqbench
from eqbench.model.choices import Choices
from eqbench.model.profile import BehaviorProfile
from eqbench.plots.stability import draw_stability, eigenvalue_figure
from eqbench.studies.flow.stability import StabilityStudy
from eqbench.studies.frame import Session, StudyFolder
from eqbench.studies.requests import StabilityRequest
from eqbench.verification import verify


def test_points_are_the_profiles_of_the_entries(tmp_path: Path) -> None:
    found = study("skp", tmp_path, at=(Fraction(3), Fraction(61, 20)), rest_points=30)
    with (tmp_path / "points.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:6] == ["parameter", "name", "u:P1", "u:P2", "u:P3", "P1|2:|bet"]
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary == found
    entries = [(entry["value"], entry["name"], entry) for entry in summary["equilibria"]]
    for search in summary["rest_points"]:
        entries += [
            (search["value"], f"rest point {number}", point)
            for number, point in enumerate(search["points"], start=1)
        ]
    assert len(entries) > 4
    expected = {(value, name): entry["payoffs"] for value, name, entry in entries}
    assert {(float(row["parameter"]), row["name"]) for row in rows} == set(expected)
    for row in rows:
        game = eqbench.load_game("skp").at(pot=float(row["parameter"]))
        choices = Choices.of(game.tree)
        free = np.array([float(text) for text in list(row.values())[5:]])
        measured = verify(game.tree, BehaviorProfile.of(game.tree, choices.behavior(free)))
        payoffs = expected[float(row["parameter"]), row["name"]]
        assert [float(row[f"u:P{p}"]) for p in (1, 2, 3)] == payoffs
        assert list(measured.payoffs) == pytest.approx(payoffs, abs=1e-15)


def test_study_that_goes_on_finds_what_one_without_a_break_finds(tmp_path: Path) -> None:
    request = StabilityRequest(
        game="skp", at=(Fraction(3), Fraction(61, 20)), samples=2, rest_points=20
    )
    complete = StabilityStudy(request)
    whole = StudyFolder.create(complete, tmp_path / "whole").carry_out(
        complete, Session(tmp_path / "whole")
    )
    asked: list[None] = []

    def interrupted() -> bool:
        asked.append(None)
        return len(asked) > 30  # in the search at the second value

    begun, path = StabilityStudy(request), tmp_path / "broken"
    folder = StudyFolder.create(begun, path)
    part = folder.carry_out(begun, Session(path, interrupted))
    assert (part["finished"], part["rest_points"][1]["draws"]) == (False, 8)
    assert {entry["value"] for entry in part["equilibria"]} == {3, 3.05}
    assert folder.carry_out(StabilityStudy(request), Session(path)) == whole
    points = [(tmp_path / name / "points.csv").read_text() for name in ("whole", "broken")]
    assert points[0] == points[1]


def test_points_of_a_game_without_parameter_have_none(tmp_path: Path) -> None:
    study("matching_pennies", tmp_path)
    _, row = (tmp_path / "points.csv").read_text(encoding="utf-8").splitlines()
    assert row.startswith(",matrix:matching_pennies,")
    assert row.endswith(",0.5,0.5")


# -- figures ------------------------------------------------------------------------------------


def test_figure_of_eigenvalues_shows_all_of_them() -> None:
    entries = study("skp(pot=3.25)")["equilibria"]
    (ax,) = eigenvalue_figure(entries).axes
    drawn = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    assert [len(line.get_xdata()) for line in drawn] == [11, 11, 11]
    assert [str(line.get_label()) for line in drawn] == [
        f"{entry['name']}: {entry['verdict']}" for entry in entries
    ]


def test_figure_of_verdicts_joins_neighbors_of_one_verdict_only() -> None:
    pots = (*(Fraction(k, 20) for k in range(56, 66)), Fraction(7, 2), Fraction(4))
    found = study("skp", at=pots, samples=2)
    ((name, figure),) = draw_stability(found)
    assert (name, figure.get_suptitle()) == ("verdicts", "skp")
    (ax,) = figure.axes
    rows = [text.get_text() for text in ax.get_yticklabels()]
    assert rows == [
        "skp:1",
        "skp:2a",
        "skp:2",
        *(f"skp:{k}" for k in ("3", "4", "5a", "5", "6", "7")),
    ]
    joined = [line for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata())]
    spans = {(rows[int(y[0])], x[0], x[-1]) for x, y in (bar.get_data() for bar in joined)}
    assert ("skp:1", 2.8, 3.0) in spans
    assert ("skp:2", 3.05, 3.25) in spans  # another verdict at 3
    assert ("skp:4", 3.25, 3.5) in spans  # nothing was computed between
    assert {span[1:] for span in spans if span[0] == "skp:2a"} == {(3.0, 3.0)}  # at one value only


def test_nothing_is_drawn_without_equilibria() -> None:
    assert not list(draw_stability({"equilibria": [], "parameter": None}))
