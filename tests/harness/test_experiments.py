"""Experiments in files: what they mean, how they are written, and which mistakes are named."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from helpers.command import accepted
from helpers.command import eqbench_here as eqbench
from hypothesis import given
from hypothesis import strategies as st
from schemas import experiment_schema

import eqbench as package
from eqbench.cli import app
from eqbench.errors import UsageError
from eqbench.harness.experiment import (
    Experiment,
    Request,
    experiment_text,
    read_experiment,
    shipped,
)
from eqbench.harness.run import ActiveRun, solving_s
from eqbench.registry import default_registry
from eqbench.requests import fields_of
from eqbench.spec import is_foreign
from eqbench.store.stored_run import read_run

PARTS = """
name = "two parts"
report = ["md"]
timeout = 2
game = "kuhn2"

[[part]]
solver = ["lcp", { name = "arclength", epsilon = [1e-7, 1e-9], starts = 0 }]

[[part]]
game = [{ name = "kuhn", players = 2, cards = "3..4" }]
solver = ["cfr_plus"]
seeds = 3
timeout = 0.5
memory = "500MB"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "experiment.toml").write_text(text)
    return folder / "experiment.toml"


def test_parts_have_what_stands_at_the_top_unless_they_say_otherwise(tmp_path: Path) -> None:
    experiment = read_experiment(written(tmp_path, PARTS))
    first, second = experiment.parts
    assert (experiment.name, experiment.report) == ("two parts", ("md",))
    assert first.games == ("kuhn2",)
    assert first.solvers == (
        "lcp",
        "arclength(epsilon=1/10000000,starts=0)",
        "arclength(epsilon=1/1000000000,starts=0)",
    )
    assert (first.timeout_s, first.seeds) == (2.0, 1)
    assert second.games == ("kuhn(players=2,cards=3)", "kuhn(players=2,cards=4)")
    assert (second.timeout_s, second.seeds, second.memory_bytes) == (0.5, 3, 500_000_000)


@given(
    seeds=st.integers(1, 9),
    timeout_s=st.floats(0.1, 100),
    memory_bytes=st.sampled_from([2**30, 500_000_000, 2**27]),
    iterations=st.none() | st.integers(1, 2**40),
    target=st.none() | st.floats(0, 1),
)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, **limits: object
) -> None:
    part = replace(Request(("kuhn2", "skp(pot=7/2)"), ("lcp", "all")), **limits)  # type: ignore[arg-type]
    for parts in ((part,), (part, replace(part, jobs=2, solvers=("cfr",)))):
        experiment = Experiment(parts, "a name", ("csv",))
        file = written(tmp_path_factory.mktemp("written"), experiment_text(experiment))
        assert read_experiment(file) == experiment


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('gane = ["kuhn2"]\nsolver = ["lcp"]', 1, "did you mean game"),
        ('game = ["kuhn2"]\nsolver = ["lcp"]\nseeds = "three"', 3, "not an integer"),
        ('game = ["kuhn2"]\nsolver = ["lcp"]\nseeds = 0', 3, "not in the range"),
        ('game = ["kuhn2"]\nsolver = ["lcpp"]', 2, "unknown solver 'lcpp'"),
        ('game = ["kuhn2x"]\nsolver = ["lcp"]', 1, "unknown game 'kuhn2x'"),
        ('game = ["kuhn2"]\nsolver = [{ name = "arclength", epsilon = [] }]', 2, "is empty"),
        ('game = ["kuhn2"]\nsolver = [{ name = "random", seed = "5..1" }]', 2, "not a range"),
        ('game = ["kuhn2"]\nsolver = [3]', 2, "neither a text nor a table"),
        ('game = ["kuhn2"]\n\n[[part]]\nsolver = ["lcp"]\n\n[[part]]\nsolver = []', 7, "empty"),
        ('game = ["kuhn2"]\n\n[[part]]\nsolver = ["lcp"]\nreport = ["md"]', 5, "unknown key"),
        ('game = ["kuhn2"]\nsolver = ["lcp"]\nreport = ["pdf"]', 3, "not a list of some of"),
        ('schema = "eqbench.experiment/9"\ngame = ["kuhn2"]', 1, "another format"),
        ('game = ["kuhn2"\n', None, "at end of document"),
        ('solver = ["lcp"]', None, "'game' is missing"),
    ],
)
def test_mistakes_are_named_with_file_and_line(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_experiment(file)
    where = str(file) if line is None else f"{file}, line {line}: "
    assert str(caught.value).startswith(where)
    assert words in str(caught.value)
    done = CliRunner().invoke(app, ["run", str(file)])
    assert isinstance(done.exception, UsageError)


def test_files_of_plugins_are_found_beside_the_experiment(tmp_path: Path) -> None:
    text = 'game = ["kuhn2"]\nsolver = ["mine"]\nplugin = ["mine.py"]\n'
    code = "@eqbench.register_solver('mine')\nclass Mine: ...\n"
    (tmp_path / "mine.py").write_text(f"import eqbench\n\n\n{code}")
    (part,) = read_experiment(written(tmp_path, text)).parts
    assert part.plugins == (str(tmp_path / "mine.py"),)


def test_files_of_games_count_from_the_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "games").mkdir()
    for name in ("mine.efg", "with, comma.nfg"):
        (tmp_path / "games" / name).touch()
    text = """game = ["kuhn2", "games/mine.efg,'games/with, comma.nfg'"]\nsolver = ["lcp"]"""
    monkeypatch.chdir("/")
    experiment = read_experiment(written(tmp_path, text))
    folder = tmp_path / "games"
    assert experiment.parts[0].games == ("kuhn2", f'{folder}/mine.efg,"{folder}/with, comma.nfg"')
    # a manifest is read elsewhere than it was typed
    assert read_experiment(written(tmp_path, experiment_text(experiment))) == experiment
    monkeypatch.chdir(tmp_path)
    typed = Experiment((Request(("games/mine.efg",), ("lcp",)),))
    assert f'"{folder}/mine.efg"' in experiment_text(typed)


