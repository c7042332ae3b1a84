"""Complete lists: the same sets as independent enumeration, and nothing claimed beyond them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from helpers.made_games import selten_horse
from helpers.solver_cases import Result, bimatrix, random_two_player_game, run, with_payoffs

import eqbench
from eqbench.equilibria.regularity import rounded_index
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solvers.complete.pairs import ProductSet, product_sets
from eqbench.solvers.complete.polyhedron import extreme as extreme_of
from eqbench.solvers.ncp.rational import ExactGame
from eqbench.verification import verify, verify_exactly
from eqbench.verification.verifier import Allowance

Extreme = set[tuple[tuple[Fraction, ...], ...]]

# The 6x6 game with 75 equilibria of von Stengel 1997 with the payoffs of Savani and von Stengel
# 2006: rows of player 1; player 2's payoffs are in the catalog of Gambit.
ROWS = [
    [-81, 36, -126, 126, -36, 90],
    [-180, 72, -333, 297, -153, 270],
    [20, -3, 42, -33, 17, -30],
    [-30, 17, -33, 42, -3, 20],
    [270, -153, 297, -333, 72, -180],
    [90, -36, 126, -126, 36, -81],
]
COLUMNS = [
    [72, 36, 17, -3, -36, -153],
    [-180, -81, -30, 20, 90, 270],
    [297, 126, 42, -33, -126, -333],
    [-333, -126, -33, 42, 126, 297],
    [270, 90, 20, -30, -81, -180],
    [-153, -36, -3, 17, 36, 72],
]


def solved(game: str | Game) -> Result:
    result = run("complete", game)
    assert result.termination.reason == "converged"
    assert result.monitor.statistics["complete"]
    for candidate in result.candidates:
        assert candidate.claim == "complete list"
        if candidate.profile.exact is not None and result.game.tree.exact:
            assert verify_exactly(result.game.tree, candidate.profile).max_regret == 0
    return result


def extreme(result: Result, actions: int) -> Extreme:
    """Mixtures of both players, exactly."""
    rows = [candidate.profile.exact for candidate in result.candidates]
    return {(row[:actions], row[actions:]) for row in rows}


def solve(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """The solution of a square system of which the last column is the right side."""
    left, size = [row[:] for row in rows], len(rows)
    for k in range(size):
        pivot = next((row for row in left[k:] if row[k]), None)
        if pivot is None:
            return None
        left.remove(pivot)
        left.insert(k, [x / pivot[k] for x in pivot])
        left = [
            row if i == k else [x - row[k] * y for x, y in zip(row, left[k], strict=True)]
            for i, row in enumerate(left)
        ]
    return [row[-1] for row in left]


def vertices(payoffs: Any) -> list[tuple[tuple[Fraction, ...], frozenset[int]]]:
    """Vertices of ``{x >= 0 : payoffs @ x <= 1}`` but 0, for positive payoffs, scaled to sum 1.

    Labels: i where x_i = 0, and the number of x plus j where row j is tight.
    """
    size = len(payoffs[0])
    unit = [[Fraction(-(i == k)) for k in range(size)] for i in range(size)]
    rows = [[*row, Fraction(0)] for row in unit]
    rows += [[*map(Fraction, map(int, row)), Fraction(1)] for row in payoffs]
    found = {}
    for chosen in combinations(range(len(rows)), size):
        point = solve([rows[k] for k in chosen])
        if point is None or not any(point):
            continue
        slack = [row[-1] - sum(a * x for a, x in zip(row, point, strict=False)) for row in rows]
        if min(slack) >= 0:
            labels = frozenset(k for k, value in enumerate(slack) if value == 0)
            found[tuple(x / sum(point) for x in point)] = labels
    return list(found.items())


def enumerated(rows: Any, columns: Any) -> Extreme:
    """All pairs of vertices with all labels (Mangasarian 1964)."""
    m, n = np.shape(rows)
    ours, theirs = np.array(rows) + 100, np.array(columns) + 100
    of_rows, of_columns = vertices(theirs.T), vertices(ours)
    return {
        (x, y)
        for (x, own), (y, others) in product(of_rows, of_columns)
        if own | {m + k if k < n else k - n for k in others} == set(range(m + n))
    }


@pytest.mark.parametrize("block", range(10))
def test_extreme_equilibria_are_those_of_vertex_enumeration(block: int) -> None:
    rng = np.random.default_rng(block)
    degenerate = 0
    for _ in range(16):
        shape, most = rng.integers(2, 5, 2), rng.choice([1, 2, 5, 60])
        rows, columns = rng.integers(-most, most + 1, (2, *shape)).tolist()
        result = solved(bimatrix(rows, columns))
        assert extreme(result, len(rows)) == enumerated(rows, columns)
        parts = result.monitor.statistics["components"]
        degenerate += any(part["dimension"] > 0 for part in parts)
    assert degenerate > 0


@pytest.mark.parametrize("block", range(10))
def test_extreme_equilibria_up_to_6x6_are_those_of_gambit(block: int) -> None:
    pytest.importorskip("pygambit", reason="pygambit is not installed")
    rng = np.random.default_rng(100 + block)
    for _ in range(50):
        shape, most = rng.integers(2, 7, 2), rng.choice([1, 2, 5, 60])
        game = bimatrix(*rng.integers(-most, most + 1, (2, *shape)).tolist())
        theirs = run("gambit_enummixed", game)
        assert extreme(solved(game), shape[0]) == extreme(theirs, shape[0])


def test_game_with_75_equilibria_has_75() -> None:
    result = solved(bimatrix(ROWS, COLUMNS))
    assert len(result.candidates) == 75
    assert [part["dimension"] for part in result.monitor.statistics["components"]] == [0] * 75
    assert sum(min(candidate.profile.exact) > 0 for candidate in result.candidates) == 1


def test_two_player_kuhn_poker_has_the_published_line() -> None:
    """Kuhn 1950: player 1 bets the jack with 0 <= alpha <= 1/3, and the king with 3 alpha."""
    result = solved("kuhn2")
    assert result.monitor.statistics["components"] == [{"dimension": 1, "sets": 1, "extreme": 2}]
    bets = {candidate.profile["P1", "1:", "bet"] for candidate in result.candidates}
    assert bets == {0, 1 / 3}


def test_equilibria_where_nothing_is_at_stake_are_all_profiles() -> None:
    result = solved(
        bimatrix(
            [[0, 0], [0, 0]],
            [
                [
                    0,
                    0,
                ],
                [0, 0],
            ],
        )
    )
    assert result.monitor.statistics["components"] == [{"dimension": 2, "sets": 1, "extreme": 4}]


def test_sets_with_a_common_equilibrium_are_one_component() -> None:
    """Player 2 is indifferent at Top, and player 1 where player 2 plays Left."""
    result = solved(bimatrix([[1, 1], [1, 0]], [[1, 1], [1, 0]]))
    (part,) = result.monitor.statistics["components"]
    assert (part["dimension"], part["sets"], part["extreme"]) == (1, 2, 3)


def sets_of(game: Game) -> list[ProductSet]:
    found: list[ProductSet] = []
    product_sets(game.sequence_form, ExactGame(game).payoffs, lambda: None, found)
    return found


def plans_of_pure_strategies(game: Game, player: int) -> list[tuple[int, ...]]:
    """Weights of the player's own sequences, of all that differ."""
    form = game.sequence_form
    own = np.flatnonzero(form.sequence_player == player)
    sets = np.flatnonzero(form.infoset_player == player)
    blocks = [range(*form.block_start[i : i + 2]) for i in sets]
    plans = set()
    for moves in product(*blocks):
        weights = np.zeros(form.n_sequences, dtype=int)
        weights[player] = 1
        for i, move in zip(sets, moves, strict=True):
            weights[move] = weights[form.parent[i]]
        plans.add(tuple(weights[own].tolist()))
    return sorted(plans)


