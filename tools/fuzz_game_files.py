"""Look for game files that the readers neither accept nor refuse as they should.

    python tools/fuzz_game_files.py --minutes 10 [--seed S] [--out DIR]

Valid files are damaged at random, and random files are put together from the words of the two
formats. Every input must load or be refused with an error of the format that names the file,
within a bound of CPU time. What does neither is saved, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import eqbench
from eqbench.errors import GameFormatError
from eqbench.model.gambit_text import efg_text, nfg_text

MAX_CPU_S = 1.0
MAX_NODES = 20_000
SPECS = (
    *("kuhn2", "kuhn3", "skp", "random_tree(seed=1,depth=4)", "random_tree(seed=2,players=3)"),
    *("goofspiel(cards=3)", "jordan", "shapley", "random(players=3,seed=1)"),
)
BY_HAND = (
    '\ufeffEFG 2 D "a \\"quoted\\" title" { "A" "A" "" }\n"a\ncomment"\n'
    'c "root" 1 "" { "x" .25 "" 3/4 } 7 "gain" { 1, -1/2 2e1 }\n'
    'p "" 1 4 "" { "l" "l" } 0\nt "" 1 "o" { 1 2, 3. }\nt "" 1\n'
    'p "" 1 5 "" { "" "" "r" } 7\np "" 2 1 "" { "u" } 0\nt "" 0\nt "" 0\n'
    'c "" 1 0\nt "" 0\nt "" 1\n',
    'NFG 1 R "t" { "A" "B" } { 2 3 } 1 2 3 4 5 6, 7 8 9 10 1/3 -.5\n',
    'NFG 1 D "t" { "A" "B" }\n{ { "a" "a" }\n{ "c" "" } }\n"note"\n'
    '{ { "o" 1, 2 } { "" 3 4 } }\n1 2 0 1\n',
)
WORDS = (
    *("c", "p", "t", "EFG", "NFG", "1", "2", "R", "D", "{", "}", '"', '""', '"x"', ",", "0", "-1"),
    *("1/2", "1/3", "1/0", "0.5", ".", "-", "1e3", "1e999", "1e-300", "nan", "inf", "-inf", "3"),
    *("99999999999999999999", "1000000", "1000000000", "0x10", "1_0", "\\", '\\"', "\0", "\ufeff"),
    *("٣", "½", "\u2028", "\r", "\n", "1/1/1", "--1", "+1", '"a\nb"', "{ }", "{ { } }", "é"),
)
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[{},]|[^\s"{},]+|\s+', re.DOTALL)
Mutation = Callable[[random.Random, list[str], list[str]], list[str]]


def corpus() -> list[tuple[str, bytes]]:
    """Valid files as suffix and contents."""
    games = [eqbench.load_game(spec) for spec in SPECS]
    files = [(".efg", efg_text(game.tree, game.spec).encode()) for game in games]
    files += [
        (".nfg", nfg_text(game.tree, game.spec).encode())
        for game in games
        if game.tree.n_infosets == game.tree.n_players
    ]
    return files + [(f".{text.lstrip(chr(0xFEFF))[:3].lower()}", text.encode()) for text in BY_HAND]


def inputs(seed: int) -> Iterator[tuple[str, bytes]]:
    """Damaged and made-up files without end."""
    chance, files = random.Random(seed), corpus()
    while True:
        kind = chance.random()
        suffix, data = chance.choice(files)
        if kind < 0.15:
            yield suffix, _flip(chance, data)
        elif kind < 0.3:
            yield suffix, _made_up(chance, suffix)
        else:
            other = chance.choice(files)[1]
            yield suffix, _mutated(chance, data.decode(), other.decode())


def verdict(path: Path) -> str:
    """How the reader took a file: ``loaded``, or the reason without its numbers.

    Raises
    ------
    AssertionError
        If it took too long or forgot to name the file.
    """
    start = time.process_time()
    try:
        eqbench.load_game(str(path), max_nodes=MAX_NODES)
        result = "loaded"
    except GameFormatError as refusal:
        reason = str(refusal)
        located = re.match(re.escape(f"{path}:") + r"\d+: (.+?)(\W*\d|, found|$)", reason)
        if located is None:
            raise AssertionError(f"no file and line: {reason}") from refusal
        result = located[1]
    spent = time.process_time() - start
    assert spent < MAX_CPU_S, f"took {spent:.2f} s"
    return result


def fuzz(seed: int, folder: Path, *, count: float, minutes: float) -> tuple[Counter[str], int]:
    """Verdicts with their numbers, and the number of inputs that were saved as faults."""
    verdicts: Counter[str] = Counter()
    faults, end = 0, time.monotonic() + 60 * minutes
    for number, (suffix, data) in enumerate(inputs(seed)):
        if number >= count or time.monotonic() > end:
            break
        path = folder / f"input{suffix}"
        path.write_bytes(data)
        try:
            verdicts[verdict(path)] += 1
        except Exception:
            faults += 1
            saved = path.rename(folder / f"fault_{seed}_{number}{suffix}")
            print(f"{saved}\n{traceback.format_exc()}", file=sys.stderr)
    return verdicts, faults


def _flip(chance: random.Random, data: bytes) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def _made_up(chance: random.Random, suffix: str) -> bytes:
    """Words of the formats after a header that is mostly right."""
    words = [f'{suffix[1:].upper()} {2 if suffix == ".efg" else 1} R "" {{ "A" "B" }}']
    nodes = ('p "" 1 1 "" { "l" "r" } 0', 'p "" 2 1 "" { "l" } 0', 't "" 0', 't "" 1 "" { 1 2 }')
    nodes += ('c "" 1 "" { "" 1/2 "" 1/2 } 0', "{ 2 2 }", '{ { "" 1 2 } }', '{ { "a" } { "b" } }')
    for _ in range(chance.randrange(40)):
        words.append(chance.choice(nodes if chance.random() < 0.9 else WORDS))
    return "\n".join(words).encode()


def _mutated(chance: random.Random, text: str, other: str) -> bytes:
    words, others = _WORD.findall(text), _WORD.findall(other)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 10))):
        words = chance.choice(MUTATIONS)(chance, words, others) or [""]
    return "".join(words).encode()


def _replace(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    at = chance.randrange(len(words))
    return [*words[:at], chance.choice(WORDS), *words[at + 1 :]]


def _swap(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    a, b = chance.randrange(len(words)), chance.randrange(len(words))
    words = list(words)
    words[a], words[b] = words[b], words[a]
    return words


def _delete(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    at = chance.randrange(len(words))
    return words[:at] + words[at + chance.choice((1, 1, 2, 20)) :]


def _repeat(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    at = chance.randrange(len(words))
    return words[:at] + words[at : at + chance.choice((1, 2, 20))] * chance.choice((2, 3, 50))


def _splice(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    return words[: chance.randrange(len(words) + 1)] + others[chance.randrange(len(others)) :]


def _renumber(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    places = [k for k, word in enumerate(words) if re.fullmatch(r"-?\d+", word)]
    if not places:
        return words
    at = chance.choice(places)
    new = str(int(words[at]) + chance.choice((-1, 1, 10, -1000)))
    return [*words[:at], new, *words[at + 1 :]]


def _truncate(chance: random.Random, words: list[str], others: list[str]) -> list[str]:
    return words[: chance.randrange(len(words) + 1)]


MUTATIONS: tuple[Mutation, ...] = (
    *(_replace, _swap, _delete, _repeat, _splice, _renumber, _renumber, _truncate),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="damage game files until a reader fails")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None, help="folder for what fails")
    options = parser.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="eqbench-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    verdicts, faults = fuzz(options.seed, folder, count=float("inf"), minutes=options.minutes)
    for reason, count in verdicts.most_common():
        print(f"{count:9,}  {reason}")
    print(f"seed {options.seed}: {verdicts.total() + faults:,} inputs, {faults} faults in {folder}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
