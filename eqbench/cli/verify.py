"""`eqbench verify`: how good is the profile in this file?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import print_report, put_json
from eqbench.requests import (
    FILE,
    FLAG,
    GAME,
    MOST_NODES,
    Json,
    MaxNodes,
    Number,
    Option,
    Plugins,
)

if TYPE_CHECKING:
    from eqbench.report.rows import Report
    from eqbench.verification import Verification

SCHEMA = "eqbench.verify/1"
ROUNDING = 1e-13
LONGEST_FRACTION = 40
_LABELS = {"nash_conv": "NashConv", "max_regret": "max regret", "exploitability": "exploitability"}


@dataclass(frozen=True, kw_only=True)
class VerifyRequest:
    """Measure payoffs, regrets and NashConv of a strategy profile.

    A profile is {"behavior": {PLAYER: {INFOSET: {ACTION: number or "p/q"}}}}. Exit code: 0
    measured, 1 above --max-regret or with it not measurable, 2 usage.
    """

    game: Annotated[str | None, Option("Game; the profile's own 'game' unless given.", GAME)] = None
    profile: Annotated[str, Option("Profile in JSON, or - for standard input.", FILE)]
    exact: Annotated[
        bool,
        Option("Also compute in rational arithmetic; numbers are read as exact decimals.", FLAG),
    ] = False
    max_regret: Annotated[
        float | None, Option("Exit with 1 if the max regret exceeds X.", Number(), "max-regret")
    ] = None
    max_nodes: MaxNodes = MOST_NODES
    plugins: Plugins = ()
    as_json: Json = False


@command(VerifyRequest)
def verify(request: VerifyRequest) -> int:
    import sys

    from eqbench.equilibria import Identifier
    from eqbench.errors import UsageError
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.registry import default_registry
    from eqbench.verification import DEFAULT_TOLERANCE, verify_exactly
    from eqbench.verification import verify as measure

    data = read_profile(request.profile)
    game = request.game or (data.get("game") if isinstance(data, dict) else None)
    if not isinstance(game, str):
        raise UsageError('which game? give --game SPEC, or put "game": SPEC into the profile')
    registry = default_registry().with_plugins(request.plugins)
    loaded = registry.load_game(game, max_nodes=request.max_nodes)
    tree = loaded.tree
    candidate = profile_from_json(tree, data)
    measured = measure(tree, candidate)
    certified = None
    if request.exact:
        sys.set_int_max_str_digits(0)  # exact results may be longer than Python likes to print
        certified = verify_exactly(tree, candidate)
        if not measured.resolved:
            measured = certified.rounded()
    identity = Identifier(loaded).identify(candidate, float(measured.max_regret))
    document = {
        "schema": SCHEMA,
        **_figures(measured, float),
        "resolved": measured.resolved,
        "identity": None if identity is None else identity.to_json(),
    }
    worst = measured.max_regret
    if certified is not None:
        document["exact"] = _figures(certified, str)
        worst = certified.max_regret
    if request.as_json:
        put_json(document)
    else:
        is_equilibrium = measured.max_regret <= DEFAULT_TOLERANCE * tree.payoff_scale
        print_report(_report(tree.players, document, is_equilibrium=is_equilibrium))
    if request.max_regret is None:
        return 0
    return int(worst > request.max_regret or not measured.resolved)


def _figures(measured: Verification, number: Callable[[Any], float | str]) -> dict[str, Any]:
    lists = {name: list(map(number, getattr(measured, name))) for name in ("payoffs", "regrets")}
    return lists | {name: number(getattr(measured, name)) for name in _LABELS}


def _short(fraction: str) -> str:
    """A fraction, if a person can read it."""
    if len(fraction) <= LONGEST_FRACTION:
        return fraction
    return f"({len(fraction)} digits)"


def _report(players: Sequence[str], document: dict[str, Any], *, is_equilibrium: bool) -> Report:
    """Tables of the players, and what their regrets come to."""
    from eqbench.report.profile_view import identity_lines
    from eqbench.report.rows import Column, Report, Row, Table
    from eqbench.verification import UNRESOLVED

    exact = document.get("exact")
    columns, rows = [Column("player", identifies=True)], []
    for name, layout in (("payoff", "+.10f"), ("regret", ".3e")):
        columns.append(Column(name, "number", layout=layout))
        columns += [Column(f"exact {name}", "number")] if exact else []
    for p, label in enumerate(players):
        values = {name: document[f"{name}s"][p] for name in ("payoff", "regret")}
        proved = {f"exact {name}": _short(exact[f"{name}s"][p]) for name in values if exact}
        rows.append(Row(label, {"player": label, **values, **proved}))
    table = Table("", tuple(columns), tuple(rows))
    if not document["resolved"]:
        line = f"{UNRESOLVED}; the regrets are bounds from above. Try --exact."
        return Report((table, Table("", lines=(line,))))
    lines, notes = [], []
    for key, name in _LABELS.items():
        share = f" (NashConv / {len(players)})" if key == "exploitability" else ""
        more = f"   exactly {_short(exact[key])}" if exact else ""
        lines.append(f"{name}{share}: {document[key]:.6e}{more}")
    is_proved = exact is not None and exact["max_regret"] == "0"
    identity = document["identity"]
    lines += identity_lines(identity, is_equilibrium=is_equilibrium, is_proved=is_proved)
    if exact and any(len(fraction) > LONGEST_FRACTION for fraction in exact["regrets"]):
        notes.append("Long fractions are printed by --json.")
    if not exact and any(0 < abs(value) < ROUNDING for value in document["regrets"]):
        notes.append("Regrets around 1e-16 are rounding; --exact tells.")
    return Report((table, Table("", lines=tuple(lines), notes=tuple(notes))))
