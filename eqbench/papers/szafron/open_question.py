"""Equilibria outside the family: all that runs found, counted and compared.

The paper leaves open whether three-player Kuhn poker has equilibria that do not belong to its
family (Szafron, Gibson and Sturtevant 2013, §8).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eqbench.equilibria import Identifier
from eqbench.equilibria.clusters import different, outcome_distribution
from eqbench.equilibria.dimension import equalized
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.tree import FloatArray
from eqbench.papers.records import Table
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import SUB_FAMILIES, kuhn3
from eqbench.plots.style import Panel, Series, dots, draw_figure, line, ordered_colors, save_figure
from eqbench.store.results import cell_frame, equilibrium_frame, stored_runs
from eqbench.verification import Verifier

RUNS = ("many_starts", "single_starts", "slow_methods", "patient_methods")
COUNTS = 1e-9  # largest regret of what counts as an equilibrium, as a share of the payoff range
SHARP = 1e-12  # a stricter one, for comparison
DIFFERENT = 1e-6  # largest difference of frequencies, or of outcomes, that is none
MOVED = 1e-3  # largest difference of a frequency that polishing may make up
REACHED = 1e-6  # reach from which on Table 2 must hold
# smallest frequency of an action that counts as played; iterates leave traces of several sizes
SUPPORTS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_BINS = 25
_MOST_DOTS = 600  # in the picture of payoffs
_PAYOFFS = ["payoff_P1", "payoff_P2", "payoff_P3"]


def compute(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Counts of all equilibria in the runs, by solver; figures and what is outside in `folder`."""
    runs, limit = [jobs / name for name in RUNS], COUNTS * kuhn3().tree.payoff_range
    candidates = equilibrium_frame(stored_runs(runs)).dropna(subset=["profile"])
    counts = candidates["max_regret"] <= limit
    found = _judged(candidates[counts])
    _draw(found, folder)
    outside = found.loc[found["kind"] == "outside", ["solver", "max_regret", "profile"]]
    for file in outside["profile"]:
        shutil.copy(file, folder)
    # how near the family cells without an equilibrium and profiles at random are
    best, rng = candidates[(candidates["rank"] == 0) & ~counts], np.random.default_rng(0)
    distance = Identifier(kuhn3()).distance
    nearest = best.assign(distance=[distance(_behavior(file)) for file in best["profile"]])
    return {
        "solvers": {
            str(solver): {"cells": count} | _summary(found[found["solver"] == solver])
            for solver, count in Counter(cell_frame(stored_runs(runs))["solver"]).items()
        },
        "all": _summary(found),
        "payoffs": found[_PAYOFFS].to_numpy().tolist(),
        "outside": outside.to_dict("records"),
        "unfinished": {
            "runs": nearest[["solver", "max_regret", "distance"]].to_dict("records"),
            "at random": min(distance(random_profile(kuhn3().tree, rng)) for _ in range(20)),
        },
    }


def _judged(candidates: pd.DataFrame) -> pd.DataFrame:
    """Equilibria with their behavior, what they are, and how far they are from what all share.

    That is Table 2, where play leads, and that player 1 does not bet first.
    """
    rows: list[Any] = candidates.to_dict("records")
    layout, tree, necessary = family.layout(), kuhn3().tree, family.necessary()
    table_2 = np.array([float(necessary.get(name, np.nan)) for name in layout.variables])
    first = [name in ("a11", "a21", "a31", "a41") for name in layout.variables]
    for row in rows:
        row |= {"behavior": _behavior(row["profile"]), "moved": 0.0}
        if row["on_path"] is not True:  # it may be NA
            row |= settled(row["behavior"], row["max_regret"])
        is_member = row["on_path"] is True
        row["kind"] = ("strict" if row["strict"] else "on path") if is_member else "outside"
        row["beta"] = row["parameters"]["beta"] if is_member else np.nan
        frequencies = layout.frequencies(row["behavior"])
        reached = infoset_reach(tree, row["behavior"])[layout.infoset] > REACHED
        row["first bets"] = frequencies[first].max()
        row["off table 2"] = np.nanmax(np.abs(frequencies - table_2)[reached])
    columns = ["behavior", "moved", "kind", "beta", "first bets", "off table 2"]
    return pd.DataFrame(rows, columns=[*candidates, *columns])


