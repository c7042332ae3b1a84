"""Proofs close no case that has an equilibrium, and close all others of games that are known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.proofs.known import known_sets
from eqbench.proofs.prover import KINDS, Proof, Prover, prove
from eqbench.proofs.relaxation import Relaxation
from eqbench.proofs.rows import Algebra, Case, Polynomial, Rows, contradicts

F = Fraction
SIX = [
    [-81, 36, -126, 126, -36, 90],
    [-180, 72, -333, 297, -153, 270],
    [20, -3, 42, -33, 17, -30],
    [-30, 17, -33, 42, -3, 20],
    [270, -153, 297, -333, 72, -180],
    [90, -36, 126, -126, 36, -81],
]
OTHER_SIX = [
    [72, 36, 17, -3, -36, -153],
    [-180, -81, -30, 20, 90, 270],
    [297, 126, 42, -33, -126, -333],
    [-333, -126, -33, 42, 126, 297],
    [270, 90, 20, -30, -81, -180],
    [-153, -36, -3, 17, 36, 72],
]


@pytest.fixture(scope="module")
def reduced() -> tuple[Proof, list[str]]:
    # programs without warm starts take minutes, and may lead to other cases
    pytest.importorskip("highspy", reason="an optional extra is not installed")
    return prove(eqbench.load_game("kuhn3_reduced"))


# -- where an equilibrium ends, by the choice of statuses that the page of the format defines ----


class Equilibrium:
    """Weights and best-response values of a profile (A,), by recursion over the tree's sets."""

    def __init__(self, game: Game, behavior: list[Fraction]) -> None:
        self.tree, algebra = game.tree, Algebra.of(game)
        tree, self.known = self.tree, {}
        self.weight: list[Fraction] = []
        for infoset in range(tree.n_infosets):
            above = int(tree.infoset_parent[infoset])
            own = self.weight[above] if above >= 0 else F(1)
            for action in self.block(infoset):
                self.weight.append(own * behavior[action])
        self.known |= dict(enumerate(self.weight))
        self.within: set[int] = set()
        for infoset in reversed(range(tree.n_infosets)):
            block, variable = self.block(infoset), tree.n_actions + infoset
            self.known[variable] = F(0)
            worth = {action: -self.at(algebra.gap[action]) for action in block}
            self.known[variable] = max(worth.values())
            played = [a for a in block if self.weight[a]]
            best = [a for a in block if worth[a] == self.known[variable]]
            assert set(played) <= set(best), "the profile is no equilibrium"
            self.within |= {*(played or best[:1])}
        assert not any(self.at(slack) for slack in algebra.slack)

    def block(self, infoset: int) -> range:
        return range(*map(int, self.tree.action_start[infoset : infoset + 2]))

    def at(self, polynomial: Polynomial) -> Fraction:
        total = F(0)
        for monomial, value in polynomial.items():
            for variable in monomial:
                value = value * self.known[variable]  # type: ignore[assignment]
            total += value
        return total

    def leaf(self, game: Game, lines: list[str]) -> dict[str, Any]:
        """The leaf that the equilibrium belongs to."""
        nodes = [json.loads(line) for line in lines[1:-1]]
        cases = {(node["p"], node["c"]): node for node in nodes}
        node, rows = nodes[0], Rows(Algebra.of(game), Case())
        while True:
            if "branch" in node:
                chosen = int(node["branch"] in self.within)
            elif "split" in node:
                form, signs = node["split"]
                value = self.at(rows.form(form))
                mine = "+" if value > 0 else "-" if value < 0 else "0"
                chosen = next(k for k, sign in enumerate(signs) if mine in sign)
            elif "blow" in node:
                chosen = 0
            else:
                return node
            node = cases[node["n"], chosen]


def behavior_of(game: Game, profile: dict[str, str]) -> list[Fraction]:
    """Exact behavior from ``P1|J:|bet``-like names; other actions get what is left over."""
    tree, behavior = game.tree, [F(0)] * game.tree.n_actions
    for infoset in range(tree.n_infosets):
        first = int(tree.action_start[infoset])
        for action, label in enumerate(tree.infoset_actions[infoset], first):
            player = tree.players[tree.infoset_player[infoset]]
            behavior[action] = F(profile.get(f"{player}|{tree.infoset_labels[infoset]}|{label}", 0))
        given = sum(behavior[first : first + len(tree.infoset_actions[infoset])])
        behavior[first] += 1 - given
    return behavior


