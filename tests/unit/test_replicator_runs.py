"""What the replicator solver hands over within its budget."""

from __future__ import annotations

import importlib
import itertools

import numpy as np
import pytest
from solver_cases import bimatrix
from solver_cases import run as solve

import eqbench
from eqbench.model.realization import RealizationPlan
from eqbench.solver import Budget, Monitor


def run(game: str, options: str, budget: Budget, seed: int = 0):
    """Termination, reports and statistics."""
    loaded, reports = eqbench.load_game(game), []
    monitor = Monitor(loaded, budget, reports.append)
    rng = np.random.default_rng(seed)
    ended = eqbench.load_solver(f"replicator({options})").solve(loaded, monitor, rng)
    return ended, reports, monitor.statistics


@pytest.mark.parametrize(
    "game", ["kuhn2", "kuhn3", "leduc", "shapley", "rock_paper_scissors", "skp"]
)
def test_games_run_and_end_at_their_limit(game: str) -> None:
    ended, reports, figures = run(game, "start=random", Budget(time_s=600, iterations=40, target=0))
    assert ended.reason == "limit"
    assert "sure to converge" in ended.detail
    claims = [report.candidate.claim for report in reports if report.kind == "candidate"]
    assert claims == ["average", "average", "iterate"]
    assert figures["time"] == 40
    assert figures["integrator"] in ("heyoka", "dop853")


def test_regret_of_averages_falls_like_the_inverse_of_time_in_two_player_poker() -> None:
    """Exponential weights in continuous time have bounded regret."""
    regrets = [
        eqbench.solve("kuhn2", "replicator", Budget(time_s=600, iterations=n, target=0)).max_regret
        for n in (100, 1000, 10000)
    ]
    for before, after in itertools.pairwise(regrets):
        assert before / 30 <= after <= before / 5


def test_average_is_that_of_realization_plans() -> None:
    """Against the mean over a fine grid of the trajectory itself."""
    game = eqbench.load_game("kuhn2")
    flow = eqbench.load_solver("replicator").flow(game)
    times = np.linspace(0, 40, 4001)
    found = flow.behavior(flow.integrate(np.zeros(flow.choices.size), times).states)
    plans = np.array([RealizationPlan.of(game.sequence_form, row).weights for row in found])
    _, reports, _ = run("kuhn2", "window=0.5", Budget(iterations=40, target=0))
    handed = [report.candidate.profile for report in reports if report.kind == "candidate"]
    for profile, since in zip(handed, (20, 0), strict=False):
        inside = plans[times >= since - 1e-9]
        mean = np.trapezoid(inside, dx=0.01, axis=0) / (40 - since)
        plan = RealizationPlan.of(game.sequence_form, profile.probabilities).weights
        # one state of a unit of time is taken; what is left comes from the two ends
        assert np.abs(plan - mean).max() <= 5e-4
    assert np.abs(handed[0].probabilities - handed[1].probabilities).max() > 0.01


