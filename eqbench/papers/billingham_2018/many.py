"""Figures 13 and 14, cost, and the conclusions: many cards, more players, more actions."""

from __future__ import annotations

from eqbench.papers.billingham_2018.readings import deck, drawn, rounding, statement
from eqbench.papers.claims import Part, Reading, differs, holds, reproduced
from eqbench.papers.stored import Stored

_PRINTED_BYTES = 10e9
_POT = 5


def _tighter(stored: Stored) -> Reading:
    """Whether ranges fall from deck to deck where both were followed at the same eps."""
    facts = stored["large_branches"].summary
    ranges, (first, last) = facts["mean_range"], facts["window"]
    pairs = {
        "1e-7, N = 9 and 13": ("n9", "n13"),
        "1e-6, N = 13 and 26": ("n13_1e_6", "n26"),
        "1e-4, N = 13 and 52": ("n13_1e_4", "n52"),
    }
    ours = "; ".join(
        f"eps = {where}: {ranges[few]:.1e} and {rounding(ranges[many])}"
        for where, (few, many) in pairs.items()
    )
    smoothed = ranges["n13"] / ranges["n13_1e_4"]
    detail = (
        f"mean of the widest payoff range at pots from {first:g} to {last:g}; of that, eps has a "
        f"part: for N = 13 the range at 1e-7 is {smoothed:.2g} times that at 1e-4"
    )
    falls = all(ranges[few] > ranges[many] for few, many in pairs.values())
    return holds(falls, ours, "they do not all fall", detail)


def _still_complex(stored: Stored) -> Reading:
    facts = deck(stored, 26)
    ours = (
        f"{facts['folds']} folds up to a pot of {facts['ends'][1]:g}, {facts['most']} points at one"
    )
    return holds(facts["folds"] > 50 and facts["most"] > 2, ours, "it is simple")


def _memory(stored: Stored) -> Reading:
    facts = stored["memory"].summary
    peak = facts["peak_bytes"]
    ratio = peak / _PRINTED_BYTES
    ours = f"{peak / 1e9:.2f} GB"
    if 0.5 < ratio < 2:
        return reproduced(ours)
    return differs(
        ours,
        f"{ratio:.2g} times theirs, of another implementation; {facts['steps']} steps of "
        f"N = {facts['cards']}",
    )


def _largest(stored: Stored) -> Reading:
    summary = stored["n52"].summary
    ours = f"N = 52 followed to a pot of {summary['last']:g}: {summary['points']:,} points"
    return differs(
        ours, "larger games are within reach here: derivatives are no symbolic expressions"
    )


def _direct(stored: Stored) -> Reading:
    facts = stored["memory"].summary
    bytes_, steps = facts["peak_bytes"], facts["steps"]
    ours = f"N = 26 with derivatives from sums over cards: {steps} steps in {bytes_ / 1e9:.2f} GB"
    return holds(bytes_ < _PRINTED_BYTES / 10, ours, "memory is not saved")


def _efficient(stored: Stored) -> Reading:
    rows = {n: stored[f"n{n}"].summary for n in (4, 10, 13)}
    ours = "; ".join(
        f"N = {n}: {1e3 * s['cpu_s'] / s['points']:.1f} ms a point" for n, s in rows.items()
    )
    right = all(s["cpu_s"] / s["points"] < 0.1 for s in rows.values())
    return holds(
        right, ours, "a tenth of a second or more a point", "CPU time, folds made exact included"
    )


def _unit_differences(stored: Stored) -> Reading:
    error = stored["rules"].summary["multilinear"]["unit_difference_error"]
    return holds(
        error <= 1e-12, f"differ from derivatives by {rounding(error)}", f"off by {error:.1e}"
    )


def _four_players(stored: Stored) -> Reading:
    summary = stored["four_players"].summary
    verified = "; ".join(
        f"{entry['polished']} of {entry['crossings']} verified at a pot of {entry['parameter']:g}"
        for entry in summary["at"]
    )
    ours = f"4 players, 6 cards: {summary['points']} points; {verified}"
    detail = f"pots {summary['from']:g} to {summary['last']:g}, eps = {summary['epsilon']:g}"
    right = summary["outcome"] == "arrived" and any(e["polished"] for e in summary["at"])
    return holds(right, ours, "not followed or not verified", detail)


