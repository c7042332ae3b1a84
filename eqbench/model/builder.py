"""Build a game tree node by node, from rules written in plain Python.

Fine up to some hundred thousand nodes; games in which chance deals cards first are built in
bulk by :mod:`eqbench.model.dealt`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError
from eqbench.model.assemble import InfosetTable, assemble
from eqbench.model.rational import rational
from eqbench.model.size_limit import max_nodes, too_large
from eqbench.model.tree import CHANCE, INT64_SAFE, TERMINAL, GameTree, Payoffs
from eqbench.text import shortened

Number = int | float | Fraction
Place = tuple[int, int] | None


class TreeBuilder:
    """Collects nodes in any order in which parents come before children.

    A place is ``(node, move)``: the move at a node added before. The root's place is None.

    >>> builder = TreeBuilder(["P1", "P2"])
    >>> root = builder.decision(None, 0, "start", ["left", "right"])
    >>> builder.terminal((root, 0), [1, -1])
    >>> builder.terminal((root, 1), [Fraction(1, 3), 0])
    >>> tree = builder.tree()
    """

    def __init__(self, players: Sequence[str]) -> None:
        self.players = list(players)
        self._max_nodes = max_nodes()
        self._place: list[tuple[int, int]] = []
        self._player: list[int] = []
        self._infoset: list[int] = []
        self._probability: dict[tuple[int, int], Number] = {}
        self._outcomes: dict[int, int] = {}
        self._payoffs: list[tuple[Number, ...]] = []
        self._infosets: dict[tuple[int, str], int] = {}
        self._actions: list[tuple[str, ...]] = []

    def decision(self, place: Place, player: int, infoset: str, actions: Sequence[str]) -> int:
        """Add a decision node and return its number; `infoset` is a label of that player."""
        if not 0 <= player < len(self.players):
            raise GameFormatError(
                f"information set {infoset!r} was added with player={player}; the players are "
                f"0 to {len(self.players) - 1}: {', '.join(self.players)}"
            )
        key, actions = (player, infoset), tuple(actions)
        index = self._infosets.setdefault(key, len(self._actions))
        if index == len(self._actions):
            self._actions.append(actions)
        elif self._actions[index] != actions:
            raise GameFormatError(
                f"information set {infoset!r} of {self.players[player]} was added with actions "
                f"{list(self._actions[index])}, now with {list(actions)}; they must agree"
            )
        return self._add(place, player, index)

    def chance(self, place: Place, probabilities: Sequence[Number]) -> int:
        """Add a chance node and return its number.

        Integers and Fractions are kept exactly; one float anywhere makes all chances floats.
        """
        node = self._add(place, CHANCE, -1)
        self._outcomes[node] = len(probabilities)
        for outcome, probability in enumerate(probabilities):
            self._probability[node, outcome] = probability
        return node

    def terminal(self, place: Place, payoffs: Sequence[Number]) -> None:
        """Add a terminal with one payoff per player.

        Integers and Fractions are kept exactly; one float anywhere makes all payoffs floats.
        """
        if len(payoffs) != len(self.players):
            raise GameFormatError(
                f"a terminal has {len(payoffs)} payoffs for {len(self.players)} players"
            )
        self._add(place, TERMINAL, -1)
        self._payoffs.append(tuple(payoffs))

    def tree(self, labels: Mapping[tuple[int, str], str] | None = None) -> GameTree:
        """Checked game tree of everything added so far.

        Parameters
        ----------
        labels : other labels of all information sets, by player and label, in the order in which
            those of equal depth are to stand

        Raises
        ------
        GameFormatError, ImperfectRecallError
            As :func:`eqbench.model.assemble.assemble` says.
        """
        if not self._place:
            raise GameFormatError("the game has no node")
        place = np.array(self._place, dtype=np.int64)
        children = np.bincount(place[1:, 0], minlength=len(place))
        for node, outcomes in self._outcomes.items():
            if children[node] != outcomes:
                raise GameFormatError(
                    f"chance node {node} has {outcomes} probabilities, but {children[node]} "
                    "outcomes were added; they must agree"
                )
        order, parent = _breadth_first(place)
        chance, denominator = over_one_denominator(
            [self._probability.get(self._place[node], 0) for node in order]
        )
        player = np.array(self._player, dtype=np.int64)
        row = np.cumsum(player == TERMINAL) - 1
        rows = [self._payoffs[row[node]] for node in order[player[order] == TERMINAL]]
        flat, payoff_denominator = over_one_denominator(
            [value for payoffs in rows for value in payoffs]
        )
        labels = labels or {key: key[1] for key in self._infosets}
        index = np.full(len(labels) + 1, -1, dtype=np.int32)  # the last one where no player decides
        index[[self._infosets[key] for key in labels]] = np.arange(len(labels), dtype=np.int32)
        nodes = {
            "parent": parent,
            "move": np.where(parent < 0, -1, place[order, 1]).astype(np.int32),
            "player": player[order],
            "infoset": index[np.array(self._infoset)[order]],
            "chance": chance,
        }
        actions = [self._actions[self._infosets[key]] for key in labels]
        table = InfosetTable([owner for owner, _ in labels], list(labels.values()), actions)
        payoffs = Payoffs(flat.reshape(len(rows), len(self.players)), payoff_denominator)
        return assemble(self.players, nodes, table, payoffs, chance_denominator=denominator)

    def _add(self, place: Place, player: int, infoset: int) -> int:
        node = len(self._place)
        if node >= self._max_nodes:
            raise too_large()
        if (place is None) != (node == 0):
            raise GameFormatError("exactly the first node has the place None: it is the root")
        if place is not None and not 0 <= place[0] < node:
            raise GameFormatError(f"place {place} names a node that was not added before")
        self._place.append(place or (-1, -1))
        self._player.append(player)
        self._infoset.append(infoset)
        return node


def _breadth_first(place: NDArray) -> tuple[NDArray, NDArray]:
    """Old node numbers in breadth-first order, and the parents renumbered."""
    parent = place[:, 0]
    depth = np.zeros(len(parent), dtype=np.int64)
    for node in range(1, len(parent)):
        depth[node] = depth[parent[node]] + 1
    rank = np.full(len(parent) + 1, -1, dtype=np.int64)
    order: list[NDArray] = []
    placed = 0
    by_depth = np.argsort(depth, kind="stable")
    for block in np.split(by_depth, np.flatnonzero(np.diff(depth[by_depth])) + 1):
        block = block[np.lexsort((place[block, 1], rank[parent[block]]))]
        rank[block] = np.arange(placed, placed + len(block))
        placed += len(block)
        order.append(block)
    flat = np.concatenate(order)
    return flat, rank[parent[flat]].astype(np.int32)


def over_one_denominator(values: Sequence[Number]) -> tuple[NDArray, int]:
    """Integers over one denominator, as int64 where they fit; otherwise floats over 1.

    A float is no exact source, though it is a rational: three times 1/3 would not sum to 1.
    """
    if not all(issubclass(kind, Rational) for kind in {type(value) for value in values}):
        return _floats(values), 1
    # large games have few different payoffs and probabilities
    exact = {value: rational(value) for value in set(values)}
    denominator = 1
    for part in exact.values():
        denominator = math.lcm(denominator, part.denominator)
        if denominator >= INT64_SAFE:
            return _floats(values), 1
    numerator = {
        value: part.numerator * (denominator // part.denominator) for value, part in exact.items()
    }
    if max(map(abs, numerator.values()), default=0) >= INT64_SAFE:
        return _floats(values), 1
    return np.array([numerator[value] for value in values], dtype=np.int64), denominator


def _floats(values: Sequence[Number]) -> NDArray[np.float64]:
    try:
        if any(issubclass(kind, str | bytes) for kind in {type(value) for value in values}):
            raise TypeError
        floats = np.array([float(value) for value in values])
    except OverflowError:
        floats = np.array([math.inf])
    except (TypeError, ValueError):
        wrong = next(value for value in values if not isinstance(value, Real | Decimal))
        raise GameFormatError(
            f"the payoff or probability {shortened(repr(wrong), 60)} is no number; give an int, a "
            "float or a Fraction, such as Fraction(1, 5)"
        ) from None
    if not np.all(np.isfinite(floats)):
        raise GameFormatError("a payoff or probability is not a finite number")
    return floats


def payoff_rows(tree: GameTree) -> list[list[Fraction | float]]:
    """Payoffs of all players at each terminal, in the order of the terminals."""
    if not tree.payoffs.exact:
        return tree.payoffs.table.tolist()
    numerators, denominator = tree.payoffs.rational()
    return [[Fraction(value, denominator) for value in row] for row in numerators.tolist()]


def part_of(tree: GameTree, shown: Sequence[bool]) -> GameTree:
    """The part of a tree below the root of which nodes are shown; chances keep their ratios."""
    builder, waiting = TreeBuilder(tree.players), list[tuple[int, Place]]([(0, None)])
    payoffs = dict(zip(tree.terminals.tolist(), payoff_rows(tree), strict=True))
    for node, place in waiting:
        if tree.player[node] == TERMINAL:
            builder.terminal(place, payoffs[node])
            continue
        below = [c for c in np.flatnonzero(tree.parent == node).tolist() if shown[c]]
        if tree.player[node] == CHANCE:
            chances = list(map(Fraction, tree.chance[below].tolist()))
            own = builder.chance(place, [chance / sum(chances) for chance in chances])
        else:
            infoset = int(tree.infoset[node])
            actions = [tree.infoset_actions[infoset][tree.move[child]] for child in below]
            label = tree.infoset_labels[infoset]
            own = builder.decision(place, int(tree.player[node]), label, actions)
        waiting += [(child, (own, move)) for move, child in enumerate(below)]
    return builder.tree()
