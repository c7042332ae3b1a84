"""Strategies and payoffs against the quantile of the card, for decks of several sizes.

Card k of N stands at (k - 1/2)/N, so that games of different size share one axis; Billingham
2018, §6 asks where they tend to. Symbols in shapes: N cards, A actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
)
from eqbench.studies.kuhn_nodes import NODES, KuhnNodes, node_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def quantiles(cards: int) -> FloatArray:
    """Where the cards stand between 0 and 1, float64 (N,)."""
    return (np.arange(cards) + 0.5) / cards


def card_payoffs(game: Game, behavior: FloatArray) -> FloatArray:
    """Expected payoff of each player with each card, float64 (3, N).

    A player's first decision comes in every hand, at one of their first information sets; so
    these share out the payoff.

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker.
    """
    tree = game.tree
    cards = KuhnNodes.of(tree).cards
    values = behavior * game.payoff_model().counterfactual_values(behavior)
    payoffs = np.zeros((tree.n_players, cards))
    for i in np.flatnonzero(tree.infoset_parent < 0).tolist():
        card = int(tree.infoset_labels[i].partition(":")[0]) - 1
        actions = slice(tree.action_start[i], tree.action_start[i + 1])
        payoffs[tree.infoset_player[i], card] += cards * values[actions].sum()
    return payoffs


def quantile_figure(profiles: Mapping[str, tuple[Game, FloatArray]]) -> Figure:
    """Payoffs by player and frequencies by node against the quantile of the card.

    Parameters
    ----------
    profiles : a game and frequencies float64 (A,), by the name that the legend shows

    Raises
    ------
    UsageError
        If there is no profile, or a game is not three-player Kuhn poker.
    """
    if not profiles:
        raise UsageError("there is no profile to draw; give at least one")
    figure = new_figure(10.5, 10.0)
    grid = figure.subplots(5, 3, sharex=True, sharey="row")
    titles = [f"payoff of P{p + 1}" for p in range(3)] + [node_title(n) for n in range(len(NODES))]
    for ax, title in zip(grid.flat, titles, strict=True):
        label_axes(ax, "", "")
        ax.set_title(title, loc="left", fontsize=LABEL_SIZE)
    colors = ordered_colors(len(profiles))
    for color, (name, (game, behavior)) in zip(colors, profiles.items(), strict=True):
        nodes = KuhnNodes.of(game.tree)
        curves = [*card_payoffs(game, behavior), *nodes.aggression(behavior)]
        style = {"color": color, "marker": ".", "markersize": 3, "linewidth": 0.9, "label": name}
        for ax, curve in zip(grid.flat, curves, strict=True):
            ax.plot(quantiles(nodes.cards), curve, **style)
    for row in grid[1:]:
        row[0].set_ylim(-0.04, 1.04)
        row[0].set_ylabel("frequency", fontsize=LABEL_SIZE)
    grid[0, 0].set_ylabel("payoff", fontsize=LABEL_SIZE)
    figure.supxlabel("quantile of the card", fontsize=LABEL_SIZE)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure
