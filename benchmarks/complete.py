"""Complete lists of random strategic forms, and how many of these equilibria others find."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measuring import eqbench_json

from eqbench.model.profile import BehaviorProfile
from eqbench.registry import load_game

SAME = 1e-5  # largest difference of a frequency between profiles that count as one equilibrium


def generic_games(
    shapes: Sequence[Sequence[int]], methods: Sequence[str], timeout: float
) -> dict[str, Any]:
    """Run `complete` and other methods on games with uniform payoffs, a row for each kind.

    Parameters
    ----------
    shapes : numbers of players, of actions, and of games
    """
    rows = []
    for players, actions, games in shapes:
        specs = [f"random(players={players},actions={actions},seed={k})" for k in range(games)]
        with tempfile.TemporaryDirectory() as folder:
            given = [word for spec in specs for word in ("--game", spec)]
            given += ["--solver", ",".join(["complete", *methods]), "--timeout", f"{timeout:g}"]
            out = Path(folder) / "run"
            cells = eqbench_json("run", *given, "--seeds", "1", "--out", str(out))["cells"]
            profiles = {cell["game"] + cell["solver"]: _profiles(cell, out) for cell in cells}
        lists = {cell["game"]: cell for cell in cells if cell["solver"] == "complete"}
        for method in ["complete", *methods]:
            own = [cell for cell in cells if cell["solver"] == method]
            row: dict[str, Any] = {"shape": f"{actions}" + f"×{actions}" * (players - 1)}
            row |= {"method": method, "games": games, "ended": sum(_ended(c) for c in own)}
            row |= {"equilibria": 0, "found": 0, "others": 0, "seconds": []}
            for cell in own:
                known = profiles[cell["game"] + "complete"]
                found = profiles[cell["game"] + method]
                gaps = np.array([[abs(x - y).max() for y in known] for x in found])
                near = gaps.reshape(len(found), len(known)) <= SAME
                row["equilibria"] += len(known)
                row["found"] += int(near.any(axis=0).sum())
                if lists[cell["game"]]["statistics"].get("complete"):
                    row["others"] += int((~near.any(axis=1)).sum())
                row["seconds"].append(cell["elapsed_s"] or timeout)
            times = row.pop("seconds")
            row |= {"median_s": statistics.median(times), "most_s": max(times)}
            if method == "complete":
                row["complete"] = sum(bool(c["statistics"].get("complete")) for c in own)
                row["indices_sum_to_1"] = sum(_index(cell) == 1 for cell in own)
            rows.append(row)
    return {"rows": rows}


def _ended(cell: dict[str, Any]) -> bool:
    return cell["status"] in ("ok", "not_found", "stopped")


def _index(cell: dict[str, Any]) -> int | None:
    """Sum of the indices of all equilibria of a cell; None if one has none."""
    indices = [(each["kind"] or {}).get("index") for each in cell["equilibria"]]
    return None if None in indices else sum(indices)


def _profiles(cell: dict[str, Any], out: Path) -> list[Any]:
    """Frequencies of what a cell claims to be equilibria."""
    tree = load_game(cell["game"]).tree
    claimed = [each for each in cell["equilibria"] if each["claim"] != "iterate"]
    documents = [json.loads((out / each["profile"]).read_text()) for each in claimed]
    return [BehaviorProfile.from_json(tree, each).probabilities for each in documents]
