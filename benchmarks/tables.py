"""Facts and tables of each benchmark, from its raw results.

A function with the name of a benchmark returns its facts by name, and the rows of each of its
tables in `benchmarks.toml`. A row is a text with bars between its cells.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from statistics import geometric_mean, median
from typing import Any

from pages import REFERENCE, Record, read_results

Facts = dict[str, Any]
Shown = tuple[Facts, *tuple[list[str], ...]]
MIB = 2**20

# -- Numbers and tables --------------------------------------------------------------------------


def rounded(value: float, digits: int = 2) -> str:
    """A number with so many significant digits, without an exponent."""
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def power(value: float) -> str:
    """A tiny number with one digit, such as 4e-16."""
    return re.sub(r"e-0?", "e-", f"{value:.0e}")


def at_most(value: float) -> str:
    """An upper bound with two decimals, such as 0.03 for 0.0221."""
    return str(Decimal(value).quantize(Decimal("0.01"), ROUND_CEILING))


def power_at_most(value: float) -> str:
    """An upper bound on a tiny number with one digit, such as 4e-16 for 3.1e-16."""
    return _one_digit(value, ROUND_CEILING)


def power_at_least(value: float) -> str:
    """A lower bound on a tiny number with one digit, such as 3e-16 for 3.9e-16."""
    return _one_digit(value, ROUND_FLOOR)


def _one_digit(value: float, rounding: str) -> str:
    exact = Decimal(value)
    return power(float(exact.quantize(Decimal(1).scaleb(exact.adjusted()), rounding)))


def two_digits(value: float) -> str:
    """Seconds with two significant digits, those above 100 as whole numbers."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.2g}".rstrip(".")


def simple_fraction(value: float) -> str:
    """A simple fraction if the number is one to rounding of a backend."""
    near = Fraction(value).limit_denominator(100)
    text = f"{near}" if abs(near - value) <= 1e-6 else f"{value:.4f}"
    return text.replace("-", "−")


def escaped(text: str) -> str:
    """A text that Markdown shows as it is."""
    return re.sub(r"([\\|*_<>$\[\]`])", r"\\\1", text).replace("\n", " ")


def span(values: Collection[Any], layout: str = "", word: str = " to ") -> str:
    """Smallest and largest value, or one if they look the same."""
    return word.join(dict.fromkeys(format(end, layout) for end in (min(values), max(values))))


def dash(value: Any, layout: str = "") -> str:
    """A value as printed, a dash for None."""
    return "–" if value is None else format(value, layout)


def alike(layout: str | Callable[[Any], str], **values: Any) -> Facts:
    """Facts of one layout: a format of Python or a function."""
    lay_out = layout if callable(layout) else lambda value: format(value, layout)
    return {name: lay_out(value) for name, value in values.items()}


def ends(name: str, values: Collection[float], layout: str) -> Facts:
    """Smallest and largest value as the facts `name_least` and `name_most`."""
    return alike(layout, **{f"{name}_least": min(values), f"{name}_most": max(values)})


def grouped(rows: Iterable[Any], key: Callable[[Any], Hashable]) -> dict[Any, list[Any]]:
    """Rows by key, both in their order."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def by_solver(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Rows by the spec of their solver."""
    return grouped(rows, lambda row: row.solver)


# -- CFR -----------------------------------------------------------------------------------------


def cfr_vs_openspiel(data: Record) -> Shown:
    ratios = [median(row.theirs_us) / median(row.ours_us) for row in data.rows]
    rows = [
        f"{row.game} | {median(row.ours_us):,.2f} | {median(row.theirs_us):,.0f} | {ratio:,.0f}×"
        f" | {row.nash_conv.iterations} | {row.nash_conv.ours:.6e} | {row.nash_conv.theirs:.6e}"
        f" | {(ours := median(row.nash_conv_us.ours)):,.2f}"
        f" | {(theirs := median(row.nash_conv_us.theirs)):,.0f} | {theirs / ours:,.0f}×"
        for row, ratio in zip(data.rows, ratios, strict=True)
    ]
    return ends("cfr_ratio", ratios, ".0f"), rows


def liteefg(data: Record) -> Shown:
    ratios = [median(row.us.theirs) / median(row.us.ours) for row in data.rows]
    rows = [
        f"{row.game} | {median(row.us.ours):,.2f} | {median(row.us.theirs):,.1f} | {ratio:,.0f}× | "
        + " | ".join(
            f"{who[k]:.8e}" for k in (0, 1) for who in (row.nash_conv.ours, row.nash_conv.theirs)
        )
        for row, ratio in zip(data.rows, ratios, strict=True)
    ]
    mean = {"liteefg_ratio_mean": f"{geometric_mean(ratios):.0f}"}
    return ends("liteefg_ratio", ratios, ".0f") | mean, rows


def cfr_threads(data: Record) -> Shown:
    one, two = (median(row.cpu_ms) for row in data.rows)
    megabytes = data.bytes / 1e6
    per_entry = data.bytes / data.entries
    facts = alike(".1f", cfr_one_thread_ms=one, cfr_two_threads_ms=two)
    facts |= alike(".0f", cfr_threads_bytes=per_entry, cfr_threads_megabytes=megabytes)
    rows = [
        f"{row.threads} | {median(row.clock_ms):.2f} | {median(row.cpu_ms):.2f}"
        f" | {median(row.read_gb_s):.1f} | {(speed := median(row.read_cpu_gb_s)):.1f}"
        f" | {megabytes / speed:.2f}"
        for row in data.rows
    ]
    return facts, rows


def random_starts(data: Record) -> Shown:
    reached = [[s for s in row.starts if s.max_regret <= data.target] for row in data.rows]
    rows = [
        f"{'alternating' if row.alternating else 'simultaneous'} | {len(done)} of {len(row.starts)}"
        f" | {median(start.iterations for start in done):g}"
        f" | {1e3 * median(start.elapsed_s for start in done):.2f}"
        f" | {sum(start.final_max_regret <= data.target for start in row.starts)}"
        f" of {len(row.starts)}"
        for row, done in zip(data.rows, reached, strict=True)
    ]
    counts = dict(zip(("together", "in_turn"), map(len, reached), strict=True))
    facts = {f"random_starts_{name}": count for name, count in counts.items()}
    facts["random_starts"] = data.starts
    return facts, rows


