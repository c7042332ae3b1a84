"""Reach and gaps of a profile, against the definitions on small games."""

from __future__ import annotations

import numpy as np

import eqbench
from eqbench.model.inspection import inspect_profile


def test_gaps_are_what_an_action_loses_once_play_is_there() -> None:
    game = eqbench.load_game("kuhn2")
    uniform = eqbench.BehaviorProfile.uniform(game.tree).probabilities
    seen = inspect_profile(game, uniform)
    place = game.tree.infoset_of(0, "3:KB")
    fold, call = seen.gaps[game.tree.action_start[place] :][:2]
    assert (fold, call) == (3.0, 0.0), "the best card loses 1 by folding and wins 2 by calling"


def test_gap_is_unknown_where_the_others_never_go() -> None:
    game = eqbench.load_game("kuhn2")
    tree = game.tree
    profile = eqbench.BehaviorProfile.uniform(tree).probabilities.copy()
    for card in (1, 2, 3):
        start = tree.action_start[tree.infoset_of(1, f"{card}:K")]
        profile[start : start + 2] = [1, 0]  # player 2 never bets
    seen = inspect_profile(game, profile)
    unreached = tree.infoset_of(0, "2:KB")
    start, stop = tree.action_start[unreached : unreached + 2]
    assert seen.reach[unreached] == 0
    assert np.isnan(seen.gaps[start:stop]).all()
