"""Search for what proves a plan of two players undominated, or dominated; by linear programs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array

from eqbench.equilibria.programs import minimize
from eqbench.model.tree import GameTree
from eqbench.verification.dominance import advantage, check_two_players, proves_undominated
from eqbench.verification.play import Play
from eqbench.verification.sweep import TreeSweep, sum_by
from eqbench.verification.trembles import Proof


@dataclass(frozen=True, eq=False)
class PlanProof:
    """Verdict on a plan: undominated, dominated or open.

    Attributes
    ----------
    proof : Proof
    certificate : (A,) or None
        Of a certified plan frequencies of the other player that leave nothing out, of a refuted
        one frequencies of the player that dominate it; those of others are as prescribed.
    """

    proof: Proof
    certificate: NDArray | None = None


def undominated_plan(play: Play, player: int, even: Play | None = None) -> PlanProof:
    """Verdict on the plan of one of two players; the verifier has checked the certificate.

    It depends on nothing but which actions are played: a change that makes one plan better makes
    every plan better that plays the same ones, as far as their weights go.

    Parameters
    ----------
    even : of :meth:`Play.evenly`, which is judged; in Fractions if the game is known so, unless
        given
    """
    check_two_players(play)
    even = play.evenly(exact=play.tree.exact) if even is None else even
    program = _Program.of(even, player)
    answer = program.completely_mixed_answer()
    if answer is not None and proves_undominated(even, player, answer):
        return PlanProof(Proof.CERTIFIED, answer)
    change = program.improvement()
    if change is not None:
        least, most = advantage(even, player, program.own.changed(even, change))
        if least >= -even.tolerance and most > even.tolerance:
            return PlanProof(Proof.REFUTED, program.own.changed(play, change))
    return PlanProof(Proof.OPEN)


@dataclass(frozen=True, eq=False)
class _Sequences:
    """Sequences of one player: the empty one, then their actions.

    Attributes
    ----------
    actions : the player's among the A
    parent : sequence before each information set
    start : first sequence of each information set, and their number at the end
    flow : (information sets + 1, sequences)
        The constraints that make weights a plan; the first row is the empty sequence.
    """

    actions: slice
    parent: NDArray
    start: NDArray
    flow: csr_array

    @classmethod
    def of(cls, tree: GameTree, player: int) -> _Sequences:
        sets = tree.infosets_of(player)
        first, stop = (int(tree.action_start[i]) for i in (sets.start, sets.stop))
        start = tree.action_start[sets.start : sets.stop + 1] - first + 1
        above = tree.infoset_parent[sets.start : sets.stop]
        parent = np.where(above < 0, 0, above - first + 1)
        rows = np.arange(1, len(sets) + 1)
        entries = np.concatenate([np.ones(stop - first + 1), -np.ones(len(sets))])
        where = np.concatenate([[0], np.repeat(rows, np.diff(start)), rows])
        columns = np.concatenate([np.arange(stop - first + 1), parent])
        shape = (len(sets) + 1, stop - first + 1)
        return cls(slice(first, stop), parent, start, csr_array((entries, (where, columns)), shape))

    @property
    def is_plan(self) -> NDArray:
        """What the constraints of a plan sum to."""
        return np.eye(1, self.flow.shape[0])[0]

    def weights(self, frequencies: NDArray) -> NDArray:
        """Plan of the player with these frequencies of their actions."""
        weights = np.full(self.flow.shape[1], 1, dtype=frequencies.dtype)
        for parent, first, stop in zip(self.parent, self.start, self.start[1:], strict=False):
            weights[first:stop] = weights[parent] * frequencies[first - 1 : stop - 1]
        return weights

    def changed(self, play: Play, change: NDArray) -> NDArray:
        """Frequencies (A,) when the plan of a play changes in a direction as far as it can."""
        weights = self.weights(play.frequency[self.actions])
        less = change < 0
        return self.frequencies(play, weights + min(weights[less] / -change[less]) * change)

    def frequencies(self, play: Play, weights: NDArray) -> NDArray:
        """Prescribed frequencies (A,), but for this player those of a plan."""
        found = play.frequency.copy()
        own = found[self.actions]
        for first, stop in zip(self.start, self.start[1:], strict=False):
            total = weights[first:stop].sum()
            if total > 0:  # otherwise the plan does not come here
                own[first - 1 : stop - 1] = weights[first:stop] / total
        return found


@dataclass(frozen=True, eq=False)
class _Program:
    """What both programs have in common.

    Attributes
    ----------
    payoffs : (own sequences, the other's sequences)
        Multiples of the player's payoffs weighted with chance, of at most 1.
    exact : what they and their negatives stand for; None if the play is in floats
    is_played : own sequences with positive weight
    """

    play: Play
    own: _Sequences
    other: _Sequences
    payoffs: csr_array
    exact: dict[float, Fraction] | None
    is_played: NDArray

    @classmethod
    def of(cls, play: Play, player: int) -> _Program:
        tree = play.tree
        own, other = (_Sequences.of(tree, p) for p in (player, 1 - player))
        last = TreeSweep(tree).last_own  # actions from 1, 0 before the first
        rows, columns = (
            np.where(last[p] == 0, 0, last[p] - side.actions.start)
            for p, side in ((player, own), (1 - player, other))
        )
        shape = (own.flow.shape[1], other.flow.shape[1])
        cells, cell = np.unique(rows * shape[1] + columns, return_inverse=True)
        values = sum_by(cell, play.by_chance[:, player], len(cells))
        values = values * (play.one / (max(abs(values)) or 1))
        floats = values.astype(float)
        payoffs = csr_array(coo_array((floats, np.divmod(cells, shape[1])), shape))
        exact = None
        if play.exact:
            exact = dict(zip([*floats, *-floats], [*values, *-values], strict=True))
        is_played = own.weights(play.frequency[own.actions]) > 0
        return cls(play, own, other, payoffs, exact, is_played)

    def completely_mixed_answer(self) -> NDArray | None:
        """Frequencies (A,) of the other, as far from 0 as can be, to which the plan is optimal.

        The variables are their weights, own values at information sets, which bound those of
        sequences and meet them where the plan goes, and the least weight.
        """
        sets, sequences = self.own.flow.shape[0], self.other.flow.shape[1]
        found = minimize(
            [np.zeros(sequences), np.zeros(sets), -np.ones(1)],
            [
                ([self.other.flow, None, None], self.other.is_plan, self.other.is_plan),
                ([-self.payoffs, self.own.flow.T, None], 0, np.where(self.is_played, 0, np.inf)),
                ([eye_array(sequences), None, -np.ones((sequences, 1))], 0, np.inf),
            ],
            [(0, np.inf), (-np.inf, np.inf), (-np.inf, 1)],
            exact=self.exact,
        )
        if found is None or found[-1] <= 0:
            return None
        return self.other.frequencies(self.play, found[:sequences])

    def improvement(self) -> NDArray | None:
        """Change of the own plan (own sequences,) that loses nowhere and gains most on average.

        The variables are the change, which takes at most 1 from what is played and nothing from
        the rest, and how much it gains at least: in all, and at information sets of the other.
        """
        sets, size = self.other.flow.shape[0] - 1, np.diff(self.other.start)
        average = self.other.weights(np.repeat(1 / size, size))
        in_all, at_sets = self.other.flow[:1].T, self.other.flow[1:].T
        found = minimize(
            [-(self.payoffs @ average), np.zeros(1), np.zeros(sets)],
            [
                ([self.payoffs.T, -in_all, -at_sets], 0, np.inf),
                ([self.own.flow, None, None], 0, 0),
            ],
            [(-1.0 * self.is_played, np.inf), (0, np.inf), (-np.inf, np.inf)],
            exact=self.exact,
        )
        if found is None:
            return None
        change = np.maximum(found[: len(self.is_played)], -1 * self.is_played)
        return change if (change < 0).any() else None
