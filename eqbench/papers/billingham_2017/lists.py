"""The equilibria that case enumeration found, and what they say on the claims of section 3."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, cast

from eqbench.equilibria.layout import Layout
from eqbench.model.game import Game
from eqbench.papers.checks import Finding, Missing, shown
from eqbench.papers.formulas import Points, is_true, value_at
from eqbench.papers.paper import load_paper
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.spec import parse_spec

# a: bet with A, b: bet with Q, c: call with K, d: call with K after a fold; then the player
PLACES = {
    **{"a1": ("P1", "4:", "bet"), "b1": ("P1", "2:", "bet")},
    **{"a2": ("P2", "4:K", "bet"), "b2": ("P2", "2:K", "bet"), "b3": ("P3", "2:KK", "bet")},
    **{"c1": ("P1", "3:KKB", "call"), "c2": ("P2", "3:B", "call"), "c3": ("P3", "3:KB", "call")},
    **{"d1": ("P1", "3:KBF", "call"), "d2": ("P2", "3:KKBF", "call"), "d3": ("P3", "3:BF", "call")},
}
NAMES = tuple(PLACES)
ISOLATED = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
CONTINUA = ("1a", "2a", "5a", "10a")
PAPER = load_paper(Path(__file__).parent)
ROUNDING = 1e-9
NEAREST = Fraction(2, 10**6)  # how far apart two pots may be that bracket the end of a range


@dataclass(frozen=True)
class Found:
    """One equilibrium of a complete list: a corner of a piece, or the middle of one.

    Attributes
    ----------
    pot : Fraction
    solutions : names of the published sets that it belongs to, such as ``2a``
    values : the eleven frequencies, Fractions where they are rational, else floats
    payoffs : 24 times the expected profits, likewise
    max_regret : as the verifier measured it
    """

    pot: Fraction
    solutions: tuple[str, ...]
    values: dict[str, Any]
    payoffs: tuple[Any, ...]
    max_regret: Any

    @property
    def names(self) -> dict[str, Any]:
        """What the letters of a printed formula stand for; E1 to E3 are 24 times the profits."""
        profits = {f"E{player}": payoff for player, payoff in enumerate(self.payoffs, 1)}
        return self.values | profits | {"P": self.pot}


def stored_in(jobs: Path, *, full: bool) -> Stored:
    """What the jobs of this paper have stored in their folder."""
    return Stored(jobs, full=full)


def printed_claims(title: str, column: str | None = None) -> Iterator[tuple[str, str]]:
    """Printed texts of a part by the row, without a full stop, and of one column if it is given."""
    (part,) = (part for part in PAPER.parts if part.title == title)
    for claim in part.claims:
        if column is None or claim.column == column:
            yield claim.row.removesuffix("."), claim.printed


def asked_for(fact: str) -> set[str]:
    """The last keys of all facts ``fact/key`` that claims name."""
    facts = [claim.fact for part in PAPER.parts for claim in part.claims]
    return {key for name in facts for path, _, key in [name.rpartition("/")] if path == fact}


def printed_cells() -> dict[str, str]:
    """The cells of Table 1 as printed, such as ``4a``; the first relation says where it applies."""
    return {
        number + letter: printed
        for letter, column in (("a", "(a)"), ("b", "(b)"), ("c", "(c)"), ("", "equation"))
        for number, printed in printed_claims("Table 1: the nine conditions", column)
    }


def corrected(cell: str) -> str:
    """A cell with a1 ≤ 1 in place of a1 < 1."""
    return cell.replace("a1 < 1", "a1 ≤ 1")


def meets(cells: Mapping[str, str], names: Mapping[str, Any]) -> bool:
    """Whether at least one cell of each condition holds."""
    met = {name[0] for name, cell in cells.items() if is_true(cell, names)}
    return met == {name[0] for name in cells}


def layout_of(game: Game) -> Layout:
    """Where the eleven frequencies stand in a game that has them."""
    layout = Layout.of(game.tree, {name: "|".join(place) for name, place in PLACES.items()})
    return cast(Layout, layout)


def equilibria(stored: Stored) -> list[Found]:
    """All equilibria of the job ``enumeration``, by ascending pot."""
    found = []
    for cell in stored["enumeration"].cells:
        if cell.game_spec.startswith("skp"):
            pot = Fraction(dict(parse_spec(cell.game_spec).options)["pot"])
            found += [_found(stored, pot, record) for record in cell.equilibria]
    if not found:
        raise NotStoredError("the job enumeration has found no equilibria")
    return sorted(found, key=lambda each: each.pot)


def _found(stored: Stored, pot: Fraction, record: Any) -> Found:
    behavior = stored["enumeration"].json(record.profile)["behavior"]
    exact = record.exact is not None
    number = Fraction if exact else float
    values = {
        name: number(behavior[player][infoset].get(action, 0))
        for name, (player, infoset, action) in PLACES.items()
    }
    identity = record.identity or {"name": "", "also": []}
    names = [name.removeprefix("skp:") for name in (identity["name"], *identity["also"])]
    payoffs = record.exact["payoffs"] if exact else record.payoffs
    regret = max(map(Fraction, record.exact["regrets"])) if exact else record.max_regret
    return Found(pot, tuple(names), values, tuple(24 * number(p) for p in payoffs), regret)


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


def borders(found: Sequence[Found]) -> dict[str, Fraction]:
    """Pots at which the solutions change, P1 to P10, each the middle of where it was bracketed.

    Raises
    ------
    NotStoredError
        If the solutions do not change at ten pots.
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


