"""The differential equations against the polynomials, and how stored trajectories move."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.dynamics import Flow
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2017.compute import BESIDE
from eqbench.papers.billingham_2017.lists import NAMES, PLACES, stored_in
from eqbench.papers.billingham_2017.polynomials import derivative, polynomial, value
from eqbench.registry import load_game, load_solver

# the pots of section 4, and which frequencies the paper says to move in pairs there
PAIRS: dict[str, tuple[str, ...]] = {
    **{"2.5": ("b3 d2",), "3.1": (), "3.35": (), "3.75": ("b2 d1", "b3 d2"), "4.15": ()},
    **{"4.65": ("b1 d3", "b2 d1"), "5.5": ("b1 c2", "b2 d1")},
}
LEAST_RETURNS = 3
SETTLED = 0.5  # share of the time after which a motion is looked at


def equations(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Largest differences between the flow and equations (22) to (24), and between integrators.

    Also the largest velocities of frequencies that are 0 or 1, and of the others meanwhile.
    """
    stored = stored_in(jobs, full=full)
    slopes = {name: derivative(polynomial(stored, int(name[1])), name) for name in NAMES}
    gaps: dict[str, list[float]] = {}
    for pot in PAIRS:
        flow, order = _flow(pot)
        for state in np.random.default_rng(0).normal(scale=2.0, size=(50, len(NAMES))):
            f = 1 / (1 + np.exp(-state))
            names = dict(zip(NAMES, f[order].tolist(), strict=True)) | {"P": float(pot)}
            expected = np.empty(len(NAMES))
            expected[order] = [value(slopes[name], names) for name in NAMES]
            slow = flow.frequency_velocity(flow.choices.behavior(f))
            found = {"log_odds": np.abs(flow.velocity(state) - expected).max()}
            found["frequencies"] = np.abs(slow - f * (1 - f) * expected).max()
            on_faces = [np.where(np.arange(len(f)) == k, state[k] > 0, f) for k in range(len(f))]
            slow = np.array([flow.frequency_velocity(flow.choices.behavior(f)) for f in on_faces])
            found |= {"faces": np.abs(np.diag(slow)).max(), "beside_faces": np.abs(slow).max()}
            for key, gap in found.items():
                gaps.setdefault(key, []).append(float(gap))
    return {key: max(values) for key, values in gaps.items()} | {"integrators": _integrators()}


def _flow(pot: str, integrator: str = "dop853") -> tuple[Flow, list[int]]:
    """The flow at a pot, and the places of the eleven frequencies among its log-odds."""
    game = load_game(f"skp(pot={pot})")
    flow: Flow = load_solver(f"replicator(integrator={integrator})").flow(game)
    labels = [game.tree.infoset_labels[i] for i in flow.choices.infoset]
    return flow, [labels.index(PLACES[name][1]) for name in NAMES]


def _integrators() -> dict[str, float]:
    """Largest distance of log-odds at t = 100 between our integrator and others, over all pots.

    ``dormand_prince_5`` is the pair of formulas of the paper's ode45; ``without_24`` has it for
    the equations without the factor 24, after 24 times the time.
    """
    worst = {"lsoda": 0.0, "dormand_prince_5": 0.0, "without_24": 0.0}
    for pot in PAIRS:
        flow, _ = _flow(pot)
        start, times = np.random.default_rng(0).normal(size=len(NAMES)), np.array([0.0, 100.0])
        own = flow.integrate(start, times).states[-1]
        others = {
            "lsoda": _flow(pot, "lsoda")[0].integrate(start, times).states[-1],
            "dormand_prince_5": _ode45(flow, start, 100.0),
            "without_24": _ode45(flow, start, 2400.0),
        }
        for name, state in others.items():
            worst[name] = max(worst[name], float(np.abs(state - own).max()))
    return worst


def _ode45(flow: Flow, start: FloatArray, time: float) -> FloatArray:
    """Log-odds at a time, of equations so slow that it is t = 100 of the flow."""
    from scipy.integrate import solve_ivp

    def velocity(_: float, state: FloatArray) -> FloatArray:
        return flow.velocity(state) * (100.0 / time)

    return np.asarray(solve_ivp(velocity, (0.0, time), start, rtol=1e-11, atol=1e-11).y[:, -1])


