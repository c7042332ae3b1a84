"""`eqbench show`: one stored profile, information set by information set."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_note, say_notes
from eqbench.errors import counted
from eqbench.registry import NameOptions
from eqbench.requests import CELL, FLAG, MILLION, RUN, Integer, Json, Option

if TYPE_CHECKING:
    from eqbench.equilibria import Kind
    from eqbench.store.schema import CellRecord, EquilibriumRecord


@dataclass(frozen=True)
class ShowRequest(NameOptions):
    """Show what a profile plays, what is reached and which actions are indifferent.

    RUN is the folder of a run, or `latest`. CELL is the beginning of a key, or a solver, or
    GAME/SOLVER/SEED as far as it takes to tell cells apart. JSON always holds all information
    sets.
    """

    run: Annotated[str, Option("Folder of a run, or `latest`.", RUN, argument=True)]
    cell: Annotated[
        str | None, Option("Cell of the run; without it they are listed.", CELL, argument=True)
    ] = None
    rank: Annotated[
        int,
        Option(
            "Which candidate of the cell; 0 is the one with the smallest max regret.",
            Integer("K", 0, MILLION),
        ),
    ] = 0
    candidates: Annotated[
        bool, Option("List all candidates of the cell: regrets, payoffs, and which they are.", FLAG)
    ] = False
    show_all: Annotated[
        bool, Option("Print all information sets, however many there are.", FLAG, "all")
    ] = False
    proofs: Annotated[
        bool, Option("Also print what proves which kind of equilibrium it is.", FLAG)
    ] = False
    as_json: Json = False


@command(ShowRequest)
def show(request: ShowRequest) -> None:
    from eqbench.equilibria import affordable_kind
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.report.profile_view import cell_facts, play_facts, profile_report
    from eqbench.store.schema import EQUILIBRIA
    from eqbench.store.stored_games import game_of_runs
    from eqbench.store.stored_profiles import profile_file
    from eqbench.store.stored_run import read_run, run_folder
    from eqbench.verification import Allowance, affordable_credibility

    stored = read_run(run_folder(request.run))
    say_notes(stored)
    record = stored.cell(request.cell or "")
    if request.candidates:
        _list_candidates(record, as_json=request.as_json)
        return
    file = profile_file(stored, record, request.rank) if record.equilibria else None
    facts = cell_facts(stored, record, request.rank)
    if file is not None:
        registry, content = request.registry(), record.game_content
        game = game_of_runs([stored], record.game_spec, registry, say_note, content=content)
        data = read_profile(str(file))
        found, profile = record.equilibria[request.rank], profile_from_json(game.tree, data)
        facts |= play_facts(game, profile)
        if found.claim in EQUILIBRIA:
            is_exact = found.exact is not None
            judged = affordable_credibility(game.tree, profile, Allowance(), exact=is_exact)
            verdicts = judged.by_set() if judged else []
            for item, verdict in zip(facts["information_sets"], verdicts, strict=False):
                item |= verdict
            if request.proofs and not found.refuted:
                kind = affordable_kind(game.tree, profile, Allowance(), exact=is_exact)
                facts["candidate"] |= _proofs(found, kind)
    put_result(
        facts, lambda: profile_report(facts, show_all=request.show_all), as_json=request.as_json
    )


def _proofs(found: EquilibriumRecord, kind: Kind | None) -> dict[str, Any]:
    """What proves which kind of equilibrium it is, and the kind, which is judged anew.

    Alone it may be searched for longer than in its cell; but trembles that its solver knew are not
    stored, so what was certified with them stays so.
    """
    if kind is None:
        return {}
    judged = found.kind or kind.to_json()
    if judged["sequential"] != "certified":
        judged = kind.to_json()
    return {"kind": judged, "proofs": kind.proofs()}


def _list_candidates(record: CellRecord, *, as_json: bool) -> None:
    """Print all candidates of a cell, the best first."""
    from eqbench.report.naming import decimal, identity_text, marks, symbol
    from eqbench.report.rows import Column, Report, Row, Table
    from eqbench.store.stored_run import cell_name
    from eqbench.verification import credible_text

    names = [identity_text(item.identity) for item in record.equilibria]
    columns = (
        Column("rank", "count", identifies=True),
        Column("max regret", "small"),
        Column("payoffs", "payoffs", dispensable=2),
        Column("claim", dispensable=1),
        Column("equilibrium", notes=marks(names)),
        Column("parameters", "names"),
        Column("credible", "verdict", dispensable=3),
    )
    rows = []
    for rank, (item, name) in enumerate(zip(record.equilibria, names, strict=True)):
        known = {} if item.identity is None else dict(item.identity["parameters"])
        if item.identity is not None:  # the leading one stands beside the name
            known.pop(item.identity["leading"] or "", None)
        parameters = [f"{symbol(each)}={decimal(value)}" for each, value in known.items()]
        credible = credible_text(item.credible) or None
        figures = (rank, item.max_regret, item.payoffs, item.claim)
        rows.append(Row.of(columns, (*figures, name or None, parameters, credible)))
    is_judged = any(item.credible for item in record.equilibria)
    shown = tuple(column for column in columns if is_judged or column.title != "credible")
    title = f"{cell_name(record)}: {counted(len(rows), 'candidate')}"
    facts = ("key", "game", "solver", "game_spec", "solver_spec", "seed", "repeat", "status")
    document = {
        "schema": "eqbench.candidates/1",
        "cell": {name: getattr(record, name) for name in facts},
        "candidates": [{"rank": k} | asdict(item) for k, item in enumerate(record.equilibria)],
    }
    put_result(document, lambda: Report((Table(title, shown, tuple(rows)),)), as_json=as_json)
