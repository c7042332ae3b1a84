"""Gurobi as a backend: spatial branch and bound for nonconvex quadratic constraints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.solver import Availability

from ..programs.program import Constraint, Polynomial, Program, Size
from .backend import Answer, Ending, Limits

# What the license inside the wheel admits, as its messages say (Gurobi 13).
RESTRICTED_COLUMNS, RESTRICTED_QUADRATIC_COLUMNS, RESTRICTED_ROWS = 2000, 200, 2000
TOO_LARGE = 10010


class Gurobi:
    """The commercial solver; the license inside its wheel is enough for small games."""

    name = "gurobi"

    def availability(self) -> Availability:
        """Whether gurobipy is installed and finds a license that is valid today."""
        return _start()

    def admits(self, size: Size) -> Availability:
        """Whether the license admits a program of this size."""
        columns = RESTRICTED_QUADRATIC_COLUMNS if size.quadratic_constraints else RESTRICTED_COLUMNS
        rows = max(size.rows, size.quadratic_constraints)
        if (size.columns <= columns and rows <= RESTRICTED_ROWS) or not is_restricted():
            return Availability()
        return Availability(
            "licence_size",
            f"the program has {size.columns:,} variables, {size.rows:,} linear and "
            f"{size.quadratic_constraints:,} quadratic constraints; Gurobi's size-limited license "
            f"admits {columns:,} variables{' with quadratic constraints' * (columns == 200)} and "
            f"{RESTRICTED_ROWS:,} constraints of a kind",
        )

    def solve(
        self, program: Program, limits: Limits, found: Callable[[FloatArray], None]
    ) -> Answer:
        """Solve a program; `found` gets each better point (V,) as it is found."""
        import gurobipy as gp

        with gp.Env(params=_parameters(limits)) as env, gp.Model(env=env) as model:
            variables = _fill(model, program)

            def watch(model: Any, where: int) -> None:
                if where == gp.GRB.Callback.MIPSOL:
                    found(np.array(model.cbGetSolution(variables)))

            try:
                model.optimize(watch)
            except gp.GurobiError as error:
                return Answer("failed", f"Gurobi: {error}")
            return _answer(model, variables, program)


def is_restricted() -> bool:
    """Whether only the size-limited license is here: tried out on a model just above its size."""
    return _probe()


@cache
def _start() -> Availability:
    try:
        import gurobipy as gp
    except ImportError:
        return Availability(
            "missing", "gurobipy is not installed; pip install 'eqbench[gurobi]', or backend=scip"
        )
    try:
        with gp.Env(params={"OutputFlag": 0}):
            return Availability()
    except gp.GurobiError as error:
        return Availability("licence", f"Gurobi: {error}; backend=scip needs no license")


@cache
def _probe() -> bool:
    import gurobipy as gp

    with gp.Env(params={"OutputFlag": 0}) as env, gp.Model(env=env) as model:
        model.addVars(RESTRICTED_COLUMNS + 1)
        try:
            model.optimize()
        except gp.GurobiError as error:
            if error.errno == TOO_LARGE:
                return True
            raise
    return False


def _parameters(limits: Limits) -> dict[str, Any]:
    return {
        "OutputFlag": 0,
        "NonConvex": 2,
        "TimeLimit": max(limits.time_s, 0.0),
        "NodeLimit": float("inf") if limits.nodes is None else limits.nodes,
        "Threads": limits.threads,
        "Seed": limits.seed % 2_000_000_000,
        "FeasibilityTol": limits.feasibility,
        "MIPGap": limits.gap,
        "MIPGapAbs": limits.feasibility,
        "Presolve": -1 if limits.presolve else 0,
    }


def _fill(model: Any, program: Program) -> list[Any]:
    """Put a program into a model; returns its variables."""
    import gurobipy as gp

    kinds = [gp.GRB.BINARY if binary else gp.GRB.CONTINUOUS for binary in program.binary]
    made = model.addVars(
        len(program.lower), lb=program.lower.tolist(), ub=program.upper.tolist(), vtype=kinds
    )
    variables = [made[index] for index in range(len(program.lower))]
    for row in program.linear:
        model.addLConstr(_linear(row.polynomial, variables), row.sense[0], 0.0)
    for row in program.quadratic:
        model.addQConstr(_quadratic(row, variables), row.sense[0], 0.0)
    if program.objective is not None:
        sense = gp.GRB.MAXIMIZE if program.maximize else gp.GRB.MINIMIZE
        model.setObjective(_linear(program.objective, variables), sense)
    return variables


def _linear(polynomial: Polynomial, variables: list[Any]) -> Any:
    import gurobipy as gp

    terms = [(c, variables[m[0]]) for m, c in polynomial.items() if len(m) == 1]
    result = gp.LinExpr(terms)
    result.addConstant(polynomial.get((), 0.0))
    return result


def _quadratic(row: Constraint, variables: list[Any]) -> Any:
    import gurobipy as gp

    result = gp.QuadExpr(_linear(row.polynomial, variables))
    terms = [(c, m) for m, c in row.polynomial.items() if len(m) == 2]
    result.addTerms(
        [c for c, _ in terms],
        [variables[m[0]] for _, m in terms],
        [variables[m[1]] for _, m in terms],
    )
    return result


def _answer(model: Any, variables: list[Any], program: Program) -> Answer:
    from gurobipy import GRB

    names = {getattr(GRB, name): name for name in dir(GRB.Status) if name.isupper()}
    ending: Ending = "limit"
    if model.Status == GRB.OPTIMAL:
        ending = "solved"
    elif model.Status == GRB.INFEASIBLE:
        ending = "infeasible"
    elif model.Status not in (GRB.TIME_LIMIT, GRB.NODE_LIMIT):
        ending = "failed"
    figures = {
        "nodes": int(model.NodeCount),
        "simplex_iterations": int(model.IterCount),
        "work_units": float(model.Work),
    }
    values = objective = bound = None
    if model.SolCount:
        values = np.array([variable.X for variable in variables])
    if program.objective is not None:
        objective = float(model.ObjVal) if model.SolCount else None
        bound = float(model.ObjBound) if abs(model.ObjBound) < GRB.INFINITY else None
    return Answer(ending, names[model.Status].lower(), values, objective, bound, figures)
