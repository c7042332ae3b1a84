"""Charts as SVG: axes, grids and curves."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from eqbench.report.html.document import Beside, Block, Figure, Title, anchor_of
from eqbench.report.html.looks import Look, add_legend, add_look_mark, legend_height, part_of
from eqbench.report.html.tracks import GameTracks, Point, Track
from eqbench.report.svg import GRAY, INK, add, add_text, svg_text
from eqbench.report.terminal import seconds, small
from eqbench.report.tree_layout import text_width

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
    ticks = [(10.0**k, power_of_ten(k)) for k in range(high, low - 1, -step)]
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
    step = _round_step((high - low) / 5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = tuple((k * step, f"{k * step:z.{digits}f}") for k in range(first, last + 1))
    return Scale(low, high, ticks)


def share_scale() -> Scale:
    """Scale of shares of a whole."""
    return Scale(0.0, 1.0, tuple((k / 5, f"{20 * k} %") for k in range(6)))


def power_of_ten(exponent: int) -> str:
    """A power of ten in letters that need no markup; small ones as they are."""
    plain = {-2: "0.01", -1: "0.1", 0: "1", 1: "10", 2: "100"}
    return plain.get(exponent, "10" + str(exponent).translate(_RAISED))


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


def tick_room(scale: Scale) -> float:
    """Width that the texts at a vertical axis take."""
    return max((0.85 * text_width(text) for _, text in scale.ticks), default=0.0) + 16


def _round_step(width: float) -> float:
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= width * (1 - 1e-9))


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
    left = tick_room(y)
    bottom = _TOP + HEIGHT
    height = bottom + _BELOW + legend_height(shown, WIDTH - 8)
    root = picture(WIDTH, height + 4, label)
    axes = Axes(left, bottom, WIDTH - left - _RIGHT, HEIGHT, x, y)
    axes.frame(root, *names)
    add_legend(root, shown, (4, bottom + _BELOW), WIDTH - 8)
    return root, axes


SHORTEST_S = 1e-5  # where clocks stop telling moments apart
NEGLIGIBLE = 1e-13  # of the payoff range: what sums of rounded products leave behind


@dataclass(frozen=True)
class _Against:
    """What NashConv is drawn against; None leaves a point out."""

    name: str
    axis: str
    where: Callable[[Point], float | None]
    more: str


_AGAINST = (
    _Against(
        "time",
        "seconds of solving",
        lambda point: max(point.elapsed_s, SHORTEST_S),
        "Time is that of the machine under Provenance, without set-up and monitoring.",
    ),
    _Against(
        "iterations",
        "iterations",
        lambda point: float(point.work) if point.work > 0 else None,
        "An iteration costs as much as its method makes it cost, so compare shapes rather than "
        "solvers; methods that count none are not here.",
    ),
)


def curves(games: Sequence[GameTracks]) -> list[Block]:
    """Figures of all games that have a measured profile."""
    blocks: list[Block] = []
    for place, game in enumerate(games, 1):
        pair = [
            _figure(game, against, f"nashconv-{against.name}-{place}")
            for against in _AGAINST
            if any(against.where(point) for track in game.tracks for point in track.points)
        ]
        if pair:
            blocks += [Title(game.short, f"{anchor_of(game.short)}-curves-{place}"), Beside(pair)]
    return blocks


def looks_of(tracks: Iterable[Track]) -> list[Look]:
    """Looks of the solvers of some cells, each once and in the same order on the whole page."""
    found = {track.look.key: track.look for track in tracks}
    return sorted(found.values(), key=lambda look: int(look.key))


def _figure(game: GameTracks, against: _Against, name: str) -> Figure:
    lines = []
    for track in game.tracks:
        points = [(at, point) for point in track.points if (at := against.where(point))]
        if points:
            lines.append((track, points))
    negligible = NEGLIGIBLE * game.unit
    x = log_scale(moment for _, points in lines for moment, _ in points)
    y = log_scale((p.nash_conv for _, ps in lines for _, p in ps), negligible=negligible)
    shown = looks_of(track for track, _ in lines)
    label = f"NashConv against {against.name} on {game.short}"
    root, axes = chart(label, (x, y), (against.axis, "NashConv (payoff units)"), shown)
    for track, points in lines:
        group = part_of(root, track.look)
        add(group, "title").text = _said(track)
        path = axes.path([(x, p.nash_conv) for x, p in points])
        add(group, "path", d=path, stroke_width=1.6, stroke_linejoin="round", **track.look.line)
    for track, points in lines:  # above all lines
        x_end, last = points[-1]
        group = part_of(root, track.look)
        add_look_mark(group, track.look, *axes.place(x_end, last.nash_conv))
        add(group, "title").text = _said(track)
    floor = f"; ≈ 0 is at most {small(negligible)}, zero and less included" if y.negligible else ""
    return Figure(
        name,
        svg_text(root),
        "Lower and further left is better; both axes are logarithmic. A line joins the measured "
        f"snapshots of one cell, its mark is the profile that counts{floor}. {against.more}",
        f"NashConv against {against.name}",
        least_width=420,
    )


def _said(track: Track) -> str:
    record, last = track.entry.record, track.points[-1]
    seed = "" if record.seed is None else f", seed {record.seed}"
    work = f", {last.work:,} iterations" if last.work else ""
    return (
        f"{track.look.label}{seed}: NashConv {small(last.nash_conv)} after "
        f"{seconds(last.elapsed_s)}{work} ({record.status})"
    )
