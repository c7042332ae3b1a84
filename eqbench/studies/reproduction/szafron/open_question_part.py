"""Section 8: are there equilibria outside the family? What solvers found."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from eqbench.studies.reproduction.claims import (
    Attachment,
    Claim,
    Part,
    Reading,
    differs,
    holds,
    not_attempted,
    reproduced,
    source_error,
)
from eqbench.studies.reproduction.stored import Stored
from eqbench.studies.reproduction.szafron.jobs import MANY, SINGLE, SLOW
from eqbench.studies.reproduction.szafron.notation import SUB_FAMILIES
from eqbench.studies.reproduction.szafron.readings import Read, file_picture, statement

_NONE = ["0", "0", "0"]
WANTED = 5_000  # equilibria with --full
_OPEN = "open: no other equilibrium is known"


def _method(solver: str) -> str:
    """Name of a solver without what differs between the extents."""
    return re.sub(r"starts=\d+,", "", solver)


def _of(stored: Stored, method: str) -> dict[str, Any]:
    solvers = stored["open_question"].summary["solvers"]
    found: dict[str, Any] = next(v for name, v in solvers.items() if _method(name) == method)
    return found


def _spread(found: dict[str, Any]) -> str:
    return ", ".join(f"{count:,} with {name}" for name, count in found["names"].items() if count)


def _kinds(found: dict[str, Any]) -> str:
    return (
        f"{found['strict']:,} strict, {found['on_path']:,} with other behavior off the path only, "
        f"{found['outside']:,} outside"
    )


def _count(method: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = _of(stored, method)
        cells = f"{found['cells']} run{'s' if found['cells'] != 1 else ''}"
        if not found["equilibria"]:
            return _none(stored, method, cells)
        low, high = found["beta"] if found["beta"] else (float("nan"),) * 2
        ours = (
            f"{found['equilibria']:,} equilibria from {cells} ({found['sharp']:,} at 1e-12), "
            f"{found['different']:,} different in behavior, {found['different_outcomes']:,} in "
            f"outcomes: {_kinds(found)}"
        )
        detail = f"{_spread(found)}; β from {low:.4f} to {high:.4f}"
        return _none_outside(found, ours, detail)

    return read


def _none(stored: Stored, method: str, cells: str) -> Reading:
    """A method whose results are not accurate enough to count, so that it says nothing."""
    rows = [
        row
        for solver, own in stored["open_question"].summary["unfinished"]["solvers"].items()
        for row in own
        if _method(solver) == method
    ]
    if not rows:
        return not_attempted(f"it found no equilibrium in {cells}, so it says nothing about this")
    best = min(rows, key=lambda row: row["max_regret"])
    return not_attempted(
        f"what it found in {cells} is too inexact to count (max regret {best['max_regret']:.1e} at "
        f"best, outcomes within {best['distance']:.1e} of a member's): no answer"
    )


def _none_outside(found: dict[str, Any], ours: str, detail: str) -> Reading:
    outside = found["outside"]
    return holds(outside == 0, ours, f"{outside} are outside the family on the path", detail)


def _all(stored: Stored) -> Reading:
    found = stored["open_question"].summary["all"]
    ours = (
        f"{found['equilibria']:,} equilibria, {found['sharp']:,} of them at 1e-12; "
        f"{found['different']:,} different in behavior, {found['different_outcomes']:,} in outcomes"
    )
    return _none_outside(found, ours, _kinds(found))


def _enough(stored: Stored) -> Reading:
    found = stored["open_question"].summary["all"]["equilibria"]
    if not stored.full:
        return reproduced(f"{found:,}", f"a small sample; --full collects at least {WANTED:,}")
    return holds(found >= WANTED, f"{found:,}", f"{WANTED - found:,} are missing")


def _kind(key: str, total: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["open_question"].summary["all"]
        return reproduced(f"{found[key]:,} of {found['equilibria']:,}", total)

    return read


def _outside(stored: Stored) -> Reading:
    summary = stored["open_question"].summary
    listed, found = summary["outside"], summary["all"]
    if not listed:
        return reproduced(
            "none: the list is empty",
            f"of {found['equilibria']:,}; {found['polished']:,} of them agreed with the family "
            f"only after Newton steps, which moved frequencies by at most {found['moved']:.0e}",
        )
    proved = [item for item in listed if item["certified"]]
    names = ", ".join(f"{item['profile']} ({item['solver']})" for item in listed[:5])
    return differs(f"{len(listed)}: {names}", f"{len(proved)} with an exact certificate")


def _sub_family(name: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["open_question"].summary["all"]
        count, total = found["names"][name], found["equilibria"]
        return holds(count > 0, f"{count:,} of {total:,}", "none was found")

    return read


def _beta(stored: Stored) -> Reading:
    found = stored["open_question"].summary["all"]
    low, high = found["beta"]
    truth = low >= -1e-6 and high <= 0.25 + 1e-6
    return holds(truth, f"β from {low:.6f} to {high:.6f}", "outside 0 to 1/4")


def _segment(stored: Stored) -> Reading:
    summary = stored["open_question"].summary
    off, limit = summary["all"]["off_segment"], summary["threshold"]
    return holds(
        off <= limit, f"payoffs within {off:.0e} of the segment", f"up to {off:.1e} off it"
    )


def _regret(stored: Stored) -> Reading:
    summary = stored["open_question"].summary
    largest, limit = summary["all"]["largest_regret"], summary["threshold"]
    return holds(largest <= limit, f"{largest:.1e}", f"above {limit:.0e}")


def _first(stored: Stored) -> Reading:
    bets = stored["open_question"].summary["all"]["first_bets"]
    return holds(
        bets <= 1e-6, f"first bets of player 1 have frequency {bets:.0e} at most", "it bets"
    )


def _off_path(check: Callable[[dict[str, list[str]]], bool], *names: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["open_question"].summary["off_path"]
        ours = "; ".join(f"{name}: gains {', '.join(found[name])}" for name in names)
        return holds(check(found), ours, "other gains")

    return read


def _unseen(stored: Stored) -> Reading:
    found = stored["open_question"].summary["off_path"]
    start, changed = found["as in Table 3 (a33 = 1/2, c32 = 0)"], found["a33 = 0, c32 = 0"]
    if changed == _NONE:
        return reproduced("no gain appears")
    evidence = (
        f"as in Table 3 the gains are {', '.join(start)}; with a33 = 0 instead of 1/2, which play "
        f"never reaches either, they are {', '.join(changed)}: the payoffs are the same, but it is "
        "no equilibrium"
    )
    return source_error("it decides whether others deviate", evidence)


def _ranges(stored: Stored) -> Reading:
    """The range of player 1's payoff over all equilibria, with what was proved about it."""
    row = next(row for row in stored["ranges_of_payoff"].rows("ranges.csv"))
    low, high = float(row["min_found"]), float(row["max_found"])
    least, most = (f"{float(row[name]):.6f}" for name in ("min_bound", "max_bound"))
    ours = f"found from {low:.6f} to {high:.6f}; proved to lie between {least} and {most}"
    truth = abs(low + 1 / 32) < 1e-5 and abs(high + 1 / 48) < 1e-5
    closed = row["min_closed"] == row["max_closed"] == "True"
    detail = "both ends closed to the solver's tolerance" if closed else "not both ends are closed"
    return holds(truth, ours, f"{low + 1 / 32:+.1e} and {high + 1 / 48:+.1e} off", detail)


