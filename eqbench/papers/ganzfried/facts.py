"""Values for the claims of the paper, from our stored results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf, isnan, prod
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from eqbench.papers.checks import Finding, Interval, Missing
from eqbench.papers.paper import load_paper
from eqbench.papers.records import Table, restored
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.plots.style import Panel, Series, draw_figure, svg_of
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord

Cells = Sequence[CellRecord]

FULL, REDUCED = "kuhn3", "kuhn3_reduced"
PAPER, GUROBI = (
    f"ncp(formulation=paper,backend={name},offpath=keep)" for name in ("scip", "gurobi")
)
LOGIT = "gambit_logit_path"
_FOUND = 6e-4  # max regret of a result of Gambit: a share of 1e-4 of the payoff range, 6
_SOLVED = ("ok", "stopped")  # programs end at a tolerance of their own, above the target of a run
_SIZES = ("3x3", "5x2", "3x4", "4x3", "3x5", "3x6")  # of Table 1, by the number of payoffs
# kinds of removed actions; the first three are the Table 2 of Szafron et al. (2013)
_KINDS = {
    "jack calls": r"\|1:.*\|call",
    "ace folds": r"\|4:.*\|fold",
    "queen calls after a bet, a call": r"\|2:.*BC\|call",
    "ace checks": r"\|4:KK\|check",
}


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


def _outcome(cells: Cells) -> Table:
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
    found = [cell.payoffs for cell in cells if cell.payoffs is not None]
    if len(found) < len(cells):
        raise NotStoredError(f"{cells[0].solver} on {cells[0].game} found no profile")
    return {player: list(own) for player, own in enumerate(zip(*found, strict=True), start=1)}


def _family(cells: Cells) -> Table:
    """Places of best results in the published family, and differences from it off the path."""
    best = [cell.equilibria[0].identity for cell in cells if cell.equilibria]
    known = [identity for identity in best if identity is not None]
    if not known:
        raise NotStoredError("no result is identified")
    return {
        "sets": {identity["name"] for identity in known},
        "on the path": Fraction(sum(identity["on_path"] for identity in known), len(known)),
        "everywhere": Fraction(sum(identity["strict"] for identity in known), len(known)),
        "differ off the path": {place for one in known for place in one["off_path"]},
        "distance": max(identity["distance"] for identity in known),
        "β": [identity["parameters"].get("beta", inf) for identity in known],
        "a33": [0.5 + identity["off_path"].get("P1|3:KBF|call", 0.0) for identity in known],
    }


def _table(stored: Stored, job: str, summary: Callable[[Cells], Any] = _outcome) -> Table:
    """Cells of a run, summarized by solver and game; `Missing` where a cell has no such thing."""
    found: dict[str, Table] = {}
    for cell in stored[job].cells:
        try:
            value = summary(_cells(stored, job, cell.game, cell.solver))
        except NotStoredError as error:
            value = Missing(str(error))
        found.setdefault(cell.solver, {})[cell.game] = value
    return found


_RUNS = ("race", "equilibria", "two_players", "gambit", "gambit_two_players", "self_play", "jordan")
race, equilibria, two_players, gambit, gambit_two_players, self_play, jordan = (
    partial(_table, job=job) for job in _RUNS
)
payoffs, family = (partial(_table, job="race", summary=what) for what in (_payoffs, _family))


def _available(found: Any) -> Any:
    """Values that a computation has found, or `Missing` if it says why there are none."""
    return Missing(found["unavailable"]) if "unavailable" in found else found


def _summary(stored: Stored, job: str) -> Any:
    """Values that a computation has stored by name."""
    return _available(stored[job].summary)


conditions, hand, gambit_says, program, rounded = (
    partial(_summary, job=job)
    for job in ("conditions", "hand", "gambit_says", "program", "rounded")
)


def strategic(stored: Stored) -> Table:
    """The program on random games in strategic form."""
    cells = stored["table_1_run"].cells
    own = [cell for cell in cells if cell.solver.startswith("ncp")]
    four = [cell for cell in own if cell.game.startswith("random(players=4,")]
    specs = [parse_spec(cell.solver_spec) for cell in cells if cell.status in _SOLVED]
    tolerances = {spec.name: Fraction(dict(spec.options)["feasibility"]) for spec in specs}
    return {
        "games": {
            "not solved": sum(cell.status not in _SOLVED for cell in own),
            "max regret": [_regret(cell) for cell in own if cell.status in _SOLVED],
        },
        "feasibility": {name: tolerances.get(name, inf) for name in ("ncp", "mip")},
        "columns with four players": {*_statistics(four, "columns")},
    }


def dominated(stored: Stored) -> Table:
    """Dominated actions by kind, and next to those that `kuhn3_reduced` lacks."""
    cells = _cells(stored, "equilibria", FULL, "ncp(dominated=remove,backend=scip,offpath=keep)")
    found = set(_statistics(cells, "dominated_actions")[0])
    removed = set(program(stored)["removed"])
    counts = {k: sum(bool(re.search(p, name)) for name in found) for k, p in _KINDS.items()}
    in_table = sum(counts.values()) - counts["ace checks"]
    return counts | {
        "removed": {"both": len(found & removed), "only one": len(found ^ removed)},
        "in Table 2": {"listed": in_table, "not listed": len(found) - in_table},
    }


def fractions(stored: Stored) -> Table:
    """Regrets, bluffs and traps of an equilibrium of the reduced game, in fractions."""
    best = _cells(stored, "equilibria", REDUCED, "ncp(exact=true,offpath=keep)")[0].equilibria
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


def table_1(stored: Stored) -> Table:
    """Mean times by size and method, their ratios, and how many times as long MIP takes.

    Times are those of games that were solved within the limit, or came to the limit. A game at the
    limit counts as the limit, so that every mean that it touches is a lower bound. Games that
    failed, or for which a solver never ran, have no time. The ratio is that of MIP's mean to that
    of NCP, over the games for which both have a time.
    """
    job = stored["table_1_run"]
    limits = {g: p["timeout_s"] for p in job.json("manifest.json")["parts"] for g in p["games"]}
    frame = pd.DataFrame(job.cells).astype({"elapsed_s": float, "max_regret": float})
    frame = frame.assign(limit_s=frame["game"].map(limits))
    frame["method"] = frame["solver"].str.partition("(")[0]
    # children are killed a little after the limit, and some end well in between
    solved = frame["elapsed_s"].clip(upper=frame["limit_s"]).where(frame["status"].isin(_SOLVED))
    frame["s"] = solved.mask(frame["status"].isin(["timeout", "limit"]), frame["limit_s"])
    numbers = frame["game"].str.extract(r"players=(\d+),actions=(\d+)")
    sizes = frame.groupby(numbers[0] + "x" + numbers[1], sort=False)
    return {str(size): _of_size(cells) for size, cells in sizes}


def _of_size(cells: pd.DataFrame) -> Table:
    """Figures of both methods on the games of one size; times in seconds."""
    own = {name: cells[cells["method"] == name] for name in ("ncp", "mip")}
    times = cells.pivot(index="game", columns="method", values="s").reindex(columns=[*own])
    common = times.dropna()
    ratio: Any = common["mip"].mean() / common["ncp"].mean()
    low, high = (common[name].max() >= cells["limit_s"].max() for name in own)
    if low or high:
        ratio = Interval(0.0 if low else ratio, inf if high else ratio)
    averages = {"median_s": times.median(), "mean_with_timeouts_s": times.mean()}
    return {name: _mean(games) for name, games in own.items()} | {
        "ratio": ratio if len(common) else Missing("no game has times of both methods"),
        "MIP / NCP": {name: of["mip"] / of["ncp"] for name, of in averages.items()},
    }


def _mean(cells: pd.DataFrame) -> Finding | Missing:
    """A mean; if games ran into the limit a bound, which counts as one while most were solved."""
    if cells["s"].isna().all():
        return Missing("; ".join(cells["reason"].unique()) or "no game has a time")
    mean, solved = cells["s"].mean(), int((cells["s"] < cells["limit_s"]).sum())
    bound = Interval(mean, mean if solved == len(cells) else inf)
    shown = {
        "mean s": bound,
        "median s": cells["s"].median(),
        "solved": f"{solved} of {len(cells)}",
        "regret 1e-6 or less": int((cells["max_regret"] <= 1e-6).sum()),
    }
    return Finding(mean if 2 * solved > len(cells) else bound, shown)


def advantage(stored: Stored) -> Table:
    """MIP over NCP by size: medians and means, and whether the printed means grow with the size."""
    sizes = {size: own["MIP / NCP"] for size, own in table_1(stored).items()}
    names = ("median_s", "mean_with_timeouts_s")
    found = {name: {size: sizes[size][name] for size in _SIZES} for name in names}
    if any(map(isnan, found["median_s"].values())):
        raise NotStoredError("a size has no times of both methods")
    claims = [claim for part in load_paper(Path(__file__).parent).parts for claim in part.claims]
    means = {c.fact: float(c.printed) for c in claims if c.column.endswith("avg. runtime")}
    printed = [means[f"table_1/{size}/mip"] / means[f"table_1/{size}/ncp"] for size in _SIZES]
    return {
        "medians": Finding(found["median_s"], found),
        "printed means do not grow": any(b <= a for a, b in pairwise(printed)),
    }


def sizes(stored: Stored) -> Table:
    """Sizes of the full and the reduced game."""
    full, reduced = (stored[f"info_{name}"].printed_json["sizes"] for name in ("full", "reduced"))
    share = 1 - reduced["decision nodes"] / full["decision nodes"]
    return {"full": full, "reduced": reduced, "fewer decision nodes, %": 100 * share}


def by_scip(stored: Stored) -> Table:
    """Nonzeros of the full model as SCIP counts them, and of ours."""
    (counted, *_) = _statistics(_cells(stored, "race", FULL, PAPER), "nonzeros")
    ours = {count: own["nonzeros"] for count, own in program(stored)["models"].items()}
    return {"nonzeros": {"SCIP": counted} | ours}


def gurobi(stored: Stored) -> Table:
    """Figures of Gurobi's log of both models, 0 where it says nothing."""
    logs = program(stored)["gurobi"]
    found = {game: _available(logs[n]) for game, n in (("reduced", "21"), ("full", "0"))}
    missing = [log for log in found.values() if isinstance(log, Missing)]
    ratio = missing[0] if missing else found["full"]["nonzeros"] / found["reduced"]["nonzeros"]
    return found | {"nonzeros": ratio}