def last_iterate(data: Record) -> Shown:
    missing = [None] * len(data.iterations)
    rows = [
        f"{row.game} | `{row.solver}` | {dash(row.us, ',.1f')} | "
        + " | ".join(dash(y, ".1e") for y in (row.nash_conv + missing)[: len(missing)])
        for row in data.rows
    ]
    return {}, rows


def leduc_accuracy(data: Record) -> Shown:
    runs = by_solver(data.rows)
    cpu = {solver: median(row.cpu_s for row in group) for solver, group in runs.items()}
    in_turn, together = cpu["pcfr_plus_alternating"], cpu["pcfr_plus"]
    facts = {
        "leduc_in_turn_s": f"{in_turn:.2f}",
        "leduc_together_ratio": f"{together / in_turn:.0f}",
    }
    rows = [
        f"`{solver}` | {sum(row.nash_conv <= 1e-6 for row in group)} of {len(group)}"
        f" | {median(row.iterations for row in group):,.0f} | {cpu[solver]:.2f}"
        f" | {median(row.nash_conv for row in group):.1e}"
        for solver, group in runs.items()
    ]
    return facts, rows


def best_of_starts(data: Record) -> Shown:
    solvers = list(by_solver(data.groups[0].rows))
    regrets = [
        {name: [row.max_regrets for row in group.rows if row.solver == name] for name in solvers}
        for group in data.groups
    ]
    facts: Facts = {"best_of_starts": data.starts}
    for solver, games in regrets[1].items():
        name = solver.partition("(")[0]
        below = [sum(regret <= 1e-3 for regret in game) for game in games]
        facts[f"best_{name}_share"] = f"{100 * sum(below) / sum(map(len, games)):.0f} %"
        facts[f"best_{name}_games"] = sum(map(bool, below))
        facts["best_games"] = len(games)
    counts = [2**k for k in range(7)]
    rows = [
        f"{group.title}, `{solver}` | "
        + " | ".join(f"{expected_best(own[solver], k):.1e}" for k in counts)
        for group, own in zip(data.groups, regrets, strict=True)
        for solver in solvers
    ]
    return facts, rows


def expected_best(games: Sequence[Sequence[float]], k: int) -> float:
    """Mean of the smallest of k values over all sets of k out of those of a game, then of games."""
    return math.fsum(map(_expected_least, games, [k] * len(games))) / len(games)


def _expected_least(values: Sequence[float], k: int) -> float:
    size = len(values)
    ranked = enumerate(sorted(values))
    total = sum(value * math.comb(size - 1 - rank, k - 1) for rank, value in ranked)
    return total / math.comb(size, k)


# -- Large games, many cells, identification -----------------------------------------------------


def large_games(data: Record) -> Shown:
    node_by_node = next(row for row in data.rows if row.imported)
    own = (node_by_node.peak_bytes - node_by_node.python_bytes) / MIB
    facts = {
        "node_by_node_nodes": f"{node_by_node.nodes:,}",
        "node_by_node_s": rounded(node_by_node.build_s),
        "node_by_node_mib": f"{own:.0f}",
    }
    rows = [
        f"`{row.game}`{' node by node' * row.imported} | {row.nodes:,} | {row.terminals:,}"
        f" | {row.infosets:,} | {row.build_s:.2f} | {row.compile_s:.2f}"
        f" | {1e3 * median(row.iteration_s):.2f} | {row.python_bytes / MIB:,.0f}"
        f" | {row.peak_bytes / MIB:,.0f}"
        for row in data.rows
    ]
    return facts, rows


def products(data: Record) -> Shown:
    paths = list(data.most_nodes)

    def each(row: Record, layout: str, value: Callable[[Record], float | None]) -> str:
        found = [row[path] and value(row[path]) for path in paths]
        return " | ".join(dash(number, layout) for number in found)

    iterations, compared, ratios = [], [], {}
    for row in data.rows:
        ms = [row[path] and 1e3 * median(row[path].iteration_s) for path in paths]
        cells = [dash(each and two_digits(each)) for each in ms]
        if ms[0]:
            ratios[row.game] = ms[0] / ms[1]
        cells.insert(2, f"{rounded(ratios[row.game])}×" if ms[0] else "–")
        own = each(row, ",.0f", lambda found: (found.peak_bytes - found.python_bytes) / MIB)
        name = f"`{row.game}`"
        sizes = f"{row.nodes:,} | {row.public:,} | {row.hands}"
        iterations.append(f"{name} | {sizes} | {' | '.join(cells)} | {own}")
        compared.append(f"{name} | {each(row, '.10e', lambda found: found.nash_conv)}")
    peers = {row.game: row for row in data.peer}
    solved = [
        f"`{row.game}` | {row.nodes:,} | {row.infosets:,} | {row.nash_conv / row.pot:.1e}"
        f" | {row.iterations:,} | {row.setup_s:.1f} | {row.solve_s:.1f} | {row.verify_s:.1f}"
        f" | {row.peak_bytes / MIB:,.0f} | {row.payoffs[0]:.4f} | "
        + (f"{peer.iterations:,} | {peer.solve_s:.1f} | {peer.payoff:.4f}" if peer else "– | – | –")
        for row in data.large
        for peer in [peers.get(row.game)]
    ]
    largest = {"products_ratio_most": f"{max(ratios.values()):,.0f}"}
    return largest, iterations, compared, solved


def large_verifier(data: Record) -> Shown:
    rows = []
    for row in data.rows:
        numpy, compiled, kernels = (median(row.ns[way]) for way in ("NumPy", "compiled", "kernels"))
        ms = [1e-6 * row.nodes * ns for ns in (numpy, compiled)]
        rows.append(
            f"`{row.game}` | {row.nodes:,} | {numpy:.1f} | {compiled:.1f} | {kernels:.1f}"
            f" | {ms[0]:,.1f} | {ms[1]:,.1f} | {row.largest_difference:.0e}"
        )
    last = data.rows[-1]
    facts = {
        "verifier_ns": f"{median(last.ns.compiled):.0f}",
        "verifier_nodes": f"{last.nodes / 1e6:.1f}",
        "verifier_numpy_ns": f"{median(last.ns.NumPy):.0f}",
        "verifier_first_s": f"{max(row.first_s for row in data.rows):.1f}",
    }
    return facts, rows


