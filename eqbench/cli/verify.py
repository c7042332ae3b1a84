"""`eqbench verify` and `contains`: how good is a profile, and is it in a set of equilibria?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_note
from eqbench.registry import GameOptions
from eqbench.requests import FLAG, GAME, PROFILE, Json, Kind, Number, Option, StoredRun

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.verification import Verification

SCHEMA = "eqbench.verify/1"
_SUMS = ("nash_conv", "max_regret", "exploitability")


@dataclass(frozen=True, kw_only=True)
class OfProfile(GameOptions):
    """What commands are asked that look at one profile."""

    words: Annotated[
        tuple[str, ...], Option("Profile, and its game.", StoredRun("WORDS"), argument=True)
    ] = ()
    game: Annotated[str | None, Option("Game; the profile's own 'game' unless given.", GAME)] = None
    profile: Annotated[
        str | None, Option("The profile; the word --profile itself may be omitted.", PROFILE)
    ] = None


@dataclass(frozen=True, kw_only=True)
class VerifyRequest(OfProfile):
    """Measure payoffs, regrets and NashConv of a strategy profile.

    WORDS are PROFILE, GAME PROFILE or RUN CELL. PROFILE is a file in JSON, - for standard input,
    or a cell of a run as RUN/CELL; of several candidates RUN/CELL:1 is the second best. In a file,
    a profile is {"behavior": {PLAYER: {INFOSET: {ACTION: number or "p/q"}}}}. Exit code: 0
    measured, 1 above --max-regret or with it not measurable, 2 usage.
    """

    exact: Annotated[
        bool,
        Option("Also compute in rational arithmetic; numbers are read as exact decimals.", FLAG),
    ] = False
    max_regret: Annotated[
        float | None, Option("Exit with 1 if the max regret exceeds X.", Number(), "max-regret")
    ] = None
    proofs: Annotated[
        bool, Option("Also print what proves which kind of equilibrium it is.", FLAG)
    ] = False
    as_json: Json = False


@command(VerifyRequest)
def verify(request: VerifyRequest) -> int:
    import sys

    from eqbench.equilibria import Identifier
    from eqbench.model.profile_json import profile_from_json
    from eqbench.report.profile_view import figures_table
    from eqbench.report.rows import Report
    from eqbench.verdict import judge_measured, stored
    from eqbench.verification import DEFAULT_TOLERANCE, verify_exactly
    from eqbench.verification import verify as measure

    loaded, data = game_and_profile(request)
    tree = loaded.tree
    candidate = profile_from_json(tree, data)
    measured = measure(tree, candidate, request.max_regret)
    certified = None
    if request.exact:
        sys.set_int_max_str_digits(0)  # exact results may be longer than Python likes to print
        certified = verify_exactly(tree, candidate)
        if not measured.resolved:
            measured = certified.rounded()
    identity = Identifier(loaded).identify(candidate, float(measured.max_regret))
    is_equilibrium = measured.max_regret <= DEFAULT_TOLERANCE * tree.payoff_scale
    judgments = judge_measured(tree, candidate, measured, certified)
    document = {
        "schema": SCHEMA,
        **_figures(measured, float),
        "resolved": measured.resolved,
        "error": measured.error,
        "identity": None if identity is None else identity.to_json(),
        **dict.fromkeys(("credible", "kind")),
        **stored(judgments),
    }
    if request.proofs and "kind" in judgments:
        document["proofs"] = judgments["kind"].proofs()
    worst: float | Fraction = measured.max_regret + measured.error
    if certified is not None:
        document["exact"] = _figures(certified, str)
        worst = certified.max_regret
    table = figures_table(tree.players, document, is_equilibrium=is_equilibrium)
    put_result(document, lambda: Report((table,)), as_json=request.as_json)
    if request.max_regret is None:
        return 0
    return int(worst > request.max_regret or not measured.resolved)


@dataclass(frozen=True, kw_only=True)
class ContainsRequest(OfProfile):
    """Decide whether a profile is in a set of equilibria, and if not, where it leaves it.

    SET is a published set, which eqbench info GAME lists, or what several begin with; or
    RUN/cluster:2 or RUN/CELL: what is connected with equilibria of a run. WORDS are as those of
    eqbench verify. Exit code: 0 it is in the set, 1 it is not, 2 usage.
    """

    name: Annotated[str, Option("Set of equilibria.", Kind("SET"), argument=True)]
    tolerance: Annotated[
        float, Option("Conditions of a published set may be missed by X; 0 is exact.", Number())
    ] = 1e-7
    as_json: Json = False


@command(ContainsRequest)
def contains(request: ContainsRequest) -> int:
    from eqbench.harness.statements import contains as decide
    from eqbench.model.rational import short_figure
    from eqbench.report import said
    from eqbench.report.naming import decimal
    from eqbench.report.rows import Report, Table, small
    from eqbench.verification import DEFAULT_TOLERANCE

    game, data = game_and_profile(request)
    found = decide(request.name, data, game, request.tolerance)
    allowed = DEFAULT_TOLERANCE * game.tree.payoff_scale
    facts = vars(found) | {"is_equilibrium": found.max_regret <= allowed}
    lines = said("contains", facts, decimal=decimal, small=small, figure=short_figure)
    document = {"schema": "eqbench.contains/1", "game": game.spec, **found.to_json()}
    put_result(document, lambda: Report((Table("", lines=lines),)), as_json=request.as_json)
    return int(not found)


def game_and_profile(request: OfProfile) -> tuple[Game, Any]:
    """The profile that a command names, in its interchange form, and its game."""
    from eqbench.errors import UsageError
    from eqbench.store.latest import is_run
    from eqbench.store.stored_games import game_of_runs
    from eqbench.store.stored_profiles import named_profile, profile_of_cell
    from eqbench.store.stored_run import run_folder

    words = [*request.words, *([request.profile] if request.profile is not None else [])]
    of_cell = request.profile is None and len(words) > 1 and is_run(run_folder(words[-2]))
    given = words[-2:] if of_cell else words[-1:]
    games = [*words[: -len(given)], *([request.game] if request.game else [])]
    if not words or len(games) > 1:
        raise UsageError("which profile? give PROFILE, GAME PROFILE or RUN CELL")
    data, source = profile_of_cell(*given) if of_cell else named_profile(*given)
    game = games[0] if games else data.get("game")
    if not isinstance(game, str):
        raise UsageError('which game? give --game SPEC, or put "game": SPEC into the profile')
    runs, registry = [source] if source else [], request.registry()
    content = "" if games else str(data.get("game_content", ""))
    return game_of_runs(runs, game, registry, say_note, request.max_nodes, content), data


def _figures(measured: Verification, number: Callable[[Any], float | str]) -> dict[str, Any]:
    lists = {name: list(map(number, getattr(measured, name))) for name in ("payoffs", "regrets")}
    return lists | {name: number(getattr(measured, name)) for name in _SUMS}
