"""What solvers of one kind have in common, as tables of cases."""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import (
    Result,
    bimatrix,
    constant_sum,
    lottery,
    max_regret,
    numerical_jacobian,
    odd_games,
    random_two_player_game,
    run,
    tie,
    with_payoffs,
)
from scipy.optimize import linprog

import eqbench
from eqbench.model import realization as reference
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.solver import Monitor, refusal_of

CONSTANT_SUM = ["kuhn2", "kuhn(players=2,cards=13)", "rock_paper_scissors", "matching_pennies"]
GENERAL_SUM = [*CONSTANT_SUM, "prisoners_dilemma", "battle_of_sexes", "shapley"]
SOLVED = {
    "sequence_lp": [*CONSTANT_SUM, "kuhn(players=2,cards=5,pot=7/3)"],
    "lcp": GENERAL_SUM,
    "lcp(start=random)": GENERAL_SUM,
    "semismooth": [
        "kuhn2",
        "kuhn3_reduced",
        "kuhn3",
        "skp",
        "jordan",
        "shapley",
        "random(players=3,actions=3,seed=1)",
        "random(players=3,actions=3,seed=2)",
        "random_tree(players=3,depth=5,seed=1)",
        "random_tree(players=3,depth=5,seed=2)",
        "random_tree(players=2,depth=6,zero_sum=true,seed=3)",
    ],
}


def assert_solved(result: Result, tolerance: float = 1e-12) -> None:
    assert result.termination.reason == "converged", result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"]
    assert result.max_regret <= tolerance


@pytest.mark.parametrize(
    ("spec", "game"), [(spec, game) for spec, games in SOLVED.items() for game in games]
)
def test_named_games_are_solved_to_rounding(spec: str, game: str) -> None:
    for seed in range(3 if spec == "semismooth" else 1):
        assert_solved(run(spec, game, seed))


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_of_two_players_are_solved_to_rounding(seed: int) -> None:
    game = random_two_player_game(seed, depth=6 + seed % 3)
    assert_solved(run("lcp", game))
    assert_solved(run("lcp(start=random)", game, seed))
    game = constant_sum(game, total=7)
    assert refusal_of(eqbench.load_solver("sequence_lp"), game) is None
    program, path = run("sequence_lp", game), run("lcp", game)
    assert_solved(program)
    value = program.monitor.statistics["value"]
    for result in (program, path):
        payoffs = game.payoff_model().expected_payoffs(result.behavior)
        np.testing.assert_allclose(payoffs, [value, 7 - value], atol=1e-9)


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_are_solved(name: str) -> None:
    game = odd_games()[name]
    for spec, tolerance in (("sequence_lp", 1e-15), ("lcp", 1e-15), ("semismooth", 1e-12)):
        assert refusal_of(eqbench.load_solver(spec), game) is None
        assert_solved(run(spec, game), tolerance)
    for start in ("uniform", "maximin"):
        played = run(f"fictitious_play(start={start})", game, iterations=1000)
        assert played.max_regret <= 0.01


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("factors", [(1e-9, 1e-9), (1e6, 1e6), (1e6, 1e-6)])
def test_units_of_the_payoffs_do_not_matter(factors: tuple[float, float], shift: float) -> None:
    game = random_two_player_game(7, depth=8)
    same = with_payoffs(game, (game.tree.payoffs.table + shift) * np.array(factors))
    first, second = (run("lcp", g).behavior for g in (game, same))
    np.testing.assert_allclose(first, second, atol=1e-9)
    game = constant_sum(random_two_player_game(3, depth=8))
    payoffs = factors[0] * game.tree.payoffs.table + np.array([shift, -shift])
    assert_solved(run("sequence_lp", with_payoffs(game, payoffs)), 1e-12 * (factors[0] + shift))
    rows, columns = [[3, 0, 1], [1, 2, 0], [0, 1, 3]], [[1, 2, 0], [3, 0, 1], [0, 3, 1]]
    factor = np.sqrt(factors[0] * factors[1])
    plain, scaled = (
        run("semismooth", bimatrix(unit * np.array(rows), unit * np.array(columns)), 4)
        for unit in (1.0, factor)
    )
    np.testing.assert_allclose(scaled.behavior, plain.behavior, atol=1e-10)
    assert_solved(scaled, 1e-12 * factor)


