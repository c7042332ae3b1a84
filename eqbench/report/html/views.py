"""The figures of a page: progress, shares of targets, costs, payoffs, and what became of cells."""

from __future__ import annotations

import math
import statistics
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from eqbench.report.entries import ALARMING
from eqbench.report.html.charts import (
    CIRCLE,
    CROSS,
    Axes,
    Look,
    Scale,
    add_look_mark,
    chart,
    linear_scale,
    log_scale,
    part_of,
    picture,
    short,
)
from eqbench.report.html.document import Beside, Block, Figure, Prose, Title, anchor_of
from eqbench.report.html.tracks import GameTracks, Track
from eqbench.report.naming import kind_of_match, marked
from eqbench.report.svg import GRAY, INK, add, add_text, svg_text, text_width
from eqbench.report.terminal import seconds, small
from eqbench.store.schema import CellRecord, EquilibriumRecord, Status
from eqbench.store.traces import Snapshot

SHORTEST_S = 1e-5  # where clocks stop telling moments apart
NEGLIGIBLE = 1e-13  # of the payoff range: what sums of rounded products leave behind
Where = Callable[[Snapshot], float | None]
# What NashConv is drawn against: name, axis, where a point is (None leaves it out), what to add.
_AGAINST: tuple[tuple[str, str, Where, str], ...] = (
    (
        "time",
        "seconds of solving",
        lambda point: max(point.elapsed_s, SHORTEST_S),
        "Time is that of the machine under Provenance, without set-up and monitoring.",
    ),
    (
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
        figures = (_curve_figure(game, place, *against) for against in _AGAINST)
        if pair := [figure for figure in figures if figure is not None]:
            blocks += [Title(game.short, f"{anchor_of(game.short)}-curves-{place}"), Beside(pair)]
    return blocks


def looks_of(tracks: Iterable[Track]) -> list[Look]:
    """Looks of the solvers of some cells, each once and in the same order on the whole page."""
    found = {track.look.key: track.look for track in tracks}
    return sorted(found.values(), key=lambda look: int(look.key))


def _curve_figure(
    game: GameTracks, place: int, name: str, axis: str, where: Where, more: str
) -> Figure | None:
    lines = []
    for track in game.tracks:
        if points := [(at, point) for point in track.points if (at := where(point))]:
            lines.append((track, points))
    if not lines:
        return None
    negligible = NEGLIGIBLE * game.unit
    x = log_scale(moment for _, points in lines for moment, _ in points)
    y = log_scale((p.nash_conv for _, ps in lines for _, p in ps), negligible=negligible)
    shown = looks_of(track for track, _ in lines)
    label = f"NashConv against {name} on {game.short}"
    root, axes = chart(label, (x, y), (axis, "NashConv (payoff units)"), shown)
    below, above = add(root, "g"), add(root, "g")
    for track, points in lines:
        group = part_of(below, track.look, _said(track))
        path = axes.path([(x, p.nash_conv) for x, p in points])
        add(group, "path", d=path, stroke_width=1.6, stroke_linejoin="round", **track.look.line)
        end = axes.place(points[-1][0], points[-1][1].nash_conv)
        add_look_mark(part_of(above, track.look, _said(track)), track.look, *end)
    floor = f"; ≈ 0 is at most {small(negligible)}, zero and less included" if y.negligible else ""
    return Figure(
        f"nashconv-{name}-{place}",
        svg_text(root),
        "Lower and further left is better; both axes are logarithmic. A line joins the measured "
        f"snapshots of one cell, its mark is the profile that counts{floor}. {more}",
        f"NashConv against {name}",
    )


def _said(track: Track) -> str:
    record, last = track.entry.record, track.points[-1]
    trial = f", {record.trial}" if record.trial else ""
    work = f", {last.work:,} iterations" if last.work else ""
    return (
        f"{track.look.label}{trial}: NashConv {small(last.nash_conv)} after "
        f"{seconds(last.elapsed_s)}{work} ({record.status})"
    )


class Trial(NamedTuple):
    """A game, a seed and a repeat, with the cell of each solver by its look."""

    game: GameTracks
    cells: Mapping[Look, Track]


def shown_looks(games: Sequence[GameTracks]) -> list[Look]:
    """Looks of all solvers that have any cell."""
    return looks_of(track for game in games for track in game.tracks)


def common_trials(games: Sequence[GameTracks]) -> list[Trial]:
    """Games, seeds and repeats of which every solver has a cell, whatever became of it.

    A solver that uses no chance has one cell, which stands for all seeds.
    """
    shown = shown_looks(games)
    trials = []
    for game in games:
        records = [(track.look, track.entry.record, track) for track in game.tracks]
        own = {(look, record.seed, record.repeat): track for look, record, track in records}
        drawn: set[tuple[int | None, int]] = {key[1:] for key in own if key[1] is not None}
        for seed, repeat in sorted(drawn or {key[1:] for key in own}, key=str):
            cells = {
                look: own.get((look, seed, repeat)) or own.get((look, None, repeat))
                for look in shown
            }
            known = {look: track for look, track in cells.items() if track}
            if known and len(known) == len(shown):
                trials.append(Trial(game, known))
    return trials


def common_games(trials: Sequence[Trial]) -> list[GameTracks]:
    """Games of trials, each once."""
    return list({trial.game.title: trial.game for trial in trials}.values())


def what_counts(games: Sequence[GameTracks], trials: Sequence[Trial]) -> str:
    """Which games count, in a sentence for a caption."""
    counted = common_games(trials)
    names = ", ".join(game.short for game in counted)
    others = ", ".join(game.short for game in games if game not in counted)
    text = f"It counts what all solvers were asked to solve, the same seeds for all: {names}"
    return f"{text}; not {others}." if others else f"{text}."


def why_not_all(games: Sequence[GameTracks], trials: Sequence[Trial]) -> list[Prose]:
    """Why figures about shares are left out; empty where they are not, or nothing was solved."""
    solved = [game for game in games if any(track.points for track in game.tracks)]
    counted = common_games(trials)
    if not solved or (counted and (len(solved) < 2 or len(counted) > 1)):
        return []
    text = (
        "A performance profile needs two games that all solvers on this page were asked to solve; "
        f"there is only {counted[0].short}."
        if counted
        else "Shares of targets and performance profiles need games and seeds that all solvers on "
        "this page were asked to solve, and there are none: a page with fewer runs may have them."
    )
    return [Prose((text,), small=True)]


# Shares of the payoff range, eight a decade: as many as lines stay smooth with.
TARGETS = tuple(10.0 ** (-k / 8) for k in range(8, 81))
COARSE = 1e-3
_MARK = (
    "A mark is where a solver reached something for the last time; behind it the line goes on, "
    "thin, to the right edge."
)


def ecdf(games: Sequence[GameTracks], trials: Sequence[Trial]) -> Figure | None:
    """Share of all games, seeds and targets that each solver reached over time.

    The run-length distributions of Hansen et al. (2021, COCO), over time instead of evaluations.
    None if nothing was reached.
    """
    times = {
        look: [
            max(trial.cells[look].time_to(target * trial.game.unit), SHORTEST_S)
            for trial in trials
            for target in TARGETS
        ]
        for look in shown_looks(games)
    }
    reached = [time for own in times.values() for time in own if time < math.inf]
    if not reached:
        return None
    unknown = [game.short for game in common_games(trials) if game.payoff_scale is None]
    exceptions = f" (one unit of payoff on {', '.join(unknown)})" if unknown else ""
    title = "Targets reached over time"
    names = ("seconds of solving", "share of (game, seed, target) reached")
    svg, without = _drawn(title, log_scale(reached), names, times)
    return Figure(
        "ecdf",
        svg,
        f"Higher is better. Targets are {len(TARGETS)} values of max regret from 0.1 down to "
        f"10⁻¹⁰ of the payoff range{exceptions}, evenly spaced on a logarithmic scale; a line is "
        "at 40 % when 40 % of all games, seeds and targets were reached. "
        f"{what_counts(games, trials)} What a solver does not support it never reached, and one "
        f"that uses no chance counts for every seed. {_MARK} How high that is says what the time "
        f"limit allowed, not what the method can do.{without}",
        title,
    )


def performance_profiles(games: Sequence[GameTracks], trials: Sequence[Trial]) -> list[Figure]:
    """Shares of games that each solver solved within a factor of the fastest one's time.

    Dolan and Moré (2002), once to a coarse target and once to the target of the runs, unless it
    is 0, which no measured regret has to reach; a solver with several seeds counts with the
    median of its times. Empty unless there are two games.
    """
    counted = common_games(trials)
    if len(counted) < 2:
        return []
    full = {}
    for game in counted:  # the smallest max regret at which any cell may stop, 0 if one may not
        targets = (track.entry.record.target for track in game.tracks)
        full[game.title] = min((target for target in targets if target is not None), default=0.0)
    rough = {game.title: COARSE * game.unit for game in counted}
    goal = "the target of the run, the strictest one of a game where cells had several"
    figures = [_profile(games, trials, rough, "coarse", f"{COARSE:g} of the payoff range")]
    if all(full.values()):
        figures.append(_profile(games, trials, full, "target", goal))
    return [figure for figure in figures if figure is not None]


def _profile(
    games: Sequence[GameTracks],
    trials: Sequence[Trial],
    targets: Mapping[str, float],
    name: str,
    goal: str,
) -> Figure | None:
    ratios: dict[Look, list[float]] = {look: [] for look in shown_looks(games)}
    for title, target in targets.items():
        own = [trial.cells for trial in trials if trial.game.title == title]
        times = {
            look: statistics.median_high(max(c[look].time_to(target), SHORTEST_S) for c in own)
            for look in ratios
        }
        best = min(times.values())
        for look, time in times.items():
            ratios[look].append(time / best if best < math.inf else math.inf)
    known = [ratio for own in ratios.values() for ratio in own if ratio < math.inf]
    if not known:
        return None
    title = f"Performance profile: {'full target' if name == 'target' else 'coarse target'}"
    names = ("time relative to the fastest solver", "share of games")
    svg, without = _drawn(title, log_scale([1.0, *known]), names, ratios)
    return Figure(
        f"profile-{name}",
        svg,
        f"The goal is a max regret within {goal}. At the left end a line says on how many games a "
        "solver is the fastest, further right on how many it needs at most that many times the "
        f"best time; who never got there, unsupported games included, never counts. {_MARK} "
        f"{what_counts(games, trials)} Ratios hide absolute times and depend on which solvers take "
        f"part, so order two solvers only by a profile of these two.{without}",
        title,
    )


def _drawn(
    label: str, scale: Scale, names: tuple[str, str], values: Mapping[Look, Iterable[float]]
) -> tuple[str, str]:
    """Picture of the shares of given values, and a sentence on the solvers that have no line."""
    points: dict[Look, list[tuple[float, float]]] = {}
    for look, own in values.items():  # where the share of values that are at most x rises
        known = sorted(own)
        rises = {x: (k + 1) / len(known) for k, x in enumerate(known) if x < math.inf}
        points[look] = list(rises.items())
    shares = Scale(0.0, 1.0, tuple((k / 5, f"{20 * k} %") for k in range(6)))
    root, axes = chart(label, (scale, shares), names, [k for k in points if points[k]])
    # the thin ends of lines below, then lines, then marks, so that none is hidden where many end
    thin, lines, marks = (add(root, "g") for _ in range(3))
    for look, steps in points.items():
        if not steps:
            continue
        said = f"{look.label}: {steps[-1][1]:.0%} in the end"
        x, y = axes.place(*steps[-1])
        rest = {"d": f"M{x:.1f} {y:.1f}H{axes.left + axes.width:.1f}", **look.line}
        add(part_of(thin, look), "path", **rest, stroke_width=0.8, stroke_opacity=0.55)
        path = axes.steps([(steps[0][0], 0.0), *steps], steps[-1][0])
        add(part_of(lines, look, said), "path", d=path, stroke_width=1.5, **look.line)
        add_look_mark(part_of(marks, look, said), look, x, y)
    without = ", ".join(look.label for look, steps in points.items() if not steps)
    return svg_text(root), f" No line, since they reached nothing: {without}." if without else ""


_WIDTH, _COST_ROW, _TOP, _BELOW, _RIGHT = 560.0, 24.0, 40.0, 48.0, 24.0
# What time went into: field of a record, what it is called, color.
_PARTS = (
    ("setup_s", "set-up", "#9fb0c3"),
    ("elapsed_s", "solving", "#0b5cad"),
    ("overhead_s", "monitoring", "#d98200"),
)


def memory(games: Sequence[GameTracks]) -> Figure | None:
    """Peak memory of each solver; None if nothing is known."""
    everything = (track for game in games for track in game.tracks)
    solved = ((track, track.entry.record) for track in everything)
    tracks = [t for t, r in solved if None not in (r.elapsed_s, r.peak_memory_bytes)]
    if not tracks:
        return None
    peaks: dict[Look, list[float]] = {look: [] for look in looks_of(tracks)}
    for track in tracks:
        peaks[track.look].append((track.entry.record.peak_memory_bytes or 0) / 2**20)
    least = min(map(min, peaks.values()))
    scale = linear_scale([0.0, *(1.04 * max(own) for own in peaks.values())])
    label, axis = "Peak memory of each solver", "peak of resident memory (MiB)"
    root, axes = _bars(label, axis, list(peaks), scale)
    for row, (look, own) in enumerate(peaks.items()):
        y = _TOP + (row + 0.5) * _COST_ROW
        group = part_of(root, look, f"{look.label}: {max(own):.0f} MiB at most")
        _bar(group, axes, row, (0.0, max(own)), fill="#c3d6ea", rx=2)
        for peak in own:
            place = {"cx": axes.place(peak, 0)[0], "cy": y, "r": 3}
            add(group, "circle", **place, fill="#0b5cad", fill_opacity=0.6)
    x = axes.place(least, 0)[0]
    line = f"M{x:.1f} {axes.bottom:.1f}V{_TOP - 6:.1f}"
    add(root, "path", d=line, stroke=INK, stroke_dasharray="3 3")
    anchor = "start" if x < _WIDTH / 2 else "end"
    add_text(root, f"smallest peak: {least:.0f} MiB", x, _TOP - 12, text_anchor=anchor, fill=INK)
    return Figure(
        "memory",
        svg_text(root),
        "A bar ends at the largest peak of any cell, dots are its cells; those that never began to "
        "solve are left out. The dashed line is the smallest peak here. Each cell is a process of "
        "its own, so its peak includes Python and everything that it loads; which part of it the "
        "method needs is not measured. The first cell of a method may include compiling, which "
        "takes memory that later cells do not need. Peaks are sampled, so that short ones may be "
        "missed.",
        "Memory",
    )


def times(games: Sequence[GameTracks]) -> Figure | None:
    """Where the time of each solver went; None if nothing is known."""
    tracks = [t for game in games for t in game.tracks if t.entry.record.setup_s is not None]
    if not tracks:
        return None
    totals = {look: [0.0] * len(_PARTS) for look in looks_of(tracks)}
    for track in tracks:
        for place, (name, _, _) in enumerate(_PARTS):
            totals[track.look][place] += getattr(track.entry.record, name) or 0.0
    scale = linear_scale([0.0, *(1.04 * sum(parts) for parts in totals.values())])
    root, axes = _bars("Time of each solver", "seconds, all cells together", list(totals), scale)
    for row, (look, own) in enumerate(totals.items()):
        group, start = part_of(root, look), 0.0
        for (_, name, color), spent in zip(_PARTS, own, strict=True):
            bar = _bar(group, axes, row, (start, start + spent), fill=color)
            add(bar, "title").text = f"{look.label}: {seconds(spent)} of {name}"
            start += spent
    left = axes.left
    for _, name, color in _PARTS:
        add(root, "rect", x=left, y=_TOP - 24, width=11, height=11, rx=2, fill=color)
        add_text(root, name, left + 16, _TOP - 14, fill=INK)
        left += 16 + text_width(name) + 12
    return Figure(
        "times",
        svg_text(root),
        "Seconds of all cells of a solver put end to end: set-up is imports, conversion and "
        "compilation, monitoring is what reporting snapshots cost and is not charged to the "
        "solver. A short bar may mean few supported games; the table has each cell.",
        "Time",
    )


def _bars(label: str, axis: str, shown: Sequence[Look], scale: Scale) -> tuple[ET.Element, Axes]:
    """A new picture with a row for each solver and an axis below."""
    left = max(0.9 * text_width(short(look.label, 24)) for look in shown) + 14
    bottom = _TOP + len(shown) * _COST_ROW + 4
    root = picture(_WIDTH, bottom + _BELOW, label)
    axes = Axes(left, bottom, _WIDTH - left - _RIGHT, bottom - _TOP, scale, Scale(0, 1, ()))
    axes.frame(root, axis, "")
    for row, look in enumerate(shown):
        y = _TOP + (row + 0.5) * _COST_ROW + 4
        name = add_text(root, short(look.label, 24), left - 10, y, text_anchor="end", fill=INK)
        name.attrib |= {"class": "key", "data-key": look.key}
    return root, axes


def _bar(
    group: ET.Element, axes: Axes, row: int, ends: tuple[float, float], **style: str | float
) -> ET.Element:
    left, right = (axes.place(end, 0)[0] for end in ends)
    y, height = _TOP + (row + 0.5) * _COST_ROW, _COST_ROW - 9
    return add(group, "rect", x=left, y=y - height / 2, width=right - left, height=height, **style)


# Of the payoff range: up to which regret a profile counts as an equilibrium here, and below
# which payoffs are the same.
EQUILIBRIUM, SAME = 1e-6, 1e-5


@dataclass(frozen=True)
class _Found:
    """An equilibrium and the look of the solver that found it."""

    look: Look
    record: EquilibriumRecord

    @property
    def place(self) -> str:
        """How it stands to what is published, in the words of `kind_of_match`."""
        identity = self.record.identity
        return "no name" if identity is None else kind_of_match(identity)

    @property
    def rank(self) -> int:
        """0 if it is in no published set, 1 if on the path of one, 2 if it is as published."""
        return {"strict": 2, "up to rounding": 2, "on path": 1}.get(self.place, 0)


def payoff_scatters(games: Sequence[GameTracks]) -> list[Block]:
    """Figures of the games whose equilibria differ in payoffs, and a note on each other one."""
    blocks: list[Block] = []
    notes = []
    for place, game in enumerate(games, 1):
        found = [
            _Found(track.look, item)
            for track in game.tracks
            for item in track.entry.record.equilibria
            if item.max_regret <= EQUILIBRIUM * game.unit and item.refuted is None
        ]
        moving = any(len(known.ends) > 1 for known in game.published)
        if found and (moving or len(_distinct(game, found)) > 2):
            pair = [_figure(game, found, p, place) for p in range(1, len(found[0].record.payoffs))]
            blocks += [Title(game.short, f"{anchor_of(game.short)}-payoffs-{place}"), Beside(pair)]
        elif found:
            notes.append(_note(game, found))
    return [*blocks, Prose(notes, small=True)] if notes else blocks


def _distinct(game: GameTracks, found: Sequence[_Found]) -> list[list[float]]:
    """Payoffs that differ, each as the equilibrium with the smallest max regret has them."""
    best: dict[tuple[int, ...], list[float]] = {}
    for item in sorted(found, key=lambda item: item.record.max_regret):
        payoffs = item.record.payoffs
        best.setdefault(tuple(round(u / (SAME * game.unit)) for u in payoffs), payoffs)
    return list(best.values())


def _note(game: GameTracks, found: Sequence[_Found]) -> str:
    """Say what a figure of a dot or two would show, and how many payoffs are as published."""
    count = f"{len(found)} equilibria have" if len(found) > 1 else "one equilibrium has"
    said = f"{game.short}: {count} payoffs {_either(_distinct(game, found))}"
    points = [end for known in game.published for end in known.ends]
    if not points:
        return f"{said}."
    ours = np.array([item.record.payoffs for item in found])[:, None]
    distances = np.abs(ours - np.array(points)).max(axis=2)
    alike = int((distances <= SAME * game.unit).any(axis=1).sum())
    if alike == len(found):
        return f"{said}, as published."
    share = f"; {alike} of them as published, which is" if alike else "; published is"
    return f"{said}{share} {_either(points)}."


def _either(vectors: Iterable[Sequence[float]]) -> str:
    """Payoff vectors in words, each once."""
    texts = [", ".join(f"{payoff:+z.5f}" for payoff in vector) for vector in vectors]
    return " or ".join(dict.fromkeys(texts))


def _figure(game: GameTracks, found: Sequence[_Found], player: int, place: int) -> Figure:
    ends = [end for known in game.published for end in known.ends]
    vectors = [*(item.record.payoffs for item in found), *ends]
    width = max(max(v[0] for v in vectors) - min(v[0] for v in vectors), SAME * game.unit)
    middle = sum(v[player] for v in vectors) / len(vectors)
    x = linear_scale((v[0] for v in vectors), margin=0.12)
    # what does not vary shall not look as if it did
    spread = [middle - width / 4, middle + width / 4]
    y = linear_scale([*(v[player] for v in vectors), *spread], margin=0.12)
    own = [item.look for item in found]
    shown = [replace(k, mark=CIRCLE, lined=False) for k in looks_of(game.tracks) if k in own]
    names = ("payoff of P1", f"payoff of P{player + 1}")
    root, axes = chart(f"Payoffs of equilibria on {game.short}", (x, y), names, shown)
    key = "● strict   ○ on path   × elsewhere"
    corner = axes.left + axes.width, axes.bottom - axes.height - 12
    add_text(root, key, *corner, text_anchor="end", fill=INK)
    # sets with the same ends are one line, since theirs would cover each other
    sets: dict[tuple[tuple[float, ...], ...], list[str]] = {}
    for known in game.published:
        rounded = tuple(tuple(round(u, 9) + 0.0 for u in end) for end in known.ends)
        sets.setdefault(rounded, []).append(known.name)
    for own_ends, own_names in sets.items():
        (x1, y1), *_, (x2, y2) = [axes.place(end[0], end[player]) for end in own_ends * 2]
        # a line of no length with round ends is a dot
        line = {"d": f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", "stroke_linecap": "round"}
        segment = add(root, "path", **line, stroke="#ccd6e2", stroke_width=11)
        add(segment, "title").text = ", ".join(own_names)
    _draw_marks(root, axes, found, player)
    published = (
        "The gray line is the published family, or a gray dot where it has but one payoff vector. "
        if ends
        else "No family of payoffs is known here. "
    )
    missed = (
        " or miss a published constraint by a trace only (up to rounding)"
        if any(item.place == "up to rounding" for item in found)
        else ""
    )
    return Figure(
        f"payoffs-{place}-p{player + 1}",
        svg_text(root),
        f"Each mark is an equilibrium that a solver found (max regret up to {EQUILIBRIUM:g} of the "
        f"payoff range). {published}Filled marks are strict, as published everywhere{missed}; "
        "hollow ones are on path: as published where play leads, different elsewhere; crosses are "
        "in no published set, or only near one. How often a place was found says nothing about how "
        "likely it is.",
        f"P1 against P{player + 1}",
    )


def _draw_marks(root: ET.Element, axes: Axes, found: Sequence[_Found], player: int) -> None:
    """Draw equilibria, those of one solver on the same pixel as one mark; strict ones on top."""
    heaps: dict[tuple[int, str, int, int], list[_Found]] = {}
    for item in sorted(found, key=lambda item: item.rank):
        x, y = axes.place(item.record.payoffs[0], item.record.payoffs[player])
        heaps.setdefault((item.rank, item.look.key, round(x), round(y)), []).append(item)
    for item, *others in heaps.values():
        payoffs, identity = item.record.payoffs, item.record.identity
        name = " ".join(marked(identity)) if identity else "no name"
        texts = ", ".join(f"{payoff:+z.6f}" for payoff in payoffs)
        more = f", and {len(others)} more here" if others else ""
        said = f"{item.look.label}: {name} ({item.place}), payoffs {texts}{more}"
        look = replace(item.look, mark=CIRCLE if item.rank else CROSS)
        at = axes.place(payoffs[0], payoffs[player])
        add_look_mark(part_of(root, look, said), look, *at, hollow=item.rank == 1)


_FILLS = {"good": "#d5ecda", "fair": "#fbeecb", "bad": "#f8d3cf", "idle": "#eceff2"}
_MARKS = {"refuted": "✗", "exactly": "✓✓", "verified": "✓", "nothing": "·"}
_ROW, _HEAD, _GAP, _LEAST = 40.0, 40.0, 3.0, 112.0
_LONGEST = 26


def tone(status: str) -> str:
    """Which of the page's colors a status has: ``good``, ``fair``, ``bad`` or ``idle``."""
    if status in ALARMING:
        return "bad"
    return {"ok": "good", "unsupported": "idle", "unavailable": "idle"}.get(status, "fair")


def heatmap(games: Sequence[GameTracks]) -> Figure:
    """Status of every solver on every game, with the mark of the verifier."""
    awaited = {look for game in games for look in game.awaited}
    shown = sorted({*shown_looks(games), *awaited}, key=lambda look: int(look.key))
    names = [short(game.short, _LONGEST) for game in games]
    width = max(_LEAST, *(0.9 * text_width(name) + 12 for name in names))
    left = max(0.9 * text_width(short(look.label)) for look in shown) + 14
    size = (left + len(games) * (width + _GAP) + 6, _HEAD + len(shown) * (_ROW + _GAP))
    root = picture(*size, "Status of every solver on every game")
    for column, (game, name) in enumerate(zip(games, names, strict=True)):
        middle = left + column * (width + _GAP) + width / 2
        style = {"text_anchor": "middle", "fill": INK, "font_weight": "600"}
        head = add_text(root, name, middle, _HEAD - 14, **style)
        add(head, "title").text = game.title
    for row, look in enumerate(shown):
        y = _HEAD + row * (_ROW + _GAP)
        add_text(root, short(look.label), left - 12, y + 24, text_anchor="end", fill=INK)
        for column, game in enumerate(games):
            own = [track for track in game.tracks if track.look is look]
            box = (left + column * (width + _GAP), y, width)
            _cell(root, own, box, "not run yet" if look in game.awaited else "not run")
    return Figure(
        "status",
        svg_text(root),
        "✓ measured by the verifier and nothing contradicts it, ✓✓ measured exactly, in integers, "
        "at every seed, ✗ a claim refuted, · no profile to measure; below it the smallest max "
        "regret in payoff units. Where seeds ended differently, how many ended so stands beside "
        "it; point at a cell for its reason. A limit is no failure: the regret says what the time "
        "bought." + (" Not run yet: the run has not come to it." if awaited else ""),
        "Status by game and solver",
        least_width=520 if len(games) > 2 else 340,
    )


def _cell(
    root: ET.Element, own: Sequence[Track], box: tuple[float, float, float], otherwise: str
) -> None:
    """Draw what became of a solver on a game; `otherwise` stands where it has no cell."""
    x, y, width = box
    records = [track.entry.record for track in own]
    word, fill = _word(Counter(r.status for r in records)) if own else (otherwise, "idle")
    group = add(root, "g")
    reasons = []
    for record in records:
        trial = f" ({record.trial})" if record.trial else ""
        reason = f", {record.reason}" if record.reason else ""
        reasons.append(f"{record.solver} on {record.game}{trial}: {record.status}{reason}")
    add(group, "title").text = "; ".join(reasons) or word
    add(group, "rect", x=x, y=y, width=width, height=_ROW, rx=4, fill=_FILLS[fill])
    regrets = [record.max_regret for record in records if record.max_regret is not None]
    text = f"{word} {_MARKS[_verification(records)]}" if own else word
    middle, ink = x + width / 2, INK if own else GRAY
    add_text(group, text, middle, y + (17 if regrets else 24), text_anchor="middle", fill=ink)
    if regrets:
        best = small(min(regrets)) if min(regrets) else "0"
        small_print = {"text_anchor": "middle", "fill": GRAY, "font_size": "11"}
        add_text(group, best, middle, y + 32, **small_print)


def _word(statuses: Counter[Status]) -> tuple[str, str]:
    """What stands for the cells of all seeds, and the color: alarms first, then what is ok."""
    alarms_first = {"bad": 2, "good": 1}
    shown = max(statuses, key=lambda word: (alarms_first.get(tone(word), 0), statuses[word]))
    if len(statuses) == 1:
        return shown, tone(shown)
    fill = "bad" if tone(shown) == "bad" else "fair"
    return f"{shown} {statuses[shown]}/{statuses.total()}", fill


def _verification(records: Sequence[CellRecord]) -> str:
    if any(record.status == "refuted" for record in records):
        return "refuted"
    if all(record.equilibria and record.equilibria[0].exact for record in records):
        return "exactly"
    return "verified" if any(record.equilibria for record in records) else "nothing"
