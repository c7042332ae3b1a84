"""Are there equilibria outside the family? What all runs found, counted and compared.

The paper leaves open whether three-player Kuhn poker has equilibria that do not belong to its
family (Szafron, Gibson and Sturtevant 2013, §8).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import Identifier, Identity
from eqbench.equilibria.identity import outcome_distribution
from eqbench.equilibria.nearest import nearest_member
from eqbench.errors import ProfileError
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import (
    MOST_PROFILE_BYTES,
    parse_profile,
    profile_from_json,
    profile_text,
)
from eqbench.model.tree import FloatArray
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import SUB_FAMILIES, kuhn3
from eqbench.plots.style import add_legend, label_axes, new_figure, ordered_colors, save_figure
from eqbench.store.stored_run import read_run
from eqbench.verification import Verifier, verify_exactly

RUNS = ("many_starts", "single_starts", "slow_methods", "patient_methods")
COUNTS = 1e-9  # largest regret of what counts as an equilibrium, as a share of the payoff range
SHARP = 1e-12  # a stricter one, for comparison
DIFFERENT = 1e-6  # largest difference of frequencies, or of outcomes, that is none
MOVED = 1e-3  # largest difference of a frequency that polishing may make up
REACHED = 1e-6  # reach from which on Table 2 must hold
# smallest frequency of an action that counts as played; iterates leave traces of several sizes
SUPPORTS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
DENOMINATORS = (2, 4, 8, 12, 24, 48, 96, 120, 240, 960)
_ROUNDS = 8
_CUT = 1e-9  # of singular values; smaller ones belong to directions in which nothing changes
_BINS = 25
_MOST_DOTS = 600  # in the picture of payoffs


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
    def kind(self) -> str:
        """Strict member, member on the path of play only, or outside."""
        if self.identity is None or not self.identity.on_path:
            return "outside"
        return "strict" if self.identity.strict else "on_path"

    @property
    def beta(self) -> float | None:
        """β of the member with its outcomes; None outside."""
        known = self.identity
        return known.parameters["beta"] if known is not None and known.on_path else None


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Counts of all equilibria in the runs, by solver; figures and certificates in `folder`."""
    limit = COUNTS * kuhn3().tree.payoff_range
    cells = [(jobs / name, cell) for name in RUNS for cell in read_run(jobs / name).cells]
    found = list(_found(cells, limit))
    counts = Counter(cell.solver for _, cell in cells)
    _draw(found, folder)
    return {
        "solvers": {
            solver: {"cells": count} | _summary([one for one in found if one.solver == solver])
            for solver, count in counts.items()
        },
        "all": _summary(found),
        "outside": [
            _certificate(folder / f"outside_{k}.json", one)
            for k, one in enumerate(one for one in found if one.kind == "outside")
        ],
        "unfinished": _unfinished(cells, limit),
        "off_path": family.measured_group(family.PROFILES["off_path"]),
    }


def _found(cells: Sequence[tuple[Path, Any]], limit: float) -> Iterator[Found]:
    """Every candidate whose measured regret is at most `limit`, with what it is."""
    for path, cell in cells:
        for item in cell.equilibria:
            if item.max_regret <= limit and item.profile is not None:
                known = item.identity
                identity = Identity(**known | {"also": tuple(known["also"])}) if known else None
                behavior = _behavior(path / item.profile)
                one = Found(cell.solver, behavior, item.payoffs, item.max_regret, identity)
                yield _settled(one) if one.kind == "outside" else one


def _behavior(file: Path) -> FloatArray:
    document = parse_profile(read_file(file, MOST_PROFILE_BYTES))
    return profile_from_json(kuhn3().tree, document).probabilities


def _settled(one: Found) -> Found:
    """An equilibrium that is only near the family as measured, after Newton steps.

    A regret of 1e-9 leaves room for differences of 1e-6 in outcomes, so that rounding has to be
    told from another equilibrium.
    """
    tree = kuhn3().tree
    for better in polished(one.behavior):
        regret = float(Verifier(tree).verify(better).max_regret)
        if regret <= max(SHARP * tree.payoff_range, one.regret / 10):
            identity = Identifier(kuhn3()).identify(better, regret)
            moved = float(np.abs(better.probabilities - one.behavior).max())
            behavior = better.probabilities
            again = Found(one.solver, behavior, one.payoffs, one.regret, identity, moved)
            if again.kind != "outside" and moved <= MOVED:
                return again
    return one


