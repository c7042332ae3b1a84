"""The data of charts: flat rows by name of dataset, which every chart draws from.

What charts compute of these, such as medians over seeds or shares of targets, is said in their
templates.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from eqbench.report.charts.material import GameTracks, Material, Track
from eqbench.report.naming import identity_text, kind_of_match

Rows = list[dict[str, Any]]

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
    trials = [trial for game in material.games for trial in _trials(game)]
    pairs = [(game, track) for game in material.games for track in game.tracks]
    pairs.sort(key=lambda pair: pair[1].place)
    shares = _shares(trials, {track.solver for _, track in pairs})
    most = _MOST_DRAWN // max(len(pairs), 1) + 1
    return {
        "cells": [_cell(game, track) | shares.get(track.place, {}) for game, track in pairs],
        "snapshots": [
            {"cell": track.place, **point} for _, track in pairs for point in _progress(track)
        ],
        "equilibria": [row for game in material.games for row in _equilibria(game, most)],
        "trials": [
            {"trial": at, "game": trial.game.short, "seed": trial.seed, "cell": track.place}
            for at, trial in enumerate(trials if len(trials) > 1 else ())
            for track in trial.cells.values()
        ],
    }


class _Trial(NamedTuple):
    """A game, a seed and a repeat, with the cell of each solver by its label."""

    game: GameTracks
    seed: int | None
    cells: Mapping[str, Track]


def _trials(game: GameTracks) -> Iterable[_Trial]:
    """Seeds and repeats of a game; a solver that uses no chance has one cell, for all seeds."""
    own = {(t.solver, t.record.seed, t.record.repeat): t for t in game.tracks}
    drawn = {key[1:] for key in own if key[1] is not None} or {key[1:] for key in own}
    for seed, repeat in sorted(drawn, key=str):
        found = {
            solver: own.get((solver, seed, repeat)) or own.get((solver, None, repeat))
            for solver in game.by_solver
        }
        yield _Trial(game, seed, {solver: cell for solver, cell in found.items() if cell})


def _shares(trials: Sequence[_Trial], solvers: set[str]) -> dict[int, dict[str, float | None]]:
    """By cell its share of the trials of which every solver has a cell, whatever became of it.

    Of several games also its times to a coarse target and to that of the runs, the strictest of
    each game, unless one of these is 0, which no measured regret has to reach.
    """
    common = [trial for trial in trials if trial.cells.keys() == solvers]
    times = Counter(track.place for trial in common for track in trial.cells.values())
    targets = {
        trial.game.title: min(track.record.target or 0.0 for track in trial.game.tracks)
        for trial in common
    }
    shares: dict[int, dict[str, float | None]] = {}
    for trial, track in ((each, track) for each in common for track in each.cells.values()):
        shares[track.place] = {"share": times[track.place] / len(common)}
        if len(targets) > 1:
            strict = targets[trial.game.title] if all(targets.values()) else -math.inf
            reached = {"coarse_s": COARSE * trial.game.unit, "target_s": strict}
            shares[track.place] |= {name: _time(track, to) for name, to in reached.items()}
    return shares


def _cell(game: GameTracks, track: Track) -> dict[str, Any]:
    record = track.record
    memory = record.peak_memory_bytes if record.elapsed_s is not None else None
    return {
        "cell": track.place,
        "game": game.short,
        "solver": track.solver,
        **{name: getattr(record, name) for name in _FIELDS},
        "memory_mib": None if memory is None else memory / _MEBIBYTE,
        "to_target_s": _time(track, record.target or 0.0) if record.target else None,
        "floor": NEGLIGIBLE * game.unit,
        "alone": sum(bool(other.points) for other in game.by_solver[track.solver]) < 2,
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


def _equilibria(game: GameTracks, most: int) -> Rows:
    """Published payoffs, and the best candidates of each cell that are equilibria.

    Empty unless payoffs pass along a published family, or are more than two.
    """
    published: Rows = [
        {"game": game.short, "cell": None, "name": known.name, **_payoffs(end)}
        for known in game.sets
        for end in known.ends
    ]
    found, places = [], set()
    for track in game.tracks:
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
