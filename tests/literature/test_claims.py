"""Published claims that take seconds come out as in the reference that is committed.

The sources and their symbols stand in ``eqbench/papers``. Claims that take minutes are held
against the same reference by ``eqbench reproduce``.
"""

from __future__ import annotations

import csv
import os
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.command import accepted

from eqbench.errors import UsageError
from eqbench.papers.checks import NUMBER
from eqbench.papers.paper import Claim, Paper
from eqbench.papers.reproduction import Reproduction
from eqbench.papers.stored import NotStoredError
from eqbench.papers.verdicts import Facts, verdict_of
from eqbench.studies.frame import Session, StudyFolder

REFERENCE = Path(__file__).parents[2] / "results/reference/reproduction/claims.csv"


class Quick(NamedTuple):
    """Jobs of a paper that take seconds (all if none is named).

    At least so many claims rest on nothing else; so many of these are tried with another last
    digit; of so many changes of what each job has stored, so many turn a verdict.
    """

    jobs: str
    claims: int
    digits: int
    changes: int
    turned: int


JOBS = {
    "encyclopedia": Quick("", 36, 5, 8, 10),
    "szafron": Quick(
        "rules formulas certificates selection crossplay crossplay_two_players", 242, 50, 3, 4
    ),
    "ganzfried": Quick(
        "hand conditions info_full info_reduced readings verify_family verify_as_named gambit_says",
        23,
        10,
        8,
        15,
    ),
    "billingham_2017": Quick("rules polynomials printed bounds stability", 56, 25, 8, 6),
    "billingham_2018": Quick(
        "threats limits four_cards skp skp_exact rules info_10 info_10_reduced info_13 "
        "info_13_reduced info_4 info_4_dominated25 info_4_reduced info_5 info_5_reduced info_skp",
        53,
        10,
        5,
        6,
    ),
    "xu_2024": Quick("", 23, 10, 8, 6),
}
# predicates that hold a number to its last digit, in calls that name no entry of a table
EXACT = re.compile(r'\b(?:equal|close|formula|holds|bounds|decides)\((?:"[^"]*"|[^()"])*')
TOLERANCE = re.compile(r"(abs|to)=.*")


@pytest.fixture(scope="module", params=JOBS)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A paper whose quick jobs ran (or all, in EQBENCH_REPRODUCTION), its facts and verdicts."""
    if finished := os.environ.get("EQBENCH_REPRODUCTION"):
        page = Path(finished)
    else:
        words = [word for job in JOBS[request.param].jobs.split() for word in ("--job", job)]
        page = tmp_path_factory.mktemp(request.param) / "page"
        accepted("reproduce", request.param, *words, "--out", "page", cwd=page.parent)
    folder, asked = StudyFolder.open(Reproduction, page)
    study = Reproduction(asked)
    (paper,) = [paper for paper in study.papers if paper.name == request.param]
    stored = study.jobs_of(paper, Session(page, found=folder.records))
    return paper, Facts(paper, stored), page / "claims.csv"


def test_verdicts_are_those_of_the_reference(done: tuple[Paper, Facts, Path]) -> None:
    paper, _, claims = done
    found, reference = (
        {
            (row["part"], row["row"], row["column"]): row["verdict"]
            for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines(keepends=True))
            if row["source"] == paper.name
        }
        for file in (claims, REFERENCE)
    )
    assert found.keys() == reference.keys(), "claims are there whether they are attempted or not"
    tried = {place: verdict for place, verdict in found.items() if verdict != "not_attempted"}
    assert tried == {place: reference[place] for place in tried}
    assert len(tried) >= JOBS[paper.name].claims


def test_another_last_digit_in_a_check_is_noticed(done: tuple[Paper, Facts, Path]) -> None:
    paper, facts, _ = done

    def holds(claim: Claim) -> bool:
        try:
            return verdict_of(claim, facts.at(claim.fact)[0], facts)[0] == "reproduced"
        except UsageError:
            return False

    claims = [claim for part in paper.parts for claim in part.claims if claim.fact]
    exact = [claim for claim in claims if with_another_digit(claim.check) and holds(claim)]
    sample = random.Random(0).sample(exact, min(50, len(exact)))
    changed = [replace(claim, check=with_another_digit(claim.check)) for claim in sample]
    unnoticed = [claim.check for claim in changed if holds(claim)]
    assert len(sample) >= JOBS[paper.name].digits
    assert len(unnoticed) <= len(sample) / 10, unnoticed


def test_a_changed_result_turns_verdicts(done: tuple[Paper, Facts, Path]) -> None:
    """Numbers that the jobs have stored, one after another; not all of them are claimed."""
    paper, facts, _ = done
    claims = [claim for part in paper.parts for claim in part.claims if claim.fact]
    quick, found = JOBS[paper.name], {}
    for job, leaves in leaves_of(paper, facts).items():
        reading = [claim for claim in claims if job in facts.at(claim.fact)[1]]
        before = [verdict_of(claim, facts.at(claim.fact)[0], facts)[0] for claim in reading]
        for document, place in random.Random(0).sample(leaves, min(quick.changes, len(leaves))):
            with changed(facts, job, document, place):
                found[job, place] = turned(paper, facts, reading, before)
    assert sum(found.values()) >= quick.turned, found


def leaves_of(paper: Paper, facts: Facts) -> dict[str, list[tuple[str, tuple[Any, ...]]]]:
    """Places of numbers in what the jobs of a paper have stored, by job."""
    found: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    for job in paper.jobs:
        for document in ("summary", "printed_json"):
            with suppress(NotStoredError):
                stored = facts._stored[job.name]
                numbers = [(document, place) for place in places(getattr(stored, document))]
                found[job.name] = found.get(job.name, []) + numbers
    return found


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where numbers stand in a document, also as texts."""
    if isinstance(value, dict | list):
        for key, own in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(own, (*place, key))
    elif another(value) is not None:
        yield place


def another(value: Any) -> Any:
    """Another number, None if it is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    try:
        return str(Fraction(value) + 1)
    except (ValueError, TypeError):
        return None


@contextmanager
def changed(facts: Facts, job: str, document: str, place: tuple[Any, ...]) -> Iterator[None]:
    """Let a job have stored another number at this place."""
    *keys, last = place
    parent = reduce(getitem, keys, getattr(facts._stored[job], document))
    before = parent[last]
    parent[last] = another(before)
    yield
    parent[last] = before


def turned(paper: Paper, facts: Facts, claims: list[Claim], before: list[str]) -> bool:
    """Whether some verdict is another one now, or cannot be given."""
    now = Facts(paper, facts._stored)
    try:
        return any(
            verdict_of(claim, now.at(claim.fact)[0], now)[0] != verdict
            for claim, verdict in zip(claims, before, strict=True)
        )
    except (UsageError, ArithmeticError, LookupError, ValueError):
        return True


def with_another_digit(check: str) -> str:
    """A check whose last exact number is one off in its last digit; empty if it has none."""
    for match in reversed(list(EXACT.finditer(check))):
        text = "" if "factor" in match[0] else TOLERANCE.sub("", match[0])
        if numbers := list(NUMBER.finditer(text)):
            place = match.start() + numbers[-1].end() - 1
            digit = int(check[place])
            return f"{check[:place]}{digit - 1 if digit == 9 else digit + 1}{check[place + 1 :]}"
    return ""
