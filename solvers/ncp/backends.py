"""Gurobi and SCIP behind one interface: a program in, the best point and how it ended out.

A backend has a `name`, and says with `availability` whether its package and a license are here,
with `admits` whether the license admits a program of some size. Its `solve` hands each better
point (V,) to `found` as it is found.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.solver import Availability

from ..search import importable
from .program import Polynomial, Program, ProgramSize

Ending = Literal["solved", "infeasible", "limit", "failed"]
# By the words of the backends; all others have failed.
ENDINGS: dict[str, Ending] = {
    **dict.fromkeys(("optimal", "gaplimit"), "solved"),
    "infeasible": "infeasible",
    **dict.fromkeys(("time_limit", "node_limit"), "limit"),
    **dict.fromkeys(("timelimit", "nodelimit", "totalnodelimit"), "limit"),
}


@dataclass(frozen=True)
class BackendLimits:
    """What a backend may spend, and how exact it has to be."""

    time_s: float  # seconds
    nodes: int | None  # nodes of branch and bound, None for any number
    threads: int  # threads
    seed: int  # of the backend's own random choices, from 0 to 2**31 - 1
    # how far constraints may be off, in the units of the program: also the difference between bound
    # and incumbent at which an optimum counts as proved
    feasibility: float = 1e-6
    gap: float = 1e-4  # the same, as a share of the incumbent
    presolve: bool = True  # whether the backend may simplify the program before it starts


@dataclass(frozen=True)
class BackendAnswer:
    """How a backend ended."""

    # `solved` (all constraints met; with an objective, the gap is closed), `infeasible`, `limit`
    # (of time or nodes) or `failed`
    ending: Ending
    detail: str  # the backend's own words
    values: FloatArray | None = None  # float64 (V,), the best point found, None without one
    # of that point, and proved of all others; None if there is none
    objective: float | None = None
    bound: float | None = None
    # nodes, iterations and what else the backend counts
    figures: dict[str, Any] = field(default_factory=dict)


def backends(name: str) -> list[Gurobi | Scip]:
    """The backends that a choice allows, the preferred one first."""
    return [backend for backend in (Gurobi(), Scip()) if name in ("auto", backend.name)]


def choose(name: str, size: ProgramSize | None = None) -> tuple[Gurobi | Scip, Availability]:
    """The first backend that is here and admits a program of this size, or why there is none."""
    allowed, answers = backends(name), []
    for backend in allowed:
        answer = backend.availability()
        if answer.state == "available" and size is not None:
            answer = backend.admits(size)
        if answer.state == "available":
            return backend, answer
        answers.append(answer)
    # that of the preferred backend comes first, but what can be installed is what helps
    if all(answer.state == "missing" for answer in answers):
        answers.reverse()  # SCIP needs no license
    reasons = "; ".join(answer.reason for answer in answers)
    return allowed[0], Availability(answers[0].state, reasons)


# -- Gurobi ----------------------------------------------------------------------------------------

# What the license inside the wheel admits, as its messages say (Gurobi 13).
RESTRICTED_COLUMNS, RESTRICTED_QUADRATIC_COLUMNS, RESTRICTED_ROWS = 2000, 200, 2000
TOO_LARGE = 10010


class Gurobi:
    """The commercial solver; the license inside its wheel is enough for small games."""

    name = "gurobi"

    @staticmethod
    @cache
    def availability() -> Availability:
        """Whether gurobipy is installed and finds a license that is valid today."""
        here = importable("gurobipy", "backend=scip")
        if here.state != "available":
            return here
        import gurobipy as gp

        try:
            with gp.Env(params={"OutputFlag": 0}):
                return Availability()
        except gp.GurobiError as error:
            return Availability("licence", f"Gurobi: {error}; backend=scip needs no license")

    def admits(self, size: ProgramSize) -> Availability:
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
        self, program: Program, limits: BackendLimits, found: Callable[[FloatArray], None]
    ) -> BackendAnswer:
        """Spatial branch and bound for nonconvex quadratic constraints."""
        import gurobipy as gp

        parameters = {
            "OutputFlag": 0,
            "NonConvex": 2,
            "NodeLimit": float("inf") if limits.nodes is None else limits.nodes,
            "Threads": limits.threads,
            "Seed": limits.seed % 2_000_000_000,
            "FeasibilityTol": limits.feasibility,
            "MIPGap": limits.gap,
            "MIPGapAbs": limits.feasibility,
            "Presolve": -1 if limits.presolve else 0,
        }
        begun = time.perf_counter()
        with gp.Env(params=parameters) as env, gp.Model(env=env) as model:
            variables = _fill_gurobi(model, program)
            model.Params.TimeLimit = max(limits.time_s - (time.perf_counter() - begun), 0.0)

            def watch(model: Any, where: int) -> None:
                if where == gp.GRB.Callback.MIPSOL:
                    found(np.array(model.cbGetSolution(variables)))

            try:
                model.optimize(watch)
            except gp.GurobiError as error:
                return BackendAnswer("failed", f"Gurobi: {error}")
            names = {getattr(gp.GRB, name): name for name in dir(gp.GRB.Status) if name.isupper()}
            status, solved = names[model.Status].lower(), model.SolCount > 0
            return BackendAnswer(
                ENDINGS.get(status, "failed"),
                status,
                np.array([variable.X for variable in variables]) if solved else None,
                float(model.ObjVal) if solved else None,
                # an infeasible program has none
                _finite(getattr(model, "ObjBound", gp.GRB.INFINITY), gp.GRB.INFINITY),
                {
                    "nodes": int(model.NodeCount),
                    "simplex_iterations": int(model.IterCount),
                    "work_units": float(model.Work),
                },
            )


@cache
def is_restricted() -> bool:
    """Whether only the size-limited license is here: tried out on a model just above its size."""
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


def _fill_gurobi(model: Any, program: Program) -> list[Any]:
    """Put a program into a model; returns its variables."""
    from gurobipy import GRB, LinExpr, QuadExpr

    kinds = [GRB.BINARY if binary else GRB.CONTINUOUS for binary in program.binary]
    made = model.addVars(len(kinds), lb=program.lower, ub=program.upper, vtype=kinds)
    variables = list(made.values())

    def linear(polynomial: Polynomial) -> Any:
        result = LinExpr([(c, variables[m[0]]) for m, c in polynomial.terms(1)])
        result.addConstant(polynomial.get((), 0.0))
        return result

    for row in program.linear:
        model.addLConstr(linear(row.polynomial), row.sense[0], 0.0)
    for row in program.quadratic:
        left = QuadExpr(linear(row.polynomial))
        terms = row.polynomial.terms(2)
        factors = [[variables[m[side]] for m, _ in terms] for side in (0, 1)]
        left.addTerms([c for _, c in terms], *factors)
        model.addQConstr(left, row.sense[0], 0.0)
    for pair in program.exclusive:
        model.addSOS(GRB.SOS_TYPE1, [variables[index] for index in pair])
    if program.objective is not None:
        sense = GRB.MAXIMIZE if program.maximize else GRB.MINIMIZE
        model.setObjective(linear(program.objective), sense)
    return variables


# -- SCIP ------------------------------------------------------------------------------------------

INFINITE = 1e20


class Scip:
    """The open-source solver; its wheel brings IPOPT."""

    name = "scip"

    def availability(self) -> Availability:
        """Whether PySCIPOpt is installed."""
        return importable("pyscipopt", "backend=gurobi")

    def admits(self, size: ProgramSize) -> Availability:
        """Any size."""
        return Availability()

    def solve(
        self, program: Program, limits: BackendLimits, found: Callable[[FloatArray], None]
    ) -> BackendAnswer:
        """Spatial branch and bound, with IPOPT as a local search before it."""
        import pyscipopt

        begun, model = time.perf_counter(), pyscipopt.Model()
        model.hideOutput()
        parameters = {
            "limits/totalnodes": -1 if limits.nodes is None else limits.nodes,
            "limits/gap": limits.gap,
            "limits/absgap": limits.feasibility,
            "numerics/feastol": limits.feasibility,
            "randomization/randomseedshift": limits.seed,
            "randomization/permutationseed": limits.seed,
        }
        for name, value in parameters.items():
            model.setParam(name, value)
        variables = _fill_scip(model, program)
        left_s = limits.time_s - (time.perf_counter() - begun)
        model.setParam("limits/time", max(left_s, 0.0))

        def best_point(model: Any) -> FloatArray:
            best = model.getBestSol()
            return np.array([model.getSolVal(best, variable) for variable in variables])

        class Watcher(pyscipopt.Eventhdlr):  # type: ignore[misc]
            def eventinit(self) -> None:
                self.model.catchEvent(pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, self)

            def eventexit(self) -> None:
                self.model.dropEvent(pyscipopt.SCIP_EVENTTYPE.BESTSOLFOUND, self)

            def eventexec(self, event: Any) -> None:
                found(best_point(self.model))

        model.includeEventhdlr(Watcher(), "eqbench", "reports better points")
        model.optimize()
        status, solved = model.getStatus(), model.getNSols() > 0
        return BackendAnswer(
            ENDINGS.get(status, "failed"),
            status,
            best_point(model) if solved else None,
            float(model.getSolObjVal(model.getBestSol())) if solved else None,
            _finite(model.getDualbound(), INFINITE),
            {
                "nodes": int(model.getNTotalNodes()),
                "simplex_iterations": int(model.getNLPIterations()),
            },
        )


def _fill_scip(model: Any, program: Program) -> list[Any]:
    """Put a program into a model; returns its variables."""
    from pyscipopt import quicksum

    bounds = zip(program.lower, program.upper, program.binary, strict=True)
    variables = [
        model.addVar(
            lb=None if low == -np.inf else low,
            ub=None if high == np.inf else high,
            vtype="B" if binary else "C",
        )
        for low, high, binary in bounds
    ]

    def expression(polynomial: Polynomial) -> Any:
        terms = []
        for monomial, term in polynomial.items():
            for index in monomial:
                term = term * variables[index]
            terms.append(term)
        return quicksum(terms)

    for row in (*program.linear, *program.quadratic):
        if any(row.polynomial):
            left = expression(row.polynomial)
            model.addCons({"<=": left <= 0, "=": left == 0, ">=": left >= 0}[row.sense])
    for pair in program.exclusive:
        model.addConsSOS1([variables[index] for index in pair])
    if program.objective is not None:
        sense = "maximize" if program.maximize else "minimize"
        model.setObjective(expression(program.objective), sense)
    return variables


def _finite(bound: float, infinite: float) -> float | None:
    """A bound that was proved, None if it is as good as none."""
    return float(bound) if abs(bound) < infinite else None
