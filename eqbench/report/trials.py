"""Cells of runs: in which order, under which names, as trials with statistics over seeds.

The time to a target that a trial did not reach is infinite: all that is known is that it is longer
than the limit of the trial.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eqbench.builtin import BUILTIN_GAMES
from eqbench.documents import decode, read_file
from eqbench.errors import EqbenchError, UsageError, first_of
from eqbench.model.profile import frequency_of
from eqbench.model.profile_json import ProfileDocument
from eqbench.model.words import key_line
from eqbench.report import read_data
from eqbench.report.known import declared_words
from eqbench.spec import is_foreign
from eqbench.store.schema import EQUILIBRIA, NEVER_RAN, CellRecord, EquilibriumRecord, trial_of
from eqbench.store.stored_run import StoredRun
from eqbench.store.traces import Snapshot, read_progress, read_trace
from eqbench.text import grouped, printable, shortened

REGRETS = (1e-3, 1e-6, 1e-9)  # in payoff units, to which tables have times too
_PLACES = ("best", "1st_quartile", "median", "3rd_quartile", "worst")
TRIAL = ("seed", "repeat")  # what tells cells of a game and solver apart
STATUSES = read_data("statuses")
_RANKS = {status: rank for rank, status in enumerate(STATUSES)}
SHORTEST_S = 1e-5  # where clocks stop telling moments apart
NEGLIGIBLE = 1e-13  # of a regret: what rounding leaves says nothing about the order
AT_START = "at the target from the start, uniform play"
UNIFORM = 1e-9  # by which frequencies of uniform play may differ


@dataclass(frozen=True, eq=False)
class RunCell:
    """A record, the name of its run, which is empty where there is one only, and the run itself."""

    run: str
    record: CellRecord
    source: StoredRun | None = None

    @property
    def solver(self) -> str:
        """Solver of the row, with its run where there are several."""
        return self.record.solver + (f" ({self.run})" if self.run else "")

    @property
    def processor(self) -> str:
        """Processor that the cell ran on, or the name of a machine of which nothing is known."""
        host = self.record.host
        known: Mapping[str, Any] = {} if self.source is None else self.source.hosts.get(host, {})
        return str(known.get("processor", host))

    @property
    def is_proved(self) -> bool:
        """True if the profile of the row is an equilibrium by exact computation."""
        return bool(self.record.equilibria) and self.record.equilibria[0].is_proved

    @cached_property
    def snapshots(self) -> Sequence[Snapshot] | None:
        """Measured snapshots in order of time; None if they cannot be read."""
        if self.source is None or self.record.trace is None:
            return ()
        try:
            stored = read_trace(self.source.path / self.record.trace)
        except UsageError:  # reports can do without
            return None
        return sorted(stored, key=lambda point: point.elapsed_s)

    @cached_property
    def curve(self) -> Sequence[Snapshot]:
        """Measured snapshots, as far as they can be read, and what the cell ended with."""
        record = self.record
        end = (record.iterations or 0, record.elapsed_s, "", record.nash_conv, record.max_regret)
        ended = [] if None in end else [Snapshot(*end)]  # type: ignore[arg-type]
        return [*(self.snapshots or ()), *ended]

    @cached_property
    def is_at_start(self) -> bool:
        """True if the first snapshot, of uniform play, met the target: there was nothing to find.

        That is so where an iteration begins at an equilibrium. The profile of the row tells.
        """
        record, target = self.record, self.record.target or 0.0
        if record.status != "ok" or (record.iterations or 0) > 1 or not record.equilibria:
            return False
        first, best = next(iter(self.snapshots or ()), None), record.equilibria[0]
        if first is None or first.max_regret > target or first.claim in EQUILIBRIA:
            return False
        if first.work != 1 and (first.work or best.claim in EQUILIBRIA):  # which may count none
            return False
        by_set = grouped(self.shares(best).items(), lambda each: each[0][:2])
        spread = (np.ptp([share for _, share in own]) for own in by_set.values())
        return bool(max(spread, default=math.inf) <= UNIFORM)

    def shares(self, item: EquilibriumRecord) -> dict[tuple[str, str, str], float]:
        """Frequencies in a stored profile; none if it is missing or damaged."""
        if self.source is None or not item.profile:
            return {}
        try:
            data = read_file(self.source.path / item.profile)
            found = {
                (player, label, action): (
                    share if isinstance(share, float) else float(frequency_of(share, action))
                )
                for player, sets in decode(data, ProfileDocument)["behavior"].items()
                for label, shares in sets.items()
                for action, share in shares.items()
            }
        except (OSError, OverflowError, EqbenchError):
            return {}  # a report can do without
        return found if all(0 <= share <= 1 for share in found.values()) else {}

    @property
    def limit_s(self) -> float:
        """Seconds of solving that the cell had; what it took where that is not known."""
        return self.source.timeout_s if self.source else self.record.elapsed_s or 0.0

    def time_to(self, regret: float | None = None) -> float:
        """Seconds of solving until a max regret was measured, or else the target was met.

        Infinite if it never was. The end meets the target if it is ok: rounding may leave a little
        more, and there may be no target.
        """
        if regret is None:
            return self._times[None] if self.record.status == "ok" else math.inf
        if regret in REGRETS:
            return self._times[regret]
        return min((p.elapsed_s for p in self.curve if p.max_regret <= regret), default=math.inf)

    @cached_property
    def _times(self) -> dict[float | None, float]:
        """Times to the target and to the usual regrets, which outlive the curve: cells are many."""
        record, target = self.record, self.record.target or 0.0
        ends = [(math.inf if record.elapsed_s is None else record.elapsed_s, record.max_regret)]
        points = [(time, regret) for time, regret in ends if regret is not None]
        if self.source is not None and record.trace is not None:
            with suppress(UsageError):  # reports can do without
                points += read_progress(self.source.path / record.trace)
        found: dict[float | None, float] = {
            level: min((time for time, regret in points if regret <= level), default=math.inf)
            for level in (*REGRETS, target)
        }
        return found | {None: min(found[target], ends[0][0])}


@dataclass(frozen=True)
class Trials:
    """Cells that belong together, as a rule those of one solver of a run on one game."""

    entries: Sequence[RunCell]

    @property
    def solver(self) -> str:
        """Solver of the first, with its run where there are several."""
        return self.entries[0].solver

    @property
    def ok(self) -> int:
        """Number of cells that reached the target, or ended ok without one."""
        return sum(entry.record.status == "ok" for entry in self.entries)

    @property
    def is_at_start(self) -> bool:
        """True if all cells met the target where the solver starts."""
        return all(entry.is_at_start for entry in self.entries)

    @property
    def best(self) -> float | None:
        """Smallest max regret of any cell."""
        return min(self.figures("max_regret"), default=None)

    def figures(self, name: str) -> list[float]:
        """Known values of a field of the records."""
        values = (getattr(entry.record, name) for entry in self.entries)
        return [value for value in values if value is not None]

    def middle(self, name: str) -> float:
        """Median of a field for an order; infinite if none is known."""
        return max(statistics.median(self.figures(name) or [math.inf]), NEGLIGIBLE)

    def time_to(self, regret: float | None = None) -> float | None:
        """Median time to a max regret, or else to the target; None if half of the cells missed it.

        What a cell that missed it would have taken is longer than what the others took.
        """
        median = statistics.median(entry.time_to(regret) for entry in self.entries)
        return median if median < math.inf else None

    @property
    def statistics(self) -> dict[str, Any]:
        """Statistics by their names in CSV; None where no cell has a figure."""
        ran = began(self.entries)
        return {
            **{"cells": len(self.entries), "ok": self.ok},
            **_quartiles("max_regret", self.figures("max_regret")),
            **_quartiles("elapsed_s", self.figures("elapsed_s")),
            **time_statistics([e.time_to() for e in ran], [e.limit_s for e in ran]),
        }


def entries_of(runs: Sequence[StoredRun]) -> list[RunCell]:
    """Cells of runs in their order, each with the name of its run."""
    named = zip(run_names(runs), runs, strict=True)
    return [RunCell(name, cell, run) for name, run in named for cell in run.cells]


def run_names(runs: Sequence[StoredRun]) -> list[str]:
    """Names that tell runs apart: those of their folders, or their paths if names repeat."""
    folders = [run.path.absolute().name for run in runs]
    if len(folders) == 1:
        return [""]
    named = zip(folders, runs, strict=True)
    return [name if folders.count(name) == 1 else str(run.path) for name, run in named]


def by_solver(entries: Iterable[RunCell], order: str = "given") -> list[Trials]:
    """Entries by solver and run, in an order that :class:`~eqbench.report.cells.View` offers."""
    places: dict[str, Callable[[Trials], Any]] = {
        "given": lambda own: 0,
        "solver": lambda own: own.entries[0].record.solver,
        "regret": lambda own: own.middle("max_regret"),
        "time": lambda own: own.middle("elapsed_s"),
        "status": lambda own: (
            max(_RANKS[entry.record.status] for entry in own.entries),
            own.middle("max_regret"),
        ),
    }
    groups = grouped(entries, lambda entry: (entry.run, entry.record.solver)).values()
    return sorted(map(Trials, groups), key=places[order])


def arranged(entries: Iterable[RunCell], order: str = "status") -> list[RunCell]:
    """Entries in the order of the solvers, whose cells stay together; equals as they were given."""
    return [entry for own in by_solver(entries, order) for entry in own.entries]


def ranked(entries: Sequence[RunCell]) -> list[RunCell]:
    """Entries with the best solvers first, as figures and tables of whole runs show them.

    On one game that is the order of its table; on several, more cells that are ok count first.
    """
    if len({entry.record.game_identity for entry in entries}) < 2:
        return arranged(entries)
    own = sorted(by_solver(entries), key=lambda each: (-each.ok, each.middle("max_regret")))
    return [entry for each in own for entry in each.entries]


def game_title(typed: str, spec: str) -> str:
    """A game as typed and in canonical form; of a foreign game the latter only."""
    return spec if typed == spec or is_foreign(spec) else f"{typed} = {spec}"


def described(entry: RunCell) -> tuple[str, ...]:
    """Line on what the game of a cell is and what its words mean, as far as it is known."""
    known = BUILTIN_GAMES.get(entry.record.game_spec.partition("(")[0])
    preset = BUILTIN_GAMES.get(entry.record.game.partition("(")[0], known)
    title = preset.summary if preset else shortened(printable(entry.record.game_title))
    parts = filter(None, (title, key_line(declared_words(entry.record.game_spec))))
    return tuple(filter(None, [". ".join(parts)]))


def titled(entries: Iterable[RunCell]) -> list[tuple[str, list[RunCell]]]:
    """Entries of each game with its title, in the order in which the games first occur.

    Games are the same if their contents are; equal titles say to which runs they belong, and what
    their contents are where that leaves them equal.
    """
    groups = [*grouped(entries, lambda entry: entry.record.game_identity).values()]
    titles = [game_title(group[0].record.game, group[0].record.game_spec) for group in groups]
    runs = [", ".join(filter(None, dict.fromkeys(e.run for e in group))) for group in groups]
    contents = [f"content {group[0].record.game_content[:8]}" for group in groups]
    for more in (runs, contents):
        often = Counter(titles)
        known = zip(titles, more, strict=True)
        titles = [t + f" (in {own})" * (often[t] > 1 and bool(own)) for t, own in known]
    return list(zip(titles, groups, strict=True))


def named(entries: Iterable[RunCell]) -> list[tuple[str, list[RunCell]]]:
    """Entries of each game with its name as typed, or its title where several are typed alike."""
    groups = [(own[0].record.game, title, own) for title, own in titled(entries)]
    times = Counter(typed for typed, *_ in groups)
    return [(typed if times[typed] == 1 else title, own) for typed, title, own in groups]


def row_labels(entries: Sequence[RunCell]) -> dict[RunCell, str]:
    """Labels of rows: the solver, with its seed, repeat and run where they tell rows apart."""
    has_trials, has_runs = any(several(name, entries) for name in TRIAL), several("run", entries)
    found = {}
    for entry in entries:
        parts = (trial_of(entry.record) * has_trials, entry.run * has_runs)
        more = ", ".join(filter(None, parts))
        found[entry] = entry.record.solver + (f" ({more})" if more else "")
    return found


def labels(sharing: Iterable[RunCell], label: Mapping[RunCell, str]) -> str:
    """Labels of some rows; those of a solver share one, which says how many there are."""
    return ", ".join(
        label[first] if not others else f"{first.solver} ×{1 + len(others)}"
        for first, *others in (own.entries for own in by_solver(sharing))
    )


def virtual_best(entries: Sequence[RunCell]) -> tuple[Counter[str], dict[str, Any]] | None:
    """Trials of a game that each solver won, and statistics of the fastest one in each trial.

    Who is at the target from the start wins none. None for a single solver, or if none was ok.
    """
    times, limits, wins = [], [], Counter[str]()
    for _, own in by_trial(entries):
        reached = {solver: entry.time_to() for solver, entry in own.items()}
        times.append(min(reached.values()))
        limits.append(max(entry.limit_s for entry in own.values()))
        away = {name: time for name, time in reached.items() if not own[name].is_at_start}
        earliest = min(away.values(), default=math.inf)
        wins.update(name for name, time in away.items() if time == earliest < math.inf)
    ok = sum(time < math.inf for time in times)
    if not ok or len({entry.solver for entry in entries}) < 2:
        return None
    return wins, {"cells": len(times), "ok": ok} | time_statistics(times, limits)


class Standing(NamedTuple):
    """How a solver did on several games; one is solved if most of its cells met the target."""

    solver: str
    solved: int
    taken: int  #: games on which it began
    fastest: int  #: games that no other solved earlier, by median times; none where one began at it
    at_start: int  #: games on which it met the target where it starts


def standings(games: Iterable[Sequence[RunCell]]) -> list[Standing]:
    """Standings of the solvers of some games, the best first."""
    solved, taken, fastest, idle = (Counter[str]() for _ in range(4))
    for game in games:
        taken.update(dict.fromkeys((entry.solver for entry in game), 0))
        ran = {own.solver: own for own in by_solver(began(game))}
        known = {name: time for name, own in ran.items() if (time := own.time_to()) is not None}
        taken.update(ran.keys())
        solved.update(known.keys())
        idle.update(at_start := {name for name in known if ran[name].is_at_start})
        if not at_start:  # otherwise no time is earlier
            fastest.update(name for name, time in known.items() if time == min(known.values()))
    found = [Standing(s, solved[s], taken[s], fastest[s], idle[s]) for s in taken]
    return sorted(found, key=lambda own: (-own.solved, -own.fastest))


def by_trial(entries: Iterable[RunCell]) -> list[tuple[str, dict[str, RunCell]]]:
    """Cells of a game by solver for each seed and repeat, with its name.

    Those of solvers that use no chance belong to all seeds.
    """
    cells = grouped(entries, lambda entry: (entry.record.seed, entry.record.repeat))
    found = []
    for seed, repeat in sorted(key for key in cells if key[0] is not None) or sorted(cells):
        sure = cells.get((None, repeat), []) if seed is not None else []
        own = {entry.solver: entry for entry in [*sure, *cells[seed, repeat]]}
        found.append((trial_of(cells[seed, repeat][0].record), own))
    return found


def time_statistics(times: Sequence[float], limits: Sequence[float]) -> dict[str, Any]:
    """Statistics of times to the target, of which those that are infinite have missed it."""
    means = {"par2_elapsed_s": penalized_mean, "sgm_elapsed_s": shifted_geometric_mean}
    low, high = bootstrap_interval(lambda drawn: quantile(drawn[0], 0.5), times) or (None, None)
    return {
        **_quartiles("time_to_target_s", times),
        **{name: mean(times, limits) if times else None for name, mean in means.items()},
        **{"fastest": None, "interval_low_s": low, "interval_high_s": high},
    }


def _quartiles(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Best, quartiles and worst by their names; None where there is nothing."""
    ends = [float(quantile(values, k / 4)) if values else None for k in range(5)]
    return {f"{place}_{name}": end for place, end in zip(_PLACES, ends, strict=True)}


