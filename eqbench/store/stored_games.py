"""Games of stored runs, also those that a plugin brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqbench.errors import SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.tree_files import content_hash
from eqbench.registry import Registry
from eqbench.store.run_folder import RunFolder
from eqbench.store.stored_run import StoredRun


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
                "that name; begin the run anew, or say which by --plugin (in Python: import it)"
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
    registry = registry_of_runs(runs, spec, registry, tell)
    allowed = [run.plan["request"].get("max_nodes") or 0 for run in runs]
    largest = max([max_nodes, *allowed])
    game = registry.load_game(spec, **({"max_nodes": largest} if largest else {}))
    if content and content_hash(game.tree) != content:
        raise UsageError(
            f"{spec} is another game now than the one that was run; restore it, or run it again"
        )
    return game
