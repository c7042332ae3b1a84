"""What our stored results say on the claims of the paper."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from eqbench.papers.billingham_2017.found import (
    NAMES,
    NEAREST,
    PAPER,
    PLACES,
    ROUNDING,
    SUMS,
    Found,
    borders,
    by_pot,
    corrected,
    equilibria,
    inside,
    meets,
    misprint_regrets,
    present,
    printed_cells,
    printed_claims,
)
from eqbench.papers.billingham_2017.polynomials import (
    Polynomial,
    derivative,
    letters,
    polynomial,
    text,
    value,
    without,
)
from eqbench.papers.checks import Finding, Missing, shown
from eqbench.papers.formulas import Points, formula_passes, is_true, value_at
from eqbench.papers.stored import Stored

ISOLATED = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")
CONTINUA = ("1a", "2a", "5a", "10a")
OSCILLATORY = ("1", "4", "5", "9", "10")
RANGES = (
    "2 < P < 3",
    "3 < P < P3",
    "P3 < P < P5",
    "P5 < P < 4",
    "4 < P < P8",
    "P8 < P < 5",
    "P > 5",
)
# the solution that the paper holds trajectories against, at the pots of section 4
SOLUTION_AT = {
    **{"2.5": "1", "3.1": "2", "3.35": "4", "3.75": "5", "4.15": "7", "4.65": "9", "5.5": "10"}
}
CHAOTIC = ("chaotic transient", "boundary absorption")
MOVES = 1e-3


def sizes(stored: Stored) -> dict[str, int]:
    """Frequencies that are free in the simplified game and in the standard one."""
    jobs = {"simplified": "game", "standard": "full_game"}
    return {
        name: stored[job].printed_json["sizes"]["free frequencies"] for name, job in jobs.items()
    }


def rules(stored: Stored) -> dict[str, Any]:
    """The game tree, and what the simplification rests on."""
    found = stored["rules"].summary
    below = found["below_two"].values()
    named = {(place[0], place[1]): name for name, place in PLACES.items()}

    def choice(player: int, infoset: str) -> str:
        actions = found["actions"][infoset]
        return (
            named[f"P{player}", infoset] if actions[1:] else str(int(actions[0] in ("bet", "call")))
        )

    def dominance(*names: str) -> list[float]:
        """What is lost at least by the worse alternatives, and at most by the least harmful."""
        lost = [[round(loss, 9) + 0.0 for loss in found["gains"][name]] for name in names]
        return [min(low for low, _ in lost), min(high for _, high in lost)]

    return {
        **{key: found[key] for key in ("deals", "decisions", "ends")},
        "with J": {" or ".join(a) for name, a in found["actions"].items() if name[0] == "1"},
        "below 2": {
            "pots left open": sum(not row["complete"] for row in below),
            "largest": max(max(row["largest"].values()) for row in below),
        },
        "A beside K": [Fraction(aces, deals) for deals, aces in found["beside_k"]],
        "betting with K": {k: dominance(f"bet K, P{k}") for k in (1, 2, 3)},
        "calling after a call": {
            k: dominance(f"overcall K, P{k}", f"overcall Q, P{k}") for k in (1, 2, 3)
        },
        "checking with A": dominance("check A, P3"),
        "nodes": {
            # of each history, who decides, and what is done with Q, K and A
            history or "first": [choice(_mover(history), f"{card}:{history}") for card in "234"]
            for history in dict.fromkeys(name[2:] for name in found["actions"])
        },
    }


def _mover(history: str) -> int:
    """Who decides after a history of K check, B bet, F fold, C call."""
    return len(history) % 3 + 1


def labels(stored: Stored) -> list[str]:
    """The frequencies whose information set is a label of the drawn tree."""
    drawn = stored["tree"].printed
    return [name for name in NAMES if f">{PLACES[name][1]}<" in drawn]


def profits(stored: Stored) -> dict[str, Any]:
    """Derivatives of 24 E by a player's own frequencies, and what is left, at random points."""
    points, summary = _random_points(), stored["polynomials"].summary
    whole = {player: polynomial(stored, player) for player in (1, 2, 3)}
    slopes = {name: derivative(whole[int(name[1])], name) for name in NAMES}
    rest = {f"E{k}": without(of, [n for n in NAMES if n[1] == str(k)]) for k, of in whole.items()}
    speeds = [n["a1"] * (1 - n["a1"]) * value(slopes["a1"], n) for n in points]
    return {
        "times": {name: _at_points(points, of) for name, of in slopes.items()},
        "rest": {name: _at_points(points, of) for name, of in rest.items()},
        "best": {
            name: Finding(Points(points, [int(value(of, n) > 0) for n in points]), text(of))
            for name, of in slopes.items()
        },
        "velocity of a1": Finding(Points(points, speeds), f"a1 (1 − a1) ({text(slopes['a1'])})"),
        "rounding": [summary["distance_to_integers"], summary["distance_elsewhere"]],
    }


