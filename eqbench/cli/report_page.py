"""What a page about runs needs to know of games and does not find in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqbench.report.html.tracks import GameFacts, PublishedPayoffs

_SAME = 1e-9  # of payoffs


def page_of(runs: Any, *, summarize: bool) -> str:
    """A page about stored runs."""
    from eqbench.report.html.page import report_page

    specs = dict.fromkeys(cell.game_spec for run in runs for cell in run.cells)
    return report_page(runs, dict(game_facts(specs)), summarize=summarize)


def game_facts(specs: Iterable[str]) -> Iterator[tuple[str, GameFacts]]:
    """Canonical specs with payoff range and published payoffs, of games that eqbench ships.

    Files may have changed since, and what a plugin does is not known, so neither is loaded.
    """
    from eqbench.equilibria import known_sets
    from eqbench.errors import EqbenchError
    from eqbench.registry import default_registry
    from eqbench.report.html.tracks import GameFacts
    from eqbench.spec import is_foreign

    registry = default_registry()
    for spec in specs:
        try:
            if is_foreign(spec) or not registry.game_entry(spec).builtin:
                continue
            game = registry.load_game(spec)
        except EqbenchError:  # another version ran it
            continue
        published = [known for each in known_sets(game) if (known := _published(each)) is not None]
        yield spec, GameFacts(game.tree.payoff_range, tuple(published))


def _published(known: Any) -> PublishedPayoffs | None:
    """Payoffs of a published set if they are a point, or pass between two players."""
    from eqbench.equilibria.extremes import extremes
    from eqbench.equilibria.known import some_member
    from eqbench.report.html.tracks import PublishedPayoffs

    first = [float(payoff) for payoff in known.payoffs_near(some_member(known))]
    ranges = [extremes(known, partial(_payoff, known, p)) for p in range(len(first))]
    low, high = zip(*ranges, strict=True)
    moving = [p for p in range(len(first)) if high[p] - low[p] > _SAME]
    if not moving:
        return PublishedPayoffs(known.name, (tuple(first),))
    if len(moving) != 2:
        return None
    gains, loses = moving
    ends = ({gains: low[gains], loses: high[loses]}, {gains: high[gains], loses: low[loses]})
    if abs(sum(ends[0].values()) - sum(ends[1].values())) > _SAME:
        return None
    return PublishedPayoffs(
        known.name, tuple(tuple(end.get(p, first[p]) for p in range(len(first))) for end in ends)
    )


def _payoff(known: Any, player: int, parameters: Any) -> float:
    return float(known.payoffs_near(parameters)[player])
