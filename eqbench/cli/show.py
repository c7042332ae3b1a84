"""`eqbench show`: one stored profile, information set by information set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_note, say_notes
from eqbench.errors import counted
from eqbench.registry import NameOptions
from eqbench.requests import FLAG, MILLION, RUN, Integer, Json, Kind, Option

if TYPE_CHECKING:
    from eqbench.store.schema import CellRecord


@dataclass(frozen=True)
class ShowRequest(NameOptions):
    """Show what a profile plays, what is reached and which actions are indifferent.

    RUN is the folder of a run, or `latest`. CELL is the beginning of a key, or a solver, or
    GAME/SOLVER/SEED as far as it takes to tell cells apart. JSON always holds all information
    sets.
    """

    run: Annotated[str, Option("Folder of a run, or `latest`.", RUN, argument=True)]
    cell: Annotated[
        str | None,
        Option("Cell of the run; without it they are listed.", Kind("CELL"), argument=True),
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
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.report.profile_view import cell_facts, play_facts, profile_report
    from eqbench.store.named import game_of_runs, profile_file
    from eqbench.store.schema import EQUILIBRIA
    from eqbench.store.stored_run import read_run, run_folder
    from eqbench.verdict import Claimed, judge
    from eqbench.verification import Allowance

    stored = read_run(run_folder(request.run))
    say_notes(stored)
    record = stored.cell(request.cell or "")
    if request.candidates:
        _list_candidates(record, as_json=request.as_json)
        return
    file = profile_file(stored, record, request.rank) if record.equilibria else None
    facts = cell_facts(stored, record, request.rank)
    wording = None
    if file is not None:
        registry, content = request.registry(), record.game_content
        game = game_of_runs([stored], record.game_spec, registry, say_note, content=content)
        data = read_profile(str(file))
        found, profile = record.equilibria[request.rank], profile_from_json(game.tree, data)
        facts |= play_facts(game, profile)
        wording = game.wording
        if found.claim in EQUILIBRIA:
            is_exact, is_refuted = found.exact is not None, found.refuted is not None
            claimed = Claimed(game.tree, profile, is_exact, is_refuted)
            credible = judge("credible", claimed, Allowance())
            by_set = credible.by_set() if credible else []
            for item, verdict in zip(facts["information_sets"], by_set, strict=False):
                item |= verdict
            if request.proofs and (kind := judge("kind", claimed, Allowance())):
                # Alone it may be searched for longer than in its cell; but trembles that its solver
                # knew are not stored, so what was certified with them stays so.
                known = found.kind
                if known is None or known["sequential"] != "certified":
                    known = kind.to_json()
                facts["candidate"] |= {"kind": known, "proofs": kind.proofs()}
    shown = partial(profile_report, facts, show_all=request.show_all, wording=wording)
    put_result(facts, shown, as_json=request.as_json)


def _list_candidates(record: CellRecord, *, as_json: bool) -> None:
    """Print all candidates of a cell, the best first."""
    from eqbench.report.naming import decimal, identity_text, marks, symbol, verdict_texts
    from eqbench.report.rows import Column, Report, Row, Table
    from eqbench.store.stored_run import cell_name

    names = [identity_text(item.identity) for item in record.equilibria]
    verdicts = [verdict_texts(item) for item in record.equilibria]
    judged = dict.fromkeys(name for own in verdicts for name in own)
    columns = (
        Column("rank", "count", identifies=True),
        Column("max regret", "small"),
        Column("payoffs", "payoffs", dispensable=2),
        Column("claim", dispensable=1),
        Column("equilibrium", notes=marks(names)),
        Column("parameters", "names"),
        *(Column(name, "verdict", dispensable=3) for name in judged),
    )
    rows = []
    for rank, item in enumerate(record.equilibria):
        known = {} if item.identity is None else dict(item.identity["parameters"])
        if item.identity is not None:  # the leading one stands next to the name
            known.pop(item.identity["leading"] or "", None)
        parameters = [f"{symbol(each)}={decimal(value)}" for each, value in known.items()]
        figures = (rank, item.max_regret, item.payoffs, item.claim, names[rank] or None)
        texts = (verdicts[rank].get(each) for each in judged)
        rows.append(Row.of(columns, (*figures, parameters, *texts)))
    title = f"{cell_name(record)}: {counted(len(rows), 'candidate')}"
    facts = ("key", "game", "solver", "game_spec", "solver_spec", "seed", "repeat", "status")
    document = {
        "schema": "eqbench.candidates/1",
        "cell": {name: getattr(record, name) for name in facts},
        "candidates": [{"rank": k} | item.to_json() for k, item in enumerate(record.equilibria)],
    }
    put_result(document, lambda: Report((Table(title, columns, tuple(rows)),)), as_json=as_json)
