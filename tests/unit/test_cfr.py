"""The CFR family: convergence, options, randomness, chunking, budgets."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eqbench.errors import SpecError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import Budget, Monitor, Report, Termination, is_deterministic
from eqbench.verification import verify

cfr = importlib.import_module("eqbench.solvers.cfr")
PLUS = {"regrets": "clipped", "averaging": "linear"}
FULL_WIDTH = {
    "cfr": cfr.CFR(),
    "cfr_plus": cfr.CFR(**PLUS),
    "cfr_linear": cfr.CFR(regrets="discounted", alpha=1.0, beta=1.0, averaging="linear"),
    "dcfr": cfr.CFR(regrets="discounted", averaging="quadratic"),
    "pcfr_plus": cfr.CFR(
        regrets="clipped", predictive=True, averaging="quadratic", alternating=False
    ),
}
ALL = FULL_WIDTH | {"mccfr": cfr.ExternalSampling()}


def kuhn(players: int) -> Game:
    module = importlib.import_module("eqbench.games.kuhn")
    return Game(f"kuhn(players={players})", module.Kuhn(players=players).build())


def matrix(name: str) -> Game:
    return Game(name, importlib.import_module("eqbench.games.matrix").Matrix(name).build())


def lottery() -> Game:
    """One player, alone with chance: a sure 1, or 6 and -1 with chances 1/3 and 2/3."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["go on"])
    choice = builder.decision((root, 0), 0, "then", ["sure", "lottery", "nothing"])
    builder.terminal((choice, 0), [1])
    prize = builder.chance((choice, 1), [Fraction(1, 3), Fraction(2, 3)])
    builder.terminal((prize, 0), [6])
    builder.terminal((prize, 1), [-1])
    builder.terminal((choice, 2), [0])
    return Game("lottery", builder.tree())


@dataclasses.dataclass
class Result:
    termination: Termination
    monitor: Monitor
    reports: list[Report]

    @property
    def average(self) -> np.ndarray:
        return self._candidate("average")

    @property
    def last(self) -> np.ndarray:
        return self._candidate("iterate")

    def _candidate(self, claim: str) -> np.ndarray:
        (found,) = (
            report.candidate.profile.probabilities
            for report in self.reports
            if report.kind == "candidate" and report.candidate.claim == claim
        )
        return found


def run(solver: Any, game: Game, iterations: int, seed: int = 0, target: float = 0.0) -> Result:
    reports: list[Report] = []
    monitor = Monitor(game, Budget(time_s=60, iterations=iterations, target=target), reports.append)
    termination = solver.solve(game, monitor, np.random.default_rng(seed))
    return Result(termination, monitor, reports)


def max_regret(game: Game, frequencies: np.ndarray) -> float:
    return float(game.payoff_model().regrets(frequencies).max())


class CutMonitor:
    """Takes the place of a monitor and cuts the iterations as it is told."""

    def __init__(self, cuts: list[int]) -> None:
        self.cuts = cuts
        self.handed_over: list[bytes] = []

    def chunks(self) -> Iterator[tuple[int, int, bool]]:
        start = 0
        for count in self.cuts:
            yield start, count, True
            start += count

    def snapshot(self, maker: Any, *, work: int) -> None:
        maker()

    def candidate(self, profile: np.ndarray, claim: str) -> None:
        self.handed_over.append(profile.tobytes())

    def termination(self) -> Termination:
        return Termination("limit")


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
    measured = verify(kuhn2, last_snapshot.profile)
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
    game = matrix("shapley")
    np.testing.assert_array_equal(run(FULL_WIDTH[name], game, 500).last, np.full(6, 1 / 3))


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
    state = iteration.begin(form)
    rule = kernels.Rule(averaging=1, negligible=1e-12, alpha=1.0, beta=1.0)
    payoffs, total = np.array([1, 4 / 3, 0]), np.zeros(3)
    for t in range(1, 6):
        frequencies = state.behavior[-3:].copy()
        total += t * (payoffs - frequencies @ payoffs)
        kernels.advance(form.arrays, rule, t - 1, 1, state)
    np.testing.assert_allclose(state.regrets[-3:], total / 6, atol=1e-15)


