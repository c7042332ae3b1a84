"""Trees and sequence forms in folders of arrays, checked when they are read."""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import re
import struct
from fractions import Fraction
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from eqbench.documents import decode, open_file, read_file
from eqbench.errors import DocumentError
from eqbench.model.assemble import MOST_PLAYERS, NODE_ARRAYS, VALUE_DIGITS, check_tree
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.size_limit import check_expected_nodes
from eqbench.model.tree import INT64_SAFE, TERMINAL, GameTree, Payoffs

_PREFIX = struct.Struct("<8sH")
_MAGIC = b"\x93NUMPY\x01\x00"
# what np.save writes; nothing is evaluated, and every other layout is refused
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[a-z]\d+)', 'fortran_order': False, "
    rb"'shape': \((?:(\d{1,18}),|(\d{1,18}), (\d{1,18}))\), \} *\n"
)
_MOST_HEADER_BYTES = 512


def save_array(path: Path, array: NDArray) -> None:
    """Write an array; the other functions here read it."""
    np.save(path, np.ascontiguousarray(array), allow_pickle=False)


def stored_rows(path: Path, dtype: str) -> int:
    """Length of the array in a file, without reading it.

    Raises
    ------
    OSError, DocumentError
        As `read_array`.
    """
    with open_file(path) as file:
        return _layout(path, file, dtype)[1][0]


def read_array(path: Path, dtypes: str, shape: tuple[int, ...], *, mapped: bool = False) -> NDArray:
    """Read-only array of a declared dtype and shape.

    Parameters
    ----------
    dtypes : the dtypes that it may have, for example ``"int64 float64"``
    mapped : share one copy with all who map the file, instead of having one's own. Who maps it
        sees what others write into the file later.

    Raises
    ------
    OSError
        If the file cannot be read.
    DocumentError
        If it holds anything else than such an array.
    """
    with open_file(path) as file:
        dtype, found, start = _layout(path, file, dtypes)
        if found != shape:
            raise _damaged(path, f"its shape is {found}; expected {shape}")
        if mapped:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return np.frombuffer(content, dtype, math.prod(shape), start).reshape(shape)
        array = np.empty(shape, dtype)
        file.seek(start)
        if array.nbytes and file.readinto(array.data) != array.nbytes:  # type: ignore[attr-defined]
            raise _damaged(path, "it became shorter while it was read")
    array.setflags(write=False)
    return array


def _layout(path: Path, file: BinaryIO, dtypes: str) -> tuple[np.dtype, tuple[int, ...], int]:
    """Dtype, shape and position of the data, once the file is known to hold nothing else."""
    head = file.read(_MOST_HEADER_BYTES)
    magic, length = _PREFIX.unpack_from(head.ljust(_PREFIX.size))
    start = _PREFIX.size + length
    match = _HEADER.fullmatch(head, _PREFIX.size, min(start, len(head)))
    if magic != _MAGIC or match is None or start > len(head) or start % 64:
        raise _damaged(path, "it is not a plain array")
    allowed = {np.dtype(name).str: np.dtype(name) for name in dtypes.split()}
    dtype = allowed.get(match[1].decode())
    if dtype is None:
        raise _damaged(path, f"its dtype is {match[1].decode()}; expected {' or '.join(allowed)}")
    shape = tuple(int(size) for size in match.groups()[1:] if size is not None)
    size = start + math.prod(shape) * dtype.itemsize
    if os.fstat(file.fileno()).st_size != size:
        raise _damaged(path, f"an array of shape {shape} takes {size:,} bytes; it has others")
    return dtype, shape, start


def _damaged(path: Path, what: str) -> DocumentError:
    return DocumentError(f"the file {path.name} is damaged: {what}")


_LABELS = "labels.json"
FORM = "form"
_NODE_DTYPES = dict.fromkeys(NODE_ARRAYS, "int32") | {"player": "int8", "chance": "int64 float64"}
_PAYOFF_DTYPES = "int64 float64"
_FORM_DTYPES = {
    "block_start": "int32",
    "parent": "int32",
    "infoset_start": "int32",
    "infoset_player": "int32",
    "columns": "int32",
    "chance": "float64",
    "base": "float64",
    "slope": "float64",
    "entry_start": "uint64",
    "entry_opponents": "uint32",
    "entry_weight": "float64",
    "entry_source": "int64",
}
_FORM_ARRAYS = tuple(_FORM_DTYPES)[:8]
# labels are mostly shorter than this, and there are fewer information sets than nodes
_HEADER_BYTES, _HEADER_BYTES_PER_NODE = 2**20, 512

