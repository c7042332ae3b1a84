"""Figures 2 to 4: ranges of the solutions, and frequencies along the pot."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from eqbench.equilibria.expressions import evaluate
from eqbench.papers.billingham_2017.drawings import curve_figure, range_figure
from eqbench.papers.billingham_2017.found import (
    ROUNDING,
    Found,
    by_pot,
    equilibria,
    inside,
    present,
)
from eqbench.papers.billingham_2017.printed_solutions import BORDERS
from eqbench.papers.billingham_2017.solutions import shown_pot
from eqbench.papers.claims import (
    Claim,
    Part,
    Picture,
    Reading,
    differs,
    holds,
    reproduced,
    source_error,
)
from eqbench.papers.stored import Stored

Where = Callable[[Found], bool]
SETTLED = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
NOTE = (
    "Claims are read from the complete lists of equilibria. In the pictures lines are the least "
    "and the largest value over each solution, of members that were each verified along the pot; "
    "dots are the corners and middles that case enumeration found by itself."
)


def border(name: str) -> float:
    """A pot at which ranges begin or end."""
    return float(evaluate(BORDERS[name][0], {}, exact=False))


def every(where: Where, truth: Where, words: str) -> Callable[[Stored], Reading]:
    """Whether something is true of all equilibria at certain pots."""

    def read(stored: Stored) -> Reading:
        found = [each for each in equilibria(stored) if where(each)]
        held = [each for each in found if truth(each)]
        pots = len(by_pot(found))
        ours = f"{words} in {len(held)} of {len(found)} equilibria at {pots} pots"
        missing = sorted({shown_pot(each.pot) for each in found if not truth(each)})
        return holds(bool(found) and len(held) == len(found), ours, f"not at {', '.join(missing)}")

    return read


def _stretches(stored: Stored, least: int) -> list[list[Fraction]]:
    """Neighboring pots at which at least so many solutions coexist."""
    stretches: list[list[Fraction]] = []
    open_stretch = False
    for pot, names in present(equilibria(stored)).items():
        many = len(names & set(SETTLED)) >= least and not names - set(SETTLED)
        if many:
            stretches = [*stretches, []] if not open_stretch else stretches
            stretches[-1].append(pot)
        open_stretch = many
    return stretches


def three_ranges(stored: Stored) -> Reading:
    """Whether three solutions coexist in the three ranges of the paper."""
    found = _stretches(stored, 3)
    ends = [(border("P3"), border("P4")), (border("P6"), 4.0), (border("P8"), border("P9"))]
    ours = "three coexist from " + ", from ".join(
        f"{shown_pot(pots[0])} to {shown_pot(pots[-1])}" for pots in found
    )
    truth = len(found) == 3 and all(
        low <= pots[0] <= low + 2e-6 and high - 2e-6 <= pots[-1] <= high
        for pots, (low, high) in zip(found, ends, strict=True)
    )
    return holds(truth, ours, f"{len(found)} ranges")


def _most(stored: Stored) -> Reading:
    most = max(len(names & set(SETTLED)) for names in present(equilibria(stored)).values())
    return holds(most == 3, f"at most {most} at one pot", f"{most - 3:+}")


FIGURE_2 = Part(
    title="Figure 2: ranges of the ten solutions",
    note=(
        "Each range is held against the lists of equilibria in the part on equations (5) to (18). "
        "A bar of the picture goes from the first to the last pot at which case enumeration found "
        "the solution; dots are these pots."
    ),
    claims=(
        Claim("Coexistence", "", "three ranges of P with three distinct solutions", three_ranges),
        Claim("Coexistence", "at most", "three solutions", _most),
    ),
    pictures=(
        Picture(
            "Figure 2",
            "Bars: from the first to the last pot at which a solution was found; dots: those pots.",
            lambda s: range_figure(present(equilibria(s))),
        ),
    ),
)


def positive(*names: str) -> Where:
    return lambda each: all(each.values[name] > 0 for name in names)


def _zero(*names: str) -> Where:
    return lambda each: all(each.values[name] == 0 for name in names)


def between(low: float, high: float) -> Where:
    return lambda each: low < each.pot < high


def _several(name: str, low: float, ranges: int) -> Callable[[Stored], Reading]:
    """In how many ranges of pots beyond `low` a frequency has several values."""

    def read(stored: Stored) -> Reading:
        stretches: list[list[Fraction]] = []
        going_on = False
        for pot, group in by_pot(inside(equilibria(stored))).items():
            values = sorted(float(each.values[name]) for each in group)
            several = values[-1] - values[0] > ROUNDING and pot > low
            # Solutions 2a and 5a exist at one pot only, and so does what they leave open
            several = several and len(present(group)[pot] & set(SETTLED)) > 2
            if several:
                stretches = [*stretches, []] if not going_on else stretches
                stretches[-1].append(pot)
            going_on = several
        ours = f"{name} has several values at pots " + "; ".join(
            ", ".join(map(shown_pot, pots)) for pots in stretches
        )
        return holds(len(stretches) == ranges, ours, f"{len(stretches)} ranges")

    return read


def _exploits(*, high: bool) -> Callable[[Stored], Reading]:
    """What player 1 gains where c2 + d3 is beyond its bounds."""

    def read(stored: Stored) -> Reading:
        rows = stored["bounds"].summary["above" if high else "below"]
        gains = [row["max_gain"] for row in rows]
        best = {row["best"] for row in rows}
        wanted = "a1 = 1" if high else "b1 = 1"
        ours = (
            f"at {len(rows)} pots, 0.05 beyond the bound, {' or '.join(sorted(best))} gains "
            f"{min(gains):.4f} to {max(gains):.4f} in 24 E1"
        )
        return holds(best == {wanted} and min(gains) > 0, ours, "another deviation is best")

    return read


def _who_calls(stored: Stored) -> Reading:
    """Who calls with K always at pots beyond 5."""
    found = [each for each in equilibria(stored) if each.pot > 5]
    always = [n for n in ("c1", "d1", "d3") if all(e.values[n] == 1 for e in found)]
    largest = {n: max(float(e.values[n]) for e in found) for n in ("c1", "d1")}
    ours = f"{', '.join(always)} = 1 at {len(by_pot(found))} pots, c2 > 0: " + (
        f"c1 at most {largest['c1']:.3g}, d1 at most {largest['d1']:.3g}"
    )
    if not all(each.values["c2"] > 0 for each in found):
        return differs(ours, "c2 is 0 somewhere")
    if always == ["d3"]:
        return source_error(
            ours, "d3 is a frequency of player 3; player 1 never always calls there"
        )
    return reproduced(ours)


_P6, _P9 = border("P6"), border("P9")
FIGURE_3 = Part(
    title="Figure 3: player 1 bets, players 2 and 3 call",
    note=NOTE + " Bounds are tried by letting c2 and d3 pass them and measuring player 1's gains.",
    claims=(
        Claim(
            "P < P6", "a1, b1", "player 1 never bets",
            every(lambda e: e.pot < _P6, _zero("a1", "b1"), "a1 = b1 = 0"),
        ),
        Claim(
            "P < P6", "above the upper bound of c2 + d3", "always betting with A exploits it",
            _exploits(high=True),
        ),
        Claim(
            "P < P6", "below the lower bound of c2 + d3", "always bluffing with Q exploits it",
            _exploits(high=False),
        ),
        Claim(
            "P > 4", "a1, b1", "nonzero betting and bluffing frequencies",
            every(lambda e: e.pot > 4, positive("a1", "b1"), "both are positive"),
        ),
        Claim("P > P6", "a1", "two ranges of P with multiple solutions", _several("a1", _P6, 2)),
        Claim(
            "4 < P < 5", "callers", "only player 3 catches player 1's bluffs",
            every(
                between(4, 5), lambda e: e.values["c2"] == 0 and e.values["d3"] > 0,
                "c2 = 0 and d3 > 0",
            ),
        ),
        Claim("P > 5", "callers", "player 1 always calls with K, player 2 partly", _who_calls),
    ),
    pictures=(
        Picture(
            "Figure 3", "Where c2 and d3 are not determined, the bounds of c2 + d3."
            " Lines: the solutions by their formulas; dots: the equilibria of the complete lists.",
            lambda s: curve_figure(s, (("a1", "b1"), ("c2", "d3", "c2+d3"))),
        ),
    ),
)  # fmt: skip

FIGURE_4 = Part(
    title="Figure 4: player 2 bets, players 3 and 1 call",
    note=NOTE,
    claims=(
        Claim(
            "P < 3", "a2, b2", "player 2 does not bet",
            every(lambda e: e.pot < 3, _zero("a2", "b2"), "a2 = b2 = 0"),
        ),
        Claim(
            "P > 3", "a2, b2", "player 2 bets",
            every(lambda e: e.pot > 3, positive("a2", "b2"), "both are positive"),
        ),
        Claim("P > 3", "a2", "one range of multiple solutions", _several("a2", 3, 1)),
        Claim(
            "3 < P < P6", "callers", "player 1 is the bluff-catcher",
            every(
                between(3, _P6), lambda e: e.values["c3"] == 0 and e.values["d1"] > 0,
                "c3 = 0 and d1 > 0",
            ),
        ),
        Claim(
            "4 < P < P8", "callers", "player 3 develops a nonzero calling frequency",
            every(
                between(4, border("P8")), lambda e: 0 < e.values["c3"] < 1, "0 < c3 < 1"
            ),
        ),
        Claim(
            "P > P9", "callers", "player 3 always calls, player 1 with a nonzero frequency",
            every(
                lambda e: e.pot > _P9, lambda e: e.values["c3"] == 1 and e.values["d1"] > 0,
                "c3 = 1 and d1 > 0",
            ),
        ),
        Claim(
            "P6 < P < 5", "contrast to Figure 3",
            "where player 1 bets, player 2, who is next, does not call but player 3 does",
            every(
                lambda e: _P6 < e.pot < 5 and e.values["a1"] > 0,
                lambda e: e.values["c2"] == 0 and e.values["d3"] > 0, "c2 = 0 and d3 > 0",
            ),
        ),
    ),
    pictures=(
        Picture(
            "Figure 4", "Where c3 and d1 are not determined, the bounds of c3 + d1."
            " Lines: the solutions by their formulas; dots: the equilibria of the complete lists.",
            lambda s: curve_figure(s, (("a2", "b2"), ("c3", "d1", "c3+d1"))),
        ),
    ),
)  # fmt: skip
