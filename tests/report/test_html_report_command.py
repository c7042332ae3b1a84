"""`eqbench report --format html`: where the page goes, and what the command adds to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from helpers.pages import KUHN3, read_page
from helpers.runs import cell, write_run

from eqbench.cli import app
from eqbench.cli.report import page_file
from eqbench.errors import UsageError
from eqbench.harness.experiment import Experiment, Request, experiment_text, read_experiment
from eqbench.model.words import situation
from eqbench.report.html.document import Command
from eqbench.report.html.page import about
from eqbench.report.writing import game_facts
from eqbench.store.stored_run import read_run


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", cell("01"))


def test_page_goes_to_the_folder_of_the_run(run: Path) -> None:
    result = report(run, "--format", "html")
    assert (result.stdout, result.stderr) == ("", f"wrote {run / 'report.html'}\n")
    assert page_file(("html",), None, (str(run),)) == run / "report.html"
    assert page_file(("terminal",), None, (str(run),)) is None
    assert page_file(("html",), "folder", (str(run),)) is None
    with pytest.raises(UsageError, match="--out"):
        page_file(("html",), None, (str(run), "other"))


def test_page_goes_to_the_file_that_is_named(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "page.html"
    result = report(run, "--format", "html", "--out", file)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert result.stderr == f"wrote {file}\n"
    assert read_page(file.read_text(encoding="utf-8")).all("table")


def test_page_stands_beside_other_formats_in_a_folder(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert report(run, "--format", "html,csv", "--out", out).exit_code == 0
    assert sorted(file.name for file in out.iterdir()) == ["report.csv", "report.html"]


def test_facts_are_those_of_built_in_games_only(tmp_path: Path) -> None:
    specs = [KUHN3, "kuhn(players=2)", "no_such_game", "kuhn(players=99)", "gone.efg"]
    facts = dict(game_facts(specs))
    assert list(facts) == [KUHN3, "kuhn(players=2)"]
    assert facts[KUHN3].payoff_scale == 6.0


def test_ends_of_the_family_are_as_published() -> None:
    """Szafron, Gibson and Sturtevant (2013), Table 3: β runs from 0 to 1/4 in every sub-family."""
    facts = dict(game_facts([KUHN3, "kuhn2"]))
    published = facts[KUHN3].ends
    assert len(published) == 3
    for ends in published.values():
        low, high = sorted(ends)
        assert low == pytest.approx((-1.5 / 48, -1 / 48, 1.25 / 24), abs=1e-12)
        assert high == pytest.approx((-1 / 48, -1 / 48, 1 / 24), abs=1e-12)
    (ends,) = facts["kuhn2"].ends.values()  # one point, the value -1/18 (Kuhn 1950)
    assert ends == (pytest.approx((-1 / 18, 1 / 18)),)


def test_page_has_the_experiment_that_repeats_a_run(run: Path) -> None:
    few = commands_of(run)  # it is older than experiments
    parts = (Request(("kuhn2",), ("cfr",)), Request(("kuhn3",), ("all",), timeout_s=2.5))
    file = run / "manifest.toml"
    file.write_text(experiment_text(Experiment(parts)), encoding="utf-8")
    commands = commands_of(run)
    assert commands["the same run again"] == f"eqbench run {file}"
    file.write_text(commands["which is this experiment"], encoding="utf-8")
    assert read_experiment(file).parts == parts
    file.write_bytes(b"\xff")
    assert commands_of(run).keys() == few.keys() < commands.keys()


def commands_of(run: Path) -> dict[str, str]:
    return {part.label: part.text for part in about(read_run(run)) if isinstance(part, Command)}


def test_sources_and_symbols_of_published_sets_are_handed_over() -> None:
    """Szafron, Gibson and Sturtevant (2013), Table 3: β is b21 where c11 = 0, else b11."""
    facts = dict(game_facts([KUHN3, "kuhn(players=2)"]))
    (source, *symbols) = facts[KUHN3].sources.items()
    assert source[0].startswith("Szafron, Gibson")
    first, inner, last = (f"szafron:{name}" for name in ("c11=0", "0<c11<1/2", "c11=1/2"))
    (c11, of_c11), (beta, of_beta) = symbols
    assert set(of_c11) == set(of_beta) == {first, inner, last}
    assert c11 == "c11 is how often P3 bets with J after check–check"
    assert beta.startswith("β is how often player 2 bluffs")
    assert situation("2:KB", facts[KUHN3].wording).private == "Q"
    (_, alpha) = facts["kuhn(players=2)"].sources
    assert alpha.startswith("α is how often player 1 bluffs with J")
