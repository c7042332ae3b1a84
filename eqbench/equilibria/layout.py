"""Where named frequencies stand among the actions of a game.

Symbols in shapes: A actions of the game, V named frequencies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray, GameTree


@dataclass(frozen=True, eq=False)
class Layout:
    """Named frequencies on a tree; at each information set at most one action has no name.

    Attributes
    ----------
    tree : GameTree
    variables : names of the V frequencies
    places : ``PLAYER|INFOSET|ACTION`` of each of them
    action : int64 (V,)
        Action of each, -1 if the game has deleted it.
    infoset : int64 (V,)
        Information set of each.
    rest : int64 (A,)
        1 at the actions that have no name: they get what the others leave.
    spread : float64 (A, V)
        With `rest` it gives the behavior: ``rest + spread @ frequencies``.
    """

    tree: GameTree
    variables: tuple[str, ...]
    places: tuple[str, ...]
    action: NDArray[np.int64]
    infoset: NDArray[np.int64]
    rest: NDArray[np.int64]
    spread: FloatArray

    @classmethod
    def of(cls, tree: GameTree, variables: Mapping[str, str]) -> Layout | None:
        """Layout of frequencies given as ``PLAYER|INFOSET|ACTION``; None if it does not fit.

        An action that the game has deleted is no misfit: its frequency is 0 there.
        """
        action, infoset = [], []
        for place in variables.values():
            player, label, name = place.split("|")
            try:
                i = tree.infoset_of(tree.players.index(player), label)
            except (KeyError, ValueError):
                return None
            names = tree.infoset_actions[i]
            action.append(tree.action_start[i] + names.index(name) if name in names else -1)
            infoset.append(i)
        rest = np.ones(tree.n_actions, dtype=np.int64)
        rest[[a for a in action if a >= 0]] = 0
        if np.add.reduceat(rest, tree.action_start[:-1]).max() > 1:
            return None
        spread = np.zeros((tree.n_actions, len(variables)))
        for v, (a, i) in enumerate(zip(action, infoset, strict=True)):
            block = slice(tree.action_start[i], tree.action_start[i + 1])
            if a >= 0:
                spread[block, v] = -rest[block]
                spread[a, v] = 1
        return cls(
            tree,
            tuple(variables),
            tuple(variables.values()),
            np.array(action, dtype=np.int64),
            np.array(infoset, dtype=np.int64),
            rest,
            spread,
        )

    def frequencies(self, behavior: FloatArray) -> FloatArray:
        """The V named frequencies of behavior (A,); 0 for actions that the game has deleted."""
        return np.where(self.action >= 0, behavior[self.action], 0.0)

    def behavior(self, frequencies: FloatArray) -> FloatArray:
        """Behavior (A,) with the V named frequencies."""
        return self.rest + self.spread @ frequencies

    def exact_profile(self, frequencies: Sequence[Fraction]) -> BehaviorProfile:
        """Exact profile with the V named frequencies.

        Raises
        ------
        ProfileError
            If a frequency is outside [0, 1], or stands at an action that was deleted.
        """
        values = [Fraction(int(rest)) for rest in self.rest]
        for v, frequency in enumerate(frequencies):
            for a in np.flatnonzero(self.spread[:, v]):
                values[a] += int(self.spread[a, v]) * frequency
        return BehaviorProfile.of_exact(self.tree, values)
