"""Statistics of times over trials, of which some are censored, by hand and against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from eqbench.report.trials import (
    FEWEST_TRIALS,
    RESAMPLES,
    bootstrap_interval,
    penalized_mean,
    quantile,
    shifted_geometric_mean,
)

INF = math.inf


def median_interval(times: list[float] | np.ndarray) -> tuple[float, float] | None:
    return bootstrap_interval(lambda drawn: quantile(drawn[0], 0.5), times)


@pytest.mark.parametrize(
    ("times", "share", "expected"),
    [
        ([3.0], 0.25, 3.0),
        ([4.0, 1.0, 2.0], 0.5, 2.0),
        ([4.0, 1.0, 2.0, 3.0], 0.25, 1.75),
        ([1.0, INF, 2.0], 0.5, 2.0),
        ([1.0, INF, 2.0, INF], 0.5, INF),  # between 2 and a time that nobody knows
        ([1.0, 2.0, INF], 1.0, INF),
        ([INF, INF], 0.5, INF),
    ],
)
def test_quantiles_count_censored_times_as_longer_than_all_others(
    times: list[float], share: float, expected: float
) -> None:
    assert quantile(times, share) == expected


def test_quantiles_of_known_times_are_those_of_numpy() -> None:
    times = np.random.default_rng(1).lognormal(size=(3, 10))
    for share in (0.0, 0.1, 0.25, 0.5, 1.0):
        assert quantile(times, share) == pytest.approx(np.quantile(times, share, axis=-1))


@pytest.mark.parametrize("trials", [FEWEST_TRIALS, 12, 301])
def test_interval_of_the_median_is_that_of_scipy(trials: int) -> None:
    times = np.random.default_rng(trials).lognormal(size=trials)
    peer = stats.bootstrap(
        (times,),
        np.median,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    assert median_interval(times) == pytest.approx(tuple(peer.confidence_interval))


def test_interval_of_many_trials_is_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.random.default_rng(2).lognormal(size=100)
    whole = median_interval(times)
    monkeypatch.setattr("eqbench.report.trials._MOST_DRAWN", 1000)
    assert median_interval(times) == pytest.approx(whole, rel=0.05)


def test_interval_is_open_where_samples_miss_the_target() -> None:
    low, high = median_interval([1.0, 2.0, 3.0, 4.0, INF, INF]) or (0.0, 0.0)
    assert (1.0 <= low < 4.0, high) == (True, INF)
    assert median_interval([INF] * 6) == (INF, INF)
    assert median_interval([1.0] * (FEWEST_TRIALS - 1)) is None


def test_missed_targets_count_twice_the_limit_in_par2_and_once_in_the_geometric_mean() -> None:
    times, limits = [1.0, INF, 4.0], [10.0, 20.0, 10.0]
    assert penalized_mean(times, limits) == (1 + 40 + 4) / 3
    by_hand = (1.01 * 20.01 * 4.01) ** (1 / 3) - 0.01
    assert shifted_geometric_mean(times, limits) == pytest.approx(by_hand)
    assert shifted_geometric_mean(times, limits) == pytest.approx(
        stats.gmean(np.array([1.0, 20.0, 4.0]) + 0.01) - 0.01
    )
    assert penalized_mean([INF], [3.0]) == 6.0
    assert shifted_geometric_mean([INF], [3.0]) == pytest.approx(3.0)
