"""What is played, as data for the card of a page: found profiles, and published sets to slide in.

Profiles are embedded as far as there is room; of others the page links their files. The formulas of
published sets are embedded as data, which the script of the page evaluates without `eval`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import EqbenchError
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.words import key_line
from eqbench.report.charts import ShownGame
from eqbench.report.html.document import Played
from eqbench.report.naming import FoundEquilibrium, described, equilibria, spread
from eqbench.report.profile_picture import Block, grids_of, most_reached, sets_of
from eqbench.report.tree_drawing import NEGLIGIBLE
from eqbench.report.trials import RunCell, began
from eqbench.store.schema import EquilibriumRecord
from eqbench.text import grouped

MOST_PROFILES = 24  # of a game
MOST_FREQUENCIES = 40_000  # of a page, each of which takes about four bytes
MOST_READ = 2_000_000  # of the profiles of a game of many hands
MOST_ROWS = 60
_MOST_LINKED = 12
_DIGITS = 5


def played(games: Sequence[ShownGame]) -> Iterator[Played]:
    """The card of each game in which something was found, while there is room for profiles."""
    room = MOST_FREQUENCIES
    for place, shown in enumerate(games):
        items = equilibria(began(shown.entries))
        game = shown.facts.game
        if not items and game and (game.product or grids_of(sets_of(game), game.wording).by_kind):
            items = _unnamed(began(shown.entries))
        card, used = _card(shown, [*_chosen(items)], room)
        room -= used
        if card:
            while_shown = str(place) if len(games) > 1 else ""
            yield Played(f"played-{place}", shown.name, while_shown, card)


def _unnamed(entries: Sequence[RunCell]) -> list[FoundEquilibrium]:
    """Best candidates of cells of a game of hands, which is often too large to solve."""
    best = [(entry, entry.record.equilibria[:1]) for entry in entries if entry.record.equilibria]
    return [FoundEquilibrium("", "", True, [cell]) for cell in best]


def _chosen(
    found: Sequence[FoundEquilibrium],
) -> Iterator[tuple[FoundEquilibrium, RunCell, EquilibriumRecord]]:
    """The best candidates of cells, those of different equilibria first."""
    for turn in range(max((len(item.ranked) for item in found), default=0)):
        for item in found:
            if turn < len(item.ranked):
                yield item, *item.ranked[turn]


def best_profiles(shown: ShownGame) -> Iterator[tuple[dict[str, Any], BehaviorProfile]]:
    """Stored profiles of a game that is known, those of different equilibria first."""
    game = shown.facts.game
    for item, entry, candidate in _chosen(equilibria(began(shown.entries))):
        with suppress(OSError, EqbenchError):  # a page can do without
            if game and entry.source and candidate.profile:
                data = read_profile(str(entry.source.path / candidate.profile))
                about = _about(item, entry, candidate)
                yield about, profile_from_json(game.tree, data)


def _card(
    shown: ShownGame,
    chosen: Sequence[tuple[FoundEquilibrium, RunCell, EquilibriumRecord]],
    room: int,
) -> tuple[dict[str, Any], int]:
    """Data of the card of a game, and how many frequencies of profiles it embeds."""
    game, left, read, known = shown.facts.game, [], 0, dict[tuple[str, str, str], None]()
    sets = sets_of(game) if game else []
    wording = game.wording if game else None
    grids = grids_of(sets, wording, by_groups=bool(game and game.product))
    players = [*game.tree.players] if game else []
    most = MOST_READ if grids.by_kind and room > 0 else room
    plays = list[tuple[dict[str, Any], NDArray, NDArray]]()
    for item, entry, candidate in chosen:
        about = _about(item, entry, candidate)
        is_wanted = len(plays) < MOST_PROFILES and read < most
        shares = entry.shares(candidate) if is_wanted else {}
        if shares and not sets:
            players = list(dict.fromkeys(player for player, *_ in shares))
            by_set = grouped(shares, lambda key: key[:2])
            sets = [
                (players.index(p), k, tuple(a for *_, a in own)) for (p, k), own in by_set.items()
            ]
            grids = grids_of(sets, None)
        if shares and not known:
            keys = ((players[p], label, action) for p, label, actions in sets for action in actions)
            known = dict.fromkeys(keys)
        if not shares or read + len(known) > most or not shares.keys() <= known.keys():
            left.append(about)
            continue
        read += len(known)
        values = np.array([shares.get(key, 0.0) for key in known])
        reach = infoset_reach(game.tree, values) if game else np.ones(len(sets))
        plays.append((about, *grids.averages(values, reach)))
    if not plays:
        return {}, 0
    shown_blocks, more = most_reached(
        grids.blocks, np.max([reach for *_, reach in plays], axis=0), MOST_ROWS
    )
    kept = np.arange(len(grids.sets))
    if grids.by_kind:  # of many situations only those that are shown
        places = (own for block in shown_blocks for *_, own in block.rows)
        kept = np.unique([at for own in places for at in own if at >= 0])
        number = {int(at): k for k, at in enumerate(kept)}
        shown_blocks = [_renumbered(block, number) for block in shown_blocks]
    sizes = np.diff(grids.start)
    is_embedded = np.repeat(np.isin(np.arange(len(sizes)), kept), sizes)
    size = int(np.count_nonzero(is_embedded))
    fitting = max(1, room // max(1, size))
    left = [*(about for about, *_ in plays[fitting:]), *left]
    profiles = []
    for about, values, reach in plays[:fitting]:
        off = np.flatnonzero(reach[kept] < NEGLIGIBLE).tolist() if game else []
        rounded = [round(value, _DIGITS) for value in values[is_embedded].tolist()]
        profiles.append(
            about | {"off": off, "values": [int(v) if v in (0, 1) else v for v in rounded]}
        )
    return {
        **{"players": players, "profiles": profiles, "more": more},
        **({"averaged": True} if grids.by_kind else {}),
        "blocks": [vars(each) for each in shown_blocks],
        "labels": [grids.sets[at][1] for at in kept],
        "start": np.cumsum([0, *sizes[kept]]).tolist(),
        "key": key_line(game.wording) if game else "",
        **{"published": shown.facts.published, "tree": shown.facts.nodes},
        "files": left[:_MOST_LINKED],
        "others": len(left),
    }, size * len(profiles)


def _renumbered(block: Block, number: dict[int, int]) -> Block:
    """A grid whose information sets have other numbers."""
    rows = ((*head, tuple(number.get(at, -1) for at in own)) for *head, own in block.rows)
    return replace(block, rows=tuple(rows))  # type: ignore[arg-type]


def _about(item: FoundEquilibrium, entry: RunCell, candidate: EquilibriumRecord) -> dict[str, Any]:
    """Which profile it is, what it pays, and where its file is."""
    identity: dict[str, Any] = dict(candidate.identity or {})
    credible: dict[str, Any] = dict(candidate.credible or {})
    return {
        **{"name": item.title, "run": entry.run, "solver": entry.solver},
        "title": described(identity)["title"] if identity else "not identified",
        **{"seed": entry.record.seed, "where": spread([candidate.identity])},
        **{"path": candidate.profile, "max_regret": candidate.max_regret},
        **{"payoffs": list(candidate.payoffs), "incredible": credible.get("worst_set")},
        "credible": [credible["credible"], credible["sets"]] if credible else None,
    }
