"""Trembles that logit hands over with its equilibria: what they prove, and broken ones."""

from __future__ import annotations

import numpy as np
import pytest
from solver_cases import run
from textbook_games import beer_and_quiche, entry_deterrence, selten_horse

import eqbench
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.trembles import Trembles
from eqbench.solver import Candidate
from eqbench.solvers.logit.branch import Branch
from eqbench.solvers.logit.logit import polished
from eqbench.solvers.logit.trembles import trembles_of
from eqbench.verdicts import Proof, sequential

TEXTBOOK = {"horse": selten_horse, "beer": beer_and_quiche, "entry": entry_deterrence}


def game_of(name: str) -> Game:
    return Game(name, TEXTBOOK[name]()) if name in TEXTBOOK else eqbench.load_game(name)


def handed_over(game: Game, solver: str = "logit", seed: int = 0) -> Candidate:
    found = [each for each in run(solver, game, seed=seed).candidates if each.claim != "iterate"]
    return found[0]


def proof_of(game: Game, candidate: Candidate) -> Proof:
    return sequential(Play.of(game.tree, candidate.profile), candidate.trembles).proof


@pytest.mark.parametrize(
    "name", [*TEXTBOOK, "kuhn2", "kuhn3", "skp", "kuhn(raises=1)", "kuhn(players=4)"]
)
def test_end_of_the_principal_branch_is_proved_sequential(name: str) -> None:
    game = game_of(name)
    assert proof_of(game, handed_over(game)) is Proof.CERTIFIED


@pytest.mark.parametrize("name", ["horse", "beer", "entry", "kuhn2", "kuhn3"])
def test_ends_of_branches_from_random_priors_are_proved_sequential(name: str) -> None:
    game = game_of(name)
    for seed in range(10):
        candidate = handed_over(game, "logit(prior=random)", seed)
        assert proof_of(game, candidate) is Proof.CERTIFIED


def test_short_branch_is_enough() -> None:
    """Weights are made exact, so that beliefs need not have converged."""
    game = game_of("kuhn3")
    candidate = handed_over(game, "logit(stop_lambda=1000)")
    verdict = sequential(Play.of(game.tree, candidate.profile), candidate.trembles)
    assert verdict.proof is Proof.CERTIFIED
    assert verdict.credibility.loss.max() < 1e-12


def test_equilibrium_is_that_without_trembles_to_the_last_bit() -> None:
    game = game_of("kuhn3")
    branch = Branch(game)
    while branch.advance(np.array([1e6]), 64):
        pass
    logs = branch.log_probabilities(branch.points()[-1:])[0]
    behavior, before = polished(game, logs).behavior, logs.copy()
    assert handed_over(game).profile.probabilities.tobytes() == behavior.tobytes()
    assert trembles_of(branch.flat, logs, behavior) is not None
    assert logs.tobytes() == before.tobytes()


def test_broken_orders_and_weights_prove_nothing() -> None:
    """Where the trembles of several cards must be tied, one of them is moved away."""
    game = game_of("kuhn3")
    candidate = handed_over(game)
    play, trembles = Play.of(game.tree, candidate.profile), candidate.trembles
    assert trembles is not None
    rejected = {"order": 0, "weight": 0}
    for action in np.flatnonzero(play.played == 0).tolist():
        order, weight = trembles.order.copy(), trembles.weight.copy()
        order[action] += 1
        weight[action] *= 1.5
        for name, broken in (
            ("order", Trembles(order, trembles.weight)),
            ("weight", Trembles(trembles.order, weight)),
        ):
            rejected[name] += sequential(play, broken).proof is not Proof.CERTIFIED
    assert rejected["order"] >= 3
    assert rejected["weight"] >= 2


def test_profile_that_no_belief_supports_is_refuted_whatever_is_handed_over() -> None:
    game = game_of("horse")
    trembles = handed_over(game).trembles
    down = eqbench.BehaviorProfile.of(game.tree, [1, 0, 0, 1, 1, 0])
    assert sequential(Play.of(game.tree, down), trembles).proof is Proof.REFUTED


def test_game_without_unplayed_actions_needs_no_trembles_of_note() -> None:
    game = game_of("jordan")
    candidate = handed_over(game)
    assert proof_of(game, candidate) is Proof.CERTIFIED
