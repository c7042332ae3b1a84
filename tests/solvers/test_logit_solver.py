"""The logit tracer as a solver: equilibria and their trembles, budget, branches, refusals."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from helpers.made_games import beer_and_quiche, entry_deterrence, random_tree, selten_horse
from helpers.solver_cases import bimatrix, run
from helpers.walks import TreeWalk

import eqbench
from eqbench.errors import UsageError
from eqbench.games.gamut import with_numbered_actions
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.profile import random_profile
from eqbench.model.tree import GameTree
from eqbench.model.trembles import Trembles
from eqbench.solver import Candidate
from eqbench.solvers.logit.branch import LogitBranch
from eqbench.solvers.logit.logit import polished
from eqbench.solvers.logit.trembles import trembles_of
from eqbench.verdicts import Proof, sequential
from eqbench.verification import verify

# -- what it hands over -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game",
    [
        "kuhn2",
        "kuhn3_reduced",
        "skp",
        "jordan",
        "shapley",
        "battle_of_sexes",
        "travelers_dilemma(highest=10)",
        "random(players=3,actions=4)",
        "random_tree(players=3,depth=5)",
        "goofspiel",
    ],
)
def test_principal_branch_ends_at_an_equilibrium(game: str) -> None:
    result = run("logit", game)
    assert result.termination.reason == "converged"
    end, equilibrium = result.candidates
    assert (equilibrium.claim, end.claim) == ("equilibrium", "iterate")
    assert verify(result.game.tree, equilibrium.profile).max_regret <= 1e-12
    figures = result.monitor.statistics
    assert figures["lambda_reached"] == 1e6
    assert figures["steps"] == result.monitor.work
    # what logit responses forgo is of order 1 / lambda
    assert figures["path_regret"] <= 1e-5
    measured = verify(result.game.tree, end.profile).max_regret
    assert figures["path_regret"] == pytest.approx(measured, abs=1e-14)


@pytest.mark.parametrize(
    ("game", "payoffs"),
    [
        ("random_signed(players=3,actions=3,seed=14)", [0.91521, 0.49313, 0.46898]),
        ("random_signed(players=4,actions=3,seed=9)", [0.27829, 0.35131, 0.47234, 0.25765]),
        ("random_tree(players=2,depth=5,seed=24)", [89, 79]),
        ("random_tree(players=3,depth=5,seed=45)", [11.02572, -56.61288, -7.81682]),
        # two turning points next to each other
        ("gamut(distribution=BidirectionalLEG-CG,players=3,actions=4,seed=7)", [1, 1, 1]),
    ],
)
def test_steps_do_not_jump_to_other_branches(game: str, payoffs: list[float]) -> None:
    """Gambit's tracer ends there, and so do steps twenty times shorter."""
    result = run("logit", game)
    figures = verify(result.game.tree, result.candidates[1].profile).payoffs
    np.testing.assert_allclose(figures, payoffs, atol=1e-5)
    assert result.monitor.statistics["principal_branch"] == "checked"


@pytest.mark.parametrize(("players", "actions"), [(2, 2), (3, 2), (2, 3), (3, 3)])
def test_bifurcation_of_a_coordination_game_is_noticed(players: int, actions: int) -> None:
    """With three actions two eigenvalues change their sign at once, and the determinant's stays."""
    table = np.zeros((actions,) * players + (players,))
    for action in range(actions):
        table[(action,) * players] = 1
    game = Game("coordination", with_numbered_actions(table))
    check = eqbench.load_solver("logit").branch(game).check
    assert check.startswith("bifurcation at lambda = ")
    # the mixtures react by lambda (players - 1) / actions ** (players - 1)
    fork = actions ** (players - 1) / (players - 1)
    assert float(check.split()[-1]) == pytest.approx(fork, rel=0.2)


def test_branch_is_left_where_a_step_fails_however_short() -> None:
    game = eqbench.load_game("random_tree(players=3,depth=5,seed=37)")
    path = eqbench.load_solver("logit(form=normal)").branch(game)
    assert path.check.startswith("left at lambda = 28.6")


def test_branch_that_bends_sharply_hundreds_of_times_is_followed_forward() -> None:
    """Gambit 17 needs some 7,500 steps for the same branch, and ends at the same equilibrium."""
    result = run("logit", "travelers_dilemma(highest=30)")
    assert result.monitor.statistics["lambda_reached"] == 1e6
    assert result.monitor.statistics["turning_points"] > 100
    assert verify(result.game.tree, result.candidates[1].profile).max_regret <= 1e-12


