"""Figures 3 to 7: the domains of the free parameters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, holds, reproduced, source_error
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import in_kappa
from eqbench.papers.szafron.readings import Read, file_picture, statement

# number -> sub-family, what it shows, how ours is drawn
_FIGURES = {
    3: ("c11 = 0", "b11, b21 and b32", "b32 against b21 at each b11"),
    4: ("c11 = 0", "b11, b21 and c33 for values of b32", "c33 against b21 = b11 at each b32"),
    5: ("0 < c11 < 1/2", "b11, b32 and c33", "c33 against b11 at each b32, c11 = 1/4"),
    6: ("0 < c11 < 1/2", "b11 and c11", "c11 against b11"),
    7: ("c11 = 1/2", "b11, b21, b23 and b32", "b23 against b11 at each b21, b32 at its largest"),
}


def _domain(number: int) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["domains"].summary[str(number)]
        points, agree = found["points"], found["agree"]
        ours = (
            f"{found['equilibria']} of {points:,} lattice points are exact equilibria, and just "
            "those that lie in the domain"
        )
        by = f"{points - agree} points differ, such as {(found['missed'] + found['wrong'])[:1]}"
        return holds(agree == points > 0, ours, by)

    return read


def _corner(number: int, wanted: dict[str, str]) -> Read:
    """Whether the largest values of equilibria on the lattice are those of the figure."""

    def read(stored: Stored) -> Reading:
        largest = stored["domains"].summary[str(number)]["largest"]
        ours = ", ".join(f"{name} {largest[name]}" for name in wanted)
        return holds(
            all(largest[name] == value for name, value in wanted.items()),
            f"largest on the lattice: {ours}",
            f"{ours} instead of {wanted}",
        )

    return read


def _regrets(zero: tuple[str, ...], positive: tuple[str, ...]) -> Read:
    """Whether the named profiles are equilibria, and the others are none."""

    def read(stored: Stored) -> Reading:
        found = stored["domains"].summary["corners"]
        gains = {name: Fraction(found[name]) for name in (*zero, *positive)}
        truth = not any(gains[n] for n in zero) and all(gains[n] > 0 for n in positive)
        at = "; ".join(f"{name}: regret {in_kappa(gains[name])}" for name in zero)
        beyond = "; ".join(f"{name}: {in_kappa(gains[name])}" for name in positive)
        return holds(truth, f"{at}; one step (1/1024) beyond somebody gains: {beyond}", beyond)

    return read


def _symmetric(stored: Stored) -> Reading:
    found: Any = stored["domains"].summary["swapped"]
    low, both, (b11, b21) = found["low"], found["both"], found["example"]
    if low == found["high"] == both:
        return reproduced(f"{both} of {found['points']} lattice points are equilibria in both")
    return source_error(
        f"the mirror image of only {both} of {low} lattice points",
        f"with c11 = 0 and b11 = {b11}, b21 = {b21} there is an exact equilibrium, with c11 = 1/2 "
        f"and b11 = {b21}, b21 = {b11} somebody gains: Table 3 has b21 ≤ 1/2 − 2b11 there",
    )


_SPECIAL: dict[int, tuple[Claim, ...]] = {
    3: (
        statement("Ends of b11 and b21", "1/4 both", _corner(3, {"b11": "1/4", "b21": "1/4"})),
        statement(
            "Largest b32 (§5)",
            "15/16 at b11 = b21 = 1/4",
            _regrets(("b32=15/16",), ("b32 more",)),
        ),
    ),
    4: (
        statement(
            "b32 = 7/8, b11 = b21 = 1/4 (§5)",
            "c33 from 0 to 1/16 = 0.0625",
            _regrets(("b32=7/8, c33=0", "b32=7/8, c33=1/16"), ("b32=7/8, c33 more",)),
        ),
        statement(
            "b32 = 15/16 (§5)",
            "a single point: b11 = b21 = 1/4, c33 = 0",
            _regrets(
                ("b32=15/16",),
                ("b32=15/16, c33 more", "b32=15/16, b11 less", "b32=15/16, both less"),
            ),
        ),
        statement("The same with axes swapped for c11 = 1/2 (§5)", "by symmetry", _symmetric),
    ),
    5: (statement("End of b11", "1/4", _corner(5, {"b11": "1/4"})),),
    6: (
        statement("End of b11", "1/4", _corner(6, {"b11": "1/4"})),
        statement(
            "End of c11 (b11 ≤ 1/6)",
            "1/2",
            _regrets(("c11=1/2, c21=0",), ("c11 more, c21=0",)),
        ),
    ),
    7: (statement("Ends of b11 and b23", "1/4 and 1/8", _corner(7, {"b11": "1/4", "b23": "1/8"})),),
}
_LOST = (
    "The drawing is lost in our text of the paper; its domain is the one that the text and Table 3 "
    "describe. Ours: exact regrets at all points of a lattice in and around that domain, the "
    "dependent parameters by Table 3, and of c33 (where it is no axis) the lowest value allowed."
)

PARTS = tuple(
    Part(
        title=f"Figure {number}: {sub_family}, domain of {axes}",
        claims=(
            statement("Domain", f"where {axes} are valid", _domain(number)),
            *_SPECIAL[number],
        ),
        pictures=(
            file_picture(
                f"Figure {number}",
                f"{drawn[0].upper()}{drawn[1:]}. Full dots are exact equilibria, rings are none; "
                "shaded is the domain of the paper.",
                "domains",
                f"figure_{number}.svg",
            ),
        ),
        note=_LOST,
    )
    for number, (sub_family, axes, drawn) in _FIGURES.items()
)
