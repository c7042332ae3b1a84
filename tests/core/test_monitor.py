"""The monitor: schedule, clocks, thinning of snapshots, target."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import eqbench
from eqbench.errors import ProfileError
from eqbench.solver import Limits, Monitor, MonitorReport, snapshot_points


class Clock:
    """Time that only moves when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        for name in ("perf_counter", "process_time"):
            monkeypatch.setattr(f"eqbench.model.compiled.time.{name}", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture(scope="module")
def game():
    return eqbench.load_game("kuhn2")


@pytest.fixture(scope="module")
def uniform(game):
    return eqbench.BehaviorProfile.uniform(game.tree).probabilities


def test_snapshot_points_are_a_fixed_log_schedule() -> None:
    points = list(snapshot_points())
    assert points[:10] == [1, 2, 3, 4, 6, 8, 12, 16, 23, 32]
    assert all(later / earlier <= 2 for earlier, later in itertools.pairwise(points))


@pytest.mark.parametrize("seconds_per_iteration", [1e-7, 1e-3, 0.2])
def test_due_points_do_not_depend_on_speed(game, clock: Clock, seconds_per_iteration) -> None:
    monitor = Monitor(game, Limits(timeout_s=1e9, iterations=1000), lambda report: None)
    due_points, expected_start = [], 0
    for start, count, due in monitor.chunks():
        assert start == expected_start
        expected_start = start + count
        clock.now += count * seconds_per_iteration
        if due:
            due_points.append(start + count)
    points = [point for point in snapshot_points() if point < 1000]
    assert due_points == [*points, 1000]


def test_chunks_between_snapshots_last_about_50_ms(game, clock: Clock) -> None:
    monitor = Monitor(game, Limits(timeout_s=100.0), lambda report: None)
    durations = []
    for _, count, _ in monitor.chunks():
        durations.append(count * 1e-3)
        clock.now += durations[-1]
    assert max(durations) <= 0.05 + 1e-9
    assert clock.now - 200.0 <= 0.05 + 1e-9


def test_monitor_time_is_not_the_solvers_time(game, uniform, clock: Clock) -> None:
    def slow_sink(report: MonitorReport) -> None:
        clock.now += 3.0

    monitor = Monitor(game, Limits(timeout_s=10.0), slow_sink)
    clock.now += 1.0
    monitor.snapshot(uniform, work=1)
    clock.now += 1.0
    monitor.candidate(uniform, claim="iterate")
    assert monitor.elapsed_s == pytest.approx(2.0)
    assert monitor.cpu_s == pytest.approx(2.0)
    assert monitor.overhead_s == pytest.approx(6.0)
    assert monitor.remaining_s == pytest.approx(8.0)


def test_flood_of_snapshots_costs_the_solver_no_time_and_bounded_overhead(
    game, uniform, clock: Clock
) -> None:
    reports: list[MonitorReport] = []

    def slow_sink(report: MonitorReport) -> None:
        reports.append(report)
        clock.now += 0.01

    monitor = Monitor(game, Limits(timeout_s=1e9), slow_sink)
    for work in range(1, 100_001):
        clock.now += 1e-4
        monitor.snapshot(uniform, work=work)
    assert monitor.elapsed_s == pytest.approx(10.0)
    scheduled = sum(1 for point in snapshot_points() if point <= 100_000)
    assert monitor.overhead_s <= 0.1 * 10.0 + 0.01 * (scheduled + 1)
    assert len(reports) < 200


def test_maker_of_a_dropped_snapshot_is_not_called(game, uniform, clock: Clock) -> None:
    def slow_sink(report: MonitorReport) -> None:
        clock.now += 1000.0

    monitor = Monitor(game, Limits(), slow_sink)
    made = []
    for work in range(1, 12):
        monitor.snapshot(lambda: made.append(1) or uniform, work=work)
    assert len(made) == len([1, 2, 3, 4, 6, 8])


def test_target_ends_the_chunks_at_a_scheduled_point(game, uniform, clock: Clock) -> None:
    regret = float(game.payoff_model().regrets(uniform).max())
    monitor = Monitor(game, Limits(iterations=100, target=regret * 1.01), lambda report: None)
    for start, count, due in monitor.chunks():
        if due and start + count >= 8:
            monitor.snapshot(uniform, work=start + count)
    assert monitor.work == 8
    assert monitor.termination().reason == "converged"


def test_target_zero_uses_the_whole_budget(game, clock: Clock) -> None:
    equilibrium = np.array(eqbench.BehaviorProfile.uniform(game.tree).probabilities)
    monitor = Monitor(game, Limits(iterations=50, target=0), lambda report: None)
    for start, count, due in monitor.chunks():
        if due:
            monitor.snapshot(equilibrium, work=start + count)
    assert monitor.work == 50
    assert not monitor.reached_target


def test_monitor_refuses_what_is_no_profile(game, clock: Clock) -> None:
    monitor = Monitor(game, Limits(), lambda report: None)
    with pytest.raises(ProfileError, match="frequencies"):
        monitor.candidate(np.ones(3))
    with pytest.raises(ValueError, match="'sure'"):
        monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="sure")
