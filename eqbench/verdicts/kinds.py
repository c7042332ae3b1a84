"""Verdicts `credible`, and `kind`: undominated, subgame-perfect, sequential, quasi-strict.

Work on each verdict is limited by counts and not by the clock, so that verdicts are the same on
every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eqbench.equilibria.regularity import index_of, quasi_strict
from eqbench.errors import UsageError
from eqbench.model.play import Play
from eqbench.model.tree import GameTree
from eqbench.model.trembles import Trembles
from eqbench.text import Displayed
from eqbench.verdict import Claimed
from eqbench.verdicts.beliefs import Credibility, credibility
from eqbench.verdicts.dominance import dominated_actions
from eqbench.verdicts.search import (
    PlanProof,
    contested_nodes,
    find_contradiction,
    find_trembles,
    undominated_plan,
)
from eqbench.verdicts.subgames import SubgameRegrets, subgame_perfect
from eqbench.verdicts.trembles import Proof, Sequential, sequential
from eqbench.verification import Allowance
from eqbench.verification.verifier import MOST_DIGITS, length

ACTIONS_ONLY = "actions only"  # none that a plan comes to is dominated; plans were not judged

# Costs in the digits of an Allowance, of which 10**6 take about 50 milliseconds.
SWEEPS = 3  # times the work of credibility: dominance, subgames and beliefs
PLAN_DIGITS = 10**5
PLAN_NODE_DIGITS = 1000
FRACTION_DIGITS = 6  # for a node and an action, of plans in Fractions
ACTION_DIGITS = 500  # for a node, to compare actions of a profile in floats in Fractions
SEARCH_DIGITS = 5 * 10**6
DERIVATIVE_DIGITS = 20  # for a node and a played action
EXACT_DERIVATIVE_DIGITS = 250
# Kuhn poker of three players has 20 to 84, of which 20 take 40 milliseconds a try.
MOST_CONTESTED = 100
TRIES = 4
BRANCHINGS = 200


@dataclass(frozen=True, eq=False, repr=False)
class Kind(Displayed):
    """Verdicts on an equilibrium, with what proves them.

    Attributes
    ----------
    play : Play
        The profile on its tree; in Fractions the verdicts are exact.
    dominated : dict
        Played actions at sets that their player's plan comes to, each with one that dominates it,
        by index among the A; so the plan is dominated by one that plays the other action instead.
    dominated_off_own_path : dict
        The same at sets that earlier moves of the player exclude. They are not part of the plan, so
        they do not count for `undominated`.
    plans : tuple
        Verdicts on both players' plans; empty with more or fewer than two players, and where
        linear programs would cost too much.
    subgames : SubgameRegrets
    sequential : Sequential
    trembles : Trembles or None
        What certifies a sequential equilibrium.
    quasi_strict : bool or None
        None where it is not known, since the index would cost too much.
    index : 1, -1 or None
        None also of equilibria that are not regular, or not known to be.
    """

    play: Play
    dominated: dict[int, int]
    dominated_off_own_path: dict[int, int]
    plans: tuple[PlanProof, ...]
    subgames: SubgameRegrets
    sequential: Sequential
    trembles: Trembles | None
    quasi_strict: bool | None
    index: int | None

    def __repr__(self) -> str:
        return f"<Kind: {self}>"

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.to_json().items())

    @property
    def undominated(self) -> str:
        """A :class:`Proof` for the players' plans.

        Or `actions only` if they were not judged, and no action that they come to is dominated.
        """
        proofs = {plan.proof for plan in self.plans}
        if self.dominated or Proof.REFUTED in proofs:
            return Proof.REFUTED.value
        if not proofs:
            return ACTIONS_ONLY
        return (Proof.OPEN if Proof.OPEN in proofs else Proof.CERTIFIED).value

    def to_json(self) -> dict[str, Any]:
        """The verdicts as JSON values, without what proves them."""
        found = self.subgames
        perfect = (found.regrets[1:] <= found.tolerance).astype(bool).all(axis=1).sum()
        return {
            "undominated": self.undominated,
            "subgame_perfect": {"proper": found.n_proper, "perfect": int(perfect)},
            "sequential": self.sequential.proof.value,
            "quasi_strict": self.quasi_strict,
            "index": self.index,
        }

    def proofs(self) -> dict[str, Any]:
        """What proves the verdicts, as JSON values; Fractions are texts ``p/q``.

        `dominated` actions stand each with one that dominates it, those `dominated_off_own_path`
        apart. `plans` are the other player's, mixing all actions, to which a certified plan is
        optimal, or what dominates a refuted one.
        `subgames` are those in which a player gains. At `refuted_sets` no belief that trembles
        lead to supports the play. The gains of a `contradiction`, at several sets and with weights,
        are together positive whatever the trembles. `trembles` have an order and a weight for
        each unplayed action.
        """
        tree, play = self.play.tree, self.play
        gaining = np.flatnonzero(
            (self.subgames.regrets > self.subgames.tolerance).astype(bool).any(axis=1)
        )
        refuted = np.flatnonzero(self.sequential.credibility.refuted).tolist()
        against = self.sequential.against
        together = [] if against is None else np.flatnonzero(against).tolist()
        unplayed = [] if self.trembles is None else np.flatnonzero(play.played == 0).tolist()
        return {
            **{
                name: [
                    _place(tree, worse) | {"by": _place(tree, better)["action"]}
                    for worse, better in getattr(self, name).items()
                ]
                for name in ("dominated", "dominated_off_own_path")
            },
            "plans": [
                {"player": tree.players[player], "verdict": plan.proof.value}
                | {"plan": self._plan(player, plan)}
                for player, plan in enumerate(self.plans)
            ],
            "subgames": [
                {"after": [_place(tree, action) for action in reversed(play.path(int(root)))]}
                | {"regrets": list(map(_plain, regrets))}
                for root, regrets in zip(
                    self.subgames.roots[gaining], self.subgames.regrets[gaining], strict=True
                )
            ],
            "refuted_sets": [
                _set(tree, i) | {"loss": _plain(self.sequential.credibility.bound[i])}
                for i in refuted
            ],
            "contradiction": [
                _place(tree, a) | {"weight": _plain(against[a])}
                for a in together
                if against is not None
            ],
            "trembles": [
                _place(tree, a)
                | {"order": int(self.trembles.order[a]), "weight": _plain(self.trembles.weight[a])}
                for a in unplayed
                if self.trembles is not None
            ],
        }

    def _plan(self, player: int, plan: PlanProof) -> list[dict[str, Any]]:
        """Frequencies of the player whose plan the certificate is."""
        if plan.certificate is None:
            return []
        tree = self.play.tree
        sets = tree.infosets_of(player if plan.proof is Proof.REFUTED else 1 - player)
        actions = range(tree.action_start[sets.start], tree.action_start[sets.stop])
        return [_place(tree, a) | {"frequency": _plain(plan.certificate[a])} for a in actions]


def kind_of(
    play: Play, trembles: Trembles | None = None, allowance: Allowance | None = None
) -> Kind:
    """Judge what kind of equilibrium a profile is.

    Parameters
    ----------
    play : that of an equilibrium
    trembles : what might certify it as sequential; where it does not, others are sought
    allowance : what linear programs, trembles and the index may cost together, of which it is taken
        off: about a second, a new one unless given. What is not covered is left open.
    """
    allowance = Allowance() if allowance is None else allowance
    verdict, proof = _sequential(play, trembles, allowance)
    is_strict, index = _index(play, allowance)
    dominated, excluded, plans = _dominance(play, allowance)
    return Kind(
        play=play,
        dominated=dominated,
        dominated_off_own_path=excluded,
        plans=plans,
        subgames=subgame_perfect(play),
        sequential=verdict,
        trembles=proof,
        quasi_strict=is_strict,
        index=index,
    )


def credible(claimed: Claimed, allowance: Allowance | None) -> Credibility | None:
    """Credibility of a claimed equilibrium, in floats where Fractions cost too much.

    What only approximates an equilibrium gets everywhere a little, where any loss is possible.
    """
    play = claimed.play(allowance)
    if play is None:
        return None
    found = credibility(play)
    if allowance and play.exact and length([found.loss[found.worst]]) > MOST_DIGITS:
        return credible(replace(claimed, exact=False), allowance)
    return found


def kind(claimed: Claimed, allowance: Allowance | None) -> Kind | None:
    """Kind of a claimed equilibrium, in floats where Fractions cost too much; none if refuted."""
    play = None if claimed.refuted else claimed.play(allowance, SWEEPS)
    return None if play is None else kind_of(play, claimed.trembles, allowance)


def _sequential(
    play: Play, trembles: Trembles | None, allowance: Allowance
) -> tuple[Sequential, Trembles | None]:
    """The verdict, and trembles if they certify it: those handed over, or what a search finds."""
    if trembles is not None:
        try:
            verdict = sequential(play, trembles)
        except UsageError:  # a solver may count other actions as unplayed
            verdict = sequential(play)
        if verdict.proof is Proof.CERTIFIED:
            return verdict, trembles
    verdict, contested = sequential(play), contested_nodes(play)
    if (
        verdict.proof is Proof.REFUTED
        or contested > MOST_CONTESTED
        or (contested and not allowance.spend(SEARCH_DIGITS))
    ):
        return verdict, None
    verdict = sequential(play, against=find_contradiction(play) if contested else None)
    if verdict.proof is Proof.REFUTED:
        return verdict, None
    found = find_trembles(play, tries=TRIES, time_s=np.inf, branchings=BRANCHINGS)
    verdict = sequential(play, found)
    return verdict, found if verdict.proof is Proof.CERTIFIED else None


def _dominance(
    play: Play, allowance: Allowance
) -> tuple[dict[int, int], dict[int, int], tuple[PlanProof, ...]]:
    """Dominated actions on and off the path of own moves, and verdicts on plans of two players.

    In Fractions also for a profile in floats, if the game is known so: they do not depend on how
    often an action is played.
    """
    tree, two = play.tree, play.tree.n_players == 2
    digits = two * (PLAN_DIGITS + PLAN_NODE_DIGITS * tree.n_nodes)
    more = two * FRACTION_DIGITS * tree.n_actions + ACTION_DIGITS * (not play.exact)
    exact = tree.exact and allowance.spend(digits + more * tree.n_nodes)
    judged = exact or (not play.exact and allowance.spend(digits))
    even = play.evenly(exact=exact or play.exact)
    own = np.repeat(play.own > 0, np.diff(tree.action_start))
    found = dominated_actions(even).items()
    on, off = ({a: by for a, by in found if own[a] == comes} for comes in (True, False))
    plans = [undominated_plan(play, player, even) for player in (0, 1) if two and judged]
    return on, off, tuple(plans)


def _index(play: Play, allowance: Allowance) -> tuple[bool | None, int | None]:
    """Whether a profile is quasi-strict, and its index; both None where that costs too much."""
    if not quasi_strict(play):
        return False, None
    tree = play.tree
    admitted = np.repeat(play.own > 0, np.diff(tree.action_start)).astype(bool)
    rows = int(np.count_nonzero((play.played > 0) & admitted) - np.count_nonzero(play.own > 0))
    digits = EXACT_DERIVATIVE_DIGITS if play.exact else DERIVATIVE_DIGITS
    cost = rows * tree.n_nodes * digits
    if play.exact:  # elimination, in which the fractions grow
        cost += rows**3 * (200 + 20 * rows) // 3
    return (True, index_of(play)) if allowance.spend(cost) else (None, None)


def _set(tree: GameTree, infoset: int) -> dict[str, Any]:
    player = tree.players[tree.infoset_player[infoset]]
    return {"player": player, "label": tree.infoset_labels[infoset]}


def _place(tree: GameTree, action: int) -> dict[str, Any]:
    """Player, information set and name of one of the A actions."""
    infoset = int(np.searchsorted(tree.action_start, action, side="right")) - 1
    name = tree.infoset_actions[infoset][action - tree.action_start[infoset]]
    return _set(tree, infoset) | {"action": name}


def _plain(value: Any) -> float | str:
    if isinstance(value, float):
        return float(value)
    try:
        return str(value)
    except ValueError:  # longer than Python prints
        return float(value)
