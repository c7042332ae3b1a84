"""Case enumeration: complete lists of equilibria, and what is said where there are none."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from solver_cases import Result, bimatrix, odd_games, run, with_payoffs
from supports import equilibria_by_supports

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import availability_of
from eqbench.verification import verify, verify_exactly

pytest.importorskip("flint", reason="python-flint is not installed")

SOLVER = eqbench.load_solver("case_enumeration")


def points(result: Result) -> set[tuple[Fraction | float, ...]]:
    """Frequencies of the second action at all information sets with two actions."""
    tree = result.game.tree
    second = [
        tree.action_start[i] + 1
        for i in range(tree.n_infosets)
        if len(tree.infoset_actions[i]) == 2
    ]
    profiles = [candidate.profile for candidate in result.candidates]
    return {
        tuple((p.exact if p.exact is not None else p.probabilities.tolist())[a] for a in second)
        for p in profiles
    }


def assert_complete(result: Result) -> None:
    """All cases are closed, and every profile is an equilibrium, exactly where it is exact."""
    assert result.termination.reason == "converged"
    assert {candidate.claim for candidate in result.candidates} == {"complete list"}
    assert_equilibria(result)


def assert_equilibria(result: Result) -> None:
    assert result.candidates
    for candidate in result.candidates:
        if candidate.profile.exact is None:
            rounding = 1e-15 * max(100.0, result.game.tree.payoff_range)
            assert verify(result.game.tree, candidate.profile).max_regret <= rounding
        else:
            assert verify_exactly(result.game.tree, candidate.profile).max_regret == 0


def three_players(payoffs: np.ndarray) -> Game:
    """Strategic form from integers (8, 3), the last player's action changing fastest."""
    return with_payoffs(eqbench.load_game("random(players=3,actions=2)"), payoffs)


def half_curved() -> Game:
    """Payoffs x z, y z and z (4 x y - 1) of three players with frequencies x, y, z.

    All play 1, or the third plays 0 and the others anything with x y <= 1/4.
    """
    moves = itertools.product((0, 1), repeat=3)
    return three_players(np.array([(x * z, y * z, z * (4 * x * y - 1)) for x, y, z in moves]))


def idle(sets: int) -> Game:
    """One player who decides once, at one of several information sets, all payoffs zero."""
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1, sets)] * sets)
    for i in range(sets):
        node = builder.decision((root, i), 0, f"I{i}", ["a", "b"])
        for move in (0, 1):
            builder.terminal((node, move), [0])
    return Game("idle", builder.tree())


@pytest.mark.parametrize(
    ("game", "expected"),
    [
        ("matching_pennies", {("1/2", "1/2")}),
        ("prisoners_dilemma", {("1", "1")}),
        ("battle_of_sexes", {("0", "0"), ("1", "1"), ("1/3", "2/3")}),
        ("jordan", {("1/2", "1/2", "1/2")}),
    ],
)
def test_classics_have_their_known_equilibria(game: str, expected: set[tuple[str, ...]]) -> None:
    result = run("case_enumeration", game)
    assert_complete(result)
    assert points(result) == {tuple(map(Fraction, point)) for point in expected}


def test_two_player_kuhn_poker_has_exactly_the_line_of_kuhn() -> None:
    """Kuhn 1950: P1 bets the lowest card with alpha, the highest with 3 alpha, and calls with
    the middle one with alpha + 1/3, for any alpha up to 1/3; P2 has one strategy.
    """
    result = run("case_enumeration", "kuhn2")
    assert_complete(result)
    tree, found = result.game.tree, set()
    for candidate in result.candidates:
        rows = {
            (player, tree.infoset_labels[i]): candidate.profile.exact[tree.action_start[i] + 1]
            for player in (0, 1)
            for i in tree.infosets_of(player)
        }
        alpha = rows[0, "1:"]
        found.add(alpha)
        assert rows == {
            (0, "1:"): alpha, (0, "2:"): 0, (0, "3:"): 3 * alpha,
            (0, "1:KB"): 0, (0, "2:KB"): alpha + Fraction(1, 3), (0, "3:KB"): 1,
            (1, "1:K"): Fraction(1, 3), (1, "2:K"): 0, (1, "3:K"): 1,
            (1, "1:B"): 0, (1, "2:B"): Fraction(1, 3), (1, "3:B"): 1,
        }  # fmt: skip
    assert found == {Fraction(0), Fraction(1, 6), Fraction(1, 3)}
    assert result.monitor.statistics["pieces_by_dimension"] == {1: 1}
    assert result.monitor.statistics["cases"] == 3**12


@pytest.mark.parametrize("seed", range(25))
def test_random_three_player_games_agree_with_all_supports(seed: int) -> None:
    payoffs = np.random.default_rng(seed).integers(-1000, 1000, (8, 3))
    result = run("case_enumeration", three_players(payoffs))
    assert_complete(result)
    found = sorted(tuple(map(float, point)) for point in points(result))
    expected = sorted(equilibria_by_supports(payoffs))
    assert len(found) == len(expected)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_four_player_games_need_fields_of_high_degree(seed: int) -> None:
    base = eqbench.load_game("random(players=4,actions=2)")
    payoffs = np.random.default_rng(seed).integers(0, 100, (16, 4))
    assert_complete(run("case_enumeration", with_payoffs(base, payoffs)))


