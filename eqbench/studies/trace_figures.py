"""The figures of a traced branch, as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqbench.errors import UsageError
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.spec import parse_spec
from eqbench.studies.branch import Branch
from eqbench.studies.branch_animation import write_animation
from eqbench.studies.branch_crossings import crossing_figure
from eqbench.studies.branch_frequencies import frequency_figure
from eqbench.studies.branch_payoffs import Window, payoff_figure
from eqbench.studies.branch_points import read_points
from eqbench.studies.figure_style import SUFFIXES, save_figure
from eqbench.studies.kuhn_nodes import KuhnNodes
from eqbench.studies.strategy_bars import bar_figure
from eqbench.studies.trace_folder import FIGURES, TraceFolder
from eqbench.studies.trace_request import Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANIMATION = "animation.gif"


def draw_trace(
    setting: Setting,
    folder: TraceFolder,
    document: dict[str, Any],
    close_ups: Sequence[tuple[float, float]],
) -> list[Path]:
    """Write payoffs, frequencies and counts along a branch; in Kuhn poker for three also bars.

    Bars show the equilibria of the summary `document`. Close-ups are values of the parameter
    from which to which. The files are returned.

    Raises
    ------
    UsageError
        If there is nothing to draw, or a file cannot be read or written.
    """
    branch = _branch(setting, folder)
    name = str(parse_spec(setting.game.spec).without(branch.parameter))
    windows = [Window(low, high) for low, high in close_ups]
    figures = {
        "payoffs": payoff_figure({name: branch}, windows=windows),
        "frequencies": frequency_figure(branch),
        "counts": crossing_figure({name: branch}),
    }
    for number, (low, high) in enumerate(close_ups, start=1):
        figures[f"frequencies-{number}"] = frequency_figure(branch, (low, high))
    if _has_bars(setting):
        figures |= _bars(setting, folder, document)
    target = _figure_folder(folder)
    files = [target / f"{title}{suffix}" for title in figures for suffix in SUFFIXES]
    for file in files:
        save_figure(figures[file.stem], file)
    return files


def animate_trace(setting: Setting, folder: TraceFolder, frames: int) -> Path:
    """Write the strategies along a branch as an animation of so many frames; return the file.

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker, or a file cannot be read or written.
    """
    branch = _branch(setting, folder)
    step = float(branch.arclength[-1] - branch.arclength[0]) / max(frames - 1, 1)
    file = _figure_folder(folder) / ANIMATION
    write_animation(branch, file, step=step)
    return file


def check_animation(setting: Setting) -> None:
    """Raise UsageError if the strategies of a game cannot be animated."""
    KuhnNodes.of(setting.game.tree)


def _has_bars(setting: Setting) -> bool:
    try:
        KuhnNodes.of(setting.game.tree)
    except UsageError:
        return False
    return True


def _bars(setting: Setting, folder: TraceFolder, document: dict[str, Any]) -> dict[str, Figure]:
    """Bars of all equilibria in a summary, by the name of their profile."""
    tree, name = setting.game.tree, document["parameter"]
    figures = {}
    for entry in document["at"]:
        for item in entry["equilibria"]:
            file = folder.path / item["profile"]
            try:
                data = parse_profile(file.read_text(encoding="utf-8"))
            except OSError as error:
                raise UsageError(f"cannot read {file}: {error.strerror}; trace again") from None
            behavior = profile_from_json(tree, data).probabilities
            title = f"{name}={entry['parameter']:.9g}"
            figures[f"bars-{file.stem}"] = bar_figure(tree, behavior, title=title)
    return figures


def _branch(setting: Setting, folder: TraceFolder) -> Branch:
    return read_points(setting.game, folder.points)


def _figure_folder(folder: TraceFolder) -> Path:
    path = folder.path / FIGURES
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write figures to {path}: {error.strerror}") from None
    return path