WIDE = np.zeros((10_000, 1), int)
NEARLY_MINUS = [[-1.0, 0.0], [0.0, -1.0 + 1e-9]]


def constant_sum_but_for_rounding() -> Game:
    game = bimatrix([[0.1, 0.7]], [[0.2, 0.3 - 0.7]])
    first, second = game.tree.payoffs.table.sum(axis=1)
    assert first != second
    return game


def pennies_with_a_ticket() -> Game:
    """A lottery ticket for both players, which changes nothing that they could do."""
    builder = TreeBuilder(["P1", "P2"])
    luck = builder.chance(None, [Fraction(1, 4), Fraction(3, 4)])
    for outcome, ticket in enumerate((9, -3)):
        node = builder.decision((luck, outcome), 0, "", ["heads", "tails"])
        for own in range(2):
            other = builder.decision((node, own), 1, "", ["heads", "tails"])
            for answer in range(2):
                win = 1 if own == answer else -1
                builder.terminal((other, answer), [win + ticket, -win + ticket])
    return Game("pennies with a ticket", builder.tree())


@pytest.mark.parametrize(
    ("spec", "make", "words"),
    [
        ("lcp", lambda: eqbench.load_game("skp"), "3 players"),
        ("lcp", lottery, "1 player"),
        ("sequence_lp", lambda: eqbench.load_game("skp"), "3 players"),
        ("sequence_lp", lottery, "1 player"),
        ("sequence_lp", lambda: eqbench.load_game("prisoners_dilemma"), "from 2 to 6"),
        ("sequence_lp", lambda: bimatrix(np.eye(2).tolist(), NEARLY_MINUS), "1e-09"),
        ("sequence_lp", constant_sum_but_for_rounding, None),
        ("sequence_lp", pennies_with_a_ticket, None),
        ("semismooth", lambda: bimatrix(WIDE, WIDE), "4,580 MiB"),
    ],
)
def test_what_a_method_cannot_solve_is_refused(spec: str, make: Any, words: str | None) -> None:
    reason = refusal_of(eqbench.load_solver(spec), make())
    assert reason is None if words is None else words in str(reason)


@pytest.mark.parametrize(
    ("spec", "game", "memory_bytes", "words"),
    [
        ("lcp", "kuhn(players=2,cards=100)", 2**20, "need 15"),
        ("semismooth", "kuhn4", 2**21, "need 5 MiB"),
        ("arclength", "leduc", 10 * 2**20, "of 10 MiB"),
        ("logit", "leduc", 2**24, "need 33 MiB"),
    ],
)
def test_memory_limit_below_the_matrices_is_named_with_their_size(
    spec: str, game: str, memory_bytes: int, words: str
) -> None:
    result = run(spec, game, memory_bytes=memory_bytes)
    assert (result.termination.reason, result.reports) == ("limit", [])
    assert words in result.termination.detail


@pytest.mark.parametrize(
    ("spec", "game", "budgets"),
    [
        ("sequence_lp", "kuhn(players=2,cards=40)", [{"iterations": 3}, {"timeout_s": 1e-6}]),
        ("fictitious_play(start=maximin)", "kuhn(players=2,cards=30)", [{"timeout_s": 1e-6}]),
        ("lcp", "kuhn(players=2,cards=20)", [{"iterations": 0}, {"iterations": 7}]),
        ("lcp", "kuhn(players=2,cards=20)", [{"timeout_s": 1e-6}]),
        ("semismooth", "kuhn3", [{"iterations": 0}, {"iterations": 1}, {"iterations": 9}]),
    ],
)
def test_budget_ends_a_run_with_what_is_in_hand(
    spec: str, game: str, budgets: list[dict[str, Any]]
) -> None:
    by_program = spec.startswith(("sequence_lp", "fictitious_play"))
    for budget in budgets:
        result = run(spec, game, **budget)
        assert result.termination.reason == "limit"
        if by_program:
            assert "not solved" in result.termination.detail
            assert result.reports == []
            continue
        assert result.monitor.work == budget.get("iterations", result.monitor.work)
        assert [candidate.claim for candidate in result.candidates] == ["iterate"]
        assert result.max_regret > 1e-3


