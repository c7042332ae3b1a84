"""The replicator flow: its derivatives, what it conserves, and how integrations end."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
import pytest

import eqbench
from eqbench.errors import ProfileError, SpecError, UsageError
from eqbench.model.profile import BehaviorProfile

GAMES = ["skp", "kuhn2", "rock_paper_scissors", "shapley", "jordan", "leduc"]
INTEGRATORS = ["dop853", "lsoda", "heyoka"]
TWO_ACTIONS = "skp(pot=3.1)"


def flow_of(game: str, options: str = ""):
    return eqbench.load_solver(f"replicator({options})").flow(eqbench.load_game(game))


def part(name: str) -> ModuleType:
    return importlib.import_module(f"eqbench.solvers.replicator.{name}")


def a_state(flow, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(flow.choices.size)


@pytest.mark.parametrize("game", GAMES)
def test_velocity_is_the_gain_over_the_first_action(game: str) -> None:
    flow = flow_of(game, "rate=2")
    loaded, state = eqbench.load_game(game), a_state(flow)
    behavior = flow.behavior(state)
    BehaviorProfile.of(loaded.tree, behavior)
    assert np.abs(flow.state_of(behavior) - state).max() <= 1e-12
    model = loaded.payoff_model()
    values = model.counterfactual_values(behavior)
    gains = 2 * (values[flow.choices.action] - values[flow.choices.first])
    assert np.abs(flow.velocity(state) - gains).max() <= 1e-13
    assert np.abs(flow.payoffs(state) - model.expected_payoffs(behavior)).max() <= 1e-13
    # what is integrated has no information sets of a single action; it moves the same way
    time = 1e-6
    moved = flow.integrate(state, np.array([0.0, time]))
    assert np.abs((moved.states[1] - state) / time - gains).max() <= 1e-4
    assert np.abs(moved.profits[1] / time - flow.payoffs(state)).max() <= 1e-4


@pytest.mark.parametrize("game", GAMES[:5])
def test_jacobians_are_derivatives_of_the_velocities(game: str) -> None:
    flow = flow_of(game)
    state, step = a_state(flow), 1e-6
    free = flow.behavior(state)[flow.choices.action]
    by_state, by_frequency = [], []
    for unit in np.eye(len(state)) * step:
        ahead, behind = flow.velocity(state + unit), flow.velocity(state - unit)
        by_state.append((ahead - behind) / (2 * step))
        ahead, behind = (
            flow.frequency_velocity(flow.choices.behavior(free + shift)) for shift in (unit, -unit)
        )
        by_frequency.append((ahead - behind) / (2 * step))
    scale = np.abs(by_state).max()
    assert np.abs(flow.state_jacobian(state) - np.transpose(by_state)).max() <= 1e-8 * scale
    behavior, scale = flow.choices.behavior(free), np.abs(by_frequency).max()
    error = flow.frequency_jacobian(behavior) - np.transpose(by_frequency)
    assert np.abs(error).max() <= 1e-8 * scale


@pytest.mark.parametrize("game", [*GAMES[:5], "kuhn3", "random_tree"])
def test_volume_in_log_odds_is_preserved(game: str) -> None:
    """A set's own frequencies do not enter the gains of its actions, so the trace is zero."""
    flow = flow_of(game)
    for seed in range(5):
        jacobian = flow.state_jacobian(3 * a_state(flow, seed))
        assert abs(np.trace(jacobian)) <= 1e-14 * np.abs(jacobian).max() * len(jacobian)


