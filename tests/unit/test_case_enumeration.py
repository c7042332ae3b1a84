"""Case enumeration: complete lists of equilibria, and what is said where there are none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from solver_cases import Result, bimatrix, odd_games, run, with_payoffs

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import availability_of
from eqbench.verification import verify, verify_exactly

pytest.importorskip("flint", reason="python-flint is not installed")

HALF = Fraction(1, 2)
ROOT = float(np.sqrt(0.5))


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


def assert_equilibria(result: Result, claim: str) -> None:
    """Every profile is an equilibrium, exactly where it is exact."""
    assert {candidate.claim for candidate in result.candidates} == {claim}
    for candidate in result.candidates:
        if candidate.profile.exact is None:
            rounding = 1e-15 * max(100.0, result.game.tree.payoff_range)
            assert verify(result.game.tree, candidate.profile).max_regret <= rounding
        else:
            assert verify_exactly(result.game.tree, candidate.profile).max_regret == 0


def complete_list(game: str | Game) -> Result:
    """Run of which all cases are closed."""
    result = run("case_enumeration", game)
    assert result.termination.reason == "converged"
    assert_equilibria(result, "complete list")
    return result


def three_players(payoffs: np.ndarray) -> Game:
    """Strategic form from integers (8, 3), the last player's action changing fastest."""
    return with_payoffs(eqbench.load_game("random(players=3,actions=2)"), payoffs)


def idle(sets: int) -> Game:
    """One player who decides once, at one of several information sets, all payoffs zero."""
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1, sets)] * sets)
    for i in range(sets):
        node = builder.decision((root, i), 0, f"I{i}", ["a", "b"])
        for move in (0, 1):
            builder.terminal((node, move), [0])
    return Game("idle", builder.tree())


