"""Behavior profiles: frequencies per information set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.model.rational import rational
from eqbench.model.tree import FloatArray, GameTree

ROW_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class BehaviorProfile:
    """A behavior profile of a game: one distribution per information set.

    Attributes
    ----------
    probabilities : float64 (A,), read-only
        Frequencies of all actions, by information set in the order of the tree.
    exact : tuple of A Fractions, or None
        The same frequencies as rationals, where they are known.
    """

    probabilities: FloatArray
    exact: tuple[Fraction, ...] | None = None

    def __repr__(self) -> str:
        known = ", known exactly" if self.exact is not None else ""
        return f"<BehaviorProfile: {len(self.probabilities)} frequencies{known}>"

    @classmethod
    def of(cls, tree: GameTree, probabilities: NDArray | Sequence[float]) -> BehaviorProfile:
        """Checked copy of float64 (A,) frequencies.

        Raises
        ------
        ProfileError
            If the shape is wrong, an entry is outside [0, 1] or not finite, or a row does not
            sum to 1 within 1e-9. Nothing is renormalized.
        """
        values = np.array(probabilities, dtype=np.float64)
        _check_distributions(tree, values)
        values.setflags(write=False)
        return cls(values)

    @classmethod
    def of_exact(cls, tree: GameTree, frequencies: Sequence[Fraction | int]) -> BehaviorProfile:
        """Checked profile of A rationals; rows must sum to exactly 1 for exact verification."""
        exact = tuple(rational(value) for value in frequencies)
        for action, value in zip(range(tree.n_actions), exact, strict=False):
            if not 0 <= value <= 1:  # as a float, -1e-400 would pass
                _refuse_entry(tree, action, value)
        profile = cls.of(tree, [float(value) for value in exact])
        return cls(profile.probabilities, exact)

    @classmethod
    def uniform(cls, tree: GameTree) -> BehaviorProfile:
        """The profile that gives every action at an information set the same frequency."""
        return cls.of_exact(
            tree, [Fraction(1, len(row)) for row in tree.infoset_actions for _ in row]
        )


def check_exact_rows(tree: GameTree, exact: Sequence[Fraction]) -> None:
    """Raise ProfileError unless every row of rationals sums to exactly 1."""
    for i in range(tree.n_infosets):
        total = sum(exact[tree.action_start[i] : tree.action_start[i + 1]], Fraction(0))
        if total != 1:
            raise ProfileError(
                f"the frequencies at {place_of(tree, i)} sum to {total}, not exactly 1; exact "
                'mode reads numbers as exact decimals, so write them as "p/q" strings'
            )


def completed_rows(tree: GameTree, profile: BehaviorProfile) -> tuple[Fraction, ...]:
    """Frequencies (A,) of a checked profile as rationals whose rows sum to exactly 1.

    Floats count as the decimals that they print as. So a profile is the same as its stored text.
    """
    exact = profile.exact or tuple(map(rational, profile.probabilities.tolist()))
    rows = zip(tree.action_start[:-1].tolist(), tree.action_start[1:].tolist(), strict=True)
    return tuple(value for start, stop in rows for value in completed(exact[start:stop]))


def completed(row: Sequence[Fraction]) -> list[Fraction]:
    """A distribution whose largest entry, the first of them, is what the others leave of 1."""
    largest = max(range(len(row)), key=row.__getitem__)
    others = [*row[:largest], *row[largest + 1 :]]
    return [*row[:largest], 1 - sum(others, Fraction(0)), *row[largest + 1 :]]


def random_profile(tree: GameTree, rng: np.random.Generator) -> FloatArray:
    """Frequencies float64 (A,) drawn uniformly from the simplex at every information set."""
    draws = rng.standard_exponential(tree.n_actions)
    return draws / np.add.reduceat(draws, tree.action_start[:-1])[_row_of_action(tree)]


def _check_distributions(tree: GameTree, values: FloatArray) -> None:
    if values.shape != (tree.n_actions,):
        raise ProfileError(
            f"a profile of this game has {tree.n_actions} frequencies; got shape {values.shape}"
        )
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        action = int(np.flatnonzero(outside)[0])
        _refuse_entry(tree, action, float(values[action]))
    if tree.n_infosets == 0:
        return
    total = np.add.reduceat(values, tree.action_start[:-1])
    off = np.abs(total - 1) > ROW_SUM_TOLERANCE
    if off.any():
        i = int(np.flatnonzero(off)[0])
        raise ProfileError(
            f"the frequencies at {place_of(tree, i)} sum to {float(total[i])!r}; they must sum "
            "to 1 within 1e-9 (a missing action counts as 0, nothing is renormalized)"
        )


def _refuse_entry(tree: GameTree, action: int, value: float | Fraction) -> NoReturn:
    i = int(np.searchsorted(tree.action_start, action, side="right")) - 1
    label = tree.infoset_actions[i][action - tree.action_start[i]]
    shown = str(value)
    if len(shown) > 60:
        shown = "negative" if value < 0 else "above 1"
    raise ProfileError(
        f"the frequency of {label!r} at {place_of(tree, i)} is {shown}; frequencies lie in [0, 1]"
    )


def place_of(tree: GameTree, infoset: int) -> str:
    """How messages name an information set: by its label and player."""
    player = tree.players[tree.infoset_player[infoset]]
    return f"information set {tree.infoset_labels[infoset]!r} of {player}"


def action_labels(tree: GameTree) -> list[str]:
    """Names of all actions, ``player|information set|action``."""
    return [
        f"{tree.players[player]}|{infoset}|{action}"
        for player, infoset, actions in zip(
            tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True
        )
        for action in actions
    ]


def _row_of_action(tree: GameTree) -> NDArray:
    return np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
