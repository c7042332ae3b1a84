"""Branches of equilibria to follow, and their expected ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import to_builtins

import eqbench
from eqbench.model.choices import Choices
from eqbench.studies.branch import Branch
from eqbench.studies.frame import Session, StudyFolder
from eqbench.studies.requests import TraceRequest
from eqbench.studies.trace.checkpoint import Progress
from eqbench.studies.trace.study import TraceStudy
from helpers.command import PLUGINS

# -- Made-up branches that tests draw, and what can be read off figures


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


# -- Traces of a made-up curve with known folds, for tests


WINDING = PLUGINS / "winding.py"
# Where the pot 3 + t + 1.5 sin t of the plugin turns around, and its value there.
TURNS = (math.acos(-2 / 3), 2 * math.pi - math.acos(-2 / 3))
FOLDS = tuple(3 + t + 1.5 * math.sin(t) for t in TURNS)


def study(solver: str = "winding", first: Any = 3, last: Any = 8, **more: Any) -> TraceStudy:
    """A trace of SKP by the plugin, unless another game or solver is named."""
    at = tuple(value if value == "most" else Fraction(value) for value in more.pop("at", ()))
    fields = {"game": "skp", "plugins": (str(WINDING),), **more}
    return TraceStudy(
        TraceRequest(solver=solver, first=Fraction(first), last=Fraction(last), at=at, **fields)
    )


def followed(case: TraceStudy, folder: Path, **session: Any) -> Progress:
    """Follow a branch, from where the folder has it; nothing is polished."""
    folder.mkdir(exist_ok=True)
    return case.followed(Session(folder, **session))


def traced(case: TraceStudy, folder: Path, **session: Any) -> dict[str, Any]:
    """Follow a branch, from where the folder has it; return the summary of what is on it."""
    folder.mkdir(exist_ok=True)
    document = StudyFolder(folder).carry_out(case, Session(folder, **session))
    found: dict[str, Any] = to_builtins(document)
    return found


def table(folder: Path) -> np.ndarray:
    """The numbers of points.csv."""
    return np.loadtxt(folder / "points.csv", delimiter=",", skiprows=1, ndmin=2)
