"""Values and derivatives of three-player Kuhn poker without a sequence form.

With N cards, values take O(N) operations and derivatives O(N^2), where the generic kernels visit
all O(N^3) deals. Sums over ranks instead of pairs of hands are due to Johanson, Waugh, Bowling
and Zinkevich 2011, "Accelerating best response calculation in large extensive games", for two
players; here they are for three, and for derivatives too.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.choices import Choices
from eqbench.model.payoff_model import Linearization
from eqbench.model.rank_sums import kernels
from eqbench.model.rank_sums.play import MOVES
from eqbench.model.rank_sums.recognize import RankGame, recognize
from eqbench.model.tree import FloatArray, GameTree


class Layout(NamedTuple):
    """Where derivatives stand in a matrix, by move and card.

    Indices are unsigned, since Numba lets signed ones wrap around, and that check slows the
    innermost loops.

    Attributes
    ----------
    row : uint64 (24, N)
        Row of every move and card, F for none.
    sign : float64 (24,)
        Factor of a move in its rows and columns.
    card : uint64 (F,)
        Card of every column. The columns of a move stand side by side, lowest card first.
    start, stop : uint64 (24,)
        Where the columns of each move begin and end.
    low, high : uint64 (24, N)
        Where the columns of a move with lower cards end, and those with higher ones begin.
    """

    row: NDArray[np.uint64]
    sign: FloatArray
    card: NDArray[np.uint64]
    start: NDArray[np.uint64]
    stop: NDArray[np.uint64]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]

    @classmethod
    def of_moves(cls, n: int) -> Layout:
        """A row and a column for every move and card: ``move * n + card``."""
        row = np.arange(MOVES * n).reshape(MOVES, n)
        return cls._of(row, np.ones(MOVES), row.ravel() % n, row[:, 0])

    @classmethod
    def of_choices(cls, game: RankGame, choices: Choices) -> Layout:
        """A row and a column for each free action, which gains what the passive one loses."""
        n = game.n_cards
        active, passive = game.place[choices.action], game.place[choices.first]
        row = np.full(MOVES * n, choices.size)
        row[active] = row[passive] = np.arange(choices.size)
        start = np.searchsorted(active // n, np.arange(MOVES) | 1)  # active moves are odd
        return cls._of(row.reshape(MOVES, n), np.tile([-1.0, 1.0], MOVES // 2), active % n, start)

    @classmethod
    def _of(cls, row: NDArray, sign: FloatArray, card: NDArray, start: NDArray) -> Layout:
        there = row < len(card)
        high = start[:, None] + np.cumsum(there, axis=1)
        columns = (card, start, high[:, -1], high - there, high)
        return cls(row.astype(np.uint64), sign, *(array.astype(np.uint64) for array in columns))


class RankSums:
    """Values and derivatives from sums over ranks; a payoff model for any number of cards."""

    def __init__(self, game: RankGame, choices: Choices) -> None:
        self._game, self._weight = game, game.base
        self._layout = Layout.of_choices(game, choices)
        self._action, self._first = game.place[choices.action], game.place[choices.first]

    @classmethod
    def of(cls, tree: GameTree) -> RankSums | None:
        """The model of a tree, None if it is not three-player Kuhn poker without raises."""
        game = recognize(tree)
        if game is None:
            return None
        model = cls(game, Choices.of(tree))
        return model if tree.payoffs.value is None else model.at(float(tree.payoffs.value))

    def at(self, value: float) -> RankSums:
        """Same model at another value of the payoff parameter; all else is shared.

        Raises
        ------
        ValueError
            If the game has no payoff parameter.
        """
        if self._game.slope is None:
            raise ValueError("this game has no payoff parameter")
        model = copy(self)
        model._weight = self._game.base + value * self._game.slope
        model._weight.setflags(write=False)  # to Numba a writable array is another type
        return model

    def expected_payoffs(self, behavior: NDArray) -> FloatArray:
        """Expected payoff of each player, float64 (3,)."""
        return self._best_responses(behavior)[0]

    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        """Counterfactual value of each action, float64 (A,).

        Weighted with the reach of chance and of the other players, not with the own reach.
        """
        game = self._game
        return kernels.counterfactual_values(
            game.place, self._weight, self._checked(behavior), game.n_cards
        )

    def best_response_values(self, behavior: NDArray) -> FloatArray:
        """Value of a best response of each player to the others' behavior, float64 (3,)."""
        return self._best_responses(behavior)[1]

    def regrets(self, behavior: NDArray) -> FloatArray:
        """Best-response gain of each player, float64 (3,); rounding is not clipped."""
        payoffs, best = self._best_responses(behavior)
        return best - payoffs

    def jacobian(self, behavior: NDArray) -> FloatArray:
        """Derivatives of counterfactual values (rows) by frequencies, float64 (A, A)."""
        place, layout = self._game.place, Layout.of_moves(self._game.n_cards)
        _, matrix = kernels.linearize(place, self._weight, layout, self._checked(behavior))
        return matrix[np.ix_(place, place)]

    def linearize(self, behavior: NDArray) -> Linearization:
        """Gains of the free actions and their derivatives, frequencies summing to one."""
        game, behavior = self._game, self._checked(behavior)
        values, jacobian = kernels.linearize(game.place, self._weight, self._layout, behavior)
        flat = values.ravel()
        gains, slope = flat[self._action] - flat[self._first], None
        if game.slope is not None:
            flat = kernels.values_by_move(game.place, game.slope, behavior, game.n_cards).ravel()
            slope = flat[self._action] - flat[self._first]
        return Linearization(gains, jacobian, slope)

    def _best_responses(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        game = self._game
        return kernels.best_responses(
            game.place, self._weight, self._checked(behavior), game.n_cards
        )

    def _checked(self, behavior: NDArray) -> FloatArray:
        """A copy that is writable, as the kernels expect; they check no bounds, so this does."""
        if np.shape(behavior) != self._game.place.shape:
            raise ValueError(
                f"behavior has shape {np.shape(behavior)}; this game has "
                f"{len(self._game.place)} frequencies"
            )
        return np.array(behavior, dtype=np.float64)
