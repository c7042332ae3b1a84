"""Games and profiles to Gambit and back."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from io import StringIO
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.errors import GameFormatError
from eqbench.model.gambit_text import efg_text
from eqbench.model.profile import BehaviorProfile

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.tree import GameTree, IntArray

# How far the frequencies of an information set may sum from 1 before they are not rescaled.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class GambitGame:
    """A game as pygambit holds it, and where its actions are in ours.

    Gambit numbers information sets within a player in depth-first order of the tree, and its
    profiles list actions by player, information set and action.

    Attributes
    ----------
    game : pygambit.ExtensiveGame
    tree : GameTree
    paths : tuple of I tuples of str
        Action labels from the root to a node of each of Gambit's information sets, in its order.
    action : int32 (A,)
        Action here of each action of Gambit, in its order.
    """

    game: Any
    tree: GameTree
    paths: tuple[tuple[str, ...], ...]
    action: IntArray

    def behavior(self, profile: Any) -> BehaviorProfile:
        """Behavior profile of a pygambit profile, exact if that is of rationals.

        Mixed strategies become the behavior that plays alike. Where the own strategy never
        comes, Gambit gives no frequencies, and they are uniform here. Rows that sum to 1 up to
        rounding are rescaled: Gambit's logit path is off by some 1e-9.

        Raises
        ------
        ProfileError
            If what Gambit gives at an information set is no distribution.
        """
        if hasattr(profile, "as_behavior"):
            profile = profile.as_behavior()
        theirs = [value for player in profile for _, row in player for _, value in row]
        pairs = sorted(zip(self.action.tolist(), theirs, strict=True), key=itemgetter(0))
        ours = _filled(self.tree, [value for _, value in pairs])
        if all(isinstance(value, Fraction) for value in theirs):
            exact = [Fraction(value.numerator, value.denominator) for value in ours]
            return BehaviorProfile.of_exact(self.tree, exact)
        return BehaviorProfile.of(self.tree, np.array(ours, dtype=np.float64))

    def profile(self, profile: BehaviorProfile) -> Any:
        """pygambit's behavior profile, of rationals if the frequencies are known exactly."""
        from pygambit import H, Rational

        if profile.exact is None:
            values = profile.probabilities.tolist()
        else:
            values = [Rational(value) for value in profile.exact]
        theirs = self.game.mixed_behavior_profile(rational=profile.exact is not None)
        first = 0
        for path in self.paths:
            place = H.path(*path)
            labels = self.game.get_actions(place)
            own = self.action[first : first + len(labels)].tolist()
            theirs[place] = {label: values[a] for label, a in zip(labels, own, strict=True)}
            first += len(labels)
        return theirs


def to_gambit(game: Game) -> GambitGame:
    """The game in Gambit; reading its text takes most of the time.

    Information sets and actions are found by their paths, never by their names: the moves that
    lead to one of Gambit's information sets are made in the tree here. Strategic forms are trees
    in which players move unseen, and have the same strategies there.

    Raises
    ------
    GameFormatError
        If Gambit does not take the game.
    """
    from pygambit import read_efg

    try:
        theirs = read_efg(StringIO(efg_text(game.tree)))
    except ValueError as error:
        raise GameFormatError(f"Gambit does not take this game: {error}") from error
    paths, actions = _actions_by_path(game.tree, theirs)
    return GambitGame(theirs, game.tree, paths, actions)


@lru_cache(maxsize=1)  # preparing and solving both need it; only the last game is kept
def converted(game: Game) -> GambitGame:
    """As :func:`to_gambit`, once for each game; not to be changed by whoever gets it."""
    return to_gambit(game)


def _actions_by_path(tree: GameTree, theirs: Any) -> tuple[tuple[tuple[str, ...], ...], IntArray]:
    """Paths to Gambit's information sets, and our action of each of its actions, int32 (A,)."""
    from pygambit import H

    first_child = np.searchsorted(tree.parent, np.arange(tree.n_nodes)).tolist()
    node_at: dict[tuple[str, ...], int] = {(): 0}
    moves_at: dict[tuple[str, ...], list[str]] = {}
    paths: list[tuple[str, ...]] = []
    actions: list[int] = []
    for player in theirs.players:
        for history in theirs.get_infosets(player):
            path = tuple(history.actions)
            for depth in range(len(path)):
                here, there = path[:depth], path[: depth + 1]
                if there in node_at:
                    continue
                if here not in moves_at:
                    moves_at[here] = theirs.get_actions(H.path(*here))
                node_at[there] = first_child[node_at[here]] + moves_at[here].index(path[depth])
            infoset = tree.infoset[node_at[path]]
            paths.append(path)
            actions.extend(range(tree.action_start[infoset], tree.action_start[infoset + 1]))
    return tuple(paths), np.array(actions, dtype=np.int32)


def _filled(tree: GameTree, values: list[Any]) -> list[Any]:
    """The frequencies with uniform ones where there are none, and rounding taken out of floats.

    What is off by more than rounding is left as it is.
    """
    filled = list(values)
    for i in range(tree.n_infosets):
        block = slice(tree.action_start[i], tree.action_start[i + 1])
        row = values[block]
        total = sum(row)
        if not total > 0:  # 0, or not a number
            filled[block] = [Fraction(1, len(row))] * len(row)
        elif isinstance(total, float) and abs(total - 1) <= ROUNDING and min(row) >= -ROUNDING:
            clipped = [max(value, 0.0) for value in row]
            filled[block] = [value / sum(clipped) for value in clipped]
    return filled