def line_of_alpha(game: Game, alpha: Fraction) -> list[Fraction]:
    """Kuhn's equilibrium in which player 1 bets with the lowest card with this probability."""
    line = {
        "P1|1:|bet": alpha,
        "P1|3:|bet": 3 * alpha,
        "P1|2:KB|call": alpha + F(1, 3),
        "P1|3:KB|call": 1,
        "P2|1:K|bet": F(1, 3),
        "P2|3:K|bet": 1,
        "P2|2:B|call": F(1, 3),
        "P2|3:B|call": 1,
    }
    return behavior_of(game, {name: str(value) for name, value in line.items()})


def strategic(folder: Path, payoffs: np.ndarray) -> Game:
    """A game in strategic form from integers (players, actions of the first, ...)."""
    *shape, players = (*payoffs.shape[1:], payoffs.shape[0])
    names = " ".join(f'"P{i + 1}"' for i in range(players))
    flat = payoffs.reshape(players, -1, order="F").T.ravel().tolist()
    text = f'NFG 1 R "game" {{ {names} }} {{ {" ".join(map(str, shape))} }}\n\n'
    file = folder / "game.nfg"
    file.write_text(text + " ".join(map(str, flat)) + "\n")
    return eqbench.load_game(str(file))


def pure_equilibria(payoffs: np.ndarray) -> Iterator[tuple[int, ...]]:
    for cell in product(*map(range, payoffs.shape[1:])):
        for i, own in enumerate(cell):
            others = (*cell[:i], slice(None), *cell[i + 1 :])
            if payoffs[(i, *cell)] < payoffs[(i, *others)].max() and own >= 0:
                break
        else:
            yield cell


# -- games whose equilibria are known ------------------------------------------------------------


def test_kuhn_poker_is_complete_with_the_line_of_alpha() -> None:
    game = eqbench.load_game("kuhn2")
    found, lines = prove(game)
    assert found.counts["known"]
    assert not found.faces
    for alpha in (F(0), F(1, 5), F(1, 3)):
        assert "known" in Equilibrium(game, line_of_alpha(game, alpha)).leaf(game, lines)


def test_without_known_sets_the_line_of_alpha_is_in_faces() -> None:
    game = eqbench.load_game("kuhn2")
    search = Prover(game)
    lines = [*search.lines()]
    assert len(search.proof.faces) == json.loads(lines[-1])["face"] > 0
    for alpha in (F(0), F(1, 5), F(1, 3)):
        assert "face" in Equilibrium(game, line_of_alpha(game, alpha)).leaf(game, lines)


def test_battle_of_the_sexes_has_two_pure_and_one_mixed_face() -> None:
    found, _ = prove(eqbench.load_game("battle_of_sexes"))
    assert sorted(len(face.within) for face in found.faces) == [2, 2, 4]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (2, 2, 2), (2, 3, 2)])
