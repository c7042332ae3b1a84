"""Game files that must be refused: each with file, line and reason, soon, and nothing else."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import eqbench
from eqbench.errors import GameFormatError, GameTooLargeError, ImperfectRecallError

pytestmark = pytest.mark.timeout(100)

EFG = 'EFG 2 R "t" { "A" "B" }\n""\n'
ROOT = 'p "" 1 1 "x" { "l" "r" } 0\n'
ENDS = 't "" 1 "o" { 1 2 }\nt "" 2 "q" { 3 4 }\n'
NFG = 'NFG 1 R "t" { "A" "B" }\n'
OUTCOMES = NFG + '{ { "a" "b" } { "c" "d" } }\n""\n'

MALFORMED_EFG = {
    "empty file": ("", 1, "truncated"),
    "another format": (NFG + "{ 2 2 } 1 2 3 4 5 6 7 8", 1, "EFG"),
    "other version": ('EFG 1 R "t" { "A" }\n', 1, "version 2"),
    "no type": ('EFG 2 "t" { "A" }\n', 1, "R or D"),
    "no title": ('EFG 2 R { "A" "B" }\n', 1, "title"),
    "no players": ('EFG 2 R "t" { }\nt "" 0\n', 1, "0 players"),
    "players without quotation marks": ('EFG 2 R "t"\n{ A B }\n', 2, "quotation marks"),
    "too many players": ('EFG 2 R "t" {' + ' "A"' * 200 + "}\n", 1, "200 players"),
    "open list of players": ('EFG 2 R "t" { "A"\n' + ROOT, 2, "name of a player"),
    "title never closed": ('EFG 2 R "t { A B }\n', 1, "quotation"),
    "label never closed": (EFG + 'p "" 1 1 "x { l r } 0\n', 3, "never closed"),
    "unknown kind of node": (EFG + 'q "" 1 1 "x" { "l" } 0\n', 3, "c, p or t"),
    "no name of the node": (EFG + 'p 1 1 "x" { "l" "r" } 0\n', 3, "name of the node"),
    "missing child": (EFG + ROOT + 't "" 1 "o" { 1 2 }\n', 5, "line 3 has 1 of 2 children"),
    "trailing garbage": (EFG + ROOT + ENDS + "\n\ngarbage", 8, "complete"),
    "brace too many": (EFG + 'p "" 1 1 "x" { "l" "r" } } 0\n' + ENDS, 3, "outcome"),
    "brace too few": (EFG + 'p "" 1 1 "x" { "l" "r" 0\n' + ENDS, 3, "label of an action"),
    "no actions": (EFG + 'p "" 1 1 "x" { } 0\n', 3, "no actions"),
    "set used before it is defined": (EFG + 'p "" 1 1 0\n' + ENDS, 3, "no actions"),
    "actions without quotation marks": (EFG + 'p "" 1 1 "x" { l r } 0\n', 3, "quotation marks"),
    "no outcome": (EFG + 'p "" 1 1 "x" { "l" "r" }\n' + ENDS, 4, "number of an outcome"),
    "player 0": (EFG + 'p "" 0 1 "x" { "l" "r" } 0\n' + ENDS, 3, "player 0"),
    "player out of range": (EFG + 'p "" 3 1 "x" { "l" "r" } 0\n' + ENDS, 3, "player 3"),
    "player beyond 64 bits": (EFG + 'p "" 1' + "0" * 30 + ' 1 "x" { "l" } 0\n', 3, "player"),
    "set that is not a number": (EFG + 'p "" 1 one "x" { "l" "r" } 0\n', 3, "information set"),
    "differing actions": (
        EFG + ROOT + 'p "" 2 1 "y" { "a" "b" } 0\n' + ENDS + 'p "" 2 1 "y" { "a" "c" } 0\n',
        7,
        "other actions than in line 4",
    ),
    "differing labels of a set": (
        EFG + ROOT + 'p "" 2 1 "y" { "a" "b" } 0\n' + ENDS + 'p "" 2 1 "z" { "a" "b" } 0\n',
        7,
        "other label than in line 4",
    ),
    "chance below one": (EFG + 'c "" 1 "" { "a" 1/2 "b" 0.4 } 0\n' + ENDS, 3, "sum to 9/10"),
    "chance of rounded thirds": (
        EFG + 'c "" 1 "" { "a" 0.333 "b" 0.333 "c" 0.333 } 0\n' + ENDS + 't "" 1\n',
        3,
        "1/3 and not 0.333",
    ),
    "negative chance": (EFG + 'c "" 1 "" { "a" -1/2 "b" 3/2 } 0\n' + ENDS, 3, "-1/2 is outside"),
    "chance without probability": (EFG + 'c "" 1 "" { "a" "b" } 0\n' + ENDS, 3, "probability"),
    "chance without outcomes": (EFG + 'c "" 1 "" { } 0\n' + ENDS, 3, "no outcomes"),
    "chance redefined": (
        EFG + 'c "" 1 "" { "a" 1/2 "b" 1/2 } 0\n' + 't "" 1 "o" { 1 2 }\n'
        + 'c "" 1 "" { "a" 1/3 "b" 2/3 } 0\n' + ENDS,
        5,
        "other probabilities than in line 3",
    ),
    "payoff nan": (EFG + ROOT + 't "" 1 "o" { nan 2 }\n', 4, "finite number"),
    "payoff with an endless exponent": (EFG + ROOT + 't "" 1 "" { 1e9999999 2 }', 4, "too large"),
    "payoff of a million digits": (
        EFG + ROOT + 't "" 1 "o" { ' + "9" * 10**6 + " 2 }\n", 4, "too large"
    ),
    "division by zero": (EFG + ROOT + 't "" 1 "o" { 1/0 2 }\n', 4, "divides by zero"),
    "payoff that is a word": (EFG + ROOT + 't "" 1 "o" { one 2 }\n', 4, "finite number"),
    "payoff in other digits": (EFG + ROOT + 't "" 1 "o" { ٣ 2 }\n', 4, "finite number"),
    "too few payoffs": (EFG + ROOT + 't "" 1 "o" { 1 }\n', 4, "1 payoffs for 2 players"),
    "too many payoffs": (EFG + ROOT + 't "" 1 "o" { 1 2 3 }\n', 4, "3 payoffs for 2 players"),
    "two commas": (EFG + ROOT + 't "" 1 "o" { 1,, 2 }\n', 4, "payoff"),
    "comma at the end": (EFG + ROOT + 't "" 1 "o" { 1, 2, }\n', 4, "after the comma"),
    "outcome never defined": (EFG + ROOT + 't "" 1\n' + ENDS, 4, "outcome 1 has no payoffs"),
    "outcome redefined": (EFG + ROOT + ENDS.replace('2 "q"', '1 "o"'), 5, "defined before"),
    "payoffs of outcome 0": (EFG + ROOT + 't "" 0 "o" { 1 2 }\n', 4, "outcome 0"),
    "no decision": (EFG + 't "" 1 "o" { 1 2 }\n', 4, "no player has a decision"),
    "binary": (b"\x00\x01\x02\xff\xfe", 1, "UTF-8"),
    "zero bytes": (EFG.encode() + b"p \x00\x00\n", 3, "\\x00"),
    "latin-1": ((EFG + 'p "é" 1 1 "x" { "l" "r" } 0\n').encode("latin-1"), 3, "UTF-8"),
    "very deep": (EFG + 'p "" 1 1 "x" { "l" } 0\n' * 200_000, 4, "imperfect recall"),
    "very deep with sets of their own": (
        EFG + "".join(f'p "" 1 {k} "" {{ "l" }} 0\n' for k in range(200_000)),
        1004,
        "more than 1,000 moves",
    ),
    "a long line": (EFG + "x" * 10**7, 3, "found xxxx"),
    "many braces": (EFG + 'p "" 1 1 "" ' + "{ " * 10**6, 3, "label of an action"),
    "sum of fractions with ever more digits": (
        EFG + 'c "" 1 "" { ' + " ".join(f'"" 1/{10**90 + k}' for k in range(5_000)) + " } 0",
        3,
        "thousands of digits",
    ),
}  # fmt: skip

MALFORMED_NFG = {
    "empty file": ("", 1, "truncated"),
    "another format": (EFG + ROOT + ENDS, 1, "NFG"),
    "other version": ('NFG 2 R "t" { "A" "B" }\n{ 2 2 }', 1, "version 1"),
    "no strategies": (NFG, 2, "truncated"),
    "zero strategies": (NFG + "{ 2 0 }\n", 2, "0 strategies"),
    "no named strategies": (NFG + '{ { "a" } { } }\n', 2, "0 strategies"),
    "negative strategies": (NFG + "{ 2 -2 }\n", 2, "-2 strategies"),
    "strategies of too few players": (NFG + "{ 2 }\n1 2 3 4", 2, "strategies of 1 players"),
    "names and numbers": (NFG + '{ { "a" "b" } 2 }\n""\n', 2, "'{'"),
    "huge numbers of strategies": (NFG + "\n{ 1000000 1000000 }\n1 2 3", 3, "about 10^12 nodes"),
    "huge number of players": ('NFG 1 R "t" { ' + '"" ' * 10**5 + "} {", 1, "100000 players"),
    "many players": ('NFG 1 R "t" { ' + '"" ' * 50 + "}\n{ 2 }", 2, "at most 20"),
    "file far too short": (NFG + "{ 1000 1000 }\n1 2", 3, "too short"),
    "payoffs missing": (NFG + "{ 2 2 }\n1 2 3 4 5 6 7\n", 4, "profile 4 of 4"),
    "payoffs left over": (NFG + "{ 2 2 }\n1 2 3 4 5 6 7 8\n9", 4, "4 profiles are complete"),
    "outcome out of range": (OUTCOMES + '{ { "o" 1 2 } }\n0 1 2 0', 5, "only 1 to 1"),
    "negative outcome": (OUTCOMES + '{ { "o" 1 2 } }\n0 1 -1 0', 5, "outcome -1"),
    "outcomes missing": (OUTCOMES + '{ { "o" 1 2 } }\n0 1 1', 5, "profile 4 of 4"),
    "outcomes left over": (OUTCOMES + '{ { "o" 1 2 } }\n0 1 1 1\n1', 6, "complete"),
    "outcome without name": (OUTCOMES + "{ { 1 2 } }\n0 1 1 1", 4, "name of an outcome"),
    "payoffs of outcome missing": (OUTCOMES + '{ { "o" 1 } }\n0 1 1 1', 4, "1 payoffs"),
    "outcomes not closed": (OUTCOMES + '{ { "o" 1 2 }\n0 1 1 1', 5, "'{'"),
}  # fmt: skip


def refusal(path: Path, data: str | bytes, line: int) -> str:
    """Reason for which a file is refused at a line; fails if it is another line."""
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(GameFormatError) as caught:
        eqbench.load_game(str(path))
    text = str(caught.value)
    found = re.match(re.escape(f"{path}:") + r"(\d+): ", text)
    assert found, text
    assert int(found[1]) == line, text
    assert len(text) < 600
    return text


@pytest.mark.parametrize(
    ("suffix", "name"),
    [*(("efg", name) for name in MALFORMED_EFG), *(("nfg", name) for name in MALFORMED_NFG)],
)
def test_file_is_refused_with_line_and_reason(tmp_path: Path, suffix: str, name: str) -> None:
    data, line, word = (MALFORMED_EFG if suffix == "efg" else MALFORMED_NFG)[name]
    assert word in refusal(tmp_path / f"game.{suffix}", data, line)


@pytest.mark.parametrize("suffix", [".efg", ".nfg"])
def test_no_truncation_of_a_file_is_accepted(tmp_path: Path, suffix: str) -> None:
    whole = EFG + ROOT + ENDS if suffix == ".efg" else OUTCOMES + '{ { "o" 1, 2 } }\n0 1 1 0'
    path = tmp_path / f"game{suffix}"
    path.write_text(whole)
    eqbench.load_game(str(path))
    for length in range(len(whole.rstrip())):
        path.write_text(whole[:length])
        with pytest.raises(GameFormatError, match=r":\d+: "):
            eqbench.load_game(str(path))


AGAIN = 'p "" 1 7 "again" { "a" "b" } 0\n'


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        # a player forgets an own move, or passes one set twice
        (f'{AGAIN}{ENDS}{AGAIN}t "" 1\nt "" 1\n', r"efg:7: .*set 7 of player A .*line 4.*moves"),
        (f'{ROOT}{ENDS}t "" 1\n', r"efg:4: .*set 1 .*line 3.*twice on one path"),
    ],
)
def test_imperfect_recall_names_the_set_and_its_lines(tmp_path: Path, nodes: str, message: str):
    (tmp_path / "game.efg").write_text(EFG + ROOT + nodes)
    with pytest.raises(ImperfectRecallError, match=message):
        eqbench.load_game(str(tmp_path / "game.efg"))


def test_the_limit_of_nodes_holds_while_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "game.efg"
    path.write_text(EFG + ROOT + ENDS)
    with pytest.raises(GameTooLargeError, match="--max-nodes"):
        eqbench.load_game(str(path), max_nodes=2)


def test_a_payoff_may_not_be_a_float_that_is_infinite_as_a_sum(tmp_path: Path) -> None:
    path = tmp_path / "game.nfg"
    path.write_text(NFG + "{ 1 1 }\n" + "9" * 60 + "e200 -1e200\n")
    assert eqbench.load_game(str(path)).tree.payoff_range < float("inf")


def test_what_is_no_regular_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    (tmp_path / "folder.efg").mkdir()
    os.mkfifo(tmp_path / "pipe.efg")
    with open(tmp_path / "sparse.nfg", "wb") as file:
        file.truncate(2**33)
    for name, reason in (
        ("folder.efg", "Is a directory"),
        ("pipe.efg", "not a regular file"),
        ("sparse.nfg", "more than 256 MiB"),
        ("absent.efg", "No such file"),
        ("nul\0.efg", "null"),
        ("~nobody-of-this-name/game.efg", "No such file"),
        ("x" * 300 + ".efg", "too long"),
    ):
        with pytest.raises(GameFormatError, match=reason):
            eqbench.load_game(name if name.startswith("~") else str(tmp_path / name))
