"""`eqbench show`: one stored profile, information set by information set."""

from __future__ import annotations

import click

from eqbench.cli.options import json_option, plugin_option, type_of
from eqbench.cli.output import put_json
from eqbench.errors import UsageError
from eqbench.requests import NUMBER_OR_NONE


@click.command()
@click.argument("run")
@click.argument("cell")
@click.option(
    "--rank",
    default=0,
    type=type_of(NUMBER_OR_NONE),
    show_default=True,
    metavar="K",
    help="Which candidate of the cell; 0 is the one with the smallest max regret.",
)
@click.option(
    "--all", "show_all", is_flag=True, help="Print all information sets, however many there are."
)
@plugin_option
@json_option
def show(
    run: str, cell: str, rank: int, *, show_all: bool, plugins: tuple[str, ...], as_json: bool
) -> None:
    """Show what a profile plays, what is reached and which actions are indifferent.

    RUN is the folder of a run, or `latest`. CELL is the beginning of a key, or a solver, or
    GAME/SOLVER/SEED as far as it takes to tell cells apart. JSON always holds all information
    sets.
    """
    from eqbench.cli.output import print_formatted, say_notes
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.registry import default_registry
    from eqbench.report.profile_facts import cell_facts, play_facts
    from eqbench.store.stored_run import game_of_runs, read_run, run_folder

    stored = read_run(run_folder(run))
    say_notes(stored)
    record = stored.cell(cell)
    facts = cell_facts(stored, record, rank)
    if facts["candidate"] is not None:
        file = facts["candidate"]["profile"]
        if file is None:
            raise UsageError(
                f"the profile of this candidate is not in {stored.path}: somebody removed the "
                "files of the run while it went on; run the cell again into another folder"
            )
        registry = default_registry().with_plugins(plugins)
        game = game_of_runs([stored], record.game_spec, registry.load_game)
        data = read_profile(str(stored.path / file))
        facts |= play_facts(game, profile_from_json(game.tree, data))
    if as_json:
        put_json(facts)
        return
    from eqbench.report.profile_view import profile_report
    from eqbench.report.terminal import print_report

    report = profile_report(facts, show_all=show_all)
    print_formatted(lambda console: print_report(report, console))
