"""`eqbench show`: reach, frequencies and gaps of stored profiles, as their definitions say."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import accepted, refused
from helpers.command import eqbench_here as eqbench
from helpers.documentation import ROOT, blocks
from helpers.kuhn_and_skp import SITUATIONS
from helpers.made_games import entry_deterrence, exact_profile
from helpers.runs import cell, write_run
from helpers.walks import TreeWalk

from eqbench import BehaviorProfile, load_game
from eqbench.model.gambit_text import efg_text
from eqbench.model.inspection import inspect_profile
from eqbench.model.profile import random_profile
from eqbench.model.profile_json import profile_text
from eqbench.model.words import situation

# -- reach and gaps against the definitions ------------------------------------------------------


@pytest.mark.parametrize("pure", [False, True])
def test_reach_and_gaps_are_those_of_their_definitions(pure: bool) -> None:
    game = load_game("kuhn3")
    behavior = random_profile(game.tree, np.random.default_rng(4))
    if pure:  # everybody checks and folds: whole branches are never reached
        behavior = np.tile([1.0, 0.0], game.tree.n_infosets)
    walk, seen = TreeWalk(game.tree, behavior), inspect_profile(game, behavior)
    np.testing.assert_allclose(seen.reach, np.array(walk.reaches(), float), atol=1e-15)
    weight, values = (np.array(found, float) for found in walk.counterfactual())
    np.testing.assert_allclose(seen.counterfactual_reach, weight, atol=1e-15)
    np.testing.assert_allclose(seen.reach, seen.own_reach * weight, atol=1e-15)
    with np.errstate(invalid="ignore"):
        gaps = (values.max(axis=1, keepdims=True) - values) / weight[:, None]
    np.testing.assert_allclose(seen.gaps, gaps.ravel(), atol=1e-13)
    assert bool(np.isnan(seen.gaps).any()) is pure


# -- the command ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a real run in ``run``."""
    cwd = tmp_path_factory.mktemp("place")
    accepted(
        *("run", "--game", "kuhn3", "--game", "kuhn2", "--solver", "cfr_plus,mccfr"),
        *("--iterations", "1000", "--out", "run"),
        cwd=cwd,
    )
    return cwd


def shown(place: Path, *arguments: str) -> dict[str, Any]:
    done = accepted("show", "run", *arguments, "--json", cwd=place)
    return done.json


def test_json_has_the_cell_its_candidate_and_every_information_set(place: Path) -> None:
    facts = shown(place, "kuhn3/cfr_plus")
    assert facts["schema"] == "eqbench.show/1"
    stored = [json.loads(line) for line in (place / "run/runs.jsonl").read_text().splitlines()]
    assert facts["cell"]["key"] == stored[0]["key"]
    assert facts["candidate"] == stored[0]["equilibria"][0]
    assert (facts["rank"], facts["candidates"]) == (0, 2)
    profile = json.loads((place / "run" / facts["candidate"]["profile"]).read_text())["behavior"]
    sets = facts["information_sets"]
    assert len(sets) == 48
    for item in sets:
        row = profile[item["player"]][item["label"]]
        assert {a["action"]: a["frequency"] for a in item["actions"]} == pytest.approx(row)
        gaps = [action["gap"] for action in item["actions"]]
        assert min(gaps) == 0
    for label, (player, situations) in SITUATIONS.items():
        for j, row in enumerate(facts["szafron"][label], start=1):
            for history, value in zip(situations, row, strict=True):
                actions = profile[player][f"{j}:{history}"]
                assert value == pytest.approx(actions.get("bet", actions.get("call")))
    assert shown(place, "kuhn2/cfr_plus")["szafron"] is None


def test_rank_chooses_the_candidate(place: Path) -> None:
    best, second = (shown(place, "kuhn2/mccfr/0", "--rank", rank) for rank in "01")
    assert (best["rank"], second["rank"]) == (0, 1)
    assert best["candidate"]["max_regret"] == best["cell"]["max_regret"]
    assert second["candidate"]["max_regret"] > best["candidate"]["max_regret"]
    assert second["information_sets"] != best["information_sets"]


def write_profile(path: Path, spec: str, behavior: list[float]) -> None:
    tree = load_game(spec).tree
    (path / "profiles/0a-0.json").write_text(
        profile_text(tree, BehaviorProfile.of(tree, behavior), spec)
    )


def test_unreached_sets_say_so_and_have_no_gap_where_nobody_leads(tmp_path: Path) -> None:
    spec = load_game("kuhn2").spec
    path = write_run(tmp_path / "run", cell("0a", game_spec=spec))
    # everybody checks and folds, so that a bet is never answered
    write_profile(path, spec, [1.0, 0.0] * 12)
    done = eqbench("show", "run", "0a", cwd=tmp_path)
    lines = [line.split() for line in done.out.splitlines() if " · " in line]
    rows = {" ".join(line[:3]): line[3:] for line in lines}
    assert rows["J · check"][:2] == ["0.33333", "1"]
    assert rows["J · check–bet"] == ["unreached", "1", "fold", "1", "–", "call", "0", "–"]
    assert rows["K · bet"][:2] == ["unreached", "1"]
    facts = eqbench("show", "run", "0a", "--json", cwd=tmp_path).json
    by_label = {item["label"]: item for item in facts["information_sets"]}
    assert [action["gap"] for action in by_label["1:KB"]["actions"]] == [None, None]


