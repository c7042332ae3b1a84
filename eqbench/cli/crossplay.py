"""`eqbench crossplay`: players whose strategies come from different equilibria."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click

from eqbench.cli.options import (
    MILLION,
    NUMBER,
    SHARE,
    json_option,
    plugin_option,
    spec_completion,
)
from eqbench.cli.output import put, say


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--game",
    default=None,
    metavar="SPEC",
    shell_complete=spec_completion("game"),
    help="Game; needed if the runs have several, or there is no run.",
)
@click.option("--known", is_flag=True, help="Add the corners of the known families of the game.")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Add an equilibrium in JSON; may be given several times.",
)
@click.option(
    "--tolerance",
    default=1e-6,
    type=SHARE,
    show_default=True,
    metavar="X",
    help="Regret that an equilibrium may have, as a share of the payoff range.",
)
@click.option(
    "--most",
    default=None,
    type=NUMBER,
    metavar="N",
    help="Keep at most N equilibria, of each name in turn.",
)
@click.option(
    "--limit",
    default=MILLION,
    type=click.IntRange(1, 1000 * MILLION),
    show_default=True,
    metavar="N",
    help="Refuse more combinations than this; n equilibria of N players have n^N.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Compute in fractions; a combination is then an equilibrium if its regret is exactly 0.",
)
@click.option(
    "--out",
    default=None,
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Also write summary.json and combinations.csv into DIR.",
)
@plugin_option
@json_option
def crossplay(
    runs: tuple[str, ...],
    game: str | None,
    known: bool,
    profiles: tuple[str, ...],
    tolerance: float,
    most: int | None,
    limit: int,
    exact: bool,
    out: str | None,
    plugins: tuple[str, ...],
    as_json: bool,
) -> None:
    """What if players prepare for different equilibria of one game?

    Takes the equilibria that runs have found, mixes them in all ways and says which combinations
    are equilibria again, what each strategy earns in the worst case, and which to choose.
    RUN is the folder of a run, or `latest`; of the last iterate and the average of a cell the
    better one is taken.
    """
    import json
    import sys
    from dataclasses import replace

    from eqbench.studies.crossplay.entries import counted, selection, without_copies
    from eqbench.studies.crossplay.study import crossplay as study
    from eqbench.studies.crossplay.study import crossplay_exactly, summary

    chosen = _game(runs, game, profiles, plugins)
    collected, left_out = _collect(chosen, known, profiles, tolerance)
    different, copies = without_copies(chosen.game, collected, exact=exact)
    found = selection(different, most or len(different))
    copies = [(copy, kept) for copy, kept in copies if kept in found]
    dropped = counted(item.name for item in different if item not in found)
    left_out = replace(left_out, dropped=dropped)
    entries = [(_label(a), item.profile) for a, item in enumerate(found)]
    if exact:
        sys.set_int_max_str_digits(0)  # fractions may be longer than Python likes to print
        result = crossplay_exactly(chosen.game, entries, limit=limit)
    else:
        result = study(chosen.game, entries, tolerance=tolerance, limit=limit)
    text = json.dumps(summary(result, found, copies, left_out), indent=2, allow_nan=False)
    if out is not None:
        _write(Path(out), text, result)
    if as_json:
        put(text)
        return
    from eqbench.cli.output import print_formatted
    from eqbench.studies.crossplay.tables import print_crossplay

    print_formatted(lambda console: print_crossplay(result, found, copies, left_out, console))


class _Chosen(NamedTuple):
    """The game, and what was read to find out which one it is: runs, and profiles by file."""

    game: Any
    runs: list[Any]
    data: dict[str, Any]


def _game(
    runs: tuple[str, ...],
    given: str | None,
    profiles: tuple[str, ...],
    plugins: tuple[str, ...],
) -> _Chosen:
    """The only game that the arguments are about.

    Raises
    ------
    UsageError
        If there is none or several, or a run has no such game.
    """
    from eqbench.cli.output import say_notes
    from eqbench.cli.report import run_folder
    from eqbench.errors import UsageError
    from eqbench.model.profile_json import read_profile
    from eqbench.registry import default_registry
    from eqbench.store.stored_run import read_run

    registry = default_registry().with_plugins(plugins)
    folders = {folder.resolve(): folder for folder in map(run_folder, runs)}
    stored = [read_run(folder) for folder in folders.values()]
    say_notes(*stored)
    data = {path: read_profile(path) for path in profiles}
    named = [item.get("game") for item in data.values() if isinstance(item, dict)]
    specs = {cell.game_spec: None for run in stored for cell in run.cells}
    if given is not None:
        spec = registry.describe_game(given)[1]
        if specs and spec not in specs:
            raise UsageError(f"no run has cells of {spec}; the games are {'; '.join(specs)}")
    else:
        specs |= {registry.describe_game(text)[1]: None for text in named if isinstance(text, str)}
        if len(specs) != 1:
            raise UsageError(
                f"these are several games; choose one by --game SPEC: {'; '.join(specs)}"
                if specs
                else "which equilibria? give a RUN, or --game SPEC with --known or --profile FILE"
            )
        (spec,) = specs
    return _Chosen(_load(registry, spec, stored), stored, data)


def _load(registry: Any, spec: str, runs: list[Any]) -> Any:
    """A game, whatever size the runs allowed."""
    from eqbench.errors import SpecError

    requests = [run.plan["request"] for run in runs]
    largest = max((request.get("max_nodes") or 0 for request in requests), default=0)
    try:
        return registry.load_game(spec, **({"max_nodes": largest} if largest else {}))
    except SpecError as error:
        files = [file for request in requests for file in request.get("plugins") or ()]
        hint = " ".join(f"--plugin {file}" for file in dict.fromkeys(files)) or "--plugin FILE"
        raise SpecError(f"{error}; if a plugin brought this game, add {hint}") from None


def _collect(
    chosen: _Chosen, known: bool, profiles: tuple[str, ...], tolerance: float
) -> tuple[list[Any], Any]:
    """Equilibria with their sources, known ones first, since these are exact; what is left out."""
    from dataclasses import replace

    from eqbench.equilibria import Identifier
    from eqbench.errors import UsageError
    from eqbench.model.profile_json import profile_from_json
    from eqbench.studies.crossplay.entries import LeftOut, corners, equilibria_of_runs, recognized

    game = chosen.game
    allowed = tolerance * game.tree.payoff_scale
    named, without_corners = corners(game) if known else ([], ())
    named += [(path, profile_from_json(game.tree, chosen.data[path])) for path in profiles]
    found = recognized(Identifier(game), named, allowed)
    left_out = LeftOut()
    if chosen.runs:
        more, left_out = equilibria_of_runs(chosen.runs, game, allowed)
        found += more
    if not found:
        raise UsageError("nothing to compare; give a RUN, --known or --profile FILE")
    return found, replace(left_out, without_corners=without_corners)


def _label(number: int) -> str:
    """A, B, …, Z, AA, AB, … as spreadsheets count."""
    text = ""
    while number >= 0:
        number, letter = divmod(number, 26)
        text, number = chr(ord("A") + letter) + text, number - 1
    return text


def _write(folder: Path, summary: str, result: Any) -> None:
    from eqbench.errors import UsageError
    from eqbench.studies.crossplay.study import combinations_csv

    files = {"summary.json": f"{summary}\n", "combinations.csv": combinations_csv(result)}
    for name, text in files.items():
        file = folder / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        except OSError as error:
            raise UsageError(
                f"cannot write {file}: {error.strerror}; choose another folder with --out"
            ) from None
        say(f"wrote {file}")
