"""Published claims that take seconds come out as in the reference that is committed.

The sources and their symbols stand in ``eqbench/papers``. Claims that take minutes are held
against the same reference by ``eqbench reproduce``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from command import eqbench_here

REFERENCE = Path(__file__).parents[2] / "results/reference/reproduction/claims.csv"
# The jobs, and how many claims rest on nothing else.
JOBS = {
    "szafron": (
        "rules formulas text allowed selection table_4 crossplay crossplay_two_players",
        194,
    ),
    "billingham_2017": ("rules polynomials bounds stability", 98),
    "billingham_2018": ("threats limits four_cards skp skp_exact", 43),
}


def verdicts(file: Path, source: str) -> dict[tuple[str, ...], str]:
    """Verdict on each claim of a source by where it stands."""
    with file.open(newline="", encoding="utf-8") as lines:
        return {
            (row["part"], row["row"], row["column"]): row["verdict"]
            for row in csv.DictReader(lines)
            if row["source"] == source
        }


@pytest.mark.parametrize("source", JOBS)
def test_verdicts_are_those_of_the_reference(source: str, tmp_path: Path) -> None:
    jobs, count = JOBS[source]
    words = [word for job in jobs.split() for word in ("--job", job)]
    ended = eqbench_here("reproduce", source, *words, "--quiet", "--out", "page", cwd=tmp_path)
    assert ended.code == 0, ended.err
    found = verdicts(tmp_path / "page" / "claims.csv", source)
    reference = verdicts(REFERENCE, source)
    assert found.keys() == reference.keys(), "claims are there whether they are attempted or not"
    tried = {place: verdict for place, verdict in found.items() if verdict != "not_attempted"}
    assert tried == {place: reference[place] for place in tried}
    assert len(tried) == count
