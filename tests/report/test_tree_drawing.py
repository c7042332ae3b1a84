"""Drawn game trees: valid SVG, nothing on top of anything else, and true to tree and play."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from helpers.made_games import random_tree

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.report.tree_drawing import draw_tree, text_width, tikz_tree

SVG = "{http://www.w3.org/2000/svg}"
GAMES = [
    *("matching_pennies", "prisoners_dilemma", "jordan", "kuhn2", "kuhn3", "kuhn3_reduced"),
    *("skp", "random_tree(players=6,depth=6,seed=3)", "random_tree(depth=4,actions=4)"),
    "travelers_dilemma(highest=9)",
]


@dataclass(frozen=True)
class Box:
    """What a text or a mark covers."""

    what: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > 0 and down > 0


def drawn(
    tree: GameTree, profile: BehaviorProfile | None = None, spec: str = "a game"
) -> ET.Element:
    return ET.fromstring(draw_tree(tree, spec, profile))


def tree_of(spec: str) -> GameTree:
    return eqbench.load_game(spec).tree


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def body(root: ET.Element) -> ET.Element:
    """The group of the tree, without the caption."""
    (found,) = [group for group in root.findall(f"{SVG}g") if "transform" in group.attrib]
    return found


def boxes(group: ET.Element, size: float = 12.0) -> Iterator[Box]:
    """Texts, and the marks of players as their numbers in a square."""
    for element in group.iter(f"{SVG}text"):
        x, y = float(element.get("x", "")), float(element.get("y", ""))
        here = float(element.get("font-size", size))
        text = element.text or ""
        if element.get("text-anchor") == "middle":
            yield Box(f"mark {text}", x - 9, y - 13, x + 9, y + 5)
            continue
        width = text_width(text, here)
        left = x - width if element.get("text-anchor") == "end" else x
        yield Box(text, left, y - 0.75 * here, left + width, y + 0.2 * here)


# -- layout ---------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("with_profile", [False, True])
def test_no_text_or_mark_lies_on_another_or_leaves_the_picture(
    spec: str, with_profile: bool
) -> None:
    tree = tree_of(spec)
    profile = BehaviorProfile.uniform(tree) if with_profile else None
    root = drawn(tree, profile, spec)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    check_apart(list(boxes(body(root))))
    top = float(re.sub(r"translate\(0 (.*)\)", r"\1", body(root).get("transform", "")))
    for box in boxes(root):
        assert box.left >= 0, box
        assert box.right <= width, box
        assert box.top >= 0, box
    assert max(box.bottom for box in boxes(body(root))) + top <= height
    caption = [box for box in boxes(root.findall(f"{SVG}g")[0]) if not box.what.startswith("mark")]
    check_apart(caption)
    assert max(box.bottom for box in caption) < top + min(box.top for box in boxes(body(root)))


@pytest.mark.parametrize("seed", range(8))
def test_irregular_trees_are_drawn_without_overlap_too(seed: int) -> None:
    """Terminals at all depths, single moves, and information sets across depths."""
    tree = random_tree(seed, depth=4)
    assert tree.n_nodes <= 1500
    check_apart(list(boxes(body(drawn(tree)))))


def check_apart(found: list[Box]) -> None:
    found = sorted(found, key=lambda box: box.top)
    for k, box in enumerate(found):
        for other in found[k + 1 :]:
            if other.top >= box.bottom:
                break
            assert not box.overlaps(other), (box, other)


def test_a_tree_of_one_terminal_is_drawn() -> None:
    builder = TreeBuilder(["P1"])
    builder.terminal(None, [Fraction(1, 3)])
    assert texts(drawn(builder.tree()))[-1] == "(1/3)"


# -- content --------------------------------------------------------------------------------


def test_drawing_is_always_the_same_and_plain_ascii() -> None:
    tree = tree_of("kuhn3_reduced")
    uniform = BehaviorProfile.uniform(tree)
    first = draw_tree(tree, "kuhn3_reduced", uniform)
    assert first == draw_tree(tree_of("kuhn3_reduced"), "kuhn3_reduced", uniform)
    assert first.isascii()


def test_labels_are_escaped_and_long_ones_cut() -> None:
    long = "an action with a name that nobody would want to read in a picture"
    builder = TreeBuilder(['<"P&1">', "日本"])
    root = builder.decision(None, 0, "a\x00<b>&'c'", [long, "</text>"])
    builder.terminal((root, 0), [0.1, 1e-9])
    builder.terminal((root, 1), [2 / 3, 12345678])
    found = drawn(builder.tree(), spec="<&>")
    written = texts(found)
    assert written[0] == "<&>"
    assert {'<"P&1">', "日本", r"a\x00<b>&'c'", "</text>"} <= set(written)
    assert "an action with a name that …" in written
    assert {"(0.1, 1e-09)", "(0.6667, 1.235e+07)"} <= set(written)
    check_apart(list(boxes(body(found))))


def test_large_tree_is_refused_with_its_size() -> None:
    tree = tree_of("kuhn4")
    with pytest.raises(UsageError, match="1,500"):
        draw_tree(tree, "kuhn4")


def test_a_picture_of_which_no_part_fits_on_a_page_is_refused(tmp_path: Path) -> None:
    names = " ".join(f'"P{p}"' for p in range(60))
    payoffs = ", ".join(f"{p}000001/7" for p in range(60))
    ends = "".join(f't "" {k} "" {{ {payoffs} }}\n' for k in (1, 2))
    file = tmp_path / "many.efg"
    file.write_text(f'EFG 2 R "" {{ {names} }}\np "" 1 1 "" {{ "a" "b" }} 0\n{ends}')
    with pytest.raises(UsageError, match="does not fit on a page"):
        tikz_tree(eqbench.load_game(str(file)).tree, "many")
