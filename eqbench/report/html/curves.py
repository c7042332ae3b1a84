"""NashConv against time and against iterations, a pair of figures for each game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from eqbench.report.html.axes import log_scale
from eqbench.report.html.chart import chart
from eqbench.report.html.document import Beside, Block, Figure, Title, anchor_of
from eqbench.report.html.looks import Look, add_look_mark, part_of
from eqbench.report.html.tracks import GameTracks, Point, Track
from eqbench.report.svg import add, svg_text
from eqbench.report.terminal import seconds, small

SHORTEST_S = 1e-5  # where clocks stop telling moments apart
NEGLIGIBLE = 1e-13  # of the payoff range: what sums of rounded products leave behind


@dataclass(frozen=True)
class _Against:
    """What NashConv is drawn against; None leaves a point out."""

    name: str
    axis: str
    where: Callable[[Point], float | None]
    more: str


_AGAINST = (
    _Against(
        "time",
        "seconds of solving",
        lambda point: max(point.elapsed_s, SHORTEST_S),
        "Time is that of the machine under Provenance, without set-up and monitoring.",
    ),
    _Against(
        "iterations",
        "iterations",
        lambda point: float(point.work) if point.work > 0 else None,
        "An iteration costs as much as its method makes it cost, so compare shapes rather than "
        "solvers; methods that count none are not here.",
    ),
)


def curves(games: Sequence[GameTracks]) -> list[Block]:
    """Figures of all games that have a measured profile."""
    blocks: list[Block] = []
    for place, game in enumerate(games, 1):
        pair = [
            _figure(game, against, f"nashconv-{against.name}-{place}")
            for against in _AGAINST
            if any(against.where(point) for track in game.tracks for point in track.points)
        ]
        if pair:
            blocks += [Title(game.short, f"{anchor_of(game.short)}-curves-{place}"), Beside(pair)]
    return blocks


def looks_of(tracks: Iterable[Track]) -> list[Look]:
    """Looks of the solvers of some cells, each once and in the same order on the whole page."""
    found = {track.look.key: track.look for track in tracks}
    return sorted(found.values(), key=lambda look: int(look.key))


def _figure(game: GameTracks, against: _Against, name: str) -> Figure:
    lines = []
    for track in game.tracks:
        points = [(at, point) for point in track.points if (at := against.where(point))]
        if points:
            lines.append((track, points))
    negligible = NEGLIGIBLE * game.unit
    x = log_scale(moment for _, points in lines for moment, _ in points)
    y = log_scale((p.nash_conv for _, ps in lines for _, p in ps), negligible=negligible)
    shown = looks_of(track for track, _ in lines)
    label = f"NashConv against {against.name} on {game.short}"
    root, axes = chart(label, (x, y), (against.axis, "NashConv (payoff units)"), shown)
    for track, points in lines:
        group = part_of(root, track.look)
        add(group, "title").text = _said(track)
        path = axes.path([(x, p.nash_conv) for x, p in points])
        add(group, "path", d=path, stroke_width=1.6, stroke_linejoin="round", **track.look.line)
    for track, points in lines:  # above all lines
        x_end, last = points[-1]
        group = part_of(root, track.look)
        add_look_mark(group, track.look, *axes.place(x_end, last.nash_conv))
        add(group, "title").text = _said(track)
    floor = f"; ≈ 0 is at most {small(negligible)}, zero and less included" if y.negligible else ""
    return Figure(
        name,
        svg_text(root),
        "Lower and further left is better; both axes are logarithmic. A line joins the measured "
        f"snapshots of one cell, its mark is the profile that counts{floor}. {against.more}",
        f"NashConv against {against.name}",
        least_width=420,
    )


def _said(track: Track) -> str:
    record, last = track.entry.record, track.points[-1]
    seed = "" if record.seed is None else f", seed {record.seed}"
    work = f", {last.work:,} iterations" if last.work else ""
    return (
        f"{track.look.label}{seed}: NashConv {small(last.nash_conv)} after "
        f"{seconds(last.elapsed_s)}{work} ({record.status})"
    )
