"""Billingham 2018: computations on small inputs, and verdicts on changed stored results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.study_cases import claim_at, facts_of, summaries

import eqbench.papers
from eqbench.papers.billingham_2018 import branches, compute
from eqbench.papers.billingham_2018.facts import _film, _losers
from eqbench.papers.checks import Missing, read_check
from eqbench.papers.paper import load_paper
from eqbench.studies.kuhn_ranges import Range, kinds_of

PAPER = load_paper(Path(eqbench.papers.__file__).parent / "billingham_2018")


def test_payoffs_that_all_starts_share_are_those_of_either_measure() -> None:
    ranging = [[0.1, 0.2, -0.3], [0.1, 0.3, -0.4]]
    both, alone = ([False] * 2, ranging), ([False] * 2, ranging[:1])
    assert compute._agreement([both], [both]) == {"payoffs apart": 0.0, "no equilibria": 0}
    assert compute._agreement([alone], [both])["no equilibria"] == 1
    other = [[0.2, 0.2, -0.4]]
    assert compute._agreement([([False], other)], [both])["payoffs apart"] == pytest.approx(0.1)


def test_folds_of_a_vertical_piece_are_counted_as_one() -> None:
    values = np.array([0.0, 2.0, 1.0, 1.5, 1.49999, 4.0])
    assert branches.counts(values) == {"most": 3, "ranges with several": 1, "folds": 4}


def test_payoffs_at_a_pot_are_those_of_all_crossings() -> None:
    branch: Any = SimpleNamespace(
        values=np.array([0.0, 2.0, 1.0, 3.0]), payoffs=np.array([[0.0], [2.0], [4.0], [6.0]])
    )
    assert branches.payoffs_at(branch, 1.5).ravel().tolist() == [1.5, 3.0, 4.5]


def test_a_bluff_above_a_value_bet_is_out_of_order() -> None:
    deck = branches.Deck(SimpleNamespace(values=np.array([1.0, 2.0])))  # type: ignore[arg-type]
    kinds = deck.__dict__["kinds"] = np.zeros((2, 2, 12, 5), dtype=np.int8)
    kinds[:, 0, 0, [1, 3]] = np.array(
        [(Range.BLUFF, Range.VALUE_BET), (Range.VALUE_BET, Range.BLUFF)]
    )
    assert branches._out_of_order(deck).tolist() == [False, True]
    assert deck.cards(Range.BLUFF) == {1: [2, 4]}
    assert branches._complete_from(deck) == 2.0
    kinds[1, 0, 1:3, :2] = Range.BLUFF, Range.VALUE_BET
    assert branches._complete_from(deck) == 1.0


def test_features_of_the_published_bars_are_told_apart() -> None:
    played = np.zeros((1, 12, 13))
    played[0, 1, [1, *range(6, 13)]] = 0.5
    played[0, 2, [0, 4, 5, 12]] = 0.5
    found = branches.figure_10(np.array([9.0]), played)
    assert found.pop("most_of_both_two_way") == 0
    counts = {name: feature["points"] for name, feature in found.items()}
    assert counts["node 2 bets the best seven cards"] == 1
    assert counts["node 2 bets card 2 and none of 3 to 6 beside the best seven"] == 1
    assert counts["node 2 always bets 5, 6 and 7"] == 0
    assert counts["node 3 bets 5 and 6 apart from other ranges"] == 1
    assert counts["all"] == 0
    played[0, 2, 6] = 0.5
    joined = branches.figure_10(np.array([9.0]), played)
    assert joined["node 3 bets 5 and 6 apart from other ranges"]["points"] == 0


def test_a_two_way_bet_is_for_value_against_the_player_who_calls_with_worse() -> None:
    played = np.zeros((1, 12, 13))
    played[0, 2, [0, 4, 5, 12]] = 0.5
    played[0, 3, [2, *range(6, 13)]] = 1.0
    played[0, 3, 3:6] = 1.0
    played[0, 4, 11:] = 1.0
    assert branches.two_way_at_node_3(played).all()
    played[0, [3, 4]] = played[0, [4, 3]]
    kinds = kinds_of(played)[0, 0, 2, 4:6]
    assert (kinds == Range.TWO_WAY_BET).all()
    assert not branches.two_way_at_node_3(played).any()


def test_who_loses_most_is_told_with_the_pot_from_which_on() -> None:
    pots, first = np.array([10.0, 20.0, 30.0]), np.array([-3.0, -1.0, 1.0])
    found = _losers(np.array([pots, first, [-2.0, -2.0, -2.0], [5.0, 3.0, 1.0]]))
    assert found["at the last pot"] == [3.0, 1.0, 1.0]
    assert found["player 2 loses most from"] == 20
    assert (found["always above"], found["both others profit above"]) == (10, 20)


def test_a_video_that_is_missing_or_damaged_is_not_attempted(tmp_path: Path) -> None:
    assert isinstance(_film(tmp_path / "none.gif"), Missing)
    (tmp_path / "damaged.gif").write_bytes(b"GIF89a")
    damaged = _film(tmp_path / "damaged.gif")
    assert isinstance(damaged, Missing)
    assert "cannot be read" in damaged.why


def trace(cards: int, distinct: int) -> dict[str, Any]:
    """What a trace of a small branch stores."""

    def at(pot: float, payoff: float) -> dict[str, Any]:
        item = {"payoffs": [0.0, payoff, -payoff], "max_regret": 1e-16}
        return {"parameter": pot, "equilibria": [item], "distinct_payoffs": distinct}

    border = 2 / (cards - 3)
    return {
        "at": [at(0.9 * border, 0.0), at(1.1 * border, 0.01)],
        "vertical": [{"parameter": 9.0}, {"parameter": border}],
        "outcome": "arrived",
    }


def stored() -> dict[str, Any]:
    """Summaries of some jobs on which all claims of `CHANGES` are reproduced."""
    widths = {"n9": 5e-3, "n13": 9e-4, "n13_1e_6": 8e-4, "n26": 1e-4, "n13_1e_4": 6e-5, "n52": 0.0}
    most = {str(n): {10: 15, 5: 5}.get(n, 3) for n in range(4, 14)}
    jobs: dict[str, Any] = {f"n{n}": trace(int(n), found) for n, found in most.items()}
    jobs |= {"n26": trace(26, 1), "n52": trace(52, 1) | {"outcome": "lost"}}
    counts = {"n26": {"folds": 276, "most": 17}}
    jobs["large_branches"] = {"mean_range": widths, "counts": counts}
    jobs["branches"] = {"counts": {n: {"most": most[n], "folds": 20 * int(n)} for n in most}}
    return jobs


def verdict(row: str, column: str, jobs: dict[str, Any]) -> bool | None:
    claim, facts = claim_at(PAPER, row, column), facts_of(PAPER, summaries(**jobs))
    return read_check(claim.check)(facts.at(claim.fact)[0])


Change = Callable[[dict[str, Any]], object]
CHANGES: list[tuple[str, str, Change]] = [
    ("N = 6", "P_min", lambda j: j["n6"]["vertical"].pop()),
    ("N = 6", "P_min", lambda j: j["n6"]["vertical"][1].update(parameter=2 / 3 + 1e-9)),
    ("N = 4", "largest payoff below it", lambda j: item(j["n4"], 0)["payoffs"].append(1e-9)),
    ("N = 4", "largest payoff below it", lambda j: item(j["n4"], 0).update(max_regret=1e-9)),
    ("N = 26", "largest payoff above it", lambda j: item(j["n26"], 1).update(payoffs=[0.0])),
    ("N = 26", "largest payoff above it", lambda j: item(j["n26"], 1).update(max_regret=1e-9)),
    ("Figure 13", "", lambda j: j["large_branches"]["mean_range"].update(n26=1e-3)),
    ("Figure 14, N = 26", "", lambda j: j["large_branches"]["counts"]["n26"].update(folds=4)),
    ("Figure 14, N = 26", "", lambda j: j["large_branches"]["counts"]["n26"].update(most=1)),
    ("N = 26, limit", "", lambda j: j["n52"].update(outcome="arrived")),
    ("N = 10", "", lambda j: j["branches"]["counts"]["10"].update(most=14)),
    ("N = 10", "", lambda j: j["n10"]["at"][0].update(distinct_payoffs=16)),
]


def item(summary: dict[str, Any], place: int) -> dict[str, Any]:
    found: dict[str, Any] = summary["at"][place]["equilibria"][0]
    return found


@pytest.mark.parametrize(("row", "column", "change"), CHANGES)
def test_a_changed_result_turns_the_verdict(row: str, column: str, change: Change) -> None:
    jobs = stored()
    assert verdict(row, column, jobs) is True
    change(jobs)
    assert verdict(row, column, jobs) is False
