"""What pictures of games have in common: colors, marks of chance and the players, widths."""

from __future__ import annotations

import math
import unicodedata

from eqbench.model.tree import CHANCE

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
