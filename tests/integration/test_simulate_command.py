"""`eqbench simulate` as users run it: runs, files, figures of the verifier, and refusals."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from command import PATIENCE_S, PLUGINS, accepted, refused, started, wait_for

import eqbench as package
from eqbench.studies.flow.points import read_points

REGIMES = {"periodic", "quasi_periodic", "chaotic_transient", "boundary_absorption", "undecided"}
DRIFTING = PLUGINS / "drifting.py"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with trajectories of SKP at two pots in ``skp``."""
    cwd = tmp_path_factory.mktemp("place")
    done = accepted(
        *("simulate", "--game", "skp", "--at", "2.5", "--at", "3.75", "--starts", "2"),
        *("--duration", "300", "--out", "skp", "--json"),
        cwd=cwd,
    )
    assert done.json == json.loads((cwd / "skp/summary.json").read_text())
    return cwd


def test_runs_have_the_keys_that_programs_rely_on(place: Path) -> None:
    document = json.loads((place / "skp/summary.json").read_text())
    assert document["schema"] == "eqbench.simulation/1"
    assert document["finished"]
    # Billingham (2017, equations 22 to 24)
    assert [value["rate"] for value in document["values"]] == [24, 24]
    assert len(document["runs"]) == 4
    for run in document["runs"]:
        assert run["regime"] in REGIMES
        assert run["reason"]
        assert run["time"] == 300
        assert isinstance(run["lyapunov"], float)
        assert 0 <= run["near_face_fraction"] <= 1
        assert sum(run["payoffs"]) == pytest.approx(0, abs=1e-9)
        assert {*run["to_zero"], *run["to_one"]} <= {*document["names"]}


def test_profits_are_close_to_those_of_the_stable_solution(place: Path) -> None:
    """Billingham 2017, section 4: close to Solution 1 for P < 3, and to 5 for 7/2 < P < 4."""
    document = json.loads((place / "skp/summary.json").read_text())
    for run in document["runs"]:
        nearest = "skp:1" if run["parameter"] == 2.5 else "skp:5"
        window = run["windows"][run["longest_window"]]
        assert window["nearest"] == [nearest]
        assert window["gap"] < 0.005


def test_profile_in_a_file_is_a_start_that_is_called_by_its_name(place: Path) -> None:
    document = json.loads((place / "skp/summary.json").read_text())
    file = f"skp/{document['runs'][0]['profiles']['start']['profile']}"
    done = accepted(
        *("simulate", "--game", "skp(pot=2.5)", "--start", file, "--start", "uniform"),
        *("--start", "-", "--duration", "20", "--out", "again", "--json"),
        cwd=place,
        stdin=(place / file).read_text(),
    )
    names = [Path(file).name, "uniform", "standard input"]
    assert [run["start"] for run in done.json["runs"]] == names
    one, other = (
        read_points(package.load_game("skp"), place / folder / "points.csv")[0]
        for folder in ("skp", "again")
    )
    # a profile rounds the log-odds
    assert other.behavior == pytest.approx(one.behavior[: len(other.times)], abs=1e-8)
    # what was read stays in the folder
    records = place / "again/records.jsonl"
    records.write_text("".join(records.read_text().splitlines(keepends=True)[:2]))
    resumed = accepted("simulate", "--resume", "again", "--json", cwd=place, stdin="")
    assert [run["start"] for run in resumed.json["runs"]] == names
    assert resumed.json["runs"][2]["payoffs"] == done.json["runs"][2]["payoffs"]
    for options, words in (
        (("--start", "uniform"), f"begun with --start {file} uniform -, now it is uniform"),
        (("--pair", "b3,d2"), "add --figures"),
    ):
        refused("simulate", "--resume", "again", *options, words=words, cwd=place)


def test_hand_by_hand_play_is_simulated(tmp_path: Path) -> None:
    done = accepted(
        *("simulate", "--game", "skp(pot=2.5)", "--model", "hands", "--remember", "10"),
        *("--starts", "1", "--duration", "20"),
        cwd=tmp_path,
    )
    assert "players remember 10 hands" in done.out
    assert "skp:1" in done.out


@pytest.mark.parametrize("game", ["kuhn2", "shapley"])
def test_other_games_are_simulated(tmp_path: Path, game: str) -> None:
    done = accepted("simulate", "--game", game, "--starts", "1", "--duration", "50", cwd=tmp_path)
    assert "Profits per unit of time" in done.out


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
