"""Published claims that take seconds come out as in the reference that is committed.

The sources and their symbols stand in ``eqbench/papers``. Claims that take minutes are held
against the same reference by ``eqbench reproduce``.
"""

from __future__ import annotations

import csv
import os
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import accepted

from eqbench.errors import UsageError
from eqbench.papers.checks import NUMBER
from eqbench.papers.paper import Claim, Paper
from eqbench.papers.reproduction import Reproduction, ReproductionFolder
from eqbench.papers.stored import CheckedJobs
from eqbench.papers.verdicts import Facts, verdict_of

REFERENCE = Path(__file__).parents[2] / "results/reference/reproduction/claims.csv"
# Jobs that take seconds (all if none is named), how many claims rest on nothing else, and how many
# of these are tried with another last digit; at least so many.
JOBS = {
    "encyclopedia": ("", 36, 5),
    "szafron": ("rules formulas certificates selection crossplay crossplay_two_players", 242, 50),
    "ganzfried": ("hand conditions info_full info_reduced", 23, 10),
    "billingham_2017": ("rules polynomials bounds stability", 56, 25),
    "billingham_2018": (
        "threats limits four_cards skp skp_exact rules info_10 info_10_reduced info_13 "
        "info_13_reduced info_4 info_4_dominated25 info_4_reduced info_5 info_5_reduced info_skp",
        53,
        10,
    ),
}
# the checks that hold a printed number to its last digit
EXACT = re.compile(r"(^|: |and )(=|~ (?!x)|numbers|formula|holds|follows|bounds|decides|sign)")


@pytest.fixture(scope="module", params=JOBS)
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A paper whose quick jobs ran (or all, in EQBENCH_REPRODUCTION), its facts and verdicts."""
    if finished := os.environ.get("EQBENCH_REPRODUCTION"):
        page = Path(finished)
    else:
        words = [word for job in JOBS[request.param][0].split() for word in ("--job", job)]
        page = tmp_path_factory.mktemp(request.param) / "page"
        accepted("reproduce", request.param, *words, "--out", "page", cwd=page.parent)
    folder, asked = ReproductionFolder.open(Reproduction, page)
    study = Reproduction(asked)
    study.records = folder.records
    (paper,) = [paper for paper in study.papers if paper.name == request.param]
    facts = Facts(paper, CheckedJobs(study.jobs_of(paper, page), paper.jobs))
    return paper, facts, page / "claims.csv"


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
    assert len(tried) >= JOBS[paper.name][1]


def test_another_last_digit_in_print_is_noticed(done: tuple[Paper, Facts, Path]) -> None:
    """But for claims in words, whose check is passed whatever is printed, and inequalities."""
    paper, facts, _ = done

    def holds(claim: Claim, printed: str) -> bool:
        try:
            changed = replace(claim, printed=printed)
            return verdict_of(changed, facts.at(claim.fact)[0], facts)[0] == "reproduced"
        except UsageError:
            return False

    claims = [claim for part in paper.parts for claim in part.claims if claim.fact]
    numeric = [c for c in claims if NUMBER.search(c.printed) and holds(c, c.printed)]
    words = [claim for claim in numeric if holds(claim, "nothing")]
    inequalities = [c for c in numeric if c not in words and not EXACT.search(c.check)]
    exact = [claim for claim in numeric if claim not in (*words, *inequalities)]
    sample = random.Random(0).sample(exact, min(50, len(exact)))
    unnoticed = [claim for claim in sample if holds(claim, with_another_digit(claim.printed))]
    listed = {
        kind: [f"{claim.printed}: {claim.check}" for claim in found]
        for kind, found in (("words", words), ("inequalities", inequalities), ("deaf", unnoticed))
    }
    assert len(sample) >= JOBS[paper.name][2], listed
    assert len(unnoticed) <= len(sample) / 10, listed


def with_another_digit(text: str) -> str:
    """A text whose last number is one off in its last digit."""
    *_, number = NUMBER.finditer(text)
    place = number.end() - 1
    digit = int(text[place])
    return f"{text[:place]}{digit - 1 if digit == 9 else digit + 1}{text[place + 1 :]}"
