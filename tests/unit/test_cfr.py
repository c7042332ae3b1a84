"""The CFR family: convergence, and what its options do."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np
import pytest
from cfr_cases import ALL, FULL_WIDTH, PLUS, cfr, kuhn, lottery, matrix, max_regret, run, tie

from eqbench.errors import SpecError
from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.solver import is_deterministic
from eqbench.verification import verify


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return kuhn(2)


@pytest.fixture(scope="module")
def kuhn3() -> Game:
    return kuhn(3)


# -- convergence ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bound"),
    [("cfr", 1e-3), ("cfr_plus", 1e-4), ("cfr_linear", 1e-4), ("dcfr", 1e-4), ("pcfr_plus", 1e-9)],
)
def test_better_profile_of_two_player_kuhn_has_the_value_of_the_game(name, bound, kuhn2):
    result = run(FULL_WIDTH[name], kuhn2, 20_000)
    last_snapshot = [r.candidate for r in result.reports if r.kind == "snapshot"][-1]
    measured = verify(kuhn2.tree, last_snapshot.profile)
    assert measured.max_regret <= bound
    assert measured.payoffs[0] == pytest.approx(-1 / 18, abs=2 * bound)


def test_snapshot_is_the_better_of_average_and_last_iterate(kuhn2):
    for name, claim in (("cfr", "average"), ("pcfr_plus", "iterate")):
        result = run(FULL_WIDTH[name], kuhn2, 2_000)
        last_snapshot = [r.candidate for r in result.reports if r.kind == "snapshot"][-1]
        assert last_snapshot.claim == claim
        assert max_regret(kuhn2, last_snapshot.profile.probabilities) == min(
            max_regret(kuhn2, result.average), max_regret(kuhn2, result.last)
        )


def test_external_sampling_approaches_the_value(kuhn2, kuhn3):
    average = run(cfr.ExternalSampling(), kuhn2, 50_000).average
    assert max_regret(kuhn2, average) < 0.02
    assert kuhn2.payoff_model().expected_payoffs(average)[0] == pytest.approx(-1 / 18, abs=0.01)
    early, late = (run(cfr.ExternalSampling(), kuhn3, n).average for n in (300, 30_000))
    assert max_regret(kuhn3, late) < 0.03 < max_regret(kuhn3, early)


@pytest.mark.parametrize("name", ALL)
def test_player_alone_with_chance_takes_the_better_lottery(name):
    game = lottery()
    average = run(ALL[name], game, 5_000).average
    np.testing.assert_allclose(average, [1, 0, 1, 0], atol=0.1)


@pytest.mark.parametrize("name", ["shapley", "jordan"])
def test_vanilla_cfr_does_not_converge_and_says_so(name):
    game = matrix(name)
    result = run(cfr.CFR(start="random"), game, 5_000, target=1e-6)
    assert result.termination.reason == "limit"
    assert max_regret(game, result.last) > 0.01
    assert max_regret(game, result.average) > 0.01


def test_average_but_not_last_iterate_solves_rock_paper_scissors():
    game = matrix("rock_paper_scissors")
    result = run(cfr.CFR(start="random"), game, 10_000)
    assert max_regret(game, result.average) < 1e-3
    assert max_regret(game, result.last) > 0.01


@pytest.mark.parametrize("name", FULL_WIDTH)
def test_rounding_does_not_break_ties(name):
    np.testing.assert_array_equal(run(FULL_WIDTH[name], tie(), 500).last, [0.5, 0.5])


@pytest.mark.parametrize("alternating", [True, False], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize("name", FULL_WIDTH)
def test_kernels_follow_the_definition(name, alternating, kuhn3):
    solver = dataclasses.replace(FULL_WIDTH[name], alternating=alternating)
    average, last = iterates_by_definition(solver, kuhn3, 12)
    result = run(solver, kuhn3, 12)
    np.testing.assert_allclose(result.last, last, atol=1e-12)
    np.testing.assert_allclose(result.average, average, atol=1e-12)


def iterates_by_definition(solver: Any, game: Game, iterations: int) -> tuple[Any, Any]:
    """Average and last iterate (A,), in plain NumPy and without any fusion of steps."""
    form = game.sequence_form
    n, row = form.n_players, form.sequence_infoset[form.n_players :]
    owner = form.infoset_player[row]

    def by_row(values: np.ndarray) -> np.ndarray:
        return np.bincount(row, values, form.n_infosets)[row]

    def normalized(weights: np.ndarray) -> np.ndarray:
        total = by_row(weights)
        return np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / by_row(weights**0))

    behavior, regrets, plans = normalized(np.zeros(form.n_actions)), 0.0, 0.0
    for t in range(1, iterations + 1):
        weight = {"uniform": 1, "linear": t, "quadratic": t**2}[solver.averaging]
        plans = plans + weight * reference.realization(form, behavior)[n:]
        groups = [[p] for p in range(n)] if solver.alternating else [list(range(n))]
        for movers in groups:
            values = reference.counterfactual_values(form, behavior)
            gain = np.where(np.isin(owner, movers), values - by_row(behavior * values), 0.0)
            regrets = regrets + gain
            if solver.regrets == "clipped":
                regrets = np.maximum(regrets, 0)
            elif solver.regrets == "discounted":
                exponent = np.where(regrets > 0, solver.alpha, solver.beta)
                factor = t**exponent / (t**exponent + 1)
                regrets = np.where(np.isin(owner, movers), regrets * factor, regrets)
            matched = regrets + gain if solver.predictive else regrets
            matched = np.where(matched > 1e-12, matched, 0)
            behavior = np.where(np.isin(owner, movers), normalized(matched), behavior)
    return normalized(plans), behavior


def test_target_ends_the_run(kuhn2):
    result = run(FULL_WIDTH["pcfr_plus"], kuhn2, 100_000, target=1e-9)
    assert result.termination.reason == "converged"
    assert result.monitor.work < 100_000
    assert min(max_regret(kuhn2, result.average), max_regret(kuhn2, result.last)) <= 1e-9


# -- options ----------------------------------------------------------------------------------


def test_averaging_changes_the_average_only(kuhn2):
    results = [run(cfr.CFR(averaging=name), kuhn2, 100) for name in ("uniform", "linear")]
    np.testing.assert_array_equal(results[0].last, results[1].last)
    assert np.abs(results[0].average - results[1].average).max() > 1e-3


@pytest.mark.parametrize(
    ("options", "change"),
    [
        (PLUS, {"alternating": False}),
        (PLUS, {"predictive": True}),
        (PLUS, {"regrets": "plain"}),
        (PLUS, {"regrets": "discounted"}),
        (PLUS, {"start": "random"}),
        ({"regrets": "discounted"}, {"alpha": 1.0}),
        ({"regrets": "discounted"}, {"beta": 1.0}),
    ],
)
def test_option_changes_the_trajectory(options, change, kuhn3):
    before = run(cfr.CFR(**options), kuhn3, 50).last
    after = run(cfr.CFR(**(options | change)), kuhn3, 50).last
    assert np.abs(before - after).max() > 1e-3


def test_infinite_exponent_of_the_discount_keeps_positive_regrets(kuhn2):
    """DCFR(infinity, infinity) is plain CFR (Brown and Sandholm 2019)."""
    kept = cfr.CFR(regrets="discounted", alpha=float("inf"), beta=float("inf"))
    np.testing.assert_array_equal(run(kept, kuhn2, 50).last, run(cfr.CFR(), kuhn2, 50).last)


def test_linear_discount_weighs_iterations_linearly():
    """DCFR(1, 1, .) adds up t times the regret of iteration t, up to a common factor.

    With one player the regrets of all iterations follow from the payoffs alone.
    """
    form = lottery().sequence_form
    kernels = importlib.import_module("eqbench.solvers.cfr.kernels")
    iteration = importlib.import_module("eqbench.solvers.cfr.iteration")
    state = iteration.begin(form, np.array([0.5, 0.5, *np.full(3, 1 / 3)])[-form.n_actions :])
    rule = kernels.Rule(averaging=1, negligible=1e-12, alpha=1.0, beta=1.0)
    payoffs, total = np.array([1, 4 / 3, 0]), np.zeros(3)
    for t in range(1, 6):
        frequencies = state.behavior[-3:].copy()
        total += t * (payoffs - frequencies @ payoffs)
        kernels.advance(form.arrays, rule, t - 1, 1, state)
    np.testing.assert_allclose(state.regrets[-3:], total / 6, atol=1e-15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 1.5}, "alpha=1.5 has no meaning with regrets=plain"),
        ({"regrets": "clipped", "beta": 0.0}, "use regrets=discounted"),
        ({"regrets": "discounted", "alpha": float("nan")}, "alpha is not a number"),
    ],
)
def test_inconsistent_options_are_refused(options, words):
    with pytest.raises(SpecError, match=words):
        cfr.CFR(**options)


def test_only_random_starts_and_sampling_depend_on_the_seed():
    assert all(is_deterministic(solver) for solver in FULL_WIDTH.values())
    assert not is_deterministic(cfr.CFR(start="random"))
    assert not is_deterministic(cfr.ExternalSampling())
