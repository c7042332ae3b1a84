"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import islice, product
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers import made_games as books
from helpers.made_games import error_ratio, farthest, long_path, random_tree, scattered_game
from helpers.runs import candidate, snapshot
from helpers.solver_cases import bimatrix, random_two_player_game, run, with_payoffs
from helpers.walks import dominated_plans

import eqbench
from eqbench.equilibria import cluster_identities, completeness
from eqbench.errors import ProfileError
from eqbench.games.gamut import with_numbered_actions
from eqbench.harness.judge import MeasuredProfile, measure, meets
from eqbench.model.gambit_text import nfg_text
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile, action_labels, label_parts
from eqbench.model.tree import GameTree
from eqbench.plots.style import Panel, draw_figure, line, svg_of
from eqbench.solver import refusal_of
from eqbench.solvers.logit.branch import LogitBranch
from eqbench.text import cell_text, csv_text
from eqbench.verdicts import kind_of
from eqbench.verification import Verifier, verifier, verify, verify_exactly

from .sandbox import Job, Result, Sandbox

KIND = "false answers"
NEIGHBORS = tomllib.loads(Path(__file__).with_name("neighbors.toml").read_text(encoding="utf-8"))
Trials = Callable[[], Iterator[tuple[str, str]]]
_MARKED: dict[str, list[tuple[Trials, bool]]] = {}


def neighbors(kind: str, *, quick: bool = False) -> Callable[[Trials], Trials]:
    """Mark a function as trials of this kind; its name is that of the job."""

    def mark(function: Trials) -> Trials:
        _MARKED.setdefault(kind, []).append((function, quick))
        return function

    return mark


def marked(kind: str, *, quick: bool) -> Iterator[Job]:
    """One job for each marked function, or for the quick ones, which are among the tests."""
    for function, is_quick in _MARKED.get(kind, ()):
        if is_quick or not quick:
            yield Job(kind, function.__name__, partial(_tried, kind, function))


def _tried(kind: str, function: Trials) -> list[Result]:
    return [
        Result(kind, f"{function.__name__}: {trial}", (wrong,) if wrong else ())
        for trial, wrong in function()
    ]


def _coordination(gain: str, least: str = "0", third: str = "-1") -> Game:
    """Two players who gain by the same action, and may lose by a third one that is dominated."""
    low, high = f"{least},{least}", ",".join([str(Decimal(least) + Decimal(gain))] * 2)
    rows = f"{high} {low} {least},{third}/{low} {high} {least},{third}"
    last = f"{third},{least} {third},{least} {third},{third}"
    return Game("coordination", books.tree_of(books.matrix(f"{rows}/{last}")))


@neighbors(KIND, quick=True)
def isolated_equilibria_are_counted_apart() -> Iterator[tuple[str, str]]:
    wide = [("1e-6", "1"), ("1e-9", "1"), ("1e-10", "1"), ("1e-14", "1"), ("1", "1e10")]
    for gain, least in wide:
        game = _coordination(gain, least, "0")
        rows = [
            BehaviorProfile.of_exact(game.tree, [p, 1 - p, Fraction(0)] * 2)
            for p in (Fraction(0), Fraction(1), Fraction(1, 2))
        ]
        for copies in (1, 2):
            whole = completeness(game, rows * copies)
            found = (*whole.indices, whole.verdict, whole.exact)
            wrong = str(found) * (found != (1, 1, -1, "consistent", True))
            yield f"gain {gain} of {least}, {copies} times", wrong
        near = BehaviorProfile(np.array([1e-12, 1 - 1e-12, 0, 0, 1, 0]))
        named = cluster_identities(game, [*rows, rows[0], near], [0.0] * 5)
        found = [each and (each.name[-1], each.dimension) for each in named]
        wrong = str(found) * (found != [(name, 0) for name in "12311"])
        yield f"gain {gain} of {least}, clusters", wrong


