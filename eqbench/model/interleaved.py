"""Entries of a sequence form in the order in which CFR reads them, in fewer bytes.

Symbols in shapes: N players, I information sets, S sequences, U units, G groups, R rows.

Values of sequences are sums over their entries. Four sums that run side by side do not wait for
each other's additions, so entries stand in rows of four, one for each sequence of a group. Every
sum still adds the same numbers in the same order, so the values are the same to the last bit.

The information sets of a player fall into subtrees of his own first decisions. A part holds
whole subtrees, and the parts of a player, the units, need nothing of each other in his turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.kernels import LANES, fill_rows
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray, frozen

# Entries from which on a game is too large for the nearest caches: it is cut into so many parts
# of each player, and weights have codes.
LARGE = 200_000
PARTS = 2
# Values of two bytes: there may be so many different weights, and sequences, and no more.
SHORT = 2**16
# Share of all entries that the largest parts may have together, for parts to pay.
WORTHWHILE = 0.8
_CHUNK = 2**20


class Interleaved(NamedTuple):
    """What CFR reads of a game besides its :class:`FormArrays`; C-contiguous and read-only.

    Attributes
    ----------
    parts : int
        Number of parts of each player; unit ``player * parts + part``.
    unit_infoset : uint64 (U+1,)
        Slice of each unit in `infosets`.
    infosets : uint32 (I,)
        Information sets by unit, those of a unit ascending.
    unit_group : uint64 (U+1,)
        First group of each unit.
    group_row : uint64 (G+1,)
        First row of each group.
    sequences : uint32 (4 G,)
        Sequences of each group, those of a unit by falling number of entries; the last one
        again where none is left.
    opponents : uint16 or uint32 (4 R, N-1)
        As in :class:`FormArrays`.
    codes : uint16 (4 R,), or none
        Place of the weight of each entry in `weights`.
    weights : float64, the different weights in ascending order, or those of all entries (4 R,)
        Zero where a sequence has fewer entries than its group has rows.
    coded : tuple
        One zero if there are codes, otherwise empty: its length tells the compiler.
    others : tuple of N-1 zeros
        Its length tells the compiler the number of players.
    """

    parts: int
    unit_infoset: NDArray[np.uint64]
    infosets: NDArray[np.uint32]
    unit_group: NDArray[np.uint64]
    group_row: NDArray[np.uint64]
    sequences: NDArray[np.uint32]
    opponents: NDArray[np.uint16] | NDArray[np.uint32]
    codes: NDArray[np.uint16]
    weights: FloatArray
    coded: tuple[int, ...]
    others: tuple[int, ...]


def interleave(form: SequenceForm, parts: int | None = None) -> Interleaved:
    """Lay out the entries of a game.

    Parameters
    ----------
    parts : parts of each player; unless given, one in small games and where two do not pay
    """
    arrays, n = form.arrays, form.n_players
    large = len(arrays.weight) >= LARGE
    count = np.diff(arrays.entry_start).astype(np.int64)
    unit, parts = _units(form, count, parts or (PARTS if large else 1), fixed=parts is not None)
    of_sequence = unit[form.sequence_infoset[n:]]
    order = np.lexsort((-count[n:], of_sequence)) + n
    sequences, groups = _groups(order, np.bincount(of_sequence, minlength=n * parts))
    rows = count[sequences].reshape(-1, LANES).max(axis=1, initial=0)
    group_row = _starts(rows)
    table = _different(arrays.weight, SHORT) if large else None
    return Interleaved(
        parts,
        _starts(np.bincount(unit, minlength=n * parts)),
        frozen(np.argsort(unit, kind="stable").astype(np.uint32)),
        _starts(groups),
        group_row,
        sequences,
        *_filled(form, sequences, group_row, table),
        () if table is None else (0,),
        (0,) * (n - 1),
    )


def _units(
    form: SequenceForm, count: NDArray[np.int64], parts: int, *, fixed: bool
) -> tuple[NDArray[np.int64], int]:
    """Unit of every information set, int64 (I,), and the number of parts.

    A unit is of whole subtrees, and those of a player have about equally many entries.
    """
    n, owner = form.n_players, form.infoset_player.astype(np.int64)
    root = np.arange(form.n_infosets)
    for i in np.flatnonzero(form.parent >= n):
        root[i] = root[form.sequence_infoset[form.parent[i]]]
    of_sequence = root[form.sequence_infoset[n:]]
    entries = np.bincount(of_sequence, count[n:], minlength=form.n_infosets)
    part, load = np.zeros(form.n_infosets, dtype=np.int64), np.zeros((n, parts))
    for player in range(n):
        # neighbors stay together: two threads that write into one cache line wait for each other
        roots = np.flatnonzero((root == np.arange(form.n_infosets)) & (owner == player))
        middle = np.cumsum(entries[roots]) - entries[roots] / 2
        part[roots] = (middle * parts / max(entries[roots].sum(), 1)).astype(np.int64)
        load[player] = np.bincount(part[roots], entries[roots], minlength=parts)
    if not fixed and load.max(axis=1).sum() > WORTHWHILE * load.sum():
        return owner, 1
    return owner * parts + part[root], parts


def _groups(
    order: NDArray[np.int64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Sequences in groups, and the number of groups of each unit; `order` is by unit."""
    groups = -(-sizes // LANES)
    sequences = np.empty(LANES * groups.sum(), dtype=np.uint32)
    place = 0
    for mine in np.split(order, np.cumsum(sizes)[:-1]):
        if len(mine):
            room = -(-len(mine) // LANES) * LANES
            # the last sequence again: it is given its value twice
            sequences[place : place + room] = np.append(mine, [mine[-1]] * (room - len(mine)))
            place += room
    return frozen(sequences), groups


def _filled(
    form: SequenceForm,
    sequences: NDArray[np.uint32],
    group_row: NDArray[np.uint64],
    table: FloatArray | None,
) -> tuple[NDArray, NDArray[np.uint16], FloatArray]:
    """Opponents, codes and weights of an :class:`Interleaved`."""
    arrays, size = form.arrays, LANES * int(group_row[-1])
    ids = np.uint16 if form.n_sequences <= SHORT else np.uint32
    opponents = np.zeros((size, form.n_players - 1), dtype=ids)
    codes, weights = np.zeros(0, dtype=np.uint16), table
    if weights is None:
        weights = np.zeros(size)
        fill_rows(arrays, arrays.weight, sequences, group_row, opponents, weights)
    else:
        codes = np.full(size, np.searchsorted(weights, 0.0), dtype=np.uint16)
        source = _codes(arrays.weight, weights)
        fill_rows(arrays, source, sequences, group_row, opponents, codes)
    return frozen(opponents), frozen(codes), frozen(weights)


def _starts(sizes: NDArray) -> NDArray[np.uint64]:
    return frozen(np.concatenate(([0], np.cumsum(sizes))).astype(np.uint64))


def _different(weight: FloatArray, most: int) -> FloatArray | None:
    """All different weights and zero, ascending; None if there are more than `most`."""
    found = np.zeros(1)
    for first in range(0, len(weight), _CHUNK):
        found = np.union1d(found, weight[first : first + _CHUNK])
        if len(found) > most:
            return None
    return found


def _codes(weight: FloatArray, table: FloatArray) -> NDArray[np.uint16]:
    """Place of each weight in a table of all of them."""
    codes = np.empty(len(weight), dtype=np.uint16)
    for first in range(0, len(weight), _CHUNK):  # places are of eight bytes
        chunk = slice(first, first + _CHUNK)
        codes[chunk] = np.searchsorted(table, weight[chunk])
    return codes
