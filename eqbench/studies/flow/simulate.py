"""Follow trajectories of a flow: where they go, what they earn, in which regime they are.

Symbols in shapes: K times, N players, W windows.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.dynamics import Dynamics, Flow, HandByHand, Trajectory
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.extremes import extremes
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.studies.branch import action_labels
from eqbench.studies.flow.points import SimulatedRun, append_points, kept_rows
from eqbench.studies.flow.regimes import LEAST_TIMES, classify
from eqbench.studies.flow.request import SimulationSetting, Start
from eqbench.studies.study_files import write_texts
from eqbench.verification import Verifier

DOUBLINGS = 8
LEAST_INTERVALS = 20  # of a window
LAST_SHARE = 0.1
AGREE = 0.01  # of the largest payoff of a set, in size
SAME = 1e-9  # of the payoff range; sets meet at the ends of their ranges of the parameter


class Window(NamedTuple):
    """A stretch of a trajectory, from one position to another one, both included."""

    first: int
    last: int


def windows_of(times: FloatArray) -> list[Window]:
    """Windows of a trajectory in time, each twice as long as the one before, then the last tenth.

    They are [T/2^k, T/2^(k-1)] with T the time that was reached, measured from the first one,
    as far as they contain 20 intervals; ends are the nearest of the times (K,).
    """
    length = times - times[0]
    ends = [length[-1] / 2**k for k in range(DOUBLINGS, -1, -1)]
    shares = [*pairwise(ends), ((1 - LAST_SHARE) * length[-1], length[-1])]
    positions = [Window(*(int(np.abs(length - end).argmin()) for end in share)) for share in shares]
    return [window for window in positions if window.last - window.first >= LEAST_INTERVALS]


def window_payoffs(times: FloatArray, profits: FloatArray, window: Window) -> FloatArray:
    """Average payoffs of the players over a window, float64 (N,), from profits (K, N)."""
    first, last = window
    return (profits[last] - profits[first]) / (times[last] - times[first])


@dataclass(frozen=True, eq=False)
class KnownPayoffs:
    """Payoffs of the published sets of equilibria of a game.

    Attributes
    ----------
    ranges : by name of the set the smallest and largest payoff of each player, (N, 2)
        Payoffs of a set may depend on each other, so that not all combinations belong to it.
    tolerances : by name of the set how far payoffs that agree with it may be from its own
        A hundredth of its largest payoff in size, 0 if all are 0, but at most half the distance of
        the closest two sets whose payoffs differ, so that none agrees with both.
    rounding : float
        Payoffs that differ by no more are the same.
    """

    ranges: dict[str, FloatArray]
    tolerances: dict[str, float]
    rounding: float

    @classmethod
    def of(cls, game: Game) -> KnownPayoffs:
        """The payoffs of all published sets of a game, as far as the verifier agrees."""
        ranges: dict[str, FloatArray] = {}
        for known in known_sets(game):
            players = range(game.tree.n_players)
            found = np.array([extremes(known, partial(_payoff, known, p)) for p in players])
            other = ranges.get(known.name, found)  # the pieces of one set share its name
            ranges[known.name] = np.column_stack(
                (np.minimum(found[:, 0], other[:, 0]), np.maximum(found[:, 1], other[:, 1]))
            )
        rounding = SAME * game.tree.payoff_range
        return cls(ranges, tolerances(ranges, rounding), rounding)

    def gaps(self, payoffs: FloatArray) -> dict[str, float]:
        """By set the largest distance of a player's payoff, of (N,), from those of the set."""
        return {
            name: _apart(np.column_stack((payoffs, payoffs)), known)
            for name, known in self.ranges.items()
        }

    def to_json(self) -> list[dict[str, Any]]:
        """Of each set its name, its payoffs, and how far payoffs that agree may be from them."""
        return [
            {"name": name, "payoffs": known.tolist(), "agree": self.tolerances[name]}
            for name, known in self.ranges.items()
        ]


def _payoff(known: KnownSet, player: int, parameters: FloatArray) -> float:
    return float(known.payoffs_near(parameters)[player])


def tolerances(ranges: Mapping[str, FloatArray], rounding: float) -> dict[str, float]:
    """By set the largest distance of payoffs that agree with its own, `ranges` (N, 2)."""
    apart = [_apart(one, other) for one, other in combinations(ranges.values(), 2)]
    closest = min((gap for gap in apart if gap > rounding), default=np.inf)
    sizes = {name: _size(known, rounding) for name, known in ranges.items()}
    return {name: min(AGREE * size, closest / 2) for name, size in sizes.items()}


def _size(payoffs: FloatArray, rounding: float) -> float:
    """The largest payoff in size, or 0 if that is rounding."""
    size = float(np.abs(payoffs).max())
    return size if size > rounding else 0.0


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Largest distance over the players of two ranges (N, 2); 0 if they overlap."""
    between = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    return float(max(between.max(), 0.0))


def beside_known(known: KnownPayoffs, payoffs: list[FloatArray]) -> list[dict[str, Any]]:
    """For each published set how far payoffs over W windows are from it, as JSON values.

    `agrees` are the positions of the windows whose payoffs are its payoffs within tolerance.
    """
    gaps = [known.gaps(row) for row in payoffs]
    return [
        {
            "name": name,
            "gaps": [gap[name] for gap in gaps],
            "agrees": [w for w, gap in enumerate(gaps) if gap[name] <= known.tolerances[name]],
        }
        for name in known.ranges
    ]


def nearest_known(known: KnownPayoffs, payoffs: FloatArray) -> dict[str, Any]:
    """Names of the sets whose payoffs are nearest to (N,), and how far; None without sets.

    Several are nearest if they share payoffs. `gap` is in payoff units, `gap_share` that over the
    largest payoff of these sets in size, None if it is 0.
    """
    gaps = known.gaps(payoffs)
    if not gaps:
        return dict.fromkeys(("nearest", "gap", "gap_share"))
    gap = min(gaps.values())
    names = [name for name in gaps if gaps[name] <= gap + known.rounding]
    size = max(_size(known.ranges[name], known.rounding) for name in names)
    return {"nearest": names, "gap": gap, "gap_share": gap / size if size > 0 else None}


MOST_AVERAGED = 4000  # points of a window
# what generators of a start are for
_TANGENT, _HANDS = 1, 2


class Place:
    """One game of a simulation, with what is needed for all its trajectories."""

    def __init__(self, setting: SimulationSetting, game: Game) -> None:
        self.setting, self.game = setting, game
        value = game.tree.payoffs.value
        self.value = None if setting.parameter is None or value is None else float(value)
        prepare = getattr(setting.solver.instance, "prepare", None)
        if prepare is not None:
            prepare(game)
        self.flow: Flow = self._dynamics.flow(game)
        self.known = KnownPayoffs.of(game)

    @property
    def _follows(self) -> bool:
        """Whether the flow itself is followed, and not play that imitates it."""
        return self.setting.request.model == "ode"

    @property
    def _dynamics(self) -> Dynamics:
        dynamics: Dynamics = self.setting.solver.instance
        return dynamics

    @cached_property
    def _hands(self) -> HandByHand:
        return self._dynamics.hand_by_hand(self.game, self.setting.request.memory)

    @cached_property
    def _verifier(self) -> Verifier:
        return Verifier(self.game.tree)

    def name_of(self, start: Start) -> str:
        """Name of a run, with the value of the parameter if there are several."""
        if len(self.setting.games) == 1:
            return start.name
        return f"{self.setting.parameter}={self.value:.12g} {start.name}"

    def to_json(self) -> dict[str, Any]:
        """The value of the parameter, and the published equilibria there."""
        return {
            "parameter": self.value,
            "game": self.game.spec,
            "integrator": self.flow.integrator if self._follows else None,
            "rate": self.flow.rate,
            "solutions": self.known.to_json(),
        }

    def trajectory(
        self, start: Start, times: FloatArray, interrupted: Callable[[], bool]
    ) -> Trajectory:
        """The trajectory from a start; a tangent at random is followed where there is a flow."""
        state = start.state(self.flow, self.setting.request.spread)
        if not self._follows:
            rng = start.generator(_HANDS)
            return self._hands.play(state, times, rng, interrupted=interrupted)
        tangent = start.generator(_TANGENT).standard_normal(len(state))
        tangent /= np.linalg.norm(tangent)
        return self.flow.integrate(state, times, tangent=tangent, interrupted=interrupted)

    def average(self, path: Trajectory, window: Window) -> FloatArray:
        """Frequencies (A,) that play like the average of the realization plans over a window.

        Of at most 4,000 of its points, equally far apart.
        """
        count = min(window.last - window.first + 1, MOST_AVERAGED)
        points = np.linspace(window.first, window.last, count).astype(np.int64)
        form = self.game.sequence_form
        weights = _plans(form, self.flow.behavior(path.states[points])).mean(axis=0)
        return RealizationPlan(weights).to_behavior(form)

    def measured(self, behavior: FloatArray) -> dict[str, Any]:
        """Payoffs and regrets of frequencies (A,), measured by the verifier."""
        figures = self._verifier.verify(BehaviorProfile.of(self.game.tree, behavior))
        return {
            "payoffs": [float(payoff) for payoff in figures.payoffs],
            "regrets": [float(regret) for regret in figures.regrets],
            "max_regret": float(figures.max_regret),
        }


def _plans(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Realization plans (K, S) of frequencies (K, A)."""
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


