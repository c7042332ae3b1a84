"""What the README shows works as it is printed there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import accepted
from helpers.command import eqbench_here as eqbench

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block(language: str, containing: str) -> str:
    """The only code block of a language that contains a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    (found,) = [text for text in blocks if containing in text]
    return found


def test_plugin_of_the_readme_appears_in_the_table(tmp_path: Path) -> None:
    plugin = block("python", "register_solver")
    code = [line for line in plugin.splitlines() if line.strip()]
    assert len(code) <= 25, "the README promises a short plugin"
    (tmp_path / "hedge.py").write_text(plugin)
    command = block("sh", "cfr_plus,hedge").split()
    assert command[0] == "eqbench"
    done = accepted(*command[1:], "--iterations", "2000", cwd=tmp_path)
    rows = [line.split()[:2] for line in done.out.splitlines()]
    assert ["hedge", "limit"] in rows


def test_game_of_the_readme_runs(tmp_path: Path) -> None:
    (tmp_path / "smuggling.py").write_text(block("python", "register_game"))
    command = block("sh", "smuggling(fine=3)").replace("--solver all", "--solver cfr_plus,lcp")
    done = accepted(*shlex.split(command)[1:], "--iterations", "2000", "--json", cwd=tmp_path)
    cells = done.json["cells"]
    assert cells[0]["game_spec"] == "smuggling(fine=3)"
    measured = [cell["max_regret"] for cell in cells if cell["status"] != "unsupported"]
    assert min(measured) < 1e-3


def test_hedge_of_the_readme_gets_better(tmp_path: Path) -> None:
    (tmp_path / "hedge.py").write_text(block("python", "register_solver"))
    regrets = []
    for iterations in ("20", "2000"):
        done = eqbench(
            *("run", "--game", "kuhn2", "--solver", "hedge", "--plugin", "hedge.py"),
            *("--iterations", iterations, "--json"),
            cwd=tmp_path,
        )
        regrets.append(done.json["cells"][0]["max_regret"])
    assert regrets[1] < 0.3 * regrets[0]


@pytest.mark.parametrize(
    ("name", "decorator"), [("hedge", "register_solver"), ("smuggling", "register_game")]
)
def test_plugins_of_the_readme_pass_their_suites(tmp_path: Path, name: str, decorator: str) -> None:
    command = shlex.split(block("sh", f"eqbench check {name}"))
    (tmp_path / command[-1]).write_text(block("python", decorator))
    few = ("--game", "kuhn2", "--game", "shapley") if name == "hedge" else ()
    done = eqbench(*command[1:], *few, cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert "0 broken" in done.out


def test_commands_on_runs_of_the_readme_are_accepted(tmp_path: Path) -> None:
    request = ("--game", "kuhn3", "--solver", "pcfr_plus", "--iterations", "5")
    eqbench("run", *request, "--out", "first", cwd=tmp_path)
    lines = block("sh", "eqbench run --resume") + block("sh", "eqbench report")
    commands = [line.split("#")[0].strip() for line in lines.splitlines()]
    assert len(commands) == 8
    for command in commands:
        few = ("--iterations", "5") if "run --game" in command else ()
        done = eqbench(*shlex.split(command)[1:], *few, cwd=tmp_path)
        assert done.code == 0, (command, done.err)


def test_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    example = block("python", "eqbench.solve(")
    done = subprocess.run(
        [sys.executable, "-"],
        input=example,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *answer, frequency, figures, nash_conv, unknown = done.stdout.splitlines()
    assert "reached the target" in answer[0]
    assert 0 <= float(frequency) <= 1
    assert figures.startswith("ok ")
    assert "szafron:" in figures
    assert (tmp_path / "regret.svg").exists()
    assert float(nash_conv) > 1
    assert unknown == "None"


@pytest.mark.parametrize(
    "line",
    [
        line.split("#")[0].strip()
        for line in block("sh", "eqbench info games").splitlines()
        if line.startswith("eqbench run")
    ],
)
def test_run_commands_of_the_readme_are_accepted(tmp_path: Path, line: str) -> None:
    if ".efg" in line:  # the line before writes the file
        export = "eqbench export kuhn3 kuhn3.efg"
        assert export in block("sh", "eqbench info games")
        assert eqbench(*shlex.split(export)[1:], cwd=tmp_path).code == 0
    accepted(*shlex.split(line)[1:], "--dry-run", cwd=tmp_path)
