"""Figures as PDF of a width in cm, from Python and from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers.command import eqbench_here
from helpers.pages import page_run

import eqbench
from eqbench.errors import UsageError


def width_of(pdf: bytes) -> float:
    """Width of the only page of a PDF in cm."""
    (box,) = re.findall(rb"/MediaBox ?\[([^\]]*)\]", pdf)
    left, _, right, _ = map(float, box.split())
    return (right - left) / 72 * 2.54


@pytest.mark.parametrize("name", ["regret", "targets"])
@pytest.mark.parametrize("width_cm", [8.5, 17])
def test_pdf_is_as_wide_as_it_was_wanted(name: str, width_cm: float, tmp_path: Path) -> None:
    run = eqbench.load_run(page_run(tmp_path / "run"))
    file = run.figure(name).save(tmp_path / "x.pdf", width_cm=width_cm)  # type: ignore[arg-type]
    assert file.read_bytes().startswith(b"%PDF")
    assert width_of(file.read_bytes()) == pytest.approx(width_cm, abs=0.01)


def test_width_belongs_to_pdf_and_has_bounds(tmp_path: Path) -> None:
    chart = eqbench.load_run(page_run(tmp_path / "run")).figure("regret")
    assert chart.save(tmp_path / "any.pdf").read_bytes().startswith(b"%PDF")
    for name, width_cm in (("x.svg", 8.5), ("x.pdf", 0.1), ("x.pdf", 1e9), ("x.pdf", float("nan"))):
        with pytest.raises(UsageError, match="width"):
            chart.save(tmp_path / name, width_cm=width_cm)
    with pytest.raises(UsageError, match=r"saved as \.pdf"):
        chart.save(tmp_path / "x.eps")
    assert {file.name for file in tmp_path.iterdir()} == {"run", "any.pdf"}


def test_command_writes_a_figure_for_each_game_and_replaces_only_its_own(tmp_path: Path) -> None:
    page_run(tmp_path / "run")
    words = ("report", "run", "--figures", "regret,targets", "--out", "own", "--width-cm", "8.5")
    done = eqbench_here(*words, cwd=tmp_path)
    assert (done.code, done.out) == (0, ""), done.err
    files = sorted((tmp_path / "own").iterdir())
    assert [file.name for file in files][-1] == "targets.pdf"
    assert {"regret-kuhn2.pdf", "regret-kuhn3.pdf"} <= {file.name for file in files}
    assert all(width_of(file.read_bytes()) == pytest.approx(8.5, abs=0.01) for file in files)
    assert eqbench_here(*words, "--game", "kuhn3", cwd=tmp_path).code == 0
    assert (tmp_path / "own" / "regret.pdf").exists()
    (tmp_path / "own" / "targets.pdf").write_bytes(b"%PDF of somebody else")
    refused = eqbench_here(*words, cwd=tmp_path)
    assert (refused.code, "no report of eqbench" in refused.err) == (2, True)


def test_figures_come_with_reports_that_are_requested(tmp_path: Path) -> None:
    page_run(tmp_path / "run")
    words = ("report", "run", "--figures", "targets", "--format", "tex,csv", "--out", "own")
    assert eqbench_here(*words, cwd=tmp_path).code == 0
    names = {file.name for file in (tmp_path / "own").iterdir()}
    assert names == {"targets.pdf", "report.tex", "report.csv"}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--figures", "regrets", "--out", "own"), "did you mean regret"),
        (("--figures", "regret"), "--out DIR"),
        (("--figures", "regret", "--out", "-"), "--out DIR"),
        (("--figures", "regret", "--out", "own", "--width-cm", "1"), "from 4 to 100"),
        (("--width-cm", "8.5"), "say which"),
    ],
)
def test_wrong_figures_are_refused(words: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    page_run(tmp_path / "run")
    done = eqbench_here("report", "run", *words, cwd=tmp_path)
    assert (done.code, hint in done.err) == (2, True), done.err