@pytest.mark.parametrize(
    ("spec", "game"),
    [
        *((name, "kuhn3") for name in ("cfr", "cfr_plus", "cfr_linear", "dcfr", "pcfr_plus")),
        *((name, "kuhn3") for name in ("mmd", "reg_cfr", "qfr", "mccfr", "fictitious_play")),
        ("lcp(start=random)", "kuhn(players=2,cards=13)"),
        *(
            (f"replicator(integrator={name},start=random)", "kuhn2")
            for name in ("dop853", "heyoka")
        ),
    ],
)
def test_cutting_into_chunks_changes_no_bit(
    spec: str, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for cuts in ([300], [1] * 300, [1, 2, 97, 150, 50]):

        def chunks(monitor: Monitor, cuts: list[int] = cuts) -> Iterator[tuple[int, int, bool]]:
            for count in cuts:
                start = monitor.work
                yield start, count, True
                monitor.work = start + count

        monkeypatch.setattr(Monitor, "chunks", chunks)
        result = run(spec, game, seed=5)
        found.append([each.profile.probabilities.tobytes() for each in result.candidates])
    assert found[0]
    assert found == found[:1] * 3


def test_frequencies_are_uniform_where_the_own_plan_does_not_lead() -> None:
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "enter", ["in", "out"])
    inside = builder.decision((root, 0), 0, "inside", ["a", "b", "c"])
    for move in range(3):
        builder.terminal((inside, move), [-1 - move, 1 + move])
    builder.terminal((root, 1), [0, 0])
    for spec in ("sequence_lp", "fictitious_play(start=maximin)"):
        result = run(spec, Game("entry", builder.tree()), iterations=50)
        np.testing.assert_array_equal(result.behavior, [0, 1, 1 / 3, 1 / 3, 1 / 3])


# -- fictitious play -------------------------------------------------------------------------------


def by_definition(game: Game, iterations: int, *, alternating: bool) -> np.ndarray:
    """Average after some iterations from the uniform start, in the plainest way.

    The best response is found by trying the pure choices of an information set one by one, the
    latest sets first, and averages are running means of realization plans.
    """
    form = game.sequence_form
    n, owner = form.n_players, form.infoset_player[form.sequence_infoset[form.n_players :]]
    uniform = 1.0 / np.diff(form.block_start)[form.sequence_infoset[n:]]
    average = RealizationPlan.of(form, uniform).weights.copy()
    player_of = np.concatenate((np.arange(n), owner))
    for t in range(1, iterations + 1):
        behavior = RealizationPlan(average).to_behavior(form)
        for player in range(n):
            if alternating:
                behavior = RealizationPlan(average).to_behavior(form)
            response = behavior.copy()
            for i in reversed(np.flatnonzero(form.infoset_player == player)):
                block = slice(form.block_start[i] - n, form.block_start[i + 1] - n)
                values = reference.counterfactual_values(form, response)[block]
                best = int(np.argmax(values >= values.max() - 1e-12 * game.tree.payoff_range))
                response[block] = np.arange(len(values)) == best
            own = player_of == player
            played = RealizationPlan.of(form, response).weights
            average[own] += (played[own] - average[own]) / (t + 1)
    return RealizationPlan(average).to_behavior(form)


@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", ["kuhn2", "kuhn3", "jordan", "random 1", "random 2", "random 3"])
def test_averages_follow_the_definition(name: str, alternating: bool) -> None:
    if name.startswith("random"):
        game = Game(name, random_tree(int(name.split()[1]), depth=6))
    else:
        game = eqbench.load_game(name)
    spec = f"fictitious_play(alternating={str(alternating).lower()})"
    for iterations in (1, 2, 15):
        expected = by_definition(game, iterations, alternating=alternating)
        result = run(spec, game, iterations=iterations)
        np.testing.assert_allclose(result.behavior, expected, atol=1e-12)


