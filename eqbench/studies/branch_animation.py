"""Animations of strategies along a branch, as the paper's videos (Billingham 2018, §5.2)."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.report.svg import PALE
from eqbench.studies.branch import Branch
from eqbench.studies.figure_style import SMALL_SIZE, player_color
from eqbench.studies.kuhn_nodes import KuhnNodes
from eqbench.studies.strategy_bars import Bars, new_bars
from eqbench.studies.strategy_ranges import TOLERANCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEADER_HEIGHT = 1.0  # in panels
FRAMES_PER_SECOND = 4.0
Pixels = NDArray[np.uint8]
DOTS_PER_INCH = 100
COLORS_IN_GIF = 256


def write_animation(
    branch: Branch,
    path: Path,
    *,
    step: float,
    frames_per_second: float = FRAMES_PER_SECOND,
    tolerance: float = TOLERANCE,
) -> int:
    """Write the bars of :mod:`eqbench.studies.strategy_bars` along a branch as GIF or MP4.

    Frames are equally far apart in arclength. A small panel shows where on the curves of
    expectations they are.

    Parameters
    ----------
    path : with the suffix ``.gif``, or ``.mp4`` if ffmpeg is installed
    step : arclength between frames
    tolerance : frequencies up to this one do not count for the ranges

    Returns
    -------
    int
        How many frames there are.

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker, the suffix is another one, ffmpeg is missing
        or fails, the step or the number of frames a second is not positive, or the file cannot
        be written.
    """
    suffix = path.suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise UsageError(f"an animation cannot become {path.name}; use .gif or .mp4")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise UsageError(f"{path.name} needs ffmpeg, which is not installed; use .gif")
    if not 0 < frames_per_second <= 50:
        raise UsageError(
            f"{frames_per_second} frames a second asked for; choose a number above 0, at most 50"
        )
    frames = branch.equal_arclength(step)
    pictures = _pictures(branch, frames, tolerance)
    write = _write_gif if suffix == ".gif" else _write_mp4
    try:
        write(pictures, path, frames_per_second)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    return len(frames.values)


def _pictures(branch: Branch, frames: Branch, tolerance: float) -> Iterator[Pixels]:
    """Pixels uint8 (height, width, 3) of each frame.

    What does not change is drawn once and copied: axes and ticks take most of the time.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    bars = new_bars(KuhnNodes.of(branch.game.tree), tolerance, HEADER_HEIGHT)
    bars.figure.set_dpi(DOTS_PER_INCH)
    canvas = FigureCanvasAgg(bars.figure)
    curves = _curves(bars, branch)
    (dots,) = curves.plot([], [], "o", color="black", markersize=4)
    moving = [*bars.artists(), dots]
    for artist in moving:
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(bars.figure.bbox)
    for k in range(len(frames.values)):
        value, arclength = frames.values[k], frames.arclength[k]
        title = f"{branch.parameter} {value:.4f}   arclength {arclength:.3f}"
        bars.show(frames.behavior(k), title)
        dots.set_data(np.full(branch.payoffs.shape[1], value), frames.payoffs[k])
        canvas.restore_region(still)
        for artist in moving:
            bars.figure.draw_artist(artist)
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _curves(bars: Bars, branch: Branch) -> Axes:
    """A panel in the header with the expectations along the branch."""
    ax = bars.header.inset_axes((0.5, 0.36, 0.46, 0.64))
    for p, player in enumerate(branch.game.tree.players):
        ax.plot(branch.values, branch.payoffs[:, p], color=player_color(p), linewidth=1)
        ax.annotate(
            player,
            (branch.values[-1], branch.payoffs[-1, p]),
            (3, 0),
            textcoords="offset points",
            va="center",
            color=player_color(p),
            fontsize=SMALL_SIZE,
        )
    ax.set_ylabel("expectation", fontsize=SMALL_SIZE)
    ax.tick_params(labelsize=SMALL_SIZE - 1, color=PALE, length=2)
    ax.spines[:].set_color(PALE)
    return ax


def _write_gif(pictures: Iterator[Pixels], path: Path, frames_per_second: float) -> None:
    from PIL import Image

    images = (Image.fromarray(picture) for picture in pictures)
    # one palette for all frames, so that nothing flickers
    covering = Image.Quantize.MAXCOVERAGE  # small patches of color count too
    first = next(images).quantize(COLORS_IN_GIF, covering, dither=Image.Dither.NONE)
    others = (image.quantize(palette=first, dither=Image.Dither.NONE) for image in images)
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=1000 / frames_per_second,
        loop=0,
        optimize=False,
    )


def _write_mp4(pictures: Iterator[Pixels], path: Path, frames_per_second: float) -> None:
    first = next(pictures)
    height, width = (side - side % 2 for side in first.shape[:2])  # H.264 wants even sides
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"]
    command += ["-video_size", f"{width}x{height}", "-framerate", str(frames_per_second)]
    command += ["-i", "-", "-pix_fmt", "yuv420p", str(path.resolve())]
    with tempfile.TemporaryFile() as log:
        # leaving the block closes the pipe and waits; the pipe breaks when ffmpeg gives up
        with (
            contextlib.suppress(BrokenPipeError),
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log) as ffmpeg,
        ):
            assert ffmpeg.stdin is not None
            for picture in itertools.chain([first], pictures):
                ffmpeg.stdin.write(picture[:height, :width].tobytes())
        if ffmpeg.returncode:
            log.seek(0)
            message = log.read().decode(errors="replace").strip()
            raise UsageError(f"ffmpeg cannot write {path}: {message}; use .gif")
