"""Bars and animations of strategies of three-player Kuhn poker."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from branch_cases import made_up_branch, texts
from PIL import Image

import eqbench
from eqbench.errors import UsageError
from eqbench.model.profile import random_profile
from eqbench.plots.kuhn import bar_figure, write_animation
from eqbench.studies.branch import Branch
from eqbench.studies.kuhn_ranges import NODES, KuhnNodes, held

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@cache
def branch(spec: str = "skp") -> Branch:
    return made_up_branch(spec, (2.0, 3.0, 3.0, 2.5, 4.0))


# -- bars -----------------------------------------------------------------------------------------


def bar_heights(ax: Axes) -> tuple[list[float], list[float]]:
    """Heights of the bars of a panel, and of their black parts."""
    whole, black, *_ = ax.containers
    return [bar.get_height() for bar in whole], [bar.get_height() for bar in black]


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn(players=3,cards=17,reduce=billingham)"])
def test_bars_are_shortened_by_what_was_bet_before(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    behavior = random_profile(tree, np.random.default_rng(3))
    figure = bar_figure(tree, behavior, title="a title")
    aggression = KuhnNodes.of(tree).aggression(behavior)
    for row, ax in enumerate(figure.axes):
        whole, black = bar_heights(ax)
        assert whole == pytest.approx(held(aggression)[row])
        assert black == pytest.approx(held(aggression)[row] * aggression[row])
        assert ax.get_title(loc="left") == f"{row + 1} · {NODES[row].title}"
    assert "a title" in texts(figure)


def test_ranges_stand_below_the_bars() -> None:
    tree = eqbench.load_game("kuhn3").tree
    nodes = KuhnNodes.of(tree)
    behavior = np.zeros(tree.n_actions)
    for row, bets in {0: [1, 0, 0, 0.5], 9: [0, 0, 1, 1], 10: [0, 0, 1, 1]}.items():
        behavior[nodes.action[row]] = bets
    figure = bar_figure(tree, behavior)
    shown = [{(t.get_position()[0], t.get_text()) for t in ax.texts} for ax in figure.axes]
    assert shown[0] == {(1, "B"), (4, "V")}
    assert shown[9] == {(3, "C")}
    nobody = [row for row, panel in enumerate(shown) if (2.5, "nobody makes this bet") in panel]
    assert nobody == [*range(3, 9)]


# -- animations -----------------------------------------------------------------------------------


def test_animation_has_its_frames(tmp_path: Path) -> None:
    contents = []
    for name in "ab":
        path = tmp_path / f"{name}.gif"
        write_animation(branch(), path, 4)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    with Image.open(tmp_path / "a.gif") as image:
        assert image.n_frames == 4
        assert image.info["duration"] == 250
        frames = [np.asarray(image.convert("RGB")) for k in range(4) if image.seek(k) is None]
    assert all((frame != frames[0]).any() for frame in frames[1:])


def test_animation_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "film.gif"
    with pytest.raises(UsageError, match="three-player Kuhn poker"):
        write_animation(branch("kuhn2"), path, 2)
    with pytest.raises(UsageError, match="cannot write"):
        write_animation(branch(), tmp_path / "no folder" / "figures" / "film.gif", 2)
