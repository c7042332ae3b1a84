"""Let players prepare for different equilibria: the study, its entries, summary and tables."""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from string import ascii_uppercase
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
from msgspec import Struct, structs

from eqbench.equilibria import Identifier, known_corners, known_sets
from eqbench.errors import UsageError, counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.realization import realization
from eqbench.model.tree_files import content_hash
from eqbench.report.naming import decimal, identity_text, marks
from eqbench.report.rows import EXACT_ZERO, Column, Report, Row, Table, table_of
from eqbench.spec import is_foreign
from eqbench.store.named import game_of_runs, named_profile, registry_of_runs
from eqbench.store.run_folder import RunFolder, write_texts
from eqbench.store.schema import IdentityRecord
from eqbench.store.stored_run import StoredRun, read_runs
from eqbench.studies.branch import alike
from eqbench.studies.crossplay.measure import (
    SAME_PLAN,
    Crossplay,
    WorstCases,
    check_entries,
    combinations_csv,
    frequencies,
)
from eqbench.studies.frame import Document, Session, Study, announce, legend
from eqbench.studies.requests import CrossplayRequest
from eqbench.text import small
from eqbench.verification import UNRESOLVED, verify

SCHEMA = "eqbench.crossplay/1"
COMBINATIONS = "combinations.csv"
Number = Any  # a float, or a fraction as text
LONGEST_FRACTION = 12
MOST_WITH_GAINS, MOST_IN_MATRIX = 15, 60
_ASSUMPTIONS = ("others agree", "others differ", "guaranteed")


NO_CORNERS = "its constraints are not linear, or it is irrational"
ONE_RUN = ("iterate", "average")  # claims of which a run has one each


class AboveTolerance(Struct, frozen=True, kw_only=True):
    """Candidates of runs that are not equilibria, by the better one of iterate and average."""

    candidates: int
    cells: int
    solvers: list[str]  # as typed
    smallest_max_regret: float  # in payoff units, as what is allowed
    allowed: float


class LeftOut(Struct, frozen=True, kw_only=True):
    """Candidates and sets left out next to copies of entries."""

    above_tolerance: AboveTolerance | None = None
    same_run: int = 0  # iterates and averages that are of the same cell as a better one
    most: list[Dropped] = []  # by name
    without_corners: list[Cornerless] = []

    def notes(self) -> Iterator[str]:
        """Yield one sentence for each reason that applies."""
        for item in self.without_corners:
            yield f"no corners of {item.name}: {item.reason}"
        if (above := self.above_tolerance) is not None:
            yield (
                f"{counted(above.candidates, 'candidate')} above the tolerance, in "
                f"{counted(above.cells, 'cell')} of {', '.join(above.solvers)}: the smallest max "
                f"regret is {small(above.smallest_max_regret)} (allowed: {small(above.allowed)})"
            )
        if self.same_run:
            yield (
                f"{counted(self.same_run, 'candidate')} next to a better one of the same cell: of "
                "the last iterate and the average of a run only the better one counts"
            )
        if self.most:
            names = [
                f"{x.count} {f'of {x.name}' if x.name else 'without a name'}" for x in self.most
            ]
            yield f"{sum(x.count for x in self.most)} by --most: {', '.join(names)}"


class Dropped(Struct, frozen=True, kw_only=True):
    """How many entries of a name `--most` drops."""

    name: str | None
    count: int


class Cornerless(Struct, frozen=True, kw_only=True):
    """A published set whose corners are not known, and why."""

    name: str
    reason: str


class CrossplayEntry(Struct, frozen=True, kw_only=True):
    """An equilibrium for which players prepare; numbers are floats."""

    label: str
    source: str
    identity: IdentityRecord | None
    payoffs: list[float]
    max_regret: float


class Copy(Struct, frozen=True, kw_only=True):
    """What plays the same as an entry."""

    source: str
    same_as: str


class Combinations(Struct, frozen=True, kw_only=True):
    """Numbers of combinations of different strategies, and of equilibria if all were verified."""

    strategies: list[int]
    count: int
    equilibria: int | None
    share: float | None


class OwnFigures(Struct, frozen=True, kw_only=True):
    """Payoffs and regrets of the players where all follow the same entry."""

    payoffs: list[Number]
    regrets: list[Number]


