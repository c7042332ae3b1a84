"""Section 4: how fast the program is solved, how well, and how far the method reaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eqbench.papers.claims import Part, Reading, differs, holds, not_attempted, reproduced
from eqbench.papers.ganzfried.found import (
    TIME_RULE,
    bounded,
    cell_of,
    cells_of,
    integer,
    is_near,
    median_time,
    regret_of,
    seconds,
    statement,
    statistic,
    timed,
)
from eqbench.papers.ganzfried.jobs import (
    EXACT,
    FULL,
    OTHER_FORM,
    OURS,
    PAPER_MODEL,
    PAPER_MODEL_GUROBI,
)
from eqbench.papers.ganzfried.jobs import REDUCED as REDUCED_SPEC
from eqbench.papers.ganzfried.sizes import FULL_GAME, REDUCED_GAME, gurobi
from eqbench.papers.stored import Stored
from eqbench.store.schema import CellRecord

SOLVED = 1e-12
# What a solver of programs reaches before anything is polished, constraints holding to 1e-6.
RAW = 1e-4


def _on_gurobi(theirs: float, key: str, unit: str = "") -> Callable[[Stored], Reading]:
    """A figure of Gurobi's search, which is compared as it is but for times."""

    def read(stored: Stored) -> Reading:
        found = gurobi(stored, REDUCED_GAME)
        if "unavailable" in found:
            return not_attempted(found["unavailable"])
        ours, ratio = found[key], found[key] / theirs
        text = _text(ours) + unit
        detail = f"{ratio:.2g} times theirs; Gurobi {found['version']}, one thread"
        other = stored["program"].summary["gurobi"].get("22", {})
        if key in other:
            ended = "" if other["status"] == "optimal" else ", not solved until then"
            detail += f"; with 22 actions fixed {_text(other[key])}{unit}{ended}"
        if key == "time_s":
            good = "regrets" in found and max(found["regrets"]) <= RAW and is_near(ratio)
            text += f", max regret {max(found['regrets']):.0e}" if "regrets" in found else ""
            return holds(good, text, detail, detail)
        return reproduced(text) if ours == theirs else differs(text, detail)

    return read


def _text(figure: Any) -> str:
    """A measured figure with three digits, a count with all of them."""
    return f"{figure:.3g}" if isinstance(figure, float) else f"{figure:,}"


def _cuts(name: str, theirs: int) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        found = gurobi(stored, REDUCED_GAME)
        if "unavailable" in found:
            return not_attempted(found["unavailable"])
        ours = sum(found["cuts"].values()) if name == "all" else found["cuts"].get(name, 0)
        where = "at the root node, before any cut" if found["nodes"] <= 1 else "another search"
        return integer(theirs, ours, f"Gurobi {found['version']} ended {where}" * (ours != theirs))

    return read


def _gain(stored: Stored) -> Reading:
    """The program's own result, before eqbench does anything to it."""
    cells = cells_of(stored, "race", REDUCED_SPEC, PAPER_MODEL)
    worst = raw_regret(cells)
    polished = max(map(regret_of, cells))
    best = cell_of(stored, "equilibria", REDUCED_SPEC, EXACT).equilibria
    exact = best[0].exact if best else None
    certified = exact is not None and set(exact["regrets"]) == {"0"}
    after = f"after polishing {polished:.0e}" + "; in fractions, by ncp(exact=true), 0" * certified
    ours = f"{worst:.1e} (runs of the program: {len(cells)})"
    return holds(worst <= 1.4e-17, ours, f"{worst / 1.4e-17:.1e} times theirs; {after}", after)


def raw_regret(cells: list[CellRecord]) -> float:
    """Largest max regret of what the solver of programs returned, before polishing."""
    return max(float(statistic(cell, "raw_max_regret")) for cell in cells)


def _raw(stored: Stored) -> Reading:
    cells = [
        cell
        for game in (REDUCED_SPEC, FULL)
        for solver in (PAPER_MODEL, OURS)
        for cell in cells_of(stored, "race", game, solver)
    ]
    worst = raw_regret(cells)
    ours = f"max regret {worst:.0e} at most in {len(cells)} results, before polishing"
    return holds(worst <= RAW, ours, "a result is no equilibrium")


def _unsolved(stored: Stored) -> Reading:
    """Gurobi decides if its license admits the program, else SCIP."""
    paper = [
        cell
        for cell in stored["race"].cells
        if (cell.game, cell.solver) == (FULL, PAPER_MODEL_GUROBI)
    ]
    beyond = paper[0].status == "unavailable"
    cells = cells_of(stored, "race", FULL, PAPER_MODEL) if beyond else paper
    good = sum(regret_of(cell) <= SOLVED for cell in cells)
    ours = f"{good} of {len(cells)} runs solved, in {seconds(median_time(cells))}"
    where = (
        f"on SCIP (Gurobi: {paper[0].reason.partition(';')[0].removeprefix('licence_size: ')})"
        if beyond
        else "on Gurobi"
    )
    detail = f"{where}; {_other_form(stored)}"
    return holds(good == 0, ours, detail, detail)


