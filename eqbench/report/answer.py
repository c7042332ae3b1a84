"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from eqbench.errors import counted, first_of
from eqbench.report import naming, trials
from eqbench.report.naming import FoundEquilibrium
from eqbench.report.recall import recalls
from eqbench.report.trials import RunCell, Trials
from eqbench.store.schema import CellRecord
from eqbench.text import printable, seconds, shortened, small

MOST_GAMES, MOST_RANKED = 5, 10  # games that have a sentence each; solvers with their ranks
MOST_NAMED = 6  # solvers of an equilibrium
MOST_LINES = 40  # of an overview of games
NOTHING = "no equilibrium was identified"


def answer(entries: Sequence[RunCell], planned: int = 0) -> tuple[str, ...]:
    """Return what came of some cells: at most four sentences, and one for each of a few games.

    While some of the `planned` cells are missing, the answer says so.
    """
    known = [(name, trials.arranged(game)) for name, game in trials.named(entries)]
    games = [game for _, game in known]
    each = known if 1 < len(known) <= MOST_GAMES else []
    ran = [own for game in games if (own := trials.began(game))]
    sentences = [_reached(ran), _found(ran, briefly=len(known) > 1)] if ran else []
    sentences += [] if each or not ran else [_not_ok(games, broken=len(known) > 1)]
    if absent := "; ".join(_ended(games, "absent")):
        sentences.append(f"{absent[:1].upper()}{absent[1:]}.")
    for name, game in each:
        taken = [cells] if (cells := trials.began(game)) else []
        parts = (_reached(taken) if taken else "", _found(taken, briefly=True), _not_ok([game]))
        sentences.append(f"{name}: {' '.join(filter(None, parts))}")
    sentences = [printable(sentence) for sentence in sentences if sentence]
    finished = sum(entry.record.status != "interrupted" for entry in entries)
    if sentences and finished < planned:
        sentences[0] = f"So far ({finished} of {planned} cells): {sentences[0]}"
    return tuple(sentences)


def overview(games: Sequence[tuple[str, Sequence[RunCell]]]) -> Iterator[str]:
    """Yield who found what in each of many games, and how many solvers reached the target."""
    near = False
    for title, game in games[:MOST_LINES]:
        ran = trials.by_solver(trials.began(game))
        texts = []
        for item in (each for each in naming.equilibria(game) if not each.is_near):
            names = [name + naming.ROUGH * rough for name, rough in item.solvers.items()]
            near |= any(item.solvers.values())
            is_by_all = len(names) == len(ran) > 1 and not any(item.solvers.values())
            by = f"all {len(ran)}" if is_by_all else first_of(names, MOST_NAMED)
            texts.append(f"{item.cautious} ({by})")
        ok = sum(own.ok == len(own.entries) for own in ran)
        texts[4:] = [f"{len(texts) - 4} more"] * (len(texts) > 4)
        found = " | ".join(texts) or NOTHING
        yield f"{title.partition(' = ')[0]} ({ok} of {len(ran)} ok): {found}"
    if len(games) > MOST_LINES:
        yield f"and {counted(len(games) - MOST_LINES, 'more game')}"
    if near:
        yield naming.ROUGHLY


def _reached(games: Sequence[Sequence[RunCell]]) -> str:
    """Return who reached the target, on how many games if these are several, and how fast."""
    cells = [entry for game in games for entry in game]
    solvers, ok = trials.by_solver(cells), Trials(cells).ok
    targets = sorted({entry.record.target or 0.0 for entry in cells})
    figures = f" (max regret {' or '.join(map(small, targets))})" * (len(targets) <= 2)
    what = f"reached the target{figures}"
    if not targets[0]:
        what = f"ended ok ({'not all had a' if targets[-1] else 'there was no'} target)"
    if len(games) > 1:
        text, fastest, idle = _ranked(games, what)
    else:
        always = [own for own in solvers if own.ok == len(own.entries)]
        some = sum(own.ok > 0 for own in solvers) - len(always)
        text = f"{len(always)} of {counted(len(solvers), 'solver')}"
        text += " of all runs" * (len(solvers) > len({entry.record.solver for entry in cells}))
        text += f" {what}"
        if len(cells) > len(solvers):
            text += f" in every cell{f', {some} in some' * (some > 0)}"
            text += f" ({ok} of {len(cells)} cells in all)"
        idle = [own.solver for own in always if own.is_at_start]
        away = [own for own in always if not own.is_at_start]
        times = ((time, own) for own in away if (time := own.time_to()) is not None)
        firsts = sorted((time, own.solver, own.ok) for time, own in times)[:1]
        fastest = [f"{each} ({seconds(t)}{f', median of {n}' * (n > 1)})" for t, each, n in firsts]
    if fastest:
        text += f"; fastest{' to it' * bool(targets[0])}: {first_of(fastest, MOST_RANKED)}"
    if idle:
        text += f"; at it from the start (not counted): {first_of(idle)}"
    if not ok:
        sound = trials.by_solver(e for e in cells if e.record.status not in ("crashed", "refuted"))
        closest = sorted((own.best, own.solver) for own in sound if own.best is not None)
        text += "".join(f"; closest: {name} ({small(regret)})" for regret, name in closest[:1])
    return f"{text}."


