"""SCIP as a backend: spatial branch and bound, free of charge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.solver import Availability

from ..programs.program import Constraint, Program, Size
from .backend import Answer, Ending, Limits

INFINITE = 1e20


class Scip:
    """The open-source solver; its wheel brings IPOPT."""

    name = "scip"

    def availability(self) -> Availability:
        """Whether PySCIPOpt is installed."""
        try:
            import pyscipopt  # noqa: F401
        except ImportError:
            return Availability(
                "missing",
                "pyscipopt is not installed; pip install 'eqbench[scip]', or backend=gurobi",
            )
        return Availability()

    def admits(self, size: Size) -> Availability:
        """Any size."""
        return Availability()

    def solve(
        self, program: Program, limits: Limits, found: Callable[[FloatArray], None]
    ) -> Answer:
        """Solve a program; `found` gets each better point (V,) as it is found."""
        import pyscipopt

        model = pyscipopt.Model()
        model.hideOutput()
        for name, value in _parameters(limits).items():
            model.setParam(name, value)
        variables = _fill(model, program)
        model.includeEventhdlr(_watcher(variables, found), "eqbench", "reports better points")
        model.optimize()
        return _answer(model, variables, program)


def _parameters(limits: Limits) -> dict[str, Any]:
    return {
        "limits/time": max(limits.time_s, 0.0),
        "limits/totalnodes": -1 if limits.nodes is None else limits.nodes,
        "limits/gap": limits.gap,
        "limits/absgap": limits.feasibility,
        "numerics/feastol": limits.feasibility,
        "randomization/randomseedshift": limits.seed,
        "randomization/permutationseed": limits.seed,
    }


def _fill(model: Any, program: Program) -> list[Any]:
    """Put a program into a model; returns its variables."""
    bounds = zip(program.lower.tolist(), program.upper.tolist(), program.binary, strict=True)
    variables = [
        model.addVar(
            lb=None if low == -np.inf else low,
            ub=None if high == np.inf else high,
            vtype="B" if binary else "C",
        )
        for low, high, binary in bounds
    ]
    for row in (*program.linear, *program.quadratic):
        if not any(row.polynomial):
            continue
        left = _expression(row, variables)
        model.addCons({"<=": left <= 0, "=": left == 0, ">=": left >= 0}[row.sense])
    if program.objective is not None:
        sense = "maximize" if program.maximize else "minimize"
        model.setObjective(_expression(Constraint(program.objective, "="), variables), sense)
    return variables


def _expression(row: Constraint, variables: list[Any]) -> Any:
    from pyscipopt import quicksum

    terms = []
    for monomial, coefficient in row.polynomial.items():
        term = coefficient
        for index in monomial:
            term = term * variables[index]
        terms.append(term)
    return quicksum(terms)


def _watcher(variables: list[Any], found: Callable[[FloatArray], None]) -> Any:
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    class Watcher(Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            self.model.catchEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexit(self) -> None:
            self.model.dropEvent(SCIP_EVENTTYPE.BESTSOLFOUND, self)

        def eventexec(self, event: Any) -> None:
            best = self.model.getBestSol()
            found(np.array([self.model.getSolVal(best, v) for v in variables]))

    return Watcher()


def _answer(model: Any, variables: list[Any], program: Program) -> Answer:
    status = model.getStatus()
    ending: Ending = "failed"
    if status in ("optimal", "gaplimit"):
        ending = "solved"
    elif status == "infeasible":
        ending = "infeasible"
    elif status in ("timelimit", "totalnodelimit", "nodelimit"):
        ending = "limit"
    figures = {
        "nodes": int(model.getNTotalNodes()),
        "simplex_iterations": int(model.getNLPIterations()),
    }
    values = objective = bound = None
    if model.getNSols():
        best = model.getBestSol()
        values = np.array([model.getSolVal(best, variable) for variable in variables])
        objective = float(model.getSolObjVal(best))
    if program.objective is None:
        return Answer(ending, status, values, None, None, figures)
    bound = float(model.getDualbound())
    bound = bound if abs(bound) < INFINITE else None
    return Answer(ending, status, values, objective, bound, figures)
