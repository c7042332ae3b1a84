"""Case enumeration: complete lists of equilibria, and what is said where there are none."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import Result, bimatrix, odd_games, run, with_payoffs

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import availability_of
from eqbench.verification import verify, verify_exactly

pytest.importorskip("flint", reason="python-flint is not installed")

HALF = Fraction(1, 2)
ROOT = float(np.sqrt(0.5))
EFFORT = "minimum_effort(players=3,efforts=2,a=0,b=2,c=1)"
RARE = bimatrix([[2, 0], [1, 1]], [[0, 0], [0, 1]])


def points(result: Result) -> set[tuple[Fraction | float, ...]]:
    """Frequencies of the second action at all information sets with two actions."""
    tree = result.game.tree
    pairs = zip(tree.action_start.tolist(), tree.infoset_actions, strict=False)
    second = [start + 1 for start, actions in pairs if len(actions) == 2]
    profiles = [candidate.profile for candidate in result.candidates]
    return {tuple((p.exact or p.probabilities.tolist())[a] for a in second) for p in profiles}


def assert_equilibria(result: Result, claim: str) -> None:
    """Every profile is an equilibrium, exactly where it is exact."""
    for candidate in result.candidates:
        assert candidate.claim == claim
        if candidate.profile.exact is None:
            rounding = 1e-15 * max(100.0, result.game.tree.payoff_range)
            assert verify(result.game.tree, candidate.profile).max_regret <= rounding
        else:
            assert verify_exactly(result.game.tree, candidate.profile).max_regret == 0


def complete_list(game: str | Game) -> Result:
    """Run of which all cases are closed."""
    result = run("case_enumeration", game)
    assert result.termination.reason == "converged"
    assert result.candidates
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


def line_of_kuhn(alpha: Fraction) -> tuple[Fraction | int, ...]:
    """Kuhn 1950: P1 bets the lowest card with alpha, the highest with 3 alpha, and calls with
    the middle one with alpha + 1/3, for any alpha up to 1/3; P2 has one strategy.
    """
    third = Fraction(1, 3)
    return (alpha, 0, 3 * alpha, 0, alpha + third, 1, third, 0, 1, 0, third, 1)


@pytest.mark.parametrize(
    ("game", "expected", "pieces"),
    [
        ("matching_pennies", {(HALF, HALF)}, {0: 1}),
        ("prisoners_dilemma", {(1, 1)}, {0: 1}),
        ("battle_of_sexes", {(0, 0), (1, 1), (Fraction(1, 3), Fraction(2, 3))}, {0: 3}),
        ("jordan", {(HALF, HALF, HALF)}, {0: 1}),
        ("kuhn2", set(map(line_of_kuhn, (Fraction(0), Fraction(1, 6), Fraction(1, 3)))), {1: 1}),
        # all mix where the square of the frequency is c / b = 1/2; it is rounded once
        (EFFORT, {(0, 0, 0), (1, 1, 1), (ROOT, ROOT, ROOT)}, {0: 3}),
        # a polytope stands for itself with its corners and a point inside
        (idle(2), {*itertools.product((0, 1), repeat=2), (HALF, HALF)}, {2: 1}),
        # P2 is indifferent after the first row, and P1 takes it while the second column is rare
        (RARE, {(0, 0), (0, HALF), (0, HALF / 2), (1, 1)}, {0: 1, 1: 1}),
        # what own moves avoid is played best too
        (leaving(), {(1, 1)}, {0: 1}),
        (odd_games()["no information sets"], {()}, {0: 1}),
        (odd_games()["information sets with one action"], {(0,)}, {0: 1}),
    ],
)
def test_all_equilibria_are_listed(
    game: Any, expected: set[tuple[Fraction | float, ...]], pieces: dict[int, int]
) -> None:
    result = complete_list(game)
    assert points(result) == expected
    assert result.monitor.statistics["pieces_by_dimension"] == pieces


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

    # given z the others can be balanced, and the third gap is then quadratic in z
    samples = [balanced([0.0, 0.0, z], 0, 1) for z in (0.0, 0.5, 1.0)]
    roots = np.roots(np.polyfit([0.0, 0.5, 1.0], [gap(2, x) * scale for x, scale in samples], 2))
    fully_mixed = [balanced([0.0, 0.0, z], 0, 1)[0] for z in roots[np.isreal(roots)].real.tolist()]
    for pure in itertools.product((0.0, 1.0, None), repeat=3):
        mixed = [i for i in range(3) if pure[i] is None]
        start = [0.0 if value is None else value for value in pure]
        if len(mixed) == 1:
            continue  # in a generic game nobody mixes alone
        candidates = fully_mixed if len(mixed) == 3 else [start]
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


def half_curved() -> Game:
    """Payoffs x z, y z and z (4 x y - 1) of three players with frequencies x, y, z.

    All play 1, or the third plays 0 and the others anything with x y <= 1/4.
    """
    moves = itertools.product((0, 1), repeat=3)
    return three_players(np.array([(x * z, y * z, z * (4 * x * y - 1)) for x, y, z in moves]))


@pytest.mark.parametrize(
    ("game", "budget", "reason", "detail", "count", "statistics"),
    [
        # x y < 1/4 and x y = 1/4 are not resolved
        (half_curved(), {}, "stopped", "of 27 cases stayed open", 1, {"unresolved": 2}),
        (idle(10), {}, "converged", "handed over 1,000 of 1,025 points", 1000, {"pieces": 1}),
        ("battle_of_sexes", {"iterations": 2}, "limit", "; 6 of 9 cases stayed", 1, {"nodes": 2}),
        ("kuhn2", {"iterations": 0}, "not_found", f"{3**12:,} of {3**12:,} cases", 0, {"nodes": 0}),
        ("kuhn2", {"time_s": 1e-9}, "not_found", f"{3**12:,} of {3**12:,} cases", 0, {"nodes": 0}),
        ("kuhn2", {"memory_bytes": 9000}, "not_found", "more than the limit", 0, {"nodes": 0}),
    ],
)
def test_what_is_no_complete_list_says_so(
    game: Any, budget: Any, reason: str, detail: str, count: int, statistics: Any
) -> None:
    result = run("case_enumeration", game, **budget)
    assert result.termination.reason == reason
    assert detail in result.termination.detail
    assert len(result.candidates) == count
    assert statistics.items() <= result.monitor.statistics.items()
    assert_equilibria(result, "equilibrium")


@pytest.mark.parametrize(
    ("game", "limit", "reason"),
    [
        ("rock_paper_scissors", 16, "there are 3 at information set '' of P1"),
        ("random", 16, "floating-point numbers"),
        ("kuhn3", 16, "3^48 = about 10^22 cases; limit=16"),
        ("kuhn2", 11, "3^12 = 531,441 cases; limit=11 allows 11"),
    ],
)
def test_other_games_are_refused_with_the_reason(game: str, limit: int, reason: str) -> None:
    refused = eqbench.solve(game, f"case_enumeration(limit={limit})")
    assert refused.status == "unsupported"
    assert reason in refused.reason


def test_missing_package_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = eqbench.load_solver("case_enumeration")
    assert availability_of(solver).state == "available"
    monkeypatch.setitem(sys.modules, "flint", None)
    missing = availability_of(solver)
    assert missing.state == "missing"
    assert "eqbench[exact]" in missing.reason
