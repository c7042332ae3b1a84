"""What is run for the paper: traces of Kuhn poker with N cards, and what is computed from them."""

from __future__ import annotations

from typing import NamedTuple

from eqbench.papers.jobs import Job

_HERE = "eqbench.papers.billingham_2018"
SKP_EPSILONS = ("1e-2", "1e-3", "1e-4", "1e-6")
KINDS = ("log", "arctan", "rational")
COUNTED = (4, 5, 10, 13)
SMALL_DECKS = range(4, 14)


class Deck(NamedTuple):
    """How the branch of a deck is followed.

    Attributes
    ----------
    first, last : pots from which to which
    epsilon : strength of the regularization
    below, above : pots just below and above 2/(N-3)
    at : further pots at which equilibria are polished and verified
    """

    first: str
    last: str
    epsilon: str
    below: str
    above: str
    at: tuple[str, ...] = ()


DECKS = {
    4: Deck("1.8", "16", "1e-7", "1.9", "2.1", ("2.25", "2.5", "2.75", "3", "4.19")),
    5: Deck("0.9", "16", "1e-7", "0.95", "1.05", ("2.13508", "2.2", "5.202")),
    6: Deck("0.6", "16", "1e-7", "0.65", "0.68", ("2.9",)),
    7: Deck("0.45", "16", "1e-7", "0.49", "0.51", ("2.3353",)),
    8: Deck("0.36", "16", "1e-7", "0.39", "0.41", ("3.199",)),
    9: Deck("0.3", "16", "1e-7", "0.32", "0.34", ("7.444",)),
    10: Deck("0.25", "16", "1e-7", "0.28", "0.29", ("3.5", "3.53")),
    11: Deck("0.22", "16", "1e-7", "0.24", "0.26", ("10.84",)),
    12: Deck("0.2", "16", "1e-7", "0.22", "0.23", ("4.18",)),
    13: Deck("0.18", "16", "1e-7", "0.19", "0.21", ("1.677", "9")),
    26: Deck("0.078", "10", "1e-6", "0.086", "0.088"),
    52: Deck("0.036", "10", "1e-4", "0.04", "0.042"),
}
# Beyond the usual range: from which pot, at which the branch is a single curve, to which.
WIDE = {4: ("10", "200"), 5: ("10", "60"), 6: ("10", "60"), 10: ("13", "300")}
# The strengths at which larger decks are followed, for 13 cards and up to the same pot.
SMOOTHED = {"n13_1e_6": "1e-6", "n13_1e_4": "1e-4"}
_FRAMES = {4: "60", 5: "60"}
_FRAMES_IN_FULL = dict.fromkeys(COUNTED, "120")
_CLOSE_UPS = {4: ("4.15,4.23",), 5: ("1.6,2.5", "4.9,5.6")}


def kuhn(cards: int) -> str:
    """Three-player Kuhn poker without the 22 dominated actions of section 2."""
    return f"kuhn(players=3,cards={cards},reduce=billingham)"


def trace(game: str, first: str, last: str, epsilon: str, *more: str) -> tuple[str, ...]:
    """Words of a command that follows a branch."""
    ends = ("--from", first, "--to", last, "--epsilon", epsilon)
    return ("trace", "--game", game, *ends, *more)


def _branch(cards: int) -> Job:
    """The branch of a deck, with pictures of the small ones and an animation where one is shown."""
    deck = DECKS[cards]
    at = [word for pot in (deck.below, deck.above, *deck.at) for word in ("--at", pot)]
    command = trace(kuhn(cards), deck.first, deck.last, deck.epsilon, *at)
    drawn = ["--figures"] if cards in _CLOSE_UPS else []
    drawn += [word for ends in _CLOSE_UPS.get(cards, ()) for word in ("--close-up", ends)]
    film, long_film = (
        ("--animate", frames[cards]) if cards in frames else ()
        for frames in (_FRAMES, _FRAMES_IN_FULL)
    )
    return Job(
        f"n{cards}",
        (*command, *drawn, *film),
        full_command=(*command, *drawn, *long_film),
        full=cards > max(SMALL_DECKS),
    )


def _wide(cards: int) -> Job:
    first, last = WIDE[cards]
    return Job(f"n{cards}_wide", trace(kuhn(cards), first, last, "1e-7"))


def _info(name: str, game: str) -> Job:
    return Job(name, ("info", game, "--json"), out=False)


_BELOW_CORNERS = ("--at", "2.5", "--at", "3.1", "--at", "3.35", "--at", "3.45", "--at", "3.95")
_ABOVE_CORNERS = ("--at", "4.2", "--at", "4.35", "--at", "4.7", "--at", "5.5")
_FOUR_PLAYERS_AT = ("--at", "2", "--at", "3", "--at", "4")

JOBS = (
    *(_info(f"info_{cards}", f"kuhn(players=3,cards={cards})") for cards in COUNTED),
    *(_info(f"info_{cards}_reduced", kuhn(cards)) for cards in COUNTED),
    _info("info_4_dominated25", "kuhn(players=3,cards=4,reduce=dominated25)"),
    _info("info_skp", "skp"),
    Job("rules", compute=f"{_HERE}.compute_rules:rules"),
    *(Job(f"skp_{eps}".replace("-", "_"), trace("skp", "2", "6", eps)) for eps in SKP_EPSILONS),
    Job("skp", trace("skp", "2", "6", "1e-9", *_BELOW_CORNERS, *_ABOVE_CORNERS)),
    Job("skp_all", ("run", "--game", "skp(pot=3.35)", "--solver", "case_enumeration")),
    Job("skp_exact", compute=f"{_HERE}.compute_skp:exact"),
    Job("limits", compute=f"{_HERE}.compute_limits:limits"),
    Job("threats", compute=f"{_HERE}.compute_threats:threats"),
    *(_branch(cards) for cards in DECKS),
    *(_wide(cards) for cards in WIDE),
    *(
        Job(name, trace(kuhn(13), DECKS[13].first, DECKS[26].last, epsilon), full=True)
        for name, epsilon in SMOOTHED.items()
    ),
    Job(
        "n4_beside",
        trace(kuhn(4), "3.05", "3.2", "1e-7", "--at", "3.1", "--starts", "40"),
    ),
    Job("four_cards", compute=f"{_HERE}.compute_four_cards:four_cards"),
    Job(
        "branches",
        compute=f"{_HERE}.compute_branches:branches",
        needs=tuple(f"n{cards}" for cards in SMALL_DECKS),
    ),
    Job(
        "large_branches",
        compute=f"{_HERE}.compute_branches:large_branches",
        needs=("n9", "n13", *SMOOTHED, "n26", "n52"),
        full=True,
    ),
    Job("many_cards", compute=f"{_HERE}.compute_many_cards:many_cards"),
    Job("memory", compute=f"{_HERE}.compute_many_cards:memory", alone=True),
    Job("four_players", trace("kuhn(players=4,cards=6)", "1", "8", "1e-4", *_FOUR_PLAYERS_AT)),
    Job("raises", trace("kuhn(players=3,cards=4,raises=1)", "2", "8", "1e-6", "--at", "4")),
    Job(
        "figures",
        compute=f"{_HERE}.drawings:figures",
        needs=(
            *(f"n{cards}" for cards in SMALL_DECKS),
            *(f"skp_{eps}".replace("-", "_") for eps in SKP_EPSILONS),
            "skp_exact",
            "limits",
        ),
    ),
    Job(
        "large_figures",
        compute=f"{_HERE}.drawings:large_figures",
        needs=("n13", "n26", "n52"),
        full=True,
    ),
)
