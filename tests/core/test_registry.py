"""Built-in names become games and solvers: canonical specs, presets, refusals, listings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.made_games import SPECS

import eqbench
from eqbench.builtin import BUILTIN_GAMES, BUILTIN_SOLVERS
from eqbench.errors import SpecError, UsageError
from eqbench.plugins import Entry
from eqbench.registry import _expected_nodes, default_registry


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("kuhn", "kuhn(players=2,cards=3,pot=2,reduce=none,raises=0)"),
        ("kuhn2", "kuhn(players=2,cards=3,pot=2,reduce=none,raises=0)"),
        ("kuhn3", "kuhn(players=3,cards=4,pot=3,reduce=none,raises=0)"),
        ("kuhn4", "kuhn(players=4,cards=5,pot=4,reduce=none,raises=0)"),
        ("kuhn3_reduced", "kuhn(players=3,cards=4,pot=3,reduce=dominated22,raises=0)"),
        ("kuhn3(pot=3.2)", "kuhn(players=3,cards=4,pot=16/5,reduce=none,raises=0)"),
        ("kuhn3(players=2)", "kuhn(players=2,cards=3,pot=2,reduce=none,raises=0)"),
        ("kuhn3_reduced(reduce=none)", "kuhn(players=3,cards=4,pot=3,reduce=none,raises=0)"),
        ("kuhn(pot=none, cards=none)", "kuhn(players=2,cards=3,pot=2,reduce=none,raises=0)"),
        ("kuhn(cards=13)", "kuhn(players=2,cards=13,pot=2,reduce=none,raises=0)"),
        ("skp", "skp(pot=3)"),
        ("skp(pot=5/2)", "skp(pot=5/2)"),
        ("matrix", "matrix(name=rock_paper_scissors)"),
        ("shapley", "matrix(name=shapley)"),
    ],
)
def test_game_spec_has_its_canonical_form(spec: str, canonical: str) -> None:
    assert eqbench.load_game(spec).spec == canonical


@pytest.mark.parametrize("name", BUILTIN_GAMES)
def test_canonical_spec_of_a_game_loads_the_same_game(name: str) -> None:
    game = eqbench.load_game(SPECS.get(name, name))
    again = eqbench.load_game(game.spec)
    assert again.spec == game.spec
    assert again.tree.payoffs.table.tolist() == game.tree.payoffs.table.tolist()


@pytest.mark.parametrize("name", BUILTIN_SOLVERS)
def test_canonical_spec_of_a_solver_loads_an_equal_solver(name: str) -> None:
    loaded = default_registry().load_solver(name)
    again = default_registry().load_solver(loaded.spec)
    assert loaded.spec.partition("(")[0] == name
    assert (again.spec, again.instance, again.entry) == (loaded.spec, loaded.instance, loaded.entry)


def test_canonical_solver_spec_keeps_the_preset_name_and_has_all_options() -> None:
    assert default_registry().load_solver("cfr_plus(alternating=false)").spec == (
        "cfr_plus(regrets=clipped,alpha=none,beta=none,predictive=false,averaging=linear,"
        "alternating=false,start=uniform,joint=false)"
    )


def test_spec_overrides_a_preset() -> None:
    assert eqbench.load_solver("cfr_plus(averaging=quadratic)").averaging == "quadratic"
    assert eqbench.load_solver("cfr_plus").averaging == "linear"


def test_options_show_the_defaults_of_the_preset() -> None:
    reduced = {o.name: o for o in default_registry().options(BUILTIN_GAMES["kuhn3_reduced"])}
    assert list(reduced) == ["players", "cards", "pot", "reduce", "raises"]
    assert (reduced["players"].default, reduced["reduce"].default) == (3, "dominated22")
    assert (reduced["players"].type, reduced["pot"].type) == ("integer", "exact number or none")
    assert reduced["reduce"].choices[:2] == ("none", "dominated21")
    assert reduced["players"].doc == "2 to 6"


def test_solver_list_keeps_what_was_typed_and_drops_repetitions() -> None:
    text = "dcfr( alpha=2 ), cfr, dcfr(alpha=2.0), dcfr"
    assert default_registry().resolve_solvers(text) == ["dcfr( alpha=2 )", "cfr", "dcfr"]


def test_options_are_numbers_also_of_numpy_and_no_lists() -> None:
    assert eqbench.load_game("kuhn", players=np.int64(2)).spec.startswith("kuhn(players=2,")
    with pytest.raises(UsageError, match="players"):
        eqbench.load_game("kuhn", players=[2])


def test_entry_tells_which_required_packages_are_missing() -> None:
    entry = Entry("solver", "x", "a:B", requires=("numpy", "a_missing_package"))
    assert entry.missing() == ["a_missing_package"]


@pytest.mark.parametrize("announced", [math.nan, 2.5, -1, "many", None])
def test_announced_size_is_a_whole_number(announced: Any) -> None:
    game = SimpleNamespace(expected_nodes=lambda: announced)
    with pytest.raises(UsageError, match="negative"):
        _expected_nodes("mine", game)
    assert _expected_nodes("mine", SimpleNamespace(expected_nodes=lambda: np.int64(7))) == 7
    assert _expected_nodes("mine", SimpleNamespace()) == 0


@pytest.mark.parametrize(
    ("load", "word"),
    [
        (eqbench.load_game, "kuhn44"),
        (eqbench.load_game, "xyzzy"),
        (eqbench.load_solver, "cfr_plusplus"),
        (default_registry().entry, "kuhn44"),
    ],
)
def test_hint_at_known_names_and_at_plugins_is_made_of_whole_sentences(
    load: Callable[..., object], word: str
) -> None:
    with pytest.raises(SpecError, match="--plugin FILE") as refusal:
        load(word)
    assert not re.search(r"\?\s*[;,a-z]", str(refusal.value))
