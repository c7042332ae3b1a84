"""What our stored results say on the claims of the paper.

Payoffs, regrets and gains by deviating are in units of κ = 1/24. `low`, `between` and `high` are
the sub-families with c11 = 0, 0 < c11 < 1/2 and c11 = 1/2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from eqbench.equilibria import known_sets
from eqbench.equilibria.expressions import evaluate
from eqbench.papers.checks import Finding, Interval, Missing
from eqbench.papers.formulas import Points
from eqbench.papers.stored import Stored
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import (
    HALF,
    KAPPA,
    LOW,
    QUARTER,
    SHORT,
    ZERO,
    Values,
)
from eqbench.registry import load_game

_KEYS = {name: short for short, name in SHORT.items()}
_WANTED = 5_000  # equilibria to be collected with --full
_NEAR = 10  # times nearer to the family than any random profile: near


def plain(stored: Any) -> Any:
    """What a job stored, with numbers for their texts.

    Fractions in keys become decimals, since a slash cannot stand there.
    """
    match stored:
        case Mapping():
            return {_key(key): plain(value) for key, value in stored.items()}
        case list():
            return [plain(value) for value in stored]
        case str():
            try:
                # κ/2 for 1/2
                number = re.sub(r"(?<!\d)κ", "1", stored.replace("−", "-")).replace("κ", "")
                return float(number) if "." in number else Fraction(number)
            except ValueError:
                return stored
    return stored


def _key(text: str) -> str:
    if re.fullmatch(r"\d+/\d+", text):
        return str(float(Fraction(text)))
    return _KEYS.get(text, text).replace("_", " ")


def _points(names: Iterable[Values], values: Iterable[Any], text: str) -> Finding:
    """Our values at points, with β and κ among the names; `text` is shown."""
    found = []
    for own in names:
        beta = max(own.get("b11", ZERO), own.get("b21", ZERO))
        found.append({"κ": KAPPA, "β": beta, "beta": beta} | own)
    return Finding(Points(found, list(values)), text)


def cfr(stored: Stored) -> dict[str, Any]:
    """Max regret of CFR, on this game and on Shapley's."""
    found: dict[str, Any] = {}
    for name, job in (("this game", "cfr"), ("Shapley's game", "cfr_shapley")):
        cell, regret = stored[job].cells[0], stored[job].cells[0].max_regret
        shown = {"max regret": regret, "iterations": cell.iterations}
        why = f"the run ended as {cell.status}: {cell.reason}"
        found[name] = Missing(why) if regret is None else Finding(regret, shown)
    return found


def sizes(stored: Stored) -> Any:
    """Sizes of the game, and frequencies that are left without dominated actions."""
    reduced = stored["game_without_dominated"].printed_json["sizes"]
    return stored["game"].printed_json["sizes"] | {"left": reduced["free frequencies"]}


def rules(stored: Stored) -> dict[str, Any]:
    """The game tree: deals, leaves of deal 124, situations, and what Table 2 leaves unreached."""
    found = plain(stored["rules"].summary)
    situations, order = {}, ("", "B", "F", "C")
    for letter, player in (("a", "P1"), ("b", "P2"), ("c", "P3")):
        # by what was done since the bet, if there was one
        kinds = {h: h[-1:] if "B" in h else "" for h in found["situations"][letter]}
        situations[player] = {
            str(k): [h or "–" for h, own in kinds.items() if own == kind]
            for k, kind in enumerate(order, start=1)
        }
    return found | {
        "deals": [len(found["deals"]), *found["chances"]],
        "situations": situations,
        "subtree": [len(found["leaves"]), *{len(each) for each in found["leaves"].values()}],
        "I(c43)": {"deals": found["histories c43"], "after": found["labels c43"]},
    }


def table_2(stored: Stored) -> dict[str, Any]:
    """The value that the sign of the derivative forces, by frequency; how many are forced."""
    found: dict[str, Any] = {}
    for name, gain in stored["formulas"].summary["dominance"].items():
        forced = 0 if gain["most"] < 0 else 1 if gain["least"] > 0 else "not forced"
        gains = Interval(gain["least"], gain["most"])
        found[name] = Finding(forced, {"value": forced, "gain by calling (chips)": gains})
    return found | {"forced": sum(one.value != "not forced" for one in found.values())}


def polynomials(stored: Stored) -> dict[str, Any]:
    """Terms and names of the payoffs as polynomials, and what differs from the equations."""
    found = plain(stored["formulas"].summary)
    products = found["dominance"]["c43"]["histories"]
    factor = 4 if found["derivative minus 4 reach"] == 0 else "none"
    return found | {
        "48 parameters": dict(zip(("u1", "u2", "u3"), found["terms"], strict=True)),
        "Table 2 set": dict(zip(("u1", "u2", "u3"), found["terms necessary"], strict=True)),
        "equations": {
            "1": found["reach c43"] | {"products": products},
            "2": found["derivative c43"] | {"products, factor": [products, factor]},
            **found["equations"],
        },
    }


