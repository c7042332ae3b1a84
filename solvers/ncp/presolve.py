"""What is known of a game before any program is solved.

Dominated actions, sequences that carry no choice, and bounds of multipliers and slacks.

Symbols: M nodes, N players, S sequences, I information sets, A actions and Z terminals of the
game; s sequences of the compact game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import CHANCE, INT64_SAFE, FloatArray, GameTree, IntArray


def dominated_actions(tree: GameTree) -> IntArray:
    """Round in which each action is found to be dominated, from 1, int32 (A,); 0 if it stays.

    A player can do without dominated actions, whatever all players do later.

    An action goes if its information set keeps another one such that at every node of the set
    the worst that can happen to the player after the other is at least as good as the best that
    can happen after it. Worst and best are over all remaining play of everybody, with
    expectations at chance nodes. Of actions with the same single payoff the first stays. Removed
    actions narrow the play, so this is repeated until nothing changes; nodes that only removed
    actions lead to count for nothing, and a set without other nodes loses nothing more.

    Every equilibrium of the game that is left is one of the whole game. The others play no
    removed action there. Against that, a strategy that uses a removed action gains nothing over
    the one that takes the dominating action instead, at every node of the set that is reached,
    and then continues with whatever actions are left; what the player would have done after the
    removed action is irrelevant. Going through a player's sets from the first decision on, and
    through the rounds from the last one back, every reply is so replaced by one in the remaining
    game that is at least as good. The converse does not hold: dominance is weak, so equilibria
    that use removed actions are lost.

    Comparisons are exact if the game is; otherwise bounds carry the rounding of their sums.
    """
    play = RemainingPlay(tree, exact=tree.exact)
    round_of = np.zeros(tree.n_actions, dtype=np.int32)
    rounds = 0
    while (found := play.dominated(round_of > 0)).any():
        rounds += 1
        round_of[found] = rounds
    return round_of


class RemainingPlay:
    """A tree prepared for passes over what can still happen, in integers if `exact`."""

    def __init__(self, tree: GameTree, *, exact: bool) -> None:
        self.tree = tree
        self.payoffs, self.chance = tree.payoffs.table, tree.chance_probability
        if exact:
            self.payoffs, self.chance, _ = in_integers(tree)
        self.beyond = INT64_SAFE if self.payoffs.dtype == np.int64 else np.inf
        self.first = np.flatnonzero(np.diff(tree.parent)) + 1  # the first child of each parent
        self.first_child = np.full(tree.n_nodes, -1)
        self.first_child[tree.parent[self.first]] = self.first
        self.sizes = np.diff(tree.action_start)

    def dominated(self, removed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Remaining actions that are dominated when some are removed already, bool (A,)."""
        tree = self.tree
        gone = np.append(removed, False)[tree.incoming]  # -1: no action leads there
        bounds, lost = self.extremes(gone), gone.copy()
        for level in tree.levels[1:]:
            lost[level] |= lost[tree.parent[level]]
        node = np.flatnonzero((tree.infoset >= 0) & ~lost)
        infoset = tree.infoset[node]
        worst_at, best_at = tree.player[node], tree.n_players + tree.player[node]
        child, first = self.first_child[node], tree.action_start[infoset]

        def covers(better: int, worse: int) -> NDArray[np.bool_]:
            """Sets (I,) that keep both actions and where one is never worse than the other."""
            both = self.sizes[infoset] > max(better, worse)
            both[both] = ~(removed[first[both] + better] | removed[first[both] + worse])
            worst = bounds[child[both] + better, worst_at[both]]
            best = -bounds[child[both] + worse, best_at[both]]
            holds = np.zeros(tree.n_infosets, dtype=bool)
            holds[infoset[both]] = True
            holds[infoset[both][worst < best]] = False
            return holds

        found = np.zeros(tree.n_actions, dtype=bool)
        for a in range(int(self.sizes.max(initial=0))):
            for b in range(a):
                earlier = covers(b, a)
                later = covers(a, b) & ~earlier  # of two equal ones the first stays
                found[tree.action_start[:-1][earlier] + a] = True
                found[tree.action_start[:-1][later] + b] = True
        return found

    def extremes(self, gone: NDArray[np.bool_]) -> NDArray:
        """Lowest payoffs after each node and, negated, the highest; (M, 2N).

        Moves to nodes that are `gone`, bool (M,), are not made. Since both halves look for a
        minimum, one pass from the leaves does. A node after k moves of chance has the k-th
        power of chance's denominator left out, see `in_integers`.
        """
        tree = self.tree
        bounds = np.zeros((tree.n_nodes, 2 * tree.n_players), dtype=self.payoffs.dtype)
        bounds[tree.terminals] = np.hstack([self.payoffs, -self.payoffs])
        for level in tree.levels[:0:-1]:
            start, stop = np.searchsorted(self.first, [level.start, level.stop])
            first, above = self.first[start:stop], tree.parent[level]
            open_play = np.where(gone[level, None], self.beyond, bounds[level])
            drawn = tree.player[above] == CHANCE
            bounds[tree.parent[first]] = np.minimum.reduceat(open_play, first - level.start)
            bounds[above[drawn]] = 0
            means = self.chance[level][drawn, None] * bounds[level][drawn]
            np.add.at(bounds, above[drawn], means)
        return bounds