def test_frequencies_sum_to_one_where_log_odds_are_huge() -> None:
    """Log-odds of 1e8 have no digit behind 1e-8; frequencies must not depend on these."""
    game = bimatrix([[-1e7, -1e7], [2, 0], [0, 1]], [[0, 0], [0, 1], [2, 0]])
    path = eqbench.load_solver("logit(stop_lambda=11)").branch(game)
    assert np.abs(path.log_probabilities).max() > 1e8
    assert np.add.reduceat(path.behavior, [0, 3], axis=1) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("seed", range(8))
def test_branches_from_random_priors_end_at_equilibria(seed: int) -> None:
    result = run("logit(prior=random)", "kuhn3", seed)
    assert result.monitor.statistics["lambda_reached"] == 1e6
    _, equilibrium = result.candidates
    assert verify(result.game.tree, equilibrium.profile).max_regret <= 1e-12


def test_game_without_a_choice_is_solved_at_once() -> None:
    result = run("logit", bimatrix([[1]], [[2]]))
    assert result.termination.reason == "converged"
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"]


def test_unit_of_payoffs_does_not_matter() -> None:
    """Payoffs times c at lambda / c give the same responses; constants change nothing."""
    rows, columns = np.array([[3, 0], [1, 2]]), np.array([[1, 0], [0, 4]])
    plain, scaled = bimatrix(rows, columns), bimatrix(1000 * rows + 7, 1000 * columns - 11)
    large = eqbench.load_solver("logit(stop_lambda=20)").branch(plain)
    small = eqbench.load_solver("logit(stop_lambda=0.02)").branch(scaled)
    np.testing.assert_allclose(large.behavior[-1], small.behavior[-1], rtol=1e-9)


# -- budget and options -------------------------------------------------------------------------


def test_branch_without_polish_hands_over_its_end_only() -> None:
    result = run("logit(polish=false,stop_lambda=50)", "kuhn2")
    assert result.termination.reason == "converged"
    assert "= 50," in result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == ["iterate"]
    assert 1e-4 < result.max_regret < 0.1


def test_branch_ends_at_the_regret_or_target_that_is_asked_for() -> None:
    rough = run("logit(polish=false)", "kuhn3_reduced", target=0.05)
    assert rough.termination.reason == "converged"
    assert rough.max_regret <= 0.05
    assert rough.monitor.statistics["lambda_reached"] < 1e6
    result = run("logit(polish=false,regret=1e-3)", "kuhn3_reduced")
    assert result.termination.reason == "converged"
    assert result.max_regret <= 1e-3
    assert result.monitor.statistics["lambda_reached"] < 1e6
    path = eqbench.load_solver("logit(regret=1e-3)").branch(result.game)
    assert "0.001" in path.ending
    model = result.game.payoff_model()
    assert min(model.regrets(row).max() for row in path.behavior[:-1]) > 1e-3
    np.testing.assert_array_equal(path.behavior[-1], result.behavior)


def test_snapshots_lie_on_the_branch() -> None:
    result = run("logit", "kuhn2")
    snapshots = [report for report in result.reports if report.kind == "snapshot"]
    path = eqbench.load_solver("logit").branch(result.game)
    assert len(snapshots) >= 5
    for report in snapshots:
        made = report.candidate.profile.probabilities
        np.testing.assert_array_equal(made, path.behavior[report.work])


def test_branch_that_ends_too_early_says_that_no_equilibrium_was_found() -> None:
    result = run("logit(stop_lambda=0.001)", "random(players=3,actions=4)")
    assert result.termination.reason == "not_found"
    assert "0.001" in result.termination.detail
    assert "stop_lambda" in result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == ["iterate"]


# -- branches for studies -----------------------------------------------------------------------


