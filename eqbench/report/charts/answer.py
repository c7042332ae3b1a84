"""What each cell of a game found, when, and how good it is; and where there is room for names."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from eqbench.report import COLORS, GRAY, LIGHT
from eqbench.report.naming import described, found, order
from eqbench.report.trials import SHORTEST_S, RunCell
from eqbench.text import grouped, printable

NONE_YET = "no equilibrium yet"
HEIGHT, PADDING = 380, 16  # of the chart, and of its scales
_WIDTHS = {False: 430, True: 260}  # of the frame on a page, and of a narrow one
_MOST_NAMES = 4  # of a cell
_STEP = 11  # from a mark to the next of its cell
_LETTER, _LINE, _MARK = 5.7, 11.0, 10.0
# offsets of the middle of a name's near end, the nearest first
_SIDES = (("left", 9), ("right", -9))
_PLACES = [
    *((side, dx, 0) for side, dx in _SIDES),
    *(("center", 0, dy) for dy in (-13, 13)),
    *((side, dx, dy) for dy in (-11, 11, -22, 22) for side, dx in _SIDES),
    *(("center", 0, dy) for dy in (-24, 24, -35, 35)),
]
Box = tuple[float, float, float, float]
Rows = list[dict[str, Any]]


def tints(games: Iterable[Sequence[RunCell]]) -> list[dict[str, dict[str, str]]]:
    """Name to title and color of the equilibria of each game, known sets first.

    An equilibrium has one color in all figures of a run; those of a game differ while there are
    colors.
    """
    colors: dict[str, str] = {}
    known = []
    for entries in games:
        titles = {
            name: described(members[0].identity)["title"] or name
            for entry in entries
            for name, members in found(entry.record).items()
            if members[0].identity
        }
        names = sorted(titles, key=order)
        for name in names:
            taken = {colors.get(other) for other in names}
            free = (color for color in (*COLORS, *LIGHT) if color not in taken)
            colors[name] = colors.get(name) or next(free, GRAY)
        own = {name: {"title": titles[name], "color": colors[name]} for name in names}
        if not all(found(entry.record) for entry in entries if entry.record.equilibria):
            own[NONE_YET] = {"title": NONE_YET, "color": GRAY}
        known.append(own)
    return known


def key_of(game: str, name: str) -> str:
    """Key of an equilibrium in a run, as ``answer.json`` makes it: each game has its cluster:1."""
    return f"{game} / {name}"


def _time(entry: RunCell) -> float:
    """Seconds to the target, or of all the solving where it was not met."""
    time = entry.time_to()
    return time if time < math.inf else entry.record.elapsed_s or 0.0


def finds(
    entries: Sequence[RunCell], places: Mapping[RunCell, int], floor: float
) -> tuple[Rows, Rows]:
    """Rows of what each cell found at which regret, and rows of names of solvers next to them.

    Of several equilibria of a cell the marks stand side by side. Each solver has its name at the
    cell with the median time, for a wide and a narrow chart, where no other mark or name stands.
    Regrets below the floor are drawn there.
    """
    measured = [e for e in entries if e.record.elapsed_s and e.record.max_regret is not None]
    rows: Rows = []
    last = {}
    for entry in measured:
        seconds = max(_time(entry), SHORTEST_S)
        own = {name: members[0].max_regret for name, members in found(entry.record).items()}
        best = own or {NONE_YET: entry.record.max_regret or 0.0}
        shown = sorted(best, key=order)[:_MOST_NAMES]
        for k, name in enumerate(shown):
            row = {"cell": places[entry], "name": name, "regret": best[name], "shift": _STEP * k}
            rows.append(row | {"seconds": seconds})
        last[entry] = rows[-1]
    named = {}
    for solver, own_cells in grouped(measured, lambda entry: entry.solver).items():
        middle = statistics.median_low(map(_time, own_cells))
        cell = next(e for e in own_cells if _time(e) == middle)
        named[printable(solver)] = last[cell]
    levels = [max(row["regret"], floor) for row in rows]
    levels += [entry.record.target for entry in entries[:1] if entry.record.target]
    down = _scale(levels, HEIGHT, 0)

    labels = []
    for narrow, width in _WIDTHS.items():
        across = _scale([row["seconds"] for row in rows], 0, width)
        ends, marks = (
            [(across(r["seconds"]) + r["shift"], down(max(r["regret"], floor))) for r in own]
            for own in (named.values(), rows)
        )
        for (solver, row), place in zip(
            named.items(), _placed(named, ends, marks, width), strict=True
        ):
            if place:
                shifted = place | {"dx": place["dx"] + row["shift"]}
                labels.append({**row, "narrow": narrow, "solver": solver, **shifted})
    return rows, labels


def _placed(
    names: Iterable[str],
    ends: Sequence[tuple[float, float]],
    marks: Sequence[tuple[float, float]],
    width: int,
) -> Iterator[dict[str, Any]]:
    """Yield alignment and offset of names from their ends; nothing if all places are taken."""
    taken: list[Box] = [_box(*mark, _MARK, _MARK, "center") for mark in marks]
    for name, (x, y) in zip(names, ends, strict=True):
        for align, dx, dy in _PLACES:
            box = _box(x + dx, y + dy, _LETTER * len(name), _LINE, align)
            inside = box[0] >= 0 and box[2] <= width and box[1] >= 0 and box[3] <= HEIGHT
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield {"align": align, "dx": dx, "dy": dy}
                break
        else:
            yield {}


def _scale(values: Sequence[float], start: float, end: float) -> Callable[[float], float]:
    """Log scale of a chart onto pixels."""
    logs = [math.log(value) for value in values] or [0.0]
    low, span = min(logs), max(max(logs) - min(logs), 1e-9)
    room = math.copysign(PADDING, end - start)
    return lambda value: start + room + (math.log(value) - low) / span * (end - start - 2 * room)


def _box(x: float, y: float, width: float, height: float, align: str) -> Box:
    left = {"left": x, "right": x - width, "center": x - width / 2}[align]
    return left, y - height / 2, left + width, y + height / 2


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
