"""Section 5 beside Table 3: what is said about the three sub-families and what they share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from eqbench.studies.reproduction.claims import (
    Part,
    Reading,
    differs,
    holds,
    reproduced,
    source_error,
)
from eqbench.studies.reproduction.stored import Stored
from eqbench.studies.reproduction.szafron.notation import SUB_FAMILIES
from eqbench.studies.reproduction.szafron.readings import Read, rows, statement

_LOW, _BETWEEN, _HIGH = SUB_FAMILIES


def _family(stored: Stored, sub_family: str) -> Any:
    return stored["certificates"].summary["certificates"][sub_family]


def _dimension(sub_family: str, theirs: int) -> Read:
    def read(stored: Stored) -> Reading:
        found = _family(stored, sub_family)["dimensions"]
        ours = ", ".join(map(str, sorted(set(found))))
        return holds(
            set(found) == {theirs},
            f"{ours} around {len(found)} random members",
            f"the set has dimension {ours}",
        )

    return read


def _convex(sub_family: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["certificates"].summary["convexity"][sub_family]
        outside, pairs = found["not_equilibria"], found["pairs"]
        if not outside:
            return reproduced(f"all {pairs} midpoints of pairs of members are equilibria")
        ends = " and ".join(_point(end) for end in found["example"])
        return source_error(
            "not convex",
            f"{outside} of {pairs} midpoints of members are no equilibria; halfway between {ends} "
            f"somebody gains exactly {found['worst']}",
        )

    return read


def _point(end: dict[str, str]) -> str:
    return "(" + ", ".join(f"{name} = {end[name]}" for name in ("b11", "b21", "b23", "c11")) + ")"


def _formula(name: str, text: str) -> Read:
    """A formula of the text, which must be Table 3's in the sub-family; else both are measured."""

    def read(stored: Stored) -> Reading:
        found = stored["text"].summary[name]
        difference = found["difference"]
        if difference == "0":
            return reproduced(f"the same as in Table 3: {text}")
        if found["not_equilibria"] and found["table_3_equilibria"] == found["of"]:
            return source_error(
                f"by Table 3 it is {text}",
                f"printed minus Table 3 = {difference}; as printed somebody gains up to "
                f"{found['most']} at {found['not_equilibria']} of {found['members']} members, by "
                f"Table 3 nobody gains anything at any of {found['of']}",
            )
        return differs(text, f"printed minus Table 3 = {difference}")

    return read


