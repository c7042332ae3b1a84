"""What the tests ask of programs with bilinear constraints: values of all variables, violations.

Constraints are read term by term, so that no backend has a say in whether a point satisfies them.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import eqbench
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.verification import verify

compact_games = importlib.import_module("eqbench.solvers.ncp.presolve")
formulations = importlib.import_module("eqbench.solvers.ncp.formulations")
set_ups = importlib.import_module("eqbench.solvers.ncp.ncp")


def program_of(game: Game, formulation: str, **options: Any) -> Any:
    """The formulated program; for `mip` that of the strategic form."""
    form = game.sequence_form
    verbatim = formulation == "paper"
    compact = options.pop("compact", None) or compact_games.CompactGame.of(form, verbatim=verbatim)
    constant = set_ups.constant_sum(game)
    return formulations.formulate(compact, formulation, constant=constant, **options)


def equilibrium(game: Game) -> NDArray[np.float64]:
    """Plans (S,) of an equilibrium that another solver finds."""
    budget = eqbench.Budget(time_s=600, iterations=20_000, target=1e-12)
    found = eqbench.solve(game, "arclength(starts=0,branch=false)", budget)
    assert found.max_regret is not None
    assert found.max_regret <= 1e-12
    return plans_of(game, found.equilibria[0].profile.probabilities)


def plans_of(game: Game, behavior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Plans (S,) that play like a behavior profile (A,)."""
    return RealizationPlan.of(game.sequence_form, behavior).weights


def random_pure(game: Game, rng: np.random.Generator) -> np.ndarray:
    """Behavior (A,) that always takes one action."""
    sizes = [len(actions) for actions in game.tree.infoset_actions]
    return np.concatenate([np.eye(size)[rng.integers(size)] for size in sizes])


def measured(game: Game, behavior: np.ndarray) -> Any:
    """Payoffs and regrets of a behavior profile (A,), measured on the tree."""
    return verify(game.tree, eqbench.BehaviorProfile.of(game.tree, behavior))


def best_replies(
    form: SequenceForm, plans: NDArray, removed: NDArray | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of sequences (S,) and of information sets (I,) with best play later on."""
    n = form.n_players
    worth, best = np.zeros(form.n_sequences), np.zeros(form.n_infosets)
    weights = plans[form.columns]
    for player in range(n):
        others = np.delete(weights, player, axis=1).prod(axis=1)
        np.add.at(worth, form.columns[:, player], form.payoffs[:, player] * others)
    for infoset in reversed(range(form.n_infosets)):
        block = np.arange(form.block_start[infoset], form.block_start[infoset + 1])
        if removed is not None:
            block = block[~removed[block - n]]
        if not len(block):  # behind a removed action
            continue
        best[infoset] = worth[block].max()
        worth[form.parent[infoset]] += best[infoset]
    return worth, best


def own_sequences(compact: Any) -> NDArray[np.int64]:
    """The sequence of the game (s,) where the choice of each compact sequence is made."""
    return np.array([np.flatnonzero(compact.alias == s)[0] for s in range(compact.n_sequences)])


def point(formulated: Any, formulation: str, plans: NDArray, extra: tuple = ()) -> NDArray:
    """Values (V,) of all variables at plans (S,), multipliers and slacks by best replies.

    Parameters
    ----------
    extra : values of variables of the objective, which come last
    """
    compact, program = formulated.game, formulated.program
    form, n = compact.form, compact.n_players
    own = own_sequences(compact)
    worth, best = best_replies(form, plans, compact.alias[n:] < 0)
    infoset = form.sequence_infoset[own[n:]]
    multipliers, slacks = best[infoset[compact.start[:-1] - n]], best[infoset] - worth[own[n:]]
    tail = [multipliers, slacks, np.array(extra)]
    if formulation == "paper":
        tail = [worth[:n], multipliers, np.zeros(n), slacks, np.array(extra)]
    elif formulation == "constant_sum":
        tail = [multipliers, np.array(extra)]
    elif formulation == "mip":
        tail = [multipliers, slacks, plans[own[n:]] == 0]
    values = np.zeros(len(program.lower))
    given = np.concatenate(tail)
    values[len(values) - len(given) :] = given
    known = _place_weights(formulated, plans[own], values)
    for variable in range(known, len(values) - len(given)):
        definition = program.quadratic[variable - known]
        assert (definition.polynomial[(variable,)], definition.sense) == (1, "=")
        values[variable] = -evaluate(definition.polynomial, values)
    return values


def _place_weights(formulated: Any, weights: NDArray, values: NDArray) -> int:
    """Write the weights that are variables of their own; returns how many there are."""
    known = 0
    for polynomial, weight in zip(formulated.weight, weights, strict=True):
        if len(polynomial) == 1 and polynomial.degree == 1:
            ((variable,),) = polynomial
            values[variable] = weight
            known += 1
    return known


def evaluate(polynomial: Any, values: NDArray) -> float:
    """Value of a polynomial, term by term."""
    return float(sum(c * np.prod(values[list(m)]) for m, c in polynomial.items()))


def violation(program: Any, values: NDArray) -> float:
    """By how much the constraint that is violated most is violated, bounds included."""
    worst = max(np.subtract(program.lower, values).max(), (values - program.upper).max(), 0.0)
    for row in (*program.linear, *program.quadratic):
        left = evaluate(row.polynomial, values)
        worst = max(worst, {"<=": left, ">=": -left, "=": abs(left)}[row.sense])
    fractions = np.abs(values - values.round())[np.array(program.binary)]
    return max(worst, fractions.max(initial=0.0))


def least_violation(formulated: Any, formulation: str, plans: NDArray) -> float:
    """Smallest violation that any values of the other variables leave at plans (S,).

    With weights and their products fixed all constraints are linear in multipliers, slacks and
    binaries; what is left is a mixed-integer linear program.
    """
    program = formulated.program
    values = point(formulated, formulation, plans)
    fixed = np.zeros(len(values), dtype=bool)
    for row in formulated.weight:
        for monomial in row:
            fixed[list(monomial)] = True
    for row in program.quadratic:  # products are defined by weights only, each after the other
        free = {i for m in row.polynomial for i in m if not fixed[i]}
        if len(free) == 1 and row.polynomial.get((only := min(free),)) == 1:
            fixed[only] |= all(only not in m or m == (only,) for m in row.polynomial)
    size = len(values) + 1  # the last variable is the violation
    matrix, low, high = [], [], []
    for row in (*program.linear, *program.quadratic):
        left = np.zeros(size)
        for monomial, c in row.polynomial.items():
            unknown = [i for i in monomial if not fixed[i]]
            rest = c * np.prod([values[i] for i in monomial if fixed[i]])
            assert len(unknown) <= 1
            left[unknown[0] if unknown else -1] += rest
        constant, left[-1] = left[-1], 0.0
        for sense, sign in (("<=", 1.0), (">=", -1.0)):
            if row.sense in (sense, "="):
                matrix.append(np.append(sign * left[:-1], -1.0))
                low.append(-np.inf)
                high.append(-sign * constant)
    bounds = Bounds(
        np.append(np.where(fixed, values, program.lower), 0.0),
        np.append(np.where(fixed, values, program.upper), np.inf),
    )
    found = milp(
        np.eye(size)[-1],
        constraints=LinearConstraint(np.array(matrix), low, high),
        integrality=np.append(program.binary, False).astype(int),
        bounds=bounds,
    )
    assert found.success, found.message
    return float(found.fun)
