"""Ours of the paper's figures, drawn from stored branches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria.kuhn_ranges import NODES
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.papers.billingham_2018.compute_branches import load_branch
from eqbench.papers.billingham_2018.drawings_skp import skp_figures
from eqbench.papers.billingham_2018.jobs import DECKS, SMALL_DECKS, kuhn
from eqbench.plots.branches import Window, crossing_figure, payoff_figure
from eqbench.plots.kuhn import bar_figure
from eqbench.plots.style import add_legend, label_axes, log_log_figure, new_figure, save_figure
from eqbench.registry import load_game
from eqbench.report.svg import COLORS, GRAY
from eqbench.studies.branch import Branch

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Longer lines become pictures inside the SVG, which would be megabytes otherwise.
MOST_POINTS = 2500
BARS_POT = "9"


def figures(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Draw all figures but those of 26 and 52 cards; the names of the files."""
    branches = {cards: load_branch(jobs, cards) for cards in SMALL_DECKS}
    made = {
        "tree": _tree_figure(),
        "fig01": _response_figure(_summary(jobs, "limits")),
        **skp_figures(jobs, _summary(jobs, "skp_exact")["exact"]),
        "errors": _error_figure(_summary(jobs, "skp_exact")["errors"]),
        "fig05": _payoffs(branches, [10], [(3.4, 3.6, 0.0445, 0.0595)]),
        "fig10": _bars(jobs),
        "fig11": _payoffs(branches, SMALL_DECKS),
        "fig12": _payoffs(branches, [9], [(7.4, 7.5)], [2]),
        "counts": crossing_figure(_named(branches)),
    }
    return _saved(made, folder)


def large_figures(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Draw the figures of many cards; the names of the files."""
    branches = {cards: load_branch(jobs, cards) for cards in (13, 26, 52)}
    made = {
        "fig13": _payoffs(branches, branches),
        "fig14": _payoffs(branches, [26], [(4.8, 5.2, 0.0455, 0.0525)]),
    }
    return _saved(made, folder)


def _saved(made: Mapping[str, Figure], folder: Path) -> dict[str, Any]:
    for name, figure in made.items():
        for ax in figure.axes:
            for line in ax.lines:
                line.set_rasterized(len(np.asarray(line.get_xdata())) > MOST_POINTS)
        save_figure(figure, folder / f"{name}.svg")
    return {"files": [f"{name}.svg" for name in made]}


def _summary(jobs: Path, name: str) -> Any:
    return json.loads(read_file(jobs / name / "summary.json"))


def _named(branches: Mapping[int, Branch]) -> dict[str, Branch]:
    return {f"N = {cards}, eps = {DECKS[cards].epsilon}": b for cards, b in branches.items()}


def _payoffs(
    branches: Mapping[int, Branch],
    decks: Iterable[int],
    windows: Iterable[tuple[float, ...]] = (),
    players: list[int] | None = None,
) -> Figure:
    """Expectations of some decks with close-ups."""
    shown = _named({cards: branches[cards] for cards in decks})
    close_ups = [Window(*window) for window in windows]
    return payoff_figure(shown, windows=close_ups, players=players, folds=len(shown) == 1)


def _bars(jobs: Path) -> Figure:
    """An equilibrium of 13 cards with two-way bets."""
    summary = _summary(jobs, "n13")
    (entry,) = [e for e in summary["at"] if e["parameter"] == float(BARS_POT)]
    item, tree = entry["equilibria"][0], load_game(kuhn(13)).tree
    text = read_file(jobs / "n13" / item["profile"], MOST_PROFILE_BYTES)
    behavior = profile_from_json(tree, parse_profile(text)).probabilities
    heading = f"13 cards, pot {BARS_POT}: an equilibrium, max regret {abs(item['max_regret']):.0e}"
    return bar_figure(tree, behavior, title=heading)


def _response_figure(limits: dict[str, Any]) -> Figure:
    """Frequencies against scaled gains at solutions: the graphs of three response functions."""
    figure = new_figure(6.4, 3.6)
    ax = figure.subplots()
    label_axes(ax, "u / eps", "frequency b")
    for color, entry in zip(COLORS, limits["responses"], strict=False):
        ax.plot(entry["x"], entry["b"], ".", markersize=4, color=color, label=entry["kind"])
    ax.set_xlim(-12, 12)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    return figure


def _error_figure(errors: list[dict[str, Any]]) -> Figure:
    """Largest error of an expectation against eps at some pots, for the logarithmic barrier."""
    from eqbench.papers.billingham_2018.compute_skp import EPSILONS

    series = {
        f"pot {entry['pot']:g}": (EPSILONS, entry["errors"])
        for entry in errors
        if entry["kind"] == "log"
    }
    return log_log_figure(series, x_label="eps", y_label="largest error of an expectation")


def _tree_figure() -> Figure:
    """What can happen after the deal: twelve decision nodes, thirteen outcomes."""
    figure = new_figure(9.6, 5.2)
    ax = figure.subplots()
    ax.set_axis_off()
    places: dict[str, tuple[float, int]] = {}
    leaves = 0

    def place(history: str) -> float:
        nonlocal leaves
        number = _node(history)
        if number is None:
            x = float(leaves)
            leaves += 1
        else:
            x = sum(place(history + letter) for letter in _letters(history)) / 2
        places[history] = (x, -len(history))
        return x

    place("")
    style: dict[str, Any] = {"ha": "center", "va": "center"}
    for history, (x, y) in places.items():
        if history:
            before = places[history[:-1]]
            ax.plot([before[0], x], [before[1], y], color=GRAY, linewidth=0.8, zorder=1)
            middle = ((before[0] + x) / 2, (before[1] + y) / 2)
            ax.text(*middle, history[-1], fontsize=8, backgroundcolor="white", **style)
        number = _node(history)
        if number is not None:
            player = NODES[number].player
            box = {"boxstyle": "circle", "facecolor": COLORS[player], "edgecolor": "none"}
            ax.text(x, y, str(number + 1), color="white", fontsize=9, bbox=box, **style)
        else:
            ax.plot([x], [y], "s", color=GRAY, markersize=4)
    ax.set_title("K check, B bet, F fold, C call; colors: players 1, 2, 3", loc="left", fontsize=9)
    return figure


def _node(history: str) -> int | None:
    """Row of the node with this history, None at the end of a hand."""
    return next((row for row, node in enumerate(NODES) if node.history == history), None)


def _letters(history: str) -> str:
    return "FC" if "B" in history else "KB"
