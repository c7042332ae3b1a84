"""The documentation builds without a warning, from the code as it is, and needs no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from helpers.documentation import ROOT

from eqbench.cli import app
from eqbench.registry import default_registry

DOCS = ROOT / "docs"
STATEMENT = re.compile(r'"eqbench\.([a-z]+)/1"')
# What a browser fetches by itself; links that a reader may click are not among them.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]+)\"|"
    r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)"
)


def build(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """A build in which every warning and every reference to nothing is an error."""
    options = ["-W", "-n", "--keep-going", "-q", "-b", "html", "-d", str(out / "trees")]
    # what Sphinx holds it holds to the end: to look for garbage takes a fifth of the time
    program = "import gc, sphinx.cmd.build as build; gc.disable(); exit(build.main())"
    return subprocess.run(
        [sys.executable, "-c", program, *options, str(source), str(out / "html")],
        capture_output=True,
        text=True,
        check=False,
    )


def unbuilt(html: Path) -> list[Path]:
    """Pages of the documentation that were not built."""
    pages = [path.relative_to(DOCS) for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    expected = [page for page in pages if page != Path("README.md")]
    return [page for page in expected if not (html / page).with_suffix(".html").exists()]


def unlisted(html: Path) -> list[str]:
    """Games, solvers and commands that the built reference does not name."""
    registry = default_registry()
    context = app.make_context("eqbench", [], resilient_parsing=True)
    marks = {
        "games": [f">{entry.name}</span>" for entry in registry.games() if entry.builtin],
        "solvers": [f">{entry.name}</span>" for entry in registry.solvers() if entry.builtin],
        "command_line": [f"commands/{name}.html" for name in app.list_commands(context)],
    }
    texts = {page: (html / f"reference/{page}.html").read_text(encoding="utf-8") for page in marks}
    return [mark for page in marks for mark in marks[page] if mark not in texts[page]]


def outside(html: Path) -> list[str]:
    """Addresses that built pages and styles would fetch from elsewhere."""
    return [
        f"{path.relative_to(html)}: {address[0] or address[1]}"
        for path in sorted(html.rglob("*"))
        if path.suffix in (".html", ".css")
        for address in FETCHED.findall(path.read_text(encoding="utf-8"))
    ]


# One test, so that one worker builds it once.
def test_documentation_builds_is_complete_and_fetches_nothing(tmp_path: Path) -> None:
    done = build(DOCS, tmp_path)
    assert done.returncode == 0, done.stderr
    html = tmp_path / "html"
    assert (unbuilt(html), unlisted(html), outside(html)) == ([], [], [])
    games = html / "reference/games.html"
    games.write_text(games.read_text(encoding="utf-8").replace(">skp<", "><"), encoding="utf-8")
    (html / "how_to/cite.html").unlink()
    assert unlisted(html) == [">skp</span>"]
    assert unbuilt(html) == [Path("how_to/cite.md")]


def test_reference_names_the_schema_of_every_document() -> None:
    modules = (path.read_text(encoding="utf-8") for path in (ROOT / "eqbench").rglob("*.py"))
    written = {name for text in modules for name in STATEMENT.findall(text)}
    page = (DOCS / "reference/results.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`eqbench\.([a-z]+)/1`", page))
    assert written <= named
    # these are put together from the argument of `info`
    assert named - written == {"games", "solvers", "experiments"}
