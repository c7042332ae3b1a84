"""Credibility: known games, an oracle for every loss, and certificates that are broken."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from helpers.made_games import exact_profile, random_tree, selten_horse, sparse_profile, wide_game
from helpers.made_games import horse as horse_of
from helpers.study_cases import kuhn2_member
from helpers.walks import TreeWalk
from numpy.typing import NDArray
from scipy.optimize import linprog

import eqbench
from eqbench.errors import UsageError
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verdict import Claimed
from eqbench.verdicts.beliefs import Credibility, Reached, credibility, judge, optimal_mixtures
from eqbench.verdicts.kinds import credible
from eqbench.verification import Allowance, verify_exactly
from eqbench.verification.verifier import EXACT_NODE_DIGITS, NODE_DIGITS


def both(tree: GameTree, profile: BehaviorProfile) -> tuple[Credibility, Credibility]:
    return credibility(Play.of(tree, profile)), credibility(Play.exactly(tree, profile))


@pytest.mark.parametrize(
    ("down", "second", "left", "verdict"),
    [
        # P3 must go left with at most 1/4 for P2 to go across
        (0, (0, 1), "1/4", "3/3"),
        (0, (0, 1), "0", "3/3"),
        (0, (0, 1), "1/2", "1/3, worst 1 at P2 2"),
        # P2 would get 4 by going down, whatever the belief, though it is an equilibrium
        (1, ("1/3", "2/3"), "1", "2/3, worst 2 at P2 2"),
    ],
)
def test_horse(down: int, second: tuple[object, object], left: str, verdict: str) -> None:
    tree = selten_horse()
    profile = exact_profile(tree, (down, 1 - down), second, (left, 1 - Fraction(left)))
    for found in both(tree, profile):
        assert str(found) == verdict
        assert found.reached[1 if down else 2] is Reached.OFF_PATH
    if down:
        assert verify_exactly(tree, profile).max_regret == 0
        assert found.reached == (Reached.ON_PATH, Reached.OFF_PATH, Reached.ON_PATH)
        assert found.loss[1] == found.bound[1] == 2
        assert found.belief[tree.infoset == 1].tolist() == [1]


def test_folding_the_best_card_off_the_path() -> None:
    """P2 never bets after a check, so nothing on the path tells P1 not to fold the best card."""
    game = eqbench.load_game("kuhn3")
    tree = game.tree
    values = list(BehaviorProfile.uniform(game).exact or ())
    for card in "1234":
        check = tree.action_start[tree.infoset_of(1, f"{card}:K")]
        values[check : check + 2] = [Fraction(1), Fraction(0)]
    infoset = tree.infoset_of(0, "4:KBC")
    fold, call = tree.action_start[infoset], tree.action_start[infoset] + 1
    values[fold : call + 1] = [Fraction(1, 6), Fraction(5, 6)]
    for found in both(tree, BehaviorProfile.of_exact(game, values)):
        assert found.reached[infoset] is Reached.OFF_PATH
        assert found.refuted[infoset]
        assert found.loss[infoset] == pytest.approx(5 / 6)
        assert found.better[fold : call + 1].tolist() == [0, 1]  # better at every node


@pytest.mark.parametrize("bluffs", ["0", "1/5", "1/3"])
def test_kuhn_is_credible(bluffs: str) -> None:
    for found in both(eqbench.load_game("kuhn2").tree, kuhn2_member(Fraction(bluffs))):
        assert str(found) == "12/12"
        assert repr(found) == "<Credibility: 12/12>"
        assert (found.reached.count(Reached.OFF_PATH) > 0) == (bluffs == "0")


@pytest.mark.parametrize("seed", range(60))
def test_losses_by_an_oracle(seed: int) -> None:
    tree = random_tree(seed)
    profile = sparse_profile(tree, np.random.default_rng(seed))
    found = credibility(Play.exactly(tree, profile))
    assert profile.exact is not None
    walk = TreeWalk(tree, profile.exact)
    weights, values = walk.counterfactual()
    for i, weight in enumerate(weights):
        rows = walk.row[i]
        if weight:
            mean = sum(share * value for share, value in zip(rows, values[i], strict=True))
            assert found.loss[i] == (max(values[i]) - mean) / weight
        else:
            assert found.loss[i] == found.bound[i]
            assert float(found.loss[i]) == pytest.approx(least_loss(tree, profile, i), abs=1e-9)


def least_loss(tree: GameTree, profile: BehaviorProfile, infoset: int) -> float:
    """Least loss over beliefs by HiGHS, with the worth of actions from the recursion."""
    gains = []
    for node in np.flatnonzero(tree.infoset == infoset):
        worth = [node_worth(tree, profile, int(c)) for c in np.flatnonzero(tree.parent == node)]
        row = profile.probabilities[tree.action_start[infoset] :][: len(worth)]
        gains.append([value - float(np.dot(row, worth)) for value in worth])
    table = np.array(gains)
    rows, columns = table.shape
    done = linprog(
        np.append(np.zeros(rows), 1),
        A_ub=np.hstack([table.T, -np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return float(done.fun)


def node_worth(tree: GameTree, profile: BehaviorProfile, node: int) -> float:
    """Payoff of whoever moved to a node, from there on."""
    player = tree.player[tree.parent[node]]

    def worth(at: int) -> float:
        below = np.flatnonzero(tree.parent == at)
        if not len(below):
            return float(tree.payoffs.table[np.searchsorted(tree.terminals, at), player])
        if tree.infoset[at] >= 0:
            shares = profile.probabilities[tree.action_start[tree.infoset[at]] :][: len(below)]
        else:
            shares = tree.chance_probability[below]
        return sum(float(s) * worth(int(c)) for s, c in zip(shares, below, strict=True))

    return worth(node)


@pytest.mark.parametrize("block", range(10))
def test_floats_and_fractions_agree(block: int) -> None:
    """A hundred profiles each, of random trees and of Kuhn poker."""
    for seed in range(100 * block, 100 * (block + 1)):
        tree = random_tree(seed, depth=5) if seed % 4 else eqbench.load_game("kuhn2").tree
        profile = sparse_profile(tree, np.random.default_rng(seed))
        floats, exact = both(tree, profile)
        assert floats.reached == exact.reached
        np.testing.assert_allclose(floats.loss, exact.loss.astype(float), atol=1e-12)
        np.testing.assert_allclose(floats.bound, exact.bound.astype(float), atol=1e-12)
        assert (floats.credible == exact.credible).all()
        assert (floats.refuted == exact.refuted).all()
        assert (exact.credible != exact.refuted).all()
        assert (exact.loss == exact.bound).all()


# -- broken certificates ------------------------------------------------------------------


@pytest.fixture
def horse() -> tuple[Play, Credibility]:
    """Across, across, and P3 left with 1/8: supported by the belief 1/3, 2/3 only."""
    play = horse_of(1, "1/8")
    return play, credibility(play)


def test_another_belief_supports_nothing(horse: tuple[Play, Credibility]) -> None:
    play, found = horse
    assert found.credible.all()
    nodes = play.nodes_of(2)
    belief = found.belief.copy()
    belief[nodes] = belief[nodes] + np.array([Fraction(1, 100), Fraction(-1, 100)], dtype=object)
    broken = judge(play, belief, found.better)
    assert broken.loss[2] > 0
    assert not broken.credible[2]
    assert not broken.refuted[2]  # nothing is proved either way


@pytest.mark.parametrize("change", [(Fraction(1, 100), 0), (0, -1), (Fraction(-1), Fraction(1))])
@pytest.mark.parametrize("name", ["belief", "better"])
def test_what_is_no_distribution_is_refused(
    horse: tuple[Play, Credibility], name: str, change: tuple[Fraction, Fraction]
) -> None:
    play, found = horse
    values = {"belief": found.belief.copy(), "better": found.better.copy()}
    values[name][play.nodes_of(2) if name == "belief" else [4, 5]] += np.array(change, dtype=object)
    with pytest.raises(UsageError, match="distributions"):
        judge(play, **values)


def test_forced_beliefs_cannot_be_chosen_and_a_worse_mixture_refutes_nothing() -> None:
    tree = selten_horse()
    play = Play.exactly(tree, exact_profile(tree, (1, 0), (0, 1), (1, 0)))
    found = credibility(play)
    assert found.refuted[1]
    belief, better = found.belief.copy(), found.better.copy()
    belief[play.nodes_of(2)] = belief[play.nodes_of(2)][::-1]
    better[2:4] = better[2:4][::-1]
    assert (judge(play, belief, found.better).belief == found.belief).all()
    broken = judge(play, found.belief, better)
    assert not broken.refuted[1]
    assert not broken.credible[1]


@pytest.mark.parametrize("broken", [slice(None, None, -1), slice(1, None)])
def test_a_broken_linear_program_proves_nothing_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, broken: slice
) -> None:
    """With mixtures of others than the best nodes and actions, sets are at most left undecided."""

    def wrong(gains: NDArray) -> tuple[NDArray, NDArray]:
        rows, columns = optimal_mixtures(gains)
        return tuple(np.roll(mixture[::-1], broken.start or 0) for mixture in (rows, columns))

    plays = [
        Play.exactly(tree, sparse_profile(tree, np.random.default_rng(seed)))
        for seed in range(30)
        for tree in [random_tree(seed)]
    ]
    right = [credibility(play) for play in plays]
    monkeypatch.setattr("eqbench.verdicts.beliefs.optimal_mixtures", wrong)
    undecided = 0
    for play, before in zip(plays, right, strict=True):
        after = credibility(play)
        assert not (after.credible & before.refuted).any()
        assert not (after.refuted & before.credible).any()
        undecided += int((~after.credible & ~after.refuted).sum())
    assert undecided > 0


def test_floats_do_not_judge_wide_games() -> None:
    tree = wide_game(10**17)
    profile = BehaviorProfile.uniform(tree)
    with pytest.raises(UsageError, match="fractions"):
        Play.of(tree, profile)
    # after heads B is worth -1/2 and A half the prize and 1/2: each is played half the time
    assert credibility(Play.exactly(tree, profile)).loss[0] == Fraction(10**17 + 2, 4)


@pytest.mark.parametrize("seed", range(40))
def test_matrix_games(seed: int) -> None:
    """Both mixtures guarantee the same value, exactly, in degenerate games too."""
    rng = np.random.default_rng(seed)
    gains = rng.integers(-2, 3, rng.integers(1, 7, 2))
    exact = np.vectorize(lambda value: Fraction(int(value)), otypes=[object])(gains)
    rows, columns = optimal_mixtures(exact)
    assert (rows @ exact).max() == (exact @ columns).min()
    for scale in (1e-9, 1.0, 1e9):
        rows, columns = optimal_mixtures(scale * gains)
        guaranteed = pytest.approx((scale * gains @ columns).min(), abs=1e-12 * scale)
        assert (rows @ (scale * gains)).max() == guaranteed


# -- as records have it -------------------------------------------------------------------------


def test_summary_and_sets_as_json_values() -> None:
    tree = selten_horse()
    floats, exact = both(tree, exact_profile(tree, (1, 0), ("1/3", "2/3"), (1, 0)))
    known = {"sets": 3, "credible": 2, "worst": 2.0, "worst_set": ["P2", "2"]}
    assert floats.to_json() == known | {"exact": None}
    assert exact.to_json() == known | {"exact": "2"}
    reached = ["on path", "own deviation", "on path"]
    reached[1] = floats.reached[1].value
    for found in (floats, exact):
        rows = found.by_set()
        assert [row["refuted"] for row in rows] == [False, True, False]
        assert [row["loss"] for row in rows] == [0.0, 2.0, 0.0]
        assert [row["reached"] for row in rows] == reached
        assert all(type(value) in (str, float, bool) for row in rows for value in row.values())
    fine = credibility(Play.of(tree, exact_profile(tree, (0, 1), (0, 1), ("1/4", "3/4"))))
    assert fine.to_json() | {"worst": 0} == known | {
        "credible": 3,
        "worst": 0,
        "worst_set": None,
        "exact": None,
    }


def test_fractions_then_floats_then_nothing_by_what_may_be_spent() -> None:
    tree = selten_horse()
    profile = exact_profile(tree, (1, 0), ("1/3", "2/3"), (1, 0))

    def of(left: int, *, exact: bool = True) -> str | None:
        found = credible(Claimed(tree, profile, exact), Allowance(left))
        return None if found is None else str(found.loss.dtype)

    assert (of(10**6), of(10**6, exact=False)) == ("object", "float64")
    assert of(EXACT_NODE_DIGITS * tree.n_nodes - 1) == "float64"
    assert of(NODE_DIGITS * tree.n_nodes) == "float64"
    assert of(NODE_DIGITS * tree.n_nodes - 1) is None
    plain = BehaviorProfile(profile.probabilities)
    whole = Allowance()
    found = credible(Claimed(tree, plain, True), whole)
    assert found is not None
    assert found.loss.dtype == np.float64
    assert Allowance().left - whole.left == NODE_DIGITS * tree.n_nodes


def test_nothing_is_said_where_nobody_decides_or_floats_resolve_nothing() -> None:
    wide = wide_game(10**30)
    uniform = BehaviorProfile.uniform(wide)
    assert credible(Claimed(wide, uniform, False), Allowance()) is None
    builder = eqbench.TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [Fraction(1, 2), Fraction(1, 2)])
    for move in range(2):
        builder.terminal((root, move), [move, -move])
    dice = builder.tree()
    nobody = BehaviorProfile.uniform(dice)
    assert credible(Claimed(dice, nobody, False), Allowance()) is None
