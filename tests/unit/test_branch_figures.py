"""Figures of branches show what they should, and refuse what they cannot."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from branch_cases import curves, dots, made_up_branch, texts

import eqbench
from eqbench.errors import UsageError
from eqbench.plots.branches import crossing_figure, frequency_figure, frequency_table, payoff_figure
from eqbench.plots.style import log_log_figure, ordered_colors, power_law, save_both, save_figure
from eqbench.studies.branch import Branch
from eqbench.studies.kuhn_ranges import NODES

FOLDED = (2.0, 3.0, 3.0, 2.5, 4.0)


@cache
def branch(spec: str = "skp", values: tuple[float, ...] = FOLDED) -> Branch:
    return made_up_branch(spec, values)


# -- expectations ---------------------------------------------------------------------------------


def test_one_branch_has_a_line_for_each_player_and_dots_at_its_folds() -> None:
    figure = payoff_figure({"SKP": branch()})
    (ax,) = figure.axes
    shown = [(x, y) for x, y in curves(ax) if not np.isnan(y).any()]
    assert shown == [(list(FOLDED), column.tolist()) for column in branch().payoffs.T]
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
    exact = [(np.array([2.0, 3.0]), np.zeros((2, 3))) for _ in range(2)]
    figure = payoff_figure({"SKP": branch()}, exact=exact)
    assert curves(figure.axes[0], "--") == [([2.0, 3.0], [0.0, 0.0])] * 6
    assert texts(figure).count("exact") == 1


def test_close_up_shows_all_that_passes_through_it_and_is_marked() -> None:
    figure = payoff_figure({"SKP": branch()}, windows=[(3.2, 3.4), (2, 3, -1, 1)])
    main, first, second = figure.axes
    assert first.get_xlim() == (3.2, 3.4)
    assert second.get_ylim() == (-1, 1)
    last = branch().payoffs[3:]  # from pot 2.5 to pot 4
    between = [np.interp([3.2, 3.4], [2.5, 4], column) for column in last.T]
    bottom, top = first.get_ylim()
    assert bottom < np.min(between) < np.max(between) < top
    assert top - bottom < 1.2 * float(np.ptp(between))
    boxes = [x for x, y in curves(main) if len(x) == 5 and x[0] == x[-1]]
    assert [box[0] for box in boxes] == [3.2, 2]
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["1", "2"]
    assert {"1", "2"} <= {text.get_text() for text in main.texts}


@pytest.mark.parametrize("window", [(5, 6), (2, 3, 7, 8)])
def test_close_up_of_nothing_is_refused(window: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="nothing in the close-up"):
        payoff_figure({"SKP": branch()}, windows=[window])


def test_more_panels_than_can_be_read_are_refused() -> None:
    with pytest.raises(UsageError, match="1 to 60"):
        frequency_table(eqbench.load_game("leduc").tree)


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
    table = frequency_table(eqbench.load_game("kuhn2").tree)
    titles = ["P1", "P1 after KB", "P2 after K", "P2 after B"]
    assert table["panel"].unique().tolist() == titles
    assert table["label"].tolist() == ["1", "2", "3"] * 4
    assert sorted(table.index) == [*range(12)]
    assert len(frequency_figure(branch("kuhn2")).axes) == 4


def test_nodes_at_which_nothing_is_free_are_named_and_take_no_panel() -> None:
    """Simplified Kuhn poker has no choice at the nodes 6, 9 and 12."""
    figure = frequency_figure(branch(), title="SKP")
    numbers = [ax.get_title(loc="left").split()[0] for ax in figure.axes]
    assert numbers == ["1", "2", "3", "4", "5", "7", "8", "10", "11"]
    assert figure.get_suptitle() == "SKP; nothing is free at 6, 9, 12"


def test_other_branches_are_drawn_beside() -> None:
    other = branch("kuhn2", (2.0, 5.0))
    ax, *_ = frequency_figure(branch("kuhn2"), beside=[other]).axes
    assert sum(x == [2.0, 5.0] for x, _ in curves(ax)) == 3
    assert ax.get_xlim() == (2.0, 5.0)


def test_what_lies_on_another_line_is_dashed() -> None:
    """P1 and P2 have the same payoffs up to the third point."""
    payoffs = branch().payoffs.copy()
    payoffs[:3, 1] = payoffs[:3, 0]
    payoffs[3:, 1] = payoffs[3:, 0] + 1
    (ax,) = payoff_figure({"SKP": replace(branch(), payoffs=payoffs)}, folds=False).axes
    lines = [line for line in ax.get_lines() if len(line.get_xdata())]
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--", "-"]
    assert np.flatnonzero(np.isfinite(lines[1].get_ydata())).tolist() == [2, 3, 4]
    assert np.flatnonzero(np.isfinite(lines[2].get_ydata())).tolist() == [0, 1, 2]


def test_ordered_colors_are_seen_on_white() -> None:
    """By the contrast of the Web Content Accessibility Guidelines, for graphics at least 3."""
    colors = np.array(ordered_colors(9))
    linear = np.where(colors > 0.04045, ((colors + 0.055) / 1.055) ** 2.4, colors / 12.92)
    assert np.all(1.05 / (linear @ (0.2126, 0.7152, 0.0722) + 0.05) > 3)


# -- counts and power laws ------------------------------------------------------------------------


def test_count_figure_has_a_panel_for_each_branch_and_says_the_largest_count() -> None:
    figure = crossing_figure({"folded": branch(), "straight": branch("skp", (2.0, 4.0))})
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["folded: up to 3", "straight: up to 1"]
    assert [ax.get_yticks().tolist() for ax in figure.axes] == [[0, 1, 2, 3], [0, 1]]


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
        ([2, 2], [1, 3], "several x"),
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
        save_figure(payoff_figure({"SKP": branch()}, windows=[(2, 3)]), path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert contents[0].startswith(b"<?xml" if suffix == ".svg" else b"\x89PNG")


def test_figure_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        save_both(tmp_path / "no folder" / "figures", "figure", crossing_figure({"SKP": branch()}))
