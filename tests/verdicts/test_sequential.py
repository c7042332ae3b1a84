"""Certificates of sequential equilibria: what they prove, how they are found, and broken ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from helpers.kuhn_and_skp import member as szafron_member
from helpers.kuhn_and_skp import szafron_profile
from helpers.made_games import (
    exact_profile,
    horse,
    horse_trembles,
    random_tree,
    selten_horse,
    sparse_profile,
    tree_of,
)
from helpers.study_cases import kuhn2_member

import eqbench
from eqbench.errors import UsageError
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.model.trembles import LARGEST_ORDER, Trembles
from eqbench.verdicts.beliefs import credibility, judge
from eqbench.verdicts.search import decide, find_contradiction, find_trembles
from eqbench.verdicts.trembles import (
    Proof,
    admitted_nodes,
    contradict,
    limit_beliefs,
    sequential,
)
from eqbench.verification import verify_exactly


def horse_across(left: str = "1/8") -> Play:
    """With the belief 1/3 that P1 went down P3 is indifferent."""
    return horse(1, left)


@pytest.mark.parametrize("left", ["0", "1/8", "1/4"])
def test_the_horse_goes_across(left: str) -> None:
    for play in (horse_across(left), Play.of(selten_horse(), _floats(left))):
        assert sequential(play).proof is Proof.OPEN
        found = find_trembles(play)
        assert found is not None
        verdict = sequential(play, found)
        assert verdict.proof is Proof.CERTIFIED
        assert str(verdict) == "certified: 3/3"


def _floats(left: str) -> BehaviorProfile:
    share = float(Fraction(left))
    return BehaviorProfile.of(selten_horse(), [0, 1, 0, 1, share, 1 - share])


def test_the_horse_does_not_go_down() -> None:
    play = horse(0, "1")
    verdict = sequential(play)
    assert verdict.proof is Proof.REFUTED
    assert verdict.credibility.loss[1] == 3
    assert find_trembles(play) is None


@pytest.mark.parametrize(("row", "proof"), [((1, 0), Proof.OPEN), ((0, 1), Proof.REFUTED)])
def test_no_belief_is_left_to_a_node_that_takes_further_deviations(
    row: tuple[int, int], proof: Proof
) -> None:
    """If P1 deviates, P2 still goes left, so P3 has to choose `a`."""
    left, right = {"a": "0 1 1", "b": "0 1 0"}, {"a": "0 0 0", "b": "0 0 1"}
    inside = ("2", {"left": ("3", left), "right": ("3", right)})
    tree = tree_of(("1", {"out": "2 0 0", "in": inside}))
    profile = exact_profile(tree, (1, 0), (1, 0), row)
    assert sequential(Play.exactly(tree, profile)).proof is proof


@pytest.mark.parametrize(
    ("first", "second", "certified"),
    [
        ((1, "1"), (1, "2"), True),
        ((7, "1/5"), (7, "2/5"), True),
        ((1, "1"), (1, "3"), False),  # another weight, another belief
        ((1, "1"), (2, "2"), False),  # P1 is by far the likelier one
        ((2, "1"), (1, "2"), False),
    ],
)
def test_only_the_right_trembles_certify(
    first: tuple[int, str], second: tuple[int, str], *, certified: bool
) -> None:
    play = horse_across()
    verdict = sequential(play, horse_trembles(first, second))
    assert (verdict.proof is Proof.CERTIFIED) == certified


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0, "1"), (1, "2")),
        ((LARGEST_ORDER + 1, "1"), (1, "1")),
        ((1, "1"), (1, "-2")),
        ((1, "0"), (1, "2")),
    ],
)
def test_what_does_not_tremble_is_refused(first: tuple[int, str], second: tuple[int, str]) -> None:
    play = horse_across()
    with pytest.raises(UsageError, match="orders"):
        sequential(play, horse_trembles(first, second))


def test_orders_and_weights_of_played_actions_do_not_count() -> None:
    play = horse_across()
    right = horse_trembles((1, "1"), (1, "2"))
    order, weight = right.order.copy(), right.weight.copy()
    order[4:], weight[4:] = 9, Fraction(9)
    assert sequential(play, Trembles(order, weight)).proof is Proof.CERTIFIED


@pytest.mark.parametrize("seed", range(60))
def test_limit_beliefs_are_limits(seed: int) -> None:
    """Bayes' rule with a tiny epsilon comes near to them."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed)
    play = Play.exactly(tree, sparse_profile(tree, rng))
    order = rng.integers(1, 4, tree.n_actions)
    weight = np.array([Fraction(int(w), 3) for w in rng.integers(1, 9, tree.n_actions)])
    least = credibility(play, admitted_nodes(play)).belief
    found = limit_beliefs(play, Trembles(order, weight), least)
    assert not (found[~admitted_nodes(play)] > 0).any()
    epsilon = Fraction(1, 10**12)
    shaken = [
        frequency or weight[a] * epsilon ** int(order[a])
        for a, frequency in enumerate(play.frequency.tolist())
    ]
    reach = _reach(tree, shaken)
    for i in range(tree.n_infosets):
        nodes = np.flatnonzero(tree.infoset == i)
        total = sum(reach[node] for node in nodes)
        for node in nodes:
            expected = reach[node] / total if total else least[node]
            assert float(found[node]) == pytest.approx(float(expected), abs=1e-9)


