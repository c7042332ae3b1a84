"""Games as folders of plain arrays, so that several processes can map one copy.

The tree always; the sequence form only of large games, for which compiling it takes longer
than reading it.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import GameTree, Payoffs

_NODE_ARRAYS = ("parent", "move", "player", "infoset", "chance", "infoset_player", "infoset_parent")
_LABELS = "labels.json"
_FORM = "form"
_FORM_ARRAYS = (
    "block_start",
    "parent",
    "infoset_start",
    "infoset_player",
    "columns",
    "chance",
    "base",
    "slope",
)


def save_tree(tree: GameTree, folder: Path) -> None:
    """Write a tree into an existing folder, one ``.npy`` file per array."""
    for name, array in _arrays(tree).items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    (folder / _LABELS).write_text(json.dumps(_labels(tree)), encoding="utf-8")


def load_tree(folder: Path) -> GameTree:
    """Tree from a folder that :func:`save_tree` wrote; its arrays are mapped read-only."""
    labels = json.loads((folder / _LABELS).read_text(encoding="utf-8"))
    arrays = {file.stem: _map(file) for file in folder.glob("*.npy")}
    payoffs = Payoffs(
        base=arrays.pop("base"),
        slope=arrays.pop("slope", None),
        denominator=labels["payoff_denominator"],
        parameter=labels["parameter"],
        value=None if labels["value"] is None else Fraction(labels["value"]),
    )
    return GameTree(
        players=tuple(labels["players"]),
        chance_denominator=labels["chance_denominator"],
        payoffs=payoffs,
        infoset_labels=tuple(labels["infosets"]),
        infoset_actions=tuple(map(tuple, labels["actions"])),
        **arrays,
    )


def save_form(form: SequenceForm, folder: Path) -> None:
    """Write a sequence form into the folder of its tree."""
    place = folder / _FORM
    place.mkdir()
    arrays = {name: getattr(form, name) for name in _FORM_ARRAYS} | form.entry_arrays()
    for name, array in arrays.items():
        if array is not None:
            np.save(place / f"{name}.npy", array, allow_pickle=False)
    header = {"n_players": form.n_players, "value": form.value}
    (place / _LABELS).write_text(json.dumps(header), encoding="utf-8")


def load_form(folder: Path) -> SequenceForm | None:
    """Sequence form beside a tree, its arrays mapped read-only; None if there is none."""
    place = folder / _FORM
    if not (place / _LABELS).exists():
        return None
    header = json.loads((place / _LABELS).read_text(encoding="utf-8"))
    arrays: dict = {file.stem: _map(file) for file in place.glob("*.npy")}
    form = SequenceForm(**header, **{name: arrays.pop(name, None) for name in _FORM_ARRAYS})
    form.take_entry_arrays(arrays)
    return form


def content_hash(tree: GameTree) -> str:
    """Hash of everything that defines the game: structure, labels, chance and payoffs."""
    digest = hashlib.sha256(json.dumps(_labels(tree)).encode())
    for name, array in sorted(_arrays(tree).items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _arrays(tree: GameTree) -> dict[str, NDArray]:
    arrays = {name: getattr(tree, name) for name in _NODE_ARRAYS}
    arrays["base"] = tree.payoffs.base
    if tree.payoffs.slope is not None:
        arrays["slope"] = tree.payoffs.slope
    return arrays


def _labels(tree: GameTree) -> dict:
    return {
        "players": tree.players,
        "infosets": tree.infoset_labels,
        "actions": tree.infoset_actions,
        "chance_denominator": tree.chance_denominator,
        "payoff_denominator": tree.payoffs.denominator,
        "parameter": tree.payoffs.parameter,
        "value": None if tree.payoffs.value is None else str(tree.payoffs.value),
    }


def _map(file: Path) -> NDArray:
    array = np.load(file, mmap_mode="r", allow_pickle=False)
    # a plain read-only view: to Numba and pandas a memmap subclass is only trouble
    return np.asarray(array)
