"""Follow trajectories of a flow: where they go, what they earn, in which regime they are.

Symbols in shapes: K times, N players, A actions, F free frequencies, S sequences.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.dynamics import Dynamics, Flow, Trajectory
from eqbench.equilibria import known_sets
from eqbench.errors import ProfileError, UsageError, first_of
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.profile_json import profile_from_json
from eqbench.model.realization import RealizationPlan, realization
from eqbench.model.tree import FloatArray, GameTree
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.studies.branch import POINTS, measured
from eqbench.studies.extremes import AGREE, KnownPayoffs
from eqbench.studies.flow.points import SimulatedRun, append_points, kept_rows
from eqbench.studies.flow.regimes import NEAR_FACE, classify
from eqbench.studies.frame import Drawn, Session, Study, call, legend
from eqbench.studies.requests import (
    HORIZON,
    HORIZON_BY_HAND,
    RANDOM_STARTS,
    REMEMBERED,
    SimulationRequest,
)
from eqbench.studies.resolve import by_name, games_of_flow, solver_for, value_of

SCHEMA = "eqbench.simulation/1"
MOST_TIMES = 1_000_000  # of a trajectory; states of a hundred frequencies are then 0.8 GB
MOST_AVERAGED = 4000  # points of a window
DOUBLINGS = 8  # of windows
LEAST_INTERVALS = 20  # of a window
LAST_SHARE = 0.1
MOST_PLACES = 12
MOST_NEAREST = 3
_ENDS = {
    "to_zero": "{} → 0",
    "to_one": "{} → 1",
    "at_zero": "{} at 0, may return",
    "at_one": "{} at 1, may return",
}
# what generators of a start are for, so that they are independent
_TANGENT, _HANDS = 1, 2


class Start(NamedTuple):
    """Where a trajectory begins: at log-odds (F,) of a profile, or drawn at random.

    Attributes
    ----------
    seeds : of all that is random about it; a single one if it is drawn
    """

    name: str
    seeds: tuple[int, ...]
    state: FloatArray


def _starts(tree: GameTree, flow: Flow, request: SimulationRequest) -> tuple[Start, ...]:
    starts = []
    for position, (name, data) in enumerate(by_name(request.profiles).items(), start=1):
        try:
            uniform = data is None
            profile = BehaviorProfile.uniform(tree) if uniform else profile_from_json(tree, data)
            state = flow.state_of(profile.probabilities)
        except (ProfileError, UsageError) as error:
            raise type(error)(f"the start {name}: {error}") from None
        starts.append(Start(name, (request.seed, position), state))
    drawn = (0 if starts else RANDOM_STARTS) if request.starts is None else request.starts
    for seed in range(request.seed, request.seed + drawn):
        state = np.random.default_rng(seed).normal(0.0, request.spread, flow.choices.size)
        starts.append(Start(f"seed {seed}", (seed,), state))
    if not starts:
        raise UsageError("no start was given; choose --starts 3, or --start uniform")
    return tuple(starts)


def times_of(horizon: float, every: float) -> FloatArray:
    """Return the times at which states are kept, float64 (K,); equally far apart."""
    intervals = round(min(horizon / every, 1e18)) if every > 0 else 0  # no infinity is rounded
    if not 2 <= intervals <= MOST_TIMES:
        raise UsageError(
            f"--duration {horizon:g} with --every {every:g} makes {intervals:,} intervals; "
            f"choose 2 to {MOST_TIMES:,} of them"
        )
    return np.linspace(0.0, horizon, intervals + 1)


class Stretch(NamedTuple):
    """A stretch of a trajectory, from one position to another one, both included."""

    first: int
    last: int

    def payoffs(self, times: FloatArray, profits: FloatArray) -> FloatArray:
        """Return average payoffs of the players, float64 (N,), from profits (K, N)."""
        first, last = self
        return (profits[last] - profits[first]) / (times[last] - times[first])


def windows_of(times: FloatArray) -> list[Stretch]:
    """Return windows of time, each twice as long as the one before, then the last tenth.

    They are [T/2^k, T/2^(k-1)] with T the time that was reached, measured from the first one,
    as far as they contain 20 intervals; ends are the nearest of the times (K,).
    """
    length = times - times[0]
    ends = [length[-1] / 2**k for k in range(DOUBLINGS, -1, -1)]
    shares = [*pairwise(ends), ((1 - LAST_SHARE) * length[-1], length[-1])]
    found = [Stretch(*(int(np.abs(length - end).argmin()) for end in share)) for share in shares]
    return [window for window in found if window.last - window.first >= LEAST_INTERVALS]


class Place:
    """One game of a simulation, with what is needed for all its trajectories."""

    def __init__(self, dynamics: Dynamics, game: Game, memory: int | None) -> None:
        self.game, self.value = game, value_of(game)
        if hasattr(dynamics, "prepare"):
            dynamics.prepare(game)
        self.flow: Flow = dynamics.flow(game)
        self.hands = None if memory is None else dynamics.hand_by_hand(game, memory)
        self.known = KnownPayoffs.of(game)

    def trajectory(
        self, start: Start, times: FloatArray, interrupted: Callable[[], bool]
    ) -> Trajectory:
        """Follow a start; a tangent at random is followed too where there is a flow."""
        state = start.state
        if self.hands is not None:
            rng = np.random.default_rng([*start.seeds, _HANDS])
            return self.hands.play(state, times, rng, interrupted=interrupted)
        tangent = np.random.default_rng([*start.seeds, _TANGENT]).standard_normal(len(state))
        tangent /= np.linalg.norm(tangent)
        return self.flow.integrate(state, times, tangent=tangent, interrupted=interrupted)

    def average(self, path: Trajectory, window: Stretch) -> FloatArray:
        """Return frequencies (A,) that play like the average plan over points of a window."""
        count = min(window.last - window.first + 1, MOST_AVERAGED)
        points = np.linspace(window.first, window.last, count).astype(np.int64)
        form = self.game.sequence_form
        plans = realization(form, self.flow.behavior(path.states[points]).T).T
        return RealizationPlan(np.ascontiguousarray(plans).mean(axis=0)).to_behavior(form)


class SimulationStudy(Study[SimulationRequest]):
    """Follow trajectories one after another, each from one start at one value of the parameter.

    Attributes
    ----------
    games : the game at each value of the parameter, or once as it is
    starts : the same at each value
    times : float64 (K,), at which states are kept
    """

    request_type = SimulationRequest

    def __init__(self, request: SimulationRequest, *, figures: bool = False) -> None:
        """Load the games, the solver and the starts; refuse what does not fit together."""
        self.request, hands = request, request.model == "hands"
        if request.pairs and not figures:
            raise UsageError("--pair is about figures; add --figures")
        if request.remember is not None and not hands:
            raise UsageError("--remember is of players who learn from hands; add --model hands")
        self.memory = (request.remember or REMEMBERED) if hands else None
        self.horizon = request.duration or (HORIZON_BY_HAND if hands else HORIZON)
        self.times = times_of(self.horizon, request.every)
        self.games = games_of_flow(request)
        game, method = self.games[0], "hand_by_hand" if hands else "flow"
        self.solver = solver_for(request, game, request.solver, method)
        self.parameter = game.tree.payoffs.parameter
        if not Choices.of(game.tree).size:
            raise UsageError(
                f"no player has a choice in {game.spec}, so nothing moves; choose another game"
            )
        self._dynamics: Dynamics = self.solver.instance
        self.starts = _starts(game.tree, self._dynamics.flow(game), request)
        self._runs = [(game, start) for game in self.games for start in self.starts]
        if self.memory is not None:  # refuse what does not fit the game before anything is written
            self._dynamics.hand_by_hand(game, self.memory)
        if request.pairs:
            call("eqbench.plots.flow:planes_of", game, (), request.pairs)
        self._place: Place | None = None

    def parts(self) -> list[str]:
        return [f"run{number}" for number in range(1, len(self._runs) + 1)]

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Follow a trajectory; its points and its profiles are written."""
        number = int(part.removeprefix("run"))
        game, start = self._runs[number - 1]
        if self._place is None or self._place.game is not game:
            session.tell(f"preparing {game.spec}")
            self._place = Place(self._dynamics, game, self.memory)
        place, flow, name = self._place, self._place.flow, start.name
        if len(self.games) > 1:
            name = f"{self.parameter}={place.value:.12g} {name}"
        session.tell(f"{name}, {number} of {len(self._runs)}")
        before, clocks = dict(flow.statistics), (time.perf_counter(), time.process_time())
        path = place.trajectory(start, self.times, self._watched(place, session))
        elapsed_s, cpu_s = time.perf_counter() - clocks[0], time.process_time() - clocks[1]
        rows = kept_rows(game.tree, len(path.times))
        states, value = path.states[rows], place.value if self.request.at else None
        behavior, payoffs = flow.behavior(states), flow.payoffs(states)
        points = SimulatedRun(name, path.times[rows], behavior, payoffs, path.profits[rows], value)
        append_points(session.folder / POINTS, game.tree, points, again=session.again)
        run = {
            "name": name,
            "start": start.name,
            "parameter": place.value,
            "time": float(path.times[-1]),
            "interrupted": session.interrupted() and len(path.times) < len(self.times),
            "ending": path.ending,
            **classify(flow, path).to_json(action_labels(game.tree)),
            **_earnings(place, path, session.folder, part),
            "statistics": {key: n - before.get(key, 0) for key, n in flow.statistics.items()},
            "elapsed_s": elapsed_s,
            "cpu_s": cpu_s,
            "value": {
                "parameter": place.value,
                "game": game.spec,
                "integrator": None if place.hands else flow.integrator,
                "rate": flow.rate,
                "solutions": place.known.to_json(),
            },
        }
        # null in place of numbers that are not finite
        record: dict[str, Any] = json.loads(json.dumps(run), parse_constant=lambda word: None)
        return record

    def _watched(self, place: Place, session: Session) -> Callable[[], bool]:
        """Whether to stop; tells how far the trajectory is, where it can be seen."""

        def interrupted() -> bool:
            now = getattr(place.hands or place.flow, "now", None)
            if now is not None:
                session.done(now / self.horizon)
            return session.interrupted()

        return interrupted

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
            "names": published_names(game),
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

    @staticmethod
    def report(document: Mapping[str, Any]) -> Report:
        if not document["runs"]:
            return Report((Table("", lines=("no trajectory was completed",)),))
        tables: list[Table] = []
        for value in document["values"]:
            runs = [run for run in document["runs"] if run["parameter"] == value["parameter"]]
            tables += [_regimes(document, value, runs), _profits(document["players"], value, runs)]
        published = any(value["solutions"] for value in document["values"])
        profits = legend("simulate.profits")
        if published:
            profits += f" {legend('simulate.published', agree=AGREE)}"
        return Report(tuple(tables), notes=(legend("simulate.regimes", near=NEAR_FACE), profits))

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Drawn]:
        if document["runs"]:
            yield from call("eqbench.plots.flow:draw_simulation", self, folder, document)


