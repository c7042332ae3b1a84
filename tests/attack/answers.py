"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import eqbench
from eqbench.equilibria import completeness
from eqbench.model.profile import action_labels

from .sandbox import Job, Result, Sandbox

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


def _coordination(gain: Fraction, base: int = 0, chance: Fraction = Fraction(1, 2)) -> eqbench.Game:
    """Two players who gain by the same action, three equilibria, and a third, dominated action."""
    tree = eqbench.TreeBuilder(["P1", "P2"])
    start = tree.chance(None, [chance, 1 - chance])
    tree.terminal((start, 1), [0, 0])
    root = tree.decision((start, 0), 0, "1", ["a", "b", "c"])
    for i in range(3):
        node = tree.decision((root, i), 1, "2", ["a", "b", "c"])
        for j in range(3):
            both = base + gain * (i == j)
            tree.terminal((node, j), [-1 if k == 2 else both for k in (i, j)])
    return eqbench.Game("coordination", tree.tree())


def _folding(apart: Fraction) -> eqbench.Game:
    """Three players; two equilibria with frequencies 1/2 ± `apart`, of opposite indices."""
    tree, constant = eqbench.TreeBuilder(["P1", "P2", "P3"]), Fraction(1, 4) - apart**2
    at: dict[tuple[int, ...], object] = {(): tree.decision(None, 0, "1", ["0", "1"])}
    for depth in (1, 2):
        for path in itertools.product((0, 1), repeat=depth):
            above = (at[path[:-1]], path[-1])
            at[path] = tree.decision(above, depth, str(depth + 1), ["0", "1"])
    for x, y, z in itertools.product((0, 1), repeat=3):
        last = x * y - Fraction(x + y, 2) + constant
        tree.terminal((at[x, y], z), [x * (y - z), y * (x - z), z * last])
    return eqbench.Game("folding", tree.tree())


@neighbors(KIND)
def isolated_equilibria_are_counted_apart() -> Iterator[tuple[str, str]]:
    half, small = Fraction(1, 2), [Fraction(1, 10**k) for k in (7, 8, 9, 10, 13)]
    games = [(f"gain {float(g)}", _coordination(g, 1), (half, 0, 1)) for g in small[2:]]
    games += [
        (f"gain 1 of {b:.0e}", _coordination(Fraction(1), b), (half, 0, 1)) for b in (10**12,)
    ]
    games += [(f"chance {float(c)}", _coordination(Fraction(1), 0, c), (half, 0, 1)) for c in small]
    games += [(f"± {float(a)}", _folding(a), (half - a, half + a)) for a in small[:3]]
    for name, game, places in games:
        played = [[1 - p, p] * 3 if name.startswith("±") else [p, 1 - p, 0] * 2 for p in places]
        rows = [eqbench.BehaviorProfile.of_exact(game.tree, each) for each in played]
        for what, given in (("", rows), (" twice", rows * 2)):
            found = sorted(map(str, completeness(game, given).indices))
            right = ["-1", "1"] if name.startswith("±") else ["-1", "1", "1"]
            yield name + what, f"indices {found}" * (found != right)


@neighbors(KIND)
def labels_of_actions_differ() -> Iterator[tuple[str, str]]:
    for names in (("x", "a|b", "x|a", "b"), ("x\\", "a|b", "x|a\\", "b"), ("", "||", "|", "|")):
        tree = eqbench.TreeBuilder(["P1"])
        root = tree.decision(None, 0, "r", ["1", "2"])
        for i, (infoset, action) in enumerate((names[:2], names[2:])):
            node = tree.decision((root, i), 0, infoset, [action, "other"])
            for j in range(2):
                tree.terminal((node, j), [j])
        labels = action_labels(tree.tree())
        yield repr(names), f"labels {labels}" * (len(set(labels)) < len(labels))