def cells(data: Record) -> Shown:
    def all_ms(row: Record) -> float:
        return 1e3 * median(a + b for a, b in zip(row.own_s, row.children_s, strict=True))

    forked, spawned = data.rows
    facts = alike(
        ".0f",
        forked_cell_ms=all_ms(forked),
        forked_times_less=all_ms(spawned) / all_ms(forked),
        forked_python_mib=median(forked.recorded_mib),
        spawned_python_mib=median(spawned.recorded_mib),
        cells_first_mib=data.parent_mib["100"],
        cells_last_mib=data.parent_mib[str(data.more)],
    )
    rows = [
        f"{'forked' if row is forked else 'spawned'}"
        f" | {all_ms(row):.0f} | {1e3 * median(row.own_s):.0f} | {1e3 * median(row.wall_s):.0f}"
        f" | {median(row.private_mib):.1f} | {median(row.recorded_mib):.0f}"
        for row in data.rows
    ]
    return facts, rows


def identification(data: Record) -> Shown:
    medians = [median(row.elapsed_ms) for row in data.rows]
    rows = []
    for row, middle in zip(data.rows, medians, strict=True):
        found = [identity for identity in row.identities if identity]
        rows.append(
            f"{row.kind} | {middle:.1f} | {max(row.elapsed_ms):.1f}"
            f" | {sum(strict for _, _, strict in found)}"
            f" | {sum(on_path for _, on_path, _ in found)}"
            f" | {sum(not on_path for _, on_path, _ in found)}"
            f" | {len(row.identities) - len(found)}"
        )
    least, most = min(medians), max(medians)
    facts = alike(".0f", identification_least_ms=least, identification_most_ms=most)
    return facts, rows


def case_enumeration(data: Record) -> Shown:
    pots = {
        game: (group[0].statistics, median(row.cpu_s for row in group))
        for game, group in grouped(data.rows, lambda row: row.game).items()
    }
    nodes, cpu_s = [pot.nodes for pot, _ in pots.values()], [cpu for _, cpu in pots.values()]
    facts = {
        **ends_apart("cases_{}_nodes", nodes, str, str),
        **ends_apart("cases_{}_s", cpu_s, "{:.2f}".format, at_most),
        "cases_pots": len(pots),
    }
    rows = [
        f"`{game}` | {pot.cases:,} | {pot.nodes:,} | {pot.leaves:,} | {pot.unresolved} | "
        + ", ".join(size for size, count in pot.pieces_by_dimension.items() for _ in range(count))
        + f" | {cpu:.2f}"
        for game, (pot, cpu) in pots.items()
    ]
    return facts, rows


def proved_lists(data: Record) -> Shown:
    closed = [row for row in data.rows if not row.faces]
    skp = [row for row in data.rows if row.game.startswith("skp")]
    facts = {
        "proved_skp": sum(row in closed for row in skp),
        "proved_pots": len(skp),
        "proved_empty": sum(row.empty_faces for row in data.rows),
    }
    rows = [
        f"`{row.game}` | {', '.join(map(str, row.dimensions))} | {row.nodes:,} | {row.faces}"
        f" | {row.empty_faces} | {two_digits(row.enumeration_s)} | {two_digits(row.proof_s)}"
        for row in data.rows
    ]
    return facts, rows


def recall(data: Record) -> Shown:
    lines = [
        (
            row.kind,
            f"`{row.solver}` | {row.games} | {row.found} of {row.of} | {row.share:.0%}"
            f" | {row.whole} | {two_digits(row.time_s)}",
        )
        for row in data.rows
    ]
    pooled = [line for kind, line in lines if kind == "all"]
    by_kind = [f"{kind} | {line}" for kind, line in lines if kind != "all"]
    own = [row for row in data.rows if row.kind == "all" and row.solver == "complete"]
    facts = {"recall_games": own[0].games, "recall_equilibria": own[0].of}
    facts |= {f"recall_{name}": data[name] for name in ("claimed", "others", "regular", "sum_to_1")}
    return facts, pooled, sorted(by_kind, key=lambda line: line.partition(" |")[0])


def complete_sets(data: Record) -> Shown:
    own = [row for row in data.rows if row.method == "complete"]
    facts = {
        "complete_games": sum(row.games for row in own),
        "complete_lists": sum(row.complete for row in own),
        "complete_most_s": f"{max(row.most_s for row in own):.0f}",
    }
    rows = [
        f"{row.games} of {row.shape} | `{row.method}` | {row.ended} | "
        + (f"{row.complete} | {row.indices_sum_to_1}" if row in own else "– | –")
        + f" | {row.found} of {row.equilibria} | {row.others}"
        f" | {row.median_s:.3g} | {row.most_s:.3g}"
        for row in data.rows
    ]
    return facts, rows


def ends_apart(
    name: str, values: Collection[float], least: Callable[..., str], most: Callable[..., str]
) -> Facts:
    """Smallest and largest value, each with a layout of its own."""
    return {name.format("least"): least(min(values)), name.format("most"): most(max(values))}


# -- Branches ------------------------------------------------------------------------------------


def payoff_models(data: Record) -> Shown:
    us = next(row for row in data.rows if row.cards == 26).us.linearize
    return ({"rank_sums_ratio": f"{median(us.generic) / median(us.ranks):.0f}"},)


