"""The regularized system: its projection onto simplices, its equations, its derivatives."""

from __future__ import annotations

import re

import numpy as np
import pytest
from arclength_cases import game, module, system
from scipy.linalg import lapack
from solver_cases import numerical_jacobian

import eqbench
from eqbench.errors import UsageError
from eqbench.model.profile import random_profile

KINDS = ("log", "arctan", "rational")
STRENGTHS = (1e-9, 1e-6, 1e-3, 0.1, 10.0)
SYSTEMS = [
    ("skp(pot=107/33)", "log", "counterfactual"),
    ("skp(pot=107/33)", "rational", "raw"),
    ("kuhn3", "arctan", "counterfactual"),
    ("kuhn3", "log", "raw"),
    ("kuhn(players=2,cards=4,raises=1)", "log", "counterfactual"),
    ("kuhn(players=2,cards=4,raises=1)", "log", "raw"),
    ("random(players=2,actions=3)", "log", "counterfactual"),
]


def inverse(kind: str, first: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The function h of Billingham 2018, eq. (2) as ``u = eps h(b)``, without cancellation."""
    if kind == "log":  # for any number of actions
        return 1 / first - 1 / b
    small = np.minimum(first, b)
    below_half = -1 / np.tan(np.pi * small) if kind == "arctan" else 1 - 0.5 / small
    return np.where(b <= first, below_half, -below_half)


def project(kind: str, z: np.ndarray, strength: float, actions: int = 2) -> np.ndarray:
    """Frequencies (sets, actions)."""
    sets = len(z) // (actions - 1)
    behavior, weight, by_log = np.empty(sets * actions), np.empty(sets * actions), np.empty(len(z))
    module("arclength.kernels").project(
        module("arclength.regularization").KINDS[kind],
        np.arange(sets + 1, dtype=np.int32) * (actions - 1),
        np.arange(sets, dtype=np.int32) * actions,
        z,
        np.full(sets, strength),
        *(behavior, weight, by_log),
    )
    return behavior.reshape(sets, actions)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(
    ("kind", "actions"), [*((kind, 2) for kind in KINDS), *(("log", n) for n in (3, 4, 7))]
)
def test_projection_solves_its_equation(kind: str, actions: int, strength: float) -> None:
    """``p - p of the first action + d h(p) = z``, from 1e-9 to 1e9 or for many actions."""
    far = np.logspace(-9, 9, 37)
    z = np.concatenate((-far, far))
    if actions > 2:
        z = np.random.default_rng(actions).normal(size=50 * (actions - 1), scale=1.5)
    rows = project(kind, z, strength, actions)
    assert np.abs(rows.sum(axis=1) - 1).max() <= 2e-15
    first, free = rows[:, :1], rows[:, 1:]
    push = strength * inverse(kind, first, free)
    left = free - first + push - z.reshape(free.shape)
    size = 1 + np.abs(z.reshape(free.shape)) + np.abs(push) + strength / first
    assert (np.abs(left) <= 1e-14 * size).all()


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn(players=2,cards=4,raises=1)"])
@pytest.mark.parametrize("kind", KINDS)
def test_residual_is_that_of_the_paper(kind: str, spec: str) -> None:
    """Billingham 2018, eq. (2), with gains over the largest chance."""
    made = system(spec, kind if spec == "kuhn3" else "log")
    choices = made.choices
    weights = np.linspace(0.5, 2, len(choices.infoset))
    made = made.weighted(weights)
    z = np.random.default_rng(6).normal(size=choices.size)
    behavior = made.frequencies(z, 0.02).behavior
    h = inverse(made.kind, behavior[choices.first], behavior[choices.action])
    unit = 1 / 4  # chance leads to each set with probability 1/4: four cards
    barrier = unit * np.repeat(weights, np.diff(choices.start)) * 0.02 * h
    found = made.evaluate(z, 0.02, 3.5)[0] * made.free_scale
    assert np.abs(found - (barrier - made.linearize(behavior, 3.5).gains)).max() <= 1e-13


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
    lu, pivots, _ = lapack.dgetrf(matrix.T)

    numerical = numerical_jacobian(lambda point: curve.equations(point)[0], y, 1e-4)
    numerical = np.vstack((numerical, border))
    assert np.abs(numerical[:-1]).max() > 0.1
    right = rng.normal(size=len(y))
    assert numerical @ np.linalg.solve(matrix, right) == pytest.approx(right, abs=1e-7)
    sign = module("pseudo_arclength")._determinant_sign(lu, pivots)
    assert sign == np.sign(np.linalg.det(numerical / np.abs(numerical).max()))


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


@pytest.mark.parametrize("kind", ["arctan", "rational"])
@pytest.mark.parametrize("spec", ["rock_paper_scissors", "kuhn(players=3,cards=4,raises=1)"])
def test_other_barriers_than_log_refuse_games_with_more_than_two_actions(
    kind: str, spec: str
) -> None:
    solver = eqbench.load_solver(f"arclength(regularization={kind})")
    text = rf"regularization={kind} is defined for two actions; .* with 3; use regularization=log"
    assert re.search(text, solver.supports(game(spec)))
    with pytest.raises(UsageError, match=text):
        solver.continuation(game(spec))
