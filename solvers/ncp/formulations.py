"""Nash equilibrium as a program with bilinear constraints, in six forms.

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
  ``lambda_I(s) >= V_s + sum_J lambda_J`` and for ``sum_i lambda_0(i) <= C``;
- `sos1`, for two players, whose V is linear, has no products: of x_s and r_s one is zero, as a
  special ordered set of type 1, on which backends branch as on the binaries of the next form;
- `mip`, for games in strategic form, has a binary b_s for each pure strategy, which says whether
  it has no probability or no regret (Sandholm, Gilpin and Conitzer 2005, formulation 1; Ganzfried
  2024 for more than two players): ``x_s <= 1 - b_s`` and ``r_s <= U_i b_s``, where U_i is the
  range of payoffs of player i, each expected over chance.

In constant-sum games the first two and `sos1` take ``sum_i lambda_0(i) <= C`` as a cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from eqbench.model.tree import FloatArray

from .presolve import CompactGame
from .program import Polynomial, Program, total

Formulation = Literal["paper", "elimination", "aggregated", "constant_sum", "sos1", "mip"]
# `smallest` and `spread` are of the players' payoffs, `nearest` is the distance from a plan.
TargetKind = Literal["payoff", "frequency", "sum", "smallest", "spread", "nearest"]


@dataclass(frozen=True)
class Target:
    """What to optimize over all equilibria."""

    kind: TargetKind
    maximize: bool  # largest or smallest value
    player: int = 0  # whose payoff, or whose frequency
    sequence: int = 0  # that ends in the action of the frequency
    # float64 (s,), weights of sequences to be near to
    plan: FloatArray | None = field(default=None, compare=False)

    @property
    def in_payoffs(self) -> bool:
        """Whether its values are in payoff units."""
        return self.kind not in ("frequency", "nearest")


def formulate(
    game: CompactGame,
    formulation: Formulation,
    *,
    constant: float | None = None,
    target: Target | None = None,
) -> Formulated:
    """The program of a game.

    Parameters
    ----------
    constant : what payoffs sum to, None if that varies; `constant_sum` needs it
    target : None for any equilibrium; its sequence is one of the compact game
    """
    made = Formulated(game, eliminate=formulation == "elimination")
    if formulation == "constant_sum":
        for sequence in range(game.n_players, game.n_sequences):
            made.program.require(made.gap(sequence), ">=")
    elif formulation == "mip":
        made.add_binaries()
    elif formulation == "sos1":
        made.add_exclusions()
    else:
        made.add_complementarity(aggregated=formulation == "aggregated")
    if constant is not None and formulation not in ("paper", "mip"):
        best = total(made.value_of(player) for player in range(game.n_players))
        made.program.require(best.add({(): -constant}), "<=")
    if target is not None:
        made.program.objective = made.objective(target)
        made.program.maximize = target.maximize
    return made


class Formulated:
    """A program, with x, V and lambda of the compact game as polynomials.

    Attributes
    ----------
    weight, value : lists of s polynomials
        x, of degree one at most, and V of each sequence.
    multiplier : list of i polynomials
        lambda of each information set.
    slack : dict of polynomials
        r by sequence, where the formulation has any.
    """

    def __init__(self, game: CompactGame, *, eliminate: bool) -> None:
        self.game, self.program = game, Program()
        self.weight: list[Polynomial] = []
        self.slack: dict[int, Polynomial] = {}
        self._add_plans(eliminate=eliminate)
        # empty sequences have multipliers if they are variables
        self.root = [self.program.variable() for _ in range(game.n_players * game.rooted)]
        self.multiplier = [self.program.variable() for _ in range(game.n_infosets)]

    def weights(self, values: FloatArray) -> FloatArray:
        """Weights of the game's own sequences, float64 (S,), from variables (V,)."""
        found = [
            sum(c * values[m[0]] if m else c for m, c in polynomial.items())
            for polynomial in self.weight
        ]
        alias = self.game.alias
        return np.where(alias >= 0, np.array(found)[alias], 0.0)

    def _add_plans(self, *, eliminate: bool) -> None:
        """Variables x >= 0 with E x = e; then all V."""
        game, program = self.game, self.program
        for _ in range(game.n_players):
            root = Polynomial({(): 1.0})
            if game.rooted:
                root = program.variable(0.0)
                program.require(Polynomial(root).add({(): -1.0}))
            self.weight.append(root)
        for infoset in range(game.n_infosets):
            block = game.sequences(infoset)
            rest = Polynomial(self.weight[game.parent[infoset]])
            for _ in block[:-1] if eliminate else block:
                self.weight.append(program.variable(0.0, np.inf if game.rooted else 1.0))
                rest.add(self.weight[-1], -1.0)
            if eliminate:
                self.weight.append(rest)
            program.require(rest, ">=" if eliminate else "=")
        products = Products(program, self.weight, game.n_players)
        self.value = [Polynomial() for _ in range(game.n_sequences)]
        for column, payoffs in zip(game.columns.tolist(), game.payoffs.tolist(), strict=True):
            for player, payoff in enumerate(payoffs):
                if payoff:
                    others = products.of_others(column, player)
                    self.value[column[player]].add(others, payoff)

    def value_of(self, player: int) -> Polynomial:
        """Best-response value of a player: the multiplier of the empty sequence."""
        return self.root[player] if self.game.rooted else self._continued(player)

    def _continued(self, sequence: int) -> Polynomial:
        """V of a sequence and the multipliers of what it leads to."""
        below = np.flatnonzero(self.game.parent == sequence)
        later = total(self.multiplier[infoset] for infoset in below)
        return later.add(self.value[sequence])

    def gap(self, sequence: int) -> Polynomial:
        """How much less a sequence is worth than the best at its information set."""
        infoset = self.game.sequence_infoset[sequence]
        best = self.root[sequence] if infoset < 0 else self.multiplier[infoset]
        return Polynomial(best).add(self._continued(sequence), -1.0)

    def _add_slacks(self) -> None:
        """Variables r, with the equations that define them."""
        game = self.game
        for sequence in range(0 if game.rooted else game.n_players, game.n_sequences):
            self.slack[sequence] = self.program.variable(0.0)
        for sequence, variable in self.slack.items():
            gap = self.gap(sequence).add(variable, -1.0)
            self.program.require(gap, count_as_quadratic=game.rooted)

    def add_complementarity(self, *, aggregated: bool) -> None:
        """Slacks r, and x r = 0 for each sequence or for all of a player together."""
        self._add_slacks()
        sums = [Polynomial() for _ in range(self.game.n_players * aggregated)]
        for sequence, variable in self.slack.items():
            product = self.weight[sequence].times(variable)
            if aggregated:
                sums[self.game.sequence_player[sequence]].add(product)
            else:
                self.program.require(product)
        for products in sums:
            self.program.require(products, "<=")

    def add_exclusions(self) -> None:
        """Slacks r, and pairs x, r of which one is zero."""
        self._add_slacks()
        for sequence, regret in self.slack.items():
            ((weight,),), ((slack,),) = self.weight[sequence], regret
            self.program.exclusive.append((weight, slack))

    def add_binaries(self) -> None:
        """Slacks r, and binaries so that each strategy has no probability or no regret."""
        self._add_slacks()
        form = self.game.form
        # columns that chance leads to together add up, so the range is that of payoffs without it
        possible = form.chance > 0
        span = np.ptp(form.payoffs[possible] / form.chance[possible, None], axis=0)
        for sequence, regret in self.slack.items():
            idle = self.program.variable(0.0, 1.0, binary=True)
            probability = Polynomial(self.weight[sequence]).add(idle)
            self.program.require(probability.add({(): -1.0}), "<=")
            most = float(span[self.game.sequence_player[sequence]])
            self.program.require(Polynomial(regret).add(idle, -most), "<=")

    def tighten(self, low: FloatArray, high: FloatArray) -> None:
        """Bound lambda and r by bounds of what sequences (s,) are worth to their owner."""
        for infoset, multiplier in enumerate(self.multiplier):
            block = self.game.sequences(infoset)
            most = float(high[block].max())
            self.program.bound(multiplier, float(low[block].max()), most)
            for sequence in self.slack.keys() & block:
                self.program.bound(self.slack[sequence], 0.0, most - float(low[sequence]))

    def objective(self, target: Target) -> Polynomial:
        """What is optimized, of degree one."""
        if target.kind == "payoff":
            return self._payoff(target.player)
        if target.kind == "frequency":
            return self._frequency(target.sequence)
        if target.kind == "nearest":
            return self._distance(target.plan)
        payoffs = [self._payoff(player) for player in range(self.game.n_players)]
        if target.kind == "sum":
            return total(payoffs)
        smallest, largest = self.program.variable(), self.program.variable()
        for payoff in payoffs:
            self.program.require(Polynomial(payoff).add(smallest, -1.0), ">=")
            if target.kind == "spread":
                self.program.require(Polynomial(payoff).add(largest, -1.0), "<=")
        return smallest if target.kind == "smallest" else largest.add(smallest, -1.0)

    def _payoff(self, player: int) -> Polynomial:
        """The payoff of a player in equilibrium."""
        value = self.value_of(player)
        if value.degree <= 1:
            return value
        payoff = self.program.variable()
        self.program.require(Polynomial(payoff).add(value, -1.0))
        return payoff

    def _frequency(self, sequence: int) -> Polynomial:
        """The share of a sequence in the weight of the one that leads there, as a variable.

        Where that is 0 any share solves the equation.
        """
        own = self.weight[sequence]
        above = self.weight[self.game.parent[self.game.sequence_infoset[sequence]]]
        if above.degree == 0:
            return own
        share = self.program.variable(0.0, 1.0)
        self.program.require(share.times(above).add(own, -1.0))
        return share

    def _distance(self, plan: FloatArray | None) -> Polynomial:
        """Sum over the sequences of the absolute differences of their weights to a plan (s,)."""
        assert plan is not None
        distances = []
        for weight, aim in zip(self.weight, plan.tolist(), strict=True):
            if weight.degree:
                distance = self.program.variable(0.0, 1.0)
                for sign in (1.0, -1.0):
                    row = Polynomial(distance).add(weight, sign)
                    self.program.require(row.add({(): -sign * aim}), ">=")
                distances.append(distance)
        return total(distances)


