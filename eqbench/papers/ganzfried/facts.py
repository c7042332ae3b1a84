"""What our stored results say on the claims of the paper."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf, prod
from pathlib import Path
from statistics import median
from typing import Any

from eqbench.documents import read_file
from eqbench.papers.checks import Finding, Interval, Missing, number_in
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.store.schema import CellRecord

Nested = dict[str, Any]  # values by name, nested
Cells = Sequence[CellRecord]

FULL, REDUCED = "kuhn3", "kuhn3_reduced"
PAPER, GUROBI = (f"ncp(formulation=paper,backend={name})" for name in ("scip", "gurobi"))
LOGIT = "gambit_logit_path"
_FOUND = 6e-4  # max regret of a result of Gambit: a share of 1e-4 of the payoff range, 6
_ROUNDING = 1e-9
_SIZES = ("3x3", "5x2", "3x4", "4x3", "3x5", "3x6")  # of Table 1, by the number of payoffs
# kinds of removed actions; the first three are the Table 2 of Szafron et al. (2013)
_KINDS = {
    "jack calls": r"\|1:.*\|call",
    "ace folds": r"\|4:.*\|fold",
    "queen calls after a bet, a call": r"\|2:.*BC\|call",
    "ace checks": r"\|4:KK\|check",
}
# figures of Gurobi's log: name of the line and place of the number
_LOG = {
    **{"rows removed": ("taken", 0), "columns removed": ("taken", 1)},
    **{"rows added": ("added", 0), "columns added": ("added", 1)},
    **{"rows": ("presolved", 0), "columns": ("presolved", 1), "nonzeros": ("presolved", 2)},
    **{"SOS": ("sos", 0), "bilinear": ("bilinear", 0)},
    **{"continuous": ("kinds", 0), "integer": ("kinds", 1)},
}
# sizes of a model that tell how many actions are fixed, and where the paper prints them
_FIXED = {
    "presolve_rows": "first presolve: rows removed",
    "presolve_columns": "first presolve: columns removed",
    "complementarities": "SOS constraints in the end",
}


def _tried(entries: dict[str, Callable[[], Any]]) -> Nested:
    """Values by name, `Missing` where what a value needs is not stored."""
    found: Nested = {}
    for name, value in entries.items():
        try:
            found[name] = value()
        except NotStoredError as error:
            found[name] = Missing(str(error))
    return found


def _printed(row: str, column: str) -> Fraction:
    """A number that the paper prints."""
    lines = read_file(Path(__file__).with_name("claims.csv")).decode().splitlines()
    claims = {(claim["row"], claim["column"]): claim for claim in csv.DictReader(lines)}
    return number_in(claims[row, column]["printed"])[0]


def _cells(stored: Stored, job: str, game: str, solver: str) -> list[CellRecord]:
    """Cells of a game and a solver as typed, one for each seed."""
    found = [c for c in stored[job].cells if (c.game, c.solver) == (game, solver)]
    if not found or found[0].status == "unavailable":
        why = found[0].reason if found else f"the job {job} has no cell of {solver} on {game}"
        raise NotStoredError(why)
    return found


def _regret(cell: CellRecord) -> float:
    return inf if cell.max_regret is None else cell.max_regret


def _statistics(cells: Cells, name: str) -> list[Any]:
    """A figure of the solver's own, of all seeds."""
    for cell in cells:
        if name not in cell.statistics:
            raise NotStoredError(f"{cell.solver} on {cell.game} ended {cell.status}: {cell.reason}")
    return [cell.statistics[name] for cell in cells]


def _outcome(cells: Cells) -> Nested:
    """Max regrets of all seeds, and how the cells ended."""
    times = [cell.elapsed_s for cell in cells if cell.elapsed_s is not None]
    raw = [cell.statistics.get("raw_max_regret", inf) for cell in cells]
    return {
        "max regret": [*map(_regret, cells)],
        **({"before polishing": raw} if cells[0].solver.startswith("ncp") else {}),
        "median s": median(times) if times else inf,
        "ended": cells[0].status,
        **({"why": cells[0].reason} if cells[0].reason else {}),
    }


def _payoffs(cells: Cells) -> dict[int, list[float]]:
    """Payoffs in the best results of all seeds, by player."""
    if any(cell.payoffs is None for cell in cells):
        raise NotStoredError(f"{cells[0].solver} on {cells[0].game} found no profile")
    payoffs = zip(*(cell.payoffs or () for cell in cells), strict=True)
    return {player: list(own) for player, own in enumerate(payoffs, start=1)}


