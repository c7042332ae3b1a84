"""The differential equations against the polynomials, and how stored trajectories move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.dynamics import Flow
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2017.compute_rules import evaluate
from eqbench.papers.billingham_2017.found import NAMES, PLACES
from eqbench.papers.billingham_2017.jobs import BESIDE, CASES, DRAWN, JOBS, dotted
from eqbench.papers.billingham_2017.polynomials import derivative, read
from eqbench.papers.jobs import Workshop
from eqbench.papers.stored import Stored
from eqbench.registry import load_game, load_solver

STATES = 50
COMPARED_AT = 100.0  # time at which integrators are compared
TOLERANCE = 1e-11
# which frequencies the paper says to move in pairs
PAIRS = {
    "2.5": ("b3 d2",),
    "3.75": ("b2 d1", "b3 d2"),
    "4.65": ("b1 d3", "b2 d1"),
    "5.5": ("b1 c2", "b2 d1"),
}
LEAST_RETURNS = 3
SETTLED = 0.5  # share of the time after which a motion is looked at


def equations(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Largest differences between the flow and equations (22) to (24), and between integrators.

    Also the largest velocities of frequencies that are 0 or 1, and of the others meanwhile.
    """
    stored = Stored(Workshop(jobs.name, jobs, full=full), JOBS)
    polynomials = {
        name: read(document)
        for name, document in stored["polynomials"].summary["polynomials"].items()
    }
    slopes = {name: derivative(polynomials[f"E{name[1]}"], name) for name in NAMES}
    largest = {"frequencies": 0.0, "log_odds": 0.0, "faces": 0.0, "beside_faces": 0.0}
    for pot in CASES:
        flow, order = _flow(pot)
        for state in np.random.default_rng(0).normal(scale=2.0, size=(STATES, len(NAMES))):
            f = 1 / (1 + np.exp(-state))
            values = dict(zip(NAMES, f[order].tolist(), strict=True))
            expected = np.empty(len(NAMES))
            expected[order] = [evaluate(slopes[name], values, float(pot)) for name in NAMES]
            found = flow.velocity(state)
            slow = flow.frequency_velocity(flow.choices.behavior(f))
            worst = np.abs(found - expected).max(), np.abs(slow - f * (1 - f) * expected).max()
            largest["log_odds"] = max(largest["log_odds"], float(worst[0]))
            largest["frequencies"] = max(largest["frequencies"], float(worst[1]))
            for place in range(len(NAMES)):
                on_face = f.copy()
                on_face[place] = state[place] > 0
                slow = np.abs(flow.frequency_velocity(flow.choices.behavior(on_face)))
                largest["faces"] = max(largest["faces"], float(slow[place]))
                largest["beside_faces"] = max(largest["beside_faces"], float(slow.max()))
    return largest | {"integrators": _integrators()}


def _flow(pot: str, integrator: str = "dop853") -> tuple[Flow, list[int]]:
    """The flow at a pot, and the places of the eleven frequencies among its log-odds."""
    game = load_game(f"skp(pot={pot})")
    flow: Flow = load_solver(f"replicator(integrator={integrator})").flow(game)
    labels = [
        (game.tree.players[game.tree.infoset_player[i]], game.tree.infoset_labels[i])
        for i in flow.choices.infoset
    ]
    return flow, [labels.index(PLACES[name][:2]) for name in NAMES]


def _integrators() -> dict[str, float]:
    """Largest distance of log-odds at t = 100 between our integrator and others, over all pots.

    ``dormand_prince_5`` is the pair of formulas of the paper's ode45; ``without_24`` has it for
    the equations without the factor 24, after 24 times the time.
    """
    worst = {"lsoda": 0.0, "dormand_prince_5": 0.0, "without_24": 0.0}
    for pot in CASES:
        flow, _ = _flow(pot)
        start = np.random.default_rng(0).normal(size=len(NAMES))
        times = np.array([0.0, COMPARED_AT])
        own = flow.integrate(start, times).states[-1]
        other = _flow(pot, "lsoda")[0].integrate(start, times).states[-1]
        fifth, plain = _dormand_prince_5(flow, start), _dormand_prince_5(flow, start, factor=24.0)
        worst["lsoda"] = max(worst["lsoda"], float(np.abs(other - own).max()))
        worst["without_24"] = max(worst["without_24"], float(np.abs(plain - own).max()))
        worst["dormand_prince_5"] = max(worst["dormand_prince_5"], float(np.abs(fifth - own).max()))
    return worst


