"""One profile: what there is to say about it as JSON values, and as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from eqbench.errors import UsageError, counted
from eqbench.model.game import Game
from eqbench.model.inspection import infosets_as_played
from eqbench.model.profile import BehaviorProfile
from eqbench.report import read_data
from eqbench.report.entries import game_title
from eqbench.report.naming import decimal, kind_of_match
from eqbench.report.rows import Column, Report, Row, Table, mebibytes, seconds, small
from eqbench.spec import parse_spec
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.text import printable, shortened
from eqbench.verification import UNRESOLVED

SCHEMA = "eqbench.show/1"
MOST_SETS = 400
MOST_DIFFERENCES = 5
EQUILIBRIUM_SHARE = 1e-6  # of the payoff range: so much regret an equilibrium may have here
ROUNDING = 1e-13
LONGEST_FRACTION = 40
_DATA = read_data("profile")
_GRID = _DATA["szafron"]
_SUMS = {"nash_conv": "NashConv", "max_regret": "max regret", "exploitability": "exploitability"}


def cell_facts(run: StoredRun, cell: CellRecord, rank: int) -> dict[str, Any]:
    """Facts on a cell and one of its candidates by rank, without what it plays.

    Raises
    ------
    UsageError
        If the cell has candidates, but not so many.
    """
    count = len(cell.equilibria)
    if 0 < count <= rank:
        given = counted(count, "candidate")
        raise UsageError(
            f"the cell has {given}, so --rank is 0 (the best) to {count - 1}; got {rank}"
        )
    record = cell.to_json()
    del record["equilibria"]
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "cell": record,
        "candidates": count,
        "rank": rank if count else None,
        "candidate": asdict(cell.equilibria[rank]) if count else None,
        **{"players": [], "payoff_range": None, "payoff_scale": None},
        **{"information_sets": [], "szafron": None},
    }


def play_facts(game: Game, profile: BehaviorProfile) -> dict[str, Any]:
    """Facts on what a profile plays: every information set, and Szafron's grid for its game.

    The payoff scale of the game is what its regret compares with.
    """
    tree, sets = game.tree, infosets_as_played(game, profile.probabilities)
    parsed = parse_spec(game.spec)
    options = {"raises": 0, **dict(parsed.options)}
    sizes = parsed.name, *(options.get(name) for name in ("players", "cards", "raises"))
    return {
        "players": list(tree.players),
        "payoff_range": tree.payoff_range,
        "payoff_scale": tree.payoff_scale,
        "information_sets": sets,
        "szafron": _szafron_grid(sets) if sizes == ("kuhn", 3, 4, 0) else None,
    }


def _szafron_grid(sets: list[dict[str, Any]]) -> dict[str, list[list[float]]]:
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


def profile_report(facts: dict[str, Any], *, show_all: bool) -> Report:
    """Return a cell, its candidate and what it plays; the most reached sets unless `show_all`."""
    record, found, sets = facts["cell"], facts["candidate"], facts["information_sets"]
    reason = f" – {shortened(printable(record['reason']))}" if record["reason"] else ""
    iterations = f"{record['iterations']:,} iterations, " if record["iterations"] else ""
    time, memory = seconds(record["elapsed_s"]), mebibytes(record["peak_memory_bytes"])
    seed = "" if record["seed"] is None else f", seed {record['seed']},"
    title = f"{record['solver']}{seed} on {game_title(record['game'], record['game_spec'])}"
    lines = [
        f"{record['status']}{reason}",
        f"{iterations}time {time}, memory {memory}, key {record['key']}",
    ]
    if found is None:
        return Report((Table(title, lines=(*lines, "the cell has no profile")),))
    which = f"rank {facts['rank']} (the best is 0) of {facts['candidates']}"
    lines.append(f"{which}: {found['claim']}, {found['profile']}")
    if found["refuted"] is not None:
        lines.append(f"refuted: {shortened(printable(found['refuted']))}")
    allowed = EQUILIBRIUM_SHARE * facts["payoff_scale"]
    lines += identity_lines(found["identity"], is_equilibrium=found["max_regret"] <= allowed)
    columns = (
        Column("player", identifies=True),
        Column("payoff", "payoff", layout="+z.5f"),
        Column("regret", "small"),
    )
    players, nash_conv = map(_label, facts["players"]), found["nash_conv"]
    figures = zip(players, found["payoffs"], found["regrets"], strict=True)
    rows = tuple(Row.of(columns, values) for values in figures)
    note = (
        f"NashConv {small(nash_conv)}, max regret {small(found['max_regret'])}, exploitability "
        f"(NashConv / {len(rows)}) {small(nash_conv / len(rows))}"
    )
    order = sorted(range(len(sets)), key=lambda i: -sets[i]["reach"])
    shown = sets if show_all else [sets[i] for i in sorted(order[:MOST_SETS])]
    owners = dict.fromkeys(item["player"] for item in shown)
    played = [_sets_table(player, [s for s in shown if s["player"] == player]) for player in owners]
    more = (
        f"These are the {len(shown)} most reached of {len(sets):,} information sets; --all prints "
        "all."
    )
    candidate = Table(title, columns, rows, (note,), lines=tuple(lines))
    tables = (candidate, *played, *_grid_tables(facts["szafron"] or {}))
    return Report(tables, _DATA["legend"], (more,) if len(shown) < len(sets) else ())


def identity_lines(
    identity: dict[str, Any] | None, *, is_equilibrium: bool, is_proved: bool = False
) -> list[str]:
    """Say which equilibrium a profile is, where in its set, and how it differs.

    Parameters
    ----------
    is_equilibrium : whether its regret allows to call it one
    is_proved : whether its regret is 0 in rational arithmetic
    """
    if identity is None:
        found = "an equilibrium, proved exactly;" if is_proved else "equilibrium:"
        return [f"{found} in no published set" if is_equilibrium else "no equilibrium"]
    what = "equilibrium:" if is_equilibrium else "no equilibrium, but near"
    if identity["on_path"] and not is_equilibrium:
        what = "no equilibrium, but its path of play is that of"
    also = f" (also {', '.join(identity['also'])})" if identity["also"] else ""
    lines = [
        f"{what} {identity['name']}{also}",
        f"  {_DATA['closeness'][kind_of_match(identity)]}; distance {small(identity['distance'])}",
    ]
    if identity["parameters"]:
        values = (f"{name}={decimal(value, 6)}" for name, value in identity["parameters"].items())
        lines.append(f"  parameters: {', '.join(values)}")
    if identity["dimension"] is not None:
        lines.append(f"  dimension of the equilibria around it: {identity['dimension']}")
    if identity["off_path"]:
        differences: dict[str, float] = identity["off_path"]
        order = sorted(differences, key=lambda place: -abs(differences[place]))
        largest, more = order[:MOST_DIFFERENCES], len(order) - MOST_DIFFERENCES
        shown = [f"{place} by {decimal(differences[place], 6)}" for place in largest]
        shown += [f"and {more} more"] if more > 0 else []
        lines.append(f"  off the path of play: {', '.join(shown)}")
    return lines


def _sets_table(player: str, sets: list[dict[str, Any]], most: int | None = None) -> Table:
    """What a player does, with as many actions side by side as fit, `most` of them at most."""
    abreast = most or max(len(item["actions"]) for item in sets)
    columns = [
        Column("information set", "text", "information\nset", identifies=True),
        Column("reach", "number", identifies=True),
        Column("own reach", "number", "own\nreach", identifies=True),
    ]
    for k in ["", *(f" {k}" for k in range(2, abreast + 1))]:
        frequency = Column(f"frequency{k}", "number", f"fre-\nquency{k}")
        columns += [Column(f"action{k}", "text"), frequency, Column(f"gap{k}", "number")]
    rows = []
    for item in sets:
        label, reach = _label(item["label"]), _number(item["reach"])
        head = [label, "unreached" if reach == "0" else reach, _number(item["own_reach"])]
        for first in range(0, len(item["actions"]), abreast):
            values = ["", "", ""] if first else head
            for action in item["actions"][first : first + abreast]:
                gap = "–" if action["gap"] is None else _number(action["gap"], (0,))
                values += [shortened(action["action"]), _number(action["frequency"]), gap]
            values += [""] * (len(columns) - len(values))
            rows.append(Row.of(columns, values, label))
    narrow = _sets_table(player, sets, abreast - 1) if abreast > 1 else None
    return Table(_label(player), tuple(columns), tuple(rows), narrow=narrow)


def _grid_tables(grid: dict[str, list[list[float]]]) -> list[Table]:
    """Szafron's letters, a table for each."""
    tables: list[Table] = []
    for letter, shares in grid.items():
        own = _GRID["letters"][letter]
        titles = [f"{k}: {_label(history)}" for k, history in enumerate(own["situations"], 1)]
        columns = (
            Column(f"{letter}_jk ({own['player']})", identifies=True),
            *(Column(title, "number") for title in titles),
        )
        cards = zip(_GRID["cards"], shares, strict=True)
        rows = tuple(Row.of(columns, (f"card {k}", *map(_number, row))) for k, row in cards)
        tables.append(Table("" if tables else _GRID["title"], columns, rows))
    return tables


