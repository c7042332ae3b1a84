"""What the README shows works as it is printed there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from helpers.command import accepted

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block(language: str, containing: str) -> str:
    """The only code block of a language that contains a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    (found,) = [text for text in blocks if containing in text]
    return found


def test_first_comparison_finds_what_is_printed_and_its_run_takes_the_commands(
    tmp_path: Path,
) -> None:
    first = accepted(*shlex.split(block("sh", "--out first"))[1:], "--json", cwd=tmp_path)
    printed = dict(line.split(maxsplit=1) for line in block("text", "semismooth").splitlines()[1:4])
    assert printed.keys() == {cell["solver"] for cell in first.json["cells"]}
    for cell in first.json["cells"]:
        status, regret, *_ = words = printed[cell["solver"]].split()
        assert status == cell["status"]
        assert cell["equilibria"][0]["identity"]["name"] == words[3]
        assert float(regret) < 1e-15 or f"{cell['max_regret']:.1e}" == regret
    for line in block("sh", "eqbench show first").splitlines():
        words = shlex.split(line.split("#")[0])
        # long ones are only planned
        dry = ["--dry-run"] if words[1] == "run" else []
        if words[1] in ("show", "report", "info", "run"):
            accepted(*words[1:], *dry, cwd=tmp_path)


def test_python_example_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-"],
        input=block("python", "eqbench.solve("),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *answer, frequency, figures, nash_conv, unknown = done.stdout.splitlines()
    assert "reached" in answer[0]
    assert 0 <= float(frequency) <= 1
    assert figures.startswith("ok ")
    assert "szafron:" in figures
    assert (tmp_path / "regret.svg").exists()
    assert float(nash_conv) > 1
    assert unknown == "None"
