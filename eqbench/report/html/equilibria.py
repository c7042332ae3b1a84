"""What is played, as data for the card of a page: found profiles, and published sets to slide in.

Profiles are embedded as far as there is room; of others the page links their files. The formulas of
published sets are embedded as data, which the script of the page evaluates without `eval`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from eqbench.errors import EqbenchError
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.words import key_line
from eqbench.report.charts import ShownGame
from eqbench.report.html.document import Played
from eqbench.report.naming import FoundEquilibrium, described, equilibria, spread
from eqbench.report.profile_picture import grids_of, most_reached, sets_of
from eqbench.report.tree_drawing import NEGLIGIBLE
from eqbench.report.trials import RunCell, began
from eqbench.store.schema import EquilibriumRecord
from eqbench.text import grouped

MOST_PROFILES = 24  # of a game
MOST_FREQUENCIES = 40_000  # of a page, each of which takes about four bytes
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
    """Best candidates of cells of a game of hands, which is often too large to name equilibria."""
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
    game, profiles, left, used = shown.facts.game, list[dict[str, Any]](), [], 0
    sets = sets_of(game) if game else []
    grids = grids_of(sets, game.wording if game else None)
    players, reach = [*game.tree.players] if game else [], list[Any]()
    for item, entry, candidate in chosen:
        about = _about(item, entry, candidate)
        is_wanted = len(profiles) < MOST_PROFILES and used < room
        shares = entry.shares(candidate) if is_wanted else {}
        if shares and not sets:
            players = list(dict.fromkeys(player for player, *_ in shares))
            known = grouped(shares, lambda key: key[:2]).items()
            sets = [(players.index(p), k, tuple(a for *_, a in own)) for (p, k), own in known]
            grids = grids_of(sets, None)
        keys = [(players[p], label, action) for p, label, actions in sets for action in actions]
        size = int(grids.start[-1])
        if not shares or used + size > room or not shares.keys() <= set(keys):
            left.append(about)
            continue
        used += size
        values = np.array([shares.get(key, 0.0) for key in keys])
        own_reach = infoset_reach(game.tree, values) if game else np.ones(len(sets))
        values, own_reach = grids.averages(values, own_reach)
        reach.append(own_reach)
        off = np.flatnonzero(own_reach < NEGLIGIBLE).tolist()
        rounded = [round(value, _DIGITS) for value in values.tolist()]
        profiles.append(
            about | {"off": off, "values": [int(v) if v in (0, 1) else v for v in rounded]}
        )
    if not profiles:
        return {}, 0
    shown_blocks, more = most_reached(grids.blocks, np.max(reach, axis=0), MOST_ROWS)
    return {
        **{"players": players, "profiles": profiles, "more": more},
        "blocks": [vars(each) for each in shown_blocks],
        "labels": [label for _, label, _ in grids.sets],
        "start": grids.start.tolist(),
        "key": key_line(game.wording) if game else "",
        **{"published": shown.facts.published, "tree": shown.facts.nodes},
        "files": left[:_MOST_LINKED],
        "others": len(left),
    }, used


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
