"""Break the code that must let nothing false through, and see whether the tests notice.

Every mutant is one small change of a guarded module (`GUARDED`). The tests of that module run in a
copy of the checkout; a mutant under which all of them pass has survived. One that no test could
notice is listed with the reason in ``data/surviving_mutants.toml``, and so is one that may survive.

The libraries do not do this. mutmut 3 changes nothing outside of functions and nothing that is
decorated, hence no limit or tolerance, and cosmic-ray has one test command for all modules;
neither samples, and neither removes a statement. Here operators and constants are changed,
statements that only act are left out, branches are never taken and functions return nothing. Types,
decorators and the words of messages stay.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
Key = tuple[str, str, str]
LISTED = ROOT / "tests" / "data" / "surviving_mutants.toml"
WANTED = 0.9
# Tests hang if they take longer than this and so many times what they take without a mutant.
PATIENCE_S, PATIENCE = 30, 5
MEMORY_KIB = 12 * 2**20
# Environment variable by which processes of a checkout are told.
MARK = "EQBENCH_MUTANT"
COPIED = ("eqbench", "games", "solvers", "tests", "tools", "results", "pyproject.toml", "README.md")

VERIFIER = (
    "verification/test_verifier.py verification/test_refutation.py verification/test_wide_games.py "
    "verification/test_exact_certificates.py"
)
# Runs from the command line to the files and back.
WHOLE = (
    "integration/test_command_line.py::test_run_prints_and_stores_the_same_cells "
    "integration/test_resume.py::test_torn_last_line_is_run_again"
)
STORE = (
    "store/test_json_lines.py store/test_run_folder.py store/test_results.py store/test_claims.py "
    "store/test_traces.py store/test_damaged_runs.py property/test_damaged_records.py "
    f"{WHOLE}"
)
CELLS = (
    "harness/test_verdict.py harness/test_recorder.py "
    "verification/test_refutation.py verification/test_wide_games.py "
    f"harness/test_plan.py {WHOLE}"
)
# Which equilibria are compared when a run ends.
CLUSTERS = (
    "integration/test_identities.py::test_a_run_names_the_sub_family_and_verify_says_the_same "
    "integration/test_identities.py::test_a_profile_that_was_deleted_costs_its_name_only"
)
# Nothing that kills processes is changed.
CHILDREN = (
    "isolation/test_deadlines.py isolation/test_messages.py isolation/test_processes.py "
    "integration/test_isolation.py::test_exit_code_and_last_words_of_a_child_arrive "
    "integration/test_isolation.py::test_every_frame_of_a_flood_arrives_in_order "
    "integration/test_isolation.py::test_hanging_child_is_killed_at_its_deadline"
)
TREES = (
    "model/test_tree_checks.py model/test_tree_files.py model/test_game_cache.py "
    "property/test_damaged_trees.py"
)
LISTS = "equilibria/test_completeness.py::"
KNOWN = (
    "equilibria/test_nearest.py equilibria/test_identity.py "
    "equilibria/test_clusters.py report/test_naming.py "
    "equilibria/test_extremes.py equilibria/test_components.py "
    f"{LISTS}test_lists {LISTS}test_two_equilibria_are_not_taken_for_one_however_near "
    f"{LISTS}test_inexact_equilibria_are_told_apart_and_rough_ones_belong_to_the_nearest "
    f"{LISTS}test_member_of_a_continuum_is_not_taken_for_an_isolated_equilibrium_hardly_strict "
    "integration/test_statements.py::test_end_that_a_set_excludes_is_not_in_it"
)

BELIEFS = "verification/test_credibility.py verdicts/test_sequential.py"
REFINEMENTS = "model/test_subgames.py verdicts/test_dominance.py verification/test_regularity.py"

# What is guarded, and by which tests: a module counts with the first line that fits it.
GUARDED = {
    "eqbench/verdict.py": "harness/test_verdict.py equilibria/test_kinds.py",
    "eqbench/verdicts/beliefs.py": BELIEFS,
    "eqbench/verdicts/trembles.py": BELIEFS,
    "eqbench/model/play.py": f"{BELIEFS} {REFINEMENTS}",
    "eqbench/verdicts/dominance.py": "verdicts/test_dominance.py",
    "eqbench/equilibria/regularity.py": "verification/test_regularity.py",
    "eqbench/verdicts/subgames.py": "model/test_subgames.py verdicts/test_dominance.py",
    "eqbench/verification/compiled_sweep.py": "verification/test_compiled_sweep.py",
    "eqbench/verification/*.py": VERIFIER,
    "eqbench/store/*.py": STORE,
    "eqbench/isolation/child.py": CHILDREN,
    "eqbench/isolation/messages.py": CHILDREN,
    "eqbench/isolation/processes.py": CHILDREN,
    "eqbench/harness/plan.py": CELLS,
    "eqbench/harness/judge.py": f"{CELLS} verification/test_exact_certificates.py",
    "eqbench/harness/run.py": f"{CELLS} {CLUSTERS}",
    "eqbench/documents.py": (
        "core/test_documents.py isolation/test_messages.py store/test_damaged_runs.py"
    ),
    "eqbench/text.py": "core/test_documents.py report/test_terminal.py",
    "eqbench/model/assemble.py": TREES,
    "eqbench/model/tree_files.py": TREES,
    "eqbench/equilibria/identity.py": KNOWN,
    "eqbench/equilibria/known.py": KNOWN,
    "eqbench/equilibria/clusters.py": KNOWN,
    "eqbench/studies/flow/regimes.py": "studies/test_regimes.py",
}


COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """A module with one part of its text replaced."""

    module: str
    line: int
    source: str
    change: str
    text: str

    @property
    def key(self) -> Key:
        return self.module, self.source, self.change

    def diff(self) -> str:
        before = (ROOT / self.module).read_text(encoding="utf-8").splitlines()
        lines = difflib.unified_diff(before, self.text.splitlines(), n=0, lineterm="")
        return "\n".join(f"    {line}" for line in lines if line[:3] not in ("---", "+++"))


def mutants_of(module: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    text = (ROOT / module).read_text(encoding="utf-8")
    lines = text.encode().splitlines(keepends=True)
    starts = [0, *itertools.accumulate(map(len, lines))]
    found = []
    seen: Counter[Key] = Counter()
    for node, new in sorted(_changes(ast.parse(text)), key=lambda pair: pair[0].lineno):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        changed = text.encode()[:start] + new.encode() + text.encode()[end:]
        change = f"{' '.join(ast.unparse(node).split())} -> {new}"
        source = lines[node.lineno - 1].decode().strip()
        seen[module, source, change] += 1
        # what stands twice in a line, or in two equal lines, may be excused in one of them only
        if (place := seen[module, source, change]) > 1:
            change = f"{change} (place {place})"
        found.append(Mutant(module, node.lineno, source, change, changed.decode()))
    return found


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Parts of a syntax tree, each with the text to put in its place."""
    for part, new in _replacements(node):
        text = new if isinstance(new, str) else ast.unparse(new)
        yield part, f"({text})" if isinstance(part, ast.expr) and " " in text else text
    for child in _behavior_in(node):
        yield from _changes(child)


