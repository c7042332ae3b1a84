"""Studies as users run them: what they find in known games, and how they end."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from helpers.command import (
    PATIENCE_S,
    PLUGINS,
    Ended,
    accepted,
    eqbench_here,
    refused,
    started,
    wait_for,
)

import eqbench as package
from eqbench.solver import Availability
from eqbench.studies.flow.points import read_points


@pytest.fixture(scope="module")
def branches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with branches of three-player Kuhn poker in ``kuhn``."""
    cwd = tmp_path_factory.mktemp("branches")
    done = accepted(
        *("qre", "--game", "kuhn3", "--at", "10", "--at", "1000", "--branches", "2"),
        *("--figures", "--out", "kuhn", "--json"),
        cwd=cwd,
    )
    assert done.json == json.loads((cwd / "kuhn/summary.json").read_text())
    return cwd


def test_principal_branch_is_verified_where_it_was_asked_for(branches: Path) -> None:
    """The regret of a logit response falls in proportion to 1 / lambda (Turocy 2005)."""
    principal = json.loads((branches / "kuhn/summary.json").read_text())["branches"][0]
    assert [point["lambda"] for point in principal["at"]] == [10, 1000, 1e6]
    assert principal["check"] == "checked"
    scaled = [point["lambda"] * point["max_regret"] for point in principal["at"]]
    assert scaled == pytest.approx([0.215] * 3, rel=0.05)
    assert principal["max_regret"] <= 5e-7
    end = principal["equilibrium"]
    assert end["is_equilibrium"]
    assert end["max_regret"] <= 1e-12
    assert end["identity"]["name"].startswith("szafron:")
    # Ganzfried 2025, section 4, for the limit that Gambit came near
    assert end["payoffs"] == pytest.approx([-0.0276, -0.0208, 0.0484], abs=5e-5)


def test_random_priors_lead_to_other_equilibria(branches: Path) -> None:
    document = json.loads((branches / "kuhn/summary.json").read_text())
    assert [entry["seed"] for entry in document["branches"]] == [None, 0, 1]
    random = document["random"]
    assert (random["branches"], random["arrived"], random["polished"]) == (2, 2, 2)
    assert random["distinct_payoffs"] == 2
    assert sum(random["names"].values()) == 2


DRIFTING = PLUGINS / "drifting.py"


