"""The twelve decision nodes of three-player Kuhn poker, as Billingham 2018 numbers them.

Symbols in shapes: N cards, A actions. The rows of all arrays are the nodes 1 to 12: players
1 to 3 open, then answers to a bet of player 3 (4 to 6), player 2 (7 to 9), player 1 (10 to 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray, GameTree


class Node(NamedTuple):
    """A decision node: its player (0 to 2), what was played before, and what to call it."""

    player: int
    history: str
    title: str


NODES = (
    Node(0, "", "P1 opens"),
    Node(1, "K", "P2 after a check"),
    Node(2, "KK", "P3 after two checks"),
    Node(0, "KKB", "P1 answers P3's bet"),
    Node(1, "KKBF", "P2 after P1 folds"),
    Node(1, "KKBC", "P2 after P1 calls"),
    Node(2, "KB", "P3 answers P2's bet"),
    Node(0, "KBF", "P1 after P3 folds"),
    Node(0, "KBC", "P1 after P3 calls"),
    Node(1, "B", "P2 answers P1's bet"),
    Node(2, "BF", "P3 after P2 folds"),
    Node(2, "BC", "P3 after P2 calls"),
)
N_OPENINGS = 3
# Rows at which a player has opened before, and the row of that opening.
EARLIER = {3: 0, 7: 0, 8: 0, 4: 1, 5: 1}
AGGRESSIVE = ("bet", "call")


def node_title(row: int) -> str:
    """Title of the node in that row, for example ``1 · P1 opens``."""
    return f"{row + 1} · {NODES[row].title}"


def bet_before(row: int) -> int:
    """Row of the bet to which the nodes in the rows 3 to 11 are answers."""
    return (len(NODES) - 1 - row) // 3


def answers_to(opening: int) -> tuple[int, int, int]:
    """Rows of the answers to a bet: the first opponent's, the other's after a fold and a call."""
    first = 9 - 3 * opening
    return first, first + 1, first + 2


@dataclass(frozen=True, eq=False)
class KuhnNodes:
    """Where the frequencies of the twelve nodes stand in a profile.

    Attributes
    ----------
    cards : int
        N.
    action : int64 (12, N)
        Bet or call with each card; -1 where the rules or a reduction do not allow it.
    """

    cards: int
    action: NDArray[np.int64]

    @classmethod
    def of(cls, tree: GameTree) -> KuhnNodes:
        """The nodes of a tree.

        Raises
        ------
        UsageError
            If it is not three-player Kuhn poker without raises.
        """
        row_of = {(node.player, node.history): row for row, node in enumerate(NODES)}
        places = []
        for i, label in enumerate(tree.infoset_labels):
            card, colon, history = label.partition(":")
            row = row_of.get((int(tree.infoset_player[i]), history))
            if row is None or not colon or not (card.isascii() and card.isdigit()):
                raise UsageError(
                    "the twelve decision nodes belong to three-player Kuhn poker without raises; "
                    f"this game has an information set {label!r}. "
                    "Choose kuhn(players=3, ...) or skp"
                )
            places.append((row, int(card) - 1))
        cards = 1 + max((card for _, card in places), default=-1)
        if len(set(places)) != 12 * cards or cards < 3:
            raise UsageError(
                "the twelve decision nodes belong to three-player Kuhn poker; "
                f"this game has {len(places)} information sets instead of 12 with each card"
            )
        action = np.full((12, cards), -1)
        for i, place in enumerate(places):
            names = tree.infoset_actions[i]
            known = [a for a, name in enumerate(names) if name in AGGRESSIVE]
            if known:
                action[place] = tree.action_start[i] + known[0]
        return cls(cards, action)

    def aggression(self, behavior: FloatArray) -> FloatArray:
        """Frequencies of bet or call, float64 (12, N), from those of all actions (A,)."""
        return np.where(self.action >= 0, behavior[self.action], 0.0)


def held(aggression: FloatArray) -> FloatArray:
    """Fraction of each card that a player still holds at each node, float64 (12, N).

    At their second decision that is what they checked at their first one (Billingham 2018,
    Figure 10).
    """
    fraction = np.ones_like(aggression)
    fraction[list(EARLIER)] -= aggression[list(EARLIER.values())]
    return fraction
