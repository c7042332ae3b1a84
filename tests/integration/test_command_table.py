"""The command line as a table: what is typed, the exit code, and what is printed where."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.command import PLUGINS, accepted, eqbench_here

TABLE = Path(__file__).with_name("command_table.txt")
MACROS = {
    "{CLEAR}": "\x1b[2J\u009b31m\u202e",
    "{DIGITS}": "9" * 50_000,
    "{FAULTS}": str(PLUGINS / "faults.py"),
    "{GAMES}": ",".join(f"kuhn(pot={k + 1})" for k in range(8000)),
    "{LONG}": "x" * 2_000_000,
    "{MANY}": "cfr_plus(" * 5000,
    "{NESTED}": "(" * 20_000 + ")" * 20_000,
    "{SPECS}": ",".join(f"cfr(start={k})" for k in range(5000)),
}
RAISES = """
import eqbench
@eqbench.register_solver("raises_on_import")
class Solver:
    pass
"""
COIN = """
from dataclasses import dataclass
import eqbench

@eqbench.register_game("coin", summary="one coin")
@dataclass(frozen=True)
class Coin:
    def build(self):
        tree = eqbench.TreeBuilder(["A", "B"])
        first = tree.decision(None, 0, "first", ["heads", "tails"])
        for side in range(2):
            second = tree.decision((first, side), 1, "second", ["heads", "tails"])
            for other in range(2):
                won = 1 if side == other else -1
                tree.terminal((second, other), [won, -won])
        return tree.tree()
"""
FILES: dict[str, str | bytes] = {
    "coin.py": COIN,
    "old.toml": 'game = "kuhn2"\nsolver = "lcp"\n',
    "thread.toml": 'game = ["kuhn2"]\nsolver = ["cfr"]\nisolation = "thread"\n',
    "there.efg": "mine",
    "no_json.json": "{",
    "list.json": "[]",
    "no_game.json": '{"behavior": {}}',
    "player.json": '{"behavior": {"P3": {}}}',
    "set.json": '{"behavior": {"P1": {"9:": {"bet": 1}}}}',
    "action.json": '{"behavior": {"P1": {"1:": {"bte": 1}}}}',
    "nan.json": '{"behavior": {"P1": {"1:": {"bet": NaN}}}}',
    "zero.json": '{"behavior": {"P1": {"": {"heads": "1/0"}}, "P2": {"": {"heads": 1}}}}',
    "beyond.json": '{"behavior": {"P1": {"1:": {"bet": 1e999, "check": NaN}}}}',
    "power.json": '{"behavior": {"P1": {"1:": {"bet": 1e-999999999}}}}',
    "game.json": '{"game": 5, "behavior": []}',
    "binary": bytes(range(256)) * 100,
    "binary.nfg": bytes(range(256)) * 100,
    "bad.efg": 'EFG 2 R "bad" { "A" }\np "" 1 1 "1" { "x" } 0\n',
    "deep": "[" * 200_000 + "]" * 200_000,
    "deep.py": "x = " + "(" * 100_000 + ")" * 100_000,
    "raises.py": f"{RAISES}raise ValueError('x\x1b[2J' * 10**6)\n",
    "exits.py": f"{RAISES}import os; os._exit(5)\n",
    "part.json": '{"behavior": {"P1": {"1:": {"bet": 1}}}}',
}
RUNS = (
    "--game kuhn2 --solver lcp,logit --out first",
    "--game kuhn2 --solver lcp,mccfr --seeds 2 --iterations 1 --out second",
    "--game coin --plugin coin.py --solver lcp --out coins",
)


class Row(NamedTuple):
    """A row of the table."""

    argv: list[str]
    code: int
    err: list[str]
    out: list[str]


def rows() -> list[tuple[str, Row]]:
    """All rows, each with what is typed."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            typed, code, *words = (part.strip() for part in re.split(r" \|(?= |$)", line))
            err, out = (
                [word.strip() for word in part.split(" & ") if word]
                for part in (*words, "", "")[:2]
            )
            argv = shlex.split(typed)
            for name, text in MACROS.items():
                argv = [word.replace(name, text) for word in argv]
            found.append((typed, Row(argv, int(code), err, out)))
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs, profiles, experiments, and what is no file."""
    folder = tmp_path_factory.mktemp("place")
    for name, text in FILES.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for words in RUNS:
        accepted("run", *words.split(), "-q", cwd=folder)
    for name, game in {"half.json": "kuhn2", "skp.json": "skp"}.items():
        accepted("export", game, name, cwd=folder)
    document = json.loads((folder / "half.json").read_text())
    document["behavior"]["P1"]["1:"] = {"check": 0.3333333333, "bet": 0.6666666666}
    (folder / "decimals.json").write_text(json.dumps(document))
    (folder / "folder").mkdir()
    for name in ("fifo", "pipe.efg"):
        os.mkfifo(folder / name)
    for name in ("sparse", "sparse.efg"):  # which take no space
        (folder / name).touch()
        os.truncate(folder / name, 1_500_000_000)
    (folder / "device.efg").symlink_to("/dev/zero")
    return folder


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of everything in a folder."""
    files = {str(file): file.lstat() for file in folder.rglob("*")}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in files.items()}


@pytest.mark.parametrize("row", [pytest.param(row, id=typed) for typed, row in rows()])
def test_command_ends_as_the_table_says(place: Path, row: Row) -> None:
    before = contents(place)
    done = eqbench_here(*row.argv, cwd=place)
    assert done.code == row.code, done.err
    err, out = (" ".join(text.split()) for text in (done.err, done.out))
    assert [word for word in row.err if word not in err] == [], err
    assert [word for word in row.out if word not in out] == [], out
    assert "Traceback" not in err
    assert err.isprintable()
    assert len(err) < 3000
    if row.code == 2:
        assert (done.out, contents(place)) == ("", before)