def _earnings(place: Place, path: Trajectory, folder: Path, run: str) -> dict[str, Any]:
    """Return payoffs over windows next to published ones, and profiles, which are written too."""
    game, known, times = place.game, place.known, path.times
    last = len(times) - 1  # 0 if it never moved
    windows = windows_of(times) or ([Stretch(0, last)] if last else [])
    payoffs = [window.payoffs(times, path.profits) for window in windows]
    averages = [place.average(path, window) for window in windows]
    longest = max(range(len(windows)), key=lambda w: np.ptp(windows[w]), default=None)
    start, final = place.flow.behavior(path.states[0]), place.flow.behavior(path.states[-1])
    profiles = {"start": start, "final": final}
    whole = None
    if longest is not None:
        profiles["average"] = averages[longest]
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
                "average_max_regret": measured(game.tree, average).max_regret,
            }
            for window, row, average in zip(windows, payoffs, averages, strict=True)
        ],
        "longest_window": longest,
        "whole": whole,
        "solutions": known.beside(payoffs),
        "profiles": {
            name: measured(game.tree, own).write(game, folder, f"{run}-{name}")
            for name, own in profiles.items()
        },
    }


def published_names(game: Game) -> dict[str, str]:
    """Return by place what frequencies are called where equilibria of the game were published."""
    labels = action_labels(game.tree)
    return {
        labels[action]: name
        for known in known_sets(game)[:1]
        for action, name in zip(known.layout.action.tolist(), known.layout.variables, strict=True)
    }


