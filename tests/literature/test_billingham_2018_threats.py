"""Noncredible threats in Billingham 2018, section 3.

If neither dominated actions are removed nor gains are divided by the own reach ("extra
differentiations"), spurious solutions appear; either of both eliminates them.

A threat is noncredible here where a player's own moves never lead to an information set that
the others' moves do lead to, and what is played there loses a fixed amount, counted with the
probability that chance and the others lead there. Since nothing is gained by playing better at
one information set alone, all first-order conditions hold. Some of these solutions are Nash
equilibria. Others are not: the player gains by changing two moves at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from arclength_cases import EXACT, End, descend, game, log_normal, module, reduced_kuhn, system

from eqbench.model.profile import BehaviorProfile
from eqbench.verification import Verifier

FULL, REDUCED = "kuhn(players=3,cards=4)", reduced_kuhn(4)
EPSILON, STARTS = 1e-8, 12
NEVER, LOSS = 1e-6, 1e-3
POTS = [3, 5, 8]


@cache
def ends(spec: str, pot: int, derivative: str) -> list[End]:
    """Ends of paths with random weights, as far as there are ends."""
    made = system(game(spec).at(pot=pot), "log", derivative)
    lowered, found = module("homotopy").descend, []
    for seed in range(STARTS):
        weighted = log_normal(made, seed)
        if lowered(weighted, made.parameter, EPSILON) is not None:
            found.append(descend(weighted, EPSILON))
    return found


def noncredible(spec: str, pot: int, behavior: np.ndarray) -> Iterator[tuple[str, float]]:
    """Information sets with noncredible threats, and what is lost there."""
    at = game(spec).at(pot=pot)
    tree, values = at.tree, at.payoff_model().counterfactual_values(behavior)
    infoset_of = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    own_reach = np.ones(tree.n_infosets)
    for i, before in enumerate(tree.infoset_parent):
        if before >= 0:
            own_reach[i] = own_reach[infoset_of[before]] * behavior[before]
        row = slice(tree.action_start[i], tree.action_start[i + 1])
        loss = float(behavior[row] @ (values[row].max() - values[row]))
        if own_reach[i] <= NEVER and loss > LOSS:
            yield tree.infoset_labels[i], loss


def count(spec: str, pot: int, derivative: str) -> int:
    """How many regularized ends have noncredible threats."""
    found = ends(spec, pot, derivative)
    return sum(any(noncredible(spec, pot, end.regularized)) for end in found)


def test_measure_sees_a_threat_and_passes_a_credible_profile() -> None:
    """Player 1 always bets the highest card, and would fold it to a bet of player 3."""
    tree = game(FULL).tree
    behavior = BehaviorProfile.uniform(tree).probabilities.copy()
    opening, answer = (tree.action_start[tree.infoset_of(0, label)] for label in ("4:", "4:KKB"))
    behavior[opening : opening + 2] = 0, 1
    behavior[answer : answer + 2] = 1, 0
    assert "4:KKB" in dict(noncredible(FULL, 3, behavior))
    behavior[answer : answer + 2] = 0, 1
    assert "4:KKB" not in dict(noncredible(FULL, 3, behavior))
    behavior[opening : opening + 2] = 0.5, 0.5
    behavior[answer : answer + 2] = 1, 0
    assert "4:KKB" not in dict(noncredible(FULL, 3, behavior))


@pytest.mark.parametrize("pot", POTS)
def test_threats_appear_where_neither_step_is_taken(pot: int) -> None:
    assert len(ends(FULL, pot, "raw")) >= STARTS - 2
    assert count(FULL, pot, "raw") >= STARTS / 2


@pytest.mark.parametrize("pot", POTS)
@pytest.mark.parametrize(
    ("spec", "derivative"),
    [(FULL, "counterfactual"), (REDUCED, "counterfactual"), (REDUCED, "raw")],
)
def test_either_step_eliminates_the_threats(spec: str, derivative: str, pot: int) -> None:
    assert len(ends(spec, pot, derivative)) == STARTS
    assert count(spec, pot, derivative) == 0
    assert max(end.polished.regret for end in ends(spec, pot, derivative)) <= EXACT


def test_some_threats_stand_in_nash_equilibria() -> None:
    """At a pot of 8 player 1 always bets card 4, and would fold it in a third of all cases."""
    verifier = Verifier(game(FULL).at(pot=8).tree)
    equilibria = 0
    for end in ends(FULL, 8, "raw"):
        profile = BehaviorProfile.of(verifier.tree, end.behavior)
        if float(verifier.verify(profile).max_regret) <= EXACT:
            threats = dict(noncredible(FULL, 8, end.behavior))
            equilibria += threats.get("4:KKB", 0.0) > 0.05
    assert equilibria >= 3


def test_some_spurious_solutions_are_no_equilibria_at_all() -> None:
    """All first-order conditions hold, but checking and then calling gains a fixed amount."""
    made = system(game(FULL).at(pot=5), "log", "raw")
    regrets = []
    for end in ends(FULL, 5, "raw"):
        gains = made.linearize(end.regularized, 5.0).gains
        frequencies = end.regularized[made.choices.action]
        at_zero, at_one = frequencies < 1e-4, frequencies > 1 - 1e-4
        assert gains[at_zero].max() <= 1e-6
        assert gains[at_one].min() >= -1e-6
        assert np.abs(gains[~(at_zero | at_one)]).max() <= 1e-3
        regrets.append(float(made.model.regrets(end.regularized).max()))
    assert np.median(regrets) > 0.01


def test_all_dominated_actions_have_to_be_removed_at_a_large_pot() -> None:
    """`corrected_by`: the list of section 2 leaves bets with card 3, which it calls dominated
    too with four cards. From a pot of 10 on player 1 always bets it on some paths, and would
    answer later bets badly. Without those bets there is no such solution.
    """
    assert count(REDUCED, 20, "raw") >= 1
    assert count(REDUCED, 20, "counterfactual") == 0
    assert count("kuhn(players=3,cards=4,reduce=dominated25)", 20, "raw") == 0
