"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from eqbench.errors import counted, first_of
from eqbench.report.entries import STATUSES, Entry, Trials, arranged, began, titled, trials
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.rows import seconds, small
from eqbench.text import printable

MOST_GAMES = 5  # that have a sentence each


def answer(entries: Sequence[Entry], planned: int = 0) -> tuple[str, ...]:
    """Sentences that say what came of some cells: at most four, and one for each of a few games.

    While some of the `planned` cells are missing, the answer says so.
    """
    games = [arranged(game) for _, game in titled(entries)]
    ran = [own for game in games if (own := began(game))]
    known = [[item for item in equilibria(game) if not item.is_near] for game in games]
    sentences = []
    if ran:
        sentences = [_reached(*ran), _found(list(chain(*known)), briefly=len(games) > 1)]
    sentences += _others(list(chain(*games)), "this game" if len(games) == 1 else "some games")
    if 1 < len(games) <= MOST_GAMES:
        for game, found in zip(games, known, strict=True):
            reached = f"{_reached(own)} " if (own := began(game)) else ""
            sentences.append(f"{game[0].record.game}: {reached}{_found(found, briefly=True)}")
    finished = sum(entry.record.status != "interrupted" for entry in entries)
    if sentences and finished < planned:
        sentences[0] = f"So far ({finished} of {planned} cells): {sentences[0]}"
    return tuple(map(printable, sentences))


def _reached(*games: Sequence[Entry]) -> str:
    """Sentence on how many solvers reached the target on some games, and which was fastest."""
    cells = list(chain(*games))
    solvers, ok = trials(cells), Trials(cells).ok
    always = [own.solver for own in solvers if own.is_always_ok]
    runs = " of all runs" if len({entry.record.solver for entry in cells}) < len(solvers) else ""
    text = f"On {len(games)} games " if len(games) > 1 else ""
    text += f"{len(always)} of {counted(len(solvers), 'solver')}{runs} "
    targets = sorted({entry.record.target or 0.0 for entry in cells})
    if not targets[0]:
        text += f"ended ok ({'not all had a' if targets[-1] else 'there was no'} target)"
    else:
        shown = f" (max regret {' or '.join(map(small, targets))})" if len(targets) <= 2 else ""
        text += f"reached the target{shown}"
    if len(cells) > len(solvers):
        some = sum(own.ok > 0 for own in solvers) - len(always)
        text += f" in every cell{f', {some} in some' * bool(some)} ({ok} of {len(cells)} cells)"
    if always and len(games) > 1:
        text += f"; always: {first_of(always)}"
    if fastest := _fastest(games):
        text += f"; fastest{' to it' * bool(targets[0])}: {fastest}"
    sound = [own for own in cells if own.record.status not in ("crashed", "refuted")]
    regrets = [(r, own.solver) for own in trials(sound) for r in own.figures("max_regret")]
    if regrets and not ok:
        text += f"; closest: {min(regrets)[1]} ({small(min(regrets)[0])})"
    return f"{text}."


def _fastest(games: Sequence[Sequence[Entry]]) -> str:
    """Solvers with the shortest median times to the target of those that always reach it."""
    firsts: list[tuple[float, str, int]] = []
    for game in games:
        always = [own for own in trials(game) if own.is_always_ok]
        times = ((time, own) for own in always if (time := own.time_to()) is not None)
        firsts += sorted((time, own.solver, own.ok) for time, own in times)[:1]
    if len(games) > 1:
        won = Counter(name for _, name, _ in firsts).most_common()
        return first_of([f"{name} on {counted(times, 'game')}" for name, times in won])
    shown = [f"{name} ({seconds(time)}{f', median of {n}' * (n > 1)})" for time, name, n in firsts]
    return "".join(shown)


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
    pairs = (("Not ok: ", ended), ("", absent))
    texts = [head + "; ".join(parts) for head, parts in pairs if parts]
    return [f"{text[0].upper()}{text[1:]}." for text in texts]
