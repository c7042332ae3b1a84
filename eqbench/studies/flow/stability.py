"""Which equilibria and other rest points of a game are stable under a flow."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import Struct

from eqbench.dynamics import Dynamics, Flow
from eqbench.equilibria import Identifier, known_sets
from eqbench.errors import UsageError, counted
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.profile_json import profile_from_json
from eqbench.report.rows import Column, Report, Table, table_of
from eqbench.studies.branch import POINTS, columns
from eqbench.studies.flow.points import append_rows
from eqbench.studies.flow.rest_points import (
    COUNTS,
    TOLERANCE,
    Looked,
    Search,
    SetStability,
    look,
    rest_points,
    verdicts,
)
from eqbench.studies.frame import Document, Drawn, Session, Study, call, legend
from eqbench.studies.requests import StabilityRequest
from eqbench.studies.resolve import by_name, games_of_flow, solver_for, value_of
from eqbench.text import cell_text

SCHEMA = "eqbench.stability/1"
_SHOWN = ("equilibrium", *COUNTS, "eigenvalues", "max_regret", "members", "verdict")


class StabilityPart(Struct, frozen=True, kw_only=True):
    """What was found at one value of the parameter."""

    equilibria: list[SetStability]
    rest_points: Search | None
    interrupted: bool


class StabilityDocument(Document, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """The stability of equilibria, and of other rest points, at each value of the parameter."""

    game: str
    solver: str
    players: list[str]
    parameter: str | None
    at: list[float | None]
    tolerance: float
    samples: int
    seed: int
    finished: bool
    equilibria: list[SetStability]
    rest_points: list[Search]

    def tables(self) -> Report:
        """Return a table of equilibria, and a sentence about each search."""
        title, several = f"Stability in {self.game} under {self.solver}", bool(self.at)
        searches = tuple(_searched(search, several=several) for search in self.rest_points)
        if not self.equilibria:
            return Report((Table(title, lines=searches),))
        notes = [line for entry in self.equilibria for line in _deviations(entry, several=several)]
        notes.append(legend("stability.eigenvalues", tolerance=self.tolerance))
        if not all(entry.is_equilibrium for entry in self.equilibria):
            notes.append("! is not an equilibrium.")
        table = table_of(self.equilibria, title, notes, names=_SHOWN)
        if several:
            at = Column(str(self.parameter), "number", identifies=True, layout="g")
            rows = (
                replace(row, values={at.title: entry.value, **row.values})
                for row, entry in zip(table.rows, self.equilibria, strict=True)
            )
            table = replace(table, columns=(at, *table.columns), rows=tuple(rows))
        return Report((table, Table("", lines=searches)) if searches else (table,))


class StabilityStudy(Study[StabilityRequest, StabilityPart, StabilityDocument]):
    """Look at published sets, given profiles and other rest points, at each value in turn."""

    def __init__(self, request: StabilityRequest, *, figures: bool = False) -> None:
        """Load the games and the solver, and look at the given profiles, which must be at rest."""
        self.request = request
        self.games = sorted(games_of_flow(request), key=lambda game: game.tree.payoffs.value or 0)
        self.solver = solver_for(request, self.games[0], request.solver, "flow")
        self._dynamics: Dynamics = self.solver.instance
        if request.profiles and request.at:
            raise UsageError(
                "a profile belongs to one value of the parameter; give that value in --game and "
                "leave out --at"
            )
        self._given = self._given_profiles()
        if not (self._given or request.rest_points or any(map(known_sets, self.games))):
            raise UsageError(
                f"no equilibria of {self.games[0].spec} were published; give some with --profile, "
                "or look for rest points with --rest-points"
            )

    def _given_profiles(self) -> dict[str, Looked]:
        if not self.request.profiles:
            return {}
        game = self.games[0]
        flow, found = self._dynamics.flow(game), {}
        for name, data in by_name(self.request.profiles).items():
            looked = look(game, flow, profile_from_json(game.tree, data).probabilities)
            if not looked.spectrum.is_rest_point:
                moves = _moves(game, flow, looked)
                raise UsageError(f"the profile {name} is not a rest point: {moves}")
            found[name] = looked
        return found

    def parts(self) -> list[str]:
        return [game.spec for game in self.games]

    def do(self, part: str, session: Session) -> StabilityPart:
        """Look at all there is at a value of the parameter; profiles are written as points."""
        game, request = self.games[self.parts().index(part)], self.request
        value, flow, identifier = value_of(game), self._dynamics.flow(game), Identifier(game)
        found = verdicts(game, flow, samples=request.samples, seed=request.seed)
        equilibria = [each.entry() for each in found]
        for name, looked in self._given.items():
            more = {"name": name, "value": value, "identity": looked.identity(identifier)}
            equilibria.append(looked.entry(SetStability, **more))
        profiles = [(each.name, each.looked[0]) for each in found] + [*self._given.items()]
        search: Search | None = None
        if request.rest_points:
            drawn = itertools.count()

            def stopped() -> bool:
                session.done(next(drawn) / request.rest_points)
                return session.interrupted()

            others, search = rest_points(game, flow, request.rest_points, request.seed, stopped)
            profiles += [(f"rest point {n}", looked) for n, looked in enumerate(others, start=1)]
        free, cell = Choices.of(game.tree).action, "" if value is None else repr(value)
        rows = [
            (cell, cell_text(name), *looked.payoffs, *looked.behavior[free].tolist())
            for name, looked in profiles
        ]
        # rows of a value at which the search was interrupted, and is repeated, go
        header = columns(game.tree, ("parameter", "name"))
        append_rows(session.folder / POINTS, header, rows, again=session.again)
        interrupted = search is not None and search.draws < request.rest_points
        return StabilityPart(equilibria=equilibria, rest_points=search, interrupted=interrupted)

    def conclude(self, parts: Sequence[StabilityPart], session: Session) -> StabilityDocument:
        request, game = self.request, self.games[0]
        return StabilityDocument(
            game=request.game if request.at else game.spec,
            solver=self.solver.spec,
            players=list(game.tree.players),
            parameter=game.tree.payoffs.parameter,
            at=[value_of(game) for game in self.games] if request.at else [],
            tolerance=TOLERANCE,
            samples=request.samples,
            seed=request.seed,
            finished=session.finished,
            equilibria=[entry for part in parts for entry in part.equilibria],
            rest_points=[part.rest_points for part in parts if part.rest_points],
        )

    def draw(self, folder: Path, document: StabilityDocument) -> Iterable[Drawn]:
        entries, words = document.equilibria, (document.game, document.parameter)
        yield from call("eqbench.plots.stability:draw_stability", entries, *words)


def _moves(game: Game, flow: Flow, looked: Looked) -> str:
    velocity = flow.frequency_velocity(looked.behavior)
    fastest = int(np.argmax(np.abs(velocity)))
    advice = "give all its digits, for example as ncp, logit or arclength have polished them"
    if looked.is_equilibrium:
        advice = (
            "so it is an equilibrium, but actions that are played where its own play never leads "
            "differ in value, or digits are missing; logit gives equilibria that rest"
        )
    return (
        f"the frequency of {action_labels(game.tree)[flow.choices.action[fastest]]} changes at "
        f"{velocity[fastest]:.3g} per unit of time, and {TOLERANCE * looked.spectrum.scale:.3g} is "
        f"rounding; its max regret is {looked.max_regret:.3g}: {advice}"
    )


# -- tables ---------------------------------------------------------------------------------------


def _deviations(entry: SetStability, *, several: bool) -> Iterator[str]:
    """Yield which members have another verdict than the one inside the set."""
    members = entry.members
    if not members:
        return
    name = f"{entry.name} at {entry.value:g}" if several else entry.name
    # of each verdict the first member that has it
    examples = {each.verdict: each for each in reversed(members.deviating)}
    for verdict, count in members.verdicts.items():
        if (where := examples.get(verdict)) is not None:
            figures = ", ".join(f"{key}={at:.4g}" for key, at in where.parameters.items())
            yield (
                f"* {name}: {count} of {members.examined} members: {verdict}, for example the "
                f"{where.place} {figures}"
            )
    if members.refuted:
        yield f"* {name}: {members.refuted} members left out, being no equilibria here"


def _searched(search: Search, *, several: bool) -> str:
    """Return how many rest points that are not equilibria a search found, in words."""
    at = f" at {search.value:g}" if several else ""
    found = f"{search.distinct} besides equilibria"
    if search.distinct:
        least = f"largest real part at least {search.least_growth:.3g}"
        found += f", {search.unstable} of them unstable ({least})"
    return f"Rest points{at}: {counted(search.draws, 'face')} searched; found {found}"
