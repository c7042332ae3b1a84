"""Are there equilibria outside the family? What all runs found, counted and compared.

The paper leaves open whether three-player Kuhn poker has equilibria that do not belong to its
family (Szafron, Gibson and Sturtevant 2013, §8).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import Identifier, Identity, known_sets
from eqbench.equilibria.identity import outcome_distribution
from eqbench.equilibria.nearest import nearest_member
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import (
    MOST_PROFILE_BYTES,
    parse_profile,
    profile_from_json,
    profile_text,
)
from eqbench.model.tree import FloatArray
from eqbench.papers.szafron.certificates import measured
from eqbench.papers.szafron.notation import (
    HALF,
    NAMES,
    NECESSARY,
    SUB_FAMILIES,
    in_kappa,
    load_kuhn3,
    member,
)
from eqbench.papers.szafron.polish import exact_near, polished
from eqbench.plots.style import add_legend, label_axes, new_figure, ordered_colors, save_figure
from eqbench.store.stored_run import read_run
from eqbench.verification import Verifier

RUNS = ("many_starts", "single_starts", "slow_methods", "patient_methods")
COUNTS = 1e-9  # largest regret of what counts as an equilibrium, as a share of the payoff range
SHARP = 1e-12  # a stricter one, for comparison
DIFFERENT = 1e-6  # largest difference of frequencies, or of outcomes, that is none
MOVED = 1e-3  # largest difference of a frequency that polishing may make up
REACHED = 1e-6  # reach from which on Table 2 must hold


@dataclass(frozen=True, eq=False)
class Found:
    """An equilibrium that a solver handed over.

    Attributes
    ----------
    regret : its max regret as the verifier measured it
    identity : what it is; of the polished profile where that was needed to say
    moved : how far polishing moved a frequency, 0 if it was not needed
    """

    solver: str
    behavior: FloatArray
    payoffs: list[float]
    regret: float
    identity: Identity | None
    moved: float = 0.0

    @property
    def is_on_path(self) -> bool:
        """Whether its outcomes are those of a member of the family."""
        return self.identity is not None and self.identity.on_path

    @property
    def kind(self) -> str:
        """Strict member, member on the path of play only, or outside."""
        if not self.is_on_path:
            return "outside"
        return "strict" if self.identity is not None and self.identity.strict else "on_path"


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Counts of all equilibria in the runs, by solver; figures and certificates in `folder`."""
    game = load_kuhn3()
    limit = COUNTS * game.tree.payoff_range
    cells = [
        (path, cell) for path in (jobs / name for name in RUNS) for cell in read_run(path).cells
    ]
    found = _found(game, cells, limit)
    solvers = list(dict.fromkeys(cell.solver for _, cell in cells))
    counts = Counter(cell.solver for _, cell in cells)
    outside = [one for one in found if not one.is_on_path]
    draw(found, folder)
    return {
        "threshold": limit,
        "cells": len(cells),
        "candidates": sum(len(cell.equilibria) for _, cell in cells),
        "solvers": {
            solver: {"cells": counts[solver]}
            | _summary(game, [one for one in found if one.solver == solver])
            for solver in solvers
        },
        "all": _summary(game, found),
        "outside": [_certificate(game, folder, k, one) for k, one in enumerate(outside)],
        "unfinished": _unfinished(game, cells, limit),
        "off_path": _off_path(game),
    }


def _found(game: Game, cells: Sequence[tuple[Path, Any]], limit: float) -> list[Found]:
    """Every candidate whose measured regret is at most `limit`, with what it is."""
    found = []
    for path, cell in cells:
        for item in cell.equilibria:
            if item.max_regret > limit or item.profile is None:
                continue
            text = read_file(path / item.profile, MOST_PROFILE_BYTES)
            behavior = profile_from_json(game.tree, parse_profile(text)).probabilities
            identity = None if item.identity is None else _identity(item.identity)
            one = Found(cell.solver, behavior, item.payoffs, item.max_regret, identity)
            found.append(one if one.is_on_path else _settled(game, one))
    return found


def _identity(data: dict[str, Any]) -> Identity:
    return Identity(**(data | {"also": tuple(data["also"])}))


def _settled(game: Game, one: Found) -> Found:
    """An equilibrium that is only near the family as measured, after Newton steps.

    A regret of 1e-9 leaves room for differences of 1e-6 in outcomes, so that rounding has to be
    told from another equilibrium.
    """
    for better in polished(game, one.behavior):
        regret = float(Verifier(game.tree).verify(better).max_regret)
        if regret <= max(SHARP * game.tree.payoff_range, one.regret / 10):
            identity = Identifier(game).identify(better, regret)
            moved = float(np.abs(better.probabilities - one.behavior).max())
            again = Found(
                one.solver, better.probabilities, one.payoffs, one.regret, identity, moved
            )
            if again.is_on_path and moved <= MOVED:
                return again
    return one