LISTER = """
from dataclasses import dataclass
from fractions import Fraction
import eqbench

@eqbench.register_game("own", summary="a coordination game")
@dataclass(frozen=True)
class Own:
    def build(self):
        tree = eqbench.TreeBuilder(["P1", "P2"])
        root = tree.decision(None, 0, "1", ["a", "b"])
        for i in range(2):
            node = tree.decision((root, i), 1, "2", ["a", "b"])
            for j in range(2):
                tree.terminal((node, j), [2 * (i == j)] * 2)
        return tree.tree()

@eqbench.register_solver("lister", summary="all equilibria, or the mixed one if 3 is to be gained")
@dataclass(frozen=True)
class Lister:
    def solve(self, game, monitor, rng):
        for p in [Fraction(k, 2) for k in ((1,) if game.tree.payoff_range == 3 else (1, 0, 2))]:
            found = eqbench.BehaviorProfile.of_exact(game.tree, [p, 1 - p] * 2)
            monitor.candidate(found, "equilibrium")
        return eqbench.Termination("converged")
"""
NFG = 'NFG 1 R "" { "P1" "P2" } { { "a" "b" } { "a" "b" } } "" {0} {0} 0 0 0 0 {0} {0}'


def _write(sandbox: Sandbox, payoff: str, game: str) -> None:
    own = "[2 * (i == j)]", f"[{payoff} * (i == j)]"
    (sandbox.root / "lister.py").write_text(LISTER.replace(*own))
    if game != "own":
        numbers = NFG.replace("{0}", payoff)
        (sandbox.root / game).write_text(numbers)


@neighbors(KIND)
def what_is_derived_goes_by_content_of_the_game() -> Iterator[tuple[str, str]]:
    for game in ("game.nfg", "own"):
        with Sandbox() as sandbox:
            asked = ("--game", game, "--solver", "lister", "--plugin", "lister.py", "--out")
            _write(sandbox, "2", game)
            sandbox.command("run", *asked, "run")
            sandbox.command("run", *asked, "old")
            _write(sandbox, "3", game)
            for words in (("show",), ("verify",), ("refine",)):
                ended = sandbox.command(*words, "run", "lister")
                yield f"{game}: {words[0]} of a changed game", "; ".join(ended.refusal())
            ended = sandbox.command("contains", "run/cluster:1", "run", "lister")
            yield f"{game}: contains of a changed game", "; ".join(ended.refusal())
            ended = sandbox.command("crossplay", "run", "--plugin", "lister.py")
            yield f"{game}: crossplay of a changed game", "; ".join(ended.refusal())
            said = sandbox.command("run", "--resume", "run").out
            yield f"{game}: resumed", said * ("at least one is missing" not in said)
            ended = sandbox.command("compare", "old", "run")
            yield f"{game}: compared", "; ".join(ended.refusal())
            sandbox.command("merge", "old", "run", "--out", "both")
            lists = json.loads((sandbox.root / "both" / "completeness.json").read_text())
            found = [each["indices"] for each in lists.values()]
            yield f"{game}: merged", f"indices {found}" * (found != [[-1]])
            said = sandbox.command("report", "both").out
            titles = set(re.findall(r"\(in content \w+\)", said))
            yield f"{game}: report of the merged", said * (len(titles) != 2)
    with Sandbox() as sandbox:
        best = "1.0000000001 1.0000000001"
        text = 'NFG 1 R "" { "P1" "P2" } { { "a" "b" "c" } { "a" "b" "c" } } ""'
        text = f"{text} {best} 1 1 -1 0 1 1 {best} -1 0 0 -1 0 -1 -1 -1"
        (sandbox.root / "game.nfg").write_text(text)
        sandbox.command("run", "--game", "game.nfg", "--solver", "gambit_enumpure", "--out", "run")
        names = {
            each["name"]
            for each in json.loads((sandbox.run / "clusters.json").read_text()).values()
        }
        yield "clusters of a run", f"{names}" * (len(names) != 2)


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each kind of false answer."""
    return marked(KIND, quick=quick)
