"""From a game and options to the program that is to be solved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.model.game import Game
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import GameTree
from eqbench.solver import Availability

from ..sequence_lp import ROUNDING, payoff_sums
from .backends.backend import Backend
from .backends.choice import choose
from .backends.scip import Scip
from .dominated import dominated_actions
from .programs.bounds import Bounds
from .programs.compact import CompactGame
from .programs.formulations import Formulated, Formulation, Target, formulate
from .programs.mip import formulate_mip
from .target import compact_target, find_target

if TYPE_CHECKING:
    from .ncp import MIP, NCP

# Terms of polynomials that are put together one by one; 10 s for building alone.
MOST_TERMS = 1_000_000
# Dense matrices over sequences that polishing has at a time, and the memory they may take.
MATRICES, MOST_BYTES = 4, 2**30
# Tolerances of backends are absolute. Payoff ranges between these are left as they are; others
# become 5, where Gurobi solves Kuhn games that it does not solve at 1.
SMALLEST_RANGE, LARGEST_RANGE, GOOD_RANGE = 0.1, 1000.0, 5.0


@dataclass(frozen=True, eq=False)
class SetUp:
    """A program with what is to be said about it.

    Attributes
    ----------
    formulated : Formulated
    backend : Backend
        The one that takes it, if `available` says so.
    available : Availability
    figures : what presolve did, and the sizes of the program
    unit : payoff that is 1 in the program
    target : what is optimized, None for nothing
    """

    formulated: Formulated
    backend: Backend
    available: Availability
    figures: dict[str, Any]
    unit: float
    target: Target | None = None


def refusal(options: NCP, game: Game) -> str | None:
    """Why `ncp` with these options does not take the game, or None."""
    unfit = _too_large(game.sequence_form) or _inexact(options, game)
    if unfit:
        return unfit
    if options.formulation == "constant_sum" and constant_sum(game) is None:
        lowest, highest = payoff_sums(game.sequence_form)
        return (
            "formulation=constant_sum needs payoffs that sum to a constant; here the sum varies "
            f"from {lowest:.6g} to {highest:.6g} (formulation=elimination takes any game)"
        )
    if options.formulation == "paper" and options.dominated == "remove":
        return "formulation=paper is the model without presolve; use dominated=keep"
    if options.formulation == "paper" and options.bounds == "on":
        return "formulation=paper is the model without presolve; use bounds=auto or off"
    return find_target(options, game)[1]


def refusal_of_mip(options: MIP, game: Game) -> str | None:
    """Why `mip` does not take the game, or None."""
    if not is_one_shot(game.sequence_form):
        return (
            "mip solves games in strategic form, where every player moves once without knowing "
            "anything; this game has "
            f"{game.sequence_form.n_infosets:,} information sets (ncp takes any game)"
        )
    return _too_large(game.sequence_form) or _inexact(options, game)


def set_up(options: NCP, game: Game) -> SetUp:
    """The program of a game that `refusal` does not refuse, and the backend for it."""
    formulation = chosen_formulation(options, game)
    figures: dict[str, Any] = {"formulation": formulation}
    removed = None
    if options.dominated == "remove":
        found = dominated_actions(game.tree)
        removed = found.removed
        figures |= {
            "dominated_actions": _labels(game.tree, np.flatnonzero(removed)),
            "dominated_rounds": found.rounds,
        }
    # in strategic form the paper has no empty sequences, and so has the compact game
    verbatim = formulation == "paper" and not is_one_shot(game.sequence_form)
    form, unit = _in_units(game)
    compact = CompactGame.verbatim(form) if verbatim else CompactGame.of(form, removed)
    constant = constant_sum(game)
    target = compact_target(find_target(options, game)[0], compact)
    made = partial(
        formulate,
        compact,
        formulation,
        constant=None if constant is None else constant / unit,
        target=target,
    )
    formulated = made()
    size = formulated.program.size  # bounds do not change it
    backend, available = choose(options.backend, size)
    bounded = formulation != "paper" and _wants_bounds(options, game, backend)
    if bounded:
        formulated = made(bounds=Bounds.of(compact, game.tree, unit))
    figures |= {"backend": backend.name, "bounds": bounded, **size._asdict()}
    return SetUp(formulated, backend, available, figures, unit, target)


def set_up_mip(options: MIP, game: Game) -> SetUp:
    """The mixed-integer program of a game in strategic form, and the backend for it."""
    form, unit = _in_units(game)
    formulated = formulate_mip(CompactGame.of(form))
    size = formulated.program.size
    backend, available = choose(options.backend, size)
    figures = {
        "formulation": "mip",
        "backend": backend.name,
        **size._asdict(),
        "binaries": int(formulated.program.binary.sum()),
    }
    return SetUp(formulated, backend, available, figures, unit)


def chosen_formulation(options: NCP, game: Game) -> Formulation:
    """The formulation that `auto` stands for, found by trial (docs/ncp.md)."""
    if options.formulation != "auto":
        return options.formulation
    if options.sense == "none" and constant_sum(game) is not None:
        return "constant_sum"
    one_shot = is_one_shot(game.sequence_form)
    return "aggregated" if one_shot and options.sense == "none" else "elimination"


def alternatives(options: NCP, game: Game) -> str:
    """What to do where a license does not admit a program: what is here and takes it."""
    ways = []
    for name in ("elimination", "aggregated", "constant_sum"):
        other = replace(options, formulation=name)
        if name != chosen_formulation(options, game) and refusal(other, game) is None:
            made = set_up(other, game)
            if made.available.state == "available":
                ways.append(f"formulation={name} ({made.figures['columns']:,} variables)")
    return scip_instead() + "".join(f"; another way: {way}" for way in ways)


def scip_instead() -> str:
    """SCIP as a way out, if it is here."""
    here = Scip().availability().state == "available"
    return "; another way: backend=scip" if here else ""


def _wants_bounds(options: NCP, game: Game, backend: Backend) -> bool:
    """Bounds help Gurobi on games in extensive form; without a target they hinder SCIP.

    With one, Gurobi proves nothing about payoffs that it takes for unbounded.
    """
    if options.bounds != "auto":
        return options.bounds == "on"
    if options.sense != "none":
        return True
    return backend.name == "gurobi" and not is_one_shot(game.sequence_form)


def _in_units(game: Game) -> tuple[SequenceForm, float]:
    """The sequence form with payoffs that suit absolute tolerances, and what is 1 there."""
    form, span = game.sequence_form, game.tree.payoff_range
    if span == 0 or SMALLEST_RANGE <= span <= LARGEST_RANGE:
        return form, 1.0
    unit = span / GOOD_RANGE
    return replace(form, base=form.payoffs / unit, slope=None, value=0.0), unit


def constant_sum(game: Game) -> float | None:
    """What the payoffs of all players sum to, None if that varies."""
    lowest, highest = payoff_sums(game.sequence_form)
    close = highest - lowest <= ROUNDING * abs(game.tree.payoffs.table).max()
    return (lowest + highest) / 2 if close else None


def is_one_shot(form: SequenceForm) -> bool:
    """Whether every player has one information set at most, and first moves there."""
    return len(np.unique(form.infoset_player)) == form.n_infosets


def _labels(tree: GameTree, actions: Any) -> list[str]:
    """Actions as `of` names them."""
    infoset = np.searchsorted(tree.action_start, actions, side="right") - 1
    return [
        f"{tree.players[tree.infoset_player[i]]}|{tree.infoset_labels[i]}|"
        f"{tree.infoset_actions[i][a - tree.action_start[i]]}"
        for a, i in zip(actions.tolist(), infoset.tolist(), strict=True)
    ]


def _inexact(options: NCP | MIP, game: Game) -> str | None:
    if not options.exact or game.tree.exact:
        return None
    return (
        "exact=true needs payoffs and probabilities in fractions; those of this game are "
        "floating-point numbers (leave exact out)"
    )


def _too_large(form: SequenceForm) -> str | None:
    terms = len(form.columns) * form.n_players
    needed = 8 * MATRICES * form.n_sequences**2
    if needed > MOST_BYTES:
        return (
            f"polishing needs about {needed / 2**30:,.1f} GiB for derivatives by "
            f"{form.n_sequences:,} sequences; at most {MOST_BYTES / 2**30:g} GiB are taken "
            "(cfr_plus and its relatives take larger games)"
        )
    if terms <= MOST_TERMS:
        return None
    return (
        f"the program of this game would have about {terms:,} bilinear terms; at most "
        f"{MOST_TERMS:,} are taken (cfr_plus and its relatives take larger games)"
    )