def _ranked(games: Sequence[Sequence[RunCell]], what: str) -> tuple[str, list[str], list[str]]:
    """Return on how many games each solver did `what`, who was fastest, and who began there."""
    ranks = trials.standings(games)
    first, *others = ranks
    most = " in most cells" * (sum(own.taken for own in ranks) < sum(map(len, games)))
    some = any(own.taken < len(games) for own in ranks)
    taken = f"{'the ' * some}{counted(first.taken, 'game')}{' it takes' * some}"
    text = f"{first.solver} {what}{most} on {first.solved} of {taken}"
    listed = [f"{own.solver} on {own.solved} of {own.taken}" for own in others]
    won = sorted(ranks, key=lambda own: -own.fastest)
    fastest = [f"{own.solver} on {counted(own.fastest, 'game')}" for own in won if own.fastest]
    idle = [f"{own.solver} on {counted(own.at_start, 'game')}" for own in ranks if own.at_start]
    text += f"{', ' * bool(listed)}{first_of(listed, MOST_RANKED)}"
    unsolved = [own[0].record.game for own in games if not Trials(own).ok]
    return (
        f"{text}{f', none on {first_of(unsolved)}' if unsolved and first.solved else ''}",
        fastest,
        idle,
    )


def _found(games: Sequence[Sequence[RunCell]], *, briefly: bool) -> str:
    """Return which equilibria were found, and what shows that some are missing."""
    members = [item for game in games for item in naming.equilibria(game) if not item.is_near]
    sets = {item.name: item for item in members if not naming.is_cluster(item.name)}
    clusters = [item for item in members if naming.is_cluster(item.name)]
    parts = []
    if sets:
        names = [_named(item) if briefly else _finders(item) for item in sets.values()]
        families = dict.fromkeys(item.family for item in sets.values())
        one = next(iter(families)) if len(families) == 1 else ""
        of = f", {'parts' if len(sets) > 1 else 'a part'} of {one}" * bool(one)
        parts.append(f" of {counted(len(sets), 'published set')}{of}: {first_of(names)}")
    if clusters:
        listed = f": {first_of(list(map(_finders, clusters)))}" if not (sets or briefly) else ""
        parts.append(f" of {counted(len(clusters), 'cluster')} in no published set{listed}")
    found = f"Found equilibria{', and'.join(parts)}." if parts else "No equilibrium was identified."
    symbols = dict.fromkeys(item.meaning for item in sets.values() if item.meaning)
    meanings = () if briefly else (f"{meaning}." for meaning in symbols)
    missed = [*_missed(games)]
    if parts and not briefly and not missed:
        missed += _whole([entry.record for entry in games[0]])
    return " ".join([found, *meanings, *_of_all(games), *missed, *_incredible(games)])


def _of_all(games: Sequence[Sequence[RunCell]]) -> Iterator[str]:
    """Yield how many of all equilibria each solver found, of games whose are all known."""
    if len(games) != 1:
        if ranks := recalls(entry for game in games for entry in game):
            number = max(own.games for own in ranks)
            listed = [f"{own.solver} found {sum(own.found)} of {sum(own.of)}" for own in ranks]
            where = f"On {number} games whose equilibria are all known"
            single = ", at most one on each" * all(max(own.found) <= 1 for own in ranks)
            yield f"{where} {first_of(listed, MOST_RANKED)}{single}."
        return
    finders: dict[str, set[int]] = {}
    whole, what = 1, ""
    for entry in games[0]:
        if known := naming.places(entry.record):
            numbers, whole, isolated = known
            what = "equilibria" if isolated else "components of equilibria"
            finders.setdefault(entry.solver, set()).update(numbers)
    if whole > 1:
        by_number: dict[int, list[str]] = {}
        for name, own in finders.items():
            by_number.setdefault(len(own), []).append(name)
        parts = [
            f"{first_of(names)} found {number}{' each' * (len(names) > 1)}"
            for number, names in sorted(by_number.items(), reverse=True)
        ]
        together = len(set().union(*finders.values()))
        parts += [f"together they found {together}"] * (together > max(by_number))
        yield f"Of all {whole} {what} {'; '.join(parts)}."


