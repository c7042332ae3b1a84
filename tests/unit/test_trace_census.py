"""Equilibria on a branch of SKP and beside it, and what is printed about them.

The names are those of the solutions in Billingham 2017, section 3.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from trace_cases import new_folder, setting

from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.report.terminal import plain_text
from eqbench.studies.trace import conclude, trace
from eqbench.studies.trace_census import distinct_payoffs
from eqbench.studies.trace_folder import TraceFolder
from eqbench.studies.trace_tables import print_trace
from eqbench.verification import verify

Traced = tuple[TraceFolder, dict[str, Any]]


@pytest.fixture(scope="module")
def skp(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """SKP up to a pot of 6, looked at where three solutions coexist and on a vertical piece."""
    case = setting("arclength", "5/2", 6, at=("10/3", "7/2"), at_most=True, starts=8, seed=1)
    folder = new_folder(tmp_path_factory.mktemp("skp") / "t", case)
    return folder, conclude(case, folder, trace(case, folder))


def names(entry: dict[str, Any]) -> list[str]:
    return [item["identity"]["name"] for item in entry["equilibria"]]


def test_crossings_become_the_published_solutions(skp: Traced) -> None:
    entry = skp[1]["at"][0]
    counts = (entry["crossings"], entry["polished"], entry["distinct_payoffs"])
    assert counts == (3, 3, 3)
    assert names(entry) == ["skp:2", "skp:3", "skp:4"]
    low, high = entry["window"]
    # the folds of the equilibria are at 3.2122 and 3.4365
    assert 3.2 < low < 10 / 3 < high < 3.45


def test_most_points_are_looked_at_where_they_are(skp: Traced) -> None:
    document = skp[1]
    most = document["coexisting"]
    assert most["most"] == 3
    assert len(most["intervals"]) == 3
    entry = document["at"][-1]
    assert entry["crossings"] == 3
    assert any(low < entry["parameter"] < high for low, high in most["intervals"])


def test_profiles_in_the_folder_are_as_the_summary_says(skp: Traced) -> None:
    folder, document = skp
    case = setting("arclength", "5/2", 6)
    for entry, pot in zip(document["at"][:2], ("10/3", "7/2"), strict=True):
        for item in entry["equilibria"]:
            data = parse_profile((folder.path / item["profile"]).read_text())
            assert data["game"] == f"skp(pot={pot})"
            game = case.game_at(Fraction(pot))
            measured = verify(game.tree, profile_from_json(game.tree, data))
            assert item["max_regret"] <= 1e-12
            assert measured.max_regret == pytest.approx(item["max_regret"], abs=1e-15)
            assert measured.payoffs == pytest.approx(item["payoffs"], abs=1e-15)


def test_random_starts_find_more_on_a_vertical_piece(skp: Traced) -> None:
    unique, vertical = (entry["beside"] for entry in skp[1]["at"][:2])
    assert (unique["starts"], unique["polished"], unique["not_on_branch"]) == (8, 8, 0)
    assert vertical["not_on_branch"] == vertical["distinct_payoffs"] == 8
    ranges = vertical["payoff_ranges"]
    assert ranges[1][1] - ranges[1][0] < 1e-9 < ranges[0][1] - ranges[0][0]


def test_folds_and_vertical_pieces_are_those_of_the_solutions(skp: Traced) -> None:
    """Pots at which the ranges of the solutions end (Billingham 2017, section 3)."""
    document = skp[1]
    ends = [3.436491673, 3.212214450, 4.0, 3.897915762, 4.407536453, 4.311737691]
    assert [fold["parameter"] for fold in document["folds"]] == pytest.approx(ends, abs=1e-8)
    assert all(fold["exact"] for fold in document["folds"])
    vertical = [piece["parameter"] for piece in document["vertical"]]
    assert vertical == pytest.approx([3, 3.5, 5], abs=1e-3)


def test_summary_is_json_and_names_what_counts_depend_on(skp: Traced) -> None:
    folder, document = skp
    stored = json.loads((folder.path / "summary.json").read_text())
    assert stored == document
    assert stored["schema"] == "eqbench.branch/1"
    assert (stored["epsilon"], stored["regularization"]) == (1e-7, "log")
    assert (stored["from"], stored["to"], stored["parameter"]) == (2.5, 6.0, "pot")
    assert stored["points"] == stored["steps"] + 1
    assert stored["factorizations"] > stored["points"]


def printed(document: dict[str, Any], width: int = 140) -> str:
    def show(console: Console) -> None:
        print_trace(document, console)

    return plain_text(show, width)


def test_report_has_every_count_with_what_it_depends_on(skp: Traced) -> None:
    text = printed(skp[1])
    assert text.count("epsilon 1e-07, regularization log") == 1 + len(skp[1]["at"])
    assert "Equilibria on this branch at pot=3.5" in text
    assert "3 crossings, 3 of them polished to equilibria, with 3 distinct payoff vectors" in text
    assert "Found beside it from 8 random starts" in text
    assert "skp:5a" in text
    assert max(map(len, printed(skp[1], 60).splitlines())) <= 60


def test_long_list_of_folds_is_cut(skp: Traced) -> None:
    document = skp[1] | {"folds": skp[1]["folds"] * 5}
    assert "10 more in summary.json" in printed(document)


def test_profile_with_regret_is_no_equilibrium(tmp_path: Path) -> None:
    """The plugin does not polish at all."""
    case = setting(at=("6.1",), starts=2)
    folder = new_folder(tmp_path / "t", case)
    document = conclude(case, folder, trace(case, folder))
    (entry,) = document["at"]
    assert (entry["crossings"], entry["polished"], entry["distinct_payoffs"]) == (3, 0, 0)
    assert len(entry["equilibria"]) == 3
    assert all(item["max_regret"] > 0.01 for item in entry["equilibria"])
    assert entry["beside"]["polished"] == 0
    assert entry["beside"]["payoff_ranges"] == []
    assert "3 crossings, 0 of them polished to equilibria" in printed(document)


def test_payoffs_are_distinct_above_the_limit() -> None:
    first, close, far = [0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 9e-9], [0.1 - 2e-8, 0.2, 0.3]
    assert distinct_payoffs([first, close, far, first]) == [first, far]
