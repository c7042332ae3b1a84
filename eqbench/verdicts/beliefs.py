"""Credible play: some belief at an information set supports it, given the play after it.

That is weak sequential rationality, set by set: the beliefs that support different sets need not
fit together. Every sequential equilibrium passes (Kreps and Wilson 1982), and so do extensive-form
perfect and quasi-perfect ones, which are sequential; a pass does not prove any of these.

The loss at a set is what its player gains there at most by one other action, with everybody,
themselves too, playing as prescribed afterwards. It could also be measured against all ways of
going on; but then one folly would count at every set before it. With consistent beliefs both
come to the same, the one-deviation property (Hendon, Jacobsen and Sloth 1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.play import Play
from eqbench.model.profile import place_of
from eqbench.model.tree import GameTree, sum_by
from eqbench.text import Displayed
from eqbench.verdict import credible_text

SUM_TOLERANCE = 1e-9
ROUNDING = 1e-10  # of the largest gain
MOST_PIVOTS = 200  # in floats, where rounding may lead in circles


class Reached(StrEnum):
    """Ways in which play comes to an information set, by which its beliefs are forced or free."""

    ON_PATH = "on path"
    OWN_DEVIATION = "own deviation"  # beliefs are forced by how the others reach it
    OFF_PATH = "off path"  # others must deviate, or chance never leads there: beliefs are free


@dataclass(frozen=True, eq=False, repr=False)
class Credibility(Displayed):
    """Losses at all I information sets of a profile, with certificates.

    Attributes
    ----------
    tree : GameTree
    reached : tuple of length I
    loss : (I,) floats, or Fractions as objects
        Of the prescribed play under `belief`, in payoff units; a set is credible where it is at
        most `tolerance`.
    bound : (I,)
        The loss is at least this under any belief that is admitted; a set is refuted where it is
        above `tolerance`.
    belief : (M,)
        Beliefs over the nodes of each set; 0 at other nodes.
    better : (A,)
        A mixture of actions for each set where beliefs are free, otherwise 0, which gains at least
        `bound` at every node.
    tolerance : float
        In payoff units; 0 in exact mode.
    """

    tree: GameTree
    reached: tuple[Reached, ...]
    loss: NDArray
    bound: NDArray
    belief: NDArray
    better: NDArray
    tolerance: float

    def __repr__(self) -> str:
        return f"<Credibility: {self}>"

    def __str__(self) -> str:
        return credible_text(self.to_json())

    @property
    def credible(self) -> NDArray[np.bool_]:
        """Mask of the sets whose play a belief supports, (I,)."""
        return (self.loss <= self.tolerance).astype(bool)

    @property
    def refuted(self) -> NDArray[np.bool_]:
        """Mask of the sets whose play no belief supports, (I,); floats may leave one in neither."""
        return (self.bound > self.tolerance).astype(bool)

    @property
    def n_credible(self) -> int:
        return int(self.credible.sum())

    @property
    def worst(self) -> int:
        """Information set of the largest loss."""
        return int(np.argmax(self.loss))

    def to_json(self) -> dict[str, Any]:
        """How many sets are credible, and the largest loss and where, as JSON values.

        `exact` is that loss as a text ``p/q`` if it was computed in Fractions, else None;
        `worst_set` is None where all sets are credible.
        """
        worst, tree = self.worst, self.tree
        player, label = tree.players[tree.infoset_player[worst]], tree.infoset_labels[worst]
        return {
            "sets": tree.n_infosets,
            "credible": self.n_credible,
            "worst": float(self.loss[worst]),
            "worst_set": None if self.credible.all() else [player, label],
            "exact": str(self.loss[worst]) if self.loss.dtype == object else None,
        }

    def by_set(self) -> list[dict[str, Any]]:
        """How each set is reached, its loss, and whether no belief supports it, as JSON values."""
        verdicts = zip(self.reached, self.loss, self.refuted, strict=True)
        return [
            {"reached": reached.value, "loss": float(loss), "refuted": bool(refuted)}
            for reached, loss, refuted in verdicts
        ]


def credibility(play: Play, admitted: NDArray[np.bool_] | None = None) -> Credibility:
    """Credibility under the beliefs that make the loss least at every information set.

    Parameters
    ----------
    admitted : (M,)
        Nodes at which free beliefs may be above 0, at least one of each information set; all
        unless given.
    """
    tree = play.tree
    belief, better = np.zeros_like(play.edge), np.zeros_like(play.frequency)
    starts = tree.action_start.tolist()
    for i in np.flatnonzero(play.total(play.others) == 0).tolist():
        nodes, own = play.nodes_of(i), slice(starts[i], starts[i + 1])
        nodes = nodes if admitted is None else nodes[admitted[nodes]]
        gains = play.gains_at(nodes)
        most = gains.max(axis=1)
        best = int(np.argmin(most))
        if most[best] <= 0:  # certainty about this node supports the play
            belief[nodes[best]] = play.one
            better[own] = play.frequency[own]
        else:
            belief[nodes], better[own] = optimal_mixtures(gains)
    return judge(play, belief, better, admitted)


def judge(
    play: Play, belief: NDArray, better: NDArray, admitted: NDArray[np.bool_] | None = None
) -> Credibility:
    """Credibility as far as beliefs and mixtures of actions prove it, wherever they are from.

    Parameters
    ----------
    belief : (M,)
        Distributions over the nodes of sets that the others do not reach; other entries are
        replaced by what Bayes' rule forces.
    better : (A,)
        Distributions over the actions of the same sets.
    admitted : (M,)
        As in :func:`credibility`.

    Raises
    ------
    UsageError
        If one of these is not a distribution.
    """
    tree, total = play.tree, play.total(play.others)
    free = (total == 0).astype(bool)
    owner = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    admitted = tree.infoset >= 0 if admitted is None else admitted
    belief = np.where(admitted, belief, belief * 0)
    better = np.where(free[owner], better, better * 0)
    forced = play.deciding[~free[tree.infoset[play.deciding]]]
    belief[forced] = play.others[forced] / total[tree.infoset[forced]]
    _check_distributions(tree, play.total(belief), belief, free)
    _check_distributions(tree, sum_by(owner, better, tree.n_infosets), better, free)
    loss = np.maximum.reduceat(play.mean_gains(belief), tree.action_start[:-1])
    at_nodes = play.gains_of(better)
    at_nodes[~admitted] = at_nodes.max()
    bound = np.where(free, play.least(at_nodes), loss)
    by_own = np.where(play.own > 0, Reached.ON_PATH, Reached.OWN_DEVIATION)
    reached = tuple(map(Reached, np.where(free, Reached.OFF_PATH, by_own).tolist()))
    return Credibility(tree, reached, loss, bound, belief, better, play.tolerance)


def _check_distributions(
    tree: GameTree, total: NDArray, values: NDArray, free: NDArray[np.bool_]
) -> None:
    """Raise UsageError unless values are positive and sum to 1 at free information sets."""
    allowed = 0.0 if values.dtype == object else SUM_TOLERANCE
    wrong = free & (abs(total - 1) > allowed).astype(bool)
    if (values < 0).any() or wrong.any():
        where = f" at {place_of(tree, int(np.argmax(wrong)))}" if wrong.any() else ""
        raise UsageError(f"certificates are distributions; this one is not{where}")


def optimal_mixtures(gains: NDArray) -> tuple[NDArray, NDArray]:
    """Mixture of rows that keeps the best column lowest, and of columns the worst row highest.

    Both guarantee the value of the game, in floats up to rounding.

    Parameters
    ----------
    gains : (n, k)
    """
    if gains.dtype != object:
        found = _simplex(gains)
        if found is not None:
            rows, columns = found
            gap = (rows @ gains).max() - (gains @ columns).min()
            if gap <= ROUNDING * abs(gains).max():
                return found
        gains = np.vectorize(Fraction, otypes=[object])(gains)
        rows, columns = optimal_mixtures(gains)
        return rows.astype(float), columns.astype(float)
    exact = _simplex(gains)
    assert exact is not None
    return exact


def _simplex(gains: NDArray) -> tuple[NDArray, NDArray] | None:
    """Optimal mixtures; None if floats lead in circles or to a column that nothing limits.

    With positive entries the value is positive, and weights that sum to its inverse are a linear
    program whose first basis is known (Dantzig 1951). Bland's rule keeps Fractions from going
    in circles; in floats it would take pivots that are almost 0.
    """
    (rows, columns), exact = gains.shape, gains.dtype == object
    one = gains.flat[0] * 0 + 1
    rounding = 0 if exact else ROUNDING
    positive = (gains - gains.min()).T / (abs(gains).max() or one) + one  # from 1 to 3
    identity = np.full((columns, columns), one * 0)
    np.fill_diagonal(identity, one)
    table = np.hstack([positive, identity, np.full((columns, 1), one)])
    cost = np.concatenate([np.full(rows, one), np.full(columns + 1, one * 0)])
    basis = np.arange(rows, rows + columns)
    pivots = 0
    while (cost[:-1] > rounding).any():
        enter = int(np.argmax(cost[:-1] > 0 if exact else cost[:-1]))
        limiting = np.flatnonzero(table[:, enter] > rounding)
        pivots += 1
        if not (len(limiting) and (exact or pivots <= MOST_PIVOTS)):
            return None
        ratios = table[limiting, -1] / table[limiting, enter]
        least = limiting[ratios <= ratios.min() + rounding]
        first = np.argmin(basis[least]) if exact else np.argmax(table[least, enter])
        leave = int(least[first])
        table[leave] /= table[leave, enter]
        others = np.arange(columns) != leave
        table[others] -= np.outer(table[others, enter], table[leave])
        cost -= cost[enter] * table[leave]
        basis[leave] = enter
    weights = np.full(rows + columns, one * 0)
    weights[basis] = table[:, -1]
    return _mixture(weights[:rows]), _mixture(-cost[rows:-1])


def _mixture(weights: NDArray) -> NDArray:
    weights = np.where(weights > 0, weights, weights * 0)
    return weights / weights.sum()