@pytest.mark.parametrize("alternating", ["false", "true"])
@pytest.mark.parametrize("start", ["uniform", "random", "maximin"])
def test_averages_approach_the_value_of_two_player_kuhn(start: str, alternating: str) -> None:
    spec = f"fictitious_play(start={start},alternating={alternating})"
    early, late = (run(spec, "kuhn2", iterations=n) for n in (100, 100_000))
    assert late.max_regret < 2e-3 < early.max_regret
    payoffs = late.game.payoff_model().expected_payoffs(late.behavior)
    assert payoffs[0] == pytest.approx(-1 / 18, abs=2e-3)


# -- ties ---------------------------------------------------------------------------------


def test_first_of_equally_good_actions_is_taken() -> None:
    result = run(
        "fictitious_play", bimatrix(np.zeros((3, 3), int), np.eye(3, dtype=int)), iterations=2
    )
    np.testing.assert_allclose(result.behavior, [7 / 9, 1 / 9, 1 / 9] * 2)


def test_rounding_does_not_break_ties() -> None:
    assert run("fictitious_play", tie(), iterations=99).behavior[0] == pytest.approx(0.995)


# -- starts -------------------------------------------------------------------------------


def test_sums_of_plans_stay_exact_over_many_iterations() -> None:
    """Only whole numbers are added to the start, so no digit of a sum is lost."""
    result = run("fictitious_play(start=maximin)", "jordan", iterations=200_000)
    counts = result.behavior * 200_001 - 0.5
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)


# -- maximin plans ---------------------------------------------------------------------------------

maximin = importlib.import_module("eqbench.solvers.maximin")
THREE_PLAYERS = [f"random {seed}" for seed in range(8)] + ["skp", "jordan"]


def load(name: str) -> Game:
    """A game, or a random tree with three players."""
    if name.startswith("random"):
        return Game(name, random_tree(2 + 4 * int(name.split()[1]), depth=5))
    return eqbench.load_game(name)


def merged(tree: GameTree, player: int) -> Game:
    """The two-player zero-sum game of a player against all others acting as one.

    Built node by node: the others' information set is the list of all information sets that
    they moved in on the way, with their moves, and the one that the mover is in.
    """
    builder = TreeBuilder(["alone", "all others"])

    def grow(node: int, place: Any, others: tuple) -> None:
        children = np.flatnonzero(tree.parent == node)
        children = children[children > 0]
        mover, infoset = int(tree.player[node]), int(tree.infoset[node])
        if mover == TERMINAL:
            row = int(np.searchsorted(tree.terminals, node))
            payoff = float(tree.payoffs.table[row, player])
            builder.terminal(place, [payoff, -payoff])
            return
        if mover == CHANCE:
            here = builder.chance(place, [float(tree.chance_probability[c]) for c in children])
        else:
            label = str(infoset) if mover == player else str((others, infoset))
            here = builder.decision(
                place, int(mover != player), label, tree.infoset_actions[infoset]
            )
        for move, child in enumerate(children):
            known = others
            if mover not in (CHANCE, player):
                known = (*others, (infoset, move))
            grow(int(child), (here, move), known)

    grow(0, None, ())
    return Game("merged", builder.tree())


# -- values -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THREE_PLAYERS)
def test_value_is_that_of_the_zero_sum_game_against_all_others(name: str) -> None:
    game = load(name)
    for player in range(3):
        solution = maximin.MaximinProgram.of(game.tree, player).solve(60)
        against = merged(game.tree, player)
        assert run("sequence_lp", against).max_regret <= 1e-12
        value = against.payoff_model().expected_payoffs(run("sequence_lp", against).behavior)[0]
        assert solution.value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", THREE_PLAYERS)