@pytest.fixture(scope="module")
def trajectories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with trajectories of SKP at two pots in ``skp``."""
    cwd = tmp_path_factory.mktemp("trajectories")
    done = accepted(
        *("simulate", "--game", "skp", "--at", "2.5", "--at", "3.75", "--starts", "2"),
        *("--duration", "300", "--out", "skp", "--json"),
        cwd=cwd,
    )
    assert done.json == json.loads((cwd / "skp/summary.json").read_text())
    return cwd


def test_profits_are_close_to_those_of_the_stable_solution(trajectories: Path) -> None:
    """Billingham 2017, section 4: close to Solution 1 for P < 3, and to 5 for 7/2 < P < 4."""
    document = json.loads((trajectories / "skp/summary.json").read_text())
    for run in document["runs"]:
        nearest = "skp:1" if run["parameter"] == 2.5 else "skp:5"
        window = run["windows"][run["longest_window"]]
        assert window["nearest"] == [nearest]
        assert window["gap"] < 0.005


def test_profile_in_a_file_is_a_start_that_is_called_by_its_name(trajectories: Path) -> None:
    document = json.loads((trajectories / "skp/summary.json").read_text())
    file = f"skp/{document['runs'][0]['profiles']['start']['profile']}"
    done = accepted(
        *("simulate", "--game", "skp(pot=2.5)", "--start", file, "--start", "uniform"),
        *("--start", "-", "--duration", "20", "--out", "again", "--json"),
        cwd=trajectories,
        stdin=(trajectories / file).read_text(),
    )
    names = [Path(file).name, "uniform", "standard input"]
    assert [run["start"] for run in done.json["runs"]] == names
    one, other = (
        read_points(package.load_game("skp"), trajectories / folder / "points.csv")[0]
        for folder in ("skp", "again")
    )
    # a profile rounds the log-odds
    assert other.behavior == pytest.approx(one.behavior[: len(other.times)], abs=1e-8)
    # what was read stays in the folder
    records = trajectories / "again/records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:2]))
    resumed = accepted("simulate", "--resume", "again", "--json", cwd=trajectories, stdin="")
    assert [run["start"] for run in resumed.json["runs"]] == names
    assert resumed.json["runs"][2]["payoffs"] == done.json["runs"][2]["payoffs"]
    for options, words in (
        (("--start", "uniform"), f"begun with --start {file} uniform -, now it is uniform"),
        (("--pair", "b3,d2"), "add --figures"),
    ):
        refused("simulate", "--resume", "again", *options, words=words, cwd=trajectories)


def test_hand_by_hand_play_is_simulated(tmp_path: Path) -> None:
    done = accepted(
        *("simulate", "--game", "skp(pot=2.5)", "--model", "hands", "--remember", "10"),
        *("--starts", "1", "--duration", "20"),
        cwd=tmp_path,
    )
    assert "10 hands" in done.out
    assert "skp:1" in done.out


@pytest.mark.parametrize("game", ["kuhn2", "shapley"])
def test_other_games_are_simulated(tmp_path: Path, game: str) -> None:
    done = accepted("simulate", "--game", game, "--starts", "1", "--duration", "50", cwd=tmp_path)
    assert "Profits" in done.out


def _interrupted(folder: Path, solver: str, times: int) -> tuple[int, str, str]:
    """Code and output of a simulation that got so many signals while it followed a trajectory."""
    asked = ("--plugin", DRIFTING, "--solver", solver, "--duration", "20", "--out", "out")
    with started("simulate", "--game", "kuhn2", "--json", *asked, cwd=folder) as process:
        assert wait_for((folder / "following").exists)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.readline()
        for _ in range(times - 1):
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert said == "ending this part; Ctrl-C again discards it\n"
    return process.returncode, out, err


def test_interrupt_keeps_what_was_computed(tmp_path: Path) -> None:
    code, out, err = _interrupted(tmp_path, "drifting(delay_s=600, mark=following)", 1)
    assert code == 130, err
    assert err == "interrupted; go on with:\n  eqbench simulate --resume out\n"
    document = json.loads(out)
    assert not document["finished"]
    assert [run["interrupted"] for run in document["runs"]] == [True]
    assert (tmp_path / "out/points.csv").exists()


def test_second_interrupt_ends_at_once_and_leaves_valid_files(tmp_path: Path) -> None:
    code, out, err = _interrupted(tmp_path, "drifting(delay_s=600, deaf=true, mark=following)", 2)
    assert (code, out, err) == (130, "", "interrupted; results in out\n")
    document = json.loads((tmp_path / "out/summary.json").read_text())
    assert (document["finished"], document["runs"]) == (False, [])
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"manifest.json", "summary.json"}


ALPHA = "P1|1:|bet"


@pytest.fixture(scope="module")
def ranges(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Player 1's payoff and bluffs, in the folder ``run``."""
    return eqbench_here(
        *("ranges", "--game", "kuhn2", "--of", "P1", "--of", ALPHA, "-j", "2"),
        *("--timeout", "20", "--out", "run"),
        cwd=tmp_path_factory.mktemp("place"),
    )


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["quantity"]: row for row in document["quantities"]}


def test_ranges_are_those_of_the_published_family(ranges: Ended) -> None:
    # Kuhn 1950: the value is -1/18, and player 1 bets the lowest card up to a third of the time
    assert ranges.code == 0, ranges.err
    for word in (ALPHA, "0.333333", "-0.0555556", "equal", "not a theorem", "closed: 4 of 4"):
        assert word in " ".join(ranges.out.split())
    names = {"manifest.json", "records.jsonl", "summary.json", "run"}
    names |= {"ranges.md", "ranges.csv", "ranges.tex"}
    assert {file.name for file in (ranges.folder / "run").iterdir()} == names
    document = json.loads((ranges.folder / "run" / "summary.json").read_text())
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


def test_resumed_ranges_run_only_what_is_new(ranges: Ended) -> None:
    lines = ranges.folder / "run" / "run" / "runs.jsonl"
    options = ("ranges", "--resume", "run", "--payoffs", "--json", "-q")
    more = accepted(*options, cwd=ranges.folder)
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
    lines = tmp_path / "run" / "run" / "runs.jsonl"
    assert wait_for(lambda: runner.poll() is not None or (lines.exists() and lines.read_text()))
    runner.send_signal(signal.SIGINT)
    out, err = runner.communicate(timeout=PATIENCE_S)
    assert runner.returncode == 130, err
    assert "1 of 4" in err
    assert "1 of 4" in out
    assert (tmp_path / "run" / "ranges.md").exists()


