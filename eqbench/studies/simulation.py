"""Trajectories of a flow: where they go, how they move, and what players earn on the way."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.dynamics import Trajectory
from eqbench.equilibria import known_sets
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.studies.branch_points import action_labels
from eqbench.studies.regimes import LEAST_TIMES, classify
from eqbench.studies.simulation_place import Place
from eqbench.studies.simulation_points import SimulatedRun, append_points, kept_rows
from eqbench.studies.simulation_profits import (
    Window,
    beside_known,
    nearest_known,
    window_payoffs,
    windows_of,
)
from eqbench.studies.simulation_request import SimulationSetting, Start
from eqbench.studies.study_files import write_texts

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
