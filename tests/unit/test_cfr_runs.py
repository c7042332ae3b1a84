"""The CFR family as solvers: seeds, chunks, budgets, inputs that stay as they were."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cfr_cases import ALL, PLUS, cfr, kuhn, run

from eqbench.model.game import Game
from eqbench.solver import Termination


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