def at(stored: Stored) -> dict[str, Finding]:
    """The equilibria of the complete lists, all and at the places that claims name."""
    found, places = equilibria(stored), {}
    known = borders(found)
    for place in asked_for("lists:at"):
        group = [e for e in found if place == "all" or is_true(place, e.names | known)]
        counts = {"equilibria": len(group), "pots": len(by_pot(group))}
        places[place] = Finding(Points([each.names for each in group]), counts)
    return places


def listed(stored: Stored) -> dict[str, Any]:
    """What is to be said of all equilibria of the complete lists together."""
    found = equilibria(stored)
    regret = max(each.max_regret for each in found)
    names = set().union(*present(found).values())
    exact = [each.values | {"P": each.pot} for each in found if each.max_regret == 0]
    five = [v["b1"] for v in exact if v["P"] == 5 and v["a1"] > 0]
    return {
        "none has regret": bool(regret <= ROUNDING),
        "one with b3 = 0 has no regret": any(values["b3"] == 0 for values in exact),
        "b1 at pot 5": five,
        "one between the rows has no regret": bool(set(five) - {Fraction(1, 3), Fraction(2, 5)}),
        "over ranges": counted([name for name in ISOLATED if name in names]),
        "at one pot": counted([name for name in CONTINUA if name in names]),
        "otherwise": [
            sum(each.solutions[0] not in (*ISOLATED, *CONTINUA) for each in found),
            float(regret),
        ],
    }


def counted(names: Sequence[Any]) -> Finding:
    """How many there are, shown with what they are."""
    return Finding(len(names), f"{len(names)}: {shown(names)}")


def table_1(stored: Stored) -> dict[str, Any]:
    """Which equilibria meet the conditions of Table 1, and how many cases these make."""
    found, cells = equilibria(stored), printed_cells()
    unmet = [each for each in found if not meets(cells, each.names)]
    at_one = [e for e in unmet if e.values["a1"] == 1 and e.max_regret <= ROUNDING]
    bets = [each.names for each in found if each.values["a2"] > 0]
    gaps = [float(value_at("(2−b1)/(P+a1) − 2/(P+1)", names)) for names in bets]
    runs = [cell for cell in stored["enumeration"].cells if cell.game_spec.startswith("skp")]
    # of the eleven conditions 1 to 3 become one, 7 loses a case, 11 two
    left = runs[0].statistics["cases"] * Fraction(1, 9) * Fraction(2, 3) * Fraction(1, 3)
    listed_cases = math.prod(Counter(name[0] for name in cells).values())
    still_open = [c for c in runs if c.status != "ok" or c.statistics["unresolved"]]
    return {
        "a1 = 1 without regret": {
            name: any(is_true(corrected(cells[name]), each.names) for each in at_one)
            for name in ("1b", "1c")
        },
        "unmet": len(unmet),
        "unmet without regret": bool(unmet) and max(e.max_regret for e in unmet) <= ROUNDING,
        "gaps of thresholds": [max(gaps, default=0.0), -min(gaps, default=0.0)],
        "combinations": Finding(Points([{}, {}], [left, listed_cases]), [left, listed_cases]),
        "left open": counted([cell.game_spec for cell in still_open]),
    }


