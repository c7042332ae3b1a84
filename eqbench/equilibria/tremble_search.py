"""Search for what proves a profile a sequential equilibrium, or none.

Which nodes of an information set keep a belief is a matter of the orders of trembles, and how much
they keep one of the weights. So a mixed-integer program chooses orders, and in each set the nodes
that keep a belief, such that some belief over them supports the play. Where weights of 1 do not
give such a belief, single weights are changed; gains are linear in each, so Fractions stay
Fractions. That no trembles support the play is sought by a linear program over sums of gains.
What is found is for the verifier to judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, eye_array, lil_array

from eqbench.equilibria.programs import minimize
from eqbench.model.trembles import Trembles
from eqbench.verification.beliefs import credibility, judge
from eqbench.verification.play import Play
from eqbench.verification.trembles import (
    Proof,
    Sequential,
    admitted_nodes,
    limit_beliefs,
    reach_of,
    sequential,
)

LARGEST = 12  # order of a tremble
LEAST_BELIEF = 1e-3  # in a node that keeps any
ROUNDING = 1e-9  # relative
MARGIN = 1e-5  # of gains that contradict each other, as share of the payoff scale


def decide(play: Play, *, tries: int = 20, time_s: float = 10.0, seed: int = 0) -> Sequential:
    """Whether a profile is a sequential equilibrium, by whatever proof is found either way.

    Parameters
    ----------
    tries, time_s, seed : as in :func:`find_trembles`
    """
    refuted = sequential(play, against=find_contradiction(play))
    if refuted.proof is Proof.REFUTED:
        return refuted
    return sequential(play, find_trembles(play, tries=tries, time_s=time_s, seed=seed))


def find_trembles(
    play: Play,
    *,
    tries: int = 20,
    time_s: float = 10.0,
    branchings: int | None = None,
    seed: int = 0,
) -> Trembles | None:
    """Trembles under which every prescribed action is optimal, or None if none are found.

    Parameters
    ----------
    tries : choices of orders for which weights are sought
    time_s : limit of each mixed-integer program
    branchings : another limit of it, which is the same on every machine; none unless given
    """
    rng = np.random.default_rng(seed)
    search = _Search.of(play)
    least = credibility(play).belief
    for attempt in range(tries):
        costs = rng.uniform(1, 2, search.n_nodes) if attempt else np.ones(search.n_nodes)
        orders = search.orders(costs, time_s, branchings)
        if orders is None:
            return None
        trembles = search.weights(*orders, least, rng)
        if trembles is not None:
            return trembles
    return None


def contested_nodes(play: Play) -> int:
    """Number of nodes among which orders of trembles have to choose; 0 if any orders do."""
    return _Search.of(play).n_nodes


@dataclass(frozen=True, eq=False)
class _Search:
    """Off the path of play, the nodes of sets where not every belief supports the play.

    Attributes
    ----------
    unplayed : actions that tremble, of the A
    groups : nodes at which beliefs may be above 0, by information set
    count : (nodes, unplayed)
        How often the path to each node needs each tremble.
    """

    play: Play
    unplayed: NDArray
    groups: list[NDArray]
    count: csr_array

    @classmethod
    def of(cls, play: Play) -> _Search:
        groups = []
        admitted = admitted_nodes(play)
        for i in np.flatnonzero(play.total(play.others) == 0).tolist():
            nodes = play.nodes_of(i)
            nodes = nodes[admitted[nodes]]
            if (play.gains_at(nodes) > play.tolerance).any():
                groups.append(nodes)
        unplayed = np.flatnonzero(play.played == 0)
        trembling = {action: column for column, action in enumerate(unplayed.tolist())}
        paths = [play.path(node) for group in groups for node in group.tolist()]
        count = lil_array((len(paths), len(unplayed)))
        for row, path in enumerate(paths):
            for action in trembling.keys() & set(path):
                count[row, trembling[action]] = 1
        return cls(play, unplayed, groups, csr_array(count))

    @property
    def n_nodes(self) -> int:
        return self.count.shape[0]

    def orders(
        self, costs: NDArray, time_s: float, branchings: int | None
    ) -> tuple[NDArray, NDArray] | None:
        """Orders of the unplayed actions, and which nodes keep a belief; as few as possible.

        The variables are the orders, for each node whether it keeps a belief and how much, and
        for each set its lowest total order.
        """
        n, sets, trembles = self.n_nodes, len(self.groups), len(self.unplayed)
        if not n:
            return np.ones(trembles, dtype=np.int64), np.zeros(0, dtype=bool)
        own_set = np.repeat(np.arange(sets), list(map(len, self.groups)))
        member = csr_array((np.ones(n), (np.arange(n), own_set)), shape=(n, sets))
        one, most = eye_array(n), LARGEST * float(self.count.sum(axis=1).max())
        gains = block_diag([self.play.gains_at(nodes).T.astype(float) for nodes in self.groups])
        found = minimize(
            [np.full(trembles, 1e-3), costs, np.zeros(n), np.zeros(sets)],
            [
                ([self.count, None, None, -member], 0, np.inf),
                ([self.count, one, None, -member], 1, np.inf),
                ([self.count, most * one, None, -member], -np.inf, most),
                ([None, -one, one, None], -np.inf, 0),
                ([None, -LEAST_BELIEF * one, one, None], 0, np.inf),
                ([None, None, member.T, None], 1, 1),
                ([None, None, gains, None], -np.inf, self.play.tolerance),
            ],
            [(1, LARGEST), (0, 1), (0, 1), (0, np.inf)],
            whole=2,
            time_s=time_s,
            branchings=branchings,
        )
        if found is None:
            return None
        rounded = np.round(found[: trembles + n]).astype(np.int64)
        return rounded[:trembles], rounded[trembles:] > 0

    def weights(
        self, orders: NDArray, kept: NDArray, least: NDArray, rng: np.random.Generator
    ) -> Trembles | None:
        """Trembles of these orders, with weights under which every set is credible.

        A set that fails is mended by one weight that no set mended before depends on.
        """
        play, one = self.play, self.play.one
        order = np.ones(play.tree.n_actions, dtype=np.int64)
        weight = np.full(play.tree.n_actions, one)
        order[self.unplayed] = orders
        kept_count = self.count[kept]
        kept_nodes = np.concatenate([np.zeros(0, dtype=np.int64), *self.groups])[kept]
        fixed = np.zeros(len(self.unplayed), dtype=bool)  # trembles that must not change
        while True:
            trembles = Trembles(order, weight)
            found = judge(play, limit_beliefs(play, trembles, least), play.frequency)
            failing = np.flatnonzero(~found.credible)
            if not len(failing):
                return trembles
            infoset = rng.choice(failing)
            rows = np.flatnonzero(play.tree.infoset[kept_nodes] == infoset)
            if not len(rows):
                return None
            needs = kept_count[rows].toarray() > 0
            shares = found.belief[kept_nodes[rows]]
            gains = play.gains_at(kept_nodes[rows]) * shares[:, None]
            movable = np.flatnonzero(needs.any(axis=0) & ~needs.all(axis=0) & ~fixed)
            for column in rng.permutation(movable).tolist():
                inside = needs[:, column]
                factor = _factor(gains[inside].sum(axis=0), gains[~inside].sum(axis=0))
                if factor is not None:
                    weight[self.unplayed[column]] *= factor
                    fixed |= needs.any(axis=0)
                    break
            else:
                return None


def _factor(slopes: NDArray, constants: NDArray) -> Any:
    """Positive factor f with f * slopes + constants <= 0; None if there is none."""
    low: Any = 0
    high: Any = math.inf
    exact = slopes.dtype == object
    noise = 0 if exact else ROUNDING * max(abs(slopes).max(), abs(constants).max())
    for slope, constant in zip(slopes.tolist(), constants.tolist(), strict=True):
        if slope > noise:
            high = min(high, -constant / slope)
        elif slope < -noise:
            low = max(low, -constant / slope)
        elif constant > noise:
            return None
    if high <= 0 or low > high * (1 if exact else 1 + ROUNDING):
        return None
    return max(2 * low, 1) if high == math.inf else (low + high) / 2


def find_contradiction(play: Play) -> NDArray | None:
    """Weights of gains, (A,), by which no trembles support the play; None if none are found.

    A linear program in floats; the verifier's :func:`contradict` is to judge what it finds.
    """
    admitted = admitted_nodes(play)
    products: dict[frozenset[int], int] = {}
    entries: list[tuple[int, int, float, float]] = []
    for i in np.flatnonzero(play.total(play.others) == 0).tolist():
        first, nodes = int(play.tree.action_start[i]), play.nodes_of(i)
        nodes = nodes[admitted[nodes]]
        for node, gains in zip(nodes.tolist(), play.gains_at(nodes).tolist(), strict=True):
            reach, trembles = reach_of(play, node)
            if reach > 0:
                row = products.setdefault(trembles, len(products))
                entries += [(row, first + a, reach, gain) for a, gain in enumerate(gains)]
    if not entries:
        return None
    rows, columns = np.array([each[:2] for each in entries]).T
    reaches, worth = np.array([each[2:] for each in entries], dtype=np.float64).T
    actions, own = np.unique(columns, return_inverse=True)
    # in units of each product's largest reach and of the payoffs
    largest = np.zeros(len(products))
    np.maximum.at(largest, rows, reaches)
    scale = play.tree.payoff_scale or 1.0
    excess = worth / scale - max(MARGIN, 2 * play.tolerance / scale)
    matrix = csr_array((reaches / largest[rows] * excess, (rows, own)))
    found = minimize(
        [np.zeros(len(actions))],
        [([matrix], 0, np.inf), ([csr_array(np.ones((1, len(actions))))], 1, 1)],
        [(0, 1)],
    )
    if found is None:
        return None
    weight = np.zeros(play.tree.n_actions)
    weight[actions] = np.where(found > ROUNDING, found, 0)
    return weight
