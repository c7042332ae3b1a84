"""What readers are told to type is accepted, and the tutorials come out as printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.documentation import PAGES, ROOT, blocks, command_faults, follow, python_fault

TUTORIALS = [page for page in PAGES if page.parent.name == "tutorial" and page.name != "index.md"]


def _has_python_to_run(page: Path) -> bool:
    found = blocks(page.read_text(encoding="utf-8"))
    return any(block.language == "python" and not block.saved_as for block in found)


# The examples of the README are run in tests/integration/test_readme.py.
WITH_PYTHON = [page for page in PAGES if page.name != "README.md" and _has_python_to_run(page)]
PEERS = {
    **dict.fromkeys(("openspiel.md", "from_openspiel.md"), "pyspiel"),
    **dict.fromkeys(("gambit.md", "from_gambit.md"), "pygambit"),
}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_commands_of_all_pages_are_accepted(tmp_path: Path) -> None:
    assert {_name(page): command_faults(page, tmp_path) for page in PAGES} == {
        _name(page): [] for page in PAGES
    }


@pytest.mark.parametrize("page", WITH_PYTHON, ids=_name)
def test_python_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    if page.name in PEERS:
        pytest.importorskip(PEERS[page.name], reason="an optional extra is not installed")
    assert python_fault(page, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=_name)
def test_tutorial_comes_out_as_printed(page: Path, tmp_path: Path) -> None:
    assert list(follow(page, tmp_path)) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("eqbench run --game kuhn3 --sovler cfr", "No such option"),
        ("eqbench run --game 'kuhn(player=3)' --solver cfr", "unknown option 'player'"),
        ("eqbench run --game kuhn3 --solver 'ncp(exact=maybe)'", "exact=maybe"),
        ("eqbench trace skp --derivative none", "'none' is not a choice here"),
        ("eqbench show", "Missing argument 'RUN'"),
        ("eqbench check 'cfr(player=3)'", "player"),
        ("eqbench solve kuhn3", "unknown command 'solve'"),
        ("eqbench run --game a --solver cfr \\\n  --plugin missing.py", "missing.py"),
    ],
)
def test_command_that_does_not_exist_is_noticed(command: str, message: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```sh\neqbench info games\n{command}  # comment\n```\n")
    (fault,) = command_faults(page, tmp_path)
    assert message in fault
