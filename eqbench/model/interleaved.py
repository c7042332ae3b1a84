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

from eqbench.model.compiled import inlined, kernel, prefetch
from eqbench.model.kernels import AHEAD
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

LANES = np.uint64(4)
# Entries from which on a game is too large for the nearest caches: it is cut into so many parts
# of each player, and weights have codes.
LARGE = 200_000
PARTS = 2
_CHUNK = 2**20


class Interleaved(NamedTuple):
    """What CFR reads of a game besides its :class:`FormArrays`; all arrays are C-contiguous.

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
        Sequences of each group; its first one again where a unit has none left.
    opponents : uint16 or uint32 (4 R, N-1)
        As in :class:`FormArrays`.
    codes : uint16 (4 R,), or none
        Place of the weight of each entry in `table`.
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
    """Lay out the entries of a game; few parts of a small game, unless a number is given."""
    arrays, n = form.arrays, form.n_players
    large = len(arrays.weight) >= LARGE
    if parts is None:
        parts = PARTS if large else 1
    count = np.diff(arrays.entry_start.astype(np.int64))
    unit = _units(form, count, parts)
    of_sequence = unit[form.sequence_infoset[n:]]
    infosets = np.argsort(unit, kind="stable")
    order = np.lexsort((-count[n:], of_sequence)) + n
    lanes = int(LANES)
    size = np.bincount(of_sequence, minlength=n * parts)
    groups = -(-size // lanes)
    sequences = np.empty(lanes * groups.sum(), dtype=np.uint32)
    first_lane = lanes * _starts(groups)
    for u, (begin, end) in enumerate(zip(_starts(size), _starts(size)[1:], strict=False)):
        # the last group repeats its last sequence, which then has the same value twice
        mine = sequences[first_lane[u] : first_lane[u + 1]]
        mine[: end - begin] = order[begin:end]
        mine[end - begin :] = order[end - 1] if end > begin else 0
    rows = count[sequences].reshape(-1, lanes).max(axis=1) if len(sequences) else groups[:0]
    group_row = _starts(rows).astype(np.uint64)
    size = lanes * int(group_row[-1])
    ids = np.uint16 if form.n_sequences <= 2**16 else np.uint32
    opponents = np.zeros((size, n - 1), dtype=ids)
    table, codes = _different(arrays.weight, 2**16) if large else None, np.zeros(0, np.uint16)
    if table is None:
        weights = np.zeros(size)
        _fill(arrays, arrays.weight, sequences, group_row, opponents, weights)
    else:
        weights, codes = table, np.full(size, np.searchsorted(table, 0.0), dtype=np.uint16)
        source = _codes(arrays.weight, table)
        _fill(arrays, source, sequences, group_row, opponents, codes)
    return Interleaved(
        parts,
        _starts(np.bincount(unit, minlength=n * parts)).astype(np.uint64),
        infosets.astype(np.uint32),
        _starts(groups).astype(np.uint64),
        group_row,
        sequences,
        opponents,
        codes,
        weights,
        () if table is None else (0,),
        arrays.others,
    )


def _starts(sizes: NDArray) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _units(form: SequenceForm, count: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """Unit of every information set, int64 (I,): whole subtrees, parts about equally large."""
    n = form.n_players
    root = np.arange(form.n_infosets)
    for i in np.flatnonzero(form.parent >= n):
        root[i] = root[form.sequence_infoset[form.parent[i]]]
    of_set = np.add.reduceat(count, form.block_start[:-1]) if form.n_infosets else count[:0]
    entries = np.bincount(root, of_set, minlength=form.n_infosets)
    part, load = np.zeros(form.n_infosets, dtype=np.int64), np.zeros((n, parts))
    for i in np.argsort(-entries, kind="stable"):
        if root[i] == i:
            player = form.infoset_player[i]
            part[i] = np.argmin(load[player])
            load[player, part[i]] += entries[i]
    return form.infoset_player * parts + part[root]


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


@kernel
def _fill(form, source, sequences, group_row, opponents, target):
    """Copy opponents and what `source` has of each entry to its place in the rows."""
    for lane in range(len(sequences)):
        s, row = sequences[lane], group_row[np.uint64(lane) // LANES]
        place = row * LANES + np.uint64(lane) % LANES
        for entry in range(form.entry_start[s], form.entry_start[s + 1]):
            target[place] = source[entry]
            for j in range(len(form.others)):
                opponents[place, j] = form.opponents[entry, j]
            place += LANES


@inlined
def _product(entries, place, reach):
    """Payoff, chance and the others' reach of one entry."""
    if len(entries.coded) > 0:
        product = entries.weights[entries.codes[place]]
    else:
        product = entries.weights[place]
    for j in range(len(entries.others)):
        product *= reach[entries.opponents[place, j]]
    return product


@inlined
def unit_values(entries, unit, reach, values):
    """Values of a unit's sequences over the terminals that end in them."""
    one, others = np.uint64(1), np.uint64(len(entries.others))
    for group in range(entries.unit_group[unit], entries.unit_group[unit + 1]):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for row in range(entries.group_row[group], entries.group_row[group + one]):
            place = row * LANES
            if len(entries.coded) > 0:
                prefetch(entries.codes, place + AHEAD)
            else:
                prefetch(entries.weights, place + AHEAD)
            prefetch(entries.opponents, (place + AHEAD) * others)
            a += _product(entries, place, reach)
            b += _product(entries, place + one, reach)
            c += _product(entries, place + one + one, reach)
            d += _product(entries, place + one + one + one, reach)
        lane = group * LANES
        values[entries.sequences[lane]] = a
        values[entries.sequences[lane + one]] = b
        values[entries.sequences[lane + one + one]] = c
        values[entries.sequences[lane + one + one + one]] = d
