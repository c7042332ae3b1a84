"""`eqbench refine`: what it prints, what it writes, and what it keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import accepted, eqbench_here

import eqbench


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of kuhn2, and an exact equilibrium of kuhn3."""
    folder = tmp_path_factory.mktemp("place")
    run = ("run", "-q", "--game", "kuhn2", "--solver", "lcp", "--out", "first")
    assert eqbench_here(*run, cwd=folder).code == 0
    return folder


@pytest.mark.parametrize("words", [("first", "lcp"), ("first/lcp",), ("kuhn2", "first/lcp")])
def test_a_cell_becomes_credible_at_the_same_payoffs(place: Path, words: tuple[str, ...]) -> None:
    done = accepted("refine", *words, "--json", cwd=place)
    before, after = done.json["before"], done.json["after"]
    assert (before["credible"]["credible"], after["credible"]["credible"]) == (11, 12)
    assert after["payoffs"] == pytest.approx(before["payoffs"], abs=1e-15)
    assert done.json["kept"] == ""


def test_the_written_profile_is_the_credible_one(place: Path) -> None:
    assert eqbench_here("refine", "first", "lcp", "--out", "made.json", cwd=place).code == 0
    done = eqbench_here("verify", "made.json", "--json", cwd=place)
    assert done.json["credible"]["credible"] == 12


def test_an_exact_profile_stays_exact(place: Path) -> None:
    solver = "ncp(backend=scip,exact=true,offpath=keep)"
    exact = eqbench.solve("kuhn3", solver, seed=0).equilibria[0].profile
    assert isinstance(exact, eqbench.BehaviorProfile)
    (place / "exact.json").write_text(json.dumps(exact.to_json()))
    found = eqbench_here("refine", "kuhn3", "exact.json", "--json", cwd=place).json
    assert found["before"]["exact"]
    assert found["after"]["exact"]
    assert found["before"]["credible"]["credible"] < found["after"]["credible"]["credible"] == 48


def test_where_a_deviation_pays_the_profile_is_kept_and_the_set_is_named(place: Path) -> None:
    """Entry deterrence: out, lest P2 fights, which it would not do."""
    (place / "entry.efg").write_text(
        'EFG 2 R "entry" { "P1" "P2" }\n'
        'p "" 1 1 "1" { "out" "in" } 0\n'
        't "" 1 "" { 1, 5 }\n'
        'p "" 2 1 "2" { "fight" "yield" } 0\n'
        't "" 2 "" { 0, 0 }\n'
        't "" 3 "" { 2, 2 }\n'
    )
    threat = {"behavior": {"P1": {"1": {"out": 1}}, "P2": {"2": {"fight": 1}}}}
    (place / "threat.json").write_text(json.dumps(threat))
    done = accepted("refine", "entry.efg", "threat.json", "--json", cwd=place)
    assert "'1' of P1" in done.json["kept"]
    assert done.json["before"] == done.json["after"]
