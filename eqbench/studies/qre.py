"""Branches of logit quantal response equilibria: what is on them and what they lead to."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from eqbench.continuation import QuantalResponses, ResponsePath
from eqbench.equilibria import Identifier
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_text
from eqbench.model.rational import rational
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree import FloatArray
from eqbench.registry import LoadedSolver, Registry
from eqbench.report.terminal import seconds, small
from eqbench.solver import obstacle_of, warm_up
from eqbench.spec import parse_spec
from eqbench.studies.branch import POLISHED, SAME_PAYOFFS, Branch, measured, write_points
from eqbench.studies.study_files import write_texts
from eqbench.studies.trace.tables import identity_text
from eqbench.text import printable

SCHEMA = "eqbench.qre/1"
PARAMETER = "lambda"
LEAST = 0.1  # lambda with which figures begin
PRIORS = ("uniform", "random")
POINTS, SUMMARY, PROFILES = "points.csv", "summary.json", "profiles"


@dataclass(frozen=True)
class QuantalRequest:
    """Which branches are followed, and how far.

    Attributes
    ----------
    game, solver : specs
    last : lambda at which branches end
    at : values of lambda at which there shall be points
    branches : how many branches begin at a prior drawn at random, beside the principal one
    seed : of the first of them; the others follow
    per_decade : least number of points of the principal branch for a factor of 10 in lambda,
        from 0.1 on; the steps of a solver may be longer than a figure wants them
    """

    game: str
    solver: str
    last: float
    at: tuple[float, ...] = ()
    branches: int = 0
    seed: int = 0
    per_decade: int = 0

    @property
    def grid(self) -> FloatArray:
        """Where the principal branch has points that nobody asked for by name, ascending."""
        decades = math.log10(max(self.last, LEAST) / LEAST)
        return np.geomspace(LEAST, self.last, math.ceil(decades * self.per_decade))[:-1]


@dataclass(frozen=True, eq=False)
class QuantalSetting:
    """A request with the game and the solver that it names."""

    request: QuantalRequest
    game: Game
    solver: LoadedSolver
    drawn: LoadedSolver

    @classmethod
    def of(
        cls, registry: Registry, request: QuantalRequest, *, max_nodes: int = DEFAULT_MAX_NODES
    ) -> QuantalSetting:
        """The game and the solver, which follows branches from a prior that it is given or draws.

        Raises
        ------
        UsageError
            If the solver follows no such branches, or does not take the game.
        SolverUnavailableError
            If it cannot run here.
        """
        outside = [value for value in request.at if not 0 < value <= request.last]
        if outside:
            raise UsageError(
                f"--at {outside[0]:g} lies beyond the end of the branch at {request.last:g}; "
                "follow it further with --to"
            )
        game = registry.load_game(request.game, max_nodes=max_nodes)
        spec = parse_spec(request.solver)
        entry = registry.solver_entry(spec)
        if not hasattr(registry.load_solver(spec).instance, "branch"):
            raise UsageError(
                f"{entry.name} does not follow branches of quantal response equilibria; logit does"
            )
        twice = {"stop_lambda", "prior"} & set(dict(spec.options))
        if twice:
            raise UsageError(
                f"{min(twice)} of the solver is set by --to and --branches; leave it out"
            )
        reached = spec.replace(stop_lambda=rational(request.last))
        solvers = [registry.load_solver(reached.replace(prior=prior)) for prior in PRIORS]
        obstacle = obstacle_of(solvers[0].instance, game)
        if obstacle is not None:
            status, reason = obstacle
            raise (SolverUnavailableError if status == "unavailable" else UsageError)(reason)
        return cls(request, game, *solvers)

    @cached_property
    def identifier(self) -> Identifier:
        """Names equilibria of the game."""
        return Identifier(self.game)


class Follower:
    """Follows the branches of a request one after another and keeps what they lead to.

    Parameters
    ----------
    folder : where the points of the principal branch and all profiles are written
    interrupted : asked again and again whether to stop
    tell : told in words how far it has come
    """

    def __init__(
        self,
        setting: QuantalSetting,
        folder: Path,
        interrupted: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.setting, self.folder = setting, folder
        self.interrupted, self.tell = interrupted, tell

    def document(self) -> dict[str, Any]:
        """Follow all branches, write the files, and return the summary.

        The summary is written after each branch, so that a break loses one at most.

        Raises
        ------
        StoreError
            If a file cannot be written.
        """
        setting, request = self.setting, self.setting.request
        setting.solver.instance.prepare(setting.game)
        warm_up(setting.game)
        entries: list[dict[str, Any]] = []
        document = self._written(entries)
        for seed in (None, *range(request.seed, request.seed + request.branches)):
            self.tell("principal branch" if seed is None else f"prior of seed {seed}")
            entries.append(self._entry(seed))
            document = self._written(entries)
            if self.interrupted():
                break
        return document

    def _written(self, entries: list[dict[str, Any]]) -> dict[str, Any]:
        """The summary of the branches so far, after it was written."""
        setting, request = self.setting, self.setting.request
        stopped = any(entry["interrupted"] for entry in entries)
        document = {
            "schema": SCHEMA,
            "game": setting.game.spec,
            "solver": setting.solver.spec,
            "players": list(setting.game.tree.players),
            "to": request.last,
            "finished": len(entries) == 1 + request.branches and not stopped,
            "branches": entries,
            "random": summary_of_random(entries[1:], request.last),
        }
        text = json.dumps(document, indent=2, allow_nan=False)
        write_texts(self.folder, {SUMMARY: f"{text}\n"})
        return document

    def _entry(self, seed: int | None) -> dict[str, Any]:
        """What a branch is and leads to, as JSON values; its profiles are written."""
        request, game = self.setting.request, self.setting.game
        solver = self.setting.solver if seed is None else self.setting.drawn
        responses: QuantalResponses = solver.instance
        wanted = request.at if seed is not None else (*request.at, *request.grid.tolist())
        rng = None if seed is None else np.random.default_rng(seed)
        before = time.process_time()
        path = responses.branch(game, at=wanted, rng=rng, interrupted=self.interrupted)
        traced_s = time.process_time() - before
        interrupted = self.interrupted()
        end = path.behavior[-1] if interrupted else responses.equilibrium(game, path)
        cpu_s = time.process_time() - before
        name = "principal" if seed is None else f"seed{seed}"
        if seed is None and len(path.lambdas) > 1:
            write_points(branch_of(game, path), self.folder / POINTS)
        asked = (*request.at, request.last)
        landings = [k for k in path.landings.tolist() if path.lambdas[k] in asked]
        return {
            "seed": seed,
            "points": len(path.lambdas),
            "lambda": float(path.lambdas[-1]),
            "ending": path.ending,
            "interrupted": interrupted,
            "max_regret": measured(game.tree, path.behavior[-1]).max_regret,
            "turns": path.lambdas[path.turns].tolist(),
            "traced_cpu_s": traced_s,
            "cpu_s": cpu_s,
            "at": [
                {"lambda": float(path.lambdas[k])}
                | self._profile(f"{name}-at{number}", path.behavior[k])
                for number, k in enumerate(landings, start=1)
            ],
            "equilibrium": self._profile(name, end, name_it=True),
        }

    def _profile(self, name: str, behavior: FloatArray, *, name_it: bool = False) -> dict[str, Any]:
        """A profile (A,) as the verifier sees it; it is written as JSON."""
        tree = self.setting.game.tree
        seen = measured(tree, behavior)
        text = profile_text(tree, seen.profile, self.setting.game.spec)
        (self.folder / PROFILES).mkdir(exist_ok=True)
        write_texts(self.folder / PROFILES, {f"{name}.json": text})
        found: dict[str, Any] = {
            "payoffs": seen.payoffs,
            "regrets": [float(regret) for regret in seen.figures.regrets],
            "max_regret": seen.max_regret,
            "profile": f"{PROFILES}/{name}.json",
        }
        if name_it:
            identity = self.setting.identifier.identify(seen.profile, seen.max_regret)
            found |= {
                "is_equilibrium": seen.is_equilibrium,
                "identity": identity and identity.to_json(),
            }
        return found


def summary_of_random(entries: Sequence[dict[str, Any]], last: float) -> dict[str, Any]:
    """What the branches from priors at random have in common, as JSON values."""
    ends = [entry["equilibrium"] for entry in entries if entry["equilibrium"]["is_equilibrium"]]
    distinct: list[list[float]] = []
    for end in ends:
        gaps = [np.abs(np.subtract(end["payoffs"], known)).max() for known in distinct]
        if all(gap > SAME_PAYOFFS for gap in gaps):
            distinct.append(end["payoffs"])
    names = Counter(end["identity"]["name"] for end in ends if end["identity"])
    return {
        "branches": len(entries),
        "arrived": sum(entry["lambda"] >= last for entry in entries),
        "with_turns": sum(bool(entry["turns"]) for entry in entries),
        "polished": len(ends),
        "distinct_payoffs": len(distinct),
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


MOST_ROWS = 20

_READ = (
    "Points with a lambda are quantal response equilibria; the last line is what the end of the "
    "branch leads to. Max regret is that of the verifier, in payoff units; ! marks more than "
    f"{POLISHED:g} of the payoff range, which is no equilibrium."
)
_RANDOM = (
    "Priors are drawn uniformly at every information set. Branches lead to some of the equilibria; "
    f"others may exist. Payoffs are distinct if they differ by more than {SAME_PAYOFFS:g}."
)


def print_quantal(document: Mapping[str, Any], console: Console) -> None:
    """Print what the summary says: the principal branch, then those from random priors."""
    players = document["players"]
    principal, drawn = document["branches"][0], document["branches"][1:]
    _say(f"Logit quantal response equilibria of {document['game']}", console, "bold")
    _say(_course(principal), console)
    table = _grid("lambda", *(f"u:{player}" for player in players), "max regret")
    table.add_column("identity", overflow="fold")
    for point in principal["at"]:
        table.add_row(f"{point['lambda']:,g}", *_figures(point))
    end = principal["equilibrium"]
    table.add_row("∞" if end["is_equilibrium"] else "end", *_figures(end))
    console.print(table)
    _say(_READ, console, "dim")
    if drawn:
        _print_random(document["random"], drawn, players, console)


def _print_random(
    random: Mapping[str, Any],
    entries: Sequence[Mapping[str, Any]],
    players: Sequence[str],
    console: Console,
) -> None:
    console.print()
    _say(f"Branches from priors at random: {random['branches']}", console, "bold")
    _say(
        f"{random['arrived']} arrived, {random['with_turns']} with turning points; "
        f"{random['polished']} lead to equilibria, with {random['distinct_payoffs']} distinct "
        "payoff vectors" + "".join(f"; {name}: {count}" for name, count in random["names"].items()),
        console,
    )
    table = _grid("seed", "lambda", "turns", *(f"u:{player}" for player in players), "max regret")
    table.add_column("identity", overflow="fold")
    for entry in entries[:MOST_ROWS]:
        table.add_row(
            str(entry["seed"]),
            f"{entry['lambda']:,g}",
            str(len(entry["turns"])),
            *_figures(entry["equilibrium"]),
        )
    console.print(table)
    if len(entries) > MOST_ROWS:
        _say(f"{len(entries) - MOST_ROWS} more in summary.json", console, "dim")
    _say(_RANDOM, console, "dim")


def _course(entry: Mapping[str, Any]) -> str:
    turns = len(entry["turns"])
    return (
        f"Principal branch: {entry['points']} points to lambda {entry['lambda']:,g}"
        f"{f', {turns} turning points' if turns else ''}, {seconds(entry['traced_cpu_s'])} of CPU; "
        f"{entry['ending']}"
    )


def _figures(point: Mapping[str, Any]) -> list[Text]:
    """Payoffs, regret and identity of a verified profile."""
    mark = "" if point.get("is_equilibrium", True) else " !"
    words = [f"{payoff:+z.6f}" for payoff in point["payoffs"]]
    words += [small(point["max_regret"]) + mark, identity_text(point.get("identity"))]
    return [Text(printable(word)) for word in words]


def _grid(*numeric: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in numeric:
        table.add_column(printable(heading), justify="right", no_wrap=True)
    return table


def _say(text: str, console: Console, style: str = "") -> None:
    console.print(Text(printable(text), style=style))
