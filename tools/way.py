"""What one run goes through in its own process: ``make way``.

Counts the files, functions and lines of functions of eqbench, games and solvers that are entered;
children are not counted. With ``--list`` the functions are printed by file.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import tempfile
import threading
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = tuple(f"{ROOT / name}{os.sep}" for name in ("eqbench", "games", "solvers"))
COMMAND = ("run", "--game", "kuhn3", "--solver", "pcfr_plus")
# frames of modules and comprehensions are no functions
NO_FUNCTIONS = ("<module>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


def entered(command: tuple[str, ...]) -> set[CodeType]:
    """Run a command of eqbench in this process and return the code that was entered."""
    seen: set[CodeType] = set()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    from eqbench.cli import main

    sys.argv = ["eqbench", *command]
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        with suppress(SystemExit):
            main()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def functions(codes: set[CodeType]) -> dict[Path, dict[str, int]]:
    """Lines of the functions of the project among some code, by file and qualified name."""
    starts: dict[Path, set[int]] = defaultdict(set)
    for code in codes:
        is_ours = code.co_filename.startswith(FOLDERS) and code.co_filename.endswith(".py")
        if is_ours and code.co_name not in NO_FUNCTIONS:
            starts[Path(code.co_filename)].add(code.co_firstlineno)
    found: dict[Path, dict[str, int]] = {}
    for file, lines in sorted(starts.items()):
        own: dict[str, int] = {}
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                # code begins with its first decorator
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                if first in lines:
                    own[f"{node.name}:{first}"] = (node.end_lineno or first) - first + 1
        if own:
            found[file] = own
    return found


def main() -> None:
    """Run the command in a scratch folder and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the functions by file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        os.environ["XDG_STATE_HOME"] = scratch
        found = functions(entered(COMMAND))
        os.chdir(ROOT)
    if options.list:
        for file, own in found.items():
            print(f"{file.relative_to(ROOT)}  {sum(own.values())}: {' '.join(own)}")
    counts = [sum(own.values()) for own in found.values()]
    print(f"eqbench {' '.join(COMMAND)}, in its own process:")
    print(f"{len(found):>6,} files\n{sum(map(len, found.values())):>6,} functions")
    print(f"{sum(counts):>6,} lines of functions")


if __name__ == "__main__":
    main()
