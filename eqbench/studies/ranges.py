"""Ranges of payoffs and frequencies over all equilibria of a game, next to the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Struct, structs

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.dimension import is_exact_enough
from eqbench.equilibria.reference import TOLERANCE
from eqbench.errors import INTERRUPTED, UsageError, counted, first_of, nearest
from eqbench.harness.experiment import Request
from eqbench.harness.run import ActiveRun
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import action_labels
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import Registry
from eqbench.report.formats import latex, markdown
from eqbench.report.rows import Column, Report, table_of
from eqbench.solver import availability_of
from eqbench.spec import format_value, parse_spec, split_specs
from eqbench.store.run_folder import write_texts
from eqbench.store.schema import CellRecord, EquilibriumRecord, Status
from eqbench.store.stored_run import StoredRun
from eqbench.studies.extremes import extremes_by_name, is_linear
from eqbench.studies.frame import Document, Session, Study, legend
from eqbench.studies.requests import RangesRequest
from eqbench.text import cell_text

SCHEMA = "eqbench.ranges/1"
Sense = Literal["min", "max"]
SENSES: tuple[Sense, Sense] = ("min", "max")
SUM = "sum"  # of all payoffs, unless a player has this name
# All these are shares of the payoff range for payoffs, and absolute for frequencies.
AGREE = 1e-5  # up to which a verified value is that of a published end
# Up to which a bound meets what was found. Constraints that hold to 1e-6 let frequencies be off
# by the square root of that where equilibria meet in a curve.
CLOSED = {"payoff": 1e-5, "frequency": 1e-3}
MOVED = 1e-6  # difference of the verified profile's value to the solver's that is worth saying
# Statuses of a cell that was stopped; its best point and its bound count nevertheless.
ENDED_EARLY = ("limit", "stopped", "timeout", "memory")
NEVER_RAN = ("unavailable", "unsupported")  # no search was attempted
NOTHING_RAN = 4  # exit code
_NEVER = 1e-12  # weight of own sequences up to which a plan never leads to an information set
_NOISE = 1e-9  # in units of the quantity; less is shown as 0
_MOST_NAMES = 6  # that a note lists
_PER_UNIT = {"payoff": "of the payoff range", "frequency": "for frequencies"}
# with the request of the run
_SHARED = ("timeout_s", "threads", "jobs", "plugins", "max_nodes", "scheduler")


# -- rows and the document ------------------------------------------------------------------------


class End(Struct, frozen=True, kw_only=True):
    """One end of a range; all of it None, but for the status, if the cell has not finished.

    Attributes
    ----------
    found : value in the stored profile that the verifier measured
    any_share : whether any frequency will do, since the own plan never leads there
    reach : probability that play reaches the information set
    exact_enough : whether the max regret is that of rounding
    objective, bound : what the solver has found and proved; `gap` is their distance
    difference, distance : of what was found to the objective, and to the bound
    closed : whether the bound meets what was found
    """

    status: str
    reason: str
    found: float | None = None
    any_share: bool = False
    reach: float | None = None
    max_regret: float | None = None
    exact_enough: bool = False
    profile: str | None = None
    objective: float | None = None
    difference: float | None = None
    bound: float | None = None
    gap: float | None = None
    distance: float | None = None
    closed: bool = False
    elapsed_s: float | None = None
    formulation: str | None = None
    backend: str | None = None
    nodes: int | float | None = None


class Published(Struct, frozen=True, kw_only=True):
    """Range over the published sets; if not `linear`, of the outermost values found."""

    low: float
    high: float
    linear: bool
    sets: dict[str, list[float]]


def _number(row: QuantityRange, value: float | None) -> str | None:
    if value is None:
        return None
    return f"{value:.6g}" if abs(value) > _NOISE * row.unit else "0"


def _found(sense: Sense, row: QuantityRange) -> str | None:
    end, found = row.end(sense), _number(row, row.end(sense).found)
    return f"{found} (any)" if end.any_share else found


def _bound(sense: Sense, row: QuantityRange) -> str | None:
    return _number(row, row.end(sense).bound)


def _closed(sense: Sense, row: QuantityRange) -> str:
    end = row.end(sense)
    if end.closed:
        return "yes"
    if end.distance is not None:
        return f"no ({end.distance:.1e})"
    return "no" if end.status == "ok" else end.status


def _time(row: QuantityRange) -> float | None:
    times = [end.elapsed_s for end in (row.min, row.max) if end.elapsed_s is not None]
    return sum(times) if times else None


def _known(side: str, row: QuantityRange) -> str | None:
    return None if row.published is None else _number(row, getattr(row.published, side))


def _name(row: QuantityRange) -> str:
    return cell_text(row.quantity)


class QuantityRange(Struct, frozen=True, kw_only=True):
    """A payoff or frequency over all equilibria; `unit` is what tolerances are shares of.

    The verdict compares it with the published range, None without one. `wider`: a verified profile
    with a max regret of rounding lies beyond that. `contradiction`: a published equilibrium lies
    beyond a bound, which is wrong then. `equal`: both ends are closed, and what was found is at
    the published ends. `open`: none of these. `unavailable` and `unsupported`: so the solver is
    for both ends, and no search was attempted.
    """

    quantity: Annotated[str, Column(identifies=True, of=_name)]
    kind: str  # payoff or frequency
    unit: float
    min: Annotated[
        End,
        Column("smallest", of=partial(_found, "min")),
        Column("at least", of=partial(_bound, "min")),
        Column("closed below", stacked="closed\nbelow", of=partial(_closed, "min")),
    ]
    max: Annotated[
        End,
        Column("largest", of=partial(_found, "max")),
        Column("at most", of=partial(_bound, "max")),
        Column("closed above", stacked="closed\nabove", of=partial(_closed, "max")),
        Column("time", "seconds", dispensable=1, of=_time),
    ]
    published: Annotated[
        Published | None,
        Column(
            "published from", stacked="published\nfrom", optional=True, of=partial(_known, "low")
        ),
        Column("published to", stacked="published\nto", optional=True, of=partial(_known, "high")),
    ] = None
    verdict: Annotated[str | None, Column(optional=True)] = None

    def end(self, sense: Sense) -> End:
        return self.min if sense == "min" else self.max

    def excess(self, sense: Sense, value: float | None) -> float:
        """By how much a value lies beyond a published end; NaN if there is none."""
        if value is None or self.published is None:
            return math.nan
        return value - self.published.high if sense == "max" else self.published.low - value

    @property
    def beyond_published(self) -> list[End]:
        """Ends at which a verified equilibrium lies beyond the published range."""
        agree = AGREE * self.unit
        exact = [sense for sense in SENSES if self.end(sense).exact_enough]
        return [self.end(s) for s in exact if self.excess(s, self.end(s).found) > agree]

    def judged(self) -> QuantityRange:
        """The same with its verdict."""
        agree, low, high = AGREE * self.unit, self.min.status, self.max.status
        ends = [(sense, self.end(sense)) for sense in SENSES]
        verdict = "open"
        if self.published is None:
            return self
        if low == high and low in NEVER_RAN:
            verdict = low
        elif self.beyond_published:
            verdict = "wider"
        elif any(self.excess(sense, end.bound) < -agree for sense, end in ends):
            verdict = "contradiction"
        elif all(end.closed and abs(self.excess(s, end.found)) <= agree for s, end in ends):
            verdict = "equal"
        return structs.replace(self, verdict=verdict)


class RangesDocument(Document, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """The ranges of all quantities of a run; times in seconds."""

    run: str
    game: str
    game_spec: str
    solver: str
    solver_specs: list[str]
    timeout_s: float
    threads: int | None
    jobs: int | None
    environment: dict[str, Any]
    agree_within: float
    closed_within: dict[str, float]
    quantities: list[QuantityRange]

    @property
    def interrupted(self) -> bool:
        return any(end.status == "missing" for _, end, _ in self._ends())

    def rows(self) -> Sequence[QuantityRange]:
        return self.quantities

    def tables(self) -> Report:
        game, spec = self.game, self.game_spec
        table = table_of(
            self.quantities,
            game if game == spec else f"{game} = {spec}",
            self._notes(),
            topic="ranges over all equilibria",
        )
        return Report((table,), (self._legend(), *self._conditions()))

    def _legend(self) -> str:
        kinds = sorted({row.kind for row in self.quantities}, reverse=True)  # payoffs first
        closed = [f"{_power(self.closed_within[kind])} {_PER_UNIT[kind]}" for kind in kinds]
        agree = [f"{_power(self.agree_within)} {_PER_UNIT[kind]}" for kind in kinds]
        # of the solver, as far as its options say them
        given = dict(parse_spec(self.solver_specs[0]).options) if self.solver_specs else {}
        texts = []
        for name in sorted({"feasibility", "gap"} & given.keys()):
            text = format_value(given[name])
            texts.append(f"{name} {_power(given[name]) if '/' in text or 'e' in text else text}")
        tolerances = f" ({', '.join(texts)})" if texts else ""
        parts = [legend("ranges.ends", tolerances=tolerances, closed=" or ".join(closed))]
        if "frequency" in kinds:
            parts.append(legend("ranges.frequencies"))
        if any(row.published for row in self.quantities):
            parts.append(legend("ranges.verdicts", agree=" or ".join(agree)))
        return " ".join(parts)

    def _ends(self) -> list[tuple[str, End, float]]:
        """Name of each optimum, what is known of it, and the unit of its quantity."""
        return [
            (f"{sense} {row.quantity}", row.end(sense), row.unit)
            for row in self.quantities
            for sense in SENSES
        ]

    def _notes(self) -> Iterator[str]:
        """Say why optima are not there or not proved, and where profile and solver differ."""
        ends = self._ends()
        shared: dict[tuple[str, str], list[str]] = {}
        for name, end, _ in ends:
            early = end.status in ("ok", *ENDED_EARLY) and end.bound is not None
            if early and not end.closed:
                reason = "what was found until then and the bound stand"
                shared.setdefault(("open", reason), []).append(name)
            elif end.status != "ok" and not early:
                shared.setdefault((end.status, end.reason), []).append(name)
        for (status, reason), names in shared.items():
            yield f"{status}: {first_of(names, _MOST_NAMES)}" + (reason and f" – {reason}")
        moved = [
            f"{name} {end.difference:+.1e}"
            for name, end, unit in ends
            if abs(end.difference or 0.0) > MOVED * unit
        ]
        if moved:
            yield (
                "difference of the verified profile to the solver's own point, whose constraints "
                f"hold to its tolerance only: {first_of(moved, _MOST_NAMES)}"
            )
        unreached = [
            row.quantity
            for row in self.quantities
            if row.verdict == "wider"
            and row.kind == "frequency"
            and all((end.reach or 0.0) <= TOLERANCE for end in row.beyond_published)
        ]
        curved = [r.quantity for r in self.quantities if r.published and not r.published.linear]
        for key, names in (("unreached", unreached), ("curved", curved)):
            if names:
                yield f"{legend(f'ranges.{key}')}: {first_of(names, _MOST_NAMES)}"

    def _conditions(self) -> Iterator[str]:
        ends = [end for _, end, _ in self._ends()]
        jobs, facts = self.jobs or 1, self.environment
        backends = " and ".join(sorted({end.backend for end in ends if end.backend}))
        parts = (
            f"limit {self.timeout_s:g} s per optimum",
            f"{counted(self.threads, 'thread')} each" if self.threads else "",
            f"{jobs} at a time" if jobs > 1 else "",
            self.solver + (f" on {backends}" if backends else ""),
            f"{facts['processor']} with {facts['cores']} cores" if facts.get("processor") else "",
        )
        yield f"here: {', '.join(filter(None, parts))}"
        yield f"closed: {sum(end.closed for end in ends)} of {len(ends)} optima"


def _power(value: Any) -> str:
    return f"{float(value):.0e}".replace("e-0", "e-")


# -- the study ------------------------------------------------------------------------------------


def solver_for_ranges(text: str, registry: Registry) -> str:
    """Return the spec of a solver that can look for optima.

    Options of solvers of plugins are not looked up, since their code runs in children only.
    UsageError if it is not one solver, lacks the options `sense` and `of`, or these are given.
    """
    typed = split_specs(text)
    if len(typed) != 1 or typed[0] == "all":
        raise UsageError(f"--solver {text}: give one solver, for example --solver ncp")
    spec, entry = parse_spec(typed[0]), registry.solver_entry(typed[0])
    if {"sense", "of"} & set(dict(spec.options)):
        raise UsageError(
            f"--solver {text}: leave sense and of out, the command sets them; choose by "
            "--of, --payoffs, --first-actions or --all-actions"
        )
    if entry.builtin and (
        missing := {"sense", "of"} - {option.name for option in registry.options(entry)}
    ):
        raise UsageError(
            f"{spec.name} has no option {' and '.join(sorted(missing))}, so it gives no "
            "range over all equilibria; use --solver ncp"
        )
    return str(spec)


def quantities(tree: GameTree, request: RangesRequest) -> tuple[str, ...]:
    """Return the payoffs and frequencies that are selected, each once; else all payoffs.

    UsageError if a name is that of nothing, or of the only action there, or nothing is left.
    """
    labels = action_labels(tree)
    for name in request.of:
        if name not in (*labels, *tree.players, SUM):
            raise UsageError(
                f"--of {name}: there is no such player or action, such as P1 or "
                f'"P3|3:KB|call", and it is not {SUM}; {nearest(name, [*tree.players, *labels])}'
            )
        if name in labels and len(tree.infoset_actions[_place(tree, name)[1]]) == 1:
            raise UsageError(f"--of {name}: this is the only action there, so its frequency is 1")
    chosen, of_actions = list(request.of), request.first_actions or request.all_actions
    if request.payoffs or not (chosen or of_actions):
        chosen += tree.players
    if of_actions:
        start = tree.action_start.tolist()
        for infoset, parent in enumerate(tree.infoset_parent.tolist()):
            own = labels[start[infoset] : start[infoset + 1]]
            if len(own) > 1 and (request.all_actions or parent < 0):
                # of two only the last, as in Kuhn poker; the other one is its complement
                chosen += own[1:] if len(own) == 2 else own
    if not chosen:
        raise UsageError("no information set has a choice; ask for --payoffs")
    return tuple(dict.fromkeys(chosen))


def _place(tree: GameTree, quantity: str) -> tuple[int, int]:
    """Return the action that a frequency is that of, and its information set."""
    action = action_labels(tree).index(quantity)
    return action, int(np.searchsorted(tree.action_start, action, side="right")) - 1


class RangesStudy(Study[RangesRequest, RangesDocument, RangesDocument]):
    """Find both ends of the ranges of a request, each as a cell of one run.

    Attributes
    ----------
    quantities : names of payoffs and frequencies
    problem : status and reason of all cells if a built-in solver is not here; no child is started
    """

    def __init__(self, request: RangesRequest, *, figures: bool = False) -> None:
        """Build the game, and make sure that it and the solver have what is requested."""
        self.request, registry = request, request.registry()
        if len(split_specs(request.game)) != 1:
            raise UsageError(f"--game {request.game}: give one game; each has a table of its own")
        self.solver = solver_for_ranges(request.solver, registry)
        shared = {name: getattr(request, name) for name in _SHARED}
        probe = Request([request.game], [self.solver], **shared)
        # games of plugins are built in a child, so the game comes from a plan, too
        with ActiveRun(probe, registry) as run:
            self.game = run.cells[0].game.game
        self.quantities = quantities(self.game.tree, request)
        solvers = [self.optimum(name, sense) for name in self.quantities for sense in SENSES]
        self.planned = replace(probe, solvers=solvers)
        # once, before interrupts are handled: Gurobi reinstalls Python's handler
        self.problem: tuple[Status, str] | None = None
        if registry.solver_entry(self.solver).builtin:
            answer = availability_of(registry.load_solver(solvers[0]).instance)
            if answer.state != "available":
                self.problem = "unavailable", f"{answer.state}: {answer.reason}"

    def optimum(self, quantity: str, sense: Sense) -> str:
        """Spec of the solver for one end of the range of a quantity."""
        return str(parse_spec(self.solver).replace(sense=sense, of=quantity))

    def parts(self) -> list[str]:
        return ["run"]

    def is_done(self, part: str, found: RangesDocument, session: Session) -> bool:
        """Return whether the ranges that are stored are those requested now."""
        names, limits = self.quantities, (self.request.timeout_s, self.request.threads)
        same = (found.solver, found.timeout_s, found.threads) == (self.solver, *limits)
        return same and tuple(row.quantity for row in found.quantities) == names

    def do(self, part: str, session: Session) -> RangesDocument:
        """Run the cells that are missing; write the tables of all that there are."""
        run = session.run(self.planned, problem=self.problem, verbose=self.request.verbose)
        document = self.ranges_of(run, session.folder)
        report = document.tables()
        texts = {"ranges.md": markdown(report), "ranges.tex": latex(report)}
        write_texts(session.folder, texts)
        return document

    def conclude(self, parts: Sequence[RangesDocument], session: Session) -> RangesDocument:
        return parts[0] if parts else self.ranges_of(None, session.folder)

    def ending(self, document: RangesDocument) -> tuple[int, str]:
        statuses = [row.end(sense).status for row in document.quantities for sense in SENSES]
        done = len(statuses) - statuses.count("missing")
        if done < len(statuses):
            return INTERRUPTED, f"interrupted after {done} of {len(statuses)} cells"
        if {"crashed", "refuted"} & set(statuses):
            return 1, ""
        return NOTHING_RAN if set(statuses) <= set(NEVER_RAN) else 0, ""

    def ranges_of(self, run: StoredRun | None, folder: Path) -> RangesDocument:
        """Return the ranges of all quantities, of none before the run has begun.

        What was found is recomputed from the stored profile that the verifier measured, where its
        max regret is within the run's tolerance. An end is closed where the bound is within
        `closed_within` of that, times the row's `unit`, whatever gap the solver itself took for
        proved. UsageError if a profile of the run cannot be read.
        """
        finished = () if run is None else run.finished
        return RangesDocument(
            run=str(folder / "run"),
            game=self.request.game,
            game_spec=self.game.spec,
            solver=self.solver,
            solver_specs=sorted({cell.solver_spec for cell in finished}),
            timeout_s=self.request.timeout_s,
            threads=self.request.threads,
            jobs=self.request.jobs,
            environment={} if run is None else run.plan.get("environment", {}),
            agree_within=AGREE,
            closed_within=CLOSED,
            quantities=[] if run is None else [self._range(run, name) for name in self.quantities],
        )

    def _range(self, run: StoredRun, name: str) -> QuantityRange:
        game, kind = self.game, "frequency"
        if name in (*game.tree.players, SUM):
            kind = "payoff"
        unit = (game.tree.payoff_range or 1.0) if kind == "payoff" else 1.0
        cells, allowed = {cell.solver: cell for cell in run.finished}, CLOSED[kind] * unit
        low, high = (
            _end(game, run, cells.get(self.optimum(name, sense)), name, sense, allowed)
            for sense in SENSES
        )
        published = _published(game.tree, known_sets(game), name)
        return QuantityRange(
            quantity=name, kind=kind, unit=unit, min=low, max=high, published=published
        ).judged()


def _end(
    game: Game, run: StoredRun, cell: CellRecord | None, name: str, sense: Sense, closed: float
) -> End:
    """One end of the range of a quantity, closed if bound and value differ by no more than that."""
    if cell is None:
        return End(status="missing", reason="not run yet, --resume continues")
    allowed = run.plan["request"].get("tolerance", Request.tolerance) * game.tree.payoff_scale
    figures, value = cell.statistics, End(status=cell.status, reason=cell.reason)
    # those with the smallest regret first
    for item in cell.equilibria:
        if item.refuted is None and item.profile and item.max_regret <= allowed:
            value = structs.replace(
                value,
                **_value(game, run, item, name, sense),
                max_regret=item.max_regret,
                exact_enough=is_exact_enough(game, item.max_regret),
                profile=f"{run.path.name}/{item.profile}",
            )
            break
    found, objective, bound = value.found, figures.get("objective"), figures.get("bound")
    distance = _apart(bound, found) if cell.status in ("ok", *ENDED_EARLY) else None
    return structs.replace(
        value,
        objective=objective,
        difference=None if found is None or objective is None else found - objective,
        bound=bound,
        gap=_apart(bound, objective),
        distance=distance,
        closed=distance is not None and distance <= closed,
        elapsed_s=cell.elapsed_s,
        **{name: figures.get(name) for name in ("formulation", "backend", "nodes")},
    )


def _value(
    game: Game, run: StoredRun, item: EquilibriumRecord, name: str, sense: Sense
) -> dict[str, Any]:
    """A quantity in a measured profile, whether any share will do, and how play reaches it."""
    tree, form = game.tree, game.sequence_form
    if name in tree.players:
        return {"found": float(item.payoffs[tree.players.index(name)])}
    if name == SUM:
        return {"found": math.fsum(item.payoffs)}
    data = read_profile(str(run.path / str(item.profile)))
    behavior = profile_from_json(tree, data).probabilities
    action, infoset = _place(tree, name)
    reach = float(infoset_reach(tree, behavior)[infoset])
    weights = RealizationPlan.of(form, behavior).weights
    any_share = bool(weights[form.parent[infoset]] <= _NEVER)  # the own plan never leads there
    found = float(sense == "max" if any_share else behavior[action])
    return {"found": found, "any_share": any_share, "reach": reach}


def _apart(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else abs(one - other)


def _published(tree: GameTree, known: tuple[KnownSet, ...], name: str) -> Published | None:
    if not known:
        return None
    names = (*tree.players, *action_labels(tree))

    def figure(piece: KnownSet, parameters: FloatArray) -> float:
        payoffs = piece.payoffs_near(parameters)
        if name not in names:
            return float(np.sum(payoffs))
        behavior = piece.layout.behavior(piece.frequencies(parameters))
        return float(np.append(payoffs, behavior)[names.index(name)])

    sets = extremes_by_name(known, figure)
    lows, highs = zip(*sets.values(), strict=True)
    return Published(
        low=min(lows),
        high=max(highs),
        linear=all(is_linear(piece, partial(figure, piece)) for piece in known),
        sets={name: list(ends) for name, ends in sets.items()},
    )
