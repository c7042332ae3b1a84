"""The exact algebra below case enumeration: elimination, polytopes, algebraic numbers."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest

from eqbench.model.polytope import value_at, vertices

flint = pytest.importorskip("flint", reason="python-flint is not installed")
algebraic = importlib.import_module("eqbench.solvers.case_enumeration.algebraic")
elimination = importlib.import_module("eqbench.solvers.case_enumeration.elimination")
pieces = importlib.import_module("eqbench.solvers.case_enumeration.pieces")
cases = importlib.import_module("eqbench.solvers.case_enumeration.cases")

fmpq, fmpq_poly = flint.fmpq, flint.fmpq_poly
X, Y, Z, W = cases.frequencies(4)
THIRD, HALF, ONE = fmpq(1, 3), fmpq(1, 2), fmpq(1)
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
        (((3 * X - 1) * (2 * Y - 1),), [(THIRD, ONE), (ONE, HALF), (THIRD, HALF)]),
        # a coefficient is zero, or it is not
        (((2 * Y - 1) * X + (2 * Z - 1) * W,), [(ONE, HALF, HALF, ONE), (HALF, HALF, ONE, 0 * ONE),
                                                (HALF, THIRD, ONE, fmpq(1, 6))]),
        # nothing is linear: the 3-4-5 triangle on a circle and an ellipse
        ((X**2 + Y**2 - 1, 25 * X**2 + 50 * Y**2 - 41), [(fmpq(3, 5), fmpq(4, 5))]),
        # the leading coefficient of the divisor is zero at the solution
        (((4 * Y**2 - 1) * X**2 + 4 * X - 2, 16 * X**3 + 16 * Y**4 - 3), [(HALF, HALF)]),
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
    minus, plus = algebraic.real_roots(fmpq_poly([-2, 0, 1]))
    _, shifted = algebraic.real_roots(fmpq_poly([-1, -2, 1]))  # 1 + sqrt 2
    four = algebraic.real_roots(fmpq_poly([1, 0, -10, 0, 1]))  # sqrt 2 + sqrt 3 and others

    def key(root: Any, *coefficients: fmpq | int) -> Any:
        return algebraic.key(algebraic.Algebraic(fmpq_poly([*coefficients]), root))

    assert key(plus, 0, 1) == key(shifted, -1, 1) == key(four[3], 0, fmpq(-9, 2), 0, HALF)
    assert key(plus, 0, 1) != key(minus, 0, 1)
    assert key(plus, 3) == key(shifted, 3) == algebraic.key(fmpq(3)) == 3


@pytest.mark.parametrize("ends", [(1, 2), (-2, -1)])
def test_signs_and_floats_follow_from_any_isolating_interval(ends: tuple[int, int]) -> None:
    def number(*coefficients: fmpq | int) -> Any:
        """A polynomial in a root of 2 whose interval nothing has narrowed yet."""
        root = algebraic.RealRoot(fmpq_poly([-2, 0, 1]), *map(fmpq, ends))
        return algebraic.Algebraic(fmpq_poly([*coefficients]), root)

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
