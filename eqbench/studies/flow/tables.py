"""What simulations and studies of stability found, as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from eqbench.errors import counted
from eqbench.report.naming import identity_text
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.studies.flow.profits import AGREE
from eqbench.studies.flow.regimes import NEAR_FACE
from eqbench.studies.flow.spectrum import COUNTS, STABLE, UNSTABLE

MOST_PLACES = 12
MOST_NEAREST = 3
_ENDS = (
    ("to_zero", "{} → 0"),
    ("to_one", "{} → 1"),
    ("at_zero", "{} at 0, may return"),
    ("at_one", "{} at 1, may return"),
)
_REGIMES = (
    "Lyapunov: growth rate of a small displacement over the last half of the time. Near a face: "
    f"how often frequencies that move or may return are then within {NEAR_FACE:g} of 0 or 1. "
    "Settled at: the time from which on the motion is what the regime says. Regret: the largest "
    "one of average play over the longest window, by the verifier, in payoff units. → 0, → 1: "
    "so near for the whole last half of the time, while log-odds go on growing or are constant; "
    "may return: as near for as long, but log-odds come back, show no trend, or are so large that "
    "rounding hides it. What a regime rests on is in summary.json."
)
_PROFITS = "Payoffs of a run are averages over its longest window."
_PUBLISHED = (
    "Gap: the largest distance of any player's from those of the nearest published solution. "
    "Share: the gap over the largest payoff of that solution in size. Whole: the same share of "
    f"averages from time 0 on. Payoffs agree with a solution within {AGREE:.0%} of its largest "
    "payoff in size, or within half the distance of the closest two solutions whose payoffs "
    "differ, if that is less."
)


def simulation_report(document: Mapping[str, Any]) -> Report:
    """Tables of a simulation: for each value of the parameter, regimes and then profits."""
    if not document["runs"]:
        return Report((Table("", lines=("no trajectory was completed",)),))
    tables: list[Table] = []
    for value in document["values"]:
        runs = [run for run in document["runs"] if run["parameter"] == value["parameter"]]
        tables += [_regimes(document, value, runs), _profits(document["players"], value, runs)]
    published = any(value["solutions"] for value in document["values"])
    profits = f"{_PROFITS} {_PUBLISHED}" if published else _PROFITS
    return Report(tuple(tables), notes=(_REGIMES, profits))


def _regimes(
    document: Mapping[str, Any], value: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]
) -> Table:
    how = f"integrator {value['integrator']}"
    if document["model"] == "hands":
        how = f"hand by hand, players remember {document['memory']:,} hands"
    rows = []
    for run in runs:
        average = run["profiles"].get("average")
        moves = run["components"] or run["at_zero"] or run["at_one"]
        cells = {
            "start": run["start"],
            "regime": run["regime"],
            "time": run["time"],
            "Lyapunov": run["lyapunov"],
            "near a face": run["near_face_fraction"] if moves else None,
            "settled at": run["transient"],
            "regret": average and average["max_regret"],
        }
        rows.append(Row(run["start"], cells))
    return Table(
        f"Trajectories of {value['game']}: {how}, rate {value['rate']:g}",
        (
            Column("start", identifies=True),
            Column("regime"),
            Column("time", "number", layout=",g"),
            Column("Lyapunov", "number", layout="+.4f"),
            Column("near a face", "number", layout=".3f"),
            Column("settled at", "number", layout=",.0f"),
            Column("regret", "small"),
        ),
        tuple(rows),
        notes=(*_destinations(runs, document["names"]), *_remarks(runs)),
    )


def _destinations(runs: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[str]:
    """Say which frequencies go to 0 and to 1, or stay there."""

    def words(run: Mapping[str, Any]) -> str:
        if run["near_face_fraction"] is None:
            return "limits not determined"
        parts = [
            form.format(_listed(sorted(names.get(place, place) for place in run[end])))
            for end, form in _ENDS
            if run[end]
        ]
        switching = run["regime"] == "boundary_absorption" and run["components"]
        return "; ".join(
            (parts or ["no frequency goes to 0 or 1"])
            + (["play keeps switching between faces"] if switching else [])
        )

    return _said_once(runs, words)


def _remarks(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say why runs are undecided or absorbed, which has several reasons, or ended early."""

    def words(run: Mapping[str, Any]) -> str:
        if run["regime"] in ("undecided", "boundary_absorption"):
            return f"{run['regime']}, {run['reason']}"
        return f"ended early, {run['ending']}" if run["ending"] else ""

    return _said_once(runs, words)