def test_plans_make_sure_of_the_values_against_any_profile_of_the_others(name: str) -> None:
    game = load(name)
    result = run("fictitious_play(start=maximin)", game, iterations=0)
    values = np.array(result.monitor.statistics["maximin_values"])
    owner = game.sequence_form.infoset_player[game.sequence_form.sequence_infoset[3:]]
    rng = np.random.default_rng(1)
    for _ in range(20):
        others = random_profile(game.tree, rng)
        for player in range(3):
            profile = np.where(owner == player, result.behavior, others)
            payoff = game.payoff_model().expected_payoffs(profile)[player]
            assert payoff >= values[player] - 1e-12


def test_player_alone_with_chance_is_sure_of_the_best_expectation() -> None:
    result = run("fictitious_play(start=maximin)", lottery(), iterations=0)
    assert result.monitor.statistics["maximin_values"] == pytest.approx([4 / 3])
    np.testing.assert_array_equal(result.behavior, [1, 0, 1, 0])


# -- the solver of one program ------------------------------------------------------------


BROKEN = types.SimpleNamespace(status=4, message="numerical difficulties", nit=5)


def tampered(*args: Any, **options: Any) -> Any:
    solution = linprog(*args, **options)
    solution.x[1] += 1e-6
    return solution


@pytest.mark.parametrize(
    ("replacement", "words"),
    [(lambda *args, **options: BROKEN, "numerical difficulties"), (tampered, "no realization")],
)
def test_failure_of_the_backend_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, replacement: Any, words: str
) -> None:
    monkeypatch.setattr(maximin, "linprog", replacement)
    result = run("sequence_lp", "kuhn2")
    assert result.termination.reason == "failed"
    assert words in result.termination.detail
    assert result.candidates == []


# -- semismooth ------------------------------------------------------------------------------------

system = importlib.import_module("eqbench.solvers.fischer_burmeister")

# -- the equations ------------------------------------------------------------------------------

GAMES = [
    "kuhn2",
    "kuhn3_reduced",
    "jordan",
    "random(players=4,actions=2)",
    "random_tree(players=3,depth=5)",
]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("where", ["profile", "outside"])
def test_derivatives_are_those_of_the_residual(game: str, where: str) -> None:
    equations, rng = system.System(eqbench.load_game(game)), np.random.default_rng(1)
    point = equations.start(equations.random_behavior(rng))
    if where == "outside":
        point = equations.at(point.unknowns + rng.normal(size=len(point.unknowns)))
    assert np.hypot(point.weights[equations.form.n_players :], point.slacks).min() > 1e-4
    numerical = numerical_jacobian(lambda x: equations.at(x).residual, point.unknowns, 1e-6)
    scale = np.abs(numerical).max()
    np.testing.assert_allclose(equations.derivatives(point), numerical, atol=1e-7 * scale)


def test_slopes_at_the_kink_are_a_limit_of_slopes_nearby() -> None:
    zero, near = np.zeros(1), np.full(1, 1e-200)
    at, beside = (system.fischer_burmeister_slopes(a, a) for a in (zero, near))
    np.testing.assert_allclose(at, beside, rtol=1e-14)
    np.testing.assert_allclose(at, 1 - np.sqrt(0.5), rtol=1e-14)


def test_function_is_zero_exactly_where_both_conditions_hold() -> None:
    a, b = np.array([0.0, 3.0, 0.0]), np.array([2.0, 0.0, 0.0])
    assert not system.fischer_burmeister(a, b).any()
    a, b = np.array([-1e-9, 1.0, 1e-9, -1.0]), np.array([2.0, -1e-9, 1e-9, -1.0])
    assert system.fischer_burmeister(a, b).all()


def test_function_keeps_the_digits_of_the_smaller_argument() -> None:
    """The series of a + b - sqrt(a^2 + b^2) for small b begins with b."""
    made = system.fischer_burmeister(np.ones(1), np.full(1, 1e-20))
    np.testing.assert_allclose(made, 1e-20, rtol=1e-14)


