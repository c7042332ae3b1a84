"""Best responses as profiles: against brute force, exactly, and on the command line."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from helpers.command import accepted, refused

import eqbench
from eqbench import BehaviorProfile, Game
from eqbench.model.tree import CHANCE, TERMINAL


def exact_draw(game: Game, seed: int) -> BehaviorProfile:
    """Random fractions, many of them 0."""
    rng, rows = np.random.default_rng(seed), list[Fraction]()
    for actions in game.tree.infoset_actions:
        weights = rng.integers(0, 4, len(actions)) * rng.integers(0, 2, len(actions))
        weights[rng.integers(len(actions))] += 1
        rows += [Fraction(int(weight), int(weights.sum())) for weight in weights]
    return BehaviorProfile.of_exact(game, rows)


def most_by_brute_force(game: Game, profile: BehaviorProfile, player: int) -> Fraction:
    """Largest payoff of a player over all pure strategies, node by node."""
    tree, frequencies = game.tree, profile.exact
    assert frequencies is not None
    children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for node in range(1, tree.n_nodes):
        children[tree.parent[node]].append(node)
    numerators, denominator = tree.payoffs.rational()
    paid = dict(zip(tree.terminals.tolist(), numerators[:, player].tolist(), strict=True))

    def worth(node: int, plan: dict[int, int]) -> Fraction:
        if tree.player[node] == TERMINAL:
            return Fraction(paid[node], denominator)
        if tree.player[node] == CHANCE:
            shares = [
                Fraction(int(tree.chance[c]), tree.chance_denominator) for c in children[node]
            ]
        elif tree.player[node] == player:
            return worth(children[node][plan[int(tree.infoset[node])]], plan)
        else:
            shares = [frequencies[tree.incoming[c]] for c in children[node]]
        parts = zip(shares, children[node], strict=True)
        return sum((share * worth(c, plan) for share, c in parts if share), Fraction(0))

    own = list(tree.infosets_of(player))
    plans = product(*(range(len(tree.infoset_actions[i])) for i in own))
    return max(worth(0, dict(zip(own, plan, strict=True))) for plan in plans)


@pytest.mark.parametrize("block", range(10))
def test_best_responses_earn_as_much_as_the_best_of_all_pure_strategies(block: int) -> None:
    """On 200 random games, exactly; what is gained at information sets sums to the whole."""
    tried = 0
    for seed in range(20 * block, 20 * block + 20):
        players = 2 + seed % 2
        game = eqbench.load_game(
            f"random_tree(players={players},depth={3 + seed % 2},information=3/5,seed={seed})"
        )
        profile, player = exact_draw(game, seed), seed % players
        found = eqbench.best_response(game, profile, game.tree.players[player])
        assert found.payoff == most_by_brute_force(game, profile, player)
        before = eqbench.verify(game, profile, exact=True)
        after = eqbench.verify(game, found.profile, exact=True)
        assert found.gain == before.regrets[player] == found.payoff - before.payoffs[player]
        assert (after.payoffs[player], after.regrets[player]) == (found.payoff, 0)
        assert sum(each.gain for each in found.deviations) == found.gain
        changed = {each.infoset for each in found.deviations}
        for owner in game.tree.players:
            for label, row in profile[owner].items():
                differs = found.profile[owner, label] != row
                assert differs == (owner == found.player and label in changed)
        tried += 1
    assert tried == 20


def test_floats_give_the_same_to_rounding() -> None:
    game = eqbench.load_game("kuhn3")
    exact = exact_draw(game, 7)
    floats = BehaviorProfile.of(game, exact.probabilities)
    for player in game.tree.players:
        known, rounded = (eqbench.best_response(game, p, player) for p in (exact, floats))
        assert isinstance(known.gain, Fraction)
        assert isinstance(rounded.gain, float)
        assert rounded.gain == pytest.approx(float(known.gain), abs=1e-12)
        np.testing.assert_allclose(
            rounded.profile.probabilities, known.profile.probabilities, atol=1e-12
        )


def test_a_best_response_to_itself_changes_nothing() -> None:
    game = eqbench.load_game("matching_pennies")
    found = eqbench.best_response(game, BehaviorProfile.uniform(game), "P2")
    assert (found.gain, found.deviations) == (0, ())
    assert found.profile.exact == BehaviorProfile.uniform(game).exact


def test_unknown_player_is_refused() -> None:
    uniform = BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    with pytest.raises(eqbench.UsageError, match=r"'P3'.*P2"):
        eqbench.best_response("kuhn2", uniform, "P3")


def test_command_writes_the_profile_and_says_what_it_gains_where(tmp_path: Path) -> None:
    uniform = BehaviorProfile.uniform(eqbench.load_game("kuhn2"))
    (tmp_path / "even.json").write_text(json.dumps(uniform.to_json()))
    ask = ("verify", "even.json", "--best-response")
    document = accepted(*ask, "P2=best.json", "--json", cwd=tmp_path).json
    found = document["best_response"]
    assert found["exact"] == {"payoff": "5/12", "gain": "13/24"}
    assert found["deviations"][0] == {
        **{"player": "P2", "infoset": "3:B", "action": "call", "gain": 0.25}
    }
    again = eqbench.verify("kuhn2", tmp_path / "best.json", exact=True)
    assert (again.payoffs[1], again.regrets[1]) == (Fraction(5, 12), 0)
    assert "13/24" in accepted(*ask, "P2", cwd=tmp_path).out
    (tmp_path / "mine.txt").write_text("mine")
    refused(*ask, "P2=mine.txt", words="mine.txt", cwd=tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    refused(*ask, "P2=-", words="give a file", cwd=tmp_path)
    refused(*ask, "P7", words="P7", cwd=tmp_path)
