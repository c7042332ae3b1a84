"""The game for kernels, and a smaller form of it without information sets of a single action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.choices import Choices
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

from .kernels import Field


def field_of(form: SequenceForm, speed: FloatArray) -> Field:
    """The right side of the flow on a sequence form; `speed` is float64 (F,)."""
    n = form.n_players
    choices = Choices.of_blocks(form.block_start - n)
    return Field(
        form=form.arrays,
        start=choices.start.astype(np.uint32),
        action=(choices.action + n).astype(np.uint32),
        first=(choices.first + n).astype(np.uint32),
        speed=speed,
    )


def contracted(form: SequenceForm) -> SequenceForm:
    """The same payoffs and choices, in the same order, with nothing between the choices.

    A sequence whose last actions were the only ones is that up to the last choice, and terminals
    are merged by these. In simplified three-player Kuhn poker 25 of 62 sequences are left.
    """
    n, size = form.n_players, np.diff(form.block_start)
    chosen = np.flatnonzero(size > 1)
    start = n + np.concatenate(([0], np.cumsum(size[chosen])))
    kept = np.arange(form.n_sequences)
    following = n
    for i, (first, last) in enumerate(zip(form.block_start, form.block_start[1:], strict=False)):
        if size[i] > 1:
            kept[first:last] = np.arange(following, following + size[i])
            following += size[i]
        else:
            kept[first:last] = kept[form.parent[i]]
    columns, group = np.unique(kept[form.columns], axis=0, return_inverse=True)
    group = group.ravel()
    return SequenceForm(
        n_players=n,
        block_start=_indices(start),
        parent=_indices(kept[form.parent[chosen]]),
        infoset_start=_indices(np.searchsorted(form.infoset_player[chosen], np.arange(n + 1))),
        infoset_player=_indices(form.infoset_player[chosen]),
        columns=_indices(columns),
        chance=np.bincount(group, form.chance, len(columns)).astype(np.float64),
        base=np.stack([np.bincount(group, own, len(columns)) for own in form.payoffs.T], axis=1),
        slope=None,
        value=0.0,
    )


def _indices(array: NDArray) -> NDArray[np.int32]:
    return np.ascontiguousarray(array, dtype=np.int32)
