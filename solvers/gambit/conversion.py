"""Games and profiles to Gambit and back, and how large a game is there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from io import StringIO
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.errors import GameFormatError
from eqbench.model.gambit_text import efg_text
from eqbench.model.profile import BehaviorProfile

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.sequence_form import SequenceForm
    from eqbench.model.tree import GameTree

# How far the frequencies of an information set may sum from 1 before they are not rescaled.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class GambitGame:
    """A game as pygambit holds it, and where its information sets are in ours.

    Gambit numbers information sets within a player in depth-first order of the tree, and its
    profiles list actions by player, information set and action.

    Attributes
    ----------
    game : pygambit.ExtensiveGame
    tree : GameTree
    infosets : list of I int
        Information set here of each of Gambit's, in its order; their actions are in one order.
    """

    game: Any
    tree: GameTree
    infosets: list[int]

    def behavior(self, profile: Any) -> BehaviorProfile:
        """Behavior profile of a pygambit profile or of a point on a logit path.

        It is exact if theirs is of rationals. Mixed strategies become the behavior that plays
        alike. Where the own strategy never comes, Gambit gives no frequencies, and they are
        uniform here. Rows that sum to 1 up to rounding are rescaled: Gambit's logit path is off
        by some 1e-9.

        Raises
        ------
        ProfileError
            If what Gambit gives at an information set is no distribution.
        """
        point, profile = profile, getattr(profile, "profile", profile)
        strategic = hasattr(profile, "as_behavior")
        if strategic or point is profile:
            players = profile.as_behavior() if strategic else profile
            theirs = [value for player in players for _, row in player for _, value in row]
        else:  # points on trees are flat sequences, which are read much faster than profiles
            theirs = [point[k] for k in range(self.tree.n_actions)]
        sizes, values = np.diff(self.tree.action_start).tolist(), iter(theirs)
        rows = {i: _distribution(list(islice(values, sizes[i]))) for i in self.infosets}
        ours = [value for i in range(len(rows)) for value in rows[i]]
        if all(isinstance(value, Fraction) for value in theirs):
            exact = [Fraction(value.numerator, value.denominator) for value in ours]
            return BehaviorProfile.of_exact(self.tree, exact)
        return BehaviorProfile.of(self.tree, np.array(ours, dtype=np.float64))

    def profile(self, profile: BehaviorProfile) -> Any:
        """pygambit's behavior profile, of rationals if the frequencies are known exactly."""
        from pygambit import Rational

        exact = profile.exact
        values = profile.probabilities.tolist() if exact is None else list(map(Rational, exact))
        starts = self.tree.action_start.tolist()
        rows: list[list[Any]] = [[] for _ in self.tree.players]
        for i in self.infosets:
            rows[self.tree.infoset_player[i]].append(values[starts[i] : starts[i + 1]])
        return self.game.mixed_behavior_profile(data=rows, rational=exact is not None)


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
    return GambitGame(theirs, game.tree, _infosets_by_path(game.tree, theirs))


# Preparing and solving both need the last game, which is then not to be changed.
converted = lru_cache(maxsize=1)(to_gambit)


def _infosets_by_path(tree: GameTree, theirs: Any) -> list[int]:
    """Our information set of each of Gambit's, in its order."""
    from pygambit import H

    @cache
    def moves_at(path: tuple[str, ...]) -> list[str]:
        return list(theirs.get_actions(H.path(*path)))

    first_child = np.searchsorted(tree.parent, np.arange(tree.n_nodes)).tolist()
    infosets = []
    for history in chain.from_iterable(map(theirs.get_infosets, theirs.players)):
        path, node = tuple(history.actions), 0
        for depth, move in enumerate(path):
            node = first_child[node] + moves_at(path[:depth]).index(move)
        infosets.append(int(tree.infoset[node]))
    return infosets


def _distribution(row: list[Any]) -> list[Any]:
    """The row, uniform where there are no frequencies, and with rounding taken out of floats.

    What is off by more than rounding is left as it is.
    """
    total = sum(row)
    if not total > 0:  # 0, or not a number
        return [Fraction(1, len(row))] * len(row)
    if isinstance(total, float) and abs(total - 1) <= ROUNDING and min(row) >= -ROUNDING:
        clipped = [max(value, 0.0) for value in row]
        return [value / sum(clipped) for value in clipped]
    return row


def decisions_in_turn(form: SequenceForm) -> int:
    """Most decisions that a player may have one after another, at least 1.

    If no agent at a single information set gains more than r by deviating there, a player gains
    at most r times this number, as long as everything is reached.
    """
    depth = np.zeros(form.n_sequences, dtype=np.int64)
    for i, parent in enumerate(form.parent):
        depth[form.block_start[i] : form.block_start[i + 1]] = depth[parent] + 1
    return max(1, int(depth.max()))
