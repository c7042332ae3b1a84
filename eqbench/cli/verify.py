"""`eqbench verify`: how good is the profile in this file?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_result
from eqbench.requests import FILE, FLAG, GAME, MOST_NODES, Json, MaxNodes, Number, Option, Plugins

if TYPE_CHECKING:
    from eqbench.verification import Verification

SCHEMA = "eqbench.verify/1"
_SUMS = ("nash_conv", "max_regret", "exploitability")


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
    from eqbench.report.profile_view import measured_report
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
    is_equilibrium = measured.max_regret <= DEFAULT_TOLERANCE * tree.payoff_scale
    put_result(
        document,
        lambda: measured_report(tree.players, document, is_equilibrium=is_equilibrium),
        as_json=request.as_json,
    )
    if request.max_regret is None:
        return 0
    return int(worst > request.max_regret or not measured.resolved)


def _figures(measured: Verification, number: Callable[[Any], float | str]) -> dict[str, Any]:
    lists = {name: list(map(number, getattr(measured, name))) for name in ("payoffs", "regrets")}
    return lists | {name: number(getattr(measured, name)) for name in _SUMS}