def full_game(stored: Stored) -> Table:
    """The paper's program on the full game: on Gurobi if its license admits it, else on SCIP."""
    own = next(c for c in stored["race"].cells if (c.game, c.solver) == (FULL, GUROBI))
    solver = PAPER if own.status == "unavailable" else GUROBI
    return {"solver": solver} | _outcome(_cells(stored, "race", FULL, solver))


def off_path(stored: Stored) -> Table:
    """Agreement of all our results on both games with the family."""
    cells = [c for job in ("equilibria", "race") for c in stored[job].cells]
    return _family([c for c in cells if c.game in (REDUCED, FULL) and _regret(c) <= 1e-12])


def described(stored: Stored) -> Table:
    """The profile that the paper describes, as named and as described, in integers."""
    found = restored(stored["readings"].summary)
    readings, pairs = found["readings"], found["pairs"]
    family, named = (stored[f"verify_{n}"].printed_json for n in ("family", "as_named"))
    theirs, ours = ([*map(Fraction, one["exact"]["payoffs"])] for one in (family, named))
    of_a33 = {i["a33"]: max(i["regrets"]) for i in pairs if i["c32"] == Fraction(1, 2)}
    gains = {name: {max(i["regrets"]) for i in own} for name, own in readings.items()}
    row = stored["readings"].json("family.json")["behavior"]["P3"]["3:KB"]
    return {
        "as named": {
            "payoffs": ours,
            "regrets": [*map(Fraction, named["exact"]["regrets"])],
            "strict member": named["identity"]["strict"],
            "β": named["identity"]["parameters"]["beta"],
            "less payoffs of the family": [a - b for a, b in zip(ours, theirs, strict=True)],
        },
        "gains": gains,
        "family": {
            "c32": Fraction(row["call"]),
            "c33": family["identity"]["parameters"]["c33"],
            "strict member": family["identity"]["strict"] and not family["identity"]["off_path"],
        },
        "payoffs": {", ".join(map(str, i["payoffs"])) for i in (*pairs, *readings["as_described"])},
        "a33": {
            "a33": [a33 for a33, gain in of_a33.items() if not gain],
            "player 2 gains by a33": of_a33,
            "with c32 = 0": gains["a33_alone"],
        },
    }


