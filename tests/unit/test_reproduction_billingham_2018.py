"""Billingham 2018 against stored results: which verdict a reading gives, and when it changes."""

from __future__ import annotations

import copy
import json
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction_store import mark_run

from eqbench.papers.billingham_2018 import SOURCE
from eqbench.papers.billingham_2018.compute_branches import _counts, _figure_10, at_pot
from eqbench.papers.billingham_2018.compute_rules import _deals, _fixed, _second_best
from eqbench.papers.billingham_2018.drawings_skp import exact_curves
from eqbench.papers.billingham_2018.jobs import COUNTED, JOBS
from eqbench.papers.claims import Reading
from eqbench.papers.jobs import Workshop
from eqbench.papers.judge import judge
from eqbench.papers.schedule import wanted_jobs
from eqbench.papers.stored import Stored

PIECES = [3.0, (5 + sqrt(65)) / 4, (3 + sqrt(23)) / 2, 5.0]


def store(folder: Path, summaries: dict[str, Any], printed: dict[str, Any] | None = None) -> None:
    """Lay down jobs as if they had been run."""
    for name, summary in summaries.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "summary.json").write_text(json.dumps(summary))
    for name, document in (printed or {}).items():
        (folder / f"{name}.out").write_text(json.dumps(document))
    mark_run(SOURCE, folder, [*summaries, *(printed or {})])


def claim(folder: Path, row: str, column: str = "") -> Reading:
    """What is read for a claim."""
    stored = Stored(Workshop("billingham_2018", folder, full=False), JOBS)
    found = [c for p in SOURCE.parts for c in p.claims if (c.row, c.column) == (row, column)]
    assert found
    return found[0].read(stored)


def verdict(folder: Path, row: str, column: str = "") -> str:
    return claim(folder, row, column).verdict


def changed(document: dict[str, Any], value: Any, *path: Any) -> dict[str, Any]:
    """A copy with another value at a place."""
    fresh = copy.deepcopy(document)
    inner: Any = fresh
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return fresh


def test_no_place_of_a_part_is_taken_twice() -> None:
    for part in SOURCE.parts:
        places = Counter((item.row, item.column) for item in part.claims)
        assert max(places.values()) == 1, part.title


def test_there_is_a_picture_for_each_figure_and_files_for_four_decks() -> None:
    titles = " ".join(picture.title for part in SOURCE.parts for picture in part.pictures)
    assert all(f"Figure {number}" in titles for number in range(1, 15))
    files = {(f.job, f.file) for part in SOURCE.parts for f in part.files}
    wanted = ("points.csv", "figures/animation.gif")
    assert files == {(f"n{cards}", file) for cards in COUNTED for file in wanted}


def test_jobs_for_everyone_need_none_of_those_that_take_long() -> None:
    names = {job.name for job in wanted_jobs(JOBS, full=False)}
    assert {"n13", "figures"} <= names
    assert not {"n26", "n52", "large_figures"} & names
    assert {job.name for job in wanted_jobs(JOBS, full=True)} == {job.name for job in JOBS}


def test_without_jobs_every_claim_says_why_it_was_not_attempted(tmp_path: Path) -> None:
    judged = judge(SOURCE, Workshop("billingham_2018", tmp_path, full=False))
    claims = [c for part in judged["parts"] for c in part["claims"]]
    assert judged["counts"]["not_attempted"] == len(claims) == 169
    assert all(c["detail"] and c["theirs"] for c in claims)
    lost = [c for c in claims if "is lost in the text" in c["detail"]]
    assert 0 < len(lost) <= 0.1 * len(claims)


@pytest.mark.parametrize(("free", "expected"), [(26, "reproduced"), (27, "differs")])
def test_free_frequencies_are_compared_exactly(tmp_path: Path, free: int, expected: str) -> None:
    store(tmp_path, {}, {"info_4_reduced": {"sizes": {"free frequencies": free}}})
    assert verdict(tmp_path, "N = 4", "not fixed by dominance (12N - 22)") == expected


def entry(pot: float, payoffs: list[list[float]], regret: float = 0.0) -> dict[str, Any]:
    """What a trace says of one pot."""
    found = [{"payoffs": p, "max_regret": regret, "identity": None} for p in payoffs]
    return {"parameter": pot, "distinct_payoffs": len(payoffs), "equilibria": found}


