"""Optimal correlated equilibria by linear programs over correlation plans.

A player may leave the plan before it begins (normal-form coarse, `nfcce`), at an information set
before a recommendation (extensive-form coarse, `efcce`), or after it (extensive-form, `efce`). Each
way to leave is worth at most what following it is. What it is worth is the value of a best
response, whose own linear program enters by its dual (von Stengel and Forges 2008;
Farina, Bianchi and Sandholm 2020 for the coarse ones).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from eqbench.errors import ProfileError, UsageError
from eqbench.model.correlation import correlation, is_simultaneous
from eqbench.model.game import Game
from eqbench.model.sequence_form import SequenceForm
from eqbench.registry import load_game
from eqbench.text import Displayed
from eqbench.verification import JointVerification, verify_plan
from eqbench.verification.joint import PlanKind

Kind = Literal["nfcce", "efcce", "efce", "cce", "ce"]
KINDS: dict[str, PlanKind] = {
    **{"nfcce": "nfcce", "efcce": "efcce", "efce": "efce"},
    **{"cce": "nfcce", "ce": "efce"},
}
_OUT_OF_TIME = 1  # status of linprog
DENOMINATORS = (60, 5_040, 10**6)  # that the vertex is rounded to


@dataclass(frozen=True, repr=False)
class Correlated(Displayed):
    """A correlation plan with the largest or least sum of payoffs, or payoff of a player.

    Attributes
    ----------
    measured : payoffs and gains, as the verifier has them; Fractions where the plan has them
    plan : probabilities above 0 by tuples of sequences, each the labels of an information set and
        of an action there, None before the first
    outcomes : the same of the terminals alone
    value : what the linear program has as its optimum, in floats
    """

    game: str
    kind: str
    of: str
    sense: str
    measured: JointVerification
    plan: dict[tuple[tuple[str, str] | None, ...], Any]
    outcomes: dict[tuple[tuple[str, str] | None, ...], Any]
    value: float

    def to_json(self) -> dict[str, Any]:
        """Document ``eqbench.correlated/1``; fractions are texts ``p/q``."""

        def number(value: Any) -> Any:
            return str(value) if isinstance(value, Fraction) else value

        plan = [{"sequences": key, "probability": number(x)} for key, x in self.plan.items()]
        figures = {
            name: list(map(number, getattr(self.measured, name))) for name in ("payoffs", "gains")
        }
        return {
            "schema": "eqbench.correlated/1",
            **{name: getattr(self, name) for name in ("game", "kind", "of", "sense", "value")},
            **figures,
            **{"gap": number(self.measured.gap), "error": self.measured.error, "plan": plan},
        }

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.game}: {self.sense} of {self.of} {self.value:.6g}>"


def correlated(
    game: Game | str,
    kind: Kind = "nfcce",
    of: str = "sum",
    sense: Literal["max", "min"] = "max",
    timeout_s: float | None = None,
) -> Correlated:
    """Correlated equilibrium with the largest sum of payoffs, or another objective; measured.

    For two players without chance, or any number who all move once and at the same time. What is
    returned is exact where the rounded vertex is proved to be an equilibrium; that it is optimal is
    what the linear program says, to its tolerance.

    Parameters
    ----------
    game : Game or spec
    kind : `nfcce`, `efcce` or `efce`; where all move once, also `cce` and `ce`
    of : ``sum`` of all payoffs, or a player whose payoff it is
    sense : the largest or the least
    timeout_s : seconds that the linear program may take

    Raises
    ------
    UsageError
        If the literature has no polynomial program for the game, it is too large, or time is up.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.correlated("rock_paper_scissors", "cce").measured.payoffs
    (Fraction(0, 1), Fraction(0, 1))
    """
    game = load_game(game) if isinstance(game, str) else game
    tree, form = game.tree, game.sequence_form
    for given, allowed in ((kind, KINDS), (of, ("sum", *tree.players)), (sense, ("max", "min"))):
        if given not in allowed:
            raise UsageError(f"{given!r} is not known here; choose {', '.join(allowed)}")
    tuples, flows = correlation(tree)
    if kind in ("ce", "cce") and not is_simultaneous(tree):
        raise UsageError(
            f"kind={kind} is for games in which every player moves once and knows nothing; "
            "choose nfcce, efcce or efce"
        )
    number = {key: c for c, key in enumerate(tuples)}
    weights = np.ones(tree.n_players)
    if of != "sum":
        weights = np.eye(tree.n_players)[tree.players.index(of)]
    weights *= -1 if sense == "max" else 1
    ends = dict.fromkeys(map(tuple, form.columns.tolist()))
    rows = list(_incentives(form, KINDS[kind], number))
    equalities = [{number[key]: -1.0} | {number[p]: 1.0 for p in parts} for key, parts in flows]
    equalities.append({number[tuple(range(tree.n_players))]: 1.0})
    width = max((max(row) for row in rows), default=0) + 1
    costs = np.zeros(max(width, len(tuples)))
    costs[[number[end] for end in ends]] = form.payoffs @ weights
    program: dict[str, Any] = {
        "A_ub": _matrix(rows, len(costs)),
        "b_ub": np.zeros(len(rows)),
        "A_eq": _matrix(equalities, len(costs)),
        "b_eq": np.array([*([0.0] * len(flows)), 1.0]),
        "bounds": [(0 if c < len(tuples) else None, None) for c in range(len(costs))],
    }
    found = linprog(costs, **program, options={"time_limit": timeout_s} if timeout_s else {})
    if found.status == _OUT_OF_TIME:
        raise UsageError(
            f"the linear program of {game.spec} was not solved within {timeout_s:g} s; allow more "
            "time, or choose nfcce, the smallest program"
        )
    if found.x is None or found.fun is None:
        raise UsageError(f"the linear program was not solved: {found.message}")
    plan, measured = _measured(game, KINDS[kind], tuples, found.x[: len(tuples)].tolist())
    sets = zip(tree.infoset_labels, tree.infoset_actions, strict=True)
    labels = [(label, action) for label, actions in sets for action in actions]

    def named(key: tuple[int, ...]) -> tuple[tuple[str, str] | None, ...]:
        return tuple(labels[s - tree.n_players] if s >= tree.n_players else None for s in key)

    return Correlated(
        *(game.spec, kind, of, sense, measured),
        {named(key): x for key, x in plan.items() if x},
        {named(key): x for key, x in plan.items() if x and key in ends},
        0.0 - found.fun if sense == "max" else float(found.fun),
    )


def _measured(
    game: Game, kind: PlanKind, tuples: list[tuple[int, ...]], values: list[float]
) -> tuple[dict[tuple[int, ...], Any], JointVerification]:
    """A plan of fractions near to one in floats that is proved to be an equilibrium, or that."""
    for most in DENOMINATORS if game.tree.exact else ():
        fractions = (Fraction(value).limit_denominator(most) for value in values)
        exact = dict(zip(tuples, fractions, strict=True))
        with suppress(ProfileError):
            measured = verify_plan(game.tree, kind, exact)
            if measured.gap == 0:
                return exact, measured
    plan = dict(zip(tuples, values, strict=True))
    return plan, verify_plan(game.tree, kind, plan)


def _matrix(rows: list[dict[int, float]], width: int) -> coo_array:
    places = [(r, c, x) for r, row in enumerate(rows) for c, x in row.items()]
    r, c, x = zip(*places, strict=True) if places else ((), (), ())
    return coo_array((x, (r, c)), shape=(len(rows), width))


def _incentives(
    form: SequenceForm, kind: PlanKind, number: dict[tuple[int, ...], int]
) -> Iterator[dict[int, float]]:
    """Rows that are at most 0; values of a best response have columns behind those of the plan."""
    width, columns = len(number), form.columns.tolist()
    for p in range(form.n_players):
        sets = range(*form.infoset_start[p : p + 2].tolist())
        blocks = {i: range(*form.block_start[i : i + 2].tolist()) for i in sets}
        after: dict[int, list[int]] = defaultdict(list)  # information sets that follow a sequence
        for i in sets:
            after[int(form.parent[i])].append(i)
        ending: dict[int, list[int]] = defaultdict(list)  # terminals by the last sequence
        passing: dict[int, list[int]] = defaultdict(list)  # by any
        for z, column in enumerate(columns):
            s = column[p]
            ending[s].append(z)
            while s >= form.n_players:
                passing[s].append(z)
                s = int(form.parent[form.sequence_infoset[s]])
            passing[p].append(z)
        # what was recommended last, the sets where the player leaves, and what was to be followed
        ways = [(p, after[p], [p])]
        if kind != "nfcce":
            ways = [(int(form.parent[i]), [i], list(blocks[i])) for i in sets]
        if kind == "efce":
            ways = [(s, [i], [s]) for _, (i,), own in ways for s in own]
        for known, starts, own in ways:
            value, waiting = dict[int, int](), list(starts)
            while waiting:
                i = waiting.pop()
                value[i], width = width, width + 1
                waiting += [below for s in blocks[i] for below in after[s]]
            # a set is worth at least each of its sequences, and following what all starts are
            rows = [(s, {value[i]: -1.0}) for i in value for s in blocks[i]]
            for s, row in [*rows, (p, {})]:
                at_end = s == p and kind != "nfcce"
                row |= {value[below]: 1.0 for below in (starts if s == p else after[s])}
                for z in () if at_end else ending[s]:
                    key = number[(*columns[z][:p], known, *columns[z][p + 1 :])]
                    row[key] = row.get(key, 0.0) + float(form.payoffs[z, p])
                for z in (z for t in own for z in passing[t]) if s == p else ():
                    key = number[tuple(columns[z])]
                    row[key] = row.get(key, 0.0) - float(form.payoffs[z, p])
                yield row