@pytest.mark.parametrize("integrator", ["dop853", "heyoka"])
def test_result_does_not_depend_on_how_the_run_is_cut(
    integrator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, budget = f"integrator={integrator},start=random", Budget(iterations=150, target=0)
    _, whole, _ = run("kuhn2", options, budget)

    def one_by_one(self):
        for self.work in range(150):
            yield self.work, 1, False
        self.work = 150

    monkeypatch.setattr(Monitor, "chunks", one_by_one)
    _, pieces, _ = run("kuhn2", options, budget)
    last = [
        [r.candidate.profile.probabilities for r in reports[-3:]] for reports in (whole, pieces)
    ]
    for one, other in zip(*last, strict=True):
        assert np.array_equal(one, other)


def test_random_starts_depend_on_the_seed_only() -> None:
    budget = Budget(iterations=5, target=0)
    first, again, other = (
        run("shapley", "start=random", budget, seed)[1][-1].candidate.profile.probabilities
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert eqbench.load_solver("replicator").deterministic
    assert not eqbench.load_solver("replicator(start=random)").deterministic


def test_run_that_breaks_off_fails_with_its_reason_and_keeps_what_it_has() -> None:
    result = eqbench.solve("skp", "replicator(k='P1=1e306')", Budget(time_s=5))
    assert result.status == "failed"
    assert "overflowed" in result.reason
    assert result.max_regret is not None


def test_unit_of_time_that_takes_forever_ends_with_the_budget() -> None:
    result = eqbench.solve("skp", "replicator(rate=1e9)", Budget(time_s=0.3))
    assert (result.status, result.iterations) == ("limit", 0)
    assert "lower the rate" in result.reason
    assert result.max_regret is not None


def test_run_ends_with_its_reason_where_floats_do_not_resolve_log_odds() -> None:
    game = bimatrix([[0, 0], [1, 1]], [[0, 0], [1, 1]])
    result = eqbench.solve(game, "replicator(rate=1e12)", Budget(time_s=600, target=0))
    assert result.status == "failed"
    assert "beyond 1e+12" in result.reason
    assert result.max_regret is not None


@pytest.mark.parametrize(("factor", "rate"), [(1, 1), (100, 1), (1, 100)])
def test_averages_keep_their_promise_however_fast_the_game_is(factor: int, rate: int) -> None:
    """Regret over the payoff range falls like the inverse of time times speed."""
    payoffs = factor * np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    game = bimatrix(payoffs.tolist(), (-payoffs).tolist())
    for units in (20, 200):
        budget = Budget(time_s=600, iterations=units, target=0)
        result = eqbench.solve(game, f"replicator(start=random,rate={rate})", budget)
        assert result.max_regret / factor * units * factor * rate <= 12


@pytest.mark.parametrize(
    ("game", "usual", "faster"),
    [("kuhn2", 1, 32), ("leduc", 2, 128), ("skp", 8, 512), ("rock_paper_scissors", 1, 64)],
)
def test_averages_take_as_many_states_as_the_game_is_fast(
    game: str, usual: int, faster: int
) -> None:
    """Gains of two-player Kuhn poker are at most 1: a third of the deals, a range of 3."""
    averages = importlib.import_module("eqbench.solvers.replicator.averages")
    loaded = eqbench.load_game(game)
    flow = eqbench.load_solver("replicator").flow(loaded)
    for factor, expected in ((1, usual), (64, faster), (1e300, 2**14)):
        speed = factor * flow.speed
        assert averages.points_per_unit(loaded.tree, flow.choices, speed) == expected


@pytest.mark.parametrize("game", ["kuhn2", "skp", "leduc", "shapley", "random_tree"])
def test_no_gain_exceeds_its_bound(game: str) -> None:
    bounds = importlib.import_module("eqbench.solvers.replicator.averages").gain_bounds
    loaded = eqbench.load_game(game)
    flow = eqbench.load_solver("replicator(rate=1)").flow(loaded)
    bound = np.repeat(bounds(loaded.tree)[flow.choices.infoset], np.diff(flow.choices.start))
    rng = np.random.default_rng(0)
    share = [
        np.abs(flow.velocity(rng.normal(0, 30, flow.choices.size))) / bound for _ in range(100)
    ]
    assert np.max(share) <= 1 + 1e-12
    assert np.max(share) >= 0.5


def test_game_without_a_choice_is_solved_at_once() -> None:
    result = solve("replicator", bimatrix([[1]], [[2]]))
    assert result.termination.reason == "converged"
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"]


def test_contraction_keeps_payoffs_and_drops_forced_moves() -> None:
    game = eqbench.load_game("skp")
    form = game.sequence_form
    small = importlib.import_module("eqbench.solvers.replicator.flow").contracted(form)
    assert (form.n_sequences, small.n_sequences) == (62, 25)
    assert (small.n_infosets, len(small.columns)) == (11, 51)
    assert small.base.sum() == pytest.approx(form.payoffs.sum(), abs=1e-14)
