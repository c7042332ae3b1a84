"""Which optima over all equilibria are asked for, as the request of an ordinary run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from eqbench.errors import SpecError, UsageError, nearest
from eqbench.harness.plan import Cell
from eqbench.model.tree import GameTree
from eqbench.registry import Registry
from eqbench.solver import availability_of
from eqbench.spec import Spec, parse_spec, split_specs
from eqbench.studies.branch import action_labels

Sense = Literal["min", "max"]
SENSES: tuple[Sense, Sense] = ("min", "max")


@dataclass(frozen=True)
class RangeSelection:
    """The quantities of one game whose ranges are looked for.

    Attributes
    ----------
    game : spec as typed
    solver : spec as typed, without the options `sense` and `of`
    quantities : payoffs, such as ``P1``, and frequencies, such as ``P3|3:KB|call``
    """

    game: str
    solver: str
    quantities: tuple[str, ...]

    def optimum(self, quantity: str, sense: Sense) -> str:
        """Spec of the solver for one end of the range of a quantity."""
        return str(parse_spec(self.solver).replace(sense=sense, of=quantity))

    @property
    def solvers(self) -> list[str]:
        """Specs of all cells: of each quantity the smallest value, then the largest."""
        return [self.optimum(name, sense) for name in self.quantities for sense in SENSES]

    @classmethod
    def of_request(cls, request: Mapping[str, Any]) -> RangeSelection:
        """What the request of a run selects.

        Raises
        ------
        UsageError
            If it is not that of a run of ranges.
        """
        games, solvers = request.get("games"), request.get("solvers")
        if isinstance(games, list) and isinstance(solvers, list) and len(games) == 1 and solvers:
            specs = [_parsed(solver) for solver in solvers]
            names = dict.fromkeys(str(dict(spec.options).get("of", "")) for spec in specs)
            selection = cls(games[0], str(_without_target(specs[0])), tuple(names))
            if selection.solvers == [str(spec) for spec in specs]:
                return selection
        raise UsageError(
            "this is no run of ranges: it has several games, or cells that are not the smallest "
            "and the largest value of something; go on with it by eqbench run --resume DIR, or "
            "leave --resume out for a new run"
        )


def _parsed(solver: Any) -> Spec:
    try:
        return parse_spec(str(solver))
    except SpecError:  # such a run was never planned by this command
        return Spec("")


def _without_target(spec: Spec) -> Spec:
    return spec.without("sense").without("of")


def solver_for_ranges(text: str, backend: str | None, registry: Registry) -> str:
    """Spec of a solver that can look for optima, on a backend if one is given.

    Solvers of plugins are not asked for their options, since their code runs in children only.

    Raises
    ------
    UsageError
        If it is not one solver, lacks the options `sense` and `of`, or these are given.
    """
    typed = split_specs(text)
    if len(typed) != 1 or typed[0] == "all":
        raise UsageError(f"--solver {text}: give one solver, for example --solver ncp")
    spec, entry = parse_spec(typed[0]), registry.solver_entry(typed[0])
    given = dict(spec.options)
    if "sense" in given or "of" in given:
        raise UsageError(
            f"--solver {text}: leave sense and of out, the command sets them; choose by "
            "--of, --payoffs, --first-actions or --all-actions"
        )
    wanted = {"sense", "of"} | ({"backend"} if backend is not None else set())
    if entry.builtin:
        missing = wanted - {option.name for option in registry.options(entry)}
        if missing:
            raise UsageError(
                f"{spec.name} has no option {' and '.join(sorted(missing))}, so it gives no "
                "range over all equilibria; use --solver ncp"
            )
    return str(spec if backend is None else spec.replace(backend=backend))


def unavailable(solvers: Sequence[str], registry: Registry) -> dict[str, str]:
    """Reasons of those solvers that cannot run here, by spec.

    Only built-in solvers are asked, since code of others runs in children only.

    Raises
    ------
    UsageError
        If a spec names nothing or has wrong options.
    """
    reasons = {}
    for solver in solvers:
        if not registry.solver_entry(solver).builtin:
            continue
        answer = availability_of(registry.load_solver(solver).instance)
        if answer.state != "available":
            reasons[solver] = f"{answer.state}: {answer.reason}"
    return reasons


def without_children(cells: Sequence[Cell], reasons: Mapping[str, str]) -> list[Cell]:
    """Cells of which those of unavailable solvers are recorded as such without a child each."""
    return [
        replace(cell, solver=replace(cell.solver, problem=("unavailable", reasons[name])))
        if (name := cell.solver.typed) in reasons
        else cell
        for cell in cells
    ]


def quantities(
    tree: GameTree, named: Sequence[str], *, payoffs: bool, first: bool, every: bool
) -> tuple[str, ...]:
    """Names of payoffs and frequencies, each once; all payoffs if nothing is selected.

    Parameters
    ----------
    named : payoffs and frequencies by name
    payoffs : whether all payoffs are selected
    first : whether frequencies are where the player has not moved before
    every : whether frequencies are at all information sets

    Raises
    ------
    UsageError
        If a name is that of nothing, or of the only action there, or nothing is left.
    """
    for name in named:
        _check(tree, name)
    chosen = list(named)
    if payoffs or not (named or first or every):
        chosen += tree.players
    if first or every:
        chosen += frequencies(tree, first_only=not every)
    if not chosen:
        raise UsageError("no information set has a choice; ask for --payoffs")
    return tuple(dict.fromkeys(chosen))


def _check(tree: GameTree, name: str) -> None:
    labels = action_labels(tree)
    if name not in labels and name not in tree.players:
        raise UsageError(
            f"--of {name}: there is no such player or action; "
            f"{nearest(name, [*tree.players, *labels])} Write a player, such as P1, or player, "
            'information set and action, such as "P3|3:KB|call"'
        )
    if name in labels and len(tree.infoset_actions[infoset_of(tree, labels.index(name))]) == 1:
        raise UsageError(f"--of {name}: this is the only action there, so its frequency is 1")


def infoset_of(tree: GameTree, action: int) -> int:
    """Information set of an action."""
    return int(np.searchsorted(tree.action_start, action, side="right")) - 1


def frequencies(tree: GameTree, *, first_only: bool) -> list[str]:
    """Names of the actions whose frequencies are asked for at information sets with a choice.

    Of two actions only the last one, since the other is its complement.
    """
    labels, names, start = action_labels(tree), [], tree.action_start.tolist()
    for infoset, actions in enumerate(tree.infoset_actions):
        if len(actions) == 1 or (first_only and tree.infoset_parent[infoset] >= 0):
            continue
        skipped = 1 if len(actions) == 2 else 0
        names += labels[start[infoset] + skipped : start[infoset + 1]]
    return names
