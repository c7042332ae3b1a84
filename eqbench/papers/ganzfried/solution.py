"""Section 4: the equilibrium that was found, beside the published family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from eqbench.papers.claims import Part, Picture, Reading, differs, holds, source_error
from eqbench.papers.ganzfried.found import cell_of, cells_of, payoffs_of, regret_of, statement
from eqbench.papers.ganzfried.jobs import FULL, LARGEST, PAPER_MODEL, REDUCED
from eqbench.papers.ganzfried.pictures import regret_picture
from eqbench.papers.stored import NotStoredError, Stored
from eqbench.store.schema import IdentityRecord

A33, C32, C33 = "P1|3:KBF|call", "P3|3:KB|call", "P3|3:BF|call"


def _verified(stored: Stored, name: str) -> dict[str, Any]:
    """What `verify` printed about one of the profiles."""
    found: dict[str, Any] = stored[f"verify_{name}"].printed_json
    return found


def _identities(stored: Stored) -> list[IdentityRecord]:
    """Where the results of the paper's program on the reduced game stand in the family."""
    found = [
        best.identity
        for cell in cells_of(stored, "race", REDUCED, PAPER_MODEL)
        for best in cell.equilibria[:1]
        if best.identity is not None
    ]
    if not found:
        raise NotStoredError("no result of the program is identified")
    return found


