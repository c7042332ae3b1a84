"""Which frequencies of simulated trajectories move, what they are called, and what drives them.

Symbols in shapes: K points of a run, A actions, F free frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqbench.equilibria import KnownSet
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.studies.branch_points import action_labels
from eqbench.studies.simulation_points import SimulatedRun
from eqbench.studies.stability_style import game_title

MOVES = 0.02  # range over the second half of a run above which a frequency moves
LATE_POINTS = 2001  # 2,000 intervals
_EVEN = 1.5  # times the last distance of points is still the same distance
_SAMPLES = 50  # points of a run at which couplings are taken


def frequency_names(game: Game, known: Sequence[KnownSet]) -> list[str]:
    """Names of the free frequencies, F of them.

    Those of a published set where it names all of them, such as `b3`; else
    ``player|information set|action``.
    """
    actions = Choices.of(game.tree).action.tolist()
    for each in known[:1]:
        names = dict(zip(each.layout.action.tolist(), each.layout.variables, strict=True))
        if all(action in names for action in actions):
            return [names[action] for action in actions]
    labels = action_labels(game.tree)
    return [labels[action] for action in actions]


def title_of(game: Game) -> str:
    """The game and the value of its payoff parameter."""
    payoffs = game.tree.payoffs
    return game_title(game.spec, payoffs.parameter, payoffs.value)


def free_frequencies(game: Game, run: SimulatedRun) -> FloatArray:
    """The free frequencies of a run, float64 (K, F)."""
    return run.behavior[:, Choices.of(game.tree).action]


def second_half(run: SimulatedRun) -> slice:
    """The points in the second half of the time of a run."""
    middle = (run.times[0] + run.times[-1]) / 2
    return slice(int(np.searchsorted(run.times, middle)), None)


def late_part(run: SimulatedRun) -> slice:
    """The last points of a run, 2,001 at most, that are as close together as the last two."""
    steps = np.diff(run.times[-LATE_POINTS:])
    wide = np.flatnonzero(steps > _EVEN * steps[-1:])
    kept = len(steps) - (wide[-1] + 1 if len(wide) else 0) + 1
    return slice(len(run.times) - int(kept), None)


def last_turns(values: FloatArray, turns: int) -> int:
    """The first of the last so many turns of a motion (K, n) that oscillates; 0 if it has fewer.

    A turn lasts from one rise of the column with the largest range through the middle of that
    range to the next one.
    """
    ranges = np.ptp(values, axis=0)
    widest = values[:, ranges.argmax()]
    low = widest < (widest.min() + widest.max()) / 2
    rises = np.flatnonzero(low[:-1] & ~low[1:])
    return int(rises[-turns - 1]) if len(rises) > turns else 0


def moving(game: Game, runs: Sequence[SimulatedRun]) -> list[int]:
    """Free frequencies whose range over the second half of some run exceeds 0.02, ascending."""
    ranges = [np.ptp(free_frequencies(game, run)[second_half(run)], axis=0) for run in runs]
    return np.flatnonzero(np.max(ranges, axis=0) > MOVES).tolist()


def couplings(game: Game, runs: Sequence[SimulatedRun]) -> FloatArray:
    """How strongly each two free frequencies drive each other, float64 (F, F), symmetric.

    The root of the product of the derivatives of each one's gain by the other, averaged over
    points in the second halves of the runs; 0 where only one drives the other.
    """
    model = game.payoff_model()
    total = np.zeros((Choices.of(game.tree).size,) * 2)
    for run in runs:
        points = run.behavior[second_half(run)]
        for position in np.linspace(0, len(points) - 1, _SAMPLES).astype(int):
            slopes = model.linearize(points[position]).jacobian
            total += np.sqrt(np.abs(slopes * slopes.T))
    return total / (len(runs) * _SAMPLES)


def coupled_pairs(game: Game, runs: Sequence[SimulatedRun], most: int) -> list[tuple[int, int]]:
    """Pairs of free frequencies that drive each other and move in the late part of the same run.

    They are the strongest ones that form no circle, so that each frequency occurs with one that
    matters to it; at most `most` of them, the strongest first. The strength of a pair is its
    coupling, times the root of the area that the frequencies sweep.
    """
    late = np.array([np.ptp(free_frequencies(game, run)[late_part(run)], axis=0) for run in runs])
    late[late <= MOVES] = 0.0
    swept = np.sqrt(late[:, :, None] * late[:, None, :]).max(axis=0)
    strength = np.triu(couplings(game, runs) * swept, 1)
    order = np.argsort(-strength, axis=None, kind="stable")[: np.count_nonzero(strength)]
    group = np.arange(len(strength))
    chosen: list[tuple[int, int]] = []
    for one, other in zip(*np.unravel_index(order, strength.shape), strict=True):
        if group[one] != group[other] and len(chosen) < most:
            chosen.append((int(one), int(other)))
            group[group == group[other]] = group[one]
    return chosen
