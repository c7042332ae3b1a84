"""What the solver does within its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.solver import Candidate, Monitor, Termination

from .averages import MOST_POINTS, Averages, points_per_unit
from .integrators import as_far_as_resolved

if TYPE_CHECKING:
    from eqbench.model.game import Game

    from .flow import ReplicatorFlow
    from .replicator import Replicator


def warm_up(flow: ReplicatorFlow, game: Game) -> None:
    """Compile what `follow` runs."""
    if flow.choices.size:
        state = np.zeros(flow.choices.size)
        going = flow.start(state, 0.0)
        going.sample(np.array([1e-9]), lambda: True)  # which may be very many steps
        Averages(game.sequence_form, flow.field, state, points=1).latest(1.0)


def follow(
    solver: Replicator, game: Game, monitor: Monitor, rng: np.random.Generator
) -> Termination:
    """Follow one trajectory until the budget or the target ends, and hand over its averages."""
    flow = solver.flow(game)
    if not flow.choices.size:
        monitor.candidate(BehaviorProfile.uniform(game.tree), claim="equilibrium")
        return Termination("converged", "no information set has a choice")
    state = np.zeros(flow.choices.size)
    if solver.start == "random":
        state = flow.state_of(random_profile(game.tree, rng))
    points = points_per_unit(game.tree, flow.choices, flow.speed)
    going = flow.start(state, 0.0)
    averages = Averages(game.sequence_form, flow.field, state, points=points)

    def windowed() -> Candidate:
        return Candidate(BehaviorProfile.of(game.tree, averages.latest(solver.window)), "average")

    ending = ""
    for start, count, due in monitor.chunks():
        times = start + np.arange(1, count * points + 1) / points
        found = going.sample(times, lambda: monitor.remaining_s <= 0)
        found = as_far_as_resolved(found, times, flow.choices.size)
        whole = len(found.rows) // points * points
        if whole:
            states = np.ascontiguousarray(found.rows[:whole, : flow.choices.size])
            averages.add(states)
            state = states[-1]
        if found.ending:
            ending, monitor.work = found.ending, averages.units
            break
        if due:
            monitor.snapshot(windowed, work=start + count)
    monitor.candidate(windowed())
    if solver.window < 1:
        monitor.candidate(averages.latest(1.0), claim="average")
    monitor.candidate(flow.behavior(state), claim="iterate")
    monitor.record(integrator=flow.integrator, time=averages.units, **{going.unit: going.work})
    if ending and monitor.remaining_s > 0:
        return Termination("failed", ending)
    bound = monitor.termination()
    if bound.reason == "converged":
        return bound
    caveat = "only averages of two players with constant sum are sure to converge"
    if points == MOST_POINTS:
        caveat += (
            f", and not at this speed: they take {points:,} states of a unit of time at most; "
            "lower the rate or k"
        )
    return Termination(bound.reason, f"{bound.detail}; {caveat}")
