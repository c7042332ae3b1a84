"""Specs of OpenSpiel's games, what is refused, and that nothing is printed meanwhile."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import eqbench
from eqbench.errors import (
    EqbenchError,
    GameFormatError,
    GameTooLargeError,
    ImperfectRecallError,
    SpecError,
    UsageError,
)
from eqbench.registry import default_registry

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
kuhn_poker = importlib.import_module("open_spiel.python.games.kuhn_poker")

REFUSED = [
    ("kuhn_poke", SpecError, "did you mean kuhn_poker"),
    ("kuhn_poker(playrs=3)", SpecError, "did you mean players"),
    ("misere(game=kuhn_poke())", SpecError, "did you mean kuhn_poker"),
    ("misere(game=kuhn_poker(playrs=3))", SpecError, "did you mean players"),
    ("kuhn_poker(players=30)", SpecError, "OpenSpiel refuses"),
    ("kuhn_poker(players=many)", SpecError, "OpenSpiel refuses"),
    ("kuhn_poker(players=", SpecError, "OpenSpiel refuses"),
    ("misere", SpecError, "OpenSpiel refuses"),
    ("efg_game(filename=nowhere.efg)", SpecError, "OpenSpiel refuses.* the files that they name"),
    ("hex(board_size=1)", GameFormatError, "no move at a node where the game is not over"),
    ("", SpecError, "names no game"),
    ("mfg_garnet", GameFormatError, "mean-field"),
    ("stones_and_gems", GameFormatError, "draws its chance moves itself"),
    ("pig", GameFormatError, "does not tell what players know"),
    ("chess", GameTooLargeError, "openspiel:chess.* far more than 15,000,000 nodes"),
    ("goofspiel", GameTooLargeError, "far more than"),
    ("oshi_zumo(coins=3,size=1)", GameTooLargeError, "more than 1,000 moves"),
    ("liars_dice_ir(dice_sides=3)", ImperfectRecallError, r"openspiel:liars_dice_ir.*'P0 1 1-3"),
    ("dark_hex_ir(num_cols=2,num_rows=2)", ImperfectRecallError, r"openspiel:dark_hex_ir.*'P1 "),
]


def game_of(name: str) -> Any:
    return default_registry().describe_game(f"openspiel:{name}")[0]


@pytest.mark.parametrize(("name", "kind", "reason"), REFUSED)
def test_refused_with_a_reason_and_in_silence(
    name: str, kind: type[EqbenchError], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(kind, match=reason) as refused:
        eqbench.load_game(f"openspiel:{name}")
    assert capfd.readouterr() == ("", "")
    assert not re.search(r"\.(cc|h):\d", str(refused.value)), "a place in OpenSpiel's sources"


def test_node_limit_is_that_of_the_tree() -> None:
    with pytest.raises(GameTooLargeError, match="leduc_poker"):
        eqbench.load_game("openspiel:leduc_poker", max_nodes=9_456)
    assert eqbench.load_game("openspiel:leduc_poker", max_nodes=9_457).tree.n_nodes == 9_457
    # with few parameters nobody forgets anything
    assert eqbench.load_game("openspiel:liars_dice_ir(dice_sides=2)").tree.n_nodes == 127


def test_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(UsageError, match="pip"):
        eqbench.load_game("openspiel:kuhn_poker")
    available = eqbench.load_solver("openspiel_cfr").availability()
    assert available.state == "missing"
    assert "pip install" in available.reason


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("kuhn_poker", "kuhn_poker(players=2)"),
        (" kuhn_poker( players = 3 ) ", "kuhn_poker(players=3)"),
        ("blotto(fields=2)", "blotto(coins=10,fields=2,players=2)"),
        # what it prints of all parameters it cannot read
        ("lewis_signaling", "lewis_signaling()"),
    ],
)
def test_canonical_spec_has_all_parameters_and_reads_back(name: str, spec: str) -> None:
    game = game_of(name)
    assert game.spec == f"openspiel:{spec}"
    assert game_of(spec).spec == game.spec


def test_game_that_a_file_defines_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "game.efg"
    file.write_text(
        'EFG 2 R "one" { "A" "B" } ""\n'
        'p "" 1 1 "start" { "l" "r" } 0\nt "" 1 "" { 1, -1 }\nt "" 2 "" { 0, 0 }\n'
    )
    read = game_of(f"efg_game(filename={file})")
    assert read.build().n_nodes == 3
    assert read.cache_key() == ""
    assert game_of("kuhn_poker").cache_key() == pyspiel.__version__


# Probabilities of the first card and of the second.
ODD = {3: (0.1234567891011, 0.4, 0.4765432108989), 2: (0.5, 0.5)}


def dealt(chances: dict[int, tuple[float, ...]]) -> Any:
    """`chance_outcomes` of Kuhn poker with these probabilities."""

    def chance_outcomes(state: Any) -> list[tuple[int, float]]:
        left = sorted({0, 1, 2} - set(state.cards))
        return list(zip(left, chances[len(left)], strict=True))

    return chance_outcomes


def test_equal_action_texts_get_numbers_and_odd_chances_stay_floats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kuhn_poker.KuhnPokerState, "chance_outcomes", dealt(ODD))
    monkeypatch.setattr(kuhn_poker.KuhnPokerState, "_action_to_string", lambda *_: "go")
    monkeypatch.setattr(kuhn_poker.KuhnPokerGame, "__module__", "of_somebody_else")
    game = game_of("python_kuhn_poker")
    tree = game.build()
    assert set(tree.infoset_actions) == {("go (0)", "go (1)")}
    assert not tree.exact
    assert tree.payoffs.exact
    assert tree.chance_probability[1:4].tolist() == list(ODD[3])
    assert game.cache_key() == "", "its code may change without a new version of OpenSpiel"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("chance_outcomes", dealt(ODD | {2: (0.5, 0.25)}), "must sum to 1"),
        ("is_terminal", lambda state: state.cards[9], "index out of range"),
    ],
)
def test_game_that_fails_on_the_way_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, words: str
) -> None:
    monkeypatch.setattr(kuhn_poker.KuhnPokerState, name, value)
    with pytest.raises(GameFormatError, match=rf"openspiel:python_kuhn_poker.*{words}"):
        game_of("python_kuhn_poker").build()
