"""Case enumeration: complete lists of equilibria, and what is said where there are none."""

from __future__ import annotations

import importlib
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
from eqbench.model.polytope import value_at, vertices
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
        (
            "kuhn2",
            {"timeout_s": 1e-9},
            "not_found",
            f"{3**12:,} of {3**12:,} cases",
            0,
            {"nodes": 0},
        ),
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
    assert "[exact]" in missing.reason


# -- the exact algebra below: elimination, polytopes, algebraic numbers ----------------------------

flint = pytest.importorskip("flint", reason="python-flint is not installed")
elimination = importlib.import_module("eqbench.solvers.case_enumeration.elimination")
pieces = importlib.import_module("eqbench.solvers.case_enumeration.pieces")
cases = importlib.import_module("eqbench.solvers.case_enumeration.cases")

fmpq, fmpq_poly = flint.fmpq, flint.fmpq_poly
X, Y, Z, W = cases.frequencies(4)
THIRD, MID, ONE = fmpq(1, 3), fmpq(1, 2), fmpq(1)
GOLDEN = (1 + 5**0.5) / 4


def systems(*equations: Any) -> list[Any]:
    """What is left of equations in the unit cube."""
    solver = elimination.Elimination([fmpq(0)] * 4, [ONE] * 4, list)
    return list(solver.solve(elimination.PolynomialSystem(equations)))


def covers(system: Any, point: tuple[fmpq, ...]) -> bool:
    """Whether a point solves a system, with slopes that do not vanish."""

    equations = [*system.equations, *(equation for _, equation in system.steps)]
    slopes = [equation.derivative(variable) for variable, equation in system.steps]
    return not any(own(*point) for own in equations) and all(own(*point) for own in slopes)


def solved(*equations: Any) -> tuple[list[Any], bool]:
    """Pieces of the unit cube on which equations hold, and whether these are all solutions."""
    even = tuple(equations) + (0 * X,) * (4 - len(equations))
    node = cases.CaseNode([cases.EVEN] * 4, [fmpq(0)] * 4, [ONE] * 4, [])
    return pieces.pieces_of(node, even, list)


@pytest.mark.parametrize(
    ("equations", "points"),
    [
        # each factor is followed
        (((3 * X - 1) * (2 * Y - 1),), [(THIRD, ONE), (ONE, MID), (THIRD, MID)]),
        # a coefficient is zero, or it is not
        (((2 * Y - 1) * X + (2 * Z - 1) * W,), [(ONE, MID, MID, ONE), (MID, MID, ONE, 0 * ONE),
                                                (MID, THIRD, ONE, fmpq(1, 6))]),
        # nothing is linear: the 3-4-5 triangle on a circle and an ellipse
        ((X**2 + Y**2 - 1, 25 * X**2 + 50 * Y**2 - 41), [(fmpq(3, 5), fmpq(4, 5))]),
        # the leading coefficient of the divisor is zero at the solution
        (((4 * Y**2 - 1) * X**2 + 4 * X - 2, 16 * X**3 + 16 * Y**4 - 3), [(MID, MID)]),
    ],
)  # fmt: skip
def test_elimination_loses_no_solution(
    equations: tuple[Any, ...], points: list[tuple[fmpq, ...]]
) -> None:
    found = systems(*equations)
    for point in points:
        point = (*point, *[THIRD] * (4 - len(point)))
        assert all(equation(*point) == 0 for equation in equations)
        assert any(covers(system, point) for system in found), point


@pytest.mark.parametrize(
    ("equations", "ends", "corners"),
    [
        ((2 * X + 2 * Y - 3, Z - W), [(0.5, 1), (0.5, 1), (0, 1), (0, 1)], 4),
        # only one of the roots lies in the unit interval
        ((4 * X**2 - 2 * X - 1, Y - X), [(GOLDEN, GOLDEN)] * 2 + [(0, 1)] * 2, 4),
    ],
)
def test_pieces_lie_on_their_equations_and_in_the_cube(
    equations: tuple[Any, ...], ends: list[tuple[float, float]], corners: int
) -> None:
    (piece,), is_complete = solved(*equations)
    assert is_complete
    assert (piece.dimension, len(piece.corners)) == (2, corners)
    columns = zip(*piece.corners.values(), strict=True)
    assert [(min(map(float, own)), max(map(float, own))) for own in columns] == ends


