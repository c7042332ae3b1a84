"""Games in which a known opponent is locked: by hand, against the whole game, and refusals."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import accepted, refused

import eqbench
from eqbench import BehaviorProfile, Game
from eqbench.errors import EqbenchError, GameTooLargeError
from eqbench.model.assemble import check_tree
from eqbench.model.profile import random_profile


def bold(**frequencies: Any) -> dict[str, Any]:
    """Player 2 of kuhn2 who bets, or calls, with these frequencies, such as `K1` after a check."""
    usual = {"K1": "1/3", "K2": 0, "K3": 1, "B1": 0, "B2": "1/3", "B3": 1} | frequencies
    sets = {}
    for (history, card), share in usual.items():
        passive, active = ("fold", "call") if history == "B" else ("check", "bet")
        rest = str(1 - Fraction(str(share)))
        sets[f"{card}:{history}"] = {passive: rest, active: str(share)}
    return {"behavior": {"P2": sets}}


def locked(game: str, profile: Any, **options: str) -> Game:
    return eqbench.load_game("locked", game=game, profile=json.dumps(profile), **options)


@pytest.mark.parametrize(
    ("opponent", "value"),
    [
        # Kuhn 1950: no strategy of player 1 earns more than -1/18 against the optimal one
        (bold(), Fraction(-1, 18)),
        # Without the bluff after a check, over the two cards that player 2 may have: 3 bets for
        # 1 + 4/3, 2 checks for 1 - 1 and 1 checks for -1 - 1; in all 1/3 in six deals.
        (bold(K1=0), Fraction(1, 18)),
    ],
)
def test_value_against_a_known_opponent_is_that_found_by_hand(
    opponent: dict[str, Any], value: Fraction
) -> None:
    game = locked("kuhn2", opponent)
    assert game.tree.exact
    assert game.tree.players == ("P1", "P2")
    assert not any(game.tree.infosets_of(1))
    found = eqbench.best_response(game, BehaviorProfile.uniform(game), "P1")
    assert found.payoff == value
    assert eqbench.verify(game, found.profile, exact=True).nash_conv == 0
    for solver in ("sequence_lp", "lcp", "logit"):
        assert eqbench.solve(game, solver).payoffs[0] == pytest.approx(float(value), abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_play_is_worth_what_it_is_in_the_whole_game(seed: int) -> None:
    """The locked game has the payoffs, and the best responses of who decides, of the game."""
    rng = np.random.default_rng(seed)
    spec = f"random_tree(players=3,depth=5,seed={seed})"
    game = eqbench.load_game(spec)
    drawn = random_profile(game.tree, rng)
    # some actions are never played
    sizes, starts = np.diff(game.tree.action_start), game.tree.action_start[:-1]
    for i in np.flatnonzero(rng.random(len(sizes)) < 0.4).tolist():
        drawn[starts[i] : starts[i] + sizes[i]] = np.eye(sizes[i])[rng.integers(sizes[i])]
    profile = BehaviorProfile.of(game, drawn)
    part = locked(spec, profile.to_json(), players="P2")
    check_tree(part.tree)
    assert part.tree.chance_probability.min() > 0
    shown = profile.to_json()["behavior"]
    kept = {
        player: {label: shown[player][label] for label in own}
        for player, own in BehaviorProfile.uniform(part).to_json()["behavior"].items()
    }
    assert not kept["P2"]
    here = BehaviorProfile.from_json(part, {"behavior": kept})
    whole, less = (eqbench.verify(g, p) for g, p in ((game, profile), (part, here)))
    assert less.payoffs == pytest.approx(whole.payoffs, abs=1e-9)
    assert less.regrets[1] == pytest.approx(0, abs=1e-12)
    assert [less.regrets[p] for p in (0, 2)] == pytest.approx(
        [whole.regrets[p] for p in (0, 2)], abs=1e-9
    )


def test_what_is_never_played_leaves_the_tree_with_all_that_only_it_leads_to() -> None:
    game = locked("kuhn2", bold(K1=0, K2=0, K3=0))
    assert set(game.tree.infoset_labels) == {"1:", "2:", "3:"}
    assert eqbench.solve(game, "lcp").max_regret < 1e-12


def test_single_information_sets_are_locked_and_locks_add_up() -> None:
    both = locked("kuhn2", bold(), sets='P2|1:B, "P2|2:B"')
    assert both.tree.n_infosets == 10
    first = f"locked(game=kuhn2,profile={json.dumps(json.dumps(bold()))},sets='P2|1:B')"
    rest = {"behavior": {"P2": {"2:B": bold()["behavior"]["P2"]["2:B"]}}}
    assert locked(first, rest).tree.n_infosets == 10


def test_payoff_parameter_is_that_of_the_game_inside() -> None:
    there = locked("kuhn2", bold()).at(pot=3)
    assert eqbench.load_game(there.spec).tree.payoffs.value == 3
    np.testing.assert_array_equal(
        there.tree.payoffs.table, locked("kuhn2(pot=3)", bold()).tree.payoffs.table
    )


def test_poker_with_a_locked_player_is_not_taken_for_the_whole_game() -> None:
    profile = BehaviorProfile.uniform(eqbench.load_game("kuhn3")).to_json()
    game = locked("kuhn3", profile, players="P2")
    uniform = BehaviorProfile.uniform(game)
    np.testing.assert_allclose(
        game.payoff_model().regrets(uniform.probabilities),
        eqbench.verify(game, uniform).regrets,
        atol=1e-12,
    )


def test_fractions_without_a_common_denominator_are_played_as_floats() -> None:
    game, primes = eqbench.load_game("kuhn3"), (101, 103, 107, 109, 113, 127, 131, 137, 139, 149)
    rows = [Fraction(1, primes[i % 10]) for i in range(game.tree.n_infosets)]
    profile = BehaviorProfile.of_exact(game, [share for row in rows for share in (row, 1 - row)])
    part = locked("kuhn3", profile.to_json(), players="P2")
    assert not part.tree.exact
    with pytest.raises(EqbenchError, match="exact"):
        eqbench.verify(part, BehaviorProfile.uniform(part), exact=True)


@pytest.mark.parametrize(
    ("game", "profile", "options", "words"),
    [
        ("nope", "{}", {}, "unknown game 'nope'"),
        ("kuhn2", "-", {}, "JSON file"),
        ("kuhn2", "", {}, "JSON file"),
        ("kuhn2", "{", {}, "not valid JSON"),
        ("kuhn2", "missing.json", {}, "cannot read the profile missing.json"),
        ("kuhn2", "/dev/zero", {}, "cannot read the profile /dev/zero"),
        ("kuhn2", '{"behavior": {"P9": {}}}', {"players": "P2"}, "unknown player 'P9'"),
        ("kuhn2", '{"behavior": {"P2": {"1:B": {"fold": 2}}}}', {}, "frequencies lie in"),
        ("kuhn2", '{"behavior": {"P2": {"1:B": {"fold": 0.5}}}}', {}, "sum to 0.5"),
        ("kuhn2", '{"behavior": {"P2": {"1:B": {"raise": 1}}}}', {}, "unknown action 'raise'"),
        ("kuhn2", '{"behavior": {"P2": {"1:B": [1]}}}', {}, "profile"),
        ("kuhn2", json.dumps(bold()), {"players": "P1"}, "does not say what to do .*'1:' of P1"),
        ("kuhn2", json.dumps(bold()), {"players": "P3"}, "unknown player 'P3'"),
        ("kuhn2", json.dumps(bold()), {"sets": "P2|9:"}, "no information set '9:'"),
        ("kuhn2", '{"behavior": {}}', {}, "locks nothing"),
        ("matching_pennies", '{"behavior": {"P1": {"": {}}, "P2": {}}}', {}, "P1"),
    ],
)
def test_what_cannot_be_locked_is_refused(
    game: str, profile: str, options: dict[str, str], words: str
) -> None:
    with pytest.raises(EqbenchError, match=words):
        eqbench.load_game("locked", game=game, profile=profile, **options)


def test_profile_that_leaves_no_choice_is_refused() -> None:
    profile = BehaviorProfile.uniform(eqbench.load_game("kuhn2")).to_json()
    with pytest.raises(EqbenchError, match="players="):
        locked("kuhn2", profile)


def test_too_large_game_inside_is_refused_at_once() -> None:
    with pytest.raises(EqbenchError, match="nodes"):
        eqbench.load_game("locked", game="kuhn3", profile=json.dumps(bold()), max_nodes=100)


def test_game_inside_is_refused_by_its_size_before_anything_is_read() -> None:
    for inside in ("leduc(ranks=52)", "kuhn(players=3,cards=1000)"):
        for game in (inside, f"locked(game='{inside}',profile=missing.json)"):
            with pytest.raises(GameTooLargeError, match="GiB"):
                eqbench.load_game("locked", game=game, profile="missing.json")


def test_command_runs_a_game_against_a_profile_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "weak.json").write_text(json.dumps(bold(K1=0)))
    spec = "locked(game=kuhn2,profile=weak.json)"
    accepted("run", "--game", spec, "--solver", "lcp", "--out", "one", "-q", cwd=tmp_path)
    run = eqbench.load_run(tmp_path / "one")
    assert run.frame("cells")["max_regret"].tolist() == pytest.approx([0], abs=1e-12)
    refused("run", "--game", "locked(game=kuhn2)", "--solver", "lcp", words="profile", cwd=tmp_path)
