"""The fourteen solutions, cell by cell, against complete lists of equilibria."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from eqbench.equilibria.expressions import IrrationalError, evaluate
from eqbench.papers.billingham_2017.expected_profits import spoken
from eqbench.papers.billingham_2017.found import (
    ROUNDING,
    Found,
    by_pot,
    counted,
    equilibria,
    inside,
    present,
    same,
    shown,
)
from eqbench.papers.billingham_2017.printed_solutions import SOLUTIONS, Bounds, Solution, Value
from eqbench.papers.claims import Claim, Part, Reading, differs, holds, reproduced, source_error
from eqbench.papers.stored import NotStoredError, Stored

NEAREST = 2e-6  # how far apart two pots may be that bracket an end


def value_of(text: str, each: Found) -> Any:
    """Arithmetic at an equilibrium: exact if it is rational."""
    try:
        if each.is_rational:
            return evaluate(text, each.names)
    except IrrationalError:
        pass
    return evaluate(text, {name: float(value) for name, value in each.names.items()}, exact=False)


def members_of(stored: Stored, name: str) -> list[Found]:
    """What goes by this name, at pots where no other solution is so near that it is doubtful."""
    found = [each for each in inside(equilibria(stored)) if each.solutions[0] == name]
    if not found:
        raise NotStoredError(f"case enumeration found no member of Solution {name}")
    return found


def _sample(found: Sequence[Found]) -> list[Found]:
    """The members at one pot, inside the range where there is such a pot."""
    groups = by_pot(found)
    return groups[sorted(groups)[len(groups) // 2]]


def _pots(found: Sequence[Found]) -> str:
    return counted(len(by_pot(found)), "pot")


def _value(solution: Solution, entry: Value) -> Claim:
    def read(stored: Stored) -> Reading:
        found = members_of(stored, solution.name)

        def agree(text: str) -> bool:
            return all(same(value_of(text, each), value_of(entry.of, each)) for each in found)

        sample = _sample(found)
        ours = sorted({shown(value_of(entry.of, each)) for each in sample})
        text = f"{' to '.join([ours[0], ours[-1]][: len(ours)])} at P = {shown(sample[0].pot)}"
        if agree(entry.printed):
            return reproduced(
                text, f"the same in {counted(len(found), 'member')} at {_pots(found)}"
            )
        if entry.corrected and agree(entry.corrected):
            return _misprint(stored, solution, entry, text)
        gap = max(abs(float(value_of(entry.printed, e) - value_of(entry.of, e))) for e in found)
        return differs(text, f"by up to {gap:.3g}")

    return Claim(f"Solution {solution.name}", entry.of, spoken(entry.printed), read)


def _misprint(stored: Stored, solution: Solution, entry: Value | Bounds, ours: str) -> Reading:
    """What an entry is that has regret as printed and none as corrected.

    An error of the source, unless the paper has the corrected entry elsewhere.
    """
    wrong = _regret(stored, solution.evidence[entry.of])
    right = _regret(stored, solution.evidence["corrected"])
    regrets = (
        f"a profile with the printed entry has max regret {wrong} ({float(wrong):.3g}), the "
        f"corrected one exactly {right}"
    )
    if not wrong > 0 or right != 0:
        return differs(ours, regrets)
    ends = (entry.corrected,) if isinstance(entry, Value) else entry.corrected
    right_one = " to ".join(map(spoken, ends))
    if entry.elsewhere:
        return reproduced(ours, f"{garbled(entry.elsewhere)}: {right_one}; {regrets}")
    return source_error(ours, f"it is {right_one}: {regrets}")


def garbled(elsewhere: str) -> str:
    """What is said of an entry that the paper has right in another place."""
    return f"garbled in our text; the paper's {elsewhere}"


def _regret(stored: Stored, job: str) -> Fraction:
    return max(map(Fraction, stored[job].printed_json["exact"]["regrets"]))


def _bounds(solution: Solution, entry: Bounds) -> Claim:
    def read(stored: Stored) -> Reading:
        found = members_of(stored, solution.name)
        sample = [value_of(entry.of, each) for each in _sample(found)]
        text = f"{shown(min(sample))} to {shown(max(sample))} at P = {shown(_sample(found)[0].pot)}"
        misses = _misses(found, entry, (entry.low, entry.high))
        if not misses:
            return reproduced(text, f"both ends are taken at {_pots(found)}")
        if any(entry.corrected) and not _misses(found, entry, entry.corrected):
            return _misprint(stored, solution, entry, text)
        return differs(text, f"another range at {counted(len(misses), 'pot')}")

    printed = " ≤ ".join(filter(None, map(spoken, (entry.low, entry.of, entry.high))))
    return Claim(f"Solution {solution.name}", entry.of, printed, read)


def _misses(found: Sequence[Found], entry: Bounds, ends: tuple[str, str]) -> list[Fraction]:
    """Pots at which an end is exceeded, or not reached by any corner."""
    missed = []
    for pot, group in by_pot(found).items():
        for sign, end in zip((-1, 1), ends, strict=True):
            if end:
                over = [sign * float(value_of(f"({entry.of}) - ({end})", each)) for each in group]
                if abs(max(over)) > ROUNDING:
                    missed.append(pot)
    return missed


def _range(solution: Solution) -> Claim:
    def read(stored: Stored) -> Reading:
        pots = present(equilibria(stored))
        inside_pots = [pot for pot, names in pots.items() if solution.name in names]
        outside = [pot for pot, names in pots.items() if solution.name not in names]
        first, last = min(inside_pots), max(inside_pots)
        below = max((pot for pot in outside if pot < first), default=None)
        above = min((pot for pot in outside if pot > last), default=None)
        ours = f"found at {len(inside_pots)} pots from {shown_pot(first)} to {shown_pot(last)}"
        if first == last:
            ours = f"found at pot {shown_pot(first)}"
        neither = " or ".join(shown_pot(pot) for pot in (below, above) if pot is not None)
        ours += f", not at {neither}"
        ends = brackets(below, first, solution.start) and brackets(last, above, solution.end)
        gaps = [pot for pot in outside if first < pot < last]
        if not ends or gaps:
            return differs(ours, "the ends are elsewhere" if not gaps else "not everywhere between")
        if not solution.names_pot:
            return source_error(ours, "so it is P that lies between the two; that was left out")
        return reproduced(ours)

    return Claim(f"Solution {solution.name}", "range", solution.span, read)


def brackets(low: Fraction | None, high: Fraction | None, end: str) -> bool:
    """Whether an end lies between two pots that are close, or is where the game itself ends."""
    if not end:
        return high is None
    value = float(evaluate(end, {}, exact=False))
    if low is None:
        return high == value == 2
    return high is not None and low <= value <= high and high - low <= NEAREST


def shown_pot(pot: Fraction) -> str:
    """A pot as it was given: a short fraction, or a decimal."""
    return str(pot) if pot.denominator < 10 else f"{float(pot):.10g}"


def _ten_a(stored: Stored) -> list[Found]:
    return members_of(stored, "10a")


def _sum_at_the_low_end(stored: Stored) -> Reading:
    found = _ten_a(stored)
    low = min(each.values["b1"] for each in found)
    sums = {each.values["c1"] + each.values["d2"] for each in found if each.values["b1"] == low}
    ours = f"c1 + d2 = {', '.join(map(shown, sorted(sums)))} where b1 = {shown(low)}"
    if sums == {Fraction(5, 2)} and low == Fraction(1, 2):
        return reproduced(ours)
    regret = _regret(stored, "printed_10a_b1")
    if not regret:
        return differs(ours, "though b1 = 1/2 has no regret")
    if sums != {Fraction(5, 3)} or low != Fraction(1, 3):
        return differs(ours, "nor is it the sum of Solution 9")
    return reproduced(
        ours,
        f"{garbled('equation (16) reads 2P/(P+1) = 5/3 with b1 = 2/(P+1) = 1/3')}; no two "
        f"frequencies add up to 5/2, and a profile with b1 = 1/2 has max regret {regret}",
    )


def _above_the_low_end(stored: Stored) -> Reading:
    found = _ten_a(stored)
    low = min(each.values["b1"] for each in found)
    above = [each for each in found if each.values["b1"] > low]
    truth = all(each.values["c1"] == Fraction(2, 3) and each.values["d2"] == 1 for each in above)
    ours = f"c1 = 2/3 and d2 = 1 in {counted(len(above), 'member')} with b1 > {shown(low)}"
    return holds(bool(above) and truth, ours, "not in all of them")


def _claims(solution: Solution) -> list[Claim]:
    claims = [_range(solution)]
    for entry in solution.entries:
        claims.append(
            _value(solution, entry) if isinstance(entry, Value) else _bounds(solution, entry)
        )
    if solution.name == "10a":
        row = "Solution 10a"
        claims += [
            Claim(row, "c1 + d2, lower end", "5/2 when b1 = 1/2", _sum_at_the_low_end),
            Claim(row, "c1 and d2", "2/3 and 1 when b1 > 1/3", _above_the_low_end),
        ]
    return claims


_NOTE = (
    "Ours are the complete lists of equilibria that case enumeration finds at pots inside each "
    "range, at its ends, and 1e-6 at either side of them; a printed formula is compared with all "
    "members there, exactly where they are rational, and bounds have to be taken by corners of "
    "the list. Where the text that was available is wrong but the paper has the same figure right "
    "in another place, the claim counts as reproduced and says so; other errors may be damage of "
    "that text, too."
)
SOLUTIONS_PART = Part(
    title="Equations (5) to (18): the solutions",
    note=_NOTE,
    claims=tuple(claim for solution in SOLUTIONS for claim in _claims(solution)),
)
