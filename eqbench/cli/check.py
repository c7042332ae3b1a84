"""`eqbench check`: does a game or a solver keep its contract, does a file prove what it claims?"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put, put_json
from eqbench.errors import UsageError, counted, first_of
from eqbench.registry import NameOptions
from eqbench.requests import EITHER, GAME, Json, Kind, Option
from eqbench.text import printable, shortened

if TYPE_CHECKING:
    from eqbench.model.game import Game


@dataclass(frozen=True)
class CheckRequest(NameOptions):
    """Run the contract suite on a game or a solver, for example on one of your own.

    Of a solver: reproducible, within its budget, no false claims, and so on. Every attempt runs
    in a process of its own, so that a solver that crashes or hangs only breaks a promise. It takes
    about ten seconds. Of a game: reproducible, tree and arrays agree, profiles survive, and so on;
    choose small options, since some checks take long on large games.

    ``eqbench check proof FILE`` checks a proof that a list of equilibria is complete, by integers
    and the tree of the game alone. The game is the one that the file names, unless given.

    Exit code: 0 all promises kept or proof accepted, 1 otherwise, 2 usage.
    """

    spec: Annotated[str, Option("Game or solver to check, or `proof`.", EITHER, argument=True)]
    file: Annotated[
        str, Option("File of a proof.", Kind("FILE", completed="file"), argument=True)
    ] = ""
    games: Annotated[
        tuple[str, ...],
        Option("Try a solver on this game instead of the usual five.", GAME, "game"),
    ] = ()
    as_json: Json = False


@command(CheckRequest)
def check(request: CheckRequest) -> int:
    from eqbench.testing import game_suite, solver_suite

    spec, plugins, registry = request.spec, request.plugins, request.registry()
    if spec == "proof":
        return _check_proof(request)
    if request.file:
        raise UsageError(f"got {spec} and {request.file}; give one game or solver, or proof FILE")
    kind = registry.entry(spec).kind
    for game in request.games:
        registry.game_entry(game)
    if kind == "solver":
        games = request.games or solver_suite.GAMES
        results = solver_suite.check_solver(spec, games=games, plugins=plugins, isolated=True)
    elif request.games:
        raise UsageError(f"{spec} is a game, and --game is for a solver; leave it out")
    else:
        results = game_suite.check_game(spec, plugins=plugins, isolated=True)
    done = []
    for result in results:
        done.append(result)
        if not request.as_json:
            put(str(result))
    broken = sum(result.passed is False for result in done)
    if request.as_json:
        head = {"schema": "eqbench.check/1", "kind": kind, "spec": spec, "passed": not broken}
        put_json(head | {"promises": [asdict(result) for result in done]})
    else:
        kept = sum(result.passed is True for result in done)
        rest = len(done) - kept - broken
        more = f", {rest} not applicable" if rest else ""
        put(f"\n{spec}: {counted(kept, 'promise')} kept, {broken} broken{more}")
    return int(broken > 0)


def _declared(path: Path, game: Game) -> Iterator[str]:
    """Lines on the conditions of the sets that a checked proof names, which names do not tell."""
    data = pkgutil.resolve_name("eqbench.proofs.known")
    published = {each.name: [[*row] for row in each.rows] for each in data.known_sets(game)[0]}
    with path.open(encoding="utf-8") as lines:
        header = json.loads(next(lines))
    for known in header["known"]:
        if published.get(known["name"]) == known["rows"]:
            yield f"{known['name']}: its {counted(len(known['rows']), 'condition')} as published"
        else:
            shown = first_of([f"{json.dumps(form)} {sign}" for sign, form in known["rows"]])
            yield printable(f"{known['name']}: only what the file declares: {shown}")


def _check_proof(request: CheckRequest) -> int:
    checker = pkgutil.resolve_name("eqbench.proofs.checker")
    path, refused, spec, others = Path(request.file), "", "", ""
    if not path.is_file():
        given = f"{request.file} is no file" if request.file else "no file is given"
        raise UsageError(f"{given}; give that of a proof: eqbench check proof FILE")
    nodes: dict[str, int] = {}
    known: list[str] = []
    replaced = 0
    try:
        named = checker.game_of(path)
        (spec,) = request.games or (named,)
        game = request.registry().load_game(spec)
        if named not in (spec, game.spec):
            about = shortened(printable(named))
            others = f" (the file is about {about}, and was checked against {spec})"
        summary = checker.check_proof(path, game.tree)
        nodes, known, replaced = dict(summary.nodes), list(summary.known), summary.replaced
    except checker.ProofError as error:
        refused = f"{error}{others}"
    if request.as_json:
        head: dict[str, object] = {"schema": "eqbench.check/1", "kind": "proof", "spec": spec}
        found = {"known": known, "nodes": nodes, "replaced": replaced}
        put_json(head | {"passed": not refused, "reason": refused} | found)
    elif refused:
        put(f"refused: {refused}")
    else:
        places = [f"the set {name}" for name in known]
        places += [f"one of {counted(nodes['face'], 'open face')}"] if nodes["face"] else []
        if nodes["face"] == sum(nodes.values()):
            put("nothing is excluded: the only case is an open face")
        else:
            which = "each outcome of an" if nodes["face"] and replaced else "every"
            ends = "that of one " * (which != "every")
            put(f"proved: {which} equilibrium of {spec} is {ends}in {' or '.join(places)}")
        if replaced:
            put(
                f"{counted(replaced, 'dominated action')} replaced that would end the game: no "
                "condition of a set depends on them; faces are of equilibria without them"
            )
        for line in _declared(path, request.registry().load_game(spec)):
            put(line)
        put("nodes: " + ", ".join(f"{count:,} {kind}" for kind, count in nodes.items()))
    return int(bool(refused))