def solutions(stored: Stored) -> dict[str, Any]:
    """Ranges, frequencies and profits of what goes by the name of each solution."""
    found = equilibria(stored)
    known = borders(found)
    rows: dict[str, Any] = {}
    for name in (*ISOLATED, *CONTINUA):
        members = members_of(found, name)
        if not members:
            rows[name] = Missing(f"case enumeration found no member of Solution {name}")
            continue
        payoffs = list(zip(*(each.payoffs for each in members), strict=True))
        spans = {f"E{k}": max(values) - min(values) for k, values in enumerate(payoffs, 1)}
        columns = (*NAMES, *spans, "c2 + d3", "c3 + d1", "c1 + d2")
        rows[name] = {of: _column(members, of) for of in columns}
        rows[name] |= {"profits vary by": Finding(Points([spans]), spans)}
        rows[name] |= _range(name, found, known)
    return rows


def members_of(found: Sequence[Found], name: str) -> list[Found]:
    """What goes by a name, at pots where no other solution is so near that it is doubtful."""
    return [each for each in inside(found) if each.solutions[0] == name]


def _column(members: Sequence[Found], of: str, more: dict[str, Any] | None = None) -> Finding:
    """A figure of members, pot by pot, in which formulas and bounds are to agree with it."""
    groups = by_pot(members)
    points = [
        Points([e.names | (more or {}) for e in group], [value_at(of, e.names) for e in group])
        for group in groups.values()
    ]
    place = len(groups) // 2
    sample = f"{_span(points[place].values)} at P = {list(groups)[place]}"
    return Finding(points, f"{sample}, of {len(members)} members")


def _span(values: Sequence[Any]) -> str:
    """The least and the largest number, as fractions where they are short."""
    ends = dict.fromkeys((min(values), max(values)))
    return " to ".join(
        shown(e if getattr(e, "denominator", 1000) < 1000 else float(e)) for e in ends
    )


def _range(name: str, found: Sequence[Found], known: dict[str, Fraction]) -> dict[str, Any]:
    """Both ends of the range of a solution, and whether the borders P8 and P9 are these."""
    pots = present(found)
    own = [pot for pot, names in pots.items() if name in names]
    others = [pot for pot, names in pots.items() if name not in names]
    below = max((pot for pot in others if pot < own[0]), default=own[0])
    above = min((pot for pot in others if pot > own[-1]), default=None)
    ends = [(below + own[0]) / 2, *([(own[-1] + above) / 2] if above else [])]
    gaps = [pot for pot in others if own[0] < pot < own[-1]]
    points = Points([] if gaps else [{"P": end} | known for end in ends], distance=1e-6)
    return {
        "range": Finding(points, f"{_span(own)}, {len(own)} pots looked at"),
        "from P8 to P9": not gaps and ends == [known["P8"], known["P9"]],
    }


def misprints(stored: Stored) -> dict[str, Any]:
    """Entries that are wrong in print, with w, the max regret as printed, and r, corrected."""
    found, entries = equilibria(stored), {"2": "b3", "10a_b1": "b1", "10a_b2": "b2", "10a_d1": "d1"}
    one, two, ten = (members_of(found, name) for name in ("1", "2", "10a"))
    if not (one and two and ten):
        raise NotStoredError("case enumeration found no member of Solution 1, 2 or 10a")
    regrets = {name: _regrets(stored, name) for name in ("1", *entries)}
    low = min(each.values["b1"] for each in ten)
    ends = [each for each in ten if each.values["b1"] == low]
    return {
        **{
            name: _column(two if name == "2" else ten, of, regrets[name])
            for name, of in entries.items()
        },
        "10a where b1 is lowest": _column(ends, "c1 + d2", regrets["10a_b1"]),
        "1 corrected": regrets["1"]["w"] > 0 == regrets["1"]["r"]
        and all(is_true("d2 = (2P−4)/(P+1)", each.names) for each in one),
    }


