"""Search for what proves which kind an equilibrium is: plans that answer or dominate, trembles.

Nothing trusts what is found: :mod:`~eqbench.verdicts.dominance` and
:mod:`~eqbench.verdicts.trembles` judge it. By linear programs in floats, of which corners are
computed in Fractions, come plans of two players to which a plan is optimal or which dominate it.

Which nodes of an information set keep a belief is a matter of the orders of trembles, and how much
they keep one of the weights. So a mixed-integer program chooses orders, and in each set the nodes
that keep a belief, such that some belief over them supports the play. Where weights of 1 do not
give such a belief, single weights are changed; gains are linear in each, so Fractions stay
Fractions. That no trembles support the play is sought by a linear program over sums of gains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import block_array, block_diag, coo_array, csr_array, eye_array, lil_array, vstack

from eqbench.model.play import Play
from eqbench.model.tree import GameTree, sum_by
from eqbench.model.trembles import Trembles
from eqbench.verdicts.beliefs import credibility, judge
from eqbench.verdicts.dominance import advantage, check_two_players, proves_undominated
from eqbench.verdicts.trembles import (
    Proof,
    Sequential,
    admitted_nodes,
    limit_beliefs,
    reach_of,
    sequential,
)
from eqbench.verification.sweep import TreeSweep

SIMPLE = 10**6  # largest denominator of variables that may be anything
MET = 1e-9  # distance within which a solution in floats meets a bound
LARGEST = 12  # order of a tremble
LEAST_BELIEF = 1e-3  # in a node that keeps any
ROUNDING = 1e-9  # relative
MARGIN = 1e-5  # of gains that contradict each other, as share of the payoff scale
Row = tuple[Sequence[Any], Any, Any]


def minimize(
    costs: Sequence[NDArray],
    rows: Sequence[Row],
    bounds: Sequence[tuple[Any, Any]],
    *,
    whole: int = 0,
    time_s: float = math.inf,
    branchings: int | None = None,
    exact: Mapping[float, Fraction] | None = None,
) -> NDArray | None:
    """Variables of least cost by HiGHS, or None if it finds none.

    Parameters
    ----------
    costs : of each group of variables
    rows : a matrix for each group, or None, and what bounds their sum from below and above
    bounds : on the variables of each group
    whole : number of groups, from the first, whose variables are whole numbers
    branchings : limit of the search for whole numbers that is the same on every machine
    exact : what coefficients stand for, but for those that stand for themselves. If given, what
        meets the same bounds in Fractions is returned; whether it keeps the others is not known.
    """
    limits: Any = {} if time_s == math.inf else {"time_limit": time_s}
    if branchings is not None:
        limits["node_limit"] = branchings
    sizes = list(map(len, costs))
    heights = [next(part.shape[0] for part in row if part is not None) for row, _, _ in rows]
    low, high = (_joined([row[side] for row in rows], heights) for side in (1, 2))
    least, most = (_joined([each[side] for each in bounds], sizes) for side in (0, 1))
    matrix = csr_array(block_array([row for row, _, _ in rows]))
    done = milp(
        np.concatenate(costs),
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.repeat(np.arange(len(sizes)) < whole, sizes).astype(int),
        bounds=Bounds(least, most),
        options=limits,
    )
    if exact is None or done.x is None:
        return done.x
    both = csr_array(vstack([eye_array(len(least)), matrix]))
    return _corner(both, np.append(least, low), np.append(most, high), done.x, exact)


def _joined(parts: Sequence[Any], sizes: Sequence[int]) -> NDArray:
    return np.concatenate([np.broadcast_to(part, n) for part, n in zip(parts, sizes, strict=True)])


def _corner(
    matrix: csr_array, low: NDArray, high: NDArray, near: NDArray, exact: Mapping[float, Fraction]
) -> NDArray | None:
    """Solution in Fractions of the bounds that one in floats meets; None if there is none."""
    product = matrix @ near
    solved: dict[
        int, dict[int, Fraction]
    ] = {}  # sums that are 0, less a column; -1 is the number 1
    for r in np.flatnonzero(np.minimum(product - low, high - product) <= MET).tolist():
        cells = slice(*matrix.indptr[r : r + 2])
        values = (Fraction(exact.get(v, v)) for v in matrix.data[cells].tolist())
        row = dict(zip(matrix.indices[cells].tolist(), values, strict=True))
        row[-1] = -Fraction(float(low[r] if product[r] - low[r] <= MET else high[r]))
        for column, known in solved.items():
            if factor := row.pop(column, 0):
                for k, entry in known.items():
                    row[k] = row.get(k, 0) - factor * entry
        row = {k: entry for k, entry in row.items() if entry}
        column = max(row, default=-1)
        if column >= 0:
            pivot = row.pop(column)
            solved[column] = {k: entry / pivot for k, entry in row.items()}
        elif row:
            return None
    # what is not determined is free, and simple
    found = np.array([*(Fraction(v).limit_denominator(SIMPLE) for v in near.tolist()), Fraction(1)])
    for column, known in reversed(solved.items()):
        found[column] = -sum(entry * found[k] for k, entry in known.items())
    return found[:-1]


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
    search = _TrembleSearch.of(play)
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
    return _TrembleSearch.of(play).n_nodes


@dataclass(frozen=True, eq=False)
class _TrembleSearch:
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
    def of(cls, play: Play) -> _TrembleSearch:
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
        # of plain arrays SciPy deprecates what it makes
        gains = block_diag([coo_array(self.play.gains_at(k).T.astype(float)) for k in self.groups])
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
