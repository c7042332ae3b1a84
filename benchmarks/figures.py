"""Figures of benchmarks, drawn from their raw results."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

from branches import kuhn
from tables import ROOT, expected_best

from eqbench.plots.style import (
    MARKERS,
    SMALL_SIZE,
    add_legend,
    label_axes,
    log_log_figure,
    new_figure,
    player_color,
    sample,
    save_figure,
    title_figure,
)
from eqbench.report.svg import COLORS, GRAY
from eqbench.store.results import load_results

FOLDER = ROOT / "docs" / "figures"
EDGE = 1e-17  # where regrets below rounding are drawn


def best_of_starts(data: Mapping[str, Any]) -> None:
    """Draw the expected best regret against the number of starts, one panel per group."""
    counts = [2**power for power in range(data["starts"].bit_length())]
    figure = new_figure(7.2, 3.6)
    panels = figure.subplots(1, len(data["groups"]), sharey=True)
    for panel, group in zip(panels, data["groups"], strict=True):
        by_solver: dict[str, list[list[float]]] = {}
        for row in group["rows"]:
            by_solver.setdefault(row["solver"].partition("(")[0], []).append(row["max_regrets"])
        for (solver, games), color, marker in zip(by_solver.items(), COLORS, MARKERS, strict=False):
            curve = [expected_best(games, count) for count in counts]
            style = {"color": color, "marker": marker, "markersize": 5, "linewidth": 1}
            panel.plot(counts, curve, label=solver, **style)
        label_axes(panel, "number of random starts k", "", group["title"])
        panel.set_yscale("log")
        panel.set_xscale("log", base=2)
        panel.set_xticks(counts, [str(count) for count in counts])
    label_axes(panels[0], "", "expected best max regret\n(share of the payoff range)")
    add_legend(figure, panels[-1].get_legend_handles_labels()[0])
    iterations = f"{data['iterations']:,} iterations each"
    title_figure(figure, f"Best of k random starts with {iterations}, three players")
    save_figure(figure, FOLDER / "best_of_starts.svg")


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
    figure = new_figure(7.2, 3.8)
    ax = figure.subplots()
    label_axes(ax, "cards", "at one pot, at most")
    series = {
        "points of the branch": [rows[n]["most"] for n in cards],
        "different equilibria": [rows[n]["at"][0]["distinct_payoffs"] for n in cards],
    }
    for (name, counts), color, marker in zip(series.items(), COLORS, MARKERS, strict=False):
        ax.plot(cards, counts, marker=marker, color=color, linewidth=1, markersize=5, label=name)
    known = {int(number): most for number, most in data["paper"].items()}
    style = {"marker": "x", "color": "black", "linestyle": "none", "markersize": 9}
    ax.plot(list(known), list(known.values()), label="Billingham 2018", **style)
    ax.axhline(data["paper_most"], color=GRAY, linewidth=0.8, linestyle="--")
    above = {"xytext": (0, 3), "textcoords": "offset points", "color": GRAY, "fontsize": 8}
    place = (cards[0], data["paper_most"])
    ax.annotate(f"Billingham 2018: up to {data['paper_most']}", place, **above)
    ax.set_ylim(bottom=0)
    ax.set_xticks(cards)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    add_legend(figure, ax.get_legend_handles_labels()[0])
    save_figure(figure, FOLDER / "coexisting.svg")


def nash_conv(run: Path, path: Path) -> None:
    """Draw the anytime curves of all cells of a run; the same run, the same bytes.

    Each ends with the result of its cell. What is below rounding is drawn at the edge.
    """
    from matplotlib import colormaps

    import eqbench

    traces, results = eqbench.load_traces(run), eqbench.load_results(run)
    figure = new_figure(8.6, 4.6)
    ax = figure.add_subplot()
    handles = []
    styles = zip(cycle(colormaps["tab10"].colors), cycle("os^Dv<>ph"), strict=False)
    for cell in results[results["nash_conv"].notna()].itertuples():
        color, marker = next(styles)
        curve = traces[traces["key"] == cell.key]
        x = [*curve["elapsed_s"], cell.elapsed_s]
        y = [max(value, 1e-16) for value in (*curve["nash_conv"], cell.nash_conv)]
        face = color if cell.status == "ok" else "white"
        style = {"color": color, "marker": marker, "markerfacecolor": face, "markersize": 6}
        ax.plot(x, y, linewidth=1.1, markevery=[len(x) - 1], clip_on=False, **style)
        handles.append(sample(cell.solver, **style))
    ax.set(xscale="log", yscale="log")
    ax.set_ylim(bottom=1e-16)
    label_axes(ax, "seconds of solving", "NashConv (payoff units)")
    add_legend(figure, handles, title="full marker: converged")
    title_figure(figure, "Three-player Kuhn poker: NashConv against time, measured by the verifier")
    save_figure(figure, path)


def answer(run: Path, path: Path) -> None:
    """Draw when the solvers of a run ended, at what regret, and which equilibrium they found.

    What met the target is filled. Regrets below rounding are drawn at the edge.
    """
    cells = load_results(run).dropna(subset=["max_regret"]).sort_values("elapsed_s")
    names = sorted(set(cells["equilibrium"].dropna()))
    colors = {name: player_color(place) for place, name in enumerate(names)}
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    ax.set(xscale="log", yscale="log", xlim=(4e-4, 200))
    for cell in cells.itertuples():
        color = colors.get(cell.equilibrium, GRAY)
        place = (cell.elapsed_s, max(cell.max_regret, EDGE))
        is_met = cell.max_regret <= cell.target
        ax.plot(*place, "o", color=color, markersize=7, fillstyle="full" if is_met else "none")
        on_left = len(cell.solver) > 12  # or long names would cover what is beside them
        ax.annotate(
            cell.solver,
            place,
            (-7 if on_left else 7, -3),
            textcoords="offset points",
            ha="right" if on_left else "left",
            fontsize=SMALL_SIZE,
            color=color,
        )
    target = cells["target"].iloc[0]
    ax.axhline(target, color=GRAY, linewidth=0.8, linestyle=":")
    ax.annotate(
        "target", (150, target), (0, 3), textcoords="offset points", ha="right", fontsize=SMALL_SIZE
    )
    label_axes(ax, "seconds of solving", "what a player could still gain")
    title_figure(figure, "Three-player Kuhn poker: how fast, how good, which equilibrium")
    add_legend(
        figure,
        [sample(name, color=color, marker="o", linestyle="") for name, color in colors.items()],
        title="equilibrium found",
    )
    save_figure(figure, path)
