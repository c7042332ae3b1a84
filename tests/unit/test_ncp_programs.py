"""Programs with bilinear constraints hold at equilibria and nowhere else."""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from ncp_programs import (
    best_replies,
    compact_games,
    equilibrium,
    evaluate,
    formulations,
    least_violation,
    measured,
    own_sequences,
    plans_of,
    point,
    program_of,
    random_pure,
    violation,
)

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import random_profile

programs = importlib.import_module("eqbench.solvers.ncp.program")

EXTENSIVE = (
    "kuhn2",
    "kuhn3",
    "kuhn3_reduced",
    "skp",
    "random_tree(players=3,depth=4,actions=2,seed=1)",
    "random_tree(players=4,depth=5,actions=2,seed=2)",
)
ONE_SHOT = (
    "shapley",
    "jordan",
    "random(players=4,actions=2,seed=1)",
    "random(players=5,actions=2,seed=1)",
)
CONSTANT_SUM = ("kuhn2", "kuhn3", "kuhn3_reduced", "skp")
CASES = [
    *itertools.product(EXTENSIVE + ONE_SHOT, ("paper", "elimination", "aggregated")),
    *itertools.product(CONSTANT_SUM, ("constant_sum",)),
    *itertools.product(ONE_SHOT, ("mip",)),
]


@cache
def solved(spec: str) -> tuple[Game, np.ndarray]:
    """A game and plans (S,) of an equilibrium that another solver finds."""
    game = eqbench.load_game(spec)
    return game, equilibrium(game)


# -- polynomials -----------------------------------------------------------------------------------


def test_products_of_polynomials_collect_equal_monomials() -> None:
    x, y = programs.Polynomial.variable(3), programs.Polynomial.variable(1)
    left = programs.Polynomial(x).add(y, 2.0).add(programs.Polynomial.constant(-1.0))
    assert left == {(3,): 1, (1,): 2, (): -1}
    product = left.times(programs.Polynomial(x).add(y, -1.0))
    assert product == {(3, 3): 1, (1, 3): 1, (1, 1): -2, (3,): -1, (1,): 1}
    assert [left.degree, product.degree, programs.Polynomial().degree] == [1, 2, 0]
    assert x == {(3,): 1}  # what was added to is a copy


def test_products_beyond_degree_two_are_refused() -> None:
    x = programs.Polynomial.variable(0)
    with pytest.raises(ValueError, match="a product of 3 variables is not quadratic"):
        x.times(x.times(x))


def test_linear_constraints_count_as_such_unless_told_otherwise() -> None:
    builder = programs.Program()
    x, y = builder.variable(0.0, 1.0), builder.variable()
    builder.require(programs.Polynomial(x).add(x.times(y), 0.0))
    builder.require(x, "<=", count_as_quadratic=True)
    builder.require(x.times(y).add(y), ">=")
    assert builder.size == (1, 2, 1, 2, 1)


# -- products of weights ---------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["elimination", "aggregated"])
@pytest.mark.parametrize(
    ("players", "groups"),
    [
        (2, []),
        (3, []),
        # the variables w_12 and w_34 of Ganzfried 2025, section 2
        (4, [{0, 1}, {2, 3}]),
        (5, [{0, 1}, {3, 4}, {0, 1, 2}, {2, 3, 4}]),
    ],
)
def test_products_are_variables_only_where_they_are_needed(
    players: int, groups: list[set[int]], formulation: str
) -> None:
    game = eqbench.load_game(f"random(players={players},actions=2,seed=1)")
    behavior = random_profile(game.tree, np.random.default_rng(4))
    formulated = program_of(game, formulation)
    values = point(formulated, formulation, plans_of(game, behavior))
    weights = 2 * players if formulation == "aggregated" else players
    slacks_and_multipliers = 3 * players
    products = values[weights : len(values) - slacks_and_multipliers]
    rows = behavior.reshape(players, 2)
    expected = [
        np.prod([rows[p, move] for p, move in zip(sorted(group), moves, strict=True)])
        for group in groups
        for moves in itertools.product(range(2), repeat=len(group))
    ]
    np.testing.assert_allclose(sorted(products), sorted(expected), rtol=0, atol=1e-15)


# -- equilibria and only they ----------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "formulation"), CASES)
def test_equilibria_satisfy_all_constraints(spec: str, formulation: str) -> None:
    game, plans = solved(spec)
    formulated = program_of(game, formulation)
    values = point(formulated, formulation, plans)
    assert violation(formulated.program, values) <= 1e-9
    np.testing.assert_allclose(formulated.weights(values), plans, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("spec", "formulation"), CASES)
def test_no_multipliers_and_slacks_make_other_profiles_satisfy_them(
    spec: str, formulation: str
) -> None:
    game, plans = solved(spec)
    formulated = program_of(game, formulation)
    assert least_violation(formulated, formulation, plans) <= 1e-9  # the yardstick itself
    rng = np.random.default_rng(0)
    for behavior in (random_profile(game.tree, rng), random_pure(game, rng)):
        assert measured(game, behavior).max_regret > 1e-2
        wrong = plans_of(game, behavior)
        assert least_violation(formulated, formulation, wrong) > 1e-3
        assert violation(formulated.program, point(formulated, formulation, wrong)) > 1e-3


