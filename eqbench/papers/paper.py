"""A paper as data: ``paper.toml``, ``claims.csv``, and the functions that its facts come from.

``paper.toml`` holds the citation, the parts with their notes and figures, and the jobs.
``claims.csv`` holds a line for each claim: where it stands, what is printed, which fact of ours
answers it, and how the two are compared. ``facts.py`` holds functions that read what the jobs have
stored; ``compute.py`` what no command computes.
"""

from __future__ import annotations

import csv
import importlib
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any, NotRequired, TypedDict

from eqbench.documents import convert, read_file
from eqbench.errors import DocumentError, UsageError, nearest
from eqbench.papers.jobs import Job

COLUMNS = ("part", "row", "column", "printed", "fact", "check", "evidence", "note")


@dataclass(frozen=True)
class Claim:
    """One cell of a table, one property of a figure, one statement.

    Attributes
    ----------
    row, column : its place in the part; `column` is empty in a part that is a list of statements
    printed : what the paper prints, in its numbers and our words
    fact : where our value stands, as ``function/key/key``; empty if nothing was tried
    check : how the two are compared, in the language of `eqbench.papers.checks`
    evidence : fact that is true if the paper is wrong here; empty unless that is claimed
    note : what a reader has to know; why nothing was tried, if so
    """

    row: str
    column: str
    printed: str
    fact: str
    check: str
    evidence: str
    note: str


class Figure(TypedDict):
    """Ours beside a published figure: the function that draws it, or ``job/file``."""

    title: str
    caption: str
    draw: NotRequired[str]
    file: NotRequired[str]


class Attachment(TypedDict):
    """A file of a job that a reader may want, such as the points of a branch or a video."""

    title: str
    job: str
    file: str


@dataclass(frozen=True)
class Part:
    """A table, a figure or a section, with how ours was measured."""

    title: str
    note: str = ""
    figures: tuple[Figure, ...] = ()
    files: tuple[Attachment, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A publication, in parts, with the jobs that answer it.

    Attributes
    ----------
    name : by which it is asked for; that of its folder
    citation : authors, title, where and when
    folder : of its files
    """

    name: str
    citation: str
    folder: Path
    jobs: tuple[Job, ...]
    parts: tuple[Part, ...]

    def function(self, target: str) -> Callable[..., Any]:
        """The function ``module:name`` of the paper; that of its facts unless a module is named."""
        module, _, name = target.rpartition(":")
        found = getattr(module_of(self.folder, module or "facts"), name, None)
        if name.startswith("_") or not callable(found):
            raise UsageError(f"{self.folder / (module or 'facts')}.py has no function {name!r}")
        return found


class _Part(TypedDict):
    title: str
    note: NotRequired[str]
    figure: NotRequired[list[Figure]]
    file: NotRequired[list[Attachment]]


class _Job(TypedDict):
    name: str
    command: NotRequired[str]
    compute: NotRequired[str]
    needs: NotRequired[list[str]]
    full: NotRequired[bool]
    full_command: NotRequired[str]
    out: NotRequired[bool]
    alone: NotRequired[bool]
    accept: NotRequired[list[int]]
    each: NotRequired[dict[str, list[str]]]


class _Document(TypedDict):
    citation: str
    lists: NotRequired[dict[str, list[str]]]
    part: list[_Part]
    job: list[_Job]


def load_paper(folder: Path) -> Paper:
    """Read a paper from its folder.

    Raises
    ------
    UsageError
        If a file is missing or not as it should be; the message names the file and the place.
    """
    file = folder / "paper.toml"
    try:
        document = convert(tomllib.loads(read_file(file).decode()), _Document, str(file))
    except OSError as error:
        raise UsageError(f"cannot read the paper {file}: {error.strerror}") from None
    except (ValueError, DocumentError) as error:
        raise UsageError(f"{file}: {error}") from None
    claims = _claims(folder / "claims.csv", [part["title"] for part in document["part"]])
    parts = tuple(
        Part(
            part["title"],
            " ".join(part.get("note", "").split()),
            tuple(part.get("figure", ())),
            tuple(part.get("file", ())),
            tuple(claims.get(part["title"], ())),
        )
        for part in document["part"]
    )
    lists = document.get("lists", {})
    jobs = tuple(job for given in document["job"] for job in _jobs(given, lists, folder))
    return Paper(folder.name, document["citation"], folder, jobs, parts)


def _claims(file: Path, titles: list[str]) -> dict[str, list[Claim]]:
    """Claims by the titles of their parts, in the order of the lines."""
    try:
        lines = read_file(file).decode().splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the claims {file}: {error}") from None
    reader = csv.DictReader(lines)
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise UsageError(f"{file}, line 1: the columns are {', '.join(COLUMNS)}")
    claims: dict[str, list[Claim]] = {}
    for row in reader:
        where = f"{file}, line {reader.line_num}"
        if None in row or None in row.values():
            raise UsageError(f"{where}: a line has {len(COLUMNS)} cells")
        if row["part"] not in titles:
            raise UsageError(f"{where}: unknown part {row['part']!r}: {nearest(row['part'], titles)}")
        if not (row["row"] and row["printed"]):
            raise UsageError(f"{where}: 'row' and 'printed' must not be empty")
        if bool(row["fact"]) != bool(row["check"]) or not (row["fact"] or row["note"]):
            raise UsageError(
                f"{where}: a claim has a fact and a check, or neither and a note that says why"
            )
        title = row.pop("part")
        claims.setdefault(title, []).append(Claim(**row))
    return claims


def _jobs(given: _Job, lists: Mapping[str, list[str]], folder: Path) -> Iterator[Job]:
    """The jobs of an entry: one, or one for each combination of the values of ``each``."""
    each = given.get("each", {})
    for values in product(*each.values()):
        filled = dict(zip(each, values, strict=True))

        def words(text: str, filled: Mapping[str, str] = filled) -> tuple[str, ...]:
            return tuple(_repeated(shlex.split(Template(text).safe_substitute(filled)), lists))

        def names(texts: Iterable[str]) -> tuple[str, ...]:
            # dots of values cannot stand in the name of a job
            return tuple(name.replace(".", "_") for text in texts for name in words(text))  # noqa: B023

        yield Job(
            *names([given["name"]]),
            words(given.get("command", "")),
            given.get("compute", ""),
            names(given.get("needs", ())),
            given.get("full", False),
            words(given.get("full_command", "")),
            given.get("out", True),
            given.get("alone", False),
            tuple(given.get("accept", (0,))),
            folder,
        )


def _repeated(words: list[str], lists: Mapping[str, list[str]]) -> list[str]:
    """Words of a command; one with ``*name`` stands for each value of the list of that name.

    The option before it is repeated with it.
    """
    done: list[str] = []
    for word in words:
        match = re.search(r"\*(\w+)", word)
        if match is None or match[1] not in lists:
            done.append(word)
            continue
        option = [done.pop()] if done and done[-1].startswith("--") else []
        for value in lists[match[1]]:
            done += [*option, word.replace(match[0], value)]
    return done


def module_of(folder: Path, name: str) -> ModuleType:
    """A module of a paper, which may import its neighbors relatively.

    Raises
    ------
    UsageError
        If the paper has no such module.
    """
    if not (folder / f"{name}.py").is_file():
        raise UsageError(f"the paper {folder} has no file {name}.py")
    if folder.resolve().parent == Path(__file__).resolve().parent:
        return importlib.import_module(f"eqbench.papers.{folder.name}.{name}")
    package = f"eqbench_paper_{folder.name}"
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
    sys.modules[package].__path__ = [str(folder.resolve())]
    return importlib.import_module(f"{package}.{name}")