def derivatives(stored: Stored) -> dict[str, Any]:
    """Each derivative of the proofs: ours at points, and its extremes over members."""
    found: dict[str, Any] = {}
    for step in stored["formulas"].summary["steps"]:
        where = family.replaced(step["title"])
        points = [
            names | {name: evaluate(text, names) for name, text in where.items()}
            for names in _anywhere()
        ]
        case = next((name for name in SHORT.values() if name in step["title"]), "")
        own = [one for one in family.sample(12, seed=0) if case in ("", one.sub_family)]
        betas = [v | {"beta": max(v["b11"], v["b21"])} for v in (one.values for one in own)]
        row = found[_short(step["title"])] = {
            "derivative": _points(points, _evaluated(step, points), f"κ({step['ours']})"),
            "at members": _points(betas, _evaluated(step, betas), f"{step['members']} members"),
            "range": [Fraction(step["smallest"]), Fraction(step["largest"])],
        }
        if "printed_minus_exact" in step:
            gaps = map(Fraction, step["printed_minus_exact"])
            row["printed off by"] = max(map(abs, gaps))
    return found


def _short(title: str) -> str:
    """Variable, sub-family and what else tells a derivative from others."""
    text = title.rpartition("∂")[2]
    for name, short in _KEYS.items():
        text = text.replace(f", {name}", f", {short}")
    return text


@cache
def _anywhere() -> list[Values]:
    """Points of which nothing is special."""
    rng, names = np.random.default_rng(7), (*family.places(), "beta")
    return [{name: Fraction(int(rng.integers(1, 97)), 97) for name in names} for _ in range(4)]


def _evaluated(step: Mapping[str, Any], points: Iterable[Values]) -> list[Fraction]:
    return [KAPPA * evaluate(step["ours"], names) for names in points]


@cache
def _entries() -> dict[str, list[tuple[Values, dict[str, Any]]]]:
    """By sub-family, members and what Table 3 says there: ends of ranges, equations, numbers.

    The lower end of c33 is 1/2 − b32 only where that is a frequency, so only there.
    """
    found: dict[str, list[tuple[Values, dict[str, Any]]]] = {name: [] for name in family.family()}
    for one in family.sample(6, seed=9):
        own = family.parameters(family.family()[one.sub_family], one.values)
        said: dict[str, Any] = dict(one.values)
        order = family.ORDER[one.sub_family]
        for place, name in enumerate(order):
            said[name] = family.ends(one.sub_family, {n: own[n] for n in order[:place]}, name)[1]
        if "r23" in said:
            said["b23"] = said["r23"] / (1 - one.values["b21"])
        said |= {"c33 least": HALF - one.values["b32"]}
        said |= {"c33 range": (said["c33 least"], said["c33"])}
        if said["c33 least"] >= 0:
            found[one.sub_family].append((one.values, said))
    return found


def _entry(
    name: str, sub_families: Iterable[str], low: Fraction = ZERO, high: Fraction = QUARTER
) -> Finding:
    """An entry of Table 3 at members with b11 from low to high, or a number if it is one."""
    if name in family.constants():
        return Finding(family.constants()[name], family.constants()[name])
    rows = [row for one in sub_families for row in _entries()[one] if low <= row[0]["b11"] <= high]
    values = [entries[name] for _, entries in rows]
    return _points([member for member, _ in rows], values, f"Table 3 at {len(rows)} members")


def table_3(stored: Stored) -> dict[str, Any]:
    """Each entry, members with regret, and profiles with regret 1/64 beyond the entry."""
    summary = plain(stored["certificates"].summary)
    wrong = sum(each["members"] - each["equilibria"] for each in summary["certificates"].values())
    c34 = list(family.ends(LOW, {}, "c34"))
    found: dict[str, Any] = {"c34": {"entry": c34, "members with regret": wrong}}
    single = {name: [" ".join(SHORT), name] for name in summary["beyond"] if len(name) == 3}
    for row, (where, *ways) in (single | family.PROFILES["table_3"]).items():
        beyond = [summary["beyond"][way] for way in ways]
        sub_families = [SHORT[short] for short in where.split()]
        gains = [each[end] for each in beyond for end in ("least", "most")]
        found[row] = {
            "entry": _entry(row if row == "c33 range" else row[:3], sub_families),
            "members with regret": wrong,
            "regret beyond": sum(each["not equilibria"] for each in beyond),
            "of": sum(each["profiles"] for each in beyond),
            "gains": Interval(min(gains), max(gains)),
        }
    return found


