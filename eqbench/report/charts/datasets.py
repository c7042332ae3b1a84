"""The data of charts: flat rows by name of dataset, which every chart draws from.

What charts compute of these, such as medians over seeds or shares of targets, is said in their
templates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from eqbench.report.charts.material import Material, ShownGame, Track
from eqbench.report.naming import identity_text, kind_of_match

Rows = list[dict[str, Any]]
_Trial = tuple[int | None, dict[str, Track]]  # seed, and the cell of each solver by its label

SHORTEST_S = 1e-5  # where clocks stop telling moments apart
NEGLIGIBLE = 1e-13  # of the payoff range: what sums of rounded products leave behind
SAME = 1e-5  # of the payoff range: below which payoffs are the same
EQUILIBRIUM = 1e-6  # of the payoff range: up to which regret a profile counts as an equilibrium
COARSE = 1e-3  # of the payoff range: a target that most methods reach
_MOST_DRAWN = 1000  # equilibria, the best of each cell
_METRICS = ("max_regret", "nash_conv")
_FIELDS = (
    *("seed", "repeat", "status", "elapsed_s", "cpu_s", "setup_s", "overhead_s"),
    *(*_METRICS, "iterations"),
)
_MEBIBYTE = 2**20


def datasets(material: Material) -> dict[str, Rows]:
    """All datasets; names of columns are those of the stored records where there are such."""
    trials, tracks = list(_trials(material)), material.tracks
    drawn = Counter((track.game.title, track.solver) for track in tracks if track.points)
    shares = _shares(trials, {track.solver for track in tracks})
    most = _MOST_DRAWN // max(len(tracks), 1) + 1
    return {
        "cells": [
            _cell(track)
            | {"alone": drawn[track.game.title, track.solver] < 2}
            | shares.get(track.place, {})
            for track in tracks
        ],
        "snapshots": [{"cell": t.place, **point} for t in tracks for point in _progress(t)],
        "equilibria": [
            row
            for game in material.games
            for row in _equilibria(game, [t for t in tracks if t.game is game], most)
        ],
        "trials": [
            {"trial": at, "game": track.game.short, "seed": seed, "cell": track.place}
            for at, (seed, cells) in enumerate(trials if len(trials) > 1 else ())
            for track in cells.values()
        ],
    }


def _trials(material: Material) -> Iterable[_Trial]:
    """Seeds and repeats of games; a solver that uses no chance has one cell, for all seeds."""
    for game in material.games:
        solvers = material.by_solver(game)
        cells = (track for own in solvers.values() for track in own)
        own = {(t.solver, t.record.seed, t.record.repeat): t for t in cells}
        drawn = {key[1:] for key in own if key[1] is not None} or {key[1:] for key in own}
        for seed, repeat in sorted(drawn, key=str):
            found = {
                solver: own.get((solver, seed, repeat)) or own.get((solver, None, repeat))
                for solver in solvers
            }
            yield seed, {solver: cell for solver, cell in found.items() if cell}


def _shares(trials: Iterable[_Trial], solvers: set[str]) -> dict[int, dict[str, float | None]]:
    """By cell its share of the trials of which every solver has a cell, whatever became of it.

    Of several games also its times to a coarse target and to that of the runs, the strictest of
    each game, unless one of these is 0, which no measured regret has to reach.
    """
    common = [cells.values() for _, cells in trials if cells.keys() == solvers]
    times = Counter(track.place for cells in common for track in cells)
    tracks = {track.place: track for cells in common for track in cells}
    targets: dict[str, float] = {}
    for track in tracks.values():
        target, title = track.record.target or 0.0, track.game.title
        targets[title] = min(target, targets.get(title, target))
    shares: dict[int, dict[str, float | None]] = {}
    for place, track in tracks.items():
        shares[place] = {"share": times[place] / len(common)}
        if len(targets) > 1:
            strict = targets[track.game.title] if all(targets.values()) else -math.inf
            reached = {"coarse_s": COARSE * track.game.unit, "target_s": strict}
            shares[place] |= {name: _time(track, to) for name, to in reached.items()}
    return shares


def _cell(track: Track) -> dict[str, Any]:
    record = track.record
    memory = record.peak_memory_bytes if record.elapsed_s is not None else None
    return {
        "cell": track.place,
        "game": track.game.short,
        "solver": track.solver,
        **{name: getattr(record, name) for name in _FIELDS},
        "memory_mib": None if memory is None else memory / _MEBIBYTE,
        "to_target_s": _time(track, record.target) if record.target else None,
        "floor": NEGLIGIBLE * track.game.unit,
    }


def _time(track: Track, target: float) -> float | None:
    time = track.time_to(target)
    return None if time == math.inf else max(time, SHORTEST_S)


def _progress(track: Track) -> Iterable[dict[str, float | None]]:
    """The best regrets so far at each snapshot.

    Snapshots know no processor time; they share that of the cell in proportion to their time.
    """
    record = track.record
    rate = record.cpu_s / record.elapsed_s if record.cpu_s and record.elapsed_s else math.nan
    best = dict.fromkeys(_METRICS, math.inf)
    for point in track.points:
        best = {name: min(best[name], getattr(point, name)) for name in _METRICS}
        time = max(point.elapsed_s, SHORTEST_S)
        axes = {"elapsed_s": time, "cpu_s": time * rate, "work": point.work or math.nan}
        yield {name: _rounded(value) for name, value in (axes | best).items()}


def _rounded(value: float, digits: int = 4) -> float | None:
    """A number with so many digits; None for what JSON does not know."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _equilibria(game: ShownGame, tracks: Iterable[Track], most: int) -> Rows:
    """Published payoffs, and the best candidates of each cell that are equilibria.

    Empty unless payoffs pass along a published family, or are more than two.
    """
    published: Rows = [
        {"game": game.short, "cell": None, "name": known.name, **_payoffs(end)}
        for known in game.sets
        for end in known.ends
    ]
    found, places = [], set()
    for track in tracks:
        sound = [
            (rank, item)
            for rank, item in enumerate(track.record.equilibria)
            if item.max_regret <= EQUILIBRIUM * game.unit and item.refuted is None
        ]
        places |= {tuple(round(u / (SAME * game.unit)) for u in item.payoffs) for _, item in sound}
        found += [
            {
                "game": game.short,
                "cell": track.place,
                "rank": rank,
                "name": identity_text(item.identity) or "no name",
                "match": "no name" if item.identity is None else kind_of_match(item.identity),
                "max_regret": _rounded(item.max_regret),
                **_payoffs(item.payoffs),
            }
            for rank, item in sound[:most]
        ]
    is_varied = len(places) > 2 or any(len(known.ends) > 1 for known in game.sets)
    return published + found if is_varied else []


def _payoffs(payoffs: Sequence[float]) -> dict[str, float | None]:
    return {f"u{p}": _rounded(payoff, 7) for p, payoff in enumerate(payoffs, 1)}
