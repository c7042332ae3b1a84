"""The leaderboard of the challenge: what submissions measure, in tables and on a page."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from msgspec import Struct, field, structs

from eqbench.errors import EqbenchError
from eqbench.report.html import document as html
from eqbench.report.rows import Column, Report, Table, table_of
from eqbench.report.writing import write_report
from eqbench.studies.challenge.measure import measure
from eqbench.studies.challenge.submissions import (
    MANIFEST,
    Answer,
    Submission,
    challenge,
    folder_of,
    read_submission,
)
from eqbench.studies.frame import Document, Session, Study, answer, legend
from eqbench.studies.requests import ChallengeRequest
from eqbench.text import grouped, printable, shortened
from eqbench.verification.verifier import CLAIMED_REGRET_SLACK

KNOWN = Path(__file__).with_name("known")  # the best known answers, as submissions
OPEN = "open"


class Scored(Struct, frozen=True, kw_only=True):
    """An answer as it was measured; one that is refused has no place, and a note says why.

    `shared` counts the answers at its place. Where the claim is better than what was measured, the
    note says what it is.
    """

    game: Annotated[str, Column(identifies=True)] = ""
    question: Annotated[str, Column()] = ""
    place: Annotated[int | None, Column(kind="count", optional=True)] = None
    measured: Annotated[str | None, Column(optional=True)] = None
    submission: Annotated[str, Column()] = ""
    method: Annotated[str, Column(optional=True)] = ""
    elapsed_s: Annotated[float | None, Column("stated time", "seconds", optional=True)] = None
    machine: Annotated[str, Column("stated machine", dispensable=1, optional=True)] = ""
    shared: Annotated[int | None, Column("answers tied", "count", dispensable=1, optional=True)] = (
        None
    )
    note: Annotated[str, Column(optional=True)] = ""
    value: float | None = None
    tie: float = 0.0


class Entry(Struct, frozen=True):
    """The answers of a submission; the fingerprint is empty if a file cannot be read."""

    name: str
    fingerprint: str
    answers: list[Scored]


class Board(Document, frozen=True, kw_only=True, tag_field="schema", tag="eqbench.challenge/1"):
    """All answers by question and game, the best first, the refused ones last.

    `given` are the names of the submissions that are not the best known answers.
    """

    answers: list[Scored]
    given: list[str] = field(default_factory=list)

    def rows(self) -> Sequence[Scored]:
        """All answers."""
        return self.answers

    def tables(self) -> Report:
        """The best answer to each question, and what is refused or not as it is claimed."""
        tables: list[Table] = []
        names: tuple[str, ...] = ("game", "measured", "submission", "method", "elapsed_s", "shared")
        for name, question in challenge().question.items():
            games = [posed.name for posed in challenge().game if name in posed.questions]
            best = {game: Scored(game=game, measured=OPEN) for game in games}
            best |= {e.game: e for e in self.answers[::-1] if e.question == name and e.place}
            rows = [*best.values()]
            tables.append(table_of(rows, question.title, (question.note,), names=names))
        if own := [each for each in self.answers if each.submission in self.given and each.place]:
            names = ("game", "question", "place", "measured", "shared", "submission", "method")
            tables.insert(0, table_of(own, "Answers of the folders given", names=names))
        if doubtful := [each for each in self.answers if each.note]:
            names = ("game", "question", "measured", "submission", "method", "note")
            tables.append(table_of(doubtful, "Refused, or not as claimed", names=names))
        return Report(tuple(tables), (legend("challenge.board"),))

    def page(self) -> str:
        """The leaderboard as a page of HTML."""
        parts: dict[str, Sequence[html.Block]] = {}
        placed = table_of([each for each in self.answers if each.place], "All answers")
        for number, each in enumerate((*self.tables().tables, placed)):
            is_best = each.title in {own.title for own in challenge().question.values()}
            filters = ("question", "game", "submission", "method") if each is placed else ()
            look = {"title": "", "wrapped": not is_best, "filters": filters}
            parts[each.title] = [html.page_table(each, f"table-{number}", **look)]
        return html.document("The eqbench challenge", parts, lead=[legend("challenge.board")])


class ChallengeStudy(Study[ChallengeRequest, Entry, Board]):
    """Measure the best known answers, then each submission."""

    always_draws = True

    def __init__(self, request: ChallengeRequest, *, figures: bool = False) -> None:
        """Find the folders; UsageError if one holds neither a submission nor a run."""
        self.known = sorted(file.parent for file in KNOWN.glob(f"*/{MANIFEST}"))
        folders = [*self.known, *map(folder_of, request.folders)]
        self.request, self.folders = request, {each.resolve(): str(each) for each in folders}

    def parts(self) -> list[str]:
        """Folders, those of the best known answers first."""
        return [*self.folders.values()]

    def do(self, part: str, session: Session) -> Entry:
        """Measure all answers of a submission."""
        name, mark, scored = printable(Path(part).resolve().name), "", list[Scored]()
        try:
            read = read_submission(part)
            name = read.name
            for number, each in enumerate(read.answers, 1):
                session.go_on(f"{name}: answer {number} of {len(read.answers)}")
                scored.append(_scored(read, each))
            mark = read.fingerprint()
            if not read.claims:
                scored = [each for each in scored if not each.note]
        except EqbenchError as error:
            scored = scored or [_refused(name, error)]
        return Entry(name, mark, scored)

    def conclude(self, parts: list[Entry], session: Session) -> Board:
        """Give the answers their places; of submissions that are the same the first counts."""
        names, marks, scored = set[str](), dict[str, str](), list[Scored]()
        for each in parts:
            why = "another submission has this name" if each.name.casefold() in names else ""
            if same := each.fingerprint and marks.get(each.fingerprint):
                why = f"it has the same answers and files as {same}"
            scored += [_refused(each.name, why)] if why else each.answers
            names.add(each.name.casefold())
            marks.setdefault(each.fingerprint, each.name)
        measured = [each for each in scored if each.value is not None]
        groups = grouped(measured, lambda each: (each.question, each.game))
        order = [(name, game.name) for name in challenge().question for game in challenge().game]
        placed = [each for key in order for each in _placed(groups.get(key, []))]
        refused = [each for each in scored if each.value is None]
        given = [each.name for each in parts[len(self.known) :]]
        return Board(answers=placed + refused, given=given)

    def ending(self, document: Board) -> tuple[int, str]:
        """Return 1 if an answer is refused, or claims more than is there."""
        return int(any(each.note for each in document.answers)), ""

    def draw(self, folder: Path, document: Board) -> Iterator[Path]:
        """Yield the page."""
        write_report(folder / "challenge.html", document.page())
        yield folder / "challenge.html"


def _refused(submission: str, why: object) -> Scored:
    return Scored(submission=submission, note=shortened(printable(str(why))))


def _scored(read: Submission, given: Answer | str) -> Scored:
    """An answer after it was measured, or with the reason why it is refused."""
    if isinstance(given, str):
        return _refused(read.name, given)
    own = Scored(
        game=printable(given.game),
        question=given.question,
        submission=read.name,
        method=printable(given.method),
        elapsed_s=given.elapsed_s,
        machine=read.machine,
    )
    try:
        value = measure(read, given)
    except EqbenchError as error:
        return structs.replace(own, note=shortened(printable(str(error))))
    game, note, number = challenge().posed(given.game).name, "", Fraction(value.number)
    if given.claim is not None and given.question != "complete":
        better_by = (number - Fraction(given.claim)) * challenge().question[own.question].sign
        if better_by > CLAIMED_REGRET_SLACK * max(1.0, float(abs(number))):
            claim = given.claim if isinstance(given.claim, str) else f"{given.claim:.9g}"
            note = f"claims {shortened(claim, 40)}"
    found = {"game": game, "measured": value.words, "value": float(number), "tie": value.tie}
    return structs.replace(own, note=note, **found)


def _placed(answers: Sequence[Scored]) -> Iterator[Scored]:
    """Answers to one question, the best first; equal values share a place, by the stated time."""
    signs = {name: question.sign for name, question in challenge().question.items()}
    worth = [(float(f"{signs[e.question] * (e.value or 0.0):.9g}"), e.tie) for e in answers]
    pairs, order = zip(worth, answers, strict=True), sorted(worth)
    stated = {each: math.inf if each.elapsed_s is None else each.elapsed_s for each in answers}
    for own, each in sorted(pairs, key=lambda pair: (pair[0], stated[pair[1]])):
        better = bisect_left(order, own)
        shared = bisect_right(order, own) - better
        yield structs.replace(each, place=1 + better, shared=shared)


def page_of(folders: Sequence[str]) -> str:
    """The leaderboard of submissions and the best known answers, all measured now, as a page."""
    return answer(ChallengeStudy(ChallengeRequest(folders=tuple(folders)))).page()
