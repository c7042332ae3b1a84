"""One profile: what there is to say about it as JSON values, and as tables for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from operator import itemgetter
from typing import Any

import numpy as np

from eqbench.errors import counted
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach, infosets_as_played
from eqbench.model.profile import BehaviorProfile
from eqbench.model.words import Wording, key_line, place_in_words, situation
from eqbench.report import filled, read_data
from eqbench.report.naming import decimal, described, kind_of_match, symbol
from eqbench.report.profile_picture import HAND_RANKS, grids_of, most_reached, sets_of
from eqbench.report.rows import Column, Report, Row, Table, mebibytes
from eqbench.report.tree_drawing import NEGLIGIBLE
from eqbench.report.trials import RunCell, game_title
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.text import grouped, printable, seconds, shortened, small
from eqbench.verdict import credible_text
from eqbench.verification import DEFAULT_TOLERANCE, UNRESOLVED, means_of_measuring

SCHEMA = "eqbench.show/1"
MOST_SETS = 400
ROUNDING = 1e-13
LONGEST_FRACTION = 40
_SAID = (counted, game_title, shortened, printable, decimal, small, seconds, mebibytes, symbol)
_FILTERS: dict[str, Callable[..., str]] = {function.__name__: function for function in _SAID}
_FILTERS["in_words"] = place_in_words
_DATA = read_data("profile")
_GRID = _DATA["szafron"]


def cell_facts(run: StoredRun, cell: CellRecord, rank: int) -> dict[str, Any]:
    """Facts on a cell and its candidate of this rank, if it has any, without what that plays."""
    record = cell.to_json()
    del record["equilibria"]
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "cell": record,
        "candidates": len(cell.equilibria),
        "rank": rank if cell.equilibria else None,
        "candidate": cell.equilibria[rank].to_json() if cell.equilibria else None,
        **{"players": [], "payoff_range": None, "payoff_scale": None},
        **{"information_sets": [], "szafron": None},
    }


def play_facts(
    game: Game,
    profile: BehaviorProfile,
    most: int | None = None,
    verdicts: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Facts on the `most` reached information sets, or all, and Szafron's grid for its game.

    Of each information set there may be `verdicts`, which go with the facts on it.
    """
    tree, by_set = game.tree, infosets_as_played(game, profile.probabilities, most)
    sets = [item | (verdicts[at] if verdicts else {}) for at, item in by_set.items()]
    spec = parse_spec(game.spec)
    is_szafrons = spec.name == "kuhn" and dict(spec.options).items() >= _GRID["kuhn"].items()
    return {
        "players": list(tree.players),
        "payoff_range": tree.payoff_range,
        "payoff_scale": tree.payoff_scale,
        **means_of_measuring(tree),
        "information_sets": sets,
        "szafron": _szafron_grid(sets) if is_szafrons else None,
    }


def stored_facts(run: StoredRun, cell: CellRecord, rank: int) -> dict[str, Any]:
    """Facts on what a stored profile plays where its game is missing: frequencies alone."""
    shares = RunCell("", cell, run).shares(cell.equilibria[rank])
    players = list(dict.fromkeys(player for player, *_ in shares))
    if len(players) != len(cell.equilibria[rank].payoffs):  # one has no information set
        players = [f"P{k}" for k, _ in enumerate(cell.equilibria[rank].payoffs, start=1)]
    sets = [
        {
            **{"player": player, "label": label},
            **dict.fromkeys(("reach", "own_reach", "counterfactual_reach")),
            "actions": [
                {"action": a, "frequency": shares[p, k, a], "gap": None} for p, k, a in own
            ],
        }
        for (player, label), own in grouped(shares, itemgetter(0, 1)).items()
    ]
    return {"players": players, "information_sets": sets}


def _szafron_grid(sets: Sequence[dict[str, Any]]) -> dict[str, list[list[float]]]:
    """Probability of bet or call by letter, card (rows) and situation (columns)."""
    aggressive = {
        (item["player"], item["label"]): sum(
            action["frequency"] for action in item["actions"] if action["action"] in ("bet", "call")
        )
        for item in sets
    }
    return {
        letter: [
            [aggressive[own["player"], f"{card}:{k}"] for k in own["situations"]]
            for card in _GRID["cards"]
        ]
        for letter, own in _GRID["letters"].items()
    }


