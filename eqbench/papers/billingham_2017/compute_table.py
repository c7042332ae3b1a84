"""Which conditions of Table 1 the equilibria found by case enumeration meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eqbench.equilibria.expressions import alternatives, evaluate
from eqbench.model.profile import BehaviorProfile
from eqbench.papers.billingham_2017.found import (
    NAMES,
    ROUNDING,
    Found,
    by_pot,
    equilibria,
    inside,
    layout_of,
)
from eqbench.papers.billingham_2017.jobs import JOBS
from eqbench.papers.billingham_2017.printed_conditions import CONDITIONS, TABLE, Cell, corrected
from eqbench.papers.jobs import Workshop
from eqbench.papers.stored import Stored
from eqbench.registry import load_game
from eqbench.verification import Verifier

EXACT = 1e-12
VALUES = (0.0, 0.5, 1.0)  # that one frequency of an equilibrium is changed to


def table(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """How many equilibria meet each cell, as printed and corrected, and whether others meet all."""
    stored = Stored(Workshop(jobs.name, jobs, full=full), JOBS)
    found = equilibria(stored)
    neighbors = _neighbors(inside(found))
    combinations = {_combination(each) for each in found}
    return {
        "equilibria": len(found),
        "cells": {
            f"{number}{letter}": _counts(cell, found) | {"without": _without(cell, neighbors)}
            for number, cells in TABLE.items()
            for letter, cell in cells.items()
        },
        "unmet_as_printed": sum(not _meets(each, as_printed=True) for each in found),
        "unmet_corrected": [
            {"pot": str(e.pot), "solutions": e.solutions, "regret": str(e.max_regret)}
            for e in found
            if not _meets(e, as_printed=False)
        ],
        "combinations": sorted(combinations),
        "thresholds": _thresholds(found),
        "changed": dict(_tried(neighbors, _conditions_hold)),
        "changed_table": dict(_tried(neighbors, _table_holds)),
    }


def _counts(cell: Cell, found: Sequence[Found]) -> dict[str, Any]:
    """In how many equilibria the first relation of a cell holds, and in how many all of them."""
    return {
        "first": sum(_holds(cell[0], each.names) for each in found),
        "printed": sum(_all_hold(cell, each.names) for each in found),
        "corrected": sum(_all_hold(corrected(cell), each.names) for each in found),
        "added": [
            {
                "a1": str(each.values["a1"]),
                "regret": float(each.max_regret),
                "solutions": each.solutions,
            }
            for each in found
            if _all_hold(corrected(cell), each.names) and not _all_hold(cell, each.names)
        ],
    }


def _holds(relation: str, names: Mapping[str, Any]) -> bool:
    """Whether a relation holds: exactly for rational figures, else within rounding."""
    (parts,) = alternatives(relation)
    exact = not any(isinstance(value, float) for value in names.values())
    values = dict(names) if exact else {name: float(value) for name, value in names.items()}
    gap = evaluate(parts.left, values, exact=exact) - evaluate(parts.right, values, exact=exact)
    rounding = 0 if exact else ROUNDING
    return bool(
        {
            "<": gap < -rounding,
            "<=": gap <= rounding,
            ">": gap > rounding,
            ">=": gap >= -rounding,
            "==": abs(gap) <= rounding,
        }[parts.sign]
    )


def _all_hold(cell: Cell, names: Mapping[str, Any]) -> bool:
    return all(_holds(relation, names) for relation in cell)


def _meets(each: Found, *, as_printed: bool) -> bool:
    """Whether at least one cell of each condition holds."""
    return all(
        any(
            _all_hold(cell if as_printed else corrected(cell), each.names)
            for cell in cells.values()
        )
        for cells in TABLE.values()
    )


def _combination(each: Found) -> str:
    """Which cell of each condition holds, such as ``a c b …``; cells exclude each other."""
    return " ".join(
        next((k for k, cell in cells.items() if _all_hold(corrected(cell), each.names)), "-")
        for number, cells in TABLE.items()
        if number < 9
    )


def _thresholds(found: Sequence[Found]) -> dict[str, int]:
    """At how many equilibria where player 2 bets one threshold of b2 / a2 is above the other."""
    gaps = [
        float((2 - each.values["b1"]) / (each.pot + each.values["a1"]) - 2 / (each.pot + 1))
        for each in found
        if each.values["a2"] > 0
    ]
    return {
        "above": sum(gap > ROUNDING for gap in gaps),
        "below": sum(gap < -ROUNDING for gap in gaps),
    }


class _Neighbor(NamedTuple):
    """A profile that differs from an equilibrium in one frequency: figures, and regrets (n,)."""

    names: dict[str, float]
    regrets: list[float]


def _neighbors(found: Sequence[Found]) -> list[_Neighbor]:
    """All that come from these equilibria by changing one frequency to 0, 1/2 or 1."""
    neighbors = []
    for pot, group in by_pot(found).items():
        game = load_game("skp").at(pot=pot)
        verifier, layout = Verifier(game.tree), layout_of(game)
        for frequencies in sorted(_changed(group)):
            behavior = layout.behavior(np.array(frequencies))
            measured = verifier.verify(BehaviorProfile.of(game.tree, behavior))
            names = dict(zip(NAMES, frequencies, strict=True)) | {"P": float(pot)}
            neighbors.append(_Neighbor(names, [float(regret) for regret in measured.regrets]))
    return neighbors


def _changed(found: Sequence[Found]) -> set[tuple[float, ...]]:
    """Frequencies of all profiles that differ from an equilibrium in one of them."""
    changed = set()
    for each in found:
        own = [float(each.values[name]) for name in NAMES]
        for place in range(len(NAMES)):
            changed |= {(*own[:place], value, *own[place + 1 :]) for value in VALUES}
    return changed


def _tried(
    neighbors: Sequence[_Neighbor], meets: Callable[[Mapping[str, float]], bool]
) -> Counter[str]:
    """How many meet certain conditions and have regret; keys are ``meets, no regret`` and so on."""
    counts: Counter[str] = Counter()
    for each in neighbors:
        words = (
            "meets" if meets(each.names) else "fails",
            "no regret" if max(each.regrets) <= EXACT else "regret",
        )
        counts[", ".join(words)] += 1
    return counts


def _without(cell: Cell, neighbors: Sequence[_Neighbor]) -> tuple[int, int]:
    """How many meet a cell's inequality without its frequency, and in how many that has regret.

    Regret is that of the player whose frequency it is; (0, 0) for cells of another shape.
    """
    player = int(cell[-1].split()[0][1]) if len(cell) == 2 else 0
    found = [
        each
        for each in neighbors
        if player and _holds(cell[0], each.names) and not _holds(cell[1], each.names)
    ]
    return len(found), sum(each.regrets[player - 1] > EXACT for each in found)


def _table_holds(names: Mapping[str, Any]) -> bool:
    """Whether at least one cell of each condition of Table 1 holds, with a1 ≤ 1."""
    return all(
        any(_all_hold(corrected(cell), names) for cell in cells.values())
        for cells in TABLE.values()
    )


def _conditions_hold(names: Mapping[str, float]) -> bool:
    """Whether one of the three cases of each condition of section 3 holds."""
    return all(_condition_holds(names, k) for k in range(len(CONDITIONS)))


def _condition_holds(names: Mapping[str, float], which: int) -> bool:
    """Whether one of the three cases of a condition of section 3 holds."""
    condition = CONDITIONS[which]
    gap = evaluate(f"({condition.left}) - ({condition.right})", names, exact=False)
    gap *= evaluate(condition.times, names, exact=False)
    if abs(gap) <= EXACT:
        return True
    return bool(names[condition.frequency] == (1.0 if gap > 0 else 0.0))
