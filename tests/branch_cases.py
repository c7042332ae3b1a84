"""Made-up branches that tests draw, and what can be read off figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import eqbench
from eqbench.model.choices import Choices
from eqbench.studies.branch import Branch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def made_up_branch(spec: str, values: Sequence[float]) -> Branch:
    """A smooth branch through the given values of the pot: true payoffs, no equilibria."""
    game = eqbench.load_game(spec)
    choices = Choices.of(game.tree)
    pots = np.array(values, dtype=np.float64)
    place = np.linspace(0, 1, len(pots))[:, None]
    free = (0.5 + 0.5 * np.sin(7 * place + np.arange(choices.size))) ** 2
    path = np.column_stack((free, pots))
    arclength = np.concatenate(([0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))))
    model = game.payoff_model()
    payoffs = np.array(
        [
            model.at(pot).expected_payoffs(choices.behavior(row))
            for pot, row in zip(pots, free, strict=True)
        ]
    )
    return Branch(game, "pot", pots, arclength, free, payoffs)


def texts(figure: Figure) -> list[str]:
    """All texts that a figure shows."""
    from matplotlib.text import Text

    found: list[Any] = figure.findobj(Text)
    return [text.get_text() for text in found]


def curves(ax: Axes, style: str = "-") -> list[tuple[list[float], list[float]]]:
    """Points of the lines of a panel that have more than one."""
    lines = [line for line in ax.get_lines() if line.get_linestyle() == style]
    points = [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in lines]
    return [(x.tolist(), y.tolist()) for x, y in points if len(x) > 1]


def dots(ax: Axes) -> list[float]:
    """Places of the dots of a panel along x."""
    lines = [line for line in ax.get_lines() if line.get_linestyle() == "None"]
    return [x for line in lines for x in np.asarray(line.get_xdata()).tolist()]