@pytest.mark.parametrize("block", range(4))
def test_equilibria_of_trees_are_those_of_their_strategic_forms(block: int) -> None:
    """Maximal products of mixtures of pure strategies are played by maximal products of plans."""
    compared = 0
    for seed in range(60 * block, 60 * block + 60):
        game = random_two_player_game(seed, depth=4)
        pure = [plans_of_pure_strategies(game, player) for player in (0, 1)]
        if not 2 <= min(map(len, pure)) <= max(map(len, pure)) <= 6:
            continue
        form, payoffs = game.sequence_form, ExactGame(game).payoffs
        place = [np.cumsum(form.sequence_player == player) - 1 for player in (0, 1)]
        cells = np.zeros((2, len(pure[0]), len(pure[1])), dtype=object)
        for columns, values in zip(form.columns, payoffs, strict=True):
            first, second = (
                np.array([plan[place[player][columns[player]]] for plan in pure[player]])
                for player in (0, 1)
            )
            cells += values[:, None, None] * np.outer(first, second)
        mixed = sets_of(bimatrix(*cells.tolist()))
        played = set()
        for each in mixed:
            sides = []
            for own, strategies in zip(each.plans, pure, strict=True):
                columns = list(zip(*strategies, strict=True))
                # the empty sequence of the strategic form comes first
                rows = [[dot(mixture[1:], c) for c in columns] for mixture in own]
                sides.append(extreme_of(map(tuple, rows)))
            played.add(ProductSet((sides[0], sides[1])))
        largest = {p for p in played if not any(q != p and q.holds(p) for q in played)}
        assert set(sets_of(game)) == largest
        compared += 1
    assert compared > 2