def _summary(game: Game, found: Sequence[Found]) -> dict[str, Any]:
    """Counts of equilibria, what they are, and how far they differ from what all have in common."""
    kinds = Counter(one.kind for one in found)
    names = Counter(one.identity.name for one in found if one.identity and one.is_on_path)
    behaviors = [one.behavior for one in found]
    outcomes = [outcome_distribution(game, behavior) for behavior in behaviors]
    betas = [one.identity.parameters["beta"] for one in found if one.identity and one.is_on_path]
    return {
        "equilibria": len(found),
        "sharp": sum(one.regret <= SHARP * game.tree.payoff_range for one in found),
        "different": _different(behaviors),
        "different_outcomes": _different(outcomes),
        "strict": kinds["strict"],
        "on_path": kinds["on_path"],
        "outside": kinds["outside"],
        "polished": sum(one.moved > 0 for one in found),
        "moved": max((one.moved for one in found), default=0.0),
        "names": {name: names[f"szafron:{name}"] for name in SUB_FAMILIES},
        "beta": [min(betas), max(betas)] if betas else [],
        "largest_regret": max((one.regret for one in found), default=None),
        "first_bets": max((_bets_of_first(game, one) for one in found), default=None),
        "off_table_2": max((_off_table_2(game, one) for one in found), default=None),
        "off_segment": max((_off_segment(one) for one in found), default=None),
    }


def _different(rows: Sequence[FloatArray]) -> int:
    """How many points are left if those within `DIFFERENT` of one that is left are not."""
    if not rows:
        return 0
    points = np.array(rows)
    sums, apart = points @ np.arange(1, points.shape[1] + 1), DIFFERENT * points.shape[1] ** 2
    left: list[int] = []
    for k in np.argsort(sums, kind="stable").tolist():
        # only points with such weighted sums can be near
        begin = bisect_left(left, sums[k] - apart, key=sums.__getitem__)
        near = points[left[begin:]]
        if not len(near) or np.abs(near - points[k]).max(axis=1).min() > DIFFERENT:
            left.append(k)
    return len(left)


def _bets_of_first(game: Game, one: Found) -> float:
    """Largest frequency with which player 1 opens with a bet."""
    tree = game.tree
    return float(
        max(
            one.behavior[tree.action_start[i] + 1]
            for i in np.flatnonzero(tree.infoset_player == 0)
            if tree.infoset_labels[i].endswith(":")
        )
    )


def _off_table_2(game: Game, one: Found) -> float:
    """Largest difference to Table 2 where play leads."""
    tree, reach = game.tree, infoset_reach(game.tree, one.behavior)
    differences = [0.0]
    for i, (player, label) in enumerate(zip(tree.infoset_player, tree.infoset_labels, strict=True)):
        name = NAMES[tree.players[player], label]
        if name in NECESSARY and reach[i] > REACHED:
            value = one.behavior[tree.action_start[i] + 1]
            differences.append(abs(float(value) - float(NECESSARY[name])))
    return max(differences)


def _off_segment(one: Found) -> float:
    """Distance of its payoffs from the segment of the family's, in the largest payoff."""
    beta = min(max(24 * one.payoffs[2] - 1, 0.0), 0.25)
    ends = (-(1 + 2 * beta) / 48, -1 / 48, (1 + beta) / 24)
    return max(abs(ours - end) for ours, end in zip(one.payoffs, ends, strict=True))


def _certificate(game: Game, folder: Path, number: int, one: Found) -> dict[str, Any]:
    """An equilibrium outside the family, with a rational one beside it if that can be found."""
    exact = exact_near(game, one.behavior)
    name = f"outside_{number}.json"
    shown = exact or BehaviorProfile.of(game.tree, one.behavior)
    (folder / name).write_text(profile_text(game.tree, shown, game.spec), encoding="utf-8")
    outside = exact is not None and not _is_member(game, exact)
    return {
        "solver": one.solver,
        "payoffs": one.payoffs,
        "max_regret": one.regret,
        "distance": None if one.identity is None else one.identity.distance,
        "profile": name,
        "certified": outside,
    }


def _is_member(game: Game, profile: BehaviorProfile) -> bool:
    identity = Identifier(game).identify(profile, 0.0)
    return identity is not None and identity.on_path


