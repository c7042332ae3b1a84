"""Two-way bets and the videos: section 5.2 and Figure 10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.papers.billingham_2018.jobs import COUNTED, SMALL_DECKS
from eqbench.papers.billingham_2018.readings import card_list, deck, drawn, statement
from eqbench.papers.claims import (
    Attachment,
    Part,
    Reading,
    differs,
    holds,
    not_attempted,
    reproduced,
)
from eqbench.papers.stored import Stored

# At 0.02 a frequency is counted at all; a bar of the figure has to be higher to be seen.
_COUNTS = 0.05
_FRAME_MS = 250


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
    """Whether both cards are such bets in one equilibrium, more than just above what counts."""
    features = deck(stored, 13)["figure_10"]
    both, most = features["node 3 bets 5 and 6, two-way both"], features["most_of_both_two_way"]
    single = []
    for card in (5, 6):
        found = features[f"node 3 bets {card} two-way"]
        other = features[f"node 3 bets {card} two-way, the other way"]["points"]
        text = f"card {card} at {found['points']} points"
        if found["points"]:
            text += ", pots {:.2f} to {:.2f}".format(*found["pots"])
        single.append(text + (f", against the other player at {other}" if other else ""))
    ours = "; ".join(single)
    if most > _COUNTS:
        return reproduced(f"{ours}; both at {both['points']} points")
    if not both["points"]:
        return differs(ours, "never both in one equilibrium")
    return differs(
        ours,
        f"points with both: {both['points']}, at pots from {both['pots'][0]:.2f} to "
        f"{both['pots'][1]:.2f}, where one of them has a frequency of at most {most:.2f}",
    )


def _feature(name: str) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        facts = deck(stored, 13)
        found = facts["figure_10"][name]
        if found["points"]:
            ours = (
                f"at {found['points']:,} of {facts['points']:,} points, pots "
                f"{found['pots'][0]:.2f} to {found['pots'][1]:.2f}"
            )
            return reproduced(ours)
        return differs(f"at none of {facts['points']:,} points", "no such point on our branch")

    return read


def _contradiction(stored: Stored) -> Reading:
    facts = deck(stored, 13)
    count = facts["figure_10"]["node 2 always bets 5, 6 and 7"]["points"]
    if count:
        return reproduced(f"at {count} of {facts['points']} points")
    return differs(
        f"at none of {facts['points']:,} points",
        "nor can it be so where only the best seven of 13 cards, 7 to 13, and card 2 are bet; the "
        "cards may be misprinted",
    )


def _lost(stored: Stored) -> Reading:
    return not_attempted("the pot of the figure is lost in the text of the paper that we have")


def _video(cards: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        from PIL import Image, ImageSequence

        job = stored[f"n{cards}"]
        file = job.path / "figures" / "animation.gif"
        if not file.exists():
            return not_attempted("the video is made with --full")
        with Image.open(file) as film:
            frames = [frame.info["duration"] for frame in ImageSequence.Iterator(film)]
        size = file.stat().st_size
        ours = f"a GIF of {len(frames)} frames, {size / 1e6:.1f} MB"
        if min(frames) != max(frames):
            return differs(ours, f"frames last {min(frames)} to {max(frames)} ms")
        ours += f", {1000 / frames[0]:g} a second"
        return holds(frames[0] == _FRAME_MS and len(frames) > 1, ours, "another speed, or no film")

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
        statement(
            "Figure 10, all features",
            "in one equilibrium; cards 5 to 7 at node 2 left aside",
            _feature("all"),
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
    note="The features of Figure 10 are looked for one by one, at any pot, at all points of the "
    "branch, and all at once in the last row. A two-way bet is for value against "
    "one opponent, who sometimes calls with worse and never folds better, and a bluff against the "
    "other. Frequencies above 0.02 count, with up to 7 "
    "cards those above 0.001 at all points. That N > 5 is meant is in the abstract; the text has "
    "lost the number.",
)

MEDIA = Part(
    title="Section 5.2: videos and data files",
    claims=(
        *(
            statement(
                f"video, N = {n}",
                "strategies in equal steps of arclength, 4 frames a second",
                _video(n),
            )
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
