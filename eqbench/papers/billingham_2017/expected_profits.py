"""Equations (1) to (3), and the eleven conditions that follow from them."""

from __future__ import annotations

import re
from fractions import Fraction

from eqbench.papers.billingham_2017.found import rounded
from eqbench.papers.billingham_2017.polynomials import (
    Polynomial,
    derivative,
    printed,
    read,
    text,
    without,
)
from eqbench.papers.billingham_2017.printed_conditions import CONDITIONS, Condition
from eqbench.papers.claims import Claim, Part, Reading, holds
from eqbench.papers.stored import Stored

# the brackets of 24 E: the frequency before it, or nothing for what is left, and as it is printed
BRACKETS = {
    1: {
        "a1": "-2*b2 + 2*c2 - 2*b3 + 2*d3 - b2*c3",
        "b1": "2*P - 4 - (P+1)*(c2 + d3)",
        "c1": "b2 - 2 + (P + a2)*b3",
        "d1": "(P+1)*b2 - 2*a2",
        "": "(2 - P)*b3 + (2 + c3 - P)*b2",
    },
    2: {
        "a2": "2*d1 + 2*c3 - 2*b3 - c1*b3 - b1*c3",
        "b2": "2*P - 4 + 2*a1 - (P+1)*(c3 + d1)",
        "c2": "P*b1 - 2*a1",
        "d2": "(P+1)*b3 - 2 + b1",
        "": "(2 - P + c1)*b3 + (2 - P)*b1",
    },
    3: {
        "b3": "2*P - 4 + 2*a1 + 2*a2 - (P+1)*(c1 + d2)",
        "c3": "(P + a1)*b2 - (2 - b1)*a2",
        "d3": "(P+1)*b1 - 2*a1",
        "": "(2 - P - c1)*b2 + 2*c1 + (2 - P + c2 - d2)*b1 + 2*d2",
    },
}


def polynomial(stored: Stored, player: int) -> Polynomial:
    """24 E of a player."""
    return read(stored["polynomials"].summary["polynomials"][f"E{player}"])


def _bracket(player: int, frequency: str, theirs: str) -> Claim:
    own = [name for name in BRACKETS[player] if name]

    def reading(stored: Stored) -> Reading:
        whole = polynomial(stored, player)
        ours = derivative(whole, frequency) if frequency else without(whole, own)
        difference = _difference(ours, printed(theirs))
        return holds(not difference, text(ours), f"ours less theirs is {text(difference)}")

    return Claim(
        f"24 E{player}", f"times {frequency}" if frequency else "rest", spoken(theirs), reading
    )


def _difference(one: Polynomial, other: Polynomial) -> Polynomial:
    zero = (Fraction(0), Fraction(0))
    found = {
        key: (
            one.get(key, zero)[0] - other.get(key, zero)[0],
            one.get(key, zero)[1] - other.get(key, zero)[1],
        )
        for key in {**one, **other}
    }
    return {key: value for key, value in found.items() if value != zero}


def spoken(arithmetic: str) -> str:
    """Arithmetic as it is printed, without signs of multiplication."""
    text = re.sub(r"(\d)\*(?=[A-Za-z])", r"\1", arithmetic.replace("**2", "²").replace("**", "^"))
    for written, read_as in (
        ("*", " "),
        ("-", "−"),
        (">=", "≥"),
        ("<=", "≤"),
        ("==", "="),
        ("sqrt", "√"),
    ):
        text = text.replace(written, read_as)
    return text


def _sizes(stored: Stored) -> Reading:
    found = stored["polynomials"].summary
    worst = max(found["distance_to_integers"], found["distance_elsewhere"])
    ours = (
        f"coefficients from {found['corners']:,} payoffs are integers; at random frequencies and "
        f"pot 7 the largest difference from payoffs is {rounded(worst)}"
    )
    return holds(worst <= 1e-9, ours, f"they miss by {worst:.3g}")


PROFITS = Part(
    title="Equations (1) to (3): expected profits",
    note=(
        "Ours are the polynomials through the payoffs of all 2,048 pure choices of the eleven "
        "frequencies at two pots, 24 times the expected profit as in the paper; they are compared "
        "coefficient by coefficient."
    ),
    claims=(
        *(
            _bracket(player, frequency, theirs)
            for player, brackets in BRACKETS.items()
            for frequency, theirs in brackets.items()
        ),
        Claim("All three", "shape", "linear in each frequency and in the pot", _sizes),
    ),
)


def _condition(condition: Condition) -> Claim:
    def reading(stored: Stored) -> Reading:
        slope = derivative(polynomial(stored, condition.player), condition.frequency)
        theirs = printed(f"({condition.times}) * (({condition.left}) - ({condition.right}))")
        difference = _difference(slope, theirs)
        ours = f"∂(24 E{condition.player})/∂{condition.frequency} = {text(slope)}"
        by = f"the sign of {text(difference)} is missing"
        return holds(not difference, ours, by, "positive exactly where the frequency is to be 1")

    theirs = f"{condition.printed}: {condition.frequency} = 1; reversed: 0; equal: free"
    return Claim(f"{condition.number}.", "", theirs, reading)


def _thresholds(stored: Stored) -> Reading:
    found = stored["table_1"].summary["thresholds"]
    ours = (
        f"of the equilibria with a2 > 0, (2−b1)/(P+a1) is the larger one in {found['above']} and "
        f"the smaller one in {found['below']}"
    )
    return holds(min(found.values()) > 0, ours, "only one order occurs")


def _equivalent(stored: Stored) -> Reading:
    found = stored["table_1"].summary["changed"]
    wrong = found.get("meets, regret", 0) + found.get("fails, no regret", 0)
    ours = (
        f"of {sum(found.values()):,} neighbors of equilibria, {found.get('meets, no regret', 0)} "
        f"meet all and have no regret, {found.get('fails, regret', 0):,} fail one and have regret"
    )
    both = found.get("meets, no regret", 0) and found.get("fails, regret", 0)
    return holds(bool(both) and not wrong, ours, f"{wrong} are otherwise")


CONDITIONS_PART = Part(
    title="Section 3: the eleven conditions",
    note=(
        "A condition says where a derivative of a player's own profit is positive. Ours is that "
        "derivative, from the polynomials above; the two sides of the printed comparison, "
        "multiplied with their positive denominator, must differ by exactly this. Neighbors are "
        "equilibria with one frequency changed to 0, 1/2 or 1."
    ),
    claims=(
        *(_condition(condition) for condition in CONDITIONS),
        Claim("All eleven", "", "exactly what satisfies them is an equilibrium", _equivalent),
        Claim(
            "After (4)", "",
            "the size of (2−b1)/(P+a1) relative to 2/(P+1) depends on a1 and b1",
            _thresholds,
        ),
    ),
)  # fmt: skip
