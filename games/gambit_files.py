"""Game files of Gambit and the games of its catalog, which are such files.

In extensive form (``.efg``, version 2) and in strategic form (``.nfg``, version 1, both layouts).
The grammar is that of Gambit's manual, "File formats"; where the manual leaves something open,
what Gambit 17 reads decides. See docs/reference/game_files.md.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np

from eqbench.documents import read_file
from eqbench.errors import (
    GameFormatError,
    GameTooLargeError,
    ImperfectRecallError,
    SpecError,
    UsageError,
    nearest,
)
from eqbench.model.builder import TreeBuilder, over_one_denominator
from eqbench.model.gambit_text import distinct, numbered
from eqbench.model.size_limit import check_expected_nodes, max_nodes, too_large
from eqbench.model.tree import CHANCE, TERMINAL, GameTree

from .strategic import MAX_PLAYERS, strategic_form, strategic_form_nodes

T = TypeVar("T")

MAX_BYTES = 256 * 2**20
CACHED_FROM = 2**20  # characters; smaller files are read about as fast as their arrays
MOST_PLAYERS = 100

_LONGEST_NUMBER = 100
_LARGEST_EXPONENT = 200  # so that sums and products stay far from the largest float
_MAX_BITS = 4096
_LONGEST_SHOWN = 40

# Possessive, so that an open quotation mark costs one pass. Only quotation marks are escaped: in
# `\\"` the first backslash stands for itself and the second makes the mark part of the text.
_TOKEN = re.compile(
    r"""\s*+(?:
      "(?P<string>[^"\\]*+(?:\\"?+[^"\\]*+)*+)"
    | (?P<mark>[{},])
    | (?P<word>[^\s"{},]++)
    | (?P<open>")
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?)", re.ASCII)


def read_text(path: str) -> str:
    """Text of a game file: UTF-8, with or without a byte order mark.

    Raises
    ------
    GameFormatError
        If there is no such regular file, or it is too large, unreadable or in another encoding.
    """
    try:
        # unlike that of `Path`, it leaves unknown users alone
        data = read_file(os.path.expanduser(path), MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise GameFormatError(
            f"{path}: cannot be read: {reason}; give the path of a game file of Gambit that "
            "exists and ends in .efg or .nfg; relative ones start at the current folder"
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GameFormatError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8, the encoding of game "
            "files; convert the file, for example with iconv -t UTF-8"
        ) from None


@dataclass(frozen=True)
class GambitFile:
    """A game file; it is read once, when its text is first needed.

    Parameters
    ----------
    path : path of the file
    """

    path: str

    @property
    def spec(self) -> str:
        """The path as it was typed."""
        return self.path

    @cached_property
    def text(self) -> str:
        """Text of the file, kept: what is built and the key of the cache belong together.

        Raises
        ------
        GameFormatError
            As :func:`read_text`.
        """
        return read_text(self.path)

    @property
    def title(self) -> str:
        """Title of a file that was built; empty if it has none."""
        scanner = Scanner(self.path, self.text)
        for _ in ("kind", "version", "numbers"):
            scanner.advance()
        return scanner.string("the title")

    def cache_key(self) -> str:
        """Hash of the contents of a large file; empty if it is small."""
        if len(self.text) < CACHED_FROM:
            return ""
        return hashlib.sha256(self.text.encode()).hexdigest()


class Scanner:
    """Reads one token after the other; every complaint names the file and the line."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.size = len(text)
        self._text = text
        self._tokens = _TOKEN.finditer(text)
        self._numbers: dict[str, Fraction] = {}
        self.advance()

    def advance(self) -> None:
        """Go to the next token; the last one is the end."""
        self._token = token = next(self._tokens)
        self.kind = str(token.lastgroup)
        self.value: str = token[self.kind]
        if self.kind == "open":
            self.fail('this quotation mark is never closed; end the text with "')

    @property
    def at(self) -> int:
        """Position of the current token in the text."""
        return self._token.start(self.kind)

    def sees(self, mark: str) -> bool:
        """Whether the current token is this mark."""
        return self.kind == "mark" and self.value == mark

    def expect(self, mark: str, what: str) -> None:
        """Pass over a mark, which `what` is about."""
        if not self.sees(mark):
            self.wanted(f"{mark!r} {what}")
        self.advance()

    def word(self, *allowed: str, what: str) -> str:
        """The current word, which must be one of those allowed."""
        if self.kind != "word" or self.value not in allowed:
            self.wanted(what)
        return self._taken()

    def string(self, what: str) -> str:
        """The current quoted text."""
        if self.kind != "string":
            self.wanted(f"{what} in quotation marks")
        return self._taken().replace('\\"', '"')

    def integer(self, what: str) -> int:
        """The current integer, of at most 18 digits."""
        if self.kind != "word" or not _INTEGER.fullmatch(self.value):
            self.wanted(f"{what}, an integer")
        return int(self._taken())

    def number(self, what: str) -> Fraction:
        """The current number, exactly."""
        known = self._numbers.get(self.value)
        if known is None or self.kind != "word":
            known = self._numbers[self.value] = self._number(what)
        self.advance()
        return known

    def listed(self, item: Callable[[], T], what: str) -> list[T]:
        """Items between braces."""
        self.expect("{", f"before {what}")
        items = []
        while not self.sees("}"):
            items.append(item())
        self.advance()
        return items

    def payoffs(self, players: int) -> tuple[Fraction, ...]:
        """Payoffs up to a closing brace, one per player, with or without commas between."""
        start, values = self.at, []
        while not self.sees("}"):
            values.append(self.number("a payoff"))
            if self.sees(","):
                self.advance()
                if self.sees("}"):
                    self.wanted("a payoff after the comma")
        if len(values) != players:
            self.fail(f"{len(values)} payoffs for {players} players; give one each", start)
        self.advance()
        return tuple(values)

    def total(self, values: Iterable[Fraction], at: int) -> Fraction:
        """Sum of values that stand at a position; refused if it takes too many digits."""
        total = Fraction(0)
        for value in values:
            total += value
            if total.denominator.bit_length() > _MAX_BITS:
                self.fail("the sum of these fractions has thousands of digits; round them", at)
        return total

    def wanted(self, what: str) -> NoReturn:
        """Complain that something else stands here."""
        if self.kind == "end":
            self.fail(f"the file ends where {what} should follow; is it truncated?")
        shown = _short(self.value)
        self.fail(f"expected {what}, found " + (f'"{shown}"' if self.kind == "string" else shown))

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        """Raise the error that gives the reason, at the current token or at a position."""
        raise GameFormatError(self.located(reason, at))

    def located(self, reason: str, at: int | None = None) -> str:
        """Text of a complaint about the current token or about a position."""
        return f"{self.path}:{self.line(self.at if at is None else at)}: {reason}"

    def line(self, at: int) -> int:
        """Line of a position, from 1."""
        return self._text.count("\n", 0, at) + 1

    def _taken(self) -> str:
        value = self.value
        self.advance()
        return value

    def _number(self, what: str) -> Fraction:
        match = _NUMBER.fullmatch(self.value) if self.kind == "word" else None
        if match is None:
            self.wanted(f"{what}: a finite number such as 3, -0.25, 1e3 or 1/3")
        if len(self.value) > _LONGEST_NUMBER or abs(int(match[1] or 0)) > _LARGEST_EXPONENT:
            self.fail(
                f"the number {_short(self.value)} is too large; numbers have at most "
                f"{_LONGEST_NUMBER} characters and exponents up to {_LARGEST_EXPONENT}"
            )
        try:
            return Fraction(self.value)
        except ZeroDivisionError:
            self.fail(f"{self.value} divides by zero; write p/q with q > 0")


def read_header(scanner: Scanner, kind: str, version: str) -> list[str]:
    """Labels of the players, after the kind of file, its version, type and title.

    Names that are empty or repeated become P1, P2, … by position.
    """
    scanner.word(kind, what=f"{kind} as the first word of such a file")
    scanner.word(version, what=f"version {version} of the format {kind}")
    scanner.word("R", "D", what="R or D after the version")
    scanner.string("the title")
    start = scanner.at
    names = scanner.listed(lambda: scanner.string("the name of a player"), "the players")
    if not 1 <= len(names) <= MOST_PLAYERS:
        scanner.fail(f"{len(names)} players; allowed are 1 to {MOST_PLAYERS}", start)
    marked = [name if name else None for name in names]
    return distinct(marked, [f"P{k}" for k in range(1, len(names) + 1)])


def skip_comment(scanner: Scanner) -> None:
    """Pass over the comment that may follow the header."""
    if scanner.kind == "string":
        scanner.advance()


def _short(text: str) -> str:
    """Start of a text, with what cannot be printed as escapes."""
    start = text[:_LONGEST_SHOWN]
    shown = start if start.isprintable() else repr(start)[1:-1]
    return shown if len(text) <= _LONGEST_SHOWN else f"{shown}…"


# -- extensive form --------------------------------------------------------------------------------


@dataclass
class Infoset:
    """An information set, or a chance node that may occur repeatedly, as first defined.

    Attributes
    ----------
    at : position of the definition in the file
    before : the player's last own move before it: index of an information set and action, or -1
    probabilities : of the actions, at a chance node
    """

    number: int
    label: str
    actions: list[str]
    at: int
    before: tuple[int, int] = (-1, -1)
    probabilities: Sequence[Fraction] = ()


def _labels(owners: Sequence[int], sets: Sequence[Infoset]) -> list[str]:
    """Labels of information sets that stand in order of player, distinct for each player."""
    labels: list[str] = []
    for player in sorted(set(owners)):
        own = [known for owner, known in zip(owners, sets, strict=True) if owner == player]
        substitutes = [f"{k.label}_{k.number}" if k.label else str(k.number) for k in own]
        labels += distinct([known.label for known in own], substitutes)
    return labels


MAX_DEPTH = 1_000  # a sweep over the tree costs a few array operations per depth


@dataclass(frozen=True)
class EfgFile(GambitFile):
    """A game in extensive form, read from a file.

    Numbers are exact: 0.1 is 1/10. Payoffs on the way to a terminal add up. Players with empty or
    repeated names become P1, P2, …; actions of a set whose labels are equal become ``left_1``,
    ``left_2``, … by position; information sets of a player whose labels are equal become
    ``label_number``, or just their number if the label is empty.

    Parameters
    ----------
    path : path of the file; it ends in .efg
    """

    def build(self) -> GameTree:
        """Checked game tree.

        Raises
        ------
        GameFormatError, ImperfectRecallError, GameTooLargeError
            With file, line and reason.
        """
        return _EfgReader(self.path, self.text).tree()


@dataclass(slots=True)
class _Branch:
    """A node on the path to the one that is being read, and the move that is followed there."""

    node: int
    player: int
    infoset: int
    defined: Infoset
    at: int
    before: tuple[int, int]
    payoffs: tuple[Fraction, ...] | None
    move: int = -1


class _EfgReader:
    """Goes through a file once, node by node, and keeps the path from the root."""

    def __init__(self, path: str, text: str) -> None:
        self.scanner = Scanner(path, text)
        self.players = read_header(self.scanner, "EFG", "2")
        skip_comment(self.scanner)
        self.builder, self.count = TreeBuilder(self.players), 0
        self.infosets: dict[tuple[int, int], int] = {}  # of `defined`, by player and number
        self.defined: list[Infoset] = []
        self.chances: dict[int, Infoset] = {}
        self.outcomes: dict[int, tuple[str, tuple[Fraction, ...]]] = {}
        self.path: list[_Branch] = []
        self.last: list[tuple[int, int]] = [(-1, -1)] * len(self.players)
        self.limit = max_nodes()

    def tree(self) -> GameTree:
        """Checked game tree of the whole file."""
        while True:
            self._node()
            while self.path and self.path[-1].move == len(self.path[-1].defined.actions) - 1:
                done = self.path.pop()
                if done.player >= 0:
                    self.last[done.player] = done.before
            if not self.path:
                break
        if self.scanner.kind != "end":
            self.scanner.fail("the tree is complete, but more text follows; remove it")
        if not self.defined:
            self.scanner.fail("no player has a decision in this game; add a node of kind p")
        keys = sorted(self.infosets)  # in which order sets of equal depth stand
        sets = [self.defined[self.infosets[key]] for key in keys]
        labels = _labels([player for player, _ in keys], sets)
        names = [(player, str(number)) for player, number in keys]
        return self.builder.tree(dict(zip(names, labels, strict=True)))

    def _node(self) -> None:
        """Read one node and add it below the path."""
        scanner, start = self.scanner, self.scanner.at
        place = self._follow()
        kind = scanner.word("c", "p", "t", what="a node, which begins with c, p or t")
        scanner.string("the name of the node")
        node, depth = self.count, len(self.path)
        if node >= self.limit or depth > MAX_DEPTH:
            self._too_large(start)
        self.count += 1
        player, infoset, defined = TERMINAL, -1, None
        if kind == "c":
            player, defined = CHANCE, self._chance(start)
        elif kind == "p":
            player, infoset, defined = self._decision(start)
        payoffs = self._outcome(self.path[-1].payoffs if self.path else None)
        before = (-1, -1)
        if defined is None:
            self.builder.terminal(place, payoffs or (Fraction(0),) * len(self.players))
            return
        if player == CHANCE:
            numbers = [str(k) for k in range(1, len(defined.actions) + 1)]  # are no labels
            labels = () if defined.actions == numbers else defined.actions
            self.builder.chance(place, defined.probabilities, labels)
        else:
            before = self.last[player]
            self.builder.decision(place, player, str(defined.number), numbered(defined.actions))
        self.path.append(_Branch(node, player, infoset, defined, start, before, payoffs))

    def _follow(self) -> tuple[int, int] | None:
        """Take the next move at the end of the path: its node and its number; None at the root."""
        if not self.path:
            return None
        above = self.path[-1]
        above.move += 1
        if self.scanner.kind == "end":
            self.scanner.fail(
                f"the file ends, but the node of line {self.scanner.line(above.at)} has "
                f"{above.move} of {len(above.defined.actions)} children; is it truncated?"
            )
        if above.player >= 0:
            self.last[above.player] = (above.infoset, above.move)
        return above.node, above.move

    def _decision(self, start: int) -> tuple[int, int, Infoset]:
        """Player and information set of a decision node."""
        scanner, here = self.scanner, self.scanner.at
        number = scanner.integer("the number of a player")
        if not 1 <= number <= len(self.players):
            scanner.fail(f"player {number}; the players are 1 to {len(self.players)}", here)
        player = number - 1
        number = scanner.integer("the number of an information set")
        label, actions = self._label(), None
        if scanner.sees("{"):
            actions = scanner.listed(lambda: scanner.string("the label of an action"), "actions")
        what = f"information set {number} of player {self.players[player]}"
        index = self.infosets.get((player, number))
        if index is None:
            if not actions:
                scanner.fail(f"{what} has no actions here, where it is first used", start)
            index = self.infosets[player, number] = len(self.defined)
            known = Infoset(number, label or "", actions, start, self.last[player])
            self.defined.append(known)
        known = self.defined[index]
        self._must_agree(what, known, label, actions, start)
        if known.before != self.last[player]:
            self._forgets(what, index, start)
        return player, index, known

    def _chance(self, start: int) -> Infoset:
        """Actions and probabilities of a chance node."""
        scanner = self.scanner
        number = scanner.integer("the number of a chance node")
        label, what = self._label(), f"chance node {number}"
        moves: list[tuple[str, Fraction]] | None = None
        if scanner.sees("{"):
            moves = scanner.listed(self._event, "the outcomes of chance")
        known = self.chances.get(number)
        if known is None:
            if not moves:
                scanner.fail(f"{what} has no outcomes here, where it is first used", start)
            probabilities = [probability for _, probability in moves]
            total = scanner.total(probabilities, start)
            if total != 1:
                scanner.fail(
                    f"the probabilities of {what} sum to {total}; they must sum to exactly 1, "
                    "so write 1/3 and not 0.333",
                    start,
                )
            known = Infoset(number, label or "", [name for name, _ in moves], start)
            known.probabilities = probabilities
            self.chances[number] = known
        names = [name for name, _ in moves] if moves is not None else None
        self._must_agree(what, known, label, names, start)
        if moves and [probability for _, probability in moves] != known.probabilities:
            scanner.fail(
                f"{what} has other probabilities than in line {scanner.line(known.at)}; "
                "they must agree, so give it another number",
                start,
            )
        return known

    def _event(self) -> tuple[str, Fraction]:
        name, here = self.scanner.string("the label of an outcome of chance"), self.scanner.at
        probability = self.scanner.number("a probability")
        if not 0 <= probability <= 1:
            self.scanner.fail(f"the probability {probability} is outside 0 to 1", here)
        return name, probability

    def _label(self) -> str | None:
        return self.scanner.string("a label") if self.scanner.kind == "string" else None

    def _must_agree(
        self, what: str, known: Infoset, label: str | None, actions: list[str] | None, at: int
    ) -> None:
        """Refuse another label or other actions than at the first node of a set."""
        for name, new, old in (("label", label, known.label), ("actions", actions, known.actions)):
            if new is not None and new != old:
                self.scanner.fail(
                    f"{what} has other {name} than in line {self.scanner.line(known.at)}, where "
                    "it is first used; they must agree, so give it another number",
                    at,
                )

    def _outcome(self, above: tuple[Fraction, ...] | None) -> tuple[Fraction, ...] | None:
        """Payoffs on the path down to this node, None if there are none; defines outcomes."""
        scanner, here = self.scanner, self.scanner.at
        number = scanner.integer("the number of an outcome")
        name, payoffs = self._label(), None
        if scanner.sees("{"):
            scanner.advance()
            payoffs = scanner.payoffs(len(self.players))
        if number == 0:
            if payoffs is not None:
                scanner.fail("outcome 0 means no payoffs; give this outcome a number", here)
            return above
        known = self.outcomes.get(number)
        if known is None:
            if payoffs is None:
                scanner.fail(
                    f"outcome {number} has no payoffs here, where it is first used; define it", here
                )
            known = self.outcomes[number] = (name or "", payoffs)
        if (name or known[0], payoffs or known[1]) != known:
            scanner.fail(
                f"outcome {number} was defined before with another name or other payoffs; they "
                "must agree, so give it another number",
                here,
            )
        if above is None:
            return known[1]
        return tuple(scanner.total(both, here) for both in zip(above, known[1], strict=True))

    def _forgets(self, what: str, index: int, start: int) -> None:
        where = f"{what} (first in line {self.scanner.line(self.defined[index].at)})"
        twice = any(branch.infoset == index for branch in self.path)
        reason = "is met twice on one path" if twice else "is reached by different own moves"
        raise ImperfectRecallError(
            self.scanner.located(
                f"imperfect recall: {where} {reason}; eqbench needs perfect recall, so split the "
                "information set or leave the game out",
                start,
            )
        )

    def _too_large(self, start: int) -> None:
        if len(self.path) > MAX_DEPTH:
            self.scanner.fail(f"a path has more than {MAX_DEPTH:,} moves; shorten it", start)
        raise GameTooLargeError(self.scanner.located(str(too_large()), start))


# -- strategic form --------------------------------------------------------------------------------


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


# -- the catalog that comes with pygambit ----------------------------------------------------------

PREFIX = "gambit:"
READERS: dict[str, type[EfgFile] | type[NfgFile]] = {".efg": EfgFile, ".nfg": NfgFile}


@dataclass(frozen=True)
class CatalogGame:
    """A game of Gambit's catalog, named as in `pygambit.catalog.load`.

    Parameters
    ----------
    text : ``gambit:`` and the name, for example journals/ijgt/selten1975/fig1
    """

    text: str

    @property
    def spec(self) -> str:
        """The name, wherever pygambit is installed."""
        return PREFIX + self.text.strip().removeprefix(PREFIX).strip()

    def build(self) -> GameTree:
        """Checked game tree; raises as for game files, and `SpecError` for an unknown name."""
        name, files = self.spec.removeprefix(PREFIX), _catalog()
        if name not in files:
            raise SpecError(f"unknown game {name!r} of Gambit's catalog: {nearest(name, files)}")
        return READERS[files[name].suffix](str(files[name])).build()


def _catalog() -> dict[str, Path]:
    """Files of the catalog by their names; raises `UsageError` if it is not installed."""
    package = find_spec("pygambit")  # it is not imported
    origin = package.origin if package else None
    folder = Path(origin or os.devnull).with_name("catalog_data")
    files = [file for file in sorted(folder.rglob("*")) if file.suffix in READERS]
    if not files:
        raise UsageError(
            f"{PREFIX} needs pygambit 17 or later; install it by: pip install 'eqbench[gambit]'"
        )
    return {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}
