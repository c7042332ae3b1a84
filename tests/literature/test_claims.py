"""Published claims that take seconds come out as in the reference that is committed.

The sources and their symbols stand in ``eqbench/papers``. Claims that take minutes are held
against the same reference by ``eqbench reproduce``.
"""

from __future__ import annotations

import csv
import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from command import eqbench_here

from eqbench.errors import UsageError
from eqbench.papers.paper import Claim
from eqbench.papers.reproduction import Reproduction, ReproductionFolder
from eqbench.papers.stored import CheckedJobs
from eqbench.papers.verdicts import Facts, verdict_of

REFERENCE = Path(__file__).parents[2] / "results/reference/reproduction/claims.csv"
# The jobs, how many claims rest on nothing else, and how many of these are tried with another
# last digit.
JOBS = {
    "szafron": (
        "rules formulas certificates selection crossplay crossplay_two_players",
        242,
        35,
    ),
    "billingham_2017": ("rules polynomials bounds stability", 56, 25),
    "billingham_2018": ("threats limits four_cards skp skp_exact", 35, 0),
}


def verdicts(file: Path, source: str) -> dict[tuple[str, ...], str]:
    """Verdict on each claim of a source by where it stands."""
    with file.open(newline="", encoding="utf-8") as lines:
        return {
            (row["part"], row["row"], row["column"]): row["verdict"]
            for row in csv.DictReader(lines)
            if row["source"] == source
        }


@pytest.fixture(scope="module", params=JOBS)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reproduction with the jobs of a paper that take seconds."""
    jobs, *_ = JOBS[request.param]
    words = [word for job in jobs.split() for word in ("--job", job)]
    folder = tmp_path_factory.mktemp(request.param)
    ended = eqbench_here(
        *("reproduce", request.param, *words, "--quiet", "--out", "page"), cwd=folder
    )
    assert ended.code == 0, ended.err
    return folder / "page"


def test_verdicts_are_those_of_the_reference(page: Path) -> None:
    source = json.loads((page / "summary.json").read_text())["sources"][0]["name"]
    found = verdicts(page / "claims.csv", source)
    reference = verdicts(REFERENCE, source)
    assert found.keys() == reference.keys(), "claims are there whether they are attempted or not"
    tried = {place: verdict for place, verdict in found.items() if verdict != "not_attempted"}
    assert tried == {place: reference[place] for place in tried}
    assert len(tried) == JOBS[source][1]


def test_another_last_digit_in_print_is_noticed(page: Path) -> None:
    """Of claims that are held against what is printed, and not against a value in their check."""
    folder, request = ReproductionFolder.open(Reproduction, page)
    study = Reproduction(request)
    study.records = folder.records
    (paper,) = study.papers
    facts = Facts(paper, CheckedJobs(study.jobs_of(paper, page), paper.jobs))
    changed = [
        (claim, replace(claim, printed=printed))
        for part in paper.parts
        for claim in part.claims
        if claim.fact and (printed := with_another_digit(claim.printed)) != claim.printed
        if re.fullmatch(r"=|~ \S+|formula|numbers", claim.check)
        if verdict_on(claim, facts) == "reproduced"
    ]
    sample = random.Random(0).sample(changed, min(50, len(changed)))
    unnoticed = [c.printed for c, other in sample if verdict_on(other, facts) == "reproduced"]
    assert len(sample) >= JOBS[paper.name][2]
    assert len(unnoticed) <= len(sample) / 10, unnoticed


def with_another_digit(text: str) -> str:
    """A text whose last digit is one more, or 0 for 9."""
    return re.sub(r"[0-9](?=[^0-9]*$)", lambda digit: str((int(digit[0]) + 1) % 10), text, count=1)


def verdict_on(claim: Claim, facts: Facts) -> str:
    """The verdict; a printed text that is nothing any more is noticed, too."""
    value, _ = facts.at(claim.fact)
    try:
        return verdict_of(claim, value, facts)[0]
    except UsageError:
        return "refused"