def began(entries: Iterable[RunCell]) -> list[RunCell]:
    """Entries of solvers that take the game and are available."""
    return [entry for entry in entries if entry.record.status not in NEVER_RAN]


def processors(entries: Iterable[RunCell]) -> list[str]:
    """Processors that cells ran on, as far as they are known."""
    return sorted({entry.processor for entry in entries} - {""})


def mixed_processors(entries: Iterable[RunCell]) -> list[str]:
    """A note if cells ran on different processors, wherever they were stored."""
    found = processors(entries)
    return [f"times are of different processors: {first_of(found)}"] if len(found) > 1 else []


def several(name: str, entries: Iterable[RunCell]) -> bool:
    """Return whether cells differ in their ``run`` or in one of `TRIAL`."""
    holders = (entry if name == "run" else entry.record for entry in entries)
    return len({getattr(holder, name) for holder in holders} - {None}) > 1


def first_trials(entries: Sequence[RunCell], most: int) -> list[RunCell]:
    """As many cells as a page has room for: the first ones of each solver on each game, in turns.

    If these are more, they are those of the first games.
    """
    groups = grouped(entries, lambda e: (e.record.game_identity, e.run, e.record.solver)).values()
    in_turn = (entry for turn in zip_longest(*groups) for entry in turn if entry)
    taken = set(islice(in_turn, most))
    return [entry for entry in entries if entry in taken]


