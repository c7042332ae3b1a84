"""What a run says about ranges over all equilibria, beside those of the published sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.dimension import is_exact_enough
from eqbench.equilibria.extremes import extremes, is_linear
from eqbench.harness.request import Request
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray
from eqbench.store.schema import CellRecord, EquilibriumRecord
from eqbench.store.stored_run import StoredRun
from eqbench.studies.branch import action_labels
from eqbench.studies.ranges.request import SENSES, RangeSelection, Sense, infoset_of

SCHEMA = "eqbench.ranges/1"
# All these are shares of the payoff range for payoffs, and absolute for frequencies.
AGREE = 1e-5  # up to which a verified value is that of a published end
# Up to which a bound meets what was found. Constraints that hold to 1e-6 let frequencies be off
# by the square root of that where equilibria meet in a curve.
CLOSED = {"payoff": 1e-5, "frequency": 1e-3}
MOVED = 1e-6  # difference of the verified profile's value to the solver's that is worth saying
# Statuses of a cell that was stopped; its best point and its bound count nevertheless.
ENDED_EARLY = ("limit", "timeout", "memory")
# Those of a cell that was never run: nobody has looked then.
_NEVER_RUN = ("unavailable", "unsupported")
# Weight of the own sequences up to which a player's plan never leads to an information set.
_NEVER = 1e-12
_FIGURES = ("formulation", "backend", "nodes")


def ranges_summary(game: Game, run: StoredRun) -> dict[str, Any]:
    """Ranges of all quantities of a stored run, as JSON values; times in seconds.

    What was found is recomputed from the stored profile that the verifier measured, where its
    max regret is within the run's tolerance. An end is closed where the bound is within
    `closed_within` of that, times the row's `unit`, whatever gap the solver itself took for
    proved.

    Raises
    ------
    UsageError
        If the run is not one of ranges, or a profile of it cannot be read.
    """
    selection = RangeSelection.of_request(run.plan["request"])
    cells = {cell.solver: cell for cell in run.finished}
    reader = _Reader(game, run)
    known = known_sets(game)
    rows = []
    for name in selection.quantities:
        row: dict[str, Any] = {"quantity": name, "kind": _kind(name), "unit": reader.unit(name)}
        for sense in SENSES:
            row[sense] = reader.end(cells.get(selection.optimum(name, sense)), name, sense)
        row["published"] = _published(game, known, name)
        rows.append(row | {"verdict": verdict(row)})
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "game": selection.game,
        "game_spec": game.spec,
        "solver": selection.solver,
        "solver_specs": sorted({cell.solver_spec for cell in run.finished}),
        "timeout_s": run.timeout_s,
        "threads": run.plan["request"].get("threads"),
        "jobs": run.plan["request"].get("jobs"),
        "environment": run.plan.get("environment", {}),
        "agree_within": AGREE,
        "closed_within": CLOSED,
        "quantities": rows,
    }


def _kind(quantity: str) -> str:
    return "frequency" if "|" in quantity else "payoff"


def verdict(row: dict[str, Any]) -> str | None:
    """How the range over all equilibria compares with the published one; None without one.

    `wider`: a verified profile with a max regret of rounding lies beyond the published range.
    `contradiction`: a published equilibrium lies beyond a bound, which is wrong then. `equal`:
    both ends are closed, and what was found is at the published ends. `open`: none of these.
    `unavailable` and `unsupported`: so the solver is for both ends, and nobody has looked.
    """
    if row["published"] is None:
        return None
    low, high = (row[sense]["status"] for sense in SENSES)
    if low == high and low in _NEVER_RUN:
        return str(low)
    if beyond_published(row):
        return "wider"
    ends = _compared(row).values()
    if any(end.contradicts for end in ends):
        return "contradiction"
    return "equal" if all(end.agrees for end in ends) else "open"


def beyond_published(row: dict[str, Any]) -> list[Sense]:
    """The ends of a range at which a verified equilibrium lies beyond the published range."""
    return [sense for sense, end in _compared(row).items() if end.beyond]


def _compared(row: dict[str, Any]) -> dict[Sense, _Compared]:
    published, agree = row["published"], AGREE * row["unit"]
    return {
        "min": _Compared(row["min"], -1, published["low"], agree),
        "max": _Compared(row["max"], 1, published["high"], agree),
    }


@dataclass(frozen=True)
class _Compared:
    """One end of a range and the published one.

    Attributes
    ----------
    sign : 1 for the largest value, -1 for the smallest
    agree : largest difference between values that agree
    """

    end: dict[str, Any]
    sign: int
    published: float
    agree: float

    def _excess(self, name: str) -> float:
        """By how much a value of the end lies beyond the published one; NaN if there is none."""
        value = self.end[name]
        return math.nan if value is None else self.sign * (value - self.published)

    @property
    def beyond(self) -> bool:
        return self.end["exact_enough"] and self._excess("found") > self.agree

    @property
    def contradicts(self) -> bool:
        return self._excess("bound") < -self.agree

    @property
    def agrees(self) -> bool:
        """Whether the end is closed, and what was found is at the published one."""
        return self.end["closed"] and abs(self._excess("found")) <= self.agree


class _Reader:
    """Ends of ranges from the cells of a run."""

    def __init__(self, game: Game, run: StoredRun) -> None:
        self.game, self.run = game, run
        share = run.plan["request"].get("tolerance", Request.tolerance)
        self.allowed = share * game.tree.payoff_scale

    def unit(self, quantity: str) -> float:
        """What tolerances are shares of: the payoff range for payoffs, 1 for frequencies."""
        return (self.game.tree.payoff_range or 1.0) if _kind(quantity) == "payoff" else 1.0

    def end(self, cell: CellRecord | None, quantity: str, sense: Sense) -> dict[str, Any]:
        """One end of a range; all of it None, but for the status, if the cell has not finished."""
        figures = {} if cell is None else cell.statistics
        item = None if cell is None else self._best(cell)
        value = None if item is None else self._value(item, quantity, sense)
        found = None if value is None else value.found
        objective, bound = figures.get("objective"), figures.get("bound")
        status = "missing" if cell is None else cell.status
        stands = status == "ok" or status in ENDED_EARLY
        distance = _apart(bound, found) if stands else None
        return {
            "status": status,
            "reason": "not run yet, --resume goes on" if cell is None else cell.reason,
            "found": found,
            "any_share": value is not None and value.any_share,
            "reach": None if value is None else value.reach,
            "max_regret": None if item is None else item.max_regret,
            "exact_enough": item is not None and is_exact_enough(self.game, item.max_regret),
            "profile": None if item is None else item.profile,
            "objective": objective,
            "difference": None if found is None or objective is None else found - objective,
            "bound": bound,
            "gap": _apart(bound, objective),
            "distance": distance,
            "closed": distance is not None
            and distance <= CLOSED[_kind(quantity)] * self.unit(quantity),
            "elapsed_s": None if cell is None else cell.elapsed_s,
            **{name: figures.get(name) for name in _FIGURES},
        }

    def _best(self, cell: CellRecord) -> EquilibriumRecord | None:
        """The candidate with the smallest regret, if that is small enough."""
        return next(
            (
                item
                for item in cell.equilibria
                if item.refuted is None and item.profile and item.max_regret <= self.allowed
            ),
            None,
        )

    def _value(self, item: EquilibriumRecord, quantity: str, sense: Sense) -> _Value:
        """What a measured profile says about a quantity."""
        tree, form = self.game.tree, self.game.sequence_form
        if _kind(quantity) == "payoff":
            return _Value(float(item.payoffs[tree.players.index(quantity)]))
        data = read_profile(str(self.run.path / str(item.profile)))
        behavior = profile_from_json(self.game.tree, data).probabilities
        action = action_labels(tree).index(quantity)
        infoset = infoset_of(tree, action)
        reach = float(infoset_reach(tree, behavior)[infoset])
        weights = RealizationPlan.of(form, behavior).weights
        if weights[form.parent[infoset]] <= _NEVER:
            return _Value(float(sense == "max"), reach, any_share=True)
        return _Value(float(behavior[action]), reach)


def _apart(one: float | None, other: float | None) -> float | None:
    """Distance of two values; None if one is missing."""
    return None if one is None or other is None else abs(one - other)


@dataclass(frozen=True)
class _Value:
    """A quantity in a measured profile.

    Attributes
    ----------
    reach : probability that play reaches the information set; None for a payoff
    any_share : whether the player's own plan never leads there, so that any frequency will do
    """

    found: float
    reach: float | None = None
    any_share: bool = False


def _published(game: Game, known: tuple[KnownSet, ...], quantity: str) -> dict[str, Any] | None:
    """Smallest and largest value over the published sets, over each of them and all together.

    `linear` says whether these are the ends; otherwise they are the outermost values found.
    """
    if not known:
        return None
    sets: dict[str, list[float]] = {}
    linear = True
    for piece in known:  # the pieces of one set share its name
        figure = partial(_figure, game, piece, quantity)
        low, high = extremes(piece, figure)
        lowest, highest = sets.get(piece.name, (low, high))
        sets[piece.name] = [min(low, lowest), max(high, highest)]
        linear = linear and is_linear(piece, figure)
    lows, highs = zip(*sets.values(), strict=True)
    return {"low": min(lows), "high": max(highs), "linear": linear, "sets": sets}


def _figure(game: Game, known: KnownSet, quantity: str, parameters: FloatArray) -> float:
    """Payoff or frequency of a member of a published set."""
    if _kind(quantity) == "payoff":
        return float(known.payoffs_near(parameters)[game.tree.players.index(quantity)])
    behavior = known.layout.behavior(known.frequencies(parameters))
    return float(behavior[action_labels(game.tree).index(quantity)])
