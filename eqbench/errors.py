"""Exceptions that eqbench raises on purpose.

Every message says what was received, what is allowed and what to do next. The command line
prints the message of an :class:`EqbenchError` without a traceback.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence

INTERRUPTED = 130  # exit code of a command that Ctrl-C has ended
MOST_LABELS, MOST_NAMES = 60, 12


class EqbenchError(Exception):
    """Base of all errors that a user, a game or a solver can cause."""


class UsageError(EqbenchError):
    """The request itself is wrong; the command line ends with exit code 2."""


class MissingPackageError(UsageError):
    """An optional package is not installed; the message names the extra that brings it."""


class SpecError(UsageError):
    """A game or solver spec cannot be parsed, or names something unknown."""


class ProfileError(UsageError):
    """A strategy profile does not fit the game or is not a distribution."""


class GameFormatError(UsageError):
    """A game breaks a rule of the model, or a game file cannot be read."""


class GameTooLargeError(GameFormatError):
    """A game has more nodes than are allowed."""


class ImperfectRecallError(GameFormatError):
    """A player forgets in some information set what they did or knew before."""


class DocumentError(UsageError):
    """Something from outside does not have the form that is declared for it."""


class StoreError(EqbenchError):
    """Results can no longer be written, for example because the disk is full."""


class SchedulerError(EqbenchError):
    """The machines of a cluster cannot be used, or not any more."""


class SolverUnavailableError(EqbenchError):
    """A solver needs a package or a licence that is not here."""


def counted(number: int, thing: str, several: str = "") -> str:
    """A number with its noun, in the plural (`several`, or `thing` with an s) unless it is 1."""
    return f"{number:,} {thing if number == 1 else several or f'{thing}s'}"


def first_of(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def nearest(word: str, known: Iterable[str], *hints: str) -> str:
    """Hint at the known words closest to `word`; if nothing is close, at what is known."""
    known = sorted(known)
    if close := _close(word, known)[1]:
        return close.rstrip()
    all_known = f"known: {first_of(known, MOST_NAMES)}" if known else "none are known"
    return "; ".join((all_known, *hints))


def nearest_first(word: str, known: Iterable[str], what: str) -> str:
    """Hint at the known words closest to `word`, then list all of them as `what` they are."""
    known = list(known)
    return f"{_close(word, known)[1]}{what}: {', '.join(known)}"


def known_labels(word: str, known: Iterable[str]) -> str:
    """Hint at the labels closest to `word`, then list all in order; long lists are cut short."""
    close, meant = _close(word, known := list(known))
    ordered = dict.fromkeys([*close, *known])
    return f"{meant}known: {first_of([repr(label) for label in ordered], MOST_LABELS)}"


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise UsageError if a function was given a keyword that it does not know."""
    known = list(known)
    for name in given:
        if name not in known:
            raise UsageError(f"{function}() has no keyword {name!r}: {nearest(name, known)}")


def warn_former(former: str, now: str) -> None:
    """Warn that a name is a former one, at the first line of the call that is not of eqbench."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").startswith("eqbench."):
        level += 1
    words = f"{former} is a former name, which the next release will not have; write {now}"
    warnings.warn(words, DeprecationWarning, stacklevel=level + 1)


def _close(word: str, known: Sequence[str]) -> tuple[list[str], str]:
    """The known words closest to `word`, and a hint at them."""
    import difflib  # not for every command

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(word.lower(), by_lower, n=3, cutoff=0.5)
    close = [by_lower[name] for name in found]
    return close, f"did you mean {' or '.join(close)}? " if close else ""
