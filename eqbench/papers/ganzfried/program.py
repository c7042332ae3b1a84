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
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import read_file
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, action_labels
from eqbench.model.realization import shares
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import load_game
from eqbench.verification import verify

FREE, NEVER, ALWAYS = -1, 0, 1
TIME_S = 100.0
_TOO_LARGE = 10010
_PATTERNS = {
    "added": r"Presolve added (\d+) rows and (\d+) columns",
    "taken": r"Presolve removed (\d+) rows and (\d+) columns",
    "presolved": r"Presolved: (\d+) rows, (\d+) columns, (\d+) nonzeros",
    "time": r"Presolve time: ([\d.]+)s",
    "sos": r"Presolved model has (\d+) SOS",
    "bilinear": r"Presolved model has (\d+) bilinear",
    "kinds": r"Variable types: (\d+) continuous, (\d+) integer",
}
_CUT = re.compile(r"^  ([A-Z][A-Za-z \-]+): (\d+)$", re.MULTILINE)


def program(folder: Path, _jobs: Path, *, full: bool) -> dict[str, Any]:
    """Sizes of the full model and of those with 21 and 22 actions fixed; what Gurobi says of them.

    `kept` holds the sizes with 21 of the 22 actions fixed, by the one that is not. The model with
    22 takes Gurobi a minute, so it belongs to the full extent.
    """
    game = load_game("kuhn3")
    missing = {count: missing_actions(game.tree, count) for count in (21, 22)}
    fixed = {"full": [], "21": [*missing[21].values()], "22": [*missing[22].values()]}
    models = {name: PaperModel.of(game.sequence_form, actions) for name, actions in fixed.items()}
    kept = {name: [a for a in fixed["22"] if a != action] for name, action in missing[22].items()}
    asked = models if full else ["full", "21"]
    return {
        "models": {name: model.sizes() for name, model in models.items()},
        "removed": list(missing[22]),
        "kept": {n: PaperModel.of(game.sequence_form, a).sizes() for n, a in kept.items()},
        "gurobi": {name: _solve(game, models[name], folder / f"{name}.log") for name in asked},
    }


def missing_actions(full: GameTree, count: int) -> dict[str, int]:
    """Actions that the game with so many less lacks, by ``player|information set|action``."""
    reduced = load_game(f"kuhn(players=3,cards=4,reduce=dominated{count})").tree
    left = set(action_labels(reduced))
    return {name: action for action, name in enumerate(action_labels(full)) if name not in left}


@dataclass(frozen=True, eq=False)
class PaperModel:
    """The program after these rules.

    Attributes
    ----------
    form : of the full game
    removed : actions whose weights are fixed to 0
    weight : int64 (S,)
        `NEVER` or `ALWAYS` where the rules fix the weight, else `FREE`.
    column : int64 (S,)
        Sequence whose column stands for each free weight.
    """

    form: SequenceForm
    removed: tuple[int, ...]
    weight: NDArray[np.int64]
    column: NDArray[np.int64]

    @classmethod
    def of(cls, form: SequenceForm, removed: Sequence[int]) -> PaperModel:
        """The program less `removed`, actions of the tree."""
        n = form.n_players
        weight, column = np.full(form.n_sequences, FREE), np.arange(form.n_sequences)
        weight[:n] = ALWAYS
        weight[[n + action for action in removed]] = NEVER
        model = cls(form, tuple(removed), weight, column)
        for infoset in range(form.n_infosets):  # parents stand before their children
            left = [s for s in model.block(infoset) if weight[s] != NEVER]
            if len(left) == 1:
                above = form.parent[infoset]
                weight[left], column[left] = weight[above], column[above]
        return model

    def block(self, infoset: int) -> range:
        """The sequences that end at an information set."""
        return range(*self.form.block_start[infoset : infoset + 2].tolist())

    @property
    def own(self) -> list[int]:
        """Sequences that have a column of their own for their weight."""
        return [s for s, k in enumerate(self.column) if self.weight[s] == FREE and k == s]

    @property
    def branching(self) -> list[int]:
        """Information sets with two free weights or more, whose rows are left."""
        left = (self.weight[self.block(i)] != NEVER for i in range(self.form.n_infosets))
        return [infoset for infoset, allowed in enumerate(left) if allowed.sum() > 1]

    def sizes(self) -> dict[str, int]:
        """Sizes of the input, what the rules take off, and the products that are left."""
        form, n_removed = self.form, len(self.removed)
        multipliers, always = form.n_players + form.n_infosets, int((self.weight == ALWAYS).sum())
        rows = multipliers + n_removed
        return {
            "removed_actions": n_removed,
            "rows": rows,
            "columns": 2 * form.n_sequences + multipliers,
            "nonzeros": form.n_sequences + form.n_infosets + n_removed,
            "quadratic_constraints": 2 * form.n_sequences,
            "presolve_rows": rows - len(self.branching),
            "presolve_columns": form.n_sequences - len(self.own) + always,
            "complementarities": int((self.weight == FREE).sum()),
            "products": len(self._products()),
        }

    def _products(self) -> set[tuple[int, int]]:
        """Pairs of columns whose product stands in the payoffs of somebody's sequences."""
        found = set()
        for played in self.form.columns.tolist():
            for others in combinations(played, self.form.n_players - 1):
                free = sorted(int(self.column[s]) for s in others if self.weight[s] == FREE)
                if len(free) == 2:
                    found.add((free[0], free[1]))
        return found


