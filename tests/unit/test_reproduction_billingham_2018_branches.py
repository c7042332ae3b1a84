"""Billingham 2018 against stored results: branches, strategies and the method."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction_store import mark_run

from eqbench.papers.billingham_2018 import SOURCE
from eqbench.papers.billingham_2018.compute_branches import _two_way_at_node_3
from eqbench.papers.billingham_2018.jobs import JOBS
from eqbench.papers.claims import Reading
from eqbench.papers.jobs import Workshop
from eqbench.papers.stored import Stored


def store(folder: Path, summaries: dict[str, Any]) -> None:
    """Lay down jobs as if they had been run."""
    for name, summary in summaries.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "summary.json").write_text(json.dumps(summary))
    mark_run(SOURCE, folder, list(summaries))


def claim(folder: Path, row: str) -> Reading:
    """What is read for a statement."""
    stored = Stored(Workshop("billingham_2018", folder, full=False), JOBS)
    (found,) = [c for p in SOURCE.parts for c in p.claims if (c.row, c.column) == (row, "")]
    return found.read(stored)


def verdict(folder: Path, row: str) -> str:
    return claim(folder, row).verdict


def points(folder: Path, job: str, rows: list[tuple[float, float, float, float]]) -> None:
    """Lay down a traced branch: pot and three payoffs of each point."""
    store(folder, {job: {}})
    lines = [",".join(map(str, row)) for row in [("parameter", "u:P1", "u:P2", "u:P3"), *rows]]
    (folder / job / "points.csv").write_text("\n".join(lines))


def test_a_branch_that_comes_back_counts_where_players_change_places(tmp_path: Path) -> None:
    points(tmp_path, "n10", [(1.0, -0.02, 0.0, 0.02), (16.0, -0.01, -0.005, 0.015)])
    onward = [(13.0, -0.01, -0.005, 0.015), (18.0, -0.01, -0.005, 0.015)]
    after = [(14.0, -0.01, -0.012, 0.022), (45.0, -0.01, -0.005, 0.015)]
    points(tmp_path, "n10_wide", [*onward, *after, (60.0, 0.001, -0.011, 0.01)])
    assert "up to a pot of 14" in claim(tmp_path, "N = 10, small pots").ours
    large = claim(tmp_path, "N = 10, large pots").ours
    assert large.startswith("first at a pot of 14.00, at all points above 45.00")
    points(tmp_path, "n10_wide", [*onward, (60.0, 0.001, -0.011, 0.01)])
    assert claim(tmp_path, "N = 10, large pots").ours.startswith("from a pot of 60.00 on")


_OTHER = ", the other way"


def features(both: int, most: float) -> dict[str, Any]:
    found = {"points": both, "pots": [5.0, 6.0]}
    names = [f"node 3 bets {card} two-way{way}" for card in (5, 6) for way in ("", _OTHER)]
    facts = {"node 3 bets 5 and 6, two-way both": found, **dict.fromkeys(names, found)}
    deck = {"cards": 13, "figure_10": {"most_of_both_two_way": most, **facts}}
    return {"branches": {"decks": [deck]}}


@pytest.mark.parametrize(
    ("both", "most", "expected"),
    [(3, 0.4, "reproduced"), (1, 0.021, "differs"), (0, 0.0, "differs")],
)
def test_both_cards_are_two_way_in_one_equilibrium_with_a_frequency_that_shows(
    tmp_path: Path, both: int, most: float, expected: str
) -> None:
    store(tmp_path, features(both, most))
    assert verdict(tmp_path, "Figure 10, node 3, kind of these bets") == expected


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


def film(folder: Path, frame_ms: int) -> None:
    """Lay down a video of two frames."""
    from PIL import Image

    store(folder, {"n4": {}})
    (folder / "n4" / "figures").mkdir(exist_ok=True)
    frames = [Image.new("L", (2, 2), shade) for shade in (0, 255)]
    file = folder / "n4" / "figures" / "animation.gif"
    frames[0].save(file, save_all=True, append_images=frames[1:], duration=frame_ms)


def test_a_video_has_to_show_four_frames_a_second(tmp_path: Path) -> None:
    film(tmp_path, 250)
    found = claim(tmp_path, "video, N = 4")
    assert found.verdict == "reproduced"
    assert "2 frames" in found.ours
    film(tmp_path, 100)
    assert verdict(tmp_path, "video, N = 4") == "differs"


def solutions(payoffs: list[float]) -> dict[str, Any]:
    runs = [
        {"game": f"kuhn(players=3,cards=4{reduced})", "pot": pot, "derivative": derivative}
        for reduced in ("", ",reduce=billingham")
        for derivative in ("raw", "counterfactual")
        for pot in (3, 5, 8)
    ]
    same = {"found": 2, "equilibria": 2, "payoffs": [[0.0, 0.1, -0.1]] * 2}
    cases = [{**run, **same} for run in runs]
    cases[3]["payoffs"] = [payoffs] * 2
    return {"threats": {"cases": cases}}


def test_either_measure_alone_has_to_lead_to_the_same_payoffs(tmp_path: Path) -> None:
    store(tmp_path, solutions([0.0, 0.1, -0.1]))
    assert verdict(tmp_path, "either alone") == "reproduced"
    store(tmp_path, solutions([0.0, 0.2, -0.2]))
    assert verdict(tmp_path, "either alone") == "differs"


def test_ranges_of_larger_decks_are_compared_at_the_same_strength(tmp_path: Path) -> None:
    ranges = {"n9": 5e-3, "n13": 9e-4, "n13_1e_6": 8e-4, "n13_1e_4": 7e-5, "n26": 2e-4, "n52": 0.0}
    store(tmp_path, {"large_branches": {"window": [0.5, 9.9], "mean_range": ranges}})
    assert verdict(tmp_path, "Figure 13") == "reproduced"
    falling_with_eps_only = {**ranges, "n52": 1e-4}
    store(
        tmp_path,
        {"large_branches": {"window": [0.5, 9.9], "mean_range": falling_with_eps_only}},
    )
    assert verdict(tmp_path, "Figure 13") == "differs"


@pytest.mark.parametrize(("polished", "expected"), [(1, "reproduced"), (0, "differs")])
def test_four_players_need_a_point_that_is_verified(
    tmp_path: Path, polished: int, expected: str
) -> None:
    pots = [{"parameter": 3.0, "crossings": 1, "polished": polished}]
    ends = {"outcome": "arrived", "from": 1.0, "last": 8.0, "epsilon": 1e-4}
    store(tmp_path, {"four_players": {"points": 448, "at": pots, **ends}})
    assert verdict(tmp_path, "four players") == expected
