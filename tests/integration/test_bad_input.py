"""A user's mistake gives one clear message, exit code 2 and no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import PLUGINS, Ended
from command import eqbench_here as eqbench

from eqbench import load_game
from eqbench.model.profile import BehaviorProfile

FLOODS = ("--solver", "floods(cals=3)", "--plugin", str(PLUGINS / "faults.py"))


def assert_refused(done: Ended, *words: str) -> None:
    assert done.code == 2, (done.code, done.err)
    assert "Traceback" not in done.err
    assert done.out == ""
    for word in words:
        assert word in done.err, done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--game", "khun3"), ("unknown game 'khun3'", "did you mean", "kuhn3")),
        (("--game", "kuhn3", "--solver", "cfr_pls"), ("cfr_pls", "did you mean", "cfr_plus")),
        (("--game", "kuhn3", "--solver", "cfr(altrnating=true)"), ("altrnating", "alternating")),
        (("--game", "kuhn3", "--memory", "lots"), ("lots", "2GiB")),
        (("--game", "kuhn3", "--timeout", "-1"), ("-1", "timeout", "positive")),
        (("--game", "kuhn3", "--timeout", "inf"), ("'inf'", "not a finite number")),
        (("--game", "kuhn3", "--target", "nan"), ("'nan'", "not a finite number")),
        (("--game", "kuhn3", "--memory", "10"), ("64MiB",)),
        (("--game", "kuhn3(pot=1e400)"), ("pot is too large",)),
        (("--game", "kuhn(players=6,cards=60)"), ("about 10^13 nodes", "--max-nodes")),
        (("--game", ""), ("no game",)),
        (("--game", "kuhn3", "--plugin", "nowhere.py"), ("nowhere.py",)),
        (("--game", "no_such.efg"), ("no_such.efg",)),
        (("--game", "d1/g.efg(foo=1)"), ("a game file has no options", "d1/g.efg")),
        (("--game", "d1/g.egf"), (".efg or .nfg", "openspiel:NAME")),
        (("--game", "kuhn2", *FLOODS), ("cals", "did you mean calls")),
    ],
)
def test_run_refuses(tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    solver = () if "--solver" in arguments else ("--solver", "cfr")
    assert_refused(eqbench("run", *arguments, *solver, cwd=tmp_path), *words)
    assert list(tmp_path.iterdir()) == [], "nothing may be left behind"


def test_run_refuses_a_folder_that_holds_a_run_or_cannot_be_written(tmp_path: Path) -> None:
    call = ("run", "--game", "kuhn2", "--solver", "cfr", "--iterations", "10", "-q", "--out")
    assert eqbench(*call, "run", cwd=tmp_path).code == 0
    before = (tmp_path / "run" / "runs.jsonl").read_bytes()
    assert_refused(eqbench(*call, "run", cwd=tmp_path), "already holds a run")
    within = "run/runs.jsonl/deeper"
    done = eqbench(*call, within, cwd=tmp_path)
    assert_refused(done, "cannot write results", within, "--out")
    assert (tmp_path / "run" / "runs.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ("not valid JSON",)),
        ("[]", ("behavior",)),
        ('{"behavior": {"P3": {}}}', ("unknown player 'P3'", "P1")),
        ('{"behavior": {"P1": {"9:": {"bet": 1}}}}', ("9:", "information set")),
        ('{"behavior": {"P1": {"1:": {"bte": 1}}}}', ("bte", "did you mean bet")),
        ('{"behavior": {"P1": {"1:": {"bet": NaN}}}}', ("NaN",)),
        ('{"behavior": {"P1": {"1:": {"bet": "1/0"}}}}', ("1/0",)),
        ('{"behavior": {"P1": {"1:": {"bet": 1}}}}', ("does not say what to do",)),
    ],
)
def test_verify_refuses_a_profile(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    (tmp_path / "p.json").write_text(text)
    done = eqbench("verify", "--game", "kuhn2", "--profile", "p.json", cwd=tmp_path)
    assert_refused(done, *words)


def test_verify_asks_for_the_game(tmp_path: Path) -> None:
    done = eqbench("verify", "--profile", "-", cwd=tmp_path, stdin='{"behavior": {}}')
    assert_refused(done, "--game")


def test_exact_mode_refuses_decimals_that_do_not_sum_to_one(tmp_path: Path) -> None:
    document = BehaviorProfile.uniform(load_game("kuhn2").tree).to_json()
    document["behavior"]["P1"]["1:"] = {"check": 0.3333333333, "bet": 0.6666666666}
    (tmp_path / "p.json").write_text(json.dumps(document))
    call = ("verify", "--game", "kuhn2", "--profile", "p.json")
    assert eqbench(*call, cwd=tmp_path).code == 0
    assert_refused(eqbench(*call, "--exact", cwd=tmp_path), "p/q", "not exactly 1")
