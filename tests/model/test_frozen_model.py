"""Trees, compiled forms and profiles cannot be changed by those who get them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan


def arrays_of(owner: Any) -> dict[str, np.ndarray]:
    """All arrays of an object: fields, properties and parts of tuples."""
    found = {}
    for name in dir(owner):
        value = getattr(owner, name) if not name.startswith("__") else None
        if isinstance(value, np.ndarray):
            found[name] = value
        elif isinstance(value, tuple):
            found |= {f"{name}[{i}]": x for i, x in enumerate(value) if isinstance(x, np.ndarray)}
    return found


def built_game() -> eqbench.Game:
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "x", ["a", "b"])
    builder.terminal((root, 0), [1])
    builder.terminal((root, 1), [2.5])
    return eqbench.Game("one", builder.tree())


GAMES = {
    "kuhn2": lambda: eqbench.load_game("kuhn2"),
    "at a pot": lambda: eqbench.load_game("skp").at(pot=4),
    "shapley": lambda: eqbench.load_game("shapley"),
    "built": built_game,
}


@pytest.mark.parametrize("name", GAMES)
def test_all_arrays_are_read_only(name: str) -> None:
    game = GAMES[name]()
    tree, form = game.tree, game.sequence_form
    profile = BehaviorProfile.uniform(tree)
    plan = RealizationPlan.of(form, profile.probabilities)
    owners = (tree, tree.payoffs, form, form.arrays, profile, plan)
    arrays = {(type(o).__name__, key): a for o in owners for key, a in arrays_of(o).items()}
    assert {"GameTree", "Payoffs", "SequenceForm", "FormArrays"} <= {owner for owner, _ in arrays}
    for key, array in arrays.items():
        with pytest.raises(ValueError, match=r"read-only|assignment destination"):
            array[...] = 0
        assert array.flags.c_contiguous or array.ndim < 2, key


def test_profile_does_not_follow_the_array_it_was_made_of() -> None:
    tree = eqbench.load_game("kuhn2").tree
    source = np.full(tree.n_actions, 0.5)
    profile = BehaviorProfile.of(tree, source)
    source[:] = 0
    assert profile.probabilities.tolist() == [0.5] * tree.n_actions


def test_fields_cannot_be_replaced() -> None:
    game = eqbench.load_game("kuhn2")
    profile = BehaviorProfile.uniform(game.tree)
    for owner in (game, game.tree, game.tree.payoffs, game.sequence_form, profile):
        field = dataclasses.fields(owner)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(owner, field, None)
