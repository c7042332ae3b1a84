"""Names that papers give to the frequencies of three-player Kuhn poker, as profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Szafron, Gibson and Sturtevant 2013, §2: player and situations 1 to 4 of the letters a, b, c.
SITUATIONS = {
    "a": ("P1", ("", "KKB", "KBF", "KBC")),
    "b": ("P2", ("K", "B", "KKBF", "KKBC")),
    "c": ("P3", ("KK", "KB", "BF", "BC")),
}

# Billingham 2017, §2: player and information set of each of the eleven frequencies.
SKP_VARIABLES = {
    "a1": ("P1", "4:"),
    "b1": ("P1", "2:"),
    "a2": ("P2", "4:K"),
    "b2": ("P2", "2:K"),
    "b3": ("P3", "2:KK"),
    "c1": ("P1", "3:KKB"),
    "c2": ("P2", "3:B"),
    "c3": ("P3", "3:KB"),
    "d1": ("P1", "3:KBF"),
    "d2": ("P2", "3:KKBF"),
    "d3": ("P3", "3:BF"),
}


def aggressive_row(situation: str, frequency: Any, rest: Any) -> dict[str, Any]:
    """Row of an information set: the frequency of bet or call, then that of check or fold."""
    passive, aggressive = ("fold", "call") if "B" in situation else ("check", "bet")
    return {passive: rest, aggressive: frequency}


def szafron_profile(values: Mapping[str, Any]) -> dict[str, Any]:
    """Interchange form of a profile given as x_jk: card j, situation k of player a, b or c."""
    behavior: dict[str, dict[str, Any]] = {"P1": {}, "P2": {}, "P3": {}}
    for letter, (player, situations) in SITUATIONS.items():
        for k, situation in enumerate(situations, start=1):
            for card in range(1, 5):
                value = values[f"{letter}{card}{k}"]
                row = aggressive_row(situation, value, 1 - value)
                behavior[player][f"{card}:{situation}"] = row
    return {"behavior": behavior}


def skp_profile(values: Mapping[str, Any]) -> dict[str, Any]:
    """Interchange form of an SKP profile; sets with one action are left out."""
    behavior: dict[str, dict[str, Any]] = {"P1": {}, "P2": {}, "P3": {}}
    for name, (player, label) in SKP_VARIABLES.items():
        value = values[name]
        behavior[player][label] = aggressive_row(label, value, 1 - value)
    return {"behavior": behavior}
