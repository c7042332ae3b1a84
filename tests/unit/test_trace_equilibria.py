"""Equilibria on a branch of SKP and beside it, and what is printed about them.

The names are those of the solutions in Billingham 2017, section 3.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trace_cases import FOLDS, study, traced

from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.report.terminal import plain_text, print_report
from eqbench.studies.branch import distinct_payoffs, read_points
from eqbench.studies.trace.follow import stretches
from eqbench.studies.trace.study import TraceStudy
from eqbench.verification import verify

Traced = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def skp(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """SKP up to a pot of 6, looked at where three solutions coexist and on a vertical piece."""
    case = study("arclength", "5/2", 6, at=("10/3", "most", "7/2"), starts=8, seed=1)
    folder = tmp_path_factory.mktemp("skp")
    return folder, traced(case, folder)


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
    setting = study("arclength", "5/2", 6).setting
    for entry, pot in zip(document["at"][:2], ("10/3", "7/2"), strict=True):
        for item in entry["equilibria"]:
            data = parse_profile((folder / item["profile"]).read_text())
            assert data["game"] == f"skp(pot={pot})"
            game = setting.game_at(Fraction(pot))
            measured = verify(game.tree, profile_from_json(game.tree, data))
            assert item["polished"] is True
            assert item["max_regret"] <= 1e-13 * game.tree.payoff_range
            assert measured.max_regret == pytest.approx(item["max_regret"], abs=1e-15)
            assert measured.payoffs == pytest.approx(item["payoffs"], abs=1e-15)


def test_random_starts_find_more_on_a_vertical_piece(skp: Traced) -> None:
    entries = skp[1]["at"][:2]
    assert [entry["vertical"] for entry in entries] == [False, True]
    unique, vertical = (entry["beside"] for entry in entries)
    assert (unique["starts"], unique["polished"], unique["not_on_branch"]) == (8, 8, 0)
    assert vertical["distinct_payoffs"] == 8
    assert vertical["not_on_branch"] is None
    ranges = vertical["payoff_ranges"]
    assert ranges[1][1] - ranges[1][0] < 1e-9 < ranges[0][1] - ranges[0][0]


def test_folds_and_vertical_pieces_are_those_of_the_solutions(skp: Traced) -> None:
    """Pots at which the ranges of the solutions end (Billingham 2017, section 3)."""
    document = skp[1]
    ends = [3.436491673, 3.212214450, 4.0, 3.897915762, 4.407536453, 4.311737691]
    assert [fold["parameter"] for fold in document["folds"]] == pytest.approx(ends, abs=1e-8)
    assert all(fold["exact"] for fold in document["folds"])
    vertical = [piece["parameter"] for piece in document["vertical"]]
    assert vertical == pytest.approx([3, 3.5, 5], rel=1e-12)
    assert all(np.ptp(piece["payoffs"], axis=0).max() > 1e-3 for piece in document["vertical"])


def test_stretches_beside_folds_are_no_vertical_pieces(tmp_path: Path) -> None:
    """Pots of three-player Kuhn poker at which equilibria form a continuum.

    Beside a fold at 4.1667 there is a stretch on which the pot moves by no more than along these.
    """
    case = study("arclength", 3, 5, game="kuhn3", at=(3,))
    document = traced(case, tmp_path)
    branch = read_points(case.setting.game, tmp_path / "points.csv")
    places = [float(np.median(branch.values[i : j + 1])) for i, j in stretches(branch)]
    assert any(abs(place - 4.1673) < 1e-3 for place in places)
    found = [piece["parameter"] for piece in document["vertical"]]
    fold = 4.2122144504490
    exact = [3, (5 + math.sqrt(65)) / 4, (3 + math.sqrt(23)) / 2, fold, fold]
    assert [value for value in found if value < 4.9] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("first", "last"), [("5/2", "3.3"), (6, "3.24"), ("3.3", "5/2")])
def test_equilibria_at_a_value_do_not_depend_on_the_range(
    tmp_path: Path, skp: Traced, first: Any, last: Any
) -> None:
    """Three solutions coexist from 3.2122 to 3.4365."""
    document = traced(study("arclength", first, last, at=("3.25",)), tmp_path)
    assert names(document["at"][0]) == names(skp[1]["at"][0])[:: 1 if first == "5/2" else -1]


def test_branch_that_turns_back_says_so_with_advice(tmp_path: Path) -> None:
    back = traced(study("winding(shape=returning)", 3, 5, beyond=0.5), tmp_path / "back")
    closed = traced(study("winding(shape=returning)", 3, 5), tmp_path / "closed")
    ahead = traced(study(), tmp_path / "ahead")
    for document, words in (
        (back, "left the range at pot=3, where it had begun"),
        (closed, "is a closed curve"),
    ):
        text = " ".join(printed(document).split())
        assert words in text
        assert all(option in text for option in ("--from", "--epsilon", "--starts"))
        assert document["finished"]
    assert "--from" not in printed(ahead)


def printed(document: dict[str, Any], width: int = 140) -> str:
    return plain_text(lambda console: print_report(TraceStudy.report(document), console), width)


def test_report_has_every_count_with_what_it_depends_on(skp: Traced) -> None:
    folder, document = skp
    assert json.loads((folder / "summary.json").read_text()) == document
    assert (document["epsilon"], document["regularization"]) == (1e-7, "log")
    text = printed(document)
    assert text.count("epsilon 1e-07, regularization log") == 1 + len(skp[1]["at"])
    assert "Equilibria on this branch at pot=3.5" in text
    assert "3 crossings, 3 polished equilibria with 3 distinct payoff vectors" in text
    assert f"{len(skp[1]['corners'])} corners" in text
    assert text.count("not on this branch") == len(skp[1]["at"]) - 1
    assert "skp:5a" in text
    assert max(map(len, printed(skp[1], 60).splitlines())) <= 60


def test_profile_with_regret_is_no_equilibrium(tmp_path: Path) -> None:
    """The plugin does not polish at all."""
    document = traced(study(at=("6.1",), starts=2), tmp_path)
    (entry,) = document["at"]
    assert (entry["crossings"], entry["polished"], entry["distinct_payoffs"]) == (3, 0, 0)
    assert len(entry["equilibria"]) == 3
    assert all(item["max_regret"] > 0.01 for item in entry["equilibria"])
    assert entry["beside"]["polished"] == 0
    assert entry["beside"]["payoff_ranges"] == []
    assert not any(item["polished"] for item in entry["equilibria"])
    text = printed(document)
    assert "3 crossings, 0 polished equilibria" in text
    assert "! not polished to an equilibrium" in text
    assert len([line for line in text.splitlines() if " ! " in line]) == 3


def test_crossings_that_cannot_be_computed_are_counted(tmp_path: Path) -> None:
    document = traced(study("winding(hidden=6)", at=(6, 7)), tmp_path)
    hidden, known = document["at"]
    assert (hidden["crossings"], hidden["lost"]) == (0, 3)
    assert (known["crossings"], known["lost"]) == (1, 0)
    assert hidden["window"] == pytest.approx(sorted(FOLDS), abs=1e-9)
    assert printed(document).count("3 more crossings could not be computed") == 1


def test_payoffs_are_distinct_above_the_limit() -> None:
    first, close, far = [0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 9e-9], [0.1 - 2e-8, 0.2, 0.3]
    assert distinct_payoffs([first, close, far, first]) == [first, far]
