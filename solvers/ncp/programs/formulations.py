"""Nash equilibrium as a program with bilinear constraints, in four forms.

Symbols: for each sequence s of player i, x_s is its weight in the realization plan, V_s the sum
over the columns that end in s of payoff to i times the others' weights, and r_s >= 0 its slack;
for each information set I, lambda_I is its multiplier. With J ranging over the information sets
that s leads to, the conditions of Ganzfried 2025, section 2, are

    lambda_I(s) - V_s - sum_J lambda_J - r_s = 0,   E x = e,   x_s r_s = 0,   x, r >= 0.

`paper` is that, word for word, with the empty sequences as variables (in strategic form, where the
paper has none, without them). The others work on the compact game, where the multiplier of an
empty sequence is no variable but ``V_0 + sum_J lambda_J``, the best-response value of the player:

- `elimination` writes one sequence of each information set as what the others leave;
- `aggregated` asks for complementarity in the sum over the sequences of each player only;
- `constant_sum` has neither slacks nor complementarity. Where payoffs sum to a constant C, the
  best-response values sum to C or more, and to C only in equilibrium; so it asks for
  ``lambda_I(s) >= V_s + sum_J lambda_J`` and for ``sum_i lambda_0(i) <= C``.

In constant-sum games the first two take that last inequality as a cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eqbench.model.tree import FloatArray

from .bounds import Bounds
from .compact import CompactGame
from .products import Products
from .program import Polynomial, Program, ProgramBuilder, total

Formulation = Literal["paper", "elimination", "aggregated", "constant_sum"]


@dataclass(frozen=True)
class Target:
    """What to optimize over all equilibria.

    Attributes
    ----------
    player : whose payoff, or whose frequency
    sequence : the sequence here that ends in the action, None for the payoff
    maximize : largest or smallest value
    """

    player: int
    sequence: int | None
    maximize: bool


@dataclass(frozen=True, eq=False)
class Formulated:
    """A program and where the weights of the compact game stand in it.

    Attributes
    ----------
    program : Program
    game : CompactGame
    weight : tuple of s polynomials
        Weight of each sequence, of degree one at most.
    """

    program: Program
    game: CompactGame
    weight: tuple[Polynomial, ...]

    def weights(self, values: FloatArray) -> FloatArray:
        """Weights of the game's own sequences, float64 (S,), from variables (V,)."""
        found = [
            sum(c * values[m[0]] if m else c for m, c in polynomial.items())
            for polynomial in self.weight
        ]
        return self.game.weights(np.array(found))


def formulate(
    game: CompactGame,
    formulation: Formulation,
    *,
    constant: float | None,
    bounds: Bounds | None = None,
    target: Target | None = None,
) -> Formulated:
    """The program of a game.

    Parameters
    ----------
    constant : what payoffs sum to, None if that varies; `constant_sum` needs it
    bounds : of multipliers and slacks, None for none
    target : None for any equilibrium
    """
    draft = Draft(game, bounds)
    draft.plans(eliminate=formulation == "elimination")
    draft.multipliers()
    if formulation == "constant_sum":
        draft.best_response_values()
    else:
        draft.complementarity(aggregated=formulation == "aggregated")
    if constant is not None and formulation != "paper":
        best = total(draft.value_of(player) for player in range(game.n_players))
        draft.builder.require(best.add(Polynomial.constant(-constant)), "<=")
    objective = None if target is None else draft.objective(target)
    program = draft.builder.program(objective, maximize=target is not None and target.maximize)
    return Formulated(program, game, tuple(draft.x))


