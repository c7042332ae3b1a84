"""How trajectories of the replicator flow are integrated, agree, and end."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from solver_cases import bimatrix, odd_games

import eqbench
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import Budget

INTEGRATORS = ["dop853", "heyoka"]
TWO_ACTIONS = "skp(pot=3.1)"


def flow_of(game: str, options: str = ""):
    return eqbench.load_solver(f"replicator({options})").flow(eqbench.load_game(game))


def part(name: str) -> ModuleType:
    return importlib.import_module(f"eqbench.solvers.replicator.{name}")


def a_state(flow, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(flow.choices.size)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_tangent_grows_like_a_small_displacement(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator},tolerance=1e-13")
    state, times, step = a_state(flow), np.linspace(0, 30, 7), 1e-4
    direction = a_state(flow, 1)
    direction /= np.linalg.norm(direction)
    found = flow.integrate(state, times, tangent=5 * direction)
    ahead, behind = (
        flow.integrate(state + shift, times).states
        for shift in (step * direction, -step * direction)
    )
    displaced = (ahead - behind) / (2 * step)
    growth = np.log(np.linalg.norm(displaced, axis=1))
    assert found.growth[0] == 0
    assert np.abs(found.growth - growth).max() <= 1e-5
    assert (found.ending, len(growth)) == ("", 7)
    assert abs(found.growth[-1]) > 0.1
    last = displaced[-1] / np.linalg.norm(displaced[-1])
    assert np.abs(found.tangent - last).max() <= 1e-5


def test_tangent_is_followed_with_three_actions() -> None:
    flow = flow_of("shapley")
    state, direction = a_state(flow), a_state(flow, 1)
    found = flow.integrate(state, np.array([0.0, 1e-5]), tangent=direction)
    moved = flow.state_jacobian(state) @ direction / np.linalg.norm(direction)
    rate = moved @ direction / np.linalg.norm(direction)
    assert found.growth[1] / 1e-5 == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_growth_beyond_the_largest_float_is_followed(integrator: str) -> None:
    """At the uniform saddle of a game of coordination the tangent grows like an exponential."""
    flow = flow_of("dispersion(players=2,actions=2)", f"integrator={integrator},rate=100")
    state = np.zeros(2)
    assert not flow.velocity(state).any()
    largest = np.linalg.eigvals(flow.state_jacobian(state)).real.max()
    found = flow.integrate(state, np.linspace(0, 60, 601), tangent=np.array([1.0, 0.3]))
    assert found.growth[-1] > 800  # exp(709) is about the largest float
    rates = np.diff(found.growth) / 0.1
    assert rates[-1] == pytest.approx(largest, rel=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_tangent_that_shrinks_between_two_times_is_followed(integrator: str) -> None:
    """At the same saddle the direction (1, 1) shrinks, to less than the smallest float."""
    flow = flow_of("dispersion(players=2,actions=2)", f"integrator={integrator},rate=100")
    smallest = np.linalg.eigvals(flow.state_jacobian(np.zeros(2))).real.min()
    assert smallest < -10
    times = np.array([0.0, 0.5, 20.0])
    found = flow.integrate(np.zeros(2), times, tangent=np.ones(2))
    assert found.ending == ""
    assert found.growth == pytest.approx(smallest * times, rel=1e-8)


def test_integrators_agree() -> None:
    times = np.array([0.0, 0.37, 5.0, 20.0])
    found = []
    for integrator in INTEGRATORS:
        flow = flow_of(TWO_ACTIONS, f"integrator={integrator},tolerance=1e-12")
        found.append(flow.integrate(a_state(flow), times, tangent=a_state(flow, 1)))
        assert flow.statistics["steps" if integrator == "heyoka" else "evaluations"] > 10
    for other in found[1:]:
        assert np.abs(other.states - found[0].states).max() <= 1e-9
        assert np.abs(other.profits - found[0].profits).max() <= 1e-9
        assert np.abs(other.growth - found[0].growth).max() <= 1e-8


@pytest.mark.parametrize("game", ["shapley", "skp(pot=3.1)"])
def test_dop853_agrees_with_that_of_scipy_also_between_steps(game: str) -> None:
    flow = flow_of(game, "integrator=dop853,tolerance=1e-13")
    state, size, times = a_state(flow), flow.choices.size, np.linspace(0.0, 20.0, 401)

    def slope(_: float, vector: np.ndarray) -> np.ndarray:
        return np.concatenate((flow.velocity(vector[:size]), flow.payoffs(vector[:size])))

    start = np.concatenate((state, np.zeros(flow.payoffs(state).size)))
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
    expected = solve_ivp(slope, (0.0, 20.0), start, t_eval=times, **options).y.T
    found = flow.integrate(state, times)
    assert flow.statistics["evaluations"] < 12 * len(times), "several times lie within a step"
    assert np.abs(found.states - expected[:, :size]).max() <= 1e-10
    assert np.abs(found.profits - expected[:, size:]).max() <= 1e-10


@pytest.mark.parametrize("integrator", ["dop853", "heyoka"])
def test_trajectory_does_not_depend_on_where_it_is_asked(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    state, often = a_state(flow), np.linspace(0, 50, 501)
    seldom = flow.integrate(state, often[::100], tangent=state)
    found = flow.integrate(state, often, tangent=state)
    assert np.abs(found.states[::100] - seldom.states).max() <= 1e-13
    assert np.abs(found.growth[::100] - seldom.growth).max() <= 1e-13
    going = flow.start(state, 0.0, tangent=state)
    rows = [going.sample(piece, lambda: False)[0] for piece in np.array_split(often, 7)]
    assert np.abs(np.concatenate(rows)[:, : len(state)] - found.states).max() <= 1e-13


@pytest.mark.parametrize("integrator", ["dop853"])
def test_rock_paper_scissors_conserves_the_product_of_frequencies(integrator: str) -> None:
    """Hofbauer and Sigmund 1998, §11.2: with zero sum, weighed by the interior equilibrium."""
    flow = flow_of("rock_paper_scissors", f"integrator={integrator},tolerance=1e-12")
    times = np.linspace(0, 1000, 21)
    found = flow.integrate(a_state(flow), times)
    conserved = np.log(flow.behavior(found.states)).sum(axis=1)
    assert np.abs(conserved - conserved[0]).max() <= 1e-8
    assert np.ptp(found.states, axis=0).min() > 1


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_log_odds_return_from_where_frequencies_leave_no_trace(integrator: str) -> None:
    # The frequencies are 1e-87 and less: nothing in a short series foretells the next switch.
    flow = flow_of("matching_pennies", f"integrator={integrator}")
    states = flow.integrate(np.array([-200.0, 100.0]), np.linspace(0.0, 3000.0, 31)).states
    constant = (2 * np.logaddexp(0, states) - states).sum(axis=1)
    # an estimate of errors that looks at a few points may miss most of a switch
    assert np.abs(constant - 300).max() <= (1e-4 if integrator == "dop853" else 1e-6)
    assert np.sum(np.diff(np.sign(states[:, 0])) != 0) >= 5, "it goes around several times"


def test_heyoka_is_left_where_it_does_not_fit_or_is_no_faster() -> None:
    with pytest.raises(UsageError, match="3 actions"):
        flow_of("shapley", "integrator=heyoka")
    with pytest.raises(UsageError, match="products"):
        flow_of("kuhn4", "integrator=heyoka")
    assert flow_of("shapley").integrator == flow_of("kuhn4").integrator == "dop853"
    assert flow_of("skp").integrator == "heyoka"
    # at a few hundred products the compiled right side catches up and compiles nothing
    assert flow_of("kuhn3").integrator == "dop853"
    assert flow_of("kuhn3", "integrator=heyoka").integrator == "heyoka"
    assert flow_of("kuhn2").integrator == "heyoka"


def test_heyoka_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "heyoka", None)
    assert flow_of("skp").integrator == "dop853"
    result = eqbench.solve("skp", "replicator(integrator=heyoka)")
    assert result.status == "unavailable"
    assert "installed" in result.reason
    assert "eqbench[ode]" in result.reason


@pytest.mark.parametrize(
    ("source", "cause"),
    [("import _of_a_library_that_is_gone", "that_is_gone"), ("raise OSError('no .so')", "no .so")],
)
def test_heyoka_that_cannot_be_imported_counts_as_missing(
    source: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "heyoka.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "heyoka", raising=False)
    assert flow_of("skp").integrator == "dop853"
    with pytest.raises(SolverUnavailableError, match=cause):
        flow_of("skp", "integrator=heyoka")
    assert eqbench.solve("skp", "replicator(integrator=heyoka)").status == "unavailable"


@pytest.mark.parametrize("tangent", [False, True])
def test_heyoka_compiles_once_for_all_trajectories(
    tangent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, equations = [], part("integrators").equations
    monkeypatch.setattr(
        part("integrators"), "equations", lambda *a, **k: built.append(1) or equations(*a, **k)
    )
    flow, times = flow_of(TWO_ACTIONS, "integrator=heyoka"), np.linspace(1.0, 9.0, 5)
    starts = [a_state(flow, seed) for seed in range(3)]
    found = [flow.integrate(s, times, tangent=s if tangent else None) for s in starts]
    assert len(built) == 1
    for state, one in zip(starts, found, strict=True):
        fresh = flow_of(TWO_ACTIONS, "integrator=heyoka")
        alone = fresh.integrate(state, times, tangent=state if tangent else None)
        assert np.array_equal(alone.states, one.states)
        assert np.array_equal(alone.profits, one.profits)
        assert not tangent or np.array_equal(alone.growth, one.growth)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_integrations_may_be_interleaved(integrator: str) -> None:
    flow, times = flow_of(TWO_ACTIONS, f"integrator={integrator}"), np.linspace(0.0, 9.0, 10)
    alone = [flow.integrate(a_state(flow, seed), times).states for seed in (0, 1)]
    going = [flow.start(a_state(flow, seed), 0.0) for seed in (0, 1)]
    for k in range(len(times)):
        for one, states in zip(going, alone, strict=True):
            row = one.sample(times[k : k + 1], lambda: False)[0][0]
            assert np.abs(row[: flow.choices.size] - states[k]).max() <= 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_overflow_ends_with_its_reason_and_what_was_reached(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator},k='P1=1e306'")
    found = flow.integrate(a_state(flow), np.array([0.0, 1e5, 1e6]))
    assert "overflowed" in found.ending
    assert "rate" in found.ending
    assert len(found.times) == len(found.states) == len(found.profits) >= 1
    assert np.isfinite(found.states).all()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_that_time_cannot_resolve_end_with_a_reason(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    found = flow.integrate(a_state(flow), np.array([1e17, 2e17]))
    assert "tolerance=1e-10" in found.ending
    assert "1e+17" in found.ending
    assert found.times.tolist() == [1e17]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_too_much_work_ends_with_a_reason(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part("flow"), "CEILING", 100)
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    found = flow.integrate(a_state(flow), np.array([0.0, 1e-3, 1e7]))
    ((unit, work),) = flow.statistics.items()
    assert found.ending.startswith(f"after {work:,} {unit} time 1e+07 was still ahead")
    assert work >= 100
    assert found.times.tolist() == [0.0, 1e-3]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_log_odds_that_floats_do_not_resolve_end_with_a_reason(integrator: str) -> None:
    """Beyond 1e12 floats are more than 1e-4 apart."""
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    start = a_state(flow)
    for size in (2e12, 1e300):
        start[3] = size
        found = flow.integrate(start, np.array([0.0, 1.0, 300.0]), tangent=a_state(flow, 1))
        assert "beyond 1e+12" in found.ending
        assert found.times.tolist() == [0.0]
        assert found.states.tolist() == [start.tolist()]
        assert found.growth.tolist() == [0.0]
    start[3] = 1e11
    assert flow.integrate(start, np.array([0.0, 1.0])).ending == ""
    # an action that is always better by 1
    alone = eqbench.load_solver(f"replicator(integrator={integrator},rate=1e10)").flow(
        bimatrix([[0, 0], [1, 1]], [[0, 0], [0, 0]])
    )
    found = alone.integrate(np.array([0.1, 0.2]), np.array([0.0, 1.0, 90.0, 1e3, 1e4]))
    assert found.times.tolist() == [0.0, 1.0, 90.0]
    assert found.states[:, 0] == pytest.approx([0.1, 1e10, 9e11], rel=1e-9)
    assert "at time 1000 " in found.ending


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_profits_that_overflow_end_with_a_reason(integrator: str) -> None:
    game = bimatrix(np.full((2, 2), 1e300), np.zeros((2, 2)))
    flow = eqbench.load_solver(f"replicator(integrator={integrator})").flow(game)
    found = flow.integrate(np.zeros(2), np.array([0.0, 1e3, 5e7, 1e9, 2e9]))
    assert "overflowed" in found.ending
    # the largest float is 1.8e308; polynomials over a step may overflow before
    assert 1 <= len(found.times) <= 3
    assert found.profits[:, 0] == pytest.approx(1e300 * found.times)
    assert np.isfinite(found.states).all()


def test_steep_starts_are_no_overflow() -> None:
    usual, fast = flow_of("skp", "rate=1"), flow_of("skp", "integrator=dop853,rate=1e200")
    state, times = a_state(usual), np.linspace(0.0, 1.0, 3)
    found = fast.integrate(state, times * 1e-200)
    assert found.ending == ""
    assert np.abs(found.states - usual.integrate(state, times).states).max() <= 1e-8


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_interrupted_trajectory_keeps_what_it_has(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    found = flow.integrate(a_state(flow), np.array([0.0, 1e-3, 1e7]), interrupted=lambda: True)
    assert found.ending == "interrupted"
    assert found.times.tolist() == [0.0, 1e-3]


def test_dop853_asks_soon_after_many_short_samples() -> None:
    flow = flow_of(TWO_ACTIONS, "integrator=dop853")
    going = flow.start(a_state(flow), 0.0)
    for k in range(40):
        assert going.sample(np.array([1e-3 * (k + 1)]), lambda: False)[2] == ""
    before = going.work
    assert going.sample(np.array([1e7]), lambda: True)[2] == "interrupted"
    assert going.work - before < 1000


def test_dop853_asks_more_often_where_steps_become_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        now, tick = 0.0, 0.0

        def perf_counter(self) -> float:
            self.now += self.tick
            return self.now

    clock, work = Clock(), []
    monkeypatch.setattr(part("integrators"), "time", clock)
    flow = flow_of(TWO_ACTIONS, "integrator=dop853")
    going = flow.start(a_state(flow), 0.0)

    def interrupted() -> bool:
        work.append(going.work)
        clock.tick = 0.0 if len(work) < 10 else 1.0
        return len(work) == 30

    assert going.sample(np.array([1e7]), interrupted)[2] == "interrupted"
    between = np.diff(work)
    assert between.max() > 1000
    assert between[-1] < 100


@pytest.mark.parametrize("integrator", ["auto", *INTEGRATORS])
def test_games_with_few_players_and_choices_are_integrated(integrator: str) -> None:
    alone = TreeBuilder(["P1"])
    root = alone.decision(None, 0, "only", ["left", "right"])
    alone.terminal((root, 0), [1])
    alone.terminal((root, 1), [2])
    for game in [*odd_games().values(), Game("alone", alone.tree())]:
        solver = eqbench.load_solver(f"replicator(integrator={integrator})")
        if integrator == "heyoka" and max(map(len, game.tree.infoset_actions), default=0) > 2:
            assert "3 actions" in str(solver.supports(game))
            continue
        result = eqbench.solve(game, solver, Budget(time_s=600, iterations=5, target=0))
        assert result.status in ("ok", "limit"), result.reason
        flow, times = solver.flow(game), np.array([0.0, 2.0])
        found = flow.integrate(np.zeros(flow.choices.size), times)
        assert found.ending == ""
        assert np.isfinite(found.states).all()
    # the last one gains 1 all the time
    assert found.states.tolist() == [[0.0], [pytest.approx(2.0)]]
