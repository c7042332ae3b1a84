"""Section 5 beside Table 3: what is said about the three sub-families and what they share."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Part, Reading, differs, holds, reproduced, source_error
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import SUB_FAMILIES
from eqbench.papers.szafron.readings import Read, rows, statement
from eqbench.papers.szafron.section_5 import TEXT

_LOW, _BETWEEN, _HIGH = SUB_FAMILIES
_NO_GAIN = ["0"] * 3


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


def _alone(c11: str) -> Read:
    """Whether the one parameter that the text names transfers, its dependents following."""

    def read(stored: Stored) -> Reading:
        found = stored["selection"].summary["alone"][c11]
        start, following, both = found["start"], found["following"], found["both"]
        alone = found["alone"]
        name = "b21" if c11 == "0" else "b11"
        step = f"{name} from 1/8 to 3/16: ({rows(start, 'payoffs')}) becomes "
        without = (
            f"with {name} alone, b33 and b41 as they were: ({rows(alone, 'payoffs')}), gains "
            f"{rows(alone, 'regrets')}"
        )
        if _is_transfer(following) and _is_member(start, "−5κ/8, −κ/2, 9κ/8"):
            return reproduced(f"{step}({rows(following, 'payoffs')}), an equilibrium", without)
        evidence = (
            f"gains are {rows(following, 'regrets')}, so that it is no equilibrium; with b21 moved "
            f"too it is ({rows(both, 'payoffs')}) with gains {rows(both, 'regrets')}: two "
            "parameters are needed"
        )
        wrong = following["regrets"] != _NO_GAIN and start["regrets"] == _NO_GAIN
        if wrong and _is_transfer(both):
            return source_error(f"{step}({rows(following, 'payoffs')})", evidence)
        return differs(f"{step}({rows(following, 'payoffs')})", evidence)

    return read


def _is_transfer(found: dict[str, list[str]]) -> bool:
    """Whether it is an equilibrium with β = 3/16."""
    return _is_member(found, "−11κ/16, −κ/2, 19κ/16")


def _is_member(found: dict[str, list[str]], payoffs: str) -> bool:
    return found["regrets"] == _NO_GAIN and rows(found, "payoffs") == payoffs


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
COMMON = Part(
    title="Section 5: what all members share",
    claims=(
        statement("u2 is fixed and negative", "−κ/2", _fixed_u2),
        statement("u1 ≤ u2", "always", _u1_least),
        statement("κβ goes from player 1 to player 3", "β from 0 to its maximum", _transfer),
        statement("Range of β", "0 to 1/4", _beta_range),
        *(
            statement(
                f"Player 2 transfers by a single parameter, c11 = {c11}",
                f"κβ by {name}, its dependent parameters following",
                _alone(c11),
            )
            for c11, name in (("0", "b21"), ("1/4", "b11"), ("1/2", "b11"))
        ),
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
