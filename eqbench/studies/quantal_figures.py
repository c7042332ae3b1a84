"""The figure of a branch of quantal response equilibria, as files."""

from __future__ import annotations

from pathlib import Path

from eqbench.studies.branch_frequencies import frequency_figure
from eqbench.studies.branch_points import read_points
from eqbench.studies.figure_style import SUFFIXES, save_figure
from eqbench.studies.quantal import PARAMETER, POINTS, QuantalSetting


def draw_quantal(setting: QuantalSetting, folder: Path) -> list[Path]:
    """Write the frequencies along the principal branch as figures; return the files.

    Raises
    ------
    UsageError
        If the points cannot be read or a file cannot be written.
    """
    branch = read_points(setting.game, folder / POINTS, PARAMETER)
    figure = frequency_figure(branch, logarithmic=True)
    files = [folder / f"frequencies{suffix}" for suffix in SUFFIXES]
    for file in files:
        save_figure(figure, file)
    return files
