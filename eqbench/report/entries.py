"""Records as the rows of tables: which belong together, and what a row is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eqbench.spec import is_foreign
from eqbench.store.schema import CellRecord


@dataclass(frozen=True)
class Entry:
    """A record and the name of its run, which is empty where there is one run only."""

    run: str
    record: CellRecord


def by_game(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each game, the games in the order in which they first occur.

    Foreign games are told apart by their contents too, since a path may stand for several files.
    """
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        spec = entry.record.game_spec
        content = entry.record.game_content if is_foreign(spec) else ""
        groups.setdefault((spec, content), []).append(entry)
    return list(groups.values())


def by_solver(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Entries of each solver of each run, in the order in which they first occur."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.run, entry.record.solver), []).append(entry)
    return list(groups.values())


def several_seeds(entries: Sequence[Entry]) -> bool:
    """Whether a seed tells cells apart."""
    return len({entry.record.seed for entry in entries} - {None}) > 1


def several_repeats(entries: Sequence[Entry]) -> bool:
    """Whether cells were run more than once."""
    return any(entry.record.repeat for entry in entries)


def several_runs(entries: Sequence[Entry]) -> bool:
    """Whether the entries are of more than one run."""
    return len({entry.run for entry in entries}) > 1


def game_title(typed: str, spec: str) -> str:
    """A game as typed and in canonical form; of a foreign game the latter only."""
    return spec if typed == spec or is_foreign(spec) else f"{typed} = {spec}"


def titles(groups: Sequence[Sequence[Entry]]) -> list[str]:
    """Titles of the tables of games; equal ones say to which runs each belongs."""
    games = [group[0].record for group in groups]
    names = [game_title(game.game, game.game_spec) for game in games]
    return [
        f"{name} (in {', '.join(dict.fromkeys(entry.run for entry in group))})"
        if names.count(name) > 1
        else name
        for name, group in zip(names, groups, strict=True)
    ]


def is_proved(entry: Entry) -> bool:
    """Whether the profile that the row shows is an equilibrium by exact computation."""
    return bool(entry.record.equilibria) and entry.record.equilibria[0].is_proved


def row_label(entry: Entry, entries: Sequence[Entry]) -> str:
    """Solver of a row, with its seed, repeat and run where they tell rows apart."""
    seed = entry.record.seed
    more = [f"seed {seed}"] if seed is not None and several_seeds(entries) else []
    more += [f"repeat {entry.record.repeat}"] if several_repeats(entries) else []
    more += [entry.run] if several_runs(entries) else []
    return entry.record.solver + (f" ({', '.join(more)})" if more else "")


def labels(sharing: Sequence[Entry], entries: Sequence[Entry]) -> list[str]:
    """Labels of some rows; those that differ in seed or repeat only share one."""
    found = []
    for group in by_solver(sharing):
        label, first = row_label(group[0], entries), group[0].record
        for name in ("seed", "repeat"):
            numbers = dict.fromkeys(str(getattr(entry.record, name)) for entry in group)
            if len(numbers) > 1:
                every = f"{name}s {', '.join(numbers)}"
                label = label.replace(f"{name} {getattr(first, name)}", every, 1)
        found.append(label)
    return found
