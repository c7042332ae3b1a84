"""Ranges of strategies: sections 2 and 5.2, Figure 10, and the videos."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.studies.reproduction.billingham_2018.jobs import COUNTED, SMALL_DECKS
from eqbench.studies.reproduction.billingham_2018.readings import card_list, deck, drawn, statement
from eqbench.studies.reproduction.claims import (
    Attachment,
    Part,
    Reading,
    differs,
    holds,
    not_attempted,
    reproduced,
)
from eqbench.studies.reproduction.stored import Stored


def _ranges(stored: Stored, cards: int, kind: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = deck(stored, cards)["cards_in_ranges"][kind]
    return found


def _bets(stored: Stored) -> Reading:
    found = {n: deck(stored, n)["value_and_bluffs_from"] for n in SMALL_DECKS}
    ends = {n: deck(stored, n)["ends"][1] for n in SMALL_DECKS}
    ours = (
        "at all three nodes from pots of " + ", ".join(f"{p:.2f}" for p in found.values()) + " on"
    )
    right = all(found[n] < ends[n] / 2 for n in found)
    return holds(right, ours, "not at large pots", "N = 4 to 13; at smaller pots some check all")


def _bluffs_low(stored: Stored) -> Reading:
    rows = [deck(stored, n) for n in SMALL_DECKS]
    wrong = [row["cards"] for row in rows if row["bluffs_below_value"] < row["examined"]]
    total = sum(row["examined"] for row in rows)
    fine = sum(row["bluffs_below_value"] for row in rows)
    ours = f"all bluffs below all value bets at {fine:,} of {total:,} points"
    return holds(
        fine / total > 0.99,
        ours,
        f"not with {wrong} cards",
        f"exceptions with N in {wrong}" if wrong else "",
    )


def _catchers(stored: Stored) -> Reading:
    lowest, highest = {}, {}
    for n in SMALL_DECKS:
        found = [card for cards in _ranges(stored, n, "bluff-catch").values() for card in cards]
        lowest[n], highest[n] = min(found), max(found)
    ours = "; ".join(f"N = {n}: {lowest[n]} to {highest[n]}" for n in (4, 5, 10, 13))
    right = all(highest[n] == n - 1 and lowest[n] > 1 for n in SMALL_DECKS)
    return holds(right, ours, "other cards", "never the best or the worst card")


def _sandbags(stored: Stored) -> Reading:
    found = {n: _ranges(stored, n, "sandbag") for n in SMALL_DECKS}
    ours = "; ".join(
        f"N = {n}: {card_list(found[n]['1'])} and {card_list(found[n]['2'])}"
        for n in (4, 5, 10, 13)
    )
    right = all(max(f["1"]) == n == max(f["2"]) for n, f in found.items())
    return holds(right, ours, "no sandbagging somewhere", "cards at nodes 1 and 2")


def _four(kind: str, expected: list[int]) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = _ranges(stored, 4, kind)
        ours = "; ".join(f"node {node}: {card_list(cards)}" for node, cards in found.items())
        return holds(all(c == expected for c in found.values()), ours, "other cards")

    return read


def _wider(stored: Stored) -> Reading:
    width = {n: max(map(len, _ranges(stored, n, "value bet").values())) for n in (4, 5, 10, 13)}
    ours = "; ".join(f"N = {n}: {count}" for n, count in width.items())
    return holds(
        list(width.values()) == sorted(width.values()), f"cards bet for value: {ours}", "not so"
    )


RANGES = Part(
    title="Section 2: value bets, bluffs, bluff-catchers and sandbags",
    claims=(
        statement("nodes 1, 2 and 3, bets", "bets with some high and some low cards", _bets),
        statement("nodes 1, 2 and 3, order", "value bets high, bluffs low", _bluffs_low),
        statement("other nodes, calls", "calls with mid to high cards catch bluffs", _catchers),
        statement("nodes 1 and 2, checks", "some high cards are checked to call later", _sandbags),
        statement("N = 4, value bets", "value bets with card 4 only", _four("value bet", [4])),
        statement("N = 4, sandbagging", "sandbagging with card 4 only", _four("sandbag", [4])),
        statement(
            "N = 4, bluff-catching", "bluff-catching with card 3 only", _four("bluff-catch", [3])
        ),
        statement("N = 4, bluffs", "bluffs with either of cards 1 and 2", _four("bluff", [1, 2])),
        statement("more cards", "the ranges become more complex", _wider),
    ),
    note="Ranges by the definitions in eqbench/studies/strategy_ranges.py at up to 1,500 points "
    "of each branch, N = 4 to 13, from below P_min to 16; frequencies above 0.02 count.",
)


def _two_way(stored: Stored, cards: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = deck(stored, cards)["two_way"]
    return found


def _rare(stored: Stored, cards: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = deck(stored, cards)["rare_two_way"]
    return found


def _bets_text(entries: list[dict[str, Any]]) -> str:
    return "; ".join(
        f"player {e['node']}, card {e['card']}, pots {e['pots'][0]:.2f} to {e['pots'][1]:.2f}"
        for e in entries
    )


def _first_decks(stored: Stored) -> Reading:
    none = [n for n in (4, 5, 6, 7) if not _rare(stored, n)]
    later = all(_two_way(stored, n) for n in SMALL_DECKS if n > 7)
    ours = f"none with N = {card_list(none)}; with all N from {max(none, default=3) + 1} to 13"
    return holds(none == [4, 5] and later, ours, "other decks")


def _narrow(stored: Stored) -> Reading:
    points = deck(stored, 6)["points"]
    found = _rare(stored, 6)
    share = sum(e["points"] for e in found) / points
    later = sum(e["points"] for e in _rare(stored, 7)) / deck(stored, 7)["points"]
    ours = f"N = 6: at {share:.0%} of the points, N = 7: at {later:.0%}"
    return holds(share < later / 2, ours, "not rarer than with N = 7", _bets_text(found))


def _starting_player(stored: Stored) -> Reading:
    found = _rare(stored, 6)
    players = sorted({e["node"] for e in found})
    ours = f"N = 6: {_bets_text(found)}"
    if players == [1]:
        return reproduced(ours)
    if 1 in players:
        return differs(ours, "player 1 does so first as the pot grows, but not alone")
    return differs(ours, "not player 1")


def _player_three(stored: Stored) -> Reading:
    mine = [e for e in _two_way(stored, 13) if e["node"] == 3 and e["card"] in (5, 6)]
    ours = "; ".join(
        f"card {e['card']} at pots {e['pots'][0]:.2f} to {e['pots'][1]:.2f}" for e in mine
    )
    return holds(len(mine) == 2, ours or "neither", "not with both cards", "node 3, N = 13")


def _feature(name: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        facts = deck(stored, 13)
        found = facts["figure_10"][name]
        if found["points"]:
            ours = (
                f"at {found['points']} of {facts['examined']} points, pots "
                f"{found['pots'][0]:.2f} to {found['pots'][1]:.2f}"
            )
            return reproduced(ours)
        return differs(f"at none of {facts['examined']} points", "no such point on our branch")

    return read


def _contradiction(stored: Stored) -> Reading:
    facts = deck(stored, 13)
    count = facts["figure_10"]["node 2 always bets 5, 6 and 7"]["points"]
    if count:
        return reproduced(f"at {count} of {facts['examined']} points")
    return differs(
        f"at none of {facts['examined']} points",
        "nor can it be so where only the best seven of 13 cards, 7 to 13, and card 2 are bet; the "
        "cards may be misprinted",
    )


def _lost(stored: Stored) -> Reading:
    return not_attempted("the pot of the figure is lost in the text of the paper that we have")


def _video(cards: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        job = stored[f"n{cards}"]
        file = job.path / "figures" / "animation.gif"
        if not file.exists():
            return not_attempted("the video is made with --full")
        size = file.stat().st_size
        return holds(
            size > 0, f"a GIF of {size / 1e6:.1f} MB", "an empty file", "4 frames a second"
        )

    return read


def _data(cards: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        job = stored[f"n{cards}"]
        points = job.summary["points"]
        there = (job.path / "points.csv").exists()
        return holds(there, f"points.csv, {points:,} solutions", "no such file")

    return read


FIGURE_10 = Part(
    title="Section 5.2 and Figure 10: two-way bets with 13 cards",
    claims=(
        statement("N > 5", "two-way bets appear", _first_decks),
        statement("fewest cards, where", "only on a very small range of pots", _narrow),
        statement("fewest cards, who", "player 1 starts making them, alone", _starting_player),
        statement("Figure 10", "its pot", _lost),
        statement(
            "Figure 10, node 2, value bets",
            "the best seven cards are bet",
            _feature("node 2 bets the best seven cards"),
        ),
        statement(
            "Figure 10, node 2, bluffs",
            "besides them only bluffs with card 2",
            _feature("node 2 bets card 2 and none of 3 to 6 beside the best seven"),
        ),
        statement(
            "Figure 10, node 2, cards 5 to 7", "cards 5, 6 and 7 are always bet", _contradiction
        ),
        statement(
            "Figure 10, node 5",
            "always calls with the best three cards",
            _feature("node 5 always calls with the best three cards"),
        ),
        statement(
            "Figure 10, node 3, cards 5 and 6",
            "cards 5 and 6 are bet",
            _feature("node 3 bets 5 and 6"),
        ),
        statement(
            "Figure 10, node 3, place of these bets",
            "in a range apart from value bets and bluffs",
            _feature("node 3 bets 5 and 6 apart from other ranges"),
        ),
        statement(
            "Figure 10, node 3, kind of these bets",
            "for value against player 1 and a bluff against player 2",
            _player_three,
        ),
    ),
    pictures=(
        drawn(
            "Figure 10: N = 13, a pot of 9",
            "A bar for each card, the best at the right: as high as the fraction still held, "
            "black as "
            "far as it is bet or called. T marks two-way bets.",
            "figures",
            "fig10.svg",
        ),
    ),
    note="The features of Figure 10 are looked for one by one. A two-way bet is for value against "
    "one opponent, who sometimes calls with worse and never folds better, and a bluff against the "
    "other. Looked for at 1,500 points of the branch; frequencies above 0.02 count, with up to 7 "
    "cards those above 0.001 at all points. That N > 5 is meant is in the abstract; the text has "
    "lost the number.",
)

MEDIA = Part(
    title="Section 5.2: videos and data files",
    claims=(
        *(
            statement(f"video, N = {n}", "strategies in equal steps of arclength", _video(n))
            for n in COUNTED
        ),
        *(
            statement(f"data, N = {n}", "CSV file of solutions along the curve", _data(n))
            for n in COUNTED
        ),
    ),
    files=(
        *(Attachment(f"Video, N = {n}", f"n{n}", "figures/animation.gif") for n in COUNTED),
        *(Attachment(f"Points of the branch, N = {n}", f"n{n}", "points.csv") for n in COUNTED),
    ),
    note="The paper's link leads to files for several N that it does not name; ours are for 4, 5, "
    "10 and 13. Frames are equally far apart in arclength and interpolated linearly.",
)
