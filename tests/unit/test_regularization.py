"""The regularized system: its projection onto simplices, its equations, its derivatives."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from arclength_cases import game, module, system
from scipy.optimize import brentq

import eqbench
from eqbench.errors import UsageError
from eqbench.model.profile import random_profile

KINDS = ("log", "arctan", "rational")
STRENGTHS = (1e-9, 1e-6, 1e-3, 0.1, 10.0)
FAR = np.logspace(-9, 9, 37)
THREE_ACTIONS = "random(players=2,actions=3)"
SYSTEMS = [
    ("skp(pot=107/33)", "log", "counterfactual"),
    ("skp(pot=107/33)", "rational", "raw"),
    ("kuhn3", "arctan", "counterfactual"),
    ("kuhn3", "log", "raw"),
    ("kuhn(players=2,cards=4,raises=1)", "log", "counterfactual"),
    ("kuhn(players=2,cards=4,raises=1)", "log", "raw"),
    (THREE_ACTIONS, "log", "counterfactual"),
]


def below_half(kind: str, x: np.ndarray) -> np.ndarray:
    """The function g of Billingham 2018, eq. (2), at x <= 0, without cancellation."""
    if kind == "log":  # solves 1 / (1 - b) - 1 / b = x
        return 2 / (2 - x + np.sqrt(x * x + 4))
    if kind == "arctan":
        return np.arctan2(1, -x) / np.pi
    return 1 / (2 * (1 - x))


def slope_of_inverse(kind: str, b: np.ndarray) -> np.ndarray:
    if kind == "log":
        return 1 / b**2 + 1 / (1 - b) ** 2
    return np.pi / np.sin(np.pi * b) ** 2 if kind == "arctan" else 0.5 / b**2


def project(kind: str, z: np.ndarray, strength: float, actions: int = 2) -> tuple[np.ndarray, ...]:
    """Frequencies (sets, actions), their weights, and derivatives of the free ones by log d."""
    sets = len(z) // (actions - 1)
    start = np.arange(sets + 1, dtype=np.int32) * (actions - 1)
    first = np.arange(sets, dtype=np.int32) * actions
    behavior, weight, by_log = (
        np.empty((sets, actions)),
        np.empty((sets, actions)),
        np.empty(len(z)),
    )
    number = module("arclength.regularization").KINDS[kind]
    written = behavior.ravel(), weight.ravel(), by_log
    strengths = np.full(sets, strength)
    module("arclength.kernels").project(number, start, first, z, strengths, *written)
    return behavior, weight, by_log


def derivative(function: Callable[[float], np.ndarray], step: float = 1e-5) -> np.ndarray:
    """At 0, by central differences of fourth order."""
    near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
    return (8 * near - far) / (12 * step)


# -- projection ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_frequency_is_the_smooth_response_to_the_gain(kind: str, strength: float) -> None:
    """Billingham 2018, eq. (2): with gain eps x the frequency is g(x), from 1e-9 to 1 - 1e-9."""
    for sign in (-1, 1):
        small = below_half(kind, -FAR)
        aggressive = small if sign < 0 else 1 - small
        z = sign * ((1 - 2 * small) + strength * FAR)
        rows, _, _ = project(kind, z, strength)
        assert rows[:, 1] == pytest.approx(aggressive, abs=1e-12)
        # beyond that, the smaller one is as exact as z is given
        given = 4e-16 * (1 + np.abs(z)) / (2 + strength * slope_of_inverse(kind, small))
        assert (np.abs(rows.min(axis=1) - small) <= 1e-12 * small + given).all()
        assert np.abs(rows.sum(axis=1) - 1).max() <= 2e-16


@pytest.mark.parametrize("kind", KINDS)
def test_projection_treats_both_actions_alike(kind: str) -> None:
    z = np.random.default_rng(1).normal(size=200, scale=2)
    for strength in STRENGTHS:
        there, back = project(kind, z, strength)[0], project(kind, -z, strength)[0]
        assert np.array_equal(there, back[:, ::-1])


@pytest.mark.parametrize("strength", [1e-2, 0.1, 1.0])
@pytest.mark.parametrize(
    ("kind", "actions"), [*((kind, 2) for kind in KINDS), ("log", 3), ("log", 5)]
)
def test_weights_and_derivatives_of_the_projection(
    kind: str, actions: int, strength: float
) -> None:
    """Derivatives by z are ``w_a (1 if a = b else 0) - w_a w_b / sum of w``."""
    z = np.random.default_rng(actions).normal(size=actions - 1)
    _, (weight,), by_log = project(kind, z, strength, actions)
    expected = np.diag(weight) - np.outer(weight, weight) / weight.sum()
    assert ((weight > 0) & (weight < 1)).all()
    for k, direction in enumerate(np.eye(actions - 1)):
        moved = derivative(lambda h, v=direction: project(kind, z + h * v, strength, actions)[0][0])
        assert moved == pytest.approx(expected[k + 1], abs=1e-9)
    moved = derivative(lambda h: project(kind, z, strength * np.exp(h), actions)[0][0])
    assert by_log == pytest.approx(moved[1:], abs=1e-9)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("actions", [3, 4, 7])
def test_log_barrier_of_many_actions_is_maximized(actions: int, strength: float) -> None:
    """``p_a - d / p_a - z_a`` is the same for all actions, and they sum to one."""
    z = np.random.default_rng(actions).normal(size=(50, actions - 1), scale=1.5)
    rows, _, _ = project("log", z.ravel(), strength, actions)
    assert np.abs(rows.sum(axis=1) - 1).max() <= 2e-15
    left = rows - strength / rows - np.column_stack((np.zeros(50), z))
    size = 1 + np.abs(z).max() + (strength / rows).max(axis=1)
    assert (np.ptp(left, axis=1) <= 1e-14 * size).all()


@pytest.mark.parametrize(("kind", "actions"), [*((kind, 2) for kind in KINDS), ("log", 4)])
def test_projection_becomes_the_euclidean_one(kind: str, actions: int) -> None:
    """That is ``max(z - s, 0)`` with the s that makes it sum to one."""
    z = np.random.default_rng(5).normal(size=(50, actions - 1), scale=1.5)
    padded = np.column_stack((np.zeros(50), z))
    for strength in (1e-6, 1e-10, 1e-14):
        rows, _, _ = project(kind, z.ravel(), strength, actions)
        for row, goal in zip(rows, padded, strict=True):
            shift = brentq(
                lambda s, goal=goal: np.maximum(goal - s, 0).sum() - 1, -9, 9, xtol=1e-14
            )
            assert np.abs(row - np.maximum(goal - shift, 0)).max() <= actions * np.sqrt(strength)


# -- the system ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_residual_is_that_of_the_paper(kind: str) -> None:
    """Billingham 2018, eq. (2) as ``u = eps h(b)``, with gains over the largest chance."""
    made = system("kuhn3", kind)
    weights = np.linspace(0.5, 2, made.choices.size)
    made = made.weighted(weights)
    z = np.random.default_rng(6).normal(size=made.choices.size)
    behavior = made.frequencies(z, 0.02).behavior
    b, gains = behavior[made.choices.action], made.linearize(behavior, 3.5).gains
    inverse = {
        "log": 1 / (1 - b) - 1 / b,
        "arctan": -1 / np.tan(np.pi * b),
        "rational": np.where(b < 0.5, 1 - 0.5 / b, 0.5 / (1 - b) - 1),
    }
    unit = 1 / 4  # chance leads to each set with probability 1/4: four cards
    expected = unit * weights * 0.02 * inverse[kind] - gains
    found = made.evaluate(z, 0.02, 3.5)[0] * made.free_scale
    assert np.abs(found - expected).max() <= 1e-13


def test_residual_with_three_actions_is_the_condition_of_the_barrier() -> None:
    """Where ``eps sum log p_a`` is added, gains are ``eps (1 / p of the first - 1 / p_a)``."""
    made = system("kuhn(players=2,cards=4,raises=1)")
    z = np.random.default_rng(7).normal(size=made.choices.size)
    found, behavior = made.evaluate(z, 0.02, 2.5)[0], made.frequencies(z, 0.02).behavior
    expected = -1 / 4 * 0.02 * made.choices.gains(1 / behavior)
    gains = made.linearize(behavior, 2.5).gains
    assert np.abs(found * made.free_scale - (expected - gains)).max() <= 1e-13
    assert np.diff(made.choices.start).max() == 2


@pytest.mark.parametrize("unknown", ["parameter", "log_epsilon"])
@pytest.mark.parametrize(("spec", "kind", "sense"), SYSTEMS)
def test_factors_are_those_of_the_bordered_derivatives(
    spec: str, kind: str, sense: str, unknown: str
) -> None:
    made = system(spec, kind, sense)
    fixed = 0.1 if unknown == "parameter" else made.parameter
    curve = module("arclength.regularization").RegularizedCurve(made, unknown, fixed)
    rng = np.random.default_rng(8)
    y = np.append(rng.normal(size=made.choices.size), 3.3 if unknown == "parameter" else -2.5)
    border = rng.normal(size=len(y))
    matrix = curve.equations(y)[1]
    matrix[-1] = border
    factors = module("pseudo_arclength").Factors.of(matrix)

    def residual(point: np.ndarray) -> np.ndarray:
        return curve.equations(point)[0]

    columns = [derivative(lambda h, v=v: residual(y + h * v), 1e-4) for v in np.eye(len(y))]
    numerical = np.vstack((np.array(columns).T, border))
    assert np.abs(numerical[:-1]).max() > 0.1
    right = rng.normal(size=len(y))
    assert numerical @ factors.solve(right) == pytest.approx(right, abs=1e-7)
    assert factors.sign == np.sign(np.linalg.det(numerical / np.abs(numerical).max()))


@pytest.mark.parametrize("spec", ["skp(pot=107/33)", "kuhn3", "kuhn(players=2,cards=4,raises=1)"])
def test_raw_gains_are_derivatives_of_the_expectation(spec: str) -> None:
    """Expectations are linear in each frequency, so differences are exact."""
    made = system(spec, "log", "raw")
    tree, choices = game(spec).tree, made.choices
    behavior = random_profile(tree, np.random.default_rng(9))
    linear = made.linearize(behavior, made.parameter)
    player = np.repeat(tree.infoset_player[choices.infoset], np.diff(choices.start))
    for f in range(choices.size):
        step = np.zeros(choices.n_actions)
        step[choices.action[f]], step[choices.first[f]] = 1, -1
        ahead, back = (made.model.expected_payoffs(behavior + s * step) for s in (0.5, -0.5))
        assert linear.gains[f] == pytest.approx((ahead - back)[player[f]], abs=1e-14)
        ahead, back = (made.linearize(behavior + s * step, made.parameter) for s in (0.5, -0.5))
        assert linear.jacobian[:, f] == pytest.approx(ahead.gains - back.gains, abs=1e-14)
    rise = made.linearize(behavior, 7.5).gains - made.linearize(behavior, 6.5).gains
    assert linear.slope == pytest.approx(rise, abs=1e-14)


def test_raw_and_counterfactual_gains_differ_by_the_own_reach() -> None:
    behavior = random_profile(game("kuhn3").tree, np.random.default_rng(10))
    raw, plain = (system("kuhn3", "log", d) for d in ("raw", "counterfactual"))
    gains, choices = plain.linearize(behavior, 3.0).gains, plain.choices
    ratio = raw.linearize(behavior, 3.0).gains / gains
    parent = game("kuhn3").tree.infoset_parent[choices.infoset]
    assert ratio[parent < 0] == pytest.approx(1, abs=1e-12)
    assert ratio[parent >= 0] == pytest.approx(behavior[parent[parent >= 0]], abs=1e-12)


def test_weighting_a_system_leaves_the_first_one_as_it_was() -> None:
    made = system("skp(pot=107/33)")
    z = np.full(made.choices.size, 0.3)
    before = made.frequencies(z, 0.1).behavior
    other = made.weighted(np.full(made.choices.size, 3.0))
    assert np.array_equal(made.frequencies(z, 0.1).behavior, before)
    assert other.frequencies(z, 0.1).behavior == pytest.approx(made.frequencies(z, 0.3).behavior)


# -- where it is not defined --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["arctan", "rational"])
@pytest.mark.parametrize("spec", ["rock_paper_scissors", "kuhn(players=3,cards=4,raises=1)"])
def test_other_barriers_than_log_refuse_games_with_more_than_two_actions(
    kind: str, spec: str
) -> None:
    solver = eqbench.load_solver(f"arclength(regularization={kind})")
    text = rf"regularization={kind} is defined for two actions; .* with 3; use regularization=log"
    reason = solver.supports(game(spec))
    assert isinstance(reason, str)
    assert re.search(text, reason)
    with pytest.raises(UsageError, match=text):
        solver.continuation(game(spec))
    assert eqbench.solve(spec, f"arclength(regularization={kind})").status == "unsupported"
