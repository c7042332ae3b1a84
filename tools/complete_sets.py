"""Compute the complete sets of equilibria that are shipped: ``make complete-sets``."""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import eqbench
from eqbench.harness.experiment import find_experiment, read_experiment
from eqbench.proofs.checker import content
from eqbench.proofs.complete_sets import DATA, plan_weights
from eqbench.solvers.complete.complete import integer_payoffs
from eqbench.solvers.complete.pairs import ProductSet, components, product_sets

GAMES = (
    *("matching_pennies", "battle_of_sexes", "prisoners_dilemma", "rock_paper_scissors"),
    *("shapley", "jordan", "kuhn2", "kuhn(players=2,cards=4)", "kuhn(players=2,cards=5)"),
    *("minimum_effort", "minimum_effort(players=3,efforts=3)", "dispersion"),
)
EXPERIMENT = "recall"  # of whose games the sets are shipped too
FILE = Path(__file__).parents[1] / "eqbench" / "proofs" / DATA


def polytopes(game: Any, product: ProductSet) -> list[list[dict[str, str]]]:
    """Weights of each player's actions at the corners, those that are not 0."""
    owner, n = game.sequence_form.sequence_player, game.tree.n_players
    found = []
    for player, corners in enumerate(product.plans):
        own = (np.flatnonzero(owner == player) - n).tolist()
        rows = [list(zip(own[1:], corner[1:], strict=True)) for corner in corners]
        found.append([{str(a): str(x) for a, x in row if x} for row in rows])
    return found


def points(game: Any) -> list[dict[str, Any]] | None:
    """All equilibria of more players, to the last digit of floats; None if they are not known."""
    found = eqbench.solve(game, "complete", timeout_s=600)
    if not found.statistics["complete"]:
        return None
    owner = game.tree.infoset_player[game.tree.action_infoset]
    parts = []
    for equilibrium in found.equilibria:
        weights = plan_weights(game.tree, equilibrium.profile.probabilities).tolist()
        product = [
            [{str(a): str(weights[a]) for a in np.flatnonzero(owner == i).tolist() if weights[a]}]
            for i in range(game.tree.n_players)
        ]
        parts.append({"dimension": 0, "products": [product]})
    return parts


def record(spec: str) -> tuple[str, dict[str, Any]] | None:
    """Content of a game, and its complete set."""
    game = eqbench.load_game(spec)
    tree, sets = game.tree, list[ProductSet]()
    if tree.n_players > 2:
        parts = points(game)
        if parts is None:
            return None
    else:
        product_sets(game.sequence_form, integer_payoffs(game), lambda: None, sets)
        parts = [
            {
                "dimension": max(sets[k].dimension for k in part),
                "products": [polytopes(game, sets[k]) for k in part],
            }
            for part in components(sets)
        ]
    sizes = [tree.n_players, tree.n_infosets, tree.n_actions, tree.n_terminals]
    return content(tree.in_integers()), {"game": game.spec, "sizes": sizes, "components": parts}


def document() -> str:
    """Text of the file of all games."""
    parts = read_experiment(find_experiment(EXPERIMENT)).parts
    specs = dict.fromkeys((*GAMES, *chain.from_iterable(part.games for part in parts)))
    games = dict(chain.from_iterable([found] for spec in specs if (found := record(spec))))
    lines = []
    for key, known in games.items():  # a line for each component
        head = json.dumps({name: value for name, value in known.items() if name != "components"})
        components = ",\n  ".join(json.dumps(each) for each in known["components"])
        lines.append(f'"{key}": {head[:-1]}, "components": [\n  {components}]}}')
    listed = ",\n ".join(lines)
    return f'{{"format": "eqbench.complete_sets/1", "games": {{\n {listed}\n}}}}\n'


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")
    sys.stdout.write(f"wrote {FILE}\n")
