"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from eqbench.errors import counted, first_of
from eqbench.report.entries import STATUSES, Entry, Trials, arranged, began, by_game, trials
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.rows import seconds, small
from eqbench.text import printable

MOST_GAMES = 5  # that have a sentence each


def answer(entries: Sequence[Entry], planned: int = 0) -> tuple[str, ...]:
    """Sentences that say what came of some cells: at most four, and one for each of a few games.

    While some of the `planned` cells are missing, the answer says so.
    """
    games = [arranged(game) for game in by_game(entries)]
    ran = [began(game) for game in games]
    known = [[item for item in equilibria(game) if not item.is_near] for game in games]
    sentences = []
    if any(ran):
        sentences.append(_reached(ran[0]) if len(games) == 1 else _reached_on(ran))
        sentences.append(_found(list(chain(*known)), briefly=len(games) > 1))
    sentences += _others(list(chain(*games)), "this game" if len(games) == 1 else "some games")
    if 1 < len(games) <= MOST_GAMES:
        for game, own, found in zip(games, ran, known, strict=True):
            reached = f"{_reached(own)} " if own else ""
            sentences.append(f"{game[0].record.game}: {reached}{_found(found, briefly=True)}")
    finished = sum(entry.record.status != "interrupted" for entry in entries)
    if sentences and finished < planned:
        sentences[0] = f"So far ({finished} of {planned} cells): {sentences[0]}"
    return tuple(map(printable, sentences))


def _reached(cells: Sequence[Entry]) -> str:
    """Sentence on one game: how many solvers reached the target, and which was fastest."""
    solvers, (came, fastest) = trials(cells), _came(cells)
    number, done = sum(own.ok for own in solvers), sum(own.is_always_ok for own in solvers)
    runs = " of all runs" if len({entry.record.solver for entry in cells}) < len(solvers) else ""
    text = f"{done} of {counted(len(solvers), 'solver')}{runs} {came}"
    if len(cells) > len(solvers):
        some = sum(own.ok > 0 for own in solvers) - done
        text += " in every cell" + (f", {some} in some" if some else "")
        text += f" ({number} of {len(cells)} cells)"
    for time, own in _fastest(solvers):
        median = f", median of {own.ok}" if own.ok > 1 else ""
        text += f"; {fastest}: {own.solver} ({seconds(time)}{median})"
    sound = [own for own in cells if own.record.status not in ("crashed", "refuted")]
    bests = [(best, own.solver) for own in trials(sound) if (best := own.best) is not None]
    if bests and not number:
        text += f"; closest: {min(bests)[1]} ({small(min(bests)[0])})"
    return f"{text}."


def _reached_on(games: Sequence[Sequence[Entry]]) -> str:
    """Sentence on several games: in how many cells the target was reached, and by whom."""
    cells = list(chain(*games))
    solvers, (came, fastest) = trials(cells), _came(cells)
    number = sum(own.ok for own in solvers)
    text = f"On {len(games)} games {number} of {counted(len(cells), 'cell')} {came}"
    if always := [own.solver for own in solvers if own.is_always_ok]:
        text += f"; on every game that they take: {first_of(always)}"
    firsts = Counter(own.solver for game in games for _, own in _fastest(trials(game)))
    (name, times), (_, next_times) = [*firsts.most_common(2), ("", 0), ("", 0)][:2]
    if times > next_times:
        text += f"; most often {fastest}: {name} (on {counted(times, 'game')})"
    return f"{text}."


def _came(cells: Iterable[Entry]) -> tuple[str, str]:
    """What cells that are ok did, and what the first of them is called."""
    targets = sorted({entry.record.target or 0.0 for entry in cells})
    if not targets[0]:
        return f"ended ok ({'not all had a' if targets[-1] else 'there was no'} target)", "fastest"
    shown = f" (max regret {' or '.join(map(small, targets))})" if len(targets) <= 2 else ""
    return f"reached the target{shown}", "fastest to it"


def _fastest(solvers: Iterable[Trials]) -> list[tuple[float, Trials]]:
    """Solver with the shortest median time to the target of those that are always ok, if any."""
    known = [(own.time_to(), own) for own in solvers if own.is_always_ok]
    times = [(time, own) for time, own in known if time is not None]
    return sorted(times, key=lambda timed: timed[0])[:1]


def _found(known: Sequence[Found], *, briefly: bool) -> str:
    """Sentence on the equilibria: of which published sets, and of how many clusters."""
    published = {item.name: item for item in known if not item.is_cluster}
    clusters = [item for item in known if item.is_cluster]
    parts = []
    if published:
        names = list(published) if briefly else [_finders(item) for item in published.values()]
        parts.append(f"of {counted(len(published), 'published set')}: {first_of(names)}")
    if clusters:
        names = [] if briefly or published else [_finders(item) for item in clusters]
        shown = f": {first_of(names)}" if names else ""
        parts.append(f"of {counted(len(clusters), 'cluster')} in no published set{shown}")
    return (
        f"Found equilibria {', and '.join(parts)}." if parts else "No equilibrium was identified."
    )


def _finders(item: Found) -> str:
    """Name, by how many solvers it was found, how many of them are not ok, and where it is."""
    solvers = {entry.solver for entry, _ in item.cells}
    short = len(solvers - {e.solver for e, _ in item.cells if e.record.status == "ok"})
    parts = [counted(len(solvers), "solver"), f"{short} not ok" * bool(short), item.where]
    return f"{item.title} ({', '.join(filter(None, parts))})"


def _others(cells: Sequence[Entry], game: str) -> list[str]:
    """Sentences on cells that are not ok, by how they ended, and on solvers that take no part."""
    ended, absent = [], []
    for status, facts in STATUSES.items():
        times = Counter(entry.solver for entry in cells if entry.record.status == status)
        if times and "ended" in facts:
            names = [name + f" ×{number}" * (number > 1) for name, number in times.items()]
            ended.append(f"{first_of(names)} ({facts['ended']})")
        elif times and "absent" in facts:
            absent.append(f"{facts['absent'].replace('this game', game)}: {first_of(list(times))}")
    text = "; ".join(absent)
    sentences = [f"Not ok: {'; '.join(ended)}."] * bool(ended)
    return [*sentences, *([f"{text[0].upper()}{text[1:]}."] if text else [])]
