"""A paper as data: ``paper.toml``, ``claims.csv``, and the functions that its facts come from.

``docs/how_to/add_a_paper.md`` describes these files.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from string import Template

from msgspec import field
from msgspec.structs import replace

from eqbench.documents import convert, read_file
from eqbench.errors import DocumentError, UsageError, nearest
from eqbench.papers.checks import read_check
from eqbench.papers.jobs import Closed, Job

# folders of the papers that ship: from the tree to its equilibria to methods that find them
_NAMES = ("encyclopedia", "szafron", "ganzfried", "billingham_2017", "billingham_2018", "xu_2024")
SHIPPED = {name: Path(__file__).parent / name for name in _NAMES}


# why a claim may not come out, as `cause` names it; the first two make it not comparable
CAUSES = {
    "version": "another version of a solver or of the program that is spoken of",
    "machine": "another machine: its clock, its memory",
    "choice": "each program takes its own of several equilibria",
    "words": "words without a measure, such as close or chaotic, and what we take them for",
    "time": "trajectories that are still on their way where ours end",
    "statement": "our results are otherwise, without a proof that the source is wrong",
}
NOT_COMPARABLE = ("version", "machine")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One cell of a table, one property of a figure, one statement.

    Attributes
    ----------
    place : page, table, figure or section in which it is printed
    column : empty in a part that is a list of statements
    printed : what the paper prints, in its numbers and our words
    fact : where our value stands, as ``function/key/key``; empty if nothing was tried
    check : how the two are compared: a predicate of `eqbench.papers.checks`
    evidence : fact that is true if the paper is wrong here, or ``fact: check``; mostly empty
    cause : of `CAUSES`, why it does not come out; empty if it does
    note : what a reader has to know; why it does not come out, or why nothing was tried
    """

    part: str
    row: str
    printed: str
    place: str = ""
    column: str = ""
    fact: str = ""
    check: str = ""
    evidence: str = ""
    cause: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """UsageError if it is not as it should be."""
        if not (self.row and self.printed):
            raise UsageError("'row' and 'printed' must not be empty")
        if bool(self.fact) != bool(self.check) or not (self.fact or self.note):
            raise UsageError("a claim has a fact and a check, or neither and a note that says why")
        if self.cause and self.cause not in CAUSES:
            raise UsageError(f"unknown cause {self.cause!r}: {nearest(self.cause, CAUSES)}")
        for check in filter(None, (self.check, self.evidence.partition(": ")[2])):
            read_check(check)


class Figure(Closed, frozen=True):
    """Our version of a figure: what draws it, or ``job/file`` (``job`` if it prints it)."""

    title: str
    caption: str
    draw: str = ""
    file: str = ""


class Attachment(Closed, frozen=True):
    """A file of a job that a reader may want, such as the points of a branch or a video."""

    title: str
    job: str
    file: str


# their names in paper.toml; claims have a file of their own
_ENTRIES = {"figures": "figure", "files": "file", "claims": "claims.csv"}


class Part(Closed, frozen=True, rename=_ENTRIES):
    """A table, a figure or a section, with how ours was measured."""

    title: str
    note: str = ""
    figures: tuple[Figure, ...] = ()
    files: tuple[Attachment, ...] = ()
    claims: tuple[Claim, ...] = ()


class _Document(Closed, frozen=True):
    citation: str
    part: list[Part]
    job: list[Job]
    lists: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Paper:
    """A publication, in parts, with the jobs that answer it; its name is that of its folder."""

    name: str
    citation: str
    folder: Path
    jobs: tuple[Job, ...]
    parts: tuple[Part, ...]


def load_paper(folder: Path) -> Paper:
    """Read a paper; UsageError, with file and place, if something is not as it should be."""
    file = folder / "paper.toml"
    try:
        document = convert(tomllib.loads(read_file(file).decode()), _Document, str(file))
    except OSError as error:
        raise UsageError(f"cannot read the paper {file}: {error.strerror}") from None
    except (ValueError, DocumentError) as error:
        raise UsageError(f"{file}: {error}") from None
    claims = _claims(folder / "claims.csv", [part.title for part in document.part])
    parts = tuple(replace(part, claims=tuple(claims[part.title])) for part in document.part)
    jobs = tuple(job for given in document.job for job in _jobs(given, document.lists, folder))
    return Paper(folder.resolve().name, document.citation, folder, jobs, parts)


def _claims(file: Path, titles: list[str]) -> dict[str, list[Claim]]:
    """Claims by the titles of their parts, in the order of the lines."""
    try:
        lines = read_file(file).decode().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the claims {file}: {error}") from None
    reader = csv.DictReader(lines)
    columns, wanted = tuple(reader.fieldnames or ()), tuple(Claim.__annotations__)
    if not {"part", "row", "printed"} <= {*columns} <= {*wanted}:
        raise UsageError(
            f"{file}, line 1: the columns are {', '.join(wanted)}; at least the first 3"
        )
    claims: dict[str, list[Claim]] = {title: [] for title in titles}
    for row in reader:
        try:
            if None in row or None in row.values():
                raise UsageError(f"a line has {len(columns)} cells")
            if row["part"] not in claims:
                raise UsageError(f"unknown part {row['part']!r}: {nearest(row['part'], titles)}")
            claims[row["part"]].append(Claim(**row))
        except UsageError as error:
            raise UsageError(f"{file}, line {reader.line_num}: {error}") from None
    return claims


def _jobs(given: Job, lists: Mapping[str, list[str]], folder: Path) -> Iterator[Job]:
    """The jobs of an entry: one, or one for each combination of the values of ``each``."""
    for values in product(*given.each.values()):
        texts = " ".join([given.name, *given.needs]), given.command, given.full_command
        filled = dict(zip(given.each, values, strict=True))
        names, *commands = (
            _repeated(Template(text).safe_substitute(filled), lists) for text in texts
        )
        # dots of values cannot stand in the name of a job
        name, *needs = names.replace(".", "_").split() or [""]
        if not re.fullmatch(r"\w[\w-]*", name):  # that of its folder
            raise UsageError(f"{folder}: {name!r} is no name of a job; take letters, digits and _")
        job = replace(given, name=name, needs=tuple(needs), each={}, folder=folder)
        yield replace(job, command=commands[0], full_command=commands[1])


def _repeated(text: str, lists: Mapping[str, list[str]]) -> str:
    """A text with a word with ``*name``, and the option before it, for each value of that list."""

    def values(match: re.Match[str]) -> str:
        option, before, name, after = match.groups(default="")
        found = lists.get(name, [f"*{name}"])
        return " ".join(f"{option}{before}{value}{after}" for value in found)

    return re.sub(r"(--\S+\s+)?(\S*)\*(\w+)(\S*)", values, text)
