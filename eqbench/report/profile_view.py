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
    record = facts["cell"]
    reason = f" – {shortened(printable(record['reason']))}" if record["reason"] else ""
    iterations = f"{record['iterations']:,} iterations, " if record["iterations"] else ""
    time, memory = seconds(record["elapsed_s"]), mebibytes(record["peak_memory_bytes"])
    cell = [
        f"{record['status']}{reason}",
        f"{iterations}time {time}, memory {memory}, key {record['key']}",
    ]
    seed = "" if record["seed"] is None else f", seed {record['seed']},"
    title = f"{record['solver']}{seed} on {game_title(record['game'], record['game_spec'])}"
    if facts["candidate"] is None:
        return Report((Table(title, lines=(*cell, "the cell has no profile")),))
    sets = facts["information_sets"]
    order = sorted(range(len(sets)), key=lambda i: -sets[i]["reach"])
    shown = sets if show_all else [sets[i] for i in sorted(order[:MOST_SETS])]
    of_players: dict[str, list[dict[str, Any]]] = {}
    for item in shown:
        of_players.setdefault(item["player"], []).append(item)
    played = [_sets_table(player, own) for player, own in of_players.items()]
    more = (
        f"These are the {len(shown)} most reached of {len(sets):,} information sets; --all prints "
        "all."
    )
    return Report(
        (_candidate(title, cell, facts), *played, *_grid(facts["szafron"] or {})),
        _LEGEND,
        (more,) if len(shown) < len(sets) else (),
    )


def _candidate(title: str, cell: list[str], facts: dict[str, Any]) -> Table:
    found = facts["candidate"]
    which = f"rank {facts['rank']} (the best is 0) of {facts['candidates']}"
    refuted = found["refuted"]
    allowed = EQUILIBRIUM_SHARE * facts["payoff_scale"]
    lines = [
        *cell,
        f"{which}: {found['claim']}, {found['profile']}",
        *([] if refuted is None else [f"refuted: {shortened(printable(refuted))}"]),
        *identity_lines(found["identity"], is_equilibrium=found["max_regret"] <= allowed),
    ]
    columns = (
        Column("player", identifies=True),
        Column("payoff", "payoff", layout="+z.5f"),
        Column("regret", "small"),
    )
    names = map(_label, facts["players"])
    rows = tuple(
        Row(values[0], dict(zip((column.title for column in columns), values, strict=True)))
        for values in zip(names, found["payoffs"], found["regrets"], strict=True)
    )
    players, nash_conv = len(found["regrets"]), found["nash_conv"]
    note = (
        f"NashConv {small(nash_conv)}, max regret {small(found['max_regret'])}, "
        f"exploitability (NashConv / {players}) {small(nash_conv / players)}"
    )
    return Table(title, columns, rows, (note,), lines=tuple(lines))


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
    numbers = ["", *(f" {k}" for k in range(2, abreast + 1))]
    columns = [
        Column("information set", "text", "information\nset", identifies=True),
        Column("reach", "number", identifies=True),
        Column("own reach", "number", "own\nreach", identifies=True),
    ]
    for k in numbers:
        frequency = Column(f"frequency{k}", "number", f"fre-\nquency{k}")
        columns += [Column(f"action{k}", "text"), frequency, Column(f"gap{k}", "number")]
    rows = []
    for item in sets:
        start = {
            "information set": _label(item["label"]),
            "reach": "unreached" if item["reach"] == 0 else _probability(item["reach"]),
            "own reach": _probability(item["own_reach"]),
        }
        for first in range(0, len(item["actions"]), abreast):
            values: dict[str, Any] = dict.fromkeys((c.title for c in columns), "")
            actions = item["actions"][first : first + abreast]
            for k, action in zip(numbers, actions, strict=False):
                gap = action["gap"]
                values[f"action{k}"] = shortened(action["action"])
                values[f"frequency{k}"] = _probability(action["frequency"])
                values[f"gap{k}"] = "–" if gap is None else "0" if gap == 0 else _number(gap)
            rows.append(Row(start["information set"], values | ({} if first else start)))
    narrow = _sets_table(player, sets, abreast - 1) if abreast > 1 else None
    return Table(_label(player), tuple(columns), tuple(rows), narrow=narrow)


def _grid(grid: dict[str, list[list[float]]]) -> list[Table]:
    """Szafron's letters, a table for each."""
    title = "Probability of bet or call with card j in situation k (Szafron et al. 2013)"
    tables: list[Table] = []
    for letter, rows in grid.items():
        player, situations = SITUATIONS[letter]
        name = f"{letter}_jk ({player})"
        titles = [f"{k}: {_label(history)}" for k, history in enumerate(situations, start=1)]
        columns = (Column(name, identifies=True), *(Column(t, "number") for t in titles))
        cards = []
        for card, row in zip(CARDS, rows, strict=True):
            values = dict(zip(titles, map(_probability, row), strict=True))
            cards.append(Row(f"card {card}", {name: f"card {card}", **values}))
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
    columns, rows = [Column("player", identifies=True)], []
    for name, layout in (("payoff", "+.10f"), ("regret", ".3e")):
        columns.append(Column(name, "number", layout=layout))
        columns += [Column(f"exact {name}", "number")] if exact else []
    for p, label in enumerate(players):
        values = {name: document[f"{name}s"][p] for name in ("payoff", "regret")}
        proved = {f"exact {name}": _short(exact[f"{name}s"][p]) for name in values if exact}
        rows.append(Row(label, {"player": label, **values, **proved}))
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