def in_integers(tree: GameTree) -> tuple[NDArray, NDArray, int]:
    """Payoffs (Z, N) and chances (M,) of an exact game, and the factor of the payoffs.

    A payoff after k moves of chance is lifted by chance's denominator to the power of the most
    such moves on any path, less k, so that all children of a node are over the same denominator
    and expectations need no division. The factor is that of payoffs after no moves.
    """
    moves = np.zeros(tree.n_nodes, dtype=np.int64)
    for level in tree.levels[1:]:
        above = tree.parent[level]
        moves[level] = moves[above] + (tree.player[above] == CHANCE)
    payoffs, denominator = tree.payoffs.rational()
    powers = [tree.chance_denominator**k for k in range(int(moves.max()) + 1)]
    largest = max(int(abs(payoffs).max()), 1) * powers[-1]
    dtype: type = np.int64 if largest + 1 < INT64_SAFE else object
    lift: NDArray = np.array(powers[::-1], dtype=dtype)[moves[tree.terminals], None]
    return payoffs.astype(dtype) * lift, tree.chance.astype(dtype), powers[-1] * denominator


@dataclass(frozen=True, eq=False)
class CompactGame(SequenceForm):
    """The sequence form as the programs see it, of s sequences.

    An information set with one remaining action is an alias: its sequence is the one that
    leads there, so weight, slack and multiplier of that sequence go. Removed actions go with
    everything that follows them.
    """

    form: SequenceForm  # the game's own
    # int32 (S,): sequence here that stands for each sequence of the game; -1 if it was removed
    alias: IntArray
    # int32 (s,): the first sequence of the game that each one here stands for: where its choice is
    # made
    origin: IntArray
    rooted: bool  # whether the weights of empty sequences are variables, and not just 1

    @classmethod
    def of(
        cls, form: SequenceForm, removed: NDArray | None = None, *, verbatim: bool = False
    ) -> CompactGame:
        """The game with aliases for sets of one action, less removed actions, bool (A,).

        Or verbatim: without aliases and rooted.
        """
        n = form.n_players
        kept = np.ones(form.n_sequences, dtype=bool)
        if removed is not None:
            kept[n:] = ~removed
        alias = np.full(form.n_sequences, -1, dtype=np.int32)
        alias[:n] = np.arange(n)
        origin, start, infosets = list(range(n)), [n], []
        for i in range(form.n_infosets):
            block = np.arange(form.block_start[i], form.block_start[i + 1])
            block = block[kept[block]]
            above = alias[form.parent[i]]
            if above < 0:
                continue
            if len(block) == 1 and not verbatim:
                alias[block] = above
                continue
            alias[block] = len(origin) + np.arange(len(block))
            origin += block.tolist()
            start.append(len(origin))
            infosets.append(i)
        own = np.array(infosets, dtype=np.int32)
        player = form.infoset_player[own]
        possible = (alias[form.columns] >= 0).all(axis=1)
        columns, group = np.unique(alias[form.columns[possible]], axis=0, return_inverse=True)
        payoffs = np.zeros((len(columns), n))
        np.add.at(payoffs, group.ravel(), form.payoffs[possible])
        return cls(
            n_players=n,
            block_start=np.array(start, dtype=np.int32),
            parent=alias[form.parent[own]],
            infoset_start=np.searchsorted(player, np.arange(n + 1)).astype(np.int32),
            infoset_player=player,
            columns=columns,
            chance=np.bincount(group.ravel(), form.chance[possible]).astype(np.float64),
            base=payoffs,
            slope=None,
            value=0.0,
            form=form,
            alias=alias,
            origin=np.array(origin, dtype=np.int32),
            rooted=verbatim,
        )

    def sequences(self, infoset: int) -> range:
        """The sequences that end at an information set."""
        return range(int(self.block_start[infoset]), int(self.block_start[infoset + 1]))


def value_bounds(
    game: CompactGame, tree: GameTree, unit: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Bounds of what sequences (s,) are worth to their owner with best play after them.

    Weighted with the reach of chance and of the others, whatever these do; in units of payoffs.
    That such bounds help branch and bound is published (Ganzfried 2026, arXiv 2606.25997); these
    are simple ones: from every node on, play lies between what an enemy and a friend would make
    of it who decide for everybody and see everything.
    """
    n = game.n_players
    extremes = RemainingPlay(tree, exact=False).extremes(np.zeros(tree.n_nodes, dtype=bool))
    reach = tree.along_paths(tree.chance_probability)
    node = np.flatnonzero(tree.incoming >= 0)
    sequence = tree.incoming[node] + n
    here = game.alias[sequence]
    # an alias must count once, where its own choice was made
    real = (here >= 0) & (game.origin[here] == sequence)
    node, here = node[real], here[real]
    player = game.form.sequence_player[sequence[real]]
    low, high = np.zeros(game.n_sequences), np.zeros(game.n_sequences)
    # others may not come here at all, so 0 is always possible
    np.add.at(low, here, reach[node] * np.minimum(extremes[node, player] / unit, 0.0))
    np.add.at(high, here, reach[node] * np.maximum(-extremes[node, n + player] / unit, 0.0))
    return low, high
