"""Our stored results as answers to the claims of the paper.

Payoffs, regrets and gains by deviating are in units of κ = 1/24. `low`, `between` and `high` are
the sub-families with c11 = 0, 0 < c11 < 1/2 and c11 = 1/2.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from eqbench.equilibria.expressions import compile_expression, evaluate
from eqbench.papers.checks import Finding, Interval, Missing
from eqbench.papers.formulas import Points
from eqbench.papers.records import Record, Table, restored
from eqbench.papers.stored import Stored
from eqbench.papers.szafron import family
from eqbench.papers.szafron.certificates import where_it_holds
from eqbench.papers.szafron.compute import case_of, replaced
from eqbench.papers.szafron.family import HALF, KAPPA, PROFILES, ZERO, Values
from eqbench.proofs.known import known_sets
from eqbench.registry import load_game

_WANTED = 5_000  # equilibria to be collected with --full
_NEAR = 10  # times nearer to the family than any random profile: near
# sub-families of which Table 3 has one entry
_TOGETHER = {"c11 not 0": ("between", "high"), "all": ("low", "between", "high")}
_U = ("u1", "u2", "u3")


def _completed(names: Mapping[str, Any]) -> Table:
    """Names of a point with κ and β among them."""
    beta = max(names.get("b11", ZERO), names.get("b21", ZERO))
    return {"κ": KAPPA, "β": beta, "beta": beta, **names}


def _points(names: Iterable[Values], values: Iterable[Any], text: str) -> Finding:
    """Our values at points; `text` is shown."""
    return Finding(Points(list(map(_completed, names)), list(values)), text)


def _of(job: str) -> Callable[[Stored], Any]:
    """Return a fact that is the summary of a job."""
    return lambda stored: restored(stored[job].summary)


rules, polynomials, certificates = map(_of, ("rules", "formulas", "certificates"))


def cfr(stored: Stored) -> Table:
    """Max regret of CFR, on this game and on Shapley's."""
    cells = {"this game": stored["cfr"].cells[0], "Shapley's game": stored["cfr_shapley"].cells[0]}
    return {
        name: Missing(f"the run ended as {cell.status}: {cell.reason}")
        if cell.max_regret is None
        else {"max regret": cell.max_regret, "iterations": cell.iterations}
        for name, cell in cells.items()
    }


def sizes(stored: Stored) -> Table:
    """Sizes of the game, and frequencies that are left without dominated actions."""
    reduced = stored["game_without_dominated"].printed_json["sizes"]
    return stored["game"].printed_json["sizes"] | {"left": reduced["free frequencies"]}


def table_2(stored: Stored) -> Table:
    """The value that the sign of the derivative forces, by frequency; how many are forced."""
    found: Table = {}
    for name, gain in stored["formulas"].summary["dominance"].items():
        forced = 0 if gain["most"] < 0 else 1 if gain["least"] > 0 else "not forced"
        gains = Interval(gain["least"], gain["most"])
        found[name] = Finding(forced, {"value": forced, "gain by calling (chips)": gains})
    return found | {"forced": sum(one.value != "not forced" for one in found.values())}


@dataclass(frozen=True)
class Derivative(Record):
    """A derivative at points in general position and at members, and its extremes there."""

    derivative: Finding
    at_members: Finding
    range: list[Fraction]


def derivatives(stored: Stored) -> dict[str, Derivative]:
    """Each derivative of the proofs: ours at points and at members, and its extremes there."""
    members = family.sample(60 if stored.full else 12, seed=0)
    rng, every = np.random.default_rng(7), (*family.places(), "beta")
    anywhere = [{name: Fraction(int(rng.integers(1, 97)), 97) for name in every} for _ in range(4)]
    found, texts = dict[str, Derivative](), stored["formulas"].summary["derivatives"]
    for title, text in texts.items():
        ours, where = compile_expression(text, exact=True), replaced(title)
        points = [
            names | {name: evaluate(value, names) for name, value in where.items()}
            for names in anywhere
        ]
        groups = (group for name, group in members.items() if case_of(title) in ("", name))
        own = list(map(_completed, chain(*groups)))
        there, here = ([KAPPA * ours(names) for names in those] for those in (points, own))
        # before anything is put in
        exact = list(map(compile_expression(texts[title[:3]], exact=True), own))
        found[title] = Derivative(
            _points(points, there, f"κ({text})"),
            _points(own, here, f"{len(own)} members"),
            [min(exact), max(exact)],
        )
    return found


@dataclass(frozen=True)
class Row(Record):
    """Entries of Table 3 that are one row, with what was measured there and beyond."""

    entry: Any
    members: int
    members_with_regret: int
    beyond: int
    regret_beyond: int
    gains: Interval


