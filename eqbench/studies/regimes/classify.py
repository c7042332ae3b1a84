"""The regime of a trajectory, from its figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eqbench.dynamics import Flow, Trajectory
from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray
from eqbench.studies.regimes.coupling import components_of
from eqbench.studies.regimes.limits import (
    NEAR_FACE_LOG_ODDS,
    TREND_PARTS,
    Actions,
    Limits,
    limits_of,
    swing_growth,
)
from eqbench.studies.regimes.regime import Component, Regime
from eqbench.studies.regimes.returns import component_facts
from eqbench.studies.regimes.verdicts import Figures, verdict_of
from eqbench.studies.regimes.windows import (
    SHORTEST,
    growth_windows,
    near_face_windows,
    near_faces,
)

# Enough for two windows that double the time.
LEAST_TIMES = 8 * SHORTEST


def classify(flow: Flow, trajectory: Trajectory) -> Regime:
    """The regime of a trajectory.

    Limits, components and returns are those of the last half of its time.

    Parameters
    ----------
    trajectory : Trajectory
        On an evenly spaced grid of at least `LEAST_TIMES` times, so close that the shortest
        oscillation has a dozen of them, and with the growth of a tangent. Without one only
        absorption can be told.

    Raises
    ------
    UsageError
        If the times are not evenly spaced, or too few although all were reached.
    """
    actions = Actions.of(flow.choices, trajectory.states)
    if len(trajectory.times) < LEAST_TIMES and trajectory.ending:
        return _too_short(trajectory, actions)
    _check_grid(trajectory.times)
    limits = limits_of(actions.log_odds)
    parts = components_of(flow, trajectory.states, actions, limits)
    half = len(trajectory.times) // 2
    facts = tuple(
        component_facts(
            trajectory.times[half:], actions.log_odds[half:, part], actions.action[part]
        )
        for part in parts
    )
    figures = _figures(trajectory, actions.log_odds, limits, facts)
    verdict = verdict_of(figures)
    at_zero, at_one = (_indices(actions.action[at]) for at in (limits.at_zero, limits.at_one))
    moving = tuple(_without(facts, {*at_zero, *at_one}))
    ended = f"; the trajectory ended early: {trajectory.ending}" if trajectory.ending else ""
    return Regime(
        word=verdict.word,
        reason=verdict.reason + ended,
        to_zero=_indices(actions.action[limits.to_zero]),
        to_one=_indices(actions.action[limits.to_one]),
        at_zero=at_zero,
        at_one=at_one,
        frozen=_indices(actions.action[limits.frozen]),
        components=tuple(fact.actions for fact in moving),
        lyapunov=figures.growth_windows[-1].mean if figures.growth_windows else None,
        lyapunov_windows=figures.growth_windows,
        near_face_fraction=figures.near_windows[-1].mean,
        near_face_windows=figures.near_windows,
        transient=verdict.transient,
        facts=moving,
    )


def _without(facts: tuple[Component, ...], actions: set[int]) -> Iterator[Component]:
    """What is left of components without some actions."""
    for fact in facts:
        left = tuple(action for action in fact.actions if action not in actions)
        if left:
            yield replace(fact, actions=left)


def _figures(
    trajectory: Trajectory, log_odds: FloatArray, limits: Limits, facts: tuple[Component, ...]
) -> Figures:
    """Figures of a trajectory whose actions have these log-odds (K, M)."""
    times = trajectory.times
    growth = None if trajectory.growth is None else np.maximum.accumulate(trajectory.growth)
    moving = log_odds[:, limits.moving]
    near = near_faces(moving) if facts else np.zeros(len(times))
    return Figures(
        times=times,
        gone=int(limits.gone.sum()),
        returning=int((limits.gone & (limits.at_zero | limits.at_one)).sum()),
        settled=int(limits.frozen.sum()),
        gone_from=_near_from(times, log_odds[:, limits.gone]),
        growth=growth,
        growth_windows=() if growth is None else growth_windows(times, growth),
        near=near,
        near_windows=near_face_windows(times, near),
        swing_growth=swing_growth(moving) if facts else 1.0,
        drift=_drift(moving[len(times) // 2 :]) if facts else 0.0,
        facts=facts,
    )


def _near_from(times: FloatArray, log_odds: FloatArray) -> float:
    """When the last of the actions with these log-odds (K, m) came near its face for good."""
    inside = np.flatnonzero((np.abs(log_odds) < NEAR_FACE_LOG_ODDS).any(axis=1))
    return float(times[inside[-1] + 1] if len(inside) else times[0])


def _drift(log_odds: FloatArray) -> float:
    """Largest change of the mean of log-odds (K, m), as a share of how far they swing."""
    part = len(log_odds) // TREND_PARTS
    change = np.abs(log_odds[-part:].mean(axis=0) - log_odds[:part].mean(axis=0))
    return float((change / np.ptp(log_odds, axis=0)).max())


def _indices(actions: np.ndarray) -> tuple[int, ...]:
    return tuple(int(action) for action in actions)


def _too_short(trajectory: Trajectory, actions: Actions) -> Regime:
    """The regime of a trajectory that ended before anything could be told."""
    return Regime(
        word="undecided",
        reason=f"only {len(trajectory.times)} times of {LEAST_TIMES}: {trajectory.ending}",
        to_zero=(),
        to_one=(),
        at_zero=(),
        at_one=(),
        frozen=(),
        components=(),
        lyapunov=None,
        lyapunov_windows=(),
        near_face_fraction=float(near_faces(actions.log_odds).mean()),
        near_face_windows=(),
        transient=None,
        facts=(),
    )


def _check_grid(times: FloatArray) -> None:
    if len(times) < LEAST_TIMES:
        raise UsageError(
            f"a regime needs at least {LEAST_TIMES} times; got {len(times)}. Follow the "
            "trajectory for longer or on a closer grid"
        )
    spacing = np.diff(times)
    if np.ptp(spacing) > 1e-6 * spacing.mean():
        raise UsageError(
            f"a regime needs evenly spaced times; got spacings from {spacing.min():g} to "
            f"{spacing.max():g}. Use an even grid"
        )
