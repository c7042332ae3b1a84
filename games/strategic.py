"""Games in strategic form as trees, in which every player moves once and unseen; the classics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError
from eqbench.model.assemble import InfosetTable, assemble
from eqbench.model.tree import INT64_SAFE, TERMINAL, GameTree, Payoffs

MAX_PLAYERS = 20


def strategic_form(
    actions: Sequence[Sequence[str]], payoffs: NDArray, *, denominator: int = 1
) -> GameTree:
    """Game tree in which players P1 to PN move in turn, each at one information set.

    The information set of every player has the empty label.

    Parameters
    ----------
    actions : sequence of N sequences of str
        Labels of the A_1, ..., A_N actions of each player.
    payoffs : int64 or float64 (A_1, ..., A_N, N)
        Payoff of each player, times `denominator`, by the actions of all. Not copied if it is
        contiguous; it becomes read-only then.
    denominator : int
        Positive; 1 if the payoffs are floats.
    """
    players = len(actions)
    shape = tuple(len(own) for own in actions)
    sizes = [1, *itertools.accumulate(shape, lambda a, b: a * b)]  # nodes at each depth
    first = np.cumsum([0, *sizes])
    depth = np.repeat(np.arange(players + 1), sizes)
    parents = [np.repeat(np.arange(first[k], first[k + 1]), shape[k]) for k in range(players)]
    moves = [np.tile(np.arange(shape[k]), sizes[k]) for k in range(players)]
    nodes: dict[str, NDArray] = {
        "parent": np.concatenate(([-1], *parents)).astype(np.int32),
        "move": np.concatenate(([-1], *moves)).astype(np.int32),
        "player": np.where(depth < players, depth, TERMINAL).astype(np.int8),
        "infoset": np.where(depth < players, depth, -1).astype(np.int32),
        "chance": np.zeros(len(depth), dtype=np.int64),
    }
    labels = [f"P{p + 1}" for p in range(players)]
    sets = InfosetTable(list(range(players)), [""] * players, [tuple(own) for own in actions])
    table = Payoffs(payoffs.reshape(sizes[-1], players), denominator)
    return assemble(labels, nodes, sets, table, chance_denominator=1)


def strategic_form_nodes(shape: Sequence[int]) -> int:
    """Number of nodes of the tree of a strategic form with these numbers of actions."""
    return 1 + sum(itertools.accumulate(shape, lambda a, b: a * b))


def profiles(players: int, actions: int) -> NDArray[np.int64]:
    """All profiles of actions 0..A-1, int64 (A, ..., A, N), in the order of the terminals."""
    return np.moveaxis(np.indices((actions,) * players), 0, -1)


def over_one_denominator(*values: Fraction) -> tuple[list[int], int]:
    """Numerators of exact values over their least common denominator, and that."""
    denominator = math.lcm(*(value.denominator for value in values))
    return [int(value * denominator) for value in values], denominator


def check_within_int64(largest: int) -> None:
    """Refuse payoffs whose numerators reach `largest` if that is too much for int64.

    Raises
    ------
    SpecError
    """
    if largest >= INT64_SAFE:
        raise SpecError(
            "the payoffs need more than 62 bits over one denominator; give numbers with fewer "
            "digits"
        )


def check_players(players: int) -> None:
    """Refuse fewer than two players, and more than the number of profiles allows anyway.

    Raises
    ------
    SpecError
    """
    if not 2 <= players <= MAX_PLAYERS:
        raise SpecError(f"players={players}; allowed are 2 to {MAX_PLAYERS} players")


def check_at_least(least: int, **options: int) -> None:
    """Refuse options below `least`.

    Raises
    ------
    SpecError
    """
    for name, value in options.items():
        if value < least:
            raise SpecError(f"{name}={value} is too small; choose {name} >= {least}")


# -- the classics ----------------------------------------------------------------------------------

Name = Literal[
    "rock_paper_scissors",
    "matching_pennies",
    "prisoners_dilemma",
    "battle_of_sexes",
    "shapley",
    "jordan",
]


@dataclass(frozen=True)
class Matrix:
    """A named classic; the information set of every player has the empty label.

    `shapley` is the 3x3 game of Shapley 1964 in which fictitious play cycles; `jordan` the
    three-player matching pennies of Jordan 1993, whose only equilibrium repels many dynamics.

    Parameters
    ----------
    name : which of the classics
    """

    name: Name = "rock_paper_scissors"

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return strategic_form_nodes([len(own) for own in _GAMES[self.name][0]])

    def build(self) -> GameTree:
        """Game tree of the named game."""
        actions, payoffs = _GAMES[self.name]
        return strategic_form(actions, np.array(payoffs, dtype=np.int64))


def _jordan_payoffs(a: int, b: int, c: int) -> tuple[int, ...]:
    """Player i wants to match player i + 1, except that player 3 wants to differ from 1."""
    return tuple(1 if win else -1 for win in (a == b, b == c, c != a))


_RPS = ("rock", "paper", "scissors")
_COIN = ("heads", "tails")
# Actions of each player, and payoffs indexed by the actions of all and then by player.
_GAMES: dict[Name, tuple[list[tuple[str, ...]], Sequence[Any]]] = {
    "rock_paper_scissors": (
        [_RPS, _RPS],
        [
            [(0, 0), (-1, 1), (1, -1)],
            [(1, -1), (0, 0), (-1, 1)],
            [(-1, 1), (1, -1), (0, 0)],
        ],
    ),
    "matching_pennies": ([_COIN, _COIN], [[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]),
    "prisoners_dilemma": ([("cooperate", "defect")] * 2, [[(3, 3), (0, 5)], [(5, 0), (1, 1)]]),
    "battle_of_sexes": ([("opera", "football")] * 2, [[(2, 1), (0, 0)], [(0, 0), (1, 2)]]),
    "shapley": (
        [("top", "middle", "bottom"), ("left", "center", "right")],
        [
            [(1, 0), (0, 0), (0, 1)],
            [(0, 1), (1, 0), (0, 0)],
            [(0, 0), (0, 1), (1, 0)],
        ],
    ),
    "jordan": (
        [_COIN] * 3,
        [[[_jordan_payoffs(a, b, c) for c in (0, 1)] for b in (0, 1)] for a in (0, 1)],
    ),
}