class Draft:
    """A program in the making: x, V, lambda and r as polynomials."""

    def __init__(self, game: CompactGame, bounds: Bounds | None = None) -> None:
        self.game, self.bounds = game, bounds
        self.builder = ProgramBuilder()
        self.x: list[Polynomial] = []
        self.multiplier: list[Polynomial] = []
        self.below: list[list[int]] = [[] for _ in range(game.n_sequences)]
        for infoset, above in enumerate(game.parent):
            self.below[above].append(infoset)
        self.infoset_of = np.full(game.n_sequences, -1)
        for infoset in range(game.n_infosets):
            self.infoset_of[game.sequences(infoset)] = infoset

    def plans(self, *, eliminate: bool) -> None:
        """Variables x >= 0 with E x = e; then all V."""
        game, build = self.game, self.builder
        for _ in range(game.n_players):
            if self.game.rooted:
                root = build.variable(0.0)
                build.require(Polynomial(root).add(Polynomial.constant(-1.0)))
            else:
                root = Polynomial.constant(1.0)
            self.x.append(root)
        for infoset in range(game.n_infosets):
            block = game.sequences(infoset)
            rest = Polynomial(self.x[game.parent[infoset]])
            upper = np.inf if self.game.rooted else 1.0
            free = block[:-1] if eliminate else block
            for _ in free:
                self.x.append(build.variable(0.0, upper))
                rest.add(self.x[-1], -1.0)
            if eliminate:
                self.x.append(rest)
                build.require(rest, ">=")
            else:
                build.require(rest)
        self._values()

    def _values(self) -> None:
        game = self.game
        products = Products(self.builder, self.x, game.n_players)
        self.value = [Polynomial() for _ in range(game.n_sequences)]
        for column, payoffs in zip(game.columns.tolist(), game.payoffs.tolist(), strict=True):
            for player, payoff in enumerate(payoffs):
                if payoff:
                    others = products.of_others(column, player)
                    self.value[column[player]].add(others, payoff)

    def multipliers(self) -> None:
        """Variables lambda, also those of empty sequences if these are variables."""
        bounds = self.bounds
        if self.game.rooted:
            self.root = [self.builder.variable() for _ in range(self.game.n_players)]
        for infoset in range(self.game.n_infosets):
            low, high = bounds.infoset(infoset) if bounds else (-np.inf, np.inf)
            self.multiplier.append(self.builder.variable(low, high))

    def value_of(self, player: int) -> Polynomial:
        """Best-response value of a player: the multiplier of the empty sequence."""
        return self.root[player] if self.game.rooted else self._continued(player)

    def _continued(self, sequence: int) -> Polynomial:
        """V of a sequence and the multipliers of what it leads to."""
        later = total(self.multiplier[infoset] for infoset in self.below[sequence])
        return later.add(self.value[sequence])

    def _gap(self, sequence: int) -> Polynomial:
        """How much less a sequence is worth than the best at its information set."""
        infoset = self.infoset_of[sequence]
        best = self.root[sequence] if infoset < 0 else self.multiplier[infoset]
        return Polynomial(best).add(self._continued(sequence), -1.0)

    def best_response_values(self) -> None:
        """Multipliers at least as large as the values of sequences."""
        for sequence in range(self.game.n_players, self.game.n_sequences):
            self.builder.require(self._gap(sequence), ">=")

    def slacks(self) -> dict[int, Polynomial]:
        """Variables r by sequence, with the equations that define them."""
        game, build = self.game, self.builder
        first = 0 if self.game.rooted else game.n_players
        slack: dict[int, Polynomial] = {}
        for sequence in range(first, game.n_sequences):
            slack[sequence] = build.variable(0.0, self._largest_slack(sequence))
        for sequence, variable in slack.items():
            gap = self._gap(sequence).add(variable, -1.0)
            build.require(gap, count_as_quadratic=self.game.rooted)
        return slack

    def complementarity(self, *, aggregated: bool) -> None:
        """Slacks r, and x r = 0 for each sequence or for all of a player together."""
        slack = self.slacks()
        products = {s: self.x[s].times(variable) for s, variable in slack.items()}
        if not aggregated:
            for product in products.values():
                self.builder.require(product)
            return
        for player in range(self.game.n_players):
            own = [products[s] for s in slack if self.game.owner[s] == player]
            self.builder.require(total(own), "<=")

    def _largest_slack(self, sequence: int) -> float:
        if self.bounds is None or self.infoset_of[sequence] < 0:
            return float(np.inf)
        return self.bounds.infoset(self.infoset_of[sequence])[1] - float(self.bounds.low[sequence])

    def objective(self, target: Target) -> Polynomial:
        """The payoff of a player in equilibrium, or the frequency of an action, as a variable.

        A frequency is the share in the weight of the sequence that leads there. Where that is
        0 any share solves the equation.
        """
        build = self.builder
        if target.sequence is None:
            value = self.value_of(target.player)
            if value.degree <= 1:
                return value
            payoff = build.variable()
            build.require(Polynomial(payoff).add(value, -1.0))
            return payoff
        own = self.x[target.sequence]
        above = self.x[self.game.parent[self.infoset_of[target.sequence]]]
        if above.degree == 0:
            return own
        share = build.variable(0.0, 1.0)
        build.require(share.times(above).add(own, -1.0))
        return share
