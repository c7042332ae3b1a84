"""`eqbench refine`: the same path of play, with credible play off it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import deliver, put_result
from eqbench.cli.verify import OfProfile, game_and_profile
from eqbench.requests import FILE, Json, Option, Quiet

if TYPE_CHECKING:
    from eqbench.continuation import OffPath
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.tree import GameTree
    from eqbench.report.rows import Report

SCHEMA = "eqbench.refine/1"


@dataclass(frozen=True, kw_only=True)
class RefineRequest(OfProfile):
    """Keep the path of play of an equilibrium, and solve again what lies off it.

    WORDS are PROFILE, GAME PROFILE or RUN CELL, as for verify. What is never reached need not be
    rational in an equilibrium; here it is solved by logit, and both profiles are measured. Where
    a deviation would pay with the play that logit finds, the profile is kept; other play may
    still support its path. A profile whose regret is exactly 0 stays exact.
    """

    out: Annotated[
        str | None, Option("JSON file to write the profile to; - is standard output.", FILE)
    ] = None
    quiet: Quiet = False
    as_json: Json = False


@command(RefineRequest)
def refine(request: RefineRequest) -> None:
    from eqbench.errors import UsageError
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.profile_json import profile_from_json
    from eqbench.solver import Budget

    game, data = game_and_profile(request)
    tree, given = game.tree, profile_from_json(game.tree, data)
    before = _measured(tree, given)
    if not before["exact"]:
        given = BehaviorProfile.of(tree, given.probabilities)
    if before["max_regret"] > Budget().target_for(tree):
        raise UsageError(
            f"this is no equilibrium: max regret {before['max_regret']:.3g}; credible play off its "
            "path is sought for equilibria only"
        )
    solver: OffPath = request.registry().load_solver("logit").instance
    found = before["credible"]
    if found is not None and found["credible"] == found["sets"]:
        made, reason = given, "it is credible already"
    else:
        made, reason = solver.credible(game, given)
    after = before if made is given else _measured(tree, made)
    if _worse(before, after):
        made, after = given, before
        reason = "the verifier finds the play that was solved again no better"
    document = {
        "schema": SCHEMA,
        "game": game.spec,
        "before": before,
        "after": after,
        "kept": reason,
    }
    if request.out is not None:
        deliver(json.dumps(made.to_json(game.spec), indent=2) + "\n", request.out)
    if request.out != "-":
        put_result(document, lambda: _report(document), as_json=request.as_json)


def _measured(tree: GameTree, profile: BehaviorProfile) -> dict[str, Any]:
    """Payoffs, largest regret and credibility, in fractions where the regret is exactly 0."""
    from eqbench.verdict import Claimed, judge
    from eqbench.verification import Allowance, certify, verify

    measured = verify(tree, profile)
    certified = certify(tree, profile, Allowance())
    is_exact = certified is not None and certified.max_regret == 0
    found = judge("credible", Claimed(tree, profile, is_exact), Allowance())
    return {
        "payoffs": [*map(float, measured.payoffs)],
        "max_regret": 0.0 if is_exact else float(measured.max_regret),
        "exact": is_exact,
        "credible": None if found is None else found.to_json(),
    }


def _worse(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether fewer sets are credible, or what was proved no longer is."""
    if before["exact"] and not after["exact"]:
        return True
    counts = [each["credible"]["credible"] for each in (before, after) if each["credible"]]
    return len(counts) == 2 and counts[1] < counts[0]


def _report(document: dict[str, Any]) -> Report:
    """One row for each of both profiles."""
    from eqbench.report.naming import credible_text
    from eqbench.report.rows import Column, Report, Row, Table

    columns = (
        Column("profile", identifies=True),
        Column("credible", "verdict"),
        Column("max regret", "small"),
        Column("payoffs", "payoffs"),
    )
    rows = []
    for name in ("before", "after"):
        own = document[name]
        verdict = credible_text(own["credible"]) or None
        rows.append(Row.of(columns, (name, verdict, own["max_regret"], own["payoffs"])))
    kept = document["kept"]
    notes = (f"The profile was kept: {kept}.",) if kept else ()
    return Report((Table("", columns, tuple(rows), notes),))
