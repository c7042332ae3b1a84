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
EXACT, LOGIT = "ncp(exact=true)", "gambit_logit_path"
_FOUND = 6e-4  # max regret of a result of Gambit: a share of 1e-4 of the payoff range, 6
_ROUNDING = 1e-9
_SIZES = ("3x3", "3x4", "3x5", "3x6", "4x3", "5x2")
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
    **{"continuous": ("kinds", 0), "integer": ("kinds", 1), "time": ("time", 0)},
}
_BEFORE = {"SOS": "complementarities", "bilinear": "products"}  # what the model has of their like
# sizes of a model whose actions are fixed, and where the paper prints them
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


def _printed(row: str, column: str = "") -> Fraction:
    """A number that the paper prints."""
    lines = read_file(Path(__file__).with_name("claims.csv")).decode().splitlines()
    printed = (
        c["printed"] for c in csv.DictReader(lines) if (c["row"], c["column"]) == (row, column)
    )
    return number_in(next(printed))[0]


# -- what runs found -------------------------------------------------------------------------------


def _cells(stored: Stored, job: str, game: str, solver: str) -> list[CellRecord]:
    """Cells of a game and a solver as typed, one for each seed."""
    found = [c for c in stored[job].cells if (c.game, c.solver) == (game, solver)]
    if not found or found[0].status == "unavailable":
        why = found[0].reason if found else f"the job {job} has no cell of {solver} on {game}"
        raise NotStoredError(why)
    return found


def _cell(stored: Stored, job: str, game: str, solver: str) -> CellRecord:
    return _cells(stored, job, game, solver)[0]


def _regret(cell: CellRecord) -> float:
    return inf if cell.max_regret is None else cell.max_regret


def _statistic(cell: CellRecord, name: str) -> Any:
    if name not in cell.statistics:
        raise NotStoredError(f"{cell.solver} on {cell.game} ended {cell.status}: {cell.reason}")
    return cell.statistics[name]


def _table(stored: Stored, job: str, summary: Callable[[Cells], Any]) -> Nested:
    """Cells of a run, summarized by solver and game."""
    games: dict[str, set[str]] = {}
    for cell in stored[job].cells:
        games.setdefault(cell.solver, set()).add(cell.game)

    def of(game: str, solver: str) -> Any:
        return summary(_cells(stored, job, game, solver))

    found = {s: _tried({game: partial(of, game, s) for game in games[s]}) for s in games}
    # no solver that is unavailable has a table
    return {
        s: next((m for m in own.values() if isinstance(m, Missing)), own)
        for s, own in found.items()
    }


def _outcome(cells: Cells) -> Nested:
    """Max regrets of all seeds, and how the cells ended."""
    times = [cell.elapsed_s for cell in cells if cell.elapsed_s is not None]
    raw = [cell.statistics.get("raw_max_regret") for cell in cells]
    polished = {} if None in raw else {"before polishing": raw}
    why = {"why": cells[0].reason} if cells[0].reason else {}
    ended = {"median s": median(times) if times else inf, "ended": cells[0].status}
    return {"max regret": [*map(_regret, cells)], **polished, **ended, **why}


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


def race(stored: Stored) -> Nested:
    """How the programs and the logit path ended on both games."""
    return _table(stored, "race", _outcome)


def payoffs(stored: Stored) -> Nested:
    """Payoffs that they found."""
    return _table(stored, "race", _payoffs)


def family(stored: Stored) -> Nested:
    """Where what they found stands in the family."""
    return _table(stored, "race", _family)


def equilibria(stored: Stored) -> Nested:
    """How our own forms of the program ended."""
    return _table(stored, "equilibria", _outcome)


def two_players(stored: Stored) -> Nested:
    """How the methods for two players ended."""
    return _table(stored, "two_players", _outcome)


def gambit_two_players(stored: Stored) -> Nested:
    """How Gambit's methods for two players ended."""
    return _table(stored, "gambit_two_players", _outcome)


