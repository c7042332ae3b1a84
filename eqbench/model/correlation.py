"""Correlation plans: joint probabilities of sequences that can meet, for players who remember.

A plan has the probability of every tuple of sequences, one for each player, whose information sets
lie on a common path. Of two players in a game without chance these are all correlated strategies,
up to what makes no difference (von Stengel and Forges 2008); so they are where no
player has more than one information set.
"""

from __future__ import annotations

from itertools import product

from eqbench.errors import UsageError, counted
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import CHANCE, GameTree

Tuple = tuple[int, ...]
MOST_TUPLES = 20_000


def is_simultaneous(tree: GameTree) -> bool:
    """Whether no player has more than one information set."""
    return max((len(tree.infosets_of(p)) for p in range(tree.n_players)), default=0) <= 1


def correlation(tree: GameTree, form: SequenceForm) -> tuple[list[Tuple], list[tuple[Tuple, list]]]:
    """Tuples of sequences of a plan, and its flows: a tuple with those whose sum it equals.

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
            f"this game has {counted(n, 'player')} who move more than once; correlated equilibria "
            "are computed for two players, or where every player moves once and knows nothing"
        )

    def chain(player: int, sequence: int) -> list[int | None]:
        sets: list[int | None] = [None]
        while sequence >= n:
            sets.append(int(form.sequence_infoset[sequence]))
            sequence = int(form.parent[sets[-1]])
        return sets

    chains = (map(chain, range(n), column) for column in form.columns.tolist())
    meetings = {sets for one in chains for sets in product(*one)}
    blocks = [range(*form.block_start[i : i + 2].tolist()) for i in range(form.n_infosets)]
    choices = {
        sets: [[p] if i is None else blocks[i] for p, i in enumerate(sets)] for sets in meetings
    }
    tuples: list[Tuple] = []
    flows: list[tuple[Tuple, list[Tuple]]] = []
    for sets in sorted(meetings, key=str):
        tuples += product(*choices[sets])
        if len(tuples) > MOST_TUPLES:
            raise UsageError(
                f"the plans of this game have more than {MOST_TUPLES:,} entries; give a smaller one"
            )
        for p, i in enumerate(sets):
            if i is not None:
                for key in product(
                    *choices[sets][:p], [int(form.parent[i])], *choices[sets][p + 1 :]
                ):
                    flows.append((key, [(*key[:p], s, *key[p + 1 :]) for s in blocks[i]]))
    return tuples, flows
