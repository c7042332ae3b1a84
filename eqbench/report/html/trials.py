"""What solvers can be compared by: games and seeds that all of them were asked to solve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eqbench.report.html.curves import looks_of
from eqbench.report.html.document import Prose
from eqbench.report.html.looks import Look
from eqbench.report.html.tracks import GameTracks, Track


@dataclass(frozen=True)
class Trial:
    """A game and a seed, with the cell of each solver by the key of its look."""

    game: GameTracks
    cells: Mapping[str, Track]


def shown_looks(games: Sequence[GameTracks]) -> list[Look]:
    """Looks of all solvers that have any cell."""
    return looks_of(track for game in games for track in game.tracks)


def common_trials(games: Sequence[GameTracks]) -> list[Trial]:
    """Games and seeds of which every solver has a cell, whatever became of it.

    A solver that uses no chance has one cell, which stands for all seeds.
    """
    keys = [look.key for look in shown_looks(games)]
    trials = []
    for game in games:
        own = {(track.look.key, track.entry.record.seed): track for track in game.tracks}
        seeds: list[int | None] = [*sorted({seed for _, seed in own if seed is not None})]
        for seed in seeds or [None]:
            found = {key: own.get((key, seed), own.get((key, None))) for key in keys}
            cells = {key: track for key, track in found.items() if track is not None}
            if cells and len(cells) == len(keys):
                trials.append(Trial(game, cells))
    return trials


def common_games(trials: Sequence[Trial]) -> list[GameTracks]:
    """Games of trials, each once."""
    return list({trial.game.title: trial.game for trial in trials}.values())


def what_counts(games: Sequence[GameTracks], trials: Sequence[Trial]) -> str:
    """Which games count, in a sentence for a caption."""
    counted = common_games(trials)
    names = ", ".join(game.short for game in counted)
    others = ", ".join(game.short for game in games if game not in counted)
    text = f"It counts what all solvers were asked to solve, the same seeds for all: {names}"
    return f"{text}; not {others}." if others else f"{text}."


def why_not_all(games: Sequence[GameTracks], trials: Sequence[Trial]) -> list[Prose]:
    """Why figures about shares are left out; empty where they are not, or nothing was solved."""
    solved = [game for game in games if any(track.points for track in game.tracks)]
    counted = common_games(trials)
    if not solved or (counted and (len(solved) < 2 or len(counted) > 1)):
        return []
    if not counted:
        text = (
            "Shares of targets and performance profiles need games and seeds that all solvers on "
            "this page were asked to solve, and there are none: a page with fewer runs may have "
            "them."
        )
    else:
        text = (
            "A performance profile needs two games that all solvers on this page were asked to "
            f"solve; there is only {counted[0].short}."
        )
    return [Prose((text,), small=True)]