def _random_points() -> list[dict[str, Fraction]]:
    rng = random.Random(0)
    return [
        {name: Fraction(rng.randrange(1000), 999) for name in NAMES}
        | {"P": 2 + Fraction(rng.randrange(5000), 997)}
        for _ in range(300)
    ]


def _at_points(points: Sequence[Mapping[str, Fraction]], of: Polynomial) -> Finding:
    return Finding(Points(points, [value(of, names) for names in points]), text(of))


def conditions(stored: Stored) -> dict[str, Any]:
    """Which frequencies conditions 5 and 6 decide, and what conditions 3 and 7 depend on."""
    printed = dict(printed_claims("Section 3: the eleven conditions"))
    best = profits(stored)["best"]
    decided = {
        number: [n for n in NAMES if formula_passes("decides", printed[number], best[n].value)]
        for number in ("5", "6")
    }
    first, second = (letters(derivative(polynomial(stored, k), f"b{k}")) for k in (1, 2))
    return {
        "5 decides": decided["5"],
        "5 decides c3 and 6 decides d1": decided == {"5": ["c3"], "6": ["d1"]},
        "3 depends on": first,
        "a1 is in 7, not in 3": (first, second) == (["c2", "d3"], ["a1", "c3", "d1"]),
    }


def at(stored: Stored) -> dict[str, Finding]:
    """The equilibria of the complete lists, all and at the places that claims name."""
    found = equilibria(stored)
    known = borders(found)
    facts = {claim.fact for part in PAPER.parts for claim in part.claims}
    places = {fact[3:] for fact in facts if fact.startswith("at/")} - {"all"}
    groups = {at: [each for each in found if is_true(at, each.names | known)] for at in places}
    return {"all": _listed(found)} | {place: _listed(group) for place, group in groups.items()}


def _listed(found: Sequence[Found]) -> Finding:
    counts = {"equilibria": len(found), "pots": len(by_pot(found))}
    return Finding(Points([each.names for each in found]), counts)


def listed(stored: Stored) -> dict[str, Any]:
    """What is to be said of all equilibria of the complete lists together."""
    found = equilibria(stored)
    regret = max(each.max_regret for each in found)
    names = set().union(*present(found).values())
    five = [each for each in found if each.pot == 5 and each.values["a1"] > 0]
    rows = {Fraction(1, 3), Fraction(2, 5)}
    return {
        "none has regret": bool(regret <= ROUNDING),
        "one with b3 = 0 has no regret": any(
            e.values["b3"] == 0 and e.max_regret == 0 for e in found
        ),
        "only one of a and b positive": {
            k: sum((e.values[f"a{k}"] > 0) != (e.values[f"b{k}"] > 0) for e in found)
            for k in (1, 2)
        },
        "b1 at pot 5": [each.values["b1"] for each in five],
        "one between the rows has no regret": any(
            e.values["b1"] not in rows and e.max_regret == 0 for e in five
        ),
        "over ranges": _counted([name for name in ISOLATED if name in names]),
        "at one pot": _counted([name for name in CONTINUA if name in names]),
        "otherwise": [
            sum(each.solutions[0] not in (*ISOLATED, *CONTINUA) for each in found),
            float(regret),
        ],
    }