def test_discounting_has_the_usual_exponents():
    solver = cfr.CFR(regrets="discounted")
    assert (solver.alpha, solver.beta) == (1.5, 0.0)


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


# -- randomness, chunks, budgets, inputs ------------------------------------------------------


@pytest.mark.parametrize(
    "solver", [cfr.CFR(start="random", **PLUS), cfr.ExternalSampling()], ids=["start", "sampling"]
)
def test_seed_decides_the_result(solver, kuhn3):
    first, again, other = (run(solver, kuhn3, 200, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.average, again.average)
    np.testing.assert_array_equal(first.last, again.last)
    assert np.abs(first.average - other.average).max() > 1e-3


@pytest.mark.parametrize("name", ALL)
def test_cutting_into_chunks_changes_no_bit(name, kuhn3):
    cuts = [[300], [1] * 300, [1, 2, 97, 150, 50]]
    monitors = [CutMonitor(cut) for cut in cuts]
    for monitor in monitors:
        ALL[name].solve(kuhn3, monitor, np.random.default_rng(5))
    assert len(monitors[0].handed_over) == 2
    assert all(monitor.handed_over == monitors[0].handed_over for monitor in monitors)


@pytest.mark.parametrize("iterations", [1, 7, 1000])
@pytest.mark.parametrize("name", ALL)
def test_iteration_budget_is_honored_exactly(name, iterations, kuhn2):
    result = run(ALL[name], kuhn2, iterations)
    assert result.monitor.work == iterations
    assert result.reports[-1].work == iterations
    assert result.termination.reason == "limit"
    reference = CutMonitor([iterations])
    ALL[name].solve(kuhn2, reference, np.random.default_rng(0))
    assert reference.handed_over == [result.average.tobytes(), result.last.tobytes()]


@pytest.mark.parametrize("name", ALL)
def test_without_iterations_the_uniform_start_is_handed_over(name, kuhn2):
    result = run(ALL[name], kuhn2, 0)
    assert result.monitor.work == 0
    for frequencies in (result.average, result.last):
        np.testing.assert_array_equal(frequencies, np.full(24, 0.5))


@pytest.mark.parametrize("name", ALL)
def test_rows_sum_to_one_to_rounding(name, kuhn3):
    result = run(ALL[name], kuhn3, 5_000)
    starts = kuhn3.tree.action_start[:-1]
    for frequencies in (result.average, result.last):
        totals = np.add.reduceat(frequencies, starts)
        np.testing.assert_allclose(totals, 1, rtol=0, atol=4e-16)


@pytest.mark.parametrize("name", ALL)
def test_game_and_settings_stay_as_they_were(name):
    game = kuhn(2)
    form, tree = game.sequence_form, game.tree
    inputs = [*form.arrays[:-1], form.columns, form.payoffs, tree.parent, tree.payoffs.table]
    before, settings = [array.tobytes() for array in inputs], repr(ALL[name])
    ALL[name].prepare(game)
    first = run(ALL[name], game, 100)
    assert [array.tobytes() for array in inputs] == before
    assert repr(ALL[name]) == settings
    np.testing.assert_array_equal(run(ALL[name], game, 100).average, first.average)


def test_draws_of_chance_follow_its_probabilities():
    """Each outcome gets its share of evenly spaced draws, and 0 never falls short."""
    sampling = importlib.import_module("eqbench.solvers.cfr.sampling")
    cumulative = np.array([0.0, 0.1, 0.4, 0.4, 1.0])
    draws = [int(sampling.draw_outcome(cumulative, 1, 5, u)) for u in (np.arange(1000) + 0.5) / 1e3]
    assert np.bincount(draws).tolist() == [0, 100, 300, 0, 600]
    shares = np.array([0.5, 0.0, 0.5])
    assert [int(sampling.draw_action(shares, 7, 10, u)) for u in (0.0, 0.49, 0.5, 1.0)] == [
        7,
        7,
        9,
        9,
    ]


def test_importing_the_plugin_loads_nothing_heavy():
    program = "import sys, eqbench.solvers.cfr; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"numba", "scipy", "pandas"}.isdisjoint(loaded)
