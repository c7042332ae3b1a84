"""What our stored results say on the claims of the paper; payoffs and gains in units of κ = 1/24.

Functions are in the order of the paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from eqbench.equilibria import known_sets
from eqbench.equilibria.expressions import evaluate
from eqbench.papers.checks import Finding, Interval, Missing
from eqbench.papers.formulas import Points
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.family import (
    BETWEEN,
    HALF,
    HIGH,
    KAPPA,
    LOW,
    ORDER,
    QUARTER,
    ZERO,
    Values,
    constants,
    ends,
    family,
    from_kappa,
    parameters,
    places,
    sample,
)
from eqbench.papers.szafron.printed import replaced
from eqbench.registry import load_game

SHORT = {"low": LOW, "between": BETWEEN, "high": HIGH}
_SIXTH = Fraction(1, 6)
_WANTED = 5_000  # equilibria to be collected with --full
_NEAR = 10  # times nearer to the family than any random profile: near


def _share(part: int, whole: int) -> Finding:
    """A share, as a fraction of 1; 0 of nothing."""
    return Finding(Fraction(part, whole) if whole else ZERO, f"{part:,} of {whole:,}")


def _kappas(texts: Iterable[str]) -> list[Fraction | float]:
    return [from_kappa(text) for text in texts]


def _measured(found: Mapping[str, list[str]]) -> dict[str, list[Fraction | float]]:
    """Payoffs and regrets of the three players."""
    return {"payoffs": _kappas(found["payoffs"]), "gains": _kappas(found["regrets"])}


def _points(names: Iterable[Values], values: Iterable[Any], text: str) -> Finding:
    """Our values at points, with β and κ among the names; `text` is shown."""
    found = []
    for own in names:
        beta = max(own.get("b11", ZERO), own.get("b21", ZERO))
        found.append({"κ": KAPPA, "β": beta, "beta": beta} | own)
    return Finding(Points(found, list(values)), text)


# -- sections 1 to 3 -----------------------------------------------------------------------


def cfr(stored: Stored) -> Any:
    """Max regret of CFR on three-player Kuhn poker."""
    return _regret_of_run(stored, "cfr")


def cfr_shapley(stored: Stored) -> Any:
    """Max regret of CFR on Shapley's game."""
    return _regret_of_run(stored, "cfr_shapley")


def _regret_of_run(stored: Stored, job: str) -> Any:
    cell = stored[job].cells[0]
    if cell.max_regret is None:
        return Missing(f"the run ended as {cell.status}: {cell.reason}")
    return Finding(cell.max_regret, {"max regret": cell.max_regret, "iterations": cell.iterations})


def mccfr(stored: Stored) -> Any:
    """How many times nearer to the family MCCFR comes than the nearest random profile."""
    found = stored["open_question"].summary["unfinished"]
    runs = found["solvers"].get("mccfr(start=random)", [])
    if not runs:
        return Missing("no run of MCCFR ended with a profile that is still inexact")
    distance = max(run["distance"] for run in runs)
    return Finding(
        found["at_random"] / distance,
        {
            "runs": len(runs),
            "max regret": max(run["max_regret"] for run in runs),
            "outcomes off by": distance,
            "random profiles off by": found["at_random"],
        },
    )


def sizes(stored: Stored) -> dict[str, Any]:
    """Sizes of the game."""
    found: dict[str, Any] = stored["game"].printed_json["sizes"]
    return found


def rules(stored: Stored) -> dict[str, Any]:
    """The game tree: deals, leaves of deal 124, situations, and what Table 2 leaves unreached."""
    found = stored["rules"].summary
    ways = {"": "none", "B": "bet", "F": "fold", "C": "call"}
    situations: dict[str, dict[str, list[str]]] = {}
    for player, letter in (("P1", "a"), ("P2", "b"), ("P3", "c")):
        situations[player] = {}
        for history in found["situations"][letter]:
            last = ways[history[-1:] if "B" in history else ""]
            situations[player].setdefault(last, []).append(history or "–")
    return {
        "deals": [len(found["deals"]), *map(Fraction, found["chances"])],
        "actions": found["actions"],
        "leaves": {
            history: list(map(int, payoffs)) for history, payoffs in found["leaves"].items()
        },
        "payoffs of a leaf": {len(payoffs) for payoffs in found["leaves"].values()},
        "leaf a13": found["share_of_a13"],
        "sums of payoffs": list(map(Fraction, found["sums"])),
        "situations": situations,
        "subtree": [len(found["leaves"]), *{len(each) for each in found["leaves"].values()}],
        "unreached": found["unreached_124"],
        "I(c43)": {"deals": found["histories_c43"], "after": found["labels_c43"]},
    }