def arclength_cost(data: Record) -> Shown:
    branch = {row.game: row for row in data.branches}
    cards = {n: branch[f"kuhn(players=3,cards={n},reduce=billingham)"] for n in (10, 26, 52)}
    four = branch["kuhn(players=4,cards=6)"]
    leduc, starts = data.leduc, data.starts
    homotopy_s = median(leduc.homotopy_s)
    facts = {
        **{f"branch_{n}_cards_s": rounded(row.cpu_s) for n, row in cards.items()},
        "branch_skp_s": rounded(branch["skp"].cpu_s),
        "branch_26_cards_mib": f"{cards[26].peak_bytes / MIB:.0f}",
        "branch_four_players_s": rounded(four.cpu_s),
        "branch_four_players_folds": four.folds,
        "homotopy_leduc_s": rounded(homotopy_s),
        "homotopy_s": homotopy_s,
        "polish_s": median(leduc.polish_s),
        "random_starts_polished": sum(regret <= 1e-12 for regret in starts.max_regrets),
        "random_starts_ms": f"{1e3 * median(starts.cpu_s):.1f}",
        "homotopy_leduc_nash_conv": power(leduc.nash_conv_before),
        "homotopy_leduc_polished": power(leduc.max_regret_after),
    }
    costs = [
        f"`{row.game}` | {row.range[0]:.3g} to {row.range[1]:g} | {row.epsilon:g} | {row.free:,}"
        f" | {row.cpu_s:.2f} | {dash(row.goals.get('cpu_s'), 'g')} | {_work(row)}"
        f" | {dash(row.goals.get('peak_MiB'), 'g')}"
        for row in data.branches
    ]
    parts = []
    for row in data.branches:
        us, share = _shares(row)
        parts.append(
            f"`{row.game}` | {us:,.0f} | {share['derivatives']:.0f} %"
            f" | {share['evaluation'] - share['derivatives']:.0f} % | {share['lu']:.0f} %"
            f" | {100 - share['evaluation'] - share['lu']:.0f} %"
        )
    return facts, costs, parts


def _work(row: Record) -> str:
    """Steps, factorizations, folds and memory of a branch."""
    fold_ms = 1e3 * median(row.exact_fold_s) if row.exact_fold_s else None
    return (
        f"{row.steps:,} | {row.refused_steps:,} | {row.factorizations:,} | {row.folds:,}"
        f" | {dash(fold_ms, ',.0f')} | {row.peak_bytes / MIB:,.0f}"
    )


def _shares(row: Record) -> tuple[float, dict[str, float]]:
    """Microseconds of a factorization, and percentages of its parts."""
    us = 1e6 * row.cpu_s / row.factorizations
    return us, {part: 100 * median(times) / us for part, times in row.parts_us.items()}


def branch_104_cards(data: Record) -> Shown:
    (branch,) = data.branches
    facts = {
        "branch_104_cards_min": f"{branch.cpu_s / 60:.1f}",
        "branch_104_cards_gib": f"{branch.peak_bytes / 2**30:.1f}",
        "branch_104_cards_lu": f"{_shares(branch)[1]['lu']:.0f}",
        "branch_104_cards_tree": f"{100 * branch.python_bytes / branch.peak_bytes:.0f}",
    }
    row = (
        f"{branch.reached:.3f} | {branch.epsilon:g} | {branch.free:,} | {branch.cpu_s:.0f}"
        f" | {branch.goals.cpu_s:g} | {_work(branch)}"
    )
    return facts, [row]


def coexisting(data: Record) -> Shown:
    coarse = {row.cards: row for row in data.rows if row.epsilon == 1e-7}
    fine = [row for row in data.rows if row.epsilon == 1e-9]
    most = max(coarse.values(), key=lambda row: row.most)
    eight = coarse[8]["at"][0]
    stalled = next(row for row in fine if row.stalled)
    facts = {
        **{f"coexisting_{cards}": coarse[cards].most for cards in (4, 5, 10)},
        **{
            f"coexisting_most{name}": most[key] for name, key in (("", "most"), ("_cards", "cards"))
        },
        "coexisting_most_pot": f"{most['at'][0].parameter:g}",
        "coexisting_most_payoffs": most["at"][0].distinct_payoffs,
        **{
            f"dimension_{cards}": max(size for at in coarse[cards]["at"] for size in at.dimensions)
            for cards in (4, 13)
        },
        "unpolished_8": eight.crossings - eight.polished,
        "points_8": eight.crossings,
        "pot_8": f"{eight.parameter:g}",
        "branches_coarse": sum(not row.stalled for row in coarse.values()),
        "branches_decks": len(coarse),
        "branches_fine": sum(not row.stalled for row in fine),
        "stalled_cards": stalled.cards,
        "stalled_pot": f"{stalled.reached:.2f}",
    }
    rows = [_coexisting(row, at) for row in data.rows for at in row["at"]]
    return facts, rows


def _coexisting(row: Record, at: Record) -> str:
    """Points of a branch at one pot, and beside it; those of the whole branch stand once."""
    low, high = max(row.intervals, key=lambda interval: interval[1] - interval[0])
    whole = f"{row.most} | {row.most_narrow} | {low:.5f} to {high:.5f}"
    exact = [n for n, regret in zip(at.dimensions, at.max_regrets, strict=True) if regret <= 1e-12]
    own, beside = [payoffs[0] for payoffs in at.payoffs], at.beside
    others = beside.payoff_ranges[0]
    return (
        f"{row.cards} | {row.epsilon:g} | {row.reached:g}"
        f" | {whole if at is row['at'][0] else ' |  | '} | {at.parameter:g} | {at.crossings}"
        f" | {at.polished} | {at.distinct_payoffs} | {span(exact)}"
        f" | {min(own):.5f} to {max(own):.5f} | {beside.polished} | {beside.not_on_branch}"
        f" | {others[0]:.5f} to {others[1]:.5f}"
    )


def many_cards(data: Record) -> Shown:
    first, last = (pair.nodes for pair in data.agreement)
    facts = ends("quantiles", [node.mean_difference for node in last], ".2f")
    facts["shares_agree"] = f"{max(abs(node.shares[0] - node.shares[1]) for node in last):.2f}"
    payoffs = [
        f"{row.cards} | {' | '.join(f'{payoff:.6f}' for payoff in row.payoffs)}"
        f" | {row.max_regret:.0e} | {row.cpu_s:.2f}"
        for row in data.three_players
    ]
    nodes = []
    for a, b in zip(first, last, strict=True):
        numbers = (*a.shares, b.shares[1], a.mean_difference, b.mean_difference)
        nodes.append(" | ".join([str(a.node), *(f"{number:.3f}" for number in numbers)]))
    return facts, payoffs, nodes


