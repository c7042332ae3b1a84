"""Gains multiplied with the own reach: derivatives of the expectation itself.

The gain of an action is the derivative of the player's expectation by its frequency only after
division by the probability with which the player's own earlier actions lead there. Without
that division ("raw") an information set that its own player never reaches has no say, and
threats in it need not be credible (Billingham 2018, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eqbench.model.choices import Choices
from eqbench.model.payoff_model import Linearization
from eqbench.model.tree import FloatArray, GameTree


@dataclass(frozen=True, eq=False)
class OwnReach:
    """The player's own actions that lead to each free action.

    Attributes
    ----------
    choices : Choices
    paths : tuple of F tuples of actions
    """

    choices: Choices
    paths: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: GameTree, choices: Choices) -> OwnReach:
        """Paths in a game tree; `infoset_parent` is the own action before a set, -1 if none."""
        infoset_of = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
        before: list[tuple[int, ...]] = []
        for above in tree.infoset_parent.tolist():  # earlier sets come first
            before.append(() if above < 0 else (*before[infoset_of[above]], above))
        return cls(choices, tuple(before[infoset_of[action]] for action in choices.action))

    def weigh(self, behavior: FloatArray, linear: Linearization) -> Linearization:
        """Gains times own reach, with the derivatives of both factors."""
        choices = self.choices
        reach = np.array([behavior[list(path)].prod() for path in self.paths])
        jacobian = reach[:, None] * linear.jacobian
        place = {int(action): f for f, action in enumerate(choices.action)}
        for f, path in enumerate(self.paths):
            for step, action in enumerate(path):
                others = behavior[list(path[:step] + path[step + 1 :])].prod()
                change = linear.gains[f] * others
                if action in place:
                    jacobian[f, place[action]] += change
                else:  # a first action gives way to all others of its set
                    jacobian[f, choices.first == action] -= change
        slope = None if linear.slope is None else reach * linear.slope
        return Linearization(reach * linear.gains, jacobian, slope)