def leaving() -> Game:
    """One player whose first move may avoid the second."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["stay", "leave"])
    inner = builder.decision((root, 0), 0, "second", ["bad", "better"])
    for place, payoff in ((inner, 0), 0), ((inner, 1), 1), ((root, 1), 2):
        builder.terminal(place, [payoff])
    return Game("own moves", builder.tree())


@pytest.mark.parametrize(
    ("game", "expected", "pieces"),
    [
        ("matching_pennies", {(HALF, HALF)}, {0: 1}),
        ("prisoners_dilemma", {(1, 1)}, {0: 1}),
        ("battle_of_sexes", {(0, 0), (1, 1), (Fraction(1, 3), Fraction(2, 3))}, {0: 3}),
        ("jordan", {(HALF, HALF, HALF)}, {0: 1}),
        # all mix where the square of the frequency is c / b = 1/2; it is rounded once
        (
            "minimum_effort(players=3,efforts=2,a=0,b=2,c=1)",
            {(0, 0, 0), (1, 1, 1), (ROOT, ROOT, ROOT)},
            {0: 3},
        ),
        # a polytope stands for itself with its corners and a point inside
        (idle(2), {*itertools.product((0, 1), repeat=2), (HALF, HALF)}, {2: 1}),
        # P2 is indifferent after the first row, and P1 takes it while the second column is rare
        (
            bimatrix([[2, 0], [1, 1]], [[0, 0], [0, 1]]),
            {(0, 0), (0, HALF), (0, Fraction(1, 4)), (1, 1)},
            {0: 1, 1: 1},
        ),
        # what own moves avoid is played best too
        (leaving(), {(1, 1)}, {0: 1}),
        (odd_games()["no information sets"], {()}, {0: 1}),
        (odd_games()["information sets with one action"], {(0,)}, {0: 1}),
    ],
)
def test_all_equilibria_are_listed(
    game: str | Game, expected: set[tuple[Fraction | float, ...]], pieces: dict[int, int]
) -> None:
    result = complete_list(game)
    assert points(result) == expected
    assert result.monitor.statistics["pieces_by_dimension"] == pieces


def test_two_player_kuhn_poker_has_exactly_the_line_of_kuhn() -> None:
    """Kuhn 1950: P1 bets the lowest card with alpha, the highest with 3 alpha, and calls with
    the middle one with alpha + 1/3, for any alpha up to 1/3; P2 has one strategy.
    """
    result = complete_list("kuhn2")
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
    found = points(complete_list(three_players(payoffs)))
    expected = sorted(equilibria_by_supports(payoffs))
    assert len(found) == len(expected)
    found = sorted(tuple(map(float, point)) for point in found)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def equilibria_by_supports(payoffs: np.ndarray) -> Iterator[tuple[float, ...]]:
    """Equilibria of a generic 2x2x2 game, in floating point: every player is pure or mixed."""
    table = payoffs.reshape(2, 2, 2, 3).astype(float)

    def gap(player: int, x: list[float]) -> float:
        part = np.moveaxis(table[..., player], player, 0)
        first, second = (np.array([1 - x[i], x[i]]) for i in range(3) if i != player)
        return float(first @ (part[1] - part[0]) @ second)

    def balanced(x: list[float], i: int, j: int) -> tuple[list[float], float]:
        """Where i and j make each other indifferent, and what both are divided by."""
        found, divisor = x[:], 1.0
        for own, other in ((i, j), (j, i)):
            low, high = (gap(other, [*x[:own], t, *x[own + 1 :]]) for t in (0.0, 1.0))
            found[own], divisor = -low / (high - low), divisor * (high - low)
        return found, divisor

    def fully_mixed() -> list[list[float]]:
        """Given z the others are balanced, and the third gap is then quadratic in z."""
        sample = [0.0, 0.5, 1.0]
        pairs = [balanced([0.0, 0.0, z], 0, 1) for z in sample]
        rests = [gap(2, x) * divisor for x, divisor in pairs]
        roots = np.roots(np.polyfit(sample, rests, 2))
        return [balanced([0.0, 0.0, z], 0, 1)[0] for z in roots[np.isreal(roots)].real.tolist()]

    for pure in itertools.product((0.0, 1.0, None), repeat=3):
        mixed = [i for i in range(3) if pure[i] is None]
        start = [0.0 if value is None else value for value in pure]
        if len(mixed) == 1:
            continue  # in a generic game nobody mixes alone
        candidates = fully_mixed() if len(mixed) == 3 else [start]
        if len(mixed) == 2:
            candidates = [balanced(start, *mixed)[0]]
        for x in candidates:
            signs = [gap(i, x) * (2 * x[i] - 1) for i in range(3) if i not in mixed]
            if all(0 < x[i] < 1 for i in mixed) and all(sign > 0 for sign in signs):
                yield tuple(x)


@pytest.mark.parametrize("seed", range(6))
def test_four_player_games_need_fields_of_high_degree(seed: int) -> None:
    base = eqbench.load_game("random(players=4,actions=2)")
    payoffs = np.random.default_rng(seed).integers(0, 100, (16, 4))
    complete_list(with_payoffs(base, payoffs))


@pytest.mark.parametrize("seed", range(5))
def test_all_equilibria_of_a_zero_sum_game_have_its_value(seed: int) -> None:
    game = eqbench.load_game(f"random_tree(players=2,zero_sum=true,seed={seed})")
    value = run("sequence_lp", game).monitor.statistics["value"]
    for candidate in complete_list(game).candidates:
        payoffs = verify(game.tree, candidate.profile).payoffs
        assert payoffs == pytest.approx([value, -value], abs=1e-11)


def test_curved_equilibria_leave_their_cases_open() -> None:
    """Payoffs x z, y z and z (4 x y - 1) of three players with frequencies x, y, z.

    All play 1, or the third plays 0 and the others anything with x y <= 1/4.
    """
    moves = itertools.product((0, 1), repeat=3)
    payoffs = np.array([(x * z, y * z, z * (4 * x * y - 1)) for x, y, z in moves])
    result = run("case_enumeration", three_players(payoffs))
    assert result.termination.reason == "limit"
    assert "of 27 cases stayed open" in result.termination.detail
    assert points(result) == {(1, 1, 1)}
    assert result.monitor.statistics["unresolved"] == 2  # x y < 1/4 and x y = 1/4
    assert_equilibria(result, "equilibrium")


def test_more_points_than_the_harness_takes_are_no_complete_list() -> None:
    result = run("case_enumeration", idle(10))
    assert len(result.candidates) == 1000
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert "handed over 1,000 of 1,025 points" in result.termination.detail


def test_iterations_are_nodes_and_open_cases_are_counted() -> None:
    whole = run("case_enumeration", "battle_of_sexes").monitor.statistics["nodes"]
    result = run("case_enumeration", "battle_of_sexes", iterations=2)
    assert result.termination.reason == "limit"
    assert "2 iterations; 6 of 9 cases stayed open" in result.termination.detail
    assert result.monitor.statistics["nodes"] == 2 < whole
    assert_equilibria(result, "equilibrium")


@pytest.mark.parametrize("budget", [{"time_s": 1e-9}, {"iterations": 0}])
def test_budget_that_ends_before_any_equilibrium_finds_none(budget: dict[str, float]) -> None:
    result = run("case_enumeration", "kuhn2", **budget)
    assert result.termination.reason == "not_found"
    assert f"{3**12:,} of {3**12:,} cases stayed open" in result.termination.detail
    assert result.candidates == []


@pytest.mark.parametrize(
    ("game", "limit", "reason"),
    [
        ("rock_paper_scissors", 16, "there are 3 at information set '' of P1"),
        ("random", 16, "floating-point numbers"),
        ("kuhn3", 16, "3^48 = 79,766,443,076,872,509,863,361 cases; limit=16"),
        ("kuhn2", 11, "3^12 = 531,441 cases; limit=11 allows 11"),
    ],
)
def test_other_games_are_refused_with_the_reason(game: str, limit: int, reason: str) -> None:
    refused = eqbench.solve(game, f"case_enumeration(limit={limit})")
    assert refused.status == "unsupported"
    assert reason in refused.reason


def test_limit_of_information_sets_is_an_option() -> None:
    game = eqbench.load_game("kuhn2")
    assert eqbench.load_solver("case_enumeration(limit=12)").supports(game) is True
    with pytest.raises(UsageError, match="limit=-1"):
        eqbench.load_solver("case_enumeration(limit=-1)")


def test_missing_package_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = eqbench.load_solver("case_enumeration")
    assert availability_of(solver).state == "available"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    missing = availability_of(solver)
    assert missing.state == "missing"
    assert "eqbench[exact]" in missing.reason
