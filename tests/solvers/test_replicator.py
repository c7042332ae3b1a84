"""The replicator flow: its derivatives, its trajectories, and what a run hands over."""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import bimatrix, numerical_jacobian, odd_games, plans_of
from helpers.solver_cases import run as solve
from helpers.walks import TreeWalk
from scipy.integrate import solve_ivp

import eqbench
from eqbench.errors import ProfileError, SolverUnavailableError, SpecError, UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.solver import Limits

GAMES = ["skp", "kuhn2", "rock_paper_scissors", "shapley", "jordan", "leduc"]
INTEGRATORS = ["dop853", "heyoka"]
TWO_ACTIONS = "skp(pot=3.1)"
each_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)
METHODS = [("shapley", "dop853"), (TWO_ACTIONS, "dop853"), (TWO_ACTIONS, "heyoka")]
each_method = pytest.mark.parametrize(("game", "integrator"), METHODS)


def flow_of(game: str | Game, options: str = ""):
    game = eqbench.load_game(game) if isinstance(game, str) else game
    return eqbench.load_solver(f"replicator({options})").flow(game)


def part(name: str) -> Any:
    return importlib.import_module(f"eqbench.solvers.replicator.{name}")


def a_state(flow, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(flow.choices.size)


@pytest.mark.parametrize("game", GAMES)
def test_velocity_is_the_gain_over_the_first_action(game: str) -> None:
    flow = flow_of(game, "rate=2")
    tree, state = eqbench.load_game(game).tree, a_state(flow)
    behavior, choices = flow.behavior(state), flow.choices
    BehaviorProfile.of(tree, behavior)
    assert np.abs(flow.state_of(behavior) - state).max() <= 1e-12
    velocity, walk = flow.velocity(state), TreeWalk(tree, behavior)
    worth = np.array([float(value) for values in walk.counterfactual()[1] for value in values])
    gains = worth[choices.action] - worth[choices.first]
    np.testing.assert_allclose(velocity, 2 * gains, rtol=1e-11, atol=1e-13)
    payoffs = [float(value) for value in walk.payoffs()]
    assert np.abs(flow.payoffs(state) - payoffs).max() <= 1e-13
    # what is integrated has no information sets of a single action; it moves the same way
    time = 1e-6
    moved = flow.integrate(state, np.array([0.0, time]))
    assert np.abs((moved.states[1] - state) / time - velocity).max() <= 1e-4
    assert np.abs(moved.profits[1] / time - payoffs).max() <= 1e-4


@pytest.mark.parametrize("game", [*GAMES[:5], "random_tree"])
def test_jacobians_are_derivatives_of_the_velocities(game: str) -> None:
    flow = flow_of(game)
    state = a_state(flow)
    free = flow.behavior(state)[flow.choices.action]
    by_state = numerical_jacobian(flow.velocity, state, 1e-5)
    by_frequency = numerical_jacobian(
        lambda changed: flow.frequency_velocity(flow.choices.behavior(changed)), free, 1e-5
    )
    jacobian, scale = flow.state_jacobian(state), np.abs(by_state).max()
    assert np.abs(jacobian - by_state).max() <= 1e-8 * scale
    # volumes in log-odds are preserved: a set's own frequencies do not enter its gains
    assert abs(np.trace(jacobian)) <= 1e-14 * scale * len(jacobian)
    behavior, scale = flow.choices.behavior(free), np.abs(by_frequency).max()
    error = flow.frequency_jacobian(behavior) - by_frequency
    assert np.abs(error).max() <= 1e-8 * scale


@pytest.mark.parametrize("game", ["skp", "shapley"])
@pytest.mark.parametrize("size", [1e6, 1e300])
def test_frequencies_of_huge_log_odds_are_0_and_1(game: str, size: float) -> None:
    flow = flow_of(game)
    huge = a_state(flow) * size
    assert set(flow.behavior(np.stack([huge, 0 * huge]))[0]) <= {0.0, 1.0}
    assert np.isfinite(flow.payoffs(huge)).all()


@pytest.mark.parametrize(
    ("game", "rate", "options", "factors"),
    [
        ("skp", 24, "k='P1=2'", {"P1": 2}),
        ("kuhn2", 1, "k='P1|1:=0.5; P1=3'", {"P1": 3, "P1|1:": 0.5}),
        (
            "skp",
            3,
            "k='P1=1/4 ; P3|2:KK=1e-2; P3=2.',rate=3",
            {"P1": 0.25, "P3": 2, "P3|2:KK": 0.01},
        ),
    ],
)
def test_speeds_hold_for_players_and_information_sets(game, rate, options, factors) -> None:
    plain, flow, tree = (
        flow_of(game, "rate=1"),
        flow_of(game, options),
        eqbench.load_game(game).tree,
    )
    expected = []
    for infoset in flow.choices.infoset:
        player = tree.players[tree.infoset_player[infoset]]
        own = f"{player}|{tree.infoset_labels[infoset]}"
        expected.append(rate * factors.get(own, factors.get(player, 1)))
    assert (flow.rate, flow.speed.tolist()) == (rate, expected)
    ratio = flow.velocity(a_state(flow)) / plain.velocity(a_state(flow))
    assert ratio == pytest.approx(expected, rel=1e-14)


def test_unknown_places_are_refused_with_those_known() -> None:
    with pytest.raises(UsageError, match="'P4'"):
        flow_of("skp", "k='P4=2'")
    with pytest.raises(UsageError, match=r"P3\|3:KB"):
        flow_of("skp", "k='P3|3:KBK=2'")
    result = eqbench.solve("skp", "replicator(k='P4=2')")
    assert (result.status, "P4" in result.reason) == ("unsupported", True)


def test_states_and_times_that_cannot_be_followed_are_refused() -> None:
    flow = flow_of("skp", "integrator=dop853")
    state, times = a_state(flow), np.array([0.0, 1.0])
    uniform = flow.behavior(np.zeros(flow.choices.size))
    pure = uniform.copy()
    pure[[flow.choices.action[0], flow.choices.first[0]]] = 1, 0
    with pytest.raises(UsageError, match="log-odds"):
        flow.state_of(pure)
    with pytest.raises(ProfileError):
        flow.state_of(uniform * 2)
    with pytest.raises(UsageError, match="no length"):
        flow.integrate(state, times, tangent=np.zeros_like(state))
    for wrong in (state[1:], np.full_like(state, np.nan)):
        for call in (flow.behavior, lambda x: flow.integrate(x, times)):
            with pytest.raises(UsageError, match="log-odds"):
                call(wrong)
    for wrong in (times[::-1], times[:0], np.array([0.0, np.inf]), np.array([0, 1, 1])):
        with pytest.raises(UsageError, match="ascending"):
            flow.integrate(state, wrong)


@each_method
def test_trajectory_is_that_of_scipy_also_between_steps(game: str, integrator: str) -> None:
    flow = flow_of(game, f"integrator={integrator},tolerance=1e-13")
    state, size, times = a_state(flow), flow.choices.size, np.linspace(0.0, 20.0, 401)

    def slope(_: float, vector: np.ndarray) -> np.ndarray:
        return np.concatenate((flow.velocity(vector[:size]), flow.payoffs(vector[:size])))

    start = np.concatenate((state, np.zeros(flow.payoffs(state).size)))
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-13}
    expected = solve_ivp(slope, (0.0, 20.0), start, t_eval=times, **options).y.T
    found = flow.integrate(state, times)
    ((unit, work),) = flow.statistics.items()
    assert unit == ("steps" if integrator == "heyoka" else "evaluations")
    assert 10 < work < 12 * len(times), "several times lie within a step"
    assert np.abs(found.states - expected[:, :size]).max() <= 1e-10
    assert np.abs(found.profits - expected[:, size:]).max() <= 1e-10


