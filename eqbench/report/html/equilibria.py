"""What is played, as data for the card of a page: found profiles, and published sets to slide in.

Profiles are embedded as far as there is room; of others the page links their files. The formulas of
published sets are embedded as data, which the script of the page evaluates without `eval`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import known_sets
from eqbench.equilibria.expressions import as_data
from eqbench.equilibria.known import extremes, some_member
from eqbench.equilibria.reference import OPEN_MARGIN, KnownSet
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.words import clause, key_line
from eqbench.report.charts import ShownGame
from eqbench.report.html.document import Played
from eqbench.report.naming import FoundEquilibrium, equilibria, spread, symbol
from eqbench.report.profile_picture import blocks, most_reached, sets_of
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
        card, used = _card(shown, [*_chosen(equilibria(began(shown.entries)))], room)
        room -= used
        if card:
            yield Played(f"played-{place}", shown.name, str(place), card)


def _chosen(
    found: Sequence[FoundEquilibrium],
) -> Iterator[tuple[FoundEquilibrium, RunCell, EquilibriumRecord]]:
    """The best candidates of cells, those of different equilibria first."""
    turns = [sorted(item.cells, key=lambda own: own[1][0].max_regret) for item in found]
    for turn in range(max(map(len, turns), default=0)):
        for item, own in zip(found, turns, strict=True):
            if turn < len(own):
                yield item, own[turn][0], own[turn][1][0]


def _card(
    shown: ShownGame,
    chosen: Sequence[tuple[FoundEquilibrium, RunCell, EquilibriumRecord]],
    room: int,
) -> tuple[dict[str, Any], int]:
    """Data of the card of a game, and how many frequencies of profiles it embeds."""
    game, profiles, left, used = shown.facts.game, list[dict[str, Any]](), [], 0
    sets = sets_of(game) if game else []
    players, reach = [*game.tree.players] if game else [], list[Any]()
    for item, entry, candidate in chosen:
        about = _about(item, entry, candidate, shown.facts.titles)
        is_wanted = len(profiles) < MOST_PROFILES and used < room
        shares = _shares(entry, candidate) if is_wanted else {}
        if shares and not sets:
            players = list(dict.fromkeys(player for player, *_ in shares))
            by_set = grouped(shares, lambda key: key[:2])
            sets = [(players.index(p), label, _actions(own)) for (p, label), own in by_set.items()]
        keys = [(players[p], label, action) for p, label, actions in sets for action in actions]
        if not shares or used + len(keys) > room or not shares.keys() <= set(keys):
            left.append(about)
            continue
        used += len(keys)
        values = np.array([shares.get(key, 0.0) for key in keys])
        if game:
            reach.append(infoset_reach(game.tree, values))
        off = np.flatnonzero(reach[-1] < NEGLIGIBLE).tolist() if game else []
        rounded = [round(value, _DIGITS) for value in values.tolist()]
        profiles.append(
            about | {"off": off, "values": [int(v) if v in (0, 1) else v for v in rounded]}
        )
    if not profiles:
        return {}, 0
    known = known_sets(game) if game else ()
    grids = blocks(sets, game.wording if game else None)
    best = np.max(reach, axis=0) if reach else np.ones(len(sets))
    grids, more = most_reached(grids, best, MOST_ROWS)
    return {
        **{"players": players, "profiles": profiles, "more": more},
        "blocks": [vars(each) for each in grids],
        "labels": [label for _, label, _ in sets],
        "start": np.cumsum([0, *(len(actions) for *_, actions in sets)]).tolist(),
        "key": key_line(game.wording) if game else "",
        "published": [_published(game, each) for each in known if game],
        "tree": _tree(game) if game and known else None,
        "files": left[:_MOST_LINKED],
        "others": len(left),
    }, used


def _actions(keys: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    return tuple(action for *_, action in keys)


def _about(
    item: FoundEquilibrium,
    entry: RunCell,
    candidate: EquilibriumRecord,
    titles: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    """Which profile it is, what it pays, and where its file is."""
    identity: dict[str, Any] = dict(candidate.identity or {})
    credible: dict[str, Any] = dict(candidate.credible or {})
    return {
        **{"name": item.title, "run": entry.run, "solver": entry.solver},
        "title": identity.get("title") or titles.get(item.name, ("", ""))[0],
        **{"seed": entry.record.seed, "where": spread([candidate.identity])},
        **{"path": candidate.profile, "max_regret": candidate.max_regret},
        **{"payoffs": list(candidate.payoffs), "incredible": credible.get("worst_set")},
        "credible": [credible["credible"], credible["sets"]] if credible else None,
    }


def _shares(entry: RunCell, candidate: EquilibriumRecord) -> dict[tuple[str, str, str], float]:
    """Frequencies in a stored profile; none if it is missing or damaged."""
    if entry.source is None or not candidate.profile:
        return {}
    try:
        behavior = json.loads(read_file(entry.source.path / candidate.profile))["behavior"]
        return {
            (player, label, action): float(Fraction(str(share)))
            for player, sets in behavior.items()
            for label, shares in sets.items()
            for action, share in shares.items()
        }
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError):
        return {}  # a page can do without


def _published(game: Game, known: KnownSet) -> dict[str, Any]:
    """Formulas of a published set, its parameters with their ranges, and a member to begin with.

    Frequencies follow in the order in which they need each other. A constraint holds where its
    expression is at most 0.
    """
    layout, texts = known.layout, known.texts
    start = some_member(known)
    leading = texts.figures.get(known.leading or "", known.leading)
    parameters = []
    for place, name in enumerate(known.parameters):
        low, high = extremes(known, itemgetter(place))
        text = texts.readings[name]
        meaning = text
        if text in layout.variables:
            player, infoset, action = layout.places[layout.variables.index(text)].split("|")
            meaning = f"how often {clause(player, action, infoset, game)}"
        is_leading = leading in (name, text)
        parameters.append(
            {
                **{"name": name, "low": low, "high": high, "start": float(start[place])},
                "symbol": symbol(str(known.leading)) if is_leading else name,
                "meaning": meaning,
                "idle": place in known.idle,
            }
        )
    parameters.sort(key=lambda each: (each["symbol"] == each["name"], each["idle"]))
    rest = [
        next((a for a in range(*layout.tree.action_start[i : i + 2]) if layout.rest[a]), -1)
        for i in layout.infoset
    ]
    return {
        **{"name": known.name, "title": known.title, "sentence": known.sentence},
        **{"source": known.source, "parameters": parameters},
        "constants": {name: float(value) for name, value in texts.constants.items()},
        "values": [[name, as_data(texts.values[name])] for name in known.formulas.values],
        "violations": [side for each in known.constraints for side in _sides(each)],
        "payoffs": [as_data(text) for text in texts.payoffs],
        "places": [
            [v, int(a), int(r)]
            for v, a, r in zip(layout.variables, layout.action, rest, strict=True)
            if a >= 0
        ],
        "rest": np.flatnonzero(layout.rest).tolist(),
    }


def _sides(relation: Any) -> list[Any]:
    """By how much a relation is violated, as data; as in `eqbench.equilibria.reference`."""
    left, right = as_data(relation.left), as_data(relation.right)
    margin = OPEN_MARGIN if relation.sign in "<>" else 0
    sides = [["-", left, right]] * (">" not in relation.sign)
    sides += [["-", right, left]] * ("<" not in relation.sign)
    return [["+", side, margin] if margin else side for side in sides]


def _tree(game: Game) -> dict[str, list[Any]]:
    """A tree by nodes: parent, action or -1, probability of chance, information set or -1."""
    tree = game.tree
    chance = np.where(tree.incoming < 0, tree.chance_probability, 1.0)
    return {
        **{"parent": tree.parent.tolist(), "action": tree.incoming.tolist()},
        **{"chance": [round(value, 6) for value in chance.tolist()], "set": tree.infoset.tolist()},
    }
