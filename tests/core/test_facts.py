"""What is said about games, and which solvers take them."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers.command import eqbench_here

from eqbench.builtin import BUILTIN_SOLVERS
from eqbench.model.facts import constant_sum, kind_of_game, sizes, symmetry
from eqbench.model.game import Game
from eqbench.model.tree import GameTree
from eqbench.registry import default_registry, load_game, load_solver
from eqbench.solver import refusal_of
from eqbench.text import short_number


def info(*words: str) -> Any:
    """What `eqbench info … --json` says."""
    return eqbench_here("info", *words, "--json", cwd=Path.cwd()).json


def reduced_strategies(tree: GameTree, player: int) -> int:
    """Different sets of information sets and choices that pure strategies leave reachable."""
    infosets = tree.infosets_of(player)
    different = set()
    for choice in itertools.product(*(range(len(tree.infoset_actions[i])) for i in infosets)):
        chosen: dict[int, int] = {}
        for i, move in zip(infosets, choice, strict=True):
            last = int(tree.infoset_parent[i])
            owner = int(tree.action_start.searchsorted(last, "right")) - 1
            if last < 0 or chosen.get(owner) == last - int(tree.action_start[owner]):
                chosen[i] = move
        different.add(tuple(chosen.items()))
    return len(different)


@pytest.mark.parametrize("spec", ["kuhn2", "jordan", "random_tree(depth=4,seed=1)"])
def test_strategies_are_counted_as_an_enumeration_finds_them(spec: str) -> None:
    game = load_game(spec)
    found = sizes(game)
    players = range(game.tree.n_players)
    assert found["reduced strategies"] == [reduced_strategies(game.tree, p) for p in players]
    assert [s - 1 for s in found["sequences"]] == [
        sum(len(game.tree.infoset_actions[i]) for i in game.tree.infosets_of(p)) for p in players
    ]


@pytest.mark.parametrize(
    ("spec", "total", "exchanged", "perfect"),
    [
        ("kuhn2", 0.0, "no", False),
        ("prisoners_dilemma", None, "yes", False),
        ("rock_paper_scissors", 0.0, "yes", False),
        ("travelers_dilemma", None, "yes", False),
        ("minimum_effort(players=3)", None, "yes", False),
        ("battle_of_sexes", None, "with actions renamed", False),
        ("matching_pennies", 0.0, "with actions renamed", False),
        ("jordan", None, "no", False),
        ("random(seed=1)", None, "no", False),
        ("random(actions=9,seed=1)", None, "not decided", False),
        ("random_tree(depth=3,information=1)", None, "no", True),
    ],
)
def test_kind_of_a_game(spec: str, total: float | None, exchanged: str, perfect: bool) -> None:
    assert kind_of_game(load_game(spec)) == {
        "constant sum": total,
        "symmetric": exchanged,
        "perfect information": perfect,
        "perfect recall": True,
    }


def test_a_game_whose_payoffs_differ_a_little_is_not_symmetric() -> None:
    game = load_game("rock_paper_scissors")
    form = game.sequence_form
    base = form.base.copy()
    base[1, 0] += 1e-9
    form.__dict__.update(base=base)
    changed = Game(game.spec, game.tree)
    changed.__dict__["sequence_form"] = form
    assert symmetry(changed) == "no"
    assert constant_sum(changed) is None


def test_large_numbers_are_short() -> None:
    assert short_number(82_097) == "82,097"
    assert short_number(10**5000) == "about 10^5000"
    assert math.prod(load_game("leduc").sequence_form.strategy_counts) > 10**100


# Small games of each kind, and one whose matrices are large, that solvers are asked about. Those
# of OpenSpiel are what OpenSpiel's own solvers take of a kind.
KINDS = {
    "two players, zero sum": ("matching_pennies", "rock_paper_scissors", "kuhn2"),
    "two players, general sum": (
        *("battle_of_sexes", "shapley", "random_tree(players=2,depth=4,seed=1)"),
        "openspiel:matrix_pd",
    ),
    "three or more players": ("jordan", "kuhn3", "random_tree(players=3,depth=4,seed=1)"),
    "strategic form": ("battle_of_sexes", "rock_paper_scissors", "random(players=3)", "jordan"),
    "perfect information": (
        *("random_tree(depth=3,information=1)", "random_tree(players=3,depth=3,information=1)"),
        "openspiel:nim(pile_sizes=1;2)",
    ),
    "large": ("liars_dice(sides=5)",),
}


def test_solvers_take_the_games_that_the_table_says() -> None:
    pytest.importorskip("pyspiel")
    games = {kind: [load_game(spec) for spec in specs] for kind, specs in KINDS.items()}
    found: dict[str, dict[str, str]] = {}
    for name in BUILTIN_SOLVERS:
        solver = load_solver(name)
        found[name] = {}
        for kind, asked in games.items():
            takes_it = [refusal_of(solver, game) is None for game in asked]
            found[name][kind] = "yes" if all(takes_it) else "some" if any(takes_it) else "no"
    assert found == {name: entry.takes for name, entry in BUILTIN_SOLVERS.items()}


def test_info_says_which_solvers_take_a_game_and_why_others_do_not() -> None:
    facts = info("kuhn3")
    answers = facts["solvers"]
    asked = default_registry().obstacles(load_game("kuhn3"))
    assert answers["take it"] == [name for name, obstacle in asked.items() if obstacle is None]
    assert "3 players" in answers["unsupported"]["lcp"]
    assert json.dumps(facts["sizes"]["reduced strategies"]) == "[6561, 10000, 65536]"
    text = " ".join(eqbench_here("info", "kuhn3", cwd=Path.cwd()).out.split())
    assert text.count("solves two-player games") == 1, "equal reasons stand together"


def test_info_of_a_solver_has_its_method_and_what_it_claims() -> None:
    done = info("gambit_gnm")
    assert "Govindan" in done["about"]
    assert "claimed" in done["about"]
    assert "Parameters" not in done["about"]
    assert done["takes"]["two players, general sum"] == "yes"


def test_every_solver_says_what_it_claims() -> None:
    for entry in default_registry().solvers():
        if entry.builtin:
            about = info(entry.name)["about"]
            assert "claim" in about or "iterate" in about, entry.name


def test_listing_solvers_runs_no_code_of_others(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "import eqbench\nfrom dataclasses import dataclass\n\n"
        '@eqbench.register_solver("mine", summary="of a file")\n@dataclass\nclass Mine:\n'
        "    def solve(self, game, monitor, rng): ...\n\nraise SystemExit(7)\n"
    )
    words = ("info", "solvers", "--plugin", str(plugin))
    rows = eqbench_here(*words, "--json", cwd=tmp_path).json["solvers"]
    assert {row["name"]: row["takes"] for row in rows}["mine"] == {}
    text = eqbench_here(*words, cwd=tmp_path).out
    listed, asked = text.split("games that they take")
    assert "of a file" in listed
    assert "mine" not in asked
