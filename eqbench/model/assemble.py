"""From raw node arrays to a checked, canonical :class:`GameTree`.

Trees from files, from plugins and node by node pass the same checks: each decision node offers
exactly the actions of its information set, chance sums to one, payoffs are finite, and the
players have perfect recall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError, ImperfectRecallError
from eqbench.model.tree import (
    CHANCE,
    INT64_SAFE,
    TERMINAL,
    GameTree,
    Payoffs,
    breadth_first_levels,
)

NODE_ARRAYS = ("parent", "move", "player", "infoset", "chance")
MOST_PLAYERS = 127  # they are stored as int8, and memory grows with the square of their number
MOST_MOVES = 100_000  # on a path; every sweep over a tree takes one step for each
_HALF = 31
_DTYPES = {"parent": np.int32, "move": np.int32, "player": np.int8, "infoset": np.int32}


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
    _check_arrays(nodes)
    parent, move, player = nodes["parent"], nodes["move"], nodes["player"]
    infoset, chance = nodes["infoset"], nodes["chance"]
    _check_labels(players, infosets)
    _check_shape(parent, player)
    _check_infosets(players, player, infoset, infosets)
    _check_moves(parent, move, infoset, infosets)
    _check_chance(parent, player, chance, chance_denominator)
    _check_payoffs(player, payoffs, len(players))
    return arrange(players, nodes, infosets, payoffs, chance_denominator=chance_denominator)


def arrange(
    players: Sequence[str],
    nodes: dict[str, NDArray],
    infosets: InfosetTable,
    payoffs: Payoffs,
    *,
    chance_denominator: int,
) -> GameTree:
    """Game tree of the parts that :func:`assemble` takes, of which only recall is checked.

    Raises
    ------
    ImperfectRecallError
        If a player forgets an own earlier action or information set.
    """
    previous = _previous_own_move(players, nodes, infosets)
    above = np.append(previous[:, 0], -1)  # the last entry stands for "none", where -1 leads
    depth = (above >= 0).astype(np.int64)
    while np.any(above >= 0):  # every round doubles the number of decisions that are counted
        depth += depth[above]
        above = above[above]
    # by player, then by the number of earlier own decisions, then by first appearance
    order = np.lexsort((np.arange(len(previous)), depth[:-1], np.asarray(infosets.player)))
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = -1
    actions = tuple(tuple(infosets.actions[i]) for i in order)
    starts = np.concatenate(([0], np.cumsum([len(a) for a in actions], dtype=np.int64)))
    own_infoset, own_move = previous[order].T
    infoset_parent = np.where(own_infoset < 0, -1, starts[rank[own_infoset]] + own_move)
    arrays = {name: nodes[name].astype(dtype, copy=False) for name, dtype in _DTYPES.items()}
    arrays |= {
        "infoset": rank[nodes["infoset"]],
        "chance": nodes["chance"],
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
        chance_labels={},
        **arrays,
    )


class LevelLayout:
    """A tree that is laid out in bulk, level by level, in breadth-first order.

    Only the built-in families use it: tests hold their trees against :func:`check_tree`.

    Attributes
    ----------
    table : information sets so far, to which a family adds its own
    placed : number of nodes so far
    chance_labels : of outcomes of chance, by the nodes that they lead to
    """

    def __init__(self) -> None:
        self.table, self.placed = InfosetTable([], [], []), 0
        self._columns: dict[str, list[NDArray]] = {name: [] for name in NODE_ARRAYS}
        self._paid: list[tuple[NDArray, ...]] = []
        self.chance_labels: dict[int, str] = {}

    def add(
        self,
        parent: NDArray,
        move: NDArray | int,
        player: NDArray | int,
        infoset: NDArray | int = -1,
        chance: NDArray | int = 0,
    ) -> None:
        """Add nodes as described at :class:`GameTree`; what is no array holds for all of them."""
        for name, column in zip(NODE_ARRAYS, (parent, move, player, infoset, chance), strict=True):
            if not isinstance(column, np.ndarray):  # broadcasting it would take longer
                column = np.full(len(parent), column)
            self._columns[name].append(column.astype(_DTYPES.get(name, np.int64), copy=False))
        self.placed += len(parent)

    def pay(self, *numerators: NDArray) -> None:
        """Add payoffs of the next terminals, (Z, N), and their slopes if there is a parameter."""
        self._paid.append(numerators)

    def tree(
        self, players: int, payoffs: Callable[..., Payoffs], chance_denominator: int
    ) -> GameTree:
        """Game tree of players P1, P2, … and all that was added, which is let go.

        Parameters
        ----------
        payoffs : makes them from the stacked numerators
        """
        # all of it twice would be what takes most memory, so the parts go as soon as they can
        nodes = {name: np.concatenate(self._columns.pop(name)) for name in NODE_ARRAYS}
        numerators = [np.concatenate(parts) for parts in zip(*self._paid, strict=True)]
        self._paid.clear()
        tree = arrange(
            [f"P{p + 1}" for p in range(players)],
            nodes,
            self.table,
            payoffs(*numerators),
            chance_denominator=chance_denominator,
        )
        return replace(tree, chance_labels=self.chance_labels)


def check_tree(tree: GameTree) -> None:
    """Refuse a tree that :func:`assemble` could not have made, whoever made it.

    Raises
    ------
    GameFormatError, ImperfectRecallError
        As `assemble`; also if the information sets are not in canonical order, or stand behind
        other moves than the tree says.
    """
    if not isinstance(tree.payoffs, Payoffs):
        raise GameFormatError(f"payoffs are of the type {type(tree.payoffs).__name__}")
    owners = np.asarray(tree.infoset_player)
    _check_integers("infoset_player", owners)
    if not len(owners) == len(tree.infoset_labels) == len(tree.infoset_actions):
        raise GameFormatError("the information sets have more players, labels or actions than sets")
    again = assemble(
        tree.players,
        {name: getattr(tree, name) for name in NODE_ARRAYS},
        InfosetTable(owners.tolist(), list(tree.infoset_labels), list(tree.infoset_actions)),
        tree.payoffs,
        chance_denominator=tree.chance_denominator,
    )
    for name in (*NODE_ARRAYS, "infoset_player", "infoset_parent"):
        given, derived = getattr(tree, name), getattr(again, name)
        if given.dtype != derived.dtype or not np.array_equal(given, derived):
            raise GameFormatError(
                f"{name} is not what follows from the nodes, as {derived.dtype} and with the "
                "information sets in canonical order; use a builder"
            )
    if (tree.infoset_labels, tree.infoset_actions) != (again.infoset_labels, again.infoset_actions):
        raise GameFormatError("the information sets are not in canonical order; use a builder")


def _check_arrays(nodes: dict[str, NDArray]) -> None:
    """Node arrays must be of equal length and of the kinds of numbers that they should have."""
    for name in NODE_ARRAYS:
        if name != "chance":
            _check_integers(name, nodes[name])
    _check_numbers("chance", nodes["chance"], 1)
    lengths = {len(nodes[name]) for name in NODE_ARRAYS}
    if len(lengths) > 1 or max(lengths) > np.iinfo(np.int32).max:
        raise GameFormatError("the arrays of nodes must have the same length, below 2**31")


def _check_integers(name: str, array: Any) -> None:
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind != "i":
        raise GameFormatError(f"{name} must be a vector of signed integers")


def _check_numbers(name: str, array: Any, ndim: int) -> None:
    """Numerators below `INT64_SAFE`, so that sums and products can be watched, or floats."""
    if not isinstance(array, np.ndarray) or array.ndim != ndim:
        raise GameFormatError(f"{name} must be an array with {ndim} axes")
    if array.dtype not in (np.int64, np.float64):
        raise GameFormatError(f"{name} has the dtype {array.dtype}; expected int64 or float64")
    exact = array.dtype.kind == "i"
    if exact and array.size and (array.min() <= -INT64_SAFE or array.max() >= INT64_SAFE):
        raise GameFormatError(f"{name} has an integer of 2**62 or more")


def _check_denominator(of: str, denominator: int, *, exact: bool) -> None:
    if type(denominator) is not int or not 1 <= denominator < INT64_SAFE:
        raise GameFormatError(
            f"the denominator of {of} is {denominator}; it must be positive and below 2**62"
        )
    if not exact and denominator != 1:
        raise GameFormatError(f"the denominator of {of} is {denominator}; that of floats is 1")


def _check_labels(players: Sequence[str], table: InfosetTable) -> None:
    """Every label must be a text that a file can hold, and those of players distinct."""
    texts = [*players, *table.label, *chain.from_iterable(table.actions)]
    for text in texts:
        if not isinstance(text, str):
            raise GameFormatError(f"the label {text!r} is a {type(text).__name__}, not a text")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        part = error.object[error.start : error.end]
        raise GameFormatError(f"a label holds {part!r}, which is half a character") from None
    if not players or len(set(players)) != len(players):
        raise GameFormatError(
            f"the players are {list(players)}; a game needs at least one, with distinct labels"
        )
    if len(players) > MOST_PLAYERS:
        raise GameFormatError(f"the game has {len(players):,} players; at most are {MOST_PLAYERS}")


def _check_shape(parent: NDArray, player: NDArray) -> None:
    if len(parent) == 0 or parent[0] != -1:
        raise GameFormatError("a game needs a root: node 0 with parent -1")
    if len(parent) > 1:
        if parent[1:].min() < 0 or np.any(np.diff(parent) < 0):
            raise GameFormatError("nodes are not in breadth-first order; use a builder")
        if np.any(parent[1:] >= np.arange(1, len(parent))):
            raise GameFormatError("a node's parent must come before it; use a builder")
    if len(breadth_first_levels(parent, MOST_MOVES + 2)) > MOST_MOVES + 1:
        raise GameFormatError(f"a path has more than {MOST_MOVES:,} moves")
    if player.min() < TERMINAL:
        raise GameFormatError(f"a node has the player {player.min()}; use a builder")
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
    if np.any(infoset[~decides] != -1) or np.any(infoset[decides] < 0):
        raise GameFormatError("exactly the decision nodes belong to information sets")
    if np.any(infoset >= len(owners)):
        raise GameFormatError(f"a node belongs to an information set beyond the {len(owners)}")
    if np.any(owners[infoset[decides]] != player[decides]):
        raise GameFormatError("an information set contains a node of another player")
    used = np.zeros(len(owners), dtype=bool)
    used[infoset[decides]] = True
    if not used.all():
        label = table.label[int(np.flatnonzero(~used)[0])]
        raise GameFormatError(f"information set {label!r} contains no node; leave it out")


def _check_moves(parent: NDArray, move: NDArray, infoset: NDArray, table: InfosetTable) -> None:
    """Children of a node must be the moves 0, 1, 2, … and as many as the set has actions."""
    if move[0] != -1:
        raise GameFormatError(f"the root has the move {move[0]}; expected -1")
    if len(parent) == 1:
        return
    follows = parent[1:] == parent[:-1]  # a sibling
    wrong = move[1:] != np.where(follows, np.add(move[:-1], 1, dtype=np.int32), np.int32(0))
    if wrong.any():
        node = int(parent[1:][wrong][0])
        raise GameFormatError(f"the moves at node {node} are not 0, 1, 2, … in order")
    youngest = np.flatnonzero(np.append(~follows[1:], [True])) + 1
    nodes, count = parent[youngest], move[youngest] + 1
    sizes = np.array([len(actions) for actions in table.actions] or [0])
    decided = infoset[nodes]
    unlike = np.flatnonzero((decided >= 0) & (count != sizes[decided]))
    if len(unlike):
        first = unlike[0]
        label = table.label[decided[first]]
        raise GameFormatError(
            f"node {nodes[first]} has {count[first]} moves, its information set {label!r} has "
            f"{sizes[decided[first]]} actions; they must agree"
        )


def _check_chance(parent: NDArray, player: NDArray, chance: NDArray, denominator: int) -> None:
    exact = chance.dtype.kind == "i"
    _check_denominator("chance", denominator, exact=exact)
    below = np.flatnonzero(player[parent[1:]] == CHANCE) + 1  # the nodes that chance leads to
    drawn = chance[below]
    if not np.all(drawn >= 0):
        raise GameFormatError("chance probabilities must lie in [0, 1]")
    if np.count_nonzero(chance) != np.count_nonzero(drawn):
        raise GameFormatError("chance must be 0 at nodes that chance does not lead to")
    if len(below) == 0:
        return
    nodes = parent[below]
    first = np.flatnonzero(np.diff(nodes, prepend=-1))
    if exact:
        # in two halves, because a sum of 2**31 numerators could pass 2**63 and come round again
        high = np.add.reduceat(drawn >> _HALF, first)
        low = np.add.reduceat(drawn & (2**_HALF - 1), first)
        carried, low = high + (low >> _HALF), low & (2**_HALF - 1)
        off = (carried != denominator >> _HALF) | (low != denominator & (2**_HALF - 1))
    else:
        off = np.abs(np.add.reduceat(drawn, first) - 1) > 1e-12
    if off.any():
        node = int(nodes[first[off][0]])
        total = sum(drawn[nodes == node].tolist())
        raise GameFormatError(
            f"the chance probabilities at node {node} sum to "
            f"{f'{total}/{denominator}' if exact else total}; they must sum to 1"
        )


def _check_payoffs(player: NDArray, payoffs: Payoffs, n_players: int) -> None:
    shape = (int(np.count_nonzero(player == TERMINAL)), n_players)
    for column in (payoffs.base, payoffs.slope):
        if column is None:
            continue
        _check_numbers("a table of payoffs", column, 2)
        if column.shape != shape:
            raise GameFormatError(f"payoffs have shape {column.shape}; expected {shape}")
        if column.dtype != payoffs.base.dtype:
            raise GameFormatError("payoffs and their slope must both be exact, or both be floats")
        if not np.all(np.isfinite(column)):
            raise GameFormatError("a payoff is not finite; payoffs must be finite numbers")
    _check_denominator("the payoffs", payoffs.denominator, exact=payoffs.exact)
    _ = payoffs.table  # refuses what floats cannot hold


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
    for p in np.unique(np.asarray(table.player, dtype=np.int64)).tolist():
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
