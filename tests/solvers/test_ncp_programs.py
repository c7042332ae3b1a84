"""Programs with bilinear constraints hold at equilibria; what else they admit is refuted in runs.

Constraints are read term by term, so that no backend has a say in whether a point satisfies them.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.kuhn_and_skp import member, szafron_profile
from helpers.made_games import random_tree
from helpers.solver_cases import odd_games, plans_of, solved
from helpers.walks import TreeWalk, draw_behavior
from numpy.typing import NDArray

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, Payoffs
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


# -- polynomials -----------------------------------------------------------------------------------


def test_products_of_polynomials_collect_equal_monomials_up_to_degree_two() -> None:
    x, y = programs.Polynomial({(3,): 1.0}), programs.Polynomial({(1,): 1.0})
    left = programs.Polynomial(x).add(y, 2.0).add({(): -1.0})
    assert left == {(3,): 1, (1,): 2, (): -1}
    product = left.times(programs.Polynomial(x).add(y, -1.0))
    assert product == {(3, 3): 1, (1, 3): 1, (1, 1): -2, (3,): -1, (1,): 1}
    assert [left.degree, product.degree, programs.Polynomial().degree] == [1, 2, 0]
    assert x == {(3,): 1}  # what was added to is a copy
    with pytest.raises(ValueError, match="quadratic"):
        x.times(product)


def test_linear_constraints_count_as_such_unless_told_otherwise() -> None:
    program = programs.Program()
    x, y = program.variable(0.0, 1.0), program.variable()
    program.require(programs.Polynomial(x).add(x.times(y), 0.0))
    program.require(x, "<=", count_as_quadratic=True)
    program.require(x.times(y).add(y), ">=")
    assert program.size == (1, 2, 1, 2, 1)


# -- equilibria ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "formulation"), CASES)
def test_equilibria_satisfy_all_constraints(spec: str, formulation: str) -> None:
    game, plans = solved(spec)
    formulated = program_of(game, formulation)
    values = point(formulated, formulation, plans)
    assert violation(formulated.program, values) <= 1e-9
    np.testing.assert_allclose(formulated.weights(values), plans, rtol=0, atol=1e-15)


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
    target = formulations.Target("payoff", True, player)
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
            target = formulations.Target("frequency", False, 0, sequence)
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


# -- dominated actions -----------------------------------------------------------------------------

dominated_actions = importlib.import_module("eqbench.solvers.ncp.presolve").dominated_actions


def labels(tree: GameTree, mask: Iterable[bool]) -> set[tuple[str, str, str]]:
    """Player, information set and name of the actions of a mask."""
    places = [
        (tree.players[player], label, action)
        for player, label, actions in zip(
            tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True
        )
        for action in actions
    ]
    return {place for place, chosen in zip(places, mask, strict=True) if chosen}


def few_payoffs(seed: int) -> GameTree:
    """A random game of two players whose payoffs are drawn from three numbers."""
    tree = eqbench.load_game(f"random_tree(depth=5,actions=2,information=1/2,seed={seed})").tree
    rng = np.random.default_rng(seed)
    return replace(tree, payoffs=Payoffs(rng.integers(0, 3, (tree.n_terminals, 2))))


# -- known games --------------------------------------------------------------------------------


def test_one_round_finds_the_22_dominated_actions_of_three_player_kuhn_and_no_round_more() -> None:
    """Ganzfried 2025 deletes 22 actions by hand."""
    full, reduced = (eqbench.load_game(name).tree for name in ("kuhn3", "kuhn3_reduced"))
    found = dominated_actions(full)
    everything, kept = (labels(tree, [True] * tree.n_actions) for tree in (full, reduced))
    assert labels(full, found == 1) == everything - kept
    assert (found.max(), (found > 0).sum()) == (1, 22)
    assert not dominated_actions(reduced).any()


def test_further_rounds_go_on_in_the_play_that_is_left() -> None:
    """Kuhn 1950: once player 1 never calls with 1 nor folds 3, player 2 need not bet the 2."""
    tree = eqbench.load_game("kuhn2").tree
    found = dominated_actions(tree)
    assert found.max() == 2
    assert labels(tree, found == 2) == {("P2", "2:K", "bet")}


# -- small trees --------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [1, 3, 20])
def test_comparison_is_exact_also_where_integers_outgrow_64_bits(power: int) -> None:
    """Player 1 takes what is outside, or goes in for a rare 1."""
    fraction = Fraction(1, 3**power)
    for outside, worse in ((fraction, "in"), (fraction * (1 - Fraction(1, 10**8)), "out")):
        builder = TreeBuilder(["P1", "P2"])
        root = builder.decision(None, 0, "root", ["out", "in"])
        builder.terminal((root, 0), [outside, 0])
        place = (root, 1)
        for _ in range(power):
            node = builder.chance(place, [Fraction(2, 3), Fraction(1, 3)])
            builder.terminal((node, 0), [0, 0])
            place = (node, 1)
        builder.terminal(place, [1, 0])
        tree = builder.tree()
        assert tree.exact
        assert labels(tree, dominated_actions(tree) > 0) == {("P1", "root", worse)}


def test_game_without_decisions_has_none_to_remove() -> None:
    assert dominated_actions(odd_games()["no information sets"].tree).tolist() == []


# -- against the definition, node by node -------------------------------------------------------


def rounds_by_definition(tree: GameTree) -> list[int]:
    """The rule by plain recursion over the nodes, in Fractions."""
    walk, gone = TreeWalk(tree, [0] * tree.n_actions), set[int]()
    rounds = [0] * tree.n_actions

    def below(node: int) -> list[int]:
        return [child for child in walk.children[node] if tree.incoming[child] not in gone]

    def alive(node: int = 0) -> list[int]:
        return [node, *(found for child in below(node) for found in alive(child))]

    def extreme(pick: Any, node: int, player: int) -> Fraction:
        if walk.mover[node] == TERMINAL:
            return walk.payoff[node][player]
        values = {child: extreme(pick, child, player) for child in below(node)}
        if walk.mover[node] == CHANCE:
            return sum((walk.chance[c] * v for c, v in values.items()), Fraction(0))
        return pick(values.values())

    def covers(better: int, worse: int, nodes: list[int]) -> bool:
        moves, player = [walk.children[node] for node in nodes], walk.mover[nodes[0]]
        return all(
            extreme(min, here[better], player) >= extreme(max, here[worse], player)
            for here in moves
        )

    number, found = 0, {-1}
    while found:
        number, found, nodes_alive = number + 1, set(), alive()
        for infoset, start in enumerate(tree.action_start[:-1].tolist()):
            nodes = [node for node in nodes_alive if walk.infoset[node] == infoset]
            kept = [move for move in range(walk.sizes[infoset]) if start + move not in gone]
            for a, b in itertools.permutations(kept, 2) if nodes else ():
                # of equal actions the first stays
                if covers(b, a, nodes) and not (a < b and covers(a, b, nodes)):
                    found.add(start + a)
        gone |= found
        for action in found:
            rounds[action] = number
    return rounds


@pytest.mark.parametrize("seed", range(24))
def test_rounds_are_those_of_the_definition_on_random_trees(seed: int) -> None:
    for tree in (few_payoffs(seed), random_tree(seed, depth=5)):
        assert dominated_actions(tree).tolist() == rounds_by_definition(tree)


# -- nothing is lost by removing ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_equilibria_of_what_is_left_are_equilibria_of_the_whole(seed: int) -> None:
    tree = few_payoffs(seed)
    assert dominated_actions(tree).max() >= 2
    found = eqbench.solve(Game("few payoffs", tree), "ncp(dominated=remove,backend=scip)")
    assert found.status == "ok"
    assert found.statistics["dominated_rounds"] == dominated_actions(tree).max()
    assert found.max_regret <= 1e-12
