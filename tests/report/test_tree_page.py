"""Trees that are clicked through or printed: known numbers, parts, bounds, hostile labels."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import accepted
from helpers.made_games import random_tree
from helpers.pages import CLOSING, HOSTILE, check_latex, read_page

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.inspection import excerpt, node_at
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.report.html.tree import played_numbers, tree_data, tree_page
from eqbench.report.tree_drawing import draw_tree, text_width, tikz_tree

# Kuhn's equilibria of two players (1950) at alpha = 1/3: P1 bets J with alpha and K with 3 alpha.
ALPHA = {
    "P1": {
        **{"1:": {"check": "2/3", "bet": "1/3"}, "2:": {"check": 1}, "3:": {"bet": 1}},
        **{"1:KB": {"fold": 1}, "2:KB": {"fold": "1/3", "call": "2/3"}, "3:KB": {"call": 1}},
    },
    "P2": {
        **{"1:K": {"check": "2/3", "bet": "1/3"}, "2:K": {"check": 1}, "3:K": {"bet": 1}},
        **{"1:B": {"fold": 1}, "2:B": {"fold": "2/3", "call": "1/3"}, "3:B": {"call": 1}},
    },
}
LABELS = [HOSTILE, CLOSING, r"\input{/etc/passwd}", "}% $#&_^~", "\u202e\x1b[31m♞", "a/b"]


def data_of(page: str) -> dict[str, Any]:
    (block,) = (e for e in read_page(page).all("script") if e.attributes.get("id") == "data")
    data: dict[str, Any] = json.loads(block.text)["trees"]["tree"]
    return data


def kuhn2() -> tuple[Game, BehaviorProfile]:
    game = eqbench.load_game("kuhn2")
    return game, BehaviorProfile.from_json(game, {"behavior": ALPHA})


def hostile_game() -> Game:
    """A chance move and a decision, all of whose labels are meant to break out."""
    tree = TreeBuilder([HOSTILE, "P2"])
    root = tree.chance(None, [Fraction(1, len(LABELS))] * len(LABELS), LABELS)
    for k, label in enumerate(LABELS):
        node = tree.decision((root, k), k % 2, label + str(k), LABELS)
        for move in range(len(LABELS)):
            tree.terminal((node, move), [move, -move])
    return Game(HOSTILE, tree.tree())


def test_numbers_of_kuhn_poker_are_those_by_hand(tmp_path: Path) -> None:
    game, _ = kuhn2()
    (tmp_path / "alpha.json").write_text(json.dumps({"behavior": ALPHA}))
    accepted("export", "kuhn2", "tree.html", "--profile", "alpha.json", cwd=tmp_path)
    shown = data_of((tmp_path / "tree.html").read_text(encoding="utf-8"))
    own, tree = shown["profiles"][0], game.tree
    assert (own["payoffs"], own["max_regret"]) == (["-1/18", "1/18"], [0])
    decided = np.flatnonzero(tree.infoset >= 0).tolist()
    for history, reach, belief in [
        ("Q J/check/bet", "1/18", "1/4"),  # 1/6 of 1 of 1/3, against 1/6 of 1 of 1
        ("Q K/check/bet", "1/6", "3/4"),
        ("J Q/check/bet", 0, 0),
        ("J Q/bet", "1/18", "1/4"),
        ("K Q/bet", "1/6", "3/4"),
    ]:
        node = node_at(tree, history, game.wording)
        assert (own["reach"][node], own["belief"][decided.index(node)]) == (reach, belief)
    for player, label, values, gains in [
        (0, "2:", ["-1/3", "-1/2"], [0, "-1/6"]),
        (0, "2:KB", [-1, -1], [0, 0]),
        (0, "1:KB", [-1, -2], [0, -1]),
        (0, "3:", ["7/6", "7/6"], [0, 0]),
        (1, "2:B", [-1, -1], [0, 0]),
    ]:
        here = slice(start := tree.action_start[tree.infoset_of(player, label)], start + 2)
        assert (own["values"][here], own["gains"][here]) == (values, gains)
    assert own["worth"][0][0] == "-1/18"


@pytest.mark.parametrize("seed", range(8))
def test_numbers_agree_with_the_verifier_and_with_moving_to_the_action(seed: int) -> None:
    tree, rng = random_tree(seed), np.random.default_rng(seed)
    game = Game("random", tree)
    rows = [rng.dirichlet(np.ones(len(own))) for own in tree.infoset_actions]
    profile = BehaviorProfile.of(tree, np.concatenate(rows))
    part = excerpt(tree)
    own = played_numbers(Play.of(tree, profile), part)
    payoffs = eqbench.verify(game, profile).payoffs
    np.testing.assert_allclose([worth[0] for worth in own["worth"]], payoffs, rtol=1e-5, atol=1e-9)
    beliefs = np.array(own["belief"], dtype=float)
    sums = np.bincount(tree.infoset[tree.infoset >= 0], beliefs)
    np.testing.assert_array_equal(np.isnan(sums), np.array(own["others"]) == 0)
    np.testing.assert_allclose(sums[~np.isnan(sums)], 1, atol=1e-4)
    for action in np.flatnonzero(~np.isnan(sums)[tree.action_infoset]):
        infoset = tree.action_infoset[action]
        player, changed = tree.infoset_player[infoset], profile.probabilities.copy()
        changed[tree.action_start[infoset] : tree.action_start[infoset + 1]] = 0
        changed[action] = 1
        moved = eqbench.verify(game, BehaviorProfile.of(tree, changed)).payoffs[player]
        gain = own["gains"][action] * own["sets"][infoset]  # what it changes from the root
        assert moved - payoffs[player] == pytest.approx(gain, rel=1e-4, abs=1e-6)


def test_beliefs_that_are_free_come_from_the_verdict_or_are_unknown() -> None:
    """P1 stays out; to P2 going up costs 1 at the left node and gains 1 at the right one."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "go", ["out", "left", "right"])
    builder.terminal((root, 0), [2, 0])
    for move, up in ((1, -1), (2, 1)):
        node = builder.decision((root, move), 1, "where?", ["up", "down"])
        builder.terminal((node, 0), [0, up])
        builder.terminal((node, 1), [1, 0])
    game = Game("out", builder.tree())
    for share, belief in ((Fraction(1), [1, 0, 1]), (Fraction(0), [1, 1, 0])):
        exact = BehaviorProfile.of_exact(game.tree, [1, 0, 0, share, 1 - share])
        known = data_of(tree_page(game, exact))["profiles"][0]
        assert known["others"] == [1, 0]
        assert (known["belief"], max(known["gains"])) == (belief, 0)
    no_equilibrium = BehaviorProfile.of_exact(game.tree, [0, 1, 0, 1, 0])
    assert data_of(tree_page(game, no_equilibrium))["profiles"][0]["belief"] == [1, 1, 0]
    unknown = played_numbers(Play.exactly(game.tree, exact), excerpt(game.tree))
    assert (unknown["belief"], unknown["gains"][3:]) == ([1, None, None], [None, None])