def test_large_profile_is_cut_to_the_most_reached_sets(tmp_path: Path) -> None:
    spec = load_game("kuhn(players=2, cards=110)").spec
    tree = load_game(spec).tree
    path = write_run(tmp_path / "run", cell("0a", game_spec=spec))
    behavior = np.tile([0.9, 0.1], tree.n_infosets).tolist()
    write_profile(path, spec, behavior)
    done = eqbench("show", "run", "0a", cwd=tmp_path)
    assert "400 most" in " ".join(done.out.split())
    assert "110 · check " in done.out
    words = {situation(label, load_game(spec)).short for label in tree.infoset_labels}
    labels = {" ".join(line.split()[:3]) for line in done.out.splitlines()}
    all_of_it = eqbench("show", "run", "0a", "--all", cwd=tmp_path)
    more = {" ".join(line.split()[:3]) for line in all_of_it.out.splitlines()}
    assert len(more & words) == 440
    assert len(labels & words) == 400


def test_profile_that_went_with_the_files_of_the_run_is_a_usage_error(tmp_path: Path) -> None:
    write_run(tmp_path / "run", cell("0a", solver="cfr").without_files())
    words = "the profile of this candidate is not in run"
    refused("show", "run", "cfr", words=words, cwd=tmp_path)


def test_game_of_a_plugin_needs_its_file(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("0a", game_spec="smuggling(fine=4)"))
    behavior = {
        "smuggler": {"coast": {"smuggle": "1/8", "stay": "7/8"}},
        "inspector": {"watch": {"patrol": "1/4", "rest": "3/4"}},
    }
    (path / "profiles/0a-0.json").write_text(json.dumps({"behavior": behavior}))
    page = (ROOT / "docs/tutorial/write_a_game.md").read_text(encoding="utf-8")
    (plugin,) = (block.text for block in blocks(page) if "register_game" in block.text)
    (tmp_path / "smuggling.py").write_text(plugin)
    refused("show", "run", "0a", words="needs --plugin FILE", cwd=tmp_path)
    done = accepted("show", "run", "0a", "--plugin", "smuggling.py", cwd=tmp_path)
    rows = [line.split() for line in done.out.splitlines()]
    # smuggling loses 4 with probability 1/4 and wins 1 otherwise
    assert ["coast", "1", "1", "smuggle", "0.12500", "0.25000", "stay", "0.87500", "0"] in rows


# -- kinds --------------------------------------------------------------------------------------

KIND = {
    "undominated": "certified",
    "subgame_perfect": {"proper": 0, "perfect": 0},
    "sequential": "refuted",
    "quasi_strict": False,
    "index": None,
}


def test_kinds_of_earlier_runs_are_judged_on_demand(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "golden" / "runs" / "verified", tmp_path / "run")
    file = tmp_path / "run" / "runs.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for item in (item for record in records for item in record["equilibria"]):
        del item["kind"]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert shown(tmp_path, "kuhn2/lcp")["candidate"]["kind"] is None
    found = shown(tmp_path, "kuhn2/lcp", "--proofs")["candidate"]
    assert found["kind"] == KIND


@pytest.mark.parametrize("options", [(), ("--exact",)])
@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (
            ((1, 0), (1, 0)),
            (
                "subgame-perfect: no, an equilibrium in 0 of 1 proper subgame",
                "plan of P2 is dominated by: P2 2 fight 0, P2 2 yield 1",
                "subgame after in: players gain 0, 2",
            ),
        ),
        (
            ((0, 1), (0, 1)),
            (
                "subgame-perfect: yes, an equilibrium in 1 of 1 proper subgame",
                "sequential: certified, limits of trembles support all play",
                "trembles of order 1: P1 1 out × 1, P2 2 fight × 1",
            ),
        ),
    ],
)
def test_verify_prints_trembles_of_a_threat_and_of_its_counterpart(
    tmp_path: Path, options: tuple[str, ...], rows: Any, lines: tuple[str, ...]
) -> None:
    tree = entry_deterrence()
    (tmp_path / "entry.efg").write_text(efg_text(tree))
    text = profile_text(tree, exact_profile(tree, *rows), "entry.efg")
    (tmp_path / "mine.json").write_text(text)
    out = eqbench("verify", "mine.json", "--proofs", *options, cwd=tmp_path).out
    assert {*lines} <= {line.strip() for line in out.splitlines()}


def test_game_of_a_cell_is_part_of_its_name(tmp_path: Path) -> None:
    refused("show", "run", "lcp", "--game", "kuhn2", words="GAME/SOLVER", cwd=tmp_path)
