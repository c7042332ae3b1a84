"""Known sets of equilibria as forms in weights, and the splits with which a search begins.

``known.json`` has them by the source of the published equilibria. The sets of three-player Kuhn
poker say what Tables 2 and 3 of Szafron et al. 2013 say about the path of play.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eqbench.equilibria
from eqbench.model.game import Game
from eqbench.model.isomorphism import signature
from eqbench.proofs.rows import Form, Sign


@dataclass(frozen=True)
class Known:
    """A set of weights, by forms that are 0 (``"0"``) or at least 0 (``"+0"``) in it."""

    name: str
    rows: tuple[tuple[str, Form], ...]


@dataclass(frozen=True)
class Split:
    """A form whose signs are cases."""

    form: Form
    signs: tuple[Sign, ...]


def known_sets(game: Game) -> tuple[list[Known], list[Split]]:
    """Return the known sets of a game and the first splits; none if nothing is known of it."""
    if not game.tree.exact:
        return [], []
    mark = signature(game.tree)
    for entry in _read(Path(__file__).with_name("known.json")):
        published = _read(Path(eqbench.equilibria.__file__).parent / "data" / entry["published"])
        for part in published:
            name = part["contents"].get(mark) if part["source"].startswith(entry["source"]) else ""
            if name:
                names = _names(game, part["variables"])
                if names is None:
                    continue
                sets = [
                    Known(
                        each["name"], tuple((sign, _form(row, names)) for sign, row in each["rows"])
                    )
                    for each in entry["sets"]
                ]
                splits = [Split(_form(row, names), tuple(signs)) for row, signs in entry["splits"]]
                return sets, splits
    return [], []


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _names(game: Game, variables: dict[str, str]) -> dict[str, str] | None:
    """Factors of the published names of frequencies; None if the game has other labels."""
    tree = game.tree
    sets = {
        f"{tree.players[player]}|{label}"
        for player, label in zip(tree.infoset_player, tree.infoset_labels, strict=True)
    }
    if not all(place.rpartition("|")[0] in sets for place in variables.values()):
        return None
    places = {
        f"{tree.players[tree.infoset_player[i]]}|{tree.infoset_labels[i]}|{label}": action
        for i in range(tree.n_infosets)
        for action, label in enumerate(tree.infoset_actions[i], int(tree.action_start[i]))
    }
    return {name: f"w{places[place]}" for name, place in variables.items() if place in places}


def _form(row: dict[str, int], names: dict[str, str]) -> Form:
    """Form with factors for published names; an action that the game has deleted has weight 0."""
    form = {}
    for term, value in row.items():
        factors = [names.get(name) if name != "1" else "1" for name in term.split("*")]
        if None not in factors:
            form["*".join(map(str, factors))] = value
    return form