SCHEMA = "eqbench.simulation/1"
POINTS, SUMMARY, PROFILES = "points.csv", "summary.json", "profiles"


class Simulator:
    """Follows the trajectories of a request one after another and writes what they are.

    Parameters
    ----------
    folder : where points, summary and profiles are written
    interrupted : asked again and again whether to stop
    tell : told in words how far it has come
    """

    def __init__(
        self,
        setting: SimulationSetting,
        folder: Path,
        interrupted: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.setting, self.folder = setting, folder
        self.interrupted, self.tell = interrupted, tell
        self._names = published_names(setting.games[0])

    def document(self) -> dict[str, Any]:
        """Follow all trajectories, write the files, and return the summary.

        Files are written after each trajectory, so that a break loses one at most.

        Raises
        ------
        StoreError
            If a file cannot be written.
        """
        setting = self.setting
        values: list[dict[str, Any]] = []
        runs: list[dict[str, Any]] = []
        document = self._written(values, runs)
        for game in setting.games:
            if self.interrupted():
                break
            self.tell(f"preparing {game.spec}")
            place = Place(setting, game)
            values.append(place.to_json())
            for start in setting.starts:
                if self.interrupted():
                    break
                number = len(runs) + 1
                self.tell(f"{place.name_of(start)}, {number} of {self._planned}")
                runs.append(_finite(self._run(place, start, f"run{number}")))
                document = self._written(values, runs)
        return document

    @property
    def _planned(self) -> int:
        return len(self.setting.games) * len(self.setting.starts)

    def _written(self, values: list[dict[str, Any]], runs: list[dict[str, Any]]) -> dict[str, Any]:
        """The summary so far, after it was written."""
        setting, request = self.setting, self.setting.request
        hands = request.model == "hands"
        stopped = any(run["interrupted"] for run in runs)
        document = {
            "schema": SCHEMA,
            "game": request.game if request.at else setting.games[0].spec,
            "solver": setting.solver.spec,
            "model": request.model,
            "memory": request.memory if hands else None,
            "players": list(setting.games[0].tree.players),
            "names": self._names,
            "parameter": setting.parameter,
            "time": request.time,
            "every": float(request.times[1]),
            "spread": request.spread,
            "finished": len(runs) == self._planned and not stopped,
            "values": values,
            "runs": runs,
        }
        text = json.dumps(document, indent=2, allow_nan=False)
        # a process that ends while it writes leaves the one before
        (draft,) = write_texts(self.folder, {f".{SUMMARY}": f"{text}\n"})
        draft.replace(self.folder / SUMMARY)
        return document

    def _run(self, place: Place, start: Start, files: str) -> dict[str, Any]:
        """What a trajectory is, as JSON values; its points and profiles are written."""
        times, before = self.setting.request.times, dict(place.flow.statistics)
        clocks = time.perf_counter(), time.process_time()
        path = place.trajectory(start, times, self.interrupted)
        elapsed_s = time.perf_counter() - clocks[0]
        cpu_s = time.process_time() - clocks[1]
        self._write_points(place, start, path)
        after = place.flow.statistics
        return {
            "name": place.name_of(start),
            "start": start.name,
            "parameter": place.value,
            "time": float(path.times[-1]),
            "interrupted": self.interrupted() and len(path.times) < len(times),
            "ending": path.ending,
            **_regime_json(place, path),
            **self._profits(place, path),
            "profiles": self._profiles(place, path, files),
            "statistics": {name: after[name] - before.get(name, 0) for name in after},
            "elapsed_s": elapsed_s,
            "cpu_s": cpu_s,
        }

    def _write_points(self, place: Place, start: Start, path: Trajectory) -> None:
        rows = kept_rows(place.game.tree, len(path.times))
        states, flow = path.states[rows], place.flow
        run = SimulatedRun(
            place.name_of(start),
            path.times[rows],
            flow.behavior(states),
            flow.payoffs(states),
            path.profits[rows],
            place.value if self.setting.request.at else None,
        )
        append_points(self.folder / POINTS, place.game.tree, run)

    def _profits(self, place: Place, path: Trajectory) -> dict[str, Any]:
        """Average payoffs over windows, beside those of published equilibria."""
        windows = _windows(path)
        payoffs = [window_payoffs(path.times, path.profits, window) for window in windows]
        longest = max(range(len(windows)), key=lambda w: np.ptp(windows[w]), default=None)
        return {
            "payoffs": None if longest is None else payoffs[longest].tolist(),
            "windows": [
                {
                    "from": float(path.times[window.first]),
                    "to": float(path.times[window.last]),
                    "payoffs": row.tolist(),
                    **nearest_known(place.known, row),
                    "average_max_regret": place.measured(place.average(path, window))["max_regret"],
                }
                for window, row in zip(windows, payoffs, strict=True)
            ],
            "longest_window": longest,
            "whole": self._whole(place, path),
            "solutions": beside_known(place.known, payoffs),
        }

    def _whole(self, place: Place, path: Trajectory) -> dict[str, Any] | None:
        """Average payoffs from the start on, and the nearest published ones."""
        last = len(path.times) - 1
        if not last:
            return None
        payoffs = window_payoffs(path.times, path.profits, Window(0, last))
        return {"payoffs": payoffs.tolist(), **nearest_known(place.known, payoffs)}

    def _profiles(self, place: Place, path: Trajectory, files: str) -> dict[str, Any]:
        """The profiles of a trajectory as the verifier sees them; they are written as JSON."""
        profiles = {
            "start": place.flow.behavior(path.states[0]),
            "final": place.flow.behavior(path.states[-1]),
        }
        for window in sorted(_windows(path), key=np.ptp)[-1:]:
            profiles["average"] = place.average(path, window)
        tree, folder = place.game.tree, self.folder / PROFILES
        folder.mkdir(exist_ok=True)
        texts = {
            f"{files}-{name}.json": profile_text(
                tree, BehaviorProfile.of(tree, behavior), place.game.spec
            )
            for name, behavior in profiles.items()
        }
        write_texts(folder, texts)
        return {
            name: place.measured(behavior) | {"profile": f"{PROFILES}/{file}"}
            for (name, behavior), file in zip(profiles.items(), texts, strict=True)
        }


def published_names(game: Game) -> dict[str, str]:
    """By place what frequencies are called where equilibria of the game were published."""
    labels = action_labels(game.tree)
    return {
        labels[action]: name
        for known in known_sets(game)[:1]
        for action, name in zip(known.layout.action.tolist(), known.layout.variables, strict=True)
    }


def _windows(path: Trajectory) -> list[Window]:
    """Windows of a trajectory; the whole of a short one, and none if it never moved."""
    last = len(path.times) - 1
    return windows_of(path.times) or ([Window(0, last)] if last else [])


def _regime_json(place: Place, path: Trajectory) -> dict[str, Any]:
    """The regime of a trajectory as JSON values, with names of places instead of actions."""
    if len(path.times) < LEAST_TIMES:
        return _unclassified(path)
    regime, labels = classify(place.flow, path), action_labels(place.game.tree)

    def places(actions: Sequence[int]) -> list[str]:
        return [labels[action] for action in actions]

    return {
        "regime": regime.word,
        "reason": regime.reason,
        "to_zero": places(regime.to_zero),
        "to_one": places(regime.to_one),
        "at_zero": places(regime.at_zero),
        "at_one": places(regime.at_one),
        "frozen": places(regime.frozen),
        "components": [
            asdict(fact) | {"actions": places(fact.actions), "section": labels[fact.section]}
            for fact in regime.facts
        ],
        "lyapunov": regime.lyapunov,
        "lyapunov_windows": [asdict(window) for window in regime.lyapunov_windows],
        "near_face_fraction": regime.near_face_fraction,
        "near_face_windows": [asdict(window) for window in regime.near_face_windows],
        "transient": regime.transient,
    }


def _unclassified(path: Trajectory) -> dict[str, Any]:
    """The same of a trajectory that is too short to be in a regime."""
    ended = f"; the trajectory ended early: {path.ending}" if path.ending else ""
    lists = (
        *("to_zero", "to_one", "at_zero", "at_one", "frozen", "components"),
        *("lyapunov_windows", "near_face_windows"),
    )
    return {
        "regime": "undecided",
        "reason": f"states at {len(path.times):,} times; a regime takes at least {LEAST_TIMES:,}, "
        f"so follow it for longer or with a smaller --every{ended}",
        **{name: [] for name in lists},
        **dict.fromkeys(("lyapunov", "near_face_fraction", "transient")),
    }


def _finite(value: Any) -> Any:
    """JSON values with null in place of numbers that are not finite."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
