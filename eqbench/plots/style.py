"""What figures have in common: size, type, colors, titles, power laws, files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from eqbench.errors import UsageError
from eqbench.report.svg import COLORS, PALE
from eqbench.studies.flow.rest_points import STABLE, UNSTABLE

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


def label_axes(ax: Axes, x_label: str = "", y_label: str = "", title: str = "") -> None:
    """Name a panel and its axes, and give them quiet ticks, grid and frame."""
    ax.tick_params(labelsize=SMALL_SIZE, color=PALE)
    ax.grid(color=PALE, alpha=0.3, linewidth=0.5)
    ax.spines[:].set_color(PALE)
    if x_label:
        ax.set_xlabel(x_label, fontsize=LABEL_SIZE)
    if y_label:
        ax.set_ylabel(y_label, fontsize=LABEL_SIZE)
    if title:
        ax.set_title(title, loc="left", fontsize=LABEL_SIZE)


def sample(label: str, **style: Any) -> Artist:
    """Return an entry of a legend: what is drawn in that style."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **style)


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
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"a figure cannot become {path.name}; use {' or '.join(SUFFIXES)}")
    try:
        _write(figure, path, suffix)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}") from None


def svg_of(figure: Figure) -> str:
    """A figure as the text of an SVG file."""
    text = BytesIO()
    _write(figure, text, ".svg")
    return text.getvalue().decode()


def _write(figure: Figure, file: Path | BytesIO, suffix: str) -> None:
    import matplotlib as mpl

    undated = {"Date": None} if suffix == ".svg" else {"Software": None}
    # without a salt, an SVG file names its parts at random
    with mpl.rc_context({"svg.hashsalt": "eqbench"}):
        figure.savefig(file, format=suffix[1:], metadata=undated)


def save_both(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG and as PNG; return the files.

    Raises
    ------
    UsageError
        If a file cannot be written.
    """
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    for file in files:
        save_figure(figure, file)
        figure.set_layout_engine("none")  # what was laid out once stays where it is
    return files


# Centre manifolds of oscillatory dimension 0, 2, 4, ... are violet, light to dark; what comes after
# the last one looks like it. No regime has one of these colors.
_CENTERS = ("#d9cdf0", "#b795e0", "#8a5cc4", "#5a2d94", "#2f0f57")
_NAMED = {UNSTABLE: "#d6336c", STABLE: "#0f4c5c"}


def verdict_color(verdict: str) -> Color:
    """The color of a verdict, in all figures the same."""
    if verdict in _NAMED:
        return _NAMED[verdict]
    dimension = int(verdict.rpartition(" ")[2])
    return _CENTERS[min(dimension // 2, len(_CENTERS) - 1)]


def verdict_colors(verdicts: Iterable[str]) -> dict[str, Color]:
    """Colors of the verdicts that occur: centre manifolds by dimension, stable, unstable."""
    found = set(verdicts)
    centers = sorted(found - set(_NAMED), key=lambda verdict: int(verdict.rpartition(" ")[2]))
    last = [verdict for verdict in (STABLE, UNSTABLE) if verdict in found]
    return {verdict: verdict_color(verdict) for verdict in (*centers, *last)}


def by_name(names: Iterable[str]) -> list[str]:
    """Distinct names of published sets in the order of all figures: 1a, 1, 2a, 2, 3, …, 10."""
    return sorted(set(names), key=_parts)


def _parts(name: str) -> list[str | int]:
    words: list[str | int] = [*re.split(r"(\d+)", name)]
    words[1::2] = map(int, words[1::2])
    return [*words[:-1], words[-1] or "~"]  # 1a before 1


def game_title(spec: str, parameter: str | None, value: float | Fraction | None) -> str:
    """A game and the value of its payoff parameter for a title, such as ``skp(pot=3.35)``."""
    if parameter is None or value is None:
        return spec
    words, count = re.subn(rf"\b{parameter}=[^,)]*", f"{parameter}={float(value):g}", spec)
    return words if count else f"{spec}, {parameter} {float(value):g}"


MARKERS = "osD^vP"
MOST_PLACES = 12


def power_law(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Factor c and exponent p of y = c x^p by least squares of the logarithms.

    Raises
    ------
    UsageError
        If there are fewer than two different x, or a number is not positive and finite.
    """
    both = np.array([x, y], dtype=np.float64)
    if not (np.isfinite(both).all() and (both > 0).all()):
        raise UsageError(f"logarithms need positive numbers; got {both[:, :8].tolist()}")
    if len(np.unique(both[0])) < 2:
        raise UsageError("a power law needs at least two different x; give more points")
    exponent, logarithm = np.polyfit(np.log(both[0]), np.log(both[1]), 1)
    return float(np.exp(logarithm)), float(exponent)


def log_log_figure(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]], *, x_label: str, y_label: str
) -> Figure:
    """Series of points (x, y), with the fitted power law as a line and its exponent.

    Parameters
    ----------
    series : by the name that the legend shows; up to six

    Raises
    ------
    UsageError
        If there is no series or more than six, or one has no power law (:func:`power_law`).
    """
    if not 0 < len(series) <= len(MARKERS):
        raise UsageError(f"{len(series)} series asked for; choose 1 to {len(MARKERS)}")
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    label_axes(ax, x_label, y_label)
    ax.tick_params(which="minor", color=PALE, labelsize=SMALL_SIZE)
    for (name, (x, y)), color, marker in zip(series.items(), COLORS, MARKERS, strict=False):
        factor, exponent = power_law(x, y)
        ends = np.array([np.min(x), np.max(x)])
        ax.plot(x, y, marker, color=color, markersize=4, label=f"{name}: slope {exponent:.2f}")
        ax.plot(ends, factor * ends**exponent, color=color, linewidth=0.9)
    ax.set(xscale="log", yscale="log")
    places = np.unique(np.concatenate([np.ravel(x) for x, _ in series.values()]))
    if len(places) <= MOST_PLACES and places[-1] < 100 * places[0]:
        # powers of ten would leave such an axis almost without numbers
        ax.set_xticks(places, [f"{x:g}" for x in places])
        ax.set_xticks([], minor=True)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    return figure