# -- Complementarity programs --------------------------------------------------------------------


def _solved(group: Iterable[Record]) -> int:
    return sum(row.max_regret is not None and row.max_regret <= 1e-12 for row in group)


def _known(group: Iterable[Record], key: str) -> list[Any]:
    """Values of a key, but for None."""
    return [row[key] for row in group if row[key] is not None]


def _median_s(group: Iterable[Record]) -> float:
    return median(_known(group, "elapsed_s"))


def ncp(data: Record) -> Shown:
    def cells(game: str, solver: str) -> list[Record]:
        return [row for row in data.rows if row.game.startswith(game) and row.solver == solver]

    games = grouped(data.rows, lambda row: row.game)
    full, reduced = (by_solver(games[game]) for game in ("kuhn3", "kuhn3_reduced"))
    auto = [*reduced["ncp(backend=gurobi)"], *reduced["ncp(backend=scip)"]]
    gurobi, scip = full["ncp(backend=gurobi)"], full["ncp(backend=scip)"]
    aggregated = reduced["ncp(formulation=aggregated,backend=gurobi)"]
    paper = full["ncp(formulation=paper,backend=scip)"]
    elimination = full["ncp(formulation=elimination,backend=gurobi)"]
    raws = {
        "ncp_reduced_raw": _known(auto, "raw_max_regret"),
        "ncp_raw": _known(games["kuhn3"] + games["kuhn3_reduced"], "raw_max_regret"),
    }
    facts = {
        "ncp_seeds": data.seeds,
        **alike(
            ".2f",
            ncp_reduced_gurobi_s=_median_s(reduced["ncp(backend=gurobi)"]),
            ncp_reduced_scip_s=_median_s(reduced["ncp(backend=scip)"]),
            ncp_full_gurobi_s=_median_s(gurobi),
            ncp_full_scip_s=_median_s(scip),
            ncp_full_exact_gurobi_s=_median_s(full["ncp(exact=true,backend=gurobi)"]),
            ncp_full_exact_scip_s=_median_s(full["ncp(exact=true,backend=scip)"]),
            ncp_full_paper_s=_median_s(paper),
            ncp_full_elimination_s=_median_s(elimination),
            ncp_leduc_s=_median_s(cells("leduc", "ncp")),
            leduc_lp_s=_median_s(cells("leduc", "sequence_lp")),
        ),
        **alike(
            _solved,
            ncp_full_gurobi_solved=gurobi,
            ncp_full_scip_solved=scip,
            ncp_full_paper_solved=paper,
            ncp_full_elimination_solved=elimination,
            semismooth_solved=full["semismooth"],
        ),
        "ncp_reduced_regret": power_at_most(max(row.max_regret for row in auto)),
        **{f"{name}_least": power_at_least(min(values)) for name, values in raws.items()},
        **{f"{name}_most": power_at_most(max(values)) for name, values in raws.items()},
        "ncp_full_gurobi_longest_s": at_most(max(_known(gurobi, "elapsed_s"))),
        "ncp_aggregated_nodes": f"{median(row.nodes for row in aggregated):,.0f}",
        "ncp_aggregated_s": f"{_median_s(aggregated):.0f}",
        "semismooth_ms": f"{1e3 * _median_s(full['semismooth']):.0f}",
        **alike(
            lambda solver: f"{cells('kuhn4', solver)[0]['columns']:,}",
            ncp_kuhn4_variables="ncp(backend=scip)",
            ncp_kuhn4_variables_left="ncp(backend=scip,dominated=remove)",
        ),
    }
    kinds = grouped(data.rows, lambda row: (re.sub(r",seed=[0-9]+", "", row.game), row.solver))
    rows = [
        f"`{game}` | `{solver}` | {_programs(group)}" for (game, solver), group in kinds.items()
    ]

    def further(game: str, solver: str) -> str:
        if group := cells(game, solver):
            return f"{_median_s(group):.3g} [{_solved(group)} of {len(group)}]"
        return "–"

    titles = {
        "kuhn(players=3,cards=6)": "three players, 6 cards",
        "kuhn(players=3,cards=8)": "three players, 8 cards",
        "kuhn4": "four players, 5 cards",
        "random_tree(players=3,depth=5": "random general-sum trees, three players, depth 5",
        "random_tree(players=3,depth=6": "the same, depth 6",
        "random(players=3,actions=4": "random strategic forms, three players, 4 actions",
    }
    solvers = (
        *("ncp(backend=gurobi)", "ncp(backend=scip)", "ncp(backend=scip,dominated=remove)"),
        *("semismooth", "arclength(branch=false,starts=0)"),
    )
    more = [
        " | ".join([title, *(further(game, solver) for solver in solvers)])
        for game, title in titles.items()
    ]
    return facts, rows, more


def _programs(group: Sequence[Record]) -> str:
    """How many programs were solved, in which time, of which size."""
    ran, nodes = _known(group, "elapsed_s"), _known(group, "nodes")
    exact = sum(bool(row.exact_regrets) and set(row.exact_regrets) == {"0"} for row in group)
    solved = f"{_solved(group)} of {len(group)}" + (f", {exact} exactly" if exact else "")
    sizes = {row["columns"] for row in group if row["columns"]}
    return (
        f"{solved if ran else '/'.join(sorted({row.status for row in group}))}"
        f" | {dash(median(ran) if ran else None, '.3g')} | {dash(max(ran, default=None), '.3g')}"
        f" | {dash(max(_known(group, 'raw_max_regret'), default=None), '.1e')}"
        f" | {span(sizes, word='–') if sizes else '–'}"
        f" | {dash(median(nodes) if nodes else None, 'g')}"
    )


def ncp_ideas(data: Record) -> Shown:
    def counts(group: list[Record], kind: str, methods: Collection[str | None]) -> str:
        own = [row for row in group if row.game.startswith(kind)]
        reached = sum(row.status == "ok" and row.fallback in methods for row in own)
        return str(reached) if own else "–"

    def games(kind: str) -> int:
        return len({row.game for row in data.rows if row.game.startswith(kind)})

    rows = [
        f"`{solver}` | "
        + " | ".join(
            counts(group, kind, methods)
            for kind in ("random_tree", "random_signed")
            for methods in ((None,), ("semismooth", "logit"))
        )
        for solver, group in by_solver(data.rows).items()
    ]
    facts = {"ncp_trees": games("random_tree"), "ncp_one_shot": games("random_signed")}
    return facts, rows


