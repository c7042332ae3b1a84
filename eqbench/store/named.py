"""Profiles and games that a command or study names: in files and in runs, also by plugins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqbench.errors import SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.profile_json import read_profile
from eqbench.model.tree_files import content_hash
from eqbench.registry import Registry
from eqbench.store.run_folder import RunFolder, placed_spec
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, is_run, read_run, run_folder

_RANKED = re.compile(r"(.+):(\d+)")


def named_profile(text: str) -> tuple[Any, StoredRun | RunFolder | None]:
    """Interchange form of the profile that `text` names, and the run that it is part of, if any.

    It names a file, standard input by ``-``, or a cell of a run by ``RUN/CELL``; ``RUN/CELL:2`` is
    the candidate of rank 2.

    Raises
    ------
    UsageError
        If it cannot be read, or there is no such file, cell or candidate.
    """
    path = Path(text)
    if text == "-" or (path.exists() and not path.is_dir()):
        folder = path.absolute().parent.parent  # where the file is one of the profiles of a run
        return read_profile(text), RunFolder.open(folder) if is_run(folder) else None
    if parts := in_run(text):
        return profile_of_cell(*parts)
    if is_run(run_folder(text)):
        return profile_of_cell(text, "")  # which says what cells there are
    return read_profile(text), None  # which says that there is no such file


def in_run(text: str) -> tuple[str, str] | None:
    """The run and the rest of ``RUN/…``; None if `text` names nothing in a run."""
    for slash in re.finditer("/", text):  # a path would lose the ./ of a game's file
        run = text[: slash.start()] or "/"
        if is_run(run_folder(run)):
            return run, text[slash.end() :]
    return None


def identified_as(place: str, name: str, game: Game) -> list[Path]:
    """Profiles of equilibria of a game that a run gave a name, such as ``cluster:2``."""
    run, own = read_run(run_folder(place)), {content_hash(game.tree), game.spec}
    found = [item for cell in run.cells if cell.game_identity in own for item in cell.equilibria]
    known = [(item, item.identity) for item in found if item.identity and item.profile]
    return [run.path / str(i.profile) for i, own in known if own["name"] == name and own["on_path"]]


def profile_of_cell(run: str, cell: str) -> tuple[Any, StoredRun]:
    """Interchange form of the profile of a cell, best or ``CELL:2``, and its run; UsageError.

    The form also has the `game_content` of the cell.
    """
    stored, (name, rank) = read_run(run_folder(run)), ranked(cell)
    record = stored.cell(name)
    data = read_profile(str(profile_file(stored, record, rank)))
    return data | {"game_content": record.game_content}, stored


def ranked(cell: str) -> tuple[str, int]:
    """The cell that ``CELL:2`` names, and the rank of its candidate, which is 0 unless given."""
    parts = _RANKED.fullmatch(cell)
    return (parts[1], int(parts[2])) if parts else (cell, 0)


def profile_file(run: StoredRun, cell: CellRecord, rank: int) -> Path:
    """File with the candidate of a cell that has this rank; UsageError if there is none."""
    count = len(cell.equilibria)
    if not 0 <= rank < count:
        allowed = f"ranks are 0 (the best) to {count - 1}" if count else "it found nothing"
        raise UsageError(f"{cell.solver} on {cell.game} has no candidate of rank {rank}: {allowed}")
    file = cell.equilibria[rank].profile
    if file is None:
        raise UsageError(
            f"the profile of this candidate is not in {run.path}: files of the run were "
            "removed during it; run the cell again into another folder"
        )
    return run.path / file


def plugins_of(plan: Mapping[str, Any]) -> list[str]:
    """Plugins that the plan of a run names, each by its absolute path.

    Raises
    ------
    UsageError
        If one has none, since from another folder that would be another file.
    """
    requests = plan.get("parts") or [plan["request"]]
    files = [file for request in requests for file in request.get("plugins") or ()]
    for file in files:
        if not Path(file).is_absolute():
            raise UsageError(
                f"the run names the plugin {file} without its folder, so it may be any file of "
                "that name; begin another run, or say which by --plugin (in Python: import it)"
            )
    return files


def registry_of_runs(
    runs: Iterable[StoredRun | RunFolder],
    game: str,
    registry: Registry,
    tell: Callable[[str], None],
) -> Registry:
    """The registry, with the plugins that these runs name where it lacks a game without them.

    `tell` receives which these are, since their code is run when the game is loaded.

    Raises
    ------
    SpecError
        If the runs name no plugins and no such game is known.
    UsageError
        If one of the plugins cannot be read; otherwise as :func:`plugins_of`.
    """
    try:
        registry.game_entry(game)
    except SpecError:
        files = dict.fromkeys(file for run in runs for file in plugins_of(run.plan))
        if not files:
            raise
        registry = registry.with_plugins(files)
        registry.game_entry(game)
        for file in files:
            tell(f"using the plugin {file}, which the run names")
    return registry


def game_of_runs(
    runs: Sequence[StoredRun | RunFolder],
    spec: str,
    registry: Registry,
    tell: Callable[[str], None],
    max_nodes: int = 0,
    content: str = "",
) -> Game:
    """Load a game, which may have the size that these runs or `max_nodes` allow.

    Raises as `registry_of_runs` and :meth:`Registry.load_game`, and a UsageError if it is not the
    game of this `content`, which a record names.
    """
    spec = placed_spec(spec, [run.path for run in runs])
    registry = registry_of_runs(runs, spec, registry, tell)
    allowed = [run.plan["request"].get("max_nodes") or 0 for run in runs]
    largest = max([max_nodes, *allowed])
    game = registry.load_game(spec, **({"max_nodes": largest} if largest else {}))
    if content and content_hash(game.tree) != content:
        raise UsageError(
            f"{spec} is another game now than the one that was run; restore it, or run it again"
        )
    return game
