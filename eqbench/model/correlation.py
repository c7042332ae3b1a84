"""Correlation plans: joint probabilities of sequences that can meet, for players who remember.

A plan has the probability of every tuple of sequences, one for each player, whose information sets
lie on a common path. Of two players in a game without chance these are all correlated strategies,
up to what makes no difference (von Stengel and Forges 2008); so they are where no
player has more than one information set.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from eqbench.errors import UsageError, counted
from eqbench.model.tree import CHANCE, GameTree

Tuple = tuple[int, ...]
MOST_TUPLES = 20_000


def is_simultaneous(tree: GameTree) -> bool:
    """Whether no player has more than one information set, and one path passes all of them.

    So a plan has the joint probabilities of all actions. Those of any two players alone may have no
    joint distribution.
    """
    most = max((len(tree.infosets_of(p)) for p in range(tree.n_players)), default=0)
    return most <= 1 and len(tree.levels) - 1 == tree.n_infosets


def correlation(tree: GameTree) -> tuple[list[Tuple], list[tuple[Tuple, list]]]:
    """Tuples of sequences of a plan, and its flows: a tuple with those whose sum it equals.

    Sequences have the numbers of the sequence form: p is the empty one of player p, N + a ends in
    action a.

    Raises
    ------
    UsageError
        If no linear program of polynomial size describes the plans, or it is too large.
    """
    n = tree.n_players
    if (tree.player == CHANCE).any():
        raise UsageError(
            "this game has moves of chance, with which the optimum is NP-hard to find in general; "
            "give a game without them"
        )
    if n > 2 and not is_simultaneous(tree):
        raise UsageError(
            f"this game has {counted(n, 'player')} who do not all move once at the same time; "
            "correlated equilibria are computed for two players, or where they do"
        )
    _check_size(tree.n_terminals)  # each is another tuple
    meetings: set[tuple[int | None, ...]] = set()
    for end in tree.terminals.tolist():
        passed: list[list[int | None]] = [[None] for _ in range(n)]
        node = end
        while node:
            infoset, node = int(tree.action_infoset[tree.incoming[node]]), int(tree.parent[node])
            passed[tree.player[node]].append(infoset)
        _check_size(prod(map(len, passed)))
        meetings |= set(product(*passed))
        _check_size(len(meetings))
    first = (tree.action_start + n).tolist()
    blocks = [range(*first[i : i + 2]) for i in range(tree.n_infosets)]
    parents = np.where(tree.infoset_parent < 0, tree.infoset_player, tree.infoset_parent + n)
    choices = {
        sets: [[p] if i is None else blocks[i] for p, i in enumerate(sets)] for sets in meetings
    }
    tuples: list[Tuple] = []
    flows: list[tuple[Tuple, list[Tuple]]] = []
    for sets in sorted(meetings, key=str):
        tuples += product(*choices[sets])
        _check_size(len(tuples))
        for p, i in enumerate(sets):
            if i is not None:
                before, after = choices[sets][:p], choices[sets][p + 1 :]
                for key in product(*before, [int(parents[i])], *after):
                    flows.append((key, [(*key[:p], s, *key[p + 1 :]) for s in blocks[i]]))
    return tuples, flows


def _check_size(tuples: int) -> None:
    if tuples > MOST_TUPLES:
        raise UsageError(
            f"the plans of this game have more than {MOST_TUPLES:,} entries; give a smaller one"
        )
