"""CFR in its variants: convergence, options, and what keeps a run reproducible."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np
import pytest
from solver_cases import run

import eqbench
from eqbench.errors import SpecError
from eqbench.model import reference
from eqbench.model.game import Game
from eqbench.verification import verify

cfr = importlib.import_module("eqbench.solvers.cfr.methods")
FULL_WIDTH = {
    name: eqbench.load_solver(name)
    for name in ("cfr", "cfr_plus", "cfr_linear", "dcfr", "pcfr_plus")
}
ALL = FULL_WIDTH | {name: eqbench.load_solver(name) for name in ("mmd", "reg_cfr", "qfr", "mccfr")}
ITERATIVE = ALL | {"fictitious_play": eqbench.load_solver("fictitious_play")}


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return eqbench.load_game("kuhn2")


@pytest.fixture(scope="module")
def kuhn3() -> Game:
    return eqbench.load_game("kuhn3")


def max_regret(game: Game, frequencies: np.ndarray) -> float:
    return float(game.payoff_model().regrets(frequencies).max())


# -- convergence ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bound"),
    [("cfr", 1e-3), ("cfr_plus", 1e-4), ("cfr_linear", 1e-4), ("dcfr", 1e-4), ("pcfr_plus", 1e-9)],
)
def test_snapshot_is_the_better_of_average_and_last_iterate_and_has_the_value(name, bound, kuhn2):
    result = run(FULL_WIDTH[name], kuhn2, iterations=20_000)
    snapshot = result.snapshots[-1]
    assert snapshot.claim == ("iterate" if name == "pcfr_plus" else "average")
    measured = verify(kuhn2.tree, snapshot.profile)
    regrets = [max_regret(kuhn2, each) for each in (result.average, result.last)]
    assert measured.max_regret == pytest.approx(min(regrets), abs=1e-15)
    assert measured.max_regret <= bound
    assert measured.payoffs[0] == pytest.approx(-1 / 18, abs=2 * bound)


def test_external_sampling_approaches_the_value(kuhn2, kuhn3):
    average = run(cfr.ExternalSampling(), kuhn2, iterations=50_000).average
    assert max_regret(kuhn2, average) < 0.02
    assert kuhn2.payoff_model().expected_payoffs(average)[0] == pytest.approx(-1 / 18, abs=0.01)
    early, late = (run(cfr.ExternalSampling(), kuhn3, iterations=n).average for n in (300, 30_000))
    assert max_regret(kuhn3, late) < 0.03 < max_regret(kuhn3, early)


@pytest.mark.parametrize("name", ["shapley", "jordan", "rock_paper_scissors"])
def test_vanilla_cfr_need_not_converge_and_says_so(name):
    game = eqbench.load_game(name)
    result = run(cfr.CFR(start="random"), game, iterations=10_000, target=1e-6)
    assert result.termination.reason == "limit"
    assert max_regret(game, result.last) > 0.01
    assert (max_regret(game, result.average) < 1e-3) == (name == "rock_paper_scissors")


@pytest.mark.parametrize("alternating", [True, False], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize("name", FULL_WIDTH)
def test_kernels_follow_the_definition(name, alternating, kuhn3):
    solver = dataclasses.replace(FULL_WIDTH[name], alternating=alternating)
    average, last = iterates_by_definition(solver, kuhn3, 12)
    result = run(solver, kuhn3, iterations=12)
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


# -- options ----------------------------------------------------------------------------------


def test_infinite_exponent_of_the_discount_keeps_positive_regrets(kuhn2):
    """DCFR(infinity, infinity) is plain CFR (Brown and Sandholm 2019)."""
    kept = cfr.CFR(regrets="discounted", alpha=float("inf"), beta=float("inf"))
    both = [run(solver, kuhn2, iterations=50).last for solver in (kept, cfr.CFR())]
    np.testing.assert_array_equal(*both)


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


# -- runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ITERATIVE)
def test_claims_and_uniform_play_before_the_first_iteration(name, kuhn2):
    for iterations in (0, 1, 1000):
        result = run(ITERATIVE[name], kuhn2, iterations=iterations)
        assert result.monitor.work == result.reports[-1].work == iterations
        claims = ["average"] if name == "fictitious_play" else ["average", "iterate"]
        assert [candidate.claim for candidate in result.candidates] == claims
        if iterations == 0:
            for candidate in result.candidates:
                np.testing.assert_array_equal(candidate.profile.probabilities, 0.5)


@pytest.mark.parametrize("name", ALL)
def test_rows_sum_to_one_to_rounding(name, kuhn3):
    result = run(ALL[name], kuhn3, iterations=5_000)
    for frequencies in (result.average, result.last):
        totals = np.add.reduceat(frequencies, kuhn3.tree.action_start[:-1])
        np.testing.assert_allclose(totals, 1, rtol=0, atol=4e-16)


def test_draws_of_chance_follow_its_probabilities():
    """Each outcome gets its share of evenly spaced draws, and 0 never falls short."""
    sampling = importlib.import_module("eqbench.solvers.cfr.sampling")
    cumulative = np.array([0.0, 0.1, 0.4, 0.4, 1.0])
    draws = [int(sampling.draw_outcome(cumulative, 1, 5, u)) for u in (np.arange(1000) + 0.5) / 1e3]
    assert np.bincount(draws).tolist() == [0, 100, 300, 0, 600]
    shares = np.array([0.5, 0.0, 0.5])
    actions = [int(sampling.draw_action(shares, 7, 10, u)) for u in (0.0, 0.49, 0.5, 1.0)]
    assert actions == [7, 7, 9, 9]
