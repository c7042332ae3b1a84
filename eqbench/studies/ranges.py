"""Ranges of payoffs and frequencies over all equilibria of a game, next to the published ones."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.dimension import is_exact_enough
from eqbench.equilibria.formulas import TOLERANCE
from eqbench.errors import INTERRUPTED, SpecError, UsageError, counted, first_of, nearest
from eqbench.harness.experiment import Request
from eqbench.harness.run import ActiveRun, solving_s, stored_experiment
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import action_labels
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import Registry
from eqbench.report.formats import latex, markdown
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.solver import availability_of
from eqbench.spec import format_value, parse_spec, split_specs
from eqbench.store.run_folder import RunFolder, write_texts
from eqbench.store.schema import CellRecord, EquilibriumRecord, Status
from eqbench.store.stored_run import StoredRun, read_run
from eqbench.studies.extremes import extremes_by_name, is_linear
from eqbench.studies.frame import SUMMARY, Session, Study, StudyFolder, legend
from eqbench.studies.requests import RangesRequest
from eqbench.text import cell_text, csv_text, seconds

SCHEMA = "eqbench.ranges/1"
Sense = Literal["min", "max"]
SENSES: tuple[Sense, Sense] = ("min", "max")
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
# with the request of the run
_SHARED = ("timeout_s", "threads", "jobs", "plugins", "max_nodes", "scheduler")


# -- the request ----------------------------------------------------------------------------------


def optimum(request: RangesRequest, quantity: str, sense: Sense) -> str:
    """Spec of the solver for one end of the range of a quantity."""
    return str(parse_spec(request.solver).replace(sense=sense, of=quantity))


def optima(request: RangesRequest) -> list[str]:
    """Specs of all cells: of each quantity in `of` the smallest value, then the largest."""
    return [optimum(request, name, sense) for name in request.of for sense in SENSES]


def request_of(planned: Mapping[str, Any]) -> RangesRequest:
    """Return what the plan of a run looks for, in `of`; UsageError if it is not one of ranges."""
    games, solvers = planned.get("games"), planned.get("solvers")
    if isinstance(games, list) and isinstance(solvers, list) and len(games) == 1 and solvers:
        with suppress(SpecError):  # this command never planned such a run
            specs = [parse_spec(str(solver)) for solver in solvers]
            names = dict.fromkeys(str(dict(spec.options).get("of", "")) for spec in specs)
            solver = str(specs[0].without("sense").without("of"))
            request = RangesRequest(game=games[0], solver=solver, of=tuple(names))
            if optima(request) == [str(spec) for spec in specs]:
                return request
    raise UsageError(
        "this is not a run of ranges: it has several games, or cells that are not the smallest "
        "and the largest value of something; continue it by eqbench run --resume DIR, or "
        "leave --resume out for a new run"
    )


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
        if name not in labels and name not in tree.players:
            raise UsageError(
                f"--of {name}: there is no such player or action, such as P1 or "
                f'"P3|3:KB|call"; {nearest(name, [*tree.players, *labels])}'
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


# -- the study ------------------------------------------------------------------------------------


class RangesStudy(Study[RangesRequest]):
    """Find both ends of the ranges of a request, each as a cell of one run.

    Attributes
    ----------
    fields : fields of the run's request by name
    problem : status and reason of all cells if a built-in solver is not here; no child is started
    """

    request_type = RangesRequest

    def __init__(self, request: RangesRequest, *, figures: bool = False) -> None:
        """Build the game, and make sure that it and the solver have what is requested."""
        self.request, registry = request, request.registry()
        if len(split_specs(request.game)) != 1:
            raise UsageError(f"--game {request.game}: give one game; each has a table of its own")
        solver = solver_for_ranges(request.solver, registry)
        self.fields: dict[str, Any] = {name: getattr(request, name) for name in _SHARED}
        self.fields |= {"games": [request.game], "solvers": [solver]}
        # games of plugins are built in a child, so the game comes from a plan, too
        with ActiveRun(Request(**self.fields), registry) as probe:
            self.game = probe.cells[0].game.game
        chosen = quantities(self.game.tree, request)
        self.fields["solvers"] = optima(replace(request, solver=solver, of=chosen))
        # once, before interrupts are handled: Gurobi reinstalls Python's handler
        self.problem: tuple[Status, str] | None = None
        if registry.solver_entry(solver).builtin:
            answer = availability_of(registry.load_solver(self.parts()[0]).instance)
            if answer.state != "available":
                self.problem = "unavailable", f"{answer.state}: {answer.reason}"

    @classmethod
    def folder_type(cls) -> type[StudyFolder]:
        return RangesFolder

    def parts(self) -> list[str]:
        solvers: list[str] = self.fields["solvers"]
        return solvers

    @staticmethod
    def report(document: Mapping[str, Any]) -> Report:
        rows, game, spec = document["quantities"], document["game"], document["game_spec"]
        published = any(row["published"] for row in rows)
        table = Table(
            game if game == spec else f"{game} = {spec}",
            (*_COLUMNS, *(_PUBLISHED if published else ())),
            tuple(map(_row, rows)),
            tuple(_notes(document)),
            "ranges over all equilibria",
        )
        legend = _legend(document, published=published)
        return Report((table,), (legend, *_conditions(document)))

    def ending(self, document: Mapping[str, Any]) -> tuple[int, str]:
        statuses = [end["status"] for _, end in _ends(document)]
        done = len(statuses) - statuses.count("missing")
        if done < len(statuses):
            return INTERRUPTED, f"interrupted after {done} of {len(statuses)} cells"
        if {"crashed", "refuted"} & set(statuses):
            return 1, ""
        return NOTHING_RAN if set(statuses) <= set(NEVER_RAN) else 0, ""


class RangesFolder(StudyFolder):
    """The folder of a run whose cells are the ends; the run keeps its request."""

    @classmethod
    def open(cls, kind: type[Study[Any]], path: Path) -> tuple[StudyFolder, Any]:
        """Return the folder of a run of ranges, with the request that it is."""
        run = read_run(path)
        (stored,) = stored_experiment(RunFolder.open(path)).parts
        shared = {name: getattr(stored, name) for name in _SHARED}
        shared["plugins"] = tuple(stored.plugins)
        request = replace(request_of(run.plan["request"]), **shared)
        note = "; ".join(run.notes) or None
        return cls(path, created=run.plan["created"], note=note), request

    def note_request(self, study: Study[Any]) -> None:
        """Leave that to the run, which notes when it is resumed and with what."""

    def carry_out(self, study: Study[Any], session: Session) -> dict[str, Any]:
        """Run the cells that are missing; write the tables of all that there are."""
        assert isinstance(study, RangesStudy)
        folder = RunFolder.open(self.path) if self.was_begun else None
        before = Request([], []) if folder is None else stored_experiment(folder).parts[0]
        session.tell(f"planning {counted(len(study.parts()), 'cell')}")
        with ActiveRun(replace(before, **study.fields)) as run:
            for words in run.begin(self.path, folder=folder, fresh=True):
                session.say(words)
            total, missing = len(run.cells), run.missing()
            if study.problem is not None:
                run.cells = [
                    replace(cell, solver=replace(cell.solver, problem=study.problem))
                    for cell in run.cells
                ]
            elif missing:
                most_s = solving_s(missing, study.request.jobs or 1)
                session.say(f"{len(missing):,} optima to find: up to {seconds(most_s)} of solving")
            done = total - len(missing)
            session.tell(f"{done} of {total} cells done")
            with (
                suppress(KeyboardInterrupt),  # what there is makes a table
                closing(run.execute(interrupted=session.interrupted)) as records,
            ):
                for record in records:
                    done += record.status != "interrupted"
                    session.tell(f"{done} of {total} cells done")
                    session.done(done / total)
                    if study.request.verbose:
                        session.say(f"{record.solver} on {record.game}: {record.ending}")
            stored = run.stored
        self.finished = not stored.missing
        document = ranges_summary(study.game, stored)
        files = write_ranges(document, self.path)
        session.say(f"wrote {', '.join(file.name for file in files)} in {self.path}")
        return document


# -- what a run says ------------------------------------------------------------------------------


def ranges_summary(game: Game, run: StoredRun) -> dict[str, Any]:
    """Return the ranges of all quantities of a stored run, as JSON values; times in seconds.

    What was found is recomputed from the stored profile that the verifier measured, where its
    max regret is within the run's tolerance. An end is closed where the bound is within
    `closed_within` of that, times the row's `unit`, whatever gap the solver itself took for
    proved. UsageError if the run is not one of ranges, or a profile of it cannot be read.
    """
    planned = run.plan["request"]
    request = request_of(planned)
    cells = {cell.solver: cell for cell in run.finished}
    known, labels = known_sets(game), set(action_labels(game.tree))
    rows = []
    for name in request.of:
        kind = "frequency" if name in labels else "payoff"
        # what tolerances are shares of
        unit = (game.tree.payoff_range or 1.0) if kind == "payoff" else 1.0
        row: dict[str, Any] = {"quantity": name, "kind": kind, "unit": unit}
        for sense in SENSES:
            row[sense] = _end(game, run, cells.get(optimum(request, name, sense)), row, sense)
        row["published"] = _published(game.tree, known, row)
        rows.append(row | {"verdict": verdict(row)})
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "game": request.game,
        "game_spec": game.spec,
        "solver": request.solver,
        "solver_specs": sorted({cell.solver_spec for cell in run.finished}),
        "timeout_s": run.timeout_s,
        "threads": planned.get("threads"),
        "jobs": planned.get("jobs"),
        "environment": run.plan.get("environment", {}),
        "agree_within": AGREE,
        "closed_within": CLOSED,
        "quantities": rows,
    }


def verdict(row: Mapping[str, Any]) -> str | None:
    """Say how the range over all equilibria compares with the published one; None without one.

    `wider`: a verified profile with a max regret of rounding lies beyond the published range.
    `contradiction`: a published equilibrium lies beyond a bound, which is wrong then. `equal`:
    both ends are closed, and what was found is at the published ends. `open`: none of these.
    `unavailable` and `unsupported`: so the solver is for both ends, and no search was attempted.
    """
    if row["published"] is None:
        return None
    low, high = (row[sense]["status"] for sense in SENSES)
    if low == high and low in NEVER_RAN:
        return str(low)
    if _beyond_published(row):
        return "wider"
    agree = AGREE * row["unit"]
    if any(_excess(row, sense, "bound") < -agree for sense in SENSES):
        return "contradiction"
    near = all(abs(_excess(row, sense, "found")) <= agree for sense in SENSES)
    return "equal" if near and all(row[sense]["closed"] for sense in SENSES) else "open"


def _beyond_published(row: Mapping[str, Any]) -> list[Sense]:
    """Return the ends at which a verified equilibrium lies beyond the published range."""
    agree = AGREE * row["unit"]
    exact = [sense for sense in SENSES if row[sense]["exact_enough"]]
    return [sense for sense in exact if _excess(row, sense, "found") > agree]


def _excess(row: Mapping[str, Any], sense: Sense, name: str) -> float:
    """By how much a value of an end lies beyond the published one; NaN if there is none."""
    value, published = row[sense][name], row["published"]
    if value is None:
        return math.nan
    return float(value - published["high"] if sense == "max" else published["low"] - value)


def _end(
    game: Game, run: StoredRun, cell: CellRecord | None, row: Mapping[str, Any], sense: Sense
) -> dict[str, Any]:
    """One end of a range; all of it None, but for the status, if the cell has not finished."""
    figures = {} if cell is None else cell.statistics
    status = "missing" if cell is None else cell.status
    allowed = run.plan["request"].get("tolerance", Request.tolerance) * game.tree.payoff_scale
    candidates = () if cell is None else cell.equilibria  # those with the smallest regret first
    items = (i for i in candidates if i.refuted is None and i.profile and i.max_regret <= allowed)
    item = next(items, None)
    value: dict[str, Any] = {"found": None, "any_share": False, "reach": None}
    if item is not None:
        value |= _value(game, run, item, row, sense)
    found, objective, bound = value["found"], figures.get("objective"), figures.get("bound")
    distance = _apart(bound, found) if status in ("ok", *ENDED_EARLY) else None
    return {
        "status": status,
        "reason": "not run yet, --resume continues" if cell is None else cell.reason,
        **value,
        "max_regret": item and item.max_regret,
        "exact_enough": item is not None and is_exact_enough(game, item.max_regret),
        "profile": item and item.profile,
        "objective": objective,
        "difference": None if found is None or objective is None else found - objective,
        "bound": bound,
        "gap": _apart(bound, objective),
        "distance": distance,
        "closed": distance is not None and distance <= CLOSED[row["kind"]] * row["unit"],
        "elapsed_s": cell and cell.elapsed_s,
        **{name: figures.get(name) for name in ("formulation", "backend", "nodes")},
    }


def _value(
    game: Game, run: StoredRun, item: EquilibriumRecord, row: Mapping[str, Any], sense: Sense
) -> dict[str, Any]:
    """A quantity in a measured profile, whether any share will do, and how play reaches it."""
    tree, form = game.tree, game.sequence_form
    if row["kind"] == "payoff":
        return {"found": float(item.payoffs[tree.players.index(row["quantity"])])}
    data = read_profile(str(run.path / str(item.profile)))
    behavior = profile_from_json(tree, data).probabilities
    action, infoset = _place(tree, row["quantity"])
    reach = float(infoset_reach(tree, behavior)[infoset])
    weights = RealizationPlan.of(form, behavior).weights
    any_share = bool(weights[form.parent[infoset]] <= _NEVER)  # the own plan never leads there
    found = float(sense == "max" if any_share else behavior[action])
    return {"found": found, "any_share": any_share, "reach": reach}


def _apart(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else abs(one - other)


def _published(
    tree: GameTree, known: tuple[KnownSet, ...], row: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Range over the published sets; if not `linear`, of the outermost values found."""
    if not known:
        return None
    place = (*tree.players, *action_labels(tree)).index(row["quantity"])

    def figure(piece: KnownSet, parameters: FloatArray) -> float:
        behavior = piece.layout.behavior(piece.frequencies(parameters))
        return float(np.append(piece.payoffs_near(parameters), behavior)[place])

    sets = extremes_by_name(known, figure)
    lows, highs = zip(*sets.values(), strict=True)
    return {
        "low": min(lows),
        "high": max(highs),
        "linear": all(is_linear(piece, partial(figure, piece)) for piece in known),
        "sets": {name: list(ends) for name, ends in sets.items()},
    }