def _family(cells: Cells) -> Nested:
    """Where best results stand in the published family, and differ from it off the path."""
    best = [cell.equilibria[0].identity for cell in cells if cell.equilibria]
    known = [identity for identity in best if identity is not None]
    if not known:
        raise NotStoredError("no result is identified")
    return {
        "sets": sorted({identity["name"] for identity in known}),
        "on the path": Fraction(sum(identity["on_path"] for identity in known), len(known)),
        "everywhere": Fraction(sum(identity["strict"] for identity in known), len(known)),
        "differ off the path": sorted({place for one in known for place in one["off_path"]}),
        "distance": max(identity["distance"] for identity in known),
        "β": [identity["parameters"].get("beta", inf) for identity in known],
        "a33": [0.5 + identity["off_path"].get("P1|3:KBF|call", 0.0) for identity in known],
    }


def _table(stored: Stored, job: str, summary: Callable[[Cells], Any] = _outcome) -> Nested:
    """Cells of a run, summarized by solver and game."""
    found: dict[str, dict[str, Callable[[], Any]]] = {}
    for cell in stored[job].cells:
        own = partial(_cells, stored, job, cell.game, cell.solver)
        found.setdefault(cell.solver, {})[cell.game] = lambda own=own: summary(own())  # type: ignore[misc]
    return {solver: _tried(games) for solver, games in found.items()}


race, equilibria, two_players, gambit_two_players, gambit, self_play = (
    partial(_table, job=job)
    for job in ("race", "equilibria", "two_players", "gambit_two_players", "gambit", "self_play")
)
payoffs, family = (partial(_table, job="race", summary=what) for what in (_payoffs, _family))


def conditions(stored: Stored) -> Nested:
    """The least x·r that multipliers leave beside regrets, slacks, and the last line of the LCP."""
    found = stored["conditions"].summary
    at = [one for one in found["profiles"] if max(one["regrets"]) <= _ROUNDING]
    others = [one for one in found["profiles"] if max(one["regrets"]) > _ROUNDING]
    off = [abs(g - r) for o in others for g, r in zip(o["gaps"], o["regrets"], strict=True)]
    least = min((max(one["gaps"]) for one in others), default=0.0)
    entries, columns = found["two_players"]["shape"]
    slacks = max(found["slacks"], key=lambda own: max(own) - min(own))
    spread, games = max(slacks) - min(slacks), {one["game"] for one in at}
    return {
        "E": found["matrix"],
        "equilibria": {"number": len(at), "least x·r": [max(one["gaps"]) for one in at]},
        "other profiles": {"least x·r": least, "off the regret by": max(off, default=inf)},
        "Bx": Finding(columns == entries, {"B": f"{entries} × {columns}", "entries of x": entries}),
        "Bᵀx": columns != entries and abs(found["two_players"]["with_transpose"]) <= 1e-6,
        "slacks": Finding(spread, {"slacks of a player": slacks}),
        "slacks of an equilibrium differ": games > {FULL} and spread > _ROUNDING,
    }


def strategic(stored: Stored) -> Nested:
    """The program on random games in strategic form."""
    run, solver = stored["table_1_run"].cells, "ncp(formulation=paper,polish=false)"
    four = (stored, "table_1_run", "random(players=4,actions=3,seed=0)", solver)
    own = [cell for cell in run if cell.solver == solver]
    specs = {c.solver.partition("(")[0]: c.solver_spec for c in run if c.status == "ok"}
    tolerances = {n: re.search(r"feasibility=([^,)]+)", specs.get(n, "")) for n in ("ncp", "mip")}
    return {
        "games": {
            "not solved": sum(cell.status != "ok" for cell in own),
            "max regret": [_regret(cell) for cell in own if cell.status == "ok"],
        },
        "feasibility": {n: float(found[1]) if found else inf for n, found in tolerances.items()},
        # beside 12 weights, 4 multipliers and 12 slacks
        **_tried({"products": lambda: int(_statistics(_cells(*four), "columns")[0]) - 28}),
    }


def hand(stored: Stored) -> Nested:
    """The example, and information sets by player."""
    found = stored["hand"].summary[FULL]
    return found | {"profits": dict(enumerate(found["profits"], start=1))}


def dominated(stored: Stored) -> Nested:
    """Dominated actions by kind, and beside those that `kuhn3_reduced` lacks."""
    cells = _cells(stored, "equilibria", FULL, "ncp(dominated=remove,backend=scip)")
    found, built = set(_statistics(cells, "dominated_actions")[0]), stored["program"].summary
    counts = {k: sum(bool(re.search(p, name)) for name in found) for k, p in _KINDS.items()}
    *known, last = counts.values()
    both = found & set(built["removed"])
    only = {"only dominated": len(found - both), "only removed": len(built["removed"]) - len(both)}
    return counts | {
        "removed": {"both": len(both)} | only,
        "in Table 2": {"in it": sum(known), "not in it": len(found) - sum(known)},
        "all but c41": (sum(known), last, len(found)) == (21, 1, 22),
    }