# -- statistics of times, some of which are infinite -----------------------------------------------

FEWEST_TRIALS = 5  # that have an interval
RESAMPLES, CONFIDENCE = 2000, 0.95
SHIFT_S = 0.01  # a thousandth of the usual limit; shorter times hardly count in a geometric mean
_MOST_DRAWN = 2**20  # numbers that are held at a time


def quantile(values: ArrayLike, share: float) -> NDArray[np.float64]:
    """Quantile along the last axis, between its two neighbors; infinite if the larger of them is.

    NumPy has no value there. `share` is from 0 to 1.
    """
    known = np.asarray(values, float)
    place = share * (known.shape[-1] - 1)
    sides = int(np.floor(place)), int(np.ceil(place))
    low, high = np.moveaxis(np.partition(known, sides, axis=-1)[..., sides], -1, 0)
    with np.errstate(invalid="ignore"):
        return np.where(low == high, low, low + (high - low) * (place - sides[0]))


def bootstrap_interval(
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]], *figures: ArrayLike
) -> tuple[float, float] | None:
    """Percentile bootstrap interval at 95 %; None for fewer than five trials.

    The samples are always the same (Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    section 13.3). `scipy.stats.bootstrap` has the same ends, and takes a second to import.

    Parameters
    ----------
    statistic : function of figures (K, S, T) in S samples of T trials, with values (S,)
    figures : K arrays (T,), drawn together
    """
    known = np.asarray(figures, float)
    number = known.shape[-1]
    if number < FEWEST_TRIALS:
        return None
    rng, step = np.random.default_rng(0), max(1, _MOST_DRAWN // number)
    sizes = (min(step, RESAMPLES - first) for first in range(0, RESAMPLES, step))
    drawn = (known[:, rng.integers(number, size=(size, number))] for size in sizes)
    values = np.concatenate([statistic(own) for own in drawn])
    low, high = (float(quantile(values, (1 + sign * CONFIDENCE) / 2)) for sign in (-1, 1))
    return low, high


def penalized_mean(times: ArrayLike, limits: ArrayLike) -> float:
    """Mean time where a missed target counts as twice the limit (PAR-2 of the SAT competitions)."""
    return float(np.where(np.isfinite(times), times, 2 * np.asarray(limits, float)).mean())


def shifted_geometric_mean(times: ArrayLike, limits: ArrayLike) -> float:
    """Geometric mean of times + 10 ms, less these; a missed target counts with its limit.

    Achterberg, Constraint Integer Programming, 2007, appendix A.3; there and in Mittelmann's
    benchmarks with longer limits and larger shifts.
    """
    known = np.where(np.isfinite(times), times, limits)
    return float(np.exp(np.log(known + SHIFT_S).mean()) - SHIFT_S)
