"""Dominated actions and plans: known games, pure replies one by one, and broken certificates."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.made_games import exact_profile, selten_horse, sparse_profile
from helpers.solver_cases import bimatrix
from helpers.walks import TreeWalk
from numpy.typing import NDArray

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verdicts.dominance import advantage, dominated_actions, proves_undominated
from eqbench.verdicts.search import undominated_plan
from eqbench.verdicts.trembles import Proof


def test_dominated_actions_of_kuhn3() -> None:
    """The lowest card never calls, the highest never folds, the next lowest not the third bet."""
    tree = eqbench.load_game("kuhn3").tree
    uniform = BehaviorProfile.uniform(tree)
    for play in (Play.of(tree, uniform), Play.exactly(tree, uniform)):
        found = dominated_actions(play)
        infosets = np.searchsorted(tree.action_start, list(found), side="right") - 1
        cards = [tree.infoset_labels[i][0] for i in infosets]
        assert {card: cards.count(card) for card in cards} == {"1": 9, "4": 9, "2": 3}
        assert all(abs(worse - better) == 1 for worse, better in found.items())


def test_equal_actions_do_not_dominate_each_other() -> None:
    tree = bimatrix([[1, 0], [1, 0], [0, 0]], np.zeros((3, 2), int).tolist()).tree
    play = Play.exactly(tree, BehaviorProfile.uniform(tree))
    assert dominated_actions(play) == {}  # bounds over all columns do not tell the third apart
    assert undominated_plan(play, 0).proof is Proof.REFUTED
    assert undominated_plan(play, 1).proof is Proof.CERTIFIED


@pytest.mark.parametrize(("tails", "dominated"), [("1/2", {0: 1}), ("0", {})])
def test_as_good_here_and_better_there(tails: str, dominated: dict[int, int]) -> None:
    """P1 does not know which way a coin fell; it matters to stop after tails only."""
    builder = TreeBuilder(["P1"])
    coin = builder.chance(None, [1 - Fraction(tails), Fraction(tails)])
    for side in (0, 1):
        node = builder.decision((coin, side), 0, "", ["go on", "stop"])
        builder.terminal((node, 0), [Fraction(1, 3)])
        builder.terminal((node, 1), [Fraction(1, 3) + side])
    tree = builder.tree()
    uniform = BehaviorProfile.uniform(tree)
    for play in (Play.of(tree, uniform), Play.exactly(tree, uniform)):
        assert dominated_actions(play) == dominated
    stop = BehaviorProfile.of_exact(tree, [0, 1])
    assert dominated_actions(Play.exactly(tree, stop)) == {}


def test_an_equilibrium_in_dominated_plans() -> None:
    """Both may stay at 0, 0, though the other row and column never do worse."""
    tree = bimatrix([[0, 0], [0, 1]], [[0, 0], [0, 1]]).tree
    bad, good = (exact_profile(tree, row, row) for row in ((1, 0), (0, 1)))
    for player in (0, 1):
        assert undominated_plan(Play.exactly(tree, bad), player).proof is Proof.REFUTED
        assert undominated_plan(Play.exactly(tree, good), player).proof is Proof.CERTIFIED
        assert undominated_plan(Play.of(tree, good), player).proof is Proof.CERTIFIED


@pytest.mark.parametrize("seed", range(12))
def test_every_plan_of_kuhn2_is_one_or_the_other(seed: int) -> None:
    tree = eqbench.load_game("kuhn2").tree
    play = Play.exactly(tree, sparse_profile(tree, np.random.default_rng(seed)))
    for player in (0, 1):
        found = undominated_plan(play, player)
        assert found.proof is not Proof.OPEN
        assert found.certificate is not None
        if found.proof is Proof.REFUTED:
            gains = pure_gains(tree, play, player, found.certificate)
            assert advantage(play, player, found.certificate) == (min(gains), max(gains))
            assert min(gains) >= 0 < max(gains)
        else:
            mine = np.repeat(tree.infoset_player == player, np.diff(tree.action_start))
            assert (found.certificate[~mine] > 0).all()
            both = np.where(mine, play.frequency, found.certificate)
            assert TreeWalk(tree, both.tolist()).regrets()[player] == 0


def pure_gains(tree: GameTree, play: Play, player: int, plan: NDArray) -> list[Fraction]:
    """Gain of a plan over the prescribed one against every pure plan of the other."""
    sets = tree.infosets_of(1 - player)
    gains = []
    for choice in itertools.product((0, 1), repeat=len(sets)):
        payoffs = []
        for frequency in (plan, play.frequency):
            own = frequency.copy()
            for i, move in zip(sets, choice, strict=True):
                own[tree.action_start[i] : tree.action_start[i] + 2] = [1 - move, move]
            payoffs.append(TreeWalk(tree, own.tolist()).payoffs()[player])
        gains.append(payoffs[0] - payoffs[1])
    return gains


def test_broken_certificates() -> None:
    tree = bimatrix([[2, 0], [0, 1], [0, 0]], np.zeros((3, 2), int).tolist()).tree
    play = Play.exactly(tree, exact_profile(tree, (1, 0, 0), ("1/2", "1/2")))
    found = undominated_plan(play, 0)
    assert found.certificate is not None
    assert proves_undominated(play, 0, found.certificate)
    broken = found.certificate.copy()
    broken[3:] = [Fraction(1, 4), Fraction(3, 4)]  # the second row is better against this
    assert not proves_undominated(play, 0, broken)
    broken[3:] = [Fraction(1), Fraction(0)]  # the first row is best, but a column is left out
    assert not proves_undominated(play, 0, broken)
    worst = Play.exactly(tree, exact_profile(tree, (0, 0, 1), ("1/2", "1/2")))
    plan = undominated_plan(worst, 0).certificate
    assert plan is not None
    assert advantage(worst, 0, plan)[0] >= 0
    second = Play.exactly(tree, exact_profile(tree, (0, 1, 0), ("1/2", "1/2")))
    assert advantage(second, 0, plan)[0] < 0  # it dominates the third row only


def test_three_players_are_refused() -> None:
    tree = selten_horse()
    with pytest.raises(UsageError, match="two players"):
        undominated_plan(Play.exactly(tree, BehaviorProfile.uniform(tree)), 0)
