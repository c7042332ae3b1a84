"""Exact gains over two frequencies off the path, as a picture."""

from __future__ import annotations

from fractions import Fraction

from eqbench.papers.stored import Stored
from eqbench.plots.style import label_axes, new_figure, svg_of


def gains(stored: Stored) -> str:
    """SVG of what player 2 gains, as fractions on a grid of a33 and c32."""
    figure = new_figure(4.6, 4.2)
    ax = figure.subplots()
    for item in stored["readings"].summary["pairs"]:
        x, y = (float(Fraction(item[name])) for name in ("a33", "c32"))
        gain = item["regrets"][1]
        color, weight = ("#cfe8d5", "bold") if gain == "0" else ("white", "normal")
        box = {"boxstyle": "round", "facecolor": color, "lw": 0.4}
        ax.text(x, y, gain, ha="center", va="center", fontsize=9, weight=weight, bbox=box)
    quarters = [0, 0.25, 0.5, 0.75, 1]
    ax.set(xlim=(-0.12, 1.12), ylim=(-0.12, 1.12), xticks=quarters, yticks=quarters)
    call = "player 1 calls with the king after check, bet, fold"
    label_axes(ax, f"a33: {call}", "c32: player 3 does after check, bet")
    return svg_of(figure)
