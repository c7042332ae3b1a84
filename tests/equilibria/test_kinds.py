"""Kinds of equilibria: known games, what may be spent on a verdict, and what is handed over."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from helpers.kuhn_and_skp import SUB_FAMILIES, random_member, szafron_profile
from helpers.kuhn_and_skp import member as szafron_member
from helpers.made_games import (
    beer_and_quiche,
    entry_deterrence,
    exact_profile,
    horse,
    horse_trembles,
    random_tree,
    selten_horse,
    sparse_profile,
)
from helpers.solver_cases import bimatrix
from helpers.study_cases import kuhn2_member
from helpers.walks import dominated_plans

import eqbench
from eqbench.errors import UsageError
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.verdict import Claimed
from eqbench.verdicts import Kind, Proof, kind_of, sequential
from eqbench.verdicts.kinds import kind as judge_kind
from eqbench.verification import Allowance

NO_SUBGAME = {"proper": 0, "perfect": 0}


@pytest.mark.parametrize("exact", [True, False])
def test_the_horse_goes_across_and_not_down(exact: bool) -> None:
    plays = [horse(1, "1/8"), horse(0, "1")]
    if not exact:
        floats = (play.frequency.astype(np.float64) for play in plays)
        plays = [Play.of(selten_horse(), BehaviorProfile(each)) for each in floats]
    across, down = map(kind_of, plays)
    assert across.to_json() == {
        "undominated": "actions only",
        "subgame_perfect": NO_SUBGAME,
        "sequential": "certified",
        "quasi_strict": True,
        "index": None,
    }
    assert across.trembles is not None
    assert sequential(across.play, across.trembles).proof is Proof.CERTIFIED
    assert down.sequential.proof is Proof.REFUTED
    assert down.trembles is None
    places = [(item["player"], item["label"]) for item in down.proofs()["refuted_sets"]]
    assert places == [("P2", "2")]


def test_a_threat_is_dominated_and_imperfect() -> None:
    tree = entry_deterrence()
    threat = kind_of(Play.exactly(tree, exact_profile(tree, (1, 0), (1, 0))))
    assert threat.to_json() == {
        "undominated": "refuted",
        "subgame_perfect": {"proper": 1, "perfect": 0},
        "sequential": "refuted",
        "quasi_strict": False,
        "index": None,
    }
    proofs = threat.proofs()
    fight = {"player": "P2", "label": "2", "action": "fight", "by": "yield"}
    assert proofs["dominated"] == [fight]
    assert [plan["verdict"] for plan in proofs["plans"]] == ["certified", "refuted"]
    entered = {"player": "P1", "label": "1", "action": "in"}
    assert proofs["subgames"] == [{"after": [entered], "regrets": ["0", "2"]}]
    entry = kind_of(Play.exactly(tree, exact_profile(tree, (0, 1), (0, 1))))
    assert entry.to_json() == {
        "undominated": "certified",
        "subgame_perfect": {"proper": 1, "perfect": 1},
        "sequential": "certified",
        "quasi_strict": True,
        "index": 1,
    }
    assert entry.proofs()["subgames"] == entry.proofs()["refuted_sets"] == []


def test_a_plan_may_be_dominated_though_none_of_its_actions_is() -> None:
    tree = bimatrix([[3, 0], [0, 3], [1, 1]], np.zeros((3, 2), int).tolist()).tree
    found = kind_of(Play.exactly(tree, exact_profile(tree, (0, 0, 1), (0, 1))))
    assert found.dominated == {}
    assert found.undominated == "refuted"
    plan = found.proofs()["plans"][0]["plan"]
    assert [item["action"] for item in plan] == list(tree.infoset_actions[0])
    assert sum(Fraction(item["frequency"]) for item in plan) == 1


@pytest.mark.parametrize("seed", range(5, 37))
def test_plans_are_judged_as_by_a_linear_program(seed: int) -> None:
    tree = random_tree(seed, depth=4)
    profile = sparse_profile(tree, np.random.default_rng(seed))
    dominated = any(dominated_plans(tree, (profile.probabilities > 0).astype(float)))
    for play in (Play.of(tree, profile), Play.exactly(tree, profile)):
        found = kind_of(play).undominated
        if tree.n_players == 2:
            assert found == ("refuted" if dominated else "certified")
        else:
            assert found == "actions only" or dominated


@pytest.mark.parametrize(
    ("rows", "allowed"),
    [
        ([["1", "0"], ["1", "0.0000001"]], {"refuted"}),
        ([["1", "0"], ["0.9999999999", "1"]], {"certified", "open"}),
        ([["1000000001", "1"], ["1000000000", "2"]], {"certified"}),
    ],
)
def test_near_ties_are_not_mistaken_for_ties(rows: list[list[str]], allowed: set[str]) -> None:
    payoffs = [[Fraction(value) for value in row] for row in rows]
    tree = bimatrix(payoffs, np.zeros((2, 2), int).tolist()).tree
    profile = exact_profile(tree, (1, 0), ("1/2", "1/2"))
    assert kind_of(Play.exactly(tree, profile)).undominated in allowed
    with pytest.raises(UsageError):  # in floats ties cannot be told from what is so near
        Play.of(tree, profile)


@pytest.mark.parametrize(("bluffs", "strict"), [("0", False), ("1/9", True), ("1/3", False)])
def test_the_family_of_kuhn_is_sequential_and_strict_but_at_its_ends(
    bluffs: str, *, strict: bool
) -> None:
    tree = eqbench.load_game("kuhn2").tree
    profile = kuhn2_member(Fraction(bluffs))
    for play in (Play.exactly(tree, profile), Play.of(tree, profile)):
        assert kind_of(play).to_json() == {
            "undominated": "certified",
            "subgame_perfect": NO_SUBGAME,
            "sequential": "certified",
            "quasi_strict": strict,
            "index": None,  # they are not isolated
        }


def test_credible_play_of_three_in_kuhn_may_be_refuted_by_trembles() -> None:
    game = eqbench.load_game("kuhn3")
    values = random_member(SUB_FAMILIES[0], np.random.default_rng(0))
    names = ("b11", "b21", "b23", "b32", "c11", "c33", "c34")
    member = szafron_member(**{name: values[name] for name in names})
    assert member["c34"] > 0
    profile = BehaviorProfile.from_json(game, szafron_profile(member))
    found = kind_of(Play.exactly(game.tree, profile))
    assert found.sequential.proof is Proof.REFUTED
    assert found.proofs()["refuted_sets"]
    assert found.undominated == "actions only"


def test_proofs_are_json() -> None:
    games = (beer_and_quiche(), entry_deterrence(), selten_horse())
    for tree in games:
        for arithmetic in (Play.of, Play.exactly):
            found = kind_of(arithmetic(tree, BehaviorProfile.uniform(tree)))
            assert json.loads(json.dumps(found.proofs(), allow_nan=False)) == found.proofs()
            assert repr(found).startswith("<Kind: undominated ")


def test_trembles_that_are_handed_over_are_judged_and_kept() -> None:
    play, nothing = horse(1, "1/8"), Allowance(0)
    right = horse_trembles((5, "1"), (5, "2"))
    found = kind_of(play, right, nothing)
    assert found.trembles is right
    assert [item["order"] for item in found.proofs()["trembles"]] == [5, 5]
    assert kind_of(play, horse_trembles((5, "1"), (5, "3")), nothing).sequential.proof is Proof.OPEN


@pytest.mark.parametrize("weight", ["3", "-2"])
def test_trembles_that_prove_nothing_are_sought_anew(weight: str) -> None:
    play = horse(1, "1/8")
    wrong = horse_trembles((5, "1"), (5, weight))
    found = kind_of(play, wrong)
    assert found.sequential.proof is Proof.CERTIFIED
    assert found.trembles is not wrong


def test_what_is_not_affordable_is_left_open() -> None:
    """Of two players' plans only actions are judged, an index is unknown, trembles not sought."""
    tree = beer_and_quiche()
    beer = exact_profile(tree, (1, 0), (1, 0), (0, 1), (1, 0))
    whole = kind_of(Play.exactly(tree, beer))
    assert (whole.undominated, whole.sequential.proof) == ("certified", Proof.CERTIFIED)
    rich, poor = kind_of(horse(1, "1/8")), kind_of(horse(1, "1/8"), allowance=Allowance(0))
    assert (rich.sequential.proof, poor.sequential.proof) == (Proof.CERTIFIED, Proof.OPEN)
    scarce = kind_of(Play.exactly(tree, beer), allowance=Allowance(0))
    assert scarce.undominated == "actions only"
    tree = bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]]).tree
    mixed = Play.exactly(tree, exact_profile(tree, ("2/3", "1/3"), ("1/3", "2/3")))
    for allowance, known in ((Allowance(), (True, -1)), (Allowance(0), (None, None))):
        found = kind_of(mixed, allowance=allowance)
        assert (found.quasi_strict, found.index) == known


def test_kinds_cost_what_is_left_and_are_none_without() -> None:
    tree = eqbench.load_game("kuhn2").tree
    profile = kuhn2_member(Fraction(1, 9))
    exactly, floats = 3 * 400 * tree.n_nodes, 3 * 50 * tree.n_nodes

    def found(left: int, *, exact: bool = True) -> Kind | None:
        return judge_kind(Claimed(tree, profile, exact), Allowance(left))

    assert found(floats - 1) is None
    for left, exact, fractions in (
        (floats, True, False),
        (2 * exactly, True, True),
        (2 * exactly, False, False),
    ):
        kind = found(left, exact=exact)
        assert kind is not None
        assert kind.play.exact == fractions


def test_a_cell_has_a_few_searches() -> None:
    """On kuhn3 those of the best three; later ones are not refuted and so left open."""
    game = eqbench.load_game("kuhn3")
    record = eqbench.solve(game, "logit")
    assert record.profile is not None
    allowance = Allowance()
    found = [judge_kind(Claimed(game.tree, record.profile, False), allowance) for _ in range(5)]
    proofs = [each and each.sequential.proof for each in found]
    assert proofs == [Proof.CERTIFIED] * 3 + [Proof.OPEN] * 2
