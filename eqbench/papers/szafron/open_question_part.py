"""Section 8: are there equilibria outside the family? What solvers found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.papers.claims import (
    Attachment,
    Part,
    Reading,
    differs,
    holds,
    reproduced,
    source_error,
)
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.methods import METHODS, OPEN, kinds, none_outside
from eqbench.papers.szafron.notation import SUB_FAMILIES
from eqbench.papers.szafron.readings import Read, rows, statement

_NONE = ["0", "0", "0"]
WANTED = 5_000  # equilibria with --full


def _all(stored: Stored) -> Reading:
    found = stored["open_question"].summary["all"]
    ours = (
        f"{found['equilibria']:,} equilibria, {found['sharp']:,} of them at 1e-12; "
        f"{found['different']:,} different in behavior, {found['different_outcomes']:,} in outcomes"
    )
    return none_outside(found, ours, kinds(found))


def _enough(stored: Stored) -> Reading:
    found = stored["open_question"].summary["all"]
    count, different = found["equilibria"], found["different_outcomes"]
    least = WANTED if stored.full else 2
    return holds(
        count >= least and different > 1,
        f"{count:,}, with {different:,} different outcomes",
        f"at least {least:,} are asked for",
    )


def _kind(key: str, words: str) -> Read:
    """Whether there are equilibria of a kind that the paper speaks of."""

    def read(stored: Stored) -> Reading:
        found = stored["open_question"].summary["all"]
        return holds(found[key] > 0, f"{found[key]:,} of {found['equilibria']:,}", "none", words)

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


def _off_path(check: Callable[[dict[str, Any]], bool], *names: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = stored["open_question"].summary["off_path"]
        ours = "; ".join(f"{name}: gains {rows(found[name], 'regrets')}" for name in names)
        return holds(check(found), ours, "other gains")

    return read


def _unseen(stored: Stored) -> Reading:
    found = stored["open_question"].summary["off_path"]
    start, changed = found["as in Table 3 (a33 = 1/2, c32 = 0)"], found["a33 = 0, c32 = 0"]
    if changed["regrets"] == _NONE:
        return reproduced("no gain appears")
    ours = "it decides whether others deviate"
    evidence = (
        f"as in Table 3 the payoffs are {rows(start, 'payoffs')} and the gains "
        f"{rows(start, 'regrets')}; with a33 = 0 instead of 1/2, which play never reaches either, "
        f"they are {rows(changed, 'payoffs')} and {rows(changed, 'regrets')}: no equilibrium"
    )
    same = start["payoffs"] == changed["payoffs"] and start["regrets"] == _NONE
    return source_error(ours, evidence) if same else differs(ours, evidence)


def _ranges(stored: Stored) -> Reading:
    """The range of player 1's payoff over all equilibria, with what was proved about it."""
    row = next(row for row in stored["ranges_of_payoff"].rows("ranges.csv"))
    low, high = float(row["min_found"]), float(row["max_found"])
    least, most = (f"{float(row[name]):.6f}" for name in ("min_bound", "max_bound"))
    ours = f"found from {low:.6f} to {high:.6f}; proved to lie between {least} and {most}"
    near = abs(low + 1 / 32) < 1e-5 and abs(high + 1 / 48) < 1e-5
    if row["min_closed"] == row["max_closed"] == "True":
        by = f"{low + 1 / 32:+.1e} and {high + 1 / 48:+.1e} off"
        return holds(near, ours, by, "both ends closed to the solver's tolerance")
    return differs(ours, "not proved: the search ended at its time limit before both ends closed")


SUMMARY = Part(
    title="Section 8, the open question: all together",
    claims=(
        statement("Equilibria collected", "a set of solutions by different seeds (§5)", _enough),
        statement("Equilibria outside the family", OPEN, _all),
        statement("List of those outside on the path", OPEN, _outside),
        statement(
            "Strict members",
            "equilibria with all of Tables 2 and 3 are found",
            _kind("strict", "every entry of Table 3 holds"),
        ),
        statement(
            "Members on the path of play only",
            "unreached parameters can differ from Table 2 (Theorem 1)",
            _kind("on_path", "behavior where play never leads is not that of Tables 2 and 3"),
        ),
        *(
            statement(
                f"In sub-family {name}", "one of three, found by solvers (§5)", _sub_family(name)
            )
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
        "No method looked outside the family by design, and methods "
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
                lambda found: all(
                    found[name]["regrets"] == _NONE
                    for name in ("a33 = 0, c32 = 1/2", "a33 = 1/4, c32 = 1/4")
                ),
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
