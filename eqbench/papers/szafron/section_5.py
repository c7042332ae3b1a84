"""The text of section 5 beside Table 3: ranges, dependent parameters and utilities."""

from __future__ import annotations

from fractions import Fraction

from eqbench.papers.claims import Part, Reading, differs, holds, source_error
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import SUB_FAMILIES
from eqbench.papers.szafron.readings import Read, statement

_LOW, _BETWEEN, _HIGH = SUB_FAMILIES


def _formula(name: str, text: str) -> Read:
    """A formula of the text, which must be Table 3's in the sub-family and give equilibria."""

    def read(stored: Stored) -> Reading:
        found = stored["text"].summary[name]
        difference, wrong, members = (found[k] for k in ("difference", "not_equilibria", "members"))
        beyond = found["beyond"]
        after = f"1/64 beyond it at {beyond['not_equilibria']} of {beyond['profiles']}"
        if difference == "0":
            return holds(
                members > wrong == 0 and (not beyond["profiles"] or beyond["not_equilibria"] > 0),
                f"as in Table 3, {text}: nobody gains at {members} members with it",
                f"somebody gains up to {found['most']} at {wrong} of {members} members, {after}",
                f"somebody gains {after}" if beyond["profiles"] else "beyond it is no profile",
            )
        if wrong and found["table_3_equilibria"] == found["of"]:
            return source_error(
                f"by Table 3 it is {text}",
                f"printed minus Table 3 = {difference}; as printed somebody gains up to "
                f"{found['most']} at {wrong} of {members} members, by Table 3 nobody gains "
                f"anything at any of {found['of']}",
            )
        return differs(text, f"printed minus Table 3 = {difference}")

    return read


def _up_to_half(stored: Stored) -> Reading:
    found = stored["domains"].summary["small_bluffs"]
    points, right, largest = found["points"], found["equilibria"], found["largest"]
    return holds(
        points == right > 0 and Fraction(1, 2) - Fraction(largest) <= Fraction(1, 64),
        f"equilibria at all {points} lattice points of Figure 6 with b11 ≤ 1/6, c11 up to "
        f"{largest}",
        f"{points - right} of {points} are none; c11 up to {largest}",
    )


def _depends_on_beta(sub_family: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["certificates"].summary["certificates"][sub_family]
        right, members = found["payoffs_as_printed"], found["members"]
        return holds(
            right == [members] * 3,
            f"payoffs are exactly the functions of β of Table 3 at {members:,} members",
            f"{[members - each for each in right]} have others",
        )

    return read


TEXT = Part(
    title="Section 5: ranges and dependent parameters as the text gives them",
    claims=(
        statement("c11 = 0: b11", "≤ b21", _formula("low b11", "the end of b11")),
        statement("c11 = 0: b21", "≤ 1/4", _formula("low b21", "the end of b21")),
        statement("c11 = 0: b23", "0", _formula("low b23", "b23 = 0")),
        statement(
            "c11 = 0: b32", "≤ (2 + 3b11 + 4b21)/4", _formula("low b32", "upper bound of b32")
        ),
        statement(
            "c11 = 0: c33",
            "1/2 − b32 to 1/2 − b32 + (3b11 + 4b21)/4",
            _formula("low c33", "upper bound of c33"),
        ),
        statement(
            "c11 = 0: c33, lower end",
            "≥ 1/2 − b32",
            _formula("low c33 least", "lower bound of c33"),
        ),
        statement("c11 = 0: b33", "(1 + b11 + 2b21)/2", _formula("low b33", "b33")),
        statement("c11 = 0: b41", "2b11 + 2b21", _formula("low b41", "b41")),
        statement("c11 = 0: c21", "1/2", _formula("low c21", "c21")),
        statement("c11 = 0: utilities", "depend on β = b21 only", _depends_on_beta(_LOW)),
        statement("0 < c11 < 1/2: b11", "≤ 1/4", _formula("between b11", "the end of b11")),
        statement("0 < c11 < 1/2: b21", "= b11", _formula("between b21", "b21 = b11")),
        statement("0 < c11 < 1/2: b23", "0", _formula("between b23", "b23 = 0")),
        statement("0 < c11 < 1/2: b32", "≤ (2 + 7b11)/4", _formula("between b32", "upper bound")),
        statement(
            "0 < c11 < 1/2: c11 where b11 ≤ 1/6",
            "< 1/2",
            _up_to_half,
        ),
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
        statement(
            "0 < c11 < 1/2: c33, lower end",
            "≥ 1/2 − b32",
            _formula("between c33 least", "lower bound of c33"),
        ),
        statement("0 < c11 < 1/2: b33", "(1 + 3b11)/2", _formula("between b33", "b33")),
        statement("0 < c11 < 1/2: b41", "4b11", _formula("between b41", "b41")),
        statement("0 < c11 < 1/2: c21", "1/2 − c11", _formula("between c21", "c21")),
        statement("0 < c11 < 1/2: utilities", "depend on β = b11 only", _depends_on_beta(_BETWEEN)),
        statement("c11 = 1/2: b11", "≤ 1/4", _formula("high b11", "the end of b11")),
        statement(
            "c11 = 1/2: b21 where b11 ≤ 1/6", "≤ b11", _formula("high b21 small", "the end of b21")
        ),
        statement(
            "c11 = 1/2: b21 where b11 ≥ 1/6",
            "≤ 1/2 − 2b11",
            _formula("high b21", "b21 ≤ 1/2 − 2b11 is what c11 = 1/2 allows"),
        ),
        statement(
            "c11 = 1/2: b23", "≤ (b11 − b21)/2(1 − b21)", _formula("high b23", "upper bound of b23")
        ),
        statement("c11 = 1/2: b32", "≤ (2 + 4b11 + 3b21)/4", _formula("high b32", "upper bound")),
        statement(
            "c11 = 1/2: c33",
            "1/2 − b32 to 1/2 − b32 + (4b11 + 3b21)/4",
            _formula("high c33", "upper bound of c33"),
        ),
        statement(
            "c11 = 1/2: c33, lower end",
            "≥ 1/2 − b32",
            _formula("high c33 least", "lower bound of c33"),
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
        "sub-family (c11, β, and b21 = b11 or b23 = 0), and measured exactly at members "
        "whose parameter is as printed and 1/64 beyond; what depends on it follows Table 3."
    ),
)