def ranges(data: Record) -> Shown:
    summaries = data.summaries
    full, reduced = summaries.kuhn3.quantities, summaries.kuhn3_reduced.quantities
    optima = {
        name: [row[sense] for row in rows for sense in ("min", "max")]
        for name, rows in (("full", full), ("reduced", reduced))
    }
    times = [end.elapsed_s for end in optima["reduced"]]
    facts = {
        "ranges_timeout_s": f"{summaries.kuhn3.timeout_s:g}",
        **{f"ranges_{name}_closed": sum(e.closed for e in own) for name, own in optima.items()},
        **{f"ranges_{name}_optima": len(own) for name, own in optima.items()},
        "ranges_reduced_least_s": f"{min(times):.1f}",
        "ranges_reduced_most_s": f"{max(times):.0f}",
        "ranges_reduced_wider": sum(row.verdict == "wider" for row in reduced),
    }

    def bound(end: Record) -> str:
        text = f"{end.bound:z.6f}".replace("-", "−")
        return text if end.closed else f"{text}, open after {end.elapsed_s:.0f} s"

    def between(low: float, high: float) -> str:
        return " to ".join(dict.fromkeys(map(simple_fraction, (low, high))))

    payoffs = [
        f"{row.quantity.replace('P', 'u')} | {bound(row.min)} | {simple_fraction(row.min.found)}"
        f" | {simple_fraction(row.max.found)} | {bound(row.max)}"
        f" | {between(row.published.low, row.published.high)}"
        for row in full
    ]
    quantities = [
        "`{}` | {} | {} | {}".format(
            row.quantity.replace("|", r"\|"),
            between(row.min.found, row.max.found),
            between(row.published.low, row.published.high),
            row.verdict,
        )
        for row in reduced
    ]
    return facts, payoffs, quantities


def ganzfried_2025_table_1(data: Record) -> Shown:
    def mean(solver: Record) -> str:
        late = solver.timeouts
        note = f" ({late} time-out{'s' * (late > 1)})" if late else ""
        return two_digits(solver.mean_with_timeouts_s) + note

    facts: Facts = {"suite_games": data.games, "suite_timeout_s": f"{data.timeout_s:g}"}
    for place, name in enumerate(("ncp", "mip")):
        shares = [100 * size.solvers[place].precise_share for size in data.sizes]
        facts |= ends(f"precise_{name}", shares, ".0f")
    rows = []
    for row in data.sizes:
        medians = " | ".join(f"{two_digits(s.median_s)} | {mean(s)}" for s in row.solvers[:2])
        ours, theirs = row.ratio, row.published
        rows.append(
            f"{row.size.replace('x', ' × ')} | {medians} | {two_digits(ours.of_medians.value)}"
            f" | {two_digits(ours.of_means.value)} | {theirs.mean_s[0]:.3f}"
            f" | {theirs.mean_s[1]:.3f} | {theirs.ratio_of_means:.1f}"
        )
    return facts, rows


# -- Gambit and flows ----------------------------------------------------------------------------


def gambit_methods(data: Record) -> Shown:
    cell = {(row.game, row.solver): row for row in data.rows}
    reduced, full = (cell[game, "gambit_logit_path"] for game in ("kuhn3_reduced", "kuhn3"))
    reasons = [row.reason for row in data.rows if row.game == "kuhn3"]
    linear = max(cell["kuhn2", name].elapsed_s for name in ("gambit_lp", "gambit_lcp"))
    facts = {
        "gambit_timeout_s": f"{data.timeout:g}",
        "gambit_path_reduced_s": rounded(reduced.elapsed_s),
        "gambit_path_full_s": rounded(full.elapsed_s),
        "gambit_path_regret": f"{full.max_regret:.1e}",
        "gambit_logit_regret": f"{cell['kuhn3_reduced', 'gambit_logit'].max_regret:.1e}",
        "gambit_refused_size": sum("strategic form" in reason for reason in reasons),
        "gambit_refused_players": sum("two-player" in reason for reason in reasons),
        "gambit_linear_s": at_most(linear),
    }
    rows = []
    for row in data.rows:
        reason = " ".join(row.reason.split()).replace("|", "/")
        short = reason if len(reason) <= 110 else f"{reason[:110]}…"
        rows.append(
            f"`{row.game}` | `{row.solver}` | {row.status} | {dash(row.cpu_s, '.3g')}"
            f" | {dash(row.max_regret, '.1e')} | {short}"
        )
    return facts, rows


def gambit_logit(data: Record) -> Shown:
    rows, facts = [], {}
    for row in data.rows:
        direct, through = median(row.directly_s), median(row.through_eqbench_s)
        rows.append(
            f"`{row.game}` | {1e3 * direct:.2f} | {1e3 * through:.2f} | {through / direct:.2f}×"
            f" | {row['lambda']:,.0f}"
        )
        if row.game == "kuhn3":
            facts["gambit_overhead"] = f"{through / direct:.1f}"
            facts["gambit_lambda"] = f"{row['lambda']:,.0f}"
    return facts, rows


def gambit_stall(data: Record) -> Shown:
    at = {row.infoset: row["lambda"] for row in data.sets}
    ours = data.ours
    facts = {
        **alike(
            ",.0f",
            underflow_harmful=at["P3 3:BC"],
            underflow_harmless=at["P3 4:BC"],
            underflow_last=data.rows[-1].predicted,
        ),
        "underflow_shares": len(data.rows),
        "underflow_between": sum(row.last < row.predicted < row.refused for row in data.rows),
        "logit_regret": f"{ours.max_regret:.1e}",
        "logit_regret_lambda": f"{ours.max_regret * ours['lambda']:.3f}",
    }
    stops = [
        f"{f'2^{row.log2_q}' if row.log2_q else '1'} | {row.last:,.0f} | {row.predicted:,.0f}"
        f" | {row.refused:,.0f}"
        for row in data.rows
    ]
    sets = [
        f"{row.infoset} | {row['lambda']:,.0f} | {row.difference:+.4f} | {row.uniform:+.4f}"
        for row in sorted(data.sets, key=lambda row: row["lambda"])
    ]
    return facts, stops, sets