# -- Table 2, Theorem 1, the equations -----------------------------------------------------


def table_2(stored: Stored) -> dict[str, Any]:
    """The value that the sign of the derivative forces, by frequency; how many are forced."""
    found: dict[str, Any] = {}
    for name, gain in stored["formulas"].summary["dominance"].items():
        forced = 0 if gain["most"] < 0 else 1 if gain["least"] > 0 else "not forced"
        gains = Interval(gain["least"], gain["most"])
        found[name] = Finding(forced, {"value": forced, "gain by calling (chips)": gains})
    count = sum(one.value != "not forced" for one in found.values())
    return found | {"forced": count}


def left(stored: Stored) -> int:
    """Frequencies that are left without dominated actions."""
    return int(stored["game_without_dominated"].printed_json["sizes"]["free frequencies"])


def polynomials(stored: Stored) -> dict[str, Any]:
    """Terms and names of the payoffs as polynomials, and what differs from the equations."""
    found = stored["formulas"].summary
    products = found["dominance"]["c43"]["histories"]
    factor = 4 if found["derivative_minus_4_reach"] == 0 else "none"
    equations = {
        "1": found["reach_c43"] | {"products": products},
        "2": found["derivative_c43"] | {"products, factor of (1)": [products, factor]},
        **{number: found["equations"][number] for number in "345"},
    }
    for each in equations.values():
        each |= {"printed minus ours": each["difference"]}
    shown = ("printed minus ours", "products", "products, factor of (1)", "terms")
    return {
        "all parameters": dict(zip(("u1", "u2", "u3"), found["terms"], strict=True)),
        "Table 2 set": dict(zip(("u1", "u2", "u3"), found["terms_necessary"], strict=True)),
        "names with Table 2 set": found["names_necessary"],
        "degree": found["largest_degree"],
        "2 minus 4 times 1 (terms)": found["derivative_minus_4_reach"],
        "equations": {
            number: {name: each[name] for name in shown if name in each}
            for number, each in equations.items()
        },
    }


def derivatives(stored: Stored) -> dict[str, Any]:
    """Each derivative of the proofs: ours at points, and its extremes over members."""
    return {_key(step["title"]): _derivative(step) for step in stored["formulas"].summary["steps"]}


def _key(title: str) -> str:
    """Variable, sub-family and what else tells a derivative from others, in short."""
    text = title.rpartition("∂")[2]
    for short, name in SHORT.items():
        text = text.replace(f", {name}", f", {short}")
    return text


def _derivative(step: Mapping[str, Any]) -> dict[str, Any]:
    where = replaced(step["title"])
    points = [_replaced(names, where) for names in _anywhere()]
    case = next((name for name in SHORT.values() if name in step["title"]), "")
    members = [one.values for one in _some_members() if case in ("", one.sub_family)]
    betas = [names | {"beta": max(names["b11"], names["b21"])} for names in members]
    text = f"κ({step['ours']})"
    low, high = Fraction(step["smallest"]), Fraction(step["largest"])
    return {
        "derivative": _points(points, _evaluated(step["ours"], points), text),
        "at members": _points(betas, _evaluated(step["ours"], betas), f"{step['members']} members"),
        "range": Finding([low, high], Interval(low, high)),
    }


def misprints_of_proofs(stored: Stored) -> dict[str, bool]:
    """Whether a derivative as it is printed is not ours at members."""
    return {
        _key(step["title"]): any(Fraction(gap) for gap in step["printed_minus_exact"])
        for step in stored["formulas"].summary["steps"]
        if "printed_minus_exact" in step
    }


@cache
def _anywhere() -> list[Values]:
    """Points of which nothing is special."""
    rng = np.random.default_rng(7)
    names = (*places(), "beta")
    return [{name: Fraction(int(rng.integers(1, 97)), 97) for name in names} for _ in range(4)]


@cache
def _some_members() -> list[Any]:
    return sample(12, seed=0)


