"""The equilibrium that the paper describes, as named and as described, in exact arithmetic.

In the notation of Szafron, Gibson and Sturtevant 2013 x_jk is how often player x (a, b, c) bets or
calls with card j in situation k. The paper says that its solution is in their family but for
a33 = 0, and for a half that it names c32 (check, bet) and describes as c33 (bet, fold).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.model.profile_json import profile_from_json
from eqbench.model.tree import GameTree
from eqbench.registry import load_game
from eqbench.verification import verify_exactly

_SITUATIONS = {
    "a": ("P1", ("", "KKB", "KBF", "KBC")),
    "b": ("P2", ("K", "B", "KKBF", "KKBC")),
    "c": ("P3", ("KK", "KB", "BF", "BC")),
}
HALF, NOTHING = Fraction(1, 2), Fraction(0)
# The readings of the sentence; c33 of the family is 1/2 - b32 where nobody bets before player 3.
READINGS: dict[str, dict[str, Fraction]] = {
    "family": {},
    "as_named": {"a33": NOTHING, "c32": HALF},
    "as_described": {"a33": NOTHING, "c33": HALF},
    "a33_alone": {"a33": NOTHING},
}
_QUARTERS = tuple(Fraction(k, 4) for k in range(5))


def profiles(folder: Path, _jobs: Path, *, full: bool) -> dict[str, Any]:
    """Names of the profiles written into the folder, one for each reading, at b32 = c11 = 1/4."""
    del full
    quarter = Fraction(1, 4)
    for name, changed in READINGS.items():
        document = {"game": "kuhn3"} | profile(member(quarter, quarter) | changed)
        text = json.dumps(document, indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return {"profiles": sorted(READINGS)}


def grid(_folder: Path, _jobs: Path, *, full: bool) -> dict[str, Any]:
    """Exact regrets of each reading over free parameters, and of pairs (a33, c32).

    The extent changes nothing.
    """
    del full
    tree = load_game("kuhn3").tree
    quarter = Fraction(1, 4)
    return {
        "readings": {
            name: [
                {"b32": str(b32), "c11": str(c11)} | _measured(tree, member(b32, c11) | changed)
                for b32, c11 in _members()
            ]
            for name, changed in READINGS.items()
        },
        "pairs": [
            {"a33": str(a33), "c32": str(c32)}
            | _measured(tree, member(quarter, quarter) | {"a33": a33, "c32": c32})
            for a33 in _QUARTERS
            for c32 in _QUARTERS
        ],
    }


def member(b32: Fraction, c11: Fraction) -> dict[str, Fraction]:
    """Frequencies of the family's member with beta = 0 (Tables 2 and 3), other parameters 0."""
    names = [f"{x}{j}{k}" for x in "abc" for j in range(1, 5) for k in range(1, 5)]
    # the highest card calls every bet; and player 3 bets it
    sure = {f"{x}4{k}" for x in "abc" for k in (2, 3, 4)} | {"c41"}
    values = {name: Fraction(int(name in sure)) for name in names}
    return values | {
        "a33": HALF,
        "b32": b32,
        "b33": HALF,
        "c11": c11,
        "c21": HALF - c11,
        "c33": HALF - b32,
    }


def profile(values: Mapping[str, Fraction]) -> dict[str, Any]:
    """Interchange form of a profile that is given as x_jk."""
    behavior: dict[str, dict[str, Any]] = {"P1": {}, "P2": {}, "P3": {}}
    for letter, (player, situations) in _SITUATIONS.items():
        for k, situation in enumerate(situations, start=1):
            passive, active = ("fold", "call") if "B" in situation else ("check", "bet")
            for card in range(1, 5):
                value = values[f"{letter}{card}{k}"]
                row = {passive: str(1 - value), active: str(value)}
                behavior[player][f"{card}:{situation}"] = row
    return {"behavior": behavior}


def _members() -> Iterator[tuple[Fraction, Fraction]]:
    """Pairs (b32, c11) over their ranges at beta = 0, which both end at 1/2."""
    parameters = [Fraction(k, 8) for k in range(5)]
    return ((b32, c11) for b32 in parameters for c11 in parameters)


def _measured(tree: GameTree, values: Mapping[str, Fraction]) -> dict[str, list[str]]:
    found = verify_exactly(tree, profile_from_json(tree, profile(values)))
    return {
        "regrets": [str(regret) for regret in found.regrets],
        "payoffs": [str(payoff) for payoff in found.payoffs],
    }
