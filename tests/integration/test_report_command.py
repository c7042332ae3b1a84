"""`eqbench report` on real runs: what `run` printed again, and in the other formats."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest
from helpers.command import accepted, refused
from helpers.command import eqbench_here as eqbench


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Folder with one run in ``results/first``, and the table that the run printed."""
    cwd = tmp_path_factory.mktemp("place")
    done = accepted(
        *("run", "--game", "kuhn2", "--game", "kuhn3", "--solver", "cfr_plus,mccfr"),
        *("--seeds", "2", "--iterations", "300", "--out", "results/first"),
        cwd=cwd,
    )
    return cwd, done.out


def test_report_prints_the_table_of_the_run(place: tuple[Path, str]) -> None:
    cwd, printed = place
    for names in (["results/first"], ["latest"], ["latest", "results/../results/first"]):
        done = eqbench("report", *names, cwd=cwd)
        assert (done.code, done.out) == (0, printed)


@pytest.mark.parametrize("form", ["csv", "html", "md,csv"])
def test_columns_are_refused_where_all_are_written(place: tuple[Path, str], form: str) -> None:
    words = ("report", "latest", "--columns", "payoffs", "--format", form, "--out", "w")
    refused(*words, words="--columns", cwd=place[0])
    assert not (place[0] / "w").exists()


def test_quiet_run_prints_no_table_and_makes_none(
    place: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cwd, _ = place
    made: list[object] = []
    monkeypatch.setattr("eqbench.report.cells.report_on", lambda *given, **more: made.append(given))
    done = eqbench("run", "--resume", "results/first", "-q", cwd=cwd)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert made == []


def test_every_format_goes_to_a_file_of_its_own(place: tuple[Path, str]) -> None:
    cwd, _ = place
    done = eqbench(
        *("report", "latest", "--format", "terminal,md,csv,tex", "--out", "deep/report"), cwd=cwd
    )
    assert (done.code, done.out) == (0, "")
    folder = cwd / "deep/report"
    for suffix in ("txt", "md", "csv", "tex"):
        assert f"wrote deep/report/report.{suffix}" in done.err
    for name in ("md", "csv", "tex"):
        alone = eqbench("report", "latest", "--format", name, cwd=cwd)
        assert alone.out == (folder / f"report.{name}").read_text()
    rows = list(csv.DictReader(io.StringIO((folder / "report.csv").read_text())))
    assert [(row["game"], row["solver"], row["seed"]) for row in rows] == [
        (game, solver, seed)
        for game in ("kuhn2", "kuhn3")
        for solver, seed in (("cfr_plus", ""), ("mccfr", "0"), ("mccfr", "1"))
    ]
    assert all(row["iterations"] == "300" for row in rows)


def test_summary_has_one_row_per_game_and_solver(place: tuple[Path, str]) -> None:
    done = eqbench("report", "latest", "--summary", "--format", "csv", cwd=place[0])
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["game"], row["solver"], row["cells"]) for row in rows] == [
        ("kuhn2", "cfr_plus", "1"),
        ("kuhn2", "mccfr", "2"),
        ("kuhn3", "cfr_plus", "1"),
        ("kuhn3", "mccfr", "2"),
    ]
    assert all(float(row["par2_elapsed_s"]) == 20 for row in rows), "none of them converged"


def test_equilibria_of_a_run_are_counted_alike_in_all_formats(tmp_path: Path) -> None:
    ran = accepted(
        *("run", "--game", "battle_of_sexes", "--game", "minimum_effort"),
        *("--solver", "pcfr_plus(start=random)", "--seeds", "2", "-j", "2", "--out", "run"),
        cwd=tmp_path,
    )
    assert eqbench("report", "run", cwd=tmp_path).out == ran.out
    eqbench("report", "run", "--format", "terminal,md,csv,tex", "--out", "report", cwd=tmp_path)
    text = {file.suffix: file.read_text() for file in (tmp_path / "report").iterdir()}
    rows = csv.DictReader(io.StringIO(text[".csv"]))
    found = Counter((row["game"], row["equilibrium"]) for row in rows)
    assert {name.rpartition(":")[0] for _, name in found} == {"matrix:battle_of_sexes", "cluster"}
    lines = text[".txt"].splitlines()
    for game in ("battle_of_sexes", "minimum_effort"):
        below = lines.index(f"{game}: equilibria found")
        names = [name for known, name in found if known == game]
        while not lines[below].startswith("equilibrium "):
            below += 1
        rows_below = [line.split() for line in lines[below + 1 : below + 1 + len(names)]]
        assert {row[0] for row in rows_below} == set(names)
        for name, *_, count in rows_below:
            assert count == f"{found[game, name]}/2"
    for suffix in (".md", ".tex"):
        assert text[suffix].count("equilibria found") == 2
    summarized = eqbench("report", "run", "--summary", "--format", "csv", cwd=tmp_path).out
    first, second = csv.DictReader(io.StringIO(summarized))
    counted = json.loads(first["equilibria"]) | json.loads(second["equilibria"])
    assert counted == {name: count for (_, name), count in found.items()}


def test_latest_without_any_run_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    refused("report", "latest", words="there is no run in", cwd=tmp_path)