@each_method
def test_tangent_grows_like_a_small_displacement(game: str, integrator: str) -> None:
    flow = flow_of(game, f"integrator={integrator},tolerance=1e-13")
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


@each_integrator
def test_tangent_is_followed_beyond_the_range_of_floats(integrator: str) -> None:
    """At the uniform saddle of a game of coordination it grows or shrinks like an exponential."""
    flow = flow_of("dispersion(players=2,actions=2)", f"integrator={integrator},rate=100")
    state = np.zeros(2)
    assert not flow.velocity(state).any()
    smallest, largest = sorted(np.linalg.eigvals(flow.state_jacobian(state)).real)
    found = flow.integrate(state, np.linspace(0, 60, 601), tangent=np.array([1.0, 0.3]))
    assert found.growth[-1] > 800  # exp(709) is about the largest float
    assert np.diff(found.growth)[-1] / 0.1 == pytest.approx(largest, rel=1e-8)
    # the direction (1, 1) shrinks, between two times to less than the smallest float
    assert smallest < -10
    times = np.array([0.0, 0.5, 20.0])
    found = flow.integrate(state, times, tangent=np.ones(2))
    assert found.ending == ""
    assert found.growth == pytest.approx(smallest * times, rel=1e-8)


@each_integrator
def test_trajectory_does_not_depend_on_where_it_is_asked(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    states, often = [a_state(flow), a_state(flow, 1)], np.linspace(0, 50, 501)
    found = [flow.integrate(state, often, tangent=state) for state in states]
    seldom = flow.integrate(states[0], often[::100], tangent=states[0])
    assert np.abs(found[0].states[::100] - seldom.states).max() <= 1e-13
    assert np.abs(found[0].growth[::100] - seldom.growth).max() <= 1e-13
    # piece by piece, and two in turns
    going = [flow.start(state, 0.0, tangent=state) for state in states]
    pieces = np.array_split(often, 7)
    rows = [[one.sample(piece, lambda: False)[0] for one in going] for piece in pieces]
    for whole, own in zip(found, zip(*rows, strict=True), strict=True):
        assert np.abs(np.concatenate(own)[:, : flow.choices.size] - whole.states).max() <= 1e-13


@each_integrator
def test_log_odds_return_from_where_frequencies_leave_no_trace(integrator: str) -> None:
    # The frequencies are 1e-87 and less: nothing in a short series foretells the next switch.
    flow = flow_of("matching_pennies", f"integrator={integrator}")
    states = flow.integrate(np.array([-200.0, 100.0]), np.linspace(0.0, 3000.0, 31)).states
    constant = (2 * np.logaddexp(0, states) - states).sum(axis=1)
    # an estimate of errors that looks at a few points may miss most of a switch
    assert np.abs(constant - 300).max() <= (1e-4 if integrator == "dop853" else 1e-6)
    assert np.sum(np.diff(np.sign(states[:, 0])) != 0) >= 5, "it goes around several times"


@each_integrator
@pytest.mark.parametrize(
    ("game", "options", "times", "words", "most"),
    [
        (TWO_ACTIONS, "k='P1=1e306'", [0.0, 1e5, 1e6], ["overflowed", "rate"], 3),
        (TWO_ACTIONS, "k=''", [1e17, 2e17], ["tolerance=1e-10", "1e+17"], 1),
        (TWO_ACTIONS, "k=''", [0.0, 1e-3, 1e7], ["interrupted"], 2),
        # profits beyond 1.8e308; polynomials over a step may overflow before
        (
            bimatrix(np.full((2, 2), 1e300), np.zeros((2, 2))),
            "k=''",
            [0, 1, 1e9],
            ["overflowed"],
            2,
        ),
    ],
)
def test_trajectory_that_breaks_off_says_why(integrator, game, options, times, words, most) -> None:
    flow = flow_of(game, f"integrator={integrator},{options}")
    interrupted = "interrupted" in words
    found = flow.integrate(a_state(flow), np.array(times), interrupted=lambda: interrupted)
    assert all(word in found.ending for word in words)
    assert 1 <= len(found.times) == len(found.states) == len(found.profits) <= most
    assert found.times.tolist() == times[: len(found.times)]
    assert len(found.times) == most or not interrupted
    assert np.isfinite(np.hstack((found.states, found.profits))).all()


@each_integrator
def test_too_much_work_ends_with_a_reason(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part("flow"), "CEILING", 100)
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    found = flow.integrate(a_state(flow), np.array([0.0, 1e-3, 1e7]))
    ((unit, work),) = flow.statistics.items()
    assert found.ending.startswith(f"after {work:,} {unit} time 1e+07 was still ahead")
    assert 100 <= work < 1000
    assert found.times.tolist() == [0.0, 1e-3]


@each_integrator
def test_log_odds_that_floats_do_not_resolve_end_with_a_reason(integrator: str) -> None:
    """Beyond 1e12 floats are more than 1e-4 apart."""
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    start = a_state(flow)
    for size in (2e12, 1e300):
        start[3] = size
        found = flow.integrate(start, np.array([0.0, 1.0, 300.0]), tangent=a_state(flow, 1))
        assert "1e+12" in found.ending
        assert (found.times.tolist(), found.growth.tolist()) == ([0.0], [0.0])
        assert found.states.tolist() == [start.tolist()]
    start[3] = 1e11
    assert flow.integrate(start, np.array([0.0, 1.0])).ending == ""
    # an action that is always better by 1
    alone = flow_of(
        bimatrix([[0, 0], [1, 1]], [[0, 0], [0, 0]]), f"integrator={integrator},rate=1e10"
    )
    found = alone.integrate(np.array([0.1, 0.2]), np.array([0.0, 1.0, 90.0, 1e3, 1e4]))
    assert found.times.tolist() == [0.0, 1.0, 90.0]
    assert found.states[:, 0] == pytest.approx([0.1, 1e10, 9e11], rel=1e-9)
    assert "time 1000 " in found.ending


@pytest.mark.parametrize("integrator", ["auto", *INTEGRATORS])
def test_games_with_few_players_and_choices_are_integrated(integrator: str) -> None:
    alone = TreeBuilder(["P1"])
    root = alone.decision(None, 0, "only", ["left", "right"])
    alone.terminal((root, 0), [1])
    alone.terminal((root, 1), [2])
    solver = eqbench.load_solver(f"replicator(integrator={integrator})")
    games = [*odd_games().values(), eqbench.load_game("kuhn3"), Game("alone", alone.tree())]
    for game in [game for game in games if solver.supports(game) is True]:
        found, flow = solve(solver, game, iterations=5), solver.flow(game)
        claims = ["average", "average", "iterate"] if flow.choices.size else ["equilibrium"]
        assert found.termination.reason == ("limit" if flow.choices.size else "converged")
        assert [candidate.claim for candidate in found.candidates] == claims
        if flow.choices.size:
            statistics = found.monitor.statistics
            assert (statistics["time"], statistics["integrator"]) == (5, flow.integrator)
        trajectory = flow.integrate(np.zeros(flow.choices.size), np.array([0.0, 2.0]))
        assert trajectory.ending == ""
        assert np.isfinite(trajectory.states).all()
    # the last one gains 1 all the time
    assert trajectory.states.tolist() == [[0.0], [pytest.approx(2.0)]]


def test_heyoka_is_left_where_it_does_not_fit_or_is_no_faster() -> None:
    for game, words in (("shapley", "3 actions"), ("kuhn4", "products")):
        with pytest.raises(UsageError, match=words):
            flow_of(game, "integrator=heyoka")
    # at a few hundred products the compiled right side catches up and compiles nothing
    usual = {"shapley": "dop853", "kuhn4": "dop853", "kuhn3": "dop853", "skp": "heyoka"}
    assert {game: flow_of(game).integrator for game in usual} == usual
    assert flow_of("kuhn3", "integrator=heyoka").integrator == "heyoka"


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("", "is not installed"),
        ("import _that_is_gone", "that_is_gone"),
        ("raise OSError('x')", "x"),
    ],
)
def test_heyoka_is_optional(source, cause, tmp_path, monkeypatch) -> None:
    (tmp_path / "heyoka.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "heyoka", raising=False)
    if not source:
        monkeypatch.setitem(sys.modules, "heyoka", None)
    assert flow_of("skp").integrator == "dop853"
    with pytest.raises(SolverUnavailableError, match=cause):
        flow_of("skp", "integrator=heyoka")
    result = eqbench.solve("skp", "replicator(integrator=heyoka)")
    assert (result.status, "[ode]" in result.reason) == ("unavailable", True)


def test_average_is_that_of_realization_plans() -> None:
    """Against the mean over a fine grid of the trajectory itself."""
    game = eqbench.load_game("kuhn2")
    flow, times = flow_of(game), np.linspace(0, 40, 4001)
    found = flow.behavior(flow.integrate(np.zeros(flow.choices.size), times).states)
    plans = np.array([plans_of(game, row) for row in found])
    handed = [each.profile for each in solve("replicator", game, iterations=40).candidates]
    for profile, since in zip(handed, (20, 0), strict=False):
        inside = plans[times >= since - 1e-9]
        mean = np.trapezoid(inside, dx=0.01, axis=0) / (40 - since)
        plan = plans_of(game, profile.probabilities)
        # one state of a unit of time is taken; what is left comes from the two ends
        assert np.abs(plan - mean).max() <= 5e-4
    assert np.abs(handed[0].probabilities - handed[1].probabilities).max() > 0.01
    assert np.abs(handed[2].probabilities - found[-1]).max() <= 1e-8


@pytest.mark.parametrize(
    ("game", "options", "time_s", "status", "word"),
    [
        ("skp", "k='P1=1e306'", 5, "failed", "overflowed"),
        ("skp", "rate=1e9", 0.3, "limit", "lower the rate"),  # a unit of time takes forever
        (bimatrix([[0, 0], [1, 1]], [[0, 0], [1, 1]]), "rate=1e12", 600, "failed", "beyond 1e+12"),
    ],
)
def test_run_that_breaks_off_keeps_what_it_has(game, options, time_s, status, word) -> None:
    result = eqbench.solve(game, f"replicator({options})", Limits(timeout_s=time_s, target=0))
    assert (result.status, word in result.reason) == (status, True)
    assert status == "failed" or result.iterations == 0
    assert result.max_regret is not None


@pytest.mark.parametrize(("factor", "rate"), [(1, 1), (100, 1), (1, 100)])
def test_averages_keep_their_promise_however_fast_the_game_is(factor: int, rate: int) -> None:
    """Regret over the payoff range falls like the inverse of time times speed."""
    payoffs = factor * np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    game = bimatrix(payoffs.tolist(), (-payoffs).tolist())
    for units in (20, 200):
        budget = Limits(timeout_s=600, iterations=units, target=0)
        result = eqbench.solve(game, f"replicator(start=random,rate={rate})", budget)
        assert result.max_regret / factor * units * factor * rate <= 12


@pytest.mark.parametrize("game", [*GAMES, "random_tree"])
def test_no_gain_exceeds_its_bound(game: str) -> None:
    flow, rng = flow_of(game, "rate=1"), np.random.default_rng(0)
    bounds = part("flow").gain_bounds(eqbench.load_game(game).tree)[flow.choices.infoset]
    states = rng.normal(0, 30, (100, flow.choices.size))
    gains = np.abs([flow.velocity(state) for state in states])
    share = gains / np.repeat(bounds, np.diff(flow.choices.start))
    assert 0.5 <= np.max(share) <= 1 + 1e-12


# -- repeated play with a limited memory -----------------------------------------------------------


def play(game, state, times, *, memory=1, hand_time=0.01, rate=1.0, seed=0, **options):
    """A trajectory of repeated play."""
    kind = type(eqbench.load_solver("replicator"))
    table = kind(rate=rate, hand_time=hand_time).hand_by_hand(game, memory)
    rng = np.random.default_rng(seed)
    return table.play(np.array(state, dtype=float), np.array(times, dtype=float), rng, **options)


@pytest.fixture
def two_steps():
    """One player: stop for 0, or go on to 1 or 3."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["stop", "go"])
    builder.terminal((root, 0), [0])
    later = builder.decision((root, 1), 0, "second", ["left", "right"])
    for move, payoff in enumerate((1, 3)):
        builder.terminal((later, move), [payoff])
    return Game("two_steps", builder.tree())


@pytest.mark.parametrize("rate", [1.0, 24.0])
def test_without_opponents_play_is_eulers_method(two_steps, rate):
    """Own behavior is known, so nothing is estimated; the first gain follows the second choice."""
    times = np.arange(41) * 0.25
    found = play(two_steps, [-1.0, 0.5], times, hand_time=0.25, memory=3, rate=rate)
    expected = np.empty((41, 2))
    expected[0] = -1.0, 0.5
    for k in range(40):
        right = 1 / (1 + np.exp(-expected[k, 1]))
        expected[k + 1] = expected[k] + 0.25 * rate * np.array([1 + 2 * right, 2.0])
    np.testing.assert_allclose(found.states, expected, rtol=1e-13)
    # by default a hundredth of a unit of time is remembered, so one hand of 50 takes 0.0002
    found = play(two_steps, [0.0, 0.0], [0, 0.0002], memory=50, hand_time=None, rate=rate)
    np.testing.assert_allclose(found.states[1], [0.0004 * rate, 0.0004 * rate], rtol=1e-12)


@pytest.mark.parametrize("memory", [1, 4, 7])
def test_estimates_are_shares_of_the_remembered_hands(memory):
    """In matching pennies the gain is 2 (1 - 2 q), and a share q is a multiple of 1 / memory."""
    game = eqbench.load_game("matching_pennies")
    found = play(game, [0.2, -0.3], np.arange(400) * 0.01, memory=memory)
    gains = np.abs(np.diff(found.states, axis=0)) / 0.01
    counted = memory * (1 - gains / 2) / 2
    np.testing.assert_allclose(counted, np.rint(counted), atol=1e-9)
    assert len(np.unique(np.rint(counted))) == memory // 2 + 1


def test_where_nothing_is_seen_the_start_is_believed():
    """P2 plays large with 3/4 but is never asked, so P1 goes on expecting 7/4."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "first", ["out", "in"])
    builder.terminal((root, 0), [0, 0])
    answer = builder.decision((root, 1), 1, "answer", ["small", "large"])
    for move, payoffs in enumerate(([1, 1], [2, 0])):
        builder.terminal((answer, move), payoffs)
    game = Game("rare_opponent", builder.tree())
    found = play(game, [-60.0, np.log(3)], [0, 1.0, 2.0], memory=5)
    np.testing.assert_allclose(found.states[:, 0], [-60, -58.25, -56.5], rtol=1e-13)
    np.testing.assert_array_equal(found.states[:, 1], np.log(3))


@pytest.mark.parametrize("spec", ["skp(pot=3.1)", "shapley", "leduc"])
def test_hands_are_drawn_from_chance_and_behavior(spec):
    """With behavior at rest, winnings are within five standard errors of expected payoffs."""
    game = eqbench.load_game(spec)
    choices = Choices.of(game.tree)
    behavior = random_profile(game.tree, np.random.default_rng(3))
    state = np.log(behavior[choices.action] / behavior[choices.first])
    number = 8_000
    found = play(game, state, np.arange(number + 1.0), rate=1e-300, hand_time=1.0)
    won = np.diff(found.profits, axis=0)
    error = won.std(axis=0) / np.sqrt(number)
    expected = game.payoff_model().expected_payoffs(behavior)
    assert np.all(np.abs(won.mean(axis=0) - expected) <= 5 * error)
    assert np.all(error > 0)


def test_a_hand_of_no_time_gives_the_flow():
    """Noise is of the order of the root of the time of a hand, at any fixed memory."""
    game = eqbench.load_game("skp(pot=3.1)")
    flow = eqbench.load_solver("replicator(integrator=dop853)").flow(game)
    start, times = np.random.default_rng(0).normal(size=11), np.linspace(0, 5, 21)
    expected, distances = flow.behavior(flow.integrate(start, times).states), []
    for hand_time in (1e-2, 1e-3, 1e-4):
        found = play(game, start, times, memory=20, hand_time=hand_time, rate=24.0)
        played = flow.behavior(found.states)
        distances.append(np.sqrt(np.mean((played - expected) ** 2)))
    assert distances[0] > 0.03
    assert all(later < 0.75 * earlier for earlier, later in pairwise(distances))
    assert distances[-1] < 0.05


def test_same_seed_gives_the_same_play_wherever_it_is_looked_at():
    game = eqbench.load_game("kuhn3")
    start = np.zeros(Choices.of(game.tree).size)
    fine = play(game, start, np.linspace(0, 50, 51), memory=10)
    coarse = play(game, start, [0, 50.0], memory=10)
    other = play(game, start, [0, 50.0], memory=10, seed=1)
    np.testing.assert_array_equal(fine.states[-1], coarse.states[-1])
    np.testing.assert_array_equal(fine.profits[-1], coarse.profits[-1])
    assert not np.array_equal(other.states[-1], coarse.states[-1])


def test_interrupted_play_keeps_what_it_reached(two_steps):
    game = eqbench.load_game("matching_pennies")
    asked = iter([False] * 4)  # once while the memory is filled
    found = play(game, [0.1, 0.1], np.arange(10.0), interrupted=lambda: next(asked, True))
    np.testing.assert_array_equal(found.times, [0, 1, 2, 3])
    assert found.states.shape == found.profits.shape == (4, 2)
    assert "time 3 of 9" in found.ending
    # not even the memory need be filled
    asked = iter([False] * 2)
    stopped = {"memory": 100_000, "interrupted": lambda: next(asked, True)}
    found = play(two_steps, [0.0, 0.0], [0, 1.0], **stopped)
    assert (found.times.tolist(), "interrupted" in found.ending) == ([0], True)


@pytest.mark.parametrize(("rate", "start"), [(1e15, 0.0), (1e308, 0.0), (1.0, 2e12)])
def test_play_beyond_what_floats_resolve_ends_with_a_reason(two_steps, rate, start):
    found = play(two_steps, [0.0, start], np.arange(5.0), rate=rate, hand_time=1.0)
    assert "1e+12" in found.ending
    assert found.states.tolist() == [[0.0, start]]


@pytest.mark.parametrize(
    ("name", "values", "kind", "words"),
    [
        ("state", [[0.0], [0.0] * 3, [[0.0, 0.0]], [0.0, np.nan]], UsageError, "2 finite log-odds"),
        ("times", [[], [0, 1, 0.5], [0, np.nan], [0, np.inf], [[0.0]]], UsageError, "ascending"),
        ("memory", [0, -3, 2.5, np.inf, np.nan], UsageError, "memory=.* at least 1"),
        ("hand_time", [0.0, -1.0, np.inf, np.nan], SpecError, "positive, finite"),
        ("hand_time", [1e-20], UsageError, r"1e\+20 hands .* longer hand_time"),
    ],
)
def test_what_cannot_be_played_is_refused(two_steps, name, values, kind, words):
    for value in values:
        with pytest.raises(kind, match=words):
            play(two_steps, **({"state": [0.0, 0.0], "times": [0, 1.0]} | {name: value}))