def _replaced(names: Values, where: Mapping[str, str]) -> Values:
    # a replaced name may bring others that are replaced, such as beta
    for _ in range(2):
        names = names | {name: evaluate(text, names) for name, text in where.items()}
    return names


def _evaluated(text: str, points: Iterable[Values]) -> list[Fraction]:
    return [KAPPA * evaluate(text, names) for names in points]


def largest_bluffs(stored: Stored) -> dict[str, list[Fraction]]:
    """Largest b11 and b21 that the constraints leave, by sub-family."""
    found = stored["formulas"].summary["largest_bluffs"]
    return {short: list(map(Fraction, found[name])) for short, name in SHORT.items()}


# -- Table 3 -------------------------------------------------------------------------------


@cache
def _entries() -> dict[str, list[tuple[Values, dict[str, Any]]]]:
    """By sub-family, members and what Table 3 says there: an end of a range, or an equation.

    The lower end of c33 is given where it is a frequency.
    """
    found: dict[str, list[tuple[Values, dict[str, Any]]]] = {name: [] for name in family()}
    for one in sample(6, seed=9):
        known, order = family()[one.sub_family], ORDER[one.sub_family]
        own = parameters(known, one.values)
        said: dict[str, Any] = dict(one.values)
        for place, name in enumerate(order):
            said[name] = ends(one.sub_family, {n: own[n] for n in order[:place]}, name)[1]
        if "r23" in said:
            said["b23"] = said["r23"] / (1 - one.values["b21"])
        if one.values["b32"] <= HALF:
            said["c33"] = (HALF - one.values["b32"], said["c33"])
            found[one.sub_family].append((one.values, said))
    return found


def _entry(
    name: str, sub_families: Iterable[str], where: Callable[[Values], bool] = lambda _: True
) -> Finding:
    """An entry of Table 3 at members, or a number if it is one."""
    if name in constants():
        return Finding(constants()[name], constants()[name])
    said = [each for one in sub_families for each in _entries()[one] if where(each[0])]
    values = [entries[name] for _, entries in said]
    return _points([member for member, _ in said], values, f"Table 3 at {len(said)} members")


# row of Table 3 -> sub-families, if not all, and the ways in which it is broken, if not one
_ROWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "b11 low": ((LOW,), ("b11 ≤ b21",)),
    "b11 other": ((BETWEEN, HIGH), ("b11 ≤ 1/4", "b11 ≤ 1/4 between")),
    "c11": ((BETWEEN,), ()),
    "b21 low": ((LOW,), ("b21 ≤ 1/4",)),
    "b21 between": ((BETWEEN,), ("b21 = b11", "b21 = b11 below")),
    "b21 high": ((HIGH,), ("b21 ≤ min",)),
    "b23": ((LOW, BETWEEN, HIGH), ("b23", "b23 elsewhere")),
    "c33": ((LOW, BETWEEN, HIGH), ("c33 below", "c33 above")),
}


def table_3(stored: Stored) -> dict[str, Any]:
    """Each entry, members with regret, and how many have regret 1/64 beyond the entry."""
    summary = stored["certificates"].summary
    wrong = sum(each["members"] - each["equilibria"] for each in summary["certificates"].values())
    found: dict[str, Any] = {"c34": {"range": [0, 1], "members with regret": wrong}}
    single = [*constants(), "b32", "b33", "b41", "c21"]
    for row in (*_ROWS, *(name for name in single if name in summary["beyond"])):
        sub_families, ways = _ROWS.get(row, (SHORT.values(), ()))
        beyond = [summary["beyond"][way] for way in ways or (row,)]
        gains = [from_kappa(each[end]) for each in beyond for end in ("least", "most")]
        found[row] = {
            "entry": _entry(row.split()[0], sub_families),
            "members with regret": wrong,
            "regret beyond": _share(
                sum(each["not_equilibria"] for each in beyond),
                sum(each["profiles"] for each in beyond),
            ),
            "gains (κ)": Interval(min(gains), max(gains)),
        }
    return found


def members(stored: Stored) -> dict[str, Any]:
    """Exact certificates of members by sub-family: shares that are as the paper says."""
    found = stored["certificates"].summary["certificates"]
    return {
        short: {
            "equilibria": _share(found[name]["equilibria"], found[name]["members"]),
            "payoffs as in Table 3": [
                _share(count, found[name]["members"]).value
                for count in found[name]["payoffs_as_printed"]
            ],
            "dimension": list(dict.fromkeys(found[name]["dimensions"])),
        }
        for short, name in SHORT.items()
    }


