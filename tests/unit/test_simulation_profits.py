"""Average payoffs over windows of time, and how far they are from published equilibria."""

from __future__ import annotations

import numpy as np
import pytest

import eqbench
from eqbench.studies.extremes import KnownPayoffs
from eqbench.studies.flow.simulate import windows_of


def test_windows_double_and_the_last_tenth_comes_last() -> None:
    times = np.linspace(0, 512, 5121)
    found = [(times[window.first], times[window.last]) for window in windows_of(times)]
    doubling = [(2.0**k, 2.0 ** (k + 1)) for k in range(1, 9)]
    assert found == pytest.approx(np.array([*doubling, (460.8, 512)]))


def test_windows_with_few_points_are_left_out() -> None:
    assert [tuple(window) for window in windows_of(np.linspace(0, 1, 101))] == [
        (25, 50),
        (50, 100),
    ]
    assert windows_of(np.linspace(0, 1, 11)) == []
    assert windows_of(np.zeros(1)) == []


def test_windows_are_measured_from_the_first_time() -> None:
    assert windows_of(np.linspace(7, 8, 101)) == windows_of(np.linspace(0, 1, 101))


def test_payoffs_over_a_window_are_the_slope_of_profits() -> None:
    times = np.linspace(0, 10, 1001)
    profits = np.column_stack((times**2, -3 * times))
    last = windows_of(times)[-2]
    # the mean of 2 t over [5, 10]
    assert last.payoffs(times, profits) == pytest.approx([15, -3])


def test_payoffs_of_a_solution_agree_with_it_and_with_no_other_one() -> None:
    """Three solutions of SKP exist together at a pot of 3.35 (Billingham 2017, section 3)."""
    known = KnownPayoffs.of(eqbench.load_game("skp(pot=3.35)"))
    assert list(known.ranges) == ["skp:2", "skp:3", "skp:4"]
    for name, payoffs in known.ranges.items():
        tolerance = known.tolerances[name]
        assert 0 < tolerance <= 0.01 * np.abs(payoffs).max()
        rows = [payoffs[:, 0] + shift * tolerance for shift in (0, 0.99, 1.01)]
        beside = {item["name"]: item["agrees"] for item in known.beside(rows)}
        assert beside.pop(name) == [0, 1]
        assert set(map(tuple, beside.values())) == {()}
        nearest = known.nearest(rows[2])
        assert nearest["nearest"] == [name]
        assert nearest["gap"] == pytest.approx(1.01 * tolerance)
        assert nearest["gap_share"] == pytest.approx(nearest["gap"] / np.abs(payoffs).max())


def test_payoffs_that_vary_within_a_set_are_ranges() -> None:
    """Between players 2 and 3 up to 1/96 moves in three-player Kuhn poker (Szafron 2013)."""
    game = eqbench.load_game("kuhn3")
    known = KnownPayoffs.of(game)
    widest = max((payoffs[2] for payoffs in known.ranges.values()), key=np.ptp)
    assert np.ptp(widest) > 0.01
    inside = np.array([payoffs.mean(axis=1) for payoffs in known.ranges.values()])
    for name, row in zip(known.ranges, inside, strict=True):
        assert known.gaps(row)[name] == 0
    # sets that touch do not make tolerances vanish
    for name, payoffs in known.ranges.items():
        assert known.tolerances[name] == pytest.approx(0.01 * np.abs(payoffs).max())


def test_tolerances_separate_sets_but_not_by_rounding() -> None:
    payoffs = np.array([[0.1, 0.1], [-2.0, 1.0]])

    def found(*sets: np.ndarray) -> list[float]:
        return list(
            KnownPayoffs({str(i): each for i, each in enumerate(sets)}, 1e-9).tolerances.values()
        )

    assert found(payoffs) == pytest.approx([0.02])
    assert found(payoffs, 10 * payoffs + 9) == pytest.approx([0.02, 0.19])
    assert found(payoffs, payoffs + np.array([[0.01], [0]])) == pytest.approx([0.005, 0.005])
    # at the ends of their ranges of the pot two sets have the same payoffs
    assert found(payoffs, payoffs + 1e-16) == pytest.approx([0.02, 0.02])
    # nothing is a share of payoffs that are 0 but for rounding
    assert found(1e-17 * payoffs) == [0]


def test_sets_with_the_same_payoffs_are_equally_near() -> None:
    payoffs = {"one": np.ones((2, 2)), "other": np.ones((2, 2)) + 1e-15, "far": np.zeros((2, 2))}
    known = KnownPayoffs(payoffs, 1e-9)
    nearest = known.nearest(np.array([1.0, 1.5]))
    assert nearest["nearest"] == ["one", "other"]
    assert nearest["gap"] == pytest.approx(0.5)


def test_gap_has_no_share_where_all_payoffs_are_zero() -> None:
    known = KnownPayoffs.of(eqbench.load_game("rock_paper_scissors"))
    nearest = known.nearest(np.array([0.25, -0.25]))
    assert nearest["gap"] == pytest.approx(0.25)
    assert nearest["gap_share"] is None


def test_without_published_equilibria_nothing_is_nearest() -> None:
    known = KnownPayoffs.of(eqbench.load_game("leduc"))
    assert set(known.nearest(np.zeros(2)).values()) == {None}
    assert known.beside([np.zeros(2)]) == []
