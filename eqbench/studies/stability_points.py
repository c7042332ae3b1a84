"""The profiles that a study of stability looked at, as a table in CSV: ``points.csv``."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import NamedTuple

from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray, GameTree
from eqbench.studies.branch_points import action_labels
from eqbench.text import cell_text

POINTS = "points.csv"
LEADING = ("parameter", "name")


class Point(NamedTuple):
    """A profile that was looked at.

    Attributes
    ----------
    value : float or None
        Of the payoff parameter; None if the game has none.
    name : str
        Of its entry in the summary.
    payoffs : float64 (N,)
        As the verifier finds them.
    behavior : float64 (A,)
    """

    value: float | None
    name: str
    payoffs: Sequence[float]
    behavior: FloatArray


def columns(tree: GameTree) -> list[str]:
    """Names of all columns: parameter, name, ``u:P1``…, and frequencies ``P1|4:|bet``…"""
    labels = action_labels(tree)
    frequencies = [labels[action] for action in Choices.of(tree).action.tolist()]
    names = [*LEADING, *(f"u:{player}" for player in tree.players), *frequencies]
    return list(map(cell_text, names))


def points_text(game: Game, points: Sequence[Point]) -> str:
    """The table, one row per profile, with all digits; the parameter is empty without one."""
    free = Choices.of(game.tree).action
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns(game.tree))
    for point in points:
        value = "" if point.value is None else repr(point.value)
        numbers = (*point.payoffs, *point.behavior[free].tolist())
        writer.writerow((value, cell_text(point.name), *map(repr, numbers)))
    return file.getvalue()
