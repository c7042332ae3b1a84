"""What `eqbench run --dry-run` prints: the cells of a plan, and what they may cost."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from eqbench.cli.output import put, put_json


def print_plan(
    cells: Sequence[Any], finished: Collection[str], jobs: int, *, as_json: bool
) -> None:
    """Print planned cells; `finished` are the keys of those that need not be run."""
    rows = [_row(cell, finished) for cell in cells]
    if as_json:
        document = {"schema": "eqbench.plan/1", "cells": rows}
        put_json(document)
        return
    shown = ("key", "game", "solver", "seed", "state")
    table = [shown, *([_text(row[name]) for name in shown] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        texts = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        put("  ".join(texts).rstrip())
    missing = [cell for cell in cells if cell.key not in finished]
    count = f"{len(cells)} cell{'s'[: len(cells) != 1]}"
    put(f"\n{count}, {len(missing)} to run" + _longest(missing, jobs))


def _row(cell: Any, finished: Collection[str]) -> dict[str, Any]:
    return {
        "key": cell.key,
        "game": cell.game.typed,
        "game_spec": cell.game.game.spec,
        "nodes": cell.game.game.tree.n_nodes,
        "solver": cell.solver.typed,
        "solver_spec": cell.solver.spec,
        "seed": cell.seed,
        "state": "finished" if cell.key in finished else "to run",
    }


def _text(value: Any) -> str:
    return "–" if value is None else str(value)


def _longest(missing: Sequence[Any], jobs: int) -> str:
    """How long it takes if every cell uses up its time, set-up not counted."""
    from eqbench.harness.child import GRACE_S

    if not missing:
        return ""
    rounds = math.ceil(len(missing) / jobs)
    seconds = rounds * (max(cell.budget.time_s for cell in missing) + GRACE_S)
    at_once = f", {jobs} at a time" if jobs > 1 else ""
    return f"{at_once}: at most {duration(seconds)} of solving"


def duration(seconds: float) -> str:
    """A long duration with its unit."""
    if 0 < seconds < 1:
        return "less than 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