def _counted(names: Sequence[Any]) -> Finding:
    return Finding(len(names), f"{len(names)}: {shown(names)}")


def table_1(stored: Stored) -> dict[str, Any]:
    """Which equilibria, and neighbors of equilibria, meet the conditions of Table 1."""
    summary, found, cells = stored["table_1"].summary, equilibria(stored), printed_cells()
    unmet = [each for each in found if not meets(cells, each.names)]
    gaps = [
        float(value_at("(2−b1)/(P+a1) − 2/(P+1)", each.names))
        for each in found
        if each.values["a2"] > 0
    ]
    return {
        "regretted without": {
            name: _share(*cell["without"][::-1]) for name, cell in summary["cells"].items()
        },
        "a1 = 1 without regret": {
            name: any(
                each.values["a1"] == 1 and is_true(corrected(cells[name]), each.names)
                for each in unmet
                if each.max_regret <= ROUNDING
            )
            for name in ("1b", "1c")
        },
        "unmet": len(unmet),
        "unmet without regret": bool(unmet) and max(e.max_regret for e in unmet) <= ROUNDING,
        "no regret where met": _regrets(summary["changed_table"])["no regret where met"],
        "conditions": _regrets(summary["changed"]),
        "gaps of thresholds": [max(gaps), -min(gaps)],
        "combinations": math.prod(Counter(name[0] for name in cells).values()),
    }


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def _regrets(counts: Mapping[str, int]) -> dict[str, Fraction]:
    """Shares of profiles without regret among those that meet conditions, with it among others."""
    met, regretted = counts.get("meets, no regret", 0), counts.get("fails, regret", 0)
    return {
        "no regret where met": _share(met, met + counts.get("meets, regret", 0)),
        "regret where not": _share(regretted, regretted + counts.get("fails, no regret", 0)),
    }


def cases(stored: Stored) -> dict[str, Any]:
    """The cases of the enumeration, what section 3 leaves of them, and pots left open."""
    cells = [cell for cell in stored["enumeration"].cells if cell.game_spec.startswith("skp")]
    every = cells[0].statistics["cases"]
    still_open = [c for c in cells if c.status != "ok" or c.statistics["unresolved"]]
    # 1 to 3 become one condition, 7 loses a case, 11 two
    left = every * Fraction(1, 9) * Fraction(2, 3) * Fraction(1, 3)
    counts = {"left open": len(still_open), "pots": len(cells), "cases at each": every}
    return {
        "combinations": {"of the enumeration": left, "of Table 1": table_1(stored)["combinations"]},
        "left open": Finding(len(still_open), counts),
    }


def solutions(stored: Stored) -> dict[str, Any]:
    """Ranges, frequencies and profits of what goes by the name of each solution."""
    found = equilibria(stored)
    known = borders(found)
    return {
        name: _missing(name)
        if not (members := members_of(found, name))
        else {of: _column(members, of) for of in (*NAMES, *SUMS)}
        | {f"24 E{k}": _column(members, f"E{k}") for k in (1, 2, 3)}
        | {"profits vary by": _varying(members)}
        | _range(name, found, known)
        for name in (*ISOLATED, *CONTINUA)
    }


def members_of(found: Sequence[Found], name: str) -> list[Found]:
    """What goes by a name, at pots where no other solution is so near that it is doubtful."""
    return [each for each in inside(found) if each.solutions[0] == name]


def _missing(name: str) -> Missing:
    return Missing(f"case enumeration found no member of Solution {name}")


