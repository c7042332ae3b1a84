"""What there is to say about one stored profile, as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from eqbench.errors import UsageError, counted
from eqbench.model.game import Game
from eqbench.model.inspection import inspect_profile
from eqbench.model.profile import BehaviorProfile
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun

SCHEMA = "eqbench.show/1"

# Szafron, Gibson and Sturtevant 2013, §2: player and situations 1 to 4 of each letter.
SITUATIONS = {
    "a": ("P1", ("", "KKB", "KBF", "KBC")),
    "b": ("P2", ("K", "B", "KKBF", "KKBC")),
    "c": ("P3", ("KK", "KB", "BF", "BC")),
}
CARDS = range(1, 5)


def cell_facts(run: StoredRun, cell: CellRecord, rank: int) -> dict[str, Any]:
    """Facts on a cell and one of its candidates by rank, without what it plays.

    Raises
    ------
    UsageError
        If the cell has candidates, but not so many.
    """
    count = len(cell.equilibria)
    if 0 < count <= rank:
        given = counted(count, "candidate")
        raise UsageError(
            f"the cell has {given}, so --rank is 0 (the best) to {count - 1}; got {rank}"
        )
    candidate = cell.equilibria[rank] if count else None
    record = cell.to_json()
    del record["equilibria"]
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "cell": record,
        "candidates": count,
        "rank": None if candidate is None else rank,
        "candidate": None if candidate is None else asdict(candidate),
        **{"players": [], "payoff_range": None, "payoff_scale": None},
        **{"information_sets": [], "szafron": None},
    }


def play_facts(game: Game, profile: BehaviorProfile) -> dict[str, Any]:
    """Facts on what a profile plays: every information set, and Szafron's grid for its game.

    The payoff scale of the game is what its regret compares with.
    """
    tree, seen = game.tree, inspect_profile(game, profile.probabilities)
    gaps = (None if np.isnan(gap) else gap for gap in seen.gaps.tolist())
    moves = iter(zip(profile.probabilities.tolist(), gaps, strict=True))  # of all sets in turn
    reaches = (seen.reach, seen.own_reach, seen.counterfactual_reach)
    sets = [
        {
            "player": tree.players[player],
            "label": label,
            **dict(zip(("reach", "own_reach", "counterfactual_reach"), reach, strict=True)),
            "actions": [
                {"action": action, "frequency": frequency, "gap": gap}
                for action, (frequency, gap) in zip(actions, moves, strict=False)
            ],
        }
        for player, label, actions, reach in zip(
            tree.infoset_player.tolist(),
            tree.infoset_labels,
            tree.infoset_actions,
            np.transpose(reaches).tolist(),
            strict=True,
        )
    ]
    parsed = parse_spec(game.spec)
    options = dict(parsed.options)
    sizes = options.get("players"), options.get("cards"), options.get("raises", 0)
    return {
        "players": list(tree.players),
        "payoff_range": tree.payoff_range,
        "payoff_scale": tree.payoff_scale,
        "information_sets": sets,
        "szafron": _szafron_grid(sets) if (parsed.name, sizes) == ("kuhn", (3, 4, 0)) else None,
    }


def _szafron_grid(sets: list[dict[str, Any]]) -> dict[str, list[list[float]]]:
    """Probability of bet or call by letter, card (rows) and situation (columns).

    The game is three-player Kuhn poker with four cards and no raises.
    """
    aggressive = {
        (item["player"], item["label"]): sum(
            action["frequency"] for action in item["actions"] if action["action"] in ("bet", "call")
        )
        for item in sets
    }
    return {
        letter: [[aggressive[player, f"{card}:{k}"] for k in situations] for card in CARDS]
        for letter, (player, situations) in SITUATIONS.items()
    }