@neighbors(KIND, quick=True)
def labels_of_actions_differ() -> Iterator[tuple[str, str]]:
    """Labels are read back, and of names without the mark between parts they are these parts."""
    for names in (
        (("x", "a|b"), ("x|a", "b")),
        (("x\\", "|a"), ("x\\|", "a"), ("x|\\", "a")),
        (("", "||"), ("|", "|")),
        (("y\\", "a"), ("", "x")),
    ):
        sets, actions = zip(*names, strict=True)
        tree = SimpleNamespace(players=["P1"], infoset_player=[0] * len(names))
        tree.infoset_labels, tree.infoset_actions = sets, [[each] for each in actions]
        labels, parts = action_labels(tree), [["P1", *each] for each in names]
        right = len({*labels}) == len(names) and [*map(label_parts, labels)] == parts
        right &= "|" in str(names) or labels == ["|".join(each) for each in parts]
        yield str(names), f"labels {labels}" * (not right)


OWN = """
from dataclasses import dataclass
from pathlib import Path
import eqbench

@eqbench.register_game("own", summary="what is in a file")
@dataclass(frozen=True)
class Own:
    def build(self):
        return eqbench.load_game(str(Path(__file__).with_name("game.nfg"))).tree
"""


@neighbors(KIND)
def what_is_derived_goes_by_content_of_the_game() -> Iterator[tuple[str, str]]:
    for game, plugin in (("game.nfg", ()), ("own", ("--plugin", "own.py"))):
        with Sandbox() as sandbox:
            file = sandbox.root / "game.nfg"
            (sandbox.root / "own.py").write_text(OWN)
            file.write_text(nfg_text(_coordination("2").tree))
            for out in ("run", "old"):
                asked = ("--game", game, "--solver", "gambit_enummixed", *plugin)
                sandbox.command("run", *asked, "--out", out)
            file.write_text(nfg_text(_coordination("3").tree))
            cell = "run", "gambit_enummixed"
            for words in (
                ("show", *cell),
                ("verify", *cell),
                ("verify", *cell, "--refine", "-", "--in", "run/cluster:1"),
                ("crossplay", "run", *plugin),
            ):
                refusal = sandbox.command(*words).refusal()
                yield f"{game}: {words[0]} of a changed game", "; ".join(refusal)
            said = sandbox.command("run", "--resume", "run", "--solver", "logit").out
            yield f"{game}: resumed", said * ("at least one is missing" not in said)
            refusal = sandbox.command("compare", "old", "run").refusal()
            yield f"{game}: compared", "; ".join(refusal)
            sandbox.command("merge", "old", "run", "--out", "both")
            lists = json.loads((sandbox.root / "both" / "completeness.json").read_text())
            found = [each["indices"] for each in lists.values()]
            yield f"{game}: merged", f"indices {found}" * (found != [[-1]])
            said = sandbox.command("report", "both").out
            titles = set(re.findall(r"\(in content \w+\)", said))
            yield f"{game}: report of the merged", said * (len(titles) != 2)
    with Sandbox() as sandbox:
        (sandbox.root / "game.nfg").write_text(nfg_text(_coordination("1e-10", "1", "0").tree))
        sandbox.command("run", "--game", "game.nfg", "--solver", "gambit_enumpure", "--out", "run")
        clusters = json.loads((sandbox.run / "clusters.json").read_text()).values()
        names = sorted(each["name"] for each in clusters)
        yield "clusters of a run", f"{names}" * (names[:2] != ["cluster:1", "cluster:2"])


NONSENSE = (
    *(None, 3, float("nan"), [], b"x", {}, (), object(), np.zeros(3), Path("nowhere"), {1}),
    *(bytearray(b"x"), eqbench.Game, "", -1, [7], "1e400"),
)


