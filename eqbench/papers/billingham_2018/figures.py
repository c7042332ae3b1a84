"""Ours of the paper's figures, drawn from stored branches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.documents import read_file
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.papers.billingham_2018.branches import load_branch
from eqbench.papers.billingham_2018.compute import SMALL_DECKS, kuhn
from eqbench.papers.billingham_2018.skp import EPSILONS, exact_curves, places
from eqbench.plots.branches import Curve, Window, crossing_figure, payoff_figure
from eqbench.plots.kuhn import NODES, bar_figure
from eqbench.plots.style import (
    LABEL_SIZE,
    add_legend,
    label_axes,
    log_log_figure,
    new_figure,
    ordered_colors,
    save_figure,
)
from eqbench.registry import load_game
from eqbench.report.svg import COLORS, GRAY, INK
from eqbench.studies.branch import Branch, columns, read_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Longer lines become pictures inside the SVG, which would be megabytes otherwise.
_MOST_POINTS = 2500
_SKP_JOBS = ("skp_1e_2", "skp_1e_3", "skp_1e_4", "skp_1e_6")
_CLOSE_UP = (3.8, 4.45)
_BARS_POT = 9


def figures(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Draw all figures but those of 26 and 52 cards; the names of the files."""
    exact, limits = (_summary(jobs, name) for name in ("skp_exact", "limits"))
    game = load_game("skp")
    skp = {
        _strength(jobs, name): read_points(game, jobs / name / "points.csv") for name in _SKP_JOBS
    }
    curves = [
        Curve(pots, np.column_stack([values] * 3))
        for pots, values in exact_curves(exact["exact"], "u1")
    ]
    errors = {
        f"pot {entry['pot']:g}": (EPSILONS, entry["errors"])
        for entry in exact["errors"]
        if entry["kind"] == "log"
    }
    made = {
        "tree": _tree(),
        "fig01": _responses(limits["responses"]),
        "fig02": payoff_figure(skp, exact=curves, windows=[Window(*_CLOSE_UP)], players=[0]),
        "fig03": _frequencies(skp, exact["exact"], ["a1"], _CLOSE_UP),
        "fig04": _frequencies(dict(list(skp.items())[-1:]), exact["exact"], ["c1", "d2"]),
        "errors": log_log_figure(errors, x_label="eps", y_label="largest error of an expectation"),
        "fig05": _payoffs(jobs, [10], [Window(3.4, 3.6, 0.0445, 0.0595)]),
        "fig10": _bars(jobs),
        "fig11": _payoffs(jobs, SMALL_DECKS),
        "fig12": _payoffs(jobs, [9], [Window(7.4, 7.5)], [2]),
        "counts": crossing_figure(_named(jobs, SMALL_DECKS)),
    }
    return _saved(made, folder)


