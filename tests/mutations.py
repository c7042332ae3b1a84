"""Small changes of a module's source, each of which should make a test fail.

Operators and constants are changed, statements that only act are left out, branches are never taken
and functions return nothing. Types, decorators and the words of messages stay.
"""

from __future__ import annotations

import ast
import difflib
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Key = tuple[str, str, str]

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
