"""Game files of Gambit in strategic form (``.nfg``, version 1), in both of their layouts.

The grammar is that of Gambit's manual, "File formats". See docs/game_files.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from eqbench.errors import GameTooLargeError
from eqbench.model.builder import over_one_denominator
from eqbench.model.file_labels import numbered
from eqbench.model.size_limit import check_expected_nodes
from eqbench.model.tree import GameTree

from .gambit_text import GambitFile, Scanner, read_header, skip_comment
from .strategic import MAX_PLAYERS, strategic_form, strategic_form_nodes


@dataclass(frozen=True)
class NfgFile(GambitFile):
    """A game in strategic form, read from a file: every player moves once, unseen.

    Numbers are exact: 0.1 is 1/10. Strategies without labels are called 1, 2, …; players and
    strategies with empty or equal labels are named as in .efg files.

    Parameters
    ----------
    path : path of the file; it ends in .nfg
    """

    def build(self) -> GameTree:
        """Checked game tree.

        Raises
        ------
        GameFormatError, GameTooLargeError
            With file, line and reason.
        """
        scanner = Scanner(self.path, self.text)
        players = read_header(scanner, "NFG", "1")
        actions = _actions(scanner, len(players))
        skip_comment(scanner)
        shape = tuple(len(own) for own in actions)
        rows = _outcomes(scanner, shape) if scanner.sees("{") else _payoffs(scanner, shape)
        if scanner.kind != "end":
            scanner.fail(f"the {len(rows):,} profiles are complete, but more follows; remove it")
        flat, denominator = over_one_denominator([value for row in rows for value in row])
        # the first player's strategy varies fastest
        table = np.moveaxis(flat.reshape(*reversed(shape), len(players)), -1, 0).T
        tree = strategic_form(actions, np.ascontiguousarray(table), denominator=denominator)
        return replace(tree, players=tuple(players))


def _actions(scanner: Scanner, players: int) -> list[list[str]]:
    """Labels of the strategies of each player; refused if there are too many profiles."""
    start = scanner.at
    if players > MAX_PLAYERS:
        scanner.fail(f"{players} players; in strategic form at most {MAX_PLAYERS} are allowed")
    scanner.expect("{", "before the strategies")
    named = scanner.sees("{")
    labels: list[list[str]] = []
    counts: list[int] = []
    while not scanner.sees("}"):
        here = scanner.at
        if named:
            labels.append(scanner.listed(lambda: scanner.string("a strategy"), "strategies"))
        counts.append(len(labels[-1]) if named else scanner.integer("a number of strategies"))
        if counts[-1] < 1:
            scanner.fail(f"{counts[-1]} strategies; every player needs at least one", here)
    scanner.advance()
    if len(counts) != players:
        scanner.fail(f"strategies of {len(counts)} players, but there are {players}", start)
    try:
        check_expected_nodes("this game", strategic_form_nodes(counts))
    except GameTooLargeError as error:
        raise GameTooLargeError(scanner.located(str(error), start)) from None
    if named:
        return [numbered(own) for own in labels]
    return [[str(k) for k in range(1, count + 1)] for count in counts]


def _payoffs(scanner: Scanner, shape: tuple[int, ...]) -> list[tuple[Fraction, ...]]:
    """Payoffs of all profiles, listed one after the other."""
    needed = math.prod(shape)
    _check_room(scanner, needed * len(shape))
    rows = []
    for row in range(needed):
        values = []
        for _ in shape:
            values.append(scanner.number(f"a payoff of profile {row + 1} of {needed:,}"))
            if scanner.sees(","):
                scanner.advance()
        rows.append(tuple(values))
    return rows


def _outcomes(scanner: Scanner, shape: tuple[int, ...]) -> list[tuple[Fraction, ...]]:
    """Payoffs of all profiles, given as numbers of outcomes that are listed before."""

    def outcome() -> tuple[Fraction, ...]:
        scanner.expect("{", "before an outcome")
        scanner.string("the name of an outcome")
        return scanner.payoffs(len(shape))

    listed = [(Fraction(0),) * len(shape), *scanner.listed(outcome, "the outcomes")]
    needed = math.prod(shape)
    _check_room(scanner, needed)
    rows = []
    for row in range(needed):
        here = scanner.at
        number = scanner.integer(f"the outcome of profile {row + 1} of {needed:,}")
        if not 0 <= number < len(listed):
            scanner.fail(f"outcome {number}, but only 1 to {len(listed) - 1} are listed", here)
        rows.append(listed[number])
    return rows


def _check_room(scanner: Scanner, numbers: int) -> None:
    """Refuse more numbers than the file can hold, before any are stored."""
    if numbers > scanner.size:
        scanner.fail(f"{numbers:,} numbers must follow here, but the file is too short for them")
