"""What `sense` and `of` ask for: a payoff or a frequency of the game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from eqbench.errors import known_labels
from eqbench.model.game import Game

from .programs.compact import CompactGame
from .programs.formulations import Target

if TYPE_CHECKING:
    from .ncp import NCP


def find_target(options: NCP, game: Game) -> tuple[Target | None, str | None]:
    """What `of` names, with a sequence of the game's own; or why there is no such thing."""
    if options.sense == "none":
        return None, None
    tree, maximize = game.tree, options.sense == "max"
    player, *place = options.of.split("|")
    if player not in tree.players:
        return None, f'of="{options.of}": {unknown("player", player, tree.players)}'
    who = tree.players.index(player)
    if not place:
        return Target(who, None, maximize), None
    own = {tree.infoset_labels[i]: i for i in tree.infosets_of(who)}
    if place[0] not in own:
        return None, f'of="{options.of}": {unknown("information set", place[0], own)}'
    infoset = own[place[0]]
    actions = tree.infoset_actions[infoset]
    if place[1] not in actions:
        return None, f'of="{options.of}": {unknown("action", place[1], actions)}'
    if len(actions) == 1:
        return None, f'of="{options.of}": this is the only action there, so its frequency is 1'
    action = int(tree.action_start[infoset]) + list(actions).index(place[1])
    return Target(who, action + tree.n_players, maximize), None


def unknown(kind: str, name: str, labels: Iterable[str]) -> str:
    """What to say about a label that the game does not have."""
    return f"no {kind} {name!r}; {known_labels(name, labels)}"


def compact_target(target: Target | None, compact: CompactGame) -> Target | None:
    """The target with the sequence that stands for its own in the compact game."""
    if target is None or target.sequence is None:
        return target
    return Target(target.player, int(compact.alias[target.sequence]), target.maximize)
