"""Trees and sequence forms in folders of arrays.

They come from processes of eqbench, which write what they have checked. A tree is checked again
when it is read; whether a file is as it was written is for the checksums of the cache to say.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError, EqbenchError
from eqbench.model.assemble import NODE_ARRAYS, check_tree
from eqbench.model.dealt import Hands
from eqbench.model.dealt_form import DealtForm, UnbuiltTree
from eqbench.model.rational import parse_rational
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.size_limit import check_expected_nodes
from eqbench.model.tree import GameTree, Payoffs

FORM = "form"
_LABELS, _PRODUCT = "labels.json", "product.json"
_ARRAYS = (*NODE_ARRAYS, "infoset_player", "infoset_parent", "base")
_FORM_ARRAYS = (
    *("block_start", "parent", "infoset_start", "infoset_player"),
    *("columns", "chance", "base", "slope"),
)
_PRODUCT_ARRAYS = (
    *("parent", "move", "player", "board", "chance", "terminal", "paid", "contending"),
    *("strength", "possible", "place", "first_infoset", "action_start", "last"),
)
_PRODUCT_LABELS = ("histories", "moves", "drawn", "outcomes", "denominator", "parameter")
# labels are mostly shorter than this, and there are fewer information sets than nodes
_HEADER_BYTES, _HEADER_BYTES_PER_NODE = 2**20, 512


class TreeHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a game tree that is not an array, as JSON in ``labels.json``.

    Attributes
    ----------
    players, infosets : labels
    actions : labels of the actions of each information set
    chance_denominator, payoff_denominator : 1 where the numerators are floats
    parameter, value : name of the payoff parameter and its value as ``p`` or ``p/q``, or null
    """

    players: tuple[str, ...]
    infosets: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    chance_denominator: int
    payoff_denominator: int
    parameter: str | None
    value: str | None


class ProductHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a :class:`DealtForm` that is not an array, as JSON in ``product.json``."""

    players: tuple[str, ...]
    hands: tuple[str, ...]
    one_by_one: bool
    histories: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    drawn: tuple[str, ...]
    outcomes: int
    denominator: int
    parameter: str | None
    value: str | None
    most: int


def save_tree(tree: GameTree, folder: Path) -> None:
    """Write a tree into an existing folder, one ``.npy`` file per array.

    Of a tree that is not built, the form from which it would be.
    """
    _save(_arrays(tree), folder)
    name, header = _LABELS, _header(tree)
    if isinstance(tree, UnbuiltTree):
        name, header = _PRODUCT, msgspec.structs.replace(header, most=tree.most)
    (folder / name).write_bytes(msgspec.json.encode(header))


def load_tree(folder: Path, name: str = "the game") -> GameTree:
    """Tree from a folder of :func:`save_tree`, as one's own copy; it is checked like a new one.

    Parameters
    ----------
    name : of the game, for messages

    Raises
    ------
    GameTooLargeError
        If it has more nodes than are allowed here; they are not read.
    DocumentError, GameFormatError, ImperfectRecallError
        If the folder does not hold a tree that a builder could have made.
    """
    try:
        check_expected_nodes(name, _read(folder / "parent.npy", mapped=True).size)
        tree = _read_tree(folder, mapped=False)
    except EqbenchError:
        raise
    except Exception as error:  # NumPy raises several kinds for what is no array
        raise DocumentError(f"the folder of {name} is damaged: {error}") from None
    check_tree(tree)
    return tree


def map_tree(folder: Path) -> GameTree:
    """Tree from a folder that has been checked; all who map it share one copy of its arrays."""
    return (
        _read_product(folder) if (folder / _PRODUCT).exists() else _read_tree(folder, mapped=True)
    )


def save_form(form: SequenceForm, folder: Path) -> None:
    """Write a sequence form into the folder of its tree."""
    (folder / FORM).mkdir()
    arrays = {name: getattr(form, name) for name in _FORM_ARRAYS} | form.entry_arrays()
    _save({name: array for name, array in arrays.items() if array is not None}, folder / FORM)


def load_form(folder: Path, tree: GameTree, *, mapped: bool = False) -> SequenceForm | None:
    """Sequence form next to a tree, as one's own copy unless it is `mapped`.

    None if there is none, or a file of it is missing or damaged: then it is compiled.
    """
    try:
        files = sorted((folder / FORM).glob("*.npy"))
        arrays = {file.stem: _read(file, mapped=mapped) for file in files}
        fields: dict = {name: arrays.pop(name) for name in _FORM_ARRAYS if name in arrays}
        fields = {"slope": None, "value": float(tree.payoffs.value or 0)} | fields
        form = SequenceForm(tree.n_players, **fields)
        form.take_entry_arrays(arrays)
    except (OSError, EOFError, ValueError, LookupError, TypeError):
        return None
    return form


def content_hash(tree: GameTree) -> str:
    """Hash of everything that defines the game: structure, labels, chance and payoffs."""
    digest = hashlib.sha256(json.dumps(msgspec.structs.asdict(_header(tree))).encode())
    for name, array in sorted(_arrays(tree).items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _save(arrays: dict[str, NDArray], folder: Path) -> None:
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array), allow_pickle=False)


def _read(path: Path, *, mapped: bool) -> NDArray:
    """Read-only array in a file; who maps it sees what others write into the file later."""
    if path.exists() and not path.is_file():  # opening a pipe would wait for its writer
        raise OSError(f"{path.name} is not a regular file")
    array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    if not mapped:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


def _read_tree(folder: Path, *, mapped: bool) -> GameTree:
    names = [*_ARRAYS, "slope"] if (folder / "slope.npy").exists() else _ARRAYS
    arrays = {name: _read(folder / f"{name}.npy", mapped=mapped) for name in names}
    most = _HEADER_BYTES + _HEADER_BYTES_PER_NODE * arrays["parent"].size
    header = decode(read_file(folder / _LABELS, most), TreeHeader, f"the file {_LABELS}")
    payoffs = Payoffs(
        base=arrays.pop("base"),
        slope=arrays.pop("slope", None),
        denominator=header.payoff_denominator,
        parameter=header.parameter,
        value=None if header.value is None else parse_rational(header.value),
    )
    return GameTree(
        players=header.players,
        chance_denominator=header.chance_denominator,
        payoffs=payoffs,
        infoset_labels=header.infosets,
        infoset_actions=header.actions,
        chance_labels={},
        **arrays,
    )


def _read_product(folder: Path) -> UnbuiltTree:
    arrays: dict[str, Any] = {file.stem: _read(file, mapped=True) for file in folder.glob("*.npy")}
    header = msgspec.json.decode((folder / _PRODUCT).read_bytes(), type=ProductHeader)
    hands = Hands(header.hands, arrays.pop("cards"), arrays.pop("weights"), header.one_by_one)
    stored = {each.name for each in fields(DealtForm)}
    form = DealtForm(
        hands=hands,
        allowed=None,
        value=None if header.value is None else parse_rational(header.value),
        **{name: getattr(header, name) for name in _PRODUCT_LABELS},
        **{"slope": None} | {name: arrays[name] for name in arrays.keys() & stored},
    )
    form.__dict__.update(arrays)  # what follows from the fields
    return UnbuiltTree.of(form, header.most)


def _arrays(tree: GameTree) -> dict[str, NDArray]:
    if isinstance(tree, UnbuiltTree):
        form = tree.form
        arrays = {name: getattr(form, name) for name in _PRODUCT_ARRAYS}
        arrays |= {"cards": form.hands.cards, "weights": form.hands.weights}
        return arrays if form.slope is None else arrays | {"slope": form.slope}
    arrays = {name: getattr(tree, name) for name in _ARRAYS[:-1]} | {"base": tree.payoffs.base}
    return arrays if tree.payoffs.slope is None else arrays | {"slope": tree.payoffs.slope}


def _header(tree: GameTree) -> TreeHeader | ProductHeader:
    payoffs = tree.payoffs
    value = None if payoffs.value is None else str(payoffs.value)
    if isinstance(tree, UnbuiltTree):
        form = tree.form
        return ProductHeader(
            players=form.players,
            hands=form.hands.labels,
            one_by_one=form.hands.one_by_one,
            **{name: getattr(form, name) for name in _PRODUCT_LABELS},
            value=value,
            most=0,
        )
    return TreeHeader(
        players=tree.players,
        infosets=tree.infoset_labels,
        actions=tree.infoset_actions,
        chance_denominator=tree.chance_denominator,
        payoff_denominator=payoffs.denominator,
        parameter=payoffs.parameter,
        value=value,
    )
