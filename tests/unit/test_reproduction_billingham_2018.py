"""What is computed for Billingham 2018, on small inputs whose answer is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eqbench.papers.billingham_2018.compute_branches import (
    _counts,
    _figure_10,
    _two_way_at_node_3,
    at_pot,
)
from eqbench.papers.billingham_2018.compute_rules import _deals, _fixed, _second_best
from eqbench.papers.billingham_2018.drawings_skp import exact_curves
from eqbench.papers.billingham_2018.jobs import JOBS
from eqbench.papers.schedule import wanted_jobs


def test_jobs_for_everyone_need_none_of_those_that_take_long() -> None:
    names = {job.name for job in wanted_jobs(JOBS, full=False)}
    assert {"n13", "figures"} <= names
    assert not {"n26", "n52", "large_figures"} & names
    assert {job.name for job in wanted_jobs(JOBS, full=True)} == {job.name for job in JOBS}


def test_a_bet_of_card_3_gains_from_callers_with_card_2_only() -> None:
    """At node 3 it gains a unit wherever player 1 calls with card 2 and nobody has card 4."""
    assert _second_best(2, 3, caught=True)["advantage"] == pytest.approx(-1 / 3)
    assert _second_best(2, 3, caught=False)["advantage"] == pytest.approx(0, abs=1e-12)


def test_deleted_actions_are_dominated_node_by_node() -> None:
    found = _fixed(4, 3)
    assert (found["deleted"], found["dominated"]) == (22, 22)


def test_deals_with_the_lowest_card_are_counted() -> None:
    assert _deals(6) == {"lowest": 20, "without_highest": 12, "even_pot": pytest.approx(2 / 3)}


def test_narrow_windings_are_counted_apart() -> None:
    values = np.array([0.0, 2.0, 1.0, 1.5, 1.49999, 4.0])
    found = _counts(values)
    assert (found["most"], found["most_narrow"]) == (3, 5)
    assert found["most_at"] == [[1.0, 2.0]]
    assert found["ranges_with_several"] == 1


def test_payoffs_at_a_pot_are_those_of_all_crossings() -> None:
    class Folded:
        values = np.array([0.0, 2.0, 1.0, 3.0])
        payoffs = np.array([[0.0], [2.0], [4.0], [6.0]])

    branch: Any = Folded()
    assert at_pot(branch, 1.5).ravel().tolist() == [1.5, 3.0, 4.5]


def test_features_of_the_published_bars_are_told_apart() -> None:
    played = np.zeros((1, 12, 13))
    played[0, 1, [1, *range(6, 13)]] = 0.5
    played[0, 2, [0, 4, 5, 12]] = 0.5
    found = _figure_10(np.array([9.0]), played)
    assert found.pop("most_of_both_two_way") == 0
    counts = {name: feature["points"] for name, feature in found.items()}
    assert counts["node 2 bets the best seven cards"] == 1
    assert counts["node 2 bets card 2 and none of 3 to 6 beside the best seven"] == 1
    assert counts["node 2 always bets 5, 6 and 7"] == 0
    assert counts["node 3 bets 5 and 6 apart from other ranges"] == 1
    assert counts["all"] == 0
    played[0, 2, 6] = 0.5
    joined = _figure_10(np.array([9.0]), played)
    assert joined["node 3 bets 5 and 6 apart from other ranges"]["points"] == 0


def test_expectations_range_along_a_vertical_piece_and_single_curves_stay_single() -> None:
    piece = {"variables": ["u1"], "pots": [3.0], "low": [[0.1]], "high": [[0.3]]}
    single = {
        "variables": ["u1"],
        "pots": [3.0, 4.0],
        "low": [[0.1], [0.2]],
        "high": [[0.1], [0.2]],
    }
    curves = list(exact_curves([piece, single], "u1"))
    assert len(curves) == 2
    assert curves[0][0].tolist() == [3.0, 3.0]
    assert curves[0][1].tolist() == [0.1, 0.3]


def test_a_two_way_bet_is_for_value_against_the_player_who_calls_with_worse() -> None:
    played = np.zeros((1, 12, 13))
    played[0, 2, [0, 4, 5, 12]] = 0.5
    played[0, 3, [2, *range(6, 13)]] = 1.0
    played[0, 3, 3:6] = 1.0
    played[0, 4, 11:] = 1.0
    assert [rows.tolist() for rows in _two_way_at_node_3(played)] == [[[True] * 2]] * 2
    played[0, [3, 4]] = played[0, [4, 3]]
    two_way, pays = _two_way_at_node_3(played)
    assert two_way.all()
    assert not pays.any()
