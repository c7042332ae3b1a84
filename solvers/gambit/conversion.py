"""Games and profiles to Gambit and back, and how large a game is there."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from io import StringIO
from itertools import chain, islice
from typing import Any

import numpy as np

from eqbench.errors import GameFormatError, UsageError
from eqbench.model.gambit_text import efg_text, nfg_text
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import GameTree

# How far the frequencies of an information set may sum from 1 before they are not rescaled.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class GambitGame:
    """A game as pygambit holds it, a tree or a table, and where its information sets are in ours.

    Gambit numbers information sets within a player in depth-first order of the tree, and its
    profiles list actions by player, information set and action.
    """

    game: Any  # pygambit.Game
    tree: GameTree
    # list of I int: information set here of each of Gambit's, in its order; their actions are in
    # one order
    infosets: list[int]
    is_table: bool = False  # whether it is a table of payoffs, without information sets in Gambit

    def behavior(self, profile: Any) -> BehaviorProfile:
        """Behavior profile of a pygambit profile or of a point on a logit path.

        It is exact if theirs is of rationals. Mixed strategies become the behavior that plays
        alike. Where the own strategy never comes, Gambit gives no frequencies, and they are
        uniform here. Rows that sum to 1 up to rounding are rescaled: Gambit's logit path is off
        by some 1e-9.

        Raises ProfileError if what Gambit gives at an information set is no distribution.
        """
        point, profile = profile, getattr(profile, "profile", profile)
        strategic = hasattr(profile, "as_behavior")
        if point is profile and self.is_table:
            theirs = [value for row in profile for _, value in row]
        elif point is profile or (strategic and not self.is_table):
            players = profile.as_behavior() if strategic else profile
            theirs = [value for player in players for _, row in player for _, value in row]
        else:  # other points on paths are flat sequences, which are read much faster than profiles
            theirs = [point[k] for k in range(self.tree.n_actions)]
        sizes, values = np.diff(self.tree.action_start).tolist(), iter(theirs)
        rows = {i: _distribution(list(islice(values, sizes[i]))) for i in self.infosets}
        ours = [value for i in range(len(rows)) for value in rows[i]]
        if all(isinstance(value, Fraction) for value in theirs):
            exact = [Fraction(value.numerator, value.denominator) for value in ours]
            return BehaviorProfile.of_exact(self.tree, exact)
        return BehaviorProfile.of(self.tree, np.array(ours, dtype=np.float64))

    def profile(self, profile: BehaviorProfile) -> Any:
        """pygambit's profile, of rationals if the frequencies are known exactly.

        It is of behavior on trees, and of mixed strategies on tables.
        """
        from pygambit import Rational

        exact = profile.exact
        values = profile.probabilities.tolist() if exact is None else list(map(Rational, exact))
        starts = self.tree.action_start.tolist()
        rows: list[list[Any]] = [[] for _ in self.tree.players]
        for i in self.infosets:
            rows[self.tree.infoset_player[i]].append(values[starts[i] : starts[i + 1]])
        if self.is_table:
            data = [row for (row,) in rows]
            return self.game.mixed_strategy_profile(data=data, rational=exact is not None)
        return self.game.mixed_behavior_profile(data=rows, rational=exact is not None)


def to_gambit(game: Game, *, tables: bool = False) -> GambitGame:
    """The game in Gambit; reading its text takes most of the time.

    Information sets and actions are found by their paths, never by their names: the moves that
    lead to one of Gambit's information sets are made in the tree here.

    Parameters
    ----------
    tables : whether strategic forms are tables, on which Gambit's methods are faster and go further
        than on trees in which players move unseen

    Raises GameFormatError if Gambit does not take the game.
    """
    from pygambit import read_efg, read_nfg

    if tables:
        with suppress(UsageError):  # it is no strategic form
            table = read_nfg(StringIO(nfg_text(game.tree)))
            return GambitGame(table, game.tree, [*range(game.tree.n_players)], is_table=True)
    try:
        theirs = read_efg(StringIO(efg_text(game.tree)))
    except ValueError as error:
        raise GameFormatError(f"Gambit does not take this game: {error}") from error
    return GambitGame(theirs, game.tree, _infosets_by_path(game.tree, theirs))


# Preparing and solving both need the last game, which is then not to be changed.
converted = lru_cache(maxsize=1)(partial(to_gambit, tables=True))


def _infosets_by_path(tree: GameTree, theirs: Any) -> list[int]:
    """Our information set of each of Gambit's, in its order."""
    from pygambit import H

    @cache
    def moves_at(path: tuple[str, ...]) -> list[str]:
        return list(theirs.get_actions(H.path(*path)))

    first_child = tree.first_children().tolist()
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