def _reach(tree: GameTree, frequencies: list[Fraction]) -> list[Fraction]:
    reach = [Fraction(1)]
    for node in range(1, tree.n_nodes):
        action, above = tree.incoming[node], reach[tree.parent[node]]
        share = Fraction(int(tree.chance[node]), tree.chance_denominator)
        reach.append(above * (frequencies[action] if action >= 0 else share))
    return reach


@pytest.mark.parametrize("bluffs", ["0", "1/9", "1/3"])
def test_every_equilibrium_of_kuhn_is_sequential(bluffs: str) -> None:
    """Also where P1 never bets and P2's beliefs after a bet are trembles of three cards."""
    profile = kuhn2_member(Fraction(bluffs))
    tree = eqbench.load_game("kuhn2").tree
    assert verify_exactly(tree, profile).max_regret == 0
    play = Play.exactly(tree, profile)
    found = find_trembles(play)
    assert found is not None
    assert str(sequential(play, found)) == "certified: 12/12"
    if bluffs == "0":
        broken = found.weight.copy()
        bet = tree.action_start[tree.infoset_of(0, "3:")] + 1
        broken[bet] *= 2
        assert sequential(play, Trembles(found.order, broken)).proof is Proof.OPEN


# -- gains of several sets that contradict each other ---------------------------------------------


def calling_too_often(**changes: str) -> Play:
    """Szafron et al. (2013) with b32 > 0 = c34: every set is credible, but not all at once."""
    free = {"b11": "1/8", "b21": "1/8", "b23": "0", "b32": "1/16", "c11": "0", "c33": "1/2"}
    values = {name: Fraction(value) for name, value in ({**free, "c34": "0"} | changes).items()}
    game = eqbench.load_game("kuhn3")
    profile = BehaviorProfile.from_json(game, szafron_profile(szafron_member(**values)))
    return Play.exactly(game.tree, profile)


def test_sets_that_are_credible_only_one_by_one_are_refuted_together() -> None:
    play = calling_too_often()
    assert sequential(play).proof is Proof.OPEN
    verdict = decide(play)
    assert verdict.proof is Proof.REFUTED
    assert verdict.credibility.credible.all()
    assert verdict.against is not None
    assert "contradict" in str(verdict)
    for broken in (-verdict.against, 0 * verdict.against):
        assert sequential(play, against=broken).proof is Proof.OPEN
    used = np.flatnonzero(verdict.against)
    assert len(used) > 1
    for action in used.tolist():  # none can be left out
        broken = verdict.against.copy()
        broken[action] = 0
        assert sequential(play, against=broken).proof is Proof.OPEN
        broken[action] = 100
        assert sequential(play, against=broken).proof is Proof.OPEN


def test_weights_that_are_no_numbers_refute_nothing() -> None:
    play = calling_too_often()
    floats = Play.of(play.tree, BehaviorProfile(play.frequency.astype(np.float64)))
    against = find_contradiction(floats)
    assert against is not None
    assert sequential(floats, against=against).proof is Proof.REFUTED
    for value in (np.nan, np.inf):
        broken = np.where(against > 0, value, 0.0)
        with np.errstate(invalid="ignore"):
            assert sequential(floats, against=broken).proof is Proof.OPEN


@pytest.mark.parametrize("seed", range(150))
def test_refuted_play_is_supported_by_no_trembles(seed: int) -> None:
    """Whatever is drawn, somewhere off the path an action gains under its beliefs."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed)
    play = Play.exactly(tree, sparse_profile(tree, rng))
    against = find_contradiction(play)
    if against is None or not contradict(play, against, admitted_nodes(play)):
        return
    least = credibility(play, admitted_nodes(play)).belief
    off_path = (play.total(play.others) == 0).astype(bool)
    for _ in range(30):
        order = rng.integers(1, rng.integers(2, 5), tree.n_actions)
        weight = np.array([Fraction(int(w), 3) for w in rng.integers(1, 99, tree.n_actions)])
        belief = limit_beliefs(play, Trembles(order, weight), least)
        found = judge(play, belief, play.frequency)
        assert (found.loss[off_path] > 0).any()


@pytest.mark.parametrize(("game", "seeds"), [("kuhn2", 8), ("kuhn3", 3), ("kuhn(players=4)", 1)])
def test_what_is_certified_is_not_contradicted(game: str, seeds: int) -> None:
    tree = eqbench.load_game(game).tree
    for seed in range(seeds):
        record = eqbench.solve(game, "logit(prior=random)", seed=seed)
        assert record.profile is not None
        play = Play.of(tree, record.profile)
        against = find_contradiction(play)
        assert against is None or not contradict(play, against, admitted_nodes(play))


@pytest.mark.parametrize("seed", range(40))
def test_a_contradiction_is_never_found_where_trembles_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(seed)
    play = Play.exactly(tree, sparse_profile(tree, rng))
    found, against = find_trembles(play, tries=3), find_contradiction(play)
    if sequential(play, found).proof is Proof.CERTIFIED:
        assert sequential(play, found, against).proof is Proof.CERTIFIED