def gambit(stored: Stored) -> Nested:
    """How Gambit's methods ended."""
    return _table(stored, "gambit", _outcome)


def self_play(stored: Stored) -> Nested:
    """How CFR and fictitious play ended."""
    return _table(stored, "self_play", _outcome)


# -- sections 2 and 3 ------------------------------------------------------------------------------


def conditions(stored: Stored) -> Nested:
    """The least x·r that multipliers leave beside regrets, slacks, and the last line of the LCP."""
    found = stored["conditions"].summary
    at = [one["gaps"] for one in found["profiles"] if max(one["regrets"]) <= _ROUNDING]
    others = [one for one in found["profiles"] if max(one["regrets"]) > _ROUNDING]
    off = [abs(g - r) for o in others for g, r in zip(o["gaps"], o["regrets"], strict=True)]
    two = found["two_players"]
    entries, columns = two["shape"]
    slacks = max(found["slacks"], key=lambda own: max(own) - min(own))
    spread = max(slacks) - min(slacks)
    return {
        "E": found["matrix"],
        "equilibria": {"number": len(at), "least x·r": max(map(max, at), default=inf)},
        "other profiles": {
            "number": len(others),
            "least x·r": min((max(one["gaps"]) for one in others), default=0.0),
            "off the regret by": max(off, default=inf),
        },
        "Bx": Finding(columns == entries, {"B": f"{entries} × {columns}", "entries of x": entries}),
        "Bᵀx": columns != entries and abs(two["with_transpose"]) <= 1e-6,
        "slacks": Finding(spread, {"slacks of a player": slacks}),
        "slacks of an equilibrium differ": len(at) > 1 and spread > _ROUNDING,
    }


def quadratic_constraints(stored: Stored) -> Finding:
    """Quadratic constraints for each sequence."""
    found = stored["program"].summary["models"]["full"]["quadratic_constraints"]
    sequences = 3 * stored["conditions"].summary["matrix"][1]
    return Finding(Fraction(found, sequences), {"constraints": found, "sequences": sequences})


def strategic(stored: Stored) -> Nested:
    """The program on random games in strategic form."""
    run, solver = stored["table_1_run"].cells, "ncp(formulation=paper,polish=false)"
    own = [cell for cell in run if cell.solver == solver]
    specs = {c.solver.partition("(")[0]: c.solver_spec for c in run if c.status == "ok"}
    tolerances = {n: re.search(r"feasibility=([^,)]+)", specs.get(n, "")) for n in ("ncp", "mip")}

    def products() -> int:
        cell = _cell(stored, "table_1_run", "random(players=4,actions=3,seed=0)", solver)
        return int(_statistic(cell, "columns")) - 28  # 12 weights, 4 multipliers, 12 slacks

    return _tried({"products": products}) | {
        "games": {
            "not solved": sum(cell.status != "ok" for cell in own),
            "max regret": [_regret(cell) for cell in own if cell.status == "ok"],
        },
        "feasibility": {n: float(found[1]) if found else inf for n, found in tolerances.items()},
    }


def hand(stored: Stored) -> Nested:
    """The example, and information sets by player."""
    found = stored["hand"].summary
    profits = dict(enumerate(found[FULL]["profits"], start=1))
    return {"profits": profits, "pot": found[FULL]["pot"], "sets": found[FULL]["infosets"]}


def dominated(stored: Stored) -> Nested:
    """Dominated actions by kind, and beside those that `kuhn3_reduced` lacks."""
    cell = _cell(stored, "equilibria", FULL, "ncp(dominated=remove,backend=scip)")
    found = set(_statistic(cell, "dominated_actions"))
    counts = {k: sum(bool(re.search(p, name)) for name in found) for k, p in _KINDS.items()}
    *known, last = counts.values()

    def removed() -> Nested:
        built = set(stored["program"].summary["removed"])
        return {
            "both": len(found & built),
            "only dominated": len(found - built),
            "only removed": len(built - found),
        }

    return (
        counts
        | _tried({"removed": removed})
        | {
            "in Table 2": {"in it": sum(known), "not in it": len(found) - sum(known)},
            "all but c41": (sum(known), last, len(found)) == (21, 1, 22),
        }
    )


