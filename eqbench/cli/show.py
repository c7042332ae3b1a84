"""`eqbench show`: one stored profile, information set by information set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say, say_notes
from eqbench.requests import CELL, FLAG, MILLION, RUN, Integer, Json, Option, Plugins


@dataclass(frozen=True)
class ShowRequest:
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
    plugins: Plugins = ()
    as_json: Json = False


@command(ShowRequest)
def show(request: ShowRequest) -> None:
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.registry import default_registry
    from eqbench.report.equilibria import candidates_json, list_candidates
    from eqbench.report.profile_facts import cell_facts, play_facts
    from eqbench.report.profile_view import profile_report
    from eqbench.store.stored_games import game_of_runs
    from eqbench.store.stored_profiles import profile_file
    from eqbench.store.stored_run import read_run, run_folder

    stored = read_run(run_folder(request.run))
    say_notes(stored)
    record = stored.cell(request.cell or "")
    if request.candidates:
        put_result(
            candidates_json(record), lambda: list_candidates(record), as_json=request.as_json
        )
        return
    facts = cell_facts(stored, record, request.rank)
    if facts["candidate"] is not None:
        file = profile_file(stored, record, request.rank)
        registry = default_registry().with_plugins(request.plugins)
        game = game_of_runs([stored], record.game_spec, registry, say)
        data = read_profile(str(file))
        facts |= play_facts(game, profile_from_json(game.tree, data))
    put_result(
        facts, lambda: profile_report(facts, show_all=request.show_all), as_json=request.as_json
    )
