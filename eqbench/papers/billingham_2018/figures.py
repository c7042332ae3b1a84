"""Ours of the paper's figures, drawn from stored branches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria.kuhn_ranges import NODES
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.papers.billingham_2018.branches import load_branch
from eqbench.papers.billingham_2018.compute import SMALL_DECKS, kuhn
from eqbench.papers.billingham_2018.skp import EPSILONS, exact_curves, places
from eqbench.plots.branches import Curve, Window, crossing_figure, payoff_figure
from eqbench.plots.kuhn import bar_figure
from eqbench.plots.style import add_legend, label_axes, log_log_figure, new_figure, save_figure
from eqbench.registry import load_game
from eqbench.report.svg import COLORS, GRAY
from eqbench.studies.branch import Branch, columns, read_points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Longer lines become pictures inside the SVG, which would be megabytes otherwise.
_MOST_POINTS = 2500
_SKP_JOBS = ("skp_1e_2", "skp_1e_3", "skp_1e_4", "skp_1e_6")
_BARS_POT = 9


def figures(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Draw all figures but those of 26 and 52 cards; the names of the files."""
    exact, limits = (_summary(jobs, name) for name in ("skp_exact", "limits"))
    game = load_game("skp")
    skp = {
        _strength(jobs, name): read_points(game, jobs / name / "points.csv") for name in _SKP_JOBS
    }
    errors = {
        f"pot {entry['pot']:g}": (EPSILONS, entry["errors"])
        for entry in exact["errors"]
        if entry["kind"] == "log"
    }
    close_up = [Window(3.8, 4.45)]
    made = {
        "tree": _tree(),
        "fig01": _responses(limits["responses"]),
        "fig02": _beside(skp, exact["exact"], ["u1"], windows=close_up),
        "fig03": _beside(skp, exact["exact"], ["a1"], windows=close_up),
        "fig04": _beside(dict(list(skp.items())[-1:]), exact["exact"], ["c1", "d2"]),
        "errors": log_log_figure(errors, x_label="eps", y_label="largest error of an expectation"),
        "fig05": _payoffs(jobs, [10], windows=[Window(3.4, 3.6, 0.0445, 0.0595)]),
        "fig10": _bars(jobs),
        "fig11": _payoffs(jobs, SMALL_DECKS),
        "fig12": _payoffs(jobs, [9], windows=[Window(7.4, 7.5)], players=[2]),
        "counts": crossing_figure(_named(jobs, SMALL_DECKS)),
    }
    return _saved(made, folder)


def large_figures(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Draw the figures of many cards; the names of the files."""
    made = {
        "fig13": _payoffs(jobs, (13, 26, 52)),
        "fig14": _payoffs(jobs, [26], windows=[Window(4.8, 5.2, 0.0455, 0.0525)]),
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


def _payoffs(jobs: Path, decks: Sequence[int], **shown: Any) -> Figure:
    """Expectations of some decks."""
    return payoff_figure(_named(jobs, decks), folds=len(decks) == 1, **shown)


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


def _beside(
    branches: Mapping[str, Branch], exact: list[dict[str, Any]], names: Sequence[str], **shown: Any
) -> Figure:
    """Regularized payoffs or frequencies, of players 1 and 2 in turn, beside the published ones."""
    found = {}
    for label, branch in branches.items():
        table = np.column_stack((branch.values, branch.arclength, branch.payoffs, branch.free))
        chosen = [columns(branch.game.tree).index(places()[name]) for name in names]
        drawn = np.zeros_like(branch.payoffs)
        drawn[:, : len(names)] = table[:, chosen]
        found[label] = replace(branch, payoffs=drawn)
    together = zip(*(exact_curves(exact, name) for name in names), strict=True)
    curves = [Curve(c[0][0], np.column_stack([values for _, values in c])) for c in together]
    players = list(range(len(names)))
    figure = payoff_figure(found, exact=curves, players=players, **shown)
    figure.axes[0].set_ylabel(", ".join(f"{name} = {places()[name]}" for name in names))
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