def _dormand_prince_5(flow: Flow, start: FloatArray, factor: float = 1.0) -> FloatArray:
    """Log-odds at t = 100 · `factor` of the equations divided by `factor`."""
    from scipy.integrate import RK45

    def velocity(_: float, state: FloatArray) -> FloatArray:
        return flow.velocity(state) / factor

    steps = RK45(velocity, 0.0, start, COMPARED_AT * factor, rtol=TOLERANCE, atol=TOLERANCE)
    while steps.status == "running":
        steps.step()
    return np.asarray(steps.y)


def motion(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """How frequencies move late in stored trajectories, and how far those beside rest points go."""
    stored = Stored(Workshop(jobs.name, jobs, full=full), JOBS)
    regimes = _trajectories(stored["regimes"].path / "points.csv")
    orbits: dict[str, Any] = {}
    for pot in DRAWN:
        orbits[pot] = late_motion(stored[f"orbits_{dotted(pot)}"].path / "points.csv", pot)
    return {
        "regimes": {
            pot: [_late(run, pot) for (_, value), run in regimes.items() if value == float(pot)]
            for pot in CASES
        },
        "orbits": orbits,
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
    found = {}
    for name, pot in table[["run", "pot"]].drop_duplicates().itertuples(index=False):
        group = table[(table["run"] == name) & ((table["pot"] == pot) | np.isnan(pot))]
        found[str(name), float(pot)] = {
            name: group[column].to_numpy() for column, name in columns.items()
        }
    return found


def _late(run: Mapping[str, FloatArray], pot: str) -> dict[str, Any]:
    """Least, largest and mean value of each frequency late in a run, and returns of pairs.

    Means are those of the last stretch of equally spaced times.
    """
    times = run["time"]
    spaced = _dense(times)
    late = np.flatnonzero(times >= SETTLED * times[-1])
    return {
        "end": float(times[-1]),
        "frequencies": {
            name: [float(run[name][late].min()), float(run[name][late].max())] for name in NAMES
        },
        "means": {name: float(run[name][spaced].mean()) for name in NAMES},
        "pairs": {
            pair: _returns(times[spaced], *(run[name][spaced] for name in pair.split()))
            for pair in PAIRS.get(pot, ())
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
    curve, moments = CubicSpline(times, np.column_stack((x, y))), []
    for place in rising.tolist():
        low, high = times[place], times[place + 1]
        for _ in range(40):  # halvings
            middle = (low + high) / 2
            low, high = (middle, high) if curve(middle)[0] < x.mean() else (low, middle)
        moments.append((low + high) / 2)
    crossings, periods = curve(moments)[:, 1], np.diff(moments)
    return {
        "returns": len(moments),
        "spread": float(np.ptp(crossings) / max(np.ptp(y), 1e-300)),
        "period": float(periods.mean()),
        "period_spread": float(np.ptp(periods) / periods.mean()),
    }


def _apart(path: Path, start: Mapping[str, Any]) -> dict[str, Any]:
    """Largest distance of what a solution determines, at first and over the whole trajectory."""
    (run,) = _trajectories(path).values()
    determined: Sequence[str] = start["determined"]
    gaps = np.abs([run[name] - start["member"][name] for name in determined]).max(axis=0)
    return {
        "end": float(run["time"][-1]),
        "at_first": float(gaps[0]),
        "farthest": float(gaps.max()),
        "late": float(gaps[len(gaps) // 2 :].max()),
    }