def frequencies(stored: Stored) -> Nested:
    """Bluffs and traps of an equilibrium in fractions of the reduced game."""
    best = _cell(stored, "equilibria", REDUCED, EXACT).equilibria
    if not best or best[0].profile is None:
        raise NotStoredError("no equilibrium in fractions was found")
    behavior = stored["equilibria"].json(best[0].profile)["behavior"]
    rows = {f"{player}, {at}": row for player, own in behavior.items() for at, row in own.items()}
    bets = {at: Fraction(row["bet"]) for at, row in rows.items() if "bet" in row}
    checks = {
        f"{at}, 4:{past}": Fraction(rows[f"{at}, 4:{past}"]["check"])
        for at, past in (("P1", ""), ("P2", "K"))
    }
    return {
        "bluffs": {at: bet for at, bet in bets.items() if at[4] in "12" and bet},
        "aces checked": checks,
    }


# -- Table 1 ---------------------------------------------------------------------------------------


def _by_size(stored: Stored) -> dict[str, Nested]:
    return {item["size"]: item for item in stored["table_1"].summary["sizes"]}


def table_1(stored: Stored) -> Nested:
    """Mean times by size and method."""
    return {
        size: dict(zip(("ncp", "mip"), map(_mean, item["solvers"]), strict=True))
        for size, item in _by_size(stored).items()
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


def ratios(stored: Stored) -> Nested:
    """MIP over NCP: medians and means by size, and whether the printed means grow with the size."""
    sizes = _by_size(stored)
    grown = sorted(_SIZES, key=lambda size: int(size[0]) * int(size[2]) ** int(size[0]))

    def of(name: str) -> Nested:
        pairs = {size: [own[name] for own in sizes[size]["solvers"]] for size in grown}
        if not all(all(pair) for pair in pairs.values()):
            raise NotStoredError("a size has no times of both methods")
        return {size: mip / ncp for size, (ncp, mip) in pairs.items()}

    def medians() -> Finding:
        return Finding(of("median_s"), {n: of(f"{n}_s") for n in ("median", "mean_with_timeouts")})

    def printed(size: str) -> Fraction:
        row = f"n = {size[0]}, m = {size[2]}"
        return _printed(row, "MIP avg. runtime") / _printed(row, "NCP avg. runtime")

    falls = any(later <= former for former, later in pairwise(map(printed, grown)))
    quoted = {size: _bounded(sizes[size]["ratio"]["of_means"]) for size in _SIZES}
    return quoted | _tried({"medians": medians}) | {"printed means do not grow": falls}


def _bounded(ratio: Nested | None) -> Any:
    """A ratio of means, or what time-outs leave of it."""
    if ratio is None:
        return Missing("no game has times of both methods")
    value, bound = ratio["value"], ratio["bound"]
    if bound == "exact":
        return value
    return Interval(value if bound == "lower" else 0, value if bound == "upper" else inf)


# -- section 4: sizes, and Gurobi ------------------------------------------------------------------


def sizes(stored: Stored) -> Nested:
    """Sizes of the full and the reduced game."""
    full, reduced = (stored[f"info_{name}"].printed_json["sizes"] for name in ("full", "reduced"))
    share = 1 - reduced["decision nodes"] / full["decision nodes"]
    return {"full": full, "reduced": reduced, "fewer decision nodes, %": 100 * share}


def models(stored: Stored) -> Nested:
    """Sizes of the paper's program with 0, 21 and 22 actions fixed."""
    found = stored["program"].summary
    whole, less = found["models"]["22"], found["models"]["21"]
    both = {key: Finding(less[key], {"21 fixed": less[key], "22": whole[key]}) for key in less}
    fitting = [name for name, kept in found["kept"].items() if _fits(kept, _FIXED)]
    fixed = Finding(
        [whole[key] for key in _FIXED],
        {"all 22 fixed": [whole[key] for key in _FIXED], "all but one of": fitting},
    )
    return found["models"] | {"reduced": both, "fixed": fixed, "all but one fit": bool(fitting)}


def _fits(model: Nested, rows: dict[str, str]) -> bool:
    return all(model[key] == _printed(row, "reduced game") for key, row in rows.items())


def fits_21(stored: Stored) -> dict[str, bool]:
    """Whether printed sizes are those with 21 fixed actions, which another tree lacks."""
    trees = [stored[job].printed_json["sizes"]["nodes"] for job in ("info_21", "info_reduced")]
    model = stored["program"].summary["models"]["21"]
    return {
        key: trees[0] != trees[1] and _fits(model, {key: f"{key} of the input"})
        for key in ("rows", "nonzeros")
    }


def nonzeros_agree(stored: Stored) -> bool:
    """Whether SCIP counts those of the full model as we do, and the reduced has the printed."""
    models = stored["program"].summary["models"]
    counted = _statistic(_cell(stored, "race", FULL, PAPER), "nonzeros")
    own = counted == models["full"]["nonzeros"]
    return bool(own and _fits(models["21"], {"nonzeros": "nonzeros of the input"}))


def gurobi(stored: Stored) -> Nested:
    """What Gurobi's log says of both models."""
    found = {game: _log(stored, name) for game, name in (("reduced", "21"), ("full", "full"))}
    nonzeros = [log["nonzeros"] for log in found.values()]
    missing = next((value for value in nonzeros if isinstance(value, Missing)), None)
    return found | {"nonzeros": missing or nonzeros[1] / nonzeros[0]}


def _log(stored: Stored, name: str) -> Nested:
    """Figures of a log, which leaves out what there is none of."""
    said, model = (stored["program"].summary[key][name] for key in ("gurobi", "models"))
    before = {key: model[size] for key, size in _BEFORE.items()}
    if "unavailable" in said:
        why = said["unavailable"]
        counted = {key: Missing(f"{why}; {n} in the model before") for key, n in before.items()}
        return dict.fromkeys(_LOG, Missing(why)) | counted
    found = {key: said[line][place] if line in said else 0 for key, (line, place) in _LOG.items()}
    if "time" not in said:
        found["time"] = Missing("Gurobi's log says nothing of it")
    shown = {"before": before} | {key: {"in the log": found[key]} for key in before}
    return found | {
        k: Finding(found[k], shown[k] | {"in the model before": n}) for k, n in before.items()
    }


def search(stored: Stored) -> Nested | Missing:
    """Gurobi's search on the reduced model, and with 22 actions fixed where that was run."""
    said, more = (stored["program"].summary["gurobi"].get(name, {}) for name in ("21", "22"))
    if "unavailable" in said:
        return Missing(said["unavailable"])
    kinds = ("Gomory", "Flow cover", "RLT")
    found = {key: said[key] for key in ("time_s", "work", "nodes", "iterations")}
    shown = {
        k: Finding(v, {"21 actions fixed": v, "22": more[k]}) for k, v in found.items() if k in more
    }
    solved = {"s": said["time_s"], "max regret": max(said.get("regrets", [inf]))}
    cuts = {"all": sum(said["cuts"].values())} | {kind: said["cuts"].get(kind, 0) for kind in kinds}
    return found | shown | {"solved": solved, "cuts": cuts}


def full_game(stored: Stored) -> Nested:
    """The paper's program on the full game: on Gurobi if its license admits it, else on SCIP."""
    own = next(c for c in stored["race"].cells if (c.game, c.solver) == (FULL, GUROBI))
    solver = PAPER if own.status == "unavailable" else GUROBI
    return {"solver": solver} | _outcome(_cells(stored, "race", FULL, solver))


# -- section 4: the solution -----------------------------------------------------------------------


def off_path(stored: Stored) -> Nested:
    """How all our results on both games agree with the family."""
    cells = [c for job in ("equilibria", "race") for c in stored[job].cells]
    return _family([c for c in cells if c.game in (REDUCED, FULL) and _regret(c) <= 1e-12])


def described(stored: Stored) -> Nested:
    """The profile that the paper describes, as named and as described, in integers."""
    readings, pairs = (stored["grid"].summary[key] for key in ("readings", "pairs"))
    names = ("family", "as_named", "as_described", "a33_alone")
    documents = {name: stored[f"verify_{name}"].printed_json for name in names}
    exact = {
        name: {key: [*map(Fraction, found["exact"][key])] for key in ("payoffs", "regrets")}
        for name, found in documents.items()
    }
    known = {name: documents[name]["identity"] for name in ("family", "as_named")}
    gains = {Fraction(item["regrets"][1]) for item in readings["as_described"]}
    good = [item for item in pairs if set(item["regrets"]) == {"0"}]
    beside = {i["a33"]: Fraction(i["regrets"][1]) for i in pairs if i["c32"] == "1/2"}
    kept = [item["a33"] for item in good if item["c32"] == "1/2"]
    vectors = {", ".join(item["payoffs"]) for item in (*pairs, *readings["as_described"])}
    row = stored["profiles"].json("family.json")["behavior"]["P3"]["3:KB"]
    payoffs = [exact[name]["payoffs"] for name in ("family", "as_named")]
    return {
        "as named": exact["as_named"] | {"strict member": known["as_named"]["strict"]},
        "as described": Finding(gains, {"player 2 gains": gains}),
        "an equilibrium only as named": min(gains) > 0
        and exact["as_described"]["regrets"][1] > 0
        and all(set(item["regrets"]) == {"0"} for item in readings["as_named"]),
        "family": {
            "c32": Fraction(row["call"]),
            "c33": known["family"]["parameters"]["c33"],
            "strict member": known["family"]["strict"] and not known["family"]["off_path"],
        },
        "agree": {
            "β": known["as_named"]["parameters"]["beta"],
            "differences of payoffs": [a - b for a, b in zip(*payoffs, strict=True)],
        },
        "payoffs": Finding(len(vectors), {"payoffs": vectors}),
        "a33": Finding(kept, {"a33": kept, "player 2 gains by a33": beside}),
        "a range needs player 3 too": len(kept) == 1
        and len(good) > 1
        and exact["a33_alone"]["regrets"][1] > 0,
    }


# -- section 4: Gambit -----------------------------------------------------------------------------


def gambit_says(stored: Stored) -> Nested:
    """What pygambit itself says: whether it refuses three players, and whether it takes trees."""
    said = stored["gambit_says"].summary
    if "unavailable" in said:
        raise NotStoredError(said["unavailable"])
    two, agents = said["refusals"], said["agents"]
    refused = {name: Finding("two-player" in two[name], two[name] or "it runs") for name in two}
    return refused | {name: Finding(not agents[name], agents[name] or "it runs") for name in agents}


def gambit_results(stored: Stored) -> Nested:
    """What each method found on the reduced game, and which methods found an equilibrium."""
    cells = [cell for cell in stored["gambit"].cells if cell.game == REDUCED]
    near = sorted(cell.solver for cell in cells if _regret(cell) <= _FOUND)
    ended = [c for c in cells if c.status == "timeout" and "logit" not in c.solver]
    left = [c.solver for c in ended if c.solver not in near]
    early = {name: Missing("ten minutes are too long here; until then nothing") for name in left}
    only = all("logit" in solver for solver in near)
    all_ = Missing(f"{len(left)} methods were ended early; until then {', '.join(near)}")
    return (
        _table(stored, "gambit", _outcome)
        | early
        | {"found": all_ if near and only and left else near}
    )


def logit(stored: Stored) -> Nested:
    """Gambit's logit path on the reduced game and its rounded end, beside the paper's program."""
    path = partial(_cell, stored, "race", REDUCED, LOGIT)
    program = partial(_cells, stored, "race", REDUCED, PAPER)

    def end() -> Nested:
        found = stored["rounded"].summary.get(REDUCED)
        if found is None:
            raise NotStoredError("Gambit's path left no profile on the reduced game")
        return {
            "gain": float(max(map(Fraction, found["regrets"]))),
            "a33": float(Fraction(found["a33"])),
        }

    def larger() -> Finding:
        gain, raw = end()["gain"], max(_statistic(c, "raw_max_regret") for c in program())
        return Finding(gain / raw if raw else inf, {"logit": gain, "program": raw})

    def cause() -> Nested:
        return {"before": _regret(path()), "rounding adds": end()["gain"] - _regret(path())}

    def apart() -> Finding:
        own, others = _payoffs([path()])[1][0], _payoffs(program())[1]
        return Finding(
            [abs(own - u) for u in others], {"payoff of player 1": own, "program": others}
        )

    def ratio() -> Finding:
        times = [_outcome(cells)["median s"] for cells in ([path()], program())]
        return Finding(times[0] / times[1], {"path s": times[0], "program s": times[1]})

    def full() -> Nested:
        solvers = {"logit": LOGIT, "program": PAPER}
        return {n: _regret(_cell(stored, "race", FULL, s)) for n, s in solvers.items()}

    def superior() -> Nested:
        best = _cell(stored, "equilibria", REDUCED, EXACT).equilibria
        return {"program exact": any(e.is_proved for e in best), "logit": _regret(path())}

    entries = (end, larger, cause, apart, ratio, full, superior)
    return _tried({entry.__name__: entry for entry in entries})


def qre(stored: Stored) -> Nested:
    """Max regrets along the principal branch, and at the ends of all."""
    branches = stored["qre"].summary["branches"]
    return {
        "principal": [point["max_regret"] for point in branches[0]["at"]],
        "ends": [branch["max_regret"] for branch in branches],
    }


# -- sections 1 and 5 ------------------------------------------------------------------------------


def small_games(stored: Stored) -> Finding:
    """How many random starts stay off the equilibrium of a small game, by method."""
    found = {
        n: o["jordan"]["max regret"] for n, o in _table(stored, "small_games", _outcome).items()
    }
    far = {name: sum(regret > 0.1 for regret in regrets) for name, regrets in found.items()}
    return Finding(far, {"stay off": far, "max regrets": found})


def starts(stored: Stored) -> Nested:
    """Median regret over that of the best start, by game."""
    return _tried({name: partial(_ahead, stored, name) for name in ("strategic", "kuhn")})


def _ahead(stored: Stored, name: str) -> Finding:
    found = _table(stored, f"starts_{name}", lambda cells: [*map(_regret, cells)])
    gains = [median(regrets) / min(regrets) for own in found.values() for regrets in own.values()]
    return Finding(median(gains), {"in the middle": median(gains), "by game": gains})


def strategic_form(stored: Stored) -> Finding:
    """How much faster contingencies grow than nodes, from the reduced to the full game."""
    found = {}
    for game, job in ((REDUCED, "info_reduced"), (FULL, "info_full")):
        contingencies = prod(map(int, _statistic(_cell(stored, "race", game, LOGIT), "strategies")))
        nodes = stored[job].printed_json["sizes"]["nodes"]
        found[game] = {"contingencies": float(contingencies), "nodes": nodes}
    return Finding(found[FULL]["contingencies"] / found[REDUCED]["contingencies"], found)
