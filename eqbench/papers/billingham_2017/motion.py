"""The differential equations against the polynomials, and how stored trajectories move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.integrate import LSODA, RK45, OdeSolver, solve_ivp

from eqbench.dynamics import Flow
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2017.lists import CENTERS, claimed_keys, layout, letters, skp
from eqbench.papers.formulas import value_at
from eqbench.papers.records import Record, Table
from eqbench.papers.stored import Stored
from eqbench.registry import load_game, load_solver
from eqbench.studies.flow.points import SimulatedRun, late_part, read_points, second_half
from eqbench.studies.flow.regimes import returns

CASES = ("2.5", "3.1", "3.35", "3.75", "4.15", "4.65", "5.5")
LEAST_RETURNS = 3
MOVES = 1e-3


def equations(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Largest differences between the flow and equations (22) to (24), and between integrators.

    Integrators are compared by log-odds at t = 100, with LSODA and with the pair of ode45. The
    latter, `dormand_prince_5`, follows in `without_24` the equations without the factor 24 for 24
    times the time.
    """
    slopes = Stored(jobs, full=full)["polynomials"].summary["times"]
    size, gaps, integrators = len(slopes), [], []
    for pot in CASES:
        start = np.random.default_rng(0).normal(size=size)
        flow: Flow = load_solver("replicator(integrator=dop853)").flow(load_game(f"skp(pot={pot})"))
        states = np.random.default_rng(0).normal(scale=2.0, size=(50, size))
        gaps += [_gaps(flow, state, slopes, float(pot)) for state in states]
        others = {
            "lsoda": _by_scipy(LSODA, flow, start, 100.0),
            "dormand_prince_5": _by_scipy(RK45, flow, start, 100.0),
            "without_24": _by_scipy(RK45, flow, start, 2400.0),
        }
        own = flow.integrate(start, np.array([0.0, 100.0])).states[-1]
        integrators.append({name: np.abs(state - own).max() for name, state in others.items()})
    apart = pd.DataFrame(integrators).max().to_dict()
    return {"integrators": apart, **{str(of): gap for of, gap in pd.DataFrame(gaps).max().items()}}


def _gaps(flow: Flow, state: FloatArray, slopes: dict[str, str], pot: float) -> dict[str, float]:
    """Distances from the equations at a state, and what still moves on the adjacent faces."""
    f = 1 / (1 + np.exp(-state))
    order = [flow.choices.infoset.tolist().index(infoset) for infoset in layout().infoset]
    names = dict(zip(layout().variables, f[order].tolist(), strict=True)) | {"P": pot}
    expected = f.copy()
    expected[order] = [value_at(slopes[name], names) for name in layout().variables]
    faces = [np.where(np.arange(len(f)) == k, state[k] > 0, f) for k in range(len(f))]
    slow, *on_faces = (flow.frequency_velocity(flow.choices.behavior(own)) for own in (f, *faces))
    return {
        "log_odds": np.abs(flow.velocity(state) - expected).max(),
        "frequencies": np.abs(slow - f * (1 - f) * expected).max(),
        "velocity at 0 or 1": np.abs(np.diag(on_faces)).max(),
    }


def _by_scipy(method: type[OdeSolver], flow: Flow, start: FloatArray, time: float) -> FloatArray:
    """Log-odds at a time, of equations so slow that it is t = 100 of the flow."""

    def velocity(_: float, state: FloatArray) -> FloatArray:
        return flow.velocity(state) * (100.0 / time)

    found = solve_ivp(velocity, (0.0, time), start, method, rtol=1e-11, atol=1e-11)
    return np.asarray(found.y[:, -1])


def motion(folder: Path, jobs: Path, *, full: bool) -> Table:
    """How frequencies move late in stored trajectories, and how far those near solutions go."""
    stored, found = Stored(jobs, full=full), dict[str, LateMotion]()
    near, runs = dict[str, dict[str, float]](), _runs(stored, "regimes")
    driving = letters(stored["polynomials"].summary["times"]["b3"])
    for pot, solution in CENTERS.items():
        (run,) = _runs(stored, f"beside_{pot.replace('.', '_')}")
        center = stored["starts"].summary[pot]
        gaps = [np.abs(_late(run, slice(None))[name] - value) for name, value in center.items()]
        most = np.max(gaps, axis=0).tolist()
        near[solution] = {"farthest": max(most), "late": max(most[len(most) // 2 :])}
        if those := [run for run in runs if run.value == float(pot)]:
            found[pot] = late_motion(those, pot, center, driving)
    return {**found, "beside": near}


def _runs(stored: Stored, job: str) -> list[SimulatedRun]:
    return read_points(skp(), stored[job].path / "points.csv")


def _late(run: SimulatedRun, part: slice) -> dict[str, FloatArray]:
    """The eleven frequencies and the times of a part of a run."""
    frequencies = run.behavior[part, layout().action].T
    return dict(zip(layout().variables, frequencies, strict=True)) | {"time": run.times[part]}


@dataclass(frozen=True)
class LateMotion(Record):
    """How trajectories at one pot move in the second half of the time."""

    moving_in_all: list[str]
    moves_b3: list[str]  # in some trajectory, of those on which the velocity of b3 depends
    swings_of_b3: float  # how far they differ
    orbits: dict[str, float]  # by how much pairs of frequencies miss a closed one
    from_the_center: dict[str, float]  # of means


def late_motion(
    runs: Sequence[SimulatedRun], pot: str, center: Mapping[str, float], driving: Sequence[str]
) -> LateMotion:
    """Return how trajectories move; orbits and means are those of the last equally spaced times."""
    halves = [_late(run, second_half(run)) for run in runs]
    late = [_late(run, late_part(run)) for run in runs]
    swings = {name: [float(np.ptp(half[name])) for half in halves] for name in layout().variables}
    return LateMotion(
        moving_in_all=[name for name, own in swings.items() if min(own) >= MOVES],
        moves_b3=[name for name in driving if max(swings[name]) >= MOVES],
        swings_of_b3=float(np.ptp(swings["b3"])),
        orbits={
            pair: max(_miss(own["time"], *(own[name] for name in pair.split())) for own in late)
            for pair in claimed_keys(f"motion/{pot}/orbits")
        },
        from_the_center={
            name: max(abs(float(own[name].mean()) - value) for own in late)
            for name, value in center.items()
            if 0 < value < 1
        },
    )


def _miss(times: FloatArray, x: FloatArray, y: FloatArray) -> float:
    """By how much an orbit in a plane misses where it was when x rises through its mean.

    The spread of y then as a share of its swing, or that of the periods as a share of their mean;
    1 where there are too few returns.
    """
    moments, crossings = returns(times, y, x)
    if len(moments) < LEAST_RETURNS:
        return 1.0
    periods = np.diff(moments)
    spread = np.ptp(crossings) / max(np.ptp(y), 1e-300)
    return float(max(spread, np.ptp(periods) / periods.mean()))