def _regrets(stored: Stored, name: str) -> dict[str, Fraction]:
    """Max regrets of a profile with a printed entry that is wrong, and of the corrected one."""
    jobs = {"w": f"printed_{name}", "r": f"printed_{name.partition('_')[0]}_corrected"}
    return {
        letter: max(map(Fraction, stored[job].printed_json["exact"]["regrets"]))
        for letter, job in jobs.items()
    }


def border(stored: Stored) -> dict[str, Any]:
    """Pots at which the solutions change, known to 1e-6."""
    formulas = dict(printed_claims("Borders of the ranges", "exact"))
    return {
        name: {
            "exact": Finding(Points([{}], [pot], distance=1e-6), f"{float(pot):.7f}"),
            "decimals": float(pot),
            "fits its formula": abs(float(pot) - value_at(formulas[name], {})) <= NEAREST,
        }
        for name, pot in borders(equilibria(stored)).items()
        if name in formulas
    }


def along(stored: Stored) -> dict[str, Any]:
    """How many solutions there are along the pot, and how figures go."""
    found = equilibria(stored)
    known, groups, settled = borders(found), by_pot(found), by_pot(inside(found))
    pots = present(found)
    counts = {pot: 9 if names - {*ISOLATED} else len(names) for pot, names in pots.items()}
    three = [list(pots) for count, pots in groupby(counts, key=counts.__getitem__) if count == 3]

    def named(pots: Sequence[Fraction]) -> str:
        """The borders at both ends."""
        near = {pot: [n for n, at in known.items() if abs(pot - at) <= NEAREST] for pot in pots}
        return " to ".join([*near[pots[0]], *near[pots[-1]]])

    def spread(name: str, group: Sequence[Found]) -> bool:
        values = [float(each.names[name]) for each in group]
        return max(values) - min(values) > ROUNDING

    b3: dict[str, list[float]] = {}
    for each in (each for pots in three for pot in pots for each in settled.get(pot, ())):
        b3.setdefault(each.solutions[0], []).append(float(each.values["b3"]))
    lone = [group[0].values["b3"] for pot, group in settled.items() if counts[pot] == 1]
    last = settled.get(Fraction(47, 10), found)
    ranging = [name for name in ("c1", "d1", "d2") if spread(name, last)]
    profits = [p for p, group in settled.items() if any(spread(f"E{k}", group) for k in (1, 2, 3))]
    always = "d3 = 1 & c1 < 1 & d1 < 1 & c2 > 0"
    return {
        "three": [named(pots) for pots in three],
        "at most": max(len(names & {*ISOLATED}) for names in pots.values()),
        "several": {
            name: counted([named(p) for p in three if any(spread(name, groups[pot]) for pot in p)])
            for name in ("a1", "a2")
        },
        "b3 of lone solutions": lone,
        "b3 rises in": sorted(name for name, values in b3.items() if values[-1] > values[0]),
        "ranging at 4.7": ranging,
        "d2 ranges and d1 does not": ranging == ["c1", "d2"]
        and max(each.max_regret for each in last) <= ROUNDING,
        "only player 3 always calls": all(is_true(always, e.names) for e in found if e.pot > 5),
        "several profits": counted([float(pot) for pot in profits]),
        "profits at P5 vary": Fraction(7, 2) in profits,
    }


def jumps(stored: Stored) -> dict[str, Finding]:
    """Whose profits jump at the pot of a continuum."""
    groups = list(by_pot(equilibria(stored)).items())
    found: dict[str, Finding] = {}
    for (_, before), (_, group), (_, after) in zip(groups, groups[1:], groups[2:], strict=False):
        payoffs = zip(before[0].payoffs, after[0].payoffs, strict=True)
        steps = {k: round(float(b - a), 4) + 0.0 for k, (a, b) in enumerate(payoffs, 1)}
        jump = Finding([k for k, step in steps.items() if abs(step) > 1e-3], steps)
        found |= {name: jump for each in group for name in each.solutions if name in CONTINUA}
    return found
