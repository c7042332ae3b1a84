"""What figures have in common: size, type, colors, and how they become files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eqbench.errors import UsageError
from eqbench.report.svg import COLORS, PALE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Color = str | tuple[float, float, float, float]

SUFFIXES = (".svg", ".png")
DOTS_PER_INCH = 150
LABEL_SIZE, SMALL_SIZE = 9, 8


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that many inches, which lays itself out when it is drawn."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")


def player_color(player: int) -> Color:
    """Color of a player, in all figures the same."""
    return COLORS[player % len(COLORS)]


def ordered_colors(count: int) -> Sequence[Color]:
    """Colors from dark to light for so many things that have an order."""
    from matplotlib import colormaps

    # the light end of the map is hard to see on white
    rows = colormaps["viridis"](np.linspace(0, 0.87, count)).tolist()
    return [(red, green, blue, alpha) for red, green, blue, alpha in rows]


def label_axes(ax: Axes, x_label: str, y_label: str) -> None:
    """Name the axes of a panel and give them quiet ticks, grid and frame."""
    ax.tick_params(labelsize=SMALL_SIZE, color=PALE)
    ax.grid(color=PALE, alpha=0.3, linewidth=0.5)
    ax.spines[:].set_color(PALE)
    if x_label:
        ax.set_xlabel(x_label, fontsize=LABEL_SIZE)
    if y_label:
        ax.set_ylabel(y_label, fontsize=LABEL_SIZE)


def title_figure(figure: Figure, text: str, size: int = LABEL_SIZE) -> None:
    """Write a title at the upper left, where no legend beside the panels is in its way."""
    figure.suptitle(text, x=0.01, horizontalalignment="left", fontsize=size, wrap=True)


def add_legend(
    figure: Figure, handles: Sequence[Artist], *, title: str | None = None, columns: int = 1
) -> None:
    """Put one legend for all panels beside them."""
    figure.legend(
        handles=handles,
        title=title,
        ncols=columns,
        loc="outside right upper",
        frameon=False,
        fontsize=LABEL_SIZE,
        title_fontsize=LABEL_SIZE,
    )


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as SVG or PNG, by the suffix of `path`; the same figure, the same bytes.

    Raises
    ------
    UsageError
        If the suffix is another one, or the file cannot be written.
    """
    import matplotlib as mpl

    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"a figure cannot become {path.name}; use {' or '.join(SUFFIXES)}")
    undated = {"Date": None} if suffix == ".svg" else {"Software": None}
    # without a salt, an SVG file names its parts at random
    with mpl.rc_context({"svg.hashsalt": "eqbench"}):
        try:
            figure.savefig(path, metadata=undated)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error}") from None