def all_members(stored: Stored) -> dict[str, Any]:
    """The same over all sub-families together."""
    found = list(stored["certificates"].summary["certificates"].values())
    count = sum(each["members"] for each in found)
    betas = [Fraction(beta) for each in found for beta in each["beta"]]
    second = sorted({Fraction(value) for each in found for value in each["u2"]})
    beyond, first = stored["certificates"].summary["beyond"], ("a11", "a21", "a31", "a41")
    return {
        **{
            f"u{player + 1} as in Table 3": _share(
                sum(each["payoffs_as_printed"][player] for each in found), count
            )
            for player in range(3)
        },
        "u2": _points([{}] * len(second), second, ", ".join(map(str, second))),
        "u1 ≤ u2": _share(sum(each["u1_at_most_u2"] for each in found), count),
        "β": [min(betas), max(betas)],
        "first bets": {
            "entries": [constants()[name] for name in first],
            "lose beyond": [
                _share(beyond[name]["not_equilibria"], beyond[name]["profiles"]).value
                for name in first
            ],
        },
    }


def utilities(stored: Stored) -> dict[str, Any]:
    """Payoffs at both ends of β, and the share of members with those of Table 3."""
    found, shares = stored["selection"].summary["ends"], all_members(stored)
    points = [{"β": ZERO}, {"β": QUARTER}]
    rows = [_kappas(found[name]["payoffs"]) for name in ("β = 0", "β = 1/4")]
    return {
        f"u{player + 1}": {
            "at both ends of β": _points(
                points,
                [row[player] * KAPPA for row in rows],
                f"{rows[0][player]}κ, {rows[1][player]}κ",
            ),
            "members with these": shares[f"u{player + 1} as in Table 3"],
        }
        for player in range(3)
    }


# -- section 5 beside Table 3 --------------------------------------------------------------


def convexity(stored: Stored) -> dict[str, Any]:
    """Midpoints of members that are no equilibria, by sub-family."""
    found = stored["certificates"].summary["convexity"]
    return {
        short: {
            "with regret": found[name]["not_equilibria"],
            "midpoints": found[name]["pairs"],
            "largest gain (κ)": from_kappa(found[name]["worst"]),
            "between": [
                {one: end[one] for one in ("b11", "b21", "b23", "c11")}
                for end in found[name]["example"]
            ],
        }
        for short, name in SHORT.items()
    }


def not_convex(stored: Stored) -> dict[str, bool]:
    """Whether somebody gains exactly halfway between two members, by sub-family."""
    found = convexity(stored)
    return {short: each["largest gain (κ)"] > 0 for short, each in found.items()}


_WHERE: dict[str, Callable[[Values], bool]] = {
    "between c11": lambda names: names["b11"] > _SIXTH,
    "high b21": lambda names: names["b11"] >= _SIXTH,
    "high b21 small": lambda names: names["b11"] <= _SIXTH,
}


def text(stored: Stored) -> dict[str, Any]:
    """Each formula of the text: that of Table 3, and equilibria at it and 1/64 beyond it."""
    found: dict[str, Any] = {}
    for row, each in stored["text"].summary.items():
        short, name, *_ = row.split()
        beyond, count = each["beyond"], each["members"]
        entry = _entry(name, [SHORT[short]], _WHERE.get(row, lambda _: True))
        if row.endswith("least"):
            lower = [value[0] for value in entry.value.values]
            entry = Finding(Points(entry.value.names, lower), entry.shown)
        found[row] = {
            "Table 3": entry,
            "equilibria there": _share(count - each["not_equilibria"], count),
            # what is no profile any more need not be held against the bound
            "regret beyond": _share(beyond["not_equilibria"], beyond["profiles"])
            if beyond["profiles"]
            else Finding(1, "no profile"),
        }
    return found


def misprints_of_text(stored: Stored) -> dict[str, bool]:
    """Whether somebody gains at a formula as it is printed, and nobody by Table 3."""
    return {
        row: each["not_equilibria"] > 0 and each["table_3_equilibria"] == each["of"]
        for row, each in stored["text"].summary.items()
    }


