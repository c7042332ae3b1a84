"""Table 3 and Theorem 2: the family itself."""

from __future__ import annotations

from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, reproduced
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import SUB_FAMILIES
from eqbench.papers.szafron.readings import Read, statement

_FREE = "c34"
# row, column, what is printed, and the ways in which it is broken
_CELLS = (
    ("a11", "P1", "0", ("a11",)),
    ("b11", "P2, c11 = 0", "≤ b21", ("b11 ≤ b21",)),
    ("b11", "P2, c11 ≠ 0", "≤ 1/4", ("b11 ≤ 1/4", "b11 ≤ 1/4 between")),
    ("c11", "P3", "≤ min{1/2, (2 − b11)/(3 + 2b11 + 2b21)}", ("c11",)),
    ("a21", "P1", "0", ("a21",)),
    ("b21", "P2, c11 = 0", "≤ 1/4", ("b21 ≤ 1/4",)),
    ("b21", "P2, 0 < c11 < 1/2", "= b11", ("b21 = b11", "b21 = b11 below")),
    ("b21", "P2, c11 = 1/2", "≤ min{b11, 1/2 − 2b11}", ("b21 ≤ min",)),
    ("c21", "P3", "1/2 − c11", ("c21",)),
    ("a22", "P1", "0", ("a22",)),
    ("b22", "P2", "0", ("b22",)),
    ("c22", "P3", "0", ("c22",)),
    ("a23", "P1", "0", ("a23",)),
    ("b23", "P2", "≤ max{0, (b11 − b21)/2(1 − b21)}", ("b23", "b23 elsewhere")),
    ("c23", "P3", "0", ("c23",)),
    ("a31", "P1", "0", ("a31",)),
    ("b31", "P2", "0", ("b31",)),
    ("c31", "P3", "0", ("c31",)),
    ("a32", "P1", "0", ("a32",)),
    ("b32", "P2", "≤ 1/2 + 3(b11 + b21)/4 + β/4", ("b32",)),
    ("c32", "P3", "0", ("c32",)),
    ("a33", "P1", "1/2", ("a33",)),
    ("b33", "P2", "1/2 + (b11 + b21)/2 + β/2 − b23(1 − b21)", ("b33",)),
    (
        "c33",
        "P3",
        "from 1/2 − b32 to 1/2 − b32 + 3(b11 + b21)/4 + β/4",
        ("c33 below", "c33 above"),
    ),
    ("a34", "P1", "0", ("a34",)),
    ("b34", "P2", "0", ("b34",)),
    (_FREE, "P3", "from 0 to 1", ()),
    ("a41", "P1", "0", ("a41",)),
    ("b41", "P2", "2b11 + 2b21", ("b41",)),
    ("c41", "P3", "1", ("c41",)),
)
_UTILITIES = ("−κ(1/2 + β)", "−κ/2", "κ(1 + β)")


def _not_equilibria(stored: Stored) -> int:
    """How many members of the family were found to be none; 0 if the table is right."""
    found = stored["certificates"].summary["certificates"].values()
    return sum(each["members"] - each["equilibria"] for each in found)


def _cell(ways: tuple[str, ...]) -> Read:
    """A cell: members that keep it are equilibria; what happens beyond it stands in the detail."""

    def read(stored: Stored) -> Reading:
        wrong = _not_equilibria(stored)
        if wrong:
            return differs("not sufficient", f"{wrong} members are no equilibria")
        if not ways:
            return reproduced("any value", "all members are equilibria, with c34 from 0 to 1")
        summary = stored["certificates"].summary
        beyond = [summary["beyond"][way] for way in ways]
        profiles = sum(each["profiles"] for each in beyond)
        broken = sum(each["not_equilibria"] for each in beyond)
        ends = " or ".join(dict.fromkeys(map(_range, beyond)))
        step = f"{summary['step']} beyond it"
        if not broken:
            return differs("not needed", f"{profiles} profiles {step} are equilibria as well")
        if broken == profiles:
            return reproduced(f"needed: {step} somebody gains at all {profiles} members, {ends}")
        return reproduced(
            f"sufficient: {step} somebody gains at {broken} of {profiles} members, {ends}",
            f"{profiles - broken} stay equilibria: the family could be larger off the path of play",
        )

    return read


def _range(found: dict[str, Any]) -> str:
    least, most = found["least"], found["most"]
    return least if least == most else f"{least} to {most}"


def _utility(player: int) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["certificates"].summary["certificates"].values()
        right = sum(each["payoffs_as_printed"][player] for each in found)
        members = sum(each["members"] for each in found)
        return holds(
            right == members > 0, f"exactly so at {right:,} of {members:,} members", "not at all"
        )

    return read


TABLE_3 = Part(
    title="Table 3: the family",
    claims=(
        *(Claim(row, column, theirs, _cell(ways)) for row, column, theirs, ways in _CELLS),
        *(
            Claim("utility", f"P{player + 1}", theirs, _utility(player))
            for player, theirs in enumerate(_UTILITIES)
        ),
    ),
    note=(
        "Members at corners of the ranges and with random rational parameters are measured in "
        "exact arithmetic. A cell counts as reproduced if all members are equilibria (no more is "
        "claimed) and something is lost beyond it: a value or equation is moved to both sides and "
        "the rest kept, a bound is passed by a free parameter and the rest follows the table. "
        "Ranges of gains are in units of κ = 1/24."
    ),
)


def _certified(sub_family: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["certificates"].summary["certificates"][sub_family]
        right, members = found["equilibria"], found["members"]
        ours = (
            f"regret exactly 0 at {right:,} of {members:,} members, {found['corners']} of them "
            "corners"
        )
        return holds(right == members > 0, ours, f"{members - right} are no equilibria")

    return read


THEOREM_2 = Part(
    title="Theorem 2: Tables 2 and 3 are equilibria",
    claims=tuple(
        statement(f"Sub-family {name}", "Nash equilibria", _certified(name))
        for name in SUB_FAMILIES
    ),
    note=(
        "Exact certificates by integer arithmetic: nobody gains anything by any deviation, even "
        "one that changes several parameters. The proof itself is checked line by line below."
    ),
)

PARTS = (TABLE_3, THEOREM_2)