def _depends_on_beta(sub_family: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = _family(stored, sub_family)
        right, members = found["payoffs_as_printed"], found["members"]
        return holds(
            right == [members] * 3,
            f"payoffs are exactly the functions of β of Table 3 at {members:,} members",
            f"{[members - each for each in right]} have others",
        )

    return read


def _fixed_u2(stored: Stored) -> Reading:
    values = sorted({value for name in SUB_FAMILIES for value in _family(stored, name)["u2"]})
    return holds(values == ["-1/48"], f"u2 = {', '.join(values)} = −κ/2", "it is not fixed")


def _u1_least(stored: Stored) -> Reading:
    found = [_family(stored, name) for name in SUB_FAMILIES]
    below, members = sum(f["u1_at_most_u2"] for f in found), sum(f["members"] for f in found)
    return holds(below == members, f"at {below:,} of {members:,} members", "not always")


def _transfer(stored: Stored) -> Reading:
    ends = stored["selection"].summary["ends"]
    first, last = rows(ends["β = 0"], "payoffs"), rows(ends["β = 1/4"], "payoffs")
    return holds(
        (first, last) == ("−κ/2, −κ/2, κ", "−3κ/4, −κ/2, 5κ/4"),
        f"from ({first}) at β = 0 to ({last}) at β = 1/4",
        "other payoffs",
    )


def _beta_range(stored: Stored) -> Reading:
    found = [_family(stored, name)["beta"] for name in SUB_FAMILIES]
    low, high = min(Fraction(f[0]) for f in found), max(Fraction(f[1]) for f in found)
    return holds(low == 0 and high == Fraction(1, 4), f"β from {low} to {high}", "another range")


def _alone(stored: Stored) -> Reading:
    found = stored["selection"].summary["b21_alone"]
    moved = rows(found["following"], "payoffs")
    return holds(
        moved == "−3κ/4, −κ/2, 5κ/4" and found["following"]["regrets"] == ["0"] * 3,
        f"b21 from 1/8 to 1/4 at b11 = 1/8: ({rows(found['start'], 'payoffs')}) becomes ({moved})",
        "another transfer",
        "with b33 and b41 following, as they depend on it; with b21 alone payoffs become "
        f"({rows(found['alone'], 'payoffs')}) and somebody gains {found['alone']['regrets'][0]}",
    )


def _maximum(c11s: tuple[str, ...]) -> Read:
    """Whether b11 = b21 = 1/4 is an equilibrium with the largest transfer for some c11."""

    def read(stored: Stored) -> Reading:
        summary = stored["selection"].summary
        found = [summary["both_quarter"][c11] for c11 in c11s]
        gains = [max(each["regrets"]) for each in found]
        if all(each["regrets"] == ["0"] * 3 for each in found):
            return reproduced(f"an equilibrium with u1 = {found[0]['payoffs'][0]}")
        other = summary["one_quarter"]
        evidence = (
            f"with c11 = {', '.join(c11s)} player 1 gains {', '.join(gains)} by deviating; "
            f"b11 = 1/4, b21 = 0 is an equilibrium (regrets {rows(other, 'regrets')}) with the "
            f"same u1 = {other['payoffs'][0]}"
        )
        if other["regrets"] == ["0"] * 3:
            return source_error("no equilibrium", evidence)
        return differs("no equilibrium", evidence)

    return read


def _first_checks(stored: Stored) -> Reading:
    found = stored["certificates"].summary["beyond"]
    names = ("a11", "a21", "a31", "a41")
    return holds(
        all(found[name]["not_equilibria"] == found[name]["profiles"] > 0 for name in names),
        "a first bet with frequency 1/64 is a mistake with every card at every member measured",
        "some bet is possible",
    )


DIMENSIONS = Part(
    title="Section 5: size and shape of the sub-families",
    claims=(
        statement("Dimension, c11 = 0", "4", _dimension(_LOW, 4)),
        statement("Dimension, 0 < c11 < 1/2", "4", _dimension(_BETWEEN, 4)),
        statement("Dimension, c11 = 1/2", "5", _dimension(_HIGH, 5)),
        statement("Convex, c11 = 0", "a convex volume", _convex(_LOW)),
        statement("Convex, 0 < c11 < 1/2", "a convex volume", _convex(_BETWEEN)),
        statement("Convex, c11 = 1/2", "a convex volume", _convex(_HIGH)),
    ),
    note=(
        "Dimension: rank of the conditions for equilibrium around exact members, as eqbench verify "
        "gives it; c34, which changes nobody's payoff whatever one player does, is not counted by "
        "us, nor by the paper. Convex: exact regrets halfway between two members' parameters. "
        "The bounds of c11 (where b11 > 1/6) and of b23 are curved. In player 2's realization plan "
        "where b23(1 − b21) takes the place of b23, the last sub-family is convex."
    ),
)
TEXT = Part(
    title="Section 5: ranges and dependent parameters as the text gives them",
    claims=(
        statement(
            "c11 = 0: b32", "≤ (2 + 3b11 + 4b21)/4", _formula("low b32", "upper bound of b32")
        ),
        statement(
            "c11 = 0: c33",
            "1/2 − b32 to 1/2 − b32 + (3b11 + 4b21)/4",
            _formula("low c33", "upper bound of c33"),
        ),
        statement("c11 = 0: b33", "(1 + b11 + 2b21)/2", _formula("low b33", "b33")),
        statement("c11 = 0: b41", "2b11 + 2b21", _formula("low b41", "b41")),
        statement("c11 = 0: c21", "1/2", _formula("low c21", "c21")),
        statement("c11 = 0: utilities", "depend on β = b21 only", _depends_on_beta(_LOW)),
        statement("0 < c11 < 1/2: b32", "≤ (2 + 7b11)/4", _formula("between b32", "upper bound")),
        statement(
            "0 < c11 < 1/2: c11 where b11 > 1/6",
            "≤ (2 − b11)/(3 + 4b11)",
            _formula("between c11", "c11 (3 + 4b11) ≤ 2 − b11"),
        ),
        statement(
            "0 < c11 < 1/2: c33",
            "1/2 − b32 to 1/2 − b32 + 7b11/4",
            _formula("between c33", "upper bound of c33"),
        ),
        statement("0 < c11 < 1/2: b33", "(1 + 3b11)/2", _formula("between b33", "b33")),
        statement("0 < c11 < 1/2: b41", "4b11", _formula("between b41", "b41")),
        statement("0 < c11 < 1/2: utilities", "depend on β = b11 only", _depends_on_beta(_BETWEEN)),
        statement(
            "c11 = 1/2: b21 where b11 ≥ 1/6",
            "≤ 1/2 − 2b11",
            _formula("high b21", "b21 ≤ 1/2 − 2b11 is what c11 = 1/2 allows"),
        ),
        statement("c11 = 1/2: b32", "≤ (2 + 4b11 + 3b21)/4", _formula("high b32", "upper bound")),
        statement(
            "c11 = 1/2: c33",
            "1/2 − b32 to 1/2 − b32 + (4b11 + 3b21)/4",
            _formula("high c33", "upper bound of c33"),
        ),
        statement(
            "c11 = 1/2: b33",
            "(1 + b11 + 2b21)/2",
            _formula("high b33", "(1 + 2b11 + b21)/2 − b23(1 − b21)"),
        ),
        statement("c11 = 1/2: b41", "2b11 + 2b21", _formula("high b41", "b41")),
        statement("c11 = 1/2: c21", "0", _formula("high c21", "c21")),
        statement("c11 = 1/2: utilities", "depend on β = b11 only", _depends_on_beta(_HIGH)),
    ),
    note=(
        "Formulas of the text are compared with Table 3 as polynomials, with what holds in the "
        "sub-family (c11, β, and b21 = b11 or b23 = 0). Where they differ, both are measured at "
        "members, in exact arithmetic."
    ),
)
COMMON = Part(
    title="Section 5: what all members share",
    claims=(
        statement("u2 is fixed and negative", "−κ/2", _fixed_u2),
        statement("u1 ≤ u2", "always", _u1_least),
        statement("κβ goes from player 1 to player 3", "β from 0 to its maximum", _transfer),
        statement("Range of β", "0 to 1/4", _beta_range),
        statement("Player 2 transfers by a single parameter (c11 = 0: b21)", "κβ", _alone),
        statement(
            "Most is transferred with b11 = b21 = 1/4, c11 = 0", "an equilibrium", _maximum(("0",))
        ),
        statement(
            "Most is transferred with b11 = b21 = 1/4, 0 < c11 ≤ 7/16",
            "an equilibrium",
            _maximum(("1/4", "7/16")),
        ),
        statement(
            "Most is transferred with b11 = b21 = 1/4, c11 = 1/2",
            "an equilibrium (“in either case”)",
            _maximum(("1/2",)),
        ),
        statement("Player 1 always checks first", "a11 = a21 = a31 = a41 = 0", _first_checks),
    ),
    note="Exact payoffs and regrets of members, corners of the ranges included; κ = 1/24.",
)

PARTS = (DIMENSIONS, TEXT, COMMON)
