"""Follow trajectories of a flow: where they go, what they earn, in which regime they are.

Symbols in shapes: K times, A actions, F free frequencies, S sequences.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.dynamics import Dynamics, Flow, Trajectory
from eqbench.equilibria import known_sets
from eqbench.errors import ProfileError, UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json, profile_text
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray, GameTree
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.studies.branch import POINTS, action_labels
from eqbench.studies.flow.points import (
    SimulatedRun,
    append_points,
    drop_rows,
    kept_rows,
)
from eqbench.studies.flow.profits import (
    AGREE,
    KnownPayoffs,
    Stretch,
    windows_of,
)
from eqbench.studies.flow.regimes import NEAR_FACE, classify
from eqbench.studies.flow.resolve import by_name, solver_and_games, value_of
from eqbench.studies.frame import Session, Study, call
from eqbench.studies.requests import (
    HORIZON,
    HORIZON_BY_HAND,
    MEMORY,
    RANDOM_STARTS,
    SimulationRequest,
)
from eqbench.studies.study_files import write_profile
from eqbench.text import cell_text
from eqbench.verification import Verifier

SCHEMA = "eqbench.simulation/1"
MOST_TIMES = 1_000_000  # of a trajectory; states of a hundred frequencies are then 0.8 GB
MOST_AVERAGED = 4000  # points of a window
MOST_PLACES = 12
MOST_NEAREST = 3
_ENDS = (
    ("to_zero", "{} → 0"),
    ("to_one", "{} → 1"),
    ("at_zero", "{} at 0, may return"),
    ("at_one", "{} at 1, may return"),
)
_OF_RUN = {
    **{"start": "start", "regime": "regime", "time": "time"},
    **{"Lyapunov": "lyapunov", "settled at": "transient"},
}
_REGIMES = (
    "Lyapunov: growth rate of a small displacement over the last half of the time. Near a face: "
    f"how often frequencies that move or may return are then within {NEAR_FACE:g} of 0 or 1. "
    "Settled at: the time from which on the motion is what the regime says. Regret: the largest "
    "one of average play over the longest window, by the verifier, in payoff units. → 0, → 1: "
    "so near for the whole last half of the time, while log-odds go on growing or are constant; "
    "may return: as near for as long, but log-odds come back, show no trend, or are so large that "
    "rounding hides it. What a regime rests on is in summary.json."
)
_PROFITS = "Payoffs of a run are averages over its longest window."
_PUBLISHED = (
    "Gap: the largest distance of any player's from those of the nearest published solution. "
    "Share: the gap over the largest payoff of that solution in size. Whole: the same share of "
    f"averages from time 0 on. Payoffs agree with a solution within {AGREE:.0%} of its largest "
    "payoff in size, or within half the distance of the closest two solutions whose payoffs "
    "differ, if that is less."
)
# what generators of a start are for
_TANGENT, _HANDS = 1, 2


@dataclass(frozen=True, eq=False)
class Start:
    """Where a trajectory begins: at a profile (A,), or at log-odds drawn at random.

    Attributes
    ----------
    seeds : of all that is random about it; a single one if it is drawn
    """

    name: str
    seeds: tuple[int, ...]
    behavior: FloatArray | None = None

    def state(self, flow: Flow, spread: float) -> FloatArray:
        """The state (F,) of this start."""
        if self.behavior is not None:
            return flow.state_of(self.behavior)
        return np.random.default_rng(*self.seeds).normal(0.0, spread, flow.choices.size)

    def generator(self, purpose: int) -> np.random.Generator:
        """A generator for a purpose, counted from 1, that is independent of all others."""
        return np.random.default_rng([*self.seeds, purpose])


def _starts(tree: GameTree, request: SimulationRequest) -> tuple[Start, ...]:
    """Return the given starts, then those drawn at random."""
    starts = []
    for position, (name, data) in enumerate(by_name(request.profiles).items(), start=1):
        try:
            profile = (
                BehaviorProfile.uniform(tree) if data is None else profile_from_json(tree, data)
            )
        except ProfileError as error:
            raise ProfileError(f"the start {name}: {error}") from None
        _check_inside(tree, profile.probabilities, name)
        starts.append(Start(name, (request.seed, position), profile.probabilities))
    drawn = request.starts
    if drawn is None:
        drawn = 0 if starts else RANDOM_STARTS
    seeds = range(request.seed, request.seed + drawn)
    return (*starts, *(Start(f"seed {seed}", (seed,)) for seed in seeds))


def _check_inside(tree: GameTree, behavior: FloatArray, name: str) -> None:
    """Refuse a profile with a frequency of 0 or 1 where there is a choice."""
    choices = np.repeat(np.diff(tree.action_start), np.diff(tree.action_start)) > 1
    outside = np.flatnonzero(choices & ((behavior <= 0) | (behavior >= 1)))
    if len(outside):
        labels = action_labels(tree)
        shown = ", ".join(f"{labels[action]} is {behavior[action]:g}" for action in outside[:5])
        more = f" and {len(outside) - 5} more" if len(outside) > 5 else ""
        raise UsageError(
            f"the start {name} lies on the boundary, where log-odds are infinite: {shown}{more}; "
            "give frequencies between 0 and 1, for example 1e-6 instead of 0"
        )


def times_of(horizon: float, every: float) -> FloatArray:
    """Return the times at which states are kept, float64 (K,), equally far apart.

    Raises
    ------
    UsageError
        If there are fewer than two intervals, or more than a million.
    """
    intervals = round(min(horizon / every, 1e18)) if every > 0 else 0  # no infinity is rounded
    if not 2 <= intervals <= MOST_TIMES:
        raise UsageError(
            f"--time {horizon:g} with --every {every:g} makes {intervals:,} intervals; "
            f"choose 2 to {MOST_TIMES:,} of them"
        )
    return np.linspace(0.0, horizon, intervals + 1)


class Place:
    """One game of a simulation, with what is needed for all its trajectories.

    Parameters
    ----------
    memory : hands that players remember; None if the flow itself is followed
    """

    def __init__(self, dynamics: Dynamics, game: Game, memory: int | None) -> None:
        self.game, self.value = game, value_of(game)
        prepare = getattr(dynamics, "prepare", None)
        if prepare is not None:
            prepare(game)
        self.flow: Flow = dynamics.flow(game)
        self.hands = None if memory is None else dynamics.hand_by_hand(game, memory)
        self.known = KnownPayoffs.of(game)
        self._verifier = Verifier(game.tree)

    def to_json(self) -> dict[str, Any]:
        """Return the value of the parameter, and the published equilibria there."""
        return {
            "parameter": self.value,
            "game": self.game.spec,
            "integrator": None if self.hands else self.flow.integrator,
            "rate": self.flow.rate,
            "solutions": self.known.to_json(),
        }

    def trajectory(
        self, start: Start, spread: float, times: FloatArray, interrupted: Callable[[], bool]
    ) -> Trajectory:
        """Follow a start; a tangent at random is followed too where there is a flow."""
        state = start.state(self.flow, spread)
        if self.hands is not None:
            return self.hands.play(state, times, start.generator(_HANDS), interrupted=interrupted)
        tangent = start.generator(_TANGENT).standard_normal(len(state))
        tangent /= np.linalg.norm(tangent)
        return self.flow.integrate(state, times, tangent=tangent, interrupted=interrupted)

    def average(self, path: Trajectory, window: Stretch) -> FloatArray:
        """Return frequencies (A,) that play like the average realization plan over a window.

        Of at most 4,000 of its points, equally far apart.
        """
        count = min(window.last - window.first + 1, MOST_AVERAGED)
        points = np.linspace(window.first, window.last, count).astype(np.int64)
        form = self.game.sequence_form
        weights = _plans(form, self.flow.behavior(path.states[points])).mean(axis=0)
        return RealizationPlan(weights).to_behavior(form)

    def measured(self, behavior: FloatArray) -> dict[str, Any]:
        """Return payoffs and regrets of frequencies (A,), measured by the verifier."""
        figures = self._verifier.verify(BehaviorProfile.of(self.game.tree, behavior))
        return {
            "payoffs": [float(payoff) for payoff in figures.payoffs],
            "regrets": [float(regret) for regret in figures.regrets],
            "max_regret": float(figures.max_regret),
        }


def _plans(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Return realization plans (K, S) of frequencies (K, A)."""
    weights = np.ones((len(behavior), form.n_sequences))
    weights[:, form.n_players :] = behavior
    for parent, first, end in zip(
        form.parent.tolist(),
        form.block_start[:-1].tolist(),
        form.block_start[1:].tolist(),
        strict=True,
    ):  # parents come first
        weights[:, first:end] *= weights[:, parent : parent + 1]
    return weights