def small_bluffs(stored: Stored) -> dict[str, Any]:
    """Lattice points of Figure 6 with b11 ≤ 1/6."""
    found = stored["domains"].summary["small_bluffs"]
    return {
        "equilibria": _share(found["equilibria"], found["points"]),
        "largest c11": Fraction(found["largest"]),
    }


def transfers(stored: Stored) -> dict[str, Any]:
    """Payoffs and gains by deviating at members with other bluffs."""
    found = stored["selection"].summary
    both = {c11: _measured(each) for c11, each in found["both_quarter"].items()}
    other = _measured(found["one_quarter"])
    ways = {"low": ("0",), "between": ("1/4", "7/16"), "high": ("1/2",)}
    return {
        "at both ends": {name: _measured(each)["payoffs"] for name, each in found["ends"].items()},
        "by one parameter": {
            short: _by_one_parameter(found["alone"][c11]) for short, (c11, *_) in ways.items()
        },
        "both bluffs at a quarter": {
            short: {
                "gains": [gain for c11 in c11s for gain in both[c11]["gains"]],
                "u1": [both[c11]["payoffs"][0] for c11 in c11s],
            }
            for short, c11s in ways.items()
        },
        "another has as much and no regret": not any(other["gains"])
        and other["payoffs"][0] == both["0"]["payoffs"][0],
    }


def _by_one_parameter(found: Mapping[str, Any]) -> dict[str, Any]:
    start, after, both = (_measured(found[name]) for name in ("start", "following", "both"))
    return {
        "payoffs before": start["payoffs"],
        "payoffs": after["payoffs"],
        "gains before": start["gains"],
        "gains": after["gains"],
        "with the other bluff too": both,
    }


def two_parameters(stored: Stored) -> bool:
    """Whether 0 < c11 < 1/2 takes both bluffs for a transfer: one gives regret, both none."""
    one = transfers(stored)["by one parameter"]["between"]
    both = one["with the other bluff too"]
    return (
        any(one["gains"])
        and not any([*one["gains before"], *both["gains"]])
        and both["payoffs"] == _kappas(("−11κ/16", "−κ/2", "19κ/16"))
    )


# -- figures 3 to 7 ------------------------------------------------------------------------


def domains(stored: Stored) -> dict[str, Any]:
    """Lattice points at which the regret is not as the paper's domain says, by figure."""
    found = stored["domains"].summary
    return {
        number: {
            "points": found[number]["points"],
            "differ": found[number]["points"] - found[number]["agree"],
            "equilibria": found[number]["equilibria"],
            "b11, b21": [Fraction(found[number]["largest"].get(n, 0)) for n in ("b11", "b21")],
            "b11, b23": [Fraction(found[number]["largest"].get(n, 0)) for n in ("b11", "b23")],
            "b11": Fraction(found[number]["largest"]["b11"]),
        }
        for number in "34567"
    }


def special_points(stored: Stored) -> dict[str, Any]:
    """Points that the text names: where they are, their gains, and gains 1/1024 beyond."""
    found, largest = stored["domains"].summary["corners"], stored["domains"].summary

    def gains(*names: str) -> list[Fraction]:
        return [Fraction(found[name]) / KAPPA for name in names]

    quarters = {"b11": QUARTER, "b21": QUARTER}
    b32 = Fraction(largest["4"]["largest"]["b32"])
    c33 = ends(LOW, quarters | {"b32": Fraction(7, 8)}, "c33")
    # b11 is the last of these whose range the others confine
    single = [QUARTER, ends(LOW, quarters | {"b32": b32}, "c33")[1]]
    return {
        "b32": {
            "at": [b32, Fraction(largest["4"]["largest"]["b11"])],
            "gain": gains("b32=15/16"),
            "beyond": gains("b32 more"),
        },
        "c33": {
            "from, to": [*c33, c33[1]],
            "gain": gains("b32=7/8, c33=0", "b32=7/8, c33=1/16"),
            "beyond": gains("b32=7/8, c33 more"),
        },
        "one point": {
            "b11 = b21, c33": single,
            "gain": gains("b32=15/16"),
            "beyond": gains("b32=15/16, c33 more", "b32=15/16, b11 less", "b32=15/16, both less"),
        },
        "c11": {
            "largest": Fraction(largest["6"]["largest"]["c11"]),
            "gain": gains("c11=1/2, c21=0"),
            "beyond": gains("c11 more, c21=0"),
        },
    }


