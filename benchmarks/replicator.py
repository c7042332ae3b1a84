"""Replicator dynamics of simplified three-player Kuhn poker: cost of the integrators.

One trajectory of Billingham (2017), equation (24), at tolerance 1e-10, in log-odds, at pots of two
of his cases: `solve_ivp` of SciPy with a right side as a researcher would write it, and the flow of
the solver `replicator` with each integrator, which integrates the three profits besides, in turns.
Compilation is left out of all; that of heyoka is given apart, with its caches empty.

Three scripts are measured: the eleven polynomials of the paper written down in NumPy's numbers,
with RK45, which `solve_ivp` takes by itself and which is the pair of Dormand and Prince that the
paper used; the same with DOP853; and that in Python's numbers, which cost a little less where
vectors are this short. Products of matrices and vectors take as long as NumPy's numbers.

The trajectories agree until chaos tells them apart: differences are those at time 100.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from functools import partial
from math import exp
from typing import Any

import numpy as np
from scipy.special import expit

INTEGRATORS = ("dop853", "heyoka")
TOLERANCE = 1e-10
COMPARED_AT = 100.0
# Billingham's variables by player and information set.
PLACES = {
    **{"a1": (0, "4:"), "b1": (0, "2:"), "c1": (0, "3:KKB"), "d1": (0, "3:KBF")},
    **{"a2": (1, "4:K"), "b2": (1, "2:K"), "c2": (1, "3:B"), "d2": (1, "3:KKBF")},
    **{"b3": (2, "2:KK"), "c3": (2, "3:KB"), "d3": (2, "3:BF")},
}
START = np.array([0.5, -0.3, 0.2, -0.7, 0.1, 0.4, -0.6, 0.3, -0.2, 0.8, -0.1])


def integrators(
    time: float, repetitions: int, pots: Sequence[float] = (3.1, 4.65)
) -> dict[str, Any]:
    """Seconds of every method up to a time, and how far apart they are at time 100."""
    rows = [_measured(pot, time, repetitions) for pot in pots]
    return {"tolerance": TOLERANCE, "compared_at": COMPARED_AT, "rows": rows}


def _measured(pot: float, end: float, repetitions: int) -> dict[str, Any]:
    import eqbench

    game = eqbench.load_game(f"skp(pot={pot})")
    order = _places(game.tree)
    compile_s = _compile_heyoka(game)
    state = np.empty(len(START))
    state[order] = START
    methods: dict[str, Callable[[float], np.ndarray]] = {}
    for name in INTEGRATORS:
        solver = eqbench.load_solver(f"replicator(integrator={name},tolerance={TOLERANCE})")
        methods[name] = partial(_final, solver.flow(game), state, order)
    for name, (method, right_side) in SCRIPTS.items():
        methods[name] = partial(_by_solve_ivp, right_side, method, pot)
    near = {name: method(COMPARED_AT) for name, method in methods.items()}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(repetitions):
        for name, method in methods.items():
            before = clock.perf_counter()
            method(end)
            seconds[name].append(clock.perf_counter() - before)
    apart = {name: float(np.abs(near[name] - near["numpy_dop853"]).max()) for name in INTEGRATORS}
    return {"pot": pot, "seconds": seconds, "heyoka_compile_s": compile_s, "differences": apart}


def _final(flow: Any, state: np.ndarray, order: np.ndarray, end: float) -> np.ndarray:
    """State of a flow at time `end`, in the order of `PLACES`."""
    trajectory = flow.integrate(state, np.array([0.0, end]))
    if trajectory.ending:
        raise RuntimeError(trajectory.ending)
    return trajectory.states[-1][order]


def _by_solve_ivp(
    right_side: Callable[..., Any], method: str, pot: float, end: float
) -> np.ndarray:
    """State at time `end` by SciPy's driver."""
    from scipy.integrate import solve_ivp

    accuracy = {"rtol": TOLERANCE, "atol": TOLERANCE}
    found = solve_ivp(
        right_side, (0.0, end), START, method=method, t_eval=[end], args=(pot,), **accuracy
    )
    if not found.success:
        raise RuntimeError(found.message)
    return found.y[:, -1]


def _in_numpy(_: float, F: np.ndarray, P: float) -> np.ndarray:
    """Right side of Billingham's equation (24); F are log-odds in the order of `PLACES`."""
    return np.array(_gradient(expit(F), P))


def _in_python(_: float, F: np.ndarray, P: float) -> list[float]:
    """The same in Python's numbers; beyond log-odds of 709 `exp` would overflow."""
    return _gradient([1.0 / (1.0 + exp(min(-x, 700.0))) for x in F.tolist()], P)


def _gradient(f: Any, P: float) -> list[float]:
    """Derivatives of 24 times the payoffs (Billingham 2017, Table 1) by the frequencies."""
    a1, b1, c1, d1, a2, b2, c2, d2, b3, c3, d3 = f
    return [
        -2 * b2 + 2 * c2 - 2 * b3 + 2 * d3 - b2 * c3,
        2 * P - 4 - (P + 1) * (c2 + d3),
        -2 + b2 + P * b3 + a2 * b3,
        -2 * a2 + (P + 1) * b2,
        2 * d1 - 2 * b3 + 2 * c3 - b1 * c3 - c1 * b3,
        2 * P - 4 + 2 * a1 - (P + 1) * (d1 + c3),
        -2 * a1 + P * b1,
        -2 + b1 + (P + 1) * b3,
        2 * P - 4 + 2 * a1 + 2 * a2 - (P + 1) * (c1 + d2),
        -2 * a2 + P * b2 + a1 * b2 + b1 * a2,
        -2 * a1 + (P + 1) * b1,
    ]


def _places(tree: Any) -> np.ndarray:
    """Index among the log-odds of a flow of each of Billingham's variables."""
    from eqbench.model.choices import Choices

    chosen = Choices.of(tree).infoset.tolist()
    known = {(int(tree.infoset_player[i]), tree.infoset_labels[i]): k for k, i in enumerate(chosen)}
    return np.array([known[place] for place in PLACES.values()])


def _compile_heyoka(game: Any) -> float:
    """Seconds that heyoka takes to compile the flow of a game."""
    import heyoka

    import eqbench

    heyoka.llvm_state.clear_memcache()
    heyoka.llvm_state.clear_diskcache()
    before = clock.perf_counter()
    eqbench.load_solver("replicator(integrator=heyoka)").prepare(game)
    return clock.perf_counter() - before


SCRIPTS = {
    "numpy_rk45": ("RK45", _in_numpy),
    "numpy_dop853": ("DOP853", _in_numpy),
    "python_dop853": ("DOP853", _in_python),
}