def profile_report(
    facts: dict[str, Any], played: tuple[Game, BehaviorProfile] | None, *, show_all: bool
) -> Report:
    """Return a cell, its candidate and what it plays, in words if the game declares any.

    The grids of many hands, unless `show_all`, or the information sets that are among the facts.
    """
    found, sets = facts["candidate"], facts["information_sets"]
    title, *lines = filled("cell", facts, **_FILTERS)
    head = Table(title, lines=tuple(lines))
    if found is None:
        return Report((head,))
    wording = played[0].wording if played else None
    scale = facts["payoff_scale"]  # not known of a game that is missing
    allowed = facts["cell"]["tolerance"] or 0 if scale is None else DEFAULT_TOLERANCE * scale
    is_equilibrium = found["max_regret"] <= allowed
    players = facts["players"]
    shown = found | {"means": facts.get("means")}
    figures = figures_table(players, shown, is_equilibrium=is_equilibrium, wording=wording)
    key = filter(None, [key_line(wording)])
    hands = _hand_tables(*played) if played else []
    if hands and not show_all:
        return Report((head, figures, *hands), (*key, _DATA["hands"], _DATA["all"]))
    count = played[0].tree.n_infosets if played else len(sets)
    sets = sets if show_all else sets[:MOST_SETS]
    by_player = grouped(sets, itemgetter("player"))
    tables = [_sets_table(player, own, wording) for player, own in by_player.items()]
    most = len(sets)
    which = "most reached" if played else "first"
    more = f"These are the {most} {which} of {count:,} information sets; --all prints all."
    notes = [_DATA["legend"]] * bool(played) + [more] * (most < count)
    return Report((head, figures, *hands, *tables), (*key, *notes))


def figures_table(
    players: Sequence[str],
    found: dict[str, Any],
    *,
    is_equilibrium: bool,
    wording: Wording | None = None,
) -> Table:
    """Table of payoffs and regrets as JSON values have them, below which equilibrium that is."""
    exact, sums, notes = found.get("exact"), _DATA["sums"], list[str]()
    rounded = found | {"exploitability": found["nash_conv"] / len(players)}
    sides = {
        "player": [*map(_label, players), *(text.format(len(players)) for text in sums.values())],
        "payoff": found["payoffs"],
        "regret": [*found["regrets"], *(rounded[name] for name in sums)],
    }
    if exact:
        regrets = *exact["regrets"], *(exact[name] for name in sums if name in exact)
        fractions = {"exact payoff": exact["payoffs"], "exact regret": regrets}
        sides |= {
            title: [
                text if len(text) <= LONGEST_FRACTION else f"({len(text)} digits)" for text in own
            ]
            for title, own in fractions.items()
        }
        if max(map(len, chain(*fractions.values()))) > LONGEST_FRACTION:
            notes.append("Long fractions are printed by --json.")
    elif any(0 < abs(regret) < ROUNDING for regret in found["regrets"]):
        notes.append("Regrets around 1e-16 are rounding; eqbench verify --exact tells.")
    notes += filter(None, [found.get("means")])
    columns = [Column(title, **own) for title, own in _DATA["figures"].items() if title in sides]
    values = zip_longest(*(sides[column.title] for column in columns))
    rows = tuple(Row.of(columns, row) for row in values)
    lines = identity_lines(found, is_equilibrium=is_equilibrium, wording=wording)
    return Table("", tuple(columns), rows, tuple(notes), lines=tuple(lines))


