"""Which backend solves a program."""

from __future__ import annotations

from eqbench.solver import Availability

from ..programs.program import Size
from .backend import Backend
from .gurobi import Gurobi
from .scip import Scip


def backends(name: str) -> list[Backend]:
    """The backends that a choice allows, the preferred one first."""
    known: list[Backend] = [Gurobi(), Scip()]
    return [backend for backend in known if name in ("auto", backend.name)]


def availability(name: str) -> Availability:
    """Available if one of the allowed backends is; else why none is."""
    answers = [backend.availability() for backend in backends(name)]
    return _first_available(answers)


def choose(name: str, size: Size) -> tuple[Backend, Availability]:
    """The first backend that is here and admits a program of this size, or why there is none."""
    allowed = backends(name)
    answers = []
    for backend in allowed:
        here = backend.availability()
        answers.append(backend.admits(size) if here.state == "available" else here)
        if answers[-1].state == "available":
            return backend, answers[-1]
    return allowed[0], _first_available(answers)


def _first_available(answers: list[Availability]) -> Availability:
    for answer in answers:
        if answer.state == "available":
            return answer
    if len(answers) == 1:
        return answers[0]
    # that of the preferred backend comes first, but what can be installed is what helps
    return Availability(answers[0].state, "; ".join(answer.reason for answer in answers))
