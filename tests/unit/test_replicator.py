"""The replicator flow: its derivatives, what it conserves, its options and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from tree_walk import TreeWalk

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.model.profile import BehaviorProfile

GAMES = ["skp", "kuhn2", "rock_paper_scissors", "shapley", "jordan", "leduc"]


def flow_of(game: str, options: str = ""):
    return eqbench.load_solver(f"replicator({options})").flow(eqbench.load_game(game))


def a_state(flow, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(flow.choices.size)


def gain_on_the_tree(tree, behavior: np.ndarray, action: int, first: int) -> float:
    """Difference of counterfactual values: of payoffs, over what the player does to get there."""
    infoset = int(np.searchsorted(tree.action_start, action, side="right")) - 1
    actions = slice(*tree.action_start[infoset : infoset + 2])
    player, worth = tree.infoset_player[infoset], []
    for chosen in (action, first):
        changed = behavior.copy()
        changed[actions] = 0
        changed[chosen] = 1
        worth.append(TreeWalk(tree, changed).payoffs()[player])
    reach, past = 1.0, tree.infoset_parent[infoset]
    while past >= 0:
        reach *= behavior[past]
        past = tree.infoset_parent[np.searchsorted(tree.action_start, past, side="right") - 1]
    return float(worth[0] - worth[1]) / reach


@pytest.mark.parametrize("game", GAMES)
def test_velocity_is_the_gain_over_the_first_action(game: str) -> None:
    flow = flow_of(game, "rate=2")
    tree, state = eqbench.load_game(game).tree, a_state(flow)
    behavior, choices = flow.behavior(state), flow.choices
    BehaviorProfile.of(tree, behavior)
    assert np.abs(flow.state_of(behavior) - state).max() <= 1e-12
    velocity = flow.velocity(state)
    for f in np.random.default_rng(1).permutation(choices.size)[:3]:
        gain = gain_on_the_tree(tree, behavior, choices.action[f], choices.first[f])
        assert velocity[f] == pytest.approx(2 * gain, rel=1e-11, abs=1e-13)
    payoffs = [float(value) for value in TreeWalk(tree, behavior).payoffs()]
    assert np.abs(flow.payoffs(state) - payoffs).max() <= 1e-13
    # what is integrated has no information sets of a single action; it moves the same way
    time = 1e-6
    moved = flow.integrate(state, np.array([0.0, time]))
    assert np.abs((moved.states[1] - state) / time - velocity).max() <= 1e-4
    assert np.abs(moved.profits[1] / time - payoffs).max() <= 1e-4


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


def test_frequency_jacobian_holds_where_some_frequencies_are_0_or_1() -> None:
    """The velocity is a polynomial, so differences of second order into the inside tell it."""
    flow, step = flow_of("shapley"), 1e-4
    behavior = np.array([0.0, 0.3, 0.7, 1.0, 0.0, 0.0])
    choices = flow.choices
    jacobian = flow.frequency_jacobian(behavior)
    for f in range(choices.size):
        first, free = choices.first[f], choices.action[f]
        inward = step if behavior[first] > 0 else -step
        near, far = behavior.copy(), behavior.copy()
        near[[free, first]] += inward, -inward
        far[[free, first]] += 2 * inward, -2 * inward
        here, ahead, beyond = (flow.frequency_velocity(x) for x in (behavior, near, far))
        expected = (4 * ahead - 3 * here - beyond) / (2 * inward)
        assert np.abs(jacobian[:, f] - expected).max() <= 1e-7
    assert np.abs(jacobian).max() > 0.1


def test_frequencies_of_huge_log_odds_are_0_and_1() -> None:
    for game in ("skp", "shapley"):
        flow = flow_of(game)
        for size in (1e6, 1e300):
            behavior = flow.behavior(np.stack([a_state(flow) * size, np.zeros(flow.choices.size)]))
            assert set(behavior[0]) <= {0.0, 1.0}
            assert np.isfinite(flow.payoffs(a_state(flow) * size)).all()


def test_speeds_hold_for_players_and_information_sets() -> None:
    plain, other = flow_of("kuhn2"), flow_of("kuhn2", "k='P1|1:=0.5; P1=3'")
    state, tree = a_state(plain), eqbench.load_game("kuhn2").tree
    ratio = other.velocity(state) / plain.velocity(state)
    for value, infoset in zip(ratio, plain.choices.infoset, strict=True):
        first = tree.infoset_player[infoset] == 0
        expected = 0.5 if first and tree.infoset_labels[infoset] == "1:" else 3 if first else 1
        assert value == pytest.approx(expected, rel=1e-14)


def test_rate_is_known_without_the_factors() -> None:
    assert flow_of("skp", "k='P1=2'").rate == 24
    assert flow_of("kuhn2").rate == 1
    assert flow_of("skp", "rate=3").rate == 3


def test_speeds_are_exact_numbers() -> None:
    flow = flow_of("skp", "k='P1=1/3 ; P2=.25; P3|2:KK=1e-2; P3=2.',rate=1")
    tree = eqbench.load_game("skp").tree
    owner = tree.infoset_player[flow.choices.infoset]
    assert (flow.speed[owner == 0] == 1 / 3).all()
    assert (flow.speed[owner == 1] == 0.25).all()
    assert sorted(flow.speed[owner == 2]) == [0.01, 2.0, 2.0]


def test_unknown_places_are_refused_with_those_known() -> None:
    with pytest.raises(UsageError, match=r"'P4'.*did you mean.*P1"):
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
    with pytest.raises(UsageError, match="log-odds are infinite"):
        flow.state_of(pure)
    with pytest.raises(ProfileError):
        flow.state_of(uniform * 2)
    for wrong in (state[1:], np.full_like(state, np.nan)):
        with pytest.raises(UsageError, match="log-odds"):
            flow.integrate(wrong, times)
        with pytest.raises(UsageError, match="log-odds"):
            flow.behavior(wrong)
    wrong_times = (times[::-1], times[:0], np.array([0.0, np.inf]), np.array([0, 1, 1]))
    for wrong in wrong_times:
        with pytest.raises(UsageError, match="ascending"):
            flow.integrate(state, wrong)
    with pytest.raises(UsageError, match="no length"):
        flow.integrate(state, times, tangent=np.zeros_like(state))
