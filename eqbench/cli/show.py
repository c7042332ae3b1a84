"""`eqbench show`: one stored profile, information set by information set."""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import (
    NUMBER_OR_NONE,
    json_option,
    plugin_option,
)
from eqbench.cli.output import put_json
from eqbench.errors import UsageError


@click.command()
@click.argument("run")
@click.argument("cell")
@click.option(
    "--rank",
    default=0,
    type=NUMBER_OR_NONE,
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
    from eqbench.cli.report import run_folder
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.report.profile_facts import cell_facts, play_facts
    from eqbench.store.stored_run import read_run

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
        game = _game(stored, record, plugins)
        data = read_profile(str(stored.path / file))
        facts |= play_facts(game, profile_from_json(game.tree, data))
    if as_json:
        put_json(facts)
        return
    from eqbench.report.profile_view import print_profile

    print_formatted(lambda console: print_profile(facts, console, show_all=show_all))


def _game(stored: Any, record: Any, plugins: tuple[str, ...]) -> Any:
    """Game of a cell, whatever size the run allowed."""
    from eqbench.errors import SpecError
    from eqbench.registry import default_registry

    request = stored.plan["request"]
    limit = {"max_nodes": request["max_nodes"]} if request.get("max_nodes") else {}
    try:
        return default_registry().with_plugins(plugins).load_game(record.game_spec, **limit)
    except SpecError as error:
        files = request.get("plugins") or ["FILE"]
        hint = " ".join(f"--plugin {file}" for file in files)
        raise SpecError(f"{error}; if a plugin brought this game, add {hint}") from None