def test_part_has_the_numbers_of_the_whole_tree() -> None:
    game, profile = kuhn2()
    play, whole = Play.exactly(game.tree, profile), excerpt(game.tree)
    part = excerpt(game.tree, node_at(game.tree, "2 3/check"), 1)
    assert [game.tree.parent[node] for node in part.nodes[1:]] == [part.nodes[0]] * 2
    assert part.is_cut.tolist() == [False, False, True]
    reach, all_reach = (played_numbers(play, each)["reach"] for each in (part, whole))
    assert reach == [all_reach[node] for node in part.nodes]
    shown = tree_data(game, part)
    assert (shown["above"], shown["counts"], shown["set"]) == (
        ["Q K", "check"],
        [2, 0, 0],
        [1, -2, 0],
    )
    assert shown["payoffs"] == [[-1, 1]]
    drawing = draw_tree(game.tree, "part", profile, game.wording, part)
    assert "reached with probability 1/6" in drawing
    assert "P1 -1/18" in drawing


@pytest.mark.parametrize("history", ["4 1", "1 2/raise", "1 2/0", "1/1/1/1"])
def test_history_that_does_not_exist_is_refused(history: str) -> None:
    with pytest.raises(UsageError, match="there is no move"):
        node_at(kuhn2()[0].tree, history)