def _not_feasible(stored: Stored) -> Reading:
    summary = stored["four_players"].summary
    ours = f"followed in {summary['cpu_s']:.1f} s of CPU time"
    if summary["outcome"] != "arrived":
        return reproduced("not followed to its end")
    return differs(ours, "it is feasible where derivatives come from the game tree")


def _raises(stored: Stored) -> Reading:
    summary = stored["raises"].summary
    entry = summary["at"][0]
    ours = (
        f"N = 4 with a raise: {summary['points']} points, {entry['polished']} of "
        f"{entry['crossings']} at a pot of {entry['parameter']:g} verified"
    )
    right = summary["outcome"] == "arrived" and entry["polished"] > 0
    return holds(right, ours, "not followed or not verified")


def _unexploitable(stored: Stored) -> Reading:
    losses = stored["four_cards"].summary["crossed"]["largest_shortfall"]
    ours = "largest shortfall: " + ", ".join(
        f"P{k + 1} {loss:.4f}" for k, loss in enumerate(losses)
    )
    detail = "each player in another equilibrium of N = 4 at a pot of 3"
    return holds(max(losses) > 1e-3, ours, "nobody gets less", detail)


def _half_street(stored: Stored) -> Reading:
    rows = [r for r in stored["many_cards"].summary["half_street"] if r["pot"] == _POT]
    names = ("calls_above", "bets_above", "bluffs_below")
    gains = {r["cards"]: abs(r["gain"] - r["limit"]["gain"]) for r in rows}
    edges = {r["cards"]: max(abs(r[n] - r["limit"][n]) for n in names) for r in rows}
    ours = "; ".join(f"N = {n}: gain {gains[n]:.5f}, thresholds {edges[n]:.4f}" for n in gains)
    falling = list(gains.values()) == sorted(gains.values(), reverse=True)
    near = all(edge < 1.5 / cards for cards, edge in edges.items())
    return holds(
        falling and near, f"off by {ours}", "not nearer", f"pot {_POT}; a card is 1/N wide"
    )


def _full_street(stored: Stored) -> Reading:
    pairs = stored["many_cards"].summary["agreement"]
    ours = "; ".join(
        "N = {} and {}: ".format(*pair["cards"])
        + f"{max(abs(n['shares'][1] - n['shares'][0]) for n in pair['nodes']):.3f}"
        for pair in pairs
    )
    why = f"an open question and no claim; shares of hands are compared at a pot of {_POT}"
    return Reading("not_attempted", f"largest difference of a share of hands {ours}", why)


LARGE = Part(
    title="Figures 13 and 14: many cards, and what it costs",
    claims=(
        statement("Figure 13", "curves with more cards have a smaller range at each pot", _tighter),
        statement("Figure 14, N = 26", "on a fine scale still complex", _still_complex),
        statement("N = 26, memory", "about 10 GB of memory", _memory),
        statement("N = 26, limit", "the largest game that can be computed", _largest),
        statement("derivatives once computed", "the method is very efficient", _efficient),
    ),
    pictures=(
        drawn(
            "Figure 13: large N",
            "Expectations of each player with 13, 26 and 52 cards.",
            "large_figures",
            "fig13.svg",
        ),
        drawn(
            "Figure 14: N = 26",
            "Expectations with a close-up.",
            "large_figures",
            "fig14.svg",
        ),
    ),
    note="N = 26 at eps = 1e-6 and N = 52 at eps = 1e-4, up to a pot of 10. Time and memory are "
    "of another machine and another program.",
)

CONCLUSIONS = Part(
    title="Section 6: conclusions",
    claims=(
        statement(
            "memory",
            "the bottleneck can be overcome by computing derivatives without symbols",
            _direct,
        ),
        statement("perturbations of unit size", "give exact derivatives", _unit_differences),
        statement("four players", "the method can be used as well", _four_players),
        statement("four players, six cards", "not feasible to compute", _not_feasible),
        statement("raises", "the method extends to more than two actions", _raises),
        statement(
            "three players",
            "playing an equilibrium strategy does not guarantee its payoff",
            _unexploitable,
        ),
        statement(
            "half street, two players, large N",
            "the limit is a game with continuous betting and calling ranges",
            _half_street,
        ),
        statement("full street, large N", "what the limit is, is not obvious", _full_street),
    ),
    note="Four players at eps = 1e-4, raises at 1e-6. The continuous half-street game has a "
    "solution in closed form, with which gains and thresholds of finite decks are compared.",
)