def test_steps_go_downhill_also_where_the_matrix_is_singular() -> None:
    rng = np.random.default_rng(3)
    singular = np.outer(rng.normal(size=5), rng.normal(size=5))
    for matrix in (singular, np.eye(5)):
        gradient = matrix.T @ rng.normal(size=5)
        direction = system._direction(matrix, gradient, 1e-30)
        assert np.isfinite(direction).all()
        assert direction @ gradient < 0


# -- what it finds ------------------------------------------------------------------------------


def test_all_hands_over_each_equilibrium_once() -> None:
    """The battle of the sexes has two equilibria in pure strategies and a mixed one."""
    result = run("semismooth(all=true,starts=60)", "battle_of_sexes")
    assert result.termination.reason == "converged"
    assert result.monitor.statistics["starts"] == 60
    found = sorted(candidate.profile.probabilities[0] for candidate in result.candidates)
    assert [0 < value < 1 for value in found] == [False, True, False]
    assert "60 starts" in result.termination.detail
    assert max(result.regrets) <= 1e-12


# -- how it ends without an equilibrium ---------------------------------------------------------


def test_start_that_stalls_claims_nothing_and_further_starts_go_on() -> None:
    """Four of five starts stall here; which ones is rounding."""
    for seed in range(20):
        result = run("semismooth(starts=1)", "random(players=3,actions=6)", seed)
        if result.termination.reason == "not_found":
            break
    assert [candidate.claim for candidate in result.candidates] == ["iterate"]
    assert result.max_regret > 1e-3
    assert result.monitor.statistics["converged_share"] == 0
    assert result.monitor.work < 200  # the most steps of a start
    further = run("semismooth", "random(players=3,actions=6)", seed)
    assert further.monitor.statistics["starts"] > 1
    assert further.max_regret <= 1e-12


def test_steps_of_a_start_are_bounded() -> None:
    result = run("semismooth(starts=3,steps=4)", "kuhn3")
    assert result.termination.reason == "not_found"
    assert result.monitor.work == 12


def test_snapshots_come_nearer() -> None:
    first = run("semismooth", "kuhn3")
    assert [report.work for report in first.reports] == [1, 8, first.monitor.work]
    regrets = [max_regret(first.game, each.profile.probabilities) for each in first.snapshots]
    assert regrets[0] > regrets[-1] > 1e-6


# -- Lemke's path ----------------------------------------------------------------------------------

complementarity = importlib.import_module("eqbench.solvers.complementarity")


def begin(game: Game, seed: int) -> tuple[Any, Any]:
    """Problem with a random prior, and its first tableau."""
    prior = random_profile(game.tree, np.random.default_rng(seed))
    form = game.sequence_form
    problem = complementarity.Problem.of(form, reference.realization(form, prior))
    return problem, problem.first_tableau()


