"""Elements of SVG pictures of games: texts, and the marks of chance and the players."""

from __future__ import annotations

import math
import unicodedata
import xml.etree.ElementTree as ET

from eqbench.model.tree import CHANCE
from eqbench.text import printable_lines

FONT_SIZE, RADIUS = 12.0, 10.0  # of marks
INK, GRAY, PALE = "#1f2933", "#6b7280", "#9aa1ab"
# A player's number stands in white on the color; shapes tell players apart without color.
COLORS = ("#0072b2", "#c04f00", "#007a5a", "#a34d80", "#6b5500", "#4b4b9f")
# Corners in units of the radius; none: a circle.
SHAPES = (
    (),
    ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)),
    ((0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)),
    ((0.0, -1.35), (1.2, 0.8), (-1.2, 0.8)),
    tuple((1.1 * math.cos(k * math.pi / 3), 1.1 * math.sin(k * math.pi / 3)) for k in range(6)),
    ((0.0, 1.35), (1.2, -0.8), (-1.2, -0.8)),
)


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width that a text may take in a common sans-serif font, in pixels; rather too large."""
    return sum(_width_of(char) for char in text) * size


def _width_of(char: str) -> float:
    if char in " .,:;|'`!()[]{}/\\-ijlt1":
        return 0.46
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return 0.9 if char.isupper() or char in "mw%@–—" else 0.65


def add(parent: ET.Element, tag: str, **attributes: str | float) -> ET.Element:
    """New child of `parent`; underscores in names of attributes become hyphens."""
    return ET.SubElement(
        parent,
        tag,
        {
            name.replace("_", "-"): value
            if isinstance(value, str)
            else f"{value:.2f}".rstrip("0").rstrip(".")
            for name, value in attributes.items()
        },
    )


def add_text(
    parent: ET.Element, text: str, x: float, y: float, **attributes: str | float
) -> ET.Element:
    """New text of one line with its baseline at `y`."""
    element = add(parent, "text", x=x, y=y, **attributes)
    element.text = text
    return element


def corners_of(mover: int, x: float, y: float) -> str:
    """Corners of a player's mark as SVG has them; empty for a circle."""
    corners = SHAPES[mover % len(SHAPES)]
    return " ".join(f"{x + RADIUS * right:.2f},{y + RADIUS * down:.2f}" for right, down in corners)


def color_of(mover: int, *, pale: bool = False) -> str:
    """Color of what belongs to a player or to chance."""
    if mover == CHANCE:
        return GRAY
    color = COLORS[mover % len(COLORS)]
    channels = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    mixed = "".join(f"{(channel + 2 * 255) // 3:02x}" for channel in channels)
    return f"#{mixed}" if pale else color


def svg_text(root: ET.Element, encoding: str = "unicode") -> str:
    """A picture as text; XML does not allow all that names hold, so they are made printable."""
    for element in root.iter():
        element.text = element.text and printable_lines(element.text)
        for name, value in element.attrib.items():
            element.set(name, printable_lines(value))
    text = ET.tostring(root, encoding=encoding)
    return text if isinstance(text, str) else text.decode(encoding)