def test_branch_begins_at_its_prior_and_satisfies_the_definition() -> None:
    game = eqbench.load_game("matching_pennies")
    skewed = bimatrix([[9, -1], [-1, 1]], [[-1, 1], [1, -1]])
    path = eqbench.load_solver("logit(stop_lambda=100)").branch(skewed, at=[0.5, 3])
    np.testing.assert_array_equal(path.behavior[0], 0.5)
    assert path.lambdas[0] == 0
    np.testing.assert_array_equal(path.lambdas[path.landings], [0.5, 3, 100])
    np.testing.assert_allclose(np.exp(path.log_probabilities), path.behavior, rtol=1e-15)
    p, q = path.behavior[:, 0], path.behavior[:, 2]
    odds = path.log_probabilities[:, ::2] - path.log_probabilities[:, 1::2]
    gains = np.stack([12 * q - 2, 2 - 4 * p], axis=1)
    expected = path.lambdas[:, None] * gains
    off = 1e-5 * (1 + 3 * path.lambdas[:, None])  # what log-odds off by 1e-5 move gains, at most
    assert np.isclose(odds, expected, rtol=1e-4, atol=off).all()
    np.testing.assert_allclose(odds[path.landings], expected[path.landings], atol=1e-9)
    assert "100" in path.ending
    center = eqbench.load_solver("logit").branch(game)
    assert (center.behavior == 0.5).all()


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_turning_points_are_passed(seed: int) -> None:
    """Between its turning points a branch has three responses for one lambda."""
    game = eqbench.load_game("travelers_dilemma(highest=10)")
    solver = eqbench.load_solver("logit(prior=random)")
    path = solver.branch(game, rng=np.random.default_rng(seed))
    assert path.lambdas[-1] == 1e6
    upper, lower = path.lambdas[path.turns]
    assert lower < upper
    middle = 0.5 * (lower + upper)
    again = solver.branch(game, at=[middle], rng=np.random.default_rng(seed))
    crossings = again.behavior[again.lambdas == middle]
    assert len(crossings) == 3
    assert np.abs(np.diff(crossings, axis=0)).max(axis=1).min() > 1e-3
    assert len(again.turns) == 2
    # every crossing is a response: the log-odds less those of the prior are lambda times gains
    values = game.payoff_model()
    for point in np.flatnonzero(again.lambdas == middle):
        gains = values.counterfactual_values(again.behavior[point])
        shift = again.log_probabilities[point] - again.log_probabilities[0] - middle * gains
        for player in range(2):
            assert np.ptp(shift[9 * player : 9 * player + 9]) < 1e-8


# -- refusals -----------------------------------------------------------------------------------


def test_branch_is_left_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqbench.solvers.logit.logit.CHUNK_S", float("inf"))  # on any machine
    asked = []

    def interrupted() -> bool:
        asked.append(True)
        return len(asked) > 2

    path = eqbench.load_solver("logit").branch(eqbench.load_game("kuhn3"), interrupted=interrupted)
    assert path.ending == "interrupted"
    assert len(path.lambdas) == 1 + 4 + 8, "asked before each doubled number of steps"