def test_no_pure_equilibrium_is_excluded(tmp_path: Path, shape: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng((seed, *shape))
    payoffs = rng.integers(0, 4, size=(len(shape), *shape))  # often degenerate
    game = strategic(tmp_path, payoffs)
    found, lines = prove(game)
    assert found.faces, "every finite game has an equilibrium"
    for cell in pure_equilibria(payoffs):
        behavior = [F(0)] * game.tree.n_actions
        for i, own in enumerate(cell):
            behavior[int(game.tree.action_start[i]) + own] = F(1)
        assert "face" in Equilibrium(game, behavior).leaf(game, lines)


def test_the_game_of_six_actions_has_its_75_equilibria_as_faces(tmp_path: Path) -> None:
    """Of von Stengel 1997, with the payoffs of Savani and von Stengel 2006; it is nondegenerate."""
    found, lines = prove(strategic(tmp_path, np.array([SIX, OTHER_SIX])))
    supports = {(face.out, face.within) for face in found.faces}
    assert len(supports) == len(found.faces) == json.loads(lines[-1])["face"] == 75


def test_three_players_in_a_cycle_have_the_mixed_equilibrium_alone() -> None:
    game = eqbench.load_game("jordan")
    found, lines = prove(game)
    assert len(found.faces) == 1
    behavior = [F(1, 2)] * game.tree.n_actions
    assert "face" in Equilibrium(game, behavior).leaf(game, lines)


def test_reduced_three_player_kuhn_poker_is_the_published_family_where_play_leads(
    reduced: tuple[Proof, list[str]],
) -> None:
    found, lines = reduced
    assert not found.faces
    assert set(found.inside) == {0, 1, 2, 3} == {*range(len(found.header["known"]))}
    assert sum(map(len, lines)) < 5_000_000


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"b11": "1/8", "b21": "1/4", "c11": "0", "c21": "1/2"}, "szafron:c11=0"),
        ({"b11": "1/4", "b21": "1/4", "c11": "1/4", "c21": "1/4"}, "szafron:0<c11<1/2"),
        ({"b11": "1/5", "b21": "1/10", "c11": "1/2", "c21": "0"}, "szafron:c11=1/2"),
        ({"b11": "0", "b21": "0", "c11": "1/3", "c21": "1/6"}, "szafron:beta=0"),
        (
            {"b11": "0", "b21": "0", "c11": "0", "c21": "1/2", "a33": "1/4", "c32": "1/4"},
            "szafron:beta=0",
        ),
    ],
)
@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced"])
def test_members_of_the_family_end_in_known_sets(
    spec: str, values: dict[str, str], name: str
) -> None:
    file = Path(__file__).parents[2] / f"results/reference/{spec}.proof.jsonl"
    game, lines = eqbench.load_game(spec), file.read_text().splitlines()
    equilibrium = Equilibrium(game, member_of_the_family(game, values))
    number, _ = equilibrium.leaf(game, lines)["known"]
    assert name == json.loads(lines[0])["known"][number]["name"]


def test_threats_that_are_replaced_leave_an_equilibrium_in_its_known_set() -> None:
    """Player 2 never bets, so player 1 could fold the highest card to it, and call with lower."""
    game = eqbench.load_game("kuhn3")
    values = {"b11": "0", "b21": "0", "c11": "0", "c21": "1/2"}
    threats = {"P1|4:KBC|call": "0", "P1|2:KBC|call": "1/4"}
    equilibrium = Equilibrium(game, member_of_the_family(game, values, threats))  # it is one
    known, _ = known_sets(game)
    rows = Rows(Algebra.of(game), Case())
    (beta,) = [each for each in known if each.name == "szafron:beta=0"]
    signs = [(sign, equilibrium.at(rows.form(form))) for sign, form in beta.rows]
    assert all(value == 0 if sign == "0" else value >= 0 for sign, value in signs)


def test_replaced_actions_weigh_nothing_and_only_where_no_known_set_depends_on_them() -> None:
    game = eqbench.load_game("kuhn3")
    search = Prover(game, *known_sets(game))
    assert len(search.replaced) == 15
    assert not any(search.algebra.weight[worse] for worse, _ in search.replaced)
    assert not Prover(game).replaced  # without a known set all equilibria are wanted
    kuhn2 = eqbench.load_game("kuhn2")
    assert not Prover(kuhn2, *known_sets(kuhn2)).replaced


def member_of_the_family(
    game: Game, values: dict[str, str], more: dict[str, str] | None = None
) -> list[Fraction]:
    """Behavior by some parameters of Szafron et al. 2013 and by names of actions."""
    b11, b21 = F(values["b11"]), F(values["b21"])
    beta = max(b11, b21)
    rest = {
        "b41": 2 * b11 + 2 * b21,
        "b33": F(1, 2) + (b11 + b21) / 2 + beta / 2,
        "a33": F(1, 2),
        "c33": F(1, 2),
        **dict.fromkeys(("a42", "a43", "a44", "b42", "b43", "b44"), F(1)),
        **dict.fromkeys(("c41", "c42", "c43", "c44"), F(1)),
    }
    places = {"a": ("", "KKB", "KBF", "KBC"), "b": ("K", "B", "KKBF", "KKBC")}
    places["c"] = ("KK", "KB", "BF", "BC")
    profile = {}
    for variable, value in ({k: str(v) for k, v in rest.items()} | values).items():
        letter, card, place = variable[0], variable[1], int(variable[2]) - 1
        opening = place == 0
        action = "bet" if opening else "call"
        player = f"P{'abc'.index(letter) + 1}"
        profile[f"{player}|{card}:{places[letter][place]}|{action}"] = value
    return behavior_of(game, profile | (more or {}))


# -- what must be noticed ------------------------------------------------------------------------