def fractions(stored: Stored) -> Nested:
    """Regrets, bluffs and traps of an equilibrium of the reduced game, in fractions."""
    best = _cells(stored, "equilibria", REDUCED, "ncp(exact=true)")[0].equilibria
    if not best or best[0].profile is None or best[0].exact is None:
        raise NotStoredError("no equilibrium in fractions was found")
    behavior = stored["equilibria"].json(best[0].profile)["behavior"]
    rows = {f"{player}|{at}": row for player, own in behavior.items() for at, row in own.items()}
    bets = {at: Fraction(row["bet"]) for at, row in rows.items() if "bet" in row}
    return {
        "regrets": [*map(Fraction, best[0].exact["regrets"])],
        "bluffs": {at: bet for at, bet in bets.items() if at[3] in "12" and bet},
        "aces checked": {at: Fraction(rows[at]["check"]) for at in ("P1|4:", "P2|4:K")},
    }


def table_1(stored: Stored) -> Nested:
    """Mean times by size and method, and their ratios."""
    return {
        item["size"]: {"ncp": _mean(item["solvers"][0]), "mip": _mean(item["solvers"][1])}
        | {"ratio": _ratio(item["ratio"]["of_means"])}
        for item in stored["table_1"].summary["sizes"]
    }


def _mean(own: Nested) -> Finding | Missing:
    """A mean; if games ran into the limit a bound, which counts as one while most were solved."""
    mean, solved, games = own["mean_with_timeouts_s"], own["solved"], own["games"]
    if mean is None:
        return Missing("; ".join(own["reasons"].values()) or "no game has a time")
    bound = Interval(mean, inf)
    figures = {"mean s": mean if solved == games else bound, "median s": own["median_s"]}
    counts = {"solved": f"{solved} of {games}", "regret 1e-6 or less": own["precise"]}
    return Finding(mean if 2 * solved > games else bound, figures | counts)


def _ratio(found: Nested | None) -> Any:
    """A ratio of means, or what time-outs leave of it."""
    if found is None:
        return Missing("no game has times of both methods")
    value, bound = found["value"], found["bound"]
    low, high = value if bound == "lower" else 0.0, value if bound == "upper" else inf
    return value if bound == "exact" else Interval(low, high)


def advantage(stored: Stored) -> Nested:
    """MIP over NCP by size: medians and means, and whether the printed means grow with the size."""
    solvers = {item["size"]: item["solvers"] for item in stored["table_1"].summary["sizes"]}
    found = {}
    for name in ("median_s", "mean_with_timeouts_s"):
        pairs = {size: [own[name] for own in solvers[size]] for size in _SIZES}
        if not all(all(pair) for pair in pairs.values()):
            raise NotStoredError("a size has no times of both methods")
        found[name] = {size: second / first for size, (first, second) in pairs.items()}
    rows = ["n = {}, m = {}".format(*size.split("x")) for size in _SIZES]
    ncp, mip = ([_printed(row, f"{n} avg. runtime") for row in rows] for n in ("NCP", "MIP"))
    printed = [b / a for a, b in zip(ncp, mip, strict=True)]
    return {
        "medians": Finding(found["median_s"], found),
        "printed means do not grow": any(b <= a for a, b in pairwise(printed)),
    }


def sizes(stored: Stored) -> Nested:
    """Sizes of the full and the reduced game."""
    full, reduced = (stored[f"info_{name}"].printed_json["sizes"] for name in ("full", "reduced"))
    share = 1 - reduced["decision nodes"] / full["decision nodes"]
    return {"full": full, "reduced": reduced, "fewer decision nodes, %": 100 * share}


