"""Figures 2 to 4: regularized branches of simplified Kuhn poker beside its exact solution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.jobs import SKP_EPSILONS
from eqbench.plots.branches import Curve, Window, payoff_figure
from eqbench.plots.style import LABEL_SIZE, add_legend, label_axes, new_figure, ordered_colors
from eqbench.registry import load_game
from eqbench.report.svg import INK
from eqbench.studies.branch import Branch, columns, read_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CLOSE_UP = (3.8, 4.45)
VARIABLES = {"a1": "P1|4:|bet", "c1": "P1|3:KKB|call", "d2": "P2|3:KKBF|call"}
_SAME = 1e-9


def skp_figures(jobs: Path, exact: list[dict[str, Any]]) -> dict[str, Figure]:
    """The three figures by the names of their files."""
    game = load_game("skp")
    branches = {
        f"eps = {eps}": read_points(game, jobs / f"skp_{eps.replace('-', '_')}" / "points.csv")
        for eps in SKP_EPSILONS
    }
    curves = [
        Curve(pots, np.column_stack([values] * 3)) for pots, values in exact_curves(exact, "u1")
    ]
    finest = dict(list(branches.items())[-1:])
    return {
        "fig02": payoff_figure(branches, exact=curves, windows=[Window(*CLOSE_UP)], players=[0]),
        "fig03": _frequencies(branches, exact, ["a1"], CLOSE_UP),
        "fig04": _frequencies(finest, exact, ["c1", "d2"]),
    }


def exact_curves(exact: list[dict[str, Any]], name: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Pots and least and greatest values of a figure along each published set."""
    for entry in exact:
        column = entry["variables"].index(name)
        pots = np.array(entry["pots"])
        low, high = (np.array(entry[end])[:, column] for end in ("low", "high"))
        if np.ptp(pots) < _SAME:
            yield np.repeat(pots[0], 2), np.array([low.min(), high.max()])
            continue
        yield pots, low
        if np.abs(high - low).max() > _SAME:
            yield pots, high


def _frequencies(
    branches: Mapping[str, Branch],
    exact: list[dict[str, Any]],
    names: Sequence[str],
    close_up: tuple[float, float] | None = None,
) -> Figure:
    """Published frequencies against the pot, a row each; beside it a close-up if one is given."""
    tree = next(iter(branches.values())).game.tree
    figure = new_figure(7.2 + 3.0 * bool(close_up), 0.6 + 2.7 * len(names))
    widths = [2.2, 1.0] if close_up else [1.0]
    grid = figure.subplots(
        len(names), len(widths), squeeze=False, sharex="col", width_ratios=widths
    )
    for axes, name in zip(grid, names, strict=True):
        column = columns(tree).index(VARIABLES[name]) - 2 - tree.n_players
        for ax in axes:
            # the last one is light, so that the exact curve can be seen on it
            colors = ordered_colors(len(SKP_EPSILONS))[-len(branches) :]
            for color, (label, branch) in zip(colors, branches.items(), strict=True):
                ax.plot(branch.values, branch.free[:, column], color=color, lw=1.2, label=label)
            for number, curve in enumerate(exact_curves(exact, name)):
                label = "" if number else "exact"
                ax.plot(*curve, "--", color=INK, linewidth=1.2, label=label)
            label_axes(ax, "", "")
        axes[0].set_ylabel(f"{name} = {VARIABLES[name]}", fontsize=LABEL_SIZE)
        if close_up:
            axes[1].set_xlim(close_up)
    for ax in grid[-1]:
        ax.set_xlabel("pot", fontsize=LABEL_SIZE)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure
