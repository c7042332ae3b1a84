"""Sections 3 and 4: the rules, the trees and the actions that are removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, source_error
from eqbench.papers.ganzfried.found import cell_of, count, regret_of, statement, statistic
from eqbench.papers.ganzfried.jobs import DOMINATED, EXACT, FULL, REDUCED
from eqbench.papers.stored import NotStoredError, Stored

# Kinds of removed actions: in the words of the paper, and as player|information set|action.
_KINDS: tuple[tuple[str, int, Callable[[str, str, str], bool]], ...] = (
    ("calling a bet with the jack", 9, lambda card, _, action: (card, action) == ("1", "call")),
    ("folding to a bet with the ace", 9, lambda card, _, action: (card, action) == ("4", "fold")),
    (
        "calling with the queen after a bet and a call",
        3,
        lambda card, past, action: (card, action) == ("2", "call") and past.endswith("BC"),
    ),
    (
        "checking with the ace after two checks",
        1,
        lambda card, past, action: (card, past, action) == ("4", "KK", "check"),
    ),
)


def _size(job: str, name: str) -> Callable[[Stored], int]:
    return lambda stored: int(stored[job].printed_json["sizes"][name])


def _hand(player: int, theirs: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        ours = stored["hand"].summary[FULL]["profits"][player]
        return holds(ours == theirs, f"{ours:+g}", f"{ours - theirs:+g}")

    return read


def _pot(stored: Stored) -> Reading:
    ours = stored["hand"].summary[FULL]["pot"]
    return holds(ours == 5, f"{ours:g}", f"{ours - 5:+g}")


def _infosets(game: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        own = stored["hand"].summary[game]["infosets"]
        return holds(own == [16, 16, 16], ", ".join(map(str, own)), "other numbers")

    return read


def _fewer(stored: Stored) -> Reading:
    full, reduced = (_size(job, "decision nodes")(stored) for job in ("info_full", "info_reduced"))
    share = 1 - reduced / full
    return holds(abs(share - 0.125) < 5e-4, f"{share:.1%}", f"{share - 0.125:+.1%}")


def _dominated(stored: Stored) -> list[str]:
    cell = cell_of(stored, "equilibria", FULL, DOMINATED)
    found: list[str] = statistic(cell, "dominated_actions")
    return found


def _count(stored: Stored, index: int) -> int:
    """How many actions of a kind are found dominated."""
    fits = _KINDS[index][2]
    found = 0
    for name in _dominated(stored):
        _, label, action = name.split("|")
        card, past = label.split(":")
        found += fits(card, past, action)
    return found


def _necessary(stored: Stored) -> Reading:
    """Whether the kinds are the 21 necessary values that Szafron et al. 2013 print as Table 2."""
    *others, last = (_count(stored, index) for index in range(len(_KINDS)))
    ours = f"{sum(others)} of {sum(others) + last} are in their Table 2, which has 21"
    if (sum(others), last) != (21, 1):
        return differs(ours, f"{sum(others) - 21:+} and {last - 1:+}")
    return source_error(
        ours,
        "betting the ace after two checks, c41 = 1, is in Table 3, a parameter of the family; "
        "without it 21 actions are fixed, as in the model of 72 rows",
    )


def _kind(index: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        expected = _KINDS[index][1]
        count_found = _count(stored, index)
        ours = f"{count_found} action{'s'[: count_found != 1]}, found dominated"
        return holds(count_found == expected, ours, f"{count_found - expected:+}")

    return read


def _same_tree(stored: Stored) -> Reading:
    found, built = set(_dominated(stored)), set(stored["program"].summary["removed"])
    ours = f"{len(found)} actions are found dominated; kuhn3_reduced lacks {len(built)}"
    return holds(found == built, ours, f"they differ in {sorted(found ^ built)}")


def _guaranteed(stored: Stored) -> Reading:
    cell = cell_of(stored, "equilibria", FULL, DOMINATED)
    ours = f"found without these actions: max regret {regret_of(cell):.0e} in the full game"
    return holds(cell.status == "ok" and regret_of(cell) <= 1e-12, ours, cell.reason)


def _frequencies(stored: Stored) -> dict[str, Any]:
    """Behavior of an equilibrium in fractions of the reduced game."""
    cell = cell_of(stored, "equilibria", REDUCED, EXACT)
    if not cell.equilibria or cell.equilibria[0].profile is None:
        raise NotStoredError("no equilibrium in fractions was found")
    document = json.loads(stored["equilibria"].text(cell.equilibria[0].profile))
    behavior: dict[str, Any] = document["behavior"]
    return behavior


def _bluffs(stored: Stored) -> Reading:
    behavior = _frequencies(stored)
    bets = {
        f"player {player[1]}, {('', 'jack', 'queen')[int(label[0])]}": row["bet"]
        for player, sets in behavior.items()
        for label, row in sets.items()
        if label[0] in "12" and row.get("bet", "0") not in ("0", 0, 0.0)
    }
    ours = "bets of " + "; ".join(f"{name}: {value}" for name, value in bets.items())
    return holds(bool(bets), ours, "nobody bets with a jack or a queen")


def _traps(stored: Stored) -> Reading:
    behavior = _frequencies(stored)
    checks = {
        f"player {player[1]}, ace": behavior[player][label]["check"]
        for player, label in (("P1", "4:"), ("P2", "4:K"))
    }
    shown = {name: value for name, value in checks.items() if value not in ("0", 0, 0.0)}
    ours = "checks of " + "; ".join(f"{name}: {value}" for name, value in shown.items())
    return holds(bool(shown), ours, "every ace is bet at once")


_NAMES = ("nodes", "decision nodes", "terminals", "chance nodes", "information sets")
_PRINTED = {"full game": (601, 288, 312, 1, 48), "reduced game": (415, 252, 162, 1, 48)}
_INFO = {"full game": "info_full", "reduced game": "info_reduced"}

SIZES = Part(
    title="Section 4: sizes of the full and the reduced game",
    claims=(
        *(
            count(name, theirs, _size(_INFO[game], name), column=game)
            for k, name in enumerate(_NAMES)
            for game, printed in _PRINTED.items()
            for theirs in (printed[k],)
        ),
        Claim("information sets per player", "full game", "16 each", _infosets(FULL)),
        Claim("fewer decision nodes", "reduced game", "12.5 %", _fewer),
    ),
    note=(
        "The trees are those of kuhn3 and kuhn3_reduced, built from the rules. Information sets "
        "with one action that is left are kept, as in the paper."
    ),
)

GAME = Part(
    title="Section 3: three-player Kuhn poker",
    claims=(
        *(
            statement(
                f"example, profit of player {player + 1}",
                f"{theirs:+}",
                _hand(player, theirs),
            )
            for player, theirs in enumerate((-1, -2, 3))
        ),
        statement("example, pot", "5", _pot),
        *(
            statement(f"dominated: {name}", "dominated", _kind(index))
            for index, (name, *_) in enumerate(_KINDS)
        ),
        statement(
            "where dominated actions come from",
            "the necessary values of Szafron et al. (2013)",
            _necessary,
        ),
        statement("no other action is removed", "these four kinds", _same_tree),
        statement(
            "reduced game",
            "is certain to contain an equilibrium of the full game",
            _guaranteed,
        ),
        statement("bluffing", "equilibria bet with jacks or queens", _bluffs),
        statement("slow-playing", "equilibria check with strong hands", _traps),
    ),
    note=(
        "Cards J, Q, K, A are 1 to 4 here. The example: Q, K, A are dealt, two checks, player 3 "
        "bets, player 1 folds, player 2 calls. Dominated actions are those that ncp finds by "
        "itself on the full game; its result is measured on the full tree. An equilibrium may "
        "still take such an action off the path. Bluffs and traps are "
        "shown in an equilibrium whose regret is exactly 0."
    ),
)
