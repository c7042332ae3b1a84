"""Profiles in their interchange form: what is read exactly, and what is refused and why."""

from __future__ import annotations

import copy
import io
import json
import math
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import (
    parse_profile,
    profile_from_json,
    read_profile,
)
from eqbench.model.tree import GameTree
from eqbench.verification import verify, verify_exactly


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return eqbench.load_game("kuhn2").tree


@pytest.fixture
def data(tree: GameTree) -> dict[str, Any]:
    """Uniform play, to be spoiled in one place."""
    return copy.deepcopy(BehaviorProfile.uniform(tree).to_json())


def spoiled(data: dict[str, Any], player: str, infoset: str, row: Any) -> dict[str, Any]:
    data["behavior"][player][infoset] = row
    return data


# -- what is refused ------------------------------------------------------------------------

LEFT_OUT = object()  # of a profile, in place of a row
NUMBER = 'write a number or "p/q"'


@pytest.mark.parametrize(
    ("player", "infoset", "row", "message"),
    [
        # labels that the game does not have, with the nearest that it has
        ("p1", "1:", {"bet": 1}, "unknown player 'p1': did you mean P1"),
        ("P1", "1:BK", {"fold": 1}, "P1 has no information set '1:BK': did you mean 1:KB"),
        ("P1", "1:K", {"check": 1}, "P1 has no information set '1:K'"),  # it is one of P2
        ("P1", "1:", {"bett": 1}, "did you mean bet?"),
        ("P1", "1:", {"raise": 1}, "known: 'check', 'bet'"),
        *(("P1", "1:", row, "expected an object in braces") for row in (0.5, [0.5, 0.5], None)),
        ("P2", "3:B", LEFT_OUT, "'3:B' of P2; give frequencies for fold, call"),
        ("P2", None, LEFT_OUT, "of P2"),
        # rows that are no distributions
        ("P1", "1:", {"check": 0.5, "bet": 0.4}, "sum to 0.9; they must sum to 1"),
        ("P1", "1:", {"check": 0.5, "bet": 0.50000001}, "must sum to 1 within 1e-9"),
        ("P1", "1:", {"bet": "1/3"}, "sum to 0.333"),
        ("P1", "1:", {}, "sum to 0.0"),
        ("P1", "1:", {"check": 1.5, "bet": -0.5}, "is 3/2; frequencies lie in [0, 1]"),
        ("P1", "1:", {"check": Fraction("1e400")}, "is above 1"),
        ("P1", "1:", {"check": "-1/10", "bet": "11/10"}, "is -1/10"),
        # what is no number
        *(
            ("P1", "1:", {"bet": value}, NUMBER)
            for value in (
                *("1/0", "half", "", "nan", "inf", "1/2/3", "1e999999999", True, None, [1]),
                *(math.nan, "1e3_000_000", "1e9_999_999_999", "1_0/2_0", "1e\u0669"),
                *("\u0661/\u0662", " 1/2", "1/-2"),
            )
        ),
    ],
)
def test_profile_that_does_not_fit_the_game_is_refused(
    tree: GameTree, data: dict, player: str, infoset: str | None, row: Any, message: str
) -> None:
    if infoset is None:
        del data["behavior"][player]
    elif row is LEFT_OUT:
        del data["behavior"][player][infoset]
    else:
        data["behavior"].setdefault(player, {})[infoset] = row
    with pytest.raises(ProfileError, match=re.escape(message)):
        profile_from_json(tree, data)


@pytest.mark.parametrize("data", [None, [], {}, {"behavior": []}, {"behaviour": {}}], ids=repr)
def test_what_is_no_profile_is_told_the_form(tree: GameTree, data: Any) -> None:
    with pytest.raises(ProfileError, match="'behavior'"):
        profile_from_json(tree, data)


def bet(number: str) -> str:
    """Text of a profile with this frequency."""
    return '{"behavior": {"P1": {"1:": {"bet": ' + number + "}}}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((bet(word), f"contains {word}") for word in ("NaN", "Infinity", "-Infinity")),
        *(
            (bet(text), "of any reasonable size")
            for text in ("1e999999999", "1" * 5000, "0." + "1" * 5000)
        ),
        *((text, "not valid JSON") for text in ("", "{", '{"behavior": 01}')),
        ("[" * 100_000, "nested too deeply"),
        ('{"behavior": {"P1": {"1:": {"bet": 1, "bet": 0}}}}', "has the key 'bet' twice"),
    ],
    ids=lambda text: text[:20],
)
def test_text_that_holds_no_profile_is_refused_at_once(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        parse_profile(text)


@pytest.mark.parametrize("name", ["profile.json", "-"])
def test_files_and_standard_input_have_the_limit_of_profiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("eqbench.model.profile_json.MOST_PROFILE_BYTES", 20)
    content = b'{"behavior": {}}'
    Path("profile.json").write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert read_profile(name) == {"behavior": {}}
    Path("profile.json").write_bytes(content + b" " * 5)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content + b" " * 5)))
    with pytest.raises(UsageError, match=f"cannot read the profile {name}: it has more than 20"):
        read_profile(name)


# -- what is read -----------------------------------------------------------------------------


def test_missing_set_with_one_action_is_certain() -> None:
    skp = eqbench.load_game("skp").tree
    data = BehaviorProfile.uniform(skp).to_json()
    single = [i for i, actions in enumerate(skp.infoset_actions) if len(actions) == 1]
    for i in single:
        del data["behavior"][skp.players[skp.infoset_player[i]]][skp.infoset_labels[i]]
    assert len(single) == 48 - 11
    profile = profile_from_json(skp, data)
    assert profile.probabilities[skp.action_start[single]].tolist() == [1.0] * len(single)