def _calls(junk: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls of public functions, of which one argument is junk, whatever that is."""
    profile = BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    values = {"@junk": junk, "@profile": profile, "@tree": profile.tree}
    for name, calls in NEIGHBORS["calls"].items():
        for call in calls:
            given = [each for each in call if each == {} or not isinstance(each, dict)]
            given = [values.get(each, each) if isinstance(each, str) else each for each in given]
            named = call[-1] if len(given) < len(call) else {}
            named = {key: values.get(value, value) for key, value in named.items()}
            yield f"{name}{call}", partial(attrgetter(name)(eqbench), *given, **named)


@neighbors(KIND, quick=True)
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


@neighbors(KIND, quick=True)
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


class _HandsOver:
    """Calls one profile an equilibrium, up to a regret."""

    def __init__(self, profile: BehaviorProfile, claimed: float | None = None) -> None:
        self.given = profile, "equilibrium", claimed

    def solve(self, game: Any, monitor: Any, rng: Any) -> eqbench.Termination:
        """Hand it over."""
        monitor.candidate(*self.given)
        return eqbench.Termination("converged")


RUIN = "-1e11"


def _ruinous() -> Iterator[tuple[str, books.Node]]:
    """Games with an outcome far beyond what play is about."""
    for name, game in NEIGHBORS["ruinous"].items():
        yield name, books.matrix(game) if isinstance(game, str) else game
    node = books.matrix("2,2 0,3/3,0 1,1")
    for turn in range(6):
        node = (f"{1 + turn % 2} turn {turn}", {"on": node, "ruin": f"{RUIN} {RUIN}"})
    yield "behind moves", node
    yield "three players", _three_players()


def _three_players(before: str = "") -> books.Node:
    """The same dilemma of three, any of whom may ruin all."""
    if len(before) < 3:
        return (str(len(before) + 1), {end: _three_players(before + end) for end in "CDR"})
    paid = [RUIN if "R" in before else 2 * (own == "D") + before.count("C") for own in before]
    return " ".join(map(str, paid))


@neighbors(KIND, quick=True)
def ruin_sets_no_scale() -> Iterator[tuple[str, str]]:
    """Outcomes that players avoid make no equilibrium of dominated play, nor of one in 100."""
    for name, node in _ruinous():
        tree = books.tree_of(node)
        for share, right in ((Fraction(1), "refuted"), (Fraction(1, 100), "refuted"), (0, "ok")):
            rows = ([share, 1 - share] + [0] * len(each) for each in tree.infoset_actions)
            sizes = map(len, tree.infoset_actions)
            chosen = [x for row, size in zip(rows, sizes, strict=True) for x in row[:size]]
            exact = BehaviorProfile.of_exact(tree, chosen)
            for profile in (exact, BehaviorProfile.of(tree, exact.probabilities)):
                result = eqbench.solve(eqbench.Game(name, tree), _HandsOver(profile))
                kind = result.equilibria[0].kind if share else None
                wrong = "" if (result.status, kind) == (right, None) else f"{result.status}, {kind}"
                yield f"{name}, {share} dominated, exact {profile.exact is not None}", wrong


@neighbors(KIND, quick=True)
def bounds_shield_no_claim() -> Iterator[tuple[str, str]]:
    """A bound on the regret that a solver names makes no equilibrium of what is none."""
    uniform = BehaviorProfile.uniform(eqbench.load_game("kuhn2").tree)
    for bound in (1e-5, 1.0, 1e6, 1e300, -1.0, -1e-300, float("nan"), float("inf"), 10**400):
        try:
            status = eqbench.solve("kuhn2", _HandsOver(uniform, bound)).status
        except (ValueError, OverflowError):
            status = "refused"
        yield f"a bound of {str(bound)[:9]}", "" if status in ("refuted", "refused") else status


def _ties(seed: int, size: int, base: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    shape = (2, *rng.integers(2, size, 2))
    return bimatrix(*(base + rng.integers(0, 2 + seed % 3, shape)).tolist())


_SMALL_GAMES: dict[str, Callable[[int], Game]] = {
    "2 by 2": lambda seed: _ties(seed, 3),
    "matrices with ties": lambda seed: _ties(seed, 6),
    "near ties": lambda seed: _ties(seed, 5, 10**9),
    "floats": lambda seed: with_payoffs(_ties(seed, 6), _ties(seed, 6).tree.payoffs.table / 10),
    "trees": lambda seed: random_two_player_game(seed, depth=5),
    "regular trees": lambda seed: eqbench.load_game(f"random_tree(players=2,depth=4,seed={seed})"),
    "trees of three": lambda seed: Game("", random_tree(2 + 4 * seed, depth=4)),
}


def _equilibria(game: Game, solver: str) -> Iterator[BehaviorProfile]:
    """Equilibria that a solver finds in two seconds, or in pure strategies."""
    tree, profiles = game.tree, iter(())
    if solver == "pure":
        rows = product(*(np.eye(len(actions)) for actions in tree.infoset_actions))
        profiles = (BehaviorProfile.of(tree, np.concatenate(each)) for each in rows)
    elif not refusal_of(eqbench.load_solver(solver), game):
        found = run(solver, game, timeout_s=2, target=1e-12).candidates
        profiles = (each.profile for each in found if each.claim == "equilibrium")
    measure = verify_exactly if tree.exact else verify
    return (x for x in profiles if measure(tree, x).max_regret <= 1e-10 * tree.payoff_scale)


@neighbors(KIND)
def dominated_plans_by_linear_programs() -> Iterator[tuple[str, str]]:
    """Verdicts on plans of equilibria of small games, against linear programs over pure plans."""
    solvers = ("pure", "lcp", "semismooth", "logit", "case_enumeration")
    for (family, make), solver in product(_SMALL_GAMES.items(), solvers):
        counts, wrong = Counter[str](), []
        for seed, game in enumerate(map(make, range(40))):
            tree = game.tree
            if not 1 < math.prod(map(len, tree.infoset_actions)) <= 3000:
                continue
            for profile in islice(_equilibria(game, solver), 4):
                for read in (Play.of,) * (not tree.is_wide) + (Play.exactly,) * tree.exact:
                    play = read(tree, profile)
                    found = kind_of(play).undominated
                    counts[found] += 1
                    dominated = any(dominated_plans(tree, (play.played > 0).astype(float)))
                    if found == ("certified" if dominated else "refuted"):
                        wrong.append(f"{found} at seed {seed}")
        if counts:
            yield f"{family}, {solver}: {dict(counts)}", "; ".join(wrong)


@neighbors(KIND)
def rows_that_miss_one() -> Iterator[tuple[str, str]]:
    """Profiles whose rows do not sum to 1 are measured as they are stored."""
    games = {
        f"{name}, rows {spare:g} off": long_path(spare, **of)
        for spare in (9e-10, -9e-10, 1e-12)
        for name, of in NEIGHBORS["long_paths"].items()
    }
    for name, (tree, frequencies) in games.items():
        frames = [candidate(frequencies, claim=claim) for claim in ("iterate", "average")]
        decimals = [str(Fraction(repr(value))) for value in frequencies.tolist()]
        frames += [candidate(frequencies, exact=decimals), snapshot(1, frequencies)]
        findings = [measure(frame, Verifier(tree), 1e-6) for frame in frames]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verifier, "COMPILED_FROM", 0)
            findings.append(measure(frames[0], Verifier(tree), 1e-6))
        yield name, "; ".join(filter(None, (astray(tree, finding) for finding in findings)))
    for name, row in {"negative": (-1e-17, 1.0), "above 1": (1 + 1e-12, 0.0)}.items():
        tree, frequencies = long_path(0.0)
        frequencies[:2] = row
        try:
            measure(candidate(frequencies), Verifier(tree), 1e-6)
            yield f"an entry that is {name}", "it is taken"
        except ProfileError:
            yield f"an entry that is {name}", ""
    for seed in range(0, 24, 3):  # with chances in floats
        tree, profile = scattered_game(seed)
        tree = replace(tree, chance=tree.chance * (1 - 9e-13))
        profile = BehaviorProfile.of(tree, profile.probabilities * (1 - 9e-10))
        measured = Verifier(tree).verify(profile)
        off = farthest(tree, profile, measured)
        wrong = f"off by {off}, bound {measured.error}"
        yield f"all rows and chances of game {seed}", wrong if off > measured.error else ""


@neighbors(KIND)
def errors_of_regrets() -> Iterator[tuple[str, str]]:
    """Exact regrets of 1,000 games lie within the errors, which are near to the differences."""
    ratios = list(map(error_ratio, range(1000)))
    for seed, ratio in enumerate(ratios):
        if ratio < 1:
            yield f"game {seed}", f"the error is {ratio:.3g} of the difference"
    median = statistics.median(ratios)
    yield "1,000 games", f"errors are {median:.3g} times too large" if median > 100 else ""


def astray(tree: GameTree, finding: MeasuredProfile) -> str:
    """What is wrong with a measured regret, which is 1/50 in each game of `long_path`."""
    off = farthest(tree, finding.candidate.profile, finding.measured)
    if not off <= finding.measured.error <= 1e-11 * tree.largest_payoff:
        return f"off by {off}, bound {finding.measured.error}"
    return "a target of 0.019 is met" if meets(0.019, [finding], tree) else ""


@neighbors(KIND)
def methods_that_take_over() -> Iterator[tuple[str, str]]:
    """Runs of `ncp` that may end with another method's point, or without any."""
    tree = "random_tree(players={},depth=6,actions=3,seed=4)"
    runs = [(tree.format(players), "ncp", s) for players in (3, 4) for s in (0.05, 0.5, 2.0)]
    runs += [(tree.format(4), f"ncp(fallback={name})", 2.0) for name in ("none", "logit")]
    runs += [(tree.format(2), f"ncp(backend={name})", 30.0) for name in ("gurobi", "scip")]
    runs += [("random(players=2,actions=25,seed=2)", "ncp", 20.0)]
    for game, solver, time_s in runs:
        found = eqbench.solve(game, solver, eqbench.Limits(timeout_s=time_s), seed=0)
        method = found.statistics.get("fallback")
        claimed = [each.max_regret for each in found.equilibria if each.claim == "equilibrium"]
        wrong = []
        if max(claimed, default=0.0) > 2e-4 or (found.status == "ok" and not found.equilibria):
            wrong.append(f"{found.status} with claims of regrets {claimed}")
        if method and (f"; {method}: " not in found.reason or "fallback=none" in solver):
            wrong.append(f"{method} took over, and the reason is {found.reason!r}")
        if not method and "branch and bound had no point" in found.reason:
            wrong.append("a method took over that the record does not name")
        if "players=2" in game and "scip" not in solver and found.status != "ok":
            wrong.append(f"two players, yet {found.status}: {found.reason}")
        yield f"{solver} on {game}, {time_s} s", "; ".join(wrong)


FAMILIES = {
    "random_signed(players=3,actions=3,seed={})": 25,
    "random_signed(players=4,actions=3,seed={})": 15,
    "random_tree(players=2,depth=4,actions=3,seed={})": 15,
    "random_tree(players=2,depth=5,seed={})": 60,
    "random_tree(players=3,depth=5,seed={})": 60,
    "random_tree(players=4,depth=6,seed={})": 25,
}
LOCAL_EFFECTS = "gamut(distribution={}LEG-{},players={},actions={},seed={})"


@neighbors(KIND)
def principal_branches() -> Iterator[tuple[str, str]]:
    """Ends are those of steps 20 times shorter, or the branch is marked as left, 1 of 200."""
    kinds = product(("Bidirectional", "Uniform"), ("CG", "RG", "SG"), ((3, 3), (3, 4), (4, 3)))
    for first in (0, 1000):
        seeds = [(text, first + k) for text, most in FAMILIES.items() for k in range(most)]
        yield from followed(f"seeds from {first}", [text.format(k) for text, k in seeds])
    for kind, graph, sizes in kinds:
        names = [LOCAL_EFFECTS.format(kind, graph, *sizes, seed) for seed in range(8)]
        yield from followed(f"{kind} local effects on {graph}, {sizes}", names)
    for others in ("players=2,actions=8", "players=5,actions=2", "players=3,actions=5"):
        names = [f"random_signed({others},seed={seed})" for seed in range(30)]
        yield from followed(others, names)
        yield from followed(f"{others}, from random priors", names, priors=True)
    for others in ("players=2,depth=6", "players=3,depth=4,actions=3", "players=5,depth=5"):
        yield from followed(others, [f"random_tree({others},seed={seed})" for seed in range(20)])
    draws = [np.random.default_rng(seed).uniform(-1, 1, (3, 3, 3, 3)) for seed in range(40)]
    for factor in (1e3, 1e-3):
        tables = [np.round(1e6 * factor * table) / 1e6 for table in draws]
        yield from followed(f"payoffs times {factor:g}", map(shown, tables))
    worse = [np.full((4, 4, 4, 3), -2.0) for _ in draws]
    for table, more in zip(draws, worse, strict=True):
        more[:3, :3, :3] = table
    yield from followed("dominated actions", map(shown, worse))
    for off in (1e-2, 1e-4):  # pitchforks that nearly close
        near = [off * table + coordination(3, 3) for table in draws]
        yield from followed(f"coordination but for {off:g}", map(shown, near), forks=True)
    for players, actions in ((2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (3, 4)):
        check = end_of(shown(coordination(players, actions)))[1]
        wrong = "" if check.startswith("bifurcation") else check
        yield f"coordination of {players} players, {actions} actions", wrong


def coordination(players: int, actions: int) -> np.ndarray:
    """Payoffs of 1 to all if all do the same thing, to nobody otherwise."""
    table = np.zeros((actions,) * players + (players,))
    for action in range(actions):
        table[(action,) * players] = 1.0
    return table


def shown(payoffs: np.ndarray) -> Game:
    return Game("table", with_numbered_actions(payoffs))


def end_of(game: Game, seed: int | None = None, **control: Any) -> tuple[np.ndarray, str]:
    """Frequencies at the end of a branch, and how far its steps passed their tests."""
    rng = None if seed is None else np.random.default_rng(seed)
    branch = LogitBranch(game, rng, **control)
    while branch.steps < 20_000 and branch.advance(np.array([1e6 * branch.flat.unit]), 64):
        pass
    return branch.behavior(), branch.check()


def followed(
    name: str, games: Iterable[str | Game], *, priors: bool = False, forks: bool = False
) -> Iterator[tuple[str, str]]:
    """Branches of some games: how many jump without tests, and what is wrong with them.

    Where they nearly fork, any mark will do.
    """
    jumps, left, wrong = 0, 0, []
    for number, given in enumerate(games):
        game = eqbench.load_game(given) if isinstance(given, str) else given
        seed = number if priors else None
        expected = end_of(game, seed, longest=0.01 if forks else 0.03, tested=forks)[0]
        jumps += np.abs(end_of(game, seed, tested=False)[0] - expected).max() > 1e-3
        end, check = end_of(game, seed)
        left += "left" in check
        marked = check != "checked" if forks else "left" in check
        if np.abs(end - expected).max() > 1e-3 and not marked:
            wrong.append(f"{game.spec}: {check}")
    more = [f"{left} are left"] if left > 1 and not forks else []
    yield f"{name}: {jumps} of {number + 1} jump without tests", "; ".join(wrong + more)


jobs = partial(marked, KIND)  # one for each marked function