def gambit_catalog(data: Record) -> Shown:
    solved = [row.cells for row in data.rows if row.get("cells")]
    refused = sum("refused" in row for row in data.rows)
    facts = {
        "catalog_games": len(data.rows),
        "catalog_read": len(data.rows) - refused,
        "catalog_refused": refused,
        "catalog_solved": len(solved),
        "catalog_cells": Counter(map(len, solved)).most_common(1)[0][0],
        "catalog_refuted": sum(cell.status == "refuted" for cells in solved for cell in cells),
    }
    rows = []
    for row in data.rows:
        tried = row.get("cells", [])
        ok = sum(cell.status == "ok" for cell in tried)
        wrong = ", ".join(cell.solver for cell in tried if cell.status == "refuted")
        ended = f"{f'{ok} of {len(tried)}' if tried else 'not run'} | {wrong or '–'}"
        sizes = (dash(row.get(name), ",") for name in ("players", "nodes", "infosets"))
        refusal = "– | refused: imperfect recall"
        rows.append(" | ".join([row.game, *sizes, refusal if row.get("refused") else ended]))
    return facts, rows


def logit(data: Record) -> Shown:
    ms = {
        row.game: {name: 1e3 * median(row[f"{name}_s"]) for name in ("ours", "first", "gambit")}
        for row in data.compared
    }
    full, small = ms["kuhn3"], ms["kuhn2"]
    gaps = {row.game: dict(zip(row["at"], row.differences, strict=True)) for row in data.compared}
    end = {row.game: row for row in data.reached}
    random, drawn = data.random, data.random.branches
    drawn_ms = [1e3 * row.cpu_s for row in drawn]
    facts = {
        "logit_difference": power(gaps["kuhn3"][10_000]),
        **alike(".1f", logit_ms=full["ours"], logit_first_ms=full["first"]),
        **alike(
            ".0f",
            logit_gambit_ms=full["gambit"],
            logit_ratio=full["gambit"] / full["ours"],
            logit_first_ratio=full["gambit"] / full["first"],
            logit_kuhn2_ratio=small["gambit"] / small["ours"],
            logit_polished_ms=1e3 * end["kuhn3"].cpu_s,
            priors_ms=median(drawn_ms),
        ),
        "priors": len(drawn),
        "priors_last": drawn[-1].seed,
        "priors_found": ", ".join(f"{name} {count}" for name, count in random.names.items()),
        **alike(".1f", priors_median_ms=median(drawn_ms), priors_longest_ms=max(drawn_ms)),
        "priors_arrived": random.arrived,
        "priors_polished": random.polished,
        "priors_payoffs": random.distinct_payoffs,
        "priors_c11_0": random.names["szafron:c11=0"],
        "priors_c11_half": random.names["szafron:c11=1/2"],
        "logit_leduc_points": end["leduc"].points,
        "logit_leduc_regret": power(end["leduc"].equilibrium.max_regret),
        "logit_leduc_s": rounded(end["leduc"].cpu_s),
    }
    lambdas = (1, 10, 100, 1_000, 10_000)
    compared = [
        f"`{game}` | {own['ours']:.2f} | {own['gambit']:.2f} | {own['gambit'] / own['ours']:.1f}×"
        f" | {own['first']:.2f} | {own['gambit'] / own['first']:.1f}× | "
        + " | ".join(f"{gaps[game][at]:.0e}" for at in lambdas)
        for game, own in ms.items()
    ]
    reached = [
        f"`{row.game}` | {row['lambda']:,.0f} | {row.points:,} | {len(row.turns)}"
        f" | {row.max_regret:.1e} | {row.equilibrium.max_regret:.1e} | {row.cpu_s:.3g}"
        for row in data.reached
    ]
    return facts, compared, reached


# -- What is found -------------------------------------------------------------------------------


def who_finds_what(data: Record) -> Shown:
    identified = [row for row in data.rows if row.identity]
    on_path = [row for row in identified if row.identity.on_path]
    inside = [row.identity for row in on_path if "<c11<" in row.identity.name]
    third = [row.payoffs[2] for row in on_path]
    facts = {
        "finds_starts": data.seeds,
        "finds_iterations": f"{data.iterations:,}",
        "finds_more": f"{100 * (max(third) / min(third) - 1):.0f} %",
        "finds_inside": len(inside),
        "finds_near": len(identified) - len(on_path),
        "finds_from_half": power_at_most(max(0.5 - found.parameters.c11 for found in inside)),
    }
    sets = ("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2")
    rows = []
    for solver, group in by_solver(data.rows).items():
        known = [row.identity for row in group if row.identity]
        names = [identity.name for identity in known if identity.on_path]
        betas = [identity.parameters.beta for identity in known]
        counts = " | ".join(str(names.count(name)) for name in sets)
        rows.append(
            f"`{solver.partition('(')[0]}` | {max(row.max_regret for row in group):.1e} | {counts}"
            f" | {len(known) - len(names)} | {min(betas):.3f} to {max(betas):.3f}"
        )
    return facts, rows


def reference(data: Record) -> Shown:
    from eqbench.report.cells import report_on
    from eqbench.report.terminal import plain_text, print_report
    from eqbench.store.stored_run import read_run

    report = report_on([read_run(REFERENCE / "kuhn3")])
    text = plain_text(lambda console: print_report(report, console))
    facts = alike(".0f", reference_wall_s=data.wall_s, reference_first_s=data.first_wall_s)
    return facts | {"reference_cores": data.environment.cores, "reference_report": text}, []