def swapped(stored: Stored) -> dict[str, Any]:
    """Equilibria of Figure 4 whose mirror images are none."""
    found = stored["domains"].summary["swapped"]
    low, high, both = found["low"], found["high"], found["both"]
    return {
        "equilibria without mirror image": low + high - 2 * both,
        "of": low,
        "such as b11, b21": found["example"],
    }


def not_swapped(stored: Stored) -> bool:
    """Whether an exact equilibrium with c11 = 0 has a mirror image that is none."""
    found = stored["domains"].summary["swapped"]
    return bool(found["low"] > found["both"] and all(found["example"]))


# -- Table 4 -------------------------------------------------------------------------------


def table_4(stored: Stored) -> dict[str, Any]:
    """Each parameter as it was measured, and as it is in a member of the family."""
    printed = stored["rules"].json("table_4.json")["behavior"]
    found = stored["allowed"].summary
    return {
        name: {
            "measured": Fraction(printed[player][label]["call" if "B" in label else "bet"]),
            "in a member": Fraction(found[player]["own"][name]),
            "gains there": _kappas(found[player]["regrets"]),
        }
        for name, (player, label) in places().items()
    }


def mixed(stored: Stored) -> dict[str, Any]:
    """Payoffs and gains of Table 4, exactly."""
    exact = stored["table_4"].printed_json["exact"]
    payoffs = list(map(Fraction, exact["payoffs"]))
    gains = [Fraction(gain) / KAPPA for gain in exact["regrets"]]
    return {
        "payoffs": {
            f"u{k + 1}": _points([{"β": QUARTER}], [payoff], f"{payoff} with β = 1/4")
            for k, payoff in enumerate(payoffs)
        },
        "largest gain (κ)": Finding(max(gains), {"gains (κ)": gains}),
    }


# -- sections 6 and 7 ----------------------------------------------------------------------


def two_players_mixed(stored: Stored) -> dict[str, Any]:
    """Combinations of the strategies of equilibria of two-player Kuhn poker."""
    found = stored["crossplay_two_players"].summary
    payoffs = {
        tuple(each) for player in found["interchange"] for row in player["payoffs"] for each in row
    }
    count = found["combinations"]["count"]
    return {
        "combinations": count,
        "equilibria": _share(found["combinations"]["equilibria"], count),
        "different payoffs": len(payoffs),
    }


def combinations(stored: Stored) -> dict[str, Any]:
    """Combinations of the strategies of corners of the family."""
    found = stored["crossplay"].summary["combinations"]
    return {
        "equilibria": _share(found["equilibria"], found["count"]),
        "strategies of players 1, 2, 3": Finding(found["strategies"][0], found["strategies"]),
    }


def switching(stored: Stored) -> dict[str, Any]:
    """Both ends of β: gains by deviating, and payoffs."""
    found = [_measured(each) for each in stored["selection"].summary["ends"].values()]
    return {
        "gains": [gain for each in found for gain in each["gains"]],
        "different payoffs": len({tuple(each["payoffs"]) for each in found}),
        "payoffs (κ)": [", ".join(map(str, each["payoffs"])) for each in found],
    }


def deviations(stored: Stored) -> dict[str, Any]:
    """What players gain by deviating from Table 4 with other β or c33."""
    summary = stored["selection"].summary
    by_beta = {Fraction(beta): _measured(each) for beta, each in summary["table_4"].items()}
    by_c33 = {c33: _measured(each) for c33, each in summary["table_4_c33"].items()}
    gains = [each["gains"][1] for each in by_beta.values()]
    return {
        "player 2": {
            "gains": _points(
                [{"β": beta} for beta in by_beta],
                [KAPPA * gain for gain in gains],
                ", ".join(f"{gain}κ" for gain in gains),
            ),
            "payoff with b11 = b21 = 0 (κ)": _measured(summary["table_4_answer"])["payoffs"][1],
        },
        "gain of player 2 (κ)": Finding(
            by_beta[QUARTER]["gains"][1], {"gains (κ)": by_beta[QUARTER]["gains"]}
        ),
        "payoffs by c33": Finding(
            len({tuple(each["payoffs"]) for each in by_c33.values()}),
            {f"payoffs (κ), c33 = {c33}": each["payoffs"] for c33, each in by_c33.items()},
        ),
    }