def polished(behavior: FloatArray) -> Iterator[BehaviorProfile]:
    """Profiles near `behavior`, float64 (A,), in which actions in use are equally good.

    One for each guess of what is in use, if the Newton steps of least length stay within the
    simplices. Whether nothing else is better is for the verifier to say.
    """
    for support in SUPPORTS:
        found = _newton(behavior, support)
        if found is not None:
            yield found


def _newton(behavior: FloatArray, support: float) -> BehaviorProfile | None:
    tree, model = kuhn3().tree, kuhn3().payoff_model()
    owner = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))

    def normalized(frequencies: FloatArray) -> FloatArray:
        return frequencies / np.bincount(owner, frequencies)[owner]

    used = behavior > support
    current = normalized(np.where(used, behavior, 0.0))
    reached = (infoset_reach(tree, current) > 0)[owner]
    first = np.array([np.flatnonzero(used & (owner == i))[0] for i in range(tree.n_infosets)])
    others = np.flatnonzero(used & (np.arange(tree.n_actions) != first[owner]))
    moves = np.zeros((tree.n_actions, len(others)))
    moves[others, np.arange(len(others))] = 1.0
    moves[first[owner[others]], np.arange(len(others))] = -1.0
    rows = others[reached[others]]
    for _ in range(_ROUNDS):
        values, jacobian = model.counterfactual_values(current), model.jacobian(current)
        gaps = values[rows] - values[first[owner[rows]]]
        slopes = (jacobian[rows] - jacobian[first[owner[rows]]]) @ moves
        current = current + moves @ np.linalg.lstsq(slopes, -gaps, rcond=_CUT)[0]
        if current.min() < -support:
            return None
    return BehaviorProfile.of(tree, normalized(np.clip(current, 0.0, None)))


def exact_near(behavior: FloatArray) -> BehaviorProfile | None:
    """An exact equilibrium with small denominators near `behavior`, None if none is found."""
    tree = kuhn3().tree
    for largest in DENOMINATORS:
        # two actions each
        second = [Fraction(value).limit_denominator(largest) for value in behavior[1::2].tolist()]
        try:
            near = BehaviorProfile.of_exact(tree, [x for each in second for x in (1 - each, each)])
        except ProfileError:
            continue
        if verify_exactly(tree, near).max_regret == 0:
            return near
    return None