@pytest.mark.parametrize("kind", ["general sum", "zero sum", "few payoffs", "rank one"])
@pytest.mark.parametrize("size", [2, 5, 20, 50])
def test_random_bimatrix_games_are_solved_to_rounding(kind: str, size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(5):
        rows, columns = rng.integers(-50, 51, (2, size, size + size % 3))
        if kind == "zero sum":
            columns = -rows
        elif kind == "few payoffs":
            rows, columns = rows > 30, columns > 30
        elif kind == "rank one":
            rows, columns = rows[:, :1] + 0 * rows, columns[:1] + 0 * columns
        result = run("lcp", bimatrix(rows.astype(int), columns.astype(int)))
        assert result.candidates[0].claim == "equilibrium"
        assert result.max_regret <= 1e-12


# -- the path -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kuhn2", "shapley", "random 2", "random 35"])
def test_plans_on_the_path_are_best_responses_to_the_mixtures_with_the_prior(name: str) -> None:
    if name.startswith("random"):
        game = random_two_player_game(int(name.split()[1]), depth=7)
    else:
        game = eqbench.load_game(name)
    problem, tableau = begin(game, 1)
    form, model = game.sequence_form, game.payoff_model()
    owner = np.append(np.arange(2), form.infoset_player[form.sequence_infoset[2:]])
    status, steps = complementarity.RUNNING, 0
    while status == complementarity.RUNNING:
        share = float(tableau.entries[tableau.place[-1], -1]) if tableau.is_basic[-1] else 0.0
        if share > 1e-9:
            steps += 1
            mixture = problem.plans(tableau)
            plans = (mixture - (1 - share) * problem.prior) / share
            for player in range(2):
                own = np.where(owner == player, plans, mixture)
                assert own.min() >= -1e-9
                behavior = RealizationPlan(np.maximum(own, 0)).to_behavior(form)
                assert model.regrets(behavior)[player] <= 1e-9
        _, status = complementarity.advance(tableau, 1)
    assert status == complementarity.SOLVED
    assert steps >= 4


def test_uniform_prior_of_a_regular_game_takes_no_detour() -> None:
    """In the order of the sequences, ties here lead along a path of 97,547 pivots."""
    result = run("lcp", "kuhn(players=2,cards=40)")
    assert result.max_regret <= 1e-12
    assert result.monitor.work < 1000


def test_ties_are_broken_as_if_the_first_basis_were_perturbed() -> None:
    """The row that leaves is the one that leaves when infinitesimals become small numbers."""
    rng, ties = np.random.default_rng(0), 0
    for seed in range(40):
        game = bimatrix(rng.integers(0, 2, (4, 4)), rng.integers(0, 2, (4, 4)))
        _, tableau = begin(game, seed)
        entries = tableau.entries
        entries[:, -1] = 0.0  # all rows tie
        for _ in range(3):
            column = int(rng.integers(len(tableau.basic) - 1))
            rows, step = complementarity.least_step(tableau, column)
            if len(rows) < 2:
                continue
            ties += 1
            assert step == 0.0
            expected = rows[np.argmin(perturbations(tableau)[rows] / -entries[rows, column])]
            chosen = complementarity.break_tie(tableau, column, rows)
            assert chosen == expected
            complementarity.pivot(tableau, chosen, column)
    assert ties > 20


def perturbations(tableau: Any) -> np.ndarray:
    """Values of the basic variables if those of the first basis are raised by 1e-2, 1e-4, …"""
    values = np.zeros(len(tableau.basic))
    for rank, variable in enumerate(tableau.first_basis):
        size, place = 1e-2 ** (rank + 1), tableau.place[variable]
        if tableau.is_basic[variable]:
            values[place] += size
        else:
            values -= size * tableau.entries[:, place]
    return values


# -- endings ------------------------------------------------------------------------------


def ray(tableau: Any, count: int) -> tuple[int, int]:
    return 0, complementarity.RAY


def singular(tableau: Any, count: int) -> tuple[int, int]:
    tableau.is_basic[:] = True
    return 1, complementarity.SOLVED


@pytest.mark.parametrize(("advance", "words"), [(ray, "ray"), (singular, "singular")])
def test_path_without_an_end_that_can_be_read_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, advance: Any, words: str
) -> None:
    monkeypatch.setattr(complementarity, "advance", advance)
    result = run("lcp", bimatrix(np.zeros((2, 2), int), np.zeros((2, 2), int)))
    assert (result.termination.reason, result.reports) == ("failed", [])
    assert words in result.termination.detail


SOLUTION = complementarity.Problem.solution


@pytest.mark.parametrize(
    ("spoiled", "words", "claims"),
    [
        (lambda *given: SOLUTION(*given) * 0.9, "a realization plan", []),
        (lambda *given: SOLUTION(*given) - 0.5, "a realization plan", []),
        (lambda problem, _: problem.prior.copy(), "not an equilibrium", ["iterate"]),
    ],
)
def test_wrong_basis_is_not_called_an_equilibrium(
    monkeypatch: pytest.MonkeyPatch, spoiled: Any, words: str, claims: list[str]
) -> None:
    monkeypatch.setattr(complementarity.Problem, "solution", spoiled)
    result = run("lcp", "kuhn2")
    assert result.termination.reason == "failed"
    assert words in result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == claims