def _unfinished(game: Game, cells: Sequence[tuple[Path, Any]], limit: float) -> dict[str, Any]:
    """How near the family the cells without an equilibrium came, and profiles at random are."""
    rows: dict[str, list[dict[str, float]]] = {}
    for path, cell in cells:
        if cell.equilibria and cell.max_regret > limit:
            best = cell.equilibria[0]
            text = read_file(path / best.profile, MOST_PROFILE_BYTES)
            behavior = profile_from_json(game.tree, parse_profile(text)).probabilities
            row = {"max_regret": best.max_regret, "distance": family_distance(game, behavior)}
            rows.setdefault(cell.solver, []).append(row)
    rng = np.random.default_rng(0)
    at_random = [family_distance(game, random_profile(game.tree, rng)) for _ in range(20)]
    return {"solvers": rows, "at_random": min(at_random)}


def family_distance(game: Game, behavior: FloatArray) -> float:
    """Largest difference of an outcome's probability to the nearest member of the family."""
    outcomes, distances = outcome_distribution(game, behavior), []
    for known in known_sets(game):
        frequencies = known.layout.frequencies(behavior)
        reach = infoset_reach(game.tree, behavior)[known.layout.infoset]
        parameters = nearest_member(known, frequencies, reach)
        member_behavior = known.layout.behavior(known.frequencies(parameters))
        there = outcome_distribution(game, member_behavior)
        distances.append(float(np.abs(there - outcomes).max()))
    return min(distances)


def _off_path(game: Game) -> dict[str, dict[str, list[str]]]:
    """What behavior that is never seen does to a member with β = 0: payoffs and regrets in κ."""
    zero = Fraction(0)
    start = member(dict.fromkeys(("b11", "b21", "b32", "c11"), zero) | {"c33": HALF})
    cases = {
        "as in Table 3 (a33 = 1/2, c32 = 0)": {},
        "a33 = 0, c32 = 0": {"a33": zero},
        "a33 = 0, c32 = 1/2": {"a33": zero, "c32": HALF},
        "a33 = 1/4, c32 = 1/4": {"a33": HALF / 2, "c32": HALF / 2},
        "a33 = 1/4, c32 = 0": {"a33": HALF / 2},
    }
    found = {}
    for name, change in cases.items():
        result = measured(game, start | change)
        found[name] = {
            "payoffs": [in_kappa(Fraction(payoff)) for payoff in result.payoffs],
            "regrets": [in_kappa(Fraction(regret)) for regret in result.regrets],
        }
    return found


BINS = 25
MOST_DOTS = 60  # of one method in the picture of payoffs


def draw(found: Sequence[Found], folder: Path) -> None:
    """Write ``beta.svg``, how often each β was found, and ``payoffs.svg``, in a folder."""
    solvers = list(dict.fromkeys(one.solver for one in found))
    colors = ordered_colors(max(len(solvers), 1))
    _draw_betas(found, solvers, colors, folder / "beta.svg")
    _draw_payoffs(found, solvers, colors, folder / "payoffs.svg")


def _draw_betas(found: Sequence[Found], solvers: list[str], colors: Sequence, path: Path) -> None:
    figure = new_figure(7.2, 3.6)
    ax = figure.subplots()
    label_axes(ax, "β = max(b11, b21)", "share of the method's equilibria")
    betas = {
        solver: [
            one.identity.parameters["beta"]
            for one in found
            if one.solver == solver and one.is_on_path and one.identity is not None
        ]
        for solver in solvers
    }
    edges = np.linspace(0.0, 0.25, BINS + 1)
    for (solver, own), color in zip(betas.items(), colors, strict=False):
        heights = np.histogram(np.clip(own, 0.0, 0.25), edges)[0] / max(len(own), 1)
        ax.stairs(heights, edges, color=color, label=f"{solver}: {len(own)}", linewidth=1.3)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    save_figure(figure, path)


def _draw_payoffs(found: Sequence[Found], solvers: list[str], colors: Sequence, path: Path) -> None:
    figure = new_figure(7.2, 3.6)
    ax = figure.subplots()
    label_axes(ax, "payoff of player 1", "payoff of player 3")
    ax.plot([-1 / 48, -1 / 32], [1 / 24, 5 / 96], color="0.6", linewidth=5, alpha=0.5)
    for solver, color in zip(solvers, colors, strict=False):
        own = np.array([one.payoffs for one in found if one.solver == solver])[:: _stride(found)]
        ax.plot(own[:, 0], own[:, 2], "o", color=color, markersize=3, label=solver)
    add_legend(figure, ax.get_legend_handles_labels()[0])
    save_figure(figure, path)


def _stride(found: Sequence[Found]) -> int:
    return 1 + len(found) // (MOST_DOTS * 10)
