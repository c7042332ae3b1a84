"""Ours of the paper's figures, drawn from stored branches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.model.builder import TreeBuilder
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.papers.billingham_2018.branches import load_branch
from eqbench.papers.billingham_2018.compute import SMALL_DECKS, kuhn
from eqbench.papers.billingham_2018.skp import EPSILONS, exact_curves, places
from eqbench.papers.records import Table
from eqbench.papers.stored import Stored
from eqbench.plots.branches import crossing_figure, payoff_figure
from eqbench.plots.kuhn import bar_figure
from eqbench.plots.style import Figure, Panel, dots, draw_figure, log_log_figure, save_figure
from eqbench.registry import load_game
from eqbench.report import COLORS
from eqbench.report.tree_drawing import draw_tree
from eqbench.studies.branch import Branch, columns, read_points
from eqbench.studies.kuhn_ranges import NODES

# Longer lines become pictures inside the SVG, which would be megabytes otherwise.
_MOST_POINTS = 2500
_BARS_POT = 9
_MOVES = {"K": "check", "B": "bet", "F": "fold", "C": "call"}


def figures(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Draw all figures but those of 26 and 52 cards; the names of the files."""
    stored, game = Stored(jobs, full=full), load_game("skp")
    exact = stored["skp_exact"].summary
    paths = {f"eps = 1e-{k}": jobs / f"skp_1e_{k}" / "points.csv" for k in (2, 3, 4, 6)}
    skp = {strength: read_points(game, path) for strength, path in paths.items()}
    errors = {pot: (EPSILONS, found) for pot, found in exact["errors"]["log"].items()}
    close_up = [(3.8, 4.45)]
    made = {
        "fig01": _responses(stored["limits"].summary["responses"]),
        "fig02": _with_published(skp, exact["exact"], ["u1"], windows=close_up),
        "fig03": _with_published(skp, exact["exact"], ["a1"], windows=close_up),
        "fig04": _with_published(dict(list(skp.items())[-1:]), exact["exact"], ["c1", "d2"]),
        "errors": log_log_figure(errors, x_label="eps", y_label="largest error of an expectation"),
        "fig05": _payoffs(stored, [10], windows=[(3.4, 3.6, 0.0445, 0.0595)]),
        "fig10": _bars(stored),
        "fig11": _payoffs(stored, SMALL_DECKS),
        "fig12": _payoffs(stored, [9], windows=[(7.4, 7.5)], players=[2]),
        "counts": crossing_figure(_named(stored, SMALL_DECKS)),
    }
    return _saved(made, folder)


def large_figures(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Draw the figures of many cards; the names of the files."""
    stored = Stored(jobs, full=full)
    made = {
        "fig13": _payoffs(stored, (13, 26, 52)),
        "fig14": _payoffs(stored, [26], windows=[(4.8, 5.2, 0.0455, 0.0525)]),
    }
    return _saved(made, folder)


def _saved(made: Mapping[str, Figure], folder: Path) -> Table:
    for name, figure in made.items():
        for ax in figure.axes:
            for line in ax.lines:
                line.set_rasterized(len(np.asarray(line.get_xdata())) > _MOST_POINTS)
        save_figure(figure, folder / f"{name}.svg")
    return {"files": [f"{name}.svg" for name in made]}


def _named(stored: Stored, decks: Iterable[int]) -> dict[str, Branch]:
    """Branches by the names that figures show."""
    found = {}
    for cards in decks:
        strength = f"eps = {stored[f'n{cards}'].summary['epsilon']:.0e}".replace("e-0", "e-")
        found[f"N = {cards}, {strength}"] = load_branch(stored.path, cards)
    return found


def _payoffs(stored: Stored, decks: Sequence[int], **shown: Any) -> Figure:
    """Expectations of some decks."""
    return payoff_figure(_named(stored, decks), folds=len(decks) == 1, **shown)


def _bars(stored: Stored) -> Figure:
    """An equilibrium of 13 cards with two-way bets."""
    job, tree = stored["n13"], load_game(kuhn(13)).tree
    (entry,) = [entry for entry in job.summary["at"] if entry["parameter"] == _BARS_POT]
    item = entry["equilibria"][0]
    behavior = profile_from_json(tree, read_profile(str(job.path / item["profile"]))).probabilities
    regret = abs(item["max_regret"])
    heading = f"13 cards, pot {_BARS_POT}: an equilibrium, max regret {regret:.0e}"
    return bar_figure(tree, behavior, title=heading)


def _responses(responses: Mapping[str, Sequence[Any]]) -> Figure:
    """Frequencies against scaled gains at solutions: the graphs of three response functions."""
    clouds = [
        dots(x, b, color, kind, marker=".")
        for color, (kind, (x, b)) in zip(COLORS, responses.items(), strict=False)
    ]
    panel = Panel(clouds, "u / eps", "frequency b", settings={"xlim": (-12, 12)})
    return draw_figure([panel], 6.4, 3.6)


def _with_published(
    branches: Mapping[str, Branch], exact: Table, names: Sequence[str], **shown: Any
) -> Figure:
    """Regularized payoffs or frequencies, of players 1 and 2 in turn, with the published ones."""
    found = {}
    for label, branch in branches.items():
        chosen = [columns(branch.game.tree).index(places()[name]) for name in names]
        found[label] = replace(branch, payoffs=branch.table[:, chosen])
    together = zip(*(exact_curves(exact, name) for name in names), strict=True)
    curves = [(c[0][:, 0], np.column_stack([curve[:, 1] for curve in c])) for c in together]
    figure = payoff_figure(found, exact=curves, players=range(len(names)), **shown)
    figure.axes[0].set_ylabel(", ".join(f"{name} = {places()[name]}" for name in names))
    return figure


def tree(stored: Stored) -> str:
    """What can happen after the deal: twelve decision nodes, thirteen ends with what was bet."""
    builder, rows = TreeBuilder(["P1", "P2", "P3"]), {n.history: k for k, n in enumerate(NODES)}
    queue: list[tuple[str, Any]] = [("", None)]
    for history, place in queue:
        if history in rows:
            moves, row = "FC" if "B" in history else "KB", rows[history]
            named = [_MOVES[move] for move in moves]
            node = builder.decision(place, NODES[row].player, str(row + 1), named)
            queue += [(history + move, (node, k)) for k, move in enumerate(moves)]
        else:
            paid = [NODES[rows[history[:k]]].player for k, m in enumerate(history) if m in "BC"]
            builder.terminal(place, [-paid.count(player) for player in range(3)])
    return draw_tree(builder.tree(), "three-player Kuhn poker after the deal")