def gambit_results(stored: Stored) -> Table:
    """Result of each method on the reduced game, and methods that found an equilibrium."""
    cells = [cell for cell in stored["gambit"].cells if cell.game == REDUCED]
    near = sorted(cell.solver for cell in cells if _regret(cell) <= _FOUND)
    others = [cell for cell in cells if cell.solver not in near and "logit" not in cell.solver]
    ended = [cell.solver for cell in others if cell.status == "timeout"]
    missing = Missing("ten minutes for each method are too long here; until then nothing")
    is_open = ended and near and all("logit" in solver for solver in near)
    return gambit(stored) | dict.fromkeys(ended, missing) | {"found": missing if is_open else near}


def beside_program(stored: Stored) -> Table:
    """Gambit's logit path next to the paper's program."""
    logit, ours = (_cells(stored, "race", REDUCED, solver) for solver in (LOGIT, PAPER))
    times = [_outcome(cells)["median s"] for cells in (logit, ours)]
    (own, *_), others = _payoffs(logit)[1], _payoffs(ours)[1]
    gain, raw = rounded(stored)["gain"], max(_statistics(ours, "raw_max_regret"))
    on_full = [_regret(_cells(stored, "race", FULL, solver)[0]) for solver in (LOGIT, PAPER)]
    return {
        "larger": Finding(gain / raw if raw else inf, {"logit": gain, "program": raw}),
        "apart": Finding([abs(own - u) for u in others], {"logit": own, "program": others}),
        "full game": dict(zip(("logit", "program"), on_full, strict=True)),
        "times": Finding(times[0] / times[1], {"s": times}),
    }


