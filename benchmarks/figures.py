"""Figures of benchmarks, drawn from their raw results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from branches import kuhn
from pages import ROOT
from tables import expected_best

import eqbench
from eqbench.plots.style import (
    MARKERS,
    Panel,
    Series,
    dots,
    draw_figure,
    line,
    log_log_figure,
    note,
    save_figure,
    solver_look,
)
from eqbench.report import COLORS, GRAY

FOLDER = ROOT / "docs" / "figures"
_THIN = {"markersize": 5, "linewidth": 1}
LOOKS = [{"marker": marker} | _THIN for marker in MARKERS]


def best_of_starts(data: Mapping[str, Any]) -> None:
    """Draw the expected best regret against the number of starts, one panel per group."""
    counts = [2**power for power in range(data["starts"].bit_length())]
    panels = list[Panel]()
    for group in data["groups"]:
        by_solver: dict[str, list[list[float]]] = {}
        for row in group["rows"]:
            by_solver.setdefault(row["solver"].partition("(")[0], []).append(row["max_regrets"])
        series = [
            line(
                counts,
                [expected_best(games, count) for count in counts],
                label=solver,
                **(_THIN | solver_look(solver)),
            )
            for solver, games in by_solver.items()
        ]
        y_label = "" if panels else "expected best max regret\n(share of the payoff range)"
        words = ("number of random starts k", y_label, group["title"])
        panels.append(Panel(series, *words))
    iterations = f"{data['iterations']:,} iterations each"
    title = f"Best of k random starts with {iterations}, three players"
    figure = draw_figure(panels, 7.2, 3.6, len(panels), title=title, sharey=True)
    for ax in figure.axes:
        ax.set_yscale("log")
        ax.set_xscale("log", base=2)
        ax.set_xticks(counts, [str(count) for count in counts])
    save_figure(figure, FOLDER / "best_of_starts.svg")


def last_iterate(data: Mapping[str, Any]) -> None:
    """Draw NashConv of last iterates against iterations on the last game, if there are several."""
    last = [row for row in data["rows"] if row["game"] == data["games"][-1]]
    rows = [row for row in last if len(row["nash_conv"]) > 1]
    series = [
        line(x, found, label=row["solver"], **(_THIN | solver_look(row["solver"])))
        for row in rows
        for found in [row["nash_conv"]]
        for x in [data["iterations"][: len(found)]]
    ]
    scales = {"xscale": "log", "yscale": "log"}
    panel = Panel(series, "iterations", "NashConv of the last iterate", settings=scales)
    save_figure(draw_figure([panel], 7.2, 4.2), FOLDER / "last_iterate.svg")


def arclength_cost(data: Mapping[str, Any]) -> None:
    """Draw the time of a factorization and of whole branches against the number of cards."""
    games = {kuhn(cards): cards for cards in range(4, 53)}
    rows = {games[row["game"]]: row for row in data["branches"] if row["game"] in games}
    whole = {cards: row["cpu_s"] for cards, row in rows.items() if row["epsilon"] == 1e-7}
    each = {cards: row["cpu_s"] / row["factorizations"] for cards, row in rows.items()}
    figure = log_log_figure(
        {
            "one factorization": (list(each), list(each.values())),
            "whole branch": (list(whole), list(whole.values())),
        },
        x_label="cards",
        y_label="CPU time (s)",
    )
    save_figure(figure, FOLDER / "arclength_cost.svg")


def coexisting(data: Mapping[str, Any]) -> None:
    """Draw the numbers of points and of verified equilibria by the number of cards.

    Of each number it is the branch with the smallest eps that went all the way.
    """
    from matplotlib.ticker import MaxNLocator

    rows = {row["cards"]: row for row in data["rows"] if not row["stalled"]}
    cards = sorted(rows)
    known = {int(number): most for number, most in data["paper"].items()}
    counts = {
        "points of the branch": [rows[n]["most"] for n in cards],
        "different equilibria": [rows[n]["at"][0]["distinct_payoffs"] for n in cards],
    }
    series = [
        line(cards, own, color, name, **look)
        for (name, own), color, look in zip(counts.items(), COLORS, LOOKS, strict=False)
    ]
    most, look = data["paper_most"], {"color": GRAY, "linewidth": 0.8, "linestyle": "--"}
    series += [
        dots(list(known), list(known.values()), "black", "Billingham 2018", 9, marker="x"),
        Series("axhline", (most,), look),
        note(f"Billingham 2018: up to {most}", cards[0], most, (0, 3), color=GRAY),
    ]
    settings = {"ylim": (0, None), "xticks": cards}
    figure = draw_figure([Panel(series, "cards", "at one pot, at most", "", settings)], 7.2, 3.8)
    figure.axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    save_figure(figure, FOLDER / "coexisting.svg")


def nash_conv(run: Path, path: Path) -> None:
    """Draw the anytime curves of all cells of a run; the same run, the same bytes.

    Each ends with the result of its cell. What is below rounding is drawn at the edge.
    """
    traces, results = eqbench.load_run(run).frame("traces"), eqbench.load_run(run).frame("cells")
    series = list[Series]()
    for cell in results[results["nash_conv"].notna()].itertuples():
        look = solver_look(cell.solver)
        color = look.pop("color")
        curve = traces[traces["key"] == cell.key]
        x = [*curve["elapsed_s"], cell.elapsed_s]
        y = [max(value, 1e-16) for value in (*curve["nash_conv"], cell.nash_conv)]
        face = color if cell.status == "ok" else "white"
        style = look | {"markerfacecolor": face, "markersize": 6}
        series.append(line(x, y, color, markevery=[len(x) - 1], clip_on=False, **style))
        series.append(line([], [], color, cell.solver, **style))
    settings = {"xscale": "log", "yscale": "log", "ylim": (1e-16, None)}
    panel = Panel(series, "seconds of solving", "NashConv (payoff units)", "", settings)
    title = "Three-player Kuhn poker: NashConv against time, measured by the verifier"
    legend = "full marker: converged"
    save_figure(draw_figure([panel], 8.6, 4.6, title=title, legend=legend), path)