def dot(weights: Any, values: Any) -> Fraction:
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))


@pytest.mark.parametrize(("shape", "games"), [((2, 2, 2), 8), ((2, 2, 2, 2), 4), ((3, 3, 3), 2)])
def test_indices_of_generic_games_sum_to_1(shape: tuple[int, ...], games: int) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    rng = np.random.default_rng(7)
    for _ in range(games):
        game = eqbench.load_game(f"random(players={len(shape)},actions={shape[0]})")
        payoffs = rng.integers(-(10**6), 10**6, (np.prod(shape), len(shape)))
        result = solved(with_payoffs(game, payoffs))
        tree = result.game.tree
        profiles = [candidate.profile for candidate in result.candidates]
        indices = [rounded_index(tree, each, 1e-9, 1e-9, Allowance()) for each in profiles]
        assert sum(index or 99 for index in indices) == 1
        for profile in profiles:
            assert verify(tree, profile).max_regret <= 1e-14 * tree.payoff_range


@pytest.mark.parametrize(("shape", "seed"), [((2, 2, 2), 5), ((3, 3, 3), 1), ((2, 2, 2, 2), 2)])
def test_units_and_offsets_of_payoffs_leave_the_list_as_it_is(
    shape: tuple[int, ...], seed: int
) -> None:
    """Each player counts in units of their own, from a zero that depends on the others' actions."""
    pytest.importorskip("flint", reason="python-flint is not installed")
    rng, n = np.random.default_rng(seed), len(shape)
    game = eqbench.load_game(f"random(players={n},actions={shape[0]})")
    payoffs = rng.integers(-100, 101, (*shape, n)).astype(object)
    units = [1, 10**12, 10**6, 10**3][:n]
    offsets = [
        np.expand_dims(rng.integers(0, 10**9, shape[1:]).astype(object), i) for i in range(n)
    ]
    other = np.stack([payoffs[..., i] * units[i] + offsets[i] for i in range(n)], axis=-1)
    lists = [
        [candidate.profile.probabilities for candidate in solved(each).candidates]
        for each in (
            with_payoffs(game, table.reshape(-1, n).astype(np.int64)) for table in (payoffs, other)
        )
    ]
    np.testing.assert_allclose(*lists, rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [(2, 2, 2), (4, 4, 3), (9, 2, 2)])
def test_what_is_discarded_in_floats_has_a_margin_above_rounding(shape: tuple[int, ...]) -> None:
    """Gains at corners of boxes are compared with those in fractions."""
    points = pytest.importorskip("eqbench.solvers.complete.points")
    rng = np.random.default_rng(0)
    payoffs = rng.integers(-(10**9), 10**9, (len(shape), *shape)).astype(object)
    system = points.SupportSystem(
        points.Strategic(payoffs), tuple(tuple(range(size)) for size in shape)
    )
    low = rng.random((1, system.size))
    high = low + rng.random(low.shape) * (1 - low)
    for i in range(len(shape)):
        others = [system._corners(low, high, j) for j in range(len(shape)) if j != i]
        found = points._contract(system.scaled[i], others)[0]
        for _ in range(20):
            corner = [int(rng.integers(each.shape[1])) for each in others]
            places = [j for j in range(len(shape)) if j != i]
            exact = system.gains[i]
            for at, j in reversed([*zip(corner, places, strict=True)]):
                ends = [Fraction(x) for x in system._corners(low, high, j)[0, at, 1:].tolist()]
                exact = exact.dot(np.array([1 - sum(ends), *ends], dtype=object))
            for action in range(1, shape[i]):
                unit = max(abs(int(x)) for x in system.gains[i][action].ravel())
                error = Fraction(float(found[(action, *corner)])) - exact[action] / unit
                assert abs(error) < system.margin / 10