# -- tables ---------------------------------------------------------------------------------------


def _regimes(document: Mapping[str, Any], value: Mapping[str, Any], runs: Sequence[Any]) -> Table:
    how = f"integrator {value['integrator']}"
    if document["model"] == "hands":
        how = f"hand by hand, players remember {document['memory']:,} hands"
    columns = (
        Column("start", identifies=True),
        Column("regime"),
        Column("time", "number", layout=",g"),
        Column("Lyapunov", "number", layout="+.4f"),
        Column("near a face", "number", layout=".3f"),
        Column("settled at", "number", layout=",.0f"),
        Column("regret", "small"),
    )
    rows = []
    for run in runs:
        moves = run["components"] or run["at_zero"] or run["at_one"]
        near = run["near_face_fraction"] if moves else None
        regret = run["profiles"].get("average", {}).get("max_regret")
        figures = (run["time"], run["lyapunov"], near, run["transient"], regret)
        rows.append(Row.of(columns, (run["start"], run["regime"], *figures)))
    remarks = [(run["start"], _destination(run, document["names"])) for run in runs]
    remarks += [(run["start"], _remark(run)) for run in runs]
    title = f"Trajectories of {value['game']}: {how}, rate {value['rate']:g}"
    return Table(title, columns, tuple(rows), notes=tuple(_merged(remarks, len(runs))))


