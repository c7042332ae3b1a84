"""`eqbench crossplay` on real runs, files and known families."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from command import Ended, accepted, eqbench_here

GAME = "matrix(name=battle_of_sexes)"
MIXED = {
    "game": GAME,
    "behavior": {
        "P1": {"": {"opera": "2/3", "football": "1/3"}},
        "P2": {"": {"opera": "1/3", "football": "2/3"}},
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a run of two games in ``results/first``, and ``mixed.json``."""
    cwd = tmp_path_factory.mktemp("place")
    accepted(
        *("run", "--game", "battle_of_sexes", "--game", "kuhn2", "--seeds", "4"),
        *("--solver", "pcfr_plus(start=random)", "--out", "results/first"),
        *("--iterations", "3000"),
        cwd=cwd,
    )
    (cwd / "mixed.json").write_text(json.dumps(MIXED))
    return cwd


def study(cwd: Path, *arguments: str) -> Ended:
    return accepted("crossplay", *arguments, cwd=cwd)


def test_run_with_two_pure_equilibria_and_a_file_with_the_mixed_one(place: Path) -> None:
    done = study(place, "latest", "--game", GAME, "--profile", "mixed.json", "--json")
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


def test_printed_figures_and_written_files_are_those_of_json(place: Path) -> None:
    arguments = ("results/first", "--game", "battle_of_sexes")
    done = study(place, *arguments, "--out", "deep/study")
    assert "2 of 4 combinations of different strategies are equilibria (50.0%)." in done.out
    assert "results in deep/study" in done.err
    stored = json.loads((place / "deep/study/summary.json").read_text())
    assert stored == study(place, *arguments, "--json").json
    with (place / "deep/study/combinations.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 4


def test_game_of_a_profile_is_enough_and_exact_mode_gives_fractions(place: Path) -> None:
    document = study(place, "--profile", "mixed.json", "--exact", "--json").json
    assert document["exact"]["own"] == [{"payoffs": ["2/3", "2/3"], "regrets": ["0", "0"]}]


def test_runs_that_are_named_twice_count_once(place: Path) -> None:
    options = ("--game", "kuhn2", "--tolerance", "1e-2", "--json")
    once = study(place, "latest", *options).json
    twice = study(place, "latest", "results/../results/first", *options).json
    assert once == twice
    assert once["combinations"]["share"] == 1, "kuhn2 is a two-player zero-sum game"
    assert len(once["entries"]) > 1


def test_several_runs_are_told_apart_by_their_folders(place: Path) -> None:
    shutil.copytree(place / "results/first", place / "copies/second")
    both = study(place, "results/first", "copies/second", "--game", GAME, "--json").json
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
    place: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = eqbench_here("crossplay", *arguments, cwd=place)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err
    assert done.err.count("\n") == 1


def test_known_equilibria_come_first_and_what_most_drops_is_told(place: Path) -> None:
    options = ("--game", "kuhn2", "--known", "--most", "3", "--tolerance", "1e-2")
    done = study(place, "latest", *options)
    assert "by --most" in done.out
    document = study(place, "latest", *options, "--json").json
    first, second, third = document["entries"]
    assert [first["source"], second["source"]] == ["kuhn2 corner 1", "kuhn2 corner 2"]
    assert first["identity"]["name"] == "kuhn2"
    parameters = [entry["identity"]["parameters"]["alpha"] for entry in (first, second)]
    assert parameters == pytest.approx([0, 1 / 3])
    assert third["source"].startswith("pcfr_plus")
    assert sum(item["count"] for item in document["left_out"]["most"]) > 0


def test_without_a_folder_nothing_is_left_behind(place: Path) -> None:
    before = sorted(place.rglob("*"))
    done = study(place, "--game", "kuhn2", "--known")
    assert "results in" not in done.err
    assert sorted(place.rglob("*")) == before
