"""Gaps of joint play: against linear programs, OpenSpiel, all iterates, and by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.command import accepted
from numpy.typing import NDArray
from scipy.optimize import linprog

import eqbench
from eqbench.errors import ProfileError
from eqbench.harness.judge import Received, measure_joint
from eqbench.isolation.messages import JointFrame
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.solvers.cfr import iteration
from eqbench.solvers.cfr.joint import merged_weights
from eqbench.solvers.search import first_profile
from eqbench.verification import verify_joint

Mixture = tuple[list[eqbench.BehaviorProfile], NDArray]


def mixture(game: Game, rng: np.random.Generator, count: int = 3) -> Mixture:
    profiles = [
        eqbench.BehaviorProfile.of(game, random_profile(game.tree, rng)) for _ in range(count)
    ]
    return profiles, rng.dirichlet(np.ones(count))


def gains_by_program(
    game: Game, profiles: list[eqbench.BehaviorProfile], weights: NDArray
) -> NDArray:
    """Gains over following, (N,), by a linear program over each player's realization plans."""
    form = game.sequence_form
    n, sequences = form.n_players, form.n_sequences
    reach = np.ones((len(profiles), sequences))
    for k, profile in enumerate(profiles):
        for i in range(form.n_infosets):
            block = slice(form.block_start[i], form.block_start[i + 1])
            reach[k, block] = (
                reach[k, form.parent[i]] * profile.probabilities[block.start - n : block.stop - n]
            )
    gains = []
    flow = form.flow()
    for p in range(n):
        others = np.delete(form.columns, p, axis=1)
        ways = reach[:, others].prod(axis=2)  # of each profile to each column
        worth = np.zeros(sequences)
        np.add.at(worth, form.columns[:, p], (weights @ ways) * form.payoffs[:, p])
        own = np.flatnonzero(form.sequence_player == p)
        rows = flow[:, own]
        rows = rows[np.abs(rows).sum(axis=1) > 0]
        right = np.zeros(len(rows))
        right[0] = 1.0
        best = -linprog(-worth[own], A_eq=rows, b_eq=right).fun
        together = weights @ (ways * reach[:, form.columns[:, p]])
        gains.append(best - together @ form.payoffs[:, p])
    return np.array(gains)


def test_gains_are_those_of_linear_programs_on_100_random_games() -> None:
    rng = np.random.default_rng(5)
    for seed in range(100):
        players = 2 + seed % 3
        game = eqbench.load_game(f"random_tree(players={players},depth={players + 1},seed={seed})")
        profiles, weights = mixture(game, rng)
        measured = verify_joint(game.tree, profiles, weights)
        expected = gains_by_program(game, profiles, weights)
        assert measured.gains == pytest.approx(expected, abs=1e-6)
        assert measured.gap == pytest.approx(np.maximum(expected, 0).sum(), abs=1e-6)
        if seed % 10 == 0:
            exact = verify_joint(game.tree, profiles, weights, exact=True)
            assert all(isinstance(gain, Fraction) for gain in exact.gains)
            missed = [abs(float(a) - b) for a, b in zip(exact.gains, measured.gains, strict=True)]
            assert max(missed) <= measured.error < 1e-9


@pytest.mark.parametrize("players", [2, 3])
def test_gap_is_the_distance_that_openspiel_measures(players: int) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game(f"kuhn_poker(players={players})")
    game = eqbench.load_game(f"openspiel:kuhn_poker(players={players})")
    tree = game.tree
    profiles, weights = mixture(game, np.random.default_rng(players))
    device = []
    for weight, profile in zip(weights, profiles, strict=True):
        policy = {}
        for i, label in enumerate(tree.infoset_labels):
            row = profile.probabilities[tree.action_start[i] : tree.action_start[i + 1]]
            policy[label] = list(enumerate(row.tolist()))
        device.append((float(weight), pyspiel.TabularPolicy(policy)))
    found = pyspiel.cce_dist(theirs, device)
    measured = verify_joint(tree, profiles, weights)
    assert measured.payoffs == pytest.approx(list(found.on_policy_values), abs=1e-12)
    assert [max(gain, 0) for gain in measured.gains] == pytest.approx(
        list(found.deviation_incentives), abs=1e-12
    )
    assert measured.gap == pytest.approx(found.dist_value, abs=1e-12)


def test_taking_turns_is_no_gap_though_its_average_has_one() -> None:
    game = eqbench.load_game("battle_of_sexes")
    both = [eqbench.BehaviorProfile.of(game, row) for row in ([1, 0, 1, 0], [0, 1, 0, 1])]
    found = eqbench.verify_joint(game, both, exact=True)
    assert (found.payoffs, found.gap) == ((Fraction(3, 2), Fraction(3, 2)), 0)
    assert found.gains == (Fraction(-1, 2), Fraction(-1, 2))
    middle = eqbench.BehaviorProfile.of(game, [0.5] * 4)
    assert eqbench.verify(game, middle, exact=True).nash_conv == Fraction(1, 2)


@pytest.mark.parametrize("spec", ["shapley", "jordan"])
def test_where_the_average_is_far_from_nash_joint_play_nears_its_equilibria(spec: str) -> None:
    """Regret matching cycles here, so its joint play is no product."""
    solver = "cfr(joint=true,alternating=false,start=random)"
    short, long = (eqbench.solve(spec, solver, iterations=n, target=0) for n in (100, 1600))
    average = next(each for each in long.equilibria if each.claim == "average")
    assert long.cce_gap is not None
    assert short.cce_gap is not None
    assert 0 < long.cce_gap < short.cce_gap / 3
    assert average.nash_conv > 20 * long.cce_gap


