"""Section 3: the regularized game and the numerical method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eqbench.papers.billingham_2018.jobs import SMALL_DECKS, kuhn
from eqbench.papers.billingham_2018.readings import EXACT, deck, drawn, rounding, statement
from eqbench.papers.claims import Part, Reading, differs, holds, not_attempted, reproduced
from eqbench.papers.stored import Stored

_TAILS = {"log": 1.0, "arctan": 0.3183099, "rational": 0.5}


def _lost(what: str) -> Callable[[Stored], Reading]:
    return lambda stored: not_attempted(f"{what} is lost in the text of the paper that we have")


def _increasing(stored: Stored) -> Reading:
    entries = stored["limits"].summary["responses"]
    rising = all(entry["falls"] >= -1e-9 for entry in entries)
    inside = all(min(e["b"]) > 0 and max(e["b"]) < 1 for e in entries)
    ours = "; ".join(f"{e['kind']}: {min(e['b']):.2f} to {max(e['b']):.2f}" for e in entries)
    detail = f"{len(entries[0]['x'])} pairs of gain and frequency at solutions, each function"
    return holds(rising and inside, ours, "a frequency falls as its gain grows", detail)


def _tails(stored: Stored) -> Reading:
    entries = stored["limits"].summary["tails"]
    ours = "; ".join(f"{e['kind']}: {e['least']:.5f} to {e['greatest']:.5f}" for e in entries)
    wrong = max(
        max(abs(e[end] - _TAILS[e["kind"]]) for end in ("least", "greatest")) for e in entries
    )
    return holds(wrong <= 1e-4, ours, f"off by {wrong:.1e}", "expected 1, 1/pi and 1/2")


def _guesses(stored: Stored) -> Reading:
    found = stored["limits"].summary["guesses"]
    strong = max(found, key=lambda entry: entry["epsilon"])
    ours = "; ".join(
        f"eps = {e['epsilon']:g}: {e['hybr']} against {e['newton']} of {e['starts']}" for e in found
    )
    apart = [e for e in found if e["hybr"] == e["starts"] and not e["newton"]]
    if not apart:
        return differs(ours, "at no eps does one always arrive and the other never")
    return reproduced(
        ours,
        f"Powell's hybrid method in SciPy; at eps = {apart[0]['epsilon']:g} Newton's method never "
        f"arrives, at {strong['epsilon']:g} it does from {strong['newton']} of {strong['starts']}",
    )


def _lowering(stored: Stored) -> Reading:
    found = [c for c in stored["threats"].summary["cases"] if c["derivative"] == "counterfactual"]
    made, starts = sum(c["found"] for c in found), sum(c["starts"] for c in found)
    exact = sum(c["equilibria"] for c in found)
    ours = f"{made} of {starts} starts arrive at eps = {stored['threats'].summary['epsilon']:g}"
    return holds(made == starts, ours, f"{starts - made} do not", f"{exact} polish to equilibria")


def _traced(stored: Stored) -> Reading:
    summaries = {n: stored[f"n{n}"].summary for n in SMALL_DECKS}
    lost = [n for n, s in summaries.items() if s["outcome"] != "arrived"]
    points = sum(s["points"] for s in summaries.values())
    ours = f"{len(summaries) - len(lost)} of {len(summaries)} branches arrive; {points:,} points"
    return holds(not lost, ours, f"lost with {lost} cards", "N = 4 to 13, from below P_min to 16")


def _adaptive(stored: Stored) -> Reading:
    rows = [(deck(stored, n)["steps"], stored[f"n{n}"].summary) for n in (4, 5, 10, 13)]
    ratio = min(steps[2] / steps[0] for steps, _ in rows)
    refused = [s["refused_steps"] / (s["steps"] + s["refused_steps"]) for _, s in rows]
    ours = (
        f"longest step at least {ratio:.0f} times the 1 % shortest; "
        f"{min(refused):.0%} to {max(refused):.0%} of the steps refused and halved"
    )
    return holds(ratio > 10 and min(refused) > 0, ours, "steps hardly differ", "N = 4, 5, 10, 13")


def _case(stored: Stored, game: str, pot: int, derivative: str) -> dict[str, Any]:
    wanted = (game, pot, derivative)
    cases = stored["threats"].summary["cases"]
    entry: dict[str, Any] = next(
        c for c in cases if (c["game"], c["pot"], c["derivative"]) == wanted
    )
    return entry


_FULL = "kuhn(players=3,cards=4)"
_POTS = (3, 5, 8)
_SAME = 1e-6


def _threats(game: str, derivative: str, *, expected: bool) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        cases = [_case(stored, game, pot, derivative) for pot in _POTS]
        ours = "; ".join(f"pot {c['pot']}: {c['with_threats']} of {c['found']}" for c in cases)
        seen = [c["with_threats"] > 0 for c in cases]
        detail = "" if expected else f"{sum(c['equilibria'] for c in cases)} verified equilibria"
        return holds(
            all(seen) if expected else not any(seen),
            f"with noncredible threats at {ours}",
            "none seen" if expected else "there are some",
            detail,
        )

    return read


def _only_removed(stored: Stored) -> Reading:
    usual = _case(stored, kuhn(4), 20, "raw")
    strict = _case(stored, f"{_FULL[:-1]},reduce=dominated25)", 20, "raw")
    ours = f"{usual['with_threats']} of {usual['found']} with the 22 of section 2 removed"
    if not usual["with_threats"]:
        return reproduced(ours)
    return differs(
        ours,
        "threats remain where bets of card 3 are left in the game; "
        f"{strict['with_threats']} of {strict['found']} without those",
    )


def _either_alone(stored: Stored) -> Reading:
    """Whether payoffs that are the same at all starts with both measures are so with either."""
    agree, apart, missed = [], 0.0, 0
    for pot in _POTS:
        both = np.array(_case(stored, kuhn(4), pot, "counterfactual")["payoffs"])
        others = [_case(stored, kuhn(4), pot, "raw"), _case(stored, _FULL, pot, "counterfactual")]
        fixed = np.flatnonzero(np.ptp(both, axis=0) < _SAME)
        names = ", ".join(f"u{player + 1}" for player in fixed)
        agree.append(f"pot {pot}: {names or 'none'}")
        for case in others:
            missed += case["found"] - case["equilibria"]
            found = np.array(case["payoffs"])[:, fixed]
            apart = max(apart, float(np.abs(found - both[0, fixed]).max(initial=0.0)))
    return holds(
        apart < _SAME and not missed,
        f"payoffs agree within {apart:.0e} ({'; '.join(agree)})",
        f"{apart:.1e} apart, {missed} solutions that are no equilibria",
        "twelve starts each; payoffs that are not named differ among starts in each of the three, "
        "as they belong to a range of equilibria; all others are verified equilibria too",
    )


METHOD = Part(
    title="Section 3 and Figure 1: the regularized game and the method",
    claims=(
        statement("Figure 1, the function g", "the formula of eq. (4)", _lost("the formula of g")),
        statement("g", "increases from 0 to 1", _increasing),
        statement("eq. (3)", "g falls to its ends like a constant over the argument", _tails),
        statement(
            "first solution",
            "a trust-region method solves eq. (6) at a large eps from a random guess, as Newton's "
            "method cannot",
            _guesses,
        ),
        statement("parameter continuation", "eps is lowered to the wanted value", _lowering),
        statement(
            "arclength continuation", "follows the curve of solutions along the pot", _traced
        ),
        statement(
            "step sizes, adaptive",
            "must adapt to small regions in which the solution changes rapidly",
            _adaptive,
        ),
        statement(
            "step sizes, numbers",
            "largest step, and the correction above which a step is refused",
            _lost("the number"),
        ),
        statement(
            "neither dominated actions removed nor extra differentiation",
            "spurious solutions with noncredible threats",
            _threats(_FULL, "raw", expected=True),
        ),
        statement(
            "extra differentiation only",
            "no spurious solutions",
            _threats(_FULL, "counterfactual", expected=False),
        ),
        statement(
            "dominated actions removed only",
            "no spurious solutions",
            _threats(kuhn(4), "raw", expected=False),
        ),
        statement("dominated actions removed only, pot 20", "no spurious solutions", _only_removed),
        statement(
            "both", "no spurious solutions", _threats(kuhn(4), "counterfactual", expected=False)
        ),
        statement("either alone", "essentially the same results as both", _either_alone),
    ),
    pictures=(
        drawn(
            "Figure 1: response functions",
            "Frequencies against gain over eps, at regularized solutions of simplified Kuhn poker "
            "from a pot of 2 to one of 6. The paper's own g is lost; these are ours.",
            "figures",
            "fig01.svg",
        ),
    ),
    note="The paper's g is not recoverable; ours are the logarithmic barrier (used everywhere "
    "unless stated), the arctangent and a rational function. A threat is noncredible where a "
    "player's own moves avoid an information set that the others reach and what is planned there "
    "loses more than 0.001; twelve starts for each case.",
)


def _order(stored: Stored) -> Reading:
    rows = stored["skp_exact"].summary["errors"]
    orders = [row["order"] for row in rows]
    ours = f"order {min(orders):.3f} to {max(orders):.3f} in eps"
    right = max(abs(order - 1) for order in orders) < 0.1
    return holds(right, ours, "not the first order", f"{len(rows)} pots and functions g")


def _linear_equations(stored: Stored) -> Reading:
    facts = stored["limits"].summary["first_order"]
    error = facts["error"] / facts["size"]
    ours = f"satisfied within {error:.1e} of the right side"
    detail = f"pot {facts['pot']:g}, {facts['inside']} interior frequencies, eps = 1e-6"
    return holds(error < 0.01, ours, f"off by {error:.1e}", detail)


def _unique(stored: Stored) -> Reading:
    rows = stored["limits"].summary["selected"]
    apart = max(row["apart"] for row in rows)
    pots = sorted({row["pot"] for row in rows})
    ours = f"{rows[0]['ways']} ways to pots of {_list(pots)} agree within {apart:.0e}"
    kinds = len({row["kind"] for row in rows})
    return holds(
        apart < 1e-7,
        ours,
        f"they are {apart:.1e} apart",
        f"at these pots with each of {kinds} functions g; no proof for others",
    )


def _list(pots: list[float]) -> str:
    return ", ".join(f"{pot:g}" for pot in pots)


def _solution_1(stored: Stored) -> Reading:
    rows = stored["limits"].summary["selected"]
    pots = sorted({row["pot"] for row in rows})
    ours = "; ".join(
        f"P = {pot:g}: d2 = {next(r['d2'] for r in rows if r['pot'] == pot):.5f}" for pot in pots
    )
    wrong = max(
        max(abs(row["c1"]), abs(row["d2"] - (2 * row["pot"] - 4) / (row["pot"] + 1)))
        for row in rows
    )
    return holds(
        wrong < 1e-5,
        ours,
        f"off by {wrong:.1e}",
        f"c1 = 0, d2 = (2P-4)/(P+1) within {wrong:.0e}, with each function g",
    )


def _zero_limit(stored: Stored) -> Reading:
    worst = stored["four_cards"].summary["max_regret"]
    points = stored["four_cards"].summary["points"]
    ours = f"{points} points of N = 4 polish to a max regret of {rounding(worst)}"
    return holds(worst <= EXACT, ours, "some do not")


APPENDIX = Part(
    title="Appendix A: the limit of the regularized problem",
    claims=(
        statement("eqs. (8), (9)", "the limit is an equilibrium", _zero_limit),
        statement("eq. (10)", "the solution is expanded in powers of eps", _order),
        statement(
            "eq. (11)", "inactive frequencies are eps times a constant over the gain", _tails
        ),
        statement("eq. (12)", "first corrections satisfy linear equations", _linear_equations),
        statement(
            "singular matrix",
            "the regularization selects one solution of a range: so in all computations",
            _unique,
        ),
        statement("eq. (14)", "Solution 1 of simplified Kuhn poker", _solution_1),
        statement("eqs. (13), (15), (16)", "equations for the corrections", _lost("their content")),
        statement("eq. (17)", "has one solution for any pot and g", _unique),
    ),
    note="Measured on simplified Kuhn poker: regularized solutions at eps from 1e-3 to 1e-8 "
    "beside published ones. The ways to one pot are a direct start and branches that come from "
    "smaller and larger pots.",
)
