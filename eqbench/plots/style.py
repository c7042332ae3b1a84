"""One style and one vocabulary for all figures: panels of series, drawn, titled and saved."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from eqbench.errors import UsageError
from eqbench.report import COLORS, PALE

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Figure: TypeAlias = "matplotlib.figure.Figure"  # which takes a while to import
Color = str | tuple[float, float, float]
Look = dict[str, Any]  # keywords of matplotlib

DOTS_PER_INCH = 150
LABEL_SIZE, SMALL_SIZE = 9, 8
LEGEND: Look = {"frameon": False, "fontsize": LABEL_SIZE}
LEGEND_ROWS, ROW_HEIGHT = 26, 0.2  # inches


class Series(NamedTuple):
    """One thing that a panel shows: the method of matplotlib's axes that draws it, and with what.

    Series with the same label share one entry of the legend; without points they are only that.
    """

    method: str
    data: tuple[Any, ...]
    look: Mapping[str, Any]


def line(x: ArrayLike, y: ArrayLike, color: Color, label: str = "", **look: Any) -> Series:
    """A line through points."""
    return Series("plot", (x, y), {"color": color, "label": label, "linewidth": 1.2} | look)


def dots(
    x: ArrayLike, y: ArrayLike, color: Color, label: str = "", size: float = 4, **look: Any
) -> Series:
    """Points that no line joins."""
    marks = {"linestyle": "", "marker": "o", "markersize": size} | look
    return Series("plot", (x, y), {"color": color, "label": label} | marks)


def note(text: str, x: float, y: float, offset: tuple[float, float], **look: Any) -> Series:
    """A text so many points away from a place."""
    look = {"textcoords": "offset points", "fontsize": LABEL_SIZE} | look
    return Series("annotate", (text, (x, y), offset), look)


@dataclass(frozen=True, eq=False)
class Panel:
    """A panel of a figure.

    Attributes
    ----------
    settings : limits, scales and ticks, as ``matplotlib.axes.Axes.set`` takes them
    own_legend : whether its legend stands next to it instead of the whole figure
    """

    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    title: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    own_legend: bool = False

    def add_to(self, ax: Axes) -> None:
        """Draw its series with these axes."""
        for method, data, look in self.series:
            getattr(ax, method)(*data, **look)

    def draw(self, ax: Axes) -> None:
        """Draw all of it, with quiet ticks, grid and frame."""
        self.add_to(ax)
        ax.set_axisbelow(True)
        ax.set(**self.settings)
        ax.tick_params(which="both", labelsize=SMALL_SIZE, color=PALE)
        ax.grid(color=PALE, alpha=0.3, linewidth=0.5)
        ax.spines[:].set_color(PALE)
        ax.set_xlabel(self.x_label, fontsize=LABEL_SIZE)
        ax.set_ylabel(self.y_label, fontsize=LABEL_SIZE)
        ax.set_title(self.title, loc="left", fontsize=LABEL_SIZE)
        if self.own_legend:
            place: Look = {"bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
            ax.legend(handles=[*entries(ax).values()], loc="upper left", **place, **LEGEND)


def entries(ax: Axes) -> dict[str, Artist]:
    """The first thing that a panel shows under each label."""
    found: dict[str, Artist] = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        found.setdefault(label, handle)
    return found


def draw_figure(
    panels: Sequence[Panel],
    width: float,
    height: float,
    columns: int = 1,
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    legend: str | None = None,
    **grid: Any,
) -> Figure:
    """Draw panels row by row, with one legend next to them.

    Parameters
    ----------
    width, height : in inches; a figure becomes higher if its legend needs it
    x_label, y_label : of all panels
    legend : title of the legend
    grid : what ``matplotlib.figure.Figure.subplots`` takes, such as ``sharex``
    """
    from matplotlib import figure as drawing
    from matplotlib import text

    figure = drawing.Figure(figsize=(width, height), dpi=DOTS_PER_INCH, layout="constrained")
    rows = math.ceil(len(panels) / columns)
    axes = figure.subplots(rows, columns, squeeze=False, **grid).ravel()
    shared: dict[str, Artist] = {}
    for panel, ax in zip(panels, axes, strict=False):
        panel.draw(ax)
        if not panel.own_legend:
            shared |= entries(ax) | shared
    for place in range(len(panels), len(axes)):
        axes[place].remove()
        axes[place - columns].tick_params(labelbottom=True)
    for put, words in ((figure.supxlabel, x_label), (figure.supylabel, y_label)):
        if words:  # an empty one would take space
            put(words, fontsize=LABEL_SIZE)
    if title:  # at the left, where no legend is in its way
        at_left: Look = {"x": 0.01, "horizontalalignment": "left", "wrap": True}
        figure.suptitle(title, fontsize=LABEL_SIZE, **at_left)
    if shared:
        columns = math.ceil(len(shared) / LEGEND_ROWS)
        figure.set_figheight(max(height, ROW_HEIGHT * (2 + math.ceil(len(shared) / columns))))
        look: Look = {"loc": "outside right upper", "title_fontsize": LABEL_SIZE}
        figure.legend(handles=[*shared.values()], title=legend, ncols=columns, **look, **LEGEND)
    for artist in figure.findobj(text.Text):
        artist.set_parse_math("$" not in artist.get_text())  # names are no formulas; ticks may be
    return figure


def solver_look(name: str) -> Look:
    """Color, marker and dashes of a solver, the same as in the charts of runs."""
    from eqbench.report.charts import looks  # which takes long to import

    (row,) = looks([name])
    dashes = row["look"]["strokeDash"]
    style = "-" if dashes == [1, 0] else (0, tuple(dashes))
    marker = MARKERS_OF[row["look"]["shape"]]
    return {"color": row["look"]["color"], "marker": marker, "linestyle": style}


def player_color(player: int) -> Color:
    """Color of a player, in all figures the same."""
    return COLORS[player % len(COLORS)]


def ordered_colors(count: int) -> Sequence[Color]:
    """Colors for so many things that have an order, all of them dark enough to be seen on white."""
    from matplotlib import colormaps

    place = np.linspace(0, 1, count)
    # its light end is hard to see
    rows = colormaps["viridis"](0.87 * place)[:, :3] * (1 - 0.3 * place[:, None])
    return [(red, green, blue) for red, green, blue in rows.tolist()]


def svg_of(figure: Figure) -> str:
    """A figure as the text of an SVG file."""
    return _rendered(figure, ".svg").decode()


def _rendered(figure: Figure, suffix: str) -> bytes:
    import matplotlib as mpl

    file, undated = BytesIO(), {"Date": None} if suffix == ".svg" else {"Software": None}
    # without a salt, an SVG file names its parts at random
    with mpl.rc_context({"svg.hashsalt": "eqbench"}):
        figure.savefig(file, format=suffix[1:], metadata=undated)
    return file.getvalue()


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as SVG or PNG, by the suffix of `path`; the same figure, the same bytes."""
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_rendered(figure, path.suffix))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def save_both(folder: Path, name: str, figure: Figure) -> list[Path]:
    """Write a figure as SVG and as PNG into a folder, new or not; return the files."""
    files = [folder / f"{name}{suffix}" for suffix in (".svg", ".png")]
    for file in files:
        save_figure(figure, file)
        figure.set_layout_engine("none")  # what was laid out once stays where it is
    return files