def _said_once(
    runs: Sequence[Mapping[str, Any]], words: Callable[[Mapping[str, Any]], str]
) -> list[str]:
    """Return what is to be said of runs, with the starts of all of which it is the same."""
    starts: dict[str, list[str]] = {}
    for run in runs:
        starts.setdefault(words(run), []).append(run["start"])
    starts.pop("", None)
    return [
        f"{'all starts' if 1 < len(runs) == len(those) else ', '.join(those)}: {text}"
        for text, those in starts.items()
    ]


def _listed(words: Sequence[str], most: int = MOST_PLACES) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more" if more > 0 else "")


def _profits(
    players: Sequence[str], value: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]
) -> Table:
    """Return the payoffs of published solutions, then of runs."""
    payoffs = [f"u:{player}" for player in players]
    beside = (
        Column("gap", "number", layout=".1e"),
        Column("share", "number", layout=".1%"),
        Column("whole", "number", layout=".1%"),
        Column("nearest"),
    )
    blank = {column.title: "" for column in beside}
    rows = []
    for known in value["solutions"]:
        ranges = (_range(low, high) for low, high in known["payoffs"])
        cells = {"": known["name"], **blank, **dict(zip(payoffs, ranges, strict=True))}
        rows.append(Row(known["name"], cells))
    for run in runs:
        average = run["payoffs"] or [None] * len(players)
        cells = {"": run["start"], **blank, **dict(zip(payoffs, average, strict=True))}
        if run["windows"]:
            window = run["windows"][run["longest_window"]]
            cells |= {
                "gap": window["gap"],
                "share": window["gap_share"],
                "whole": run["whole"]["gap_share"],
                "nearest": _listed(window["nearest"] or (), MOST_NEAREST),
            }
        rows.append(Row(run["start"], cells))
    return Table(
        "Profits per unit of time",
        (
            Column("", identifies=True),
            *(Column(title, "payoff", layout="+z.5f") for title in payoffs),
            *(beside if value["solutions"] else ()),
        ),
        tuple(rows),
        notes=tuple(_agreements(value, runs)),
    )


