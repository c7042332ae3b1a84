"""A cross-play as JSON values and as rows of a table in CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eqbench.studies.crossplay import Crossplay, WorstCases
from eqbench.studies.crossplay_entries import Found
from eqbench.studies.crossplay_left_out import LeftOut

SCHEMA = "eqbench.crossplay/1"
Number = Callable[[Any], float | str]


def summary(
    result: Crossplay,
    found: Sequence[Found],
    copies: Sequence[tuple[Found, Found]],
    left_out: LeftOut,
) -> dict[str, Any]:
    """What is to be said about a cross-play, as JSON values.

    Numbers are floats; from exact arithmetic the same figures stand under `exact` once more,
    as ``"p/q"``.

    Parameters
    ----------
    result : the study, its entries in the order of `found`
    found : where each entry comes from
    copies : what repeats an entry, each with that entry
    left_out : what else is not among the entries
    """
    label_of = dict(zip(map(id, found), result.labels, strict=True))
    equilibria, n = result.n_equilibria, result.n_combinations
    document = {
        "schema": SCHEMA,
        "game": result.game.spec,
        "players": list(result.game.tree.players),
        "tolerance": float(result.tolerance),
        "entries": [
            {
                "label": label,
                "source": item.source,
                "identity": item.identity,
                "payoffs": _numbers(result.swap_payoffs[0, a, a], float),
                "max_regret": float(result.swap_regrets[0, a, a].max()),
            }
            for a, (label, item) in enumerate(zip(result.labels, found, strict=True))
        ],
        "copies": [{"source": copy.source, "same_as": label_of[id(kept)]} for copy, kept in copies],
        "left_out": left_out.to_json(),
        "combinations": {
            "strategies": list(result.n_strategies),
            "count": n,
            "equilibria": equilibria,
            "share": None if equilibria is None else equilibria / n,
        },
        **_figures(result, float),
    }
    if result.exact:
        document["exact"] = _figures(result, str)
    return document


def _figures(result: Crossplay, number: Number) -> dict[str, Any]:
    """What is measured, with numbers as `number` writes them."""
    players, n = range(result.game.tree.n_players), range(len(result.labels))
    labels = result.game.tree.players
    return {
        "own": [
            {
                "payoffs": _numbers(result.swap_payoffs[0, a, a], number),
                "regrets": _numbers(result.swap_regrets[0, a, a], number),
            }
            for a in n
        ],
        "interchange": [
            {
                "player": labels[i],
                "equilibrium": result.interchangeable[i].tolist(),
                "payoffs": _numbers(result.swap_payoffs[i], number),
                "regrets": _numbers(result.swap_regrets[i], number),
            }
            for i in players
        ],
        "worst_cases": [
            {
                "player": labels[i],
                "own": _numbers(result.own_payoffs[i], number),
                "others_agree": _worst(result, result.others_agree, i, number),
                "others_differ": _worst(result, result.others_differ, i, number),
                "guaranteed_others_act_as_one": _worst(result, result.guaranteed, i, number),
            }
            for i in players
        ],
    }


def _worst(result: Crossplay, cases: WorstCases, player: int, number: Number) -> dict[str, Any]:
    """Worst cases of one player by entry, who plays what then, and the entries to choose."""
    names = np.array(result.labels, dtype=object)
    played = {} if cases.entries is None else {"entries": names[cases.entries[player]].tolist()}
    return {
        "payoffs": _numbers(cases.payoffs[player], number),
        **played,
        "best": names[cases.best[player]].tolist(),
    }


def _numbers(values: Any, number: Number) -> Any:
    """Nested lists of numbers as `number` writes them."""
    return np.frompyfunc(number, 1, 1)(values).tolist()


def combinations_csv(result: Crossplay) -> str:
    """All combinations of entries as CSV, one row each: entries, payoffs, and regrets if measured.

    Numbers are decimals, or fractions ``p/q`` from exact arithmetic.
    """
    n_players, regrets = result.game.tree.n_players, result.regrets
    suffixes = [f"P{p + 1}" for p in range(n_players)]
    header = [f"{what}_{p}" for what in ("entry", "payoff") for p in suffixes]
    if regrets is not None:
        header += [*(f"regret_{p}" for p in suffixes), "max_regret", "equilibrium"]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for entries in np.ndindex(result.payoffs.shape[1:]):
        row = [result.labels[e] for e in entries]
        row += map(str, result.payoffs[(slice(None), *entries)])
        if regrets is not None:
            here = regrets[entries]
            row += [*map(str, here), str(here.max()), str(bool(here.max() <= result.tolerance))]
        writer.writerow(row)
    return buffer.getvalue()
