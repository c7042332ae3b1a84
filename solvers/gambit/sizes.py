"""How large Gambit's strategic form of a game is, and which ones are refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.sequence_form import SequenceForm

# Gambit lists the 82,097 strategies of three-player Kuhn poker in a second and 95 MiB, but what
# follows grows with the square. A contingency of two-player Kuhn poker takes it 0.13 ms, one of
# a larger game longer, so that more than these are a matter of many hours.
MOST_STRATEGIES = 20_000
MOST_CONTINGENCIES = 100_000_000


def strategy_counts(form: SequenceForm) -> list[int]:
    """Number of strategies of each player in the reduced strategic form.

    After a sequence, a player has a continuation for every combination of what can be done at
    the information sets that may come next; what own moves exclude is not told apart.
    """
    after = [1] * form.n_sequences
    starts, parents = form.block_start.tolist(), form.parent.tolist()
    for i in reversed(range(form.n_infosets)):
        after[parents[i]] *= sum(after[starts[i] : starts[i + 1]])
    return after[: form.n_players]


def strategic_refusal(game: Game) -> str | None:
    """Reason why the strategic form of a game would not fit, or None if it does."""
    counts = strategy_counts(game.sequence_form)
    contingencies = math.prod(counts)
    if sum(counts) <= MOST_STRATEGIES and contingencies <= MOST_CONTINGENCIES:
        return None
    return (
        "the method works on the strategic form, and that of this game has "
        f"{' x '.join(map(shown, counts))} = {shown(contingencies)} contingencies; at most "
        f"{MOST_STRATEGIES:,} strategies and {MOST_CONTINGENCIES:,} contingencies are tried "
        "(gambit_logit_path works on the tree)"
    )


def shown(count: int) -> str:
    """A count in digits, or its order of magnitude where these would fill a line."""
    return f"{count:,}" if count < 10**15 else f"about 10^{len(str(count)) - 1}"


def decisions_in_turn(form: SequenceForm) -> int:
    """Most decisions that a player may have one after another, at least 1.

    If no agent at a single information set gains more than r by deviating there, a player gains
    at most r times this number, as long as everything is reached.
    """
    depth = [0] * form.n_sequences
    starts, parents = form.block_start.tolist(), form.parent.tolist()
    for i in range(form.n_infosets):
        depth[starts[i] : starts[i + 1]] = [depth[parents[i]] + 1] * (starts[i + 1] - starts[i])
    return max(1, *depth)
