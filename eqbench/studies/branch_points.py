"""The points of a branch as a table in CSV: ``points.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eqbench.documents import open_text
from eqbench.errors import ProfileError, UsageError, known_labels
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import ROW_SUM_TOLERANCE
from eqbench.model.tree import FloatArray, GameTree
from eqbench.studies.branch import Branch
from eqbench.text import cell_text

LEADING = ("parameter", "arclength")


def columns(tree: GameTree) -> list[str]:
    """Names of all columns: parameter, arclength, ``u:P1``…, and frequencies ``P1|4:|bet``…"""
    labels = action_labels(tree)
    frequencies = [labels[action] for action in Choices.of(tree).action.tolist()]
    names = [*LEADING, *(f"u:{player}" for player in tree.players), *frequencies]
    return list(map(cell_text, names))


def action_labels(tree: GameTree) -> list[str]:
    """Names of all actions, ``player|information set|action``."""
    return [
        f"{tree.players[player]}|{infoset}|{action}"
        for player, infoset, actions in zip(
            tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True
        )
        for action in actions
    ]


def write_points(branch: Branch, path: Path) -> None:
    """Write a branch so that :func:`read_points` returns the same numbers."""
    table = np.column_stack((branch.values, branch.arclength, branch.payoffs, branch.free))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns(branch.game.tree))
        writer.writerows(map(repr, row) for row in table.tolist())


def read_points(game: Game, path: Path, parameter: str | None = None) -> Branch:
    """The branch of `game` that a file holds, along its payoff parameter or another one.

    Raises
    ------
    UsageError
        If the file cannot be read, has other columns than this game asks for, or entries that
        are not finite numbers, or if the game has no parameter or arclength decreases.
    ProfileError
        If a frequency is negative, or those of an information set exceed 1.
    """
    tree, parameter = game.tree, parameter or game.tree.payoffs.parameter
    if parameter is None:
        raise UsageError(f"{game.spec} has no payoff parameter, so no branch belongs to it")
    try:
        with open_text(path) as file:
            lines = csv.reader(file, strict=True)
            _check_header(next(lines, []), game, path)
            table = np.array(list(_rows(lines, len(columns(tree)), path)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {path}: {error}; give a points.csv of a trace") from None
    if len(table) < 2:
        raise UsageError(f"{path} holds {len(table)} points; a branch has at least two")
    values, arclength, payoffs, free = np.split(table, np.cumsum([1, 1, tree.n_players]), axis=1)
    _check_frequencies(tree, free, path)
    return Branch(game, parameter, values[:, 0], arclength[:, 0], free, payoffs)


def _check_header(header: list[str], game: Game, path: Path) -> None:
    expected = columns(game.tree)
    for found, name in zip(header, expected, strict=False):
        if found != name:
            raise UsageError(
                f"{path} does not fit {game.spec}: where it has the column {found!r}, "
                f"{name!r} should be; {known_labels(found, expected)}"
            )
    if len(header) != len(expected):
        raise UsageError(
            f"{path} does not fit {game.spec}: it has {len(header)} columns instead of "
            f"{len(expected)}; name the game of which it is a branch"
        )


def _rows(lines: Iterator[list[str]], width: int, path: Path) -> Iterator[list[float]]:
    for number, line in enumerate(lines, start=2):
        try:
            row = [float(cell) for cell in line]
        except ValueError:
            row = []
        if len(row) != width or not np.isfinite(row).all():
            raise UsageError(
                f"line {number} of {path} is not {width} finite numbers; trace the branch again"
            )
        yield row


def _check_frequencies(tree: GameTree, free: FloatArray, path: Path) -> None:
    """Refuse what is off by more than profiles may be."""
    if not free.size:
        return
    totals = np.add.reduceat(free, Choices.of(tree).start[:-1], axis=1)
    wrong = (free.min(axis=1) < -ROW_SUM_TOLERANCE) | (totals.max(axis=1) > 1 + ROW_SUM_TOLERANCE)
    if wrong.any():
        raise ProfileError(
            f"line {int(np.flatnonzero(wrong)[0]) + 2} of {path} has frequencies that are "
            "negative or sum to more than 1; frequencies lie in [0, 1]"
        )