def text(stored: Stored) -> dict[str, Any]:
    """Each formula of the text: that of Table 3, and regrets at it and 1/64 beyond it."""
    found = plain(stored["text"].summary)
    for row, each in found.items():
        short, name, *rest = row.split()
        low, high = family.range_of_b11(family.PROFILES["text"][row])
        name = "c33 least" if rest == ["least"] else "c33 range" if name == "c33" else name
        each["Table 3"] = _entry(name, [SHORT[short]], low, high)
        # what is no profile any more need not have regret
        each["regret beyond"] = each["beyond"]["not equilibria"] or not each["beyond"]["profiles"]
    shown = ("Table 3", "members", "not equilibria", "regret beyond", "table 3 equilibria", "of")
    return {row: {name: each[name] for name in shown} for row, each in found.items()}


def members(stored: Stored) -> dict[str, Any]:
    """Exact certificates of members by sub-family, and of all."""
    found = plain(stored["certificates"].summary["certificates"])
    rows = list(found.values())
    second = sorted({value for each in rows for value in each["u2"]})
    betas = [beta for each in rows for beta in each["beta"]]
    payoffs = zip(*(each["payoffs as printed"] for each in rows), strict=True)
    return found | {
        "all": {
            "members": sum(each["members"] for each in rows),
            "payoffs as printed": list(map(sum, payoffs)),
            "u1 at most u2": sum(each["u1 at most u2"] for each in rows),
            "u2": _points([{}] * len(second), second, ", ".join(map(str, second))),
            "β": [min(betas), max(betas)],
        }
    }


def first_bets(stored: Stored) -> dict[str, Any]:
    """The entries of Table 3 for first bets of player 1, and profiles 1/64 beyond."""
    names = ("a11", "a21", "a31", "a41")
    beyond = [plain(stored["certificates"].summary["beyond"][name]) for name in names]
    return {
        "entries": [family.constants()[name] for name in names],
        "profiles": sum(each["profiles"] for each in beyond),
        "not equilibria": sum(each["not equilibria"] for each in beyond),
    }


def convexity(stored: Stored) -> Any:
    """Regrets halfway between members, by sub-family."""
    return plain(stored["certificates"].summary["convexity"])


def utilities(stored: Stored) -> dict[str, Any]:
    """Payoffs at both ends of β, and how many members have those of Table 3."""
    found, counts = selection(stored)["ends"], members(stored)["all"]
    rows = zip(found["β = 0"]["payoffs"], found["β = 1/4"]["payoffs"], strict=True)
    points = [{"β": ZERO}, {"β": QUARTER}]
    return {
        f"u{k + 1}": {
            "at the ends of β": _points(points, [KAPPA * low, KAPPA * high], f"{low}κ, {high}κ"),
            "members with these": counts["payoffs as printed"][k],
            "of": counts["members"],
        }
        for k, (low, high) in enumerate(rows)
    }


def domains(stored: Stored) -> Any:
    """Equilibria on lattices beside the paper's domains, by figure; points that the text names."""
    found = plain(stored["domains"].summary)
    largest, quarters = found["4"]["largest"], {"b11": QUARTER, "b21": QUARTER}
    c33 = family.ends(LOW, quarters | {"b32": Fraction(7, 8)}, "c33")
    single = family.ends(LOW, quarters | {"b32": largest["b32"]}, "c33")[1]
    special: dict[str, Any] = {
        "b32": {"largest": [largest["b32"], largest["b11"]]},
        "c33": {"from, to": [*c33, c33[1]]},
        "one point": {"b11, c33": [largest["b11"], single]},
        "c11": {"largest": found["6"]["largest"]["c11"]},
    }
    for name, places in family.PROFILES["special"].items():
        for where, corners in places.items():
            special[name][f"gain {where}"] = [found["corners"][one] / KAPPA for one in corners]
    special["b11, b23"] = [found["7"]["largest"][name] for name in ("b11", "b23")]
    special["bluffs"] = {}
    for short, number in (("low", "3"), ("between", "6"), ("high", "7")):
        b11, b21 = (found[number]["largest"].get(name) for name in ("b11", "b21"))
        point = {"b11": b11, "b21": b11 if b21 is None else b21}
        special["bluffs"][short] = _points([point], [], f"up to {b11} and {point['b21']}")
    return found | special


def table_4(stored: Stored) -> dict[str, Any]:
    """Each parameter as it was measured, and as it is in a member of the family."""
    printed = plain(stored["rules"].json("table_4.json")["behavior"])
    found = plain(stored["allowed"].summary)
    return {
        name: {
            "measured": printed[player][label]["call" if "B" in label else "bet"],
            "of a member": found[player]["own"][name],
            "gains there": found[player]["regrets"],
        }
        for name, (player, label) in family.places().items()
    }


