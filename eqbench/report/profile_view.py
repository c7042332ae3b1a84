"""One stored profile as a person reads it: tables of what it plays, and which equilibrium it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eqbench.report.entries import game_title
from eqbench.report.naming import Match, decimal, kind_of_match
from eqbench.report.profile_facts import CARDS, SITUATIONS
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.report.terminal import mebibytes, seconds, small
from eqbench.text import printable, shortened
from eqbench.verification import UNRESOLVED

MOST_SETS = 400
MOST_DIFFERENCES = 5
EQUILIBRIUM_SHARE = 1e-6  # of the payoff range: so much regret an equilibrium may have here
_CLOSENESS: dict[Match, str] = {
    "strict": "on its path of play, and every published constraint holds",
    "up to rounding": "as published up to rounding: on its path of play, but some "
    "constraint is missed by more than 1e-7",
    "on path": "on its path of play; elsewhere the behavior is not as published",
    "near": "not on its path of play, only the nearest published one",
    "cluster": "in no published set, numbered within the run",
}
ROUNDING = 1e-13
LONGEST_FRACTION = 40
_SUMS = {"nash_conv": "NashConv", "max_regret": "max regret", "exploitability": "exploitability"}
_LEGEND = (
    "reach: probability that play gets there; own reach: the player's own part of it. "
    "gap: value of the best action minus that of this one, in payoff units, once play is there; "
    "where gaps are 0 the player is indifferent. – where chance and the others never lead there."
)


def profile_report(facts: dict[str, Any], *, show_all: bool) -> Report:
    """Return a cell, its candidate and what it plays; the most reached sets unless `show_all`."""
    record, found = facts["cell"], facts["candidate"]
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
    sets = facts["information_sets"]
    order = sorted(range(len(sets)), key=lambda i: -sets[i]["reach"])
    shown = sets if show_all else [sets[i] for i in sorted(order[:MOST_SETS])]
    owners = dict.fromkeys(item["player"] for item in shown)
    played = [_sets_table(player, [s for s in shown if s["player"] == player]) for player in owners]
    more = (
        f"These are the {len(shown)} most reached of {len(sets):,} information sets; --all prints "
        "all."
    )
    candidate = Table(title, columns, rows, (note,), lines=tuple(lines))
    tables = (candidate, *played, *_grid(facts["szafron"] or {}))
    return Report(tables, _LEGEND, (more,) if len(shown) < len(sets) else ())


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
        f"  {_CLOSENESS[kind_of_match(identity)]}; distance {small(identity['distance'])}",
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
        label, own = _label(item["label"]), _probability(item["own_reach"])
        reach = "unreached" if item["reach"] == 0 else _probability(item["reach"])
        for first in range(0, len(item["actions"]), abreast):
            values = ["", "", ""] if first else [label, reach, own]
            for action in item["actions"][first : first + abreast]:
                gap = action["gap"]
                said = "–" if gap is None else "0" if gap == 0 else _number(gap)
                values += [shortened(action["action"]), _probability(action["frequency"]), said]
            values += [""] * (len(columns) - len(values))
            rows.append(Row.of(columns, values, label))
    narrow = _sets_table(player, sets, abreast - 1) if abreast > 1 else None
    return Table(_label(player), tuple(columns), tuple(rows), narrow=narrow)


def _grid(grid: dict[str, list[list[float]]]) -> list[Table]:
    """Szafron's letters, a table for each."""
    title = "Probability of bet or call with card j in situation k (Szafron et al. 2013)"
    tables: list[Table] = []
    for letter, rows in grid.items():
        player, situations = SITUATIONS[letter]
        titles = [f"{k}: {_label(history)}" for k, history in enumerate(situations, start=1)]
        columns = (
            Column(f"{letter}_jk ({player})", identifies=True),
            *(Column(t, "number") for t in titles),
        )
        named = zip(CARDS, rows, strict=True)
        cards = (Row.of(columns, (f"card {k}", *map(_probability, row))) for k, row in named)
        tables.append(Table("" if tables else title, columns, tuple(cards)))
    return tables


def _label(text: str) -> str:
    """Label of an information set or a history as a cell shows it; empty ones are common."""
    return shortened(printable(text)) or '""'


def _probability(value: float) -> str:
    return f"{value:.0f}" if value in (0, 1) else _number(value)


def _number(value: float) -> str:
    """A number with five decimals, or by its size where these would hide it."""
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
    rows = [Row.of(columns, values) for values in zip(*sides, strict=True)]
    table = Table("", tuple(columns), tuple(rows))
    if not document["resolved"]:
        line = f"{UNRESOLVED}; the regrets are bounds from above. Try --exact."
        return Report((table, Table("", lines=(line,))))
    lines, notes = [], []
    for key, name in _SUMS.items():
        share = f" (NashConv / {len(players)})" if key == "exploitability" else ""
        more = f"   exactly {_short(exact[key])}" if exact else ""
        lines.append(f"{name}{share}: {document[key]:.6e}{more}")
    is_proved = exact is not None and exact["max_regret"] == "0"
    identity = document["identity"]
    lines += identity_lines(identity, is_equilibrium=is_equilibrium, is_proved=is_proved)
    if exact and any(len(fraction) > LONGEST_FRACTION for fraction in exact["regrets"]):
        notes.append("Long fractions are printed by --json.")
    if not exact and any(0 < abs(value) < ROUNDING for value in document["regrets"]):
        notes.append("Regrets around 1e-16 are rounding; --exact tells.")
    return Report((table, Table("", lines=tuple(lines), notes=tuple(notes))))


def _short(fraction: str) -> str:
    """A fraction, if a person can read it."""
    return fraction if len(fraction) <= LONGEST_FRACTION else f"({len(fraction)} digits)"