def test_border_of_profits_needs_a_pot_that_is_exact_and_verified_payoffs(tmp_path: Path) -> None:
    at = [entry(1.9, [[0, 0, 0]]), entry(2.1, [[-1e-3, -1e-3, 2e-3]])]
    summary = {"vertical": [{"parameter": 2.0}], "at": at}
    store(tmp_path, {"n4": summary})
    columns = ("P_min", "largest payoff below it", "largest payoff above it")
    assert [verdict(tmp_path, "N = 4", c) for c in columns] == ["reproduced"] * 3
    wrong = changed(summary, 2.001, "vertical", 0, "parameter")
    wrong["at"] = [entry(1.9, [[0.1, 0, -0.1]]), entry(2.1, [[0.1, 0, -0.1]], regret=1e-3)]
    store(tmp_path, {"n4": wrong})
    assert [verdict(tmp_path, "N = 4", c) for c in columns] == ["differs"] * 3


def multiplicities(most: int, narrow: int) -> dict[str, Any]:
    facts = {"most": most, "most_at": [[3.4, 3.6]], "most_narrow": narrow}
    deck = {"cards": 10, **facts, "narrow_width": 1e-5, "narrow_from": 3.4}
    return {"decks": [deck]}


def test_multiplicity_counts_verified_equilibria_and_not_only_points(tmp_path: Path) -> None:
    many, few = [entry(pot, [[0, 0, 0]] * 15) for pot in (3.5, 3.53)], [entry(3.5, [[0] * 3] * 14)]
    few.append(entry(3.53, [[0] * 3]))
    store(tmp_path, {"branches": multiplicities(15, 17), "n10": {"at": many}})
    found = claim(tmp_path, "N = 10")
    assert found.verdict == "reproduced"
    assert "17 in a range" in found.detail
    store(tmp_path, {"n10": {"at": few}})
    assert verdict(tmp_path, "N = 10") == "differs"
    store(tmp_path, {"branches": multiplicities(17, 17), "n10": {"at": many}})
    assert verdict(tmp_path, "N = 10") == "differs"
    more = [*many, entry(3.52, [[0] * 3] * 17)]
    store(tmp_path, {"branches": multiplicities(15, 17), "n10": {"at": more}})
    found = claim(tmp_path, "N = 10")
    assert found.verdict == "differs"
    assert found.detail.startswith("+2;")


def test_four_pots_have_ranges_for_two_players_each(tmp_path: Path) -> None:
    pieces = [{"pot": pot, "ranges": [0.01, 0.0, 0.01]} for pot in PIECES]
    rows = ["Figure 6, special pots", "Figure 6, pot 3", "Figure 6, pot number 4"]
    store(tmp_path, {"four_cards": {"pieces": pieces}})
    assert [verdict(tmp_path, row) for row in rows] == ["reproduced"] * 3
    pieces[0]["ranges"] = [0.01, 0.005, 0.015]
    store(tmp_path, {"four_cards": {"pieces": pieces[:3]}})
    assert [verdict(tmp_path, row) for row in rows] == ["differs"] * 3


def dominance(advantage: float) -> dict[str, Any]:
    cases = [
        {"node": node, "caught": caught, "advantage": advantage if caught else 0.0}
        for node in (1, 2, 3)
        for caught in (True, False)
    ]
    return {"second_best": cases}


def test_a_check_dominates_a_bet_only_without_any_disadvantage(tmp_path: Path) -> None:
    store(tmp_path, {"rules": dominance(0.0)})
    assert verdict(tmp_path, "N = 4, second-best card") == "reproduced"
    store(tmp_path, {"rules": dominance(-0.25)})
    assert verdict(tmp_path, "N = 4, second-best card") == "differs"


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


def two_way(node: int) -> list[dict[str, Any]]:
    return [{"node": node, "card": 4, "points": 10, "pots": [2.0, 3.0]}]


@pytest.mark.parametrize(("node", "expected"), [(1, "reproduced"), (2, "differs")])
def test_player_one_has_to_be_alone_with_two_way_bets_at_first(
    tmp_path: Path, node: int, expected: str
) -> None:
    store(tmp_path, {"branches": {"decks": [{"cards": 6, "rare_two_way": two_way(node)}]}})
    assert verdict(tmp_path, "fewest cards, who") == expected


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
