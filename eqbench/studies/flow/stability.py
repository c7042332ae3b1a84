"""Say which equilibria and other rest points of a game are stable under a flow."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.dynamics import Dynamics, Flow
from eqbench.equilibria import Identifier, known_sets
from eqbench.errors import UsageError, counted
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.profile_json import profile_from_json
from eqbench.report.naming import identity_text
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.studies.branch import POINTS, columns
from eqbench.studies.flow.points import append_rows
from eqbench.studies.flow.rest_points import (
    COUNTS,
    STABLE,
    TOLERANCE,
    UNSTABLE,
    Looked,
    entries,
    look,
    rest_points,
    verdicts,
)
from eqbench.studies.frame import Drawn, Session, Study, call, legend
from eqbench.studies.requests import StabilityRequest
from eqbench.studies.resolve import by_name, games_of_flow, solver_for, value_of
from eqbench.text import cell_text

SCHEMA = "eqbench.stability/1"
_VERDICTS = {UNSTABLE: "unstable", STABLE: "stable"}
_COUNTED = dict(zip(("unstable", "oscillating", "zero", "stable"), COUNTS, strict=True))


class StabilityStudy(Study[StabilityRequest, dict[str, Any], dict[str, Any]]):
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

    def do(self, part: str, session: Session) -> dict[str, Any]:
        """Look at all there is at a value of the parameter; profiles are written as points."""
        game, request = self.games[self.parts().index(part)], self.request
        value, flow = value_of(game), self._dynamics.flow(game)
        found = verdicts(game, flow, samples=request.samples, seed=request.seed)
        equilibria = [each.to_json() for each in found]
        equilibria += [_given_json(game, name, looked) for name, looked in self._given.items()]
        profiles = [(each.name, each.looked[0]) for each in found] + [*self._given.items()]
        resting: dict[str, Any] | None = None
        if request.rest_points:
            drawn = itertools.count()

            def stopped() -> bool:
                session.done(next(drawn) / request.rest_points)
                return session.interrupted()

            others, figures = rest_points(game, flow, request.rest_points, request.seed, stopped)
            resting = {"value": value} | figures | {"points": entries(game, others)}
            profiles += [(f"rest point {n}", looked) for n, looked in enumerate(others, start=1)]
        free, cell = Choices.of(game.tree).action, "" if value is None else repr(value)
        rows = [
            (cell, cell_text(name), *looked.payoffs, *looked.behavior[free].tolist())
            for name, looked in profiles
        ]
        # rows of a value at which the search was interrupted, and is repeated, go
        header = columns(game.tree, ("parameter", "name"))
        append_rows(session.folder / POINTS, header, rows, again=session.again)
        return {
            "equilibria": equilibria,
            "rest_points": resting,
            "interrupted": resting is not None and resting["draws"] < request.rest_points,
        }

    def conclude(self, parts: Sequence[dict[str, Any]], session: Session) -> dict[str, Any]:
        records, finished = parts, session.finished
        request, game = self.request, self.games[0]
        return {
            "schema": SCHEMA,
            "game": request.game if request.at else game.spec,
            "solver": self.solver.spec,
            "players": list(game.tree.players),
            "parameter": game.tree.payoffs.parameter,
            "at": [value_of(game) for game in self.games] if request.at else [],
            "tolerance": TOLERANCE,
            "samples": request.samples,
            "seed": request.seed,
            "finished": finished,
            "equilibria": [entry for record in records for entry in record["equilibria"]],
            "rest_points": [r["rest_points"] for r in records if r["rest_points"]],
        }

    @staticmethod
    def report(document: Mapping[str, Any]) -> Report:
        title = f"Stability in {document['game']} under {document['solver']}"
        equilibria, several = document["equilibria"], bool(document["at"])
        searches = tuple(_searched(search, several=several) for search in document["rest_points"])
        if not equilibria:
            return Report((Table(title, lines=searches),))
        at = Column(document["parameter"], "number", identifies=True, layout="g")
        columns = (
            *([at] if several else []),
            Column("equilibrium", identifies=True),
            *(Column(title, "count") for title in _COUNTED),
            Column("max re", "number", dispensable=3, layout=".3g"),
            Column("max regret", "small", dispensable=1),
            Column("members", "number", dispensable=2),
            Column("verdict"),
        )
        notes = [line for entry in equilibria for line in _deviations(entry, several=several)]
        notes.append(legend("stability.eigenvalues", tolerance=document["tolerance"]))
        if not all(entry["is_equilibrium"] for entry in equilibria):
            notes.append("! is not an equilibrium.")
        rows = tuple(_equilibrium(document, entry) for entry in equilibria)
        table = Table(title, columns, rows, notes=tuple(notes))
        return Report((table, Table("", lines=searches)) if searches else (table,))

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Drawn]:
        yield from call("eqbench.plots.stability:draw_stability", document)


def _given_json(game: Game, name: str, looked: Looked) -> dict[str, Any]:
    identity = Identifier(game).identify(looked.profile, looked.max_regret)
    found = {"name": name, "value": value_of(game), **looked.to_json()}
    return found | {"identity": identity and identity.to_json()}


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


def _equilibrium(document: Mapping[str, Any], entry: Mapping[str, Any]) -> Row:
    growth = max((pair[0] for pair in entry["eigenvalues"]), default=0.0)
    identity, members = entry.get("identity"), entry.get("members")
    words = [entry["name"], f"= {identity_text(identity)}" if identity else ""]
    words += ["" if entry["is_equilibrium"] else "!"]
    cells = {
        document["parameter"]: entry["value"],
        "equilibrium": " ".join(filter(None, words)),
        **{title: entry[key] for title, key in _COUNTED.items()},
        "max re": growth if abs(growth) > document["tolerance"] * entry["scale"] else 0,
        "max regret": entry["max_regret"],
        "members": members and f"{members['examined']}{'' if members['same_everywhere'] else ' *'}",
        "verdict": _VERDICTS.get(entry["verdict"], "centre"),
    }
    return Row(entry["name"], cells)


def _deviations(entry: Mapping[str, Any], *, several: bool) -> Iterator[str]:
    """Say which members have another verdict than the one inside the set."""
    members = entry.get("members")
    if members is None:
        return
    name = f"{entry['name']} at {entry['value']:g}" if several else entry["name"]
    # of each verdict the first member that has it
    examples = {each["verdict"]: each for each in reversed(members["deviating"])}
    for verdict, count in members["verdicts"].items():
        if (where := examples.get(verdict)) is not None:
            figures = ", ".join(f"{key}={at:.4g}" for key, at in where["parameters"].items())
            yield (
                f"* {name}: {count} of {members['examined']} members: {verdict}, for example the "
                f"{where['place']} {figures}"
            )
    if members["refuted"]:
        yield f"* {name}: {members['refuted']} members left out, being no equilibria here"


def _searched(search: Mapping[str, Any], *, several: bool) -> str:
    """Say how many rest points that are not equilibria a search found."""
    at = f" at {search['value']:g}" if several else ""
    found = f"{search['distinct']} besides equilibria"
    if search["distinct"]:
        least = f"largest real part at least {search['least_growth']:.3g}"
        found += f", {search['unstable']} of them unstable ({least})"
    return f"Rest points{at}: {counted(search['draws'], 'face')} searched; found {found}"