@pytest.mark.parametrize("method", ["gambit_enumpoly", "gambit_gnm"])
def test_gambit_finds_no_other_equilibrium(method: str) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    pytest.importorskip("pygambit", reason="pygambit is not installed")
    rng = np.random.default_rng(3)
    for shape in [(2, 2, 2), (2, 2, 2), (3, 3, 3)]:
        game = eqbench.load_game(f"random(players=3,actions={shape[0]})")
        result = solved(with_payoffs(game, rng.integers(-999, 999, (np.prod(shape), 3))))
        own = [candidate.profile.probabilities for candidate in result.candidates]
        for candidate in run(method, result.game).candidates:
            other = candidate.profile.probabilities
            assert min(abs(other - each).max() for each in own) < 1e-6


def test_nine_equilibria_of_mckelvey_and_mclennan_are_found() -> None:
    """The most that a regular 2x2x2 game can have (McKelvey and McLennan 1997)."""
    pytest.importorskip("flint", reason="python-flint is not installed")
    payoffs = np.zeros((2, 2, 2, 3), dtype=int)
    payoffs[0, 0, 0], payoffs[1, 1, 0] = (9, 8, 12), (9, 8, 2)
    payoffs[1, 0, 1] = payoffs[0, 1, 1] = 3, 4, 6
    game = eqbench.load_game("random(players=3,actions=2)")
    table = payoffs.reshape(-1, 3)
    result = solved(with_payoffs(game, table))
    assert len(result.candidates) == 9


def test_a_continuum_of_three_players_is_left_open_and_not_called_complete() -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    result = run("complete", Game("horse", selten_horse()))
    assert result.termination.reason == "stopped"
    assert result.monitor.statistics["open"]
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    for candidate in result.candidates:
        assert verify_exactly(result.game.tree, candidate.profile).max_regret == 0


def test_players_who_are_not_reached_have_payoffs_for_all_their_actions() -> None:
    """Of three players in turn, the first one may end the game."""
    pytest.importorskip("flint", reason="python-flint is not installed")
    builder = TreeBuilder(["P1", "P2", "P3"])
    first = builder.decision(None, 0, "one", ["end", "on"])
    builder.terminal((first, 0), [1, 5, 5])
    second = builder.decision((first, 1), 1, "two", ["end", "on"])
    builder.terminal((second, 0), [2, 1, 7])
    third = builder.decision((second, 1), 2, "three", ["left", "right"])
    builder.terminal((third, 0), [3, 2, 1])
    builder.terminal((third, 1), [0, 0, 2])
    result = run("complete", Game("in turn", builder.tree()))
    pure = {tuple(c.profile.probabilities.astype(int)) for c in result.candidates}
    assert (0, 1, 1, 0, 0, 1) in pure
    assert (0, 1, 0, 1, 1, 0) not in pure


def test_budget_ends_the_search_without_a_claim_of_completeness() -> None:
    result = run("complete", bimatrix(ROWS, COLUMNS), iterations=300)
    assert result.termination.reason == "limit"
    assert not result.monitor.statistics["complete"]
    assert {candidate.claim for candidate in result.candidates} <= {"equilibrium"}


@pytest.mark.parametrize(
    ("solver", "game", "part"),
    [
        ("complete", "leduc", "2^2186"),
        ("complete(sequences=10)", "kuhn2", "sequences=10"),
        ("complete", "kuhn3", "more than one information set"),
        ("complete(combinations=26)", "random(players=3,actions=2)", "27 combinations"),
    ],
)
def test_games_that_are_too_large_are_refused_with_an_estimate(
    solver: str, game: str, part: str
) -> None:
    answer = eqbench.load_solver(solver).supports(eqbench.load_game(game))
    assert isinstance(answer, str)
    assert part in answer


def test_limits_must_be_positive() -> None:
    with pytest.raises(UsageError, match="sequences=0"):
        eqbench.load_solver("complete(sequences=0)")