def _column(members: Sequence[Found], of: str, more: Mapping[str, Any] | None = None) -> Finding:
    """A figure of members, pot by pot, in which formulas and bounds are to agree with it."""
    groups = by_pot(members)
    points = [
        Points([e.names | (more or {}) for e in group], [value_at(of, e.names) for e in group])
        for group in groups.values()
    ]
    pot = sorted(groups)[len(groups) // 2]
    values = [value_at(of, each.names) for each in groups[pot]]
    return Finding(points, f"{_span(values)} at P = {shown(pot)}, of {len(members)} members")


def _span(values: Sequence[Any]) -> str:
    ends = dict.fromkeys((min(values), max(values)))
    return " to ".join(shown(end if _is_short(end) else float(end)) for end in ends)


def _is_short(number: Any) -> bool:
    return isinstance(number, Fraction) and number.denominator < 1000


def _range(name: str, found: Sequence[Found], known: Mapping[str, Fraction]) -> dict[str, Any]:
    """Both ends of the range of a solution, and whether the borders P8 and P9 are these."""
    pots = present(found)
    own = [pot for pot, names in pots.items() if name in names]
    others = [pot for pot, names in pots.items() if name not in names]
    below = max((pot for pot in others if pot < own[0]), default=own[0])
    above = min((pot for pot in others if pot > own[-1]), default=None)
    ends = [(below + own[0]) / 2, *([(own[-1] + above) / 2] if above else [])]
    gaps = [pot for pot in others if own[0] < pot < own[-1]]
    points = Points([] if gaps else [{"P": end} | known for end in ends], distance=1e-6)
    inner = [known.get("P8"), known.get("P9")]
    return {
        "range": Finding(points, f"{_span(own)}, {len(own)} pots looked at"),
        "from P8 to P9": not gaps and ends == inner,
    }


def _varying(members: Sequence[Found]) -> Finding:
    """By how much the profits vary over a solution, at one pot."""
    payoffs = list(zip(*(each.payoffs for each in members), strict=True))
    spans = {f"E{k}": max(values) - min(values) for k, values in enumerate(payoffs, 1)}
    return Finding(Points([spans]), spans)


def misprints(stored: Stored) -> dict[str, Any]:
    """Entries that are wrong in print, with w, the max regret as printed, and r, corrected."""
    found = equilibria(stored)
    groups = {name: members_of(found, name) for name in ("1", "2", "10a")}
    entries = {"2": "b3", "10a_b1": "b1", "10a_b2": "b2", "10a_d1": "d1"}
    one, ten = misprint_regrets(stored, "1"), misprint_regrets(stored, "10a_b1")
    low = min((each.values["b1"] for each in groups["10a"]), default=0)
    ends = [each for each in groups["10a"] if each.values["b1"] == low]
    return {
        name: _column(group, of, misprint_regrets(stored, name))
        if (group := groups[name.partition("_")[0]])
        else _missing(name)
        for name, of in entries.items()
    } | {
        "10a where b1 is lowest": _column(ends, "c1 + d2", ten) if ends else _missing("10a"),
        "10a above": _listed([each for each in groups["10a"] if each.values["b1"] > low]),
        "1 corrected": one["w"] > 0 == one["r"]
        and all(is_true("d2 = (2P−4)/(P+1)", each.names) for each in groups["1"]),
    }


def border(stored: Stored) -> dict[str, Any]:
    """Pots at which the solutions change, known to 1e-6."""
    formulas = dict(printed_claims("Borders of the ranges", "exact"))
    return {
        name: {
            "exact": Finding(Points([{}], [pot], distance=1e-6), f"{float(pot):.7f}"),
            "decimals": float(pot),
            "fits its formula": abs(pot - value_at(formulas.get(name, "0"), {})) <= NEAREST,
        }
        for name, pot in borders(equilibria(stored)).items()
    }


def coexisting(stored: Stored) -> dict[str, Any]:
    """Ranges in which three solutions exist, and how many at most at one pot."""
    found = equilibria(stored)
    counts = {
        pot: 0 if names - set(ISOLATED) else len(names) for pot, names in present(found).items()
    }
    known = borders(found)

    def named(pot: Fraction) -> str:
        return next((n for n, at in known.items() if abs(pot - at) <= NEAREST), shown(float(pot)))

    stretches = _stretches({pot: count >= 3 for pot, count in counts.items()})
    return {
        "three": [f"{named(pots[0])} to {named(pots[-1])}" for pots in stretches],
        "at most": max(len(names & set(ISOLATED)) for names in present(found).values()),
    }


def _stretches(truths: Mapping[Fraction, bool]) -> list[list[Fraction]]:
    """Neighboring pots at which something is true."""
    stretches: list[list[Fraction]] = []
    going_on = False
    for pot, truth in truths.items():
        if truth and not going_on:
            stretches.append([])
        if truth:
            stretches[-1].append(pot)
        going_on = truth
    return stretches


def along(stored: Stored) -> dict[str, Any]:
    """How figures go along the pot, in the complete lists."""
    found = equilibria(stored)
    known, groups = borders(found), by_pot(inside(found))
    alone = {pot: group for pot, group in groups.items() if len(present(group)[pot]) == 1}
    last = groups[Fraction(47, 10)]
    ranging = [n for n in ("c1", "d1", "d2") if len({each.values[n] for each in last}) > 1]
    beyond = [each for each in found if each.pot > 5]
    several = [pot for pot, group in groups.items() if len(_profits(group)) > 1]
    return {
        "ranges of a1 beyond P6": _several(groups, "a1", known["P6"]),
        "ranges of a2 beyond 3": _several(groups, "a2", Fraction(3)),
        "b3 of lone solutions": [group[0].values["b3"] for pot, group in alone.items() if pot > 2],
        "b3 of three solutions": _rising(groups),
        "ranging at 4.7": ranging,
        "d2 ranges and d1 does not": ranging == ["c1", "d2"] and listed(stored)["none has regret"],
        "only player 3 always calls": all(
            e.values["d3"] == 1 and e.values["c1"] < 1 and e.values["d1"] < 1 and e.values["c2"] > 0
            for e in beyond
        ),
        "pots with several profits": _counted([float(pot) for pot in several]),
        "profits at P5": len(_profits(groups[Fraction(7, 2)])),
    }


def _profits(group: Sequence[Found]) -> set[tuple[float, ...]]:
    return {tuple(round(float(payoff), 9) for payoff in each.payoffs) for each in group}


def _several(groups: Mapping[Fraction, Sequence[Found]], name: str, low: Fraction) -> Finding:
    """Ranges of pots beyond `low` in which a frequency has several values.

    Solutions 2a and 5a exist at one pot only, and so does what they leave open.
    """
    truths = {}
    for pot, group in groups.items():
        values = [float(each.values[name]) for each in group]
        many = len(present(group)[pot] & set(ISOLATED)) > 2
        truths[pot] = many and pot > low and max(values) - min(values) > ROUNDING
    stretches = _stretches(truths)
    return _counted([f"{float(pots[0]):g} to {float(pots[-1]):g}" for pots in stretches])


def _rising(groups: Mapping[Fraction, Sequence[Found]]) -> Finding:
    """The fewest values of b3 where there are three solutions, and how many rise with the pot."""
    along: dict[str, list[float]] = {}
    fewest = len(ISOLATED)
    for pot, group in groups.items():
        if len(present(group)[pot] & set(ISOLATED)) == 3:
            of = {each.solutions[0]: float(each.values["b3"]) for each in group}
            fewest = min(fewest, len({round(value, 9) for value in of.values()}))
            for name, number in of.items():
                along.setdefault(name, []).append(number)
    rising = [name for name, values in along.items() if values[-1] > values[0]]
    return Finding([fewest, len(rising)], {"values": fewest, "rises in Solutions": sorted(rising)})


def jumps(stored: Stored) -> dict[str, Finding]:
    """Whose profits jump at the pot of a continuum."""
    groups = by_pot(equilibria(stored))

    def jump(pot: Fraction) -> Finding:
        below = groups[max(p for p in groups if p < pot)][0].payoffs
        above = groups[min(p for p in groups if p > pot)][0].payoffs
        steps = {k: round(float(above[k - 1] - below[k - 1]), 4) + 0.0 for k in (1, 2, 3)}
        return Finding([k for k, step in steps.items() if abs(step) > MOVES], steps)

    return {name: jump(Fraction(pot)) for name, pot in (("2a", 3), ("5a", "7/2"), ("10a", 5))}


def beyond_bounds(stored: Stored) -> dict[str, list[float]]:
    """What always betting with A gains above the upper bound of c2 + d3, with Q below the lower.

    Nothing, where something else gains more.
    """
    wanted = {"above": "a1 = 1", "below": "b1 = 1"}
    found = stored["bounds"].summary
    return {
        side: [row["max_gain"] if row["best"] == best else 0.0 for row in found[side]]
        for side, best in wanted.items()
    }


def two_players(stored: Stored) -> Finding:
    """How many vectors of profits the equilibria of two-player Kuhn poker have."""
    (cell,) = stored["two_players"].cells
    return _counted(sorted({"/".join(e.exact["payoffs"]) for e in cell.equilibria if e.exact}))


def stability(stored: Stored) -> dict[str, Any]:
    """What eigenvalues say of the solutions, by where in its range each is looked at."""
    entries = stored["stability"].summary["equilibria"]
    found = equilibria(stored)
    known = borders(found)
    edges = [*map(float, known.values())]
    by_name: dict[str, Any] = {}
    for name in ISOLATED:
        own = [e for e in entries if e["name"] == f"skp:{name}"]
        pots = [e["value"] for e in own]
        ends = {"lower end": min(pots), "upper end": max(pots)}
        by_name[name] = {
            key: _verdict(e for e in own if e["value"] == p) for key, p in ends.items()
        }
        by_name[name]["inside its range"] = _verdict(e for e in own if _apart(e["value"], edges))
    ranges = {
        where: [
            e
            for e in entries
            if _apart(e["value"], edges) and is_true(where, known | {"P": e["value"]})
        ]
        for where in RANGES
    }
    return {
        "solutions": by_name,
        "attracting": sum(
            e["members"]["verdicts"].get("asymptotically stable", 0) for e in entries
        ),
        "at rest": {
            "largest velocity": max(e["speed"] for e in entries),
            "members that move": sum(e["members"]["refuted"] for e in entries),
        },
        "all": {where: _verdict(group) for where, group in ranges.items()},
        "not unstable": {
            where: ", ".join(sorted({e["name"][4:] for e in group if e["verdict"] != "unstable"}))
            or "none"
            for where, group in ranges.items()
        },
        "dimension less 2 for each bluff": _dimensions(found, entries, edges),
        "eigenvalues of 9": {
            (e["centre_oscillatory"], e["zero"])
            for e in entries
            if e["name"] == "skp:9" and _apart(e["value"], edges)
        },
    }


def _apart(pot: float, edges: Sequence[float]) -> bool:
    """Whether a pot is none of the borders, which have rows of their own."""
    return min(abs(pot - edge) for edge in edges) > NEAREST


def _verdict(entries: Iterable[Mapping[str, Any]]) -> str:
    """The verdicts on all members, in the words of the paper."""
    found = {verdict for entry in entries for verdict in entry["members"]["verdicts"]}
    words = "; ".join(sorted(found)) or "not looked at"
    return words.replace("centre manifold of oscillatory dimension", "center manifold, dimension")


def _dimensions(
    found: Sequence[Found], entries: Sequence[Mapping[str, Any]], edges: Sequence[float]
) -> Finding:
    """Dimensions of center manifolds, less two for each of players 1 and 2 that bluffs."""
    rows: dict[str, Any] = {}
    for name in OSCILLATORY:
        members = [e for e in inside(found) if e.solutions[0] == name]
        rows[name] = {
            "bluffs": {(e.values["b1"] > 0) + (e.values["b2"] > 0) for e in members},
            "dimension": {
                e["centre_oscillatory"]
                for e in entries
                if e["name"] == f"skp:{name}" and _apart(e["value"], edges)
            },
        }
    left = [d - 2 * b for row in rows.values() for d in row["dimension"] for b in row["bluffs"]]
    return Finding(left, rows)


def rest_points(stored: Stored) -> dict[str, Any]:
    """Rest points of the equations that are no equilibria, and shares of them that are unstable."""
    found = stored["rest_points"].summary["rest_points"]
    total = sum(row["distinct"] for row in found)
    return {
        "found": [row["distinct"] for row in found],
        "unstable": _share(sum(row["unstable"] for row in found), total),
        "grow across": _share(sum(row["unstable_across"] for row in found), total),
    }


def equations(stored: Stored) -> dict[str, Any]:
    """How far our flow is from the printed equations, and our integrator from others."""
    found = stored["equations"].summary
    still = found["faces"] / found["beside_faces"] if found["beside_faces"] else math.inf
    return {
        **{key: found[key] for key in ("frequencies", "log_odds", "integrators")},
        "velocity at 0 or 1": still,
        "each of 11 stays at 0 and 1": sizes(stored)["simplified"] == 11 and still <= ROUNDING,
    }


def _runs(stored: Stored, job: str = "regimes") -> dict[str, list[dict[str, Any]]]:
    """Trajectories by pot, with the paper's names of frequencies and regimes in plain words."""
    summary = stored[job].summary
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in summary["runs"]:
        moving = [summary["names"][at] for part in run["components"] for at in part["actions"]]
        ends = {
            summary["names"][at]: end
            for end, keys in enumerate((("to_zero", "at_zero"), ("to_one", "at_one")))
            for key in keys
            for at in run[key]
        }
        regime = run["regime"].replace("quasi_", "quasi-").replace("_", " ")
        named = {"regime": regime, "ends": ends, "moving": " ".join(sorted(moving))}
        runs.setdefault(f"{run['parameter']:g}", []).append(run | named)
    return runs


def trajectories(stored: Stored) -> dict[str, Any]:
    """What trajectories from random starts do, at each pot of section 4."""
    return {pot: _trajectories(runs) for pot, runs in _runs(stored).items()}


def _trajectories(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    regimes = [run["regime"] for run in runs]
    # a chaotic transient and the boundary after it are one type
    types = {CHAOTIC[1] if regime in CHAOTIC else regime for regime in regimes}
    return {
        "regimes": _tally(regimes),
        "types": Finding(len(types), Counter(regimes)),
        "limits": {name: _tally([run["ends"].get(name, "none") for run in runs]) for name in NAMES},
        "moving": _tally([run["moving"] for run in runs]),
        "growth": [
            # in regular motion a displacement grows in proportion to the time at most
            run["lyapunov_windows"][-1]["mean"] * run["time"] if run["regime"] in CHAOTIC else 0.0
            for run in runs
        ],
        "over at": [run["transient"] if run["regime"] == CHAOTIC[1] else math.inf for run in runs],
    }


def _tally(words: Sequence[Any]) -> Finding:
    """Words of trajectories, shown with how often they occur."""
    return Finding(words, Counter(words))


def finally_(stored: Stored) -> dict[str, Any]:
    """Regimes at the end of the longest trajectories that are stored."""
    runs = _runs(stored) | (_runs(stored, "regimes_long") if stored.full else {})
    return {pot: _tally([run["regime"] for run in of]) for pot, of in runs.items()}


def regimes(stored: Stored) -> dict[str, Any]:
    """Regimes of trajectories in the ranges of Figure 7."""
    known = borders(equilibria(stored))
    runs = _runs(stored, "regimes_along_the_pot" if stored.full else "regimes")
    pots = {
        where: [pot for pot in runs if is_true(where, known | {"P": float(pot)})]
        for where in RANGES
    }
    return {
        where: _tally([run["regime"] for pot in those for run in runs[pot]])
        for where, those in pots.items()
    }


def kinds(stored: Stored) -> dict[str, Any]:
    """Regimes at all pots of section 4, and the least regret at the end of a trajectory."""
    runs = [run for of in _runs(stored).values() for run in of]
    return {
        "regimes": {run["regime"] for run in runs},
        "least regret": min(run["profiles"]["final"]["max_regret"] for run in runs),
    }


def motion(stored: Stored) -> dict[str, Any]:
    """How frequencies move in the last half of trajectories."""
    summary, around = stored["motion"].summary, stored["starts"].summary
    slope = letters(derivative(polynomial(stored, 3), "b3"))
    found: dict[str, Any] = {"orbits": _misses(summary["orbits"]["2.5"])}
    for pot, runs in summary["regimes"].items():
        swings = {
            name: [high - low for low, high in (run["frequencies"][name] for run in runs)]
            for name in NAMES
        }
        center = around[SOLUTION_AT[pot]]
        inner = [name for name in center["determined"] if 0 < center["member"][name] < 1]
        found[pot] = {
            "orbits": _misses(runs),
            "moving in all": [name for name in NAMES if min(swings[name]) >= MOVES],
            "moves b3": [name for name in slope if max(swings[name]) >= MOVES],
            "swings of b3": max(swings["b3"]) - min(swings["b3"]),
            "from the center": {
                name: max(abs(run["means"][name] - center["member"][name]) for run in runs)
                for name in inner
            },
        }
    return found


def _misses(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By how much orbits of pairs miss where they were, as a share of the swing or the period."""
    return {
        pair: max(
            math.inf
            if run["pairs"][pair]["spread"] is None
            else max(run["pairs"][pair]["spread"], run["pairs"][pair]["period_spread"])
            for run in runs
        )
        for pair in runs[0]["pairs"]
    }


def beside(stored: Stored) -> dict[str, Any]:
    """How far trajectories from beside a solution are from it, at most and late."""
    rows = stored["motion"].summary["beside"]
    return {name: {key: row[key] for key in ("farthest", "late")} for name, row in rows.items()}


def earnings(stored: Stored) -> dict[str, Any]:
    """Largest distance of average profits from a solution's, as a share of its largest."""
    summary = stored["regimes"].summary
    shares = {pot: _shares(summary, pot) for pot in SOLUTION_AT}
    return shares | {"whole time": {pot: max(row["whole time"]) for pot, row in shares.items()}}


def figure_15(stored: Stored) -> list[float]:
    """The same of the three trajectories of Figure 15."""
    return _shares(stored["orbits_3_1"].summary, "3.1")["whole time"]


def _shares(summary: Mapping[str, Any], pot: str) -> dict[str, list[float]]:
    known = next(
        row["payoffs"]
        for at in summary["values"]
        if at["parameter"] == float(pot)
        for row in at["solutions"]
        if row["name"] == f"skp:{SOLUTION_AT[pot]}"
    )
    largest = max(abs(end) for ends in known for end in ends)

    def share(payoffs: Sequence[float]) -> float:
        return max(
            max(low - own, own - high, 0.0) for own, (low, high) in zip(payoffs, known, strict=True)
        ) / largest  # fmt: skip

    runs = [run for run in summary["runs"] if run["parameter"] == float(pot)]
    return {
        "whole time": [share(run["whole"]["payoffs"]) for run in runs],
        "last half": [share(run["payoffs"]) for run in runs],
    }
