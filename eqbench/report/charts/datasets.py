"""The data of charts: flat rows by name of dataset, which every chart draws from."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from eqbench.report.charts.material import GameTracks, Material, Track
from eqbench.report.naming import identity_text, kind_of_match
from eqbench.store.schema import EquilibriumRecord

Rows = list[dict[str, Any]]

SHORTEST_S = 1e-5  # where clocks stop telling moments apart
NEGLIGIBLE = 1e-13  # of the payoff range: what sums of rounded products leave behind
SAME = 1e-5  # of the payoff range: below which payoffs are the same
EQUILIBRIUM = 1e-6  # of the payoff range: up to which regret a profile counts as an equilibrium
# Shares of the payoff range, eight a decade: as many as lines stay smooth with.
TARGETS = tuple(10.0 ** (-k / 8) for k in range(8, 81))
COARSE = 1e-3
_GRID = 32  # places at which seeds are held against each other
_MOST_DRAWN = 1000  # equilibria, the best of each cell
_STEPS = 120  # of a line of shares
_AXES = ("elapsed_s", "cpu_s", "work")
_METRICS = ("max_regret", "nash_conv")
_MEBIBYTE = 2**20


def datasets(material: Material) -> dict[str, Rows]:
    """All datasets; names of columns are those of the stored records where there are such."""
    pairs = [(game, track) for game in material.games for track in game.tracks]
    trials = common_trials(material)
    varied = [game for game in material.games if _is_varied(game)]
    return {
        "cells": sorted((_cell(*pair) for pair in pairs), key=lambda row: row["cell"]),
        "snapshots": [
            {"cell": track.place, **point} for _, track in pairs for point in _progress(track)
        ],
        "bands": [row for game in material.games for row in _bands(game)],
        "equilibria": [
            row
            for game in varied
            for track in game.tracks
            for row in list(_found(game, track))[: _MOST_DRAWN // len(pairs) + 1]
        ],
        "published": [
            {"game": game.short, "name": known.name, **_payoffs(end)}
            for game in varied
            for known in game.sets
            for end in known.ends
        ],
        "frames": [row for game in varied for row in _frame(game)],
        "trials": _all_trials(material),
        "targets": _ecdf(trials),
        "profiles": _profiles(material, trials),
    }


def _cell(game: GameTracks, track: Track) -> dict[str, Any]:
    record = track.record
    names = ("seed", "repeat", "status", "elapsed_s", "cpu_s", "setup_s", "overhead_s")
    time = track.time_to(record.target) if record.target else math.inf
    memory = record.peak_memory_bytes if record.elapsed_s is not None else None
    return {
        "cell": track.place,
        "game": game.short,
        "solver": track.solver,
        **{name: getattr(record, name) for name in (*names, *_METRICS, "iterations")},
        "memory_mib": None if memory is None else memory / _MEBIBYTE,
        "to_target_s": None if time == math.inf else max(time, SHORTEST_S),
        "floor": NEGLIGIBLE * game.unit,
        "alone": sum(bool(other.points) for other in game.by_solver[track.solver]) < 2,
    }


def _progress(track: Track) -> Iterable[dict[str, float]]:
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
        yield {k: _rounded(v) for k, v in (axes | best).items()}  # type: ignore[misc]


def _rounded(value: float, digits: int = 4) -> float | None:
    """A number with so many digits; None for what JSON does not know."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _bands(game: GameTracks) -> Iterable[dict[str, Any]]:
    """Median and quartiles of the best regrets so far, of solvers that have several cells."""
    for solver, own in game.by_solver.items():
        curves = [list(_progress(track)) for track in own if track.points]
        for axis in _AXES if len(curves) > 1 else ():
            known = [[p for p in curve if p[axis] is not None] for curve in curves]
            places = [p[axis] for curve in known for p in curve]
            grid: Iterable[float] = (
                np.geomspace(min(places), max(places), _GRID).tolist() if all(known) else ()
            )
            for x in grid:
                row = {"game": game.short, "solver": solver, "axis": axis, "seeds": len(curves)}
                for name in _METRICS:
                    values = [_at(curve, axis, name, x * (1 + 1e-9)) for curve in known]
                    low, middle, high = np.percentile(values, (25, 50, 75), method="lower")
                    floor = NEGLIGIBLE * game.unit
                    quartiles = {"": middle, "_low": low, "_high": high}
                    row |= {
                        name + suffix: _rounded(max(value, floor))
                        for suffix, value in quartiles.items()
                    }
                if None not in row.values():
                    yield {**row, "x": _rounded(x)}


def _at(curve: Sequence[Mapping[str, float]], axis: str, name: str, x: float) -> float:
    """What a curve had reached at a place of an axis; infinite before its first point."""
    return min((point[name] for point in curve if point[axis] <= x), default=math.inf)


def _found(game: GameTracks, track: Track) -> Iterable[dict[str, Any]]:
    """Candidates of a cell that are equilibria."""
    for rank, item in enumerate(track.record.equilibria):
        if _is_equilibrium(game, item):
            yield {
                "cell": track.place,
                "rank": rank,
                "name": identity_text(item.identity) or "no name",
                "match": "no name" if item.identity is None else kind_of_match(item.identity),
                "max_regret": _rounded(item.max_regret),
                **_payoffs(item.payoffs),
            }


def _payoffs(payoffs: Sequence[float]) -> dict[str, float | None]:
    return {f"u{p}": _rounded(payoff, 7) for p, payoff in enumerate(payoffs, 1)}


