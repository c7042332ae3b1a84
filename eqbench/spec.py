"""Spec strings such as ``kuhn(players=3, pot=3.2)``: grammar, values and canonical form.

    spec    = name [ "(" [ option { "," option } ] ")" ] | foreign
    option  = word "=" value
    value   = integer | decimal | p "/" q | inf | -inf | word | quoted string
    foreign = "openspiel:" anything | "gambit:" anything | a path that ends in ".efg" or ".nfg"
              | one of these in quotes

Nothing is ever evaluated. Numbers are exact: ``3.2`` is the rational 16/5. A foreign spec is
one name without options: what OpenSpiel or the file system makes of it is their business.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from numbers import Rational

from eqbench.errors import SpecError

Value = int | Fraction | str | bool

OPENSPIEL = "openspiel:"
PREFIXES = {OPENSPIEL: "a game of OpenSpiel", "gambit:": "a game of Gambit's catalog"}
GAME_FILES = (".efg", ".nfg")
MOST_CHARACTERS = 10_000
FOREIGN_HINT = "a game file ends in .efg or .nfg; further games are openspiel:NAME and gambit:NAME"
PLUGIN_HINT = "one of a plugin needs --plugin FILE, or in Python an import"

_SURROGATE = re.compile("[\ud800-\udfff]")  # stands for a byte of a file's name that is not UTF-8
_WORD = r"[A-Za-z_][\w.+-]*"
_NAME = re.compile(rf"\s*(?P<name>{_WORD})(?P<open>\s*\((?P<close>\s*\))?)?")
# Any part may be missing, so that the first one that is can be named.
_OPTION = re.compile(
    rf"""\s*(?P<key>{_WORD})?\s*(?P<sign>=)?\s*
    (?P<value>
      (?P<number>[+-]?(?:\d+/\d+|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d{{1,3}})?)(?![\w.]))
    | (?P<word>-inf\b|{_WORD})
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    )?\s*(?P<mark>[,)])?""",
    re.VERBOSE,
)
_PARTS = {
    "key": "an option name",
    "sign": "'='",
    "value": "a value (number, p/q, word or quoted string)",
    "mark": "')'",
}
_LISTED = re.compile(r"=\s*([\[{]|[\d.]+(\s*,\s*\d|-\d|\.\.))")  # several values of an option
_RANGE_HINT = (
    "; an option has one value: for several give a spec each, 'random(seed=1),random(seed=2)', or "
    'in an experiment file a range, { name = "random", seed = "1..3" }'
)
# Options behind a path. A parenthesis before its end makes it something else.
_FILE_WITH_OPTIONS = re.compile(r"""\s*["']?([^"'()]+\.[en]fg)["']?\s*\(""", re.IGNORECASE)


@dataclass(frozen=True)
class Spec:
    """A parsed spec: a name and its options in the order given (or canonical order)."""

    name: str
    options: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        if self.options and is_foreign(self.name):
            raise _no_options(self.name)

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return f"{self.name}({','.join(f'{k}={format_value(v)}' for k, v in self.options)})"

    def replace(self, /, **options: Value) -> Spec:
        """Copy with the given options replaced in place; unknown ones are appended."""
        merged = dict(self.options) | options
        return Spec(self.name, tuple(merged.items()))

    def without(self, name: str) -> Spec:
        """Copy without an option."""
        return Spec(self.name, tuple((k, v) for k, v in self.options if k != name))


def format_value(value: Value | float | None) -> str:
    """Text of a value, in the grammar that :func:`parse_spec` reads."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, float):
        return repr(float(value))  # those of NumPy name their type
    if isinstance(value, int | Fraction | Rational):
        return str(value)
    if re.fullmatch(_WORD, value) and value not in ("true", "false"):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_number(text: str) -> int | Fraction:
    """Exact value of an integer, a decimal or ``p/q``."""
    try:
        value = Fraction(text)
    except ZeroDivisionError:
        raise SpecError(f"{text!r} divides by zero; write p/q with q > 0") from None
    except ValueError:
        raise SpecError(f"the number {text[:20]}... has too many digits") from None
    return value.numerator if value.denominator == 1 else value


def is_foreign(text: str) -> bool:
    """Whether a spec names a game of others or a game file, to which no grammar applies."""
    text = _unquoted(text)
    return text.startswith(tuple(PREFIXES)) or text.lower().endswith(GAME_FILES)


def _unquoted(text: str) -> str:
    """Text without the quotes that keep a path with commas together in a list of specs."""
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] in "\"'" else text


