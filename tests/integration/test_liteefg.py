"""LiteEFG's methods as rows, and games in its text."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import run

import eqbench
from eqbench.extras import EXTRAS
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.registry import default_registry
from eqbench.solver import refusal_of
from eqbench.solvers.liteefg import FIRST_TWO, METHODS, game_text
from eqbench.verification import verify

OURS = {
    "cfr": "cfr(alternating=false)",
    "cfr_plus": "cfr_plus",
    "dcfr": "dcfr",
    "pcfr_plus": "pcfr_plus_alternating(averaging=linear)",
}


def payoffs_in(text: str, frequencies: list[list[float]]) -> np.ndarray:
    """Expected payoffs by nothing but the text, given frequencies of each information set."""
    nodes, infoset_of = {}, {}
    for kind, name, *words in (line.split() for line in text.splitlines() if line[0] != "#"):
        if kind == "node":
            nodes[name] = words
        else:
            infoset_of |= dict.fromkeys(words[1:], int(name))

    def value(node: str) -> np.ndarray:
        kind, *words = nodes[node]
        if kind == "player":
            row = zip(frequencies[infoset_of[node]], words[2:], strict=True)
            return sum(share * value(child) for share, child in row)
        pairs = [word.split("=") for word in words[1:]]
        if kind == "chance":
            return sum(float(share) * value(child) for child, share in pairs)
        return np.array([float(payoff) for _, payoff in pairs])

    return value(next(iter(nodes)))


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3_reduced", "jordan", 0, 1, 2])
def test_text_of_a_game_has_its_payoffs_for_any_profile(spec: str | int) -> None:
    tree = random_tree(spec) if isinstance(spec, int) else eqbench.load_game(spec).tree
    profile = BehaviorProfile.of(tree, random_profile(tree, np.random.default_rng(3)))
    rows = np.split(profile.probabilities, tree.action_start[1:-1])
    found = payoffs_in(game_text(tree), [row.tolist() for row in rows])
    np.testing.assert_allclose(found, verify(tree, profile).payoffs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_refuses_three_players_where_its_own_loop_leaves_one_out(method: str) -> None:
    two, three = eqbench.load_game("kuhn2"), eqbench.load_game("kuhn3")
    reason = refusal_of(eqbench.load_solver(f"liteefg_{method}"), three)
    assert (reason is not None) == (method in FIRST_TWO)
    assert reason is None or "1 and 2 only" in reason
    assert refusal_of(eqbench.load_solver(f"liteefg_{method}"), two) is None
    for updates in ("first_two", "all"):
        asked = eqbench.load_solver(f"liteefg_{method}(updates={updates})")
        assert refusal_of(asked, three) is None


def test_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "LiteEFG", None)
    found = eqbench.solve("kuhn2", "liteefg_cfr")
    assert found.status == "unavailable"
    assert "--no-deps" in (found.reason or "")
    assert "liteefg" in EXTRAS


def test_one_word_stands_for_all_of_them() -> None:
    rows = default_registry().resolve_solvers("liteefg_all")
    assert rows == [f"liteefg_{method}" for method in METHODS]


class TestInstalled:
    """These run only where LiteEFG is."""

    @pytest.fixture(autouse=True)
    def installed(self) -> None:
        pytest.importorskip("LiteEFG", reason="LiteEFG is not installed")

    @pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", 0, 1])
    @pytest.mark.parametrize("method", OURS)
    def test_averages_are_ours(self, method: str, spec: str | int) -> None:
        game = Game(f"random {spec}", random_tree(spec)) if isinstance(spec, int) else spec
        theirs = run(f"liteefg_{method}(updates=all)", game, iterations=20)
        ours = run(OURS[method], game, iterations=20)
        np.testing.assert_allclose(theirs.average, ours.average, atol=1e-9)

    @pytest.mark.parametrize("method", FIRST_TWO)
    def test_verifier_shows_what_its_own_loop_makes_of_three_players(self, method: str) -> None:
        own, whole = (
            run(f"liteefg_{method}(updates={who})", "kuhn3", iterations=300)
            for who in ("first_two", "all")
        )
        third = [own.game.tree.infosets_of(2).start, own.game.tree.n_infosets]
        first, last = own.game.tree.action_start[third]
        assert np.all(own.average[first:last] == 0.5), "player 3 stays uniform"
        assert min(own.regrets) > 0.5 > 100 * min(whole.regrets)

    @pytest.mark.parametrize("method", ["mmd", "qfr", "reg_cfr"])
    def test_regret_of_the_last_iterate_falls_in_silence(
        self, method: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        first, later = (run(f"liteefg_{method}", "kuhn3", iterations=n) for n in (1, 1000))
        assert later.max_regret < first.max_regret / 2
        assert capfd.readouterr() == ("", "")