@pytest.mark.parametrize("seed", range(5))
def test_all_equilibria_of_a_zero_sum_game_have_its_value(seed: int) -> None:
    game = eqbench.load_game(f"random_tree(players=2,zero_sum=true,seed={seed})")
    result = run("case_enumeration", game)
    assert_complete(result)
    value = run("sequence_lp", game).monitor.statistics["value"]
    for candidate in result.candidates:
        payoffs = verify(game.tree, candidate.profile).payoffs
        assert payoffs == pytest.approx([value, -value], abs=1e-11)


def test_irrational_equilibrium_is_rounded_once() -> None:
    """With three players, all mix where the square of the frequency is c / b = 1/2."""
    result = run("case_enumeration", "minimum_effort(players=3,efforts=2,a=0,b=2,c=1)")
    assert_complete(result)
    root = float(np.sqrt(0.5))
    assert points(result) == {(0, 0, 0), (1, 1, 1), (root, root, root)}


def test_degenerate_game_is_one_polytope_with_its_corners_and_a_point_inside() -> None:
    result = run("case_enumeration", idle(2))
    assert_complete(result)
    corners = set(itertools.product((Fraction(0), Fraction(1)), repeat=2))
    assert points(result) == corners | {(Fraction(1, 2), Fraction(1, 2))}
    assert result.monitor.statistics["pieces_by_dimension"] == {2: 1}


def test_continuum_and_isolated_points_are_told_apart() -> None:
    """P2 is indifferent after the first row, and P1 takes it while the second column is rare."""
    result = run("case_enumeration", bimatrix([[2, 0], [1, 1]], [[0, 0], [0, 1]]))
    assert_complete(result)
    half = Fraction(1, 2)
    assert points(result) == {(0, 0), (0, half), (0, Fraction(1, 4)), (1, 1)}
    assert result.monitor.statistics["pieces_by_dimension"] == {0: 1, 1: 1}


def test_sets_that_own_moves_avoid_are_played_best_too() -> None:
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["stay", "leave"])
    inner = builder.decision((root, 0), 0, "second", ["bad", "better"])
    builder.terminal((inner, 0), [0])
    builder.terminal((inner, 1), [1])
    builder.terminal((root, 1), [2])
    result = run("case_enumeration", Game("own moves", builder.tree()))
    assert_complete(result)
    assert points(result) == {(1, 1)}


@pytest.mark.parametrize("name", ["no information sets", "information sets with one action"])
def test_odd_games_are_solved(name: str) -> None:
    assert_complete(run("case_enumeration", odd_games()[name]))


def test_curved_equilibria_leave_their_cases_open() -> None:
    result = run("case_enumeration", half_curved())
    assert result.termination.reason == "limit"
    assert "some equilibria are curved" in result.termination.detail
    assert "of 27 cases stayed open" in result.termination.detail
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert points(result) == {(1, 1, 1)}
    assert result.monitor.statistics["unresolved"] == 2  # x y < 1/4 and x y = 1/4
    assert_equilibria(result)


def test_more_points_than_the_harness_takes_are_no_complete_list() -> None:
    result = run("case_enumeration", idle(10))
    assert len(result.candidates) == 1000
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert "handed over 1,000 of 1,025 points" in result.termination.detail


def test_iterations_are_nodes_and_open_cases_are_counted() -> None:
    whole = run("case_enumeration", "battle_of_sexes").monitor.statistics["nodes"]
    result = run("case_enumeration", "battle_of_sexes", iterations=2)
    assert result.termination.reason == "limit"
    assert "stopped after 2 iterations; 6 of 9 cases stayed open" in result.termination.detail
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert result.monitor.statistics["nodes"] == 2 < whole
    assert_equilibria(result)


@pytest.mark.parametrize("budget", [{"time_s": 1e-9}, {"iterations": 0}])
def test_budget_that_ends_before_any_equilibrium_finds_none(budget: dict[str, float]) -> None:
    result = run("case_enumeration", "kuhn2", **budget)
    assert result.termination.reason == "not_found"
    assert f"{3**12:,} of {3**12:,} cases stayed open" in result.termination.detail
    assert result.candidates == []


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("rock_paper_scissors", "there are 3 at information set '' of P1"),
        ("random", "floating-point numbers"),
        ("kuhn3", r"3\^48 = 79,766,443,076,872,509,863,361 cases; limit=16"),
    ],
)
def test_other_games_are_refused_with_the_reason(game: str, reason: str) -> None:
    refused = eqbench.solve(game, "case_enumeration")
    assert refused.status == "unsupported"
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(refused.reason)


def test_limit_of_information_sets_is_an_option() -> None:
    game = eqbench.load_game("kuhn2")
    assert eqbench.load_solver("case_enumeration(limit=12)").supports(game) is True
    refusal = eqbench.load_solver("case_enumeration(limit=11)").supports(game)
    assert "3^12 = 531,441 cases; limit=11 allows 11" in refusal
    with pytest.raises(UsageError, match="limit=-1"):
        eqbench.load_solver("case_enumeration(limit=-1)")


def test_missing_package_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert availability_of(SOLVER).state == "available"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    missing = availability_of(SOLVER)
    assert missing.state == "missing"
    assert "eqbench[exact]" in missing.reason
