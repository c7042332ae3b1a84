"""`eqbench verify`: how good is the profile in this file?"""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import FiniteNumber, json_option, max_nodes_option, plugin_option
from eqbench.cli.output import put_json
from eqbench.model.profile_json import read_profile

SCHEMA = "eqbench.verify/1"
ROUNDING = 1e-13
LONGEST_FRACTION = 40


@click.command()
@click.option(
    "--game", default=None, metavar="SPEC", help="Game; the profile's own 'game' unless given."
)
@click.option(
    "--profile",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Profile in JSON, or - for standard input.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Also compute in rational arithmetic; numbers are read as exact decimals.",
)
@click.option(
    "--max-regret",
    default=None,
    type=FiniteNumber(),
    metavar="X",
    help="Exit with 1 if the max regret exceeds X.",
)
@max_nodes_option
@plugin_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    game: str | None,
    profile: str,
    exact: bool,
    max_regret: float | None,
    max_nodes: int,
    plugins: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure payoffs, regrets and NashConv of a strategy profile.

    A profile is {"behavior": {PLAYER: {INFOSET: {ACTION: number or "p/q"}}}}. Exit code: 0
    measured, 1 above --max-regret or with it not measurable, 2 usage.
    """
    import sys

    from eqbench.equilibria import Identifier
    from eqbench.errors import UsageError
    from eqbench.model.profile_json import profile_from_json
    from eqbench.registry import default_registry
    from eqbench.verification import DEFAULT_TOLERANCE, verify_exactly
    from eqbench.verification import verify as measure

    data = read_profile(profile)
    game = game or (data.get("game") if isinstance(data, dict) else None)
    if not isinstance(game, str):
        raise UsageError('which game? give --game SPEC, or put "game": SPEC into the profile')
    registry = default_registry().with_plugins(plugins)
    loaded = registry.load_game(game, max_nodes=max_nodes)
    tree = loaded.tree
    candidate = profile_from_json(tree, data)
    measured = measure(tree, candidate)
    certified = None
    if exact:
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
    worst: Any = measured.max_regret
    if certified is not None:
        document["exact"] = _figures(certified, str)
        worst = certified.max_regret
    if as_json:
        put_json(document)
    else:
        allowed = DEFAULT_TOLERANCE * tree.payoff_scale
        _print(tree.players, document, is_equilibrium=measured.max_regret <= allowed)
    if max_regret is not None and (worst > max_regret or not measured.resolved):
        ctx.exit(1)


def _figures(measured: Any, number: Any) -> dict[str, Any]:
    return {
        "payoffs": [number(value) for value in measured.payoffs],
        "regrets": [number(value) for value in measured.regrets],
        "nash_conv": number(measured.nash_conv),
        "max_regret": number(measured.max_regret),
        "exploitability": number(measured.exploitability),
    }


def _short(fraction: str) -> str:
    """A fraction, if a person can read it."""
    if len(fraction) <= LONGEST_FRACTION:
        return fraction
    return f"({len(fraction)} digits)"


def _print(players: tuple[str, ...], document: dict[str, Any], *, is_equilibrium: bool) -> None:
    from eqbench.cli.output import print_formatted
    from eqbench.report.profile_view import print_identity
    from eqbench.verification import UNRESOLVED

    exact = document.get("exact")

    def render(console: Any) -> None:
        console.print(_table(players, document))
        if not document["resolved"]:
            console.print(f"{UNRESOLVED}; the regrets are bounds from above. Try --exact.")
            return
        for key, name in (
            ("nash_conv", "NashConv"),
            ("max_regret", "max regret"),
            ("exploitability", f"exploitability (NashConv / {len(players)})"),
        ):
            more = f"   exactly {_short(exact[key])}" if exact else ""
            console.print(f"{name}: {document[key]:.6e}{more}")
        print_identity(
            document["identity"],
            console,
            is_equilibrium=is_equilibrium,
            is_proved=exact is not None and exact["max_regret"] == "0",
        )
        if exact and any(len(fraction) > LONGEST_FRACTION for fraction in exact["regrets"]):
            console.print("Long fractions are printed by --json.", style="dim")
        if not exact and any(0 < abs(value) < ROUNDING for value in document["regrets"]):
            console.print("Regrets around 1e-16 are rounding; --exact tells.", style="dim")

    print_formatted(render)


def _table(players: tuple[str, ...], document: dict[str, Any]) -> Any:
    from rich.table import Table

    exact = document.get("exact")
    table = Table(box=None)
    table.add_column("player")
    for name in ("payoff", "regret"):
        table.add_column(name, justify="right")
        if exact:
            table.add_column(f"exact {name}", justify="right")
    for p, label in enumerate(players):
        row = [label]
        for name, layout in (("payoffs", "+.10f"), ("regrets", ".3e")):
            row.append(format(document[name][p], layout))
            if exact:
                row.append(_short(exact[name][p]))
        table.add_row(*row)
    return table