def _agreements(value: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say for each published solution over which times payoffs of runs are its payoffs.

    Nothing of those whose payoffs are all 0, which have no share.
    """
    lines = []
    for position, known in enumerate(value["solutions"]):
        if not known["agree"]:
            continue
        chosen = [(run, run["solutions"][position]["agrees"]) for run in runs]
        times = [
            f"{run['start']} over times {_stretches(run['windows'], agrees)}"
            for run, agrees in chosen
            if agrees
        ]
        share = 100 * known["agree"] / max(abs(end) for ends in known["payoffs"] for end in ends)
        lines.append(f"within {share:.2g}% of {known['name']}: {'; '.join(times) or 'never'}")
    return lines


def _stretches(windows: Sequence[Mapping[str, Any]], chosen: Sequence[int]) -> str:
    """Return windows as stretches of time, those that follow on each other as one."""
    stretches: list[list[float]] = []
    for window in (windows[w] for w in chosen):
        if stretches and window["from"] <= stretches[-1][1]:
            stretches[-1][1] = max(window["to"], stretches[-1][1])
        else:
            stretches.append([window["from"], window["to"]])
    return ", ".join(f"{first:,.5g}–{last:,.5g}" for first, last in stretches)


def _range(low: float, high: float) -> str:
    if high - low < 1e-9:
        return f"{low:+z.5f}"
    return f"{low:+z.5f} … {high:+z.5f}"


# -- stability ------------------------------------------------------------------------------------

_EIGENVALUES = (
    "Eigenvalues in frequency coordinates, counted, not in pairs; real parts up to {tolerance:g} "
    "of the spectral norm are zero. They are those of a member inside a set. Centre: a centre "
    "manifold with as many oscillating dimensions; there linearization does not decide whether a "
    "rest point is stable."
)
_NO_EQUILIBRIUM = "! is no equilibrium."
_VERDICTS = {UNSTABLE: "unstable", STABLE: "stable"}
_COUNTED = dict(zip(("unstable", "oscillating", "zero", "stable"), COUNTS, strict=True))


def stability_report(document: Mapping[str, Any]) -> Report:
    """Tables of a study of stability: equilibria with verdicts, then what searches found."""
    title = f"Stability in {document['game']} under {document['solver']}"
    equilibria, several = document["equilibria"], bool(document["at"])
    searches = tuple(_searched(search, several=several) for search in document["rest_points"])
    if not equilibria:
        return Report((Table(title, lines=searches),))
    at = (Column(document["parameter"], "number", identifies=True, layout="g"),) if several else ()
    notes = [line for entry in equilibria for line in _deviations(entry, several=several)]
    notes.append(_EIGENVALUES.format(tolerance=document["tolerance"]))
    if not all(entry["is_equilibrium"] for entry in equilibria):
        notes.append(_NO_EQUILIBRIUM)
    table = Table(
        title,
        (
            *at,
            Column("equilibrium", "words", identifies=True),
            *(Column(title, "count") for title in _COUNTED),
            Column("max re", "number", dispensable=3, layout=".3g"),
            Column("max regret", "small", dispensable=1),
            Column("members", "number", dispensable=2),
            Column("verdict"),
        ),
        tuple(_equilibrium(document, entry) for entry in equilibria),
        notes=tuple(notes),
    )
    return Report((table, Table("", lines=searches)) if searches else (table,))


def _equilibrium(document: Mapping[str, Any], entry: Mapping[str, Any]) -> Row:
    growth = max((pair[0] for pair in entry["eigenvalues"]), default=0.0)
    identity, members = entry.get("identity"), entry.get("members")
    cells = {
        document["parameter"]: entry["value"],
        "equilibrium": [
            entry["name"],
            *([f"= {identity_text(identity)}"] if identity else []),
            *([] if entry["is_equilibrium"] else ["!"]),
        ],
        **{title: entry[key] for title, key in _COUNTED.items()},
        "max re": growth if abs(growth) > document["tolerance"] * entry["scale"] else 0,
        "max regret": entry["max_regret"],
        "members": members and f"{members['examined']}{'' if members['same_everywhere'] else ' *'}",
        "verdict": _VERDICTS.get(entry["verdict"], "centre"),
    }
    return Row(entry["name"], cells)


def _deviations(entry: Mapping[str, Any], *, several: bool) -> list[str]:
    """Say which members have another verdict than the one inside the set."""
    members = entry.get("members")
    if members is None:
        return []
    name = f"{entry['name']} at {entry['value']:g}" if several else entry["name"]
    lines = []
    for verdict, count in members["verdicts"].items():
        if verdict == entry["verdict"]:
            continue
        where = next(each for each in members["deviating"] if each["verdict"] == verdict)
        figures = ", ".join(f"{name}={value:.4g}" for name, value in where["parameters"].items())
        lines.append(
            f"* {name}: {count} of {members['examined']} members: {verdict}, for "
            f"example the {where['place']} {figures}"
        )
    if members["refuted"]:
        lines.append(f"* {name}: {members['refuted']} members left out, being no equilibria here")
    return lines


def _searched(search: Mapping[str, Any], *, several: bool) -> str:
    """Say which rest points that are no equilibria a search found."""
    at = f" at {search['value']:g}" if several else ""
    distinct, unstable, least = (search[key] for key in ("distinct", "unstable", "least_growth"))
    if not distinct:
        found = "no rest point that is no equilibrium"
    elif distinct == 1:
        word = "unstable" if unstable else "not unstable"
        found = f"1 rest point that is no equilibrium, {word} (largest real part {least:.3g})"
    else:
        how_many = "all" if unstable == distinct else f"{unstable} of them"
        found = (
            f"{distinct} rest points that are no equilibria, {how_many} unstable (largest real "
            f"parts {least:.3g} or more)"
        )
    return f"Rest points{at}: {counted(search['draws'], 'face')} searched; found {found}"