def models(stored: Stored) -> Nested:
    """Sizes of the paper's program with 0, 21 and 22 actions fixed, and which the prints fit."""
    summary = stored["program"].summary
    found, printed = summary["models"], [_printed(row, "reduced game") for row in _FIXED.values()]
    fitting = [n for n, kept in summary["kept"].items() if [kept[k] for k in _FIXED] == printed]
    whole = [found["22"][key] for key in _FIXED]

    def another_tree() -> bool:
        trees = [stored[f"info_{name}"].printed_json["sizes"] for name in ("21", "reduced")]
        return bool(trees[0]["nodes"] != trees[1]["nodes"])

    def fit(key: str) -> bool:
        return bool(found["21"][key] == _printed(f"{key} of the input", "reduced game"))

    def counted() -> bool:
        (nonzeros, *_) = _statistics(_cells(stored, "race", FULL, PAPER), "nonzeros")
        return bool(nonzeros == found["full"]["nonzeros"])

    evidence = {
        "rows fit 21": lambda: another_tree() and fit("rows"),
        "nonzeros fit 21": lambda: another_tree() and fit("nonzeros"),
        "counted by SCIP, and fit 21": lambda: counted() and fit("nonzeros"),
    }
    fixed = Finding(whole, {"all 22 fixed": whole, "the printed fit all but one of": fitting})
    return found | {"fixed": fixed, "all but one fit": bool(fitting)} | _tried(evidence)


def gurobi(stored: Stored) -> Nested:
    """What Gurobi's log says of both models; it leaves out what there is none of."""
    found: Nested = {}
    for game, name in (("reduced", "21"), ("full", "full")):
        said = stored["program"].summary["gurobi"][name]
        if "unavailable" in said:
            found[game] = Missing(said["unavailable"])
            continue
        log = {k: said[line][i] if line in said else 0 for k, (line, i) in _LOG.items()}
        found[game] = log | {
            "time": said["time"][0] if "time" in said else Missing("it is not logged"),
            "cuts": {"Gomory": 0, "Flow cover": 0, "RLT": 0} | said["cuts"],
            "all cuts": sum(said["cuts"].values()),
            "search": {"s": said["time_s"], "max regret": max(said.get("regrets", [inf]))},
            **{key: said[key] for key in ("work", "nodes", "iterations")},
        }
    missing = [log for log in found.values() if isinstance(log, Missing)]
    ratio = missing[0] if missing else found["full"]["nonzeros"] / found["reduced"]["nonzeros"]
    return found | {"nonzeros": ratio}


def full_game(stored: Stored) -> Nested:
    """The paper's program on the full game: on Gurobi if its license admits it, else on SCIP."""
    own = next(c for c in stored["race"].cells if (c.game, c.solver) == (FULL, GUROBI))
    solver = PAPER if own.status == "unavailable" else GUROBI
    return {"solver": solver} | _outcome(_cells(stored, "race", FULL, solver))


def off_path(stored: Stored) -> Nested:
    """How all our results on both games agree with the family."""
    cells = [c for job in ("equilibria", "race") for c in stored[job].cells]
    return _family([c for c in cells if c.game in (REDUCED, FULL) and _regret(c) <= 1e-12])


def described(stored: Stored) -> Nested:
    """The profile that the paper describes, as named and as described, in integers."""
    readings, pairs = (stored["grid"].summary[key] for key in ("readings", "pairs"))
    family, named = (stored[f"verify_{n}"].printed_json for n in ("family", "as_named"))
    theirs, ours = ([*map(Fraction, one["exact"]["payoffs"])] for one in (family, named))
    beside = {i["a33"]: Fraction(i["regrets"][1]) for i in pairs if i["c32"] == "1/2"}
    kept = [i["a33"] for i in pairs if i["c32"] == "1/2" and set(i["regrets"]) == {"0"}]
    vectors = {", ".join(item["payoffs"]) for item in (*pairs, *readings["as_described"])}
    row = stored["profiles"].json("family.json")["behavior"]["P3"]["3:KB"]

    def gains(name: str) -> set[Fraction]:
        """What player 2 gains over the grid and at its middle."""
        verified = stored[f"verify_{name}"].printed_json["exact"]["regrets"][1]
        return {Fraction(verified), *(Fraction(item["regrets"][1]) for item in readings[name])}

    no_gain = all(set(item["regrets"]) == {"0"} for item in readings["as_named"])
    return {
        "as named": {
            "payoffs": ours,
            "regrets": [*map(Fraction, named["exact"]["regrets"])],
            "strict member": named["identity"]["strict"],
        },
        "as described": gains("as_described"),
        "an equilibrium only as named": no_gain and min(gains("as_described")) > 0,
        "family": {
            "c32": Fraction(row["call"]),
            "c33": family["identity"]["parameters"]["c33"],
            "strict member": family["identity"]["strict"] and not family["identity"]["off_path"],
        },
        "agree": {
            "β": named["identity"]["parameters"]["beta"],
            "differences of payoffs": [a - b for a, b in zip(theirs, ours, strict=True)],
        },
        "payoffs": Finding(len(vectors), {"payoffs": vectors}),
        "a33": Finding(kept, {"a33": kept, "player 2 gains by a33": beside}),
        "a33 cannot move alone": len(kept) == 1 and min(gains("a33_alone")) > 0,
    }