def _other_form(stored: Stored) -> str:
    """What Gurobi makes of the form that its license admits."""
    cells = [
        cell for cell in stored["race"].cells if (cell.game, cell.solver) == (FULL, OTHER_FORM)
    ]
    good = [cell for cell in cells if regret_of(cell) <= SOLVED]
    if not good:
        return "Gurobi solved no other form"
    return (
        f"Gurobi with {good[0].statistics['columns']} variables and one inequality more: "
        f"{len(good)} of {len(cells)} solved, in {seconds(median_time(good))}"
    )


def _nonzeros(stored: Stored) -> Reading:
    """Nonzeros of both models after Gurobi's presolve, 4357 and 2306 in the paper."""
    full, reduced = gurobi(stored, FULL_GAME), gurobi(stored, REDUCED_GAME)
    for found in (full, reduced):
        if "unavailable" in found:
            return not_attempted(found["unavailable"])
    ratio = full["presolved"][2] / reduced["presolved"][2]
    by = f"{ratio / (4357 / 2306):.2g} times theirs, 4357 / 2306 = 1.89"
    return holds(1.5 <= ratio < 2.5, f"{ratio:.3g} times", by, by)


def _difference(stored: Stored) -> Reading:
    times = {}
    for game in (REDUCED_SPEC, FULL):
        cells = cells_of(stored, "race", game, PAPER_MODEL)
        times[game] = median_time(cells)
        if max(map(regret_of, cells)) > SOLVED:
            ours = f"{game} is not solved in each of {len(cells)} runs"
            return holds(game == FULL, ours, "the program does not solve it without them either")
    ratio = times[FULL] / times[REDUCED_SPEC]
    return differs(f"both are solved; the full game takes {ratio:.2g} times as long", "no such gap")


def _time(theirs_s: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        return timed(theirs_s, cells_of(stored, "race", REDUCED_SPEC, PAPER_MODEL), SOLVED)

    return read


def _under(theirs_s: float) -> Callable[[Stored], Reading]:
    def read(stored: Stored) -> Reading:
        return bounded(theirs_s, cells_of(stored, "race", REDUCED_SPEC, PAPER_MODEL), SOLVED)

    return read


SOLVING = Part(
    title="Section 4: solving the reduced and the full game",
    claims=(
        statement("reduced game, on SCIP", "2.47 s", _time(2.47)),
        statement("reduced game, on Gurobi", "2.47 s", _on_gurobi(2.47, "time_s", " s")),
        statement("introduction: time", "under 2.5 s", _under(2.5)),
        statement("conclusion: time", "under 3 s", _under(3.0)),
        statement("Gurobi: work units", "1.42", _on_gurobi(1.42, "work")),
        statement("Gurobi: nodes explored", "4624", _on_gurobi(4624, "nodes")),
        statement("Gurobi: simplex iterations", "207,149", _on_gurobi(207149, "iterations")),
        statement("Gurobi: cutting planes", "32", _cuts("all", 32)),
        statement("Gurobi: Gomory cuts", "7", _cuts("Gomory", 7)),
        statement("Gurobi: flow cover cuts", "7", _cuts("Flow cover", 7)),
        statement("Gurobi: RLT cuts", "18", _cuts("RLT", 18)),
        statement("gain by deviating", "1.4e-17 at most, so essentially exact", _gain),
        statement("exact approach", "equilibrium subject to numerical precision", _raw),
        statement("full game, the same program", "not solved in 24 hours", _unsolved),
        statement("nonzeros of the full model", "about twice those of the reduced one", _nonzeros),
        statement(
            "removal of dominated actions",
            "decides between solving quickly and not at all",
            _difference,
        ),
    ),
    note=(
        f"{TIME_RULE} The program is solved as printed on SCIP. Gurobi's size-limited license does "
        "not admit it, but admits the reduced model after what the paper calls the first presolve "
        "(21 actions fixed). Solved is a max regret of 1e-12 or less after polishing; on Gurobi, "
        "not polished, 1e-4. What a player gains by deviating is of the program's result as it "
        "comes from SCIP. SCIP starts a local search (IPOPT) before it branches, which "
        "ends in an equilibrium on these games. Nodes, iterations and cuts depend on the version."
    ),
)
