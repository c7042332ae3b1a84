"""OpenSpiel's solvers as rows of a run."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import run

import eqbench
from eqbench.errors import SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry
from eqbench.solver import Limits, refusal_of

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
peers = importlib.import_module("eqbench.solvers.openspiel")

CFRS = ["cfr", "cfr_plus", "mccfr", "xfp", "dcfr", "efr"]
ALL = [f"openspiel_{name}" for name in (*CFRS, "mmd", "sequential_lp", "adidas")]
PEERS = ALL[: len(CFRS)]
REFUSED = {
    "kuhn3_reduced": "only with reduce=none",
    "kuhn(pot=3)": "only with pot=2",
    "kuhn(cards=4)": "only with cards=3",
    "kuhn(raises=1)": "only with raises=0",
    "leduc(ranks=2)": "only with ranks=3",
    "leduc(suits=3, raises=1)": "only with suits=2, raises=2",
    "liars_dice(dice=2, sides=2)": "only with dice=1",
    "prisoners_dilemma": "no game that is known",
}


@pytest.mark.parametrize("iterations", [1, 2, 5, 30])
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3"])
@pytest.mark.parametrize(
    ("method", "module", "theirs"),
    [
        ("cfr", "pyspiel", "CFRSolver"),
        ("cfr_plus", "pyspiel", "CFRPlusSolver"),
        ("dcfr", "open_spiel.python.algorithms.discounted_cfr", "DCFRSolver"),
        ("cfr_linear", "open_spiel.python.algorithms.discounted_cfr", "LCFRSolver"),
    ],
)
def test_trajectories_of_cfr_agree_with_ours(
    method: str, module: str, theirs: str, spec: str, iterations: int
) -> None:
    """Only in short runs: later, rounding decides between actions that are equally good."""
    game, ours = eqbench.load_game(spec), run(method, spec, iterations=iterations)
    name = f"kuhn_poker(players={game.tree.n_players})"
    solver = getattr(pytest.importorskip(module), theirs)(pyspiel.load_game(name))
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    for made, policy in (
        (ours.average, solver.average_policy()),
        (ours.last, solver.current_policy()),
    ):
        profile = peers.profile_of_policy(game, policy)
        np.testing.assert_allclose(made, profile.probabilities, atol=1e-10)
    if f"openspiel_{method}" in PEERS:
        row = run(f"openspiel_{method}", game, iterations=iterations)
        np.testing.assert_allclose(row.behavior, ours.average, atol=1e-10)
        assert row.monitor.work == iterations


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("game", ["kuhn3", "leduc", "openspiel:blotto(coins=3,fields=2)"])
def test_game_is_solved_and_verified(peer: str, game: str) -> None:
    if (peer, game) == ("openspiel_efr", "leduc"):
        peer = "openspiel_efr(deviations=blind_cf)"  # others take seconds an iteration
    result = eqbench.solve(game, peer, Limits(iterations=2, target=0))
    assert (result.status, result.iterations) == ("limit", 2), result.reason
    assert result.nash_conv is not None


def test_one_word_stands_for_all_of_them() -> None:
    assert default_registry().resolve_solvers("openspiel_all") == ALL


def test_efr_against_blind_counterfactual_deviations_is_cfr() -> None:
    theirs = run("openspiel_efr(deviations=blind_cf)", "kuhn3", iterations=10).average
    ours = run("cfr(alternating=false)", "kuhn3", iterations=10).average
    np.testing.assert_allclose(theirs, ours, atol=1e-12)


def test_adidas_solves_games_that_openspiel_does_not_have() -> None:
    assert run("openspiel_adidas", "prisoners_dilemma", iterations=6000).max_regret < 1e-4


@pytest.mark.parametrize("spec", ["mmd(temperature=0)", "sequential_lp(epsilon=0)"])
def test_options_with_which_nothing_would_move_are_refused(spec: str) -> None:
    with pytest.raises(SpecError, match="choose a"):
        eqbench.load_solver(f"openspiel_{spec}")


def test_perturbed_programs_are_as_near_to_an_equilibrium_as_claimed() -> None:
    pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    found = run("openspiel_sequential_lp(epsilon=0.0001)", "kuhn2")
    assert 1e-5 < found.max_regret < found.candidates[0].claimed_regret


def test_perturbed_program_without_cvxpy_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    # as if its import of cvxpy had failed
    monkeypatch.setitem(sys.modules, "open_spiel.python.algorithms.sequence_form_lp", None)
    found = eqbench.solve("kuhn2", "openspiel_sequential_lp")
    assert (found.status, "cvxpy" in (found.reason or "")) == ("unavailable", True)


@pytest.mark.parametrize(
    ("solver", "game", "reason"),
    [
        ("mmd", "kuhn3", "two players and zero sum"),
        ("sequential_lp", "openspiel:tiny_hanabi", "two players and zero sum"),
        ("adidas", "kuhn2", "strategic form"),
    ],
)
def test_refuses_games_that_the_method_is_not_for(solver: str, game: str, reason: str) -> None:
    asked = eqbench.load_solver(f"openspiel_{solver}")
    assert reason in (refusal_of(asked, eqbench.load_game(game)) or "")


@pytest.mark.parametrize("spec", REFUSED)
def test_refuses_what_openspiel_does_not_have(spec: str) -> None:
    game = eqbench.load_game(spec)
    reason = refusal_of(eqbench.load_solver("openspiel_cfr"), game) or ""
    assert REFUSED[spec] in reason
    assert "openspiel:NAME" in reason
    with pytest.raises(UsageError, match="NAME"):
        peers.tabular_policy(game, BehaviorProfile.uniform(game.tree))


def test_game_that_is_not_what_its_spec_says_is_refused() -> None:
    def as_if(game: str, name: str = "kuhn2", **arrays: Any) -> Game:
        """A game, with other arrays in its tree, under the name of another."""
        tree = dataclasses.replace(eqbench.load_game(game).tree, **arrays)
        return Game(eqbench.load_game(name).spec, tree)

    kuhn = eqbench.load_game("kuhn2").tree
    mixed_up = kuhn.infoset.copy()
    mixed_up[[7, 9]] = kuhn.infoset[[9, 7]]  # P2 with the middle and with the highest card
    for reason, odd in {
        "probabilities": as_if("kuhn2", chance=2 * kuhn.chance),
        "it pays": as_if("kuhn2", payoffs=eqbench.load_game("kuhn(pot=3)").tree.payoffs),
        "knows more or less": as_if("kuhn2", infoset=mixed_up),
        "3 players": as_if("kuhn2", "kuhn3"),
        "outcomes": as_if("kuhn(cards=4)"),
        "actions": as_if("leduc(raises=1)", "leduc"),
    }.items():
        assert reason in (refusal_of(eqbench.load_solver("openspiel_cfr"), odd) or ""), reason
