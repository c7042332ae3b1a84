"""The paper's program for three-player Kuhn poker, less what needs no search, and on Gurobi.

The program of Ganzfried 2025, section 2, has as columns a weight x_s and a slack r_s of each
sequence s, and a multiplier of each information set and of each player's root. Its rows say
E x = e, and one more fixes x_s = 0 for each removed action. Three rules need no search: a row that
fixes a weight goes with it; a row that leaves one sequence to an information set makes it the same
column as the sequence above; and x_s r_s = 0 fixes the slack of a weight that is always 1. That is
exactly what the paper says that Gurobi's first presolve took off. What is left of the reduced game
has fewer than 200 columns, which Gurobi's size-limited license admits.

Symbols: N players, I information sets, S sequences, A actions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import read_file
from eqbench.extras import reason_of
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import shares
from eqbench.model.sequence_form import SequenceForm
from eqbench.papers.records import Table
from eqbench.registry import load_game
from eqbench.studies.branch import missing_actions
from eqbench.verification import verify

NEVER = -1
_LESS = {0: "none", 21: "dominated21", 22: "dominated22"}
# lines of Gurobi's log, and the figures that stand there; 0 where there is no such line
_LINES = {
    r"Presolve added (\d+) rows and (\d+) columns": ("rows added", "columns added"),
    r"Presolve removed (\d+) rows and (\d+) columns": ("rows removed", "columns removed"),
    r"Presolved: (\d+) rows, (\d+) columns, (\d+) nonzeros": ("rows", "columns", "nonzeros"),
    r"Presolve time: (\d+\.\d+)s": ("time",),
    r"Presolved model has (\d+) SOS": ("SOS",),
    r"Presolved model has (\d+) bilinear": ("bilinear",),
    r"Variable types: (\d+) continuous, (\d+) integer": ("continuous", "integer"),
    **{rf"^  {name}: (\d+)$": (f"{name} cuts",) for name in ("Gomory", "Flow cover", "RLT")},
}
_ANY_CUT = re.compile(r"^  [A-Z][A-Za-z \-]+: (\d+)$", re.MULTILINE)


def program(folder: Path, _jobs: Path, *, full: bool) -> Table:
    """Sizes of the models with 0, 21 and 22 actions fixed, and what Gurobi says of them.

    `nodes` are those of the tree without these actions. The model with 22 takes Gurobi a minute,
    so it belongs to the full extent.
    """
    game, counts = load_game("kuhn3"), _LESS if full else (0, 21)
    form, specs = game.sequence_form, "kuhn(players=3,cards=4,reduce={})"
    trees = {n: load_game(specs.format(name)).tree for n, name in _LESS.items()}
    missing = {n: missing_actions(game.tree, tree) for n, tree in trees.items()}
    columns = {n: columns_left(form, [*removed.values()]) for n, removed in missing.items()}
    sizes = {n: {"nodes": trees[n].n_nodes} | model_sizes(form, columns[n], n) for n in trees}
    solved = {n: _solve(game, columns[n], folder / f"{n}.log") for n in counts}
    return {"models": sizes, "removed": list(missing[22]), "gurobi": solved}


def columns_left(form: SequenceForm, removed: Sequence[int]) -> NDArray[np.int64]:
    """Sequence whose column stands for the weight of each one after these rules, (S,).

    It is an empty sequence, so below N, where the weight is always 1, and `NEVER` where it is 0.

    Parameters
    ----------
    removed : actions of the tree whose weights are fixed to 0
    """
    column = np.arange(form.n_sequences)
    column[[form.n_players + action for action in removed]] = NEVER
    for above, first, end in zip(form.parent, form.block_start, form.block_start[1:], strict=False):
        left = first + np.flatnonzero(column[first:end] != NEVER)
        if len(left) == 1:  # parents stand before their children
            column[left] = column[above]
    return column


def _branching(form: SequenceForm, column: NDArray[np.int64]) -> list[int]:
    """Information sets with two weights or more that are not 0, whose rows are left."""
    blocks = np.split(column, form.block_start[:-1])[1:]
    return [infoset for infoset, own in enumerate(blocks) if (own != NEVER).sum() > 1]


def model_sizes(form: SequenceForm, column: NDArray[np.int64], n_removed: int) -> dict[str, int]:
    """Sizes of the input, what the rules take off, and the products that are left."""
    n, multipliers = form.n_players, form.n_players + form.n_infosets
    free, always = column >= n, (column >= 0) & (column < n)
    played = (sorted(row[row >= n].tolist()) for row in column[form.columns])
    return {
        "rows": multipliers + n_removed,
        "columns": 2 * form.n_sequences + multipliers,
        "nonzeros": form.n_sequences + form.n_infosets + n_removed,
        "quadratic_constraints": 2 * form.n_sequences,
        "presolve_rows": multipliers + n_removed - len(_branching(form, column)),
        "presolve_columns": form.n_sequences - len(set(column[free])) + int(always.sum()),
        "complementarities": int(free.sum()),
        "products": len({pair for own in played for pair in combinations(own, 2)}),
    }


def _solve(game: Game, column: NDArray[np.int64], log: Path) -> Table:
    """Gurobi's answer to a program, with regrets of its result on the full game's tree.

    One thread, default tolerances, no objective; `unavailable` gives the reason for no answer.
    """
    try:
        import gurobipy as gp
    except ImportError as error:
        return {"unavailable": reason_of("gurobipy", error)}
    form = game.sequence_form
    limits = {"Threads": 1, "TimeLimit": 100.0, "NonConvex": 2, "LogToConsole": 0}
    try:
        with gp.Env(params=limits | {"LogFile": str(log)}) as env, gp.Model(env=env) as filled:
            weights = _fill(filled, form, column)
            filled.optimize()
            found = {s: weight.X for s, weight in weights.items()} if filled.SolCount else {}
            answer = read_log(read_file(log).decode())
            answer |= {"work": filled.Work, "nodes": filled.NodeCount}
            answer |= {"iterations": filled.IterCount, "search": {"s": filled.Runtime}}
    except gp.GurobiError as error:
        if error.errno != gp.GRB.Error.SIZE_LIMIT_EXCEEDED:
            return {"unavailable": f"Gurobi: {error}"}
        sizes = model_sizes(form, column, 0)
        left = sizes["columns"] - sizes["presolve_columns"]
        why = "columns are left, more than Gurobi's size-limited license admits"
        return {"unavailable": f"{left} {why}"}
    by_column = [max(found.get(s, 1.0), 0.0) for s in range(form.n_sequences)]
    plans = np.where(column == NEVER, 0.0, np.array(by_column)[column])
    measured = verify(game.tree, BehaviorProfile.of(game.tree, shares(form, plans)))
    answer["search"]["regrets"] = list(measured.regrets) if found else []
    return answer


def _fill(filled: Any, form: SequenceForm, column: NDArray[np.int64]) -> dict[int, Any]:
    """Put the program into a Gurobi model; returns the variables of weights by sequence."""
    from gurobipy import QuadExpr

    n = form.n_players
    free, never = column >= n, column == NEVER
    weights = {int(s): filled.addVar() for s in np.unique(column[free])}
    multipliers = filled.addVars(n + form.n_infosets, lb=-float("inf"))
    slacks = [
        filled.addVar() if own or zero else 0.0 for own, zero in zip(free, never, strict=True)
    ]

    def weight(s: int) -> Any:
        return weights[int(column[s])] if free[s] else float(not never[s])

    payoffs: list[Any] = [0.0] * form.n_sequences  # of each sequence, in the others' weights
    for played, paid in zip(form.columns.tolist(), form.payoffs.tolist(), strict=True):
        for player, s in enumerate(played):
            others = [other for k, other in enumerate(played) if k != player]
            if paid[player] and not never[others].any():
                payoffs[s] = payoffs[s] + paid[player] * weight(others[0]) * weight(others[1])
    for infoset in _branching(form, column):
        first, end = form.block_start[infoset : infoset + 2]
        filled.addConstr(sum(map(weight, range(first, end))) == weight(form.parent[infoset]))
    for s, payoff in enumerate(payoffs):
        infoset = int(form.sequence_infoset[s])
        above = multipliers[s if infoset < 0 else n + infoset]
        below = sum(multipliers[n + int(i)] for i in np.flatnonzero(form.parent == s))
        # those without products too, as in the paper's count of quadratic constraints
        filled.addQConstr(QuadExpr(above - below - slacks[s]) - payoff, "=", 0.0)
        if free[s]:
            filled.addQConstr(weight(s) * slacks[s], "=", 0.0)
    return weights


def read_log(text: str) -> Table:
    """Sizes that Gurobi's log gives, 0 for what it does not name, and the time of the presolve."""
    found: Table = {name: 0.0 for names in _LINES.values() for name in names}
    found["time"] = []  # 0 would be a finding
    for pattern, names in _LINES.items():
        if match := re.search(pattern, text, re.MULTILINE):
            found |= zip(names, map(float, match.groups()), strict=True)
    return found | {"all cuts": sum(map(int, _ANY_CUT.findall(text)))}
