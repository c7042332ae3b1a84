"""The paper's program on Gurobi, as far as its license admits it.

What :mod:`eqbench.papers.ganzfried.presolve` takes off is exactly what the paper
says that Gurobi's first presolve took off, so it is left out from the beginning: the rest of the
reduced game has fewer than 200 columns, which the size-limited license admits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import read_file
from eqbench.model.tree import FloatArray
from eqbench.papers.ganzfried.presolve import ALWAYS, FREE, NEVER, PaperModel, block

_PATTERNS = {
    "added": r"Presolve added (\d+) rows and (\d+) columns",
    "taken": r"Presolve removed (\d+) rows and (\d+) columns",
    "presolved": r"Presolved: (\d+) rows, (\d+) columns, (\d+) nonzeros",
    "time": r"Presolve time: ([\d.]+)s",
    "sos": r"Presolved model has (\d+) SOS",
    "bilinear": r"Presolved model has (\d+) bilinear",
    "kinds": r"Variable types: (\d+) continuous, (\d+) integer",
}
_TOO_LARGE = 10010
_CUT = re.compile(r"^  ([A-Z][A-Za-z \-]+): (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Limits:
    """How far Gurobi may go: seconds of solving, and where its log goes."""

    time_s: float
    log: Path


def solve(model: PaperModel, limits: Limits) -> dict[str, Any]:
    """What Gurobi says about a program, with the frequencies it found; `unavailable` says why not.

    One thread, default tolerances, no objective.
    """
    try:
        import gurobipy as gp
    except ImportError:
        return {"unavailable": "gurobipy is not installed; pip install 'eqbench[gurobi]'"}
    parameters = {
        "LogToConsole": 0,
        "LogFile": str(limits.log),
        "Threads": 1,
        "TimeLimit": limits.time_s,
        "NonConvex": 2,
    }
    try:
        with gp.Env(params=parameters) as env, gp.Model(env=env) as filled:
            weights = _fill(filled, model)
            filled.optimize()
            return _figures(filled, weights, model) | read_log(read_file(limits.log).decode())
    except gp.GurobiError as error:
        return {"unavailable": _why(error, model)}


def _why(error: Any, model: PaperModel) -> str:
    """Why Gurobi gives no answer."""
    if error.errno != _TOO_LARGE:
        return f"Gurobi: {error}"
    sizes = model.sizes()
    left = sizes["columns"] - sizes["presolve_columns"]
    return f"{left} columns are left, more than Gurobi's size-limited license admits"


def read_log(text: str) -> dict[str, Any]:
    """Sizes that Gurobi's log gives, as lists of counts, and its cutting planes by name."""
    found = {
        name: [float(value) if "." in value else int(value) for value in match.groups()]
        for name, pattern in _PATTERNS.items()
        if (match := re.search(pattern, text)) is not None
    }
    version = re.search(r"Gurobi Optimizer version (\S+)", text)
    return found | {
        "cuts": {name: int(count) for name, count in _CUT.findall(text)},
        "version": version[1] if version else "unknown",
    }


def _fill(filled: Any, model: PaperModel) -> dict[int, Any]:
    """Put the program into a Gurobi model; returns the variables of weights by sequence."""
    from gurobipy import QuadExpr

    form, infinite = model.form, float("inf")
    own = [s for s in range(form.n_sequences) if model.weight[s] == FREE and model.column[s] == s]
    weights = {s: filled.addVar() for s in own}
    n_multipliers = form.n_players + form.n_infosets
    multipliers = filled.addVars(n_multipliers, lb=-infinite)
    slacks = [0.0 if kind == ALWAYS else filled.addVar() for kind in model.weight]

    def weight(s: int) -> Any:
        return weights[int(model.column[s])] if model.weight[s] == FREE else float(model.weight[s])

    for infoset in model.branching:
        total = sum(weight(s) for s in block(form, infoset))
        filled.addConstr(total == weight(int(form.parent[infoset])))
    for s, payoff in enumerate(_payoffs(model, weight)):
        infoset = int(form.sequence_infoset[s])
        above = multipliers[s if s < form.n_players else form.n_players + infoset]
        below = sum(multipliers[form.n_players + int(i)] for i in np.flatnonzero(form.parent == s))
        # those without products too, as in the paper's count of quadratic constraints
        filled.addQConstr(QuadExpr(above - below - slacks[s]) - payoff, "=", 0.0)
        if model.weight[s] == FREE:
            filled.addQConstr(weight(s) * slacks[s], "=", 0.0)
    return weights


def _payoffs(model: PaperModel, weight: Any) -> list[Any]:
    """Payoff of each sequence as an expression in the others' weights."""
    form = model.form
    found: list[Any] = [0.0] * form.n_sequences
    for played, payoffs in zip(form.columns.tolist(), form.payoffs.tolist(), strict=True):
        for player, s in enumerate(played):
            others = [other for k, other in enumerate(played) if k != player]
            if payoffs[player] and all(model.weight[other] != NEVER for other in others):
                found[s] = found[s] + payoffs[player] * weight(others[0]) * weight(others[1])
    return found


def _figures(filled: Any, weights: dict[int, Any], model: PaperModel) -> dict[str, Any]:
    """How it ended; `behavior` holds frequencies (A,), None without a solution."""
    from gurobipy import GRB

    names = {getattr(GRB, name): name for name in dir(GRB.Status) if name.isupper()}
    values = {s: variable.X for s, variable in weights.items()} if filled.SolCount else None
    return {
        "status": names[filled.Status].lower(),
        "input": [filled.NumConstrs, filled.NumVars, filled.NumNZs, filled.NumQConstrs],
        "time_s": float(filled.Runtime),
        "work": float(filled.Work),
        "nodes": int(filled.NodeCount),
        "iterations": int(filled.IterCount),
        "behavior": None if values is None else _behavior(model, values).tolist(),
    }


def _behavior(model: PaperModel, values: dict[int, float]) -> FloatArray:
    """Frequencies float64 (A,) from weights; unreached, what is left shares evenly."""
    form = model.form
    plan: NDArray[np.float64] = np.where(model.weight == ALWAYS, 1.0, 0.0)
    for s in np.flatnonzero(model.weight == FREE):
        plan[s] = max(values[int(model.column[s])], 0.0)
    behavior = np.zeros(form.n_sequences - form.n_players)
    for infoset in range(form.n_infosets):
        own = np.array(block(form, infoset))
        allowed = (model.weight[own] != NEVER).astype(float)
        shares = plan[own] if plan[own].sum() > 0 else allowed
        behavior[own - form.n_players] = shares / shares.sum()
    return behavior
