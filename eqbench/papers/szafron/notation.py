"""The paper's names of frequencies, its Tables 2 and 3, and profiles made from them.

x_jk is the frequency of the aggressive action (bet or call) with card j in situation k, where x is
a, b or c for players 1, 2 and 3 (Szafron, Gibson and Sturtevant 2013, §3, Table 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.registry import load_game

GAME = "kuhn3"
KAPPA = Fraction(1, 24)  # probability of a deal
LONGEST = 1_000  # largest denominator that is written out
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
SUB_FAMILIES = ("c11=0", "0<c11<1/2", "c11=1/2")

SITUATIONS = {
    "a": ("P1", ("", "KKB", "KBF", "KBC")),
    "b": ("P2", ("K", "B", "KKBF", "KKBC")),
    "c": ("P3", ("KK", "KB", "BF", "BC")),
}
# name -> player and label of the information set
PLACES = {
    f"{letter}{card}{k}": (player, f"{card}:{history}")
    for letter, (player, histories) in SITUATIONS.items()
    for k, history in enumerate(histories, start=1)
    for card in range(1, 5)
}
NAMES = {place: name for name, place in PLACES.items()}

# Table 2, the same for all three players
NECESSARY = {
    f"{letter}{jk}": Fraction(value)
    for letter in "abc"
    for jk, value in {"12": 0, "13": 0, "14": 0, "24": 0, "42": 1, "43": 1, "44": 1}.items()
}
# the entries of Table 3 that are numbers
FIXED = {
    **dict.fromkeys(("a11", "a21", "a22", "a23", "a31", "a32", "a34", "a41"), Fraction(0)),
    **dict.fromkeys(("b22", "b31", "b34", "c22", "c23", "c31", "c32"), Fraction(0)),
    "a33": HALF,
    "c41": Fraction(1),
}
Values = dict[str, Fraction]


def load_kuhn3() -> Game:
    """Three-player Kuhn poker with the paper's four cards and pot of three chips."""
    return load_game(GAME)


def member(free: Mapping[str, Any]) -> Values:
    """All 48 frequencies by Tables 2 and 3; whether the ranges are kept is not checked.

    Parameters
    ----------
    free : b11, b21, b32, c11 and c33; b23 and c34 are 0 unless given
    """
    b11, b21, b23 = free["b11"], free["b21"], free.get("b23", Fraction(0))
    dependent = {
        "b23": b23,
        "b33": HALF + (b11 + b21) / 2 + max(b11, b21) / 2 - b23 * (1 - b21),
        "b41": 2 * b11 + 2 * b21,
        "c21": HALF - free["c11"],
        "c34": free.get("c34", Fraction(0)),
    }
    return NECESSARY | FIXED | {**free, **dependent}


def largest_b32(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of b32 in Table 3; that of c33 lies b32 below it."""
    return HALF + Fraction(3, 4) * (b11 + b21) + max(b11, b21) / 4


def lowest_c33(b32: Fraction) -> Fraction:
    """Lower end of c33 in Table 3, as far as it is a frequency."""
    return max(HALF - b32, Fraction(0))


def violated(values: Mapping[str, Fraction]) -> list[str]:
    """The entries of Table 3 that a profile breaks, by the name of the frequency."""
    b11, b21, c11 = values["b11"], values["b21"], values["c11"]
    top = largest_b32(b11, b21)
    wanted = member({name: values[name] for name in ("b11", "b21", "b23", "b32", "c11", "c33")})
    broken = [name for name in (*FIXED, "b33", "b41", "c21") if values[name] != wanted[name]]
    kept = {
        "b11": b11 <= b21 if c11 == 0 else b11 <= QUARTER,
        "b21": {
            0: b21 <= QUARTER,
            HALF: b21 <= min(b11, HALF - 2 * b11),
        }.get(c11, b21 == b11),
        "b23": values["b23"] <= max(Fraction(0), (b11 - b21) / (2 * (1 - b21))),
        "b32": values["b32"] <= top,
        "c11": c11 <= min(HALF, (2 - b11) / (3 + 2 * b11 + 2 * b21)),
        "c33": HALF - values["b32"] <= values["c33"] <= top - values["b32"],
    }
    return broken + [name for name, holds in kept.items() if not holds]


def document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Interchange form of a profile, with frequencies as texts ``p/q``."""
    behavior: dict[str, dict[str, dict[str, str]]] = {"P1": {}, "P2": {}, "P3": {}}
    for name, (player, label) in PLACES.items():
        passive, aggressive = ("fold", "call") if "B" in label else ("check", "bet")
        value = Fraction(values[name])
        behavior[player][label] = {passive: str(1 - value), aggressive: str(value)}
    return {"game": GAME, "behavior": behavior}


def profile(game: Game, values: Mapping[str, Any]) -> BehaviorProfile:
    """Exact profile with the given 48 frequencies.

    Raises
    ------
    ProfileError
        If one of them is outside [0, 1].
    """
    return profile_from_json(game.tree, document(values))


def is_profile(values: Mapping[str, Fraction]) -> bool:
    """Whether all values are frequencies."""
    return all(0 <= value <= 1 for value in values.values())


def in_kappa(value: Fraction) -> str:
    """A payoff in units of κ, as it is written: ``0``, ``κ``, ``−5κ/2``; long ones rounded."""
    ratio = value / KAPPA
    if not ratio:
        return "0"
    if ratio.denominator > LONGEST:
        return f"{float(ratio):.2g}κ".replace("-", "−")
    size = abs(ratio.numerator)
    top = f"{'−' if ratio < 0 else ''}{'' if size == 1 else size}κ"
    return top if ratio.denominator == 1 else f"{top}/{ratio.denominator}"