def test_missing_action_is_zero(tree: GameTree, data: dict) -> None:
    profile = profile_from_json(tree, spoiled(data, "P1", "1:", {"check": 1}))
    start = tree.action_start[tree.infoset_of(0, "1:")]
    assert profile.probabilities[start : start + 2].tolist() == [1.0, 0.0]


def test_reduced_game_profile_means_the_same_in_the_full_game() -> None:
    reduced, full = (eqbench.load_game(s).tree for s in ("kuhn3_reduced", "kuhn3"))
    profile = BehaviorProfile.of(reduced, random_profile(reduced, np.random.default_rng(3)))
    carried = profile_from_json(full, profile.on(reduced).to_json())
    before, after = verify(reduced, profile), verify(full, carried)
    assert after.payoffs == pytest.approx(before.payoffs, abs=1e-14)
    assert all(a >= b - 1e-14 for a, b in zip(after.regrets, before.regrets, strict=True))
    uniform = BehaviorProfile.uniform(reduced).to_json()
    exact = verify_exactly(full, profile_from_json(full, uniform))
    assert exact.payoffs == verify_exactly(reduced, BehaviorProfile.uniform(reduced)).payoffs


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Fraction(1, 10)),
        ('"1/3"', Fraction(1, 3)),
        ("1", Fraction(1)),
        ("2.5e-1", Fraction(1, 4)),
        ("1e-300", Fraction(1, 10**300)),
    ],
)
def test_numbers_are_read_exactly(tree: GameTree, data: dict, text: str, value: Fraction) -> None:
    given = parse_profile(bet(text))["behavior"]["P1"]["1:"]["bet"]
    row = {"bet": given, "check": 1 - value}
    exact = profile_from_json(tree, spoiled(data, "P1", "1:", row)).exact
    assert exact is not None
    assert exact[tree.action_start[tree.infoset_of(0, "1:")] + 1] == value


def test_python_floats_mean_the_decimals_that_they_print_as(tree: GameTree, data: dict) -> None:
    exact = profile_from_json(tree, spoiled(data, "P1", "1:", {"check": 0.9, "bet": 0.1})).exact
    assert exact is not None
    assert Fraction(1, 10) in exact


def test_exact_frequencies_are_those_of_the_text_in_copies_too(tree: GameTree, data: dict) -> None:
    text = json.dumps(spoiled(data, "P1", "1:", {"check": 0.9, "bet": 0.1}))
    profile = profile_from_json(tree, parse_profile(text))
    for again in (profile.on(tree), pickle.loads(pickle.dumps(profile)), replace(profile)):
        assert again.exact == profile.exact
        assert again.is_decimal
    assert Fraction(9, 10) in profile.exact


@pytest.mark.parametrize(
    "share", ["1.00000000000000000001", "-1e-400", "1e-5000", '"0.5 "', '"nan"', '"1_0"', "true"]
)
def test_what_only_a_float_would_take_for_a_frequency_is_refused(
    tree: GameTree, data: dict, share: str
) -> None:
    text = json.dumps(spoiled(data, "P1", "1:", {"check": "HERE", "bet": 0}))
    with pytest.raises(ProfileError):
        profile_from_json(tree, parse_profile(text.replace('"HERE"', share)))


# -- exact mode ---------------------------------------------------------------------------


def test_exact_mode_wants_rows_of_exactly_one(tree: GameTree, data: dict) -> None:
    rounded = {"check": 0.3333333333, "bet": 0.6666666666}
    profile = profile_from_json(tree, spoiled(data, "P1", "2:", rounded))
    assert verify(tree, profile).max_regret > 0, "within 1e-9 it will do in floating point"
    with pytest.raises(ProfileError, match='"p/q"'):
        verify_exactly(tree, profile)


def test_exact_mode_takes_decimals_that_sum_to_one(tree: GameTree, data: dict) -> None:
    text = json.dumps(spoiled(data, "P1", "2:", {"check": 0.1, "bet": 0.9}))
    assert verify_exactly(tree, profile_from_json(tree, parse_profile(text))).max_regret > 0


@pytest.mark.parametrize("excess", [Fraction(1, 10**400), Fraction(10**400)], ids=["tiny", "huge"])
def test_exact_entries_outside_the_interval_are_refused(tree: GameTree, excess: Fraction) -> None:
    """As floats, -1e-400 and 1 + 1e-400 would look like 0 and 1."""
    rows = [Fraction(1, 2)] * tree.n_actions
    rows[:2] = [-excess, 1 + excess]
    with pytest.raises(ProfileError, match="frequencies"):
        BehaviorProfile.of_exact(tree, rows)


# -- arrays -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 23, 25])
def test_array_must_have_one_entry_per_action(tree: GameTree, size: int) -> None:
    with pytest.raises(ProfileError, match="frequencies"):
        BehaviorProfile.of(tree, np.full(size, 0.5))
    with pytest.raises(ProfileError, match="frequencies"):
        BehaviorProfile.of_exact(tree, [Fraction(1, 2)] * size)


@pytest.mark.parametrize("entry", [math.nan, math.inf, -0.5, 1.5])
def test_array_must_hold_frequencies(tree: GameTree, entry: float) -> None:
    behavior = np.full(tree.n_actions, 0.5)
    behavior[4] = entry
    with pytest.raises(ProfileError, match="frequencies"):
        BehaviorProfile.of(tree, behavior)


def test_array_rows_may_be_off_by_a_billionth(tree: GameTree) -> None:
    behavior = np.full(tree.n_actions, 0.5)
    behavior[0] += 0.9e-9
    assert BehaviorProfile.of(tree, behavior).probabilities.tolist() == [0.5] * tree.n_actions
    behavior[0] += 0.2e-9
    with pytest.raises(ProfileError, match="sum"):
        BehaviorProfile.of(tree, behavior)