# -- tables ---------------------------------------------------------------------------------------

_COLUMNS = (
    Column("quantity", identifies=True),
    Column("smallest"),
    Column("at least"),
    Column("closed below", stacked="closed\nbelow"),
    Column("largest"),
    Column("at most"),
    Column("closed above", stacked="closed\nabove"),
    Column("time", "seconds", dispensable=1),
)
_PUBLISHED = (
    Column("published from", stacked="published\nfrom"),
    Column("published to", stacked="published\nto"),
    Column("verdict"),
)
_CSV_END = (
    *("status", "found", "any_share", "max_regret", "objective", "difference", "bound", "gap"),
    *("distance", "closed", "reach", "elapsed_s", "backend", "nodes", "profile"),
)
_PER_UNIT = {"payoff": "of the payoff range", "frequency": "for frequencies"}
_NOISE = 1e-9  # in units of the quantity; less is shown as 0
_MOST_NAMES = 6  # that a note lists


def _row(row: Mapping[str, Any]) -> Row:
    def number(value: float | None) -> str | None:
        if value is None:
            return None
        return f"{value:.6g}" if abs(value) > _NOISE * row["unit"] else "0"

    def of_end(end: Mapping[str, Any]) -> tuple[str | None, ...]:
        found = number(end["found"])
        closed = "no" if end["status"] == "ok" else str(end["status"])
        if end["closed"]:
            closed = "yes"
        elif end["distance"] is not None:
            closed = f"no ({end['distance']:.1e})"
        return f"{found} (any)" if end["any_share"] else found, number(end["bound"]), closed

    published = row["published"] or {"low": None, "high": None}
    times = [end["elapsed_s"] for end in (row["min"], row["max"]) if end["elapsed_s"] is not None]
    values = (
        cell_text(row["quantity"]),
        *of_end(row["min"]),
        *of_end(row["max"]),
        sum(times) if times else None,
        number(published["low"]),
        number(published["high"]),
        row["verdict"],
    )
    return Row.of((*_COLUMNS, *_PUBLISHED), values, row["quantity"])