def _summary(found: Sequence[Found]) -> dict[str, Any]:
    """Counts of equilibria, what they are, and how far they differ from what all have in common."""
    kinds = Counter(one.kind for one in found)
    names = Counter(one.identity.name for one in found if one.identity and one.kind != "outside")
    betas = [one.beta for one in found if one.beta is not None]
    behaviors = [one.behavior for one in found]
    return {
        "equilibria": len(found),
        "sharp": sum(one.regret <= SHARP * kuhn3().tree.payoff_range for one in found),
        "different": _different(behaviors),
        "different_outcomes": _different([outcome_distribution(kuhn3(), b) for b in behaviors]),
        **{kind: kinds[kind] for kind in ("strict", "on_path", "outside")},
        "polished": sum(one.moved > 0 for one in found),
        "moved": max((one.moved for one in found), default=0.0),
        "names": {name: names[f"szafron:{name}"] for name in SUB_FAMILIES},
        "beta": [min(betas), max(betas)] if betas else [],
        "largest_regret": max((one.regret for one in found), default=None),
        "first_bets": max(map(_first_bets, behaviors), default=None),
        "off_table_2": max(map(_off_table_2, behaviors), default=None),
        "off_segment": max((_off_segment(one.payoffs) for one in found), default=None),
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


def _first_bets(behavior: FloatArray) -> float:
    """Largest frequency with which player 1 opens with a bet."""
    names = family.names_by_infoset()
    return float(max(behavior[2 * names.index(f"a{card}1") + 1] for card in range(1, 5)))


def _off_table_2(behavior: FloatArray) -> float:
    """Largest difference to Table 2 where play leads."""
    reach, wanted = infoset_reach(kuhn3().tree, behavior), family.necessary()
    places = enumerate(family.names_by_infoset())
    reached = [(i, name) for i, name in places if name in wanted and reach[i] > REACHED]
    return max((abs(float(behavior[2 * i + 1] - wanted[name])) for i, name in reached), default=0.0)


def _off_segment(payoffs: Sequence[float]) -> float:
    """Distance of payoffs from the segment of the family's, in the largest payoff."""
    beta = min(max(24 * payoffs[2] - 1, 0.0), 0.25)
    ends = (-(1 + 2 * beta) / 48, -1 / 48, (1 + beta) / 24)
    return max(abs(ours - end) for ours, end in zip(payoffs, ends, strict=True))


def _certificate(file: Path, one: Found) -> dict[str, Any]:
    """An equilibrium outside the family, with a rational one beside it if that can be found."""
    game, exact = kuhn3(), exact_near(one.behavior)
    shown = exact or BehaviorProfile.of(game.tree, one.behavior)
    file.write_text(profile_text(game.tree, shown, game.spec), encoding="utf-8")
    identity = Identifier(game).identify(shown, 0.0)
    outside = identity is None or not identity.on_path
    return {
        "solver": one.solver,
        "max_regret": one.regret,
        "profile": file.name,
        "certified": exact is not None and outside,
    }


def _unfinished(cells: Sequence[tuple[Path, Any]], limit: float) -> dict[str, Any]:
    """How near the family the cells without an equilibrium came, and profiles at random are."""
    rows: dict[str, list[dict[str, float]]] = {}
    for path, cell in cells:
        if cell.equilibria and cell.max_regret > limit:
            best = cell.equilibria[0]
            distance = family_distance(_behavior(path / best.profile))
            row = {"max_regret": best.max_regret, "distance": distance}
            rows.setdefault(cell.solver, []).append(row)
    rng = np.random.default_rng(0)
    at_random = [family_distance(random_profile(kuhn3().tree, rng)) for _ in range(20)]
    return {"solvers": rows, "at_random": min(at_random)}


def family_distance(behavior: FloatArray) -> float:
    """Largest difference of an outcome's probability to the nearest member of the family."""
    outcomes, distances = outcome_distribution(kuhn3(), behavior), []
    for known in family.family().values():
        reach = infoset_reach(kuhn3().tree, behavior)[known.layout.infoset]
        parameters = nearest_member(known, known.layout.frequencies(behavior), reach)
        nearest = known.layout.behavior(known.frequencies(parameters))
        there = outcome_distribution(kuhn3(), nearest)
        distances.append(float(np.abs(there - outcomes).max()))
    return min(distances)


def _draw(found: Sequence[Found], folder: Path) -> None:
    """How often each method found each β, and payoffs beside the segment of the family."""
    betas, payoffs = new_figure(7.2, 3.6), new_figure(7.2, 3.6)
    beta_ax, payoff_ax = betas.subplots(), payoffs.subplots()
    label_axes(beta_ax, "β = max(b11, b21)", "share of the method's equilibria")
    label_axes(payoff_ax, "payoff of player 1", "payoff of player 3")
    payoff_ax.plot([-1 / 48, -1 / 32], [1 / 24, 5 / 96], color="0.6", linewidth=5, alpha=0.5)
    edges, stride = np.linspace(0.0, 0.25, _BINS + 1), 1 + len(found) // _MOST_DOTS
    solvers = list(dict.fromkeys(one.solver for one in found))
    for solver, color in zip(solvers, ordered_colors(max(len(solvers), 1)), strict=False):
        own = [one for one in found if one.solver == solver]
        inside = [one.beta for one in own if one.beta is not None]
        heights = np.histogram(np.clip(inside, 0.0, 0.25), edges)[0] / max(len(inside), 1)
        label = f"{solver}: {len(inside)}"
        beta_ax.stairs(heights, edges, color=color, label=label, linewidth=1.3)
        dots = np.array([one.payoffs for one in own])[::stride]
        payoff_ax.plot(dots[:, 0], dots[:, 2], "o", color=color, markersize=3, label=solver)
    for figure, ax, name in ((betas, beta_ax, "beta"), (payoffs, payoff_ax, "payoffs")):
        add_legend(figure, ax.get_legend_handles_labels()[0])
        save_figure(figure, folder / f"{name}.svg")