def test_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "marked.toml"
    file.write_text('game = "kuhn2"\nsolver = "lcp"', encoding="utf-8-sig")
    assert read_experiment(file).parts[0].games == ("kuhn2",)


def test_shipped_experiments_can_be_read_and_are_listed() -> None:
    listed = CliRunner().invoke(app, ["info", "experiments"]).output
    for name, file in shipped().items():
        experiment = read_experiment(file)
        row = next(line for line in listed.splitlines() if line.startswith(f"{name} "))
        assert experiment.takes in row
        assert f" {experiment.sizes()['games']} " in row
        for spec in itertools.chain.from_iterable(part.games for part in experiment.parts):
            if not is_foreign(spec):
                default_registry().describe_game(spec)


def test_an_experiment_takes_at_most_the_limits_of_the_cells_of_its_plan(tmp_path: Path) -> None:
    experiment = read_experiment(
        written(tmp_path, PARTS.replace('"cfr_plus"', '"cfr_plus", "mccfr"'))
    )
    with ActiveRun(experiment) as planned:
        sizes = experiment.sizes()
        assert (sizes["games"], sizes["solvers"]) == (3, 5)
        limits = [part.timeout_s for part in experiment.parts]
        assert len(planned.cells) * min(limits) <= sizes["most_seconds"] <= 30


def test_cells_are_expected_to_take_as_long_as_others_or_as_their_limits() -> None:
    def cell(spec: str, **fields: Any) -> Any:
        names = SimpleNamespace(game_spec="game", solver_spec=spec)
        request, loaded = SimpleNamespace(timeout_s=7.0), SimpleNamespace(problem=None)
        return SimpleNamespace(**({"id": names, "request": request, "solver": loaded} | fields))

    broken = cell("b", solver=SimpleNamespace(problem=("unavailable", "")))
    cells = [cell("a"), cell("a"), cell("b"), broken]
    assert solving_s(cells, 1) == 21.0
    assert solving_s(cells, 100) == 7.0
    ended: Any = [SimpleNamespace(game_spec="game", solver_spec="a", elapsed_s=s) for s in (1, 2)]
    assert solving_s(cells, 1, ended) == 10.0


def test_schema_has_every_key_of_an_experiment() -> None:
    properties = experiment_schema()["properties"]
    assert {field.name for field in fields_of(Request)} <= set(properties)
    assert set(properties["part"]["items"]["properties"]) < set(properties)


def test_experiment_is_run_once_and_its_manifest_repeats_it(tmp_path: Path) -> None:
    text = PARTS.replace("0.5", "5").replace("seeds = 3", "iterations = 100")
    written(tmp_path, text)
    options = ("run", "experiment.toml", "--json")
    first = accepted(*options, cwd=tmp_path)
    folder = tmp_path / "results" / "experiment"
    lines = (folder / "runs.jsonl").read_text()
    assert len(first.json["cells"]) == 5
    assert (folder / "report.md").exists()
    again = eqbench(*options, cwd=tmp_path)
    assert "all 5 cells" in again.err
    assert (folder / "runs.jsonl").read_text() == lines
    assert not (folder / "resumed.jsonl").exists()
    repeated = eqbench("run", str(folder / "manifest.toml"), "--dry-run", "--json", cwd=tmp_path)
    planned = {cell["key"] for cell in repeated.json["cells"]}
    assert planned == {cell["key"] for cell in first.json["cells"]}
    overridden = eqbench(*options[:2], "--solver", "lcp", "--dry-run", "--json", cwd=tmp_path)
    assert {cell["solver"] for cell in overridden.json["cells"]} == {"lcp"}


