"""`eqbench ranges` on two-player Kuhn poker, whose equilibria are known completely."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from command import PATIENCE_S, Ended, accepted, eqbench_here, started, wait_for

from eqbench.solver import Availability

ALPHA = "P1|1:|bet"


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Player 1's payoff and bluffs, in the folder ``run``."""
    return eqbench_here(
        *("ranges", "--game", "kuhn2", "--of", "P1", "--of", ALPHA, "-j", "2"),
        *("--timeout", "20", "--out", "run"),
        cwd=tmp_path_factory.mktemp("place"),
    )


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["quantity"]: row for row in document["quantities"]}


def test_ranges_are_those_of_the_published_family(first: Ended) -> None:
    # Kuhn 1950: the value is -1/18, and player 1 bets the lowest card up to a third of the time
    assert first.code == 0, first.err
    for word in (ALPHA, "0.333333", "-0.0555556", "equal", "not a theorem", "closed: 4 of 4"):
        assert word in " ".join(first.out.split())
    assert "wrote summary.json, ranges.md, ranges.csv, ranges.tex in run" in first.err
    document = json.loads((first.folder / "run" / "summary.json").read_text())
    expected = {"P1": (-1 / 18, -1 / 18), ALPHA: (0, 1 / 3)}
    for name, row in rows(document).items():
        ends = expected[name]
        assert (row["min"]["found"], row["max"]["found"]) == pytest.approx(ends, abs=1e-9)
        assert (row["min"]["bound"], row["max"]["bound"]) == pytest.approx(ends, abs=1e-4)
        assert (row["published"]["low"], row["published"]["high"]) == pytest.approx(ends)
        assert row["min"]["closed"]
        assert row["max"]["closed"]
        assert row["verdict"] == "equal"
    assert list(rows(document)) == ["P1", ALPHA]


def test_resumed_ranges_run_only_what_is_new(first: Ended) -> None:
    lines = first.folder / "run" / "runs.jsonl"
    before = lines.read_text()
    again = accepted("ranges", "--resume", "run", "--json", cwd=first.folder)
    assert "all 4 cells are there already" in again.err
    assert again.json == json.loads((first.folder / "run" / "summary.json").read_text())
    assert lines.read_text() == before
    more = accepted(*("ranges", "--resume", "run", "--payoffs", "--json", "-q"), cwd=first.folder)
    assert list(rows(more.json)) == ["P1", "P2"], "a new selection replaces the old one"
    assert rows(more.json)["P2"]["max"]["found"] == pytest.approx(1 / 18)
    assert len(lines.read_text().splitlines()) == 6


def test_built_in_solver_that_is_unavailable_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Availability("missing", "no backend")
    monkeypatch.setattr("eqbench.studies.ranges.availability_of", lambda solver: missing)
    done = eqbench_here("ranges", "--game", "kuhn2", "--all-actions", "--json", cwd=tmp_path)
    assert done.code == 4, done.err
    ends = [row[sense] for row in done.json["quantities"] for sense in ("min", "max")]
    assert {(end["status"], end["reason"]) for end in ends} == {
        ("unavailable", "missing: no backend")
    }


def test_interrupted_ranges_keep_what_they_have_and_say_how_to_go_on(tmp_path: Path) -> None:
    asked = ("--game", "kuhn3_reduced", "--of", "P1|3:|bet", "--of", "P1", "--out", "run")
    runner = started("ranges", *asked, cwd=tmp_path)
    lines = tmp_path / "run" / "runs.jsonl"
    assert wait_for(lambda: runner.poll() is not None or (lines.exists() and lines.read_text()))
    runner.send_signal(signal.SIGINT)
    out, err = runner.communicate(timeout=PATIENCE_S)
    assert runner.returncode == 130, err
    assert "interrupted after 1 of 4 cells; go on with:\n  eqbench ranges --resume run" in err
    assert "closed: 1 of 4 optima" in out
    assert (tmp_path / "run" / "ranges.md").exists()