def motion(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """How frequencies move late in stored trajectories, and how far those beside rest points go."""
    stored = stored_in(jobs, full=full)
    regimes = _trajectories(stored["regimes"].path / "points.csv")
    return {
        "regimes": {
            pot: [_late(run, pot) for (_, at), run in regimes.items() if at == float(pot)]
            for pot in PAIRS
        },
        "orbits": {"2.5": late_motion(stored["orbits_2_5"].path / "points.csv", "2.5")},
        "beside": {
            name: _apart(
                stored[f"beside_{name}"].path / "points.csv", stored["starts"].summary[name]
            )
            for name in BESIDE
        },
    }


def late_motion(path: Path, pot: str) -> list[dict[str, Any]]:
    """How frequencies move late in each trajectory of a table of points."""
    return [_late(run, pot) for run in _trajectories(path).values()]


def _trajectories(path: Path) -> dict[tuple[str, float], dict[str, FloatArray]]:
    """Columns of each run in a table of points, by its name and pot."""
    import pandas as pd

    table = pd.read_csv(path)
    columns = {"|".join(place): name for name, place in PLACES.items()} | {"time": "time"}
    table["pot"] = table.get("pot", np.nan)
    groups: Any = table.groupby(["run", "pot"], sort=False, dropna=False)
    return {
        (name, pot): {own: group[column].to_numpy() for column, own in columns.items()}
        for (name, pot), group in groups
    }


def _late(run: Mapping[str, FloatArray], pot: str) -> dict[str, Any]:
    """Least, largest and mean value of each frequency late in a run, and returns of pairs.

    Means are those of the last stretch of equally spaced times.
    """
    times = run["time"]
    spaced, late = _dense(times), times >= SETTLED * times[-1]
    return {
        "frequencies": {n: [float(run[n][late].min()), float(run[n][late].max())] for n in NAMES},
        "means": {name: float(run[name][spaced].mean()) for name in NAMES},
        "pairs": {
            pair: _returns(times[spaced], *(run[name][spaced] for name in pair.split()))
            for pair in PAIRS[pot]
        },
    }


def _dense(times: FloatArray) -> slice:
    """The last points that are as close to each other as the very last ones, in the late part."""
    steps = np.diff(times)
    wide = np.flatnonzero(steps > 1.5 * steps[-1])
    first = int(wide[-1]) + 1 if len(wide) else 0
    return slice(max(first, int(np.searchsorted(times, SETTLED * times[-1]))), None)


def _returns(times: FloatArray, x: FloatArray, y: FloatArray) -> dict[str, Any]:
    """How exactly an orbit in a plane comes back: the spread of y where x rises through its mean.

    `spread` is a share of the swing of y, and that of the periods a share of their mean; None
    where there are too few returns.
    """
    from scipy.interpolate import CubicSpline

    rising = np.flatnonzero((x[:-1] < x.mean()) & (x[1:] >= x.mean()))
    if len(rising) < LEAST_RETURNS:
        return {"returns": len(rising), "spread": None, "period": None, "period_spread": None}
    curve, low, high = CubicSpline(times, np.column_stack((x, y))), times[rising], times[rising + 1]
    for _ in range(40):  # halvings
        middle = (low + high) / 2
        below = curve(middle)[:, 0] < x.mean()
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    moments = (low + high) / 2
    crossings, periods = curve(moments)[:, 1], np.diff(moments)
    return {
        "returns": len(moments),
        "spread": float(np.ptp(crossings) / max(np.ptp(y), 1e-300)),
        "period": float(periods.mean()),
        "period_spread": float(np.ptp(periods) / periods.mean()),
    }


def _apart(path: Path, start: Mapping[str, Any]) -> dict[str, Any]:
    """Largest distance of what a solution determines, over a trajectory and its last half."""
    (run,) = _trajectories(path).values()
    gaps = np.abs([run[name] - start["member"][name] for name in start["determined"]]).max(axis=0)
    return {
        "farthest": float(gaps.max()),
        "late": float(gaps[len(gaps) // 2 :].max()),
    }
