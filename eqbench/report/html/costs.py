"""What solvers cost: memory, and time for set-up, solving and monitoring, as bars."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from eqbench.report.html.axes import Axes, Scale, linear_scale, picture
from eqbench.report.html.curves import looks_of
from eqbench.report.html.document import Figure
from eqbench.report.html.looks import Look, part_of, short
from eqbench.report.html.tracks import GameTracks, Track
from eqbench.report.svg import INK, add, add_text, svg_text
from eqbench.report.terminal import seconds
from eqbench.report.tree_layout import text_width
from eqbench.store.schema import CellRecord

_WIDTH, _ROW, _TOP, _BELOW, _RIGHT = 560.0, 24.0, 40.0, 48.0, 24.0
_MIB = 2**20
# What time went into: field of a record, what it is called, color.
_PARTS = (
    ("setup_s", "set-up", "#9fb0c3"),
    ("elapsed_s", "solving", "#0b5cad"),
    ("overhead_s", "monitoring", "#d98200"),
)


def memory(games: Sequence[GameTracks]) -> Figure | None:
    """Peak memory of each solver; None if nothing is known."""
    tracks = [t for game in games for t in game.tracks if _solved(t.entry.record)]
    if not tracks:
        return None
    peaks = {look.key: _peaks(tracks, look) for look in looks_of(tracks)}
    least = min(map(min, peaks.values()))
    scale = linear_scale([0.0, *(1.04 * max(own) for own in peaks.values())])
    label, axis = "Peak memory of each solver", "peak of resident memory (MiB)"
    root, axes = _bars(label, axis, looks_of(tracks), scale)
    for row, look in enumerate(looks_of(tracks)):
        y = _TOP + (row + 0.5) * _ROW
        group = part_of(root, look)
        own = peaks[look.key]
        end = axes.place(max(own), 0)[0]
        size = {"width": end - axes.left, "height": _ROW - 9}
        add(group, "rect", x=axes.left, y=y - (_ROW - 9) / 2, **size, fill="#c3d6ea", rx=2)
        for peak in own:
            place = {"cx": axes.place(peak, 0)[0], "cy": y, "r": 3}
            add(group, "circle", **place, fill="#0b5cad", fill_opacity=0.6)
        add(group, "title").text = f"{look.label}: {max(own):.0f} MiB at most"
    x = axes.place(least, 0)[0]
    line = f"M{x:.1f} {axes.bottom:.1f}V{_TOP - 6:.1f}"
    add(root, "path", d=line, stroke=INK, stroke_dasharray="3 3")
    anchor = "start" if x < _WIDTH / 2 else "end"
    text = f"smallest peak: {least:.0f} MiB"
    add_text(root, text, x, _TOP - 12, text_anchor=anchor, fill=INK)
    return Figure(
        "memory",
        svg_text(root),
        "A bar ends at the largest peak of any cell, dots are its cells; those that never began to "
        "solve are left out. The dashed line is the smallest peak here. Each cell is a process of "
        "its own, so its peak includes Python and everything that it loads; which part of it the "
        "method needs is not measured. The first cell of a method may include compiling, which "
        "takes memory that later cells do not need. Peaks are sampled, so that short ones may be "
        "missed.",
        "Memory",
        least_width=420,
    )


def times(games: Sequence[GameTracks]) -> Figure | None:
    """Where the time of each solver went; None if nothing is known."""
    tracks = [t for game in games for t in game.tracks if t.entry.record.setup_s is not None]
    if not tracks:
        return None
    shown = looks_of(tracks)
    totals = {look.key: [_total(tracks, look, name) for name, _, _ in _PARTS] for look in shown}
    scale = linear_scale([0.0, *(1.04 * sum(parts) for parts in totals.values())])
    root, axes = _bars("Time of each solver", "seconds, all cells together", shown, scale)
    for row, look in enumerate(shown):
        y, group = _TOP + (row + 0.5) * _ROW, part_of(root, look)
        start = 0.0
        for (_, name, color), spent in zip(_PARTS, totals[look.key], strict=True):
            left, right = axes.place(start, 0)[0], axes.place(start + spent, 0)[0]
            size = {"width": max(right - left, 0.0), "height": _ROW - 9}
            bar = add(group, "rect", x=left, y=y - (_ROW - 9) / 2, **size, fill=color)
            add(bar, "title").text = f"{look.label}: {seconds(spent)} of {name}"
            start += spent
    left = axes.left
    for _, name, color in _PARTS:
        add(root, "rect", x=left, y=_TOP - 24, width=11, height=11, rx=2, fill=color)
        add_text(root, name, left + 16, _TOP - 14, fill=INK)
        left += 16 + text_width(name) + 12
    return Figure(
        "times",
        svg_text(root),
        "Seconds of all cells of a solver put end to end: set-up is imports, conversion and "
        "compilation, monitoring is what reporting snapshots cost and is not charged to the "
        "solver. A short bar may mean few supported games; the table has each cell.",
        "Time",
        least_width=420,
    )


def _bars(label: str, axis: str, shown: Sequence[Look], scale: Scale) -> tuple[ET.Element, Axes]:
    """A new picture with a row for each solver and an axis below."""
    left = max(0.9 * text_width(short(look.label, 24)) for look in shown) + 14
    bottom = _TOP + len(shown) * _ROW + 4
    root = picture(_WIDTH, bottom + _BELOW, label)
    axes = Axes(left, bottom, _WIDTH - left - _RIGHT, bottom - _TOP, scale, Scale(0, 1, ()))
    axes.frame(root, axis, "")
    for row, look in enumerate(shown):
        y = _TOP + (row + 0.5) * _ROW + 4
        name = add_text(root, short(look.label, 24), left - 10, y, text_anchor="end", fill=INK)
        name.attrib |= {"class": "key", "data-key": look.key}
    return root, axes


def _solved(record: CellRecord) -> bool:
    return record.elapsed_s is not None and record.peak_memory_bytes is not None


def _peaks(tracks: Sequence[Track], look: Look) -> list[float]:
    records = [track.entry.record for track in tracks if track.look is look]
    return [(record.peak_memory_bytes or 0) / _MIB for record in records]


def _total(tracks: Sequence[Track], look: Look, name: str) -> float:
    return sum(getattr(t.entry.record, name) or 0.0 for t in tracks if t.look is look)
