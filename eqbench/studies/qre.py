"""Branches of logit quantal response equilibria: what is on them and what they lead to."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.continuation import QuantalResponses, ResponsePath
from eqbench.equilibria import Identifier
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.rational import rational
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.solver import warm_up
from eqbench.spec import parse_spec
from eqbench.studies.branch import (
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
    Drawn,
    Session,
    Study,
    call,
    legend,
    profile_columns,
    profile_values,
)
from eqbench.studies.requests import QuantalRequest
from eqbench.studies.resolve import solver_for
from eqbench.text import seconds

SCHEMA = "eqbench.qre/1"
PARAMETER = "lambda"
LEAST = 0.1  # lambda with which figures begin
POINTS_PER_DECADE = 20  # of figures; the steps of a solver may be longer
PRIORS = ("uniform", "random")
MOST_ROWS = 20


class QuantalStudy(Study[QuantalRequest]):
    """Follow the branches of a request one after another and keep what they lead to."""

    request_type = QuantalRequest

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

    def is_done(self, part: str, record: Mapping[str, Any], folder: Path) -> bool:
        """Return whether a branch is whole, and has the points that figures need if it is drawn."""
        whole = super().is_done(part, record, folder)
        if not whole or not self.figures or record["points"] < 2:
            return whole
        file, passed = _points_of(part, folder), [v for v in self._grid() if v < record["lambda"]]
        if not file.exists():
            return False
        return bool(np.isin(passed, read_points(self.game, file, PARAMETER).values).all())

    def do(self, part: str, session: Session) -> dict[str, Any]:
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
        identity = self.identifier.identify(seen.profile, seen.max_regret)
        return {
            "seed": seed,
            "points": len(path.lambdas),
            "lambda": float(path.lambdas[-1]),
            "ending": path.ending,
            "check": path.check,
            "interrupted": interrupted,
            "max_regret": measured(game.tree, path.behavior[-1]).max_regret,
            "turns": path.lambdas[path.turns].tolist(),
            "traced_cpu_s": traced_s,
            "cpu_s": cpu_s,
            "at": [
                {"lambda": float(path.lambdas[k])}
                | measured(game.tree, path.behavior[k]).write(
                    game, session.folder, f"{part}-at{number}"
                )
                for number, k in enumerate(landings, start=1)
            ],
            "equilibrium": seen.write(game, session.folder, part)
            | {"is_equilibrium": seen.is_equilibrium, "identity": identity and identity.to_json()},
        }

    def summary(self, records: Sequence[dict[str, Any]], *, finished: bool) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "game": self.game.spec,
            "solver": self.solver.spec,
            "players": list(self.game.tree.players),
            "to": self.request.last,
            "finished": finished,
            "branches": list(records),
            "random": _in_common(records[1:], self.request.last),
        }

    def report(self, document: Mapping[str, Any]) -> Report:
        """Tables of the principal branch, then of those from random priors."""
        title = f"Logit quantal response equilibria of {document['game']}"
        if not document["branches"]:
            return Report((Table(title, lines=("no branch yet",)),))
        principal, drawn = document["branches"][0], document["branches"][1:]
        end, players, turns = principal["equilibrium"], document["players"], len(principal["turns"])
        course = (
            f"Principal branch ({principal.get('check') or 'not checked'}): "
            f"{principal['points']} points to lambda {principal['lambda']:,g}"
            f"{f', {turns} turning points' if turns else ''}, "
            f"{seconds(principal['traced_cpu_s'])} of CPU; {principal['ending']}"
        )
        points = [(f"{point['lambda']:,g}", point) for point in principal["at"]]
        points.append(("∞" if end["is_equilibrium"] else "end", end))
        first = Table(
            title,
            (Column("lambda", "number", identifies=True), *profile_columns(players)),
            tuple(Row(name, {"lambda": name, **profile_values(p, players)}) for name, p in points),
            notes=(legend("qre.points", polished=POLISHED),),
            lines=(course,),
        )
        return Report((first, _of_random(document, drawn)) if drawn else (first,))

    def draw(self, folder: Path, document: Mapping[str, Any]) -> Iterable[Drawn]:
        if document["branches"][0]["points"] < 2:
            yield "nothing is drawn: the branch has no two points yet"
        else:
            yield from call("eqbench.plots.branches:draw_quantal", self, folder)


def _points_of(part: str, folder: Path) -> Path:
    return folder / (POINTS if part == "principal" else f"points-{part}.csv")


def _in_common(entries: Sequence[dict[str, Any]], last: float) -> dict[str, Any]:
    """What branches from priors at random have in common, as JSON values."""
    ends = [entry["equilibrium"] for entry in entries if entry["equilibrium"]["is_equilibrium"]]
    names = Counter(end["identity"]["name"] for end in ends if end["identity"])
    return {
        "branches": len(entries),
        "arrived": sum(entry["lambda"] >= last for entry in entries),
        "with_turns": sum(bool(entry["turns"]) for entry in entries),
        "polished": len(ends),
        "distinct_payoffs": len(distinct_payoffs(end["payoffs"] for end in ends)),
        "names": dict(sorted(names.items())),
    }


def branch_of(game: Game, path: ResponsePath) -> Branch:
    """A path as figures and tables of branches take it, with lambda as the parameter."""
    model = game.payoff_model()
    free = path.behavior[:, Choices.of(game.tree).action]
    steps = np.hypot(np.linalg.norm(np.diff(free, axis=0), axis=1), np.diff(path.lambdas))
    payoffs = np.array([model.expected_payoffs(row) for row in path.behavior])
    arclength = np.concatenate(([0.0], np.cumsum(steps)))
    return Branch(game, PARAMETER, path.lambdas, arclength, free, payoffs)


def _of_random(document: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> Table:
    random, players, rows = document["random"], document["players"], []
    for entry in entries[:MOST_ROWS]:
        named = {"seed": entry["seed"], "lambda": entry["lambda"], "turns": len(entry["turns"])}
        values = named | profile_values(entry["equilibrium"], players)
        rows.append(Row(f"seed {entry['seed']}", values))
    more = len(entries) - MOST_ROWS
    sentence = (
        f"{random['arrived']} arrived, {random['with_turns']} with turning points; "
        f"{random['polished']} lead to equilibria, with {random['distinct_payoffs']} distinct "
        "payoff vectors" + "".join(f"; {name}: {count}" for name, count in random["names"].items())
    )
    columns = (
        Column("seed", "count", identifies=True),
        Column("lambda", "number", layout=",g"),
        Column("turns", "count"),
        *profile_columns(players),
    )
    title = f"Branches from priors at random: {random['branches']}"
    notes = (
        *([f"{more} more in summary.json"] if more > 0 else []),
        legend("qre.random", same=SAME_PAYOFFS),
    )
    return Table(title, columns, tuple(rows), notes, lines=(sentence,))
