"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from eqbench.errors import counted, first_of
from eqbench.report.entries import ABSENT, STATUSES, Entry, arranged, began, by_game, grouped
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.rows import seconds, small
from eqbench.store.schema import CellRecord
from eqbench.text import printable

MOST_GAMES = 5  # that have a sentence each

Trials = Mapping[str, Sequence[CellRecord]]  # cells of each solver that takes a game, by its name


def answer(entries: Sequence[Entry], planned: int = 0) -> tuple[str, ...]:
    """Sentences that say what came of some cells: at most four, and one for each of a few games.

    Parameters
    ----------
    planned : number of cells that there are to be; while some are missing, the answer says so
    """
    games = [arranged(game) for game in by_game(entries)]
    solvers = [grouped(began(game), lambda entry: entry.solver) for game in games]
    trials = [{name: [e.record for e in own] for name, own in game.items()} for game in solvers]
    known = [[item for item in equilibria(game) if not item.is_near] for game in games]
    parts = []
    if any(trials):
        parts += [_reached(trials[0]) if len(games) == 1 else _reached_on(trials)]
        parts += [
            _found([i for own in known for i in own], briefly=len(games) > 1),
            _not_ok(trials),
        ]
    parts += [_absent(entries, "this game" if len(games) == 1 else "some games")]
    if 1 < len(games) <= MOST_GAMES:
        parts += map(_line, [game[0].record.game for game in games], trials, known)
    sentences = [printable(part) for part in parts if part]
    finished = sum(entry.record.status != "interrupted" for entry in entries)
    if sentences and finished < planned:
        sentences[0] = f"So far ({finished} of {planned} cells): {sentences[0]}"
    return tuple(sentences)


def _ok(cells: Sequence[CellRecord]) -> int:
    return sum(record.status == "ok" for record in cells)


def _always(trials: Trials) -> list[str]:
    """Solvers all of whose cells are ok."""
    return [name for name, cells in trials.items() if _ok(cells) == len(cells)]


def _fastest(trials: Trials) -> tuple[str, str]:
    """Solver with the shortest median time of those that are always ok, alone and with its time."""
    times = {
        name: [record.elapsed_s for record in trials[name] if record.elapsed_s is not None]
        for name in _always(trials)
    }
    medians = {name: statistics.median(own) for name, own in times.items() if own}
    if not medians:
        return "", ""
    name = min(medians, key=lambda name: medians[name])
    median = f", median of {len(times[name])}" if len(times[name]) > 1 else ""
    return name, f"{name} ({seconds(medians[name])}{median})"


def _came(cells: Sequence[CellRecord]) -> str:
    """What cells that are ok did."""
    targets = sorted({record.target or 0.0 for record in cells})
    if not targets[0]:
        return f"ended ok ({'not all had a' if targets[-1] else 'there was no'} target)"
    shown = f" (max regret {' or '.join(map(small, targets))})" if len(targets) <= 2 else ""
    return f"reached the target{shown}"


def _reached(trials: Trials) -> str:
    """Sentence on one game: how many solvers reached the target, and which was fastest."""
    cells = [record for own in trials.values() for record in own]
    number, done = _ok(cells), len(_always(trials))
    runs = " of all runs" if len({record.solver for record in cells}) < len(trials) else ""
    text = f"{done} of {counted(len(trials), 'solver')}{runs} {_came(cells)}"
    if len(cells) > len(trials):
        some = sum(map(bool, map(_ok, trials.values()))) - done
        text += " in every cell" + (f", {some} in some" if some else "")
        text += f" ({number} of {len(cells)} cells)"
    if fastest := _fastest(trials)[1]:
        text += f"; shortest time: {fastest}"
    best = [
        (record.max_regret, name)
        for name, own in trials.items()
        for record in own
        if record.max_regret is not None and record.status not in ("crashed", "refuted")
    ]
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
    text = f"On {len(games)} games {_ok(cells)} of {counted(len(cells), 'cell')} {_came(cells)}"
    if always := _always(by_name):
        text += f"; on every game that they take: {first_of(always)}"
    firsts = Counter(name for game in games if (name := _fastest(game)[0]))
    most = [name for name, times in firsts.items() if times == max(firsts.values())]
    if len(most) == 1:
        on_games = counted(firsts[most[0]], "game")
        text += f"; most often with the shortest time: {most[0]} (on {on_games})"
    return f"{text}."


def _found(known: Sequence[Found], *, briefly: bool) -> str:
    """Sentence on the equilibria: of which published sets, and of how many clusters."""
    published = {item.name: item.summary for item in known if not item.is_cluster}
    clusters = [item.summary for item in known if item.is_cluster]
    parts = []
    if published:
        shown = first_of(list(published if briefly else published.values()))
        parts.append(f"of {counted(len(published), 'published set')}: {shown}")
    if clusters:
        shown = "" if briefly or published else f": {first_of(clusters)}"
        parts.append(f"of {counted(len(clusters), 'cluster')} in no published set{shown}")
    if not parts:
        return "No equilibrium was identified."
    return f"Found equilibria {', and '.join(parts)}."


def _not_ok(games: Sequence[Trials]) -> str:
    """Sentence on the cells that are not ok, by how they ended."""
    pairs = [pair for game in games for pair in game.items()]
    parts = []
    for status, facts in STATUSES.items():
        times = Counter(name for name, own in pairs for r in own if r.status == status)
        names = [name + f" ×{number}" * (number > 1) for name, number in times.items()]
        parts += [f"{first_of(names)} ({facts['ended']})"] if names and "ended" in facts else []
    return f"Not ok: {'; '.join(parts)}." if parts else ""


def _absent(entries: Sequence[Entry], game: str) -> str:
    """Sentence on solvers that do not take the game, or are not available."""
    parts = []
    for status, what in ABSENT.items():
        names = dict.fromkeys(e.solver for e in entries if e.record.status == status)
        parts += [f"{what.replace('this game', game)}: {first_of(list(names))}"] * bool(names)
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _line(title: str, trials: Trials, known: Sequence[Found]) -> str:
    """What came of one of several games."""
    fastest = _fastest(trials)[1]
    time = f", shortest time {fastest}" if fastest else ""
    solvers = f"{len(_always(trials))} of {counted(len(trials), 'solver')}{time}"
    return f"{title}: {solvers}. {_found(known, briefly=True)}"
