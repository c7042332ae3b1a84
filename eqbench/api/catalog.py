"""Games and solvers that can be named, as data frames."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from os import PathLike
from typing import TYPE_CHECKING

from eqbench.builtin import FOREIGN_GAMES
from eqbench.documents import checked
from eqbench.errors import EqbenchError
from eqbench.model.game import Game
from eqbench.plugins import Entry
from eqbench.registry import Registry, default_registry
from eqbench.spec import format_value

if TYPE_CHECKING:
    import pandas as pd


@checked
def list_games(plugins: Iterable[str | PathLike[str]] = ()) -> pd.DataFrame:
    """Games by name: what they are, their options with defaults, where they come from.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.list_games().loc["kuhn2", "options"]
    'players=2, cards=none, pot=none, reduce=none, raises=0'
    """
    registry = default_registry().with_plugins(map(str, plugins))
    return _frame(registry, [*registry.games(), *FOREIGN_GAMES.values()])


@checked
def list_solvers(
    game: Game | str | None = None, plugins: Iterable[str | PathLike[str]] = ()
) -> pd.DataFrame:
    """Solvers by name, as :func:`list_games`.

    `in_all` says whether the word ``all`` means it too, and `missing` names packages that it needs
    and that are not installed. If a game is given, `takes` says whether the solver takes it here,
    and `reason` why not. Otherwise columns say which kinds of games a solver takes, as it answers
    for a few games of each kind; they are empty for solvers of others.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.list_solvers().loc["lcp", "three or more players"]
    'no'
    >>> eqbench.list_solvers("kuhn3").loc[["cfr_plus", "sequence_lp"], "takes"].tolist()
    [True, False]
    """
    import pandas as pd

    registry = default_registry().with_plugins(map(str, plugins))
    solvers = registry.solvers()
    frame = _frame(registry, solvers)
    frame["in_all"] = [entry.default_row for entry in solvers]
    frame["missing"] = [", ".join(entry.missing()) for entry in solvers]
    if game is None:
        return frame.join(pd.DataFrame({entry.name: entry.takes for entry in solvers}).T)
    answers = registry.obstacles(registry.load_game(game) if isinstance(game, str) else game)
    met = [answers[entry.name] for entry in solvers]
    frame["takes"] = [obstacle is None for obstacle in met]
    frame["reason"] = ["" if obstacle is None else obstacle[1] for obstacle in met]
    return frame


def _frame(registry: Registry, entries: list[Entry]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for entry in entries:
        options = []
        with suppress(EqbenchError):  # its class cannot be loaded
            options = registry.options(entry)
        texts = (
            each.name if each.required else f"{each.name}={format_value(each.default)}"
            for each in options
        )
        rows.append({"summary": entry.summary, "options": ", ".join(texts), "source": entry.source})
    return pd.DataFrame(rows, index=pd.Index([entry.name for entry in entries], name="name"))
