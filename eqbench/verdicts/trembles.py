"""Sequential equilibria: trembles from which beliefs come, as certificates (Kreps and Wilson 1982).

An unplayed action a is played with frequency weight[a] * epsilon**order[a], and epsilon goes to 0.
Within an information set only nodes of the lowest total order keep a belief above 0, in proportion
to the products of the weights; so the limit needs no epsilon. Every consistent belief is the limit
of such trembles with orders in whole numbers and real weights (Kreps and Wilson, lemmas A1 and A2).

Whatever the trembles, a node that needs those of another node of its set and more keeps no belief.
So play that beliefs at the other nodes do not support is refuted. Beliefs of several sets may also
contradict each other: what others reach is, node by node, a positive number times the trembles that
it needs; if a weighted sum of gains over sets is positive for each product of trembles, some gain
stays positive (Farkas). To decide in general is NP-hard with three players (Gatti, Gilli and
Panozzo); what is neither refuted nor certified is open.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.play import Play
from eqbench.model.trembles import LARGEST_ORDER, Trembles
from eqbench.verdicts.beliefs import Credibility, credibility, judge

NEVER = 2**40  # total order of what chance rules out


class Proof(StrEnum):
    """Degree to which a property is decided."""

    CERTIFIED = "certified"
    REFUTED = "refuted"
    OPEN = "open"


@dataclass(frozen=True, eq=False)
class Sequential:
    """Verdict on a profile, and what proves it.

    Attributes
    ----------
    proof : Proof
    credibility : Credibility
        Under the beliefs of the trembles; without these, under those that make losses least of
        all that trembles could lead to. A refuted set of it refutes the profile.
    against : (A,) or None
        Weights of gains at several sets that together refute it, where no set does alone.
    """

    proof: Proof
    credibility: Credibility
    against: NDArray | None = None

    def __str__(self) -> str:
        together = "" if self.against is None else ", but these beliefs contradict each other"
        return f"{self.proof}: {self.credibility}{together}"


def sequential(
    play: Play, trembles: Trembles | None = None, against: NDArray | None = None
) -> Sequential:
    """Verdict on a profile; only trembles can certify it.

    Parameters
    ----------
    against : (A,)
        Weights of gains that may refute it; see :func:`contradict`.
    """
    admitted = admitted_nodes(play)
    least = credibility(play, admitted)
    if least.refuted.any():
        return Sequential(Proof.REFUTED, least)
    if against is not None and contradict(play, against, admitted):
        return Sequential(Proof.REFUTED, least, against)
    if trembles is None:
        return Sequential(Proof.OPEN, least)
    found = judge(play, limit_beliefs(play, trembles, least.belief), play.frequency)
    return Sequential(Proof.CERTIFIED if found.credible.all() else Proof.OPEN, found)


def admitted_nodes(play: Play) -> NDArray[np.bool_]:
    """Mask (M,) of the decision nodes to which some trembles may leave a belief.

    Nodes to which chance never leads are out as well, unless all nodes of the set are such.
    """
    possible = (play.reach(play.mover >= 0) > 0).astype(bool)
    admitted = (play.tree.infoset >= 0) & possible
    admitted[play.deciding] |= ~np.repeat(
        np.logical_or.reduceat(possible[play.deciding], play.first_node[:-1]),
        np.diff(play.first_node),
    )
    for i in np.flatnonzero(play.total(play.others) == 0).tolist():
        nodes = play.nodes_of(i)[admitted[play.nodes_of(i)]].tolist()
        needs = [frozenset(a for a in play.path(node) if play.played[a] == 0) for node in nodes]
        least = set(needs)
        for node, own in zip(nodes, needs, strict=True):
            admitted[node] = not any(other < own for other in least)
    return admitted


def contradict(play: Play, weight: NDArray, admitted: NDArray[np.bool_]) -> bool:
    """Whether weighted gains prove that no trembles make every gain vanish.

    The gains of all actions are summed over the admitted nodes of sets off the path of play, each
    node times what others and chance reach of it with its trembles left out. The sum must be
    more than the tolerance would allow for every product of trembles that occurs.

    Parameters
    ----------
    weight : (A,) floats, or Fractions as objects, finite
        Not negative, and not 0 everywhere.
    """
    given = weight.tolist()
    weights = np.array(list(map(Fraction, given)) if play.exact else given, play.edge.dtype)
    if (weights < 0).any():
        return False
    starts = play.tree.action_start
    gains: dict[frozenset[int], Any] = {}
    masses: dict[frozenset[int], Any] = {}
    for i in np.flatnonzero(play.total(play.others) == 0).tolist():
        own = weights[starts[i] : starts[i + 1]]
        nodes = play.nodes_of(i)[admitted[play.nodes_of(i)]] if own.any() else own[:0]
        for node in nodes.tolist():
            reach, trembles = reach_of(play, node)
            gain = play.gains_at(np.array([node]))[0] @ own
            gains[trembles] = gains.get(trembles, 0) + reach * gain
            masses[trembles] = masses.get(trembles, 0) + reach * own.sum()
    # a comparison with nan is false
    return bool(masses) and all(
        masses[key] > 0 and gains[key] > play.tolerance * masses[key] for key in masses
    )


def reach_of(play: Play, node: int) -> tuple[Any, frozenset[int]]:
    """What others and chance reach of a node with its trembles left out, and these trembles."""
    tree, reach, trembles = play.tree, play.one, set()
    player, at = tree.player[node], node
    while at > 0:
        action = int(tree.incoming[at])
        if play.mover[at] != player:
            if action >= 0 and play.played[action] == 0:
                trembles.add(action)
            else:
                reach *= play.edge[at]
        at = int(tree.parent[at])
    return reach, frozenset(trembles)


def limit_beliefs(play: Play, trembles: Trembles, elsewhere: NDArray) -> NDArray:
    """Beliefs (M,) to which Bayes' rule leads as the trembles vanish.

    Parameters
    ----------
    elsewhere : (M,)
        Beliefs at information sets to which chance never leads.

    Raises
    ------
    UsageError
        If an unplayed action has no positive order and weight.
    """
    tree, (order, weight) = play.tree, _completed(play, trembles)
    above, weights = np.zeros(tree.n_nodes, dtype=np.int64), play.edge.copy()
    above[play.moved] = order[tree.incoming[play.moved]]
    weights[play.moved] = weight[tree.incoming[play.moved]]
    above[(play.edge == 0) & (tree.incoming < 0)] = NEVER
    for level in tree.levels[1:]:
        above[level] += above[tree.parent[level]]
    least = play.least(above)
    own_set, nodes = tree.infoset[play.deciding], play.deciding
    possible = (least < NEVER)[own_set]
    belief = elsewhere.copy()
    # products of weights may leave the range of floats; beliefs that are nan certify nothing
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for level in tree.levels[1:]:
            weights[level] *= weights[tree.parent[level]]
        weights[nodes[above[nodes] > least[own_set]]] = 0
        total = play.total(weights)
        belief[nodes[possible]] = weights[nodes[possible]] / total[own_set[possible]]
    return belief


def _completed(play: Play, trembles: Trembles) -> tuple[NDArray, NDArray]:
    """Orders and weights of all actions, of which the played ones do not tremble."""
    unplayed = (play.played == 0).astype(bool)
    order = np.where(unplayed, trembles.order, 0)
    given = trembles.weight.tolist()
    weights = np.array(list(map(Fraction, given)) if play.exact else given, play.edge.dtype)
    weight = np.where(unplayed, weights, play.played)
    if (unplayed & ((order < 1) | (order > LARGEST_ORDER) | (weight <= 0).astype(bool))).any():
        raise UsageError(
            f"trembles of unplayed actions have orders from 1 to {LARGEST_ORDER} and positive "
            "weights"
        )
    return order, weight
