"""Where a player gains by deviating: the regret of the verifier, divided among information sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eqbench.verification.exact import short_figure
from eqbench.verification.play import Play
from eqbench.verification.sweep import TreeSweep, sum_by


@dataclass(frozen=True)
class Deviation:
    """A better action at one information set, and what it brings in payoff units.

    Attributes
    ----------
    gain : float or Fraction
        Share of the player's regret that arises here, after best play further on.
    """

    player: str
    infoset: str
    action: str
    gain: Any

    def __str__(self) -> str:
        return f"{short_figure(self.gain)} at {self.infoset or 'the root'} by {self.action}"


def deviations(play: Play) -> list[Deviation]:
    """All gains above the tolerance of a profile, the largest first.

    Those of a player sum to their regret: at sets that their own play admits with probability r,
    it is r times the best action's counterfactual value less that of what is played, where both
    are followed by a best response. So each is at least 0.
    """
    tree, found = play.tree, []
    last_own = TreeSweep(tree).last_own
    for player, name in enumerate(tree.players):
        reach = play.reach(play.mover == player)[tree.terminals]
        value = sum_by(last_own[player], reach * play.payoffs[:, player], tree.n_actions + 1)[1:]
        for i in reversed(tree.infosets_of(player)):  # later decisions stand behind earlier ones
            here = slice(tree.action_start[i], tree.action_start[i + 1])
            best, above = int(np.argmax(value[here])), tree.infoset_parent[i]
            gain = play.own[i] * (value[here][best] - play.frequency[here] @ value[here])
            if gain > play.tolerance:
                labels = (tree.infoset_labels[i], tree.infoset_actions[i][best])
                found.append(Deviation(name, *labels, gain))
            if above >= 0:
                value[above] += value[here][best]
    return sorted(found, key=lambda each: -each.gain)
