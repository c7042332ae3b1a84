"""Simulated trajectories as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eqbench.report.terminal import fits, small
from eqbench.studies.flow.regimes import NEAR_FACE
from eqbench.studies.flow.simulate import AGREE
from eqbench.text import printable

MOST_PLACES = 12
MOST_NEAREST = 3
WORDS = ("", "start", "regime", "nearest")  # columns of text, to the left

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


def print_simulation(document: Mapping[str, Any], console: Console) -> None:
    """Print what the summary says: by value of the parameter, regimes and then profits."""
    if not document["runs"]:
        _say("no trajectory was completed", console)
        return
    for value in document["values"]:
        runs = [run for run in document["runs"] if run["parameter"] == value["parameter"]]
        if runs:
            _print_value(document, value, runs, console)
    published = any(value["solutions"] for value in document["values"])
    for note in (_REGIMES, f"{_PROFITS} {_PUBLISHED}" if published else _PROFITS):
        _note(note, console)


def _print_value(
    document: Mapping[str, Any],
    value: Mapping[str, Any],
    runs: Sequence[Mapping[str, Any]],
    console: Console,
) -> None:
    how = f"integrator {value['integrator']}"
    if document["model"] == "hands":
        how = f"hand by hand, players remember {document['memory']:,} hands"
    _say(f"Trajectories of {value['game']}: {how}, rate {value['rate']:g}", console, "bold")
    _print_rows(*_regimes(runs), console)
    for text in (*_destinations(runs, document["names"]), *_remarks(runs)):
        _say(text, console)
    console.print()
    _say("Profits per unit of time", console, "bold")
    _print_rows(*_profits(document["players"], value, runs), console)
    for text in _agreements(value, runs):
        _say(text, console)
    console.print()


def _regimes(runs: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: what runs are."""
    rows = []
    for run in runs:
        average = run["profiles"].get("average")
        rows.append(
            [
                run["start"],
                run["regime"],
                f"{run['time']:,g}",
                _number(run["lyapunov"], "+.4f"),
                _number(_near_face(run), ".3f"),
                _number(run["transient"], ",.0f"),
                small(average["max_regret"]) if average else "–",
            ]
        )
    headings = ["time", "Lyapunov", "near a face", "settled at", "regret"]
    return ["start", "regime", *headings], rows


def _near_face(run: Mapping[str, Any]) -> float | None:
    """How often frequencies are near a face; None where none moves or may."""
    moves = run["components"] or run["at_zero"] or run["at_one"]
    return run["near_face_fraction"] if moves else None


def _destinations(runs: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[str]:
    """Which frequencies go to 0 and to 1, or stay there."""

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
    """Why runs are undecided or absorbed, which has several reasons, or why others ended early."""

    def words(run: Mapping[str, Any]) -> str:
        if run["regime"] in ("undecided", "boundary_absorption"):
            return f"{run['regime']}, {run['reason']}"
        return f"ended early, {run['ending']}" if run["ending"] else ""

    return _said_once(runs, words)


def _said_once(
    runs: Sequence[Mapping[str, Any]], words: Callable[[Mapping[str, Any]], str]
) -> list[str]:
    """What is to be said of runs, with the starts of all of which it is the same."""
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
) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: payoffs of published solutions, then of runs."""
    beside = ["gap", "share", "whole", "nearest"] if value["solutions"] else []
    rows = [
        [
            known["name"],
            *(_range(low, high) for low, high in known["payoffs"]),
            *("" for _ in beside),
        ]
        for known in value["solutions"]
    ]
    for run in runs:
        payoffs = run["payoffs"] or [None] * len(players)
        row = [run["start"], *(_number(payoff, "+z.5f") for payoff in payoffs)]
        if beside and run["windows"]:
            window = run["windows"][run["longest_window"]]
            row += [
                small(window["gap"]),
                _number(window["gap_share"], ".1%"),
                _number(run["whole"]["gap_share"], ".1%"),
                _listed(window["nearest"], MOST_NEAREST),
            ]
        rows.append(row)
    return ["", *(f"u:{player}" for player in players), *beside], rows


def _print_rows(headings: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    """Print a table, or where it does not fit a paragraph for each row."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in headings:
        side: Any = "left" if heading in WORDS else "right"
        table.add_column(printable(heading), justify=side, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    if fits(table, console):
        console.print(table)
        return
    for name, *cells in rows:
        _say(name, console, "bold")
        pairs = zip(headings[1:], cells, strict=False)
        facts = ", ".join(f"{heading} {cell}" for heading, cell in pairs if cell)
        console.print(Padding(Text(printable(facts)), (0, 0, 0, 2)))


def _agreements(value: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each published solution the times over which payoffs of runs are its payoffs.

    None for those whose payoffs are all 0, which have no share.
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
    """Windows as stretches of time, those that follow on each other as one."""
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


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))


def _note(text: str, console: Console) -> None:
    _say(text, console, "dim")
