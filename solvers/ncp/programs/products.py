"""Products of the other players' weights, of degree two at most.

The players are the leaves of a balanced binary tree. What is played inside a subtree, and
outside of it, are products of two such quantities; where one is multiplied once more it
becomes a variable of its own. With four players these are the variables ``w_12 = x_1 x_2`` and
``w_34 = x_3 x_4`` of Ganzfried 2025, section 2; with two and three there are none.
"""

from __future__ import annotations

from collections.abc import Sequence

from .program import Polynomial, ProgramBuilder

Players = tuple[int, ...]


class Products:
    """Products of weights, with variables for those that occur more than once.

    Parameters
    ----------
    builder : takes the new variables and their definitions
    weights : weight of each sequence, of degree one at most
    n_players : N
    """

    def __init__(
        self, builder: ProgramBuilder, weights: Sequence[Polynomial], n_players: int
    ) -> None:
        self._builder, self._weights = builder, weights
        self._known: dict[tuple[Players, tuple[int, ...]], Polynomial] = {}
        self._above: dict[Players, tuple[Players, Players]] = {}
        self._below: dict[Players, tuple[Players, Players]] = {}
        self._root = tuple(range(n_players))
        self._split(self._root)

    def of_others(self, column: Sequence[int], player: int) -> Polynomial:
        """Product of the weights of a column, sequences (N,), without those of a player."""
        result = Polynomial.constant(1.0)
        if self._root != (player,):
            for factor in self._outside((player,), column):
                result = result.times(factor)
        return result

    def _split(self, players: Players) -> None:
        if len(players) > 1:
            half = len(players) // 2
            left, right = players[:half], players[half:]
            self._below[players] = left, right
            self._above[left], self._above[right] = (players, right), (players, left)
            self._split(left)
            self._split(right)

    def _inside(self, players: Players, column: Sequence[int]) -> list[Polynomial]:
        if len(players) == 1:
            return [self._weights[column[players[0]]]]
        return [
            self._single("inside", part, self._inside(part, column), column)
            for part in self._below[players]
        ]

    def _outside(self, players: Players, column: Sequence[int]) -> list[Polynomial]:
        above, sibling = self._above[players]
        if above == self._root:
            return self._inside(sibling, column)
        return [
            self._single("outside", above, self._outside(above, column), column),
            self._single("inside", sibling, self._inside(sibling, column), column),
        ]

    def _single(
        self, side: str, players: Players, factors: list[Polynomial], column: Sequence[int]
    ) -> Polynomial:
        """The product of factors, as one of degree one."""
        if len(factors) == 1:
            return factors[0]
        product = factors[0].times(factors[1])
        if product.degree <= 1:  # an empty sequence weighs 1
            return product
        multiplied = tuple(p for p in self._root if (p in players) == (side == "inside"))
        key = (multiplied, tuple(int(column[p]) for p in multiplied))
        if key not in self._known:
            variable = self._builder.variable(0.0, 1.0)
            self._builder.require(Polynomial(variable).add(product, -1.0))
            self._known[key] = variable
        return self._known[key]
