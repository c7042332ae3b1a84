"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eqbench.errors import counted
from eqbench.report.entries import (
    ABSENT,
    Entry,
    arranged,
    by_game,
    by_solver,
    reached_target,
    solver_label,
)
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.naming import found, handed_over, is_cluster
from eqbench.report.terminal import seconds, small
from eqbench.store.schema import CellRecord
from eqbench.text import printable

MOST_NAMED = 3
MOST_GAMES = 5  # that have a sentence each
# How a cell ended that is short of the target.
_ENDINGS = {
    "ok": "ended by its own rule above the target",
    "stopped": "stopped by itself",
    "limit": "budget used up",
    "timeout": "killed at the deadline",
    "memory": "out of memory",
    "failed": "numerical failure",
    "not_found": "found nothing",
    "interrupted": "interrupted",
    "crashed": "crashed",
    "refuted": "claim refuted",
}


def answer(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Sentences that say what came of some cells: at most four, and one for each of a few games."""
    games = [arranged(game) for game in by_game(entries)]
    trials = [[_Trials.of(group) for group in by_solver(game) if _began(group)] for game in games]
    known = [[item for item in equilibria(game) if not item.is_near] for game in games]
    began = [each for game in trials for each in game]
    sentences = []
    if began:
        sentences += [_reached(began) if len(games) == 1 else _reached_on(trials)]
        sentences += [_found(known, entries), _short(began)]
    sentences += [_absent(entries, "this game" if len(games) == 1 else "some games")]
    if 1 < len(games) <= MOST_GAMES:
        sentences += map(_line, [game[0].record.game for game in games], trials, known)
    return tuple(printable(sentence) for sentence in sentences if sentence)


@dataclass(frozen=True)
class _Trials:
    """The cells of a solver on a game, without those that it never took.

    Attributes
    ----------
    reached : those that reached the target
    time_s : their median solving time; infinite without one
    """

    name: str
    cells: list[CellRecord]
    reached: list[CellRecord]
    time_s: float

    @classmethod
    def of(cls, group: Sequence[Entry]) -> _Trials:
        cells = _began(group)
        reached = [record for record in cells if reached_target(record)]
        times = [record.elapsed_s for record in reached if record.elapsed_s is not None]
        time_s = statistics.median(times or [math.inf])
        return cls(solver_label(group[0]), cells, reached, time_s)

    @property
    def is_complete(self) -> bool:
        return len(self.reached) == len(self.cells)

    @property
    def timed(self) -> str:
        median = f", median of {len(self.reached)}" if len(self.reached) > 1 else ""
        return f"{self.name} ({seconds(self.time_s)}{median})"


def _began(group: Iterable[Entry]) -> list[CellRecord]:
    return [entry.record for entry in group if entry.record.status not in ABSENT]


def _fastest(trials: Sequence[_Trials]) -> _Trials | None:
    timed = [each for each in trials if each.time_s < math.inf]
    return min(timed, key=lambda each: each.time_s, default=None)


def _target(cells: Iterable[CellRecord]) -> str:
    targets = sorted({record.target for record in cells if record.target})
    if not targets:
        return "ended ok (there was no target)"
    shown = f" (max regret {' or '.join(map(small, targets))})" if len(targets) <= 2 else ""
    return f"reached the target{shown}"


def _reached(trials: Sequence[_Trials]) -> str:
    """Sentence on one game: how many solvers reached the target, and which was fastest."""
    cells = [record for each in trials for record in each.cells]
    number = sum(len(each.reached) for each in trials)
    done = sum(each.is_complete for each in trials)
    runs = " of all runs" if len({each.cells[0].solver for each in trials}) < len(trials) else ""
    text = f"{done} of {counted(len(trials), 'solver')}{runs} {_target(cells)}"
    if len(cells) > len(trials):
        some = sum(bool(each.reached) for each in trials) - done
        text += " with every seed" + (f", {some} with some" if some else "")
        text += f" ({number} of {len(cells)} cells)"
    if fastest := _fastest(trials):
        text += f"; fastest: {fastest.timed}"
    best = [(r.max_regret, e.name) for e in trials for r in e.cells if r.max_regret is not None]
    if best and not number:
        regret, name = min(best)
        text += f"; closest: {name} ({small(regret)})"
    return f"{text}."


def _reached_on(games: Sequence[Sequence[_Trials]]) -> str:
    """Sentence on several games: in how many cells the target was reached, and by whom."""
    by_name: dict[str, list[_Trials]] = {}
    for each in (each for game in games for each in game):
        by_name.setdefault(each.name, []).append(each)
    cells = [record for own in by_name.values() for each in own for record in each.cells]
    number = sum(map(reached_target, cells))
    text = f"On {len(games)} games {number} of {counted(len(cells), 'cell')} {_target(cells)}"
    always = [name for name, own in by_name.items() if all(each.is_complete for each in own)]
    text += f"; on every game that they take: {_names(always)}" if always else ""
    firsts = Counter(fastest.name for game in games if (fastest := _fastest(game)))
    for name, times in firsts.most_common(1):
        text += f"; most often fastest: {name} (on {counted(times, 'game')})"
    return f"{text}."


def _found(games: Sequence[Sequence[Found]], entries: Sequence[Entry]) -> str:
    """Sentence on the equilibria: which published ones, how many others, who found most."""
    clusters = [item for known in games for item in known if is_cluster(item.name)]
    published = [item for known in games for item in known if not is_cluster(item.name)]
    names = dict.fromkeys(item.name for item in published)
    parts = []
    if published:
        shown = [item.summary for item in published] if len(games) == 1 else list(names)
        parts.append(f"equilibria of {counted(len(names), 'published set')}: {_names(shown)}")
    if clusters and not parts:
        several = counted(len(clusters), "equilibrium", "equilibria")
        which = f": {_names([item.summary for item in clusters])}" if len(games) == 1 else ""
        parts.append(f"{several} in no published set{which}")
    elif clusters:
        parts.append(f"{len(clusters)} other in no published set")
    if not parts:
        return "No equilibrium was identified."
    most: dict[str, int] = {}
    for entry in entries:
        number = sum(len(handed_over(members)) for members in found(entry.record).values())
        most[solver_label(entry)] = max(number, most.get(solver_label(entry), 0))
    largest = max(most.values())
    who = _names([name for name, number in most.items() if number == largest])
    at_once = f"; most at once: {who} ({largest})" if largest > 1 else ""
    return f"Found {', and '.join(parts)}{at_once}."


def _short(trials: Sequence[_Trials]) -> str:
    """Sentence on the cells that are short of the target, by how they ended."""
    ended: dict[str, Counter[str]] = {status: Counter() for status in _ENDINGS}
    for each in trials:
        for record in each.cells:
            if not reached_target(record):
                ended[record.status][each.name] += 1
    parts = [
        f"{_names([name + f' ×{n}' * (n > 1) for name, n in names.items()])} ({_ENDINGS[status]})"
        for status, names in ended.items()
        if names
    ]
    return f"Short of the target: {'; '.join(parts)}." if parts else ""


def _absent(entries: Sequence[Entry], game: str) -> str:
    """Sentence on solvers that do not take the game, or are not available."""
    parts = []
    for status, what in ABSENT.items():
        names = [solver_label(entry) for entry in entries if entry.record.status == status]
        if names:
            parts.append(f"{what.replace('this game', game)}: {_names(list(dict.fromkeys(names)))}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _line(title: str, trials: Sequence[_Trials], known: Sequence[Found]) -> str:
    """Short sentence on one of several games."""
    text = f"{title}: {sum(e.is_complete for e in trials)} of {counted(len(trials), 'solver')}"
    if fastest := _fastest(trials):
        text += f", fastest {fastest.timed}"
    names = [item.title for item in known]
    return f"{text}; {f'found {_names(names)}' if names else 'nothing identified'}."


def _names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
