"""Figures 5 and 6: player 3's bluffs and the profits along the pot."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from eqbench.papers.billingham_2017.curves import NOTE, SETTLED, between, border, every, positive
from eqbench.papers.billingham_2017.drawings import curve_figure
from eqbench.papers.billingham_2017.found import Found, by_pot, equilibria, inside, present, shown
from eqbench.papers.billingham_2017.solutions import shown_pot
from eqbench.papers.claims import Claim, Part, Picture, Reading, holds, reproduced, source_error
from eqbench.papers.stored import Stored


def _falling(stored: Stored) -> Reading:
    """b3 at pots with one solution."""
    lone = {
        pot: group[0].values["b3"]
        for pot, group in by_pot(inside(equilibria(stored))).items()
        if len(present(group)[pot]) == 1 and pot > 2
    }
    values = list(lone.values())
    rises = [
        shown_pot(pot)
        for pot, one, other in zip(list(lone)[1:], values, values[1:], strict=False)
        if other >= one
    ]
    ends = f"from {shown(values[0])} to {shown(values[-1])}"
    ours = f"b3 falls {ends} over {len(lone)} pots with one solution"
    return holds(not rises, ours, f"it rises up to {', '.join(rises)}")


def _irregular(stored: Stored) -> Reading:
    """b3 at pots with three solutions: how many values, and along which solutions it rises."""
    along: dict[str, list[float]] = {}
    fewest = 3
    for group in by_pot(inside(equilibria(stored))).values():
        if len(present(group)[group[0].pot] & set(SETTLED)) == 3:
            of = {each.solutions[0]: float(each.values["b3"]) for each in group}
            fewest = min(fewest, len({round(value, 9) for value in of.values()}))
            for name, value in of.items():
                along.setdefault(name, []).append(value)
    rising = sorted(name for name, values in along.items() if values[-1] > values[0])
    ours = (
        f"at pots with three solutions at least {fewest} values of b3; it rises with P in "
        f"Solutions {', '.join(rising) or 'none'}"
    )
    return holds(bool(rising) and fewest > 1, ours, "it is unique, or falls in all of them")


def _c1_and_which(stored: Stored) -> Reading:
    """Which frequency beside c1 has a range between P9 and 5."""
    group = [each for each in equilibria(stored) if each.pot == Fraction(47, 10)]
    spread = {
        name: max(e.values[name] for e in group) - min(e.values[name] for e in group)
        for name in ("c1", "d1", "d2")
    }
    ranging = [name for name, width in spread.items() if width > 0]
    ours = f"{' and '.join(ranging)} have a range of possible values at pot 4.7"
    if ranging == ["c1", "d2"]:
        value = group[0].values["d1"]
        return source_error(ours, f"d1 is {value} in all {len(group)} equilibria listed there")
    return reproduced(ours)


FIGURE_5 = Part(
    title="Figure 5: player 3 bluffs, players 1 and 2 call",
    note=NOTE,
    claims=(
        Claim("P > 2", "b3, size", "nonzero for all P",
            every(lambda e: e.pot > 2, positive("b3"), "b3 > 0"),
        ),
        Claim("P > 2", "b3, direction", "generally decreases", _falling),
        Claim("P > 2", "b3, with three solutions", "somewhat irregular", _irregular),
        Claim(
            "P4 < P < P8", "c1", "player 1 always calls with K in a set of values of P",
            every(between(border("P4"), border("P8")), lambda e: e.values["c1"] == 1, "c1 = 1"),
        ),
        Claim("P9 < P < 5", "c1 and d1", "a range of possible values of c1 and d1", _c1_and_which),
        Claim(
            "P > 5", "d2", "player 2 always calls with K",
            every(lambda e: e.pot > 5, lambda e: e.values["d2"] == 1, "d2 = 1"),
        ),
    ),
    pictures=(
        Picture(
            "Figure 5", "Where c1 and d2 are not determined, the least and largest of each."
            " Lines: the solutions by their formulas; dots: the equilibria of the complete lists.",
            lambda s: curve_figure(s, (("b3",), ("c1", "d2"))),
        ),
    ),
)  # fmt: skip


def _kuhn2(stored: Stored) -> Reading:
    (cell,) = stored["two_players"].cells
    payoffs = {tuple(each.exact["payoffs"]) for each in cell.equilibria if each.exact}
    ours = f"{len(cell.equilibria)} corners and middles of all equilibria, payoffs " + "; ".join(
        ", ".join(row) for row in sorted(payoffs)
    )
    return holds(len(payoffs) == 1, ours, "they differ")


def _several_profits(stored: Stored) -> Reading:
    groups = by_pot(inside(equilibria(stored)))
    several = {pot: _distinct(group) for pot, group in groups.items() if _distinct(group) > 1}
    ours = "different profits at pots " + ", ".join(map(shown_pot, several))
    return holds(bool(several), ours or "nowhere", "profits are unique at each pot")


def _distinct(group: Sequence[Found]) -> int:
    return len({tuple(round(float(payoff), 9) for payoff in each.payoffs) for each in group})


FIGURE_6 = Part(
    title="Figure 6: expected profits",
    note=NOTE,
    claims=(
        Claim(
            "P > 2", "largest", "player 3",
            every(
                lambda e: e.pot > 2, lambda e: e.payoffs[2] > max(e.payoffs[:2]), "E3 is largest"
            ),
        ),
        Claim(
            "P > 3", "players 1 and 2", "player 2 has the larger profit",
            every(lambda e: e.pot > 3, lambda e: e.payoffs[1] > e.payoffs[0], "E2 > E1"),
        ),
        Claim("Two-player Kuhn poker", "profits", "the same in all equilibria", _kuhn2),
        Claim("This game", "profits", "not the same in all equilibria", _several_profits),
    ),
    pictures=(
        Picture(
            "Figure 6", "24 times the expected profits of the three players."
            " Lines: the solutions by their formulas; dots: the equilibria of the complete lists.",
            lambda s: curve_figure(s, (("E1",), ("E2",), ("E3",))),
        ),
    ),
)  # fmt: skip
