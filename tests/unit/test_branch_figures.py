"""Figures of branches show what they should, and refuse what they cannot."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from branch_cases import curves, dots, made_up_branch, texts

import eqbench
from eqbench.equilibria.kuhn_ranges import NODES
from eqbench.errors import UsageError
from eqbench.plots.branches import (
    Curve,
    Window,
    crossing_figure,
    frequency_figure,
    frequency_panels,
    payoff_figure,
)
from eqbench.plots.style import log_log_figure, power_law, save_figure
from eqbench.studies.branch import Branch

FOLDED = (2.0, 3.0, 3.0, 2.5, 4.0)


@cache
def branch(spec: str = "skp", values: tuple[float, ...] = FOLDED) -> Branch:
    return made_up_branch(spec, values)


# -- expectations ---------------------------------------------------------------------------------


def test_one_branch_has_a_line_for_each_player_and_dots_at_its_folds() -> None:
    figure = payoff_figure({"SKP": branch()})
    (ax,) = figure.axes
    expected = [(list(FOLDED), column.tolist()) for column in branch().payoffs.T]
    assert curves(ax) == expected
    assert dots(ax) == [3.0, 2.5] * 3
    assert {"SKP", "pot", "P1", "P2", "P3", "fold"} <= set(texts(figure))


def test_lines_are_broken_where_the_branch_was_outside_its_range() -> None:
    """It left at the second point and came back at the third one."""
    arclength = branch().arclength.copy()
    arclength[2:] -= arclength[2] - arclength[1]
    left = replace(branch(), arclength=arclength)
    broken = [2.0, 3.0, np.nan, 3.0, 2.5, 4.0]
    for figure in (payoff_figure({"SKP": left}), frequency_figure(left)):
        assert figure.axes[0].get_xlim() == pytest.approx((2, 4), abs=0.1)
        for x, y in curves(figure.axes[0]):
            assert np.array_equal(x, broken, equal_nan=True)
            assert np.flatnonzero(np.isnan(y)).tolist() == [2]
    assert dots(payoff_figure({"SKP": left}).axes[0]) == [2.5] * 3
    assert branch().broken().values.tolist() == list(FOLDED)


def test_several_branches_have_a_panel_for_each_player() -> None:
    other = branch("kuhn3", (2.0, 4.0))
    figure = payoff_figure({"SKP": branch(), "Kuhn": other})
    assert len(figure.axes) == 3
    for p, ax in enumerate(figure.axes):
        assert curves(ax) == [(list(b.values), b.payoffs[:, p].tolist()) for b in (branch(), other)]
    assert {"SKP", "Kuhn", "expectation of P2"} <= set(texts(figure))


def test_reference_curves_are_dashed_with_one_label() -> None:
    exact = [Curve(np.array([2.0, 3.0]), np.zeros((2, 3))) for _ in range(2)]
    figure = payoff_figure({"SKP": branch()}, exact=exact)
    assert curves(figure.axes[0], "--") == [([2.0, 3.0], [0.0, 0.0])] * 6
    assert texts(figure).count("exact") == 1


def test_close_up_shows_all_that_passes_through_it_and_is_marked() -> None:
    from matplotlib.patches import Rectangle

    figure = payoff_figure({"SKP": branch()}, windows=[Window(3.2, 3.4), Window(2, 3, -1, 1)])
    main, first, second = figure.axes
    assert first.get_xlim() == (3.2, 3.4)
    assert second.get_ylim() == (-1, 1)
    last = branch().payoffs[3:]  # from pot 2.5 to pot 4
    between = [np.interp([3.2, 3.4], [2.5, 4], column) for column in last.T]
    bottom, top = first.get_ylim()
    assert bottom < np.min(between) < np.max(between) < top
    assert top - bottom < 1.2 * float(np.ptp(between))
    marks = [patch for patch in main.patches if isinstance(patch, Rectangle)]
    assert [mark.get_x() for mark in marks] == [3.2, 2]
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["a", "b"]


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        ([Window(3, 3)], "shows nothing"),
        ([Window(5, 6)], "nothing in the close-up"),
        ([Window(2, 3, 7, 8)], "nothing in the close-up"),
        ([Window(2, 3, 1, -1)], "shows nothing"),
        ([Window(2, 3, 0)], "both bottom and top"),
        ([Window(2, 3)] * 9, "at most 8"),
    ],
)
def test_close_up_of_nothing_is_refused(windows: list[Window], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        payoff_figure({"SKP": branch()}, windows=windows)


def test_what_does_not_fit_one_figure_is_refused() -> None:
    with pytest.raises(UsageError, match="no branch"):
        payoff_figure({})
    with pytest.raises(UsageError, match="differ in their parameter or players"):
        payoff_figure({"three": branch(), "two": branch("kuhn2")})
    with pytest.raises(UsageError, match="choose some of 0 to 2"):
        payoff_figure({"SKP": branch()}, players=[3])
    with pytest.raises(UsageError, match="shows nothing"):
        frequency_figure(branch(), (3, 2.5))
    for count in (0, 7):
        with pytest.raises(UsageError, match="choose 1 to 6"):
            log_log_figure(
                dict.fromkeys("abcdefg"[:count], ([1, 2], [1, 2])), x_label="", y_label=""
            )
    with pytest.raises(UsageError, match="at most 60"):
        frequency_panels(eqbench.load_game("leduc").tree)
    with pytest.raises(UsageError, match="choose one player"):
        payoff_figure({"a": branch(), "b": branch()}, windows=[Window(2, 3, 0, 1)])


# -- frequencies ----------------------------------------------------------------------------------


def test_three_player_kuhn_has_its_nodes_in_order_with_a_line_for_each_card() -> None:
    branches = branch("kuhn3", FOLDED)
    tree = branches.game.tree
    figure = frequency_figure(branches)
    assert len(figure.axes) == 12
    for ax, node in zip(figure.axes, NODES, strict=True):
        assert ax.get_title(loc="left").endswith(node.title)
        for card, curve in enumerate(curves(ax), start=1):
            infoset = tree.infoset_of(node.player, f"{card}:{node.history}")
            action = tree.action_start[infoset] + 1
            column = int(np.searchsorted(branches.choices.action, action))
            assert curve == (list(FOLDED), branches.free[:, column].tolist())
        assert len(curves(ax)) == 4


def test_other_games_have_a_panel_for_each_public_history() -> None:
    panels = frequency_panels(eqbench.load_game("kuhn2").tree)
    assert [panel.title for panel in panels] == ["P1", "P1 after KB", "P2 after K", "P2 after B"]
    assert [[line.label for line in panel.lines] for panel in panels] == [["1", "2", "3"]] * 4
    assert sorted(line.position for panel in panels for line in panel.lines) == [*range(12)]
    assert len(frequency_figure(branch("kuhn2")).axes) == 4


# -- counts and power laws ------------------------------------------------------------------------


def test_count_figure_has_a_panel_for_each_branch_and_says_the_largest_count() -> None:
    figure = crossing_figure({"folded": branch(), "straight": branch("skp", (2.0, 4.0))})
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["folded: up to 3", "straight: up to 1"]
    with pytest.raises(UsageError, match="no branch"):
        crossing_figure({})


def test_branch_that_hardly_moves_is_one_flat_step() -> None:
    (ax,) = crossing_figure({"short": branch("skp", (2.0, 2.00005))}).axes
    assert ax.get_title(loc="left") == "short: up to 1"
    (steps,) = ax.patches
    values, edges, _ = steps.get_data()
    assert (values.tolist(), edges.tolist()) == ([1], [2.0, 2.00005])


def test_power_law_is_recovered() -> None:
    x = np.array([4.0, 5.0, 13.0, 26.0])
    assert power_law(x, 3 * x**2.5) == pytest.approx((3, 2.5))
    figure = log_log_figure({"cost": (x, 3 * x**2.5)}, x_label="cards", y_label="seconds")
    assert "cost: slope 2.50" in texts(figure)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], [0, 1], "positive"),
        ([-1, 2], [1, 1], "positive"),
        ([1, 2], [1, np.inf], "positive"),
        ([2, 2], [1, 3], "two different x"),
    ],
)
def test_what_has_no_power_law_is_refused(x: list[float], y: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        log_log_figure({"series": (x, y)}, x_label="x", y_label="y")


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_same_data_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    contents = []
    for name in "ab":
        path = tmp_path / f"{name}{suffix}"
        save_figure(payoff_figure({"SKP": branch()}, windows=[Window(2, 3)]), path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")


def test_figure_becomes_nothing_but_svg_or_png(tmp_path: Path) -> None:
    figure = crossing_figure({"SKP": branch()})
    with pytest.raises(UsageError, match=r"use \.svg or \.png"):
        save_figure(figure, tmp_path / "figure.pdf")
    with pytest.raises(UsageError, match="cannot write"):
        save_figure(figure, tmp_path / "no folder" / "figure.svg")
