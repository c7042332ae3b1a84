"""`eqbench trace` as users run it: results, breaks, figures, and what it refuses."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from command import PATIENCE_S, accepted, eqbench_here, started, wait_for
from trace_cases import WINDING

SKP = ("--game", "skp", "--from", "5/2", "--to", "6")
MADE_UP = ("--game", "skp", "--from", "3", "--to", "8", "--plugin", str(WINDING))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a finished trace of SKP in ``skp``."""
    cwd = tmp_path_factory.mktemp("place")
    done = accepted("trace", *SKP, "--at", "10/3", "--out", "skp", "--json", cwd=cwd)
    assert done.json == json.loads((cwd / "skp/summary.json").read_text())
    return cwd


def test_summary_has_all_keys_and_profiles_verify(place: Path) -> None:
    document = json.loads((place / "skp/summary.json").read_text())
    keys = "schema game epsilon regularization points elapsed_s cpu_s factorizations folds at"
    assert set(keys.split()) <= document.keys()
    (entry,) = document["at"]
    keys = "parameter vertical crossings lost polished distinct_payoffs window equilibria"
    assert entry.keys() == set(keys.split())
    for item in entry["equilibria"]:
        done = eqbench_here("verify", "--profile", f"skp/{item['profile']}", "--json", cwd=place)
        assert done.json["payoffs"] == pytest.approx(item["payoffs"], abs=1e-15)
        assert max(done.json["max_regret"], item["max_regret"]) <= 5e-13
        assert done.json["identity"]["name"] == item["identity"]["name"]


def test_finished_trace_is_shown_again_and_left_alone(place: Path) -> None:
    files = [file for file in (place / "skp").iterdir() if file.is_file()]
    before = {file: file.read_bytes() for file in files}
    done = accepted("trace", "--resume", "skp", *SKP, cwd=place)
    assert "Equilibria on this branch at pot=3.33333333" in done.out
    assert {file: file.read_bytes() for file in files} == before


def test_finished_trace_is_drawn(place: Path) -> None:
    done = accepted(
        *("trace", "--resume", "skp", "--figures", "--close-up", "3.1,3.6", "--animate", "3"),
        cwd=place,
    )
    names = ["payoffs", "frequencies", "frequencies-1", "counts"]
    names += [f"bars-at1-{k}" for k in (1, 2, 3)]
    expected = {f"{name}{suffix}" for name in names for suffix in (".svg", ".png")}
    assert {file.name for file in (place / "skp/figures").iterdir()} == {*expected, "animation.gif"}
    assert done.err.count("wrote skp/figures/") == len(expected) + 1


def test_figure_that_cannot_be_drawn_is_missing_alone(tmp_path: Path) -> None:
    """Two points do not come as far as the close-up."""
    short = ("--most-points", "2", "--figures", "--close-up", "5,5.5")
    done = accepted("trace", *SKP, *short, "--out", "t", cwd=tmp_path)
    assert done.err.count("the figure payoffs is missing: there is nothing in the close-up") == 1
    names = ("counts", "frequencies", "frequencies-1")
    expected = {f"{name}{suffix}" for name in names for suffix in (".svg", ".png")}
    assert {file.name for file in (tmp_path / "t/figures").iterdir()} == expected


def test_interrupted_random_starts_are_made_up_for(tmp_path: Path) -> None:
    asked = ("trace", *SKP, "--at", "10/3", "--out", "t", "--starts", "1000000")
    with started(*asked, cwd=tmp_path) as running:
        profile = tmp_path / "t/profiles/at1-3.json"  # written before the random starts
        assert wait_for(profile.exists)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        error = running.communicate(timeout=PATIENCE_S)[1]
    assert running.returncode == 130
    assert error.endswith("interrupted; go on with:\n  eqbench trace --resume t\n")
    document = json.loads((tmp_path / "t/summary.json").read_text())
    assert (document["finished"], document["at"]) == (False, [])


def test_interrupted_trace_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = eqbench_here(
        *("trace", *MADE_UP, "--solver", "winding", "--out", "whole", "--json"), cwd=tmp_path
    )
    slow = ("--solver", "winding(delay_s=0.07)")
    with started("trace", *MADE_UP, "--out", "broken", *slow, cwd=tmp_path) as running:
        points = tmp_path / "broken/points.csv"
        # rows reach the file after a second, so that it is followed by then
        assert wait_for(lambda: points.exists() and points.stat().st_size)
        running.send_signal(signal.SIGINT)
        error = running.communicate(timeout=PATIENCE_S)[1]
    assert running.returncode == 130
    assert error.endswith("interrupted; go on with:\n  eqbench trace --resume broken\n")
    assert 0 < len(points.read_text().splitlines()) - 1 < whole.json["points"]
    done = accepted("trace", "--resume", "broken", "--json", cwd=tmp_path)
    assert points.read_bytes() == (tmp_path / "whole/points.csv").read_bytes()
    differing = {"elapsed_s": 0, "cpu_s": 0, "solver": ""}
    assert done.json | differing == whole.json | differing
