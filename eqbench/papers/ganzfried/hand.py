"""The hand that the paper plays as an example, and information sets by player."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eqbench.model.tree import GameTree
from eqbench.registry import load_game

# Queen, King and Ace; player 3 bets, player 1 folds, player 2 calls.
MOVES = (
    ("2:", "check"),
    ("3:K", "check"),
    ("4:KK", "bet"),
    ("2:KKB", "fold"),
    ("3:KKBF", "call"),
)
# What player 3 puts in itself, ante and bet, and takes back with the pot.
STAKE = 2


def hand(_folder: Path, _jobs: Path, *, full: bool) -> dict[str, Any]:
    """Profits and pot of the hand, and how many information sets each player has.

    The extent changes nothing.
    """
    del full
    found = {}
    for spec in ("kuhn3", "kuhn3_reduced"):
        tree = load_game(spec).tree
        sets = np.bincount(tree.infoset_player, minlength=tree.n_players)
        ends = (profits(tree, int(deal)) for deal in np.flatnonzero(tree.parent == 0))
        earned = next(filter(None, ends))
        found[spec] = {"profits": earned, "pot": earned[2] + STAKE, "infosets": sets.tolist()}
    return found


def profits(tree: GameTree, node: int) -> list[float] | None:
    """Payoffs (N,) at the end of the hand if it can be played from a deal's node, else None."""
    for label, action in MOVES:
        infoset = int(tree.infoset[node])
        if infoset < 0 or tree.infoset_labels[infoset] != label:
            return None
        move = tree.infoset_actions[infoset].index(action)
        node = int(np.flatnonzero((tree.parent == node) & (tree.move == move))[0])
    end = int(np.flatnonzero(tree.terminals == node)[0])
    payoffs: list[float] = tree.payoffs.table[end].tolist()
    return payoffs
