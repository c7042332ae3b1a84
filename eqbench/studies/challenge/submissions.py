"""Submissions to the challenge: folders with a manifest and the files that it names, and runs.

Whoever wrote one is a stranger. Manifests are decoded by declared types, each answer by itself;
files are regular, of bounded size and within the folder, and reached through no link.
"""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Raw, Struct

from eqbench.documents import Seconds, convert, decode, read_file
from eqbench.errors import DocumentError, UsageError, nearest
from eqbench.store.schema import FilePath, FractionText
from eqbench.store.stored_run import StoredRun, is_run, read_run, run_folder
from eqbench.text import printable, shortened

MANIFEST = "submission.json"
MOST_FILES = 100  # of an answer
PROFILE_BYTES, PROOF_BYTES = 4 * 2**20, 16 * 2**20

QuestionName = Literal["regret", "welfare", "credible", "complete", "exact"]
Words = Annotated[str, Meta(max_length=200)]


class Question(Struct, frozen=True):
    """A question about games; the best answer has the least value times `sign`, 1 or -1."""

    title: str
    note: str
    sign: int


class Posed(Struct, frozen=True):
    """A game as it is typed, its canonical spec, and the hash of its tree when it was posed.

    `sets` are the published sets that together count as a complete list, where it is to be proved.
    """

    name: str
    spec: str
    questions: tuple[QuestionName, ...]
    content: str
    sets: tuple[str, ...] = ()


class Challenge(Struct, frozen=True):
    """The questions by name, and the games."""

    question: dict[str, Question]
    game: list[Posed]

    def posed(self, spec: str) -> Posed:
        """The game that a spec names; UsageError if it is none of the challenge."""
        names = {"".join(name.split()): own for own in self.game for name in (own.name, own.spec)}
        if found := names.get("".join(spec.split())):
            return found
        hint = nearest(shown := shortened(printable(spec), 80), [own.name for own in self.game])
        raise UsageError(f"{shown} is no game of the challenge: {hint}")


@cache
def challenge() -> Challenge:
    """The challenge as it is set."""
    text = read_file(Path(__file__).with_name("challenge.toml")).decode()
    return convert(tomllib.loads(text), Challenge)


class Answer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer: of several profiles the best counts, of a complete list all do.

    Attributes
    ----------
    claim : the value that is claimed, such as a max regret
    elapsed_s : seconds that the method took, as the submission states
    content : hash of the tree of the game that was solved
    """

    game: Words
    question: QuestionName
    profiles: Annotated[list[FilePath], Meta(max_length=MOST_FILES)] = []
    proof: FilePath | None = None
    claim: FractionText | float | None = None
    elapsed_s: Seconds | None = None
    method: Words = ""
    content: Words = ""


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a submission says; answers are decoded one by one."""

    schema: Literal["eqbench.submission/1"]
    name: Annotated[str, Meta(min_length=1, max_length=60)]
    machine: Words = ""
    answers: Annotated[list[Raw], Meta(min_length=1, max_length=1000)]


@dataclass(frozen=True, eq=False)
class Submission:
    """A submission as it was read; in place of a damaged answer stands what is wrong with it.

    A run claims nothing: a question that its profiles do not answer is left out.
    """

    folder: Path
    name: str = ""
    machine: str = ""
    answers: tuple[Answer | str, ...] = ()
    claims: bool = True

    def file(self, name: str, most_bytes: int = PROFILE_BYTES) -> bytes:
        """Content of one of its files; UsageError if it cannot be read."""
        place = self.folder / name
        why = "it leads to another place; put the file into the folder"
        try:
            if place.resolve() == self.folder.resolve() / name:
                return read_file(place, most_bytes)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its name cannot be used"
        raise UsageError(f"cannot read {shortened(printable(name), 80)}: {why}")

    def fingerprint(self) -> str:
        """Hash of what is answered by which contents of files; UsageError if one is unreadable.

        Empty where no answer names a file.
        """
        answers = [own for own in self.answers if isinstance(own, Answer)]
        named = {
            (own.question, name) for own in answers for name in (*own.profiles, own.proof) if name
        }
        hashes = {
            name: hashlib.sha256(self.file(name, PROOF_BYTES)).hexdigest()
            for name in {name for _, name in named}
        }
        prints = sorted({f"{question} {hashes[name]}" for question, name in named})
        return hashlib.sha256("\n".join(prints).encode()).hexdigest() if prints else ""


def folder_of(text: str) -> Path:
    """Folder of a submission, or that of a run; UsageError if it is neither."""
    if (folder := Path(text)).joinpath(MANIFEST).exists() or is_run(folder := run_folder(text)):
        return folder
    raise UsageError(f"{text} holds neither {MANIFEST} nor a run; give the folder of one")


def read_submission(text: str) -> Submission:
    """Submission in a folder, or the run in it as one; UsageError if it is damaged."""
    folder = folder_of(text)
    if not (folder / MANIFEST).exists():
        return _of_run(read_run(folder))
    own = decode(Submission(folder).file(MANIFEST), Manifest, MANIFEST)
    if not own.name.isprintable():
        raise UsageError("its name has characters that cannot be printed; choose another one")
    answers = tuple(_answer(number, raw) for number, raw in enumerate(own.answers, 1))
    return Submission(folder, own.name, printable(own.machine), answers)


def _answer(number: int, raw: Raw) -> Answer | str:
    try:
        return decode(bytes(raw), Answer, f"answer {number}")
    except DocumentError as error:
        return str(error)


def _of_run(run: StoredRun) -> Submission:
    """The cells of a run on games of the challenge, as answers to all questions about these."""
    posed, answers = {own.content: own for own in challenge().game}, list[Answer]()
    for cell in run.cells:
        kept = [each for each in cell.equilibria if each.profile and not each.refuted]
        close = [each for each in kept if each.max_regret <= (cell.target or 0.0)]
        fit = {"regret": kept, "welfare": close, "credible": close}
        fit["exact"] = [each for each in close if each.max_regret == 0]
        fit["complete"] = [each for each in kept if each.claim == "complete list"]
        game = posed.get(cell.game_content)
        for question in game.questions if game else ():
            facts: dict[str, Any] = {
                "game": cell.game_spec,
                "question": question,
                "content": cell.game_content,
            }
            facts |= {"elapsed_s": cell.elapsed_s, "method": cell.solver}
            facts["profiles"] = [own.profile for own in fit[question]][:MOST_FILES]
            answers += [convert(facts, Answer)] * bool(facts["profiles"])
    machine = str((run.plan.get("environment") or {}).get("processor") or "")
    name = run.path.resolve().name
    return Submission(run.path, name, printable(machine), tuple(answers), claims=False)