class Products:
    """Products of the other players' weights, of degree two at most.

    The players are the leaves of a balanced binary tree. What is played inside a subtree, and
    outside of it, are products of two such quantities; where one is multiplied once more it
    becomes a variable of its own. With four players these are the variables ``w_12 = x_1 x_2``
    and ``w_34 = x_3 x_4`` of Ganzfried 2025, section 2; with two and three there are none.
    """

    def __init__(self, program: Program, weights: Sequence[Polynomial], n_players: int) -> None:
        self._program, self._weights = program, weights
        self._players = tuple(range(n_players))
        self._known: dict[tuple[int | None, ...], Polynomial] = {}

    def of_others(self, column: Sequence[int], player: int) -> Polynomial:
        """Product of the weights of a column, sequences (N,), without those of a player."""
        inside, factors = self._players, [Polynomial({(): 1.0})]
        while len(inside) > 1:
            left, right = _halves(inside)
            sibling, nearer = (right, left) if player in left else (left, right)
            if inside == self._players:
                factors = self._inside(sibling, column)
            else:
                outside = tuple(p for p in self._players if p not in inside)
                factors = [
                    self._single(outside, factors, column),
                    self._single(sibling, self._inside(sibling, column), column),
                ]
            inside = nearer
        return factors[0] if len(factors) == 1 else factors[0].times(factors[1])

    def _inside(self, players: tuple[int, ...], column: Sequence[int]) -> list[Polynomial]:
        """One or two factors, the product of the weights of some players."""
        if len(players) == 1:
            return [self._weights[column[players[0]]]]
        halves = _halves(players)
        return [self._single(half, self._inside(half, column), column) for half in halves]

    def _single(
        self, players: tuple[int, ...], factors: list[Polynomial], column: Sequence[int]
    ) -> Polynomial:
        """The product of factors, the weights of some players, as one of degree one."""
        if len(factors) == 1:
            return factors[0]
        product = factors[0].times(factors[1])
        if product.degree <= 1:  # an empty sequence weighs 1
            return product
        key = tuple(column[p] if p in players else None for p in self._players)
        if key not in self._known:
            variable = self._program.variable(0.0, 1.0)
            self._program.require(Polynomial(variable).add(product, -1.0))
            self._known[key] = variable
        return self._known[key]


def _halves(players: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    half = len(players) // 2
    return players[:half], players[half:]