class Trial(NamedTuple):
    """A game, a seed and a repeat, with the cell of each solver by its label."""

    game: GameTracks
    seed: int | None
    cells: Mapping[str, Track]


def _trials(game: GameTracks) -> list[Trial]:
    """Seeds and repeats of a game; a solver that uses no chance has one cell, for all seeds."""
    own = {(t.solver, t.record.seed, t.record.repeat): t for t in game.tracks}
    drawn = {key[1:] for key in own if key[1] is not None} or {key[1:] for key in own}
    trials = []
    for seed, repeat in sorted(drawn, key=str):
        found = {
            solver: own.get((solver, seed, repeat)) or own.get((solver, None, repeat))
            for solver in game.by_solver
        }
        trials.append(Trial(game, seed, {s: cell for s, cell in found.items() if cell}))
    return trials


def _all_trials(material: Material) -> Rows:
    """A row for each cell of each trial, by which two solvers are held against each other.

    Empty where there is but one trial.
    """
    trials = [trial for game in material.games for trial in _trials(game)]
    return [
        {"trial": at, "game": trial.game.short, "seed": trial.seed, "cell": track.place}
        for at, trial in enumerate(trials if len(trials) > 1 else ())
        for track in trial.cells.values()
    ]


def common_trials(material: Material) -> list[Trial]:
    """Trials of which every solver has a cell, whatever became of it."""
    solvers = {solver for game in material.games for solver in game.by_solver}
    trials = [trial for game in material.games for trial in _trials(game)]
    return [trial for trial in trials if trial.cells.keys() == solvers]


def _ecdf(trials: Sequence[Trial]) -> Rows:
    """Share of all games, seeds and targets that each solver reached over time.

    The run-length distributions of Hansen et al. (2021, COCO), over time instead of evaluations.
    """
    times = {
        solver: [
            max(trial.cells[solver].time_to(target * trial.game.unit), SHORTEST_S)
            for trial in trials
            for target in TARGETS
        ]
        for solver in (trials[0].cells if trials else ())
    }
    return _shares("ecdf", times)


def _profiles(material: Material, trials: Sequence[Trial]) -> Rows:
    """Shares of games that each solver solved within a factor of the fastest one's time.

    Dolan and Moré (2002), once to a coarse target and once to the target of the runs, unless it
    is 0, which no measured regret has to reach; a solver with several seeds counts with the
    median of its times. Empty unless there are two games.
    """
    counted = [game for game in material.games if any(trial.game is game for trial in trials)]
    if len(counted) < 2:
        return []
    full = {
        game.title: min((track.record.target or 0.0 for track in game.tracks), default=0.0)
        for game in counted
    }
    rows = _profile("coarse", trials, {game.title: COARSE * game.unit for game in counted})
    return rows + (_profile("target", trials, full) if all(full.values()) else [])


def _profile(kind: str, trials: Sequence[Trial], targets: Mapping[str, float]) -> Rows:
    ratios: dict[str, list[float]] = {solver: [] for solver in trials[0].cells}
    for title, target in targets.items():
        own = [trial.cells for trial in trials if trial.game.title == title]
        times = {
            solver: statistics.median_high(
                max(cells[solver].time_to(target), SHORTEST_S) for cells in own
            )
            for solver in ratios
        }
        best = min(times.values())
        for solver, time in times.items():
            ratios[solver].append(time / best if best < math.inf else math.inf)
    return _shares(kind, ratios)


def _shares(kind: str, values: Mapping[str, Sequence[float]]) -> Rows:
    """Where the share of values that are at most x rises, as lines of steps; empty without any."""
    reached = [value for own in values.values() for value in own if value < math.inf]
    rows = []
    for solver, own in values.items():
        known = sorted(own)
        rises = {x: (k + 1) / len(known) for k, x in enumerate(known) if x < math.inf}
        steps = [*rises.items()][:: -(-len(rises) // _STEPS) or 1] + [*rises.items()][-1:]
        if steps:
            steps = [(steps[0][0], 0.0), *steps, (max(reached), steps[-1][1])]
        rows += [
            {"kind": kind, "solver": solver, "x": _rounded(x), "share": _rounded(share)}
            for x, share in dict.fromkeys(steps)
        ]
    return rows


def _vectors(game: GameTracks) -> list[list[float]]:
    """Payoffs of all equilibria, the best first."""
    items = [item for track in game.tracks for item in track.record.equilibria]
    items.sort(key=lambda item: item.max_regret)
    return [item.payoffs for item in items if _is_equilibrium(game, item)]


def _is_varied(game: GameTracks) -> bool:
    """Whether payoffs pass along a published family, or are more than two."""
    places = {tuple(round(u / (SAME * game.unit)) for u in vector) for vector in _vectors(game)}
    return len(places) > 2 or any(len(known.ends) > 1 for known in game.sets)


def _frame(game: GameTracks) -> Rows:
    """Two corners between which payoffs lie: what does not vary shall not look as if it did."""
    vectors = np.array([*_vectors(game), *(end for known in game.sets for end in known.ends)])
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    middle, least = (low + high) / 2, (high[0] - low[0]) / 4
    corners = np.minimum(low, middle - least), np.maximum(high, middle + least)
    return [{"game": game.short, **_payoffs(corner.tolist())} for corner in corners]


def _is_equilibrium(game: GameTracks, item: EquilibriumRecord) -> bool:
    return item.max_regret <= EQUILIBRIUM * game.unit and item.refuted is None