def test_tree_that_is_too_large_is_refused_and_a_part_of_it_is_not() -> None:
    game = eqbench.load_game("kuhn(players=2,cards=50)")
    with pytest.raises(UsageError, match="--at"):
        tree_page(game)
    assert len(data_of(tree_page(game, None, excerpt(game.tree, 1)))["counts"]) == 9


def test_thousand_information_sets_make_a_page_below_two_megabytes() -> None:
    game = eqbench.load_game("leduc")
    page = tree_page(game, BehaviorProfile.uniform(game))
    assert len(data_of(page)["labels"]) == game.tree.n_infosets > 900
    assert len(page.encode()) < 2_000_000


def test_hostile_labels_stay_text_on_a_page() -> None:
    game = hostile_game()
    page = tree_page(game, BehaviorProfile.uniform(game), name=CLOSING)
    assert not read_page(page).all("img")
    assert not re.search(r"<script>alert|\u202e|\x1b", page)
    assert data_of(page)["outcomes"][0] == HOSTILE


# -- pictures of TikZ ----------------------------------------------------------------------------


def tikz_texts(text: str) -> list[tuple[float, float, float]]:
    """Left, right and baseline of each text, in the units of the layout."""
    check_latex(text.replace("$-$", ""))
    assert re.findall(r"\\(?:begin|end)\{\w+\}", text) == [
        r"\begin{tikzpicture}",
        r"\end{tikzpicture}",
    ]
    commands = text.partition("\\begin{tikzpicture}")[2].splitlines()[1:-1]
    assert all(
        re.fullmatch(r"%.*|\\definecolor.*|\\(draw|fill|node).*;", each) for each in commands
    )
    found = re.findall(r"anchor=base (\w+),.*? at \((.*?),(.*?)\) \{(.*)\};", text)
    widths = (text_width(re.sub(r"\\\w+(\{\})?|[{}$]", "x", own[3])) for own in found)
    sides = (
        (side == "east", float(x), float(y), w)
        for (side, x, y, _), w in zip(found, widths, strict=True)
    )
    return [(x - w, x, y) if is_left else (x, x + w, y) for is_left, x, y, w in sides]


@pytest.mark.parametrize("spec", ["kuhn2", "matching_pennies", "random_tree(depth=3,seed=2)"])
def test_tikz_shows_every_text_and_none_over_another(spec: str) -> None:
    game = eqbench.load_game(spec)
    profile = kuhn2()[1] if spec == "kuhn2" else BehaviorProfile.uniform(game)
    text = tikz_tree(game.tree, spec, profile, game.wording)
    boxes, tree = tikz_texts(text), game.tree
    unnamed = [k for k in tree.infoset if k < 0 or not tree.infoset_labels[k]]
    assert len(boxes) == 2 * tree.n_nodes - 1 - len(unnamed) + tree.n_terminals
    for k, (left, right, base) in enumerate(boxes):
        for a, b, other in boxes[:k]:
            assert min(right, b) <= max(left, a) or abs(base - other) > 9
    joined = np.bincount(tree.infoset[tree.infoset >= 0]) > 1
    assert text.count("dashed") == np.count_nonzero(joined)
    if spec == "kuhn2":
        assert all(each in text for each in ("{bet 1/3}", "{Q after check--bet}", "P1 -1/18"))


def test_tikz_of_hostile_labels_compiles() -> None:
    game = hostile_game()
    part = excerpt(game.tree, 3, 1)
    text = tikz_tree(game.tree, HOSTILE + "\n\\input{x}", None, None, part)
    assert tikz_texts(text)
    assert r"\input{" not in text.partition("\\begin")[2]
    assert len(text.partition("\\begin")[0].splitlines()) == 3


def test_tree_that_fits_no_page_is_refused_and_parts_of_it_are_drawn() -> None:
    tree = eqbench.load_game("kuhn3").tree
    with pytest.raises(UsageError, match="--at, --depth"):
        tikz_tree(tree, "kuhn3")
    parts = excerpt(tree, depth=2), excerpt(tree, node_at(tree, "1/check"))
    assert all(tikz_tree(tree, "kuhn3", part=part) for part in parts)
