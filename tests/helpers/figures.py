"""What figures show: the panels of series that are handed to the function that draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from unittest.mock import MagicMock, patch

import numpy as np

from eqbench.plots.style import Panel, Series


class Handed(NamedTuple):
    """The panels of a figure, and the words around them."""

    panels: Sequence[Panel]
    words: dict[str, Any]


def handed(figure: Callable[..., Any], *given: Any, **options: Any) -> Handed:
    """Return what a function hands over to be drawn; nothing is drawn."""
    with patch("eqbench.plots.style.draw_figure", return_value=MagicMock()) as draw:
        figure(*given, **options)
    (panels, *_), words = draw.call_args
    return Handed(panels, words)


def drawn(panel: Panel, method: str = "plot", **look: Any) -> Iterator[Series]:
    """Yield the series of a panel that have points, drawn by a method with this look."""
    for series in panel.series:
        fits = all(series.look.get(key) == value for key, value in look.items())
        if series.method == method and fits and np.size(series.data[0]):
            yield series


def lines(panel: Panel) -> list[tuple[list[float], list[float]]]:
    """Points of the lines of a panel, those of more than one point."""
    return [
        (list(x), list(y))
        for x, y in (series.data for series in drawn(panel))
        if np.size(x) > 1 and np.ptp(np.nan_to_num(x)) > 0
    ]
