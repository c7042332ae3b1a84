"""The formulas of the paper's proofs as they are printed, in units of κ.

Texts of :func:`eqbench.papers.szafron.polynomials.parsed`; beta is a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eqbench.papers.szafron.notation import SUB_FAMILIES

REACH_C43 = (
    "a11*(1-b22) + a11*(1-b32) + a21*(1-b12) + a21*(1-b32) + a31*(1-b12) + a31*(1-b22)"  # (1)
)
U3 = """4*c11*b21*b23 - c31*b21*b23 - b11 - b21 - 4*c31 + 2*c21 + 2*c11 + 2*b23*c41 + 2*b33*c41
 - b21*c32 - b11*c32 - b11*c22 - 4*c21*b33 - 4*c11*b33 + c31*b23 - 4*c11*b23 + 5*b21*c31
 + 2*b11*c21 + 4*b21*c21 + 5*b11*c31 + 4*b11*c11 + 2*b21*c11 - 4*b21*c22 - 2*b21*b23*c41"""  # (3)
U2 = """(4*b21*b23 + b31*b34 - 1 - 5*b31 - 4*b23 - b34 - 8*c11*b21*b23 + 8*c11*b23)/2"""  # (4)
U1 = """(-1 - 4*a31*b21*a32 + 8*b11*c11*a32 + 6*a31*b11*c11 - 2*a41 + 4*a11 - 4*a22 + 4*a21
 + 4*a41*b32 - 8*a11*b32 - 8*a21*b32 - 6*a31*b21*c11 - 8*a11*c33 - 8*a21*c33 + 4*c11*b11*a22
 - 2*b21*a34 - 2*b11*a21*a22 + 8*a21*b21*a23 + 4*a41*c33 - 2*b21 - 5*a31 - a32 + 2*b11*a31*a34
 + 2*b21*a31*a34 - 8*b21*a23 - 3*b11*a41 + a31*a32 + 2*b11*a22 + 4*b21*a32 - 4*b21*a41
 + 6*c11*a22 - 6*c11*a22*a21 + 2*c11*b21*a41 - 2*b11*a41*c11 - 4*c11*b11*a21*a22
 - 4*c11*a21*b21*a22 - 2*b11*a34 - 4*b11*c11 + 4*b21*c11 + 4*a21*a22 - 8*a31*b11*c11*a32
 + 8*a31*b21*c11*a32 - 8*b21*c11*a32 + 4*c11*b21*a22 + 3*a31*b11 + 6*a31*b21)/2"""  # (5)

_B33 = {"b33": "1/2 + (b11+b21)/2 + beta/2 - b23*(1-b21)"}
_C33 = {"c33": "1/2 - b32 + 3*(b11+b21)/4 + beta/4"}
_LOW, _BETWEEN, _HIGH = SUB_FAMILIES
_CASE = {
    _LOW: {"c11": "0", "beta": "b21", "b23": "0"},
    _BETWEEN: {"beta": "b11", "b21": "b11", "b23": "0"},
    _HIGH: {"c11": "1/2", "beta": "b11"},
}


@dataclass(frozen=True)
class Step:
    """A partial derivative of a proof.

    Attributes
    ----------
    lemma, variable : where it stands, and by what is differentiated
    printed : right side, in units of κ
    sign : of the derivative, as the proof needs it; empty if it claims none there
    case : sub-family to which it is restricted, or empty
    where : what is replaced before both sides are compared
    remark : which of several lines for one derivative this is
    bounds : whether the line is an upper bound and not an equation
    """

    lemma: int
    variable: str
    printed: str
    sign: str = ""
    case: str = ""
    where: dict[str, str] = field(default_factory=dict)
    remark: str = ""
    bounds: bool = False

    @property
    def title(self) -> str:
        """How a reader finds it."""
        player = {"a": 1, "b": 2, "c": 3}[self.variable[0]]
        words = [f"Lemma {self.lemma}, ∂u{player}/∂{self.variable}"]
        words += [self.case] if self.case else []
        return ", ".join([*words, self.remark] if self.remark else words)


_SECOND, _UPPER = "with Table 3's b33", "upper bound by Table 3's c33"
STEPS = (
    Step(3, "c23", "0", "= 0"),
    Step(3, "c33", "0", "= 0"),
    Step(3, "c34", "0", "= 0"),
    Step(3, "c22", "-b11 - 4*b21", "≤ 0"),
    Step(3, "c32", "-b11 - b21", "≤ 0"),
    Step(3, "c31", "-4 + 5*b11 + 5*b21 + b23 - b21*b23", "< 0"),
    Step(3, "c31", "-1/2 - b21*b23", "< 0", remark="upper bound by Lemma 2", bounds=True),
    Step(3, "c41", "2*b33 + 2*b23*(1 - 2*b21)", "≥ 0"),
    Step(3, "c21", "2 + 2*b11 + 4*b21 - 4*b33"),
    Step(3, "c21", "2*b21 - 2*beta + 4*b23*(1-b21)", where=_B33, remark=_SECOND),
    Step(3, "c11", "2 + 4*b11 + 2*b21 - 4*b23*(1-b21) - 4*b33"),
    Step(3, "c11", "2*b11 - 2*beta", where=_B33, remark=_SECOND),
    Step(3, "c21", "0", "= 0", _LOW, _B33 | _CASE[_LOW]),
    Step(3, "c11", "2*b11 - 2*b21", "≤ 0", _LOW, _B33 | _CASE[_LOW]),
    Step(
        *(3, "c21", "2*b21 - 2*b11 + 4*(1/2)*(b11-b21)", "≤ 0", _HIGH),
        where=_B33 | _CASE[_HIGH],
        bounds=True,
    ),
    Step(3, "c11", "2*b11 - 2*b11", "= 0", _HIGH, _B33 | _CASE[_HIGH]),
    Step(3, "c21", "2*b21 - 2*b21", "= 0", _BETWEEN, _B33 | _CASE[_BETWEEN]),
    Step(3, "c11", "2*b11 - 2*b11", "= 0", _BETWEEN, _B33 | _CASE[_BETWEEN]),
    *(Step(4, name, "0", "= 0") for name in ("b11", "b22", "b32", "b33", "b41")),
    Step(4, "b31", "(-5 + b34)/2", "< 0"),
    Step(4, "b34", "(-1 + b31)/2", "≤ 0"),
    Step(4, "b23", "2*(1-b21)*(1-2*c11)"),
    Step(4, "b21", "2*b23*(1-2*c11)"),
    Step(4, "b23", "-2*(1-b21)", "≤ 0", _LOW, {"c11": "0"}),
    Step(4, "b21", "2*b23", "= 0", _LOW, {"c11": "0"}),
    Step(4, "b23", "0", "= 0", _HIGH, {"c11": "1/2"}),
    Step(4, "b21", "0", "= 0", _HIGH, {"c11": "1/2"}),
    Step(4, "b23", "-2*(1-b21)*(1-2*c11)", "≤ 0", _BETWEEN),
    Step(4, "b21", "0", "= 0", _BETWEEN, {"b23": "0"}),
    Step(5, "a33", "0", "= 0"),
    Step(5, "a23", "4*(-1+a21)*b21", "≤ 0"),
    Step(5, "a34", "(-1+a31)*(b11+b21)", "≤ 0"),
    Step(5, "a11", "2 - 4*b32 - 4*c33", "≤ 0"),
    Step(5, "a22", "(1-a21)*(b11 + 2*(b11+b21)*c11 + 3*c11 - 2)", "≤ 0"),
    Step(
        *(5, "a21"),
        "2 - 4*b32 - 4*c33 + 2*a22 + 4*a23*b21 - a22*b11 - 2*a22*(b11+b21)*c11 - 3*a22*c11",
    ),
    Step(
        *(5, "a21", "2 - 4*b32 - 4*c33", "≤ 0"),
        where={"a22": "0", "a23": "0"},
        remark="with a22 = a23 = 0",
    ),
    Step(5, "a32", "(1-a31)*(-1 + 4*b21 + 8*c11*(b11-b21))/2"),
    Step(5, "a41", "(-2*c11*(b11-b21) - 2 - 4*b21 - 3*b11 + 4*b32 + 4*c33)/2"),
    Step(5, "a41", "(-2*c11*(b11-b21) - b21 + beta)/2", where=_C33, remark=_UPPER),
    Step(5, "a32", "(1-a31)*(-1 + 4*b21)/2", "≤ 0", _LOW, _CASE[_LOW]),
    Step(5, "a41", "0", "≤ 0", _LOW, _C33 | _CASE[_LOW], remark=_UPPER),
    Step(5, "a32", "(1-a31)*(-1 + 4*b11)/2", "≤ 0", _HIGH, _CASE[_HIGH]),
    Step(5, "a41", "0", "≤ 0", _HIGH, _C33 | _CASE[_HIGH], remark=_UPPER),
    Step(5, "a32", "(1-a31)*(-1 + 4*b21)/2", "≤ 0", _BETWEEN, {"b11": "b21"}),
    Step(5, "a41", "0", "≤ 0", _BETWEEN, _C33 | _CASE[_BETWEEN], remark=_UPPER),
    Step(
        *(5, "a31"),
        "(-5 + 8*a32*(b21-b11)*c11 + 2*a34*(b11+b21) + 3*b11 + 6*b21 + a32 + 6*b11*c11"
        " - 6*b21*c11 - 4*a32*b21)/2",
    ),
    Step(
        *(5, "a31", "(-5 + 3*b11 + 6*b21 + 6*b11*c11 - 6*b21*c11)/2", "< 0"),
        where={"a32": "0", "a34": "0"},
        remark="with a32 = a34 = 0",
    ),
    Step(5, "a31", "-2/2", "< 0", remark="upper bound by Lemma 2", bounds=True),
)
