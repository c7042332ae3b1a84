"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from eqbench.errors import counted
from eqbench.report.entries import (
    ABSENT,
    STATUSES,
    Entry,
    arranged,
    began,
    by_game,
    grouped,
    reached_target,
)
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.naming import found, handed_over
from eqbench.report.terminal import seconds, small
from eqbench.store.schema import CellRecord
from eqbench.text import printable

MOST_NAMED = 3
MOST_GAMES = 5  # that have a sentence each

Trials = Mapping[str, Sequence[CellRecord]]  # cells of each solver that takes a game, by its name


def answer(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Sentences that say what came of some cells: at most four, and one for each of a few games."""
    games = [arranged(game) for game in by_game(entries)]
    trials = [_trials(game) for game in games]
    known = [[item for item in equilibria(game) if not item.is_near] for game in games]
    sentences = []
    if any(trials):
        sentences += [_reached(trials[0]) if len(games) == 1 else _reached_on(trials)]
        sentences += [_found(known, entries), _short(trials)]
    sentences += [_absent(entries, "this game" if len(games) == 1 else "some games")]
    if 1 < len(games) <= MOST_GAMES:
        sentences += map(_line, [game[0].record.game for game in games], trials, known)
    return tuple(printable(sentence) for sentence in sentences if sentence)


def _trials(game: Sequence[Entry]) -> Trials:
    groups = grouped(began(game), lambda entry: entry.solver)
    return {name: [entry.record for entry in group] for name, group in groups.items()}


def _always(trials: Trials) -> list[str]:
    """Solvers all of whose cells reached the target."""
    return [name for name, cells in trials.items() if all(map(reached_target, cells))]


def _fastest(trials: Trials) -> tuple[str, str]:
    """Solver with the shortest median time to the target, and both as text; empty without one."""
    times = {
        name: known
        for name, cells in trials.items()
        if (known := [r.elapsed_s for r in cells if reached_target(r) and r.elapsed_s is not None])
    }
    if not times:
        return "", ""
    name = min(times, key=lambda name: statistics.median(times[name]))
    median = f", median of {len(times[name])}" if len(times[name]) > 1 else ""
    return name, f"{name} ({seconds(statistics.median(times[name]))}{median})"


def _target(cells: Sequence[CellRecord]) -> str:
    targets = sorted({record.target for record in cells if record.target})
    if not targets:
        return "ended ok (there was no target)"
    shown = f" (max regret {' or '.join(map(small, targets))})" if len(targets) <= 2 else ""
    return f"reached the target{shown}"


def _reached(trials: Trials) -> str:
    """Sentence on one game: how many solvers reached the target, and which was fastest."""
    cells = [record for own in trials.values() for record in own]
    number, done = sum(map(reached_target, cells)), len(_always(trials))
    runs = " of all runs" if len({record.solver for record in cells}) < len(trials) else ""
    text = f"{done} of {counted(len(trials), 'solver')}{runs} {_target(cells)}"
    if len(cells) > len(trials):
        some = sum(any(map(reached_target, own)) for own in trials.values()) - done
        text += " with every seed" + (f", {some} with some" if some else "")
        text += f" ({number} of {len(cells)} cells)"
    if fastest := _fastest(trials)[1]:
        text += f"; fastest: {fastest}"
    best = [(r.max_regret, n) for n, own in trials.items() for r in own if r.max_regret is not None]
    if best and not number:
        regret, name = min(best)
        text += f"; closest: {name} ({small(regret)})"
    return f"{text}."


def _reached_on(games: Sequence[Trials]) -> str:
    """Sentence on several games: in how many cells the target was reached, and by whom."""
    by_name: dict[str, list[CellRecord]] = {}
    for name, own in (pair for game in games for pair in game.items()):
        by_name.setdefault(name, []).extend(own)
    cells = [record for own in by_name.values() for record in own]
    number = sum(map(reached_target, cells))
    text = f"On {len(games)} games {number} of {counted(len(cells), 'cell')} {_target(cells)}"
    if always := _always(by_name):
        text += f"; on every game that they take: {_names(always)}"
    firsts = Counter(name for game in games if (name := _fastest(game)[0]))
    for name, times in firsts.most_common(1):
        text += f"; most often fastest: {name} (on {counted(times, 'game')})"
    return f"{text}."


def _found(games: Sequence[Sequence[Found]], entries: Sequence[Entry]) -> str:
    """Sentence on the equilibria: which published ones, how many others, who found most."""
    clusters = [item for known in games for item in known if item.is_cluster]
    published = [item for known in games for item in known if not item.is_cluster]
    names = list(dict.fromkeys(item.name for item in published))
    parts = []
    if published:
        shown = [item.summary for item in published] if len(games) == 1 else names
        parts.append(f"equilibria of {counted(len(names), 'published set')}: {_names(shown)}")
    if clusters and parts:
        parts.append(f"{len(clusters)} other in no published set")
    elif clusters:
        which = f": {_names([item.summary for item in clusters])}" if len(games) == 1 else ""
        parts.append(f"{_unpublished(clusters)}{which}")
    if not parts:
        return "No equilibrium was identified."
    most: dict[str, int] = {}
    for entry in entries:
        number = sum(len(handed_over(members)) for members in found(entry.record).values())
        most[entry.solver] = max(number, most.get(entry.solver, 0))
    largest = max(most.values())
    who = _names([name for name, number in most.items() if number == largest])
    at_once = f"; most at once: {who} ({largest})" if largest > 1 else ""
    return f"Found {', and '.join(parts)}{at_once}."


def _unpublished(clusters: Sequence[Found]) -> str:
    return f"{counted(len(clusters), 'equilibrium', 'equilibria')} in no published set"


def _short(games: Sequence[Trials]) -> str:
    """Sentence on the cells that are short of the target, by how they ended."""
    ended: dict[str, Counter[str]] = {status: Counter() for status in STATUSES}
    for name, own in (pair for game in games for pair in game.items()):
        for record in own:
            if not reached_target(record):
                ended[record.status][name] += 1
    parts = [
        f"{_names(short)} ({STATUSES[status]['ended']})"
        for status, names in ended.items()
        if (short := [name + f" ×{n}" * (n > 1) for name, n in names.items()])
    ]
    return f"Short of the target: {'; '.join(parts)}." if parts else ""


def _absent(entries: Sequence[Entry], game: str) -> str:
    """Sentence on solvers that do not take the game, or are not available."""
    parts = []
    for status, what in ABSENT.items():
        names = dict.fromkeys(e.solver for e in entries if e.record.status == status)
        parts += [f"{what.replace('this game', game)}: {_names(list(names))}"] * bool(names)
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _line(title: str, trials: Trials, known: Sequence[Found]) -> str:
    """Short sentence on one of several games."""
    text = f"{title}: {len(_always(trials))} of {counted(len(trials), 'solver')}"
    if fastest := _fastest(trials)[1]:
        text += f", fastest {fastest}"
    clusters = [item for item in known if item.is_cluster]
    names = [item.title for item in known if not item.is_cluster]
    parts = [_names(names)] * bool(names) + [_unpublished(clusters)] * bool(clusters)
    return f"{text}; {'found ' * bool(parts)}{' and '.join(parts) or 'nothing identified'}."


def _names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
