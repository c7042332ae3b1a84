"""The equilibria that case enumeration found, and what they say on the claims of section 3."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria.known import some_member
from eqbench.equilibria.members import corners
from eqbench.equilibria.reference import Layout, published_sets
from eqbench.model.game import Game
from eqbench.papers.checks import Finding, Interval, Missing, shown
from eqbench.papers.formulas import Points, is_true, value_at
from eqbench.papers.paper import Paper, load_paper
from eqbench.papers.records import Table
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.plots.style import by_name
from eqbench.registry import load_game
from eqbench.spec import parse_spec
from eqbench.store.schema import FinishedCell

Names = dict[str, Any]  # Fractions where values are rational, else floats

# the pots of section 4 and three others, with the solution that trajectories are held against
CENTERS = {
    **{"2.5": "1", "3.1": "2", "3.35": "4", "3.4": "3", "3.75": "5"},
    **{"3.95": "6", "4.15": "7", "4.36": "8", "4.65": "9", "5.5": "10"},
}
SOLUTIONS = ("1a", "1", "2a", "2", "3", "4", "5a", "5", "6", "7", "8", "9", "10a", "10")
ROUNDING = 1e-9
NEAREST = Fraction(2, 10**6)  # how far apart two pots may be that bracket the end of a range


@cache
def skp() -> Game:
    """The simplified game, at any pot."""
    return load_game("skp")


@cache
def layout() -> Layout:
    """The eleven frequencies: bets with A (a) and Q (b), calls with K (c), after a fold (d)."""
    return published_sets(skp())[0].layout


@cache
def paper() -> Paper:
    """This paper, whose claims say what is looked for."""
    return load_paper(Path(__file__).parent)


class Found(NamedTuple):
    """One equilibrium of a complete list: a corner of a piece, or the middle of one.

    It belongs to published sets with these names, such as ``2a``. `names` is what the letters of a
    printed formula stand for: the eleven frequencies, the pot P, 24 times the expected profits E1
    to E3, and the largest regret r.
    """

    solutions: tuple[str, ...]
    names: Names

    @property
    def pot(self) -> Fraction:
        return Fraction(self.names["P"])


def printed(title: str) -> list[tuple[str, str, str]]:
    """Row, without a full stop, column and printed text of each claim of a part."""
    (part,) = (part for part in paper().parts if part.title == title)
    return [(claim.row.removesuffix("."), claim.column, claim.printed) for claim in part.claims]


def claimed_keys(fact: str) -> list[str]:
    """The last keys of all facts ``fact/key`` that claims and their evidence name."""
    claims = [claim for part in paper().parts for claim in part.claims]
    texts = [text for claim in claims for text in (claim.fact, claim.evidence.partition(": ")[0])]
    return sorted({text.rpartition("/")[2] for text in texts if text.rpartition("/")[0] == fact})


def letters(formula: str) -> list[str]:
    """The frequencies in a formula."""
    return sorted(set(re.findall(r"[a-d]\d", formula)))


def printed_cells() -> dict[str, str]:
    """The cells of Table 1 as printed, such as ``4a``; the first relation says where it applies."""
    rows = printed("Table 1: the nine conditions")
    return {row + column.strip("()"): text for row, column, text in rows if row.isdigit()}


def meets(cells: Mapping[str, str], names: Mapping[str, Any]) -> bool:
    """Whether at least one cell of each condition holds."""
    met = {name[0] for name, cell in cells.items() if is_true(cell, names)}
    return met == {name[0] for name in cells}


def equilibria(stored: Stored) -> list[Found]:
    """All equilibria of the job ``enumeration``, by ascending pot."""
    job, found = stored["enumeration"], list[Found]()
    for cell, record in [(each, record) for each in job.cells for record in each.equilibria]:
        behavior = job.json(str(record.profile))["behavior"]
        number = Fraction if record.exact else float
        measured: Any = record.exact or {"payoffs": record.payoffs, "regrets": record.regrets}
        identity: Any = record.identity or {"name": "", "also": []}
        names: Names = {}
        for name, place in zip(layout().variables, layout().places, strict=True):
            player, infoset, action = place.split("|")
            names[name] = number(behavior[player][infoset].get(action, 0))
        names |= {f"E{k}": 24 * number(payoff) for k, payoff in enumerate(measured["payoffs"], 1)}
        names["P"] = Fraction(dict(parse_spec(cell.game_spec).options)["pot"])
        names["r"] = max(number(regret) for regret in measured["regrets"])
        solutions = (identity["name"], *identity["also"])
        found.append(Found(tuple(name.removeprefix("skp:") for name in solutions), names))
    if not found:
        raise NotStoredError("the job enumeration has found no equilibria")
    return sorted(found, key=lambda each: each.pot)


def inside(found: Sequence[Found]) -> list[Found]:
    """Those at pots that are not there only to bracket the end of a range."""
    return [each for each in found if each.pot.limit_denominator(100) == each.pot]


def by_pot(found: Sequence[Found]) -> dict[Fraction, list[Found]]:
    """Those of each pot, ascending."""
    return {pot: list(group) for pot, group in groupby(found, key=lambda each: each.pot)}


def present(found: Sequence[Found]) -> dict[Fraction, set[str]]:
    """Names of the published sets that were found, by pot."""
    groups = by_pot(found)
    return {pot: {name for e in group for name in e.solutions} for pot, group in groups.items()}


def pots_by_name(found: Sequence[Found]) -> dict[str, list[Fraction]]:
    """Pots at which each published set was found, ascending, in the order of figures."""
    pots = present(found)
    names = by_name(name for those in pots.values() for name in those)
    return {name: [pot for pot, those in pots.items() if name in those] for name in names}


def borders(found: Sequence[Found]) -> dict[str, Fraction]:
    """Pots at which the solutions change, P1 to P10, each the middle of where it was bracketed.

    NotStoredError if they do not change at ten pots.
    """
    brackets: list[list[Fraction]] = [[min(each.pot for each in found)]]
    for (low, before), (high, after) in pairwise(present(found).items()):
        if before != after and high - low <= NEAREST and low != brackets[0][0]:
            if brackets[-1][-1] != low:  # else a border with solutions of its own
                brackets.append([low])
            brackets[-1].append(high)
    if len(brackets) != 10:
        raise NotStoredError(f"solutions change at {len(brackets)} pots in the job enumeration")
    return {f"P{k}": (ends[0] + ends[-1]) / 2 for k, ends in enumerate(brackets, 1)}


def published_along(pots: Iterable[Fraction], figures: Sequence[str]) -> dict[str, Table]:
    """Pots of each published set, and least and greatest values of figures at its corners there.

    A figure is a payoff u1 to u3, 24 times that as E1 to E3, a frequency, or a formula of them.
    """
    sets: dict[str, dict[str, list[Any]]] = {}
    for pot in sorted(pots):
        for known in published_sets(skp().at(pot=pot)):
            ends = corners(known) if known.parameters else None
            values = []
            for place in [some_member(known)] if ends is None or not len(ends) else ends:
                payoffs = known.payoffs_near(place)
                names = dict(zip(layout().variables, known.frequencies(place), strict=True))
                names |= {f"u{k}": payoff for k, payoff in enumerate(payoffs, 1)}
                names |= {f"E{k}": 24 * payoff for k, payoff in enumerate(payoffs, 1)}
                values.append([names[f] if f in names else value_at(f, names) for f in figures])
            own = sets.setdefault(known.name, {name: [] for name in ("pots", *figures)})
            own["pots"].append(float(pot))
            for figure, column in zip(figures, zip(*values, strict=True), strict=True):
                own[figure].append([min(column), max(column)])
    return dict(sets)


def at(stored: Stored) -> dict[str, Finding]:
    """The equilibria of the complete lists, all and at the places that claims name."""
    found, places = equilibria(stored), {}
    known = borders(found)
    for place in claimed_keys("lists:at"):
        group = [e for e in found if place == "all" or is_true(place, e.names | known)]
        counts = {"equilibria": len(group), "pots": len(by_pot(group))}
        places[place] = Finding(Points([each.names for each in group]), counts)
    return places


def listed(stored: Stored) -> Table:
    """Sentences on all equilibria of the complete lists together, and of the cases."""
    found, cells = equilibria(stored), printed_cells()
    pots = pots_by_name(found)
    names = [each.names for each in found]
    unmet = [own["r"] for own in names if not meets(cells, own)]
    runs = [cell for cell in stored["enumeration"].cells if cell.game_spec.startswith("skp")]
    # of the eleven conditions 1 to 3 become one, 7 loses a case, 11 two
    left = runs[0].statistics["cases"] * Fraction(1, 9) * Fraction(2, 3) * Fraction(1, 3)
    cases = math.prod(Counter(name[0] for name in cells).values())
    return {
        "b1 at pot 5": [
            own["b1"] for own in names if own["P"] == 5 and own["a1"] > 0 and own["r"] == 0
        ],
        "over ranges": counted([name for name in pots if name and len(pots[name]) > 1]),
        "at one pot": counted([name for name in pots if name and len(pots[name]) == 1]),
        "otherwise": [
            sum(each.solutions == ("",) for each in found),
            float(max(own["r"] for own in names)),
        ],
        "regrets of unmet": Finding(unmet, len(unmet)),
        "gaps of thresholds": [
            value_at("(2−b1)/(P+a1) − 2/(P+1)", own) for own in names if own["a2"] > 0
        ],
        "combinations": Finding(Points([{}, {}], [left, cases]), [left, cases]),
        "left open": counted([cell.game_spec for cell in runs if not is_complete(cell)]),
    }


def is_complete(cell: FinishedCell) -> bool:
    """Whether an enumeration says that what it hands over is all that there is."""
    return cell.status == "ok" and all(each.claim == "complete list" for each in cell.equilibria)


def counted(names: Sequence[Any]) -> Finding:
    """How many there are, shown with what they are."""
    return Finding(len(names), f"{len(names)}: {shown(names)}")


def solutions(stored: Stored) -> dict[str, dict[str, Finding] | Missing]:
    """Ranges, frequencies and profits of what goes by the name of each solution.

    In the sentence on an entry that is wrong in print, w is the largest regret with that entry.
    """
    found, wrong = equilibria(stored), stored["printed"].summary
    known, rows = borders(found), dict[str, dict[str, Finding] | Missing]()
    for name in SOLUTIONS:
        # at pots where no other solution is so near that it is doubtful
        members = [each for each in inside(found) if each.solutions[0] == name]
        if not members:
            rows[name] = Missing(f"case enumeration found no member of Solution {name}")
            continue
        groups = by_pot(members)
        place = len(groups) // 2
        row = dict[str, Finding]()
        for of in (*layout().variables, "E1", "E2", "E3", "c2 + d3", "c3 + d1", "c1 + d2"):
            regret = {"w": Fraction(wrong.get(name, {}).get(of, 0))}
            points = [
                Points([e.names | regret for e in group], [value_at(of, e.names) for e in group])
                for group in groups.values()
            ]
            span = shown(Interval(min(points[place].values), max(points[place].values)))
            where = f"at P = {list(groups)[place]}, of {len(members)} members"
            row[of] = Finding(points, f"{span} {where}")
        profits = {f"E{k}": [each.names[f"E{k}"] for each in members] for k in (1, 2, 3)}
        spans = {of: max(values) - min(values) for of, values in profits.items()}
        row["profits vary by"] = Finding(Points([spans]), spans)
        rows[name] = row | {"range": _range(name, found, known)}
    return rows


def _range(name: str, found: Sequence[Found], known: dict[str, Fraction]) -> Finding:
    """Both ends of the range of a solution."""
    own = pots_by_name(found)[name]
    others = [pot for pot in by_pot(found) if pot not in own]
    below = max((pot for pot in others if pot < own[0]), default=own[0])
    above = min((pot for pot in others if pot > own[-1]), default=None)
    ends = [(below + own[0]) / 2, *([(own[-1] + above) / 2] if above else [])]
    gaps = [pot for pot in others if own[0] < pot < own[-1]]
    points = Points([] if gaps else [{"P": end} | known for end in ends], distance=1e-6)
    return Finding(points, f"{shown(Interval(own[0], own[-1]))}, {len(own)} pots looked at")


def border(stored: Stored) -> dict[str, Table]:
    """Pots at which the solutions change, known to 1e-6."""
    return {
        name: {
            "exact": Finding(Points([{}], [pot], distance=1e-6), f"{float(pot):.7f}"),
            "decimals": float(pot),
        }
        for name, pot in borders(equilibria(stored)).items()
    }


def along(stored: Stored) -> Table:
    """How many solutions there are along the pot, and how figures go."""
    found = equilibria(stored)
    known, groups, settled = borders(found), by_pot(found), by_pot(inside(found))
    names = present(found)
    isolated = {pot: [n for n in own if not n.endswith("a")] for pot, own in names.items()}
    by_count = groupby(isolated, key=lambda pot: len(isolated[pot]))
    three = [list(pots) for count, pots in by_count if count == 3]

    def named(pots: Sequence[Fraction]) -> str:
        """The borders at both ends."""
        ends = (pots[0], pots[-1])
        return " to ".join(n for pot in ends for n, p in known.items() if abs(pot - p) <= NEAREST)

    def spread(name: str, group: Sequence[Found]) -> bool:
        return np.ptp([float(each.names[name]) for each in group]) > ROUNDING

    b3: dict[str, list[float]] = {}
    for each in (each for pots in three for pot in pots for each in settled.get(pot, ())):
        b3.setdefault(each.solutions[0], []).append(float(each.names["b3"]))
    last = [each for each in settled.get(Fraction(47, 10), found) if each.names["r"] <= ROUNDING]
    return {
        "three": [named(pots) for pots in three],
        "at most": max(map(len, isolated.values())),
        "several": {
            name: counted([named(p) for p in three if any(spread(name, groups[pot]) for pot in p)])
            for name in ("a1", "a2")
        },
        "b3 of lone solutions": [
            group[0].names["b3"] for pot, group in settled.items() if len(names[pot]) == 1
        ],
        "b3 rises in": sorted(name for name, values in b3.items() if values[-1] > values[0]),
        "ranging at 4.7": [name for name in ("c1", "d1", "d2") if spread(name, last)],
        "several profits": [
            float(pot)
            for pot, group in settled.items()
            if any(spread(profit, group) for profit in ("E1", "E2", "E3"))
        ],
    }


def jumps(stored: Stored) -> dict[str, Finding]:
    """Whose profits jump at the pot of a continuum."""
    groups = list(by_pot(equilibria(stored)).values())
    found: dict[str, Finding] = {}
    for (before, *_), group, (after, *_) in zip(groups, groups[1:], groups[2:], strict=False):
        ends = ((k, before.names[f"E{k}"], after.names[f"E{k}"]) for k in (1, 2, 3))
        steps = {k: round(float(high - low), 4) + 0.0 for k, low, high in ends}
        jump = Finding([k for k, step in steps.items() if abs(step) > 1e-3], steps)
        found |= {name: jump for each in group for name in each.solutions if name.endswith("a")}
    return found
