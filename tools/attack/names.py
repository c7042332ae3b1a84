"""Game files whose names no screen can hold, through every command that shows names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from . import readers
from .sandbox import Job, Result, Sandbox

KIND = "game files and hostile names"
NAMES = {
    "esc": "\x1b[2J\x1b]0;title\x07\x1b[31mred",
    "c1": "\x9b31m\x9d0;title\x9c",
    "nul": "a\x00b",
    "bell_and_backspace": "\x07\x08\x7f\x0c\x0b",
    "bidi": "\u202eevil\u2066\u200f\u061c",
    "rich": "[/nothing] [bold red] [link=file:///] \\[",
    "html": "</td><script>alert(1)</script>&amp;<b>",
    "latex": "\\input{/etc/passwd} $x$ # % & _ { } ~ ^ \\\\",
    "markdown": "| a | `b` *c* [d](e) <!-- ![x](y)",
    "formula": "=HYPERLINK(1)",
    "formula_at": "@SUM(1)",
    "formula_wide": '\u3000"\uff1dHYPERLINK(1)',
    "mathematics": "$\\frac$ ^^5cinput{x}",
    "formula_minus": "-1+cmd|' /C calc'!A0",
    "lines": "one\r\ntwo\u2028three\u0085four\ttab",
    "long": "n" * 20_000,
    "wide": "🂡" * 200 + "\u0301" * 200,
    "empty": " ",
    "like_a_path": "../../../../tmp/x",
    "percent": "%s %d {0} {name} $HOME `id`",
}
SURROGATE = "surrogate"  # bytes that are no UTF-8
QUICK = ("c1.nfg",)
MISSPELT = "verify a profile with a wrong name"
FILE_NAMES = {
    "formula": "=1+1.nfg",
    "at": "@SUM(1).nfg",
    "controls": "\x1b[2J\x9b.nfg",
    "markup": "[bold]<b>|$x$.nfg",
    "comma": "a,b (c=1).nfg",
    "bytes": b"\xff\xfe.nfg",
    "dash": "-rf.nfg",
    "line": "a\nb.nfg",
}


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each file."""
    for name in (*NAMES, SURROGATE):
        for suffix in ("nfg", "efg"):
            file = f"{name}.{suffix}"
            if file in QUICK or not quick:
                yield Job(KIND, file, partial(_contents, file, quick=quick))
    for name in FILE_NAMES if not quick else ():
        yield Job(KIND, f"file named like {name}", partial(_file_name, name))


def text_of(file: str) -> bytes:
    """A game of two players in which everything has the same hostile name."""
    kind, suffix = file.split(".")
    name = NAMES.get(kind, "SURROGATE").replace("\\", "\\\\").replace('"', '\\"')
    if suffix == "nfg":
        text = (
            f'NFG 1 R "{name}" {{ "{name} 1" "{name} 2" }}\n'
            f'{{ {{ "{name} a" "{name} b" }}\n{{ "{name} c" "{name} d" }} }}\n"{name}"\n'
            "1 -1 0 0 0 0 2 -2\n"
        )
    else:
        text = f'EFG 2 R "{name}" {{ "{name} 1" "{name} 2" }} "{name}"\n'
        text += f'p "{name}" 1 1 "{name}" {{ "{name} a" "{name} b" }} 0\n'
        for k in range(2):
            text += f'p "{name}" 2 1 "{name}" {{ "{name} c" "{name} d" }} 0\n'
            text += "".join(
                f't "{name}" {1 + 2 * k + m} "{name}" {{ {k + m}, {-k - m} }}\n' for m in range(2)
            )
    data = text.encode()
    return data.replace(b"SURROGATE", b"\xed\xa0\x80\xff") if kind == SURROGATE else data


def _contents(file: str, *, quick: bool) -> list[Result]:
    with Sandbox() as sandbox:
        (sandbox.root / file).write_bytes(text_of(file))
        return _through_everything(sandbox, file, file, quick=quick)


def _file_name(name: str) -> list[Result]:
    with Sandbox() as sandbox:
        file = FILE_NAMES[name]
        data = text_of("percent.nfg")
        path = sandbox.root / (
            file.decode(errors="surrogateescape") if isinstance(file, bytes) else file
        )
        path.write_bytes(data)
        game = b"./" + (file if isinstance(file, bytes) else file.encode())
        return _through_everything(sandbox, game, f"file named like {name}")


def _through_everything(
    sandbox: Sandbox, game: str | bytes, name: str, *, quick: bool = False
) -> list[Result]:
    found: list[Result] = []

    def keep(trial: str, complaints: list[str]) -> None:
        found.append(Result(KIND, f"{name}: {trial}", tuple(complaints)))

    ended = sandbox.command(
        "run", "--game", game, "--solver", "cfr_plus", "--iterations", "20", "--out", "run"
    )
    if ended.code == 2:  # a file may be refused, in a line that can be shown
        keep("run", ended.refusal())
        info = sandbox.command("info", game)
        keep("info", info.refusal() if info.code else info.complaints())
        return found
    keep("run", ended.complaints() + sandbox.left_behind())
    only = ("report terminal", "report csv", "report html", "show") if quick else ()
    profile = next((sandbox.run / "profiles").glob("*.json"), sandbox.root / "none")
    more = _further(game, profile, _misspelt(profile), sandbox.root / "again.efg", quick=quick)
    read = readers.read_everything(sandbox, sandbox.run, "cfr_plus", only=only, more=more)
    for trial in read.keys() & {MISSPELT, "verify --json"}:
        keep(trial, read.pop(trial).refusal())
    for trial in read.keys() & {"draw"}:
        keep(trial, read.pop(trial).complaints(most_output=2 * 10**6))
    return found + readers.results(KIND, name, read)


def _further(
    game: str | bytes, profile: Path, misspelt: Path, again: Path, *, quick: bool
) -> readers.Commands:
    """Commands that show names of a game, besides those that read a run."""
    file = os.fsdecode(game)
    chosen: dict[str, list[str | Path]] = {
        "verify": ["verify", "--game", file, "--profile", profile],
        MISSPELT: ["verify", "--game", file, "--profile", misspelt],
    }
    if quick:
        return chosen
    return chosen | {
        "verify --json": [*chosen[MISSPELT], "--json"],
        "info": ["info", file],
        "draw": ["export", file, ".svg"],
        "export": ["export", file, again],
        "info of the export": ["info", again],
    }


def _misspelt(profile: Path) -> Path:
    """A profile in which an action has a name that the game does not have."""
    document = json.loads(profile.read_text())
    rows = next(iter(document["behavior"].values()))
    row = next(iter(rows.values()))
    row["\x1b[31m[/x]" + next(iter(row))] = row.pop(next(iter(row)))
    changed = profile.with_name("misspelt")
    changed.write_text(json.dumps(document))
    return changed
