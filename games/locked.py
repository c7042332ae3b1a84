"""Another game in which some information sets play a given profile: a known opponent.

A locked information set is a chance node.
Players keep perfect recall, since they only lose decisions.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError, SpecError
from eqbench.model.assemble import InfosetTable, assemble
from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.profile_json import parse_profile, read_profile
from eqbench.model.tree import CHANCE, INT64_SAFE, GameTree


@dataclass(frozen=True)
class Locked:
    """Another game in which some information sets play a given profile, as moves of chance.

    Whose information sets are all locked remains a player with payoffs. Moves that are played with
    frequency 0 leave the tree, with all that only they lead to; other information sets keep their
    names and actions. Chances are exact if those of the game are and all frequencies together have
    a common denominator below 2^62.

    Parameters
    ----------
    game : spec of the other game, in quotes if it has options
    profile : JSON file of a profile, or its JSON text; it may leave out what is not locked
    players : who is locked, such as P2, separated by commas; else all that the profile has
    sets : information sets that are locked, such as "P2|1:B,P2|2:B"; one with a comma in quotes
    """

    game: str
    profile: str
    players: str = ""
    sets: str = ""

    def __post_init__(self) -> None:
        if self.profile.strip() in ("", "-"):
            raise SpecError(
                f'profile="{self.profile}"; give the name of a JSON file, or the JSON text itself'
            )

    @property
    def base_game(self) -> str:
        """Spec of the game whose tree `build` takes."""
        return self.game

    def build(self, tree: GameTree) -> GameTree:
        """Game tree in which chance moves at what is locked.

        Raises
        ------
        ProfileError, UsageError
            If the profile cannot be read, does not fit, or leaves no choice to anyone.
        """
        locked, frequencies = self._play(tree)
        moves = np.append(locked, False)[tree.infoset]  # what is no information set has -1
        played = moves[tree.parent]
        played[0] = False
        chance, denominator = _chances(tree, played, frequencies)
        stays = ~(played & (chance == 0))
        for level in tree.levels[1:]:
            stays[level] &= stays[tree.parent[level]]
        kept = np.unique(tree.infoset[stays & (tree.infoset >= 0) & ~moves])
        if all(len(tree.infoset_actions[i]) == 1 for i in kept):
            raise ProfileError(
                "nothing is left to choose in this game; name whom to lock by players=..., or "
                "what by sets=..."
            )
        index = np.full(tree.n_infosets + 1, -1, dtype=np.int32)
        index[kept] = np.arange(len(kept))
        parent = (np.cumsum(stays) - 1)[tree.parent[stays]].astype(np.int32)
        parent[0] = -1
        oldest = np.flatnonzero(np.diff(parent, prepend=-2))  # siblings stand together
        place = np.arange(len(parent))
        move = place - np.repeat(oldest, np.diff(oldest, append=len(parent)))
        move[0] = -1
        nodes = {
            "parent": parent,
            "move": move.astype(np.int32),
            "player": np.where(moves, CHANCE, tree.player)[stays].astype(tree.player.dtype),
            "infoset": index[np.where(moves, -1, tree.infoset)[stays]],
            "chance": chance[stays],
        }
        table = InfosetTable(
            tree.infoset_player[kept].tolist(),
            [tree.infoset_labels[i] for i in kept],
            [tree.infoset_actions[i] for i in kept],
        )
        ends, slope = stays[tree.terminals], tree.payoffs.slope
        payoffs = replace(
            tree.payoffs,
            base=tree.payoffs.base[ends],
            slope=None if slope is None else slope[ends],
        )
        return assemble(tree.players, nodes, table, payoffs, chance_denominator=denominator)

    def _play(self, tree: GameTree) -> tuple[NDArray[np.bool_], tuple[Fraction, ...]]:
        """Which information sets are locked (I,), and frequencies (A,) there."""
        text = self.profile
        data: Any = parse_profile(text) if text.lstrip().startswith("{") else read_profile(text)
        given, anything = data["behavior"], BehaviorProfile.uniform(tree)
        chosen = [(player, label) for player, sets in given.items() for label in sets]
        if self.players or self.sets:
            named = [each.partition("|") for each in _listed(self.sets)]
            chosen = [(player, label) for player, _, label in named]
            chosen += [(player, s) for player in _listed(self.players) for s in anything[player]]
        locked = np.zeros(tree.n_infosets, dtype=bool)
        for player, label in chosen:
            _ = anything[player, label]  # refuses what is unknown, with the known ones
            locked[tree.infoset_of(tree.players.index(player), label)] = True
        full = anything.to_json()["behavior"]
        for i in np.flatnonzero(locked):
            del full[tree.players[tree.infoset_player[i]]][tree.infoset_labels[i]]
        filled = {p: full.get(p, {}) | given.get(p, {}) for p in (*full, *given)}
        profile = BehaviorProfile.from_json(tree, {"behavior": filled})
        return locked, completed_rows(tree, profile)


def _listed(text: str) -> Iterable[str]:
    """Parts between commas; one with a comma stands in quotes."""
    return [part for part in next(csv.reader([text], skipinitialspace=True), []) if part]


def _chances(
    tree: GameTree, played: NDArray[np.bool_], frequencies: tuple[Fraction, ...]
) -> tuple[NDArray, int]:
    """Chances (M,) and their denominator, where nodes (M,) are reached by locked play."""
    actions, denominator = np.unique(tree.incoming[played]), tree.chance_denominator
    for action in actions.tolist():
        denominator = math.lcm(denominator, frequencies[action].denominator)
        if denominator >= INT64_SAFE:
            break
    is_exact = tree.chance.dtype.kind == "i" and denominator < INT64_SAFE
    unit = denominator if is_exact else 1
    play = np.zeros(tree.n_actions, dtype=np.int64 if is_exact else np.float64)
    play[actions] = [
        int(frequencies[a] * unit) if is_exact else float(frequencies[a]) for a in actions
    ]
    factor = unit // tree.chance_denominator if is_exact else 1 / tree.chance_denominator
    chance = (tree.chance * factor).astype(play.dtype)
    chance[played] = play[tree.incoming[played]]
    return chance, unit
