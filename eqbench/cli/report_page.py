"""What a page about runs needs to know of games and does not find in the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqbench.report.html.facts import GameFacts, PublishedPayoffs, PublishedSet

_SAME = 1e-9  # of payoffs


def page_of(runs: Any, *, summarize: bool) -> str:
    """A page about stored runs."""
    from eqbench.report.html.page import report_page

    specs = dict.fromkeys(cell.game_spec for run in runs for cell in run.cells)
    return report_page(runs, dict(game_facts(specs)), solver_groups(), summarize=summarize)


def solver_groups() -> dict[str, list[str]]:
    """Solvers that a word in a list of solvers stands for, by that word."""
    from eqbench.registry import GROUPS, default_registry

    registry = default_registry()
    return {word: registry.resolve_solvers(word) for word in ("all", *GROUPS)}


def game_facts(specs: Iterable[str]) -> Iterator[tuple[str, GameFacts]]:
    """Canonical specs with payoff scale and published payoffs, of games that eqbench ships.

    Files may have changed since, and what a plugin does is not known, so neither is loaded.
    """
    from eqbench.equilibria import known_sets
    from eqbench.errors import EqbenchError
    from eqbench.registry import default_registry
    from eqbench.report.html.facts import GameFacts
    from eqbench.spec import is_foreign

    registry = default_registry()
    for spec in specs:
        try:
            if is_foreign(spec) or not registry.game_entry(spec).builtin:
                continue
            game = registry.load_game(spec)
        except EqbenchError:  # another version ran it
            continue
        sets = known_sets(game)
        published = [known for each in sets if (known := _published(each)) is not None]
        sources = {each.name: _source(each) for each in sets}  # several pieces may be one set
        yield spec, GameFacts(game.tree.payoff_scale, tuple(published), tuple(sources.values()))


def _source(known: Any) -> PublishedSet:
    """Where a set was published, with the symbols in its name and its members' names."""
    import re

    from eqbench.report.html.facts import PublishedSet
    from eqbench.report.naming import symbol

    layout, texts = known.layout, known.texts
    places = dict(zip(layout.variables, layout.places, strict=True))
    said = {name: f"how often {_words(place)}" for name, place in places.items()}
    found = re.findall(r"[a-z]\w*", known.name.partition(":")[2])
    symbols = {name: said[name] for name in found if name in said}
    if (leading := known.leading) is not None:
        text = texts.figures.get(leading, leading)
        meaning = said.get(texts.readings.get(text, text), text)
        symbols[symbol(leading)] = meaning if text == leading else f"{text}: {meaning}"
    return PublishedSet(known.name, known.source, symbols)


def _words(place: str) -> str:
    player, infoset, action = place.split("|")
    return f"{player} plays {action} at the information set {infoset}"


def _published(known: Any) -> PublishedPayoffs | None:
    """Payoffs of a published set if they are a point, or pass between two players."""
    from eqbench.equilibria.extremes import extremes
    from eqbench.equilibria.known import some_member
    from eqbench.report.html.facts import PublishedPayoffs

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