def _solve(game: Game, model: PaperModel, log: Path) -> dict[str, Any]:
    """What Gurobi says about a program, with regrets of what it found on the full game's tree.

    One thread, default tolerances, no objective; `unavailable` says why it said nothing.
    """
    try:
        import gurobipy as gp
    except ImportError:
        return {"unavailable": "gurobipy is not installed; pip install 'eqbench[gurobi]'"}
    limits = {"Threads": 1, "TimeLimit": TIME_S, "NonConvex": 2, "LogToConsole": 0}
    try:
        with gp.Env(params=limits | {"LogFile": str(log)}) as env, gp.Model(env=env) as filled:
            weights = _fill(filled, model)
            filled.optimize()
            answer = read_log(read_file(log).decode()) | {
                "status": "optimal" if filled.Status == gp.GRB.OPTIMAL else str(filled.Status),
                "time_s": float(filled.Runtime),
                "work": float(filled.Work),
                "nodes": int(filled.NodeCount),
                "iterations": int(filled.IterCount),
            }
            values = {s: weights[s].X for s in weights} if filled.SolCount else {}
    except gp.GurobiError as error:
        if error.errno != _TOO_LARGE:
            return {"unavailable": f"Gurobi: {error}"}
        left = model.sizes()["columns"] - model.sizes()["presolve_columns"]
        why = "columns are left, more than Gurobi's size-limited license admits"
        return {"unavailable": f"{left} {why}"}
    if values:
        found = verify(game.tree, BehaviorProfile.of(game.tree, _behavior(model, values)))
        answer |= {"payoffs": list(found.payoffs), "regrets": list(found.regrets)}
    return answer


def _fill(filled: Any, model: PaperModel) -> dict[int, Any]:
    """Put the program into a Gurobi model; returns the variables of weights by sequence."""
    from gurobipy import QuadExpr

    form = model.form
    weights = {s: filled.addVar() for s in model.own}
    multipliers = filled.addVars(form.n_players + form.n_infosets, lb=-float("inf"))
    slacks = [0.0 if kind == ALWAYS else filled.addVar() for kind in model.weight]

    def weight(s: int) -> Any:
        return weights[int(model.column[s])] if model.weight[s] == FREE else float(model.weight[s])

    payoffs: list[Any] = [0.0] * form.n_sequences  # of each sequence, in the others' weights
    for played, paid in zip(form.columns.tolist(), form.payoffs.tolist(), strict=True):
        for player, s in enumerate(played):
            others = [other for k, other in enumerate(played) if k != player]
            if paid[player] and all(model.weight[other] != NEVER for other in others):
                payoffs[s] = payoffs[s] + paid[player] * weight(others[0]) * weight(others[1])
    for infoset in model.branching:
        total = sum(weight(s) for s in model.block(infoset))
        filled.addConstr(total == weight(int(form.parent[infoset])))
    for s, payoff in enumerate(payoffs):
        infoset = int(form.sequence_infoset[s])
        above = multipliers[s if infoset < 0 else form.n_players + infoset]
        below = sum(multipliers[form.n_players + int(i)] for i in np.flatnonzero(form.parent == s))
        # those without products too, as in the paper's count of quadratic constraints
        filled.addQConstr(QuadExpr(above - below - slacks[s]) - payoff, "=", 0.0)
        if model.weight[s] == FREE:
            filled.addQConstr(weight(s) * slacks[s], "=", 0.0)
    return weights


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


def _behavior(model: PaperModel, values: dict[int, float]) -> FloatArray:
    """Frequencies float64 (A,) from weights by sequence."""
    free = [max(values.get(int(s), 0.0), 0.0) for s in model.column]
    return shares(model.form, np.where(model.weight == FREE, free, model.weight == ALWAYS))
