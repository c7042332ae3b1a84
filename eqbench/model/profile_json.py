"""The interchange form of behavior profiles: JSON by labels, read exactly."""

from __future__ import annotations

import errno
import json
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, localcontext
from fractions import Fraction
from numbers import Rational
from typing import Any, NotRequired, TypedDict

from eqbench.documents import decode, read_file, size_text
from eqbench.errors import DocumentError, ProfileError, UsageError, known_labels
from eqbench.model.profile import BehaviorProfile, place_of
from eqbench.model.rational import rational
from eqbench.model.tree import GameTree

# A game of ten million nodes may have profiles of a few hundred MiB.
MOST_PROFILE_BYTES = 2**30
_FORM = 'a profile is {"behavior": {PLAYER: {INFOSET: {ACTION: number or "p/q"}}}}'
_DECIMAL = "decimal:"  # marks text that is written as a JSON number
# Fraction("1e999999999") would fill the memory.
LARGEST_EXPONENT = 4000
# narrower than what Fraction reads: no underscores, foreign digits or spaces
_NUMBER = re.compile(r"[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?)", re.ASCII)


class ProfileDocument(TypedDict):
    """The interchange form of a profile; a frequency is a number or a text ``p/q``."""

    behavior: dict[str, dict[str, dict[str, float | str]]]
    game: NotRequired[str]


def profile_to_json(tree: GameTree, profile: BehaviorProfile, game: str | None = None) -> dict:
    """The interchange form: player, information set, action -> number or ``"p/q"``."""
    values: Sequence[Any] = profile.probabilities.tolist()
    if profile.exact is not None:
        values = [str(value) for value in profile.exact]
    behavior: dict[str, dict[str, dict[str, Any]]] = {label: {} for label in tree.players}
    for i, (player, label) in enumerate(zip(tree.infoset_player, tree.infoset_labels, strict=True)):
        start = tree.action_start[i]
        behavior[tree.players[player]][label] = {
            action: values[start + a] for a, action in enumerate(tree.infoset_actions[i])
        }
    return ({"game": game} if game is not None else {}) | {"behavior": behavior}


def profile_text(tree: GameTree, profile: BehaviorProfile, game: str | None = None) -> str:
    """JSON text of a profile, such that every row of numbers sums to exactly 1.

    Floats are written as the decimals that they print as. Where these miss 1 by rounding, the
    largest one is written as what is left of 1, with all its digits; read as a float it is
    the same up to one rounding. So a stored profile can be verified exactly.
    """
    data = _completed(tree, profile, game)
    return re.sub(f'"{_DECIMAL}([^"]*)"', r"\1", json.dumps(data, allow_nan=False))


def profile_data(tree: GameTree, profile: BehaviorProfile, game: str | None = None) -> dict:
    """The same in plain JSON values: what no float is, and is a number there, is text here."""
    data = _completed(tree, profile, game)
    for sets in data["behavior"].values():
        for row in sets.values():
            for action, value in row.items():
                row[action] = value.removeprefix(_DECIMAL) if isinstance(value, str) else value
    return data


def _completed(tree: GameTree, profile: BehaviorProfile, game: str | None) -> dict:
    """The interchange form with completed rows; decimals that are no floats are marked."""
    data = profile_to_json(tree, profile, game)
    for sets in data["behavior"].values():
        for row in sets.values():
            _complete_row(row)
    return data


def _complete_row(row: dict[str, Any]) -> None:
    """Replace the largest float of a row by the exact decimal complement of the others."""
    if any(isinstance(value, str) for value in row.values()):
        return
    digits = {action: Decimal(repr(value)) for action, value in row.items()}
    largest = max(digits, key=digits.__getitem__)
    with localcontext() as context:
        context.prec = 2000  # floats have up to 1,100 digits
        rest = 1 - sum(value for action, value in digits.items() if action != largest)
        if rest != digits[largest]:
            row[largest] = f"{_DECIMAL}{rest:f}"


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
    """Read the JSON text of a profile with every number kept exactly, as a Fraction.

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
            parse_float=_parse_number,
            parse_int=_parse_number,
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
        raise ProfileError(f"{error}; {_FORM}") from None
    return data


def profile_from_json(tree: GameTree, data: Any) -> BehaviorProfile:
    """Profile of `tree` from its interchange form.

    A missing action is 0; a missing information set is an error unless it has one action.
    Python's floats mean the decimals that they print as, as in the JSON text.

    Raises
    ------
    ProfileError
        If a label is unknown, a set is missing, or a row is not a distribution.
    """
    behavior = data.get("behavior") if isinstance(data, dict) else None
    if not isinstance(behavior, dict):
        raise ProfileError(f"{_FORM}; the key 'behavior' is missing")
    values: list[Fraction | None] = [None] * tree.n_actions
    for player_label, sets in behavior.items():
        if player_label not in tree.players:
            raise ProfileError(
                f"unknown player {player_label!r}: {known_labels(player_label, tree.players)}"
            )
        player = tree.players.index(player_label)
        for label, row in _items(sets, f"player {player_label}"):
            _read_row(tree, player, label, row, values)
    for i in range(tree.n_infosets):
        start, stop = tree.action_start[i], tree.action_start[i + 1]
        if values[start] is None and stop - start > 1:
            raise ProfileError(
                f"the profile does not say what to do at {place_of(tree, i)}; "
                f"give frequencies for {', '.join(tree.infoset_actions[i])}"
            )
        if values[start] is None:
            values[start] = Fraction(1)
    return BehaviorProfile.of_exact(tree, [value for value in values if value is not None])


def _read_row(
    tree: GameTree, player: int, label: str, row: Any, values: list[Fraction | None]
) -> None:
    try:
        index = tree.infoset_of(player, label)
    except KeyError:
        known = [tree.infoset_labels[i] for i in tree.infosets_of(player)]
        raise ProfileError(
            f"player {tree.players[player]} has no information set {label!r}: "
            f"{known_labels(label, known)}"
        ) from None
    start, actions = int(tree.action_start[index]), tree.infoset_actions[index]
    values[start : start + len(actions)] = [Fraction(0)] * len(actions)
    for action, value in _items(row, place_of(tree, index)):
        frequency = _frequency(value, f"{action!r} at {place_of(tree, index)}")
        if action in actions:
            values[start + actions.index(action)] = frequency
        else:
            raise ProfileError(
                f"unknown action {action!r} at {place_of(tree, index)}: "
                f"{known_labels(action, actions)}"
            )


def _items(data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise ProfileError(f"{where}: expected an object in braces, got {data!r}")
    return data.items()


def _frequency(value: Any, where: str) -> Fraction:
    exact = None
    if isinstance(value, str):
        exact = _fraction(value)
    elif isinstance(value, Rational | float) and not isinstance(value, bool):
        with suppress(ValueError):
            exact = rational(value)
    if exact is not None:
        return exact
    raise ProfileError(f'the frequency of {where} is {value!r}; write a number or "p/q"')


def _fraction(text: str) -> Fraction | None:
    """Rational of a decimal or ``p/q``; None if there is none, or none of reasonable size."""
    match = _NUMBER.fullmatch(text)
    try:
        if match is None or abs(int(match[1] or 0)) > LARGEST_EXPONENT:
            return None
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def _parse_number(text: str) -> Fraction:
    value = _fraction(text)
    if value is None:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ProfileError(f"the profile contains {shown}, a number out of any reasonable size")
    return value


def _refuse_constant(word: str) -> Any:
    raise ProfileError(f"the profile contains {word}; frequencies are finite numbers")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ProfileError(f"the profile has the key {key!r} twice in one place")
        seen[key] = value
    return seen
