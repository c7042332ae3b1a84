"""Games in strategic form: every player moves once, without seeing the others."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from eqbench.model.builder import TreeBuilder
from eqbench.model.tree import GameTree

Name = Literal[
    "rock_paper_scissors",
    "matching_pennies",
    "prisoners_dilemma",
    "battle_of_sexes",
    "shapley",
    "jordan",
]
Payoff = tuple[int | Fraction, ...]


@dataclass(frozen=True)
class Matrix:
    """A named classic; the information set of every player has the empty label.

    `shapley` is the 3x3 game of Shapley 1964 in which fictitious play cycles; `jordan` the
    three-player matching pennies of Jordan 1993, whose only equilibrium repels many dynamics.
    """

    name: Name = "rock_paper_scissors"

    def build(self) -> GameTree:
        """Game tree of the named game."""
        actions, payoffs = _GAMES[self.name]
        return strategic_form(actions, payoffs)


def strategic_form(
    actions: Sequence[Sequence[str]], payoffs: Mapping[tuple[int, ...], Payoff]
) -> GameTree:
    """Game tree of a strategic form: players move in order, each at one information set."""
    builder = TreeBuilder([f"P{p + 1}" for p in range(len(actions))])
    nodes: dict[tuple[int, ...], int] = {}
    for player, own in enumerate(actions):
        for before in itertools.product(*(range(len(a)) for a in actions[:player])):
            place = (nodes[before[:-1]], before[-1]) if before else None
            nodes[before] = builder.decision(place, player, "", own)
    for profile in itertools.product(*(range(len(a)) for a in actions)):
        builder.terminal((nodes[profile[:-1]], profile[-1]), payoffs[profile])
    return builder.tree()


def _bimatrix(rows: Sequence[Sequence[Payoff]]) -> dict[tuple[int, ...], Payoff]:
    return {(i, j): cell for i, row in enumerate(rows) for j, cell in enumerate(row)}


def _jordan() -> dict[tuple[int, ...], Payoff]:
    """Player i wants to match player i + 1, except that player 3 wants to differ from 1."""
    cells: dict[tuple[int, ...], Payoff] = {}
    for a, b, c in itertools.product((0, 1), repeat=3):
        wins = (a == b, b == c, c != a)
        cells[a, b, c] = tuple(1 if win else -1 for win in wins)
    return cells


_RPS = ("rock", "paper", "scissors")
_COIN = ("heads", "tails")
_GAMES: dict[str, tuple[list[tuple[str, ...]], dict[tuple[int, ...], Payoff]]] = {
    "rock_paper_scissors": (
        [_RPS, _RPS],
        _bimatrix(
            [
                [(0, 0), (-1, 1), (1, -1)],
                [(1, -1), (0, 0), (-1, 1)],
                [(-1, 1), (1, -1), (0, 0)],
            ]
        ),
    ),
    "matching_pennies": (
        [_COIN, _COIN],
        _bimatrix([[(1, -1), (-1, 1)], [(-1, 1), (1, -1)]]),
    ),
    "prisoners_dilemma": (
        [("cooperate", "defect")] * 2,
        _bimatrix([[(3, 3), (0, 5)], [(5, 0), (1, 1)]]),
    ),
    "battle_of_sexes": (
        [("opera", "football")] * 2,
        _bimatrix([[(2, 1), (0, 0)], [(0, 0), (1, 2)]]),
    ),
    "shapley": (
        [("top", "middle", "bottom"), ("left", "center", "right")],
        _bimatrix(
            [
                [(1, 0), (0, 0), (0, 1)],
                [(0, 1), (1, 0), (0, 0)],
                [(0, 0), (0, 1), (1, 0)],
            ]
        ),
    ),
    "jordan": ([_COIN] * 3, _jordan()),
}