def _behavior(file: str) -> FloatArray:
    return profile_from_json(kuhn3().tree, read_profile(file)).probabilities


def settled(behavior: FloatArray, regret: float) -> Table:
    """Identify an equilibrium that is only near the family as measured, after Newton steps.

    A regret of 1e-9 leaves room for differences of 1e-6 in outcomes, so that rounding has to be
    distinguished from another equilibrium. Empty if it stays outside.
    """
    tree = kuhn3().tree
    for better in polished(behavior):
        left = float(Verifier(tree).verify(better).max_regret)
        moved = float(np.abs(better.probabilities - behavior).max())
        if left <= max(SHARP * tree.payoff_range, regret / 10) and moved <= MOVED:
            known = Identifier(kuhn3()).identify(better, left)
            if known is not None and known.on_path:
                own = {"behavior": better.probabilities, "moved": moved, "identity": known.name}
                return asdict(known) | own
    return {}


def polished(behavior: FloatArray) -> Iterator[BehaviorProfile]:
    """Profiles near `behavior` in which actions in use are equally good, by guess of these."""
    for support in SUPPORTS:
        if (better := equalized(kuhn3(), behavior, support)) is not None:
            yield BehaviorProfile.of(kuhn3().tree, better)


def _summary(found: pd.DataFrame) -> Table:
    """Counts of equilibria and what they are, and the largest of their distances; None if none."""
    behaviors: list[FloatArray] = found["behavior"].tolist()
    members, betas = found[found["kind"] != "outside"], found["beta"].dropna()
    largest = found.rename(columns={"max_regret": "largest regret"})
    return {
        "equilibria": len(found),
        "sharp": (found["max_regret"] <= SHARP * kuhn3().tree.payoff_range).sum(),
        "different": _different(behaviors),
        "different outcomes": _different([outcome_distribution(kuhn3(), b) for b in behaviors]),
        **{kind: (found["kind"] == kind).sum() for kind in ("strict", "on path", "outside")},
        "polished": (found["moved"] > 0).sum(),
        "names": {
            short: (members["identity"] == f"szafron:{name}").sum()
            for short, name in SUB_FAMILIES.items()
        },
        "beta": [betas.min(), betas.max()] if len(betas) else [],
        **{
            name: largest[name].max() if behaviors else None
            for name in ("moved", "largest regret", "first bets", "off table 2")
        },
    }


def _different(rows: Sequence[FloatArray]) -> int:
    """Count the points that differ from all before them."""
    return len(different(np.array(rows), np.arange(len(rows)), DIFFERENT)[0])


def _draw(found: pd.DataFrame, folder: Path) -> None:
    """Draw how often each method found each β, and payoffs next to the family's segment."""
    betas = list[Series]()
    segment: dict[str, Any] = {"linewidth": 5, "alpha": 0.5}
    payoffs = [line([-1 / 48, -1 / 32], [1 / 24, 5 / 96], "0.6", **segment)]
    edges, stride = np.linspace(0.0, 0.25, _BINS + 1), 1 + len(found) // _MOST_DOTS
    methods = found.groupby("solver", sort=False)
    for (solver, own), color in zip(methods, ordered_colors(max(len(methods), 1)), strict=False):
        inside = own["beta"].dropna()
        heights = np.histogram(np.clip(inside, 0.0, 0.25), edges)[0] / max(len(inside), 1)
        look = {"color": color, "label": f"{solver}: {len(inside)}", "linewidth": 1.3}
        betas.append(Series("stairs", (heights, edges), look))
        x, y = own[["payoff_P1", "payoff_P3"]][::stride].to_numpy().T
        payoffs.append(dots(x, y, color, str(solver), 3))
    for name, panel in {
        "beta": Panel(betas, "β = max(b11, b21)", "share of the method's equilibria"),
        "payoffs": Panel(payoffs, "payoff of player 1", "payoff of player 3"),
    }.items():
        save_figure(draw_figure([panel], 7.2, 3.6), folder / f"{name}.svg")
