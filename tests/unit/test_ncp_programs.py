"""Programs with bilinear constraints hold at equilibria and nowhere else.

Constraints are read term by term, so that no backend has a say in whether a point satisfies them.
"""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from agreement import draw_behavior
from numpy.typing import NDArray
from random_trees import random_tree
from scipy.optimize import Bounds, LinearConstraint, milp
from solver_cases import plans_of, solved
from szafron_family import member
from three_player_kuhn import szafron_profile

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.verification import verify

presolve = importlib.import_module("eqbench.solvers.ncp.presolve")
formulations = importlib.import_module("eqbench.solvers.ncp.formulations")
programs = importlib.import_module("eqbench.solvers.ncp.program")
ncp = importlib.import_module("eqbench.solvers.ncp.ncp")

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
    *itertools.product(("kuhn2", "shapley"), ("sos1",)),
]
TREES = tuple(f"tree {seed}" for seed in range(8))


def named(spec: str) -> Game:
    """A game by its spec, or ``tree k`` for the k-th random tree."""
    kind, _, seed = spec.partition(" ")
    return Game(spec, random_tree(int(seed))) if kind == "tree" else eqbench.load_game(spec)


def program_of(game: Game, formulation: str, removed: NDArray | None = None, **options: Any) -> Any:
    """The formulated program."""
    compact = presolve.CompactGame.of(game.sequence_form, removed, verbatim=formulation == "paper")
    constant = ncp.constant_sum(game)
    return formulations.formulate(compact, formulation, constant=constant, **options)


def measured(game: Game, behavior: np.ndarray) -> Any:
    """Payoffs and regrets of a behavior profile (A,), measured on the tree."""
    return verify(game.tree, eqbench.BehaviorProfile.of(game.tree, behavior))


