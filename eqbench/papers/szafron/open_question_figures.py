"""Which members of the family the methods find: transfers and payoffs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eqbench.plots.style import add_legend, label_axes, new_figure, ordered_colors, save_figure

if TYPE_CHECKING:
    from eqbench.papers.szafron.open_question import Found


BINS = 25
MOST_DOTS = 60  # of one method in the picture of payoffs


def draw(found: Sequence[Found], folder: Path) -> None:
    """Write ``beta.svg``, how often each β was found, and ``payoffs.svg``, in a folder."""
    solvers = list(dict.fromkeys(one.solver for one in found))
    colors = ordered_colors(max(len(solvers), 1))
    _draw_betas(found, solvers, colors, folder / "beta.svg")
    _draw_payoffs(found, solvers, colors, folder / "payoffs.svg")


def _draw_betas(found: Sequence[Found], solvers: list[str], colors: Sequence, path: Path) -> None:
    figure = new_figure(7.2, 3.6)
    ax = figure.subplots()
    label_axes(ax, "β = max(b11, b21)", "share of the method's equilibria")
    betas = {
        solver: [
            one.identity.parameters["beta"]
            for one in found
            if one.solver == solver and one.is_on_path and one.identity is not None
        ]
        for solver in solvers
    }
    edges = np.linspace(0.0, 0.25, BINS + 1)
    for (solver, own), color in zip(betas.items(), colors, strict=False):
        heights = np.histogram(np.clip(own, 0.0, 0.25), edges)[0] / max(len(own), 1)
        ax.stairs(heights, edges, color=color, label=f"{solver}: {len(own)}", linewidth=1.3)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    save_figure(figure, path)


def _draw_payoffs(found: Sequence[Found], solvers: list[str], colors: Sequence, path: Path) -> None:
    figure = new_figure(7.2, 3.6)
    ax = figure.subplots()
    label_axes(ax, "payoff of player 1", "payoff of player 3")
    ax.plot([-1 / 48, -1 / 32], [1 / 24, 5 / 96], color="0.6", linewidth=5, alpha=0.5)
    for solver, color in zip(solvers, colors, strict=False):
        own = np.array([one.payoffs for one in found if one.solver == solver])[:: _stride(found)]
        ax.plot(own[:, 0], own[:, 2], "o", color=color, markersize=3, label=solver)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    save_figure(figure, path)


def _stride(found: Sequence[Found]) -> int:
    return 1 + len(found) // (MOST_DOTS * 10)