class SimulationStudy(Study[SimulationRequest]):
    """Follow trajectories one after another, each from one start at one value of the parameter.

    Attributes
    ----------
    games : the game at each value of the parameter, or once as it is
    parameter : its payoff parameter, if it has one
    starts : the same at each value
    times : float64 (K,), at which states are kept
    """

    request_type = SimulationRequest

    def __init__(self, request: SimulationRequest, *, figures: bool = False) -> None:
        """Load the games, the solver and the starts.

        Raises
        ------
        UsageError
            If the method of the solver is no flow, or it does not take the game; if a start
            lies on the boundary, or there is none; if the game lacks the parameter, or does not
            admit one of its values; if options contradict each other.
        SolverUnavailableError
            If the solver cannot run here.
        """
        self.request, hands = request, request.model == "hands"
        if request.pairs and not figures:
            raise UsageError("--pair is about figures; add --figures")
        if request.memory is not None and not hands:
            raise UsageError("--memory is of players who learn from hands; add --model hands")
        self.memory = (request.memory or MEMORY) if hands else None
        self.horizon = request.time or (HORIZON_BY_HAND if hands else HORIZON)
        self.times = times_of(self.horizon, request.every)
        self.solver, self.games = solver_and_games(request, "hand_by_hand" if hands else "flow")
        game = self.games[0]
        self.parameter = game.tree.payoffs.parameter
        if not Choices.of(game.tree).size:
            raise UsageError(
                f"nobody has a choice in {game.spec}, so nothing moves; choose another game"
            )
        self.starts = _starts(game.tree, request)
        if not self.starts:
            raise UsageError("no start was given; choose --starts 3, or --start uniform")
        self._dynamics: Dynamics = self.solver.instance
        # refuse options of the solver that do not fit the game before anything is written
        if self.memory is None:
            self._dynamics.flow(game)
        else:
            self._dynamics.hand_by_hand(game, self.memory)
        if request.pairs:
            call("eqbench.plots.flow:planes_of", game, (), request.pairs)
        self._names = published_names(game)
        self._place: Place | None = None

    def parts(self) -> list[str]:
        return [f"run{number}" for number in range(1, len(self.games) * len(self.starts) + 1)]

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Follow a trajectory; its points and its profiles are written."""
        position = int(part.removeprefix("run")) - 1
        game, start = self._run(position)
        if self._place is None or self._place.game is not game:
            session.tell(f"preparing {game.spec}")
            self._place = Place(self._dynamics, game, self.memory)
        place, name = self._place, self._name(game, start)
        session.tell(f"{name}, {position + 1} of {len(self.parts())}")
        statistics, clocks = dict(place.flow.statistics), (time.perf_counter(), time.process_time())
        path = place.trajectory(start, self.request.spread, self.times, session.interrupted)
        elapsed_s, cpu_s = time.perf_counter() - clocks[0], time.process_time() - clocks[1]
        if session.again:  # its points that were written before give way
            drop_rows(session.folder / POINTS, cell_text(name))
        self._write_points(place, name, path, session.folder)
        last = len(path.times) - 1  # 0 if it never moved
        windows = windows_of(path.times) or ([Stretch(0, last)] if last else [])
        after = place.flow.statistics
        run = {
            "name": name,
            "start": start.name,
            "parameter": place.value,
            "time": float(path.times[-1]),
            "interrupted": session.interrupted() and len(path.times) < len(self.times),
            "ending": path.ending,
            **classify(place.flow, path).to_json(action_labels(place.game.tree)),
            **_earnings(place, path, windows),
            "profiles": _profiles(place, path, windows, session.folder, part),
            "statistics": {key: after[key] - statistics.get(key, 0) for key in after},
            "elapsed_s": elapsed_s,
            "cpu_s": cpu_s,
        }
        record: dict[str, Any] = _finite({**run, "value": place.to_json()})
        return record

    def _run(self, position: int) -> tuple[Game, Start]:
        value, start = divmod(position, len(self.starts))
        return self.games[value], self.starts[start]

    def _name(self, game: Game, start: Start) -> str:
        """Return the name of a run, with the value of the parameter if there are several."""
        if len(self.games) == 1:
            return start.name
        return f"{self.parameter}={value_of(game):.12g} {start.name}"

    def _write_points(self, place: Place, name: str, path: Trajectory, folder: Path) -> None:
        rows = kept_rows(place.game.tree, len(path.times))
        states, flow = path.states[rows], place.flow
        run = SimulatedRun(
            name,
            path.times[rows],
            flow.behavior(states),
            flow.payoffs(states),
            path.profits[rows],
            place.value if self.request.at else None,
        )
        append_points(folder / POINTS, place.game.tree, run)

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
        game, request = self.games[0], self.request
        values = {record["value"]["game"]: record["value"] for record in records}
        return {
            "schema": SCHEMA,
            "game": request.game if request.at else game.spec,
            "solver": self.solver.spec,
            "model": request.model,
            "memory": self.memory,
            "players": list(game.tree.players),
            "names": self._names,
            "parameter": self.parameter,
            "time": self.horizon,
            "every": float(self.times[1]),
            "spread": request.spread,
            "finished": finished,
            "values": list(values.values()),
            "runs": [
                {key: item for key, item in record.items() if key != "value"} for record in records
            ],
        }

    def report(self, document: Mapping[str, Any]) -> Report:
        return simulation_report(document)

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Path]:
        if not document["runs"]:
            return []
        files: list[Path] = call("eqbench.plots.flow:draw_simulation", self, folder, document)
        return files


def _earnings(place: Place, path: Trajectory, windows: Sequence[Stretch]) -> dict[str, Any]:
    """Return average payoffs over windows, beside those of published equilibria, as JSON values."""
    known, times, last = place.known, path.times, len(path.times) - 1
    payoffs = [window.payoffs(times, path.profits) for window in windows]
    longest = max(range(len(windows)), key=lambda w: np.ptp(windows[w]), default=None)
    whole = None
    if last:
        average = Stretch(0, last).payoffs(times, path.profits)
        whole = {"payoffs": average.tolist(), **known.nearest(average)}
    return {
        "payoffs": None if longest is None else payoffs[longest].tolist(),
        "windows": [
            {
                "from": float(times[window.first]),
                "to": float(times[window.last]),
                "payoffs": row.tolist(),
                **known.nearest(row),
                "average_max_regret": place.measured(place.average(path, window))["max_regret"],
            }
            for window, row in zip(windows, payoffs, strict=True)
        ],
        "longest_window": longest,
        "whole": whole,
        "solutions": known.beside(payoffs),
    }


def _profiles(
    place: Place, path: Trajectory, windows: Sequence[Stretch], folder: Path, run: str
) -> dict[str, Any]:
    """Return the profiles of a trajectory as the verifier sees them; they are written as JSON."""
    profiles = {
        "start": place.flow.behavior(path.states[0]),
        "final": place.flow.behavior(path.states[-1]),
    }
    for window in sorted(windows, key=np.ptp)[-1:]:
        profiles["average"] = place.average(path, window)
    tree, spec = place.game.tree, place.game.spec
    return {
        name: place.measured(behavior)
        | {
            "profile": write_profile(
                folder,
                f"{run}-{name}",
                profile_text(tree, BehaviorProfile.of(tree, behavior), spec),
            )
        }
        for name, behavior in profiles.items()
    }


def published_names(game: Game) -> dict[str, str]:
    """Return by place what frequencies are called where equilibria of the game were published."""
    labels = action_labels(game.tree)
    return {
        labels[action]: name
        for known in known_sets(game)[:1]
        for action, name in zip(known.layout.action.tolist(), known.layout.variables, strict=True)
    }


def _finite(value: Any) -> Any:
    """Return JSON values with null in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# -- tables ---------------------------------------------------------------------------------------


def simulation_report(document: Mapping[str, Any]) -> Report:
    """Tables of a simulation: for each value of the parameter, regimes and then profits."""
    if not document["runs"]:
        return Report((Table("", lines=("no trajectory was completed",)),))
    tables: list[Table] = []
    for value in document["values"]:
        runs = [run for run in document["runs"] if run["parameter"] == value["parameter"]]
        tables += [_regimes(document, value, runs), _profits(document["players"], value, runs)]
    published = any(value["solutions"] for value in document["values"])
    profits = f"{_PROFITS} {_PUBLISHED}" if published else _PROFITS
    return Report(tuple(tables), notes=(_REGIMES, profits))


def _regimes(document: Mapping[str, Any], value: Mapping[str, Any], runs: Sequence[Any]) -> Table:
    how = f"integrator {value['integrator']}"
    if document["model"] == "hands":
        how = f"hand by hand, players remember {document['memory']:,} hands"
    rows = []
    for run in runs:
        average = run["profiles"].get("average")
        moves = run["components"] or run["at_zero"] or run["at_one"]
        cells = {
            **{title: run[key] for title, key in _OF_RUN.items()},
            "near a face": run["near_face_fraction"] if moves else None,
            "regret": average and average["max_regret"],
        }
        rows.append(Row(run["start"], cells))
    columns = (
        Column("start", identifies=True),
        Column("regime"),
        Column("time", "number", layout=",g"),
        Column("Lyapunov", "number", layout="+.4f"),
        Column("near a face", "number", layout=".3f"),
        Column("settled at", "number", layout=",.0f"),
        Column("regret", "small"),
    )
    said = [(run["start"], _destination(run, document["names"])) for run in runs]
    said += [(run["start"], _remark(run)) for run in runs]
    title = f"Trajectories of {value['game']}: {how}, rate {value['rate']:g}"
    return Table(title, columns, tuple(rows), notes=tuple(_said_once(said, len(runs))))


