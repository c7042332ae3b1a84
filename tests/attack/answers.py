"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import eqbench
from eqbench.plots.style import Panel, draw_figure, line, svg_of
from eqbench.text import cell_text, csv_text

from .sandbox import Job, Result

KIND = "false answers"
Trials = Callable[[], Iterator[tuple[str, str]]]
_MARKED: dict[str, list[tuple[str, Trials]]] = {}


def neighbors(kind: str) -> Callable[[Trials], Trials]:
    """Mark a function as trials of this kind; its name is that of the job."""

    def mark(function: Trials) -> Trials:
        _MARKED.setdefault(kind, []).append((function.__name__, function))
        return function

    return mark


def marked(kind: str, *, quick: bool) -> Iterator[Job]:
    """One job for each marked function; none of them is among the tests."""
    if not quick:
        for name, function in _MARKED.get(kind, ()):
            yield Job(kind, name, partial(_tried, kind, name, function))


def _tried(kind: str, name: str, function: Trials) -> list[Result]:
    return [
        Result(kind, f"{name}: {trial}", (wrong,) if wrong else ()) for trial, wrong in function()
    ]


NONSENSE = (
    *(None, 3, float("nan"), [], b"x", {}, (), object(), np.zeros(3), Path("nowhere"), {1}),
    *(bytearray(b"x"), eqbench.Game, "", -1, [7], "1e400"),
)


def _calls(junk: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls of public functions, of which one argument is junk, whatever that is."""
    found = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    yield "load_solver", lambda: eqbench.load_solver(junk)
    yield "solve seed", lambda: eqbench.solve("kuhn2", "lcp", seed=junk)
    yield "solve timeout", lambda: eqbench.solve("kuhn2", "lcp", timeout=junk)
    yield "solve solver", lambda: eqbench.solve("kuhn2", junk)
    yield "solve budget", lambda: eqbench.solve("kuhn2", "lcp", junk)
    yield "verify profile", lambda: eqbench.verify("kuhn2", junk)
    yield "tolerance", lambda: eqbench.assert_equilibrium("kuhn2", found, junk)
    yield "contains", lambda: eqbench.contains(junk, found)
    yield "uniform", lambda: eqbench.BehaviorProfile.uniform(junk)
    yield "of", lambda: eqbench.BehaviorProfile.of(found.tree, junk)
    yield "from_gambit", lambda: eqbench.from_gambit("kuhn2", junk)
    yield "run seeds", lambda: eqbench.run("kuhn2", "lcp", seeds=junk, timeout=-1)
    for name in ("load_game", "load_results", "load_traces", "Run", "run", "read_experiment"):
        yield name, lambda name=name: getattr(eqbench, name)(junk)
    for name in ("qre", "simulate", "stability", "trace", "crossplay", "ranges", "gambit_line"):
        yield name, lambda name=name: getattr(eqbench, name)(junk)
    for name in ("verify", "identify", "kind", "load_profile", "assert_equilibrium", "from_gambit"):
        yield name, lambda name=name: getattr(eqbench, name)(junk, {})


@neighbors(KIND)
def nonsense_in_python_is_refused_in_a_sentence() -> Iterator[tuple[str, str]]:
    for junk in NONSENSE:
        for name, call in _calls(junk):
            wrong = ""
            try:
                call()
            except (eqbench.EqbenchError, eqbench.NotAnEquilibriumError) as error:
                wrong = "" if 10 < len(str(error)) < 1000 else f"says {error}"
            except Exception as error:  # of an inner module
                wrong = repr(error)
            yield f"{name} of {junk!r:.40}", wrong


@neighbors(KIND)
def no_cell_of_a_table_computes_anything() -> Iterator[tuple[str, str]]:
    signs = "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207a\u2212"
    for sign, before in product(signs, ("", " ", "\t", "\r", "\u3000", '"', ' "\u00a0')):
        text = csv_text([[cell_text(f"{before}{sign}cmd|1")]])
        yield f"{before!r} and {sign!r}", "" if text.strip('"').startswith("'") else f"reads {text}"
    for text in ("-1", "+2.5e-3", "-inf", "-1/2", "a=b"):
        kept = csv_text([[cell_text(text)]]).strip() == text
        yield f"{text} stays", "" if kept else "it is changed"
    for text in ("$\\frac$", "$x$ $y$", "$\\input{x}$", "\\$$"):
        panel = Panel([line([1, 2], [1, 10], "k", text)], *[text] * 3, {"yscale": "log"})
        try:
            wrong = "" if svg_of(draw_figure([panel], 4, 3, title=text, legend=text)) else "empty"
        except ValueError as error:
            wrong = repr(error)
        yield f"{text} in a figure", wrong


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each kind of false answer."""
    return marked(KIND, quick=quick)
