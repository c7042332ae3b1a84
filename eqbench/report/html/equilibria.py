"""What is played, as data for the card of a page: found profiles, and published sets to slide in.

Profiles are embedded as far as there is room; of others the page links their files. The formulas of
published sets are embedded as data, which the script of the page evaluates without `eval`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import known_sets
from eqbench.equilibria.expressions import as_data
from eqbench.equilibria.known import extremes, some_member
from eqbench.equilibria.reference import OPEN_MARGIN, KnownSet
from eqbench.errors import EqbenchError
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.words import clause, key_line
from eqbench.registry import default_registry
from eqbench.report.charts import ShownGame
from eqbench.report.html.document import Played
from eqbench.report.naming import FoundEquilibrium, equilibria, spread, symbol
from eqbench.report.profile_picture import NEGLIGIBLE, Block, blocks, most_reached, sets_of
from eqbench.report.trials import RunCell, began
from eqbench.spec import GAME_FILES, is_foreign
from eqbench.store.named import game_of_runs
from eqbench.store.schema import EquilibriumRecord

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
    """The best candidates of the cells that found each equilibrium, those of different ones first."""
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
    profiles: list[dict[str, Any]] = []
    left: list[tuple[dict[str, Any], EquilibriumRecord]] = []
    game, sets, places, used = shown.facts.game, [], {}, 0
    for item, entry, candidate in chosen:
        about = _about(item, entry, candidate, shown.facts.titles)
        shares = _shares(entry, candidate) if len(profiles) < MOST_PROFILES and used < room else {}
        if shares and not sets:
            game = game or _of_file(entry, len(shares))
            sets = sets_of(game) if game else _labels_of(shares)
            places = _places(sets, [*game.tree.players] if game else _players(shares))
        if not shares or used + len(places) > room or not shares.keys() <= places.keys():
            left.append((about, candidate))
            continue
        values = np.zeros(len(places))
        values[[places[key] for key in shares]] = [*shares.values()]
        own = game and _reach(game, values)
        off = [] if own is None else np.flatnonzero(own < NEGLIGIBLE).tolist()
        used += len(places)
        rounded = [round(value, _DIGITS) for value in values.tolist()]
        profiles.append(about | {"values": [int(v) if v in (0, 1) else v for v in rounded]})
        profiles[-1] |= {"off": off, "reach": own}
    if not profiles:
        return {}, 0
    known = known_sets(game) if game else ()
    grids = blocks(sets, game.wording if game else None)
    reach = [own for each in profiles if (own := each.pop("reach")) is not None]
    best = np.max(reach, axis=0) if reach else np.ones(len(sets))
    grids, more = most_reached(grids, best, MOST_ROWS)
    players = [*game.tree.players] if game else list(dict.fromkeys(k[0] for k in places))
    return {
        **{"players": players, "profiles": profiles, "more": more},
        "blocks": [_block(each) for each in grids],
        "labels": [label for _, label, _ in sets],
        "start": np.cumsum([0, *(len(actions) for *_, actions in sets)]).tolist(),
        "key": key_line(game.wording) if game else "",
        "published": [_published(game, each) for each in known if game],
        "tree": _tree(game) if game and known else None,
        "files": [about for about, _ in left[:_MOST_LINKED]],
        "others": len(left),
    }, used


def _about(
    item: FoundEquilibrium,
    entry: RunCell,
    candidate: EquilibriumRecord,
    titles: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    """Which profile it is, what it pays, and where its file is."""
    identity: dict[str, Any] = dict(candidate.identity or {})
    title = identity.get("title") or titles.get(item.name, ("", ""))[0]
    credible = candidate.credible or {}
    return {
        **{"name": item.title, "title": title, "run": entry.run},
        **{"solver": entry.solver, "where": spread([candidate.identity])},
        **{"key": entry.record.key, "path": candidate.profile, "seed": entry.record.seed},
        **{"payoffs": list(candidate.payoffs), "max_regret": candidate.max_regret},
        "incredible": credible.get("worst_set"),
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


def _of_file(entry: RunCell, actions: int) -> Game | None:
    """The game of a file, if the file still holds the game that was run; no code is run for it."""
    spec, content = entry.record.game_spec, entry.record.game_content
    if not is_foreign(spec) or not spec.lower().endswith(GAME_FILES) or actions > MOST_FREQUENCIES:
        return None
    with suppress(EqbenchError, OSError):
        return game_of_runs([], spec, default_registry(), lambda _: None, content=content)
    return None


def _players(shares: Mapping[tuple[str, str, str], float]) -> list[str]:
    return list(dict.fromkeys(player for player, *_ in shares))


def _labels_of(
    shares: Mapping[tuple[str, str, str], float],
) -> list[tuple[int, str, tuple[str, ...]]]:
    """Information sets with their actions, as a profile lists them."""
    players, sets = _players(shares), dict[tuple[str, str], list[str]]()
    for player, label, action in shares:
        sets.setdefault((player, label), []).append(action)
    return [(players.index(p), label, tuple(actions)) for (p, label), actions in sets.items()]


def _places(
    sets: Sequence[tuple[int, str, Sequence[str]]], players: Sequence[str]
) -> dict[tuple[str, str, str], int]:
    keys = ((players[p], label, action) for p, label, actions in sets for action in actions)
    return {key: place for place, key in enumerate(keys)}


def _reach(game: Game, values: np.ndarray) -> np.ndarray:
    return infoset_reach(game.tree, values)


def _block(block: Block) -> dict[str, Any]:
    return {"player": block.player, "columns": block.columns, "rows": block.rows}


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
