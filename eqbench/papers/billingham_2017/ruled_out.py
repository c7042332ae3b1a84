"""What section 3 rules out before its table, and equation (4)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from eqbench.papers.billingham_2017.expected_profits import polynomial
from eqbench.papers.billingham_2017.found import ROUNDING, Found, equilibria, same, shown
from eqbench.papers.billingham_2017.polynomials import derivative, printed, text
from eqbench.papers.claims import Claim, Part, Reading, holds, reproduced, source_error
from eqbench.papers.stored import Stored


def _in_all(
    truth: Callable[[Found], bool],
    ours: Callable[[list[Found]], str],
    why: Callable[[list[Found]], str] = lambda others: "",
) -> Any:
    """Reading of a property that all equilibria are to have; else those that have not are named."""

    def read(stored: Stored) -> Reading:
        found = equilibria(stored)
        # a profile that is no equilibrium by measurement is no evidence
        others = [e for e in found if not truth(e) and e.max_regret <= ROUNDING]
        if not others:
            return reproduced(ours(found), f"in all {len(found)} equilibria listed")
        pots = ", ".join(map(shown, sorted({each.pot for each in others})))
        names = ", ".join(sorted({name for each in others for name in each.solutions}))
        regret = max(each.max_regret for each in others)
        return source_error(
            ours(found),
            f"otherwise at pot {pots}, in {len(others)} of the equilibria listed for Solution "
            f"{names}, with regret {shown(regret)}{why(others)}",
        )

    return read


def _span(name: str) -> Callable[[list[Found]], str]:
    def ours(found: list[Found]) -> str:
        values = [each.values[name] for each in found]
        return f"{name} from {shown(min(values))} to {shown(max(values))}"

    return ours


def _both_or_none(player: int) -> Any:
    a, b = f"a{player}", f"b{player}"

    def ours(found: list[Found]) -> str:
        both = sum(each.values[a] > 0 and each.values[b] > 0 for each in found)
        none = sum(each.values[a] == 0 and each.values[b] == 0 for each in found)
        return f"both positive in {both}, both 0 in {none} equilibria"

    return _in_all(lambda each: (each.values[a] > 0) == (each.values[b] > 0), ours)


def _bound(each: Found) -> Any:
    """What c1 + d2 is compared with in condition 11."""
    v = each.values
    return (2 * each.pot - 4 + 2 * v["a1"] + 2 * v["a2"]) / (each.pot + 1)


def _beyond(each: Found) -> bool:
    """Whether condition 11(b) holds: c1 + d2 is above its bound, and b3 = 0."""
    v = each.values
    return bool(v["b3"] == 0 and v["c1"] + v["d2"] - _bound(each) > ROUNDING)


def _no_strict_step(others: list[Found]) -> str:
    largest = max(_bound(each) for each in others)
    why = f"; the bound of c1 + d2 is {shown(largest)} there"
    if largest == 0:
        why += ", so the strict step fails; 11(b) itself, a strict >, cannot hold there either"
    return why


def _without_bluffs(found: list[Found]) -> str:
    none = sum(each.values["b3"] == 0 for each in found)
    beyond = sum(map(_beyond, found))
    return f"b3 = 0 in {none} of {len(found)} equilibria, with c1 + d2 above its bound in {beyond}"


def _second_five(stored: Stored) -> Reading:
    """Which conditions give c3 = d1 = 0: 5 is the derivative in c3; is it that in d1 as well?"""
    slopes = {
        name: derivative(polynomial(stored, player), name)
        for player, name in ((3, "c3"), (1, "d1"))
    }
    shape = {name: f"∂(24 E)/∂{name} = {text(slope)}" for name, slope in slopes.items()}
    if slopes["c3"] == slopes["d1"] or slopes["d1"] != printed("(P+1)*b2 - 2*a2"):
        return reproduced(f"{shape['c3']}, {shape['d1']}")
    return source_error(
        "5. and 6.", f"{shape['c3']} is condition 5, but {shape['d1']} is condition 6"
    )


def _misprinted_bullet(stored: Stored) -> Reading:
    """Which frequencies the comparison with (2P-4+2a1)/(P+1) is about."""
    first = derivative(polynomial(stored, 1), "b1")
    second = derivative(polynomial(stored, 2), "b2")
    ours = [sorted({n for key in each for n in key.split()}) for each in (first, second)]
    bound = f"that bound is one on {' + '.join(n for n in ours[1] if n != 'a1')}, condition 7"
    if "a1" in ours[1] and "c2" not in ours[1] and "a1" not in ours[0]:
        evidence = (
            f"∂E2/∂b2 depends on {', '.join(ours[1])} only, and ∂E1/∂b1 of condition 3 on "
            f"{', '.join(ours[0])} only"
        )
        return source_error(bound, evidence)
    return reproduced(bound)


def _four(theirs: dict[str, Callable[[Found], Any]], *, low: bool) -> Any:
    """Reading of one row of (4), of equilibria at pots below or above 5."""

    def read(stored: Stored) -> Reading:
        found = [
            each
            for each in equilibria(stored)
            if each.values["a1"] > 0 and (each.pot < 5 if low else each.pot > 5)
        ]
        misses = [
            each
            for each in found
            if not all(same(each.values[k], f(each)) for k, f in theirs.items())
        ]
        ours = f"in {len(found) - len(misses)} of {len(found)} equilibria with a1 > 0"
        return holds(bool(found) and not misses, ours, f"not in {len(misses)}")

    return read


def _at_five(stored: Stored) -> Reading:
    """At pot 5, equilibria with b1 between the values of both rows."""
    found = [each for each in equilibria(stored) if each.pot == 5 and each.values["a1"] > 0]
    rows = {Fraction(1, 3), Fraction(2, 5)}
    between = [e for e in found if e.values["b1"] not in rows and e.max_regret == 0]
    ours = f"{len(found) - len(between)} of {len(found)} equilibria with a1 > 0 have one of the two"
    if not between:
        return reproduced(ours)
    each = between[0]
    return source_error(
        ours,
        f"one with b1 = {each.values['b1']}, c2 = {each.values['c2']}, d3 = {each.values['d3']} "
        f"has regret {each.max_regret}: it belongs to Solution {each.solutions[0]} of the paper",
    )


_RULED_OUT = (
    Claim(
        "3(a) cannot hold", "b1 ≠ 1", "b1 < 1 in every equilibrium",
        _in_all(lambda each: each.values["b1"] < 1, _span("b1")),
    ),
    Claim(
        "7(a) cannot hold", "b2 ≠ 1", "b2 < 1 in every equilibrium",
        _in_all(lambda each: each.values["b2"] < 1, _span("b2")),
    ),
    Claim(
        "11(a) cannot hold", "b3 < 1", "b3 < 1 in every equilibrium",
        _in_all(lambda each: each.values["b3"] < 1, _span("b3")),
    ),
    Claim(
        "11(b) cannot hold", "", "b3 = 0 never goes with c1 + d2 > (2P−4+2a1+2a2)/(P+1)",
        _in_all(lambda each: not _beyond(each), _without_bluffs),
    ),
    Claim(
        "0 < b3", "the aside, from c1 + d2 = 0 < (2P−4+2a1+2a2)/(P+1)",
        "b3 > 0 in every equilibrium",
        _in_all(
            lambda each: each.values["b3"] > 0, _span("b3"), _no_strict_step
        ),
    ),
    Claim("a1 and b1", "", "both 0 or both positive", _both_or_none(1)),
    Claim("a2 and b2", "", "both 0 or both positive", _both_or_none(2)),
    Claim("a2 > 0, b2 = 0", "premises", "5. and 5. show that c3 = d1 = 0", _second_five),
    Claim(
        "a2 > 0, b2 = 0", "which condition",
        "c2 + d3 = 0 < (2P−4+2a1)/(P+1) contradicts condition 3", _misprinted_bullet,
    ),
    Claim(
        "(4)", "P ≤ 5", "b1 = 2a1/(P+1), c2 = 0, d3 = (2P−4)/(P+1) where a1 > 0",
        _four(
            {
                "b1": lambda each: 2 * each.values["a1"] / (each.pot + 1),
                "c2": lambda each: 0 * each.pot,
                "d3": lambda each: (2 * each.pot - 4) / (each.pot + 1),
            },
            low=True,
        ),
    ),
    Claim(
        "(4)", "P ≥ 5", "b1 = 2a1/P, c2 = (P−5)/(P+1), d3 = 1 where a1 > 0",
        _four(
            {
                "b1": lambda each: 2 * each.values["a1"] / each.pot,
                "c2": lambda each: (each.pot - 5) / (each.pot + 1),
                "d3": lambda each: 1 + 0 * each.pot,
            },
            low=False,
        ),
    ),
    Claim("(4)", "P = 5", "b1 = 1/3 or 2/5 where a1 > 0, as both rows hold", _at_five),
)  # fmt: skip

RULED_OUT = Part(
    title="Section 3: what is ruled out",
    note=(
        "Looked up in the complete lists of equilibria that case enumeration found at the pots of "
        "the job: corners and middles of all pieces. Their regrets were measured, exactly where "
        "they are rational. Pot 5, where the two rows of (4) meet, has a row of its own."
    ),
    claims=_RULED_OUT,
)