def mixed(stored: Stored) -> dict[str, Any]:
    """Payoffs and gains of Table 4, exactly."""
    exact = plain(stored["table_4"].printed_json["exact"])
    return {
        **{
            f"u{k + 1}": _points([{"β": QUARTER}], [payoff], f"{payoff} with β = 1/4")
            for k, payoff in enumerate(exact["payoffs"])
        },
        "gains": [gain / KAPPA for gain in exact["regrets"]],
    }


def selection(stored: Stored) -> Any:
    """Worst cases within the family, and combinations of strategies."""
    found = plain(stored["selection"].summary)
    gains = {Fraction(beta): each["regrets"][1] for beta, each in found["table 4"].items()}
    points = [{"β": beta} for beta in gains]
    shown = ", ".join(f"{gain}κ" for gain in gains.values())
    return found | {
        "gain of player 2": {
            "gains": _points(points, [KAPPA * gain for gain in gains.values()], shown),
            "payoff with b11 = b21 = 0": found["table 4 answer"]["payoffs"][1],
        }
    }


def combinations(stored: Stored) -> Any:
    """Combinations of the strategies of corners of the family."""
    found = stored["crossplay"].summary["combinations"]
    return found | {"strategies of player 1": found["strategies"][0]}


def combinations_of_two(stored: Stored) -> Any:
    """Combinations of the strategies of equilibria of two-player Kuhn poker."""
    found = stored["crossplay_two_players"].summary
    rows = [row for player in found["interchange"] for row in player["payoffs"]]
    payoffs = {tuple(each) for row in rows for each in row}
    return found["combinations"] | {"different payoffs": len(payoffs)}


def two_players(stored: Stored) -> Any:
    """Equilibria of two-player Kuhn poker."""
    (known,) = known_sets(load_game("kuhn2"))
    gammas = [known.exact.names({"alpha": end})["K_bets"] for end in (ZERO, Fraction(1, 3))]
    return plain(stored["two_players"].summary) | {"γ": gammas}


_SLOW = (
    *("cfr(start=random)", "mccfr(start=random)", "fictitious_play(start=random)"),
    *("replicator(start=random)", "gambit_logit_path"),
)


def by_method(stored: Stored) -> dict[str, Any]:
    """What each method found that does not belong to the family."""
    summary = stored["open_question"].summary
    # starts differ between the extents
    named = {re.sub(r"starts=\d+,", "", name): name for name in summary["solvers"]}
    groups = {one: [name] for one, name in named.items()}
    groups["inexact"] = [named[one] for one in _SLOW if one in named]
    return {one: _searched(summary, names) for one, names in groups.items()}


def _searched(summary: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Profiles of solvers that are outside the family, or too inexact and not near it."""
    found = [summary["solvers"][name] for name in names]
    unfinished = summary["unfinished"]
    runs = [run for name in names for run in unfinished["solvers"].get(name, [])]
    sums = ("cells", "equilibria", "strict", "on_path", "outside", "different_outcomes")
    shown: dict[str, Any] = {_key(name): sum(each[name] for each in found) for name in sums}
    if len(found) == 1 and shown["equilibria"]:
        return Finding(shown["outside"], shown | {"β": Interval(*(found[0]["beta"] or (0, 0)))})
    if not runs and not shown["outside"]:
        return Missing(f"{shown['cells']} runs ended without a profile")
    distances = [run["distance"] for run in runs]
    far = sum(distance >= unfinished["at_random"] / _NEAR for distance in distances)
    shown |= {
        "smallest max regret": min((run["max_regret"] for run in runs), default=0),
        "outcomes off by at most": max(distances, default=0),
        "random profiles off by": unfinished["at_random"],
    }
    return Finding(shown["outside"] or far, shown)


def equilibria(stored: Stored) -> dict[str, Any]:
    """All equilibria that were found, and those that are outside the family."""
    summary = plain(stored["open_question"].summary)
    none = Missing("no equilibrium was found")
    own = {name: none if value is None else value for name, value in summary["all"].items()}
    outside = {name: own[name] for name in ("outside", "equilibria", "sharp", "different")}
    listed = {"listed": summary["outside"], "polished": own["polished"], "moved": own["moved"]}
    return own | {
        "collected": {
            "equilibria": own["equilibria"],
            "asked for": _WANTED if stored.full else 2,
            "different outcomes": own["different outcomes"],
        },
        "outside": Finding(own["outside"], outside),
        "listed": Finding(len(summary["outside"]), listed),
        "off path": summary["off path"],
    }


def range_of_payoff(stored: Stored) -> Any:
    """The range of player 1's payoff over all equilibria, with what was proved about it."""
    return plain(stored["ranges_of_payoff"].rows("ranges.csv")[0])
