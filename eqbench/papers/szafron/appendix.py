"""Theorem 1 with Table 2, and the appendix: equations, derivatives and lemmas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, source_error
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import KAPPA, NECESSARY, SUB_FAMILIES, in_kappa
from eqbench.papers.szafron.printed_formulas import STEPS
from eqbench.papers.szafron.readings import Read, equal, same, statement

_PLAYERS = {"a": "P1", "b": "P2", "c": "P3"}
_TERMS = {"1": (333, 134), "2": (457, 158), "3": (457, 167)}
_SIGNS = {
    "= 0": lambda low, high: low == high == 0,
    "≤ 0": lambda low, high: high <= 0,
    "< 0": lambda low, high: high < 0,
    "≥ 0": lambda low, high: low >= 0,
}


# -- Table 2 and Theorem 1 -----------------------------------------------------------------


def _necessary(name: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["formulas"].summary["dominance"][name]
        least, most = found["least"], found["most"]
        forced = 0 if most < 0 else 1 if least > 0 else None
        text = f"{least:+d}" if least == most else f"{least:+d} to {most:+d}"
        ours = f"{'not forced' if forced is None else forced}: calling changes the payoff by {text}"
        return holds(forced == NECESSARY[name], ours, "the sign is not the one that is needed")

    return read


def _reached(stored: Stored) -> Reading:
    found = stored["open_question"].summary["all"]
    return holds(
        found["off_table_2"] <= 1e-6,
        f"in {found['equilibria']:,} equilibria that solvers found, reached parameters are within "
        f"{found['off_table_2']:.0e} of Table 2",
        f"one is {found['off_table_2']:.1e} off",
    )


def _forced(stored: Stored) -> Reading:
    dominance = stored["formulas"].summary["dominance"]
    forced = [n for n, d in dominance.items() if (d["most"] < 0 or d["least"] > 0)]
    return holds(
        len(forced) == 21,
        f"{len(forced)} parameters whose derivative has the sign of their reach",
        f"{21 - len(forced)} are not forced",
    )


def _left(stored: Stored) -> Reading:
    sizes = stored["game_without_dominated"].printed_json["sizes"]
    return equal(27, sizes["free frequencies"])


TABLE_2 = Part(
    title="Table 2: the 21 necessary values",
    claims=tuple(
        Claim(name, _PLAYERS[name[0]], str(value), _necessary(name))
        for name, value in sorted(NECESSARY.items(), key=lambda item: (item[0][1:], item[0]))
    ),
    note=(
        "For each history of the information set and whatever is played afterwards, we compute "
        "what calling earns more than folding, in chips. The derivative of the payoff is the sum "
        "of such differences, each times the probability of its history. Where all of them have "
        "one sign the value is forced if the parameter is reached, and cannot hurt if it is not."
    ),
)
THEOREM_1 = Part(
    title="Theorem 1 and Lemma 1",
    claims=(
        statement("Nobody gains by leaving the values of Table 2", "21 parameters", _forced),
        statement("Every equilibrium has them where they are reached", "all equilibria", _reached),
        statement("Parameters left", "27", _left),
        statement(
            "Parameters in the utilities once Table 2 is set",
            "27",
            same("formulas", 27, "names_necessary"),
        ),
        statement(
            "Lemma 1: u_i is linear in each parameter",
            "of degree 1",
            same("formulas", 1, "largest_degree"),
        ),
    ),
    note=(
        "The first statement is proved by the differences of Table 2; the second follows from "
        "them, and is checked on what solvers found. Lemma 1 rests on the payoffs being linear in "
        "each parameter, which we read off the polynomials that the game tree gives."
    ),
)


# -- equations -----------------------------------------------------------------------------


def _equation(*keys: str) -> Read:
    def read(stored: Stored) -> Reading:
        found: Any = stored["formulas"].summary
        for key in keys:
            found = found[key]
        ours = f"the same polynomial, {found['terms']} terms when multiplied out"
        by = f"printed minus exact: {found['difference']}"
        return holds(found["difference"] == "0", ours, by)

    return read


def _terms(player: str, position: int) -> Read:
    name = ("terms", "terms_necessary")[position]

    def read(stored: Stored) -> Reading:
        ours = stored["formulas"].summary[name][int(player) - 1]
        return equal(_TERMS[player][position], ours)

    return read


def _four_times(stored: Stored) -> Reading:
    left = stored["formulas"].summary["derivative_minus_4_reach"]
    return holds(left == 0, "the same polynomial", f"{left} terms differ")


EQUATIONS = Part(
    title="Equations (1) to (5) and the numbers of terms",
    claims=(
        statement("(1): probability of reaching I(c43)", "6 products", _equation("reach_c43")),
        statement("(2): ∂u3/∂c43", "6 products, times 4κ", _equation("derivative_c43")),
        statement("∂u3/∂c43 = 4 π(I(c43))", "from (1) and (2)", _four_times),
        statement("(3): u3, others by Table 3", "24 terms", _equation("equations", "3")),
        statement("(4): u2, others by Table 3", "8 terms", _equation("equations", "4")),
        statement("(5): u1, others by Table 3", "46 terms", _equation("equations", "5")),
        *(
            Claim(
                f"Terms of u{player}",
                column,
                str(_TERMS[player][position]),
                _terms(player, position),
            )
            for player in _TERMS
            for position, column in enumerate(("48 parameters", "Table 2 set"))
        ),
    ),
    note=(
        "The expected payoffs are multiplied out from the game tree as polynomials with integer "
        "coefficients, in units of κ; the printed ones are parsed and subtracted. The terms of (3) "
        "to (5) are our count of what is printed."
    ),
)


# -- lemmas --------------------------------------------------------------------------------


def _derivative(position: int) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["formulas"].summary["steps"][position]
        low, high = Fraction(found["smallest"]), Fraction(found["largest"])
        members = _range(low, high, found["members"])
        above = Fraction(found["printed_minus_exact"][0]) >= 0
        if STEPS[position].bounds:
            holding = above and _SIGNS[found["sign"]](low, high)
            return holds(holding, f"never above it; {members}", members)
        if found["difference"] == "0":
            sign = found["sign"]
            holding = not sign or _SIGNS[sign](low, high)
            return holds(holding, f"the same polynomial; {members}", members)
        evidence = f"printed minus exact = {found['difference']}"
        if any(Fraction(gap) for gap in found["printed_minus_exact"]):
            signs = _SIGNS.get(found["sign"])
            kept = "; the sign that the proof needs holds" if signs and signs(low, high) else ""
            return source_error(f"κ({found['ours']})", f"{evidence} (in κ), not 0 at members{kept}")
        return differs(f"κ({found['ours']})", f"{evidence} (in κ)")

    return read


def _range(low: Fraction, high: Fraction, members: int) -> str:
    """Extremes of a derivative that is given in κ."""
    ends = in_kappa(low * KAPPA), in_kappa(high * KAPPA)
    text = ends[0] if low == high else f"between {ends[0]} and {ends[1]}"
    return f"the derivative is {text} at {members} members"


def _theirs(position: int) -> str:
    step = STEPS[position]
    relation = "≤ " if step.bounds else ""
    text = f"{relation}κ({step.printed})" if step.printed != "0" else f"{relation}0"
    return f"{text}, {step.sign}" if step.sign and step.printed != "0" else text


def _bluffs(sub_family: str) -> Read:
    def read(stored: Stored) -> Reading:
        b11, b21 = stored["formulas"].summary["largest_bluffs"][sub_family]
        ours = f"the constraints leave b11 ≤ {b11}, b21 ≤ {b21}"
        return holds(max(Fraction(b11), Fraction(b21)) <= Fraction(1, 4), ours, "one is larger")

    return read


def _lemma(number: int) -> tuple[Claim, ...]:
    return tuple(
        statement(step.title.partition(", ")[2], _theirs(k), _derivative(k))
        for k, step in enumerate(STEPS)
        if step.lemma == number
    )


_NOTE = (
    "Ours is the exact derivative of the polynomial that the game tree gives, the others' "
    "parameters as in Table 3; in units of κ. Equations must agree as polynomials; signs and "
    "bounds are evaluated in fractions at corners and random members of the family. beta is β."
)
LEMMA_2 = Part(
    title="Lemma 2: b11 ≤ 1/4 and b21 ≤ 1/4",
    claims=tuple(statement(name, "b11 ≤ 1/4, b21 ≤ 1/4", _bluffs(name)) for name in SUB_FAMILIES),
    note=(
        "The largest values on a lattice of b11 and b21 from 0 to 23/24 in steps of 1/24, and of "
        "c11 in steps of 1/16, that the constraints of Table 3 leave."
    ),
)
LEMMAS = tuple(
    Part(title=f"Lemma {number}: player {player} cannot gain", claims=_lemma(number), note=_NOTE)
    for number, player in ((3, 3), (4, 2), (5, 1))
)

PARTS = (TABLE_2, THEOREM_1)
PROOFS = (EQUATIONS, LEMMA_2, *LEMMAS)
