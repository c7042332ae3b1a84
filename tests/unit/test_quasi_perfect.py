"""Symbolic perturbations: two-player equilibria that are sequential by construction."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from solver_cases import Result, run
from textbook_games import beer_and_quiche, entry_deterrence

import eqbench
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.trembles import Trembles
from eqbench.verdicts import Proof, credibility, sequential
from eqbench.verification import verify

quasi_perfect = importlib.import_module("eqbench.solvers.quasi_perfect")
complementarity = importlib.import_module("eqbench.solvers.complementarity")


class Patient:
    """A monitor with time."""

    remaining_s = np.inf


def arrive(game: Game, behavior: np.ndarray) -> tuple[BehaviorProfile, Any]:
    """What the path from an equilibrium leads to, and its trembles."""
    problem = complementarity.Problem.of(
        game.sequence_form, np.ones(game.sequence_form.n_sequences)
    )
    paths = (quasi_perfect.PerturbedPath(problem, behavior, seed) for seed in range(20))
    path = next(path for path in paths if path.follow(Patient()))
    found, trembles = path.limit()
    return BehaviorProfile.of(game.tree, found), trembles


def n_credible(result: Result) -> int:
    profile = BehaviorProfile.of(result.game.tree, result.behavior)
    return credibility(Play.of(result.game.tree, profile)).n_credible


@pytest.mark.parametrize("solver", ["sequence_lp", "lcp"])
@pytest.mark.parametrize("name", ["kuhn2(cards=12)", "goofspiel(cards=4)", "liars_dice(sides=3)"])
def test_perturbed_answers_are_credible_everywhere_and_have_the_same_value(
    name: str, solver: str
) -> None:
    kept, perturbed = (run(f"{solver}(offpath={how})", name) for how in ("keep", "perturbed"))
    tree = kept.game.tree
    assert n_credible(kept) < n_credible(perturbed) == tree.n_infosets
    payoffs = [
        verify(tree, BehaviorProfile.of(tree, each.behavior)).payoffs for each in (kept, perturbed)
    ]
    assert payoffs[0] == pytest.approx(payoffs[1], abs=1e-12)


@pytest.mark.parametrize("seed", range(14))
def test_trembles_at_the_end_of_the_path_prove_it_sequential_whatever_the_payoffs(
    seed: int,
) -> None:
    game = eqbench.load_game(f"random_tree(depth=4,seed={seed})")
    profile, trembles = arrive(game, run("lcp", game).behavior)
    play = Play.of(game.tree, profile)
    assert sequential(play, trembles).proof == Proof.CERTIFIED
    assert verify(game.tree, profile).max_regret <= 1e-12 * game.tree.payoff_range


@pytest.mark.parametrize(
    ("tree", "given"),
    [
        (entry_deterrence(), [1, 0, 1, 0]),  # out, since entrants are fought
        (beer_and_quiche(), [0, 1, 0, 1, 1, 0, 0, 1]),  # quiche, since beer is fought
    ],
)
def test_equilibria_with_empty_threats_are_left_for_others(tree: Any, given: list[int]) -> None:
    game = Game("textbook", tree)
    before = Play.of(tree, BehaviorProfile.of(tree, np.array(given, dtype=float)))
    profile, trembles = arrive(game, before.frequency)
    assert sequential(Play.of(tree, profile), trembles).proof == Proof.CERTIFIED
    if not credibility(before).credible.all():
        assert not np.allclose(profile.probabilities, before.frequency)


def test_ray_leaves_the_equilibrium_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quasi_perfect, "advance", lambda *given: (0, complementarity.RAY))
    kept, perturbed = (run(f"lcp(offpath={how})", "kuhn2") for how in ("keep", "perturbed"))
    np.testing.assert_array_equal(kept.behavior, perturbed.behavior)
    assert "rays" in perturbed.monitor.statistics["offpath"]


def test_end_that_is_no_equilibrium_leaves_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    game = eqbench.load_game("kuhn2")
    uniform = BehaviorProfile.uniform(game.tree).probabilities
    trembles = Trembles(np.ones(len(uniform), dtype=np.int64), uniform)
    monkeypatch.setattr(quasi_perfect.PerturbedPath, "limit", lambda self: (uniform, trembles))
    kept, perturbed = (run(f"lcp(offpath={how})", game) for how in ("keep", "perturbed"))
    np.testing.assert_array_equal(kept.behavior, perturbed.behavior)
    assert "spoiled" in perturbed.monitor.statistics["offpath"]


def test_tableau_beyond_the_memory_limit_leaves_the_equilibrium_as_it_was() -> None:
    perturbed = run("sequence_lp(offpath=perturbed)", "leduc", memory_bytes=2**26)
    assert "MiB" in perturbed.monitor.statistics["offpath"]
    np.testing.assert_array_equal(perturbed.behavior, run("sequence_lp", "leduc").behavior)


def test_weights_lost_in_rounding_leave_the_equilibrium_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = eqbench.load_game("kuhn2")
    limit = quasi_perfect.PerturbedPath.limit

    def rounded(self: Any) -> tuple[np.ndarray, Trembles]:
        found, trembles = limit(self)
        return found, Trembles(trembles.order, 0 * trembles.weight)

    monkeypatch.setattr(quasi_perfect.PerturbedPath, "limit", rounded)
    kept, perturbed = (run(f"lcp(offpath={how})", game) for how in ("keep", "perturbed"))
    np.testing.assert_array_equal(kept.behavior, perturbed.behavior)
    assert perturbed.candidates[0].trembles is None


def test_without_time_one_path_is_begun_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    game = eqbench.load_game("kuhn2")
    given = run("lcp", game)
    begun = []
    begin = quasi_perfect.begin
    monkeypatch.setattr(quasi_perfect, "begin", lambda *all: (begun.append(1), begin(*all)))
    profile = BehaviorProfile.of(game.tree, given.behavior)
    late = run("lcp", game, time_s=1e-9).monitor
    found = quasi_perfect.perturbed(game, profile, late)
    assert found.profile is profile
    assert len(begun) <= 1
    assert "time" in late.statistics["offpath"]
