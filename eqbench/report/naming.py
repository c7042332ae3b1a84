"""Equilibria for people: their names, and which solvers found them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from typing import Any

from eqbench.documents import convert
from eqbench.errors import counted
from eqbench.report import read_data, trials
from eqbench.report.known import set_texts
from eqbench.report.rows import Cell, Column, Row, Table
from eqbench.report.trials import RunCell, Trials
from eqbench.spec import is_foreign
from eqbench.store.schema import EQUILIBRIA, CellRecord, EquilibriumRecord
from eqbench.text import printable, shortened, small
from eqbench.verdict import credible_text

Identity = Mapping[str, Any]  # as an IdentityRecord has it

NEAR, LOOSE, IMPERFECT, ROUGH, UNORDERED = "≈", "*", "†", "‡", "§"
_CLUSTER = "cluster:"
_WORDLESS = re.compile(r" at [^\w\s,;]+(?=[,;]|$)")
_SYMBOLS = {"alpha": "α", "beta": "β"}
# The members of a family that their names do not sort, by the probability c11.
_FAMILY = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")


def label(record: CellRecord) -> list[str]:
    """Names of what a cell found: that of its best candidate, then all on whose path others are.

    Each has the number of those that were handed over, and a single one where they are.
    """
    members, finds = found(record), {}
    for best in record.equilibria[:1]:
        if best.identity:
            near = replace(best, identity={**best.identity, "on_path": False})
            finds[best.identity["name"]] = [near]
    finds |= {name: members[name] for name in sorted(members, key=order)}
    texts = []
    for name, own in finds.items():
        shown = handed_over(own)
        where = "" if len(finds) > 1 else spread(item.identity for item in shown)
        rough = ROUGH * (name in members and is_rough(record, own))
        texts.append(identity_text(own[0].identity, where, len(shown)) + rough)
    return texts


def is_rough(record: CellRecord, members: Sequence[EquilibriumRecord]) -> bool:
    """Whether members of an equilibrium missed the target and no published conditions hold."""
    target = max(record.target or math.inf, trials.NEGLIGIBLE)
    strict = any(item.identity and item.identity["strict"] for item in members)
    return not strict and min(item.max_regret for item in members) > target


def _nearness(entries: Sequence[RunCell]) -> tuple[str, ...]:
    """Key of ``≈`` in labels of cells: which only came near an equilibrium, and why; or none."""
    reasons: dict[str, list[RunCell]] = {}
    for entry in entries:
        record, first = entry.record, next(iter(entry.record.equilibria), None)
        if first and first.identity and first.identity["name"] not in found(record):
            is_above = record.tolerance is not None and first.max_regret > record.tolerance
            above = f"max regret above {small(record.tolerance or 0)}" * is_above
            what = "claim refuted" if first.refuted else above or "play differs"
            reasons.setdefault(what, []).append(entry)
    label_of = trials.row_labels(entries)
    parts = [f"{what} ({trials.labels(own, label_of)})" for what, own in reasons.items()]
    return (f"{NEAR} only near it: {'; '.join(parts)}",) if parts else ()


def found(record: CellRecord) -> dict[str, list[EquilibriumRecord]]:
    """Candidates that are equilibria by the names of these, best first.

    Their play is on the path of one, their regret within the tolerance, and no claim refuted.
    """
    members: dict[str, list[EquilibriumRecord]] = {}
    for item in filter(partial(holds, record), record.equilibria):
        if item.identity and item.identity["on_path"]:
            members.setdefault(item.identity["name"], []).append(item)
    return members


def holds(record: CellRecord, item: EquilibriumRecord) -> bool:
    """Return whether a candidate of a cell is an equilibrium, up to the tolerance of the cell."""
    allowed = math.inf if record.tolerance is None else record.tolerance
    return item.refuted is None and item.max_regret <= allowed


def places(record: CellRecord) -> tuple[set[int], int, bool] | None:
    """Components that a cell found, how many the game has, and whether these are points.

    None where the complete set of the game is not known, or nothing was found.
    """
    known = [
        item.verdicts["place"]["record"]
        for item in record.equilibria
        if holds(record, item) and "place" in item.verdicts
    ]
    with suppress(KeyError, TypeError, ValueError):  # a stored record may have anything in it
        numbers = {int(place["component"]) for place in known}
        if known and 1 <= min(numbers) <= max(numbers) <= (of := int(known[0]["of"])):
            return numbers, of, bool(known[0]["isolated"])
    return None


def found_of(*records: CellRecord) -> str:
    """Share of all equilibria that cells found: ``1/7``, or ``2/2 components``; or empty."""
    known = list(filter(None, map(places, records)))
    if not known:
        return ""
    _, of, isolated = known[0]
    together = set[int]().union(*(numbers for numbers, *_ in known))
    return f"{len(together)}/{of}" + ("" if isolated else " component" + "s" * (of > 1))


def handed_over(members: Sequence[EquilibriumRecord]) -> Sequence[EquilibriumRecord]:
    """Candidates that a solver calls equilibria, of several on one path; the best if none is."""
    claimed = [item for item in members if item.claim in EQUILIBRIA]
    return claimed or members[:1]


def are_extreme(listed: Sequence[EquilibriumRecord]) -> bool:
    """Whether a complete list has a continuum, by its extreme equilibria, which have one name."""
    named = (item.identity for item in listed if item.claim == "complete list")
    names = [identity["name"] for identity in named if identity]
    return len(set(names)) < len(names)


def payoff_ranges(members: Sequence[EquilibriumRecord]) -> list[float | str]:
    """Payoffs of some equilibria: of each player one, or from the least to the largest."""
    payoffs: list[float | str] = []
    for own in zip(*(member.payoffs for member in members), strict=True):
        low, high = min(own), max(own)
        payoffs.append(low if high - low <= SAME_PAYOFF else f"{low:+z.5f}…{high:+z.5f}")
    return payoffs


def credible_range(members: Sequence[EquilibriumRecord]) -> str | None:
    """Credible sets of some equilibria, from the least to the most; None if none was judged."""
    known = sorted((c["credible"], _credible(own)) for own in members if (c := own.credible))
    if known and known[0][0] < known[-1][0]:
        sign = IMPERFECT * any(is_imperfect(own) for own in members)
        return f"{known[0][0]}…{known[-1][1].partition(',')[0].rstrip(IMPERFECT + UNORDERED)}{sign}"
    return known[0][1] if known else None


def is_imperfect(item: EquilibriumRecord) -> bool:
    """Whether players gain in some subgame, as far as that was judged."""
    subgames = item.kind["subgame_perfect"] if item.kind else None
    return subgames is not None and subgames["perfect"] < subgames["proper"]


def _credible(item: EquilibriumRecord) -> str:
    """How far a profile is credible, with a mark if it is not subgame-perfect."""
    count, comma, worst = credible_text(item.credible).partition(",")
    sequential = item.kind["sequential"] if item.kind else ""
    judged = item.credible
    is_full = judged is not None and judged["credible"] == judged["sets"]
    mark = IMPERFECT if is_imperfect(item) else UNORDERED * (sequential == "refuted" and is_full)
    return f"{count}{mark}{comma}{worst}"


def marks_of(cells: Sequence[RunCell], labels: Iterable[str]) -> tuple[str, ...]:
    """Explanations of the marks in labels of cells, and which are only near an equilibrium."""
    return (*_nearness(cells), *marks(text.replace(f"{NEAR} ", "") for text in labels))


def marks(labels: Iterable[str], where: str = "marks") -> tuple[str, ...]:
    """Explanations of the marks and of the clusters in labels, or of those in `verdicts`."""
    text = " ".join(labels)
    known = read_data("profile")[where].items()
    return tuple(dict.fromkeys(meaning for mark, meaning in known if mark in text))


def order(name: str) -> tuple[Any, ...]:
    """Sort key of a name: known ones by family and number, then clusters by number."""
    place = _FAMILY.index(name) if name in _FAMILY else 0
    family, _, member = name.partition(":")
    numbered = [int(part) if at % 2 else part for at, part in enumerate(re.split(r"(\d+)", member))]
    return is_cluster(name), family, place, numbered


def is_cluster(name: str) -> bool:
    """True for the name of an equilibrium that is not known, numbered within its run."""
    return name.startswith(_CLUSTER)


def kind_of_match(identity: Identity) -> str:
    """Closeness of a profile to the equilibrium that its identity names: see profile.toml."""
    if is_cluster(identity["name"]):
        return "cluster"
    if not identity["on_path"]:
        return "near"
    if identity["strict"]:
        return "strict"
    return "on path" if identity["off_path"] else "up to rounding"


def described(identity: Identity) -> dict[str, str]:
    """Title, family and meaning of the leading symbol of an equilibrium; empty where it has none.

    Those of a published set are as they are now, of others as another version or machine stored
    them, but for labels of hidden moves, which say nothing: ``?(?)``.
    """
    known = set_texts(identity["name"])
    names = ("title", "family", "meaning")
    stored = {name: printable(identity.get(name) or "") for name in names}
    stored["title"] = _WORDLESS.sub(" at a set without a name", stored["title"])
    return {name: known.get(name) or stored[name] for name in names}


def spread(identities: Iterable[Identity | None]) -> str:
    """Place of members in their family: ``β=0.189`` or ``β 0.1…0.3``; empty if it has no name."""
    known = [identity for identity in identities if identity and identity.get("leading")]
    if not known:
        return ""
    values = [identity["parameters"][identity["leading"]] for identity in known]
    name, low, high = symbol(known[0]["leading"]), decimal(min(values)), decimal(max(values))
    return f"{name}={low}" if low == high else f"{name} {low}…{high}"


def symbol(parameter: str) -> str:
    """Letter of a parameter, or its name."""
    return _SYMBOLS.get(parameter, parameter)


def decimal(value: float, digits: int = 3) -> str:
    """A number with so many decimals, without zeros at its end."""
    text = f"{value:z.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def identity_text(identity: Identity | None, where: str | None = None, times: int = 1) -> str:
    """Name of an equilibrium with its place in the family, and how often; empty if unknown.

    The place is that of its leading parameter unless `where` is given.
    """
    if not identity:
        return ""
    match = kind_of_match(identity)
    near, loose = f"{NEAR} " * (match == "near"), LOOSE * (match == "on path")
    where = spread([identity]) if where is None else where
    count = f" ×{times}" * (times > 1)
    place = f"{',' * bool(count)} {where}" if where else ""
    return f"{near}{identity['name']}{count}{place}{loose}"


def verdict_texts(item: EquilibriumRecord) -> dict[str, str]:
    """Text of each verdict on a candidate that has a column, by the name of the column."""
    credible = {} if item.credible is None else {"credible": _credible(item)}
    others = {
        name: shortened(printable(own["label"]))
        for name, own in item.verdicts.items()
        if name != "place"  # of which cells have one figure for all their candidates
    }
    return credible | {printable(name): text for name, text in others.items()}


_COLUMNS = convert(read_data("columns")["equilibria"], tuple[Column, ...])
MOST_CLUSTERS = 12
SAME_PAYOFF = 1e-5  # less is not seen in tables
FOUND = "equilibria found"  # topic of tables
ROUGHLY = read_data("profile")["marks"][ROUGH]
_OFTEN = {" ×": read_data("profile")["marks"]["×"], "/": "k/n: by k of n cells"}


@dataclass(frozen=True, eq=False)
class FoundEquilibrium:
    """An equilibrium and the cells that found it, or came near it, with their candidates.

    `title` names its run too where clusters of several runs have to be distinguished.
    """

    name: str
    title: str
    is_near: bool
    cells: list[tuple[RunCell, Sequence[EquilibriumRecord]]]

    @cached_property
    def members(self) -> list[EquilibriumRecord]:
        """All candidates, the best first."""
        members = (item for _, own in self.cells for item in own)
        return sorted(members, key=lambda item: item.max_regret)

    @cached_property
    def ranked(self) -> list[tuple[RunCell, EquilibriumRecord]]:
        """A candidate of each cell, by which to show it; what rounding leaves decides nothing.

        Those at the target stand first, of these the credible ones, then those as published.
        """
        known = [(cell, min(own, key=partial(_rank, cell))) for cell, own in self.cells]
        return sorted(known, key=lambda each: _rank(*each))

    @cached_property
    def where(self) -> str:
        """Place of the candidates in their family."""
        return spread(item.identity for item in self.members)

    @cached_property
    def words(self) -> str:
        """What is played in it, in a few words; empty where it has none."""
        return self._known("title")

    @cached_property
    def cautious(self) -> str:
        """Its words, or its title, and how close the best came where no cell met the target."""
        words, regret = self.words or self.title, small(self.members[0].max_regret)
        is_met = any(entry.record.status == "ok" for entry, _ in self.cells)
        return words if is_met else f"{words} – not within the target, max regret {regret}"

    @cached_property
    def family(self) -> str:
        """Name of the family of which it is a part; empty if of none."""
        return self._known("family")

    @cached_property
    def meaning(self) -> str:
        """Meaning of the parameter that says where candidates are: ``β: how often …``, or empty."""
        identity: Identity = self.members[0].identity or {}
        meaning, leading = self._known("meaning"), printable(identity.get("leading") or "")
        return f"{symbol(leading)}: {meaning}" if meaning and self.where else ""

    @cached_property
    def _texts(self) -> dict[str, str]:
        return described(self.members[0].identity or {"name": self.name})

    def _known(self, what: str) -> str:
        return shortened(self._texts[what])

    @cached_property
    def solvers(self) -> dict[str, bool]:
        """Its solvers, each with whether all of its members are rough."""
        known: dict[str, bool] = {}
        for entry, own in self.cells:
            is_so = not self.is_near and is_rough(entry.record, own)
            known[entry.solver] = known.get(entry.solver, True) and is_so
        return known

    def by(self, solver: str) -> list[Sequence[EquilibriumRecord]]:
        """Candidates of each cell of a solver."""
        return [own for entry, own in self.cells if entry.solver == solver]


def _rank(entry: RunCell, item: EquilibriumRecord) -> tuple[bool, float, bool, bool, float]:
    """Sort key of a candidate among those of an equilibrium, the one to show first."""
    judged, identity = item.credible, item.identity
    credible = judged["credible"] / judged["sets"] if judged and judged["sets"] else 0.0
    regret = max(item.max_regret, trials.NEGLIGIBLE)
    is_off = regret > max(entry.record.target or 0.0, trials.NEGLIGIBLE)
    return is_off, -credible, is_imperfect(item), not (identity and identity["strict"]), regret


def equilibria(entries: Sequence[RunCell]) -> list[FoundEquilibrium]:
    """Equilibria that the cells of a game found, and those that they only came near.

    Clusters stand in the order of how many cells found them. A candidate is near an equilibrium
    if it is the best of a cell none of whose candidates is on the path of any.
    """
    known: dict[str, FoundEquilibrium] = {}
    several_runs = trials.several("run", entries)
    for entry in entries:
        on_path = found(entry.record)
        near = [(i.identity["name"], [i]) for i in entry.record.equilibria if i.identity][:1]
        for name, own in on_path.items() or near:
            # clusters are numbered within a run; those of several runs are different ones
            run = f" ({entry.run})" if several_runs and is_cluster(name) else ""
            title = f"{name}{run}" if on_path else f"{NEAR} {name}{run}"
            item = known.setdefault(title, FoundEquilibrium(name, title, not on_path, []))
            item.cells.append((entry, own))

    often = {item: -len(item.cells) if is_cluster(item.name) else 0 for item in known.values()}
    return sorted(
        known.values(),
        key=lambda item: (item.is_near, is_cluster(item.name), often[item], order(item.name)),
    )


def counts(entries: Iterable[RunCell]) -> dict[str, int]:
    """Number of cells that found each equilibrium, in the order of the names.

    Clusters of several games, each of which has its own numbers, count together.
    """
    known = [
        (entry.record.game_identity, name) for entry in entries for name in found(entry.record)
    ]
    is_one = len({game for game, _ in known}) < 2
    names = (name if is_one or not is_cluster(name) else "clusters" for _, name in known)
    return Counter(sorted(names, key=order))


def equilibria_tables(
    title: str, entries: Sequence[RunCell], *, always: bool = False
) -> list[Table]:
    """Table of who found which equilibrium of a game, if it says more than the rows of its cells.

    It does where there are several, one of which the name does not say everything (another
    one of the family, or a cluster), or several seeds, of which it says how often they found it.
    With `always` it stands also where all cells found one and the same.
    """
    known, game = equilibria(entries), entries[0].record
    on_path = [item for item in known if not item.is_near]
    tells = always or len(on_path) > 1 or trials.several("seed", entries)
    if not known or not (tells or any(is_cluster(i.name) or "…" in i.where for i in on_path)):
        return []
    entries = trials.arranged(entries)
    solvers = trials.by_solver(entries)
    clusters = [item for item in known if is_cluster(item.name)]
    # there is room for the best cluster of every solver, then its second best …
    ranked = sorted(clusters, key=lambda each: max(each.members[0].max_regret, trials.NEGLIGIBLE))
    of_each = ([each for each in ranked if each.by(own.solver)] for own in solvers)
    in_turn = dict.fromkeys(each for turn in zip_longest(*of_each) for each in turn if each)
    shown = list(in_turn)[: max(MOST_CLUSTERS, len(solvers))]
    in_rows = [item for item in known if not is_cluster(item.name) or item in shown]
    rows = tuple(_finders_row(item, solvers) for item in in_rows)
    finders = " ".join(name for row in rows for name in row.values["found by"])
    often = tuple(text for mark, text in _OFTEN.items() if mark in finders)
    rough = (ROUGHLY,) * (ROUGH in finders)
    key_of = {
        "equilibrium": marks_of(entries, (row.label for row in rows)),
        "found by": (*often, *rough),
    }
    columns = tuple(
        replace(column, key=key_of.get(column.title, ()))
        for column in _COLUMNS
        if any(row.values[column.title] is not None for row in rows)
    )
    notes = meanings(in_rows)
    if more := len(clusters) - len(shown):
        listed = "eqbench show RUN CELL --candidates lists all that a cell found"
        notes.append(f"{counted(more, 'more cluster')}; {listed}")
    named = [(entry, [i.identity for i in entry.record.equilibria]) for entry in entries]
    if unknown := [entry for entry, own in named if own and not any(own)]:
        notes.append(f"not identified: {trials.labels(unknown, trials.row_labels(entries))}")
    title = title if is_foreign(game.game_spec) else game.game
    return [Table(title, columns, rows, tuple(notes), FOUND, tuple(explained(in_rows)))]


def meanings(items: Sequence[FoundEquilibrium]) -> list[str]:
    """What says where in their families equilibria are, a line for each symbol."""
    return list(dict.fromkeys(item.meaning for item in items if item.meaning))


def explained(items: Sequence[FoundEquilibrium]) -> list[str]:
    """What is played in equilibria that were found, a line each."""
    exact = {item.name for item in items if not item.is_near}
    worded = [item for item in items if item.words and not (item.is_near and item.name in exact)]
    return [f"{item.words} ({item.title})" for item in worded]


def _finders_row(item: FoundEquilibrium, solvers: Iterable[Trials]) -> Row:
    finders = []
    for trial in solvers:
        if own := item.by(trial.solver):
            number, cells = len(handed_over(own[0])), len(trial.entries)
            often = f" {len(own)}/{cells}" if cells > 1 else f" ×{number}" * (number > 1)
            finders.append(trial.solver + often + ROUGH * item.solvers[trial.solver])
    payoffs = None if item.is_near else payoff_ranges(item.members)  # no player's equilibrium
    regret, where = item.members[0].max_regret, item.where or None
    named = Cell(item.title, hint=item.words)
    values = [named, len(finders), regret, where, payoffs, finders]
    return Row.of(_COLUMNS, values, item.title)
