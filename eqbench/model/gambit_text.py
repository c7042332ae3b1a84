"""Games as text in Gambit's formats, .efg and .nfg."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.rational import rational
from eqbench.model.tree import CHANCE, TERMINAL, GameTree


def efg_text(tree: GameTree, title: str = "") -> str:
    """Text of a game that Gambit and eqbench read; ends with a newline.

    Nodes stand in depth-first order. Information set k of a player here is the k-th in
    `tree.infosets_of(player)`, from 1; every chance node is an information set of its own.

    Exact payoffs and probabilities are written as integers or ``p/q``. Others are written with
    the digits that identify the float64; of such probabilities the largest at a node is
    replaced by what the others leave, since they must sum to 1 exactly. Labels are written as
    :func:`file_labels` says; outcomes of a chance node that are not all labeled have their numbers.
    """
    return "".join(f"{line}\n" for line in efg_lines(tree, title))


def efg_lines(tree: GameTree, title: str = "") -> Iterator[str]:
    """Lines of :func:`efg_text` one by one, for games whose text is large."""
    yield _header("EFG 2", tree, title)
    yield '""'
    first, decisions = tree.first_children(), _decision_lines(tree)
    ends = _terminal_lines(tree)
    row = np.searchsorted(tree.terminals, np.arange(tree.n_nodes))
    chances = 0
    for node in tree.in_depth():
        player = tree.player[node]
        if player == TERMINAL:
            yield ends[row[node]]
        elif player == CHANCE:
            chances += 1
            drawn = _probabilities(tree, tree.chance[first[node] : first[node + 1]])
            below = range(first[node], first[node + 1])
            names = [tree.chance_labels.get(k, "") for k in below]
            if not all(names):
                names = [str(k) for k in range(1, len(below) + 1)]
            labeled = zip(map(quoted, file_labels(names)), drawn, strict=True)
            moves = " ".join(f"{name} {value}" for name, value in labeled)
            yield f'c "" {chances} "" {{ {moves} }} 0'
        else:
            yield decisions[tree.infoset[node]]


def _header(kind: str, tree: GameTree, title: str) -> str:
    players = " ".join(map(quoted, file_labels(tree.players)))
    return f"{kind} R {quoted(file_label(title))} {{ {players} }}"


def exact_payoffs(tree: GameTree) -> list[list[Fraction]]:
    """Payoffs of all terminals and players, (Z, N); a float counts as the decimal it prints as."""
    return [list(map(rational, row)) for row in payoff_rows(tree)]


def exact_sums(tree: GameTree) -> set[Fraction]:
    """Different sums of all players' payoffs at terminals; floats count as `exact_payoffs` says."""
    if not tree.payoffs.exact:
        return {sum(row, Fraction(0)) for row in exact_payoffs(tree)}
    numerators, denominator = tree.payoffs.rational()
    sums = numerators.astype(object).sum(axis=1)  # which int64 may not hold
    return {Fraction(value, denominator) for value in set(sums.tolist())}


def _decision_lines(tree: GameTree) -> list[str]:
    """Line of the decision nodes of each information set."""
    lines = []
    for player in range(tree.n_players):
        own = tree.infosets_of(player)
        labels = file_labels(tree.infoset_labels[own.start : own.stop])
        for number, (i, label) in enumerate(zip(own, labels, strict=True), start=1):
            actions = " ".join(map(quoted, file_labels(tree.infoset_actions[i])))
            lines.append(f'p "" {player + 1} {number} {quoted(label)} {{ {actions} }} 0')
    return lines


def _terminal_lines(tree: GameTree) -> list[str]:
    """Line of each terminal; those with equal payoffs share an outcome."""
    outcomes: dict[str, int] = {}
    lines = []
    for row in exact_payoffs(tree):
        payoffs = ", ".join(map(str, row))
        number = outcomes.setdefault(payoffs, len(outcomes) + 1)
        lines.append(f't "" {number} "" {{ {payoffs} }}')
    return lines


def _probabilities(tree: GameTree, chance: NDArray) -> list[Fraction]:
    if chance.dtype.kind == "i":
        return [Fraction(value, tree.chance_denominator) for value in chance.tolist()]
    exact = [Fraction(repr(value)) for value in chance.tolist()]
    largest = exact.index(max(exact))
    exact[largest] += 1 - sum(exact)
    return exact


def nfg_text(tree: GameTree, title: str = "") -> str:
    """Text of a game that Gambit and eqbench read; ends with a newline.

    Numbers and labels are written as in :func:`eqbench.model.gambit_text.efg_text`.

    Raises
    ------
    UsageError
        As :func:`nfg_lines`.
    """
    return "".join(f"{line}\n" for line in nfg_lines(tree, title))


def nfg_lines(tree: GameTree, title: str = "") -> Iterator[str]:
    """Lines of :func:`nfg_text` one by one: the header, then a profile each.

    Raises
    ------
    UsageError
        If the tree is not that of a strategic form, in which on every path each player moves
        once, without seeing the others.
    """
    counts = [len(actions) for actions in tree.infoset_actions]
    if (
        tree.infoset_player.tolist() != list(range(tree.n_players))
        or np.any(tree.player == CHANCE)
        or tree.n_terminals != math.prod(counts)
    ):
        raise UsageError(
            "this game is not in strategic form: for .nfg every player must move exactly once, "
            "without seeing the others, and chance not at all; write an .efg file instead"
        )
    number, stride = np.zeros(tree.n_nodes, dtype=np.int64), np.cumprod([1, *counts[:-1]])
    for level in tree.levels[1:]:
        above = tree.parent[level]
        number[level] = number[above] + stride[tree.player[above]] * tree.move[level]
    rows = exact_payoffs(tree)
    # profiles by number, in which the action of player 1 varies fastest
    bodies = (" ".join(map(str, rows[row])) for row in np.argsort(number[tree.terminals]))
    sets = (" ".join(map(quoted, file_labels(actions))) for actions in tree.infoset_actions)
    actions = "{ " + " ".join(f"{{ {own} }}" for own in sets) + " }"
    return itertools.chain([_header("NFG 1", tree, title), actions, '""'], bodies)


def quoted(label: str) -> str:
    """Label in quotation marks; only quotation marks are escaped in these files."""
    return '"' + label.replace('"', '\\"') + '"'


def file_label(label: str) -> str:
    """Label that Gambit 17 accepts: most stay as they are.

    It wants no control characters and single spaces between words only. A backslash at the end
    would escape the closing quotation mark, so an underscore follows it.
    """
    text = label.encode("utf-8", "replace").decode()
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return f"{text}_" if text.endswith("\\") else text


def file_labels(labels: Sequence[str]) -> list[str]:
    """Distinct labels that Gambit accepts, for labels that are distinct."""
    return numbered([file_label(label) for label in labels])


def numbered(labels: Sequence[str]) -> list[str]:
    """Distinct labels: what is repeated gets its position, as in ``left_1, left_2``."""
    return distinct(labels, [f"{label}_{k}" for k, label in enumerate(labels, start=1)])


def distinct(labels: Sequence[str | None], substitutes: Sequence[str]) -> list[str]:
    """Distinct labels: those that occur once stay, others become their substitutes.

    A substitute that is a label already gets underscores. None is no label.
    """
    count = Counter(labels)
    taken = {label for label in labels if count[label] == 1}
    result = []
    for label, substitute in zip(labels, substitutes, strict=True):
        if label is None or count[label] > 1:
            while substitute in taken:
                substitute += "_"
            taken.add(substitute)
            label = substitute
        result.append(label)
    return result
