"""The nearest member of a made-up set, and how matches with several sets are ranked."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import identity
from eqbench.equilibria.identity import NEAR, SELDOM, Identifier, _Match, _off_path
from eqbench.equilibria.known import linearized, nearest_member
from eqbench.model.profile import BehaviorProfile

TOLERANCE = 1e-7


class Made:
    """A set of one's own: frequencies as a function of its parameters, and constraints."""

    def __init__(
        self,
        frequencies: Callable[[Any], list[Any]],
        start: list[float],
        *constraints: Callable[[Any], Any],
    ) -> None:
        self._frequencies, self.start = frequencies, np.array(start)
        self.constraints = (lambda p: -p[0], *constraints)

    def read(self, frequencies: Any) -> Any:
        return self.start

    def frequencies(self, parameters: Any) -> Any:
        return np.array(self._frequencies(parameters))

    def violations(self, parameters: Any) -> Any:
        return np.array([constraint(parameters) for constraint in self.constraints])


def nearest(known: Any, frequencies: list[float], reach: list[float]) -> list[float]:
    return nearest_member(known, np.array(frequencies), np.array(reach)).tolist()


def same(p: Any) -> list[Any]:
    return [p[0], p[0]]


@pytest.mark.parametrize(
    ("set_", "start", "frequencies", "reach", "expected"),
    [
        # what is reached decides alone where it can, however seldom, and the more the oftener
        (same, [0.6], [0.2, 0.9], [1.0, 0.0], [0.2]),
        (same, [0.6], [0.2, 0.9], [0.0, 1.0], [0.9]),
        (same, [0.6], [0.2, 0.9], [1e-12, 0.0], [0.2]),
        (same, [0.5], [0.2, 0.7], [0.9, 0.1], [0.2]),
        (same, [0.5], [0.2, 0.7], [0.1, 0.9], [0.7]),
        (lambda p: [p[0], p[1]], [0.9, 0.1], [0.3, 0.8], [1.0, 0.5], [0.3, 0.8]),
        # what is not reached decides what is left open
        (lambda p: [p[0], p[1], p[0]], [0.5, 0.5], [0.3, 0.8, 0.9], [1.0, 0.0, 0.0], [0.3, 0.8]),
        # there a sum of two parameters is wanted that would move the first one off the path
        (lambda p: [p[0], p[0] + p[1]] * 2, [0.0, 0.0], [0.0, 2.0] * 2, [1.0, 0, 1.0, 0], [0, 1]),
        # parameters stay between 0 and 1
        (lambda p: [p[0]], [0.5], [-0.5], [1.0], [0.0]),
        (lambda p: [p[0]], [0.5], [1.5], [1.0], [1.0]),
        # a set of one member has none
        (lambda p: [0.5], [], [0.2], [1.0], []),
    ],
)
def test_nearest_member(
    set_: Any, start: list[float], frequencies: list[float], reach: list[float], expected: Any
) -> None:
    assert nearest(Made(set_, start), frequencies, reach) == pytest.approx(expected, abs=1e-9)


def test_constraints_hold_even_if_the_profile_breaks_them() -> None:
    capped = Made(lambda p: [p[0]], [0.1], lambda p: p[0] - 0.25)
    assert nearest(capped, [0.7], [1.0]) == pytest.approx([0.25])
    assert nearest(capped, [0.7], [0.0]) == pytest.approx([0.25])
    curved = Made(lambda p: [p[0]], [0.1], lambda p: p[0] * p[0] - 0.25)
    assert nearest(curved, [0.7], [1.0]) == pytest.approx([0.5], abs=1e-9)


@pytest.mark.parametrize(
    ("read", "begun"), [(-3.0, 0.0), (0.4, 0.4), (2.0, 0.99), (math.nan, 0.0), (math.inf, 0.99)]
)
def test_set_without_room_keeps_where_the_search_began_which_is_inside(read: float, begun: float):
    empty = Made(lambda p: [p[0]], [read], lambda p: p[0] + 1.0)
    assert nearest(empty, [0.7], [1.0]) == [begun]


@pytest.mark.parametrize("start", [[0.9, 0.9], [0.1, 0.9], [0.5, 0.4]])
def test_products_of_parameters_are_followed_to_the_end(start: list[float]) -> None:
    product = Made(lambda p: [p[0] * p[1], p[0]], start)
    found = nearest(product, [0.2, 0.5], [1.0, 1.0])
    assert found == pytest.approx([0.5, 0.4], abs=1e-9)


def test_derivatives_are_those_of_the_formulas() -> None:
    values, slopes = linearized(
        lambda p: np.array([1 / (1 + p[0]), p[0] ** 3 * p[1], 3.0]), [0.5, 0.2]
    )
    assert values == pytest.approx([2 / 3, 0.025, 3.0])
    assert slopes == pytest.approx(np.array([[-4 / 9, 0.0], [0.15, 0.125], [0, 0]]), abs=1e-9)


