"""The figures of a stored simulation, as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.dynamics import Dynamics
from eqbench.model.game import Game
from eqbench.studies.figure_style import SUFFIXES, save_figure
from eqbench.studies.regime_diagram import regime_diagram
from eqbench.studies.simulation import POINTS
from eqbench.studies.simulation_phase import phase_figure, planes_of
from eqbench.studies.simulation_points import SimulatedRun, read_points
from eqbench.studies.simulation_profit_figure import profit_figure
from eqbench.studies.simulation_request import SimulationSetting
from eqbench.studies.simulation_series import series_figure
from eqbench.studies.stability_sets import verdicts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_PLANES = "at the end no two that drive each other move, so no orbits are drawn"
VALUES = 121  # of the parameter at which published sets are looked at, beside the simulated ones


def draw_simulation(
    setting: SimulationSetting,
    folder: Path,
    document: Mapping[str, Any],
    pairs: Sequence[tuple[str, str]] = (),
) -> list[Path]:
    """Write orbits, time series and profits as figures, for each value of the parameter.

    If there are several values, a diagram of the regimes along them too. Returns the files.

    Parameters
    ----------
    document : the summary of the simulation
    pairs : names of frequencies whose orbits are drawn; the most strongly coupled ones if none

    Raises
    ------
    UsageError
        If a name is unknown, the points cannot be read, or a file cannot be written.
    """
    runs = {run.name: run for run in read_points(setting.games[0], folder / POINTS)}
    several = len(document["values"]) > 1
    files: list[Path] = []
    for value, game in zip(document["values"], setting.games, strict=False):
        rows = [row for row in document["runs"] if row["parameter"] == value["parameter"]]
        drawn = [
            runs[row["name"]]._replace(name=row["start"])
            for row in rows
            if len(runs[row["name"]].times) > 1
        ]
        suffix = f"-{document['parameter']}-{value['parameter']:g}" if several else ""
        for name, figure in _figures(game, drawn, pairs) if drawn else ():
            files += _saved(figure, folder, f"{name}{suffix}")
    if several:
        entries = _stability(setting, [value["parameter"] for value in document["values"]])
        figure = regime_diagram(
            entries, _words(document), document["parameter"], title=setting.request.game
        )
        files += _saved(figure, folder, "regimes")
    return files


def _figures(
    game: Game, runs: Sequence[SimulatedRun], pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, Figure]]:
    planes = planes_of(game, runs, pairs)
    if planes:
        yield "phase", phase_figure(game, runs, planes)
    yield "series", series_figure(game, runs, note="" if planes else NO_PLANES)
    yield "profits", profit_figure(game, runs)


def _words(document: Mapping[str, Any]) -> dict[float, Counter[str]]:
    """How often each regime was found at each value of the parameter."""
    found: dict[float, Counter[str]] = {}
    for run in document["runs"]:
        found.setdefault(run["parameter"], Counter())[run["regime"]] += 1
    return found


def _saved(figure: Figure, folder: Path, name: str) -> list[Path]:
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    for file in files:
        save_figure(figure, file)
    return files


def _stability(setting: SimulationSetting, values: Sequence[float]) -> list[dict[str, Any]]:
    """What published sets are along the parameter, as JSON values, at so many values."""
    dynamics: Dynamics = setting.solver.instance
    between = np.linspace(min(values), max(values), VALUES)
    games = [setting.games[0].at(**{str(setting.parameter): value}) for value in between.tolist()]
    return [
        verdict.to_json()
        for game in [*games, *setting.games]
        for verdict in verdicts(game, dynamics.flow(game), samples=0)
    ]