def _behavior_in(node: ast.AST) -> list[ast.AST]:
    """Children that decide what is done: no types, no decorators and no words of messages."""
    match node:
        case ast.FunctionDef():
            return [node.args, *node.body]
        case ast.ClassDef():
            return [*node.body]
        case ast.AnnAssign():
            return [node.value] if node.value else []
        case ast.Raise() | ast.JoinedStr() | ast.arg() | ast.Import() | ast.ImportFrom():
            return []
    return list(ast.iter_child_nodes(node))


def _replacements(node: ast.AST) -> Iterator[tuple[Any, ast.AST | str]]:
    match node:
        case ast.Compare(left, [first, *others], right):
            for other in COMPARED[type(first)]:
                yield node, ast.Compare(left, [other(), *others], right)
        case ast.Constant(bool() as value):
            yield node, repr(not value)
        case ast.Constant(int() as value):
            yield node, repr(value + 1)
            yield node, repr(value - 1)
        case ast.Constant(float() as value):
            yield node, repr(value + 1)
        case ast.BinOp(left, operator, right) if type(operator) in COMPUTED:
            yield node, ast.BinOp(left, COMPUTED[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield node, ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield node, operand
        case ast.Call(ast.Name(name), arguments, keywords) if name in SWAPPED:
            yield node, ast.Call(ast.Name(SWAPPED[name]), arguments, keywords)
        case ast.If() | ast.IfExp():
            yield node.test, "False"
        case ast.Expr(ast.Call()) | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Delete():
            yield node, "pass"
        case ast.Return(ast.expr() as value) if ast.unparse(value) != "None":
            yield node, "return None"


class Checkout:
    """A copy of the checkout in which one module at a time is broken."""

    def __init__(self, folder: Path, kernels: Path) -> None:
        self.folder = folder
        left_out = shutil.ignore_patterns("__pycache__")
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, symlinks=True, ignore=left_out)
            else:
                shutil.copy2(source, folder / name)
        self.mark = str(folder)
        self.variables = os.environ | {
            MARK: self.mark,
            "PYTHONPATH": str(folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(kernels),
        }

    def passes(self, mutant: Mutant, patience_s: float) -> bool:
        """Whether all tests of the module pass with the mutant in its place."""
        file = self.folder / mutant.module
        before = file.read_bytes()
        file.write_text(mutant.text, encoding="utf-8")
        try:
            return self.run(mutant.module, patience_s) == ""
        finally:
            file.write_bytes(before)

    def run(self, module: str, patience_s: float) -> str:
        """What the tests of a module printed if one fails or if they hang, else nothing."""
        tests = [f"tests/{name}" for name in tests_of(module)]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                ["sh", "-c", f'ulimit -v {MEMORY_KIB}; exec "$@"', "sh", *command],
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(patience_s)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                self._end_everything()
                process.wait()
            log.seek(0)
            return "" if code == 0 else log.read().decode(errors="replace") or "it hangs"

    def _end_everything(self) -> None:
        """Kill whatever was started here; a mutant may leave children behind."""
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.pid != os.getpid() and process.environ().get(MARK) == self.mark:
                    process.kill()


def tests_of(module: str) -> list[str]:
    """Files of tests that protect a module."""
    chosen = next(tests for pattern, tests in GUARDED.items() if fnmatch(module, pattern))
    return [name for name in dict.fromkeys(chosen.split()) if _file_of(name).exists()]


def _file_of(name: str) -> Path:
    return ROOT / "tests" / name.partition("::")[0]


def guarded_modules(only: str) -> list[str]:
    """Modules that are guarded and fit a pattern, without those that hold no code."""
    modules = [
        str(path.relative_to(ROOT)) for pattern in GUARDED for path in sorted(ROOT.glob(pattern))
    ]
    return [module for module in dict.fromkeys(modules) if fnmatch(module, only)]


def time_without_mutants(checkouts: Sequence[Checkout], modules: Sequence[str]) -> dict[str, float]:
    """Seconds that the tests of each module take; ends the command if one of them fails."""
    times: dict[tuple[str, ...], float] = {}
    for module in modules:
        tests = tuple(tests_of(module))
        if tests in times:
            continue
        for checkout in checkouts:  # the first time compiles what the second one measures
            started = time.monotonic()
            if said := checkout.run(module, 3600):
                sys.exit(f"without any mutant the tests of {module} fail:\n{said}")
            times[tests] = time.monotonic() - started
        print(f"{times[tests]:6.1f} s  {' '.join(tests)}", flush=True)
    return {module: times[tuple(tests_of(module))] for module in modules}


def survivors(
    mutants: Sequence[Mutant], checkouts: Sequence[Checkout], times: dict[str, float]
) -> list[Mutant]:
    """Mutants under which all tests pass, printed as they are found."""
    free: SimpleQueue[Checkout] = SimpleQueue()
    for checkout in checkouts:
        free.put(checkout)

    def survives(mutant: Mutant) -> bool:
        checkout = free.get()
        try:
            return checkout.passes(mutant, PATIENCE_S + PATIENCE * times[mutant.module])
        finally:
            free.put(checkout)

    found = []
    with ThreadPoolExecutor(len(checkouts)) as pool:
        results = zip(mutants, pool.map(survives, mutants), strict=True)
        for number, (mutant, alive) in enumerate(results, 1):
            if alive:
                found.append(mutant)
                place = f"[{number}/{len(mutants)}] {mutant.module}:{mutant.line}"
                print(f"{place} survives: {mutant.change}\n{mutant.diff()}", flush=True)
    return found


def main() -> int:
    """Print who survives and a count; the code is 1 if too few were killed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=200, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=0, help="of the choice among all mutants")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at a time")
    parser.add_argument("--only", default="*", help="modules, for example 'eqbench/store/*'")
    asked = parser.parse_args()
    listed = {
        (item["module"], item["source"], item["change"]): item
        for item in tomllib.loads(LISTED.read_text(encoding="utf-8"))["mutant"]
    }
    modules = guarded_modules(asked.only)
    every = [mutant for module in modules for mutant in mutants_of(module)]
    for key in listed.keys() - {mutant.key for mutant in every} if asked.only == "*" else ():
        print("listed, but no mutant any more: {}: {}: {}".format(*key))
    chosen = random.Random(asked.seed).sample(every, min(asked.count, len(every)))
    with tempfile.TemporaryDirectory(prefix="eqbench-mutants-") as place:
        folders = [Path(place, str(number)) for number in range(asked.jobs)]
        checkouts = [Checkout(folder, Path(place, "kernels")) for folder in folders]
        times = time_without_mutants(checkouts, sorted({mutant.module for mutant in chosen}))
        alive = survivors(chosen, checkouts, times)
    for mutant in chosen:
        if mutant.key in listed and mutant not in alive:
            print(f"listed, but killed: {mutant.module}:{mutant.line}: {mutant.change}")
    return _count(chosen, alive, listed)


def _count(chosen: Sequence[Mutant], alive: Sequence[Mutant], listed: dict[Key, Any]) -> int:
    kinds = Counter(listed[m.key]["kind"] if m.key in listed else "gap" for m in alive)
    tried, left = Counter(m.module for m in chosen), Counter(m.module for m in alive)
    for module in sorted(tried):
        print(f"{tried[module] - left[module]:4} of {tried[module]:4} killed  {module}")
    killed, equivalent = len(chosen) - len(alive), kinds["equivalent"]
    share = killed / max(len(chosen) - equivalent, 1)
    print(f"{killed} of {len(chosen)} mutants killed ({killed / max(len(chosen), 1):.1%})")
    print(f"survivors: {equivalent} equivalent, {kinds['accepted']} accepted, {kinds['gap']} gaps")
    print(f"of those that are not equivalent {share:.1%} are killed; wanted are {WANTED:.0%}")
    return int(share < WANTED)


if __name__ == "__main__":
    sys.exit(main())