def _destination(run: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Say which frequencies go to 0 and to 1, or stay there."""
    if run["near_face_fraction"] is None:
        return "limits not determined"
    parts = [
        form.format(_listed(sorted(names.get(place, place) for place in run[end])))
        for end, form in _ENDS
        if run[end]
    ]
    parts = parts or ["no frequency goes to 0 or 1"]
    if run["regime"] == "boundary_absorption" and run["components"]:
        parts.append("play keeps switching between faces")
    return "; ".join(parts)


def _remark(run: Mapping[str, Any]) -> str:
    """Say why a run is undecided or absorbed, which has several reasons, or ended early."""
    if run["regime"] in ("undecided", "boundary_absorption"):
        return f"{run['regime']}, {run['reason']}"
    return f"ended early, {run['ending']}" if run["ending"] else ""


def _said_once(said: Sequence[tuple[str, str]], runs: int) -> Iterator[str]:
    """Return what is to be said, with the starts of all runs of which it is the same."""
    starts: dict[str, list[str]] = {}
    for start, text in said:
        starts.setdefault(text, []).append(start)
    for text, those in starts.items():
        if text:
            yield f"{'all starts' if 1 < runs == len(those) else ', '.join(those)}: {text}"


def _listed(words: Sequence[str], most: int = MOST_PLACES) -> str:
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more:,} more" if more > 0 else "")


def _profits(players: Sequence[str], value: Mapping[str, Any], runs: Sequence[Any]) -> Table:
    """Return the payoffs of published solutions, then of runs."""
    payoffs, solutions = [f"u:{player}" for player in players], value["solutions"]
    beside = (
        Column("gap", "number", layout=".1e"),
        Column("share", "number", layout=".1%"),
        Column("whole", "number", layout=".1%"),
        Column("nearest"),
    )
    blank = {column.title: "" for column in beside}
    rows = []
    for known in solutions:
        ranges = (_range(low, high) for low, high in known["payoffs"])
        cells = {"": known["name"], **blank, **dict(zip(payoffs, ranges, strict=True))}
        rows.append(Row(known["name"], cells))
    for run in runs:
        average = run["payoffs"] or [None] * len(players)
        cells = {"": run["start"], **blank, **dict(zip(payoffs, average, strict=True))}
        if run["windows"]:
            window = run["windows"][run["longest_window"]]
            cells |= {
                "gap": window["gap"],
                "share": window["gap_share"],
                "whole": run["whole"]["gap_share"],
                "nearest": _listed(window["nearest"] or (), MOST_NEAREST),
            }
        rows.append(Row(run["start"], cells))
    columns = [Column("", identifies=True)]
    columns += [Column(title, "payoff", layout="+z.5f") for title in payoffs]
    columns += beside if solutions else ()
    # those whose payoffs are all 0 have no share
    notes = [_agreement(runs, k, known) for k, known in enumerate(solutions) if known["agree"]]
    return Table("Profits per unit of time", tuple(columns), tuple(rows), notes=tuple(notes))


def _agreement(runs: Sequence[Any], position: int, known: Mapping[str, Any]) -> str:
    """Say over which times payoffs of runs are those of a published solution."""
    chosen = [(run, run["solutions"][position]["agrees"]) for run in runs]
    times = [
        f"{run['start']} over times {_stretches(run['windows'], agrees)}"
        for run, agrees in chosen
        if agrees
    ]
    share = 100 * known["agree"] / np.abs(known["payoffs"]).max()
    return f"within {share:.2g}% of {known['name']}: {'; '.join(times) or 'never'}"


def _stretches(windows: Sequence[Mapping[str, Any]], chosen: Sequence[int]) -> str:
    """Return windows as stretches of time, those that follow on each other as one."""
    stretches: list[list[float]] = []
    for window in (windows[w] for w in chosen):
        if stretches and window["from"] <= stretches[-1][1]:
            stretches[-1][1] = max(window["to"], stretches[-1][1])
        else:
            stretches.append([window["from"], window["to"]])
    return ", ".join(f"{first:,.5g}–{last:,.5g}" for first, last in stretches)


def _range(low: float, high: float) -> str:
    return f"{low:+z.5f}" if high - low < 1e-9 else f"{low:+z.5f} … {high:+z.5f}"
