"""From raw node arrays to a checked, canonical :class:`GameTree`.

All builders end here, so that every game passes the same checks: each decision node offers
exactly the actions of its information set, chance sums to one, payoffs are finite, and the
players have perfect recall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError, ImperfectRecallError
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, Payoffs, breadth_first_levels


@dataclass(frozen=True)
class InfosetTable:
    """Information sets as a builder names them: player, label and actions of each."""

    player: list[int]
    label: list[str]
    actions: list[tuple[str, ...]]


def assemble(
    players: Sequence[str],
    nodes: dict[str, NDArray],
    infosets: InfosetTable,
    payoffs: Payoffs,
    *,
    chance_denominator: int,
) -> GameTree:
    """Checked game tree from node arrays in breadth-first order.

    Parameters
    ----------
    nodes : dict
        Arrays `parent`, `move`, `player`, `infoset` and `chance` of length M as described
        at :class:`GameTree`. They are taken over, not copied.
    infosets : InfosetTable
        In any order; the result has them in canonical order.
    payoffs : Payoffs
        Rows in ascending order of terminal nodes.

    Raises
    ------
    GameFormatError
        If the arrays do not describe a game.
    ImperfectRecallError
        If a player forgets an own earlier action or information set.
    """
    parent, move, player = nodes["parent"], nodes["move"], nodes["player"]
    infoset, chance = nodes["infoset"], nodes["chance"]
    _check_players(players)
    _check_shape(parent, player)
    _check_infosets(players, player, infoset, infosets)
    _check_moves(parent, move, infoset, infosets)
    _check_chance(parent, player, chance, chance_denominator)
    _check_payoffs(player, payoffs, len(players))
    previous = _previous_own_move(players, nodes, infosets)
    order = _canonical_order(infosets, previous)
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = -1
    actions = tuple(tuple(infosets.actions[i]) for i in order)
    starts = np.concatenate(([0], np.cumsum([len(a) for a in actions], dtype=np.int64)))
    own_infoset, own_move = previous[order].T
    infoset_parent = np.where(own_infoset < 0, -1, starts[rank[own_infoset]] + own_move)
    arrays = {
        "parent": parent.astype(np.int32, copy=False),
        "move": move.astype(np.int32, copy=False),
        "player": player.astype(np.int8, copy=False),
        "infoset": rank[infoset],
        "chance": chance,
        "infoset_player": np.asarray(infosets.player, dtype=np.int32)[order],
        "infoset_parent": infoset_parent.astype(np.int32),
    }
    for array in (*arrays.values(), payoffs.base, payoffs.slope):
        if array is not None:
            array.setflags(write=False)
    return GameTree(
        players=tuple(players),
        chance_denominator=chance_denominator,
        payoffs=payoffs,
        infoset_labels=tuple(infosets.label[i] for i in order),
        infoset_actions=actions,
        **arrays,
    )


def _check_players(players: Sequence[str]) -> None:
    if not players or len(set(players)) != len(players):
        raise GameFormatError(
            f"the players are {list(players)}; a game needs at least one, with distinct labels"
        )


def _check_shape(parent: NDArray, player: NDArray) -> None:
    if len(parent) == 0 or parent[0] != -1:
        raise GameFormatError("a game needs a root: node 0 with parent -1")
    if len(parent) > 1:
        if parent[1:].min() < 0 or np.any(np.diff(parent) < 0):
            raise GameFormatError("nodes are not in breadth-first order; use a builder")
        if np.any(parent[1:] >= np.arange(1, len(parent))):
            raise GameFormatError("a node's parent must come before it; use a builder")
    childless = np.ones(len(parent), dtype=bool)
    childless[parent[1:]] = False
    if np.any(childless != (player == TERMINAL)):
        node = int(np.flatnonzero(childless != (player == TERMINAL))[0])
        what = "has no moves" if childless[node] else "is terminal but has moves"
        raise GameFormatError(f"node {node} {what}; end every path in a terminal with payoffs")


def _check_infosets(
    players: Sequence[str], player: NDArray, infoset: NDArray, table: InfosetTable
) -> None:
    owners = np.asarray(table.player, dtype=np.int64)
    if np.any((owners < 0) | (owners >= len(players))):
        raise GameFormatError("an information set belongs to a player who is not in the game")
    seen: set[tuple[int, str]] = set()
    for owner, label, actions in zip(table.player, table.label, table.actions, strict=True):
        if (owner, label) in seen:
            raise GameFormatError(
                f"player {players[owner]} has two information sets labeled {label!r}; "
                "labels must be unique per player"
            )
        seen.add((owner, label))
        if not actions or len(set(actions)) != len(actions):
            raise GameFormatError(
                f"information set {label!r} of {players[owner]} has actions {list(actions)}; "
                "it needs at least one, with distinct labels"
            )
    decides = player >= 0
    if np.any((infoset >= 0) != decides):
        raise GameFormatError("exactly the decision nodes belong to information sets")
    if np.any(owners[infoset[decides]] != player[decides]):
        raise GameFormatError("an information set contains a node of another player")
    used = np.zeros(len(owners), dtype=bool)
    used[infoset[decides]] = True
    if not used.all():
        label = table.label[int(np.flatnonzero(~used)[0])]
        raise GameFormatError(f"information set {label!r} contains no node; leave it out")


def _check_moves(parent: NDArray, move: NDArray, infoset: NDArray, table: InfosetTable) -> None:
    """Children of a node must be the moves 0, 1, 2, … and as many as the set has actions."""
    child = np.arange(1, len(parent))
    if len(child) == 0:
        return
    first = np.concatenate(([True], np.diff(parent[1:]) > 0))
    expected = child - child[first][np.cumsum(first) - 1]
    if np.any(move[1:] != expected):
        node = int(parent[1:][move[1:] != expected][0])
        raise GameFormatError(f"the moves at node {node} are not 0, 1, 2, … in order")
    count = np.bincount(parent[1:], minlength=len(parent))
    sizes = np.array([len(actions) for actions in table.actions] or [0])
    wrong = (infoset >= 0) & (count != sizes[infoset])
    if wrong.any():
        node = int(np.flatnonzero(wrong)[0])
        label = table.label[int(infoset[node])]
        raise GameFormatError(
            f"node {node} has {count[node]} moves, its information set {label!r} has "
            f"{sizes[infoset[node]]} actions; they must agree"
        )


def _check_chance(parent: NDArray, player: NDArray, chance: NDArray, denominator: int) -> None:
    if denominator < 1:
        raise GameFormatError(f"the denominator of chance is {denominator}; it must be positive")
    nodes = np.flatnonzero(player == CHANCE)
    if len(nodes) == 0:
        return
    if np.any(chance < 0) or not np.all(np.isfinite(chance)):
        raise GameFormatError("chance probabilities must lie in [0, 1]")
    first, last = (np.searchsorted(parent, nodes, side=side) for side in ("left", "right"))
    total = np.array([chance[a:b].sum() for a, b in zip(first, last, strict=True)])
    exact = chance.dtype.kind == "i"
    off = total != denominator if exact else np.abs(total - denominator) > 1e-12
    if off.any():
        node = int(nodes[off][0])
        raise GameFormatError(
            f"the chance probabilities at node {node} sum to "
            f"{f'{total[off][0]}/{denominator}' if exact else total[off][0]}; they must sum to 1"
        )


def _check_payoffs(player: NDArray, payoffs: Payoffs, n_players: int) -> None:
    shape = (int(np.count_nonzero(player == TERMINAL)), n_players)
    for column in (payoffs.base, payoffs.slope):
        if column is None:
            continue
        if column.shape != shape:
            raise GameFormatError(f"payoffs have shape {column.shape}; expected {shape}")
        if not np.all(np.isfinite(column)):
            raise GameFormatError("a payoff is not finite; payoffs must be finite numbers")
    if payoffs.denominator < 1:
        raise GameFormatError("the denominator of the payoffs must be positive")


def _previous_own_move(
    players: Sequence[str], nodes: dict[str, NDArray], table: InfosetTable
) -> NDArray[np.int64]:
    """Last own information set and move before each information set, (I, 2), -1 for none.

    Perfect recall means that this is the same at every node of the information set; with
    induction over earlier sets, the whole own history then is.
    """
    parent, move, player, infoset = (nodes[k] for k in ("parent", "move", "player", "infoset"))
    width = max((len(actions) for actions in table.actions), default=1)
    previous = np.full(len(table.label), -1, dtype=np.int64)
    for p in range(len(players)):
        last = np.full(len(parent), -1, dtype=np.int64)
        for level in breadth_first_levels(parent)[1:]:
            above = parent[level]
            code = infoset[above].astype(np.int64) * width + move[level]
            last[level] = np.where(player[above] == p, code, last[above])
        own = player == p
        previous[infoset[own]] = last[own]
        forgot = previous[infoset[own]] != last[own]
        if forgot.any():
            label = table.label[int(infoset[own][forgot][0])]
            raise ImperfectRecallError(
                f"player {players[p]} has imperfect recall at information set {label!r}: "
                "its nodes are reached by different own earlier moves; eqbench needs perfect "
                "recall, so split the information set or leave the game out"
            )
    return np.column_stack((np.where(previous < 0, -1, previous // width), previous % width))


def _canonical_order(table: InfosetTable, previous: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order by player, then number of earlier own decisions, then first appearance."""
    above = previous[:, 0]
    depth = np.zeros(len(above), dtype=np.int64)
    while True:
        deeper = np.where(above < 0, 0, depth[above] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    return np.lexsort((np.arange(len(above)), depth, np.asarray(table.player)))
