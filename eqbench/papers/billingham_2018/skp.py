"""Section 4: the test case, simplified Kuhn poker."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import sqrt

import numpy as np

from eqbench.papers.billingham_2018.drawings_skp import VARIABLES, exact_curves
from eqbench.papers.billingham_2018.jobs import SKP_EPSILONS
from eqbench.papers.billingham_2018.readings import EXACT, drawn, statement
from eqbench.papers.claims import Part, Reading, differs, holds, not_attempted, number, reproduced
from eqbench.papers.stored import Stored

# The ends of published solutions, in the order in which the curve comes to them.
FOLDS = (
    ("end of Solutions 2 and 3", "(3+√15)/2 = 3.436491673", (3 + sqrt(15)) / 2),
    ("beginning of Solutions 3 and 4", "(3+√97)/4 = 3.212214450", (3 + sqrt(97)) / 4),
    ("end of Solutions 5 and 6", "4", 4.0),
    ("beginning of Solutions 6 and 7", "(3+√23)/2 = 3.897915762", (3 + sqrt(23)) / 2),
    ("end of Solutions 7 and 8", "(7+√113)/4 = 4.407536453", (7 + sqrt(113)) / 4),
    ("beginning of Solutions 8 and 9", "(7+√105)/4 = 4.311737691", (7 + sqrt(105)) / 4),
)
VERTICAL = (3.0, 3.5, 5.0)
_CLOSE_UP = (3.8, 4.45)
_SUM_ONLY = "skp:9"
_FARTHEST = "largest distance, as a share of the axes"


def _solutions(stored: Stored) -> Reading:
    entries = stored["skp"].summary["at"]
    found = [item["identity"] for entry in entries for item in entry["equilibria"]]
    names = {identity["name"].removeprefix("skp:") for identity in found if identity}
    missing = sorted({str(k) for k in range(1, 11)} - names, key=int)
    regret = max(abs(i["max_regret"]) for e in entries for i in e["equilibria"])
    ours = f"Solutions {', '.join(sorted(names, key=int))} on one branch"
    detail = f"max regret at most {regret:.0e}; {len(found)} points at {len(entries)} pots"
    right = not missing and regret <= EXACT and None not in found
    return holds(right, ours, f"missing: {missing}", detail)


def _no_others(stored: Stored) -> Reading:
    (cell,) = stored["skp_all"].cells
    entry = next(e for e in stored["skp"].summary["at"] if e["parameter"] == 3.35)
    names = {item["identity"]["name"] for item in entry["equilibria"]}
    pieces = cell.statistics["pieces"]
    ours = f"{pieces} sets in all, {len(names)} of them on the branch"
    complete = cell.status == "ok" and cell.statistics["unresolved"] == 0
    detail = f"pot 3.35; {cell.statistics['cases']:,} cases closed"
    return holds(complete and pieces == len(names) == 3, ours, "the branch misses some", detail)


def _several(stored: Stored) -> Reading:
    entries = stored["skp"].summary["at"]
    ours = ", ".join(f"{e['parameter']:g}: {e['distinct_payoffs']}" for e in entries)
    several = [e["parameter"] for e in entries if e["distinct_payoffs"] > 1]
    return holds(bool(several), ours, "nowhere more than one", "different payoffs by pot")


def _fold(place: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        folds = stored["skp"].summary["folds"]
        if place >= len(folds):
            return differs("no such fold", f"the branch has {len(folds)} folds")
        return number(FOLDS[place][2], folds[place]["parameter"], 1e-9, digits=10)

    return read


def _piece(pot: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        exact = stored["skp_exact"].summary["exact"]
        # the pieces of one set share its name
        known = next(e for e in exact if set(e["pots"]) == {pot})
        wanted = (np.max(known["high"], axis=0) - np.min(known["low"], axis=0))[:3]
        rows = stored["skp"].rows()
        table = np.array(
            [[float(r["parameter"]), *(float(r[f"u:P{p}"]) for p in (1, 2, 3))] for r in rows]
        )
        near = table[np.abs(table[:, 0] - pot) <= 1e-3, 1:]
        ranges = np.ptp(near, axis=0)
        jump = np.abs(np.diff(near, axis=0)).max() / wanted.max()
        ours = f"{len(near)} points; ranges {', '.join(f'{r:.5f}' for r in ranges)}"
        wrong = float(np.abs(ranges - wanted).max())
        published = ", ".join(f"{w:.5f}" for w in wanted)
        return holds(
            wrong <= 1e-4 and jump <= 0.5,
            ours,
            f"off by {wrong:.1e}, largest gap {jump:.0%}",
            f"published ranges {published}; largest gap between points {jump:.0%}",
        )

    return read


def _distance(stored: Stored, eps: str, name: str, window: tuple[float, float]) -> float:
    """The largest distance of a regularized curve from the exact ones, in units of both axes.

    Each point of the branch is compared with the nearest point of the exact curves, pots over 4
    and figures over the range of the exact ones, as one sees it in a figure.
    """
    rows = stored[f"skp_{eps.replace('-', '_')}"].rows()
    column = "u:P1" if name == "u1" else VARIABLES[name]
    points = np.array([[float(row["parameter"]), float(row[column])] for row in rows])
    curves = [np.column_stack(c) for c in exact_curves(stored["skp_exact"].summary["exact"], name)]
    scale = np.array([4.0, np.ptp(np.concatenate(curves)[:, 1])])
    inside = (points[:, 0] > window[0]) & (points[:, 0] < window[1])
    dense = np.concatenate([_filled(curve / scale) for curve in curves])
    gaps = [np.hypot(*(dense - point).T).min() for point in points[inside] / scale]
    return float(max(gaps))


def _filled(curve: np.ndarray) -> np.ndarray:
    """A polyline with points between its own."""
    share = np.linspace(0, 1, 20)[:, None, None]
    return ((1 - share) * curve[:-1] + share * curve[1:]).reshape(-1, 2)


def _converges(name: str, window: tuple[float, float]) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = {eps: _distance(stored, eps, name, window) for eps in SKP_EPSILONS}
        ours = "; ".join(f"eps = {eps}: {far:.2%}" for eps, far in found.items())
        far = list(found.values())
        # samples of the exact curve are a quarter of a percent of the axis apart
        better = all(b < a or b < 0.004 for a, b in itertools.pairwise(far))
        return holds(better and far[-1] < 0.02, ours, "a smaller eps is not closer", _FARTHEST)

    return read


def _order(stored: Stored) -> Reading:
    rows = [row for row in stored["skp_exact"].summary["errors"] if row["kind"] == "log"]
    ours = "; ".join(f"pot {row['pot']:g}: order {row['order']:.3f}" for row in rows)
    return holds(all(abs(row["order"] - 1) < 0.1 for row in rows), ours, "another order")


def _sum_only(stored: Stored) -> Reading:
    known = next(e for e in stored["skp_exact"].summary["exact"] if e["name"] == _SUM_ONLY)
    places = [known["variables"].index(name) for name in ("c1", "d2")]
    low, high = (np.array(known[end])[:, places] for end in ("low", "high"))
    pots = np.array(known["pots"])
    rows = stored["skp_1e_6"].rows()
    names = ["parameter", VARIABLES["c1"], VARIABLES["d2"]]
    table = np.array([[float(row[name]) for name in names] for row in rows])
    # before that pot the branch comes along other solutions too
    inside = (table[:, 0] > FOLDS[4][2] + 0.01) & (table[:, 0] < pots[-1] - 0.01)
    chosen = table[inside]
    bounds = [
        np.column_stack([np.interp(chosen[:, 0], pots, end[:, k]) for k in (0, 1)])
        for end in (low, high)
    ]
    slack = 1e-3
    within = np.all((chosen[:, 1:] >= bounds[0] - slack) & (chosen[:, 1:] <= bounds[1] + slack))
    total = bounds[0][:, 0] + bounds[1][:, 1]
    off = float(np.abs(chosen[:, 1:].sum(axis=1) - total).max())
    room = float((high - low).max())
    ours = f"{len(chosen)} points: between the bounds, sum within {off:.0e} of the published one"
    ends = f"pots {chosen[:, 0].min():.2f} to {chosen[:, 0].max():.2f}"
    detail = f"{ends}; each of them may vary by up to {room:.2f}"
    return holds(bool(within) and off < slack, ours, f"sum off by {off:.1e}", detail)


def _lost_epsilon(stored: Stored) -> Reading:
    return not_attempted("the values of eps are lost in the text of the paper that we have")


def _same_game(stored: Stored) -> Reading:
    free = stored["info_skp"].printed_json["sizes"]["free frequencies"]
    ours = f"a game of four cards with {free} free frequencies"
    return reproduced(ours) if free == 11 else differs(ours, f"{free - 11:+d} frequencies")


_FAR = (2.02, 5.98)
SKP = Part(
    title="Section 4, Figures 2 to 4: simplified Kuhn poker",
    claims=(
        statement("the game", "N = 4 with the lowest card passive, eleven frequencies", _same_game),
        statement("Figure 2, eps", "the values of eps", _lost_epsilon),
        statement(
            "all equilibria, on the curve",
            "arclength continuation computes all solutions",
            _solutions,
        ),
        statement(
            "all equilibria, elsewhere", "no solutions besides those of the curve", _no_others
        ),
        statement("Figure 2, multiplicity", "several equilibria coexist at some pots", _several),
        *(
            statement(f"Figure 2, fold at the {what}", f"pot {text}", _fold(place))
            for place, (what, text, value) in enumerate(FOLDS)
        ),
        *(
            statement(
                f"Figure 2, pot {pot:g}",
                "a range of expectations, smoothly connected in a single curve",
                _piece(pot),
            )
            for pot in VERTICAL
        ),
        statement(
            "Figure 2, whole", "nearer to the exact curve as eps decreases", _converges("u1", _FAR)
        ),
        statement("Figure 2, close-up", "nearer as eps decreases", _converges("u1", _CLOSE_UP)),
        statement("Figure 2, away from corners", "more accurate as eps decreases", _order),
        statement("Figure 3", "the same for a betting frequency", _converges("a1", _FAR)),
        statement(
            "Figure 4",
            "calls of players 1 and 2 with K, of which only the sum is determined on a range of "
            "pots, are unique between their bounds",
            _sum_only,
        ),
    ),
    pictures=(
        drawn(
            "Figure 2: expectation of player 1",
            "Regularized curves at four eps and, dashed, the exact one; the close-up shows "
            "corners.",
            "figures",
            "fig02.svg",
        ),
        drawn(
            "Figure 3: a betting frequency",
            "How often player 1 bets A, regularized and exact.",
            "figures",
            "fig03.svg",
        ),
        drawn(
            "Figure 4: calls with K",
            "Dashed: the exact frequencies, and their bounds where only c1 + d2 is determined.",
            "figures",
            "fig04.svg",
        ),
        drawn(
            "Error of an expectation against eps",
            "Not in the paper: away from corners the error is proportional to eps.",
            "figures",
            "errors.svg",
        ),
    ),
    note="Branches from a pot of 2 to one of 6. The exact solution is that of Billingham 2017 "
    "with its misprints corrected; pots at the ends of its solutions are those formulas. "
    "Distances of curves are to the nearest point of the exact one, as a share of the axes (pots "
    "2 to 6).",
)