def gambit_says(stored: Stored) -> Nested:
    """What pygambit itself says: whether it refuses three players, and whether it takes trees."""
    said = stored["gambit_says"].summary
    if "unavailable" in said:
        raise NotStoredError(said["unavailable"])
    refused = {n: Finding("two-player" in t, t or "it runs") for n, t in said["refusals"].items()}
    return refused | {n: Finding(not t, t or "it runs") for n, t in said["agents"].items()}


def gambit_results(stored: Stored) -> Nested:
    """What each method found on the reduced game, and which methods found an equilibrium."""
    cells = [cell for cell in stored["gambit"].cells if cell.game == REDUCED]
    near = sorted(cell.solver for cell in cells if _regret(cell) <= _FOUND)
    others = [cell for cell in cells if cell.solver not in near and "logit" not in cell.solver]
    ended = [cell.solver for cell in others if cell.status == "timeout"]
    missing = Missing("ten minutes for each method are too long here; until then nothing")
    only_logit = ended and near and all("logit" in solver for solver in near)
    found = gambit(stored) | dict.fromkeys(ended, missing)
    return found | {"found": missing if only_logit else near}


def rounded(stored: Stored) -> Nested:
    """The rounded end of the path on the reduced game."""
    found = stored["rounded"].summary.get(REDUCED)
    if found is None:
        raise NotStoredError("Gambit's path left no profile on the reduced game")
    gain = float(max(map(Fraction, found["regrets"])))
    before = _regret(_cells(stored, "race", REDUCED, LOGIT)[0])
    cause = {"before": before, "rounding adds": gain - before}
    return {"gain": gain, "a33": float(Fraction(found["a33"])), "cause": cause}


def beside_program(stored: Stored) -> Nested:
    """Gambit's logit path beside the paper's program."""
    logit, program = (_cells(stored, "race", REDUCED, solver) for solver in (LOGIT, PAPER))
    times = [_outcome(cells)["median s"] for cells in (logit, program)]

    def larger() -> Finding:
        gain, raw = rounded(stored)["gain"], max(_statistics(program, "raw_max_regret"))
        return Finding(gain / raw if raw else inf, {"logit": gain, "program": raw})

    def apart() -> Finding:
        own, others = _payoffs(logit)[1], _payoffs(program)[1]
        return Finding([abs(own[0] - u) for u in others], {"logit": own, "program": others})

    def full() -> Nested:
        both = [_cells(stored, "race", FULL, solver)[0] for solver in (LOGIT, PAPER)]
        return dict(zip(("logit", "program"), map(_regret, both), strict=True))

    entries = {"larger": larger, "apart": apart, "full game": full}
    return _tried(entries) | {"times": Finding(times[0] / times[1], {"s": times})}


def qre(stored: Stored) -> Nested:
    """Max regrets along the principal branch, and at the ends of all."""
    branches = stored["qre"].summary["branches"]
    principal = [point["max_regret"] for point in branches[0]["at"]]
    return {"principal": principal, "ends": [branch["max_regret"] for branch in branches]}


def small_games(stored: Stored) -> Finding:
    """How many random starts stay off the equilibrium of a small game, by method."""
    found = {n: own["jordan"]["max regret"] for n, own in _table(stored, "small_games").items()}
    far = {name: sum(regret > 0.1 for regret in regrets) for name, regrets in found.items()}
    return Finding(far, {"stay off": far, "max regrets": found})


def _ahead(stored: Stored, job: str) -> Finding:
    """Median regret over that of the best start, in the middle of the games."""
    found = _table(stored, job, lambda cells: [*map(_regret, cells)])
    gains = [median(regrets) / min(regrets) for own in found.values() for regrets in own.values()]
    return Finding(median(gains), {"in the middle": median(gains), "by game": gains})


starts_strategic, starts_kuhn = (partial(_ahead, job=f"starts_{n}") for n in ("strategic", "kuhn"))


def strategic_form(stored: Stored) -> Finding:
    """How much faster contingencies grow than nodes, from the reduced to the full game."""
    found = {}
    for game, job in ((REDUCED, "info_reduced"), (FULL, "info_full")):
        (counts, *_) = _statistics(_cells(stored, "race", game, LOGIT), "strategies")
        nodes = stored[job].printed_json["sizes"]["nodes"]
        found[game] = {"contingencies": float(prod(map(int, counts))), "nodes": nodes}
    return Finding(found[FULL]["contingencies"] / found[REDUCED]["contingencies"], found)
