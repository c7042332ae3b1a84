"""The figure of the reference run: how NashConv falls with time, solver by solver."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

ROUNDING = 1e-16
MARKERS = "os^Dv<>ph"


def draw(run: Path, path: Path) -> None:
    """Draw the anytime curves of all cells of a run; the same run, the same bytes.

    Each ends with the result of its cell. What is below rounding is drawn at the edge.
    """
    from matplotlib import colormaps
    from matplotlib.lines import Line2D

    import eqbench
    from eqbench.plots.style import add_legend, label_axes, new_figure, save_figure, title_figure

    traces, results = eqbench.load_traces(run), eqbench.load_results(run)
    figure = new_figure(8.6, 4.6)
    ax = figure.add_subplot()
    handles = []
    styles = zip(cycle(colormaps["tab10"].colors), cycle(MARKERS), strict=False)
    for cell in results[results["nash_conv"].notna()].itertuples():
        color, marker = next(styles)
        curve = traces[traces["key"] == cell.key]
        x = [*curve["elapsed_s"], cell.elapsed_s]
        y = [max(value, ROUNDING) for value in (*curve["nash_conv"], cell.nash_conv)]
        face = color if cell.status == "ok" else "white"
        style = {"color": color, "marker": marker, "markerfacecolor": face, "markersize": 6}
        ax.plot(x, y, linewidth=1.1, markevery=[len(x) - 1], clip_on=False, **style)
        handles.append(Line2D([], [], label=cell.solver, **style))
    ax.set(xscale="log", yscale="log")
    ax.set_ylim(bottom=ROUNDING)
    label_axes(ax, "seconds of solving", "NashConv (payoff units)")
    add_legend(figure, handles, title="full marker: converged")
    title_figure(figure, "Three-player Kuhn poker: NashConv against time, measured by the verifier")
    save_figure(figure, path)
