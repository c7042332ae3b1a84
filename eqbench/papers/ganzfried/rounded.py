"""The end of Gambit's logit path as its window shows it: four digits after the point."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.documents import read_file
from eqbench.model.profile_json import MOST_PROFILE_BYTES, profile_from_json
from eqbench.registry import load_game
from eqbench.store.stored_run import read_run
from eqbench.verification import verify_exactly

DIGITS = 4
SOLVER = "gambit_logit_path"


def rounded(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Exact regrets of the rounded profile, and how often player 1 calls in the named place.

    The last action of a row is what the others leave, so that rows still sum to 1. The extent
    changes nothing.
    """
    del full
    run = jobs / "race"
    found = {}
    for cell in read_run(run).cells:
        if cell.solver != SOLVER or not cell.equilibria or not cell.equilibria[0].profile:
            continue
        text = read_file(run / cell.equilibria[0].profile, MOST_PROFILE_BYTES)
        behavior = {
            player: {label: _row(row) for label, row in sets.items()}
            for player, sets in json.loads(text)["behavior"].items()
        }
        document = {"game": cell.game, "behavior": behavior}
        file = f"{cell.game}.json"
        (folder / file).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        tree = load_game(cell.game).tree
        measured = verify_exactly(tree, profile_from_json(tree, document))
        found[cell.game] = {
            "profile": file,
            "regrets": [str(regret) for regret in measured.regrets],
            "payoffs": [str(payoff) for payoff in measured.payoffs],
            "a33": behavior["P1"]["3:KBF"]["call"],
        }
    return found


def _row(row: dict[str, float]) -> dict[str, str]:
    """A row with all but its last frequency rounded, as fractions."""
    *first, last = row
    values = {action: Fraction(str(round(row[action], DIGITS))) for action in first}
    values[last] = 1 - sum(values.values(), Fraction(0))
    return {action: str(value) for action, value in values.items()}