@pytest.mark.parametrize(
    ("solver", "game", "at", "words"),
    [
        *(
            ("logit", "kuhn2", [at], "up to stop_lambda=1e")
            for at in (0.0, -1.0, 2e6, float("nan"))
        ),
        ("logit(prior=random)", "kuhn2", [], "give a generator as rng"),
        ("logit", bimatrix([[1]], [[2]]), [], "no information set with a choice"),
    ],
)
def test_branch_that_cannot_be_followed_is_refused(
    solver: str, game: str | Game, at: list[float], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        eqbench.load_solver(solver).branch(
            eqbench.load_game(game) if isinstance(game, str) else game, at=at
        )


def test_game_with_too_many_unknowns_is_refused_with_their_number() -> None:
    wide = bimatrix(np.zeros((6000, 1), int), np.zeros((6000, 1), int))
    assert "5,999" in eqbench.load_solver("logit").supports(wide)
    with pytest.raises(UsageError, match="5,000"):
        eqbench.load_solver("logit").branch(wide)


TEXTBOOK = {"horse": selten_horse, "beer": beer_and_quiche, "entry": entry_deterrence}


def game_of(name: str) -> Game:
    return Game(name, TEXTBOOK[name]()) if name in TEXTBOOK else eqbench.load_game(name)


def handed_over(game: Game, solver: str = "logit", seed: int = 0) -> Candidate:
    found = [each for each in run(solver, game, seed=seed).candidates if each.claim != "iterate"]
    return found[0]


def proof_of(game: Game, candidate: Candidate) -> Proof:
    return sequential(Play.of(game.tree, candidate.profile), candidate.trembles).proof


@pytest.mark.parametrize(
    "name", [*TEXTBOOK, "kuhn2", "kuhn3", "skp", "kuhn(raises=1)", "kuhn(players=4)"]
)
def test_end_of_the_principal_branch_is_proved_sequential(name: str) -> None:
    game = game_of(name)
    assert proof_of(game, handed_over(game)) is Proof.CERTIFIED


@pytest.mark.parametrize("name", ["horse", "beer", "entry", "kuhn2", "kuhn3"])
def test_ends_of_branches_from_random_priors_are_proved_sequential(name: str) -> None:
    game = game_of(name)
    for seed in range(10):
        candidate = handed_over(game, "logit(prior=random)", seed)
        assert proof_of(game, candidate) is Proof.CERTIFIED


def test_equilibrium_is_that_without_trembles_to_the_last_bit() -> None:
    game = game_of("kuhn3")
    branch = LogitBranch(game)
    while branch.advance(np.array([1e6]), 64):
        pass
    logs = branch.log_probabilities(branch.points()[-1:])[0]
    behavior, before = polished(game, logs).behavior, logs.copy()
    assert handed_over(game).profile.probabilities.tobytes() == behavior.tobytes()
    assert trembles_of(branch.flat, logs, behavior) is not None
    assert logs.tobytes() == before.tobytes()


def test_broken_orders_and_weights_prove_nothing() -> None:
    """Where the trembles of several cards must be tied, one of them is moved away."""
    game = game_of("kuhn3")
    candidate = handed_over(game)
    play, trembles = Play.of(game.tree, candidate.profile), candidate.trembles
    assert trembles is not None
    rejected = {"order": 0, "weight": 0}
    for action in np.flatnonzero(play.played == 0).tolist():
        order, weight = trembles.order.copy(), trembles.weight.copy()
        order[action] += 1
        weight[action] *= 1.5
        for name, broken in (
            ("order", Trembles(order, trembles.weight)),
            ("weight", Trembles(trembles.order, weight)),
        ):
            rejected[name] += sequential(play, broken).proof is not Proof.CERTIFIED
    assert rejected["order"] >= 3
    assert rejected["weight"] >= 2


def test_profile_that_no_belief_supports_is_refuted_whatever_is_handed_over() -> None:
    game = game_of("horse")
    trembles = handed_over(game).trembles
    down = eqbench.BehaviorProfile.of(game.tree, [1, 0, 0, 1, 1, 0])
    assert sequential(Play.of(game.tree, down), trembles).proof is Proof.REFUTED


# -- conditional action values, their derivatives, and elimination ---------------------------------

kernels = importlib.import_module("eqbench.solvers.logit.kernels")
branches = importlib.import_module("eqbench.solvers.logit.branch")

GAMES = ["kuhn2", "kuhn3_reduced", "skp", "jordan", "random(players=3,actions=4)", "grown 6"]


def prepared(name: str) -> tuple[GameTree, Any, Any]:
    """The tree, flat and not, and memory; of grown ones chance moves after players."""
    grown = name.startswith("grown")
    tree = random_tree(int(name.split()[1])) if grown else eqbench.load_game(name).tree
    flat = kernels.flat_tree(tree)
    return tree, flat, kernels.workspace(flat)


def against_first(flat: Any, values: np.ndarray) -> np.ndarray:
    """Differences from the first action of the same set, (F,), of values (K,)."""
    first = np.repeat(values[flat.start[:-1]], np.diff(flat.start))
    return np.delete(values - first, flat.start[:-1])


@pytest.mark.parametrize("name", [*GAMES, "grown 2", "grown 11"])
def test_values_are_those_of_a_walk_over_the_tree(name: str) -> None:
    tree, flat, work = prepared(name)
    behavior = random_profile(tree, np.random.default_rng(0))
    kernels.action_values(flat, against_first(flat, np.log(behavior[flat.action])), work)
    reach, walked = TreeWalk(tree, behavior).counterfactual()
    assert len(flat.owner) == sum(len(actions) > 1 for actions in tree.infoset_actions)
    for begin, end in zip(flat.start[:-1], flat.start[1:], strict=True):
        infoset = int(np.searchsorted(tree.action_start, flat.action[begin], "right")) - 1
        gains = np.zeros(end - begin)  # where chance never leads there
        if reach[infoset]:
            gains = [float((v - walked[infoset][0]) / reach[infoset]) for v in walked[infoset]]
        made = work.values[begin:end] - work.values[begin]
        np.testing.assert_allclose(made, gains, atol=1e-12)


def checked_residual(flat: Any, work: Any, point: np.ndarray) -> np.ndarray:
    """Residual (F,) at a point, where the matrix is its derivative."""

    def residual(at: np.ndarray) -> np.ndarray:
        kernels.newton_system(flat, work, at)
        return work.right[0, :-1] * work.scale[:-1]

    columns = [
        (residual(point + step) - residual(point - step)) / 2e-6
        for step in 1e-6 * np.eye(len(point))
    ]
    made = residual(point)
    expected = np.stack(columns, axis=1) / work.scale[:-1, None]
    largest = np.abs(expected).max()
    np.testing.assert_allclose(work.bordered[:-1], expected, atol=1e-7 * largest)
    return made


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("form", ["normal", "reduced"])
def test_matrix_in_normal_form_is_the_derivative_on_the_branch(name: str, form: str) -> None:
    """Elsewhere what costs make up for is missing."""
    tree, _, _ = prepared(name)
    branch = branches.LogitBranch(Game(name, tree), flat=kernels.flat_tree(tree, form))
    assert not branch.advance(np.array([1.7]), 100)
    work = kernels.workspace(branch.flat)
    kernels.softmax(branch.flat.start, branch.flat.prior, work.log_prior, work.p)
    work.scale[:] = np.random.default_rng(3).uniform(0.5, 2.0, len(work.scale))
    made = checked_residual(branch.flat, work, branch.points()[-1])
    np.testing.assert_allclose(made, 0, atol=1e-8)


@pytest.mark.parametrize("name", GAMES)
def test_matrix_is_the_derivative_of_the_residual(name: str) -> None:
    _, flat, work = prepared(name)
    rng, size = np.random.default_rng(3), len(flat.prior)
    flat = flat._replace(prior=rng.normal(size=size))
    point = np.append(2 * rng.normal(size=size), 1.7)
    scale, border = rng.uniform(0.5, 2.0, size + 1), rng.normal(size=size + 1)
    work.scale[:], work.border[:] = scale, border

    made = checked_residual(flat, work, point)
    np.testing.assert_array_equal(work.bordered[-1], border)
    np.testing.assert_array_equal(work.right[1], np.append(np.zeros(size), 1.0))
    assert work.right[0, -1] == 0
    kernels.action_values(flat, point[:-1], work)
    expected = point[:-1] - flat.prior - 1.7 * against_first(flat, work.values)
    np.testing.assert_allclose(made, expected, atol=1e-12)


def test_beliefs_survive_reaches_that_no_float_can_hold() -> None:
    """Moves of probability exp(-5000) and less still leave beliefs that sum to 1."""
    tree, flat, work = prepared("kuhn3")
    kernels.action_values(
        flat, 5000.0 * np.random.default_rng(0).normal(size=len(flat.prior)), work
    )
    total = np.add.reduceat(work.belief[flat.decision], flat.node_start[:-1])
    np.testing.assert_allclose(total, 1.0, atol=1e-12)
    assert np.abs(work.values).max() <= float(np.ptp(tree.payoffs.table))


@pytest.mark.parametrize(
    ("here", "there", "stop"),
    [(0.0, 10.0, 1.0), (1.0, 2.0, 2.0), (6.0, 0.5, 5.0), (5.0, 1.5, 2.0), (2.0, 4.0, np.nan)],
)
def test_stops_are_found_in_the_direction_of_travel(here: float, there: float, stop: float) -> None:
    found = branches.stop_between(np.array([1.0, 2.0, 5.0]), here, there)
    np.testing.assert_equal(found, stop)


@pytest.mark.parametrize(("size", "share"), [(1, 1.0), (30, 1.0), (60, 0.05), (150, 0.02)])
def test_elimination_solves_full_and_sparse_equations(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    matrix = np.where(rng.random((size, size)) < share, rng.normal(size=(size, size)), 0.0)
    matrix[rng.permutation(size), np.arange(size)] += 1.0
    right, solution = rng.normal(size=(2, size)), np.empty((2, size))
    sign = branches.eliminate(matrix.copy(), right.copy(), solution)
    assert sign == np.linalg.slogdet(matrix).sign
    np.testing.assert_allclose(solution @ matrix.T, right, atol=1e-9)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0], [0.0, 2.0]], [[np.inf, 1.0], [1.0, 1.0]]]
)
def test_elimination_refuses_matrices_without_a_solution(matrix: list[list[float]]) -> None:
    assert branches.eliminate(np.array(matrix), np.ones((2, 2)), np.empty((2, 2))) == 0


def test_memory_is_that_of_the_matrices() -> None:
    tree, _, work = prepared("kuhn3")
    made = work.by_log.nbytes + work.bordered.nbytes
    assert kernels.bytes_needed(tree) == pytest.approx(made, rel=0.05)
