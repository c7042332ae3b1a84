"""Parts of the charts of a page, as SVG: how solvers look, legends, scales and axes."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eqbench.report.svg import GRAY, INK, add, add_text, text_width

_COLORS = (
    *("#0b5cad", "#d1495b", "#1f8a4c", "#d98200", "#7b4fa3"),
    *("#0f8fa3", "#8c5a2b", "#cf5fa6", "#5f6b7a", "#8a8a00"),
)
_DASHES = ("", "6 3", "2 2.5", "8 3 2 3")
# Paths around the origin; those without a z are lines and not filled.
CIRCLE, CROSS = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.6-3.6l7.2 7.2m0-7.2l-7.2 7.2"
_MARKS = (
    CIRCLE,
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-5.2l5.2 5.2l-5.2 5.2l-5.2-5.2z",
    "M0-5l4.8 8.4h-9.6z",
    "M0 5l4.8-8.4h-9.6z",
    CROSS,
    "M-4.8 0h9.6m-4.8-4.8v9.6",
)
_SWATCH, _GAP, _LEGEND_ROW = 32.0, 14.0, 19.0
_LONGEST = 40


@dataclass(frozen=True)
class Look:
    """Color, dashes and mark of one solver; `key` ties its parts together in all figures.

    `lined` says whether a legend shows a line.
    """

    key: str
    label: str
    color: str
    dash: str
    mark: str
    lined: bool = True

    @property
    def line(self) -> dict[str, str]:
        """Attributes of a line."""
        dashes = {"stroke_dasharray": self.dash} if self.dash else {}
        return {"fill": "none", "stroke": self.color} | dashes


def looks(labels: list[str]) -> list[Look]:
    """A look for each solver; beyond ten dashes tell them apart, and marks have their own turn."""
    return [
        Look(
            key=str(place),
            label=label,
            color=_COLORS[place % len(_COLORS)],
            dash=_DASHES[place // len(_COLORS) % len(_DASHES)],
            mark=_MARKS[place % len(_MARKS)],
        )
        for place, label in enumerate(labels)
    ]


def part_of(parent: ET.Element, look: Look, text: str = "") -> ET.Element:
    """New group of what belongs to a solver, and what is shown when it is pointed at."""
    group = add(parent, "g", data_key=look.key)
    if text:
        add(group, "title").text = text
    return group


def add_look_mark(
    parent: ET.Element, look: Look, x: float, y: float, *, hollow: bool = False
) -> ET.Element:
    """New mark of a solver at a point."""
    place = {"d": look.mark, "transform": f"translate({x:.1f} {y:.1f})"}
    if "z" not in look.mark:
        return add(parent, "path", **place, fill="none", stroke=look.color, stroke_width=2)
    fill, stroke = ("#fff", look.color) if hollow else (look.color, "#fff")
    return add(parent, "path", **place, fill=fill, stroke=stroke, stroke_width=1.2)


def short(text: str, longest: int = _LONGEST) -> str:
    """Text that has room beside others."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _legend_grid(shown: Sequence[Look], width: float) -> tuple[int, float]:
    """How many entries a row of a legend has, and how wide each is."""
    widest = max((0.9 * text_width(short(look.label)) for look in shown), default=0.0)
    entry = _SWATCH + widest + _GAP
    return max(1, int(width // entry)), entry


def add_legend(
    parent: ET.Element, shown: Sequence[Look], corner: tuple[float, float], width: float
) -> None:
    """New legend whose entries can be pointed at, in as many rows as it needs."""
    columns, entry_width = _legend_grid(shown, width)
    for place, look in enumerate(shown):
        row, column = divmod(place, columns)
        left, middle = corner[0] + column * entry_width, corner[1] + _LEGEND_ROW * (row + 0.5)
        entry = add(parent, "g", data_key=look.key)
        entry.attrib |= {"class": "key", "aria-label": look.label}
        size = {"width": entry_width, "height": _LEGEND_ROW}
        top = middle - _LEGEND_ROW / 2
        add(entry, "rect", x=left, y=top, **size, fill="#fff", fill_opacity=0)
        if look.lined:
            add(entry, "path", d=f"M{left:.1f} {middle:.1f}h26", stroke_width=2, **look.line)
        add_look_mark(entry, look, left + 13, middle)
        add_text(entry, short(look.label), left + _SWATCH, middle + 4, fill=INK)


GRID, FRAME = "#e6e9ee", "#9aa1ab"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
_MOST_TICKS = 7
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@dataclass(frozen=True)
class Scale:
    """From values to shares of the length of an axis; `ticks` are values with their texts.

    What is at most `negligible` is shown at the low end.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False
    negligible: float = 0.0

    def share(self, value: float) -> float:
        """Where a value is: 0 at the low end and 1 at the high one; nothing is beyond them."""
        if not self.log:
            share = (value - self.low) / (self.high - self.low)
        elif value <= self.negligible:
            return 0.0
        else:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        return min(max(share, 0.0), 1.0)


def log_scale(values: Iterable[float], *, negligible: float = 0.0) -> Scale:
    """Scale of whole decades, with ticks at decades.

    Parameters
    ----------
    negligible : values up to it are shown below all others, at a tick of their own
    """
    known = list(values)
    exponents = [math.log10(value) for value in known if value > negligible]
    low = math.floor(min(exponents, default=0.0) + 1e-9)
    high = max(math.ceil(max(exponents, default=0.0) - 1e-9), low + 1)
    step = -(-(high - low) // _MOST_TICKS)
    plain = {-2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}
    ticks = [
        (10.0**k, plain.get(k, f"10{str(k).translate(_RAISED)}"))
        for k in range(high, low - 1, -step)
    ]
    if not any(value <= negligible for value in known):
        return Scale(10.0**low, 10.0**high, tuple(ticks), log=True)
    floor = 10.0 ** (low - max(step, (high - low) / _MOST_TICKS))
    return Scale(floor, 10.0**high, ((floor, "≈ 0"), *ticks), log=True, negligible=negligible)


def linear_scale(values: Iterable[float], *, margin: float = 0.0) -> Scale:
    """Scale around values with round ticks; `margin` is a share of their range on both sides."""
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    width = high - low if high > low else max(abs(high), 1.0) * 0.1
    room = margin * width if high > low else width
    low, high = low - room, high + room
    fifth = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(fifth))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= fifth * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = tuple((k * step, f"{k * step:z.{digits}f}") for k in range(first, last + 1))
    return Scale(low, high, ticks)


@dataclass(frozen=True)
class Axes:
    """A panel with its lower left corner at (`left`, `bottom`) and its scales, in pixels."""

    left: float
    bottom: float
    width: float
    height: float
    x: Scale
    y: Scale

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is."""
        return (
            self.left + self.width * self.x.share(x),
            self.bottom - self.height * self.y.share(y),
        )

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """Line through points, as the attribute ``d`` of a path."""
        places = [f"{x:.1f} {y:.1f}" for x, y in (self.place(*point) for point in points)]
        kept = [here for k, here in enumerate(places) if k == 0 or here != places[k - 1]]
        return "M" + "L".join(kept)

    def steps(self, points: Sequence[tuple[float, float]], end: float) -> str:
        """Line that holds each value until the next point and the last one until `end`."""
        x, y = self.place(*points[0])
        path, drawn = [f"M{x:.1f} {y:.1f}"], (x, y)
        for point in [*points[1:], (end, points[-1][1])]:
            x, y = self.place(*point)
            if x - drawn[0] >= 0.3:  # what is nearer is one step to the eye
                path.append(f"H{x:.1f}")
                drawn = (x, drawn[1])
            if y != drawn[1]:
                path.append(f"V{y:.1f}")
                drawn = (drawn[0], y)
        return "".join(path)

    def frame(self, parent: ET.Element, x_title: str, y_title: str) -> None:
        """Draw grid, ticks and titles."""
        right, top = self.left + self.width, self.bottom - self.height
        for value, text in self.x.ticks:
            x = self.left + self.width * self.x.share(value)
            add(parent, "path", d=f"M{x:.1f} {self.bottom:.1f}V{top:.1f}", stroke=GRID)
            add_text(parent, text, x, self.bottom + 16, text_anchor="middle", fill=GRAY)
        for value, text in self.y.ticks:
            y = self.bottom - self.height * self.y.share(value)
            add(parent, "path", d=f"M{self.left:.1f} {y:.1f}H{right:.1f}", stroke=GRID)
            add_text(parent, text, self.left - 7, y + 4, text_anchor="end", fill=GRAY)
        frame = f"M{self.left:.1f} {top:.1f}V{self.bottom:.1f}H{right:.1f}"
        add(parent, "path", d=frame, fill="none", stroke=FRAME)
        middle = self.left + self.width / 2
        add_text(parent, x_title, middle, self.bottom + 36, text_anchor="middle", fill=INK)
        add_text(parent, y_title, self.left - 7, top - 12, fill=INK)


def picture(width: float, height: float, label: str) -> ET.Element:
    """New SVG picture on white; `label` says what it shows to those who do not see it."""
    box = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "width": f"{1.1 * width:.0f}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg"} | box)
    root.attrib |= {"role": "group", "aria-label": label, "font-family": FONT, "font-size": "12"}
    return root


WIDTH, HEIGHT = 580.0, 290.0
_TOP, _BELOW, _RIGHT = 34.0, 50.0, 16.0


def chart(
    label: str, scales: tuple[Scale, Scale], names: tuple[str, str], shown: Sequence[Look]
) -> tuple[ET.Element, Axes]:
    """A new picture and its panel, with axes and legend but nothing in it.

    Parameters
    ----------
    label : what it shows, for those who do not see it
    scales, names : of the horizontal and the vertical axis
    """
    x, y = scales
    left = max((0.85 * text_width(text) for _, text in y.ticks), default=0.0) + 16
    bottom = _TOP + HEIGHT
    rows = math.ceil(len(shown) / _legend_grid(shown, WIDTH - 8)[0])
    height = bottom + _BELOW + _LEGEND_ROW * rows
    root = picture(WIDTH, height + 4, label)
    axes = Axes(left, bottom, WIDTH - left - _RIGHT, HEIGHT, x, y)
    axes.frame(root, *names)
    add_legend(root, shown, (4, bottom + _BELOW), WIDTH - 8)
    return root, axes
