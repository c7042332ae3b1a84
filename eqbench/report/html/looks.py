"""How solvers look: the same color, line and mark in all figures of a page."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from eqbench.report.svg import INK, add, add_text
from eqbench.report.tree_layout import text_width

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
_SWATCH, _GAP, _ROW = 32.0, 14.0, 19.0
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


def part_of(parent: ET.Element, look: Look) -> ET.Element:
    """New group of what belongs to a solver."""
    return add(parent, "g", data_key=look.key)


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


def legend_height(shown: Sequence[Look], width: float) -> float:
    """Height of a legend."""
    return _ROW * len(_lines(shown, width))


def add_legend(
    parent: ET.Element, shown: Sequence[Look], corner: tuple[float, float], width: float
) -> None:
    """New legend whose entries can be pointed at, in as many rows as it needs."""
    x, y = corner
    for row, line in enumerate(_lines(shown, width)):
        left, middle = x, y + _ROW * (row + 0.5)
        for look in line:
            entry = add(parent, "g", data_key=look.key)
            entry.set("class", "key")
            entry.set("aria-label", look.label)
            size = {"width": _entry_width(look), "height": _ROW}
            add(entry, "rect", x=left, y=middle - _ROW / 2, **size, fill="#fff", fill_opacity=0)
            if look.lined:
                add(entry, "path", d=f"M{left:.1f} {middle:.1f}h26", stroke_width=2, **look.line)
            add_look_mark(entry, look, left + 13, middle)
            add_text(entry, short(look.label), left + _SWATCH, middle + 4, fill=INK)
            left += _entry_width(look)


def _lines(shown: Sequence[Look], width: float) -> list[list[Look]]:
    lines: list[list[Look]] = [[]]
    for look in shown:
        if lines[-1] and sum(map(_entry_width, lines[-1])) + _entry_width(look) > width:
            lines.append([])
        lines[-1].append(look)
    return lines


def _entry_width(look: Look) -> float:
    return _SWATCH + 0.9 * text_width(short(look.label)) + _GAP