def _destination(run: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Say which frequencies go to 0 and to 1, or stay there."""
    if run["near_face_fraction"] is None:
        return "limits not determined"
    parts = [
        form.format(first_of(sorted(names.get(place, place) for place in run[end]), MOST_PLACES))
        for end, form in _ENDS.items()
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


def _merged(remarks: Sequence[tuple[str, str]], runs: int) -> Iterator[str]:
    """Yield each remark once, with the starts of all runs that it holds for."""
    starts: dict[str, list[str]] = {}
    for start, text in remarks:
        starts.setdefault(text, []).append(start)
    for text, those in starts.items():
        if text:
            yield f"{'all starts' if 1 < runs == len(those) else ', '.join(those)}: {text}"


def _profits(players: Sequence[str], value: Mapping[str, Any], runs: Sequence[Any]) -> Table:
    """Return the payoffs of published solutions, then of runs."""
    solutions = value["solutions"]
    columns = (
        Column("", identifies=True),
        *(Column(f"u:{player}", "payoff", layout="+z.5f") for player in players),
        Column("gap", "number", layout=".1e"),
        Column("share", "number", layout=".1%"),
        Column("whole", "number", layout=".1%"),
        Column("nearest"),
    )
    blank = ("",) * 4
    rows = [
        Row.of(columns, (known["name"], *(_range(*ends) for ends in known["payoffs"]), *blank))
        for known in solutions
    ]
    for run in runs:
        published: tuple[Any, ...] = blank
        if run["windows"]:
            window = run["windows"][run["longest_window"]]
            nearest = first_of(window["nearest"] or (), MOST_NEAREST)
            published = (window["gap"], window["gap_share"], run["whole"]["gap_share"], nearest)
        average = run["payoffs"] or [None] * len(players)
        rows.append(Row.of(columns, (run["start"], *average, *published)))
    # those whose payoffs are all 0 have no share
    notes = [_agreement(runs, k, known) for k, known in enumerate(solutions) if known["agree"]]
    shown = columns if solutions else columns[: -len(blank)]
    return Table("Profits per unit of time", shown, tuple(rows), notes=tuple(notes))


def _agreement(runs: Sequence[Any], position: int, known: Mapping[str, Any]) -> str:
    """Say over which times payoffs of runs are those of a published solution."""
    times = [
        f"{run['start']} over times {_stretches(run['windows'], agrees)}"
        for run in runs
        if (agrees := run["solutions"][position]["agrees"])
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
