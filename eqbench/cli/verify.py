"""`eqbench verify`: how good is a profile, is it in a set of equilibria, and can it be refined?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_page, put_result, say, say_note, write_text
from eqbench.registry import NameOptions
from eqbench.requests import (
    FILE,
    FLAG,
    GAME,
    PROFILE,
    STANDARD_OUTPUT,
    Json,
    Kind,
    Number,
    Option,
)

if TYPE_CHECKING:
    from eqbench.continuation import OffPath
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.tree import GameTree
    from eqbench.registry import Registry
    from eqbench.report.rows import Table
    from eqbench.verification import Verification

_SUMS = ("nash_conv", "max_regret", "exploitability")


@dataclass(frozen=True, kw_only=True)
class VerifyRequest(NameOptions):
    """Measure payoffs, regrets and NashConv of a strategy profile.

    WORDS are PROFILE, GAME PROFILE or RUN CELL. PROFILE is a file in JSON, - for standard input,
    or a cell of a run as RUN/CELL; of several candidates RUN/CELL:1 is the second best. In a file,
    a profile is {"behavior": {PLAYER: {INFOSET: {ACTION: number or "p/q"}}}}.

    --in SET also decides whether it is in a set of equilibria, and if not, where it leaves it. SET
    is a published set, which eqbench info GAME lists, or what several begin with; or
    RUN/cluster:2 or RUN/CELL: what is connected with equilibria of a run.

    --refine keeps the path of play of an equilibrium and solves again, by logit, what lies off it,
    which need not be rational there. Where a deviation would pay with the play that logit finds,
    the profile is kept; other play may still support its path. A profile whose regret is exactly 0
    stays exact.

    Exit code: 0 measured, 1 above --max-regret, with it not measurable, or not in SET, 2 usage.
    """

    words: Annotated[
        tuple[str, ...],
        Option("Profile, and its game.", Kind("WORDS", completed="dir"), argument=True),
    ] = ()
    game: Annotated[str | None, Option("Game; the profile's own 'game' unless given.", GAME)] = None
    profile: Annotated[
        str | None, Option("The profile; the word --profile itself may be omitted.", PROFILE)
    ] = None
    exact: Annotated[
        bool,
        Option("Also compute in rational arithmetic; numbers are read as exact decimals.", FLAG),
    ] = False
    max_regret: Annotated[
        float | None, Option("Exit with 1 if the max regret exceeds X.", Number(), "max-regret")
    ] = None
    within: Annotated[
        str | None, Option("Exit with 1 if it is not in this set.", Kind("SET"), "in")
    ] = None
    tolerance: Annotated[
        float,
        Option(
            "With --in: conditions of a published set may be missed by X; 0 is exact.", Number()
        ),
    ] = 1e-7
    refine: Annotated[
        str | None,
        Option("Write the profile with credible play off its path to this JSON file.", FILE),
    ] = None
    best_response: Annotated[
        str | None,
        Option(
            "Also print a best response of this player, what it gains and where; with =FILE also "
            "write the profile with it to a JSON file.",
            Kind("PLAYER[=FILE]"),
        ),
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
    from eqbench.verification import DEFAULT_TOLERANCE, means_of_measuring, verify_exactly
    from eqbench.verification import verify as measure

    loaded, data = _game_and_profile(request)
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
        "schema": "eqbench.verify/1",
        **_figures(measured, float),
        "resolved": measured.resolved,
        "error": measured.error,
        **means_of_measuring(tree),
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
    words = loaded.wording
    tables = [figures_table(tree.players, document, is_equilibrium=is_equilibrium, wording=words)]
    if request.within is not None:
        document["in"], table = _membership(request.within, data, loaded, request.tolerance)
        tables.append(table)
    if request.best_response is not None:
        document["best_response"], table = _best_response(request.best_response, loaded, candidate)
        tables.append(table)
    if request.refine is not None:
        refined, document["kept"] = _refined(loaded, candidate, request.registry())
        if request.refine == STANDARD_OUTPUT:
            put_page(_text(refined, loaded))
        else:
            _write(request.refine, refined, loaded)
        if kept := document["kept"]:
            say(f"the profile was kept: {kept}")
    if request.refine != STANDARD_OUTPUT:
        put_result(document, lambda: Report(tuple(tables)), as_json=request.as_json)
    if request.within is not None and not document["in"]["contains"]:
        return 1
    if request.max_regret is None:
        return 0
    return int(worst > request.max_regret or not measured.resolved)


def _membership(name: str, data: Any, game: Game, tolerance: float) -> tuple[Any, Table]:
    """Whether a profile is in a set of equilibria, as a document and in sentences."""
    from eqbench.api.profiles import contains
    from eqbench.model.rational import short_figure
    from eqbench.report import filled
    from eqbench.report.naming import decimal
    from eqbench.report.rows import Table
    from eqbench.text import small
    from eqbench.verification import DEFAULT_TOLERANCE

    found = contains(name, data, game, tolerance)
    allowed = DEFAULT_TOLERANCE * game.tree.payoff_scale
    facts = vars(found) | {"is_equilibrium": found.max_regret <= allowed}
    lines = filled("contains", facts, decimal=decimal, small=small, figure=short_figure)
    return found.to_json(), Table("", lines=lines)


def _best_response(
    wanted: str, game: Game, profile: BehaviorProfile
) -> tuple[dict[str, Any], Table]:
    """A best response as a document and as a table; it is written where a file is named."""
    from eqbench.api.profiles import best_response
    from eqbench.errors import UsageError
    from eqbench.model.rational import short_figure
    from eqbench.report.rows import Column, Row, Table
    from eqbench.text import printable

    player, _, file = (wanted, "", "") if wanted in game.tree.players else wanted.partition("=")
    if file == STANDARD_OUTPUT:
        raise UsageError(f"--best-response {wanted}: give a file; - is for --refine only")
    found = best_response(game, profile, player)
    if file:
        _write(file, found.profile, game)
    changes = [each._asdict() | {"gain": float(each.gain)} for each in found.deviations]
    document = {
        "player": player,
        **{"payoff": float(found.payoff), "gain": float(found.gain), "deviations": changes},
    }
    if isinstance(found.gain, Fraction):
        document["exact"] = {"payoff": str(found.payoff), "gain": str(found.gain)}
    titles = ("information set", "plays", "gain")
    values = (map(printable, (d.infoset, d.action)) for d in found.deviations)
    gains = (short_figure(each.gain) for each in found.deviations)
    rows = [dict(zip(titles, (*v, g), strict=True)) for v, g in zip(values, gains, strict=True)]
    columns = (Column(titles[0], identifies=True), *map(Column, titles[1:]))
    gain, payoff = map(short_figure, (found.gain, found.payoff))
    line = f"gains {gain} and has then {payoff}" if rows else f"the profile is one; it has {payoff}"
    return document, Table(
        f"best response of {printable(player)}",
        columns if rows else (),
        tuple(Row(str(row[titles[0]]), row) for row in rows),
        lines=(line,),
    )


def _text(profile: BehaviorProfile, game: Game) -> str:
    return json.dumps(profile.to_json(game.spec), indent=2) + "\n"


def _write(file: str, profile: BehaviorProfile, game: Game) -> None:
    from eqbench.errors import UsageError

    if file != STANDARD_OUTPUT and Path(file).exists():
        raise UsageError(f"{file} is there; choose another file, or move it away")
    write_text(Path(file), _text(profile, game))
    say(f"wrote {file}")


def _refined(
    game: Game, profile: BehaviorProfile, registry: Registry
) -> tuple[BehaviorProfile, str]:
    """The profile with credible play off its path, and why it was kept if it was."""
    from eqbench.errors import UsageError
    from eqbench.model.profile import BehaviorProfile
    from eqbench.solver import Limits

    tree = game.tree
    max_regret, exact, before = _judged(tree, profile)
    if max_regret > Limits().target_for(tree):
        raise UsageError(
            f"this is no equilibrium: max regret {max_regret:.3g}; credible play off its "
            "path is sought for equilibria only"
        )
    if before and before["credible"] == before["sets"]:
        return profile, "it is credible already"
    given = profile if exact else BehaviorProfile.of(tree, profile.probabilities)
    solver: OffPath = registry.load_solver("logit").instance
    made, kept = solver.credible(game, given)
    _, stays_exact, after = _judged(tree, made)
    is_less = bool(before and after) and after["credible"] < before["credible"]
    if (exact and not stays_exact) or is_less:
        return given, "the verifier finds the play that was solved again no better"
    return made, kept


def _judged(tree: GameTree, profile: BehaviorProfile) -> tuple[float, bool, dict[str, Any]]:
    """Largest regret of a profile, whether it is exactly 0, and how far the profile is credible."""
    from eqbench.verdict import Claimed, judge
    from eqbench.verification import Allowance, certify, verify

    certified = certify(tree, profile, Allowance())
    exact = certified is not None and certified.max_regret == 0
    max_regret = 0.0 if exact else float(verify(tree, profile).max_regret)
    found = judge("credible", Claimed(tree, profile, exact), Allowance())
    return max_regret, exact, {} if found is None else found.to_json()


def _game_and_profile(request: VerifyRequest) -> tuple[Game, Any]:
    """The profile that a command names, in its interchange form, and its game."""
    from eqbench.errors import UsageError
    from eqbench.store.named import game_of_runs, named_profile, profile_of_cell
    from eqbench.store.stored_run import is_run, run_folder

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
    return game_of_runs(runs, game, registry, say_note, content=content), data


def _figures(measured: Verification, number: Callable[[Any], float | str]) -> dict[str, Any]:
    lists = {name: list(map(number, getattr(measured, name))) for name in ("payoffs", "regrets")}
    return lists | {name: number(getattr(measured, name)) for name in _SUMS}