_Denominator = Annotated[int, msgspec.Meta(ge=1, lt=INT64_SAFE)]
_Value = Annotated[
    str,
    msgspec.Meta(
        pattern=rf"^-?[0-9]{{1,{VALUE_DIGITS}}}(/[1-9][0-9]{{0,{VALUE_DIGITS - 1}}})?$",
        max_length=2 * VALUE_DIGITS + 2,
    ),
]


class TreeHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a game tree that is not an array, as JSON in ``labels.json``.

    Attributes
    ----------
    players, infosets : labels
    actions : labels of the actions of each information set
    chance_denominator, payoff_denominator : 1 where the numerators are floats
    parameter, value : name of the payoff parameter and its value as ``p`` or ``p/q``, or null
    """

    players: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=MOST_PLAYERS)]
    infosets: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    chance_denominator: _Denominator
    payoff_denominator: _Denominator
    parameter: str | None
    value: _Value | None


def save_tree(tree: GameTree, folder: Path) -> None:
    """Write a tree into an existing folder, one ``.npy`` file per array."""
    for name, array in _arrays(tree).items():
        save_array(folder / f"{name}.npy", array)
    (folder / _LABELS).write_bytes(msgspec.json.encode(_header(tree)))


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
        check_expected_nodes(name, stored_rows(folder / "parent.npy", "int32"))
        _check_names(folder)
        tree = _read_tree(folder, mapped=False)
    except OSError as error:
        raise _unreadable(error) from None
    check_tree(tree)
    return tree


def map_tree(folder: Path) -> GameTree:
    """Tree from a folder that somebody else has written or checked; its arrays are mapped."""
    return _read_tree(folder, mapped=True)


def save_form(form: SequenceForm, folder: Path) -> None:
    """Write a sequence form into the folder of its tree."""
    place = folder / FORM
    place.mkdir()
    arrays = {name: getattr(form, name) for name in _FORM_ARRAYS} | form.entry_arrays()
    for name, array in arrays.items():
        if array is not None:
            save_array(place / f"{name}.npy", array)


def load_form(folder: Path, tree: GameTree) -> SequenceForm | None:
    """Sequence form beside a tree, as one's own copy; None if there is none that fits the tree.

    What kernels use as an index is checked. The rest is what compiling the tree would give, or
    the folder was tampered with.
    """
    try:
        form = _read_form(folder, tree, mapped=False)
    except (OSError, DocumentError):
        return None
    return form if form is not None and _fits(form, tree) else None


def map_form(folder: Path, tree: GameTree) -> SequenceForm | None:
    """Sequence form beside a tree that somebody else has written or checked; None without one."""
    return _read_form(folder, tree, mapped=True)


def content_hash(tree: GameTree) -> str:
    """Hash of everything that defines the game: structure, labels, chance and payoffs."""
    digest = hashlib.sha256(json.dumps(msgspec.structs.asdict(_header(tree))).encode())
    for name, array in sorted(_arrays(tree).items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _read_tree(folder: Path, *, mapped: bool) -> GameTree:
    nodes = stored_rows(folder / "parent.npy", "int32")
    most = _HEADER_BYTES + _HEADER_BYTES_PER_NODE * nodes
    header = decode(read_file(folder / _LABELS, most), TreeHeader, f"the file {_LABELS}")

    def read(name: str, dtypes: str, *shape: int) -> NDArray:
        return read_array(folder / f"{name}.npy", dtypes, shape, mapped=mapped)

    arrays = {name: read(name, dtypes, nodes) for name, dtypes in _NODE_DTYPES.items()}
    table = int(np.count_nonzero(arrays["player"] == TERMINAL)), len(header.players)
    parameter = (folder / "slope.npy").exists()
    payoffs = Payoffs(
        base=read("base", _PAYOFF_DTYPES, *table),
        slope=read("slope", _PAYOFF_DTYPES, *table) if parameter else None,
        denominator=header.payoff_denominator,
        parameter=header.parameter,
        value=None if header.value is None else Fraction(header.value),
    )
    return GameTree(
        players=header.players,
        chance_denominator=header.chance_denominator,
        payoffs=payoffs,
        infoset_labels=header.infosets,
        infoset_actions=header.actions,
        infoset_player=read("infoset_player", "int32", len(header.infosets)),
        infoset_parent=read("infoset_parent", "int32", len(header.infosets)),
        **arrays,
    )


def _read_form(folder: Path, tree: GameTree, *, mapped: bool) -> SequenceForm | None:
    place = folder / FORM
    if not place.exists():
        return None
    n, sets, sequences = tree.n_players, tree.n_infosets, tree.n_players + tree.n_actions
    rows = min(stored_rows(place / "columns.npy", "int32"), tree.n_terminals)
    shapes: dict[str, tuple[int, ...]] = {
        "block_start": (sets + 1,),
        "parent": (sets,),
        "infoset_start": (n + 1,),
        "infoset_player": (sets,),
        "columns": (rows, n),
        "chance": (rows,),
        "base": (rows, n),
        "slope": (rows, n),
        "entry_start": (sequences + 1,),
        "entry_opponents": (rows * n, n - 1),
        "entry_weight": (rows * n,),
        "entry_source": (rows * n,),
    }
    for name in ("slope", "entry_source") if tree.payoffs.slope is None else ("entry_weight",):
        del shapes[name]
    arrays = {
        name: read_array(place / f"{name}.npy", _FORM_DTYPES[name], shape, mapped=mapped)
        for name, shape in shapes.items()
    }
    fields: dict = {name: arrays.pop(name, None) for name in _FORM_ARRAYS}
    form = SequenceForm(n_players=n, value=float(tree.payoffs.value or 0), **fields)
    form.take_entry_arrays(arrays)
    return form


def _check_names(folder: Path) -> None:
    """Nothing else may lie in the folder of a tree, but for what a cache keeps beside it."""
    names = {*_NODE_DTYPES, "infoset_player", "infoset_parent", "base", "slope"}
    known = {_LABELS, FORM, "checksums.json", *(f"{name}.npy" for name in names)}
    unknown = sorted({place.name for place in folder.iterdir()} - known)
    if unknown:
        raise DocumentError(
            f"the folder of the game holds {unknown[0]!r}, which is not a part of it"
        )


def _unreadable(error: OSError) -> DocumentError:
    name = Path(str(error.filename)).name if error.filename else "of the game"
    return DocumentError(f"the file {name} cannot be read: {error.strerror or error}")


def _fits(form: SequenceForm, tree: GameTree) -> bool:
    """Whether the layout of a form is that of the tree, and no index leads out of it."""
    n, entries = tree.n_players, form.columns.size
    start, opponents, last = form.entry_arrays().values()
    above = np.where(tree.infoset_parent < 0, tree.infoset_player, tree.infoset_parent + n)
    return (
        np.array_equal(form.block_start, tree.action_start + n)
        and np.array_equal(form.parent, above)
        and np.array_equal(
            form.infoset_start, np.searchsorted(tree.infoset_player, np.arange(n + 1))
        )
        and np.array_equal(form.infoset_player, tree.infoset_player)
        and (int(start[0]), int(start[-1])) == (0, entries)
        and not np.any(start[1:] < start[:-1])
        and all(_within(array, form.n_sequences) for array in (form.columns, opponents))
        and (form.slope is None or _within(last, entries))
    )


def _within(index: NDArray, size: int) -> bool:
    return index.size == 0 or (index.min() >= 0 and index.max() < size)


def _arrays(tree: GameTree) -> dict[str, NDArray]:
    names = (*NODE_ARRAYS, "infoset_player", "infoset_parent")
    arrays = {name: getattr(tree, name) for name in names} | {"base": tree.payoffs.base}
    if tree.payoffs.slope is not None:
        arrays["slope"] = tree.payoffs.slope
    return arrays


def _header(tree: GameTree) -> TreeHeader:
    return TreeHeader(
        players=tree.players,
        infosets=tree.infoset_labels,
        actions=tree.infoset_actions,
        chance_denominator=tree.chance_denominator,
        payoff_denominator=tree.payoffs.denominator,
        parameter=tree.payoffs.parameter,
        value=None if tree.payoffs.value is None else str(tree.payoffs.value),
    )
