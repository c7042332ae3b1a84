"""The equilibria that are played against each other, where they come from, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from eqbench.equilibria import Identifier, known_corners, known_sets
from eqbench.errors import UsageError, counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.report.terminal import small
from eqbench.store.stored_run import StoredRun
from eqbench.studies.crossplay.measure import exact_plan, rationals, same_plans
from eqbench.verification import UNRESOLVED, verify

NO_CORNERS = "its constraints are not linear, or it is irrational"
ONE_RUN = ("iterate", "average")  # claims of which a run has one each


class AboveTolerance(TypedDict):
    """Candidates of runs that are no equilibria, by the better one of iterate and average."""

    candidates: int
    cells: int
    solvers: list[str]  # as typed
    smallest_max_regret: float  # in payoff units, as what is allowed
    allowed: float


class LeftOut(TypedDict):
    """Candidates and sets left out besides copies of entries, as the summary says it."""

    above_tolerance: AboveTolerance | None
    same_run: int  # iterates and averages that are of the same cell as a better one
    most: list[dict[str, Any]]  # the `name`, or None, and `count` of what --most drops
    without_corners: list[dict[str, str]]  # `name` of a published set, and the `reason`


def left_out_notes(left_out: LeftOut) -> list[str]:
    """One sentence for each reason that applies."""
    notes = [
        f"no corners of {item['name']}: {item['reason']}" for item in left_out["without_corners"]
    ]
    if (above := left_out["above_tolerance"]) is not None:
        notes.append(
            f"{counted(above['candidates'], 'candidate')} above the tolerance, in "
            f"{counted(above['cells'], 'cell')} of {', '.join(above['solvers'])}: the smallest max "
            f"regret is {small(above['smallest_max_regret'])} (allowed: {small(above['allowed'])})"
        )
    if left_out["same_run"]:
        notes.append(
            f"{counted(left_out['same_run'], 'candidate')} beside a better one of the same cell: "
            "of the last iterate and the average of a run only the better one counts"
        )
    if dropped := left_out["most"]:
        names = [
            f"{item['count']} {'of ' + item['name'] if item['name'] else 'without a name'}"
            for item in dropped
        ]
        total = sum(item["count"] for item in dropped)
        notes.append(f"{total} by --most: {', '.join(names)}")
    return [f"left out: {note}" for note in notes]


def counted_by_name(names: Iterable[str | None]) -> list[dict[str, Any]]:
    """Count how often each name occurs, in the order of their first occurrence."""
    return [{"name": name, "count": count} for name, count in Counter(names).items()]


@dataclass(frozen=True, eq=False)
class Found:
    """An equilibrium and where it was found."""

    source: str  # a solver with its seed, a file, or a corner of a known family
    profile: BehaviorProfile
    identity: Mapping[str, Any] | None = None  # as the record of a run says it

    @property
    def name(self) -> str | None:
        """Name of the known equilibrium or of the cluster, if it has one."""
        return self.identity["name"] if self.identity else None


def equilibria_of_runs(
    runs: Sequence[StoredRun], game: Game, tolerance: float
) -> tuple[list[Found], AboveTolerance | None, int]:
    """Candidates of a game whose measured max regret is at most `tolerance`, and what is left out.

    The last iterate and the average of a cell are of one run, and only the better one is taken;
    the number says how many are worse. `tolerance` is in payoff units. UsageError if there is no
    equilibrium, or a profile cannot be read.
    """
    cells = [(run, cell) for run in runs for cell in run.cells if cell.game_spec == game.spec]
    good, worse, candidates, same_run = [], [], 0, 0
    for run, cell in cells:
        items = [(k, item) for k, item in enumerate(cell.equilibria) if item.profile is not None]
        ends = [item for _, item in items if item.claim in ONE_RUN]
        better = min(ends, key=lambda item: item.max_regret, default=None)
        kept = [(k, e) for k, e in items if e.claim not in ONE_RUN or e is better]
        candidates, same_run = candidates + len(items), same_run + len(items) - len(kept)
        good += [(run, cell, k, item) for k, item in kept if item.max_regret <= tolerance]
        worse += [(cell, item.max_regret) for _, item in kept if item.max_regret > tolerance]
    above: AboveTolerance | None = None
    if worse:
        above = AboveTolerance(
            candidates=len(worse),
            cells=len({id(cell) for cell, _ in worse}),
            solvers=list(dict.fromkeys(cell.solver for cell, _ in worse)),
            smallest_max_regret=min(regret for _, regret in worse),
            allowed=tolerance,
        )
    if not good:
        least = f"; the smallest max regret is {above['smallest_max_regret']:.2g}" if above else ""
        raise UsageError(
            f"no equilibria of {game.spec} in {', '.join(str(run.path) for run in runs)}: "
            f"{candidates} candidates in {len(cells)} cells{least} "
            f"(allowed: {tolerance:.2g}); run solvers for longer, or raise --tolerance"
        )
    equilibria = []
    for run, cell, rank, item in good:
        profile = profile_from_json(game.tree, read_profile(str(run.path / str(item.profile))))
        folder = f"{run.path.name}: " if len(runs) > 1 else ""
        seed = "" if cell.seed is None else f"/{cell.seed}"
        source = f"{folder}{cell.solver}{seed}{f' #{rank}' if rank else ''}"
        equilibria.append(Found(source, profile, item.identity))
    return equilibria, above, same_run


def recognized(
    identifier: Identifier, named: Iterable[tuple[str, BehaviorProfile]], tolerance: float
) -> list[Found]:
    """Entries for profiles with their sources, and which known equilibria they are.

    UsageError if a player gains more than `tolerance` payoff units by deviating, or nobody can
    tell.
    """
    found = []
    for source, profile in named:
        measured = verify(identifier.game.tree, profile)
        if not measured.resolved:
            raise UsageError(f"nobody can tell whether {source} is an equilibrium; {UNRESOLVED}")
        regret = float(measured.max_regret)
        if not regret <= tolerance:
            raise UsageError(
                f"{source} is no equilibrium: a player gains {regret:.2g} by deviating "
                f"(allowed: {tolerance:.2g}); leave it out, or raise --tolerance"
            )
        identity = identifier.identify(profile, regret)
        found.append(Found(source, profile, identity.to_json() if identity else None))
    return found


def corners(game: Game) -> tuple[list[tuple[str, BehaviorProfile]], list[dict[str, str]]]:
    """Corners of the published sets by name, and the sets without; UsageError if there are none."""
    found = known_corners(game)
    names = dict.fromkeys(known.name for known in known_sets(game))
    missing = [
        {"name": name, "reason": NO_CORNERS}
        for name in names
        if not any(label == name or label.startswith(f"{name} corner ") for label, _ in found)
    ]
    if not found:
        reason = (
            f"the known equilibria of {game.spec} have no corners ({', '.join(names)})"
            if missing
            else f"no equilibria of {game.spec} are known"
        )
        raise UsageError(f"{reason}; leave out --known")
    return found, missing


def without_copies(
    game: Game, found: Sequence[Found], *, exact: bool
) -> tuple[list[Found], list[tuple[Found, Found]]]:
    """Entries whose realization plans differ, and pairs of a copy and the entry that it repeats.

    Plans count as the same if no weight differs by more than 1e-6; with `exact` they must be
    equal as rationals. What players would do after own moves that they never make does not
    matter: no payoff and no regret depends on it.
    """
    form = game.sequence_form
    if exact:
        plans = [exact_plan(form, rationals(item.profile)) for item in found]
        numbers = [plans.index(plan) for plan in plans]
    else:
        weights = [RealizationPlan.of(form, item.profile.probabilities).weights for item in found]
        numbers = same_plans(np.array(weights)).tolist()
    first: dict[int, Found] = {}
    for item, number in zip(found, numbers, strict=True):
        first.setdefault(number, item)
    of = [(item, first[number]) for item, number in zip(found, numbers, strict=True)]
    return list(first.values()), [(item, kept) for item, kept in of if item is not kept]


def selection(found: Sequence[Found], most: int) -> list[Found]:
    """At most so many entries, in their order: of each name in turn the first that is left.

    So what has been found once is kept beside what has been found often.
    """
    count: Counter[str] = Counter()
    turns = []
    for item in found:
        name = item.name or item.source
        count[name] += 1
        turns.append(count[name])
    chosen = np.argsort(turns, kind="stable")[:most]
    return [found[place] for place in sorted(chosen.tolist())]
