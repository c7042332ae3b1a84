"""A cross-play as tables: the entries, who can be exchanged for whom, worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from eqbench.report.naming import decimal, identity_text, marks
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.report.terminal import small
from eqbench.studies.crossplay.entries import left_out_notes
from eqbench.studies.crossplay.payoffs import SAME_PLAN

LONGEST_FRACTION = 12
MOST_IN_MATRIX = 60
_GAINS = "=: an equilibrium; otherwise the largest gain of any player by deviating."
_SIGNS = "=: an equilibrium; .: not one."
_WORST = (
    "own: all follow the entry. others agree: worst case when all others follow one and the same "
    "entry. others differ: when each of them may follow another one. In brackets what P1, P2, … "
    "follow then, where it costs something. guaranteed (others act as one): against others who "
    "share what they know and may play anything. *: best worst case of the player."
)
_DECIMALS = (
    "What is known only as decimals, as solvers find it, is rounded and so hardly ever exactly an "
    "equilibrium. Without --exact, --tolerance says how much regret an equilibrium may have."
)


def report_on(document: Mapping[str, Any]) -> Report:
    """Return the tables of the summary of a cross-play."""
    if "entries" not in document:
        return Report((Table(f"Cross-play on {document['game']}", lines=("not measured yet",)),))
    several = len(document["entries"]) > 1
    exchanges = [_combinations(document), *_exchanges(document)] if several else []
    return Report((_entries(document), *exchanges, _worst_cases(document)))


def _entries(document: Mapping[str, Any]) -> Table:
    entries, figures = document["entries"], document.get("exact", document)
    identities = [entry["identity"] for entry in entries]
    names = [identity_text(identity) for identity in identities]
    parameters = [_parameters(identity) for identity in identities]
    rows = tuple(
        Row(
            entry["label"],
            {
                "entry": entry["label"],
                "from": entry["source"],
                "identity": name.split() or None,
                "further parameters": values or None,
                "payoffs": list(map(_payoff, own["payoffs"])),
                "max regret": entry["max_regret"],
            },
            exact=frozenset(["max regret"] if "exact" in document else []),
        )
        for entry, name, values, own in zip(entries, names, parameters, figures["own"], strict=True)
    )
    known = [Column("identity", "words", notes=tuple(marks([(name,) for name in names])))]
    more = [Column("further parameters", dispensable=1)]
    columns = (
        Column("entry", identifies=True),
        Column("from"),
        *(known if any(names) else []),
        *(more if any(parameters) else []),
        Column("payoffs", "payoffs"),
        Column("max regret", "small", "max\nregret"),
    )
    sources = {entry["label"]: entry["source"] for entry in entries}
    notes = (
        *(
            f"left out: {copy['source']} plays the same as {sources[copy['same_as']]}"
            for copy in document["copies"]
        ),
        *left_out_notes(document["left_out"]),
        *_no_equilibria(document),
    )
    return Table(f"Cross-play on {document['game']}", columns, rows, notes)


def _parameters(identity: Mapping[str, Any] | None) -> str:
    """Parameters besides the leading one, which stands with the name."""
    pairs = identity["parameters"].items() if identity else ()
    leading = identity and identity.get("leading")
    return ", ".join(f"{name}={decimal(value)}" for name, value in pairs if name != leading)


def _no_equilibria(document: Mapping[str, Any]) -> list[str]:
    """Notes on entries that are no equilibria themselves."""
    labels, equilibrium = _labels(document), document["interchange"][0]["equilibrium"]
    off = [label for a, label in enumerate(labels) if not equilibrium[a][a]]
    if not off:
        return []
    what = "is no equilibrium itself" if len(off) == 1 else "are no equilibria themselves"
    allowed = "exactly 0" if "exact" in document else small(document["tolerance"])
    note = f"{_listed(off)} {what} (allowed regret: {allowed})"
    return [note, _DECIMALS] if "exact" in document else [note]


def _combinations(document: Mapping[str, Any]) -> Table:
    found, players = document["combinations"], document["players"]
    n, equilibria = found["count"], found["equilibria"]
    what = "combinations of different strategies"
    counts = zip(found["strategies"], players, strict=True)
    strategies = _listed([f"{count:,} of {player}" for count, player in counts])
    share = (
        f"{n:,} {what} are too many to verify all of them."
        if equilibria is None
        else f"{equilibria:,} of {n:,} {what} are equilibria ({found['share']:.1%})."
    )
    least = "" if "exact" in document else f" (by more than {SAME_PLAN:.0e})".replace("e-0", "e-")
    lines = [f"{share} Different strategies{least} in the entries: {strategies}."]
    if steady := [players[p] for p in _steady(document)]:
        verb = "follows" if len(steady) == 1 else "each follow"
        lines.append(f"{_listed(steady)} {verb} the same strategy in all entries.")
    return Table("", lines=tuple(lines))


def _steady(document: Mapping[str, Any]) -> list[int]:
    """Players whose strategy is the same in all entries."""
    return [p for p, count in enumerate(document["combinations"]["strategies"]) if count == 1]


def _exchanges(document: Mapping[str, Any]) -> list[Table]:
    """What happens if one player follows another entry than all others, a matrix for each."""
    players, steady = range(len(document["players"])), _steady(document)
    shown = [p for p in players if p not in steady]
    if len(players) == 2:  # P2 among the strategies of another entry is P1 among those of this
        shown = [] if steady else [0]
    return [_exchange(document, player) for player in shown]


def _exchange(document: Mapping[str, Any], player: int) -> Table:
    """Matrix of a player with gains, or with signs where these are too wide."""
    labels, measured = _labels(document), document["interchange"][player]
    title = f"{measured['player']} follows the row, all others the column"
    equilibrium = measured["equilibrium"]
    if len(labels) > MOST_IN_MATRIX:
        pairs = f"{sum(map(sum, equilibrium))} of {len(labels) ** 2} pairs are equilibria"
        return Table(title, lines=(f"{pairs}; too wide to print, but --json and --out have all",))
    columns = (
        Column("", identifies=True),
        *(Column(label, "number") for label in labels),
    )

    def matrix(write: Any, legend: str, narrow: Table | None = None) -> Table:
        rows = tuple(
            Row(
                label,
                {"": label}
                | {
                    other: "=" if equilibrium[a][b] else write(measured["regrets"][a][b])
                    for b, other in enumerate(labels)
                },
            )
            for a, label in enumerate(labels)
        )
        return Table(title, columns, rows, (legend,), narrow=narrow)

    signs = matrix(lambda regrets: ".", _SIGNS)
    return matrix(lambda regrets: small(max(regrets)), _GAINS, signs)


def _worst_cases(document: Mapping[str, Any]) -> Table:
    labels = _labels(document)
    cases_of = document.get("exact", document)["worst_cases"]
    rows = []
    for player, rounded in enumerate(document["worst_cases"]):
        cases = cases_of[player]
        for a, label in enumerate(labels):
            values: dict[str, Any] = {
                "player": rounded["player"] if a == 0 else None,
                "entry": label,
                "own": _payoff(cases["own"][a]),
            }
            for column, key in _ASSUMPTIONS.items():
                best = "*" if label in cases[key]["best"] else " "
                values[column] = f"{_payoff(cases[key]['payoffs'][a])}{best}"
                lost = rounded["own"][a] - rounded[key]["payoffs"][a]
                costs = lost > document["tolerance"] and "entries" in cases[key]
                followed = f"({' '.join(cases[key]['entries'][a])})" if costs else ""
                values[f"{column}: who"] = followed
            rows.append(Row(f"{rounded['player']} {label}", values))
    who = {
        name: [Column(f"{name}: who", stacked=" ", dispensable=1)]
        if any(row.values[f"{name}: who"] for row in rows)
        else []
        for name in _ASSUMPTIONS
    }
    columns = (
        Column("player", identifies=True),
        Column("entry", identifies=True),
        Column("own", "number"),
        Column("others agree", "number", "others\nagree"),
        *who["others agree"],
        Column("others differ", "number", "others\ndiffer"),
        *who["others differ"],
        Column("guaranteed", "number"),
    )
    return Table("Worst cases over the entries", columns, tuple(rows), (_WORST,))


_ASSUMPTIONS = {
    "others agree": "others_agree",
    "others differ": "others_differ",
    "guaranteed": "guaranteed_others_act_as_one",
}


def _labels(document: Mapping[str, Any]) -> list[str]:
    return [entry["label"] for entry in document["entries"]]


def _listed(names: Sequence[str]) -> str:
    """Names as ``A``, ``A and B``, ``A, B and C``."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _payoff(value: float | str) -> str:
    """A payoff: a fraction that a person can read, or five decimals."""
    if isinstance(value, str) and len(value) <= LONGEST_FRACTION:
        return value
    return f"{float(Fraction(value)):+z.5f}"
