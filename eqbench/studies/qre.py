"""Branches of logit quantal response equilibria: what is on them and what they lead to."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Struct, field

from eqbench.continuation import QuantalResponses, ResponsePath
from eqbench.equilibria import Identifier
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.rational import rational
from eqbench.report.rows import INLINE, Column, Report, Table, table_of
from eqbench.solver import warm_up
from eqbench.spec import parse_spec
from eqbench.studies.branch import (
    LAMBDA,
    POINTS,
    POLISHED,
    SAME_PAYOFFS,
    Branch,
    distinct_payoffs,
    measured,
    read_points,
    write_points,
)
from eqbench.studies.frame import (
    Document,
    Drawn,
    Identified,
    ProfileRow,
    Session,
    Study,
    call,
    legend,
)
from eqbench.studies.requests import QuantalRequest
from eqbench.studies.resolve import solver_for
from eqbench.text import seconds

SCHEMA = "eqbench.qre/1"
LEAST = 0.1  # lambda with which figures begin
POINTS_PER_DECADE = 20  # of figures; the steps of a solver may be longer
PRIORS = ("uniform", "random")
MOST_ROWS = 20


class Ending(ProfileRow, frozen=True, kw_only=True):
    """What the end of a branch leads to, as far as it could be polished."""

    regrets: list[float]
    profile: str
    is_equilibrium: bool
    identity: Identified


class Point(ProfileRow, frozen=True, kw_only=True):
    """A point of a branch at a requested lambda."""

    lambda_: float = field(name="lambda")
    regrets: list[float]
    profile: str


class QuantalBranch(Struct, frozen=True, kw_only=True):
    """A branch; `seed` is that of its prior, None for the principal branch."""

    seed: Annotated[int | None, Column(kind="count", identifies=True)]
    points: int
    lambda_: Annotated[float, Column("lambda", "number", layout=",g")] = field(name="lambda")
    ending: str
    check: str = ""
    interrupted: bool
    max_regret: float
    turns: Annotated[list[float], Column(kind="count", of=lambda row: len(row.turns))]
    traced_cpu_s: float
    cpu_s: float
    at: list[Point]
    equilibrium: Annotated[Ending, INLINE]


class InCommon(Struct, frozen=True, kw_only=True):
    """What branches from priors at random have in common; `names` are those of their ends."""

    branches: int
    arrived: int
    with_turns: int
    polished: int
    distinct_payoffs: int
    names: dict[str, int]


class _Shown(Struct):
    """A point or the ending of the principal branch in its table."""

    lambda_: Annotated[str, Column("lambda", "number", identifies=True)]
    profile: Annotated[Point | Ending, INLINE]


class QuantalDocument(Document, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """The branches of a game, those from priors at random last."""

    game: str
    solver: str
    players: list[str]
    to: float
    finished: bool
    branches: list[QuantalBranch]
    random: InCommon

    def tables(self) -> Report:
        """Tables of the principal branch, then of those from random priors."""
        title = f"Logit quantal response equilibria of {self.game}"
        if not self.branches:
            return Report((Table(title, lines=("no branch yet",)),))
        principal, *drawn = self.branches
        turns, end = len(principal.turns), principal.equilibrium
        course = (
            f"Principal branch ({principal.check or 'not checked'}): "
            f"{principal.points} points to lambda {principal.lambda_:,g}"
            f"{f', {turns} turning points' if turns else ''}, "
            f"{seconds(principal.traced_cpu_s)} of CPU; {principal.ending}"
        )
        shown: list[Any] = [_Shown(f"{point.lambda_:,g}", point) for point in principal.at]
        shown.append(_Shown("∞" if end.is_equilibrium else "end", end))
        notes = [legend("qre.points", polished=POLISHED)]
        first = table_of(shown, title, notes, lines=[course], players=self.players)
        return Report((first, self._of_random(drawn)) if drawn else (first,))

    def _of_random(self, drawn: Sequence[QuantalBranch]) -> Table:
        random, more = self.random, len(drawn) - MOST_ROWS
        sentence = (
            f"{random.arrived} arrived, {random.with_turns} with turning points; "
            f"{random.polished} lead to equilibria, with {random.distinct_payoffs} distinct "
            "payoff vectors" + "".join(f"; {name}: {n}" for name, n in random.names.items())
        )
        notes = [f"{more} more in summary.json"] if more > 0 else []
        return table_of(
            drawn[:MOST_ROWS],
            f"Branches from priors at random: {random.branches}",
            [*notes, legend("qre.random", same=SAME_PAYOFFS)],
            lines=[sentence],
            players=self.players,
        )


class QuantalStudy(Study[QuantalRequest, QuantalBranch, QuantalDocument]):
    """Follow the branches of a request one after another and keep what they lead to."""

    def __init__(self, request: QuantalRequest, *, figures: bool = False) -> None:
        """Load the game and the solver, which follows branches from a prior given or drawn.

        UsageError if it follows none, or does not take the game; SolverUnavailableError if it
        cannot run here.
        """
        self.request, self.figures = request, figures
        self.at = tuple(sorted(set(request.at)))
        if self.at and self.at[-1] > request.last:
            raise UsageError(
                f"--at {self.at[-1]:g} lies beyond the end of the branch at {request.last:g}; "
                "follow it further with --to"
            )
        registry = request.registry()
        self.game = registry.load_game(request.game, max_nodes=request.max_nodes)
        self.identifier = Identifier(self.game)
        spec = parse_spec(request.solver)
        solver_for(request, self.game, spec, "branch")
        twice = {"stop_lambda", "prior"} & set(dict(spec.options))
        if twice:
            raise UsageError(
                f"{min(twice)} of the solver is set by --to and --branches; leave it out"
            )
        reached = spec.replace(stop_lambda=rational(request.last))
        self.solver, self.drawn = (
            registry.load_solver(reached.replace(prior=prior)) for prior in PRIORS
        )
        if figures:
            call("eqbench.plots.branches:frequency_table", self.game.tree)

    def _grid(self) -> list[float]:
        """Points of branches for figures, besides the requested ones."""
        if not self.figures:
            return []
        decades = math.log10(max(self.request.last, LEAST) / LEAST)
        points = np.geomspace(LEAST, self.request.last, math.ceil(decades * POINTS_PER_DECADE))
        return [float(point) for point in points[:-1]]

    def parts(self) -> list[str]:
        first, count = self.request.seed, self.request.branches
        return ["principal", *(f"seed{seed}" for seed in range(first, first + count))]

    def is_done(self, part: str, found: QuantalBranch, session: Session) -> bool:
        """Return whether a branch has the points that figures need, if it is drawn."""
        if not self.figures or found.points < 2:
            return True
        file = _points_of(part, session.folder)
        passed = [value for value in self._grid() if value < found.lambda_]
        if not file.exists():
            return False
        return bool(np.isin(passed, read_points(self.game, file, LAMBDA).values).all())

    def do(self, part: str, session: Session) -> QuantalBranch:
        """Follow a branch; its profiles are written, and its points if they are drawn."""
        game, principal = self.game, part == "principal"
        self.solver.instance.prepare(game)
        warm_up(game)
        seed = None if principal else int(part.removeprefix("seed"))
        rng = None if principal else np.random.default_rng(seed)
        responses: QuantalResponses = (self.solver if principal else self.drawn).instance
        before = time.process_time()
        wanted = (*self.at, *self._grid())
        path = responses.branch(game, at=wanted, rng=rng, interrupted=session.interrupted)
        traced_s = time.process_time() - before
        interrupted = session.interrupted()
        end = path.behavior[-1] if interrupted else responses.equilibrium(game, path)
        cpu_s = time.process_time() - before
        if (principal or self.figures) and len(path.lambdas) > 1:
            write_points(branch_of(game, path), _points_of(part, session.folder))
        wanted = (*self.at, self.request.last)
        landings = [k for k in path.landings.tolist() if path.lambdas[k] in wanted]
        seen = measured(game.tree, end)
        return QuantalBranch(
            seed=seed,
            points=len(path.lambdas),
            lambda_=float(path.lambdas[-1]),
            ending=path.ending,
            check=path.check,
            interrupted=interrupted,
            max_regret=measured(game.tree, path.behavior[-1]).max_regret,
            turns=path.lambdas[path.turns].tolist(),
            traced_cpu_s=traced_s,
            cpu_s=cpu_s,
            at=[
                Point(
                    lambda_=float(path.lambdas[k]),
                    **measured(game.tree, path.behavior[k]).write(
                        game, session.folder, f"{part}-at{number}"
                    ),
                )
                for number, k in enumerate(landings, start=1)
            ],
            equilibrium=Ending(
                **seen.write(game, session.folder, part),
                is_equilibrium=seen.is_equilibrium,
                identity=seen.identity(self.identifier),
            ),
        )

    def conclude(self, parts: Sequence[QuantalBranch], session: Session) -> QuantalDocument:
        return QuantalDocument(
            game=self.game.spec,
            solver=self.solver.spec,
            players=list(self.game.tree.players),
            to=self.request.last,
            finished=session.finished,
            branches=list(parts),
            random=_in_common(parts[1:], self.request.last),
        )

    def draw(self, folder: Path, document: QuantalDocument) -> Iterable[Drawn]:
        if document.branches[0].points < 2:
            yield "nothing is drawn: the branch has no two points yet"
        else:
            yield from call(
                "eqbench.plots.branches:draw_quantal", self.game, folder, self.request.game
            )


def _points_of(part: str, folder: Path) -> Path:
    return folder / (POINTS if part == "principal" else f"points-{part}.csv")


def _in_common(branches: Sequence[QuantalBranch], last: float) -> InCommon:
    ends = [each.equilibrium for each in branches if each.equilibrium.is_equilibrium]
    names = Counter(end.identity["name"] for end in ends if end.identity)
    return InCommon(
        branches=len(branches),
        arrived=sum(each.lambda_ >= last for each in branches),
        with_turns=sum(bool(each.turns) for each in branches),
        polished=len(ends),
        distinct_payoffs=len(distinct_payoffs(end.payoffs for end in ends)),
        names=dict(sorted(names.items())),
    )


def branch_of(game: Game, path: ResponsePath) -> Branch:
    """A path as figures and tables of branches take it, with lambda as the parameter."""
    model = game.payoff_model()
    free = path.behavior[:, Choices.of(game.tree).action]
    steps = np.hypot(np.linalg.norm(np.diff(free, axis=0), axis=1), np.diff(path.lambdas))
    payoffs = np.array([model.expected_payoffs(row) for row in path.behavior])
    arclength = np.concatenate(([0.0], np.cumsum(steps)))
    return Branch(game, LAMBDA, path.lambdas, arclength, free, payoffs)