def identity_lines(
    found: dict[str, Any], *, is_equilibrium: bool, wording: Wording | None = None
) -> Sequence[str]:
    """Lines on which equilibrium a candidate is, as JSON values have it, and of which kind."""
    exact = found.get("exact")
    identity: dict[str, Any] = found["identity"] or {}
    identity = identity and identity | described(identity)
    off_path = identity.get("off_path", {})
    facts = {
        **{"identity": identity, "is_equilibrium": is_equilibrium, "unresolved": UNRESOLVED},
        **{"resolved": found.get("resolved", True), "proofs": found.get("proofs")},
        **{"credible": credible_text(found.get("credible"), wording), "kind": found.get("kind")},
        **{"verdicts": found.get("verdicts", {}), "wording": wording},
        "is_proved": exact is not None and set(exact["regrets"]) == {"0"},
        "closeness": _DATA["closeness"].get(kind_of_match(identity)) if identity else None,
        "differences": sorted(off_path.items(), key=lambda item: -abs(item[1])),
    }
    return filled("identity", facts, **_FILTERS)


def _sets_table(player: str, sets: Sequence[dict[str, Any]], wording: Wording | None) -> Table:
    """What a player does, with one action in a row, or both where there are never more."""
    # three actions in a row would not fit into 80 columns
    abreast = 2 if max(len(item["actions"]) for item in sets) == 2 else 1
    titles, rows = [*_DATA["sets"]][: 4 + 3 * abreast], []
    for item in sets:
        label = _label(situation(item["label"], wording).short or "only set" * (len(sets) == 1))
        reach, own = _number(item["reach"]), _number(item["own_reach"])
        loss = _number(item["loss"]) if item.get("refuted") else ""
        head = [label, "unreached" if reach == "0" else reach, own, loss]
        for first in range(0, len(item["actions"]), abreast):
            values = [""] * len(head) if first else [*head]
            for action in item["actions"][first : first + abreast]:
                gap = "–" if action["gap"] is None else _number(action["gap"], (0,))
                gap = "" if item["reach"] is None else gap
                values += [shortened(action["action"]), _number(action["frequency"]), gap]
            rows.append(Row(label, dict(zip_longest(titles, values, fillvalue=""))))
    shown = [title for title in titles if any(row.values[title] for row in rows)]
    columns = tuple(Column(title, **_DATA["sets"][title]) for title in shown)
    return Table(_label(player), columns, tuple(rows))


def _hand_tables(game: Game, profile: BehaviorProfile) -> list[Table]:
    """Grids of kinds of hands of two cards in the most reached situations, if there are many."""
    grids, players = grids_of(sets_of(game), game.wording), game.tree.players
    if not grids.by_kind:
        return []
    frequencies = profile.probabilities
    values, reach = grids.averages(frequencies, infoset_reach(game.tree, frequencies))
    columns = [Column("", identifies=True), *(Column(rank, "number") for rank in HAND_RANKS)]

    def cell(at: int) -> str:
        text = f"{100 * abs(1 - values[grids.start[at]]):.0f}" if at >= 0 else "·"
        return f"({text})" if at >= 0 and reach[at] < NEGLIGIBLE else text

    tables = []
    for block in most_reached(grids.blocks, reach, 0)[0]:
        names = [shortened(printable(name)) for name in block.rows[0][1]]
        held = np.array([at for *_, places in block.rows for at in places if at >= 0])
        played = values[grids.start[held, None] + np.arange(len(names))]
        shares = reach[held] @ played / (reach[held].sum() or 1)
        overall = ", ".join(map("{} {}".format, names, map(_number, shares)))
        what = " or ".join(names[1:]) or "nothing else"
        rows = (Row.of(columns, [rank, *map(cell, places)]) for rank, _, places in block.rows)
        title = f"{_label(players[block.player])} {block.title}"
        lines = (f"all hands: {overall}; below in %: {what}",)
        tables.append(Table(title, tuple(columns), tuple(rows), lines=lines))
    return tables


def _label(text: str) -> str:
    """Label of an information set or a history as a cell shows it; empty ones are common."""
    return shortened(printable(text)) or '""'


def _number(value: float | None, whole: tuple[int, ...] = (0, 1)) -> str:
    """A number with five decimals, or by its size where these would hide it; empty if unknown."""
    if value is None:
        return ""
    if value in whole:
        return str(int(value))
    return small(value) if value < 1e-4 else f"{value:.5f}"
