"""The conditions of section 3 and Table 1 as printed, as data."""

from __future__ import annotations

from typing import NamedTuple


class Condition(NamedTuple):
    """One of the eleven conditions: a frequency is 1 or 0 where two figures differ.

    Attributes
    ----------
    number : of the condition
    frequency : that it speaks of
    player : who chooses it, 1 to 3
    printed : for the page
    left, right : what is compared, as arithmetic
    times : factor that makes ``left - right`` the derivative of 24 E; where it is negative, the
        frequency is 1 if the left side is the smaller one
    """

    number: int
    frequency: str
    player: int
    printed: str
    left: str
    right: str
    times: str


CONDITIONS = (
    Condition(1, "c2", 2, "b1 > 2a1/P", "b1", "2*a1/P", "P"),
    Condition(2, "d3", 3, "b1 > 2a1/(P+1)", "b1", "2*a1/(P+1)", "P+1"),
    Condition(3, "b1", 1, "c2 + d3 < (2P−4)/(P+1)", "c2+d3", "(2*P-4)/(P+1)", "-(P+1)"),
    Condition(4, "a1", 1, "c2 + d3 > b3 + (1 + c3/2) b2", "c2+d3", "b3+(1+c3/2)*b2", "2"),
    Condition(5, "c3", 3, "b2 > (2−b1) a2/(P+a1)", "b2", "(2-b1)*a2/(P+a1)", "P+a1"),
    Condition(6, "d1", 1, "b2 > 2a2/(P+1)", "b2", "2*a2/(P+1)", "P+1"),
    Condition(7, "b2", 2, "c3 + d1 < (2P−4+2a1)/(P+1)", "c3+d1", "(2*P-4+2*a1)/(P+1)", "-(P+1)"),
    Condition(8, "a2", 2, "c3 + d1 > c3 b1/2 + (1 + c1/2) b3", "c3+d1", "c3*b1/2+(1+c1/2)*b3", "2"),
    Condition(9, "c1", 1, "b3 > (2−b2)/(P+a2)", "b3", "(2-b2)/(P+a2)", "P+a2"),
    Condition(10, "d2", 2, "b3 > (2−b1)/(P+1)", "b3", "(2-b1)/(P+1)", "P+1"),
    Condition(
        11,
        "b3",
        3,
        "c1 + d2 < (2P−4+2a1+2a2)/(P+1)",
        "c1+d2",
        "(2*P-4+2*a1+2*a2)/(P+1)",
        "-(P+1)",
    ),
)

# Table 1: the cells of each condition; in a cell all relations hold, the first one decides which
Cell = tuple[str, ...]
_BETWEEN = ("0 < a1", "a1 < 1", "0 < b1", "b1 < 1")


def _compared(left: str, right: str, frequency: str) -> dict[str, Cell]:
    return {
        "a": (f"{left} > {right}", f"{frequency} == 1"),
        "b": (f"{left} < {right}", f"{frequency} == 0"),
        "c": (f"{left} == {right}",),
    }


TABLE: dict[int, dict[str, Cell]] = {
    1: {
        "a": ("a1 == 0", "b1 == 0", "c2 + d3 >= (2*P-4)/(P+1)"),
        "b": ("P >= 5", "b1 == 2*a1/P", "c2 == (P-5)/(P+1)", "d3 == 1", *_BETWEEN),
        "c": ("P <= 5", "b1 == 2*a1/(P+1)", "c2 == 0", "d3 == (2*P-4)/(P+1)", *_BETWEEN),
    },
    2: _compared("c2 + d3", "b3 + (1 + c3/2)*b2", "a1"),
    3: _compared("b2", "(2 - b1)*a2/(P + a1)", "c3"),
    4: _compared("b2", "2*a2/(P+1)", "d1"),
    5: {
        "a": ("c3 + d1 > (2*P-4+2*a1)/(P+1)", "b2 == 0"),
        "b": ("c3 + d1 == (2*P-4+2*a1)/(P+1)",),
    },
    6: _compared("c3 + d1", "c3*b1/2 + (1 + c1/2)*b3", "a2"),
    7: _compared("b3", "(2 - b2)/(P + a2)", "c1"),
    8: _compared("b3", "(2 - b1)/(P+1)", "d2"),
    9: {"": ("c1 + d2 == (2*P-4+2*a1+2*a2)/(P+1)",)},
}


def corrected(cell: Cell) -> Cell:
    """A cell with a1 ≤ 1 in place of a1 < 1."""
    return tuple("a1 <= 1" if relation == "a1 < 1" else relation for relation in cell)
