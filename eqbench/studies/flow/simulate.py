"""Follow trajectories of a flow: where they go, what they earn, in which regime they are.

Symbols in shapes: K times, N players, A actions, F free frequencies, S sequences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import asdict

from eqbench.dynamics import Dynamics, Flow, Trajectory
from eqbench.equilibria import known_sets
from eqbench.errors import ProfileError, UsageError, first_of
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.profile_json import profile_from_json
from eqbench.model.realization import RealizationPlan, realization
from eqbench.model.tree import FloatArray, GameTree
from eqbench.report.rows import Column, Report, Row, Table, table_of
from eqbench.studies.branch import POINTS, measured
from eqbench.studies.extremes import AGREE, Beside, KnownPayoffs, Nearest, Solution
from eqbench.studies.flow.points import SimulatedRun, append_points, kept_rows, read_points
from eqbench.studies.flow.regimes import NEAR_FACE, Regime, classify
from eqbench.studies.flow.rest_points import verdicts
from eqbench.studies.frame import Document, Drawn, Session, Study, call, legend
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
VALUES = 121  # of the parameter at which published sets are looked at for the figure of regimes
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


# -- documents ------------------------------------------------------------------------------------


class Earned(Nearest, frozen=True, kw_only=True):
    """Payoffs over a stretch of time, beside published ones."""

    payoffs: list[float | None]


class EarnedWindow(Earned, frozen=True, kw_only=True):
    """Payoffs over a window, and the max regret of the average plan over it."""

    from_: float = field(name="from")
    to: float
    average_max_regret: float


class KeptProfile(Struct, frozen=True, kw_only=True):
    """A profile in a file, and how the verifier sees it."""

    payoffs: list[float]
    regrets: list[float]
    max_regret: float
    profile: str


class SimulatedValue(Struct, frozen=True, kw_only=True):
    """A value of the payoff parameter, or None, with its game and published solutions."""

    parameter: float | None
    game: str
    integrator: str | None
    rate: float
    solutions: list[Solution]


def _average_regret(run: SimulatedTrajectory) -> float | None:
    return run.profiles["average"].max_regret if "average" in run.profiles else None


class SimulatedTrajectory(Regime, frozen=True, kw_only=True):
    """A trajectory: its regime, what players earn, and its profiles.

    Attributes
    ----------
    name : of its points; with the value of the parameter if there are several
    payoffs : over the longest window, which is the one at the place `longest_window`
    whole : payoffs over the whole time
    solutions : for each published set how far payoffs over the windows are from it
    """

    name: str
    start: Annotated[str, Column(identifies=True)]
    parameter: float | None
    time: Annotated[float, Column(kind="number", layout=",g")]
    interrupted: bool
    ending: str
    payoffs: list[float | None] | None
    windows: list[EarnedWindow]
    longest_window: int | None
    whole: Earned | None
    solutions: list[Beside]
    profiles: Annotated[dict[str, KeptProfile], Column("regret", "small", of=_average_regret)]
    statistics: dict[str, float | int]
    elapsed_s: float
    cpu_s: float


class SimulatedPart(SimulatedTrajectory, frozen=True, kw_only=True):
    """A trajectory with the value at which it was followed."""

    value: SimulatedValue


_SHOWN = ("start", "regime", "time", "lyapunov", "near_face_fraction", "transient", "profiles")


class SimulationDocument(Document, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """The trajectories of a game at each value of its parameter."""

    game: str
    solver: str
    model: str
    memory: int | None
    players: list[str]
    names: dict[str, str]
    parameter: str | None
    time: float
    every: float
    spread: float
    finished: bool
    values: list[SimulatedValue]
    runs: list[SimulatedTrajectory]

    def at(self, value: SimulatedValue) -> list[SimulatedTrajectory]:
        """Return the trajectories at a value of the parameter."""
        return [run for run in self.runs if run.parameter == value.parameter]

    def tables(self) -> Report:
        """Return at each value a table of regimes, then one of payoffs."""
        if not self.runs:
            return Report((Table("", lines=("no trajectory was completed",)),))
        tables: list[Table] = []
        for value in self.values:
            tables += [self._regimes(value), _profits(self.players, value, self.at(value))]
        profits = legend("simulate.profits")
        if any(value.solutions for value in self.values):
            profits += f" {legend('simulate.published', agree=AGREE)}"
        return Report(tuple(tables), notes=(legend("simulate.regimes", near=NEAR_FACE), profits))

    def _regimes(self, value: SimulatedValue) -> Table:
        runs, how = self.at(value), f"integrator {value.integrator}"
        if self.model == "hands":
            how = f"hand by hand, players remember {self.memory:,} hands"
        remarks = [(run.start, _destination(run, self.names)) for run in runs]
        remarks += [(run.start, _remark(run)) for run in runs]
        title = f"Trajectories of {value.game}: {how}, rate {value.rate:g}"
        return table_of(runs, title, _merged(remarks, len(runs)), names=_SHOWN)


# -- the study ------------------------------------------------------------------------------------


class SimulationStudy(Study[SimulationRequest, SimulatedPart, SimulationDocument]):
    """Follow trajectories one after another, each from one start at one value of the parameter.

    Attributes
    ----------
    games : the game at each value of the parameter, or once as it is
    starts : the same at each value
    times : float64 (K,), at which states are kept
    """

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

    def do(self, part: str, session: Session) -> SimulatedPart:
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
        regime = classify(flow, path, action_labels(game.tree))
        run = {
            **asdict(regime),
            **_earnings(place, path, session.folder, part),
            "name": name,
            "start": start.name,
            "parameter": place.value,
            "time": float(path.times[-1]),
            "interrupted": session.interrupted() and len(path.times) < len(self.times),
            "ending": path.ending,
            "statistics": {key: n - before.get(key, 0) for key, n in flow.statistics.items()},
            "elapsed_s": elapsed_s,
            "cpu_s": cpu_s,
            "value": SimulatedValue(
                parameter=place.value,
                game=game.spec,
                integrator=None if place.hands else flow.integrator,
                rate=flow.rate,
                solutions=place.known.solutions(),
            ),
        }
        # null in place of numbers that are not finite
        return msgspec.json.decode(msgspec.json.encode(run), type=SimulatedPart)

    def _watched(self, place: Place, session: Session) -> Callable[[], bool]:
        """Whether to stop; tells how far the trajectory is, where it can be seen."""

        def interrupted() -> bool:
            now = getattr(place.hands or place.flow, "now", None)
            if now is not None:
                session.done(now / self.horizon)
            return session.interrupted()

        return interrupted

    def conclude(self, parts: Sequence[SimulatedPart], session: Session) -> SimulationDocument:
        game, request = self.games[0], self.request
        return SimulationDocument(
            game=request.game if request.at else game.spec,
            solver=self.solver.spec,
            model=request.model,
            memory=self.memory,
            players=list(game.tree.players),
            names=published_names(game),
            parameter=self.parameter,
            time=self.horizon,
            every=float(self.times[1]),
            spread=request.spread,
            finished=session.finished,
            values=list({part.value.game: part.value for part in parts}.values()),
            runs=msgspec.convert(parts, list[SimulatedTrajectory], from_attributes=True),
        )

    def draw(self, folder: Path, document: SimulationDocument) -> Iterable[Drawn]:
        """Draw orbits, time series and profits at each value, and regimes along several."""
        if not document.runs:
            return
        points = {run.name: run for run in read_points(self.games[0], folder / POINTS)}
        several = len(document.values) > 1
        for value, game in zip(document.values, self.games, strict=False):
            named = [points[run.name]._replace(name=run.start) for run in document.at(value)]
            suffix = f"-{self.parameter}-{value.parameter:g}" if several else ""
            if drawn := [run for run in named if len(run.times) > 1]:
                draw = "eqbench.plots.flow:draw_runs"
                for name, figure in call(draw, game, drawn, self.request.pairs):
                    yield f"{name}{suffix}", figure
        if several:
            ends = [value.parameter or 0.0 for value in document.values]
            between = np.linspace(min(ends), max(ends), VALUES).tolist()
            games = [self.games[0].at(**{str(self.parameter): value}) for value in between]
            games += self.games
            found = (verdicts(game, self._dynamics.flow(game), samples=0) for game in games)
            entries = [verdict.entry() for each in found for verdict in each]
            runs = [(run.parameter, run.regime) for run in document.runs]
            words = self.parameter, self.request.game
            yield "regimes", call("eqbench.plots.stability:regime_diagram", entries, runs, *words)


def _earnings(place: Place, path: Trajectory, folder: Path, run: str) -> Mapping[str, object]:
    """Return payoffs over windows next to published ones, and profiles, which are written too."""
    game, known, times = place.game, place.known, path.times
    last = len(times) - 1  # 0 if it never moved
    windows = windows_of(times) or ([Stretch(0, last)] if last else [])
    payoffs = [window.payoffs(times, path.profits) for window in windows]
    averages = [place.average(path, window) for window in windows]
    longest = max(range(len(windows)), key=lambda w: np.ptp(windows[w]), default=None)
    start, final = place.flow.behavior(path.states[0]), place.flow.behavior(path.states[-1])
    profiles, whole = {"start": start, "final": final}, None
    if longest is not None:
        profiles["average"] = averages[longest]
        average = Stretch(0, last).payoffs(times, path.profits)
        whole = Earned(payoffs=average.tolist(), **asdict(known.nearest(average)))
    return {
        "payoffs": None if longest is None else payoffs[longest].tolist(),
        "windows": [
            EarnedWindow(
                from_=float(times[window.first]),
                to=float(times[window.last]),
                payoffs=own.tolist(),
                **asdict(known.nearest(own)),
                average_max_regret=measured(game.tree, average).max_regret,
            )
            for window, own, average in zip(windows, payoffs, averages, strict=True)
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


def _destination(run: SimulatedTrajectory, names: Mapping[str, str]) -> str:
    """Return which frequencies go to 0 and to 1, or stay there, in words."""
    if run.near_face_fraction is None:
        return "limits not determined"
    parts = []
    for end, form in _ENDS.items():
        if places := sorted(names.get(place, place) for place in getattr(run, end)):
            parts.append(form.format(first_of(places, MOST_PLACES)))
    parts = parts or ["no frequency goes to 0 or 1"]
    if run.regime == "boundary_absorption" and run.components:
        parts.append("play keeps switching between faces")
    return "; ".join(parts)


def _remark(run: SimulatedTrajectory) -> str:
    """Return why a run is undecided or absorbed, which has several reasons, or ended early."""
    if run.regime in ("undecided", "boundary_absorption"):
        return f"{run.regime}, {run.reason}"
    return f"ended early, {run.ending}" if run.ending else ""


def _merged(remarks: Sequence[tuple[str, str]], runs: int) -> Iterator[str]:
    """Yield each remark once, with the starts of all runs that it holds for."""
    starts: dict[str, list[str]] = {}
    for start, text in remarks:
        starts.setdefault(text, []).append(start)
    for text, those in starts.items():
        if text:
            yield f"{'all starts' if 1 < runs == len(those) else ', '.join(those)}: {text}"


def _profits(
    players: Sequence[str], value: SimulatedValue, runs: Sequence[SimulatedTrajectory]
) -> Table:
    """Return the payoffs of published solutions, then of runs."""
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
        Row.of(columns, (known.name, *(_range(*ends) for ends in known.payoffs), *blank))
        for known in value.solutions
    ]
    for run in runs:
        published: tuple[object, ...] = blank
        if run.longest_window is not None and run.whole:
            window = run.windows[run.longest_window]
            nearest = first_of(window.nearest or (), MOST_NEAREST)
            published = (window.gap, window.gap_share, run.whole.gap_share, nearest)
        average = run.payoffs or [None] * len(players)
        rows.append(Row.of(columns, (run.start, *average, *published)))
    # those whose payoffs are all 0 have no share
    solutions = enumerate(value.solutions)
    notes = [_agreement(runs, place, known) for place, known in solutions if known.agree]
    shown = columns if value.solutions else columns[: -len(blank)]
    return Table("Profits per unit of time", shown, tuple(rows), notes=tuple(notes))


def _agreement(runs: Sequence[SimulatedTrajectory], place: int, known: Solution) -> str:
    """Return over which times payoffs of runs are those of a published solution, in words."""
    times = [
        f"{run.start} over times {_stretches([run.windows[w] for w in agrees])}"
        for run in runs
        if (agrees := run.solutions[place].agrees)
    ]
    share = 100 * known.agree / np.abs(known.payoffs).max()
    return f"within {share:.2g}% of {known.name}: {'; '.join(times) or 'never'}"


def _stretches(windows: Sequence[EarnedWindow]) -> str:
    """Return windows as stretches of time, those that follow on each other as one."""
    stretches: list[list[float]] = []
    for window in windows:
        if stretches and window.from_ <= stretches[-1][1]:
            stretches[-1][1] = max(window.to, stretches[-1][1])
        else:
            stretches.append([window.from_, window.to])
    return ", ".join(f"{first:,.5g}–{last:,.5g}" for first, last in stretches)


def _range(low: float, high: float) -> str:
    return f"{low:+z.5f}" if high - low < 1e-9 else f"{low:+z.5f} … {high:+z.5f}"