@pytest.mark.parametrize(
    ("spec", "solver"),
    [
        ("jordan", "cfr(joint=true,alternating=false,start=random)"),
        ("kuhn2", "cfr_plus(joint=true)"),
        ("random(players=3,actions=2,seed=1)", "dcfr(joint=true)"),
    ],
)
def test_kept_profiles_are_worth_what_all_iterates_are(spec: str, solver: str) -> None:
    iterations = 300
    game = eqbench.load_game(spec)
    method = eqbench.load_solver(solver)
    rng = np.random.default_rng(0)
    state = iteration.begin(game.sequence_form, first_profile(game.tree, method.start, rng))
    advance = method._advance(game, state, rng, 1)
    profiles, weights = [], []
    for t in range(iterations):
        profiles.append(
            eqbench.BehaviorProfile.of(game, state.behavior[game.tree.n_players :].copy())
        )
        weights.append((t + 1) ** method._exponent)
        advance(t, 1)
    shares = np.array(weights) / sum(weights)
    expected = verify_joint(game.tree, profiles, shares)
    found = eqbench.solve(game, solver, iterations=iterations, target=0, timeout_s=600)
    assert found.joint is not None
    assert found.joint["iterations"] == iterations
    assert found.joint["profiles"] < 100
    assert found.joint["gains"] == pytest.approx(expected.gains, abs=1e-11)
    assert found.joint["payoffs"] == pytest.approx(expected.payoffs, abs=1e-11)


def test_keeping_joint_play_does_not_change_the_result() -> None:
    with_it, without = (
        eqbench.solve("kuhn3", f"cfr_plus{options}", iterations=200, target=0)
        for options in ("(joint=true)", "")
    )
    assert with_it.regrets == without.regrets
    assert without.joint is None
    assert "joint" not in without.to_json()


def test_with_two_players_and_constant_sum_the_gains_sum_to_nash_conv() -> None:
    found = eqbench.solve("kuhn2", "cfr(joint=true)", iterations=300, target=0)
    average = next(each for each in found.equilibria if each.claim == "average")
    assert found.joint is not None
    assert sum(found.joint["gains"]) == pytest.approx(average.nash_conv, abs=1e-12)


def test_merging_keeps_sum_and_mean() -> None:
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(90, 12)), rng.random(90)
    points[:, 3] = points[:, 4]
    merged = merged_weights(points, weights)
    assert (merged >= 0).all()
    assert np.count_nonzero(merged) <= 12
    assert merged.sum() == pytest.approx(weights.sum(), abs=1e-12)
    assert merged @ points == pytest.approx(weights @ points, abs=1e-12)


def test_large_and_wide_games_are_refused() -> None:
    found = eqbench.solve("leduc", "cfr(joint=true)", iterations=1)
    assert found.status == "unsupported"
    assert "1,000 sequences" in found.reason


def test_weights_that_are_no_distribution_are_refused() -> None:
    game = eqbench.load_game("matching_pennies")
    one = eqbench.BehaviorProfile.uniform(game)
    for weights in ([0.5, 0.4], [1.5, -0.5], [1.0], [float("nan"), 1.0]):
        with pytest.raises(ProfileError, match="weight"):
            eqbench.verify_joint(game, [one, one], weights)
    with pytest.raises(ProfileError):
        eqbench.verify_joint(game, [], [])


def test_joint_play_that_takes_too_long_is_left_unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqbench.harness.judge.MAX_JOINT_NODES", 2)
    found = eqbench.solve("matching_pennies", "cfr(joint=true)", iterations=2, target=0)
    assert found.joint is None
    assert "joint play was not measured" in found.reason


def test_what_a_solver_sends_is_checked() -> None:
    game = eqbench.load_game("matching_pennies")
    row = np.array([0.5, 0.5, 0.5, 0.5])

    def frame(profiles: NDArray, weights: NDArray) -> JointFrame:
        return JointFrame(profiles.tobytes(), weights.tobytes(), 1)

    assert measure_joint(frame(row, np.ones(1)), game.tree)["cce_gap"] == 0
    for wrong in (frame(row, np.array([2.0])), frame(row * 2, np.ones(1))):
        with pytest.raises(ProfileError):
            measure_joint(wrong, game.tree)
    received = Received(4)
    received.add(frame(row[:3], np.ones(1)))
    assert received.misfit
    with pytest.raises(ValueError, match="float64"):
        JointFrame(row.tobytes(), b"", 1)


def test_run_shows_the_gap_beside_nash_conv_where_joint_play_was_kept(tmp_path: Path) -> None:
    solver = "cfr(joint=true,alternating=false,start=random)"
    words = ("run", "--game", "shapley", "--iterations", "60", "--target", "0", "--solver")
    told = accepted(*words, f"cfr_plus,{solver}", "--out", "both", cwd=tmp_path).out
    assert "CCE gap" in told
    plain, joint = eqbench.load_run(tmp_path / "both")
    assert plain.joint is None
    assert joint.joint is not None
    assert joint.joint["iterations"] == 60
    here = eqbench.solve("shapley", solver, iterations=60, target=0)
    assert joint.joint == here.joint
    frame = eqbench.load_run(tmp_path / "both").frame("cells")
    assert frame["cce_gap"].isna().tolist() == [True, False]
