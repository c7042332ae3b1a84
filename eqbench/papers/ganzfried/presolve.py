"""The paper's program for three-player Kuhn poker, and what a presolve can take off by hand.

The program of Ganzfried 2025, section 2, has as columns a weight x_s and a slack r_s of each
sequence s, and a multiplier of each information set and of each player's root. Its rows say
E x = e, and one more fixes x_s = 0 for each removed action. Three rules need no search: a row that
fixes a weight goes with it; a row that leaves one sequence to an information set makes it the same
column as the sequence above; and x_s r_s = 0 fixes the slack of a weight that is always 1.

Symbols: N players, I information sets, S sequences, A actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import GameTree

FREE, NEVER, ALWAYS = -1, 0, 1


@dataclass(frozen=True, eq=False)
class PaperModel:
    """The program after these rules.

    Attributes
    ----------
    form : of the full game
    removed : actions whose weights are fixed to 0
    weight : int64 (S,)
        `NEVER` or `ALWAYS` where the rules fix the weight, else `FREE`.
    column : int64 (S,)
        Sequence whose column stands for each free weight.
    """

    form: SequenceForm
    removed: tuple[int, ...]
    weight: NDArray[np.int64]
    column: NDArray[np.int64]

    @classmethod
    def of(cls, form: SequenceForm, removed: Sequence[int]) -> PaperModel:
        """The program less `removed`, actions of the tree."""
        n = form.n_players
        weight, column = np.full(form.n_sequences, FREE), np.arange(form.n_sequences)
        weight[:n] = ALWAYS
        weight[[n + action for action in removed]] = NEVER
        for infoset in range(form.n_infosets):  # parents stand before their children
            left = [s for s in block(form, infoset) if weight[s] != NEVER]
            if len(left) == 1:
                above = form.parent[infoset]
                weight[left], column[left] = weight[above], column[above]
        return cls(form, tuple(removed), weight, column)

    @property
    def rows(self) -> int:
        """Linear rows of the input."""
        return self.form.n_players + self.form.n_infosets + len(self.removed)

    @property
    def columns(self) -> int:
        """Variables of the input."""
        return 2 * self.form.n_sequences + self.form.n_players + self.form.n_infosets

    @property
    def nonzeros(self) -> int:
        """Entries of the linear rows of the input."""
        return self.form.n_sequences + self.form.n_infosets + len(self.removed)

    @property
    def branching(self) -> list[int]:
        """Information sets with two free weights or more, whose rows are left."""
        left = [
            [s for s in block(self.form, i) if self.weight[s] != NEVER]
            for i in range(self.form.n_infosets)
        ]
        return [infoset for infoset, own in enumerate(left) if len(own) > 1]

    def sizes(self) -> dict[str, int]:
        """Sizes of the input, what the rules take off, and the products that are left."""
        free = self.weight == FREE
        fixed_slacks = int((self.weight == ALWAYS).sum())
        kept = int((free & (self.column == np.arange(len(free)))).sum())
        rows_left = len(self.branching)
        columns_left = kept + len(free) - fixed_slacks + self.columns - 2 * len(free)
        return {
            "removed_actions": len(self.removed),
            "rows": self.rows,
            "columns": self.columns,
            "nonzeros": self.nonzeros,
            "quadratic_constraints": 2 * len(free),
            "presolve_rows": self.rows - rows_left,
            "presolve_columns": self.columns - columns_left,
            "complementarities": int(free.sum()),
            "products": len(self.products()),
        }

    def products(self) -> set[tuple[int, int]]:
        """Pairs of columns whose product stands in the payoffs of somebody's sequences."""
        found = set()
        for played in self.form.columns.tolist():
            for others in combinations(played, self.form.n_players - 1):
                if any(self.weight[s] == NEVER for s in others):
                    continue
                free = sorted(int(self.column[s]) for s in others if self.weight[s] == FREE)
                if len(free) == 2:
                    found.add((free[0], free[1]))
        return found


def block(form: SequenceForm, infoset: int) -> range:
    """The sequences that end at an information set."""
    return range(int(form.block_start[infoset]), int(form.block_start[infoset + 1]))


def missing_actions(full: GameTree, reduced: GameTree) -> dict[str, int]:
    """Actions of the full game that a reduced one lacks, by ``player|information set|action``."""
    found = {}
    for infoset, (label, actions) in enumerate(
        zip(full.infoset_labels, full.infoset_actions, strict=True)
    ):
        player = int(full.infoset_player[infoset])
        kept = reduced.infoset_actions[reduced.infoset_of(player, label)]
        for k, action in enumerate(actions):
            if action not in kept:
                name = f"{full.players[player]}|{label}|{action}"
                found[name] = int(full.action_start[infoset]) + k
    return found