def test_search_ends_when_it_has_settled_or_after_some_rounds() -> None:
    asked: list[int] = []

    def counted(p: Any) -> list[Any]:
        asked.append(1)
        return [p[0]]

    nearest(Made(counted, [0.5]), [0.2], [1.0])
    assert len(asked) == 1 + 2 * 3, "two rounds, the second of which moves nothing"
    asked.clear()

    def restless(p: Any) -> list[Any]:
        asked.append(1)
        return [p[0] + 0.3 * (-1) ** (len(asked) // 3)]

    nearest(Made(restless, [0.5]), [0.2], [1.0])
    assert len(asked) <= 1 + 6 * 3


# -- which set -----------------------------------------------------------------------------------


def match(
    distance: float, *, strict: bool = False, at_end: bool = False, same: float = TOLERANCE
) -> _Match:
    known: Any = SimpleNamespace(is_at_open_end=lambda parameters: at_end)
    return _Match(known, np.zeros(0), strict, distance, on_path=strict or distance <= same)


def test_members_come_before_equal_play_before_what_is_near() -> None:
    best_first = [
        *(match(0.5, strict=True), match(TOLERANCE)),
        *(match(2e-7, same=1e-6), match(3e-7, same=1e-6), match(2e-7), match(3e-7)),
    ]
    ranks = [one.rank for one in best_first]
    assert ranks == sorted(set(ranks))
    assert match(TOLERANCE).rank == match(0.0).rank, "below that distances are rounding"


def test_match_replaces_only_a_worse_one() -> None:
    assert match(1e-4).better_than(None)
    assert match(1e-4).better_than(match(2e-4))
    assert not match(1e-4).better_than(match(1e-4))
    assert not match(2e-4).better_than(match(1e-4))


@pytest.mark.parametrize(
    ("found", "best", "also"),
    [
        (match(0.0, strict=True, at_end=True), match(0.0, strict=True), True),
        (match(0.0, at_end=True), match(0.0), False),
        (match(0.0), match(0.0, strict=True), True),
        (match(1e-4), match(0.0), False),
        (match(2e-6, same=1e-5), match(1e-6, same=1e-5), True),
        (match(2e-6, same=1e-5), match(0.0), False),
    ],
)
def test_further_sets_fit_no_worse_and_not_only_at_an_open_end(
    found: _Match, best: _Match, also: bool
) -> None:
    assert found.also(best) == also


@pytest.mark.parametrize(
    ("regret", "same", "near"),
    [
        *((None, TOLERANCE, NEAR), (1, TOLERANCE, NEAR)),
        *((-1e-9, TOLERANCE, TOLERANCE), (0.0, TOLERANCE, TOLERANCE)),
        *((1e-12, 1e-6, 1e-6), (1e-10, 1e-5, 1e-5)),
        *((1.1e-10, TOLERANCE, math.sqrt(1.1e-10)), (0.9e-6, TOLERANCE, math.sqrt(0.9e-6))),
    ],
)
def test_distance_that_a_regret_explains_grows_with_its_root(
    regret: float | None, same: float, near: float
) -> None:
    """Up to the default target it is all the same play, so nothing is merely near."""
    game = eqbench.load_game("kuhn3")
    measured = None if regret is None else regret * game.tree.payoff_range
    assert Identifier(game)._reaches(measured) == pytest.approx((same, near), rel=1e-12)
    assert (NEAR, SELDOM) == (1e-3, 1e-5)


def test_differences_off_the_path_are_listed_by_size_and_only_there() -> None:
    layout = SimpleNamespace(places=["a", "b", "c", "d", "e"])
    known = SimpleNamespace(layout=layout, frequencies=lambda parameters: np.full(5, 0.5))
    seen: Any = SimpleNamespace(
        frequencies=np.array([0.4, 0.8, 0.5 + 0.5e-7, 0.9, 0.3]),
        reach=np.array([0.0, 0.0, 0.0, 2e-5, 1e-5]),
    )
    found = _off_path(_Match(known, np.zeros(0), strict=False, distance=0.0, on_path=True), seen)  # type: ignore[arg-type]
    assert list(found) == ["b", "e", "a"]
    assert found == pytest.approx({"b": 0.3, "e": -0.2, "a": -0.1})


@pytest.mark.parametrize(
    ("regret", "dimension"), [(None, None), (0.0, 0), (0.9e-9, 0), (1.1e-9, None)]
)
def test_dimension_is_given_where_the_regret_allows_it(regret: float | None, dimension: int | None):
    game = eqbench.load_game("matching_pennies")
    measured = None if regret is None else regret * game.tree.payoff_range
    found = Identifier(game).identify(BehaviorProfile.uniform(game.tree), measured)
    assert found is not None
    assert found.dimension == dimension


def test_name_alone_says_nothing_else() -> None:
    assert identity.Identity("x") == identity.Identity(
        "x", (), {}, None, True, False, 0.0, {}, None
    )


def test_outcomes_of_a_profile_are_a_distribution() -> None:
    game = eqbench.load_game("kuhn2")
    uniform = identity.outcome_distribution(game, BehaviorProfile.uniform(game.tree).probabilities)
    assert uniform.sum() == pytest.approx(1.0)
    assert uniform.min() > 0
