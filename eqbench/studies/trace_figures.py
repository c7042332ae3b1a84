"""The figures of a traced branch, as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.spec import parse_spec
from eqbench.studies.branch import Branch
from eqbench.studies.branch_animation import write_animation
from eqbench.studies.branch_payoffs import crossing_figure
from eqbench.studies.branch_frequencies import frequency_figure
from eqbench.studies.branch_payoffs import WINDOW_NAMES, Window, payoff_figure
from eqbench.studies.branch_points import read_points
from eqbench.studies.figure_style import SUFFIXES, save_figure
from eqbench.studies.frequency_panels import frequency_panels
from eqbench.studies.kuhn_nodes import KuhnNodes
from eqbench.studies.strategy_bars import bar_figure
from eqbench.studies.trace_folder import FIGURES, TraceFolder
from eqbench.studies.trace_request import Setting
from eqbench.studies.trace_tables import identity_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANIMATION = "animation.gif"


class Drawn(NamedTuple):
    """The files that were written, and of each figure that is missing why."""

    files: list[Path]
    missing: dict[str, str]


def draw_trace(
    setting: Setting,
    folder: TraceFolder,
    document: dict[str, Any],
    close_ups: Sequence[tuple[float, float]],
) -> Drawn:
    """Write payoffs, frequencies and counts along a branch; in Kuhn poker for three also bars.

    Bars show the equilibria of the summary `document`. Close-ups are values of the parameter
    from which to which. A figure that cannot be drawn or written is missing, and the others
    are not.

    Raises
    ------
    UsageError
        If the points of the branch or the folder of the figures are damaged.
    """
    branch = _branch(setting, folder)
    target = _figure_folder(folder)
    drawn = Drawn([], {})
    for name, draw in _figures(setting, folder, document, close_ups).items():
        files = [target / f"{name}{suffix}" for suffix in SUFFIXES]
        try:
            figure = draw(branch)
            for file in files:
                save_figure(figure, file)
        except UsageError as error:
            drawn.missing[name] = str(error)
        else:
            drawn.files.extend(files)
    return drawn


def check_figures(setting: Setting, close_ups: Sequence[tuple[float, float]]) -> None:
    """Raise UsageError if the figures of a trace cannot be drawn, whatever its branch is.

    Close-ups must lie within the range of the parameter, and there are at most eight.
    """
    first, last = sorted((setting.request.first, setting.request.last))
    for low, high in close_ups:
        if high <= first or low >= last:
            raise UsageError(f"--close-up {low:g},{high:g} lies outside {first} to {last}")
    if len(close_ups) > len(WINDOW_NAMES):
        raise UsageError(f"{len(close_ups)} close-ups asked for; at most {len(WINDOW_NAMES)} fit")
    frequency_panels(setting.game.tree)


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


def _figures(
    setting: Setting,
    folder: TraceFolder,
    document: dict[str, Any],
    close_ups: Sequence[tuple[float, float]],
) -> dict[str, Callable[[Branch], Figure]]:
    """All figures by the names of their files."""
    title = _name(setting)
    windows = [Window(low, high) for low, high in close_ups]
    figures: dict[str, Callable[[Branch], Figure]] = {
        "payoffs": lambda branch: payoff_figure({title: branch}, windows=windows),
        "frequencies": frequency_figure,
        "counts": lambda branch: crossing_figure({title: branch}),
    }
    for number, ends in enumerate(close_ups, start=1):
        figures[f"frequencies-{number}"] = partial(frequency_figure, window=ends)
    if _has_bars(setting):
        for entry in document["at"]:
            for number, item in enumerate(entry["equilibria"], start=1):
                name = f"bars-{Path(item['profile']).stem}"
                figures[name] = partial(_bars, setting, folder, (entry, number))
    return figures


def _bars(
    setting: Setting, folder: TraceFolder, shown: tuple[dict[str, Any], int], _: Branch
) -> Figure:
    """Bars of one equilibrium of an entry of the summary, by its number from 1."""
    tree, (entry, number) = setting.game.tree, shown
    item = entry["equilibria"][number - 1]
    file = folder.path / item["profile"]
    try:
        data = parse_profile(read_file(file, MOST_PROFILE_BYTES))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}; trace again") from None
    behavior = profile_from_json(tree, data).probabilities
    words = [
        f"{_name(setting)} at {setting.request.parameter}={entry['parameter']:.9g}",
        f"{number} of {len(entry['equilibria'])}",
        identity_text(item["identity"]),
    ]
    return bar_figure(tree, behavior, title=", ".join(filter(None, words)))


def _name(setting: Setting) -> str:
    """The game without its parameter."""
    return str(parse_spec(setting.game.spec).without(setting.request.parameter))


def _branch(setting: Setting, folder: TraceFolder) -> Branch:
    return read_points(setting.game, folder.points)


def _figure_folder(folder: TraceFolder) -> Path:
    path = folder.path / FIGURES
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write figures to {path}: {error.strerror}") from None
    return path