def large_figures(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Draw the figures of many cards; the names of the files."""
    made = {
        "fig13": _payoffs(jobs, (13, 26, 52)),
        "fig14": _payoffs(jobs, [26], [Window(4.8, 5.2, 0.0455, 0.0525)]),
    }
    return _saved(made, folder)


def _saved(made: Mapping[str, Figure], folder: Path) -> dict[str, Any]:
    for name, figure in made.items():
        for ax in figure.axes:
            for line in ax.lines:
                line.set_rasterized(len(np.asarray(line.get_xdata())) > _MOST_POINTS)
        save_figure(figure, folder / f"{name}.svg")
    return {"files": [f"{name}.svg" for name in made]}


def _summary(jobs: Path, name: str) -> Any:
    return json.loads(read_file(jobs / name / "summary.json"))


def _strength(jobs: Path, name: str) -> str:
    return f"eps = {_summary(jobs, name)['epsilon']:.0e}".replace("e-0", "e-")


def _named(jobs: Path, decks: Iterable[int]) -> dict[str, Branch]:
    """Branches by the names that figures show."""
    return {
        f"N = {cards}, {_strength(jobs, f'n{cards}')}": load_branch(jobs, cards) for cards in decks
    }


def _payoffs(
    jobs: Path,
    decks: Iterable[int],
    windows: Sequence[Window] = (),
    players: list[int] | None = None,
) -> Figure:
    """Expectations of some decks with close-ups."""
    shown = _named(jobs, decks)
    return payoff_figure(shown, windows=windows, players=players, folds=len(shown) == 1)


def _bars(jobs: Path) -> Figure:
    """An equilibrium of 13 cards with two-way bets."""
    (entry,) = [e for e in _summary(jobs, "n13")["at"] if e["parameter"] == _BARS_POT]
    item, tree = entry["equilibria"][0], load_game(kuhn(13)).tree
    text = read_file(jobs / "n13" / item["profile"], MOST_PROFILE_BYTES)
    behavior = profile_from_json(tree, parse_profile(text)).probabilities
    regret = abs(item["max_regret"])
    heading = f"13 cards, pot {_BARS_POT}: an equilibrium, max regret {regret:.0e}"
    return bar_figure(tree, behavior, title=heading)


def _responses(responses: list[dict[str, Any]]) -> Figure:
    """Frequencies against scaled gains at solutions: the graphs of three response functions."""
    figure = new_figure(6.4, 3.6)
    ax = figure.subplots()
    label_axes(ax, "u / eps", "frequency b")
    for color, entry in zip(COLORS, responses, strict=False):
        ax.plot(entry["x"], entry["b"], ".", markersize=4, color=color, label=entry["kind"])
    ax.set_xlim(-12, 12)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    return figure


def _frequencies(
    branches: Mapping[str, Branch],
    exact: list[dict[str, Any]],
    names: Sequence[str],
    close_up: tuple[float, float] | None = None,
) -> Figure:
    """Published frequencies against the pot, a row each; beside it a close-up if one is given."""
    tree = load_game("skp").tree
    figure = new_figure(7.2 + 3.0 * bool(close_up), 0.6 + 2.7 * len(names))
    widths = [2.2, 1.0] if close_up else [1.0]
    grid = figure.subplots(
        len(names), len(widths), squeeze=False, sharex="col", width_ratios=widths
    )
    for axes, name in zip(grid, names, strict=True):
        place = places()[name]
        column = columns(tree).index(place) - 2 - tree.n_players
        for ax in axes:
            # the last one is light, so that the exact curve can be seen on it
            colors = ordered_colors(len(_SKP_JOBS))[-len(branches) :]
            for color, (label, branch) in zip(colors, branches.items(), strict=True):
                ax.plot(branch.values, branch.free[:, column], color=color, lw=1.2, label=label)
            for number, curve in enumerate(exact_curves(exact, name)):
                label = "" if number else "exact"
                ax.plot(*curve, "--", color=INK, linewidth=1.2, label=label)
            label_axes(ax, "pot" if name == names[-1] else "", "")
        axes[0].set_ylabel(f"{name} = {place}", fontsize=LABEL_SIZE)
        if close_up:
            axes[1].set_xlim(close_up)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure


def _tree() -> Figure:
    """What can happen after the deal: twelve decision nodes, thirteen outcomes."""
    figure = new_figure(9.6, 5.2)
    ax = figure.subplots()
    ax.set_axis_off()
    row_of = {node.history: row for row, node in enumerate(NODES)}
    leaves = iter(range(2 * len(NODES)))
    style: dict[str, Any] = {"ha": "center", "va": "center"}

    def draw(history: str) -> tuple[float, float]:
        """Draw what is below a node, then itself; its place."""
        if history not in row_of:
            leaf = next(leaves), -len(history)
            ax.plot(*leaf, "s", color=GRAY, markersize=4)
            return leaf
        below = {letter: draw(history + letter) for letter in ("FC" if "B" in history else "KB")}
        x, y = sum(place[0] for place in below.values()) / 2, -len(history)
        for letter, (x_below, y_below) in below.items():
            ax.plot([x, x_below], [y, y_below], color=GRAY, linewidth=0.8, zorder=1)
            middle = ((x + x_below) / 2, (y + y_below) / 2)
            ax.text(*middle, letter, fontsize=8, backgroundcolor="white", **style)
        row = row_of[history]
        box = {"boxstyle": "circle", "facecolor": COLORS[NODES[row].player], "edgecolor": "none"}
        ax.text(x, y, str(row + 1), color="white", fontsize=9, bbox=box, **style)
        return x, y

    draw("")
    ax.set_title("K check, B bet, F fold, C call; colors: players 1, 2, 3", loc="left", fontsize=9)
    return figure
