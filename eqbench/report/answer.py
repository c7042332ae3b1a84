"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from eqbench.errors import counted
from eqbench.report.entries import (
    ABSENT,
    Entry,
    arranged,
    by_game,
    by_solver,
    reached_target,
    row_label,
)
from eqbench.report.naming import Member, found, handed_over, is_cluster, order, spread
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
    ordered = map(arranged, by_game(entries))
    games = [[_Trials.of(group) for group in by_solver(game)] for game in ordered]
    trials = [each for game in games for each in game]
    sentences = [_reached(trials) if len(games) == 1 else _reached_on(games)]
    sentences += [_found(trials, len(games)), _short(trials), _absent(trials, len(games))]
    if 1 < len(games) <= MOST_GAMES:
        titles = [game[0].records[0].game for game in games]
        sentences += map(_line, titles, games)
    return tuple(printable(sentence) for sentence in sentences if sentence)


@dataclass(frozen=True)
class _Trials:
    """The cells of a solver on a game, without those that it never took."""

    name: str
    run: str
    cells: list[CellRecord]
    records: list[CellRecord]

    @classmethod
    def of(cls, group: Sequence[Entry]) -> _Trials:
        first, records = group[0], [entry.record for entry in group]
        name = row_label(first, group) if len(group) == 1 else first.record.solver
        name += f" ({first.run})" if first.run else ""
        taken = [record for record in records if record.status not in ABSENT]
        return cls(name, first.run, taken, records)

    @cached_property
    def reached(self) -> list[CellRecord]:
        return [record for record in self.cells if reached_target(record)]

    @property
    def is_complete(self) -> bool:
        return bool(self.cells) and len(self.reached) == len(self.cells)

    @cached_property
    def time(self) -> float:
        """Median solving time of the cells that reached the target; infinite without one."""
        times = [record.elapsed_s for record in self.reached if record.elapsed_s is not None]
        return statistics.median(times) if times else float("inf")

    @cached_property
    def found(self) -> dict[tuple[str, str], list[Member]]:
        """Members by name of the equilibrium, and by run where it is numbered within that."""
        members: dict[tuple[str, str], list[Member]] = {}
        for record in self.cells:
            for name, own in found(record).items():
                members.setdefault((name, self.run if is_cluster(name) else ""), []).extend(own)
        return members

    @cached_property
    def most(self) -> int:
        """Largest number of equilibria that one of its cells found."""
        found_by = (found(record).values() for record in self.cells)
        return max((sum(len(handed_over(m)) for m in each) for each in found_by), default=0)


def _reached(trials: Sequence[_Trials]) -> str:
    """Sentence on one game: how many solvers reached the target, and which was fastest."""
    taking = [each for each in trials if each.cells]
    if not taking:
        return ""
    done = [each for each in taking if each.is_complete]
    some = sum(bool(each.reached) for each in taking) - len(done)
    cells = [record for each in taking for record in each.cells]
    what = _target(cells)
    if not done and not some:
        best = [(r.max_regret, e.name) for e in taking for r in e.cells if r.max_regret is not None]
        closest = f"; closest: {min(best)[1]} ({small(min(best)[0])})" if best else ""
        return f"No solver of {len(taking)} {what}{closest}."
    text = f"{len(done)} of {counted(len(taking), 'solver')} {what}"
    if len(cells) > len(taking):
        others = f", {some} with some" if some else ""
        number = sum(len(each.reached) for each in taking)
        text += f" with every seed{others} ({number} of {len(cells)} cells)"
    fastest = min(taking, key=lambda each: each.time)
    return text + (f"; fastest: {_timed(fastest)}." if fastest.time < float("inf") else ".")


def _reached_on(games: Sequence[Sequence[_Trials]]) -> str:
    """Sentence on several games: in how many cells the target was reached, and by whom."""
    cells = [record for game in games for each in game for record in each.cells]
    if not cells:
        return ""
    number = sum(map(reached_target, cells))
    text = f"On {len(games)} games {number} of {counted(len(cells), 'cell')} {_target(cells)}"
    by_name: dict[str, list[_Trials]] = {}
    for each in (each for game in games for each in game if each.cells):
        by_name.setdefault(each.name, []).append(each)
    always = [name for name, own in by_name.items() if all(each.is_complete for each in own)]
    text += f"; on every game that they take: {_names(always)}" if always else ""
    fastest = (min(game, key=lambda each: each.time) for game in games)
    firsts = Counter(each.name for each in fastest if each.reached).most_common(1)
    for name, times in firsts:
        text += f"; most often fastest: {name} (on {counted(times, 'game')})"
    return f"{text}."


