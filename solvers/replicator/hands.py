"""Repeated play, hand by hand, of players who remember a limited number of hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eqbench.dynamics import Trajectory
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

from ..cfr.sampling import walk_arrays
from . import kernels
from .flow import ascending, log_odds
from .integrators import LARGEST, TOO_LARGE

# Time that a whole memory spans by default. Beliefs are half of that late, so oscillations grow, in
# a unit of time by (2 pi / period)**2 times the delay: by 0.8 % where the period is 5, which is
# short for simplified three-player Kuhn poker.
MEMORY_SPAN = 0.01
HANDS_AT_ONCE, MOST_HANDS = 2048, 1e12


@dataclass(eq=False)
class HandByHandPlay:
    """The flow as play would have it: no player knows the others' frequencies.

    Billingham (2017, arXiv:1704.08124) describes such play; the rules are ours.

    After every hand all cards are shown. The estimate of an opponent's behavior at an information
    set is the shares of the actions there in the last `memory` hands. Where none of these led
    there, the last estimate stands. Then every player moves its log-odds by their speed times
    `hand_time` times the gain over the first action of the set, with the others as estimated and
    its own later play as it is. Before the first adjustment `memory` hands are watched at the
    start; sets that none of them reached are estimated rightly.

    A memory of hands, not of visits to a set, bounds how old estimates are wherever anything was
    seen. These are independent draws from the behavior, so estimates and their products have no
    bias; with `hand_time` toward 0 at a fixed memory the noise averages out and play follows
    the flow.
    """

    game: Game
    field: kernels.VectorField  # the game for kernels, with the speeds of the log-odds
    memory: int  # number of hands that are remembered
    hand_time: float | None = None  # time that a hand takes; None for 0.01 / memory
    now = 0.0  # time that the latest play has reached

    def __post_init__(self) -> None:
        if self.memory % 1 or self.memory < 1:
            raise UsageError(
                f"memory={self.memory}: players remember a whole number of hands, at least 1"
            )

    def play(
        self,
        state: FloatArray,
        times: FloatArray,
        rng: np.random.Generator,
        *,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> Trajectory:
        """Play from `state` (F,) at ``times[0]`` on; see :class:`eqbench.dynamics.HandByHand`.

        States are those after the hand that ends nearest to each time. More than 1e12 hands, which
        take weeks, are refused.
        """
        form, tree = self.game.sequence_form, self.game.tree
        state, times = log_odds(state, len(self.field.action)), ascending(times)
        hand_time = MEMORY_SPAN / self.memory if self.hand_time is None else self.hand_time
        with np.errstate(over="ignore"):  # infinitely many are too many, too
            hands = np.rint((times - times[0]) / hand_time)
        if hands[-1] > MOST_HANDS:
            raise UsageError(
                f"{hands[-1]:.3g} hands of {hand_time:g} each come before the time "
                f"{times[-1]:g}; choose a longer hand_time, for at most {MOST_HANDS:.0e} hands"
            )
        behavior, moves = np.ones(form.n_sequences), max(len(tree.levels) - 1, 1)
        kernels.frequencies(self.field, state, behavior)
        table = kernels.PlayState(
            state=state.copy(),
            behavior=behavior,
            estimate=behavior.copy(),
            seen=np.zeros(form.n_sequences, dtype=np.int64),
            hands=np.full((int(self.memory), moves + 1), -1, dtype=np.int32),
            clock=np.zeros(1, dtype=np.int64),
            won=np.zeros(tree.n_players),
        )
        played = (self.field, form.sequence_infoset, walk_arrays(tree), table)

        def go_on(number: int, hand_time: float) -> str:
            """Play a number of hands, in pieces; why it is over, empty if it is not."""
            for done in range(0, number, HANDS_AT_ONCE):
                if interrupted():
                    return "interrupted"
                # from 1 down, so that shares are taken from the last child on
                draws = 1.0 - rng.random((min(HANDS_AT_ONCE, number - done), moves))
                kernels.play(*played, draws, hand_time)
                self.now += len(draws) * hand_time
            resolved = np.abs(table.state).max(initial=0.0) <= LARGEST  # which NaN is not
            return "" if resolved else f"log-odds are {TOO_LARGE}"

        self.now, states, won = float(times[0]), [state], [table.won.copy()]
        ending = go_on(0, 0.0) or go_on(int(self.memory), 0.0)
        for number in np.diff(hands.astype(np.int64)).tolist():
            ending = ending or go_on(number, hand_time)
            if ending:
                break
            states.append(table.state.copy())
            won.append(table.won.copy())
        reached = times[: len(states)]
        if ending:
            ending = f"{ending} (after time {reached[-1]:g} of {times[-1]:g})"
        profits = np.array(won) * hand_time
        return Trajectory(reached, np.array(states), profits, None, None, ending)
