"""Game trees in strategic form as text in Gambit's strategic-form format (``.nfg``, version 1)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.efg_text import exact_payoffs
from eqbench.model.file_labels import file_label, file_labels, quoted
from eqbench.model.tree import CHANCE, GameTree


def nfg_text(tree: GameTree, title: str = "") -> str:
    """Text of a game that Gambit and :mod:`eqbench.games.nfg` read; ends with a newline.

    Numbers and labels are written as in :func:`eqbench.model.efg_text.efg_text`.

    Raises
    ------
    UsageError
        As :func:`nfg_lines`.
    """
    return "".join(f"{line}\n" for line in nfg_lines(tree, title))


def nfg_lines(tree: GameTree, title: str = "") -> Iterator[str]:
    """Lines of :func:`nfg_text` one by one: the header, then a profile each.

    Raises
    ------
    UsageError
        If the tree is not that of a strategic form, in which on every path each player moves
        once, without seeing the others.
    """
    counts = [len(actions) for actions in tree.infoset_actions]
    if (
        tree.infoset_player.tolist() != list(range(tree.n_players))
        or np.any(tree.player == CHANCE)
        or tree.n_terminals != math.prod(counts)
    ):
        raise UsageError(
            "this game is not in strategic form: for .nfg every player must move exactly once, "
            "without seeing the others, and chance not at all; write an .efg file instead"
        )
    return _lines(tree, title, counts)


def _lines(tree: GameTree, title: str, counts: list[int]) -> Iterator[str]:
    players = " ".join(map(quoted, file_labels(tree.players)))
    yield f"NFG 1 R {quoted(file_label(title))} {{ {players} }}"
    sets = (" ".join(map(quoted, file_labels(actions))) for actions in tree.infoset_actions)
    yield "{ " + " ".join(f"{{ {actions} }}" for actions in sets) + " }"
    yield '""'
    rows = exact_payoffs(tree)
    for row in np.argsort(_profile_numbers(tree, counts)):
        yield " ".join(map(str, rows[row]))


def _profile_numbers(tree: GameTree, counts: list[int]) -> NDArray[np.int64]:
    """Number of the profile that ends in each terminal, (Z,); player 1's action varies fastest."""
    stride = np.cumprod([1, *counts[:-1]])
    number = np.zeros(tree.n_nodes, dtype=np.int64)
    for level in tree.levels[1:]:
        above = tree.parent[level]
        number[level] = number[above] + stride[tree.player[above]] * tree.move[level]
    return number[tree.terminals]