def _whole(records: Sequence[CellRecord]) -> Iterator[str]:
    """Yield whether the equilibria of a game are known to be all, as far as no count says it."""
    known = [place for place in map(naming.places, records) if place]
    listed = (r for r in records if r.status == "ok" and r.equilibria)
    full = next((r for r in listed if r.equilibria[0].claim == "complete list"), None)
    if full:
        clause = shortened(printable(full.reason.partition(";")[0].strip()))
        yield f"The solver {full.solver} lists all equilibria{f' ({clause})' if clause else ''}."
    elif not known:
        yield "No solver here lists all equilibria; whether there are more was not checked."
    elif known[0][1] == 1:
        connected = "All equilibria of the game are connected with each other."
        yield "The game has no other equilibrium." if known[0][2] else connected


def _incredible(games: Sequence[Sequence[RunCell]]) -> Iterator[str]:
    """Yield which cells that are ok play what no belief supports, or are not subgame-perfect."""
    cells, imperfect = list[str](), list[str]()
    for entry in (entry for game in games for entry in game if entry.record.status == "ok"):
        own = naming.handed_over(entry.record.equilibria)
        name = f"{entry.solver}{f' on {entry.record.game}' * (len(games) > 1)}"
        known = [item.credible for item in own if item.credible]
        counts = sorted(each["credible"] for each in known)
        if known and counts[0] < known[0]["sets"]:
            ends = "…".join(dict.fromkeys([str(counts[0]), str(counts[-1])]))
            cells.append(f"{name} ({ends} of {known[0]['sets']} sets)")
        imperfect += [name] * any(map(naming.is_imperfect, own))
    if cells:
        yield f"Not credible at all information sets: {first_of([*dict.fromkeys(cells)])}."
    if imperfect:
        yield f"Not subgame-perfect: {first_of([*dict.fromkeys(imperfect)])}."


def _missed(games: Sequence[Sequence[RunCell]]) -> Iterator[str]:
    """Yield a sentence if indices prove that the run lacks equilibria of its only game."""
    if len(games) != 1 or (run := games[0][0].source) is None or games[0][0].run:
        return
    if missed := run.missed(games[0][0].record.game_identity):
        points, floats = len(missed["indices"]), ", computed in floats," * (not missed["exact"])
        what = f"Indices of the {points} isolated equilibria{floats} sum to"
        one = f"The index of the only equilibrium that was found{floats} is"
        doubt = ", unless rounding misleads" * (not missed["exact"])
        total = sum(index or 0 for index in missed["indices"])
        yield f"{what if points > 1 else one} {total}, not 1: at least one is missing{doubt}."


def _not_ok(games: Sequence[Sequence[RunCell]], *, broken: bool = False) -> str:
    """Return which solvers ended otherwise than ok, by status, or only `broken`; empty if none."""
    parts = _ended(games, "ended", broken=broken)
    targets = {entry.record.target for game in games for entry in game}
    what = "Did not reach the target" if any(targets) else "Did not end ok"
    return f"{what}: {'; '.join(parts)}." if parts else ""


def _ended(games: Sequence[Sequence[RunCell]], how: str, *, broken: bool = False) -> list[str]:
    """Return solvers by the statuses of their cells that ``statuses.toml`` describes by `how`."""
    cells = [entry for game in games for entry in game]
    where = "this game" if len(games) == 1 else "some games"
    parts = []
    for status, texts in trials.STATUSES.items():
        times = Counter(entry.solver for entry in cells if entry.record.status == status)
        if times and how in texts and (texts["tone"] == "bad" or not broken):
            names = first_of([name + f" ×{n}" * (n > 1) for name, n in times.items()])
            words = texts[how].replace("this game", where)
            parts.append(f"{names} ({words})" if how == "ended" else f"{words}: {names}")
    return parts


def _finders(item: FoundEquilibrium) -> str:
    """Play and name, where it is, by which solvers it was found, and by which only nearly."""
    solvers = item.solvers
    sure, near = ([name for name in solvers if solvers[name] == each] for each in (False, True))
    found = f"by {first_of(sure, MOST_NAMED)}" if sure else ""
    if near:
        found += f"{'; ' * bool(sure)}nearly, missing the target, by {first_of(near, MOST_NAMED)}"
    title = f"{item.title}, {item.where}" if item.where else item.title
    return f"{item.words} ({title}; {found})" if item.words else f"{title} ({found})"


def _named(item: FoundEquilibrium) -> str:
    return f"{item.words} ({item.title})" if item.words else item.title
