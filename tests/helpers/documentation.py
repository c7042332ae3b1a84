"""What the tests of the documentation read pages with, and what they find wrong on them.

A page is Markdown. Its fenced blocks mean something by their language:

- ``sh``: commands. On every page those of eqbench must be accepted; those of a tutorial are run,
  and so are those after the comment `RUN` on a page whose Python code needs what they write.
- ``python``: runs, in the order of the page and in one process, unless the text before says
  "Save this as `NAME`": then, as for any language, it is the content of that file.
- ``text`` after ``sh`` on a tutorial: what its commands print, where decimals may differ, but not
  whole numbers and fractions, and ``…`` stands for lines that are left out.
- ``shell``: commands that set up a machine; they are only shown.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import click

from eqbench.cli import app
from eqbench.cli.info import LISTS
from eqbench.errors import EqbenchError
from eqbench.registry import GROUPS, default_registry
from eqbench.spec import is_foreign, parse_spec, split_specs
from helpers.command import PATIENCE_S, eqbench_here

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "benchmarks/README.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
)
RUN = "<!-- run this -->"
_FENCE = re.compile(r"^(`{3,}|:{3,})\s*(\S*).*$")
_NUMBER = r"[-+]?(?:\d[\d,]*)(?:[.]\d+)?(?:e[-+]?\d+)?"
_UNIT = r" (?:µs|ms|s|min|KiB|MiB|GiB)\b"
# With a point, with an exponent, or a lone 0, which elsewhere may be rounding.
_FLOAT = re.compile(
    r"[-+]?\d[\d,]*[.]\d+(?:e[-+]?\d+)?|[-+]?\d+e[-+]?\d+|(?<![\w.,/+-])[-+]?0(?![\w./]|,\d)"
)
_SAVED = re.compile(r"[Ss]ave this as\s+`([^`/]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes
    ----------
    language : what stands behind the fence
    text : its lines
    line : number of the fence
    saved_as : the file whose content it is, or empty
    is_run : whether a comment before it says that its commands are run with the Python code
    """

    language: str
    text: str
    line: int
    saved_as: str = ""
    is_run: bool = False


def blocks(text: str) -> list[Block]:
    """All fenced code blocks of a page, in its order."""
    found: list[Block] = []
    paragraphs = [""]
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        opening = _FENCE.match(line)
        if opening is None or opening[1][0] == ":":
            if not line.strip():
                paragraphs.append("")
            paragraphs[-1] += f" {line}"
            continue
        body = []
        for _, inner in lines:
            if inner.strip() == opening[1]:
                break
            body.append(f"{inner}\n")
        before = next((text for text in reversed(paragraphs) if text.strip()), "")
        saved, is_run = _SAVED.findall(before), before.strip() == RUN
        found.append(Block(opening[2], "".join(body), number, saved[-1] if saved else "", is_run))
        paragraphs = [""]
    return found


def commands(block: Block) -> list[str]:
    """Commands of a block of the language sh; a backslash at the end of a line joins lines."""
    lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def command_faults(page: Path, folder: Path) -> list[str]:
    """Messages on commands of eqbench that its command line would not accept.

    They are parsed in `folder`, with the files that the page says to save; nothing is run.
    """
    faults = []
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.saved_as:
                Path(block.saved_as).write_text(block.text, encoding="utf-8")
            if block.language != "sh":
                continue
            for command in commands(block):
                words = shlex.split(command.partition(" > ")[0], comments=True)
                if words[:1] == ["eqbench"] and (fault := _refusal(words[1:])):
                    faults.append(f"{page.name}:{block.line}: `{command.strip()}`: {fault}")
    finally:
        os.chdir(before)
    return faults


def _refusal(words: list[str]) -> str:
    """Why eqbench would not take these arguments, or an empty text."""
    try:
        name, command, parent = "eqbench", app, None
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            parent = click.Context(command, parent, name)
            name, command, words = command.resolve_command(parent, words)
        _check_specs(command.make_context(name, words, parent).params)
    except click.exceptions.Exit:  # --help and --version
        return ""
    except click.ClickException as error:
        return error.format_message()
    except EqbenchError as error:
        return str(error)
    return ""


