"""Table 1 and the 4,374 cases."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from eqbench.papers.billingham_2017.expected_profits import spoken
from eqbench.papers.billingham_2017.found import ROUNDING, equilibria, present, rounded
from eqbench.papers.billingham_2017.printed_conditions import TABLE, Cell
from eqbench.papers.claims import (
    Claim,
    Part,
    Reading,
    differs,
    holds,
    not_attempted,
    reproduced,
    source_error,
)
from eqbench.papers.stored import Stored

LEFT = Fraction(1, 9) * Fraction(2, 3) * Fraction(1, 3)  # of the cases, after what is ruled out
CONTINUA = ("1a", "2a", "5a", "10a")
ISOLATED = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")


def _cell(number: int, letter: str, cell: Cell) -> Claim:
    name = f"{number}{letter}"

    def read(stored: Stored) -> Reading:
        found = stored["table_1"].summary
        counts = found["cells"][name]
        ours = f"met by {counts['printed']} of {found['equilibria']} equilibria"
        lacking = counts["corrected" if number == 1 else "first"] - counts["printed"]
        if number > 1 and lacking:
            return differs(ours, f"{lacking} equilibria have another frequency")
        if number > 1 and not counts["first"]:
            return _never_met(ours, *counts["without"])
        if not lacking:
            return reproduced(ours)
        regret = max(each["regret"] for each in counts["added"])
        frequencies = ", ".join(sorted({each["a1"] for each in counts["added"]}))
        excluded = {name for each in counts["added"] for name in each["solutions"]}
        names = ", ".join(name for name in (*ISOLATED, *CONTINUA) if name in excluded)
        by = f"{lacking} more profiles meet it with a1 ≤ 1, with a1 = {frequencies} and regret "
        if regret > ROUNDING:
            return differs(ours, f"{by}{regret:.3g}")
        return source_error(
            ours,
            f"{by}{rounded(regret)}: a1 < 1 would exclude the paper's own equilibria, in Solutions "
            f"{names}",
        )

    column = f"({letter})" if letter else "equation"
    return Claim(f"{number}.", column, spoken(" & ".join(cell)), read)


def _never_met(ours: str, profiles: int, regretted: int) -> Reading:
    """Reading of a cell that no equilibrium shows: others must not break it without regret."""
    ours += (
        f", since its inequality holds in none; of {profiles:,} neighbors of equilibria with it "
        f"and another frequency, its player has regret in {regretted:,}"
    )
    return holds(0 < profiles == regretted, ours, f"no regret in {profiles - regretted}")


def _necessary(stored: Stored) -> Reading:
    found = stored["table_1"].summary
    count, lacking = found["equilibria"], found["unmet_corrected"]
    ours = f"{count - found['unmet_as_printed']} of {count} equilibria meet all nine as printed"
    if not found["unmet_as_printed"]:
        return reproduced(ours)
    evidence = f"{count - len(lacking)} do with a1 ≤ 1 in condition 1"
    if max((Fraction(each["regret"]) for each in lacking), default=0) > ROUNDING:
        return differs(ours, f"{len(lacking)} have regret and are no equilibria")
    for each in lacking:
        evidence += (
            f"; a member of Solution {each['solutions'][0]} at pot {each['pot']}, regret "
            f"{each['regret']}, has b1 between the values of 1(b) and 1(c)"
        )
    return source_error(ours, evidence)


def _sufficient(stored: Stored) -> Reading:
    found = stored["table_1"].summary["changed_table"]
    meets, wrong = found.get("meets, no regret", 0), found.get("meets, regret", 0)
    ours = (
        f"of {sum(found.values()):,} neighbors of equilibria, {meets} meet all nine with a1 ≤ 1 "
        f"and have no regret, {wrong} meet them and have regret"
    )
    return holds(meets > 0 and not wrong, ours, f"{wrong} are no equilibria")


TABLE_1 = Part(
    title="Table 1: the nine conditions",
    note=(
        "Each cell is tried on all equilibria of the complete lists. In conditions 2 to 8 a cell "
        "is reproduced if every equilibrium in which its inequality holds also has the frequency "
        "beside it; in condition 1, if nothing more would meet it with a1 ≤ 1. Neighbors are "
        "equilibria with one frequency changed to 0, 1/2 or 1."
    ),
    claims=(
        *(_cell(n, letter, cell) for n, cells in TABLE.items() for letter, cell in cells.items()),
        Claim("All", "necessary", "must be satisfied by an equilibrium", _necessary),
        Claim("All", "sufficient", "what satisfies them is an equilibrium", _sufficient),
    ),
)


def _cases(stored: Stored) -> Reading:
    cells = [cell for cell in stored["enumeration"].cells if cell.game_spec.startswith("skp")]
    every = cells[0].statistics["cases"]
    left, transcribed = float(every * LEFT), math.prod(len(of) for of in TABLE.values())
    used = sum("-" not in name for name in stored["table_1"].summary["combinations"])
    ours = (
        f"{every:,} cases of the enumeration, less what section 3 rules out, are {left:,.6g}; "
        f"equilibria in {used} of them"
    )
    detail = (
        "1 to 3 become one condition (1/9), 7 loses a case (2/3), 11 two (1/3); the table as "
        f"transcribed has {transcribed:,}; arithmetic, not a count of what the paper ran"
    )
    by = f"{left - 4374:+.6g} from the enumeration, {transcribed - 4374:+} as transcribed"
    return holds(left == transcribed == 4374, ours, by, detail)


def _complete(stored: Stored) -> Reading:
    cells = [cell for cell in stored["enumeration"].cells if cell.game_spec.startswith("skp")]
    closed = [c for c in cells if c.status == "ok" and not c.statistics["unresolved"]]
    ours = (
        f"at {len(closed)} of {len(cells)} pots all {cells[0].statistics['cases']:,} = 3^11 cases "
        "were closed, none left open"
    )
    return holds(len(closed) == len(cells), ours, "the others left cases open")


def _minutes(stored: Stored) -> Reading:
    cells = [cell for cell in stored["enumeration"].cells if cell.cpu_s is not None]
    seconds = [cell.cpu_s or 0.0 for cell in cells]
    return not_attempted(
        "times of different tasks on different machines: theirs is for all pots at once; ours are "
        f"{min(seconds):.2f} to {max(seconds):.2f} s for each of {len(cells)} pots, "
        f"{sum(seconds):.0f} s in all"
    )


def _distinct(names: tuple[str, ...]) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = set().union(*present(equilibria(stored)).values())
        ours = [name for name in names if name in found]
        return holds(len(ours) == len(names), f"{len(ours)}: {', '.join(ours)}", "some are missing")

    return read


def _nothing_else(stored: Stored) -> Reading:
    found = equilibria(stored)
    known = sum(each.solutions[0] in (*ISOLATED, *CONTINUA) for each in found)
    worst = max(float(each.max_regret) for each in found)
    ours = (
        f"{known} of {len(found)} equilibria belong to one of them; largest regret {rounded(worst)}"
    )
    return holds(known == len(found) and worst <= ROUNDING, ours, f"{len(found) - known} do not")


CASES_PART = Part(
    title="Section 3: the cases",
    note=(
        "The paper simplified its cases once, with the pot as a symbol; case enumeration solves "
        "the whole game, 3 cases for each of 11 frequencies, anew at every pot. So times are not "
        "compared."
    ),
    claims=(
        Claim("Combinations of subcases", "", "2 · 3^7 = 4374", _cases),
        Claim("All of them decided", "", "all possible solutions were determined", _complete),
        Claim("Time", "", "about 25 minutes on a single core", _minutes),
        Claim("Distinct solutions", "over ranges", "ten", _distinct(ISOLATED)),
        Claim("Distinct solutions", "at pots 2, 3, 7/2 and 5", "four", _distinct(CONTINUA)),
        Claim("Other equilibria", "", "none", _nothing_else),
    ),
)
