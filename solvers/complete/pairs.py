"""All equilibria of two players: products of polytopes of realization plans.

A player's plan x has the polyhedron of all (x, v) where v are values of the information sets of
the *other* player that bound what that player can get against x (von Stengel 1996). Its labels are
the weights of x and the losses of the other player's sequences. Plans x and y are an equilibrium
if, for every sequence of either player, its weight is 0 or its loss is. The search decides,
sequence by sequence, which of the two (Audet, Hansen, Jaumard and Savard 2001), on faces of both
polyhedra. Faces where all is decided are the maximal Nash subsets (Millham 1974).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from eqbench.model.sequence_form import SequenceForm

from .polyhedron import Dictionary, Vector, corners, dimension, extreme, meet

Sides = tuple[Dictionary, Dictionary]


@dataclass(frozen=True)
class ProductSet:
    """A product of polytopes of plans, all of which are equilibria.

    Attributes
    ----------
    plans : extreme plans of both players, each with weights of the player's own sequences
    """

    plans: tuple[tuple[Vector, ...], tuple[Vector, ...]]

    @property
    def dimension(self) -> int:
        return sum(map(dimension, self.plans))

    def meets(self, other: ProductSet) -> bool:
        """Whether both have an equilibrium in common."""
        return all(map(meet, self.plans, other.plans))

    def holds(self, other: ProductSet) -> bool:
        """Whether all equilibria of the other one are among those of this one."""
        return all(
            set(theirs) <= set(own) or all(meet([plan], own) for plan in theirs)
            for own, theirs in zip(self.plans, other.plans, strict=True)
        )


def product_sets(
    form: SequenceForm,
    payoffs: NDArray,
    check: Callable[[], None],
    found: list[ProductSet],
    fixed: Sequence[int] = (),
) -> None:
    """Append the maximal products of equilibria to `found`, until there are no others.

    Parameters
    ----------
    payoffs : object (Z, 2)
        Chance-weighted payoffs of the columns of the form, integers.
    check : called at every node; may raise to break off, and then what was found stands
    fixed : sequences whose weight is 0, of either player, which restricts the equilibria
    """
    owner = form.sequence_player
    players = [np.flatnonzero(owner == player) for player in (0, 1)]
    first, second = (polyhedron(form, payoffs, player) for player in (0, 1))
    for label in fixed:
        own = (first, second)[int(owner[label])]
        if own is None or not own.fix(label):
            return
    if first is None or second is None:
        return
    labels = tuple(range(form.n_sequences))
    for sides in decided(labels, (first, second), check):
        plans = [
            extreme(corners(side, labels, own.tolist(), check))
            for side, own in zip(sides, players, strict=True)
        ]
        new = ProductSet((plans[0], plans[1]))
        if not any(known.holds(new) for known in found):
            found[:] = [known for known in found if not new.holds(known)] + [new]


def polyhedron(form: SequenceForm, payoffs: NDArray, player: int) -> Dictionary | None:
    """Plans x of a player, with values v of the other's information sets; labels are sequences.

    Coordinates are the weights of x, then v, then the other's value as a whole.
    """
    other = 1 - player
    own, theirs = (np.flatnonzero(form.sequence_player == who) for who in (player, other))
    place = {int(sequence): k for k, sequence in enumerate(own)}
    row_of = {int(sequence): k for k, sequence in enumerate(theirs)}
    sets = [np.flatnonzero(form.infoset_player == who).tolist() for who in (player, other)]
    coordinates = len(own) + 1 + len(sets[1])
    flow = np.zeros((1 + len(sets[0]), 1 + coordinates), dtype=object)
    flow[0, :2] = -1, 1  # the empty sequence is played
    for row, infoset in enumerate(sets[0], 1):
        flow[row, 1 + place[int(form.parent[infoset])]] = -1
        for sequence in range(form.block_start[infoset], form.block_start[infoset + 1]):
            flow[row, 1 + place[sequence]] = 1
    loss = np.zeros((len(theirs), 1 + coordinates), dtype=object)
    for columns, payoff in zip(form.columns.tolist(), payoffs[:, other], strict=True):
        loss[row_of[columns[other]], 1 + place[columns[player]]] -= int(payoff)
    value = 1 + len(own)
    loss[0, value] = 1  # the empty sequence of the other comes first
    for column, infoset in enumerate(sets[1], value + 1):
        loss[row_of[int(form.parent[infoset])], column] -= 1
        for sequence in range(form.block_start[infoset], form.block_start[infoset + 1]):
            loss[row_of[sequence], column] += 1
    found = Dictionary.of(flow, loss, len(own))
    if found is not None:
        names = [*own.tolist(), *theirs.tolist()]
        found.rows = [names[k] for k in found.rows]
        found.columns = [names[k] for k in found.columns]
    return found


def decided(labels: tuple[int, ...], sides: Sides, check: Callable[[], None]) -> Iterator[Sides]:
    """Faces of both polyhedra on which every label is 0 on one side, with all of those fixed.

    A face is left out if its equilibria are all on one that came before.
    """
    # sides, labels still open on both, and labels that earlier faces have as 0 on the first side
    pending: list[tuple[Sides, tuple[int, ...], tuple[int, ...]]] = [(sides, labels, ())]
    while pending:
        check()
        (first, second), open_labels, covered = pending.pop()
        if not all(first.is_positive(label) for label in covered):
            continue
        left: list[int] = []
        branch = None
        # where both are positive at the present vertices, nothing needs to be computed
        order = sorted(open_labels, key=lambda k: not (first.value(k) and second.value(k)))
        for position, label in enumerate(order):
            sides_of_label = [side for side in (first, second) if not side.is_positive(label)]
            if not sides_of_label:
                branch, left = label, order[position + 1 :] + left
                break
            for side in sides_of_label:
                side.fix(label)
        if branch is None:
            for side in (first, second):
                for label in labels:
                    if not side.is_positive(label):
                        side.fix(label)
            yield first, second
            continue
        one, other = first.copy(), second.copy()
        if other.fix(branch):
            pending.append(((first.copy(), other), tuple(left), (*covered, branch)))
        if one.fix(branch):
            pending.append(((one, second), tuple(left), covered))


def frequencies(form: SequenceForm, plans: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Frequencies (A,) that play like plans of both players; equal where own moves do not lead."""
    weights: dict[int, Fraction] = {}
    for player, plan in enumerate(plans):
        own = np.flatnonzero(form.sequence_player == player).tolist()
        weights |= dict(zip(own, plan, strict=True))
    result: list[Fraction] = []
    for infoset, parent in enumerate(form.parent.tolist()):
        block = range(form.block_start[infoset], form.block_start[infoset + 1])
        whole = weights[parent]
        result += [weights[s] / whole if whole else Fraction(1, len(block)) for s in block]
    return result


def components(sets: Sequence[ProductSet]) -> list[list[int]]:
    """Positions of sets that are connected by common equilibria."""
    parts: list[list[int]] = []
    for k, each in enumerate(sets):
        touched = [part for part in parts if any(sets[i].meets(each) for i in part)]
        parts = [part for part in parts if part not in touched] + [[*chain(*touched), k]]
    return sorted(sorted(part) for part in parts)