def by_name(names: Iterable[str]) -> list[str]:
    """Distinct names of published sets in the order of all figures: 1a, 1, 2a, 2, 3, …, 10."""

    def parts(name: str) -> list[str | int]:
        found = re.split(r"(\d+)", name)  # 1a before 1
        return [int(part) if part.isdecimal() else part or "~" for part in found]

    return sorted(set(names), key=parts)


def game_title(spec: str, parameter: str | None, value: float | Fraction | None) -> str:
    """A game and the value of its payoff parameter for a title, such as ``skp(pot=3.35)``."""
    if parameter is None or value is None:
        return spec
    words, count = re.subn(rf"\b{parameter}=[^,)]*", f"{parameter}={float(value):g}", spec)
    return words if count else f"{spec}, {parameter} {float(value):g}"


MARKERS_OF = {"circle": "o", "square": "s", "diamond": "D"}
MARKERS_OF |= {"triangle-up": "^", "triangle-down": "v", "cross": "P", "triangle-right": ">"}
MARKERS = "osD^vP"
MOST_PLACES = 12


def power_law(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Factor c and exponent p of y = c x^p by least squares of the logarithms, or UsageError."""
    both = np.array([x, y], dtype=np.float64)
    if not (np.isfinite(both).all() and (both > 0).all() and np.ptp(both[0]) > 0):
        raise UsageError(f"a power law needs positive numbers at several x; got {both.tolist()}")
    exponent, logarithm = np.polyfit(np.log(both[0]), np.log(both[1]), 1)
    return float(np.exp(logarithm)), float(exponent)


def log_log_figure(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]], *, x_label: str, y_label: str
) -> Figure:
    """Series of points (x, y) by name, with the fitted :func:`power_law` as a line."""
    drawn = []
    for (name, (x, y)), color, marker in zip(series.items(), cycle(COLORS), cycle(MARKERS)):
        factor, exponent = power_law(x, y)
        ends = np.array([np.min(x), np.max(x)])
        drawn.append(dots(x, y, color, f"{name}: slope {exponent:.2f}", marker=marker))
        drawn.append(line(ends, factor * ends**exponent, color, linewidth=0.9))
    panel = Panel(drawn, x_label, y_label, settings={"xscale": "log", "yscale": "log"})
    figure = draw_figure([panel], 7.2, 4.2)
    places = np.unique(np.concatenate([np.ravel(x) for x, _ in series.values()]))
    if len(places) <= MOST_PLACES and places[-1] < 100 * places[0]:
        # powers of ten would leave such an axis almost without numbers
        figure.axes[0].set_xticks(places, [f"{x:g}" for x in places])
        figure.axes[0].set_xticks([], minor=True)
    return figure
