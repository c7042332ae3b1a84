"""Which method to choose when: what solvers reached in the experiments that come with eqbench."""

from __future__ import annotations

import math
import statistics
import tempfile
from collections.abc import Sequence
from typing import Any

from measuring import eqbench_json

from eqbench.model.facts import constant_sum
from eqbench.model.game import Game
from eqbench.registry import load_game
from eqbench.report.trials import RunCell, Trials
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.text import grouped

LARGE = 5_000  # nodes of a tree above which it counts as large
MET = 1e-6  # share of the objective up to which it meets its bound


def which(experiments: Sequence[str], words: Sequence[str] = ()) -> dict[str, Any]:
    """Run experiments, or go on with them, and sum up by kind of game and solver.

    With `words`, further ones for `eqbench run`, the runs are not kept.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in experiments:
            out = ("--out", f"{folder}/{name}") if words else ()
            rows += of_run(name, read_run(eqbench_json("run", name, *words, *out)["run"]))
    return {"rows": rows}


def of_run(name: str, run: StoredRun) -> list[dict[str, Any]]:
    """What each solver reached on the games of each kind."""
    entries = [RunCell("", cell, run) for cell in run.cells]
    games = {entry.record.game_spec: entry.record.game for entry in entries}
    kinds = {spec: kind_of(load_game(game)) for spec, game in games.items()}
    rows = []
    for kind, own in grouped(entries, lambda entry: kinds[entry.record.game_spec]).items():
        by_game = grouped(own, lambda entry: entry.record.game_spec)
        known = {spec: names(cells) for spec, cells in by_game.items()}
        for solver in dict.fromkeys(entry.solver for entry in own):
            cells = {s: [e for e in each if e.solver == solver] for s, each in by_game.items()}
            found = {"experiment": name, "kind": kind, "solver": solver, "games": len(by_game)}
            rows.append(found | reached(cells, known))
    return rows


def kind_of(game: Game) -> str:
    """Players, sum of payoffs, form and size in a few words."""
    tree = game.tree
    moves = [len(actions) for actions in tree.infoset_actions]
    strategic = len(moves) == tree.n_players and tree.n_terminals == math.prod(moves)
    form = "strategic forms" if strategic else "large trees" if tree.n_nodes > LARGE else "trees"
    if tree.n_players > 2:
        return f"{form}, three or more players"
    return f"{form}, two players, {'general' if constant_sum(game) is None else 'constant'} sum"


def names(entries: Sequence[RunCell]) -> set[str]:
    """Different equilibria among what met the target."""
    return {
        item.identity["name"]
        for entry in entries
        for item in entry.record.equilibria
        if item.identity and max(item.regrets) <= (entry.record.target or 0.0)
    }


def reached(by_game: dict[str, list[RunCell]], known: dict[str, set[str]]) -> dict[str, Any]:
    """Figures of one solver: numbers of games, and medians over games.

    A game is solved if half of its seeds are. `known` are the equilibria of each game that any
    solver found.
    """
    tried = [cells for cells in by_game.values() if cells]
    trials = [Trials(cells) for cells in tried]
    records = [cells[0].record for cells in tried]
    leading = (record.equilibria[0].credible for record in records if record.equilibria)
    credible = [each for each in leading if each]
    shares = [len(names(by_game[spec])) / len(found) for spec, found in known.items() if found]
    return {
        "solved": sum(each.time_to() is not None for each in trials),
        "time_s": median([each.time_to() for each in trials]),
        "rough_s": median([each.time_to(1e-6) for each in trials]),
        "regret": median([median(each.figures("max_regret")) for each in trials]),
        "share": statistics.fmean(shares) if shares else None,
        "credible": sum(each["credible"] == each["sets"] for each in credible),
        "bounds": sum(is_met(record.statistics) for record in records),
    }


def median(values: Sequence[float | None]) -> float | None:
    """Median in which None is larger than everything; None if it is one of these."""
    found = statistics.median([math.inf if v is None else v for v in values] or [math.inf])
    return found if found < math.inf else None


def is_met(figures: dict[str, Any]) -> bool:
    """Whether a solver proved that no equilibrium has a better objective."""
    best, bound = figures.get("objective"), figures.get("bound")
    return None not in (best, bound) and abs(best - bound) <= MET * max(1.0, abs(best))