class Exchange(Struct, frozen=True, kw_only=True):
    """What comes of it if a player follows one entry (row) and all others another one (column)."""

    player: str
    equilibrium: list[list[bool]]
    payoffs: list[list[list[Number]]]
    regrets: list[list[list[Number]]]


class Assumption(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Worst cases of a player by entry, who plays what then, and the entries to choose."""

    payoffs: list[Number]
    entries: list[list[str]] | None = None
    best: list[str]


class PlayerCases(Struct, frozen=True, kw_only=True):
    """Payoffs of a player with each entry: what all follow it, and in the worst case."""

    player: str
    own: list[Number]
    others_agree: Assumption
    others_differ: Assumption
    guaranteed_others_act_as_one: Assumption


class Figures(Struct, frozen=True, kw_only=True):
    """Payoffs, exchanges and worst cases, as floats or as fractions ``p/q``."""

    own: list[OwnFigures]
    interchange: list[Exchange]
    worst_cases: list[PlayerCases]


class _Entry(NamedTuple):
    """A line of the table of entries."""

    entry: Annotated[str, Column(identifies=True)]
    source: Annotated[str, Column("from", optional=True)]
    identity: Annotated[str, Column(optional=True)]
    parameters: Annotated[str, Column("further parameters", dispensable=1, optional=True)]
    payoffs: Annotated[list[str], Column(kind="payoffs")]
    max_regret: Annotated[Any, Column(kind="small", stacked="max\nregret")]


class Unmeasured(Document, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """A cross-play that was interrupted."""

    game: str
    finished: bool = False

    def tables(self) -> Report:
        return Report((Table(f"Cross-play on {self.game}", lines=("not measured yet",)),))


class CrossplayDocument(
    Document, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA, omit_defaults=True
):
    """All combinations of equilibria; `exact` has the figures as fractions, if they are."""

    game: str
    players: list[str]
    tolerance: float
    entries: list[CrossplayEntry]
    copies: list[Copy]
    left_out: LeftOut
    combinations: Combinations
    own: list[OwnFigures]
    interchange: list[Exchange]
    worst_cases: list[PlayerCases]
    exact: Figures | None = None

    @property
    def labels(self) -> list[str]:
        return [entry.label for entry in self.entries]

    def tables(self) -> Report:
        exchanges = self._combinations() if len(self.entries) > 1 else []
        return Report((self._entries(), *exchanges, self._worst_cases()))

    def _entries(self) -> Table:
        rows = []
        for entry, own in zip(self.entries, (self.exact or self).own, strict=True):
            is_zero = self.exact is not None and entry.max_regret == 0
            rows.append(
                _Entry(
                    entry.label,
                    entry.source,
                    identity_text(entry.identity),
                    _parameters(entry.identity),
                    list(map(_payoff, own.payoffs)),
                    EXACT_ZERO if is_zero else entry.max_regret,
                )
            )
        sources = {entry.label: entry.source for entry in self.entries}
        copies = [f"{x.source} plays the same as {sources[x.same_as]}" for x in self.copies]
        notes = [f"left out: {each}" for each in (*copies, *self.left_out.notes())]
        same = self.interchange[0].equilibrium
        off = [label for a, label in enumerate(self.labels) if not same[a][a]]
        if off:
            allowed = "exactly 0" if self.exact else small(self.tolerance)
            notes.append(f"not equilibria themselves: {', '.join(off)} (allowed regret: {allowed})")
            notes += [legend("crossplay.decimals")] if self.exact else []
        notes += marks(row.identity for row in rows)
        return table_of(rows, f"Cross-play on {self.game}", notes)

    def _combinations(self) -> list[Table]:
        """How many are equilibria, and a matrix for each player who may follow another entry."""
        found, players = self.combinations, self.players
        what, equilibria = "combinations of different strategies", found.equilibria
        counts = list(zip(found.strategies, players, strict=True))
        strategies = ", ".join(f"{count:,} of {player}" for count, player in counts)
        share = (
            f"{found.count:,} {what} are too many to verify all of them."
            if equilibria is None
            else f"{equilibria:,} of {found.count:,} {what} are equilibria ({found.share:.1%})."
        )
        least = "" if self.exact else f" (by more than {SAME_PLAN:.0e})".replace("e-0", "e-")
        lines = [f"{share} Different strategies{least} in the entries: {strategies}."]
        steady = [player for count, player in counts if count == 1]
        if steady:
            lines.append(f"With the same strategy in all entries: {', '.join(steady)}.")
        shown = [p for p, player in enumerate(players) if player not in steady]
        if len(players) == 2:  # P2 among the strategies of another entry is P1 among those of this
            shown = [] if steady else [0]
        return [
            Table("", lines=tuple(lines)),
            *(self._exchange(self.interchange[p]) for p in shown),
        ]

    def _exchange(self, measured: Exchange) -> Table:
        """Matrix of a player with gains, or with signs where these would be too wide."""
        title, labels = f"{measured.player} follows the row, all others the column", self.labels
        if len(labels) > MOST_IN_MATRIX:
            count = f"{sum(map(sum, measured.equilibrium))} of {len(labels) ** 2} pairs"
            words = "are equilibria; too wide to print, but --json and --out have all"
            return Table(title, lines=(f"{count} {words}",))
        columns = (Column("", identifies=True), *(Column(label, "number") for label in labels))
        has_gains, rows = len(labels) <= MOST_WITH_GAINS, []
        for label, row, regrets in zip(labels, measured.equilibrium, measured.regrets, strict=True):
            gains = (small(max(each)) if has_gains else "." for each in regrets)
            cells = ["=" if same else gain for same, gain in zip(row, gains, strict=True)]
            rows.append(Row.of(columns, [label, *cells]))
        note = legend("crossplay.gains" if has_gains else "crossplay.signs")
        return Table(title, columns, tuple(rows), (note,))

    def _worst_cases(self) -> Table:
        columns = [Column(name, identifies=True) for name in ("player", "entry")]
        columns.append(Column("own", "number"))
        for name in _ASSUMPTIONS:
            columns.append(Column(name, "number", name.replace(" ", "\n")))
            columns.append(Column(f"{name}: who", stacked=" ", dispensable=1))
        rows = []
        for rounded, cases in zip(self.worst_cases, (self.exact or self).worst_cases, strict=True):
            for a, label in enumerate(self.labels):
                cells = [rounded.player if a == 0 else None, label, _payoff(cases.own[a])]
                for worst, case in zip(_assumptions(cases), _assumptions(rounded), strict=True):
                    cells.append(
                        f"{_payoff(worst.payoffs[a])}{'*' if label in worst.best else ' '}"
                    )
                    costs = rounded.own[a] - case.payoffs[a] > self.tolerance
                    followed = worst.entries[a] if costs and worst.entries else []
                    cells.append(f"({' '.join(followed)})" if followed else "")
                rows.append(Row.of(columns, cells, f"{rounded.player} {label}"))
        kept = [c for c in columns if any(row.values[c.title] not in (None, "") for row in rows)]
        notes = (legend("crossplay.worst_cases"),)
        return Table("Worst cases over the entries", tuple(kept), tuple(rows), notes)


def _assumptions(cases: PlayerCases) -> tuple[Assumption, Assumption, Assumption]:
    return cases.others_agree, cases.others_differ, cases.guaranteed_others_act_as_one


def _parameters(identity: IdentityRecord | None) -> str:
    """Parameters next to the leading one, which stands with the name."""
    pairs = identity["parameters"].items() if identity else ()
    leading = identity and identity.get("leading")
    return ", ".join(f"{name}={decimal(value)}" for name, value in pairs if name != leading)


def _payoff(value: Number) -> str:
    """A payoff: a fraction that a person can read, or five decimals."""
    if isinstance(value, str) and len(value) <= LONGEST_FRACTION:
        return value
    return f"{float(Fraction(value)):+z.5f}"


@dataclass(frozen=True, eq=False)
class Found:
    """An equilibrium and where it was found."""

    source: str  # a solver with its seed, a file, or a corner of a known family
    profile: BehaviorProfile
    identity: IdentityRecord | None = None  # as the record of a run says it

    @property
    def name(self) -> str | None:
        """Name of the known equilibrium or of the cluster, if it has one."""
        return self.identity["name"] if self.identity else None


class CrossplayStudy(Study[CrossplayRequest, CrossplayDocument, Document]):
    """Mix the equilibria of runs, files and published sets in all ways; one part."""

    def __init__(self, request: CrossplayRequest, *, figures: bool = False) -> None:
        """Collect the entries; UsageError if there are none, too many, or of several games."""
        if request.exact:
            sys.set_int_max_str_digits(0)  # fractions may be longer than Python likes to print
        self.request = request = _with_game_apart(request)
        runs = read_runs(request.runs)
        for note in dict.fromkeys(note for run in runs for note in run.notes):
            announce.get()(note)
        profiles = {text: named_profile(text) for text in request.profiles}
        self.game = _game_of(request, runs, profiles)
        self.allowed = request.tolerance * self.game.tree.payoff_scale
        found = self._collected(runs, profiles)
        different, copies = without_copies(self.game, found, exact=request.exact)
        self.found = selection(different, request.most or len(different))
        self.copies = [(copy, kept) for copy, kept in copies if kept in self.found]
        dropped = Counter(item.name for item in different if item not in self.found)
        most = [Dropped(name=name, count=n) for name, n in dropped.items()]
        self.left_out = structs.replace(self.left_out, most=most)
        chosen = (item.profile for item in self.found)
        self.entries = list(zip(_labels_in_turn(), chosen, strict=False))
        check_entries(self.game, self.entries, request.limit, exact=request.exact)

    left_out: LeftOut

    def _collected(
        self, runs: Sequence[StoredRun], profiles: Mapping[str, tuple[Any, Any]]
    ) -> list[Found]:
        """Equilibria with their sources, known ones first, since these are exact."""
        game = self.game
        named, without_corners = corners(game) if self.request.known else ([], [])
        named += [
            (path, profile_from_json(game.tree, data)) for path, (data, _) in profiles.items()
        ]
        found = recognized(Identifier(game), named, self.allowed)
        more, above, same_run = equilibria_of_runs(runs, game, self.allowed)
        if not found and not more:
            raise UsageError("nothing to compare; give a RUN, --known or --profile FILE")
        self.left_out = LeftOut(
            above_tolerance=above, same_run=same_run, without_corners=without_corners
        )
        return found + more

    def parts(self) -> list[str]:
        return ["combinations"]

    def do(self, part: str, session: Session) -> CrossplayDocument:
        """Measure all combinations; they are written if the folder stays."""
        request = self.request
        result = Crossplay(
            self.game,
            self.entries,
            exact=request.exact,
            tolerance=request.tolerance,
            limit=request.limit,
            go_on=session.go_on,
        )
        if session.keeps:
            write_texts(session.folder, {COMBINATIONS: combinations_csv(result)})
        return summary(result, self.found, self.copies, self.left_out)

    def conclude(self, parts: Sequence[CrossplayDocument], session: Session) -> Document:
        return parts[0] if parts else Unmeasured(game=self.game.spec)


def _with_game_apart(request: CrossplayRequest) -> CrossplayRequest:
    """The request with the game, if it was typed among the runs, where it belongs."""
    games = {entry.name for entry in request.registry().games()}
    found = [
        word
        for word in request.runs
        if (is_foreign(word) or word.partition("(")[0].strip() in games) and not os.path.isdir(word)
    ]
    if request.game is not None or len(found) != 1:
        return request
    return replace(request, game=found[0], runs=tuple(w for w in request.runs if w != found[0]))


def _game_of(
    request: CrossplayRequest,
    runs: Sequence[StoredRun],
    profiles: Mapping[str, tuple[Any, StoredRun | RunFolder | None]],
) -> Game:
    """The only game that runs and profiles are about, or the requested one."""
    sources = [*runs, *(run for _, run in profiles.values() if run is not None)]
    registry, tell = request.registry(), announce.get()
    named = [data.get("game") for data, _ in profiles.values() if isinstance(data, dict)]
    named = [request.game] if request.game is not None else named
    texts = [text for text in named if isinstance(text, str)]
    for text in texts:
        registry = registry_of_runs(sources, text, registry, tell)
    wanted = {registry.describe_game(text)[1]: None for text in texts}
    specs = {cell.game_spec: None for run in runs for cell in run.cells}
    if request.game is not None and specs and not wanted.keys() <= specs.keys():
        raise UsageError(
            f"no run has cells of {'; '.join(wanted)}; the games are {'; '.join(specs)}"
        )
    if request.game is None:
        of_contents = {cell.game_identity: cell.game_spec for run in runs for cell in run.cells}
        wanted = dict.fromkeys(of_contents.values()) | wanted
    if len(wanted) != 1:
        raise UsageError(
            f"these are several games; choose one by --game SPEC: {'; '.join(wanted)}"
            if wanted
            else "which equilibria? give a RUN, or --game SPEC with --known or --profile FILE"
        )
    (spec,) = wanted
    return game_of_runs(sources, spec, registry, tell, request.max_nodes)


def _labels_in_turn() -> Iterator[str]:
    """Yield A, B, …, Z, AA, AB, … as spreadsheets count."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(ascii_uppercase, repeat=length))


def equilibria_of_runs(
    runs: Sequence[StoredRun], game: Game, tolerance: float
) -> tuple[list[Found], AboveTolerance | None, int]:
    """Candidates of a game whose measured max regret is at most `tolerance`, and what is left out.

    The last iterate and the average of a cell are of one run, and only the better one is taken;
    the number says how many are worse. `tolerance` is in payoff units. UsageError if there is no
    equilibrium, or a profile cannot be read.
    """
    own = {content_hash(game.tree), game.spec}
    cells = [(run, cell) for run in runs for cell in run.cells if cell.game_identity in own]
    others = {cell.game_spec for run in runs for cell in run.cells if cell.game_identity not in own}
    if game.spec in others:
        announce.get()(f"left out: cells of another game that was {game.spec} when they were run")
    good, worse, candidates, same_run = [], [], 0, 0
    for run, cell in cells:
        items = [(k, item) for k, item in enumerate(cell.equilibria) if item.profile is not None]
        ends = [item for _, item in items if item.claim in ONE_RUN]
        better = min(ends, key=lambda item: item.max_regret, default=None)
        kept = [(k, e) for k, e in items if e.claim not in ONE_RUN or e is better]
        candidates, same_run = candidates + len(items), same_run + len(items) - len(kept)
        good += [(run, cell, k, item) for k, item in kept if item.max_regret <= tolerance]
        worse += [(cell, item.max_regret) for _, item in kept if item.max_regret > tolerance]
    above: AboveTolerance | None = None
    if worse:
        above = AboveTolerance(
            candidates=len(worse),
            cells=len({id(cell) for cell, _ in worse}),
            solvers=list(dict.fromkeys(cell.solver for cell, _ in worse)),
            smallest_max_regret=min(regret for _, regret in worse),
            allowed=tolerance,
        )
    if runs and not good:
        least = f"; the smallest max regret is {above.smallest_max_regret:.2g}" if above else ""
        raise UsageError(
            f"no equilibria of {game.spec} in {', '.join(str(run.path) for run in runs)}: "
            f"{candidates} candidates in {len(cells)} cells{least} "
            f"(allowed: {tolerance:.2g}); run solvers for longer, or raise --tolerance"
        )
    equilibria = []
    for run, cell, rank, item in good:
        profile = profile_from_json(game.tree, read_profile(str(run.path / str(item.profile))))
        folder = f"{run.path.name}: " if len(runs) > 1 else ""
        seed = "" if cell.seed is None else f"/{cell.seed}"
        source = f"{folder}{cell.solver}{seed}{f' #{rank}' if rank else ''}"
        equilibria.append(Found(source, profile, item.identity))
    return equilibria, above, same_run


def recognized(
    identifier: Identifier, named: Iterable[tuple[str, BehaviorProfile]], tolerance: float
) -> list[Found]:
    """Entries for profiles with their sources, and which known equilibria they are.

    UsageError if a player gains more than `tolerance` payoff units by deviating, or it cannot be
    tell.
    """
    found = []
    for source, profile in named:
        measured = verify(identifier.game.tree, profile)
        if not measured.resolved:
            raise UsageError(f"whether {source} is an equilibrium is open; {UNRESOLVED}")
        regret = float(measured.max_regret)
        if not regret <= tolerance:
            raise UsageError(
                f"{source} is not an equilibrium: a player gains {regret:.2g} by deviating "
                f"(allowed: {tolerance:.2g}); leave it out, or raise --tolerance"
            )
        identity = identifier.identify(profile, regret)
        record = None if identity is None else cast(IdentityRecord, identity.to_json())
        found.append(Found(source, profile, record))
    return found


def corners(game: Game) -> tuple[list[tuple[str, BehaviorProfile]], list[Cornerless]]:
    """Corners of the published sets by name, and the sets without; UsageError if there are none."""
    found = known_corners(game)
    names = dict.fromkeys(known.name for known in known_sets(game))
    cornered = {label.partition(" corner ")[0] for label, _ in found}
    missing = [Cornerless(name=n, reason=NO_CORNERS) for n in names if n not in cornered]
    if not found:
        reason = (
            f"the known equilibria of {game.spec} have no corners ({', '.join(names)})"
            if missing
            else f"no equilibria of {game.spec} are known"
        )
        raise UsageError(f"{reason}; leave out --known")
    return found, missing


def without_copies(
    game: Game, found: Sequence[Found], *, exact: bool
) -> tuple[list[Found], list[tuple[Found, Found]]]:
    """Entries whose realization plans differ, and pairs of a copy and the entry that it repeats.

    Plans count as the same if no weight differs by more than 1e-6; with `exact` they must be
    equal as rationals. What players would do after own moves that they never make does not
    matter: no payoff and no regret depends on it.
    """
    played = frequencies([item.profile for item in found], exact=exact)
    plans = realization(game.sequence_form, played.T).T
    places = alike(plans, 0 if exact else SAME_PLAN)
    of = [(item, found[place]) for item, place in zip(found, places, strict=True)]
    kept = [item for item, first in of if item is first]
    return kept, [(item, first) for item, first in of if item is not first]


def selection(found: Sequence[Found], most: int) -> list[Found]:
    """At most so many entries, in their order: of each name in turn the first that is left.

    So what has been found once is kept next to what has been found often.
    """
    turn_of: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
    turns = [next(turn_of[item.name or item.source]) for item in found]
    chosen = np.argsort(turns, kind="stable")[:most]
    return [found[place] for place in sorted(chosen.tolist())]


def summary(
    result: Crossplay,
    found: Sequence[Found],
    copies: Sequence[tuple[Found, Found]],
    left_out: LeftOut,
) -> CrossplayDocument:
    """Return the document of a cross-play; `found` says where each entry comes from."""
    labels = dict(zip(map(id, found), result.labels, strict=True))
    equilibria, n = result.n_equilibria, math.prod(result.n_strategies)
    figures = _figures(result, float)
    return CrossplayDocument(
        game=result.game.spec,
        players=list(result.game.tree.players),
        tolerance=float(result.tolerance),
        entries=[
            CrossplayEntry(
                label=label,
                source=item.source,
                identity=item.identity,
                payoffs=own.payoffs,
                max_regret=max(own.regrets),
            )
            for label, item, own in zip(result.labels, found, figures.own, strict=True)
        ],
        copies=[Copy(source=copy.source, same_as=labels[id(kept)]) for copy, kept in copies],
        left_out=left_out,
        combinations=Combinations(
            strategies=list(result.n_strategies),
            count=n,
            equilibria=equilibria,
            share=None if equilibria is None else equilibria / n,
        ),
        **structs.asdict(figures),
        exact=_figures(result, str) if result.payoffs.dtype == object else None,
    )


def _figures(result: Crossplay, number: Callable[[Any], Number]) -> Figures:
    players, n = list(enumerate(result.game.tree.players)), range(len(result.labels))
    names = np.array(result.labels, dtype=object)

    def numbers(values: Any) -> Any:
        """Nested lists of numbers as `number` writes them."""
        return np.frompyfunc(number, 1, 1)(values).tolist()

    def worst(cases: WorstCases, player: int) -> Assumption:
        played = None if cases.entries is None else names[cases.entries[player]].tolist()
        best = names[cases.best[player]].tolist()
        return Assumption(payoffs=numbers(cases.payoffs[player]), entries=played, best=best)

    paid, lost = numbers(result.swap_payoffs), numbers(result.swap_regrets)
    return Figures(
        own=[OwnFigures(payoffs=paid[0][a][a], regrets=lost[0][a][a]) for a in n],
        interchange=[
            Exchange(
                player=name,
                equilibrium=result.interchangeable[i].tolist(),
                payoffs=paid[i],
                regrets=lost[i],
            )
            for i, name in players
        ],
        worst_cases=[
            PlayerCases(
                player=name,
                own=numbers(result.own_payoffs[i]),
                others_agree=worst(result.others_agree, i),
                others_differ=worst(result.others_differ, i),
                guaranteed_others_act_as_one=worst(result.guaranteed, i),
            )
            for i, name in players
        ],
    )
