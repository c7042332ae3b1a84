"""Figures 7 to 15 of Billingham 2017: replicator dynamics of simplified three-player Kuhn poker.

    python benchmarks/skp_ode_figures.py                      # all of them
    python benchmarks/skp_ode_figures.py figure_07 figure_15  # some
    python benchmarks/skp_ode_figures.py --pot 4.9            # orbits, series and profits there

Starts are random, as in ``eqbench simulate``: log-odds are normal, seeds 0 to 2 (0 to 4 for the
regimes). The paper does not give its starts. Late parts of chaotic trajectories depend on rounding,
and so on the integrator that is installed. The strip in Figure 7 has the colors of the paper's own
Figure 7, with the words of its sections 4.2.1 to 4.7.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring import use_one_thread

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from eqbench.dynamics import Flow
    from eqbench.model.game import Game
    from eqbench.studies.flow.points import SimulatedRun

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "figures" / "billingham_2017"
LARGEST = 600_000  # bytes
SPACING = 0.1
STARTS, REGIME_STARTS = 3, 5
ENDS, STEPS, EVERY = (2.0, 6.0), 401, 16  # bars of sets at each step, regimes at every 16th
P3, P8 = (3 + math.sqrt(97)) / 4, (7 + math.sqrt(105)) / 4
PERIODIC, CHAOTIC, CLOSE = "periodic", "chaotic transient", "close to periodic"
PAPER_COLORS = {PERIODIC: "#2e9e5b", CHAOTIC: "#ffffff", CLOSE: "#3b82c4"}
PAPER_RANGES = (
    *((2.0, 3.0, PERIODIC), (3.0, P3, CHAOTIC), (P3, 3.5, CLOSE)),
    *((3.5, 4.0, PERIODIC), (4.0, P8, CHAOTIC), (P8, ENDS[1], CLOSE)),
)


def main() -> None:
    """Draw the figures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="beginnings of names; all figures unless given")
    parser.add_argument("--pot", type=float, help="draw all kinds at this pot instead")
    parser.add_argument("--time", type=float, default=3000.0, help="how far, with --pot")
    options = parser.parse_args()
    use_one_thread()
    FOLDER.mkdir(parents=True, exist_ok=True)
    figures = FIGURES if options.pot is None else figures_at(options.pot, options.time)
    for name, draw in figures.items():
        if not options.names or any(name.startswith(start) for start in options.names):
            save(draw(), name)


def save(figure: Figure, name: str) -> None:
    """Write a figure as SVG and say how large it is."""
    from eqbench.plots.style import save_figure

    file = FOLDER / f"{name}.svg"
    save_figure(figure, file)
    size = file.stat().st_size
    print(f"{file.name}: {size / 1000:,.0f} kB", flush=True)
    if size > LARGEST:
        raise SystemExit(f"{file.name} is larger than {LARGEST / 1000:,.0f} kB; draw less of it")


def skp(pot: float) -> Game:
    """The game at a pot."""
    from eqbench.registry import load_game

    return load_game("skp").at(pot=pot)


def followed(game: Game, time: float, starts: int) -> list[SimulatedRun]:
    """Trajectories from so many random starts."""
    import numpy as np

    from eqbench.registry import load_solver
    from eqbench.studies.flow.points import SimulatedRun

    solver = load_solver("replicator")
    solver.prepare(game)
    flow = solver.flow(game)
    times = np.linspace(0.0, time, round(time / SPACING) + 1)
    runs = []
    for seed in range(starts):
        state = np.random.default_rng(seed).normal(size=flow.choices.size)
        path = flow.integrate(state, times)
        behavior, payoffs = flow.behavior(path.states), flow.payoffs(path.states)
        runs.append(SimulatedRun(f"seed {seed}", path.times, behavior, payoffs, path.profits))
    return runs


def orbits(pot: float, time: float, pairs: tuple[tuple[str, str], ...] = ()) -> Figure:
    """Late orbits in planes of two frequencies."""
    from eqbench.plots.flow import phase_figure, planes_of

    game = skp(pot)
    runs = followed(game, time, STARTS)
    return phase_figure(game, runs, planes_of(game, runs, pairs))


def series(pot: float, time: float, starts: int = STARTS) -> Figure:
    """Time series of what moves."""
    from eqbench.plots.flow import series_figure

    game = skp(pot)
    return series_figure(game, followed(game, time, starts))


def profits(pot: float, time: float) -> Figure:
    """Profits beside those of published equilibria."""
    from eqbench.plots.flow import profit_figure

    game = skp(pot)
    return profit_figure(game, followed(game, time, STARTS))


def regimes() -> Figure:
    """Stability of all solutions, and regimes, along the pot."""
    import numpy as np

    from eqbench.plots.stability import Published, regime_diagram
    from eqbench.registry import load_solver
    from eqbench.studies.flow.rest_points import verdicts

    solver = load_solver("replicator")
    entries: list[dict[str, Any]] = []
    words: dict[float, Counter[str]] = {}
    for place, pot in enumerate(np.round(np.linspace(*ENDS, STEPS), 9).tolist()):
        game = skp(pot)
        flow = solver.flow(game)
        entries += [verdict.to_json() for verdict in verdicts(game, flow, samples=0)]
        if place % EVERY == 2:  # so that no set begins or ends there
            words[pot] = Counter(regime(flow, seed) for seed in range(REGIME_STARTS))
            print(f"pot {pot:g}: {dict(words[pot])}", flush=True)
    published = Published("Billingham 2017", PAPER_RANGES, PAPER_COLORS)
    return regime_diagram(entries, words, "pot", title="skp", published=published)


def regime(flow: Flow, seed: int) -> str:
    """The regime from a random start."""
    import numpy as np

    from eqbench.studies.flow.regimes import classify
    from eqbench.studies.requests import HORIZON, SPACING

    rng = np.random.default_rng(seed)
    state, tangent = rng.normal(size=(2, flow.choices.size))
    times = np.linspace(0.0, HORIZON, round(HORIZON / SPACING) + 1)
    path = flow.integrate(state, times, tangent=tangent / np.linalg.norm(tangent))
    return classify(flow, path).word


def figures_at(pot: float, time: float) -> dict[str, Callable[[], Figure]]:
    """All kinds of figures at one pot, by name."""
    return {
        f"pot_{pot:g}_phase": partial(orbits, pot, time),
        f"pot_{pot:g}_series": partial(series, pot, time),
        f"pot_{pot:g}_profits": partial(profits, pot, time),
    }


FIGURES: dict[str, Callable[[], Figure]] = {
    "figure_07": regimes,
    "figure_08": partial(orbits, 2.5, 1000.0),
    "figure_09": partial(series, 3.1, 3000.0),
    "figure_10": partial(orbits, 3.35, 1000.0),
    "figure_11": partial(series, 3.35, 1000.0, 1),
    "figure_12": partial(orbits, 3.75, 1000.0),
    "figure_13": partial(series, 4.15, 3000.0),
    "figure_14": partial(orbits, 4.65, 1000.0),
    "figure_15": partial(profits, 3.1, 3000.0),
}

if __name__ == "__main__":
    main()
