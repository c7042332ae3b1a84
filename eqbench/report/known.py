"""What is known of games and published sets that stored results name; of other games nothing.

Files may have changed since a run, and what a plugin does is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from eqbench.builtin import BUILTIN_GAMES
from eqbench.equilibria.published import set_texts
from eqbench.errors import EqbenchError
from eqbench.model.game import Game
from eqbench.model.tree_files import content_hash
from eqbench.model.words import Wording
from eqbench.registry import default_registry
from eqbench.spec import GAME_FILES
from eqbench.store.run_folder import placed_spec
from eqbench.store.stored_run import StoredRun

__all__ = ["declared_words", "set_texts", "small_game"]

LARGEST = 20_000  # nodes of a game that is built for a report


def small_game(spec: str, content: str, runs: Iterable[StoredRun] = ()) -> Game | None:
    """Game if it is small, built in or in a file, and still has the content that was run.

    Files are looked for where these runs had them, too.
    """
    with suppress(EqbenchError, OSError):
        if spec.partition("(")[0] in BUILTIN_GAMES or spec.lower().endswith(GAME_FILES):
            spec = placed_spec(spec, [run.path for run in runs])
            game = default_registry().load_game(spec, max_nodes=LARGEST)
            return game if content_hash(game.tree) == content else None
    return None


def declared_words(spec: str) -> Wording | None:
    """What labels of a built-in game mean, without building it; None of all others."""
    with suppress(EqbenchError):  # another version may have run it
        if spec.partition("(")[0] in BUILTIN_GAMES:
            return getattr(default_registry().describe_game(spec)[0], "wording", None)
    return None
