"""The fourteen solutions as printed, equations (5) to (18), as data.

Where a figure is wrong in the text, the corrected one stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Value:
    """A frequency, or a sum of some, that all members of a solution share.

    Attributes
    ----------
    of, printed : as arithmetic
    corrected : where `printed` is wrong
    elsewhere : where the paper itself has the corrected one, and how that reads
    """

    of: str
    printed: str
    corrected: str = ""
    elsewhere: str = ""


@dataclass(frozen=True)
class Bounds:
    """What a frequency, or a sum of some, lies between; both ends are taken.

    Attributes
    ----------
    of, low, high : as arithmetic; an end that is not printed is empty
    corrected : both ends where the printed ones are wrong
    elsewhere : where the paper itself has the corrected ones, and how that reads
    """

    of: str
    low: str
    high: str
    corrected: tuple[str, str] = ("", "")
    elsewhere: str = ""


@dataclass(frozen=True)
class Solution:
    """One of the solutions.

    Attributes
    ----------
    name, equation : as printed
    start, end : of the range of pots, as arithmetic; the end is empty where there is none
    span : the range as printed
    names_pot : whether the printed range says that it is the pot that lies in it
    entries : in the order of print
    evidence : job that measures a profile with the printed entry of that name; ``corrected`` is
        that of the corrected one
    """

    name: str
    equation: int
    start: str
    end: str
    span: str
    entries: tuple[Value | Bounds, ...]
    evidence: dict[str, str] = field(default_factory=dict)
    names_pot: bool = True


L = "(2*P-4)/(P+1)"
P3, P4 = "(3+sqrt(97))/4", "(3+sqrt(15))/2"
P6, P8, P9 = "(3+sqrt(23))/2", "(7+sqrt(105))/4", "(7+sqrt(113))/4"
BORDERS = {
    "P3": (P3, "3.21"),
    "P4": (P4, "3.43"),
    "P6": (P6, "3.90"),
    "P8": (P8, "4.31"),
    "P9": (P9, "4.41"),
}
ROOT = "sqrt(P**4 - 4*P**3 + 4*P**2 + 12*P + 12)"


def _values(**texts: str) -> tuple[Value, ...]:
    return tuple(Value(name, text) for name, text in texts.items())


_NEIGHBORS = "equations (16) and (18), whose ranges meet here, read"
_NO_BETS = _values(a1="0", b1="0")
_NO_BETS_2 = _values(a1="0", b1="0", a2="0", b2="0")

SOLUTIONS = (
    Solution(
        "1a", 5, "2", "2", "P = 2",
        (
            *_NO_BETS_2, Bounds("b3", "0", "2/3"), *_values(c1="0", d2="0"),
            Bounds("c3 + d1", "", "b3"), Bounds("c2 + d3", "", "b3"),
        ),
    ),
    Solution(
        "1", 6, "2", "3", "2 ≤ P ≤ 3",
        (
            *_NO_BETS_2, *_values(b3="2/(P+1)", c1="0"), Value("d2", "2/(P+1)", L),
            Bounds("c3 + d1", L, "2/(P+1)"), Bounds("c2 + d3", L, "2/(P+1)"),
        ),
        {"d2": "printed_1", "corrected": "printed_1_corrected"},
    ),
    Solution(
        "2a", 7, "3", "3", "P = 3",
        (
            *_NO_BETS, *_values(b2="a2/2"), Bounds("a2", "", "1/2"),
            *_values(b3="1/2", c1="0", d2="(1+a2)/2", c3="0", d1="1/2"),
            Bounds("c2 + d3", "1/2", "1/2 + b2"),
        ),
    ),
    Solution(
        "2", 8, "3", P4, "3 ≤ P ≤ P4 = (3+√15)/2",
        (
            *_NO_BETS, *_values(a2="1/2", b2="1/(P+1)"),
            Value("b3", "1/(P+1)", "2/(P+1)", "other copy of this line reads 2 in the numerator"),
            *_values(c1="2*P - 6", d2="(3 + 6*P - 2*P**2)/(P+1)", c3="0", d1=L),
            Bounds("c2 + d3", L, "3/(P+1)"),
        ),
        {"b3": "printed_2", "corrected": "printed_2_corrected"},
    ),
    Solution(
        "3", 9, P3, P4, "P3 = (3+√97)/4 ≤ P ≤ P4",
        (
            *_NO_BETS, *_values(a2=f"(4 - P**2 + {ROOT})/2", b2="2*a2/(P+1)"),
            *_values(b3="(2 - b2)/(P + a2)", c1="(2*P - 4 + 2*a2)/(P+1)", d2="0", c3="0", d1=L),
            Bounds("c2 + d3", L, "b2 + b3"),
        ),
    ),
    Solution(
        "4", 10, P3, "7/2", "P3 ≤ P ≤ 7/2",
        (
            *_NO_BETS, *_values(a2="(5-P)/2", b2="(5-P)/(P+1)", b3="4*(P-2)/(3*(P+1))"),
            *_values(c1="1", d2="0", c3="0", d1=L), Bounds("c2 + d3", L, "(P+7)/(3*(P+1))"),
        ),
    ),
    Solution(
        "5a", 11, "7/2", "7/2", "P = 7/2",
        (
            *_NO_BETS, *_values(b2="4*a2/9"), Bounds("a2", "3/4", ""),
            *_values(b3="4/9", c1="1", d2="4*a2/9 - 1/3", c3="0", d1="2/3"),
            Bounds("c2 + d3", "2/3", "4*(1+a2)/9"),
        ),
    ),
    Solution(
        "5", 12, "7/2", "4", "7/2 ≤ P ≤ 4",
        (
            *_NO_BETS, *_values(a2="1", b2="2/(P+1)", b3="2/(P+1)", c1="1", d2="(P-3)/(P+1)"),
            *_values(c3="0", d1=L), Bounds("c2 + d3", L, "4/(P+1)"),
        ),
    ),
    Solution(
        "6", 13, P6, "4", "P6 = (3+√23)/2 ≤ P ≤ 4",
        (
            *_values(a1="(4-P)*(P+1)", b1="2*(4-P)", a2="1", b2="2/(P+1)", b3="2*(P-3)/(P+1)"),
            *_values(c1="1", d2="(5 + 7*P - 2*P**2)/(P+1)", c3="0"),
            *_values(d1="(4 + 8*P - 2*P**2)/(P+1)", c2="0", d3=L),
        ),
    ),
    Solution(
        "7", 14, P6, P9, "P6 ≤ P ≤ P9 = (7+√113)/4",
        (
            *_values(a1="1/2", b1="1/(P+1)", a2="1", b2="2/(P+1)", b3="(2*P+1)/(P+1)**2"),
            *_values(c1="1", d2="(P-2)/(P+1)", c3="(2*P**2 - 6*P - 7)/(P+1)"),
            *_values(d1="(4 + 8*P - 2*P**2)/(P+1)", c2="0", d3=L),
        ),
    ),
    Solution(
        "8", 15, P8, P9, "P8 = (7+√105)/4 ≤ P9, without P",
        (
            *_values(a1="(9-2*P)*(P+1)/2", b1="9 - 2*P", a2="1", b2="2/(P+1)"),
            *_values(b3="(2*P-7)/(P+1)", c1="1", d2="(6 + 8*P - 2*P**2)/(P+1)", c3="1"),
            *_values(d1="(4 + 8*P - 2*P**2)/(P+1)", c2="0", d3=L),
        ),
        names_pot=False,
    ),
    Solution(
        "9", 16, P8, "5", "P8 ≤ P ≤ 5",
        (
            *_values(a1="1", b1="2/(P+1)", a2="1", b2="2/(P+1)", b3="2*P/(P+1)**2"),
            Value("c1 + d2", "2*P/(P+1)"), *_values(c3="1", d1="(P-3)/(P+1)", c2="0", d3=L),
        ),
    ),
    Solution(
        "10a", 17, "5", "5", "P = 5",
        (
            *_values(a1="1"),
            Bounds(
                "b1", "1/2", "2/5", ("1/3", "2/5"),
                "equation (21) reads 1/3 ≤ b1 ≤ 2/5, and (17) itself has b1 > 1/3",
            ),
            *_values(a2="1"), Value("b2", "1/2", "1/3", f"{_NEIGHBORS} b2 = 2/(P+1)"),
            *_values(b3="5/18", c3="1"),
            Value("d1", "1/2", "1/3", f"{_NEIGHBORS} d1 = (P−3)/(P+1)"),
            *_values(c2="0", d3="1"),
        ),
        {
            "b1": "printed_10a_b1", "b2": "printed_10a_b2", "d1": "printed_10a_d1",
            "corrected": "printed_10a_corrected",
        },
    ),
    Solution(
        "10", 18, "5", "", "P ≥ 5",
        (
            *_values(a1="1", b1="2/P", a2="1", b2="2/(P+1)", b3="2*P/(P+1)**2"),
            *_values(c1="(P-1)/(P+1)", d2="1", c3="1", d1="(P-3)/(P+1)", c2="(P-5)/(P+1)"),
            *_values(d3="1"),
        ),
    ),
)  # fmt: skip

# equations (19) to (21): 24 E1, 24 E2, 24 E3
PAYOFFS = {
    "2a": (19, ("-1/2 - a2/2", "-1/2", "1 + a2/2")),
    "5a": (20, ("-10/9 + 2*a2/9", "-2/9", "4/3 - 2*a2/9")),
    "10a": (21, ("-19/18", "17/18 - 3*b1", "1/9 + 3*b1")),
}
