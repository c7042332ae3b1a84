"""Readers of what reports are printed as: strict ones, so that a broken table is noticed."""

from __future__ import annotations

import re


class LatexError(AssertionError):
    """What a checked text does that LaTeX would not compile."""


def markdown_tables(text: str) -> list[list[list[str]]]:
    """Tables of a GitHub-flavored text, cell by cell, with escapes undone."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [
        [
            [re.sub(r"\\(.)", r"\1", part.strip()) for part in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        ]
        for block in blocks
    ]


def check_latex(text: str) -> list[list[list[str]]]:
    """Cells of all tabulars; a strict reader of the little LaTeX that reports use."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    if not text.isascii():
        raise LatexError("characters that pdfTeX need not know")
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            raise LatexError(f"\\end{{{name}}} closes nothing")
    if stack:
        raise LatexError(f"{stack} stay open")
    if unescaped(text, "{") != unescaped(text, "}"):
        raise LatexError("braces do not match")
    if unescaped(text, "$") % 2:
        raise LatexError("math mode stays open")
    outside = re.sub(r"(?<!\\)\$[^$]*(?<!\\)\$", "", text)
    for char in "#_^":
        if unescaped(outside, char):
            raise LatexError(f"{char} outside of math mode")
    tabulars = re.findall(
        r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}\n(.*?)\\end\{tabular\}", text, flags=re.DOTALL
    )
    rest = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", outside, flags=re.DOTALL)
    if unescaped(rest, "&"):
        raise LatexError("& outside of a table")
    return [check_tabular(columns, body) for columns, body in tabulars]


def check_tabular(columns: str, body: str) -> list[list[str]]:
    lines = body.strip().splitlines()
    if [line for line in lines if line.endswith("rule")] != [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]:
        raise LatexError("the three rules of booktabs are not in order")
    rows = []
    for line in lines:
        if not line.endswith("rule"):
            if not line.endswith(r" \\"):
                raise LatexError(f"{line!r} does not end its row")
            if rows and line.lstrip().startswith(("[", "*")):
                raise LatexError(f"{line!r} gives an option to the end of the row before")
            rows.append(re.split(r"(?<!\\)&", line.removesuffix(r"\\")))
            if len(rows[-1]) != len(columns):
                raise LatexError(f"{len(rows[-1])} cells in {len(columns)} columns: {line!r}")
    return [[part.strip() for part in row] for row in rows]


def unescaped(text: str, char: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(char)}", text))


def latex_to_text(source: str) -> str:
    names = {
        r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
        r"\textbar{}": "|", r"\textless{}": "<", r"\textgreater{}": ">",
        r"\textasciigrave{}": "`", "-{}": "-", "--": "–",
        r"$\approx$": "≈", r"$\alpha$": "α", r"$\beta$": "β", r"$\times$": "×", r"$\ldots$": "…",
    }  # fmt: skip
    pattern = "|".join(map(re.escape, names))
    parts = re.split(f"({pattern})", source)
    return "".join(names.get(part) or re.sub(r"\\([{}$&#_%])", r"\1", part) for part in parts)
