"""Descriptions of clusters: true of their members, different for different clusters, short."""

import re
import statistics
from dataclasses import replace

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import cluster_identities
from eqbench.equilibria.clusters import connected_components
from eqbench.equilibria.descriptions import _OFF_PATH, REACHED, describe, text_of
from eqbench.model.builder import TreeBuilder
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile

BEER = """EFG 2 R "Beer or quiche" { "P1" "P2" } ""
c "" 1 "" { "weak" 1/10 "strong" 9/10 } 0
p "" 1 1 "weak" { "beer" "quiche" } 0
p "" 2 1 "beer" { "fight" "retreat" } 0
t "" 1 "" { 0 1 }
t "" 2 "" { 2 0 }
p "" 2 2 "quiche" { "fight" "retreat" } 0
t "" 3 "" { 1 1 }
t "" 4 "" { 3 0 }
p "" 1 2 "strong" { "beer" "quiche" } 0
p "" 2 1 "beer" { "fight" "retreat" } 0
t "" 5 "" { 1 0 }
t "" 6 "" { 3 1 }
p "" 2 2 "quiche" { "fight" "retreat" } 0
t "" 7 "" { 0 0 }
t "" 8 "" { 2 1 }
"""
ENUMERATED = ["battle_of_sexes", "jordan", "kuhn2", "skp(pot=2)", "beer.efg"]
ENUMERATED += [f"random_tree(depth=4,seed={seed})" for seed in range(10)]
PURE = ["travelers_dilemma", "minimum_effort", "dispersion", "majority_voting"]
MIXED = [f"random(players=2,actions={n},seed={seed})" for n in (3, 4, 6) for seed in range(5)]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Equilibria of 34 games, and the members of the clusters that they are in."""
    folder, games = tmp_path_factory.mktemp("games"), {}
    (folder / "beer.efg").write_text(BEER, encoding="utf-8")
    for solver, specs in [
        ("case_enumeration", ENUMERATED),
        ("gambit_enumpure", PURE),
        ("gambit_enummixed", MIXED),
    ]:
        for spec in specs:
            game = eqbench.load_game(str(folder / spec) if spec.endswith(".efg") else spec)
            result = eqbench.solve(game, solver, timeout_s=60)
            if result.status == "unavailable":
                pytest.skip("Gambit is not installed")
            profiles = [each.profile for each in result.equilibria]
            regrets = [each.max_regret for each in result.equilibria]
            parts = connected_components(game, profiles, regrets)
            games[spec] = game, [[profiles[i] for i in part.members] for part in parts]
    return games


def test_clauses_hold_for_every_member_and_each_other_cluster_breaks_one(found):
    for spec, (game, clusters) in found.items():
        for at, clauses in enumerate(describe(game, clusters)):
            assert clauses, spec
            for profile in clusters[at]:
                assert all(holds(clause, game, profile) for clause in clauses)
            for other, members in enumerate(clusters):
                broken = [not holds(clause, game, members[0]) for clause in clauses]
                assert other == at or any(broken), (spec, text_of(clauses))


def holds(clause, game, profile):
    """Whether a profile plays as a clause says, wherever it gets to."""
    if not clause.actions:
        player = game.tree.players.index(clause.player)
        return clause.low <= float(eqbench.verify(game, profile).payoffs[player]) <= clause.high
    reach = infoset_reach(game.tree, profile.probabilities)[game.tree.action_infoset]
    counts = reach <= REACHED if clause.rank == _OFF_PATH else reach > REACHED
    actions = np.array(clause.actions)
    low, high = (np.broadcast_to(own, len(actions)) for own in (clause.low, clause.high))
    played = profile.probabilities[actions]
    return bool(counts[actions].any()) and bool(
        np.all(((low <= played) & (played <= high)) | ~counts[actions])
    )


def test_descriptions_differ_and_are_short(found):
    assert len(found) >= 30
    texts = {spec: [text_of(own) for own in describe(*each)] for spec, each in found.items()}
    assert all(len(set(own)) == len(own) for own in texts.values())
    assert statistics.median(len(text) for own in texts.values() for text in own) <= 90


def test_beer_or_quiche_is_described_by_what_is_drunk_or_eaten(found):
    game, clusters = found["beer.efg"]
    texts = [text_of(own) for own in describe(game, clusters)]
    assert [text.partition(";")[0] for text in sorted(texts)] == [
        "P1 always plays beer",
        "P1 always plays quiche",
    ]
    profiles = [profile for members in clusters for profile in members]
    named = cluster_identities(game, profiles, [0.0] * len(profiles))
    assert {own.title for own in named} == set(texts)


def test_what_deters_a_player_is_described_and_matters(found):
    game, clusters = found["beer.efg"]
    for clauses, members in zip(describe(game, clusters), clusters, strict=True):
        deterrent = clauses[-1]
        assert "if ever at" in deterrent.text
        assert "fight" in deterrent.text
        (action,) = deterrent.actions
        other = members[0].probabilities.copy()
        other[[action, action + 1]] = [0.0, 1.0]  # who has deviated is not fought then
        changed = eqbench.verify(game, BehaviorProfile.of(game.tree, other))
        assert changed.regrets[0] > 0.05
        assert changed.regrets[1] <= 1e-9, "it is not reached"


def test_what_play_gets_to_most_is_named_first():
    builder = TreeBuilder(["A", "B"])
    root = builder.decision(None, 0, "first", ["begin with the left", "right"])
    drawn = builder.chance((root, 0), [0.9, 0.1], ["often", "seldom"])
    node = builder.decision((drawn, 1), 1, "second", ["up", "down"])
    for parent in ((root, 1), (drawn, 0), (node, 0), (node, 1)):
        builder.terminal(parent, [0, 0])
    game = replace(eqbench.load_game("matching_pennies"), tree=builder.tree())
    one, *others = (
        [BehaviorProfile.of(game, np.array(own, dtype=float))]
        for own in ([1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1])
    )
    assert text_of(describe(game, [one, *others])[0]) == (
        "A always plays begin with the left; B always plays up"
    )


def test_nothing_off_the_path_is_named_where_it_deters_no_player(found):
    for spec in ("battle_of_sexes", "kuhn2"):  # in which play gets everywhere, or nothing is gained
        game, clusters = found[spec]
        assert not any("if ever" in text_of(own) for own in describe(game, clusters))


def test_members_that_share_no_play_are_described_by_what_all_of_them_pay():
    builder = TreeBuilder(["A", "B"])
    root = builder.decision(None, 0, "first", ["left", "right"])
    for move, paid in enumerate((1, 2)):
        node = builder.decision((root, move), 1, "second", ["up", "down"])
        for below in range(2):
            builder.terminal((node, below), [paid, 3])
    game = replace(eqbench.load_game("matching_pennies"), tree=builder.tree())
    pure = [BehaviorProfile.of(game, own) for own in ([1, 0, 1, 0], [0, 1, 0, 1])]
    (clauses,) = describe(game, [pure])
    assert text_of(clauses) == "B gets 3"
    assert all(holds(clauses[0], game, profile) for profile in pure)


def test_of_a_player_who_must_call_with_one_card_it_is_not_written_that_they_always_fold(found):
    (own,) = describe(*found["skp(pot=2)"])
    assert not re.search(r"always folds(;|$)", text_of(own))


def test_a_clause_is_broken_by_a_profile_that_plays_otherwise(found):
    game, clusters = found["battle_of_sexes"]
    (clause,) = describe(game, clusters)[0]
    assert not holds(clause, game, BehaviorProfile.uniform(game))


def test_games_and_lists_that_are_too_large_are_not_described(found, monkeypatch):
    game, clusters = found["battle_of_sexes"]
    monkeypatch.setattr("eqbench.equilibria.descriptions._MOST_CLUSTERS", 2)
    assert describe(game, clusters) == [None] * 3
    assert text_of(None) == ""


def test_clusters_that_play_alike_get_no_description():
    game = eqbench.load_game("matching_pennies")
    uniform = BehaviorProfile.uniform(game)
    assert describe(game, [[uniform], [uniform]]) == [None, None]


def test_close_frequencies_are_told_apart_with_more_digits():
    game = eqbench.load_game("matching_pennies")
    near = [BehaviorProfile.of(game, [p, 1 - p, 0.5, 0.5]) for p in (0.501, 0.502)]
    one, other = (text_of(own) for own in describe(game, [[each] for each in near]))
    assert (one, other) == ("P1 plays heads 0.501 of the time", "P1 plays heads 0.502 of the time")


def test_a_small_support_is_described_by_what_is_played_and_how_often():
    game = eqbench.load_game("minimum_effort")
    pure, mixed, other = (
        BehaviorProfile.of(game.tree, np.tile(own, 2).astype(float))
        for own in ([0, 0, 0, 1, 0, 0, 0], [0, 0, 0.5, 0, 0, 0.5, 0], [0, 0, 0.4, 0, 0, 0.6, 0])
    )
    one, two = describe(game, [[pure], [mixed]])
    assert (text_of(one), text_of(two)) == (
        "P1 always plays 4",
        "P1 plays 3 or 6, each half of the time",
    )
    assert holds(two[0], game, mixed)
    assert not holds(two[0], game, other)
    (several,) = describe(game, [[mixed, other]])
    assert "half" not in text_of(several), "members differ"


def test_information_sets_with_labels_without_letters_are_numbered():
    game = eqbench.load_game("random_tree(depth=3,seed=2)")
    assert "?(?)" in game.tree.infoset_labels
    profiles = [each.profile for each in eqbench.solve(game, "case_enumeration").equilibria]
    parts = connected_components(game, profiles, [0.0] * len(profiles))
    clusters = [[profiles[i] for i in part.members] for part in parts]
    texts = " ".join(text_of(own) for own in describe(game, clusters))
    assert "at P2's second set, P2 plays a2" in texts
    assert "?" not in texts


def test_labels_of_strangers_are_printable_and_bounded():
    game = eqbench.load_game("battle_of_sexes")
    long = "x" * 500 + "\x1b[31m"
    tree = replace(game.tree, infoset_actions=((long, "b"), (long, "b")))
    strange = (
        eqbench.Game("strange", tree) if hasattr(eqbench, "Game") else replace(game, tree=tree)
    )
    pure = [
        BehaviorProfile.of(tree, np.array(p, dtype=float)) for p in ([1, 0, 1, 0], [0, 1, 0, 1])
    ]
    named = cluster_identities(strange, pure, [0.0, 0.0])
    assert all("\x1b" not in own.title and len(own.title) <= 1000 for own in named)
