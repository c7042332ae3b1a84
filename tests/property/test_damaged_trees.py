"""A damaged folder of a tree is refused with a sentence, or holds a game all the same."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import shutil
from collections import Counter, deque
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_trees import random_tree

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.model.tree_files import content_hash, load_tree, save_tree

GAMES = ("kuhn2", "skp", "rock_paper_scissors", "goofspiel(cards=3)", "inexact", "no decision")
SEEDS = (1, 2, 3, 6, 7)


@functools.cache
def tree_of(game: str | int) -> GameTree:
    if isinstance(game, int):
        return random_tree(game, depth=4)
    if game not in ("inexact", "no decision"):
        return eqbench.load_game(game).tree
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [0.25, 0.75])
    places = [(root, 0), (root, 1)]
    if game == "inexact":
        node = builder.decision(places.pop(), 0, "x", ["left", "right"])
        places += [(node, 0), (node, 1)]
    for place in places:
        builder.terminal(place, [0.1, -0.1])
    return builder.tree()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str | int, Path]:
    folders = {}
    for game in (*GAMES, *SEEDS):
        folders[game] = tmp_path_factory.mktemp("tree")
        save_tree(tree_of(game), folders[game])
    return folders


@pytest.mark.parametrize("game", [*GAMES, *SEEDS])
def test_undamaged_trees_are_read_and_have_no_faults(
    game: str | int, folders: dict[str | int, Path]
) -> None:
    tree = load_tree(folders[game])
    assert content_hash(tree) == content_hash(tree_of(game))
    assert faults(tree) == []


def test_damaged_trees_are_refused_or_without_fault(folders: dict[str | int, Path]) -> None:
    outcomes: Counter[str] = Counter()

    @settings(
        max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(game=st.sampled_from([*GAMES, *SEEDS]), data=st.data())
    def check(game: str | int, data: st.DataObject) -> None:
        with TemporaryDirectory() as scratch:
            folder = Path(scratch) / "tree"
            shutil.copytree(folders[game], folder)
            what = damage(folder, data)
            try:
                tree = load_tree(folder)
            except UsageError:
                outcomes["refused"] += 1
                return
            outcomes["read"] += 1
            assert faults(tree) == [], what
            assert np.isfinite(tree.payoff_range)

    check()
    assert outcomes["refused"] > outcomes["read"] > 0, "some damage makes another game"


HEADER = "labels.json"
NUMBERS = [-(2**31), -7, -3, -2, -1, 0, 1, 2, 3, 7, 2**31 - 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [float("nan"), float("inf"), -float("inf"), 1e308, -1e301, 1e300, 5e-324, 0.5]
DTYPES = ["int8", "int16", "int64", "uint32", "float32", "float64", "bool", ">i4", "S3", "complex"]
VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2, 2**62, 2**70, 1.5, 1e308, "", "x", "1/0", "2/4", "nan", "1e9"),
    *([], [[]], ["x"], [["x"]], [1], [None], {}, {"x": 1}, "9" * 5000, "\x00", "\u202e"),
]


def damage(folder: Path, data: st.DataObject) -> str:
    """Damage one thing in a folder, and say what."""
    file = folder / data.draw(st.sampled_from(sorted(place.name for place in folder.iterdir())))
    kinds = [_file, _header] if file.name == HEADER else [_file, _array, _array, _array]
    kind = data.draw(st.sampled_from(kinds))
    return f"{file.name}: {kind(file, data)}"


def _file(file: Path, data: st.DataObject) -> str:
    content = file.read_bytes()
    kind = data.draw(st.sampled_from(list(_FILES)))
    file.unlink()
    _FILES[kind](file, content)
    return kind


_FILES: dict[str, Callable[[Path, bytes], object]] = {
    "missing": lambda file, content: None,
    "extra": lambda file, content: [
        place.write_bytes(content) for place in (file, file.with_name("surprise.npy"))
    ],
    "empty": lambda file, content: file.write_bytes(b""),
    "cut": lambda file, content: file.write_bytes(content[:-1]),
    "longer": lambda file, content: file.write_bytes(content + b"\0" * 8),
    "garbage": lambda file, content: file.write_bytes(b"\xff" * len(content)),
    "fifo": lambda file, content: os.mkfifo(file),
    "device": lambda file, content: file.symlink_to("/dev/zero"),
    "folder": lambda file, content: file.mkdir(),
    "dangling": lambda file, content: file.symlink_to("nowhere"),
    "loop": lambda file, content: file.symlink_to(file.name),
    "deep": lambda file, content: file.write_bytes(b"[" * 100_000),
}


def _header(file: Path, data: st.DataObject) -> str:
    header = json.loads(file.read_text())
    key = data.draw(st.sampled_from(sorted(header)))
    value = header[key]
    kind = data.draw(st.sampled_from(["value", "drop", "extra", "item", "order"]))
    if kind == "drop":
        del header[key]
    elif kind == "extra":
        header["surprise"] = value
    elif kind == "value" or not isinstance(value, list) or not value:
        header[key] = data.draw(st.sampled_from(VALUES))
    elif kind == "order":
        header[key] = data.draw(st.permutations(value))
    else:
        item = data.draw(st.integers(0, len(value) - 1))
        value[item : item + 1] = data.draw(
            st.sampled_from([[], [value[0]], value, *VALUES[-11:-5]])
        )
    file.write_text(json.dumps(header))
    return f"{kind} of {key}"


def _array(file: Path, data: st.DataObject) -> str:
    array = np.load(file)
    kind = data.draw(st.sampled_from(list(_ARRAYS)))
    if array.size == 0 and kind not in ("append", "dtype", "shape"):
        kind = "dtype"
    changed = _ARRAYS[kind](array.copy(), data)
    content = io.BytesIO()
    np.save(content, changed, allow_pickle=True)
    file.write_bytes(content.getvalue())
    return kind


def _entry(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    values = NUMBERS + (FLOATS if array.dtype.kind == "f" else [])
    place = data.draw(st.integers(0, array.size - 1))
    value = np.array(data.draw(st.sampled_from(values)))
    with np.errstate(all="ignore"):
        array.reshape(-1)[place] = value.astype(array.dtype)
    return array


def _moved(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    first, second = (data.draw(st.integers(0, len(array) - 1)) for _ in range(2))
    array[[first, second]] = array[[second, first]]
    return array


def _all(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    array[...] = data.draw(st.sampled_from([-1, 0, 1]))
    return array


def _dtype(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(data.draw(st.sampled_from(DTYPES)))


_ARRAYS: dict[str, Callable[[np.ndarray, st.DataObject], np.ndarray]] = {
    "entry": _entry,
    "two entries": lambda array, data: _entry(_entry(array, data), data),
    "moved": _moved,
    "reversed": lambda array, data: array[::-1],
    "all": _all,
    "drop": lambda array, data: array[:-1],
    "append": lambda array, data: np.concatenate((array, np.zeros_like(array[:1]), array[:1])),
    "none": lambda array, data: array[:0],
    "dtype": _dtype,
    "shape": lambda array, data: array[:, None],
    "scalar": lambda array, data: array.reshape(-1)[0],
    "fortran": lambda array, data: np.asfortranarray(np.stack((array, array), axis=1)),
    "pickled": lambda array, data: array.astype(object),
    "wide": lambda array, data: np.repeat(array, 1000, axis=-1),
}


History = tuple[tuple[int, int], ...]  # information set and move of every own decision


def faults(tree: GameTree) -> list[str]:
    """All faults that are found, empty for a game as it should be."""
    children = _children(tree.parent.tolist())
    if children is None:
        return ["the parents lead nowhere"]
    order, histories = _walk(tree, children)
    if order != list(range(len(children))):
        return [f"a walk in breadth meets the nodes as {order[:20]}"]
    return [
        *_of_labels(tree),
        *_of_nodes(tree, children),
        *_of_chance(tree, children),
        *_of_information(tree, histories),
        *_of_payoffs(tree),
    ]


def _children(parent: list[int]) -> list[list[int]] | None:
    children: list[list[int]] = [[] for _ in parent]
    for node, above in enumerate(parent):
        if node == 0 and above == -1:
            continue
        if not 0 <= above < len(parent):
            return None
        children[above].append(node)
    return children


def _walk(tree: GameTree, children: list[list[int]]) -> tuple[list[int], dict[int, list[History]]]:
    """Nodes as a queue meets them, and the own histories of all players at each."""
    mover, infoset, move = tree.player.tolist(), tree.infoset.tolist(), tree.move.tolist()
    order, histories = [], {0: [()] * len(tree.players)}
    waiting = deque([0])
    while waiting and len(order) <= len(children):
        node = waiting.popleft()
        order.append(node)
        for child in children[node]:
            below = list(histories[node])
            if 0 <= mover[node] < len(below):
                below[mover[node]] += ((infoset[node], move[child]),)
            histories[child] = below
            waiting.append(child)
    return order, histories


def _of_labels(tree: GameTree) -> list[str]:
    sets = list(zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True))
    groups = [list(tree.players), sets, *map(list, tree.infoset_actions)]
    texts = [*tree.players, *tree.infoset_labels, *sum(tree.infoset_actions, ())]
    found = [f"{group} has a label twice" for group in groups if len(set(group)) != len(group)]
    found += [f"{text!r} is no text" for text in texts if not isinstance(text, str)]
    found += [] if tree.players and all(tree.infoset_actions) else ["nobody, or nothing to do"]
    return found


def _of_nodes(tree: GameTree, children: list[list[int]]) -> list[str]:
    found = []
    for node, (mover, infoset) in enumerate(zip(tree.player, tree.infoset, strict=True)):
        below = children[node]
        if [int(tree.move[child]) for child in below] != list(range(len(below))):
            found.append(f"the moves at {node} are not in order")
        if (mover == TERMINAL) != (not below) or not TERMINAL <= mover < len(tree.players):
            found.append(f"{mover} moves at {node}, which has {len(below)} children")
        if (mover >= 0) != (0 <= infoset < len(tree.infoset_labels)) or infoset < -1:
            found.append(f"{mover} moves at {node} of information set {infoset}")
        elif mover >= 0 and len(tree.infoset_actions[infoset]) != len(below):
            found.append(f"{node} has other actions than its information set")
    return found + ([] if tree.move[0] == -1 else ["the root has a move"])


def _of_chance(tree: GameTree, children: list[list[int]]) -> list[str]:
    exact = tree.chance.dtype.kind == "i"
    denominator = tree.chance_denominator
    found = [] if denominator >= 1 and (exact or denominator == 1) else ["denominator of chance"]
    drawn = set()
    for node, mover in enumerate(tree.player.tolist()):
        if mover == CHANCE:
            drawn |= set(children[node])
            shares = [Fraction(tree.chance[c].item()) / denominator for c in children[node]]
            if abs(sum(shares) - 1) > (0 if exact else Fraction(1, 10**12)) or min(shares) < 0:
                found.append(f"chance at {node} is {shares}")
    others = set(range(len(children))) - drawn
    return found + [f"chance at {node}" for node in others if tree.chance[node] != 0]


def _of_information(tree: GameTree, histories: dict[int, list[History]]) -> list[str]:
    found, known = [], dict[int, History]()
    owners = tree.infoset_player.tolist()
    for node, infoset in enumerate(tree.infoset.tolist()):
        if infoset >= 0:
            own = histories[node][owners[infoset]]
            if tree.player[node] != owners[infoset] or known.setdefault(infoset, own) != own:
                found.append(f"information set {infoset} does not fit its node {node}")
    if found or sorted(known) != list(range(len(owners))):
        return [*found, "some information set is empty, or its player forgets"]
    keys = [(owner, len(known[infoset])) for infoset, owner in enumerate(owners)]
    found += [] if keys == sorted(keys) else [f"information sets stand in the order {keys}"]
    for infoset, history in known.items():
        above = -1
        if history:
            behind, move = history[-1]
            above = sum(len(actions) for actions in tree.infoset_actions[:behind]) + move
        if tree.infoset_parent[infoset] != above:
            found.append(f"{infoset} stands behind {tree.infoset_parent[infoset]}, not {above}")
    return found


def _of_payoffs(tree: GameTree) -> list[str]:
    payoffs = tree.payoffs
    exact = payoffs.base.dtype.kind == "i"
    found = [] if payoffs.denominator >= 1 and (exact or payoffs.denominator == 1) else ["parts"]
    slope = [[0] * len(tree.players)] * len(payoffs.base)
    if payoffs.slope is not None:
        slope = payoffs.slope.tolist()
    shape = (tree.player.tolist().count(TERMINAL), len(tree.players))
    if payoffs.base.shape != shape or len({payoffs.slope is None, payoffs.value is None}) > 1:
        return [*found, "the table of payoffs has another shape"]
    for bases, steps in zip(payoffs.base.tolist(), slope, strict=True):
        if not all(map(math.isfinite, [*bases, *steps])):
            return [*found, "a payoff is not finite"]
        for base, step in zip(bases, steps, strict=True):
            payoff = (base + Fraction(step) * (payoffs.value or 0)) / Fraction(payoffs.denominator)
            if abs(payoff) > Fraction(10) ** 301:
                found.append("a payoff is beyond floats")
    return found
