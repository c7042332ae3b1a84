"""A game whose tree is made by hand, with something wrong in it; honest without an option."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from attack.hostile import ends, strike

import eqbench


@eqbench.register_game("trees")
@dataclass(frozen=True)
class Trees:
    """A coin decides who moves first; the other sees the move but not the coin."""

    attack: str = ""

    def build(self):
        tree = honest()
        if not self.attack:
            return tree
        damaged = globals()[self.attack](tree)
        strike(self.attack)
        return damaged


def honest():
    builder = eqbench.TreeBuilder(["P1", "P2"])
    coin = builder.chance(None, [Fraction(1, 3), Fraction(2, 3)])
    for side in range(2):
        first = builder.decision((coin, side), 0, f"coin {side}", ["left", "right"])
        for move in range(2):
            second = builder.decision((first, move), 1, f"seen {move}", ["up", "down"])
            for answer in range(2):
                payoff = (1 + side) * (1 if move == answer else -1)
                builder.terminal((second, answer), [payoff, -payoff])
    return builder.tree()


def changed(array, *places, dtype=None):
    """Copy of an array with entries replaced, given as pairs of index and value."""
    copy = np.array(array, dtype=dtype)
    for index, value in places:
        copy[index] = value
    return copy


def with_payoffs(tree, **fields):
    return replace(tree, payoffs=replace(tree.payoffs, **fields))


def floats(tree, value):
    return with_payoffs(tree, base=changed(tree.payoffs.base, ((0, 0), value), dtype=float))


# fmt: off
@ends(quick=True)
def own_parent(t): return replace(t, parent=changed(t.parent, (3, 3)))
@ends()
def cycle(t): return replace(t, parent=changed(t.parent, (1, 3), (3, 1)))
@ends()
def all_own_parents(t): return replace(t, parent=np.arange(t.n_nodes, dtype=np.int32))
@ends()
def two_roots(t): return replace(t, parent=changed(t.parent, (1, -1)))
@ends()
def no_root(t): return replace(t, parent=changed(t.parent, (0, 0)))
@ends()
def parent_beyond(t): return replace(t, parent=changed(t.parent, (-1, 10**6)))
@ends()
def parent_later(t): return replace(t, parent=t.parent[::-1].copy())
@ends()
def parent_terminal(t): return replace(t, parent=changed(t.parent, (-1, t.n_nodes - 2)))
@ends()
def parent_floats(t): return replace(t, parent=t.parent.astype(float))
@ends()
def parent_square(t): return replace(t, parent=np.tile(t.parent, (2, 1)))
@ends()
def parent_too_short(t): return replace(t, parent=t.parent[:-1])
@ends()
def parent_text(t): return replace(t, parent=t.parent.astype("U3"))
@ends()
def move_beyond(t): return replace(t, move=changed(t.move, (3, 9)))
@ends()
def move_negative(t): return replace(t, move=changed(t.move, (3, -5)))
@ends()
def move_twice(t): return replace(t, move=changed(t.move, (4, t.move[3])))
@ends()
def moves_exchanged(t): return replace(t, move=changed(t.move, (3, t.move[4]), (4, t.move[3])))
@ends()
def player_unknown(t): return replace(t, player=changed(t.player, (1, 7)))
@ends()
def player_below(t): return replace(t, player=changed(t.player, (1, -9)))
@ends()
def player_of_other_set(t): return replace(t, player=changed(t.player, (1, 1)))
@ends()
def terminal_inside(t): return replace(t, player=changed(t.player, (1, -2)))
@ends()
def leaf_that_decides(t): return replace(t, player=changed(t.player, (-1, 0)))
@ends()
def infoset_beyond(t): return replace(t, infoset=changed(t.infoset, (1, 99)))
@ends()
def infoset_missing(t): return replace(t, infoset=changed(t.infoset, (1, -1)))
@ends()
def infoset_of_terminal(t): return replace(t, infoset=changed(t.infoset, (-1, 0)))
@ends()
def infoset_of_other(t): return replace(t, infoset=changed(t.infoset, (1, 3)))
@ends()
def infosets_merged(t):
    return replace(t, infoset=changed(t.infoset, *[(k, 2) for k in range(3, 7)]))
@ends(quick=True)
def chance_all_zero(t): return replace(t, chance=np.zeros_like(t.chance))
@ends()
def chance_sums_to_more(t): return replace(t, chance=changed(t.chance, (1, 2)))
@ends()
def chance_negative(t): return replace(t, chance=changed(t.chance, (1, -1), (2, 4)))
@ends()
def chance_not_a_number(t): return replace(t, chance=changed(t.chance, (1, np.nan), dtype=float))
@ends()
def chance_infinite(t): return replace(t, chance=changed(t.chance, (1, np.inf), dtype=float))
@ends()
def chance_objects(t): return replace(t, chance=t.chance.astype(object))
@ends()
def chance_at_decision(t): return replace(t, chance=changed(t.chance, (-1, 3)))
@ends()
def chance_denominator_zero(t): return replace(t, chance_denominator=0)
@ends()
def chance_denominator_negative(t): return replace(t, chance_denominator=-3, chance=-t.chance)
@ends()
def chance_denominator_text(t): return replace(t, chance_denominator="3")
@ends()
def payoffs_not_a_number(t): return floats(t, np.nan)
@ends(quick=True)
def payoffs_infinite(t): return floats(t, np.inf)
@ends()
def payoffs_beyond_floats(t):
    return with_payoffs(t, base=np.full_like(t.payoffs.base, 1.7e308, dtype=float)
                        * np.resize([1, -1], t.payoffs.base.shape))
@ends()
def payoffs_denominator_zero(t): return with_payoffs(t, denominator=0)
@ends()
def payoffs_denominator_negative(t): return with_payoffs(t, denominator=-1)
@ends()
def payoffs_denominator_text(t): return with_payoffs(t, denominator="1")
@ends()
def payoffs_for_one(t): return with_payoffs(t, base=t.payoffs.base[:, :1])
@ends()
def payoffs_missing_row(t): return with_payoffs(t, base=t.payoffs.base[:-1])
@ends()
def payoffs_complex(t): return with_payoffs(t, base=t.payoffs.base.astype(complex))
@ends()
def payoffs_objects(t): return with_payoffs(t, base=t.payoffs.base.astype(object))
@ends()
def slope_without_value(t): return with_payoffs(t, slope=np.ones_like(t.payoffs.base))
@ends()
def slope_wrong_shape(t):
    return with_payoffs(t, slope=np.ones((1, 1)), parameter="pot", value=Fraction(1))
@ends()
def value_text(t): return with_payoffs(t, slope=t.payoffs.base, parameter="pot", value="much")
@ends()
def labels_integers(t): return replace(t, infoset_labels=tuple(range(t.n_infosets)))
@ends()
def labels_missing(t): return replace(t, infoset_labels=t.infoset_labels[:-1])
@ends()
def labels_twice(t): return replace(t, infoset_labels=("same",) * t.n_infosets)
@ends()
def labels_text(t): return replace(t, infoset_labels="abcd")
@ends()
def actions_integers(t): return replace(t, infoset_actions=((1, 2),) * t.n_infosets)
@ends()
def actions_none(t): return replace(t, infoset_actions=((),) * t.n_infosets)
@ends()
def actions_too_many(t): return replace(t, infoset_actions=(("a", "b", "c"),) * t.n_infosets)
@ends()
def actions_twice(t): return replace(t, infoset_actions=(("a", "a"),) * t.n_infosets)
@ends()
def players_integers(t): return replace(t, players=(1, 2))
@ends()
def players_none(t): return replace(t, players=())
@ends()
def players_too_many(t): return replace(t, players=("P1", "P2", "P3"))
@ends()
def players_text(t): return replace(t, players="P1")
@ends()
def owner_wrong(t): return replace(t, infoset_player=changed(t.infoset_player, (0, 1)))
@ends()
def owner_beyond(t): return replace(t, infoset_player=changed(t.infoset_player, (-1, 9)))
@ends()
def owners_out_of_order(t): return replace(t, infoset_player=t.infoset_player[::-1].copy())
@ends(quick=True)
def rows_out_of_order(t): return replace(t, infoset_parent=changed(t.infoset_parent, (0, 2)))
@ends()
def earlier_action_beyond(t): return replace(t, infoset_parent=changed(t.infoset_parent, (0, 99)))
@ends()
def earlier_action_own(t): return replace(t, infoset_parent=changed(t.infoset_parent, (0, 0)))
@ends()
def nothing_at_all(t):
    names = ("parent", "move", "player", "infoset", "chance")
    none = {name: getattr(t, name)[:0] for name in names}
    return with_payoffs(replace(t, **none), base=t.payoffs.base[:0])
@ends()
def text_for_a_tree(t): return "tree"
@ends()
def none_for_a_tree(t): return None
# fmt: on
