"""Grids of 13 x 13 hands: what they average, in pictures, in the terminal and on pages."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers.command import accepted

import eqbench
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.registry import default_registry
from eqbench.report.html.equilibria import MOST_ROWS
from eqbench.report.profile_picture import Shown, draw_profiles, grids_of, sets_of
from eqbench.report.writing import report_text
from eqbench.store.stored_run import read_run

SVG = "{http://www.w3.org/2000/svg}"
RANGES = "KK,QQ,AKs,AQo:0.5|88+,JTs"
SPEC = f'river(board="2c3d7h9sKc",ranges="{RANGES}")'
GAME = eqbench.load_game(SPEC)
GRIDS = grids_of(sets_of(GAME), GAME.wording)
FIRST_FOUR = [(1, f"{card}:K") for card in range(1, 5)]


def some(seed: int = 3) -> BehaviorProfile:
    return BehaviorProfile.of(GAME, random_profile(GAME.tree, np.random.default_rng(seed)))


def by_kind(profile: BehaviorProfile) -> dict[tuple[int, str], dict[str, float]]:
    """Frequencies of actions of kinds of hands, by their definition."""
    reach = infoset_reach(GAME.tree, profile.probabilities)
    sums: dict[tuple[int, str], dict[str, float]] = {}
    for at, (player, label, actions) in enumerate(sets_of(GAME)):
        (one, other), history = (label[:2], label[2:4]), label[4:]
        suited = "s" if one[1] == other[1] else "o"
        kind = player, one[0] + other[0] + suited * (one[0] != other[0]) + history
        own = sums.setdefault(kind, dict.fromkeys(actions, 0.0))
        for k, action in enumerate(actions):
            own[action] += reach[at] * profile.probabilities[GAME.tree.action_start[at] + k]
    return {
        kind: {action: each / sum(own.values()) for action, each in own.items()}
        for kind, own in sums.items()
    }


def test_a_cell_averages_its_hands_as_they_get_there() -> None:
    assert GRIDS.by_kind
    profile, expected = some(), by_kind(some())
    reach = infoset_reach(GAME.tree, profile.probabilities)
    values, total = GRIDS.averages(profile.probabilities, reach)
    assert total.sum() == pytest.approx(reach.sum())
    found = {
        (player, label): dict(zip(actions, values[GRIDS.start[at] :], strict=False))
        for at, (player, label, actions) in enumerate(GRIDS.sets)
    }
    assert found.keys() == expected.keys()
    for kind, own in expected.items():
        assert found[kind] == pytest.approx(own)


def test_hands_count_alike_where_play_never_gets() -> None:
    assert GRIDS.by_kind
    profile = some()
    values, total = GRIDS.averages(profile.probabilities, np.zeros(GAME.tree.n_infosets))
    assert not total.any()
    kings = [at for at, (_, label, _) in enumerate(sets_of(GAME)) if re.match(r"K.K.:$", label)]
    mean = np.mean([profile.probabilities[GAME.tree.action_start[at]] for at in kings])
    at = GRIDS.sets.index((0, "KK:", ("check", "all-in 100")))
    assert values[GRIDS.start[at]] == pytest.approx(mean)


def test_pictures_have_a_grid_for_each_situation() -> None:
    profile = some()
    root = ET.fromstring(draw_profiles(GAME, [Shown(profile)]))
    bars = [each for each in root.iter(f"{SVG}g") if each.get("class") == "set"]
    expected = by_kind(profile)
    assert len(bars) == len(expected)
    for bar in bars:
        label = bar[0].text.rpartition(": ")[0]
        *parts, frame = bar.findall(f"{SVG}rect")
        shares = [float(part.get("width")) / float(frame.get("width")) for part in parts]
        own = next(own for (_, kind), own in expected.items() if kind == label)
        assert shares == pytest.approx(list(own.values()), abs=2e-3)
    texts = [each.text for each in root.iter(f"{SVG}text")]
    situations = len({label.partition(":")[2] for _, label, _ in sets_of(GAME)})
    assert texts.count("AKs") == texts.count("72o") == situations


def test_few_hands_and_other_games_have_no_such_grid() -> None:
    small = eqbench.load_game("river")
    for game in (small, eqbench.load_game("kuhn3"), eqbench.load_game("matching_pennies")):
        assert not grids_of(sets_of(game), game.wording).by_kind
    mixed = [*sets_of(GAME), (0, "no hand:", ("check",))]
    assert not grids_of(mixed, GAME.wording).by_kind


def test_the_terminal_and_the_page_show_the_grid(tmp_path) -> None:
    run = eqbench.run(SPEC, "sequence_lp", out=tmp_path / "run")
    shown = accepted("show", "run", "sequence_lp", cwd=tmp_path).out
    assert "P1 at the start" in shown
    assert re.search(r"^ +A +K +Q +J +T( +\d){8}$", shown, re.MULTILINE)
    assert GRIDS.by_kind
    values = run.profile("sequence_lp").probabilities
    averages, _ = GRIDS.averages(values, infoset_reach(GAME.tree, values))
    at = GRIDS.start[GRIDS.sets.index((0, "KK:", ("check", "all-in 100")))]
    second = next(line for line in shown.splitlines() if re.match(r"K +", line))
    assert second.split()[2] == f"{100 * averages[at + 1]:.0f}"
    everything = accepted("show", "run", "sequence_lp", "--all", cwd=tmp_path).out
    assert "K♠K♥" in everything
    assert "P1 at the start" in everything
    accepted("report", "run", "--format", "html", cwd=tmp_path)
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert '"title":"at the start"' in page.replace('": "', '":"')


def test_groups_of_neighboring_hands_average_them_as_they_get_there() -> None:
    game = eqbench.load_game("kuhn(players=2,cards=40)")
    groups = grids_of(sets_of(game), game.wording, by_groups=True)
    assert groups.by_kind
    assert [block.columns[0] for block in groups.blocks] == ["1–4", "1–4"]
    assert all(len(block.columns) == 10 for block in groups.blocks)
    play = random_profile(game.tree, np.random.default_rng(5))
    reach = infoset_reach(game.tree, play)
    values, total = groups.averages(play, reach)
    assert total.sum() == pytest.approx(reach.sum())
    own = [k for k, (player, label, _) in enumerate(sets_of(game)) if (player, label) in FIRST_FOUR]
    bets = [play[game.tree.action_start[k] + 1] for k in own]
    at = groups.start[groups.sets.index((1, "1–4:K", ("check", "bet")))]
    assert values[at + 1] == pytest.approx(np.average(bets, weights=reach[own]))


def test_few_hands_are_not_grouped() -> None:
    for spec in ("kuhn3", "leduc", "matching_pennies"):
        game = eqbench.load_game(spec)
        assert not grids_of(sets_of(game), game.wording, by_groups=True).by_kind


def test_page_of_a_game_without_a_tree_embeds_the_most_reached_situations(tmp_path) -> None:
    spec, out = "leduc(players=2,ranks=14)", tmp_path / "run"
    eqbench.run(spec, "cfr_plus", iterations=2, out=out)
    assert eqbench.load_game(spec).product is not None
    page = report_text("html", [read_run(out)], summarize=None)
    (shown,) = re.findall(r'"blocks":.*?"files"', page)[:1]
    card = json.loads("{" + shown.removesuffix(', "files"').removesuffix(',"files"') + "}")
    sets = [at for block in card["blocks"] for *_, own in block["rows"] for at in own if at >= 0]
    assert sorted(set(sets)) == list(range(len(card["labels"])))
    assert len(card["start"]) == len(card["labels"]) + 1
    assert sum(len(block["rows"]) for block in card["blocks"]) == MOST_ROWS
    assert any(label.endswith(":") for label in card["labels"])


@pytest.mark.parametrize("seed", range(4))
def test_what_cannot_be_reached_has_a_reach_of_zero(seed: int) -> None:
    """Sums that take off what is counted twice would leave some rounding."""
    spec = "leduc(players=3,ranks=2,suits=2,raises=1)"
    tree = eqbench.load_game(spec).tree
    form = default_registry().describe_game(spec)[0].rules().product()
    rng = np.random.default_rng(seed)
    play = random_profile(tree, rng) * (rng.random(tree.n_actions) < 0.5)
    found = infoset_reach(UnbuiltTree.of(form, 10), play, 0)
    assert np.array_equal(found == 0, infoset_reach(tree, play, 0) == 0)
    assert (found == 0).any()


@pytest.mark.parametrize(
    "spec",
    ["kuhn3", "kuhn(players=4)", "leduc", "leduc(players=3,ranks=2,suits=3,raises=1)", SPEC],
)
def test_reach_of_products_is_that_of_their_trees(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    form = default_registry().describe_game(spec)[0].rules().product()
    play = random_profile(tree, np.random.default_rng(1))
    for but in range(-1, tree.n_players):
        found = infoset_reach(UnbuiltTree.of(form, 10), play, but)
        np.testing.assert_allclose(found, infoset_reach(tree, play, but), atol=1e-15)