@pytest.mark.parametrize(
    "equations", [(4 * X * Y - 1,), (2 * X**2 - 1, 3 * Y**2 - 1)], ids=["curve", "two roots"]
)
def test_what_is_no_polytope_over_one_root_is_not_resolved(equations: tuple[Any, ...]) -> None:
    assert solved(*equations) == ([], False)


def test_solutions_that_pseudo_division_adds_are_noticed() -> None:
    half = elimination.PolynomialSystem((), (), ((0, 2 * X - 1),))
    chart = pieces.SolutionChart.of(half, [X, Y, Z, W])
    assert pieces.is_solution(chart, [2 * X * Y - Y])
    assert not pieces.is_solution(chart, [2 * X * Y - Y, 3 * X - 1])
    with pytest.raises(pieces.CurvedError):
        pieces.is_solution(chart, [X * Y])


def test_equal_numbers_of_different_fields_have_equal_keys() -> None:
    minus, plus = pieces.real_roots(fmpq_poly([-2, 0, 1]))
    _, shifted = pieces.real_roots(fmpq_poly([-1, -2, 1]))  # 1 + sqrt 2
    four = pieces.real_roots(fmpq_poly([1, 0, -10, 0, 1]))  # sqrt 2 + sqrt 3 and others

    def key(root: Any, *coefficients: fmpq | int) -> Any:
        return pieces.key(pieces.Algebraic(fmpq_poly([*coefficients]), root))

    assert key(plus, 0, 1) == key(shifted, -1, 1) == key(four[3], 0, fmpq(-9, 2), 0, MID)
    assert key(plus, 0, 1) != key(minus, 0, 1)
    assert key(plus, 3) == key(shifted, 3) == pieces.key(fmpq(3)) == 3


@pytest.mark.parametrize("ends", [(1, 2), (-2, -1)])
def test_signs_and_floats_follow_from_any_isolating_interval(ends: tuple[int, int]) -> None:
    def number(*coefficients: fmpq | int) -> Any:
        """A polynomial in a root of 2 whose interval nothing has narrowed yet."""
        root = pieces.RealRoot(fmpq_poly([-2, 0, 1]), *map(fmpq, ends))
        return pieces.Algebraic(fmpq_poly([*coefficients]), root)

    side = 1 if ends[0] > 0 else -1
    assert float(number(0, 1)) == side * float(np.sqrt(2))
    # rounded once; 1 less a rounded root has another last digit
    rounded = -0.41421356237309503 if side > 0 else 2.414213562373095
    assert float(1 - number(0, 1)) == float(number(1, -1)) == rounded
    small, large = fmpq(470832, 332929), fmpq(665857, 470832)  # off by 3.2e-12 and 1.6e-12
    assert number(-small, side) > 0 > number(-large, side)
    own = number(0, 1)
    assert not own - own
    assert not own * own / own - own


@pytest.mark.parametrize("seed", range(8))
def test_vertices_are_the_points_where_enough_constraints_meet(seed: int) -> None:
    """In three dimensions, with cuts through corners and along edges and planes that repeat."""
    drawn = np.random.default_rng(seed).integers(-2, 3, (4, 4)).tolist()
    drawn += [drawn[0], [1, 1, 1, 0]] if seed % 2 else [[-x for x in drawn[0]]]
    sides = [[*row, 0] for row in np.eye(3, dtype=int).tolist()]
    sides += [[*(-x for x in row[:3]), 1] for row in sides]
    planes = [list(map(fmpq, row)) for row in (*drawn, *sides)]
    expected = set()
    for chosen in itertools.combinations(planes, 3):
        matrix = flint.fmpq_mat([row[:3] for row in chosen])
        if matrix.det() != 0:
            point = tuple(matrix.solve(flint.fmpq_mat([[-row[3]] for row in chosen])).entries())
            if all(value_at(row, point) >= 0 for row in planes):
                expected.add(point)
    found = vertices(planes[: len(drawn)], 3, ONE)
    assert len(found) == len(expected)
    assert set(found) == expected
