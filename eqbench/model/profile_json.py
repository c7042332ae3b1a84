"""The interchange form of behavior profiles: JSON by labels, read exactly."""

from __future__ import annotations

import errno
import json
import re
import sys
from typing import Any, NotRequired, TypedDict

from eqbench.documents import decode, read_file, size_text
from eqbench.errors import DocumentError, ProfileError, UsageError
from eqbench.model.profile import FORM, BehaviorProfile
from eqbench.model.rational import LARGEST_EXPONENT, parse_rational
from eqbench.model.tree import GameTree

# A game of ten million nodes may have profiles of a few hundred MiB.
MOST_PROFILE_BYTES = 2**30


class ProfileDocument(TypedDict):
    """The interchange form of a profile; a frequency is a number or a text ``p/q``."""

    behavior: dict[str, dict[str, dict[str, float | str]]]
    game: NotRequired[str]


def profile_text(tree: GameTree, profile: BehaviorProfile, game: str = "") -> str:
    """JSON text of a profile, such that every row of numbers sums to exactly 1.

    Floats are written as the decimals that they print as. Where these miss 1 by rounding, the
    largest one is written as what is left of 1, with all its digits; read as a float it is
    the same up to one rounding. So a stored profile can be verified exactly.
    """
    text = json.dumps(profile.on(tree).to_json(game), allow_nan=False)
    # a quote inside a label has a backslash before it
    is_exact = profile.exact is not None and not profile.is_decimal
    return text if is_exact else re.sub(r'": "([0-9.]+)"', r'": \1', text)


def read_profile(path: str) -> Any:
    """Interchange form of the profile in a JSON file, or on standard input if `path` is ``-``.

    Raises
    ------
    UsageError
        If the file cannot be read.
    ProfileError
        If it is not JSON, with its name.
    """
    try:
        data = _standard_input() if path == "-" else read_file(path, MOST_PROFILE_BYTES)
        text = data.decode()
    except (OSError, ValueError) as error:
        undecoded = isinstance(error, UnicodeDecodeError)
        what = "it is not UTF-8 text" if undecoded else getattr(error, "strerror", error)
        raise UsageError(f"cannot read the profile {path}: {what}") from None
    try:
        return parse_profile(text)
    except ProfileError as error:
        raise ProfileError(f"{'standard input' if path == '-' else path}: {error}") from None


def _standard_input() -> bytes:
    """All of standard input, if it has an end."""
    data = sys.stdin.buffer.read(MOST_PROFILE_BYTES + 1)
    if len(data) > MOST_PROFILE_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {size_text(MOST_PROFILE_BYTES)}")
    return data


def parse_profile(text: str | bytes) -> Any:
    """Read the JSON text of a profile with every number kept exactly, as its text.

    Raises
    ------
    ProfileError
        If the text is not JSON, repeats a key, has a number that is not finite, or is no
        :class:`ProfileDocument`.
    """
    if len(text) > MOST_PROFILE_BYTES:
        raise ProfileError(f"the profile has more than {size_text(MOST_PROFILE_BYTES)}")
    try:
        text = text.decode() if isinstance(text, bytes) else text
        data = json.loads(
            text,
            parse_float=_checked_number,
            parse_int=_checked_number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_keys,
        )
        decode(text, ProfileDocument, "the profile")
    except json.JSONDecodeError as error:
        raise ProfileError(f"not valid JSON: {error}") from None
    except UnicodeError:
        raise ProfileError("not a profile: it is not UTF-8 text") from None
    except RecursionError:
        raise ProfileError("not a profile: its JSON is nested too deeply") from None
    except DocumentError as error:
        raise ProfileError(f"{error}; {FORM}") from None
    return data


def profile_from_json(tree: GameTree, data: Any) -> BehaviorProfile:
    """Profile of a tree from its interchange form, as :meth:`BehaviorProfile.from_json`."""
    return BehaviorProfile.from_json(tree, data)


def _checked_number(text: str) -> str:
    is_short = len(text) <= LARGEST_EXPONENT and "e" not in text and "E" not in text
    if not is_short and parse_rational(text) is None:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ProfileError(f"the profile contains {shown}, a number out of any reasonable size")
    return text


def _refuse_constant(word: str) -> Any:
    raise ProfileError(f"the profile contains {word}; frequencies are finite numbers")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for k, key in enumerate(keys) if key in keys[:k])
        raise ProfileError(f"the profile has the key {twice!r} twice in one place")
    return found