def reproduction(data: Record) -> Shown:
    claims = [
        Record(claim, source=source.name, part=part.title)
        for source in data.full.sources
        for part in source.parts
        for claim in part.claims
    ]

    def counted(sources: Iterable[Record]) -> list[str]:
        verdicts = ("reproduced", "differs", "not_comparable", "source_error", "not_attempted")
        counts = {source.name: Counter(source.counts) for source in sources}
        counts["all"] = sum(counts.values(), Counter())
        return [
            " | ".join(map(str, [name, *(own[verdict] for verdict in verdicts), own.total()]))
            for name, own in counts.items()
        ]

    def listed(chosen: Iterable[Record], *keys: str) -> list[str]:
        return [
            " | ".join(
                claim[key] if key == "source" else escaped(claim[key] or "–") for key in keys
            )
            for claim in chosen
        ]

    for claim in claims:
        claim["place"] = " · ".join(filter(None, (claim.row, claim.column)))
    questions = [
        claim
        for claim in claims
        if claim.source == "szafron"
        and "open question" in claim.part
        and claim.verdict != "not_attempted"
    ]
    trajectories = [
        claim
        for claim in claims
        if claim.source == "billingham_2017"
        and claim.column
        and claim.row.startswith("P =")
        and any(job.startswith("regimes") for job in claim.jobs)
    ]
    keys = ("source", "part", "place", "theirs", "ours", "detail")
    of = grouped(claims, lambda claim: claim.verdict)
    facts = alike(".0f", full_minutes=data.full.wall_s / 60, quick_minutes=data.quick.wall_s / 60)
    return (
        facts,
        [],
        counted(data.full.sources),
        [],
        counted(data.quick.sources),
        listed(of["source_error"], *keys),
        listed(sorted(of["differs"], key=lambda claim: claim.cause), *keys, "cause"),
        listed(of["not_comparable"], *keys, "cause"),
        listed(questions, "row", "ours", "detail"),
        listed(trajectories, "row", "column", "theirs", "ours", "verdict"),
    )


def _by_game_and_solver(rows: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    return grouped(rows, lambda row: (row.game, row.solver))


def credible(data: Record) -> Shown:
    everything, short = [], []
    for (game, solver), group in _by_game_and_solver(data.rows).items():
        first = group[0]
        regret = max(row.max_regret for row in group)
        worst = span([row.worst for row in group], ".3g")
        exact = "exact_s" in first
        losses = ", ".join(dict.fromkeys(row.exact_worst for row in group)) if exact else worst
        counts = [
            span([row[key][kind] for row in group], ".3g")
            for key, kinds in (
                ("reached", ("off path", "own deviation")),
                ("refuted", ("off path", "own deviation", "on path")),
            )
            for kind in kinds
        ]
        everything.append(
            f"`{game}` | `{solver}` | {regret:.1e} | {first.infosets} | {' | '.join(counts)}"
            f" | {losses} | {1e3 * median(row.verdict_s for row in group):.2f}"
            f" | {dash(1e3 * first.exact_s if exact else None, '.0f')}"
        )
        if game != "kuhn2":
            credible = span([int(row.verdict.partition("/")[0]) for row in group], ".3g")
            proofs = Counter(row.proof for row in group).items()
            short.append(
                f"`{game}` | `{solver}` | {regret:.1e} | {credible} of {first.infosets} | {worst}"
                f" | {', '.join(f'{count} {proof}' for proof, count in proofs)}"
            )
    return {}, everything, short


FEWEST_GAMES = 5  # of a kind, from which what was reached is advice


def which_method(data: Record) -> Shown:
    def bounded(backend: str) -> str:
        own = [row for row in data.rows if row.experiment == "bounds" and backend in row.solver]
        return f"{sum(row.bounds for row in own)} of {sum(row.games for row in own)}"

    found = read_results("recall").rows
    largest: dict[str, list[Record]] = {}  # experiment with most games of each kind
    compared = [row for row in data.rows if row.experiment != "bounds"]
    for (kind, _), group in grouped(compared, lambda row: (row.kind, row.experiment)).items():
        if kind not in largest or group[0].games > largest[kind][0].games:
            largest[kind] = group
    short = [
        " | ".join(
            [
                f"{kind} ({group[0].games})",
                _best(group, "solved", lambda row: f"{row.solved}, {_seconds(row.time_s)}"),
                _best(group, "rough_s", lambda row: _seconds(row.rough_s), least=True),
                _best(group, "regret", lambda row: _regret(row.regret), least=True),
                _best(group, "share", lambda row: f"{row.share:.0%}"),
                _best(
                    [row for row in found if row.kind == kind and row.solver != "complete"],
                    "share",
                    lambda row: f"{row.share:.0%}",
                ),
                _best(group, "credible", lambda row: str(row.credible)),
            ]
        )
        for kind, group in sorted(largest.items())
        if group[0].games >= FEWEST_GAMES
    ]
    order = sorted(
        data.rows, key=lambda row: (row.kind, row.experiment, -row.solved, row.time_s or 1e9)
    )
    everything = [
        f"{row.kind} | `{row.experiment}` | `{row.solver}` | {row.solved} of {row.games}"
        f" | {_seconds(row.time_s)} | {_seconds(row.rough_s)} | {dash(row.regret, '.0e')}"
        f" | {dash(row.share, '.0%')} | {row.credible}"
        for row in order
    ]
    facts = {f"bounds_by_{backend}": bounded(backend) for backend in ("gurobi", "scip")}
    return facts, short, everything


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    for below, factor, unit in ((1e-3, 1e6, "µs"), (1, 1e3, "ms")):
        if value < below:
            return f"{factor * value:.{'0f' if unit == 'µs' else '3g'}} {unit}"
    return f"{value:.3g} s"


def _best(
    rows: Iterable[Record], key: str, text: Callable[[Record], str], *, least: bool = False
) -> str:
    """The solver with the largest or least value, of these the fastest, and a text about it."""
    sign = 1 if least else -1
    known = [row for row in rows if row[key] is not None and (least or row[key])]
    if not known:
        return "–"
    slowest = 1e9
    row = min(
        known,
        key=lambda row: (
            sign * max(row[key], 1e-15),
            slowest if row.time_s is None else row.time_s,
        ),
    )
    return f"`{row.solver.partition('(')[0]}` {text(row)}"


def _regret(value: float) -> str:
    return "to rounding" if value <= 1e-15 else f"{value:.0e}"