def qre(stored: Stored) -> Table:
    """Max regrets along the principal branch, and at the ends of all."""
    branches = stored["qre"].summary["branches"]
    principal = [point["max_regret"] for point in branches[0]["at"]]
    return {"principal": principal, "ends": [branch["max_regret"] for branch in branches]}


def _ahead(stored: Stored, job: str) -> Table:
    """Median regret over that of the best start, in the middle of the games."""
    found = [own["max regret"] for games in _table(stored, job).values() for own in games.values()]
    gains = [median(regrets) / min(regrets) for regrets in found]
    return {"median": median(gains), "by game": gains}


starts_strategic, starts_kuhn = (partial(_ahead, job=f"starts_{n}") for n in ("strategic", "kuhn"))


def strategic_form(stored: Stored) -> Finding:
    """Growth of contingencies and of nodes, from the reduced to the full game."""
    found = {}
    for game, job in ((REDUCED, "info_reduced"), (FULL, "info_full")):
        (counts, *_) = _statistics(_cells(stored, "race", game, LOGIT), "strategies")
        nodes = stored[job].printed_json["sizes"]["nodes"]
        found[game] = {"contingencies": float(prod(map(int, counts))), "nodes": nodes}
    return Finding(found[FULL]["contingencies"] / found[REDUCED]["contingencies"], found)


def gains(stored: Stored) -> str:
    """SVG of what player 2 gains, as fractions on a grid of a33 and c32."""
    series = list[Series]()
    for item in stored["readings"].summary["pairs"]:
        x, y = (float(Fraction(item[name])) for name in ("a33", "c32"))
        gain = item["regrets"][1]
        color, weight = ("#cfe8d5", "bold") if gain == "0" else ("white", "normal")
        box = {"boxstyle": "round", "facecolor": color, "lw": 0.4}
        look = {"ha": "center", "va": "center", "fontsize": 9, "weight": weight, "bbox": box}
        series.append(Series("text", (x, y, gain), look))
    quarters = [0, 0.25, 0.5, 0.75, 1]
    limits = {"xlim": (-0.12, 1.12), "ylim": (-0.12, 1.12)}
    call = "player 1 calls with the king after check, bet, fold"
    words = f"a33: {call}", "c32: player 3 does after check, bet"
    panel = Panel(series, *words, settings=limits | {"xticks": quarters, "yticks": quarters})
    return svg_of(draw_figure([panel], 4.6, 4.2))