def _check_specs(given: dict[str, object]) -> None:
    """Raise SpecError if a game or solver does not exist, or a built-in one has no such option.

    Nothing is imported from plugins: what they register would stay for later pages.
    """
    registry = default_registry().with_plugins(given.get("plugins") or ())  # type: ignore[arg-type]
    known = {entry.name for entry in registry.solvers()}
    either = [spec for spec in _several(given, "spec") if spec not in (*LISTS, "proof")]
    solvers = [
        *_several(given, "solver", "solvers"),
        *(s for s in either if parse_spec(s).name in known),
    ]
    games = [
        *_several(given, "game", "games"),
        *(s for s in either if parse_spec(s).name not in known),
    ]
    for solver in solvers:
        if solver not in ("all", *GROUPS) and registry.solver_entry(solver).builtin:
            registry.load_solver(solver)
    for game in games:
        if not is_foreign(parse_spec(game).name) and registry.game_entry(game).builtin:
            registry.describe_game(game)


def _several(given: dict[str, object], *names: str) -> list[str]:
    """Specs in the arguments of these names, of which commas may separate several."""
    values = [given.get(name) for name in names]
    texts = [text for text in values if isinstance(text, str)]
    texts += [text for value in values if isinstance(value, tuple) for text in value]
    return [spec for text in texts for spec in split_specs(text)]


def python_fault(page: Path, folder: Path) -> str:
    """How the Python code of a page fails, or an empty text."""
    code = []
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.saved_as:
            (folder / block.saved_as).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            code.append(block.text)
        elif block.is_run:
            for command in commands(block):
                ending, said = _do(command, folder)
                if ending:
                    return f"`{command}` ends with {ending}: {said}"
    done = run([sys.executable, "-W", "error", "-c", "\n".join(code)], folder)
    return "" if done.returncode == 0 else done.stdout[-2000:]


def follow(page: Path, folder: Path) -> Iterator[str]:
    """Do what a tutorial says, in `folder`; gives a message where it does not come out so."""
    printed = ""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.saved_as:
            (folder / block.saved_as).write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            printed = ""
            for command in commands(block):
                code, said = _do(command, folder)
                printed += said
                if code:
                    ending = f"ends with {code}: {said}"
                    yield f"{page.name}:{block.line}: `{command}` {ending}"
        elif block.language == "text" and (missing := missing_lines(block.text, printed)):
            yield f"{page.name}:{block.line}: not printed: {missing}\nbut:\n{printed}"


def _do(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of a command; one of eqbench alone needs no process of its own."""
    words = shlex.split(command, comments=True)
    if words[0] == "eqbench" and not set(command) & set("|<>$*;&"):
        with patch.dict(os.environ, COLUMNS="170"):
            ended = eqbench_here(*words[1:], cwd=folder)
        return ended.code, ended.out + ended.err
    done = run(["bash", "-c", command], folder)
    return done.returncode, done.stdout


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A finished command with its output and errors, which finds the eqbench of these tests."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": os.pathsep.join(paths), "COLUMNS": "170"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def missing_lines(shown: str, printed: str) -> list[str]:
    """Lines that a page shows and a command has not printed in this order; see `_comparable`."""
    remaining = iter([_comparable(line) for line in printed.splitlines()])
    wanted = [line for line in shown.splitlines() if line.strip() not in ("", "…")]
    return [line for line in wanted if not _is_among(_comparable(line), remaining)]


def _is_among(line: str, remaining: Iterator[str]) -> bool:
    """Whether `line` is still to come; consumes what stands before it."""
    return any(line == other for other in remaining)


def _comparable(line: str) -> str:
    """A line in which keys of cells, decimals and spaces do not matter.

    Whole numbers and fractions do, since they are sizes, counts and exact results. On a line with
    a time or an amount of memory, which tells of one run, no number does: it may count iterations.
    Nor does it matter which solver was the fastest: of two close ones it is another in every run.
    """
    line = re.sub(r"\b[0-9a-f]{16}\b", "#", line)
    line = re.sub(r"fastest to it: .*", "fastest to it: #", line)
    measured = re.sub(f"{_NUMBER}{_UNIT}", "#", line)
    line = _FLOAT.sub("#", line) if measured == line else re.sub(_NUMBER, "#", measured)
    return re.sub(r"\s+", " ", line).strip()
