"""Specs of OpenSpiel's games, what is refused, and that nothing is printed meanwhile."""

from __future__ import annotations

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
    ("chess", GameTooLargeError, "openspiel:chess.* far more than 10,000,000 nodes"),
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
    with pytest.raises(GameTooLargeError, match=r"openspiel:leduc_poker.* 9,456 nodes"):
        eqbench.load_game("openspiel:leduc_poker", max_nodes=9_456)
    assert eqbench.load_game("openspiel:leduc_poker", max_nodes=9_457).tree.n_nodes == 9_457
    # with few parameters nobody forgets anything
    assert eqbench.load_game("openspiel:liars_dice_ir(dice_sides=2)").tree.n_nodes == 127


def test_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(UsageError, match=r"pip install 'eqbench\[peers\]'"):
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


def test_simultaneous_moves_are_hidden() -> None:
    tree = eqbench.load_game("openspiel:blotto(coins=3,fields=2)").tree
    assert (tree.n_infosets, tree.players) == (2, ("P1", "P2"))
    assert (tree.player >= 0).sum() == 1 + 4


def test_labels_are_information_states_and_action_texts() -> None:
    tree = eqbench.load_game("openspiel:kuhn_poker").tree
    assert "1pb" in tree.infoset_labels
    assert set(tree.infoset_actions) == {("Pass", "Bet")}


class Odd(pyspiel.Game):  # type: ignore[misc]
    """A coin with odd probabilities, then actions whose texts are the same."""

    def __init__(self, parameters: Any = None) -> None:
        info = pyspiel.GameInfo(
            num_distinct_actions=2,
            max_chance_outcomes=2,
            num_players=1,
            min_utility=0.0,
            max_utility=1.0,
            utility_sum=None,
            max_game_length=1,
        )
        super().__init__(ODD, info, {})

    def new_initial_state(self) -> OddState:
        return OddState(self)


class OddState(pyspiel.State):  # type: ignore[misc]
    chances = (0.1234567891011, 0.8765432108989)

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.moves: list[int] = []

    def current_player(self) -> int:
        players = (pyspiel.PlayerId.CHANCE, 0, pyspiel.PlayerId.TERMINAL)
        return players[len(self.moves)]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(enumerate(self.chances))

    def _legal_actions(self, player: int) -> list[int]:
        return [0, 1]

    def _apply_action(self, action: int) -> None:
        self.moves.append(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return "go"

    def information_state_string(self, player: int = 0) -> str:
        return str(self.moves)

    def is_terminal(self) -> bool:
        return len(self.moves) == 2

    def returns(self) -> list[float]:
        return [float(sum(self.moves))]

    def __str__(self) -> str:
        return str(self.moves)


ODD = pyspiel.GameType(
    short_name="eqbench_odd",
    long_name="odd",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.GENERAL_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=1,
    min_num_players=1,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={},
)


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    pyspiel.register_game(ODD, Odd)


def test_equal_action_texts_get_numbers_and_odd_chances_stay_floats() -> None:
    game = game_of("eqbench_odd")
    tree = game.build()
    assert set(tree.infoset_actions) == {("go (0)", "go (1)")}
    assert not tree.exact
    assert tree.payoffs.exact
    assert tree.chance_probability[1:3].tolist() == list(OddState.chances)
    assert game.cache_key() == "", "its code may change without a new version of OpenSpiel"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("chances", (0.5, 0.25), "must sum to 1"),
        ("is_terminal", lambda state: state.moves[9], "index out of range"),
    ],
)
def test_game_that_fails_on_the_way_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, words: str
) -> None:
    monkeypatch.setattr(OddState, name, value)
    with pytest.raises(GameFormatError, match=rf"openspiel:eqbench_odd.*{words}"):
        game_of("eqbench_odd").build()
