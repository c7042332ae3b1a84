"""The index of equilibria: lists that sum to 1, and lists from which one is removed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from helpers.made_games import entry_deterrence, exact_profile, selten_horse
from helpers.solver_cases import bimatrix

import eqbench
from eqbench.equilibria import Completeness
from eqbench.equilibria.regularity import (
    exact_play,
    free_frequencies,
    index_of,
    plan_weights,
    quasi_strict,
)
from eqbench.model.builder import TreeBuilder
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verification import Allowance


def verdict(indices: list[int | None]) -> str:
    return Completeness(tuple(indices), exact=True).verdict


COORDINATION = bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]]).tree
# products of payoffs below 1, with which a wrong entry in the matrix of an index could compete
TENTH = Fraction(1, 10)
FLAT = bimatrix([[2 * TENTH, 0], [0, TENTH]], [[TENTH, 0], [0, 2 * TENTH]]).tree
DUEL, HORSE = entry_deterrence(), selten_horse()


@pytest.mark.parametrize(
    ("tree", "rows", "index"),
    [
        (COORDINATION, ((1, 0), (1, 0)), 1),
        (COORDINATION, ((0, 1), (0, 1)), 1),
        (COORDINATION, (("2/3", "1/3"), ("1/3", "2/3")), -1),
        (FLAT, (("2/3", "1/3"), ("1/3", "2/3")), -1),
        # no equilibria
        (COORDINATION, ((1, 0), (0, 1)), None),
        (COORDINATION, ((0, 1), (1, 0)), None),
        (COORDINATION, (("1/2", "1/2"), ("1/2", "1/2")), None),
        # not isolated
        (HORSE, ((0, 1), (0, 1), (0, 1)), None),
        (DUEL, ((1, 0), (1, 0)), None),
        (DUEL, ((0, 1), (0, 1)), 1),
    ],
)
def test_index(tree: GameTree, rows: tuple[tuple[object, object], ...], index: int | None) -> None:
    for arithmetic in (Play.of, Play.exactly):
        play = arithmetic(tree, exact_profile(tree, *rows))
        assert index_of(play) == index
        assert quasi_strict(play) == (index is not None)


@pytest.mark.parametrize(
    ("indices", "found"),
    [
        ([1, 1, -1], "consistent"),
        ([1, 1], "proved incomplete"),
        ([1, -1], "proved incomplete"),
        ([None], "not decided"),
    ],
)
def test_lists_are_judged_by_the_sum_of_their_indices(
    indices: list[int | None], found: str
) -> None:
    assert verdict(indices) == found


@pytest.mark.parametrize("game", ["matching_pennies", "rock_paper_scissors", "jordan"])
def test_what_is_alone_has_index_1(game: str) -> None:
    tree = eqbench.load_game(game).tree
    assert index_of(Play.exactly(tree, BehaviorProfile.uniform(tree))) == 1


@pytest.mark.parametrize("pot", ["83/20", "7"])
def test_the_only_equilibrium_of_simplified_poker(pot: str) -> None:
    """Eight, and six, sets are mixed; some of them follow others, of all three players."""
    record = eqbench.solve(f"skp(pot={pot})", "logit")
    assert record.profile is not None
    tree = eqbench.load_game(f"skp(pot={pot})").tree
    assert index_of(Play.of(tree, record.profile)) == 1


@pytest.mark.parametrize("seed", range(6))
def test_pure_and_mixed_equilibria_of_random_games(seed: int) -> None:
    """Two by two: by the signs of payoff differences there are one or three."""
    rng = np.random.default_rng(seed)
    table = rng.permutation(40)[:8].reshape(2, 2, 2)  # no two payoffs are equal
    tree = bimatrix(table[..., 0].tolist(), table[..., 1].tolist()).tree
    found = []
    rows, columns = table[0, :, 0] - table[1, :, 0], table[:, 0, 1] - table[:, 1, 1]
    for i in (0, 1):
        for j in (0, 1):
            if rows[j] * (1 - 2 * i) > 0 and columns[i] * (1 - 2 * j) > 0:
                found.append(exact_profile(tree, (1 - i, i), (1 - j, j)))
    if rows[0] * rows[1] < 0 and columns[0] * columns[1] < 0:
        p = Fraction(int(columns[1]), int(columns[1] - columns[0]))
        q = Fraction(int(rows[1]), int(rows[1] - rows[0]))
        found.append(exact_profile(tree, (p, 1 - p), (q, 1 - q)))
    indices = [index_of(Play.exactly(tree, profile)) for profile in found]
    assert None not in indices
    assert verdict(indices) != "proved incomplete"


def test_what_the_own_moves_avoid_need_not_be_strict() -> None:
    """P1 stays out for 2; after going in two actions are worth 1, or one as much as staying out."""
    for best, index in ((1, 1), (2, None)):
        tree = two_moves(best)
        out = exact_profile(tree, (1, 0), (1, 0))
        assert index_of(Play.exactly(tree, out)) == index


def two_moves(best: int) -> GameTree:
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["out", "in"])
    builder.terminal((root, 0), [2])
    later = builder.decision((root, 1), 0, "later", ["a", "b"])
    builder.terminal((later, 0), [1])
    builder.terminal((later, 1), [best])
    return builder.tree()


def test_weights_of_later_moves_are_products_with_those_before() -> None:
    third, quarter = Fraction(1, 3), Fraction(1, 4)
    weights = plan_weights(two_moves(1), [third, 2 * third, quarter, 3 * quarter])
    assert weights == [third, 2 * third, third / 2, Fraction(1, 2)]


def test_allowance_pays_for_the_elimination_of_a_large_matrix() -> None:
    tree = bimatrix(np.eye(9, dtype=int).tolist(), np.eye(9, dtype=int).tolist()).tree
    uniform, allowance = BehaviorProfile.uniform(tree), Allowance(10**9)
    assert exact_play(tree, uniform, allowance) is not None
    assert 10**9 - allowance.left >= free_frequencies(tree, uniform) ** 3
