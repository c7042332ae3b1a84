"""What the summary of a trace says, as tables: folds, vertical pieces, equilibria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from eqbench.report.naming import identity_text, marks
from eqbench.report.rows import Column, Report, Row, Table, profile_columns, profile_values
from eqbench.report.terminal import seconds
from eqbench.spec import parse_spec
from eqbench.studies.branch import POLISHED, SAME_PAYOFFS

MOST_ROWS = 20

_FOLDS = (
    "exact: determined by the support; otherwise the fold is that of the regularized branch and "
    "depends on epsilon"
)
_INSIDE = "payoffs: range over a few polished points inside; the piece goes further"
_VERTICAL = (
    "Equilibria form a continuum at this value. The crossing is the one of them that epsilon and "
    "the regularization select."
)
_COUNTS = (
    "Counts are of this branch and depend on epsilon and the regularization; other equilibria may "
    f"exist beside it. Payoffs count as distinct if they differ by more than {SAME_PAYOFFS:g}, and "
    f"a crossing as polished if the verifier measures a max regret of at most {POLISHED:g} of the "
    "payoff range."
)


def trace_report(document: Mapping[str, Any]) -> Report:
    """Return the tables of a summary."""
    game = parse_spec(document["game"]).without(document["parameter"])
    title, name = f"Branch of {game}", document["parameter"]
    if not document["points"]:
        return Report((Table(title, lines=("no point of it yet",)),))
    payoffs = tuple(
        Column(f"u:{player}", "payoff", layout="+z.6f") for player in document["players"]
    )
    titles = [column.title for column in payoffs]
    place = Column(name, "number", identifies=True, layout=".9f")
    tables = [Table(title, lines=tuple(_course(document)))]
    if document["folds"]:
        folds = [
            {name: fold["parameter"], "exact": "yes" if fold["exact"] else "no"}
            | dict(zip(titles, fold["payoffs"], strict=True))
            for fold in document["folds"]
        ]
        columns = (place, *payoffs, Column("exact"))
        tables.append(_listed(f"Folds: {len(folds):,}", columns, folds, _FOLDS))
    if document["vertical"]:
        pieces = [
            {name: piece["parameter"]}
            | dict(zip(titles, map(_range, *piece["payoffs"]), strict=True))
            for piece in document["vertical"]
        ]
        title = f"Vertical pieces: {len(pieces):,}"
        tables.append(_listed(title, (place, *payoffs), pieces, _INSIDE))
    tables += [_equilibria(entry, document) for entry in document["at"]]
    return Report(tuple(tables), notes=(_COUNTS,) if document["at"] else ())


def _course(document: Mapping[str, Any]) -> Iterator[str]:
    """What is said of the whole branch."""
    name, work = document["parameter"], document["factorizations"]
    first, end, last = (f"{name}={document[key]:.9g}" for key in ("from", "to", "last"))
    yield f"from {first} towards {end}, {_method(document)}"
    yield (
        f"{_count(document['points'], 'point')} up to {last}"
        + (f", {_count(work, 'factorization')}" if work is not None else "")
        + f", {seconds(document['elapsed_s'])}"
    )
    if not document["finished"]:
        yield document["reason"]
    elif last == first:
        yield f"The branch came back to {first}."
    if not document["folds"]:
        yield "No folds."
    if document["corners"]:
        corners = _count(len(document["corners"]), "corner")
        yield f"{corners}, where actions enter or leave the support"
    most, intervals = document["coexisting"]["most"], document["coexisting"]["intervals"]
    if most > 1:
        shown = ", ".join(f"{low:.6f} to {high:.6f}" for low, high in intervals[:MOST_ROWS])
        more = "" if len(intervals) <= MOST_ROWS else f" and {len(intervals) - MOST_ROWS:,} more"
        yield f"Up to {most} points of this branch at one value of {name}: {shown}{more}"


def _method(document: Mapping[str, Any]) -> str:
    """How the branch is regularized, as far as the solver says."""
    words = [
        f"{name} {document[name]}"
        for name in ("epsilon", "regularization", "derivative")
        if document[name] is not None
    ]
    return ", ".join(words) or document["solver"]


def _listed(
    title: str, columns: tuple[Column, ...], values: list[dict[str, Any]], note: str
) -> Table:
    """A table of the first values, with how many more there are."""
    rows = tuple(Row(f"{item[columns[0].title]:.9f}", item) for item in values[:MOST_ROWS])
    more = len(values) - MOST_ROWS
    notes = (f"{more:,} more in summary.json", note) if more > 0 else (note,)
    return Table(title, columns, rows, notes=notes)


def _equilibria(entry: Mapping[str, Any], document: Mapping[str, Any]) -> Table:
    players, found = document["players"], entry["equilibria"]
    rows = tuple(
        Row(
            str(number),
            {"#": number, "profile": item["profile"]}
            | profile_values({**item, "is_equilibrium": item["polished"]}, players),
        )
        for number, item in enumerate(found, start=1)
    )
    names = [(identity_text(item["identity"]),) for item in found]
    notes = [
        *marks(names),
        *(["! not polished to an equilibrium"] if entry["polished"] < len(found) else []),
        *([_VERTICAL] if entry["vertical"] else []),
        f"{_method(document)}.",
    ]
    return Table(
        f"Equilibria on this branch at {document['parameter']}={entry['parameter']:.9g}",
        (
            Column("#", "count", identifies=True),
            *profile_columns(players),
            Column("profile", dispensable=1),
        ),
        rows,
        notes=tuple(notes),
        lines=tuple(_counted(entry, players)),
    )


def _counted(entry: Mapping[str, Any], players: list[str]) -> Iterator[str]:
    """What is said of the equilibria at one value, on the branch and beside it."""
    low, high = entry["window"]
    yield (
        f"{_count(entry['crossings'], 'crossing')}, "
        f"{_count(entry['polished'], 'polished equilibrium', 'polished equilibria')} with "
        f"{_count(entry['distinct_payoffs'], 'distinct payoff vector')}"
        + (f"; as many crossings from {low:.6f} to {high:.6f}" if low < high else "")
    )
    if entry["lost"]:
        yield f"{_count(entry['lost'], 'more crossing')} could not be computed"
    if "beside" not in entry:
        return
    beside = entry["beside"]
    words = [
        f"Found beside it from {_count(beside['starts'], 'random start')}: "
        f"{_count(beside['polished'], 'equilibrium', 'equilibria')} with "
        f"{_count(beside['distinct_payoffs'], 'distinct payoff vector')}"
    ]
    if beside["not_on_branch"] is not None:
        words.append(f", of which {beside['not_on_branch']} not on this branch")
    ranges = [
        f"u:{player} {_range(*ends)}"
        for player, ends in zip(players, beside["payoff_ranges"], strict=False)
    ]
    yield "".join(words) + (f"; {', '.join(ranges)}" if ranges else "")


def _range(low: float, high: float) -> str:
    return f"{low:+z.6f} … {high:+z.6f}"


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