GAME = "matrix(name=battle_of_sexes)"
MIXED = {
    "game": GAME,
    "behavior": {
        "P1": {"": {"opera": "2/3", "football": "1/3"}},
        "P2": {"": {"opera": "1/3", "football": "2/3"}},
    },
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a run of two games in ``results/first``, and ``mixed.json``."""
    cwd = tmp_path_factory.mktemp("runs")
    accepted(
        *("run", "--game", "battle_of_sexes", "--game", "kuhn2", "--seeds", "4"),
        *("--solver", "pcfr_plus(start=random)", "--out", "results/first"),
        *("--iterations", "3000"),
        cwd=cwd,
    )
    (cwd / "mixed.json").write_text(json.dumps(MIXED))
    return cwd


def crossplay(cwd: Path, *arguments: str) -> Ended:
    return accepted("crossplay", *arguments, cwd=cwd)


def test_run_with_two_pure_equilibria_and_a_file_with_the_mixed_one(runs: Path) -> None:
    done = crossplay(runs, "latest", "--game", GAME, "--profile", "mixed.json", "--json")
    document = done.json
    assert document["schema"] == "eqbench.crossplay/1"
    assert [entry["label"] for entry in document["entries"]] == ["A", "B", "C"]
    assert document["entries"][0]["source"] == "mixed.json"
    assert len(document["copies"]) == 2, "four starts lead to two equilibria"
    combinations = {"strategies": [3, 3], "count": 9, "equilibria": 3, "share": 1 / 3}
    assert document["combinations"] == combinations
    names = [entry["identity"]["name"] for entry in document["entries"]]
    assert names[0] == "matrix:battle_of_sexes:mixed"
    assert len(set(names)) == 3
    assert document["entries"][0]["payoffs"] == pytest.approx([2 / 3, 2 / 3])
    assert document["entries"][0]["max_regret"] < 1e-15
    assert document["left_out"]["same_run"] == 4, "each of four cells has iterate and average"
    for player in range(2):
        assert document["worst_cases"][player]["others_agree"]["best"] == ["A"]


def test_game_of_a_profile_is_enough_and_exact_mode_gives_fractions(runs: Path) -> None:
    document = crossplay(runs, "--profile", "mixed.json", "--exact", "--json").json
    assert document["exact"]["own"] == [{"payoffs": ["2/3", "2/3"], "regrets": ["0", "0"]}]


def test_runs_that_are_named_twice_count_once(runs: Path) -> None:
    options = ("--game", "kuhn2", "--tolerance", "1e-2", "--json")
    once = crossplay(runs, "latest", *options).json
    twice = crossplay(runs, "latest", "results/../results/first", *options).json
    assert once == twice
    assert once["combinations"]["share"] == 1, "kuhn2 is a two-player zero-sum game"
    assert len(once["entries"]) > 1


def test_several_runs_are_told_apart_by_their_folders(runs: Path) -> None:
    shutil.copytree(runs / "results/first", runs / "copies/second")
    both = crossplay(runs, "results/first", "copies/second", "--game", GAME, "--json").json
    assert [entry["source"] for entry in both["entries"]] == [
        "first: pcfr_plus(start=random)/0",
        "first: pcfr_plus(start=random)/2",
    ]
    sources = {item["source"]: item["same_as"] for item in both["copies"]}
    assert sources["second: pcfr_plus(start=random)/2"] == "B"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("latest",), "several games; choose one by --game SPEC: matrix(name=battle_of_sexes); k"),
        (("latest", "--game", "kuhn3"), "no run has cells of kuhn(players=3"),
        (("latest", "--game", GAME, "--limit", "3"), "4 combinations, above the limit of 3"),
        (
            ("latest", "--game", "kuhn2", "--tolerance", "0"),
            " in 4 cells; the smallest max regret is ",
        ),
    ],
)
def test_what_cannot_be_studied_is_refused_in_one_line(
    runs: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = eqbench_here("crossplay", *arguments, cwd=runs)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err
    assert done.err.count("\n") == 1


def test_known_equilibria_come_first_and_what_most_drops_is_told(runs: Path) -> None:
    options = ("--game", "kuhn2", "--known", "--most", "3", "--tolerance", "1e-2")
    done = crossplay(runs, "latest", *options)
    assert "by --most" in done.out
    document = crossplay(runs, "latest", *options, "--json").json
    first, second, third = document["entries"]
    assert [first["source"], second["source"]] == ["kuhn2 corner 1", "kuhn2 corner 2"]
    assert first["identity"]["name"] == "kuhn2"
    parameters = [entry["identity"]["parameters"]["alpha"] for entry in (first, second)]
    assert parameters == pytest.approx([0, 1 / 3])
    assert third["source"].startswith("pcfr_plus")
    assert sum(item["count"] for item in document["left_out"]["most"]) > 0
