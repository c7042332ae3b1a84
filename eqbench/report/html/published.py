"""What the names of equilibria on a page mean: sources, symbols and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eqbench.report.html.document import Block, Facts, Prose
from eqbench.report.html.facts import PublishedSet
from eqbench.report.html.tracks import GameTracks
from eqbench.report.naming import is_cluster, label, marks, order

_KINDS = (
    "A name says in which published set a profile is, and what stands behind it is the figure by "
    "which members of the set are told apart. Strict: every published constraint holds within "
    "1e-7, also where play does not lead. On path: play goes as published, the behavior "
    "elsewhere differs."
)
_CLUSTERS = (
    "cluster:k: in no published set, with a regret up to 1e-6 of the payoff range; profiles that "
    "are alike share a number, which is given within the run and says nothing else."
)


def naming_notes(games: Sequence[GameTracks]) -> list[Block]:
    """Where the sets that occur were published, and what the marks mean; empty without names."""
    names = {game.title: _names(game) for game in games}
    everything = {name for own in names.values() for name in own}
    if not everything:
        return []
    pairs = [
        (game.short, lines)
        for game in games
        if (lines := _lines([known for known in game.sets if known.name in names[game.title]]))
    ]
    records = [track.entry.record for game in games for track in game.tracks]
    notes = [text for text in marks(map(label, records)) if not text.startswith("cluster")]
    kinds = [_KINDS] if any(not is_cluster(name) for name in everything) else []
    clusters = [_CLUSTERS] if any(map(is_cluster, everything)) else []
    blocks: list[Block] = [Facts(pairs)] if pairs else []
    return [*blocks, Prose((*kinds, *clusters, *notes), small=True)]


def _names(game: GameTracks) -> list[str]:
    found = {
        item.identity["name"]
        for track in game.tracks
        for item in track.entry.record.equilibria
        if item.identity
    }
    return sorted(found, key=order)


def _lines(known: Sequence[PublishedSet]) -> list[str]:
    """Sources with the names of their sets, then symbols."""
    by_source: dict[str, list[str]] = {}
    by_symbol: dict[tuple[str, str], list[str]] = {}
    for each in sorted(known, key=lambda each: order(each.name)):
        by_source.setdefault(each.source, []).append(each.name)
        for symbol in each.symbols.items():
            by_symbol.setdefault(symbol, []).append(each.name)
    sources = [f"{', '.join(names)}: {source}" for source, names in by_source.items()]
    return [*sources, *_symbols(by_symbol)]


def _symbols(by_symbol: Mapping[tuple[str, str], Sequence[str]]) -> list[str]:
    symbols = [symbol for symbol, _ in by_symbol]
    return [
        f"{symbol} is {meaning}" + (f", in {', '.join(names)}" if symbols.count(symbol) > 1 else "")
        for (symbol, meaning), names in by_symbol.items()
    ]