def test_frequencies_on_the_boundary_stay_there() -> None:
    flow = flow_of("kuhn2")
    pure = flow.choices.behavior(np.array([0.0, 1.0] * (flow.choices.size // 2)))
    assert not flow.frequency_velocity(pure).any()
    jacobian = flow.frequency_jacobian(pure)
    assert np.isfinite(jacobian).all()
    # at a pure profile each frequency feels only itself
    assert np.array_equal(jacobian, np.diag(np.diag(jacobian)))
    assert jacobian.any()


def test_frequencies_of_huge_log_odds_are_0_and_1() -> None:
    for game in ("skp", "shapley"):
        flow = flow_of(game)
        for size in (1e6, 1e300):
            behavior = flow.behavior(np.stack([a_state(flow) * size, np.zeros(flow.choices.size)]))
            assert set(behavior[0]) <= {0.0, 1.0}
            assert np.isfinite(flow.payoffs(a_state(flow) * size)).all()


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
    assert found.growth[0] == pytest.approx(0, abs=1e-15)
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


@pytest.mark.parametrize("integrator", ["dop853", "heyoka"])
def test_trajectory_does_not_depend_on_where_it_is_asked(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    state, often = a_state(flow), np.linspace(0, 50, 501)
    seldom = flow.integrate(state, often[::100], tangent=state)
    found = flow.integrate(state, often, tangent=state)
    assert np.abs(found.states[::100] - seldom.states).max() <= 1e-13
    assert np.abs(found.growth[::100] - seldom.growth).max() <= 1e-13
    going = flow.start(state, often[:1], tangent=state)
    rows = [going.sample(piece, lambda: False).rows for piece in np.array_split(often, 7)]
    assert np.abs(np.concatenate(rows)[:, : len(state)] - found.states).max() <= 1e-13


@pytest.mark.parametrize("integrator", ["dop853", "lsoda"])
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
    assert np.abs(constant - 300).max() <= 1e-6
    assert np.sum(np.diff(np.sign(states[:, 0])) != 0) >= 5, "it goes around several times"


def test_speeds_hold_for_players_and_information_sets() -> None:
    plain, other = flow_of("kuhn2"), flow_of("kuhn2", "k='P1|1:=0.5; P1=3'")
    state, tree = a_state(plain), eqbench.load_game("kuhn2").tree
    ratio = other.velocity(state) / plain.velocity(state)
    for value, infoset in zip(ratio, plain.choices.infoset, strict=True):
        first = tree.infoset_player[infoset] == 0
        expected = 0.5 if first and tree.infoset_labels[infoset] == "1:" else 3 if first else 1
        assert value == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("k='P1'", "SPEED"),
        ("k='P1=fast'", "SPEED"),
        ("k='P1=0'", "speed > 0"),
        ("k='P1=inf'", "speed > 0"),
        ("rate=0", "rate"),
        ("tolerance=1e-17", "rounding"),
        ("window=0", "window"),
        ("window=1.5", "window"),
        ("integrator=euler", "dop853"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        eqbench.load_solver(f"replicator({options})")


def test_unknown_places_are_refused_with_those_known() -> None:
    with pytest.raises(UsageError, match=r"'P4'.*did you mean.*P1"):
        flow_of("skp", "k='P4=2'")
    with pytest.raises(UsageError, match=r"P3\|3:KB"):
        flow_of("skp", "k='P3|3:KBK=2'")
    result = eqbench.solve("skp", "replicator(k='P4=2')")
    assert (result.status, "P4" in result.reason) == ("unsupported", True)


def test_heyoka_refuses_games_that_it_is_not_made_for() -> None:
    with pytest.raises(UsageError, match="3 actions"):
        flow_of("shapley", "integrator=heyoka")
    with pytest.raises(UsageError, match="products"):
        flow_of("kuhn4", "integrator=heyoka")
    assert flow_of("shapley").integrator == flow_of("kuhn4").integrator == "dop853"
    assert flow_of("skp").integrator == "heyoka"


def test_heyoka_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("taylor", "choice"):
        monkeypatch.setattr(part(name), "is_installed", lambda: False)
    assert flow_of("skp").integrator == "dop853"
    result = eqbench.solve("skp", "replicator(integrator=heyoka)")
    assert result.status == "unavailable"
    assert "eqbench[ode]" in result.reason


def test_states_and_times_that_cannot_be_followed_are_refused() -> None:
    flow = flow_of("skp", "integrator=dop853")
    state, times = a_state(flow), np.array([0.0, 1.0])
    uniform = flow.behavior(np.zeros(flow.choices.size))
    pure = uniform.copy()
    pure[[flow.choices.action[0], flow.choices.first[0]]] = 1, 0
    with pytest.raises(UsageError, match="log-odds are infinite"):
        flow.state_of(pure)
    with pytest.raises(ProfileError):
        flow.state_of(uniform * 2)
    for wrong in (state[1:], np.full_like(state, np.nan)):
        with pytest.raises(UsageError, match="log-odds"):
            flow.integrate(wrong, times)
        with pytest.raises(UsageError, match="log-odds"):
            flow.behavior(wrong)
    for wrong in (times[::-1], times[:0], np.array([0.0, np.inf])):
        with pytest.raises(UsageError, match="ascending"):
            flow.integrate(state, wrong)
    with pytest.raises(UsageError, match="no length"):
        flow.integrate(state, times, tangent=np.zeros_like(state))


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_overflow_ends_with_its_reason_and_what_was_reached(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator},k='P1=1e306'")
    found = flow.integrate(a_state(flow), np.array([0.0, 1e5, 1e6]))
    # LSODA has the same code for this as for steps that are too short
    assert ("resolve" if integrator == "lsoda" else "overflowed") in found.ending
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
def test_too_many_steps_end_with_a_reason(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"heyoka": "taylor"}.get(integrator, integrator)
    monkeypatch.setattr(part(module), "CEILING", 100)
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    found = flow.integrate(a_state(flow), np.array([0.0, 0.1, 1e5]))
    assert "steps were made" in found.ending
    assert found.times.tolist() == [0.0, 0.1]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_interrupted_trajectory_keeps_what_it_has(integrator: str) -> None:
    flow = flow_of(TWO_ACTIONS, f"integrator={integrator}")
    found = flow.integrate(a_state(flow), np.array([0.0, 1e-3, 1e7]), interrupted=lambda: True)
    assert found.ending == "interrupted"
    assert found.times.tolist() == [0.0, 1e-3]