def _no_options(name: str) -> SpecError:
    kind = PREFIXES.get(name.partition(":")[0] + ":", "a game file")
    return SpecError(f"{kind} has no options here; give {name} alone")


def parse_spec(text: str) -> Spec:
    """Parse one spec.

    Raises
    ------
    SpecError
        If `text` does not follow the grammar; the message points at the place. If a game file
        is given options, or has a name whose bytes are no UTF-8: no record could hold it.
    """
    if len(text) > MOST_CHARACTERS:
        raise SpecError(
            f"a spec of {len(text):,} characters is not read; allowed are {MOST_CHARACTERS:,}. It "
            f"begins with {text[:40]!r}"
        )
    if _SURROGATE.search(text):
        raise SpecError(f"{text[:300]!r} is not UTF-8; a file with such a name has to be renamed")
    if is_foreign(text):
        return Spec(_unquoted(text))
    optioned = _FILE_WITH_OPTIONS.match(text)
    if optioned:
        raise _no_options(optioned[1])
    start = _NAME.match(text)
    if start is None:
        raise _unreadable(text, "expected a name", 0)
    options: dict[str, Value] = {}
    at, more = start.end(), bool(start["open"]) and not start["close"]
    while more:
        parts = _OPTION.match(text, at)
        assert parts is not None  # of which any may be missing
        for part, wanted in _PARTS.items():
            if parts[part] is None:
                raise _unreadable(text, f"expected {wanted}", at)
            at = parts.end(part)
        if parts["key"] in options:
            raise _unreadable(text, f"option {parts['key']!r} is given twice", at)
        if parts["number"]:
            value: Value = parse_number(parts["number"])
        elif parts["string"]:
            value = re.sub(r"\\(.)", r"\1", parts["string"][1:-1])
        else:
            value = {"true": True, "false": False}.get(parts["word"], parts["word"])
        options[parts["key"]] = value
        more = parts["mark"] == ","
    if text[at:].strip():
        raise _unreadable(text, "unexpected text after the spec", at)
    return Spec(start["name"], tuple(options.items()))


def split_specs(text: str) -> list[str]:
    """Split ``a(x=1,y=2),b`` at the commas outside parentheses and quotes."""
    cuts, depth, quote, escaped = [-1], 0, "", False
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and not escaped else quote
            escaped = char == "\\" and not escaped
        elif char in "\"'":
            quote = char
        else:
            depth += (char == "(") - (char == ")")
        if char == "," and depth == 0 and not quote:
            cuts.append(at)
    parts = (text[start + 1 : end].strip() for start, end in pairwise([*cuts, len(text)]))
    return [part for part in parts if part]


def _unreadable(text: str, what: str, at: int) -> SpecError:
    name, lower = text.partition("(")[0], text.lower()
    is_foreign_like = any(mark in name for mark in "./\\:") or any(e in lower for e in GAME_FILES)
    return SpecError(
        f"cannot read the spec {text!r}: {what} at position {at}; "
        "the form is name(option=value, ...), for example kuhn(players=3, pot=3.2)"
        + (f"; {FOREIGN_HINT}" if is_foreign_like else "")
        + (_RANGE_HINT if _LISTED.search(text) else "")
        + ("; put a value with / into quotes" if "/" in text[len(name) :] else "")
    )