METHODS = Part(
    title="Section 8, the open question: equilibria by method",
    claims=tuple(
        Claim(_method(solver), "", _OPEN, _count(_method(solver)))
        for solver in (*MANY, *SINGLE, *SLOW)
    ),
    pictures=(
        file_picture(
            "Transfers that were found",
            "How the equilibria of each method spread over β. Each has its own preferences.",
            "open_question",
            "beta.svg",
        ),
        file_picture(
            "Payoffs",
            "Payoffs of players 1 and 3; the gray band is the segment of the family, from β = 0 "
            "at the lower right to β = 1/4 at the upper left. Some of each method are drawn.",
            "open_question",
            "payoffs.svg",
        ),
    ),
    note=(
        "Solvers from random starts, priors or seeds. As an equilibrium counts what the verifier "
        "measures a max regret of at most 1e-9 times the payoff range for, 6e-9. Strict: all of "
        "Table 3 holds within 1e-7. Off the path only: the outcome distribution is a member's "
        "within 1e-7. Different: some frequency, or outcome, differs by more than 1e-6. A row "
        "counts as reproduced if the method found equilibria and none outside the family; that is "
        "a search, and no proof."
    ),
)
SUMMARY = Part(
    title="Section 8, the open question: all together",
    claims=(
        statement("Equilibria collected", "–", _enough),
        statement("Equilibria outside the family", _OPEN, _all),
        statement("List of those outside on the path", _OPEN, _outside),
        statement("Strict members", "–", _kind("strict", "every entry of Table 3 holds")),
        statement(
            "Members on the path of play only",
            "–",
            _kind("on_path", "behavior where play never leads is not Table 3's"),
        ),
        *(
            statement(f"In sub-family {name}", "one of three", _sub_family(name))
            for name in SUB_FAMILIES
        ),
        statement("Range of β", "0 to 1/4", _beta),
        statement("Payoffs lie on the segment of Table 3", "u2 = −κ/2, u1 + u3 = κ/2", _segment),
        statement("Player 1 checks first", "in the whole family", _first),
        statement("Largest max regret", "0 in the family", _regret),
        statement(
            "Payoff of player 1 over all equilibria", "−1/32 to −1/48 in the family", _ranges
        ),
    ),
    files=(Attachment("All counts, by method", "open_question", "summary.json"),),
    note=(
        "“–”: the paper says nothing. No method looked outside the family by design, and methods "
        "have preferences, so that an empty list makes other equilibria less likely and does not "
        "exclude them. An equilibrium that is only near the family as measured is moved by Newton "
        "steps onto the conditions of its actions in use before it is judged. The range of a "
        "payoff is over all equilibria, from a global optimization with proved bounds."
    ),
)
OFF_PATH = Part(
    title="Definition 1: what is not reached is not important?",
    claims=(
        statement(
            "Behavior that is never seen",
            "not important, since it is never used (§4)",
            _unseen,
        ),
        statement(
            "Equilibria that differ from Table 3 off the path only",
            "not excluded",
            _off_path(
                lambda found: found["a33 = 0, c32 = 1/2"] == found["a33 = 1/4, c32 = 1/4"] == _NONE,
                "a33 = 0, c32 = 1/2",
                "a33 = 1/4, c32 = 1/4",
            ),
        ),
    ),
    note=(
        "Exact gains of players 1, 2 and 3 by deviating from the member with b11 = b21 = b32 = 0 "
        "(β = 0), c11 = 0 and c33 = 1/2, with a33 and c32 changed. There player 2 never bets, so "
        "that nobody sees what players 1 and 3 would do."
    ),
)


PARTS = (METHODS, SUMMARY, OFF_PATH)