def second(stored: Stored) -> dict[str, Any]:
    """Worst cases of player 2's strategies over c11, and slopes of its payoff."""
    found = stored["selection"].summary["second"]

    def safe(name: str) -> Finding:
        count, with_best = found[name]
        return _share(with_best, count)

    return {
        "worst cases": {
            "best (κ)": from_kappa(found["best_worst"]),
            "b11 = b21": safe("equal"),
            "others with b23 = 0": safe("unequal_b23_0"),
            "with b23 > 0": safe("b23_positive"),
        },
        "slope": {
            "as the formula": _share(found["slopes_as_formula"], found["strategies"]),
            "is 0 at": found["slopes_zero"],
            "strategies": found["strategies"],
        },
        "slope is the formula and 0 somewhere": found["slopes_zero"] > 0
        and found["slopes_as_formula"] == found["strategies"],
    }


def third(stored: Stored) -> dict[str, Any]:
    """Worst cases of player 3 over player 2's strategies (κ), by c11."""
    found = stored["selection"].summary["third"]
    worst = {f"c11 = {c11}": from_kappa(each["worst"]) for c11, each in found.items()}
    return {
        "best": Finding(max(worst.values()), worst),
        "all": worst,
        "c11 = 0": [from_kappa(found["0"][name]) for name in ("worst", "against_nothing")],
        "slopes": {
            name: Interval(Fraction(each["least"]), Fraction(each["most"]))
            for name, each in stored["selection"].summary["slopes_of_u3"]["by"].items()
        },
    }


def safe_together(stored: Stored) -> dict[str, Any]:
    """Safe strategies of players 2 and 3 together: b11 = b21 or no bluffs, with c11 = 0."""
    summary = stored["selection"].summary
    equal = summary["equal_bluffs"]
    least = {c33: _measured(each) for c33, each in summary["least_bluffs"].items()}
    others = {c33: each["gains"] for c33, each in least.items() if c33 != "1/2"}
    return {
        "equal bluffs": {
            "equilibria with c33 of Table 3": _share(equal["inside_zero"], equal["inside"]),
            "gains of players 2 or 3 anywhere": equal["others"],
            "u2 (κ)": _kappas(equal["u2"]),
            "gains of player 1 with other c33": _share(equal["beyond_first"], equal["beyond"]),
        },
        "no bluffs": {
            "payoffs (κ)": Finding(
                [payoff for each in least.values() for payoff in each["payoffs"]],
                least["1/2"]["payoffs"],
            ),
            "u3 (κ)": [each["payoffs"][2] for each in least.values()],
            "u1 or u2 (κ)": [payoff for each in least.values() for payoff in each["payoffs"][:2]],
            "gains with c33 = half": least["1/2"]["gains"],
            "gains of players 2 or 3 with others": [
                gain for gains in others.values() for gain in gains[1:]
            ],
            "gains of player 1 with others": [gains[0] for gains in others.values()],
        },
    }


def two_players(stored: Stored) -> dict[str, Any]:
    """Equilibria of two-player Kuhn poker."""
    found = stored["two_players"].summary
    (known,) = known_sets(load_game("kuhn2"))
    gammas = [known.exact.names({"alpha": end})["K_bets"] for end in (ZERO, Fraction(1, 3))]
    return {
        "γ": {
            "range": gammas,
            "equilibria": _share(found["equilibria"], found["members"]),
            "dimension": found["dimension"],
        },
        "complete list": {
            "points": found["listed"],
            "complete": found["complete"],
            "exact": found["exact"],
            "different in player 1": found["moving"][0],
            "different in player 2": found["moving"][1],
        },
    }


# -- section 8 and definition 1 ------------------------------------------------------------


def _solver(name: str) -> str:
    """Name of a solver without what differs between the extents."""
    return re.sub(r"starts=\d+,", "", name)