def test_options_are_saved_as_an_experiment(tmp_path: Path) -> None:
    options = ("--game", "kuhn2", "--solver", "lcp", "--timeout", "7", "--memory", "1GiB")
    accepted("run", *options, "--save-as", "saved.toml", cwd=tmp_path)
    (part,) = read_experiment(tmp_path / "saved.toml").parts
    assert part == Request(("kuhn2",), ("lcp",), timeout_s=7.0, memory_bytes=2**30)
    assert not (tmp_path / "results").exists()
    again = eqbench("run", *options, "--save-as", "saved.toml", cwd=tmp_path)
    assert again.code == 2
    assert "write" in again.err


def experiment_of_lcp() -> Experiment:
    return package.Experiment((package.Request(("kuhn2",), ("lcp", "sequence_lp")),))


def test_experiment_is_run_from_python_in_children(tmp_path: Path) -> None:
    experiment = replace(experiment_of_lcp(), report=("csv",))
    records = package.run(experiment, out=tmp_path / "run")
    assert (tmp_path / "run" / "report.csv").read_text().count("\n") == 3
    assert [(record.solver, record.status) for record in records] == [
        ("lcp", "ok"),
        ("sequence_lp", "ok"),
    ]
    assert len(package.load_run(tmp_path / "run").frame("cells")) == 2
    assert [*package.run(experiment, out=tmp_path / "run")] == [*records]


def test_runner_that_comes_second_goes_on_where_the_first_began(tmp_path: Path) -> None:
    experiment = replace(experiment_of_lcp(), name="shared")
    out = tmp_path / "run"
    with ActiveRun(experiment) as first, ActiveRun(experiment) as second:
        assert first.begin(out) == []
        assert second.begin(out) == []
        assert second.folder.manifest == first.folder.manifest
    with ActiveRun(replace(experiment, name="another")) as stranger, pytest.raises(UsageError):
        stranger.begin(out)
    with ActiveRun(experiment) as again, pytest.raises(UsageError, match="run"):
        again.begin(out, fresh=True)


def test_run_describes_itself_as_its_folder_does(tmp_path: Path) -> None:
    experiment = package.Experiment((package.Request(("random(actions=4,seed=1)",), ("lcp",)),))
    with ActiveRun(experiment) as run:
        run.begin(tmp_path / "run")
        assert [record.status for record in run.execute()] == ["ok"]
        stored = run.stored
    assert stored == read_run(tmp_path / "run")
    assert stored.cells[0].equilibria[0].identity["name"] == "cluster:1"
    with ActiveRun(experiment) as again:
        assert again.begin(tmp_path / "run") == ["all 1 cells are there already"]
        assert [*again.execute()] == []
        assert again.stored == stored


def test_repeats_are_cells_of_their_own_that_every_table_tells_apart(tmp_path: Path) -> None:
    options = ("--game", "kuhn2", "--solver", "lcp,mccfr", "--iterations", "9", "--seeds", "2")
    accepted("run", *options, "-q", "--out", "once", cwd=tmp_path)
    shutil.copytree(tmp_path / "once", tmp_path / "run")
    done = eqbench("run", "--resume", "run", "--repeats", "2", cwd=tmp_path)
    assert done.code == 0, done.err
    frame = package.load_run(tmp_path / "run").frame("cells")
    pairs = zip(frame["solver"], frame["seed"].fillna(-1), frame["repeat"], strict=True)
    assert [*pairs] == [
        *(("lcp", -1, 0), ("lcp", -1, 1)),
        *(("mccfr", 0, 0), ("mccfr", 0, 1), ("mccfr", 1, 0), ("mccfr", 1, 1)),
    ]
    assert frame["max_regret"].nunique() == 3  # only seeds make a difference
    assert "repeat" in done.out
    cells = [json.loads(line) for line in (tmp_path / "run/runs.jsonl").read_text().splitlines()]
    assert [cell.get("repeat") for cell in cells] == [None] * 3 + [1] * 3
    shown = eqbench("show", "run", "kuhn2/mccfr/1#1", "--json", cwd=tmp_path)
    assert shown.json["cell"]["key"] == frame["key"].iloc[-1]
    assert eqbench("show", "run", "lcp", cwd=tmp_path).code == 2  # which of the two?
    compared = eqbench("compare", "run", "once", "--json", cwd=tmp_path)
    assert (compared.code, len(compared.json["only_base"])) == (3, 3)


def test_more_threads_than_cores_are_spoken_of(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("eqbench.solver.usable_cores", lambda: 4)
    small = ("run", "--game", "kuhn2", "--solver", "cfr", "--iterations", "2", "-j", "2")
    fits = eqbench(*small, "--threads", "2", "--out", "fits", cwd=tmp_path)
    crowded = eqbench(*small, "--threads", "3", "--out", "crowded", cwd=tmp_path)
    assert (fits.code, crowded.code) == (0, 0)
    assert "cores" not in fits.err
    assert "4 cores" in crowded.err
