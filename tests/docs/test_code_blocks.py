"""What readers are told to type is accepted, and the tutorials come out as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from documentation import (
    PAGES,
    ROOT,
    RUN,
    blocks,
    command_faults,
    commands,
    follow,
    missing_lines,
    python_fault,
)

TUTORIALS = [page for page in PAGES if page.parent.name == "tutorial" and page.name != "index.md"]


def _has_python_to_run(page: Path) -> bool:
    found = blocks(page.read_text(encoding="utf-8"))
    return any(block.language == "python" and not block.saved_as for block in found)


# The examples of the README are run in tests/integration/test_readme.py.
WITH_PYTHON = [page for page in PAGES if page.name != "README.md" and _has_python_to_run(page)]
PEERS = {"openspiel.md": "pyspiel", "gambit.md": "pygambit"}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_of_a_page_are_accepted(page: Path, tmp_path: Path) -> None:
    assert command_faults(page, tmp_path) == []


@pytest.mark.parametrize("page", WITH_PYTHON, ids=_name)
def test_python_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    if page.name in PEERS:
        pytest.importorskip(PEERS[page.name], reason="an optional extra is not installed")
    assert python_fault(page, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=_name)
def test_tutorial_comes_out_as_printed(page: Path, tmp_path: Path) -> None:
    assert list(follow(page, tmp_path)) == []


def test_pages_are_found() -> None:
    assert len(TUTORIALS) == 3
    assert {"nash_conv.md", "one_equilibrium.md", "pandas.md"} <= {
        page.name for page in WITH_PYTHON
    }
    assert sum("eqbench" in page.read_text(encoding="utf-8") for page in PAGES) > 30


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("eqbench run --game kuhn3 --sovler cfr", "No such option"),
        ("eqbench run --game kuhn7 --solver cfr", "kuhn7"),
        ("eqbench run --game 'kuhn(player=3)' --solver cfr", "unknown option 'player'"),
        ("eqbench run --game kuhn3 --solver cfr,cfr_pls", "cfr_pls"),
        ("eqbench run --game kuhn3 --solver 'ncp(exact=maybe)'", "exact=maybe"),
        ("eqbench trace --game skp --derivative none", "'none' is not one of"),
        ("eqbench draw kuhn --out", "requires an argument"),
        ("eqbench show latest", "Missing argument 'CELL'"),
        ("eqbench check sovler cfr", "No such command"),
        ("eqbench info 'kuhn(cart=3)'", "cart"),
        ("eqbench check solver 'cfr(player=3)'", "player"),
        ("eqbench solve kuhn3", "unknown command 'solve'"),
        ("eqbench run --game a --solver cfr \\\n  --plugin missing.py", "missing.py"),
    ],
)
def test_command_that_does_not_exist_is_noticed(command: str, message: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```sh\neqbench list games\n{command}  # comment\n```\n")
    (fault,) = command_faults(page, tmp_path)
    assert message in fault


def test_commands_that_exist_are_accepted_with_the_files_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    plugin = (
        "import dataclasses, eqbench\n\n"
        '@eqbench.register_solver("mine")\n@dataclasses.dataclass(frozen=True)\n'
        "class Mine:\n    step: float = 1.0\n"
    )
    page.write_text(
        f"Save this as\n`mine.py`, please:\n\n```python\n{plugin}```\n\n```sh\n"
        'eqbench run --game kuhn3,x.efg --solver "mine(step=2),all" --plugin mine.py\n'
        "eqbench run --help\nls | eqbench nonsense\n```\n\n```shell\neqbench nonsense\n```\n"
    )
    assert command_faults(page, tmp_path) == []
    page.write_text(page.read_text().replace("mine(step", "yours(step"))
    assert "yours" in "".join(command_faults(page, tmp_path))


def test_python_code_that_fails_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\nand\n\n```python\nprint(x / 0)\n```\n")
    assert "ZeroDivisionError" in python_fault(page, tmp_path)
    page.write_text(page.read_text().replace("x / 0", "x"))
    assert python_fault(page, tmp_path) == ""


def test_python_code_finds_what_commands_before_it_have_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    code = "```python\nassert open('x').read() == 'made'\n```\n"
    page.write_text(f"```sh\nprintf made >x\n```\n\n{code}")
    assert "FileNotFoundError" in python_fault(page, tmp_path)
    page.write_text(f"{RUN}\n\n```sh\nprintf made >x\n```\n\n{code}")
    assert python_fault(page, tmp_path) == ""


@pytest.mark.parametrize(
    ("shown", "fault"),
    [
        ("Price 3 of 17 ms\n…\nlast line\n", None),
        ("last line\nPrice 3 of 17 ms\n", "Price 3 of 17 ms"),
        ("Prices 3 of 17 ms\n", "Prices 3 of 17 ms"),
    ],
)
def test_tutorial_that_prints_something_else_is_noticed(
    shown: str, fault: str | None, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Save this as `told.txt`:\n\n```json\nPrice  5 of -2.4e-3 s\nmore\nlast line\n```\n\n"
        f"```sh\ncat told.txt\n```\n\n```text\n{shown}```\n"
    )
    found = list(follow(page, tmp_path))
    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


def test_tutorial_whose_command_fails_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\neqbench info kuhn9\n```\n")
    (fault,) = follow(page, tmp_path)
    assert "kuhn9" in fault


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("  nodes  617", "  nodes  601"),
        ("chance nodes 1", "chance nodes 0"),
        ("7 of 27 combinations", "6 of 27 combinations"),
        ("P1  -0.0556  -1/18  0", "P1  -0.0556  -1/36  0"),
        ("P1  -0.0556  -1/18  0", "P1  -0.0556  1/18  0"),
        ("P1  -0.0556  -1/18  0", "P1  -0.0556  -1/18  1/36"),
        ("szafron:c11=0", "szafron:c11=1/2"),
        ("stopped after 1,000 iterations", "stopped after 2,000 iterations"),
    ],
)
def test_counts_and_fractions_are_compared_exactly(shown: str, printed: str) -> None:
    assert missing_lines(shown, printed) == [shown]


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("gap 0 and 0.5", "gap 1.5e-10 and +0.49999"),
        ("distance 6.9e-12; beta=0,", "distance 7e-12; beta=0.001,"),
        ("1,745 iterations, 330.6 ms", "1,746 iterations, 1.2 s"),
    ],
)
def test_rounding_and_what_one_run_took_are_not_compared(shown: str, printed: str) -> None:
    assert missing_lines(shown, printed) == []


def test_lines_are_compared_but_for_decimals_and_spaces() -> None:
    printed = "cfr  ok  1.0e-08  12.3 ms\nkey 0123456789abcdef\n"
    assert missing_lines("cfr ok -3e-9 1 s\nkey fedcba9876543210\n", printed) == []
    assert missing_lines("cfr limit 1.0e-08 12.3 ms\n", printed) == ["cfr limit 1.0e-08 12.3 ms"]


def test_lines_that_a_backslash_joins_are_one_command() -> None:
    (block,) = blocks("```sh\n# no command\na \\\n  b\n\nc\n```\n")
    assert commands(block) == ["a b", "c"]
