"""Gambit's game files, their text as tokens that know their lines; shared by the two formats.

Tokens are found when they are requested, so a fault is reported before the rest of a file is
looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NoReturn, TypeVar

from eqbench.documents import read_file
from eqbench.errors import GameFormatError
from eqbench.model.file_labels import distinct

T = TypeVar("T")

MAX_BYTES = 256 * 2**20
CACHED_FROM = 2**20  # characters; smaller files are read about as fast as their arrays
MAX_PLAYERS = 100

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
    if not 1 <= len(names) <= MAX_PLAYERS:
        scanner.fail(f"{len(names)} players; allowed are 1 to {MAX_PLAYERS}", start)
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
