"""`eqbench show`: a stored profile, information set by information set, or as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_note, say_notes, say_written
from eqbench.errors import UsageError, counted
from eqbench.registry import NameOptions
from eqbench.requests import FILE, FLAG, RUN, Json, Kind, Option

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile
    from eqbench.store.schema import CellRecord
    from eqbench.store.stored_run import StoredRun
    from eqbench.verdict import Claimed


@dataclass(frozen=True)
class ShowRequest(NameOptions):
    """Show what a profile plays, what is reached and which actions are indifferent.

    RUN is the folder of a run, or `latest`. CELL is the beginning of a key, or a solver, or
    GAME/SOLVER/SEED as far as it takes to tell cells apart; CELL:2 is its candidate of rank 2,
    where 0 is the one with the smallest max regret. JSON always holds all information sets.

    With --figure it is a picture in a file: a bar for every information set, in a grid of
    situations and cards where the game has them. Of two cells it has both, and frames where they
    differ. eqbench export GAME tree.html --profile RUN/CELL writes the tree with what is played.
    """

    run: Annotated[str, Option("Folder of a run, or `latest`.", RUN, argument=True)]
    cell: Annotated[
        str | None,
        Option("Cell of the run; without it they are listed.", Kind("CELL"), argument=True),
    ] = None
    other: Annotated[
        str | None,
        Option(
            "Another cell, which --figure draws next to the first.", Kind("CELL"), argument=True
        ),
    ] = None
    figure: Annotated[
        str | None,
        Option("Write a picture of what is played into a file: .svg, .png or .pdf.", FILE),
    ] = None
    candidates: Annotated[
        bool, Option("List all candidates of the cell: regrets, payoffs, and which they are.", FLAG)
    ] = False
    show_all: Annotated[
        bool, Option("Print all information sets, however many there are.", FLAG, "all")
    ] = False
    proofs: Annotated[
        bool, Option("Also print what proves which kind of equilibrium it is.", FLAG)
    ] = False
    as_json: Json = False


@command(ShowRequest)
def show(request: ShowRequest) -> None:
    from eqbench.report.profile_view import (
        MOST_SETS,
        cell_facts,
        play_facts,
        profile_report,
        stored_facts,
    )
    from eqbench.store.named import profile_file, ranked
    from eqbench.store.run_folder import missing_game
    from eqbench.store.schema import EQUILIBRIA
    from eqbench.store.stored_run import read_run, run_folder
    from eqbench.verdict import judge
    from eqbench.verification import Allowance

    stored = read_run(run_folder(request.run))
    say_notes(stored)
    name, rank = ranked(request.cell or "")
    record = stored.cell(name)
    if request.candidates:
        if request.figure is not None:
            raise UsageError("--candidates is a list, not a picture; leave out one of both")
        _list_candidates(record, as_json=request.as_json)
        return
    if request.figure is not None:
        _draw(request, stored, Path(request.figure).expanduser())
        return
    if request.other is not None:
        raise UsageError(
            f"{request.other} is a second cell; two are drawn side by side, with --figure FILE"
        )
    has_profile, played = bool(record.equilibria or rank), None
    if has_profile:
        profile_file(stored, record, rank)  # raises an error if there is none of this rank
    facts = cell_facts(stored, record, rank)
    missing = missing_game(record.game_spec, [stored.path])
    if has_profile and missing and not request.proofs:
        facts |= stored_facts(stored, record, rank)
        say_note(f"{missing} is not where the run had it, so reach and gaps are not known")
    elif has_profile:
        played = _played(request, stored, record, rank)
        (game, profile), found = played, record.equilibria[rank]
        is_claimed = found.claim in EQUILIBRIA
        claimed = _claimed(game, profile, found)
        most = None if request.as_json or request.show_all else MOST_SETS
        facts |= play_facts(game, profile, most, _by_set(claimed) if is_claimed else ())
        if is_claimed and request.proofs and (kind := judge("kind", claimed, Allowance())):
            # Alone it may be searched for longer than in its cell; but trembles that its solver
            # knew are not stored, so what was certified with them stays so.
            known = found.kind
            if known is None or known["sequential"] != "certified":
                known = kind.to_json()
            facts["candidate"] |= {"kind": known, "proofs": kind.proofs()}
    shown = partial(profile_report, facts, played, show_all=request.show_all)
    put_result(facts, shown, as_json=request.as_json)


def _played(
    request: ShowRequest, stored: StoredRun, record: CellRecord, rank: int
) -> tuple[Game, BehaviorProfile]:
    """The game of a cell and its candidate of this rank."""
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.store.named import game_of_runs, profile_file

    file, content = profile_file(stored, record, rank), record.game_content
    game = game_of_runs([stored], record.game_spec, request.registry(), say_note, content=content)
    return game, profile_from_json(game.tree, read_profile(str(file)))


def _claimed(game: Game, profile: BehaviorProfile, found: Any) -> Claimed:
    from eqbench.verdict import Claimed

    return Claimed(game.tree, profile, found.exact is not None, found.refuted is not None)


def _by_set(claimed: Claimed) -> list[dict[str, Any]]:
    """Verdict on what is played at each information set; none if it is too much work."""
    from eqbench.verdict import judge
    from eqbench.verification import Allowance

    credible = judge("credible", claimed, Allowance())
    return credible.by_set() if credible else []


def _draw(request: ShowRequest, stored: StoredRun, file: Path) -> None:
    """Write a picture of what one or two cells play."""
    from eqbench.report.naming import identity_text
    from eqbench.report.profile_picture import FORMATS, Shown, draw_profiles, rendered
    from eqbench.report.writing import write_report
    from eqbench.store.named import ranked
    from eqbench.store.run_folder import check_replaceable
    from eqbench.store.schema import EQUILIBRIA
    from eqbench.store.stored_run import cell_name

    if file.suffix not in FORMATS:
        raise UsageError(
            f"{file} has none of the endings {', '.join(FORMATS)}; choose one of these"
        )
    check_replaceable(file)
    shown: list[Shown] = []
    games: list[Any] = []
    for cell in [request.cell or "", *([request.other] if request.other is not None else [])]:
        name, rank = ranked(cell)
        record = stored.cell(name)
        game, profile = _played(request, stored, record, rank)
        found = record.equilibria[rank]
        by_set = _by_set(_claimed(game, profile, found)) if found.claim in EQUILIBRIA else []
        which = f"{cell_name(record)}:{rank}" if rank else cell_name(record)
        known: dict[str, Any] = dict(found.identity or {})
        words = (which, known.get("title"), identity_text(found.identity))
        title = ": ".join(word for word in words if word)
        shown.append(Shown(profile, title, [not item["refuted"] for item in by_set]))
        games.append((game, record))
    (game, record), (_, last) = games[0], games[-1]
    if record.game_content != last.game_content:
        raise UsageError(
            f"{record.game} and {last.game} are different games; choose two cells of one game"
        )
    write_report(file, rendered(draw_profiles(game, shown, title=record.game), file.suffix))
    say_written([file])


def _list_candidates(record: CellRecord, *, as_json: bool) -> None:
    """Print all candidates of a cell, the best first."""
    from eqbench.report.naming import (
        are_extreme,
        decimal,
        identity_text,
        marks,
        symbol,
        verdict_texts,
    )
    from eqbench.report.rows import Column, Report, Row, Table
    from eqbench.store.stored_run import cell_name

    names = [identity_text(item.identity) for item in record.equilibria]
    verdicts = [verdict_texts(item) for item in record.equilibria]
    judged: dict[str, list[str]] = {}
    for name, text in chain.from_iterable(own.items() for own in verdicts):
        judged.setdefault(name, []).append(text.partition(",")[0])
    columns = (
        Column("rank", "count", identifies=True),
        Column("max regret", "small"),
        Column("payoffs", "payoffs", dispensable=2),
        Column("claim", dispensable=1),
        Column("equilibrium", notes=marks(names)),
        Column("parameters", "names"),
        *(
            Column(name, "verdict", dispensable=3, notes=marks(texts, "verdicts"))
            for name, texts in judged.items()
        ),
    )
    rows = []
    for rank, item in enumerate(record.equilibria):
        known = {} if item.identity is None else dict(item.identity["parameters"])
        if item.identity is not None:  # the leading one stands next to the name
            known.pop(item.identity["leading"] or "", None)
        parameters = [f"{symbol(each)}={decimal(value)}" for each, value in known.items()]
        figures = (rank, item.max_regret, item.payoffs, item.claim, names[rank] or None)
        texts = (verdicts[rank].get(each) for each in judged)
        rows.append(Row.of(columns, (*figures, parameters, *texts)))
    extreme = ", the extreme equilibria" * are_extreme(record.equilibria)
    title = f"{cell_name(record)}: {counted(len(rows), 'candidate')}{extreme}"
    facts = ("key", "game", "solver", "game_spec", "solver_spec", "seed", "repeat", "status")
    document = {
        "schema": "eqbench.candidates/1",
        "cell": {name: getattr(record, name) for name in facts},
        "candidates": [{"rank": k} | item.to_json() for k, item in enumerate(record.equilibria)],
    }
    put_result(document, lambda: Report((Table(title, columns, tuple(rows)),)), as_json=as_json)