def _label(text: str) -> str:
    """Label of an information set or a history as a cell shows it; empty ones are common."""
    return shortened(printable(text)) or '""'


def _number(value: float, whole: tuple[int, ...] = (0, 1)) -> str:
    """A number with five decimals, or by its size where these would hide it."""
    if value in whole:
        return str(int(value))
    return small(value) if value < 1e-4 else f"{value:.5f}"


def measured_report(
    players: Sequence[str], document: dict[str, Any], *, is_equilibrium: bool
) -> Report:
    """Return payoffs and regrets as measured, what they come to, and which equilibrium it is.

    Parameters
    ----------
    document : the figures as JSON values, with fractions as texts under `exact` if there are any
    """
    exact = document.get("exact")
    columns, sides = [Column("player", identifies=True)], [players]
    for name, layout in (("payoff", "+.10f"), ("regret", ".3e")):
        columns.append(Column(name, "number", layout=layout))
        sides.append(document[f"{name}s"])
        if exact:
            columns.append(Column(f"exact {name}", "number"))
            sides.append([_short(fraction) for fraction in exact[f"{name}s"]])
    rows = tuple(Row.of(columns, values) for values in zip(*sides, strict=True))
    lines, notes = [f"{UNRESOLVED}; the regrets are bounds from above. Try --exact."], []
    if document["resolved"]:
        shares = {"exploitability": f" (NashConv / {len(players)})"}
        lines = [
            f"{name}{shares.get(key, '')}: {document[key]:.6e}"
            + (f"   exactly {_short(exact[key])}" if exact else "")
            for key, name in _SUMS.items()
        ]
        is_proved = exact is not None and exact["max_regret"] == "0"
        known = document["identity"]
        lines += identity_lines(known, is_equilibrium=is_equilibrium, is_proved=is_proved)
        if exact and any(len(fraction) > LONGEST_FRACTION for fraction in exact["regrets"]):
            notes.append("Long fractions are printed by --json.")
        if not exact and any(0 < abs(value) < ROUNDING for value in document["regrets"]):
            notes.append("Regrets around 1e-16 are rounding; --exact tells.")
    figures = Table("", tuple(columns), rows)
    return Report((figures, Table("", lines=tuple(lines), notes=tuple(notes))))


def _short(fraction: str) -> str:
    """A fraction, if a person can read it."""
    return fraction if len(fraction) <= LONGEST_FRACTION else f"({len(fraction)} digits)"