def _target(records: Iterable[CellRecord]) -> str:
    targets = sorted({record.target for record in records if record.target})
    if not targets:
        return "ended ok (there was no target)"
    shown = " or ".join(map(small, targets))
    return "reached the target" + (f" (max regret {shown})" if len(targets) <= 2 else "")


def _timed(trials: _Trials) -> str:
    median = f", median of {len(trials.reached)}" if len(trials.reached) > 1 else ""
    return f"{trials.name} ({seconds(trials.time)}{median})"


def _found(trials: Sequence[_Trials], games: int) -> str:
    """Sentence on the equilibria: which published ones, how many others, who found most."""
    if not any(each.cells for each in trials):
        return ""
    names = {key for each in trials for key in each.found}
    if not names:
        return "No equilibrium was identified."
    known = sorted((key for key in names if not is_cluster(key[0])), key=lambda key: order(key[0]))
    clusters = {(key, _game(each)) for each in trials for key in each.found if key not in known}
    parts = []
    if known:
        described = [_described(key, trials) if games == 1 else key[0] for key in known]
        parts.append(f"equilibria of {counted(len(known), 'published set')}: {_names(described)}")
    if clusters:
        other = "other in no published set" if known else "in no published set"
        what = counted(len(clusters), "equilibrium", "equilibria")
        parts.append(f"{what if not known else len(clusters)} {other}")
    text = f"Found {', and '.join(parts)}"
    most = max(each.most for each in trials)
    best = [each.name for each in trials if each.most == most]
    if most > 1:
        text += f"; most at once: {_names(list(dict.fromkeys(best)))} ({most})"
    return f"{text}."


def _game(trials: _Trials) -> str:
    return trials.records[0].game_spec


def _described(key: tuple[str, str], trials: Sequence[_Trials]) -> str:
    """Name of an equilibrium, by how many solvers it was found, and where in its family."""
    members = [member for each in trials for member in each.found.get(key, ())]
    solvers = counted(sum(key in each.found for each in trials), "solver")
    where = spread([member.identity for member in members])
    return f"{key[0]} ({solvers}{f', {where}' if where else ''})"


def _short(trials: Sequence[_Trials]) -> str:
    """Sentence on the cells that are short of the target, by how they ended."""
    ended: dict[str, Counter[str]] = {status: Counter() for status in _ENDINGS}
    for each in trials:
        for record in each.cells:
            if not reached_target(record):
                ended[record.status][each.name] += 1
    parts = [
        f"{_names([name if n == 1 else f'{name} ×{n}' for name, n in names.items()])} ({why})"
        for (status, names), why in zip(ended.items(), _ENDINGS.values(), strict=True)
        if names
    ]
    return f"Short of the target: {'; '.join(parts)}." if parts else ""


def _absent(trials: Sequence[_Trials], games: int) -> str:
    """Sentence on solvers that do not take the game, or are not available."""
    parts = []
    game = "this game" if games == 1 else "some games"
    for status, what in (("unsupported", f"do not take {game}"), ("unavailable", "not available")):
        names = [e.name for e in trials if any(r.status == status for r in e.records)]
        if names:
            parts.append(f"{what}: {_names(list(dict.fromkeys(names)))}")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _line(title: str, trials: Sequence[_Trials]) -> str:
    """Short sentence on one of several games."""
    taking = [each for each in trials if each.cells]
    if not taking:
        return f"{title}: no solver takes it."
    done = sum(each.is_complete for each in taking)
    text = f"{title}: {done} of {counted(len(taking), 'solver')}"
    fastest = min(taking, key=lambda each: each.time)
    if fastest.reached:
        text += f", fastest {_timed(fastest)}"
    names = sorted({name for each in trials for name, _ in each.found}, key=order)
    return f"{text}; found {_names(names)}." if names else f"{text}; nothing identified."


def _names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown, more = names[:MOST_NAMED], len(names) - MOST_NAMED
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