def best_replies(
    form: SequenceForm, plans: NDArray, removed: NDArray | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of sequences (S,) and of information sets (I,) with best play later on."""
    n = form.n_players
    worth, best = np.zeros(form.n_sequences), np.zeros(form.n_infosets)
    weights = plans[form.columns]
    for player in range(n):
        others = np.delete(weights, player, axis=1).prod(axis=1)
        np.add.at(worth, form.columns[:, player], form.payoffs[:, player] * others)
    for infoset in reversed(range(form.n_infosets)):
        block = np.arange(form.block_start[infoset], form.block_start[infoset + 1])
        if removed is not None:
            block = block[~removed[block - n]]
        if len(block):  # else it is behind a removed action
            best[infoset] = worth[block].max()
            worth[form.parent[infoset]] += best[infoset]
    return worth, best


def own_sequences(compact: Any) -> NDArray[np.int64]:
    """The sequence of the game (s,) where the choice of each compact sequence is made."""
    return np.array([np.flatnonzero(compact.alias == s)[0] for s in range(compact.n_sequences)])


def point(formulated: Any, formulation: str, plans: NDArray, extra: tuple = ()) -> NDArray:
    """Values (V,) of all variables at plans (S,), multipliers and slacks by best replies.

    Parameters
    ----------
    extra : values of variables of the objective, which come last
    """
    compact, program = formulated.game, formulated.program
    form, n = compact.form, compact.n_players
    own = own_sequences(compact)
    worth, best = best_replies(form, plans, compact.alias[n:] < 0)
    infoset = form.sequence_infoset[own[n:]]
    multipliers, slacks = (
        best[infoset[compact.block_start[:-1] - n]],
        best[infoset] - worth[own[n:]],
    )
    given = {
        "paper": [worth[:n], multipliers, np.zeros(n), slacks],
        "constant_sum": [multipliers],
        "mip": [multipliers, slacks, plans[own[n:]] == 0],
    }
    tail = np.concatenate([*given.get(formulation, [multipliers, slacks]), extra])
    values = np.zeros(len(program.lower))
    values[len(values) - len(tail) :] = tail
    known = 0  # weights that are variables of their own come first, their products then
    for polynomial, weight in zip(formulated.weight, plans[own], strict=True):
        if len(polynomial) == 1 and polynomial.degree == 1:
            ((variable,),) = polynomial
            values[variable] = weight
            known += 1
    for variable in range(known, len(values) - len(tail)):
        definition = program.quadratic[variable - known]
        assert (definition.polynomial[(variable,)], definition.sense) == (1, "=")
        values[variable] = -evaluate(definition.polynomial, values)
    return values


def evaluate(polynomial: Any, values: NDArray) -> float:
    """Value of a polynomial, term by term."""
    return float(sum(c * np.prod(values[list(m)]) for m, c in polynomial.items()))


def violation(program: Any, values: NDArray) -> float:
    """By how much the constraint that is violated most is violated, bounds included."""
    worst = max((program.lower - values).max(), (values - program.upper).max(), 0.0)
    for row in (*program.linear, *program.quadratic):
        left = evaluate(row.polynomial, values)
        worst = max(worst, {"<=": left, ">=": -left, "=": abs(left)}[row.sense])
    both = [min(values[list(pair)]) for pair in program.exclusive]
    worst = max(worst, *both, 0.0)
    fractions = np.abs(values - values.round())[np.array(program.binary)]
    return max(worst, fractions.max(initial=0.0))


def least_violation(formulated: Any, formulation: str, plans: NDArray) -> float:
    """Smallest violation that any values of the other variables leave at plans (S,).

    With weights and their products fixed all constraints are linear in multipliers, slacks and
    binaries; what is left is a mixed-integer linear program.
    """
    program = formulated.program
    values = point(formulated, formulation, plans)
    fixed = np.zeros(len(values), dtype=bool)
    for row in formulated.weight:
        for monomial in row:
            fixed[list(monomial)] = True
    for row in program.quadratic:  # products are defined by weights only, each after the other
        free = {i for m in row.polynomial for i in m if not fixed[i]}
        if len(free) == 1 and row.polynomial.get((only := min(free),)) == 1:
            fixed[only] |= all(only not in m or m == (only,) for m in row.polynomial)
    size = len(values) + 1  # the last variable is the violation
    matrix, high = [], []
    for row in (*program.linear, *program.quadratic):
        left = np.zeros(size)
        for monomial, c in row.polynomial.items():
            unknown = [i for i in monomial if not fixed[i]]
            assert len(unknown) <= 1
            place = unknown[0] if unknown else -1
            left[place] += c * np.prod([values[i] for i in monomial if fixed[i]])
        constant = left[-1]
        for sense, sign in (("<=", 1.0), (">=", -1.0)):
            if row.sense in (sense, "="):
                matrix.append(np.append(sign * left[:-1], -1.0))
                high.append(-sign * constant)
    for weight, slack in program.exclusive:
        if values[weight] > 0:
            matrix.append(np.eye(size)[slack] - np.eye(size)[-1])
            high.append(0.0)
    bounds = Bounds(
        np.append(np.where(fixed, values, program.lower), 0.0),
        np.append(np.where(fixed, values, program.upper), np.inf),
    )
    found = milp(
        np.eye(size)[-1],
        constraints=LinearConstraint(np.array(matrix), -np.inf, high),
        integrality=np.append(program.binary, False).astype(int),
        bounds=bounds,
    )
    assert found.success, found.message
    return float(found.fun)


# -- polynomials -----------------------------------------------------------------------------------


def test_products_of_polynomials_collect_equal_monomials_up_to_degree_two() -> None:
    x, y = programs.Polynomial({(3,): 1.0}), programs.Polynomial({(1,): 1.0})
    left = programs.Polynomial(x).add(y, 2.0).add({(): -1.0})
    assert left == {(3,): 1, (1,): 2, (): -1}
    product = left.times(programs.Polynomial(x).add(y, -1.0))
    assert product == {(3, 3): 1, (1, 3): 1, (1, 1): -2, (3,): -1, (1,): 1}
    assert [left.degree, product.degree, programs.Polynomial().degree] == [1, 2, 0]
    assert x == {(3,): 1}  # what was added to is a copy
    with pytest.raises(ValueError, match="a product of 3 variables is not quadratic"):
        x.times(product)


def test_linear_constraints_count_as_such_unless_told_otherwise() -> None:
    program = programs.Program()
    x, y = program.variable(0.0, 1.0), program.variable()
    program.require(programs.Polynomial(x).add(x.times(y), 0.0))
    program.require(x, "<=", count_as_quadratic=True)
    program.require(x.times(y).add(y), ">=")
    assert program.size == (1, 2, 1, 2, 1)


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
    values = point(program_of(game, formulation), formulation, plans_of(game, behavior))
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
def test_equilibria_satisfy_all_constraints_and_nothing_else_does(
    spec: str, formulation: str
) -> None:
    game, plans = solved(spec)
    formulated = program_of(game, formulation)
    values = point(formulated, formulation, plans)
    assert violation(formulated.program, values) <= 1e-9
    np.testing.assert_allclose(formulated.weights(values), plans, rtol=0, atol=1e-15)
    assert least_violation(formulated, formulation, plans) <= 1e-9  # the yardstick itself
    rng = np.random.default_rng(0)
    for behavior in (random_profile(game.tree, rng), draw_behavior(game.tree, rng, "pure")):
        assert measured(game, behavior).max_regret > 1e-2
        wrong = plans_of(game, behavior)
        assert least_violation(formulated, formulation, wrong) > 1e-3


@pytest.mark.parametrize("formulation", ["paper", "elimination", "aggregated", "mip"])
def test_weights_that_are_no_plans_violate_a_constraint(formulation: str) -> None:
    game, plans = solved("shapley")
    formulated = program_of(game, formulation)
    for negative in range(3):
        wrong = plans.copy()
        wrong[2:5] = np.where(np.arange(3) == negative, -0.8, 0.9)
        # slacks are below 2 and weights of the other player a third, so that is less elsewhere
        assert violation(formulated.program, point(formulated, formulation, wrong)) >= 0.8
    values = point(formulated, formulation, np.where(np.arange(8) < 2, 1.0, 0.1))
    if formulation == "elimination":  # it takes the last weight for what is left
        assert formulated.weights(values)[2:5] == pytest.approx([0.1, 0.1, 0.8])
    else:
        assert violation(formulated.program, values) >= 0.7 - 1e-12


@pytest.mark.parametrize("formulation", ["elimination", "aggregated", "constant_sum"])
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3_reduced"])
def test_one_constraint_bounds_the_sum_of_best_response_values(spec: str, formulation: str) -> None:
    game = eqbench.load_game(spec)
    formulated = program_of(game, formulation)
    plain = formulations.formulate(formulated.game, formulation).program
    with_cut = [*formulated.program.linear, *formulated.program.quadratic]
    (cut,) = [row for row in with_cut if row not in (*plain.linear, *plain.quadratic)]
    assert cut.sense == "<="
    behavior = random_profile(game.tree, np.random.default_rng(1))
    values = point(formulated, formulation, plans_of(game, behavior))
    nash_conv = measured(game, behavior).nash_conv
    assert evaluate(cut.polynomial, values) == pytest.approx(nash_conv, abs=1e-14)


def test_binaries_admit_the_largest_regret_that_a_strategy_can_have() -> None:
    """P2 moves after P1 or, by chance, at once, and cannot tell: regrets of both add up."""
    builder = TreeBuilder(["P1", "P2"])
    coin = builder.chance(None, [Fraction(1, 2)] * 2)
    first = builder.decision((coin, 0), 0, "", ["left", "right"])
    for place in ((first, 0), (first, 1), (coin, 1)):
        node = builder.decision(place, 1, "", ["good", "bad"])
        builder.terminal((node, 0), [0, 10])
        builder.terminal((node, 1), [0, 0])
    game = Game("sometimes alone", builder.tree())
    formulated = program_of(game, "mip")
    good = plans_of(game, np.array([0.5, 0.5, 1.0, 0.0]))
    assert violation(formulated.program, point(formulated, "mip", good)) == 0


# -- objectives ------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["paper", "elimination", "aggregated", "constant_sum"])
@pytest.mark.parametrize("player", range(3))
def test_payoff_as_objective_has_the_value_of_the_payoff(formulation: str, player: int) -> None:
    game, plans = solved("kuhn3_reduced")
    target = formulations.Target(player, None, maximize=True)
    payoff = measured(game, RealizationPlan(plans).to_behavior(game.sequence_form)).payoffs[player]
    worth, _ = best_replies(game.sequence_form, plans)
    check_objective(game, formulation, target, plans, worth[player], payoff)


@pytest.mark.parametrize("formulation", ["elimination", "aggregated"])
def test_frequency_as_objective_is_the_share_in_the_weight_above(formulation: str) -> None:
    game, plans = solved("kuhn3_reduced")
    form, n = game.sequence_form, game.tree.n_players
    own, shares = own_sequences(presolve.CompactGame.of(form)), set()
    for sequence in range(n, len(own)):
        above = form.parent[form.sequence_infoset[own[sequence]]]
        if plans[above] > 1e-9:
            share = plans[own[sequence]] / plans[above]
            target = formulations.Target(0, sequence, maximize=False)
            shares.add(check_objective(game, formulation, target, plans, share, share))
    assert shares == {0, 1}  # first actions are weights themselves, later ones are divided


def check_objective(
    game: Game, formulation: str, target: Any, plans: NDArray, extra: float, expected: float
) -> int:
    """Hold an objective against its value at plans (S,); returns how many variables it added."""
    formulated = program_of(game, formulation, target=target)
    program = formulated.program
    assert program.maximize == target.maximize
    assert program.objective.degree == 1
    fresh = len(program.lower) - len(program_of(game, formulation).program.lower)
    values = point(formulated, formulation, plans, (extra,) * fresh)
    assert violation(program, values) <= 1e-9
    assert evaluate(program.objective, values) == pytest.approx(expected, abs=1e-12)
    return fresh


# -- bounds ----------------------------------------------------------------------------------------


def limits_of(formulated: Any, variables: Any) -> NDArray[np.float64]:
    """Bounds (K, 2) of some variables."""
    program, indices = formulated.program, [index for v in variables for (index,) in v]
    return np.stack((program.lower, program.upper), axis=1)[indices]


@pytest.mark.parametrize(
    "spec", ["kuhn3", "jordan", "random_tree(players=3,depth=5,actions=3,seed=4)", *TREES]
)
def test_bounds_hold_whatever_is_played(spec: str) -> None:
    game = named(spec)
    form, rng = game.sequence_form, np.random.default_rng(0)
    formulated = program_of(game, "aggregated")
    compact, n = formulated.game, form.n_players
    bounds = np.stack(presolve.value_bounds(compact, game.tree), axis=1)
    formulated.tighten(*bounds.T)
    own = own_sequences(compact)[n:]
    first = form.sequence_infoset[own][compact.block_start[:-1] - n]
    nearest = np.inf
    for _ in range(100):
        for behavior in (random_profile(game.tree, rng), draw_behavior(game.tree, rng, "pure")):
            worth, best = best_replies(form, plans_of(game, behavior))
            slacks = best[form.sequence_infoset[own]] - worth[own]
            for values, limits in (
                (worth[own], bounds[n:]),
                (best[first], limits_of(formulated, formulated.multiplier)),
                (slacks, limits_of(formulated, formulated.slack.values())),
            ):
                assert (limits[:, 0] - 1e-12 <= values).all()
                assert (values <= limits[:, 1] + 1e-12).all()
            nearest = min(nearest, (bounds[n:, 1] - worth[own]).min(initial=np.inf))
    assert nearest <= 1e-12 or not len(own)  # some value is as large as its bound


@pytest.mark.parametrize("forced", [False, True])
def test_bounds_are_those_of_an_enemy_and_a_friend(*, forced: bool) -> None:
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "", ["stop", "go"])
    builder.terminal((root, 0), [2, 0])
    place = (root, 1)
    if forced:  # an information set of one action changes nothing
        place = (builder.decision(place, 0, "no choice", ["on"]), 0)
    reply = builder.decision(place, 1, "", ["end", "toss"])
    builder.terminal((reply, 0), [-3, 1])
    coin = builder.chance((reply, 1), [Fraction(1, 4), Fraction(3, 4)])
    builder.terminal((coin, 0), [8, 4])
    later = builder.decision((coin, 1), 0, "later", ["low", "high"])
    builder.terminal((later, 0), [0, -1])
    builder.terminal((later, 1), [4, -5])
    game = Game("bounded", builder.tree())
    formulated = program_of(game, "aggregated")
    low, high = presolve.value_bounds(formulated.game, game.tree)
    # stop, go, low, high of P1; end, toss of P2: a sum over what follows, with 0 if others avoid it
    assert low.tolist() == [0, 0, 0, -3, 0, 0, 0, -2.75]
    assert high.tolist() == [0, 0, 2, 5, 0, 3, 1, 0.25]
    formulated.tighten(low, high)
    assert limits_of(formulated, formulated.multiplier).tolist() == [[0, 5], [0, 3], [0, 1]]
    assert limits_of(formulated, formulated.slack.values())[:, 1].tolist() == [5, 8, 3, 3, 1, 3.75]


# -- what is left out ------------------------------------------------------------------------------


@pytest.mark.parametrize("removes", [False, True])
@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced", *TREES])
def test_sets_of_one_action_and_what_is_removed_go_and_plans_come_back_whole(
    spec: str, *, removes: bool
) -> None:
    game, rng = named(spec), np.random.default_rng(5)
    form, n = game.sequence_form, game.tree.n_players
    start, sizes = game.tree.action_start[:-1], np.diff(game.tree.action_start)
    removed = rng.random(game.tree.n_actions) < 0.5 * removes
    removed[start + rng.integers(sizes)] = False  # one stays everywhere
    assert removed.any() == removes
    compact = presolve.CompactGame.of(form, removed)
    behind = removed.copy()
    for action in range(len(removed)):  # the last own action stands before those that follow it
        above = form.parent[form.sequence_infoset[action + n]] - n
        behind[action] |= above >= 0 and behind[above]
    np.testing.assert_array_equal(compact.alias[n:] < 0, behind)
    left = np.add.reduceat((~behind).astype(int), start)
    assert compact.n_infosets == (left > 1).sum()
    assert compact.n_sequences == n + left[left > 1].sum()
    behavior = np.where(removed, 0.0, random_profile(game.tree, rng))
    behavior /= np.repeat(np.add.reduceat(behavior, start), sizes)
    plans = plans_of(game, behavior)
    short = plans[own_sequences(compact)]
    long = np.where(compact.alias >= 0, short[compact.alias], 0.0)
    np.testing.assert_allclose(long, plans, rtol=0, atol=1e-15)
    payoffs = short[compact.columns].prod(axis=1) @ compact.payoffs
    assert payoffs == pytest.approx(measured(game, behavior).payoffs, abs=1e-13)
    assert len(np.unique(compact.columns, axis=0)) == len(compact.columns)


def test_equilibria_without_removed_actions_satisfy_the_program_without_them() -> None:
    game = eqbench.load_game("kuhn3")
    frequencies = member(b11=0, b21=0, b32=Fraction(1, 2), c11=0, c33=0)
    profile = profile_from_json(game.tree, szafron_profile(frequencies))
    plans = plans_of(game, profile.probabilities)
    removed = presolve.dominated_actions(game.tree) > 0
    assert not plans[game.tree.n_players :][removed].any()
    formulated = program_of(game, "elimination", removed)
    values = point(formulated, "elimination", plans)
    assert violation(formulated.program, values) <= 1e-9
    assert formulated.program.size.columns < program_of(game, "elimination").program.size.columns
