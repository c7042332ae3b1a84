"""Classics in strategic form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from eqbench.model.tree import GameTree

from .strategic import strategic_form, strategic_form_nodes

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