def test_a_bound_that_is_wrong_excludes_an_equilibrium(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the tests above would notice a prover that takes weights to be positive which are not.

    With the highest card player 1 may always bet, and then has no weight where they would call.
    """
    monkeypatch.setattr(Case, "is_strict", lambda self, tree, action: action in self.within)
    game = eqbench.load_game("kuhn2")
    lines = [*Prover(game).lines()]
    assert "closed" in Equilibrium(game, line_of_alpha(game, F(1, 3))).leaf(game, lines)


def test_a_combination_without_one_of_its_rows_closes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = Relaxation.exact

    def incomplete(self: Relaxation, near: dict[str, float], target: Polynomial) -> Any:
        certificate = exact(self, near, target)
        return certificate if not certificate else self.exact_of(dict([*certificate.items()][1:]))

    monkeypatch.setattr(
        Relaxation, "exact_of", lambda self, part: part if contradicts(self.rows, part) else None,
        raising=False,
    )  # fmt: skip
    monkeypatch.setattr(Relaxation, "exact", incomplete)
    found, _ = prove(eqbench.load_game("matching_pennies"))
    assert not found.counts["closed"]


def test_certificates_with_a_wrong_sign_or_row_are_no_contradictions() -> None:
    game = eqbench.load_game("matching_pennies")
    _, lines = prove(game)
    algebra, case = Algebra.of(game), Case().settle(game.tree, None)
    first = case.settle(game.tree, json.loads(lines[1])["branch"], inside=False)
    certificate = json.loads(lines[2])["closed"]
    rows = Rows(algebra, first)
    assert contradicts(rows, certificate)
    assert not contradicts(Rows(algebra, case), certificate)  # without the status
    for name in certificate:
        assert not contradicts(rows, {**certificate, name: -certificate[name]})
        assert not contradicts(rows, {**certificate, name: certificate[name] + 1})
        assert not contradicts(rows, {k: v for k, v in certificate.items() if k != name})


# -- limits and files ----------------------------------------------------------------------------


def test_a_search_that_is_continued_keeps_its_lines_and_decides_the_rest() -> None:
    game, left = eqbench.load_game("kuhn2(cards=4)"), 20

    def is_over() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    search = Prover(game, is_over=is_over)
    begun = [*search.lines()]
    assert json.loads(begun[-1])["face"] >= search.proof.unfinished > 0
    whole, more = prove(game)[0], Prover(game)
    assert [*more.lines(begun[1:21])][:21] == begun[:21]
    supports = ({(f.out, f.within) for f in proof.faces} for proof in (whole, more.proof))
    assert next(supports) == next(supports)
    assert not more.proof.unfinished


def test_lines_number_their_nodes_and_the_end_counts_them() -> None:
    _, lines = prove(eqbench.load_game("kuhn2(cards=4)"))
    nodes = [json.loads(line) for line in lines[1:-1]]
    assert [node["n"] for node in nodes] == [*range(len(nodes))]
    end = json.loads(lines[-1])
    assert end["nodes"] == len(nodes) == sum(end[kind] for kind in KINDS)


def test_the_estimate_is_positive_and_does_not_count_as_search() -> None:
    search = Prover(eqbench.load_game("kuhn2(cards=4)"))
    size = search.estimate(0)
    assert min(size.values()) > 0
    assert size["most_nodes"] >= size["nodes"]
    assert search.proof.nodes == 0


def test_the_estimate_of_a_tree_without_luck_is_its_size() -> None:
    game = eqbench.load_game("kuhn2")
    assert Prover(game).estimate(0)["nodes"] > 1
    assert Prover(game, *known_sets(game)).estimate(0)["nodes"] == 1  # one case, in the known set


def test_dominated_actions_are_those_that_lose_whatever_follows() -> None:
    game = eqbench.load_game("kuhn2")
    labels = action_labels(game.tree)
    lost = {labels[a] for a in Prover(game).dominated}
    assert len(lost) == 4  # calls with the lowest card and folds with the highest, by both
    assert not Prover(eqbench.load_game("matching_pennies")).dominated


def test_games_with_floats_or_too_many_terms_are_refused() -> None:
    with pytest.raises(UsageError, match="rationals"):
        prove(eqbench.load_game("random(players=2,actions=2)"))
    with pytest.raises(UsageError, match="--most-terms"):
        Algebra.of(eqbench.load_game("kuhn3"), 100)