def _payoff(player: int, theirs: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        cells = cells_of(stored, "race", REDUCED, PAPER_MODEL)
        ours = [payoffs_of(cell)[player] for cell in cells]
        off = max((value - theirs for value in ours), key=abs)
        names = sorted({found["name"] for found in _identities(stored)})
        text = ", ".join(f"{value:.7f}" for value in ours)
        by = f"{off:+.3g} at most; another equilibrium ({', '.join(names)})"
        return holds(abs(off) <= 5e-8, text, by)

    return read


def _two_places(stored: Stored) -> Reading:
    found = _identities(stored)
    good = all(one["on_path"] and set(one["off_path"]) == {A33, C32} for one in found)
    on_path = sum(one["on_path"] for one in found)
    places = sorted({place for one in found for place in one["off_path"]})
    ours = f"on the path those of the family in {on_path} of {len(found)} runs of the program"
    return holds(good, ours, f"off it they differ from it at {', '.join(places) or 'no place'}")


def _exists(stored: Stored) -> Reading:
    """The profile is built as the paper says, so that only its gains and payoffs can fail."""
    verified = _verified(stored, "as_named")
    regrets, payoffs = verified["exact"]["regrets"], verified["exact"]["payoffs"]
    ours = f"payoffs {', '.join(payoffs)} and regrets {', '.join(regrets)} of the one built so"
    best = cell_of(stored, "equilibria", REDUCED, LARGEST).payoffs
    detail = f"{LARGEST} finds one with payoff {best[0]:.7f} of player 1" if best else ""
    good = set(regrets) == {"0"} and payoffs == ["-1/48", "-1/48", "1/24"]
    return holds(good, ours, "such a profile is no equilibrium, or has other payoffs", detail)


def _folds(stored: Stored) -> Reading:
    a33 = [0.5 + found["off_path"].get(A33, 0.0) for found in _identities(stored)]
    ours = f"a33 = {', '.join(f'{value:g}' for value in a33)}"
    by = f"{max(a33):+.3g}; another equilibrium of the family"
    return holds(max(a33) <= 1e-6, ours, by)


def _named_situation(stored: Stored) -> Reading:
    """Where player 3 calls with half of the kings: as described, or as named."""
    described = stored["grid"].summary["readings"]["as_described"]
    named = stored["grid"].summary["readings"]["as_named"]
    gains = {Fraction(item["regrets"][1]) for item in described}
    exact = all(set(item["regrets"]) == {"0"} for item in named)
    ours = f"as named, check-bet (c32 = 1/2): {'no' if exact else 'some'} gain, exactly"
    if not exact:
        return differs(ours, "the profile is no equilibrium as named either")
    measured = _verified(stored, "as_described")["exact"]["regrets"]
    if min(gains) == 0 or measured[1] == "0":
        return differs(ours, "as described, bet-fold (c33 = 1/2), it is an equilibrium as well")
    return source_error(
        f"{ours}, with {len(named)} choices of b32 and c11",
        f"c32 is check-bet; bet-fold is c33, and with c33 = 1/2 as described player 2 gains "
        f"{', '.join(map(str, sorted(gains)))} with each of {len(described)} choices",
    )


def _always_folds(stored: Stored) -> Reading:
    """Table 3 of the family has c32 = 0; the situation that is described is c33."""
    identity = _verified(stored, "family")["identity"]
    c33 = identity["parameters"]["c33"]
    ours = f"c32 = 0 in a strict member; bet-fold there: c33 = {c33:g}"
    return holds(identity["strict"] and not identity["off_path"], ours, "not in the family")


def _agree(stored: Stored) -> Reading:
    theirs = _verified(stored, "family")["exact"]["payoffs"]
    ours = _verified(stored, "as_named")["exact"]["payoffs"]
    beta = _verified(stored, "as_named")["identity"]["parameters"]["beta"]
    text = f"{', '.join(ours)} at β = {beta:g}"
    return holds(theirs == ours and beta == 0, text, f"the family has {', '.join(theirs)}")


def _unreached(stored: Stored) -> Reading:
    pairs = stored["grid"].summary["pairs"]
    described = stored["grid"].summary["readings"]["as_described"]
    vectors = {tuple(item["payoffs"]) for item in (*pairs, *described)}
    texts = " or ".join(", ".join(vector) for vector in sorted(vectors))
    ours = f"payoffs are {texts} with all {len(pairs)} pairs a33, c32"
    detail = f"and for c33 = 1/2 in {len(described)} cases"
    return holds(len(vectors) == 1, ours, "payoffs change, so play gets there", detail)


def _range(stored: Stored) -> Reading:
    """Frequencies a33 beside the solution's c32 = 1/2 that leave an equilibrium."""
    pairs = stored["grid"].summary["pairs"]
    good = [item for item in pairs if set(item["regrets"]) == {"0"}]
    beside = [item for item in pairs if item["c32"] == "1/2"]
    kept = [item["a33"] for item in good if item["c32"] == "1/2"]
    ours = f"with c32 = 1/2 of the solution a33 = {', '.join(kept) or 'nothing'} of {len(beside)}"
    if len(kept) != 1:
        return holds(len(kept) > 1, ours, "no equilibrium at all")
    gains = "; ".join(
        f"{item['a33']}: {item['regrets'][1]}" for item in beside if item["a33"] not in kept
    )
    tied = ", ".join(f"({item['a33']}, {item['c32']})" for item in good)
    alone = _verified(stored, "a33_alone")["exact"]["regrets"][1]
    return source_error(
        ours,
        f"player 2 gains with other a33 ({gains}); a range needs player 3 to move too: "
        f"a33, c32 = {tied}; if player 1 alone moves to a33 = 0, player 2 gains {alone}",
    )


def _beyond(stored: Stored) -> Reading:
    verified = _verified(stored, "as_named")
    strict, regrets = verified["identity"]["strict"], verified["exact"]["regrets"]
    ours = f"regrets {', '.join(regrets)}; strict member: {'yes' if strict else 'no'}"
    return holds(set(regrets) == {"0"} and not strict, ours, "it is in the family")


def _only_off_path(stored: Stored) -> Reading:
    identities = [
        best.identity
        for job in ("equilibria", "race")
        for cell in stored[job].cells
        if cell.game in (REDUCED, FULL) and regret_of(cell) <= 1e-12
        for best in cell.equilibria[:1]
        if best.identity is not None
    ]
    on_path = sum(identity["on_path"] for identity in identities)
    strict = sum(identity["strict"] for identity in identities)
    places = {place for identity in identities for place in identity["off_path"]}
    ours = f"{on_path} of {len(identities)} of our results agree on the path, {strict} everywhere"
    by_player = Counter(place.partition("|")[0] for place in places)
    listed = ", ".join(f"{count} of {player}" for player, count in sorted(by_player.items()))
    detail = f"the others differ at {len(places)} places off the path: {listed}"
    return holds(0 < on_path == len(identities), ours, "one differs on the path of play", detail)


SOLUTION = Part(
    title="Section 4: the equilibrium beside the family of Szafron et al. (2013)",
    claims=(
        statement("payoff of player 1", "-0.0208333", _payoff(0, -0.0208333)),
        statement("payoff of player 2", "-0.0208333", _payoff(1, -0.0208333)),
        statement("payoff of player 3", "0.0416667", _payoff(2, 0.0416667)),
        statement("strategies", "those of the family but for two situations", _two_places),
        statement("player 1, king, check-bet-fold", "a33 = 0 instead of 1/2", _folds),
        statement("such a solution", "an equilibrium with -1/48, -1/48 and 1/24", _exists),
        statement(
            "player 3, king, the half",
            "bet-fold, called with 1/2 and named c32",
            _named_situation,
        ),
        statement("c32 in the family", "0: that strategy always folds", _always_folds),
        statement("payoffs", "agree with the family's at β = 0", _agree),
        statement("both situations", "are never reached", _unreached),
        statement("at check-bet-fold", "a range of strategies is possible", _range),
        statement("further equilibria", "exist beyond the family", _beyond),
        statement("where they differ", "perhaps off the path only", _only_off_path),
    ),
    pictures=(
        Picture(
            "What player 2 gains by deviating, by a33 and c32",
            "Exact gains at the family's member with β = 0. 0 stands on the line a33 + c32 = 1/2 "
            "only: the family's own point (1/2, 0) and the paper's (0, 1/2) are its two ends.",
            regret_picture,
        ),
    ),
    note=(
        "Payoffs, strategies and a33 are those of what the paper's program finds here. The paper "
        "prints no profile; what is said of one is tried on the family's member with β = 0, "
        "b32 = c11 = 1/4 "
        "(and on a grid of both), changed as the paper says, and measured in integers. x_jk is how "
        "often player x (a, b, c) bets or calls with card j in situation k. The largest payoff of "
        "player 1 over all equilibria is that of β = 0."
    ),
)