@pytest.mark.parametrize("formulation", ["paper", "elimination", "aggregated", "mip"])
def test_weights_that_are_no_plans_violate_a_constraint(formulation: str) -> None:
    game, plans = solved("shapley")
    formulated = program_of(game, formulation)
    for negative in range(3):
        wrong = plans.copy()
        wrong[2:5] = np.where(np.arange(3) == negative, -0.8, 0.9)
        # slacks are below 2 and weights of the other player a third, so that is less elsewhere
        assert violation(formulated.program, point(formulated, formulation, wrong)) >= 0.8
    leaking = np.where(np.arange(8) < 2, 1.0, 0.1)
    values = point(formulated, formulation, leaking)
    if formulation == "elimination":  # it takes the last weight for what is left
        assert formulated.weights(values)[2:5] == pytest.approx([0.1, 0.1, 0.8])
    else:
        assert violation(formulated.program, values) >= 0.7 - 1e-12


@pytest.mark.parametrize("formulation", ["elimination", "aggregated", "constant_sum"])
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3_reduced"])
def test_one_constraint_bounds_the_sum_of_best_response_values(spec: str, formulation: str) -> None:
    game = eqbench.load_game(spec)
    formulated = program_of(game, formulation)
    plain = formulations.formulate(formulated.game, formulation, constant=None).program
    with_cut = [*formulated.program.linear, *formulated.program.quadratic]
    (cut,) = [row for row in with_cut if row not in (*plain.linear, *plain.quadratic)]
    assert cut.sense == "<="
    behavior = random_profile(game.tree, np.random.default_rng(1))
    values = point(formulated, formulation, plans_of(game, behavior))
    nash_conv = measured(game, behavior).nash_conv
    assert evaluate(cut.polynomial, values) == pytest.approx(nash_conv, abs=1e-14)


def sometimes_alone() -> Game:
    """P2 moves after P1 or, by chance, at once, and cannot tell: regrets of both add up."""
    builder = TreeBuilder(["P1", "P2"])
    coin = builder.chance(None, [Fraction(1, 2)] * 2)
    first = builder.decision((coin, 0), 0, "", ["left", "right"])
    for place in ((first, 0), (first, 1), (coin, 1)):
        node = builder.decision(place, 1, "", ["good", "bad"])
        builder.terminal((node, 0), [0, 10])
        builder.terminal((node, 1), [0, 0])
    return Game("sometimes alone", builder.tree())


def test_binaries_admit_the_largest_regret_that_a_strategy_can_have() -> None:
    game = sometimes_alone()
    formulated = program_of(game, "mip")
    good = plans_of(game, np.array([0.5, 0.5, 1.0, 0.0]))
    assert violation(formulated.program, point(formulated, "mip", good)) == 0


# -- objectives ------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["paper", "elimination", "aggregated", "constant_sum"])
@pytest.mark.parametrize("player", range(3))
def test_payoff_as_objective_has_the_value_of_the_payoff(formulation: str, player: int) -> None:
    game, plans = solved("kuhn3_reduced")
    target = formulations.Target(player, None, maximize=True)
    formulated = program_of(game, formulation, target=target)
    program = formulated.program
    assert program.maximize
    assert program.objective.degree == 1
    worth, _ = best_replies(game.sequence_form, plans)
    fresh = len(program.lower) - len(program_of(game, formulation).program.lower)
    values = point(formulated, formulation, plans, (worth[player],) * fresh)
    assert violation(program, values) <= 1e-9
    payoff = (plans[game.sequence_form.columns].prod(axis=1) @ game.sequence_form.payoffs)[player]
    assert evaluate(program.objective, values) == pytest.approx(payoff, abs=1e-12)


@pytest.mark.parametrize("formulation", ["elimination", "aggregated"])
def test_frequency_as_objective_is_the_share_in_the_weight_above(formulation: str) -> None:
    game, plans = solved("kuhn3_reduced")
    form, n = game.sequence_form, game.tree.n_players
    compact = compact_games.CompactGame.of(form)
    own = own_sequences(compact)
    shares = set()
    for sequence in range(n, compact.n_sequences):
        above = form.parent[form.sequence_infoset[own[sequence]]]
        if plans[above] <= 1e-9:
            continue
        share = plans[own[sequence]] / plans[above]
        player = int(form.sequence_player[own[sequence]])
        target = formulations.Target(player, sequence, maximize=False)
        formulated = program_of(game, formulation, target=target)
        program = formulated.program
        fresh = len(program.lower) - len(program_of(game, formulation).program.lower)
        shares.add(fresh)
        values = point(formulated, formulation, plans, (share,) * fresh)
        assert violation(program, values) <= 1e-9
        assert evaluate(program.objective, values) == pytest.approx(share, abs=1e-12)
        assert not program.maximize
    assert shares == {0, 1}  # first actions are weights themselves, later ones are divided
