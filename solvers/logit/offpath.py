"""Play off the path of an equilibrium, solved again so that beliefs support it.

On the path, actions that are played keep their frequencies. All others, and everything at sets
that play does not come to, respond as in agent logit quantal response equilibria. So mistakes on
the path are as rare as they are dear, and from them follow beliefs and answers off the path. At
the end of the branch these are read off. Nothing tells beforehand that they keep everybody on
the path; that is measured in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach, inspect_profile
from eqbench.model.profile import BehaviorProfile, place_of
from eqbench.model.tree import FloatArray, GameTree
from eqbench.solver import Monitor

from ..polish.frequencies import ActiveSet, GainSystem, newton
from .branch import LogitBranch
from .kernels import FIRST, FREE, FlatTree, bytes_needed, flat_tree

# Where the branch ends, times the payoff range: mixtures are off by the reciprocal, and beyond
# by the rounding of log-odds.
LAST_LAMBDA = 1e7
MOST_STEPS = 5_000
# Leduc poker has 1,248. No step is broken off; one on dense matrices of this size takes seconds.
MOST_UNKNOWNS = 1_500
# Frequency up to which an action counts as unplayed: in the profile, as the verifier has it, and
# at the end of the branch, where what vanishes may do so as slowly as the logarithm over lambda.
OFF_PATH, VANISHING = 1e-9, 1e-5
# Log frequency at which actions begin that stay unplayed.
RARE = -30.0
# Regret, as a share of the payoff range, that is rounding.
ROUNDING = 1e-13
# Loss, as a share of the payoff range, up to which an action may be as good as the best one.
TIED = 100 / LAST_LAMBDA
# Largest denominator of mixtures off the path of exact profiles.
DENOMINATOR = 1000
MOST_NAMED = 3
NOT_SIMPLE = "mixtures off the path of play are no simple fractions"
ALL_PLAYED = "all choices are on the path of play"
DEVIATION = "with the play found off its path a deviation pays"


@dataclass(frozen=True, eq=False)
class Refined:
    """A profile after what lies off its path of play was solved again."""

    behavior: FloatArray  # float64 (A,): the given one where nothing better was found
    regret: float  # its largest regret, in payoff units
    reason: str = ""  # why the given one was kept; empty if it was not
    # int64 (P,): information sets on the path at which a deviation pays if all are rational off it
    pays: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def text(self, tree: GameTree) -> str:
        """The reason, with some of the sets."""
        places = [place_of(tree, int(i)) for i in self.pays[:MOST_NAMED]]
        more = f" and {len(self.pays) - MOST_NAMED} more" if len(self.pays) > MOST_NAMED else ""
        return self.reason + (f" at {', '.join(places)}{more}" if places else "")


def refined(game: Game, behavior: FloatArray, monitor: Monitor | None = None) -> Refined:
    """Keep the path of play of an equilibrium, and solve again what lies off it.

    Rows of information sets on the path are kept to the last bit. The given profile, float64
    (A,), is kept if the matrices or the steps take more than the monitor's budget leaves.
    """
    tree, model = game.tree, game.payoff_model()
    starts, sizes = tree.action_start[:-1], np.diff(tree.action_start)
    given = Refined(behavior, float(model.regrets(behavior).max()))
    played = np.where(behavior > OFF_PATH, behavior, 0.0)
    on_path = infoset_reach(tree, played) > 0.0
    if all(on_path | (sizes == 1)):
        return replace(given, reason=ALL_PLAYED)
    if unknowns(tree) > MOST_UNKNOWNS or (
        monitor is not None and bytes_needed(tree) > monitor.budget.memory_bytes
    ):
        return replace(given, reason="the matrices of the branch would be too large")
    owner = np.repeat(np.arange(tree.n_infosets), sizes)
    kept = on_path[owner]
    flat = pinned(tree, np.where(kept, played, 0.0))
    branch = LogitBranch(game, flat=flat, tested=False)  # any branch will do
    stops = np.array([LAST_LAMBDA * branch.flat.unit])
    while branch.steps < MOST_STEPS and (monitor is None or monitor.remaining_s > 0):
        if not branch.advance(stops, 1):
            break
    if branch.last != stops[-1]:
        return replace(given, reason="the branch did not come to its end")
    frequencies = np.exp(branch.log_probabilities(branch.points()))
    left = (frequencies > VANISHING) & kept & (played == 0.0)
    if left[-1].any():
        first = left[np.argmax(left.any(axis=1))]  # later ones may answer to these
        return replace(given, reason=DEVIATION, pays=np.unique(owner[first]))
    made = np.where(frequencies[-1] > VANISHING, frequencies[-1], 0.0)
    made /= np.add.reduceat(made, starts)[owner]
    made[kept] = behavior[kept]
    most = max(given.regret, ROUNDING * (tree.payoff_range or 1.0))
    regret = float(model.regrets(made).max())
    if regret > most:
        made = balanced(game, made, kept)
        regret = float(model.regrets(made).max())
    if regret <= most:
        return Refined(made, regret)
    losses = np.add.reduceat(np.nan_to_num(inspect_profile(game, made).gaps) * made, starts)
    pays = np.flatnonzero(on_path & (losses > most))
    return replace(given, reason=DEVIATION, pays=pays)


def balanced(game: Game, behavior: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    """Move mixtures a little, so that what nearly is a best response is one; float64 (A,).

    Where a deviation from the path is as good as the path itself, mixtures off the path make it
    so, and the branch leaves them off by the reciprocal of lambda.

    Parameters
    ----------
    behavior : float64 (A,)
    kept : bool (A,), what does not move
    """
    system, played = GainSystem(game), behavior > 0.0
    gaps = inspect_profile(game, behavior).gaps
    tied = gaps <= TIED * (game.tree.payoff_range or 1.0)  # not where it is NaN
    active = ActiveSet.of(system.choices, behavior, played, tied)
    active = replace(active, moving=active.moving[~kept[active.moving]])
    made = system.within_bounds(newton(system, active, system.parameter).behavior, system.parameter)
    return behavior if made is None else np.where(kept, behavior, made.behavior)


def unknowns(tree: GameTree) -> int:
    """Number of log-odds."""
    return tree.n_actions - tree.n_infosets


def pinned(tree: GameTree, kept: FloatArray) -> FlatTree:
    """The tree with log-odds pinned where frequencies (A,) that are to be kept are above 0.

    They are pinned to the first action of the set, or to the most frequent one if the first is
    not among them. The others at such a set begin as RARE: some may turn out as good as those
    that are played, and would be played otherwise.
    """
    flat = flat_tree(tree)
    to, prior, kept = flat.pinned.copy(), flat.prior.copy(), kept[flat.action]
    for c, (start, end) in enumerate(pairwise(flat.start.tolist())):
        row = kept[start:end]
        if not row.any():
            continue
        base = 0 if row[0] > 0.0 else int(np.argmax(row))
        logs = np.log(row / row[base], where=row > 0.0, out=np.full(len(row), RARE))
        own = slice(start - c, end - c - 1)  # the log-odds of all actions but the first
        prior[own] = logs[1:] - logs[0]
        to[own][row[1:] > 0.0] = start - c + base - 1 if base else FIRST
        if base:
            to[start - c + base - 1] = FREE
    return flat._replace(pinned=to, prior=prior)


def made_credible(
    game: Game, profile: BehaviorProfile, monitor: Monitor | None = None
) -> tuple[BehaviorProfile, str]:
    """A profile with the play off its path solved again; the given one, and why, if it is kept.

    What is known exactly stays so: mixtures off the path are rounded to simple fractions, unless
    some player gains by that.
    """
    made = refined(game, profile.probabilities, monitor)
    if made.reason:
        return profile, made.text(game.tree)
    if profile.exact is None:
        return BehaviorProfile.of(game, made.behavior), ""
    found = in_fractions(game, profile, made)
    return (profile, NOT_SIMPLE) if found is None else (found, "")


def in_fractions(game: Game, profile: BehaviorProfile, made: Refined) -> BehaviorProfile | None:
    """An exact profile with mixtures off its path as fractions near those that were made.

    None if they are not simple, so that some player would gain.
    """
    tree, exact = game.tree, profile.exact
    if exact is None:
        return None
    near = [Fraction(x).limit_denominator(DENOMINATOR) for x in made.behavior.tolist()]
    moved = made.behavior != profile.probabilities
    found: list[Fraction] = []
    for start, end in pairwise(tree.action_start.tolist()):
        row = near[start:end] if moved[start:end].any() else exact[start:end]
        found += row[:-1]
        found.append(1 - sum(row[:-1], Fraction(0)))
    if min(found) < 0:
        return None
    rounded = BehaviorProfile.of_exact(game, found)
    regret = float(game.payoff_model().regrets(rounded.probabilities).max())
    return rounded if regret <= ROUNDING * (tree.payoff_range or 1.0) else None


def warm_up(game: Game) -> None:
    """Compile what `refined` runs, unless the game is too large for it."""
    tree = game.tree
    if unknowns(tree) not in range(1, MOST_UNKNOWNS + 1):
        return
    branch = LogitBranch(game, flat=pinned(tree, np.zeros(tree.n_actions)))
    branch.advance(np.array([branch.flat.unit]), 1)
    start, end = branch.flat.action[[0, branch.flat.start[1] - 1]]
    kept = np.ones(tree.n_actions, dtype=np.bool_)
    kept[start : end + 1] = False
    balanced(game, branch.behavior(), kept)
