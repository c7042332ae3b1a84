"""`eqbench correlated`: optimal correlated equilibria of a small game."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_result
from eqbench.registry import NameOptions
from eqbench.requests import DURATION, GAME, Choice, Json, Kind, Option

if TYPE_CHECKING:
    from eqbench.report.rows import Report
    from eqbench.studies.correlated import Correlated


@dataclass(frozen=True, kw_only=True)
class CorrelatedRequest(NameOptions):
    """Find the correlated equilibrium with the largest sum of payoffs, by a linear program.

    For two players without chance: nfcce (normal-form coarse), efcce (extensive-form coarse) and
    efce (extensive-form). Where every player moves once and at the same time, for any number of
    players: also ce and cce. What is printed is measured by best responses on the tree, in
    fractions where they prove the gains to be 0.
    """

    game: Annotated[str, Option("Game without chance.", GAME, argument=True, named=True)]
    kind: Annotated[
        str,
        Option("When players may leave.", Choice(words=("nfcce", "efcce", "efce", "cce", "ce"))),
    ] = "nfcce"
    of: Annotated[str, Option("What to optimize: sum, or a player.", Kind("PLAYER"))] = "sum"
    sense: Annotated[str, Option("Largest or least.", Choice(words=("max", "min")))] = "max"
    timeout_s: Annotated[
        float | None,
        Option("Seconds for the linear program.", DURATION, "timeout", default="none"),
    ] = None
    as_json: Json = False


@command(CorrelatedRequest)
def correlated(request: CorrelatedRequest) -> None:
    from eqbench.studies import correlated as study

    game = request.registry().load_game(request.game)
    asked: Any = (request.kind, request.of, request.sense, request.timeout_s)
    found = study.correlated(game, *asked)
    put_result(found.to_json(), lambda: _report(found, game.tree.players), as_json=request.as_json)


def _report(found: Correlated, players: tuple[str, ...]) -> Report:
    from eqbench.model.rational import short_figure
    from eqbench.report.rows import Column, Report, Row, Table
    from eqbench.text import printable

    def figures(values: tuple[Any, ...]) -> str:
        return ", ".join(map(short_figure, values))

    measured, rows = found.measured, []
    for number, (key, probability) in enumerate(found.outcomes.items(), 1):
        values = {
            player: "–" if last is None else printable(" ".join(filter(None, last)))
            for player, last in zip(players, key, strict=True)
        }
        rows.append(Row(str(number), values | {"probability": short_figure(probability)}))
    exact = isinstance(measured.gap, Fraction)
    gap = "0, in rational arithmetic" if exact else f"{measured.gap:.3g}, in floats"
    lines = (
        f"{found.kind}: {found.sense} of {printable(found.of)} {short_figure(found.value)}",
        f"payoffs {figures(measured.payoffs)}; gap {gap} (gains {figures(measured.gains)})",
        "outcomes: what each player does last",
    )
    columns = (*map(Column, map(printable, players)), Column("probability"))
    return Report((Table(printable(found.game), columns, tuple(rows), lines=lines),))
