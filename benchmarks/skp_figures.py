"""Figures 2 to 4 of Billingham 2018: regularized branches of SKP beside its exact solution.

Symbols in shapes: K pots, N players, V frequencies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from branches import follow, prepared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eqbench.model.tree import FloatArray
    from eqbench.studies.branch import Branch

ENDS, EPSILONS = (2.0, 6.0), (1e-2, 1e-3, 1e-4, 1e-6)
CLOSE_UP = (3.8, 4.45)
# At these pots all equilibria have the same payoffs.
ERROR_POTS, ERROR_EPSILONS = (2.5, 3.2, 3.6, 5.5), tuple(10.0**-k for k in range(3, 10))
SAMPLES, INSIDE = 25, 1e-9
LONGEST_STEP = 0.03


class ExactSet(NamedTuple):
    """A published set along the pot: what its members have at least and at most.

    Attributes
    ----------
    pots : float64 (K,)
    low, high : float64 (K, N + V)
        Payoffs, then frequencies.
    """

    pots: FloatArray
    low: FloatArray
    high: FloatArray

    def bounds(self, column: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Curves of the least and the greatest value; one if they are the same."""
        import numpy as np

        low, high = self.low[:, column], self.high[:, column]
        if len(self.pots) == 1:
            yield np.repeat(self.pots, 2), np.array([low[0], high[0]])
            return
        yield self.pots, low
        if np.abs(high - low).max() > INSIDE:
            yield self.pots, high


def draw_skp(save: Callable[[Figure, str], None]) -> None:
    """Draw all figures of SKP; `save` is given each of them with its name."""
    import numpy as np

    from eqbench.plots.branches import Curve, Window, payoff_figure
    from eqbench.registry import load_game

    game = load_game("skp")
    branches = {
        f"eps = {epsilon:g}": follow(game, ENDS, epsilon, longest=LONGEST_STEP).branch(game)
        for epsilon in EPSILONS
    }
    exact = list(exact_sets(game))
    shown = [
        Curve(pots, np.column_stack([first] * game.tree.n_players))
        for found in exact
        for pots, first in found.bounds(0)
    ]
    window = Window(*CLOSE_UP)
    save(payoff_figure(branches, exact=shown, windows=[window], players=[0]), "fig02_skp_payoff")
    save(frequency_figure(branches, exact, ["a1"], CLOSE_UP), "fig03_skp_frequency")
    finest = dict(list(branches.items())[-1:])
    save(frequency_figure(finest, exact, ["c1", "d2"]), "fig04_skp_calls")
    save(error_figure(game), "skp_error")


def published() -> Mapping[str, Any]:
    """The published solution of SKP: variables and sets."""
    file = resources.files("eqbench.equilibria") / "data" / "skp.json"
    return json.loads(file.read_text(encoding="utf-8"))[0]


def exact_sets(game: Any) -> Iterator[ExactSet]:
    """All published sets within `ENDS`, sampled along the pot."""
    import numpy as np

    from eqbench.equilibria.expressions import evaluate

    for entry in published()["sets"]:
        first = float(evaluate(entry["from"], {}, exact=False))
        last = ENDS[1] if entry["to"] == "oo" else float(evaluate(entry["to"], {}, exact=False))
        pots = [first]
        if first < last:  # ends may be irrational
            pots = np.linspace(first + INSIDE, last - INSIDE, SAMPLES).tolist()
        rows = [members(game.at(pot=Fraction(repr(pot))), entry["name"]) for pot in pots]
        low = np.array([np.min(row, axis=0) for row in rows])
        high = np.array([np.max(row, axis=0) for row in rows])
        yield ExactSet(np.array(pots), low, high)


def members(game: Any, name: str) -> list[FloatArray]:
    """Payoffs and frequencies (N + V,) at the corners of a set, or at a member of it."""
    import numpy as np

    from eqbench.equilibria.corners import corner_parameters
    from eqbench.equilibria.expressions import IrrationalError
    from eqbench.equilibria.known import some_member
    from eqbench.equilibria.reference import published_sets

    found = []
    for known in published_sets(game):
        if known.name == name:
            try:
                chosen = [np.array(corner, dtype=float) for corner in corner_parameters(known)]
            except IrrationalError:
                chosen = []
            for parameters in chosen or [some_member(known)]:
                payoffs = known.payoffs_near(parameters)
                found.append(np.concatenate((payoffs, known.frequencies(parameters))))
    return found


def frequency_figure(
    branches: Mapping[str, Branch],
    exact: Sequence[ExactSet],
    names: Sequence[str],
    close_up: tuple[float, float] | None = None,
) -> Figure:
    """Published frequencies against the pot, a row each; beside it a close-up if one is given."""
    from eqbench.plots.style import LABEL_SIZE, add_legend, label_axes, new_figure, ordered_colors
    from eqbench.report.svg import INK
    from eqbench.studies.branch import columns

    variables = published()["variables"]
    (tree,) = {branch.game.tree for branch in branches.values()}
    labels = columns(tree)
    before = len(labels) - next(iter(branches.values())).free.shape[1]
    figure = new_figure(7.2 + 3.0 * bool(close_up), 0.6 + 2.7 * len(names))
    widths = [2.2, 1.0] if close_up else [1.0]
    grid = figure.subplots(
        len(names), len(widths), squeeze=False, sharex="col", width_ratios=widths
    )
    for axes, name in zip(grid, names, strict=True):
        column = labels.index(variables[name]) - before
        place = tree.n_players + list(variables).index(name)
        for ax in axes:
            # the last one is light, so that the exact curve can be seen on it
            colors = ordered_colors(len(EPSILONS))[-len(branches) :]
            for color, (label, branch) in zip(colors, branches.items(), strict=True):
                ax.plot(branch.values, branch.free[:, column], color=color, lw=1.2, label=label)
            for number, curve in enumerate(c for found in exact for c in found.bounds(place)):
                label = "" if number else "exact"
                ax.plot(*curve, "--", color=INK, linewidth=1.2, label=label)
            label_axes(ax, "", "")
        axes[0].set_ylabel(f"{name} = {variables[name]}", fontsize=LABEL_SIZE)
        if close_up:
            axes[1].set_xlim(close_up)
    for ax in grid[-1]:
        ax.set_xlabel("pot", fontsize=LABEL_SIZE)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure


def error_figure(game: Any) -> Figure:
    """How far expectations are from the exact ones, against eps at some pots."""
    import numpy as np

    from eqbench.equilibria.known import some_member
    from eqbench.equilibria.reference import published_sets
    from eqbench.plots.style import log_log_figure

    series = {}
    for pot in ERROR_POTS:
        (known,) = published_sets(game.at(pot=Fraction(repr(pot))))
        exact, model = known.payoffs_near(some_member(known)), game.payoff_model().at(pot)
        errors = []
        for epsilon in ERROR_EPSILONS:
            point = prepared(game, epsilon).continuation(game).start(pot)
            errors.append(float(np.abs(model.expected_payoffs(point.behavior) - exact).max()))
        series[f"pot {pot:g}"] = (ERROR_EPSILONS, errors)
    return log_log_figure(series, x_label="eps", y_label="largest error of an expectation")