def entries(stored: Stored) -> Table:
    """Each entry of Table 3, by sub-families: the regrets of members, and of profiles beyond it."""
    summary = restored(stored["certificates"].summary)
    found: Table = {}
    for where, own in ({name: (name,) for name in family.ORDER} | _TOGETHER).items():
        first, *others = (summary["entries"][name] for name in own)
        shared = [entry for entry in first if all(entry in other for other in others)]
        found[where] = {entry: _row(summary, own, [entry]) for entry in shared}
        found[where]["c33"] = _row(summary, own, ["c33-", "c33+"])
    first_bets = _row(summary, _TOGETHER["all"], ["a11=", "a21=", "a31=", "a41="])
    c34 = {"entry": list(family.ends("low", {}, "c34"))}
    c34["members with regret"] = first_bets["members with regret"]
    return found | {"first bets": first_bets, "c34": c34}


def _row(summary: Any, sub_families: Sequence[str], names: Sequence[str]) -> Row:
    rows = [summary["entries"][where][entry] for where in sub_families for entry in names]
    members = [summary["members"][where] for where in sub_families]
    wrong = [each["members"] - each["equilibria"] for each in members]
    at, beyond = (list(chain(*(row[where] for row in rows))) for where in ("at", "beyond"))
    gaining = [regret for regret in beyond if regret > 0]
    return Row(
        entry=_entry(sub_families, names),
        members=len(at),
        members_with_regret=sum(wrong) + sum(regret > 0 for regret in at),
        beyond=len(beyond),
        regret_beyond=len(gaining),
        gains=Interval(min(gaining, default=ZERO), max(gaining, default=ZERO)),
    )


def _entry(sub_families: Sequence[str], names: Sequence[str]) -> Any:
    """Return entries of Table 3: numbers, or values at members, where there may be two ends.

    The lower end of c33 is 1/2 − b32 only where that is a frequency, so only there.
    """
    if names[0][:3] in family.constants():
        return [family.constants()[name[:3]] for name in names]
    members = [
        (sub_family, own)
        for sub_family in sub_families
        for own in where_it_holds(names[0], family.sample(6, seed=9)[sub_family])
        if own["b32"] <= HALF
    ]
    values = [[family.limit(*member, name) for name in names] for member in members]
    return _points((own for _, own in members), values, f"Table 3 at {len(members)} members")


def utilities(stored: Stored) -> Table:
    """Payoffs by β, exactly, at all members of the family that were measured."""
    betas, *payoffs = zip(*restored(stored["certificates"].summary["payoffs"]), strict=True)
    points = [{"β": beta} for beta in betas]
    found: Table = {}
    for name, own in zip(_U, payoffs, strict=True):
        shown = f"{own[0] / KAPPA}κ to {own[-1] / KAPPA}κ at {len(own)} members"
        found[name] = _points(points, own, shown)
    less = [second - first for first, second in zip(*payoffs[:2], strict=True)]
    return found | {"β": [min(betas), max(betas)], "u2 less u1": less}


def domains(stored: Stored) -> Table:
    """Equilibria on lattices next to the paper's domains, by figure; points that the text names."""
    found = restored(stored["domains"].summary)
    special: Table = {"bluffs": {}}
    gains = restored(stored["selection"].summary["special"])
    for name, places in PROFILES["measured"]["special"].items():
        at = [(names, family.named(text)) for names, text in places["at"].items()]
        special[name] = {
            "point": [values[own] for names, values in at for own in names.split(", ")],
            **{
                f"gain {where}": [max(one["regrets"]) for one in group.values()]
                for where, group in gains[name].items()
            },
        }
    special["b11, b23"] = [found["7"]["largest"][name] for name in ("b11", "b23")]
    for short, number in (("low", "3"), ("between", "6"), ("high", "7")):
        own = found[number]["largest"]
        point = {"b11": own["b11"], "b21": own.get("b21", own["b11"])}
        shown = f"up to {point['b11']} and {point['b21']}"
        special["bluffs"][short] = _points([point], [], shown)
    return found | special


def table_4(stored: Stored) -> Table:
    """Each parameter as it was measured, and as it is in a member of the family."""
    gains, profiles = restored(stored["selection"].summary["allowed"]), PROFILES["measured"]
    own = {who: family.named(text) for who, text in profiles["allowed"].items()}
    return {
        name: {
            "measured": value,
            "of a member": own[family.places()[name][0]][name],
            "gains there": gains[family.places()[name][0]]["regrets"],
        }
        for name, value in family.named(profiles["table 4"]["0.25"]).items()
    }


def selection(stored: Stored) -> Table:
    """Worst cases within the family, and combinations of strategies."""
    found = restored(stored["selection"].summary)
    points = [{"β": Fraction(beta)} for beta in found["table 4"]]
    mixed = found["table 4"].values()
    values = {name: [own["payoffs"][k] for own in mixed] for k, name in enumerate(_U)}
    values["gains"] = [own["regrets"][1] for own in mixed]
    found["mixed"] = {
        name: _points(points, [KAPPA * each for each in own], ", ".join(f"{each}κ" for each in own))
        for name, own in values.items()
    }
    answer = {"payoff with b11 = b21 = 0": found["table 4 answer"]["payoffs"][1]}
    return found | {"gain of player 2": answer | {"gains": found["mixed"]["gains"]}}


def combinations(stored: Stored) -> Table:
    """Combinations of the strategies of corners of the family."""
    found = stored["crossplay"].summary["combinations"]
    return found | {"strategies of player 1": found["strategies"][0]}


def combinations_of_two(stored: Stored) -> Table:
    """Combinations of the strategies of equilibria of two-player Kuhn poker."""
    found = stored["crossplay_two_players"].summary
    rows = [row for player in found["interchange"] for row in player["payoffs"]]
    payoffs = {tuple(each) for row in rows for each in row}
    return found["combinations"] | {"different payoffs": len(payoffs)}


def two_players(stored: Stored) -> Table:
    """The complete list of equilibria of two-player Kuhn poker: the corners of all pieces."""
    job = stored["two_player_list"]
    (cell,) = job.cells
    listed = [restored(job.json(str(one.profile))["behavior"]) for one in cell.equilibria]
    gammas = [behavior["P1"]["3:"]["bet"] for behavior in listed]
    return {
        "pieces": cell.statistics["pieces"],
        "dimension": cell.statistics["dimension"],
        "complete": all(one.claim == "complete list" for one in cell.equilibria),
        "exact": cell.max_regret == 0,
        "γ": [min(gammas), max(gammas)],
        "moving": [
            sum(any(each[who][label] != own for each in listed) for label, own in rows.items())
            for who, rows in listed[0].items()
        ],
    }


def by_method(stored: Stored) -> Table:
    """Count by method the profiles that do not belong to the family."""
    summary = stored["open_question"].summary
    # starts differ between the extents
    groups = {re.sub(r"starts=\d+,|,offpath=keep", "", name): [name] for name in summary["solvers"]}
    groups["inexact"] = list({cell.solver: cell for cell in stored["slow_methods"].cells})
    return {one: _searched(summary, names) for one, names in groups.items()}


def _searched(summary: Table, names: Sequence[str]) -> Finding | Missing:
    """Profiles of solvers that are outside the family, or too inexact and not near it."""
    found = [summary["solvers"][name] for name in names]
    unfinished = summary["unfinished"]
    runs = [run for run in unfinished["runs"] if run["solver"] in names]
    sums = ("cells", "equilibria", "strict", "on path", "outside", "different outcomes")
    shown: Table = {name: sum(each[name] for each in found) for name in sums}
    if len(found) == 1 and shown["equilibria"]:
        return Finding(shown["outside"], shown | {"β": Interval(*(found[0]["beta"] or (0, 0)))})
    if not runs and not shown["outside"]:
        return Missing(f"{shown['cells']} runs ended without a profile")
    distances = [run["distance"] for run in runs]
    far = sum(distance >= unfinished["at random"] / _NEAR for distance in distances)
    shown |= {
        "smallest max regret": min((run["max_regret"] for run in runs), default=0),
        "outcomes off by at most": max(distances, default=0),
        "random profiles off by": unfinished["at random"],
    }
    return Finding(shown["outside"] or far, shown)


def equilibria(stored: Stored) -> Table:
    """All equilibria that were found, and those that are outside the family."""
    summary = stored["open_question"].summary
    none = Missing("no equilibrium was found")
    own = {name: none if value is None else value for name, value in summary["all"].items()}
    payoffs = [_completed(dict(zip(_U, row, strict=True))) for row in summary["payoffs"]]
    ends = Points([{"β": beta} for beta in summary["all"]["beta"]], (), 1e-6)
    listed = {"listed": summary["outside"], "polished": own["polished"], "moved": own["moved"]}
    return own | {
        "collected": {
            "equilibria": own["equilibria"],
            "asked for": _WANTED if stored.full else 2,
            "different outcomes": own["different outcomes"],
        },
        "outside": {name: own[name] for name in ("outside", "equilibria", "sharp", "different")},
        "listed": Finding(len(summary["outside"]), listed),
        "payoffs": Finding(Points(payoffs, (), 6e-9), f"so at all {len(payoffs)}"),
        "range of β": Finding(ends, own["beta"]),
    }


def range_of_payoff(stored: Stored) -> Table:
    """The range of player 1's payoff over all equilibria, with what was proved about it."""
    return restored(stored["ranges_of_payoff"].rows("ranges.csv")[0])


def proofs(stored: Stored) -> Table:
    """What the checker finds in the files of proofs: where every equilibrium is."""
    found: Table = {}
    for name, spec in (("proof", "kuhn3"), ("proof_without_dominated", "kuhn3_reduced")):
        checked = stored[f"{name}_checked"].printed_json
        published = {each.name: each.rows for each in known_sets(load_game(spec))[0]}
        header = json.loads(stored[name].text("proof.jsonl").partition("\n")[0])
        as_published = (
            [*map(list, published.get(known["name"], ()))] == known["rows"]
            for known in header["known"]
        )
        kinds = checked["nodes"]
        found[spec] = {
            "checked": "as published" if checked["passed"] and all(as_published) else "refused",
            "open faces": kinds.get("face"),
            "nodes": sum(kinds.values()),
            "every equilibrium is in": checked["known"],
        }
    return found
