"""Replicator dynamics of simplified three-player Kuhn poker against reference figures.

The model is that of Billingham 2017 (arXiv:1707.01392), equations (22) to (24). The paper prints no
trajectories; the reference states in ``data/ode_vectors.json`` come from a Taylor method at 1e-17
and agree with a Runge-Kutta method of order eight at 1e-13.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.kuhn_and_skp import SKP_VARIABLES, load_solutions

import eqbench

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "ode_vectors.json").read_text())


def flow_at(pot: float, options: str = ""):
    """The flow at a pot, and the index among its log-odds of each variable of the paper."""
    game = eqbench.load_game(f"skp(pot={pot})")
    flow, tree = eqbench.load_solver(f"replicator({options})").flow(game), game.tree
    place = {
        (tree.players[tree.infoset_player[i]], tree.infoset_labels[i]): k
        for k, i in enumerate(flow.choices.infoset)
    }
    return flow, {name: place[key] for name, key in SKP_VARIABLES.items()}


@pytest.mark.parametrize("integrator", ["dop853", "heyoka"])
@pytest.mark.parametrize("row", VECTORS["trajectories"], ids=lambda row: f"pot {row['P']}")
def test_trajectories_agree_with_the_reference_to_1e_8(row, integrator) -> None:
    if integrator == "heyoka":
        pytest.importorskip("heyoka")
    flow, index = flow_at(row["P"], f"integrator={integrator}")
    order = [index[name] for name in row["vars"]]
    start = np.empty(len(order))
    start[order] = row["F0"]
    times = [time for time, _ in row["states"]]
    assert times == [1.0, 10.0, 50.0, 100.0]
    found = flow.integrate(start, np.array([0.0, *times]))
    assert (found.ending, flow.integrator) == ("", integrator)
    for state, (_, expected) in zip(found.states[1:], row["states"], strict=True):
        assert np.abs(state[order] - expected).max() <= 1e-8


@pytest.mark.parametrize(
    "row", VECTORS["eigenvalues_f_coordinates"], ids=lambda row: f"solution {row['solution']}"
)
def test_eigenvalues_at_equilibria_agree_with_the_reference(row) -> None:
    flow, index = flow_at(row["P"])
    solution = next(known for known in load_solutions() if known.name == row["solution"])
    values = solution.values(row["P"], [row["free"][name] for name in solution.free], exact=False)
    free = np.empty(len(index))
    for name, place in index.items():
        free[place] = values[name]
    behavior = flow.choices.behavior(free)
    assert np.abs(flow.frequency_velocity(behavior)).max() <= 1e-14
    left = list(np.linalg.eigvals(flow.frequency_jacobian(behavior)))
    for value in sorted((complex(*pair) for pair in row["eig"]), key=abs, reverse=True):
        nearest = min(left, key=lambda other: abs(other - value))
        assert abs(nearest - value) <= 1e-9
        left.remove(nearest)
    assert not left
