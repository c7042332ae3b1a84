"""A chart: one panel with the legend of the solvers in it below."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from eqbench.report.html.axes import Axes, Scale, picture, tick_room
from eqbench.report.html.looks import Look, add_legend, legend_height

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