def _legend(document: Mapping[str, Any], *, published: bool) -> str:
    kinds = sorted({row["kind"] for row in document["quantities"]}, reverse=True)  # payoffs first
    closed = [f"{_power(document['closed_within'][kind])} {_PER_UNIT[kind]}" for kind in kinds]
    agree = [f"{_power(document['agree_within'])} {_PER_UNIT[kind]}" for kind in kinds]
    # of the solver, as far as its options say them
    specs = document["solver_specs"]
    given = dict(parse_spec(specs[0]).options) if specs else {}
    texts = []
    for name in sorted({"feasibility", "gap"} & given.keys()):
        text = format_value(given[name])
        texts.append(f"{name} {_power(given[name]) if '/' in text or 'e' in text else text}")
    tolerances = f" ({', '.join(texts)})" if texts else ""
    parts = [legend("ranges.ends", tolerances=tolerances, closed=" or ".join(closed))]
    if "frequency" in kinds:
        parts.append(legend("ranges.frequencies"))
    if published:
        parts.append(legend("ranges.verdicts", agree=" or ".join(agree)))
    return " ".join(parts)


def _power(value: Any) -> str:
    return f"{float(value):.0e}".replace("e-0", "e-")


def _ends(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and figures of each optimum, with the unit of its quantity."""
    for row in document["quantities"]:
        for sense in SENSES:
            yield f"{sense} {row['quantity']}", row[sense] | {"unit": row["unit"]}


def _notes(document: Mapping[str, Any]) -> Iterator[str]:
    """Say why optima are not there or not proved, and where profile and solver differ."""
    ends = list(_ends(document))
    shared: dict[tuple[str, str], list[str]] = {}
    for name, end in ends:
        early = end["status"] in ("ok", *ENDED_EARLY) and end["bound"] is not None
        if early and not end["closed"]:
            reason = "what was found until then and the bound stand"
            shared.setdefault(("open", reason), []).append(name)
        elif end["status"] != "ok" and not early:
            shared.setdefault((end["status"], end["reason"]), []).append(name)
    for (status, reason), names in shared.items():
        yield f"{status}: {first_of(names, _MOST_NAMES)}" + (reason and f" – {reason}")
    moved = [
        f"{name} {end['difference']:+.1e}"
        for name, end in ends
        if abs(end["difference"] or 0.0) > MOVED * end["unit"]
    ]
    if moved:
        yield (
            "difference of the verified profile to the solver's own point, whose constraints hold "
            f"to its tolerance only: {first_of(moved, _MOST_NAMES)}"
        )
    published = [row for row in document["quantities"] if row["published"]]
    unreached = [
        row["quantity"]
        for row in published
        if row["verdict"] == "wider"
        and row["kind"] == "frequency"
        and all(row[sense]["reach"] <= TOLERANCE for sense in _beyond_published(row))
    ]
    curved = [row["quantity"] for row in published if not row["published"]["linear"]]
    for key, names in (("unreached", unreached), ("curved", curved)):
        if names:
            yield f"{legend(f'ranges.{key}')}: {first_of(names, _MOST_NAMES)}"


def _conditions(document: Mapping[str, Any]) -> Iterator[str]:
    ends = [end for _, end in _ends(document)]
    threads, jobs, facts = document["threads"], document["jobs"] or 1, document["environment"]
    backends = " and ".join(sorted({end["backend"] for end in ends if end["backend"]}))
    parts = (
        f"limit {document['timeout_s']:g} s per optimum",
        f"{counted(threads, 'thread')} each" if threads else "",
        f"{jobs} at a time" if jobs > 1 else "",
        document["solver"] + (f" on {backends}" if backends else ""),
        f"{facts['processor']} with {facts['cores']} cores" if facts.get("processor") else "",
    )
    yield f"here: {', '.join(filter(None, parts))}"
    yield f"closed: {sum(end['closed'] for end in ends)} of {len(ends)} optima"


def ranges_csv(document: Mapping[str, Any]) -> str:
    """Return a row for each quantity; empty where nothing is known."""
    columns: list[tuple[str, str]] = [(sense, name) for sense in SENSES for name in _CSV_END]
    columns += [("published", "low"), ("published", "high")]
    rows: list[list[Any]] = [["quantity", *map("_".join, columns), "verdict"]]
    for row in document["quantities"]:
        values = [(row[part] or {}).get(name) for part, name in columns]
        rows.append([row["quantity"], *values, row["verdict"]])
    return csv_text(rows, end="\r\n")


def write_ranges(document: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the ranges into the folder of a run, as JSON, Markdown, CSV and LaTeX."""
    report = RangesStudy.report(document)
    texts = {
        SUMMARY: json.dumps(document, indent=2, allow_nan=False) + "\n",
        "ranges.md": markdown(report),
        "ranges.csv": ranges_csv(document),
        "ranges.tex": latex(report),
    }
    return write_texts(folder, texts)
