"""Trembles at the end of a branch: what proves to a verifier that its limit is sequential.

An action that the limit does not play has a log frequency of about -lambda times its loss. Of the
nodes of an information set those keep a belief whose log reaches stay together as lambda grows.
So orders need not be the losses, which may be irrational: a linear program finds whole numbers
that tie and part the same nodes, and a linear system weights that give the beliefs of the branch.
Newton's method takes these to where actions that are mixed are equally good.

Symbols: K actions at sets with a choice, U unplayed ones among them, H nodes of these sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.linalg import lsqr

from eqbench.model.tree import FloatArray
from eqbench.model.trembles import LARGEST_ORDER, Trembles

from .kernels import FlatTree, expected_payoffs

# Log reaches that differ by more have parted. Some frequencies vanish as 1 / lambda only, where an
# action of the branch is as good as others in the limit; nodes that need other ones of these part
# slowly.
APART, SLOWLY_APART = 30.0, 7.0
# A frequency up to this may be what rounding leaves of an unplayed action.
UNPLAYED = 1e-9
# Orders are multiples of one of such shares, up to rounding.
MOST_SHARES, ROUNDING = 1000, 1e-6
ITERATIONS = 10
# Entries of a matrix up to which it is not worth while to leave out zeros.
MOST_DENSE = 10**6
# Largest logarithm of a weight.
MOST_LOG = 100.0


def trembles_of(flat: FlatTree, logs: FloatArray, behavior: FloatArray) -> Trembles | None:
    """Trembles of an equilibrium at the end of a branch; None if none are found.

    Parameters
    ----------
    logs : float64 (A,)
        Log frequencies at the end of the branch.
    behavior : float64 (A,)
        The equilibrium.
    """
    limit = _Limit(flat, logs[flat.action], behavior[flat.action])
    orders = limit.orders()
    if orders is None:
        return None
    logs_of_weights = limit.mended(limit.weights())
    if not np.abs(logs_of_weights).max(initial=0.0) <= MOST_LOG:
        return None
    order, weight = np.ones(len(behavior), dtype=np.int64), np.ones(len(behavior))
    trembling = flat.action[limit.unplayed]
    order[trembling], weight[trembling] = orders, np.exp(logs_of_weights)
    return Trembles(order, weight)


@dataclass(frozen=True, eq=False)
class _Limit:
    """Log frequencies (K,) of a branch, and the frequencies (K,) of the equilibrium at its end."""

    flat: FlatTree
    logs: FloatArray
    frequency: FloatArray

    @cached_property
    def unplayed(self) -> NDArray[np.int64]:
        """Actions that tremble, (U,)."""
        return np.flatnonzero(self.frequency <= UNPLAYED)

    @cached_property
    def needs(self) -> NDArray | csr_array:
        """How often the others' path to each node needs each tremble, (H, U)."""
        needs = self._paths[:, self.unplayed]
        return needs.toarray() if needs.shape[0] * needs.shape[1] <= MOST_DENSE else needs

    @cached_property
    def _paths(self) -> csr_array:
        start, path = (part.astype(np.int64) for part in (self.flat.path_start, self.flat.path))
        shape = (len(self.flat.decision), len(self.logs))
        return csr_array((np.ones(len(path)), path, start), shape=shape)

    @cached_property
    def played_reach(self) -> FloatArray:
        """Log probability of each node as if all trembles were certain, (H,); -inf by chance."""
        played = np.where(self.frequency > UNPLAYED, self.frequency, 1.0)
        return self.flat.log_chance + self._paths @ np.log(played)

    @cached_property
    def compared(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The likeliest node of each one's set (H,), nodes that are tied with it, and parted ones.

        The latter only where others must tremble, so that beliefs are a matter of trembles.
        """
        start = self.flat.node_start.astype(np.int64)
        reach = self.played_reach + self.needs @ self.logs[self.unplayed]
        own_set = np.repeat(np.arange(len(start) - 1), np.diff(start))
        top = np.lexsort((-reach, own_set))[start[:-1]][own_set]
        possible = np.isfinite(reach)
        needed = np.where(possible, self.needs.sum(axis=1), np.inf)
        free = np.minimum.reduceat(needed, start[:-1])[own_set] > 0
        others = np.flatnonzero(possible & free & (top != np.arange(len(top))))
        slow = self.needs[:, self.logs[self.unplayed] > -APART]
        differ = abs(slow[others] - slow[top[others]]).sum(axis=1) > 0
        parted = reach[top[others]] - reach[others] > np.where(differ, SLOWLY_APART, APART)
        return top, others[~parted], others[parted]

    def orders(self) -> NDArray[np.int64] | None:
        """Orders (U,) that tie and part the same nodes; None if there are none."""
        top, tied, parted = self.compared
        if not len(tied) and not len(parted):
            return np.ones(len(self.unplayed), dtype=np.int64)
        others = np.concatenate([tied, parted])
        more = self.needs[others] - self.needs[top[others]]
        least, most = (np.repeat([0.0, bound], [len(tied), len(parted)]) for bound in (1, np.inf))
        if (more.sum(axis=1) >= least).all() and (more.sum(axis=1) <= most).all():
            return np.ones(len(self.unplayed), dtype=np.int64)  # no smaller ones are possible
        found = milp(
            np.ones(len(self.unplayed)),
            constraints=LinearConstraint(more, least, most),
            bounds=Bounds(1, np.inf),
        ).x
        if found is None:
            return None
        for shares in range(1, MOST_SHARES + 1):
            orders = np.round(shares * found)
            if abs(orders - shares * found).max() <= ROUNDING * shares:
                made = more @ orders
                fits = ((made >= least) & (made <= most)).all()
                return orders.astype(np.int64) if fits and orders.max() <= LARGEST_ORDER else None
        return None

    def weights(self) -> FloatArray:
        """Logarithms of weights (U,), as small as possible, for the beliefs of the branch."""
        top, tied, _ = self.compared
        if not len(tied):
            return np.zeros(len(self.unplayed))
        ties: Any = self.needs[tied] - self.needs[top[tied]]
        # the same logs for tied nodes, of whose huge sums only the differences matter
        return lsqr(ties, ties @ self.logs[self.unplayed], atol=1e-15, btol=1e-15)[0]

    def mended(self, log_weights: FloatArray) -> FloatArray:
        """Logarithms of weights (U,) near the given ones that make mixed actions equally good."""
        best, least = log_weights, np.inf
        blocks = self._mixed_sets()
        if not blocks:
            return log_weights
        for _ in range(ITERATIONS):
            gains, slopes = [np.zeros(0)], [np.zeros((0, len(log_weights)))]
            for nodes, here in blocks:
                needs = self.needs[nodes]
                needs = needs if isinstance(needs, np.ndarray) else needs.toarray()
                reach = self.played_reach[nodes] + needs @ log_weights
                belief = np.exp(reach - reach.max())
                belief /= belief.sum()
                gains.append(belief @ here)
                slopes.append((belief[:, None] * (here - gains[-1])).T @ needs)
            gain = np.concatenate(gains)
            size = np.abs(gain).max(initial=0.0)
            if not size < least:
                break
            best, least = log_weights, size
            log_weights = best - np.linalg.lstsq(np.concatenate(slopes), gain)[0]
        return best

    def _mixed_sets(self) -> list[tuple[NDArray[np.int64], FloatArray]]:
        """Nodes that keep a belief at sets that mix, and gains of played actions over the first."""
        flat, (top, tied, _) = self.flat, self.compared
        payoffs = flat.payoffs.copy()
        expected_payoffs(flat, self.frequency, np.empty(len(flat.edge)), payoffs)
        blocks = []
        for c in np.unique(np.searchsorted(flat.node_start, tied, side="right") - 1).tolist():
            first, end = flat.start[c], flat.start[c + 1]
            played = np.flatnonzero(self.frequency[first:end] > UNPLAYED)
            if len(played) > 1:
                begin, stop = flat.node_start[c], flat.node_start[c + 1]
                inside = tied[(tied >= begin) & (tied < stop)]
                nodes = np.append(top[inside[0]], inside)
                worth = payoffs[flat.owner[c], flat.child[nodes].astype(np.int64)[:, None] + played]
                blocks.append((nodes, worth[:, 1:] - worth[:, :1]))
        return blocks