def _searched(summary: Mapping[str, Any], solvers: Iterable[str]) -> Any:
    """Profiles of solvers that are outside the family, or too inexact and not near it."""
    named = {_solver(name): name for name in summary["solvers"]}
    found = [summary["solvers"][named[one]] for one in solvers]
    runs = [run for one in solvers for run in summary["unfinished"]["solvers"].get(named[one], [])]
    outside = sum(each["outside"] for each in found)
    shown: dict[str, Any] = {
        "runs": sum(each["cells"] for each in found),
        "equilibria": sum(each["equilibria"] for each in found),
        "outside": outside,
    }
    if len(found) == 1 and found[0]["equilibria"]:
        (one,) = found
        kinds = ("strict", "on_path", "different", "different_outcomes")
        shown |= {kind.replace("_", " "): one[kind] for kind in kinds}
        shown |= {"β": Interval(*one["beta"])} if one["beta"] else {}
        return Finding(outside, shown)
    if not runs and not outside:
        return Missing(f"{shown['runs']} runs ended without a profile")
    at_random = summary["unfinished"]["at_random"]
    far = sum(run["distance"] >= at_random / _NEAR for run in runs)
    if runs:
        shown |= {
            "smallest max regret": min(run["max_regret"] for run in runs),
            "outcomes off by at most": max(run["distance"] for run in runs),
            "random profiles off by": at_random,
        }
    return Finding(outside or far, shown)


def by_method(stored: Stored) -> dict[str, Any]:
    """What each method found that does not belong to the family."""
    summary = stored["open_question"].summary
    slow = [
        *("cfr(start=random)", "mccfr(start=random)", "fictitious_play(start=random)"),
        *("replicator(start=random)", "gambit_logit_path"),
    ]
    methods = [name for name in map(_solver, summary["solvers"]) if name not in slow]
    return {name: _searched(summary, [name]) for name in methods} | {
        "inexact": _searched(summary, slow)
    }


def found(stored: Stored) -> dict[str, Any]:
    """All equilibria that were found."""
    summary = stored["open_question"].summary
    all_ = summary["all"]
    asked = _WANTED if stored.full else 2
    return {
        "collected": {
            "equilibria": all_["equilibria"],
            "share of what is asked for": Fraction(all_["equilibria"], asked),
            "different outcomes": all_["different_outcomes"],
        },
        "outside": Finding(
            all_["outside"],
            {"outside": all_["outside"], "of": all_["equilibria"], "at 1e-12": all_["sharp"]},
        ),
        "listed": Finding(
            len(summary["outside"]),
            {
                "listed": len(summary["outside"]),
                "certified": [one["profile"] for one in summary["outside"] if one["certified"]],
                "told by Newton steps": all_["polished"],
                "which moved frequencies by": all_["moved"],
            },
        ),
        "strict": all_["strict"],
        "on path": all_["on_path"],
        "names": {short: all_["names"][name] for short, name in SHORT.items()},
        "β": all_["beta"],
        "off segment": all_["off_segment"],
        "first bets": all_["first_bets"],
        "max regret": all_["largest_regret"],
        "off Table 2": all_["off_table_2"],
    }


def range_of_payoff(stored: Stored) -> dict[str, Any]:
    """The range of player 1's payoff over all equilibria, with what was proved about it."""
    row = stored["ranges_of_payoff"].rows("ranges.csv")[0]
    return {
        "least": float(row["min_found"]),
        "largest": float(row["max_found"]),
        "proved to lie in": Interval(float(row["min_bound"]), float(row["max_bound"])),
        "both ends closed": row["min_closed"] == row["max_closed"] == "True",
    }


def off_path(stored: Stored) -> dict[str, Any]:
    """Gains by deviating (κ) from a member with β = 0, with behavior changed that nobody sees."""
    found = stored["open_question"].summary["off_path"]
    start, changed, *others = (
        _measured(found[name])
        for name in (
            *("as in Table 3 (a33 = 1/2, c32 = 0)", "a33 = 0, c32 = 0"),
            *("a33 = 0, c32 = 1/2", "a33 = 1/4, c32 = 1/4"),
        )
    )
    return {
        "as in Table 3": start["gains"],
        "with a33 = 0": Finding(changed["gains"], {"gains (κ)": changed["gains"]}),
        "with both changed": [gain for each in others for gain in each["gains"]],
        "gain though nothing is seen": start["payoffs"] == changed["payoffs"]
        and not any(start["gains"])
        and any(changed["gains"]),
    }


def tree(stored: Stored) -> str:
    """The whole tree as a picture."""
    return stored["draw"].printed
